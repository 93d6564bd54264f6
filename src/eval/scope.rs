//! How a name finds an attribute (thesis §2.4.5, §3.2.2).
//!
//! `my`, `target`, `other` and the labels of ports are one thing: names bound to an ad, in the scope
//! of another.  An evaluation alone binds none, a match binds one, a gang one for each docked port.

use std::sync::Arc;

use crate::ad::{Ad, Dialect, Expression, Frame, Name, Participant, Value};

use super::Context;

/// The ads that meet in an evaluation, and the names they have for one another.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    members: Vec<Member>,
    /// Whether this is a match: what HTCondor calls the root is then none of the ads.
    matching: bool,
}

/// An ad among those that meet.
#[derive(Clone, Debug)]
pub struct Member {
    /// The ad as a scope.
    pub frame: Arc<Frame>,
    /// The scopes of its ports; one that is the ad itself when it has no port list.
    pub ports: Vec<Arc<Frame>>,
    /// The names that it has for others, innermost last.
    pub bindings: Vec<Binding>,
    /// Where a name is looked up that it neither has nor binds: its one partner.
    pub fallback: Option<(Participant, usize)>,
}

/// A name that stands for another ad.
#[derive(Clone, Debug)]
pub struct Binding {
    /// The name: a label, `other`, `target`.
    pub name: Name,
    /// The position in the port list from which on the name is seen; everywhere if there is no list.
    pub since: Option<u32>,
    /// The other member and the port that is docked; none while it is not known which.
    pub to: Option<(Participant, usize)>,
}

/// What a name refers to.
#[derive(Clone, Debug)]
pub enum Resolution {
    /// An expression, and the scope in which it was found and is to be evaluated.
    Expression(Expression, Arc<Frame>),
    /// An ad of its own right, or the time.
    Value(Value),
    /// A label whose port is not docked yet.
    Unknown,
    /// Nothing.
    Missing,
}

impl Member {
    /// An ad that meets no one yet.
    #[must_use]
    pub fn new(frame: Arc<Frame>, ports: Vec<Arc<Frame>>) -> Self {
        Member { frame, ports, bindings: Vec::new(), fallback: None }
    }
}

impl Environment {
    /// One ad by itself.
    #[must_use]
    pub fn alone(ad: Ad) -> (Self, Arc<Frame>) {
        let frame = Frame::root(ad, 0);
        let member = Member::new(Arc::clone(&frame), vec![Arc::clone(&frame)]);
        (Environment { members: vec![member], matching: false }, frame)
    }

    /// No ad at all, and the scope of an expression that stands in none.
    #[must_use]
    pub fn nowhere() -> (Self, Arc<Frame>) {
        (Environment::default(), Frame::nowhere())
    }

    /// A meeting that ads are yet to join.
    #[must_use]
    pub fn meeting() -> Self {
        Environment { members: Vec::new(), matching: true }
    }

    /// Two ads that are each other's `other` and `target`: the scopes of the left and the right one.
    #[must_use]
    pub fn pair(left: Ad, right: Ad) -> (Self, [Arc<Frame>; 2]) {
        let frames = [Frame::root(left, 0), Frame::root(right, 1)];
        let mut environment = Environment::meeting();
        for frame in &frames {
            environment.members.push(Member::new(Arc::clone(frame), vec![Arc::clone(frame)]));
        }
        environment.bind_other(0, (1, 0));
        environment.bind_other(1, (0, 0));
        (environment, frames)
    }

    /// The members so far; a participant is an index into them.
    #[must_use]
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// One of the members.
    pub fn member_mut(&mut self, participant: Participant) -> Option<&mut Member> {
        self.members.get_mut(participant as usize)
    }

    /// Adds a member, whose frames must carry the next free participant number.
    pub fn join(&mut self, member: Member) {
        self.members.push(member);
    }

    /// Puts another ad in the place of one of the pair.
    pub fn replace(&mut self, participant: Participant, frame: &Arc<Frame>) {
        if let Some(member) = self.members.get_mut(participant as usize) {
            member.frame = Arc::clone(frame);
            if let [port] = member.ports.as_mut_slice() {
                *port = Arc::clone(frame);
            }
        }
    }

    /// Makes a port of another member the `other` of an ad that has no port list.
    pub fn bind_other(&mut self, participant: Participant, to: (Participant, usize)) {
        if let Some(member) = self.members.get_mut(participant as usize) {
            member.bindings =
                ["other", "target"].map(|name| Binding { name: Name::new(name), since: None, to: Some(to) }).into();
            member.fallback = Some(to);
        }
    }

    fn member(&self, frame: &Frame) -> Option<&Member> {
        self.members.get(frame.participant as usize)
    }

    fn port(&self, (participant, port): (Participant, usize)) -> Option<&Arc<Frame>> {
        self.members.get(participant as usize)?.ports.get(port)
    }

    /// What an unqualified name refers to in a scope.
    #[must_use]
    pub fn resolve(&self, frame: &Arc<Frame>, name: &Name, context: &Context) -> Resolution {
        match self.resolve_own(frame, name, context) {
            Resolution::Missing => self.fall_through(frame, name, context).unwrap_or(Resolution::Missing),
            found => found,
        }
    }

