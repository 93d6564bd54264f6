//! Scopes and name resolution: how a name finds an attribute (thesis 2.4.5 and 3.2.2).
//!
//! `my`, `target`, `other` and the labels of ports are all names bound to an ad in the scope of another ad. The
//! evaluation of a single ad binds none, a match binds one, a gang binds one for each docked port.

use std::sync::{Arc, LazyLock};

use crate::ad::{Ad, Dialect, Expression, Frame, Name, Participant, Value};

use super::Context;

/// Ads that take part in an evaluation, and the names by which they refer to one another.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    members: Vec<Member>,
    /// Whether this is a match. HTCondor's `root` is then its match ad, not one of the participants.
    matching: bool,
    /// Whether it is unknown which partner the ads have, if any.
    unmet: bool,
    /// Whether the ad that holds the expression is unknown, too.
    unplaced: bool,
}

/// Ad that takes part in an evaluation.
#[derive(Clone, Debug)]
pub struct Member {
    /// Scope of the ad.
    pub frame: Arc<Frame>,
    /// Scopes of its ports; the ad's own scope alone if it has no port list.
    pub ports: Vec<Arc<Frame>>,
    /// Names that it has for other ads, innermost last.
    pub bindings: Vec<Binding>,
    /// Where names are looked up that the ad neither defines nor binds.
    pub fallback: Fallback,
    /// Whether all of the ad is known.
    pub extent: Extent,
}

/// Where names are looked up that an ad neither defines nor binds. Only an ad without a port list falls through to
/// its partner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fallback {
    /// Nowhere: the name is undefined.
    #[default]
    Nowhere,
    /// In a partner that is not known yet: the name is unknown.
    Unknown,
    /// In a port of its only partner: the participant and its index into [`Member::ports`].
    Partner(Participant, usize),
}

/// Whether an ad is known completely (thesis 2.6.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extent {
    /// Completely: an attribute that it lacks is undefined.
    #[default]
    Closed,
    /// In part: it may have further attributes, whose names and values are unknown. Names that every scope binds,
    /// such as `my` and `other`, cannot be among them.
    Open,
}

/// Name that is bound to another ad.
#[derive(Clone, Debug)]
pub struct Binding {
    /// The name: a port's label, `other` or `target`.
    pub name: Name,
    /// Index of the first port in the port list that sees the name. `None` if the ad has no port list: the name is
    /// visible everywhere.
    pub since: Option<u32>,
    /// The other participant and the index of its docked port; `None` while they are unknown.
    pub to: Option<(Participant, usize)>,
}

/// Binding of a port that stays unfilled: its label is undefined.
pub const UNFILLED: (Participant, usize) = (Participant::MAX, 0);

/// Result of resolving a name.
#[derive(Clone, Debug)]
pub enum Resolution {
    /// Expression of an attribute, and the scope in which it was found and must be evaluated.
    Expression(Expression, Arc<Frame>),
    /// A value: an ad that the name is bound to, or the time.
    Value(Value),
    /// The name refers to something unknown, such as a label whose port is not docked yet.
    Unknown,
    /// The name refers to nothing.
    Missing,
}

impl Member {
    /// Returns a completely known ad without partners.
    #[must_use]
    pub fn new(frame: Arc<Frame>, ports: Vec<Arc<Frame>>) -> Self {
        Member { frame, ports, bindings: Vec::new(), fallback: Fallback::Nowhere, extent: Extent::Closed }
    }

    /// Binds `other` and `target` of an ad without a port list; `None` binds them to an unknown partner.
    fn name_other(&mut self, to: Option<(Participant, usize)>) {
        static NAMES: LazyLock<[Name; 2]> = LazyLock::new(|| ["other", "target"].map(Name::new));
        self.bindings.clear();
        self.bindings.extend(NAMES.iter().map(|name| Binding { name: name.clone(), since: None, to }));
    }
}

impl Environment {
    /// Returns an environment of one ad without a partner, and the ad's scope.
    #[must_use]
    pub fn alone(ad: Ad) -> (Self, Arc<Frame>) {
        let frame = Frame::root(ad, 0);
        let member = Member::new(Arc::clone(&frame), vec![Arc::clone(&frame)]);
        (Environment { members: vec![member], ..Environment::default() }, frame)
    }

    /// Returns an environment of one ad whose partner is unknown, and the ad's scope.
    #[must_use]
    pub fn unmet(ad: Ad, extent: Extent) -> (Self, Arc<Frame>) {
        let (mut environment, frame) = Environment::alone(ad);
        environment.unmet = true;
        environment.members[0].extent = extent;
        environment.members[0].name_other(None);
        (environment, frame)
    }

    /// Returns an environment in which nothing is known, neither the ad that holds an expression nor its partner, and
    /// the scope of the expression.
    #[must_use]
    pub fn unplaced() -> (Self, Arc<Frame>) {
        let (mut environment, frame) = Environment::unmet(Ad::default(), Extent::Open);
        environment.unplaced = true;
        (environment, frame)
    }

    /// Returns an environment without ads, and the scope of an expression outside any ad.
    #[must_use]
    pub fn nowhere() -> (Self, Arc<Frame>) {
        (Environment::default(), Frame::nowhere())
    }

