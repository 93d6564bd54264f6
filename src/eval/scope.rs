//! How a name finds an attribute (thesis §2.4.5, §3.2.2).
//!
//! `my`, `target`, `other` and the labels of ports are one thing: names bound to an ad, in the scope
//! of another.  An evaluation alone binds none, a match binds one, a gang one for each docked port.

use std::sync::{Arc, LazyLock};

use crate::ad::{Ad, Dialect, Expression, Frame, Name, Participant, Value};

use super::Context;

/// The ads that meet in an evaluation, and the names they have for one another.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    members: Vec<Member>,
    /// Whether this is a match: what HTCondor calls the root is then none of the ads.
    matching: bool,
    /// Whether it is not known yet whom the ads meet, if anyone.
    unmet: bool,
    /// Whether not even the ad is known that an expression stands in, if any.
    unplaced: bool,
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
    /// Where a name is looked up that it neither has nor binds.
    pub fallback: Fallback,
    /// How much of it is known.
    pub extent: Extent,
}

/// Where a name is looked up that an ad neither has nor binds: only an ad without a port list falls through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fallback {
    /// Nowhere.
    #[default]
    Nowhere,
    /// In a partner that is not known yet.
    Unknown,
    /// In this port of its one partner.
    Partner(Participant, usize),
}

/// How much of an ad is known (thesis §2.6.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extent {
    /// All of it: an attribute that it lacks is undefined.
    #[default]
    Closed,
    /// A part: whether it has further attributes, and which, is not known.  The names that are bound in
    /// every scope, such as `my` and `other`, are not free for them.
    Open,
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

/// What is docked at a port that stays unfilled: its label is undefined.
pub const UNFILLED: (Participant, usize) = (Participant::MAX, 0);

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
        Member { frame, ports, bindings: Vec::new(), fallback: Fallback::Nowhere, extent: Extent::Closed }
    }

    /// Binds the names that an ad without a port list has for whom it meets.
    fn name_other(&mut self, to: Option<(Participant, usize)>) {
        static NAMES: LazyLock<[Name; 2]> = LazyLock::new(|| ["other", "target"].map(Name::new));
        self.bindings.clear();
        self.bindings.extend(NAMES.iter().map(|name| Binding { name: name.clone(), since: None, to }));
    }
}

impl Environment {
    /// One ad by itself.
    #[must_use]
    pub fn alone(ad: Ad) -> (Self, Arc<Frame>) {
        let frame = Frame::root(ad, 0);
        let member = Member::new(Arc::clone(&frame), vec![Arc::clone(&frame)]);
        (Environment { members: vec![member], ..Environment::default() }, frame)
    }

    /// An ad that is known as far as its extent says, and of which it is not known whom it will meet.
    #[must_use]
    pub fn unmet(ad: Ad, extent: Extent) -> (Self, Arc<Frame>) {
        let (mut environment, frame) = Environment::alone(ad);
        environment.unmet = true;
        environment.members[0].extent = extent;
        environment.members[0].name_other(None);
        (environment, frame)
    }

    /// Nothing is known: neither an ad around an expression, nor whom it meets.
    #[must_use]
    pub fn unplaced() -> (Self, Arc<Frame>) {
        let (mut environment, frame) = Environment::unmet(Ad::default(), Extent::Open);
        environment.unplaced = true;
        (environment, frame)
    }

    /// No ad at all, and the scope of an expression that stands in none.
    #[must_use]
    pub fn nowhere() -> (Self, Arc<Frame>) {
        (Environment::default(), Frame::nowhere())
    }