    /// What an unqualified name refers to among an ad's own attributes and the names it has for others:
    /// what it would only find by falling through to its partner is missing.
    #[must_use]
    pub fn resolve_own(&self, frame: &Arc<Frame>, name: &Name, context: &Context) -> Resolution {
        if context.dialect == Dialect::Classad
            && let Some(value) = self.built_in(frame, name, context)
        {
            return Resolution::Value(value);
        }
        if let Some(found) = self.lexical(frame, name, context) {
            return found;
        }
        if let Some(found) = self.bound(frame, name) {
            return found;
        }
        if context.dialect == Dialect::Classad && self.matching && name.is("my") {
            return Resolution::Value(ad_value(frame));
        }
        Resolution::Missing
    }

    /// What `.name` refers to: an attribute of the root of this scope.
    #[must_use]
    pub fn resolve_root(&self, frame: &Arc<Frame>, name: &Name, context: &Context) -> Resolution {
        let root = frame.outermost();
        if context.dialect.is_condor() && self.matching {
            return Resolution::Missing;
        }
        match root.ad.get(name) {
            Some(expression) => Resolution::Expression(expression.clone(), Arc::clone(root)),
            None => self.built_in(root, name, context).map_or(Resolution::Missing, Resolution::Value),
        }
    }

    /// What `ad.name` refers to: looked up in the ad and outwards, but never among its labels, which
    /// are private.
    #[must_use]
    pub fn resolve_in(&self, ad: &Arc<Frame>, name: &Name, context: &Context) -> Resolution {
        if context.dialect == Dialect::Classad
            && let Some(value) = self.built_in(ad, name, context)
        {
            return Resolution::Value(value);
        }
        if context.dialect == Dialect::Classad && self.matching && name.is("my") && ad.ad.get(name).is_none() {
            return Resolution::Value(ad_value(ad));
        }
        let found = self.lexical(ad, name, context);
        match found {
            Some(found) => found,
            // HTCondor finds the names of its match ad from either side.
            None if context.dialect.is_condor() => self.bound(ad, name).unwrap_or(Resolution::Missing),
            None => Resolution::Missing,
        }
    }

    /// In the ad and outwards.
    fn lexical(&self, frame: &Arc<Frame>, name: &Name, context: &Context) -> Option<Resolution> {
        if let Some(expression) = frame.ad.get(name) {
            return Some(Resolution::Expression(expression.clone(), Arc::clone(frame)));
        }
        if context.dialect.is_condor()
            && let Some(value) = self.built_in(frame, name, context)
        {
            return Some(Resolution::Value(value));
        }
        let mut next = frame.enclosing.as_ref();
        while let Some(frame) = next {
            if let Some(expression) = frame.ad.get(name) {
                return Some(Resolution::Expression(expression.clone(), Arc::clone(frame)));
            }
            next = frame.enclosing.as_ref();
        }
        None
    }

    /// The attributes that every ad has: `self`, `parent`, `root`, and HTCondor's names for them.
    fn built_in(&self, frame: &Arc<Frame>, name: &Name, context: &Context) -> Option<Value> {
        // Nothing else is as long as they are: most names are refused here.
        if !matches!(name.as_str().len(), 2 | 4 | 6 | 8 | 11) {
            return None;
        }
        let condor = context.dialect.is_condor();
        if name.is("self") || (condor && name.is("my")) {
            return Some(ad_value(frame));
        }
        if name.is("parent") {
            return Some(match &frame.enclosing {
                Some(enclosing) => ad_value(enclosing),
                None if condor && self.matching => match_ad(frame),
                None => Value::Undefined,
            });
        }
        if name.is("root") || (condor && name.is("toplevel")) {
            return Some(if condor && self.matching { match_ad(frame) } else { ad_value(frame.outermost()) });
        }
        if condor && name.is("CurrentTime") {
            return Some(Value::Integer(context.now));
        }
        None
    }

    /// Among the names that the ad of this scope has for others.
    fn bound(&self, frame: &Arc<Frame>, name: &Name) -> Option<Resolution> {
        let binding = self.member(frame)?.bindings.iter().rev().find(|binding| {
            binding.name == *name && binding.since.is_none_or(|since| frame.port.is_some_and(|port| port >= since))
        })?;
        Some(match binding.to {
            Some(to) => Resolution::Value(self.port(to).map_or(Value::Undefined, ad_value)),
            None => Resolution::Unknown,
        })
    }

    /// In the one partner of an ad without a port list.  HTCondor does this only for names in the ad
    /// itself, not for those in ads nested in it.
    fn fall_through(&self, frame: &Arc<Frame>, name: &Name, context: &Context) -> Option<Resolution> {
        if context.dialect.is_condor() && !frame.falls_through {
            return None;
        }
        let partner = self.port(self.member(frame)?.fallback?)?;
        self.lexical(partner, name, context)
    }
}

fn ad_value(frame: &Arc<Frame>) -> Value {
    Value::Ad(crate::ad::Nested { frame: Arc::clone(frame) })
}

/// What HTCondor has around the two ads of a match; nothing can be found in it.
fn match_ad(frame: &Arc<Frame>) -> Value {
    ad_value(&Frame::root(Ad::default(), frame.participant))
}