    /// Returns an environment of a match or gang without members yet.
    #[must_use]
    pub fn meeting() -> Self {
        Environment { matching: true, ..Environment::default() }
    }

    /// Returns a match of two ads, each of which is `other` and `target` of the other, and the scopes of `left` and
    /// `right`.
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

    /// Members so far; a [`Participant`] is an index into them.
    #[must_use]
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// Returns the member with this index; `None` if there is none.
    pub fn member_mut(&mut self, participant: Participant) -> Option<&mut Member> {
        self.members.get_mut(participant as usize)
    }

    /// Adds a member. Its frames must carry the next free participant number.
    pub fn join(&mut self, member: Member) {
        self.members.push(member);
    }

    /// Replaces the ad of a participant; its bindings stay.
    pub fn replace(&mut self, participant: Participant, frame: &Arc<Frame>) {
        if let Some(member) = self.members.get_mut(participant as usize) {
            member.frame = Arc::clone(frame);
            if let [port] = member.ports.as_mut_slice() {
                *port = Arc::clone(frame);
            }
        }
    }

    /// Binds `other` and `target` of an ad without a port list to a port of another member.
    pub fn bind_other(&mut self, participant: Participant, to: (Participant, usize)) {
        if let Some(member) = self.members.get_mut(participant as usize) {
            member.name_other(Some(to));
            member.fallback = Fallback::Partner(to.0, to.1);
        }
    }

    /// Binds `other` and `target` of an ad without a port list to an unknown partner.
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

    /// Resolves an unqualified name in a scope.
    #[must_use]
    pub fn resolve(&self, frame: &Arc<Frame>, name: &Name, context: &Context) -> Resolution {
        match self.resolve_own(frame, name, context) {
            Resolution::Missing => self.fall_through(frame, name, context),
            found => found,
        }
    }

    /// Resolves an unqualified name among an ad's own attributes and the names it has for others. A name that only
    /// the partner defines is [`Resolution::Missing`].
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

    /// Returns the resolution of a name that lexical lookup did not find: `Unknown` if the outermost ad may have
    /// further attributes, else `Missing`.
    fn missing(&self, frame: &Arc<Frame>, name: &Name, context: &Context) -> Resolution {
        let may_be_my = context.dialect == Dialect::Classad && self.unmet && name.is("my");
        if may_be_my || self.is_open(frame.outermost()) { Resolution::Unknown } else { Resolution::Missing }
    }

    /// Whether this is the scope of an ad that is known in part only.
    #[must_use]
    pub fn is_open(&self, frame: &Frame) -> bool {
        frame.enclosing.is_none()
            && self.member(frame).is_some_and(|member| {
                member.extent == Extent::Open && member.frame.ad.identity() == frame.ad.identity()
            })
    }

    /// Whether anything about the ads or their partners is unknown.
    #[must_use]
    pub fn is_partial(&self) -> bool {
        self.unmet || self.members.iter().any(|member| member.extent == Extent::Open)
    }

    /// Resolves `.name`: an attribute of the outermost ad of this scope.
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

    /// Resolves `ad.name` in the ad and the ads around it, but never among its labels, which are private.
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
            // HTCondor finds the names bound in its match ad from either side.
            None if context.dialect.is_condor() => {
                self.bound(ad, name).unwrap_or_else(|| self.missing(ad, name, context))
            }
            None => self.missing(ad, name, context),
        }
    }

    /// Looks a name up in the ad and then in the ads around it.
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

    /// Resolves the attributes that every ad has: `self`, `parent`, `root`, HTCondor's names for them, and its
    /// `CurrentTime`. `None` for any other name.
    fn built_in(&self, frame: &Arc<Frame>, name: &Name, context: &Context) -> Option<Resolution> {
        // Fast path: most names have another length than these.
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

    /// Returns an enclosing ad as a value; unknown if it is the root and the ad that holds the expression is unknown.
    fn outer(&self, frame: &Arc<Frame>) -> Resolution {
        if self.unplaced && frame.enclosing.is_none() {
            Resolution::Unknown
        } else {
            Resolution::Value(ad_value(frame))
        }
    }

    /// Looks a name up among the names that the ad of this scope has for others.
    fn bound(&self, frame: &Arc<Frame>, name: &Name) -> Option<Resolution> {
        let binding = self.member(frame)?.bindings.iter().rev().find(|binding| {
            binding.name == *name && binding.since.is_none_or(|since| frame.port.is_some_and(|port| port >= since))
        })?;
        Some(match binding.to {
            Some(to) => Resolution::Value(self.port(to).map_or(Value::Undefined, ad_value)),
            None => Resolution::Unknown,
        })
    }

    /// Looks a name up in the only partner of an ad without a port list. HTCondor does so only for names written in
    /// the ad itself, not in ads nested in it.
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

/// Returns HTCondor's match ad, which encloses the two ads of a match; it is empty here.
fn match_ad(frame: &Arc<Frame>) -> Value {
    ad_value(&Frame::root(Ad::default(), frame.participant))
}