    /// A meeting that ads are yet to join.
    #[must_use]
    pub fn meeting() -> Self {
        Environment { matching: true, ..Environment::default() }
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
            member.name_other(Some(to));
            member.fallback = Fallback::Partner(to.0, to.1);
        }
    }

    /// Makes the `other` of an ad that has no port list someone who is not known yet.
    pub fn unbind_other(&mut self, participant: Participant) {
        if let Some(member) = self.members.get_mut(participant as usize) {
            member.name_other(None);
            member.fallback = Fallback::Unknown;
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
            Resolution::Missing => self.fall_through(frame, name, context),
            found => found,
        }
    }

    /// What an unqualified name refers to among an ad's own attributes and the names it has for others:
    /// what it would only find by falling through to its partner is missing.
    #[must_use]
    pub fn resolve_own(&self, frame: &Arc<Frame>, name: &Name, context: &Context) -> Resolution {
        if context.dialect == Dialect::Classad
            && let Some(found) = self.built_in(frame, name, context)
        {
            return found;
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
        self.missing(frame, name, context)
    }

    /// What a name is that was looked for in an ad and outwards, and not found.
    fn missing(&self, frame: &Arc<Frame>, name: &Name, context: &Context) -> Resolution {
        let may_be_my = context.dialect == Dialect::Classad && self.unmet && name.is("my");
        if may_be_my || self.is_open(frame.outermost()) { Resolution::Unknown } else { Resolution::Missing }
    }

    /// Whether this is the scope of an ad of which only a part is known.
    #[must_use]
    pub fn is_open(&self, frame: &Frame) -> bool {
        frame.enclosing.is_none()
            && self.member(frame).is_some_and(|member| {
                member.extent == Extent::Open && member.frame.ad.identity() == frame.ad.identity()
            })
    }

    /// Whether anything about the ads or their meeting is not known.
    #[must_use]
    pub fn is_partial(&self) -> bool {
        self.unmet || self.members.iter().any(|member| member.extent == Extent::Open)
    }

    /// What `.name` refers to: an attribute of the root of this scope.
    #[must_use]
    pub fn resolve_root(&self, frame: &Arc<Frame>, name: &Name, context: &Context) -> Resolution {
        let root = frame.outermost();
        match root.ad.get(name) {
            _ if context.dialect.is_condor() && self.matching => Resolution::Missing,
            _ if self.unplaced || (context.dialect.is_condor() && self.unmet) => Resolution::Unknown,
            Some(expression) => Resolution::Expression(expression.clone(), Arc::clone(root)),
            None => self.built_in(root, name, context).unwrap_or_else(|| self.missing(root, name, context)),
        }
    }

    /// What `ad.name` refers to: looked up in the ad and outwards, but never among its labels, which
    /// are private.
    #[must_use]
    pub fn resolve_in(&self, ad: &Arc<Frame>, name: &Name, context: &Context) -> Resolution {
        if context.dialect == Dialect::Classad
            && let Some(found) = self.built_in(ad, name, context)
        {
            return found;
        }
        if context.dialect == Dialect::Classad && self.matching && name.is("my") && ad.ad.get(name).is_none() {
            return Resolution::Value(ad_value(ad));
        }
        let found = self.lexical(ad, name, context);
        match found {
            Some(found) => found,
            // HTCondor finds the names of its match ad from either side.
            None if context.dialect.is_condor() => {
                self.bound(ad, name).unwrap_or_else(|| self.missing(ad, name, context))
            }
            None => self.missing(ad, name, context),
        }
    }

    /// In the ad and outwards.
    fn lexical(&self, frame: &Arc<Frame>, name: &Name, context: &Context) -> Option<Resolution> {
        if let Some(expression) = frame.ad.get(name) {
            return Some(Resolution::Expression(expression.clone(), Arc::clone(frame)));
        }
        if context.dialect.is_condor()
            && let Some(found) = self.built_in(frame, name, context)
        {
            return Some(found);
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
    fn built_in(&self, frame: &Arc<Frame>, name: &Name, context: &Context) -> Option<Resolution> {
        // Nothing else is as long as they are: most names are refused here.
        if !matches!(name.as_str().len(), 2 | 4 | 6 | 8 | 11) {
            return None;
        }
        let condor = context.dialect.is_condor();
        if name.is("self") || (condor && name.is("my")) {
            return Some(Resolution::Value(ad_value(frame)));
        }
        if name.is("parent") {
            return Some(match &frame.enclosing {
                Some(enclosing) => self.outer(enclosing),
                None if condor && self.unmet => Resolution::Unknown,
                None if condor && self.matching => Resolution::Value(match_ad(frame)),
                None => Resolution::Value(Value::Undefined),
            });
        }
        if name.is("root") || (condor && name.is("toplevel")) {
            return Some(match (self.matching, self.unmet) {
                (_, true) if condor => Resolution::Unknown,
                (true, _) if condor => Resolution::Value(match_ad(frame)),
                _ => self.outer(frame.outermost()),
            });
        }
        if condor && name.is("CurrentTime") {
            return Some(context.now.map_or(Resolution::Unknown, |now| Resolution::Value(Value::Integer(now))));
        }
        None
    }

    /// An ad around a scope; not known if the ad is not that the expression stands in.
    fn outer(&self, frame: &Arc<Frame>) -> Resolution {
        if self.unplaced && frame.enclosing.is_none() {
            Resolution::Unknown
        } else {
            Resolution::Value(ad_value(frame))
        }
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
    fn fall_through(&self, frame: &Arc<Frame>, name: &Name, context: &Context) -> Resolution {
        if context.dialect.is_condor() && !frame.falls_through {
            return Resolution::Missing;
        }
        if self.unmet {
            return Resolution::Unknown;
        }
        let partner = match self.member(frame).map_or(Fallback::Nowhere, |member| member.fallback) {
            Fallback::Nowhere => None,
            Fallback::Unknown => return Resolution::Unknown,
            Fallback::Partner(participant, port) => self.port((participant, port)),
        };
        let Some(partner) = partner else { return Resolution::Missing };
        self.lexical(partner, name, context).unwrap_or_else(|| self.missing(partner, name, context))
    }
}

fn ad_value(frame: &Arc<Frame>) -> Value {
    Value::Ad(crate::ad::Nested { frame: Arc::clone(frame) })
}

/// What HTCondor has around the two ads of a match; nothing can be found in it.
fn match_ad(frame: &Arc<Frame>) -> Value {
    ad_value(&Frame::root(Ad::default(), frame.participant))
}
