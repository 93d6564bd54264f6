//! Scopes and name resolution: how a name finds an attribute (thesis 2.4.5 and 3.2.2).
//!
//! `my`, `target`, `other` and the labels of ports are all names bound to an ad in the scope of another ad. The
//! evaluation of a single ad binds none, a match binds one, a gang binds one for each docked port.

use std::iter;
use std::sync::{Arc, LazyLock};

use crate::ad::{Ad, AdValue, Dialect, Expression, KnownName, Name, Participant, ScopeAd, ScopeFrame, Value};

use super::Context;

/// Ads that take part in an evaluation, and the names by which they refer to one another.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Environment {
    members: Vec<EnvironmentMember>,
    /// Whether this is a match. In a match HTCondor's `root` is the match ad, not one of the participants.
    is_match: bool,
    /// Whether it is unknown which partner the ads have, if any.
    is_partner_unknown: bool,
    /// Whether the ad that holds the expression is unknown, too.
    is_ad_unknown: bool,
}

/// Ad that takes part in an evaluation.
#[derive(Clone, Debug)]
pub struct EnvironmentMember {
    /// Scope of the ad.
    pub frame: Arc<ScopeFrame>,
    /// Scopes of the ad's ports; only the ad's own scope if the ad has no port list.
    pub ports: Vec<Arc<ScopeFrame>>,
    /// Names that are bound to other ads in this ad. Of several visible bindings of a name the last one counts.
    pub bindings: Vec<NameBinding>,
    /// Where names are looked up that the ad neither defines nor binds.
    pub fallback: NameFallback,
    /// Whether all of the ad is known.
    pub knowledge: Knowledge,
}

/// Where names are looked up that an ad neither defines nor binds. Only an ad without a port list falls through to
/// its partner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NameFallback {
    /// Nowhere: the name is undefined.
    #[default]
    Nowhere,
    /// In a partner that is not known yet: the name is unknown.
    Unknown,
    /// In a port of its only partner: the participant and its index into [`EnvironmentMember::ports`].
    Partner(Participant, usize),
}

/// Whether an ad is known completely (thesis 2.6.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Knowledge {
    /// Completely: an attribute that it lacks is undefined.
    #[default]
    Complete,
    /// In part: it may have further attributes, whose names and values are unknown. Names that every scope binds,
    /// such as `my` and `other`, cannot be among them.
    Partial,
}

/// Name that is bound to another ad.
#[derive(Clone, Debug)]
pub struct NameBinding {
    /// The name: a port's label, `other` or `target`.
    pub name: Name,
    /// Index of the first port in the port list that sees the name. `None` if the ad has no port list: the name is
    /// visible everywhere.
    pub first_port: Option<u32>,
    /// The other participant and the index of that participant's docked port; `None` while they are unknown.
    pub to: Option<(Participant, usize)>,
}

impl NameBinding {
    /// Returns the bindings of `other` and `target`, visible everywhere in the ad.
    pub fn of_other(to: Option<(Participant, usize)>) -> impl Iterator<Item = NameBinding> {
        static NAMES: LazyLock<Vec<Name>> = LazyLock::new(|| ScopeAd::Other.names().map(Name::new).collect());
        NAMES.iter().map(move |name| NameBinding { name: name.clone(), first_port: None, to })
    }
}

/// HTCondor's name for the current time, an attribute that every ad has.
pub const CURRENT_TIME: KnownName = KnownName::new("CurrentTime");

/// Binding of a port that stays unfilled: its label is undefined.
pub const UNFILLED_PORT: (Participant, usize) = (Participant::NONE, 0);

/// Result of resolving a name.
#[derive(Clone, Debug)]
#[must_use]
pub enum NameResolution {
    /// Expression of an attribute, and the scope in which it was found and must be evaluated.
    Expression(Expression, Arc<ScopeFrame>),
    /// A value: an ad that the name is bound to, or the time.
    Value(Value),
    /// The name refers to something unknown, such as a label whose port is not docked yet.
    Unknown,
    /// The name refers to nothing.
    Missing,
}

impl EnvironmentMember {
    /// Returns a completely known ad without partners.
    #[must_use]
    pub fn new(frame: Arc<ScopeFrame>, ports: Vec<Arc<ScopeFrame>>) -> Self {
        EnvironmentMember {
            frame,
            ports,
            bindings: Vec::new(),
            fallback: NameFallback::Nowhere,
            knowledge: Knowledge::Complete,
        }
    }

    /// Binds `other` and `target` of an ad without a port list; `None` binds them to an unknown partner.
    fn bind_other_names(&mut self, to: Option<(Participant, usize)>) {
        self.bindings.clear();
        self.bindings.extend(NameBinding::of_other(to));
        self.fallback =
            to.map_or(NameFallback::Unknown, |(participant, port)| NameFallback::Partner(participant, port));
    }
}

impl Environment {
    /// Returns an environment of one ad without a partner, and the ad's scope.
    pub fn single(ad: Ad) -> (Self, Arc<ScopeFrame>) {
        let frame = ScopeFrame::root(ad, Participant::REQUEST);
        let member = EnvironmentMember::new(Arc::clone(&frame), vec![Arc::clone(&frame)]);
        (Environment { members: vec![member], ..Environment::default() }, frame)
    }

    /// Returns an environment of one ad whose partner is unknown, and the ad's scope.
    pub fn partner_unknown(ad: Ad, extent: Knowledge) -> (Self, Arc<ScopeFrame>) {
        let (mut environment, frame) = Environment::single(ad);
        environment.is_partner_unknown = true;
        environment.members[0].knowledge = extent;
        environment.members[0].bind_other_names(None);
        (environment, frame)
    }

    /// Returns an environment in which nothing is known, neither the ad that holds an expression nor its partner, and
    /// the scope of the expression.
    pub fn unknown() -> (Self, Arc<ScopeFrame>) {
        let (mut environment, frame) = Environment::partner_unknown(Ad::default(), Knowledge::Partial);
        environment.is_ad_unknown = true;
        (environment, frame)
    }

    /// Returns an environment without ads, and the scope of an expression outside any ad.
    pub fn empty() -> (Self, Arc<ScopeFrame>) {
        (Environment::default(), ScopeFrame::outside_ads())
    }

    /// Returns an environment of a match or gang without members yet.
    pub fn for_match() -> Self {
        Environment { is_match: true, ..Environment::default() }
    }

    /// Returns a match of two ads, in each of which `other` and `target` denote the other ad, and the scopes of `left`
    /// and `right`.
    pub fn pair(left: Ad, right: Ad) -> (Self, [Arc<ScopeFrame>; 2]) {
        let frames =
            [(left, Participant::REQUEST), (right, Participant::PARTNER)].map(|(ad, side)| ScopeFrame::root(ad, side));
        let mut environment = Environment::for_match();
        for frame in &frames {
            environment.members.push(EnvironmentMember::new(Arc::clone(frame), vec![Arc::clone(frame)]));
        }
        environment.bind_other(Participant::REQUEST, (Participant::PARTNER, 0));
        environment.bind_other(Participant::PARTNER, (Participant::REQUEST, 0));
        (environment, frames)
    }

    /// Returns an environment of `ad` with `target` on the other side, both known completely, and the scope of `ad`.
    /// Without `target` there is no partner; a missing `ad` has no attributes.
    pub fn known(ad: Option<Ad>, target: Option<Ad>) -> (Self, Arc<ScopeFrame>) {
        match (ad, target) {
            (ad, Some(target)) => {
                let (environment, [frame, _]) = Environment::pair(ad.unwrap_or_default(), target);
                (environment, frame)
            }
            (Some(ad), None) => Environment::single(ad),
            (None, None) => Environment::empty(),
        }
    }

    /// Like [`Environment::known`], but without `target` the partner is unknown, and `extent` says how completely the
    /// ads are known.
    pub fn partial(ad: Option<Ad>, target: Option<Ad>, extent: Knowledge) -> (Self, Arc<ScopeFrame>) {
        match (ad, target) {
            (None, None) if extent == Knowledge::Partial => Environment::unknown(),
            (ad, None) => Environment::partner_unknown(ad.unwrap_or_default(), extent),
            (ad, target) => {
                let (mut environment, frame) = Environment::known(ad, target);
                environment.members.iter_mut().for_each(|member| member.knowledge = extent);
                (environment, frame)
            }
        }
    }

    /// Members so far; a [`Participant`] is an index into them.
    #[must_use]
    pub fn members(&self) -> &[EnvironmentMember] {
        &self.members
    }

    /// Returns the member with this index; `None` if there is none.
    pub fn member_mut(&mut self, participant: Participant) -> Option<&mut EnvironmentMember> {
        self.members.get_mut(participant.position())
    }

    /// Adds a member. Its frames must carry the next free participant number.
    pub fn add_member(&mut self, member: EnvironmentMember) {
        self.members.push(member);
    }

    /// Replaces the ad of a participant and keeps the participant's bindings.
    pub fn replace_ad(&mut self, participant: Participant, frame: &Arc<ScopeFrame>) {
        if let Some(member) = self.member_mut(participant) {
            member.frame = Arc::clone(frame);
            if let [port] = member.ports.as_mut_slice() {
                *port = Arc::clone(frame);
            }
        }
    }

    /// Binds `other` and `target` of an ad without a port list to a port of another member.
    pub fn bind_other(&mut self, participant: Participant, to: (Participant, usize)) {
        if let Some(member) = self.member_mut(participant) {
            member.bind_other_names(Some(to));
        }
    }

    /// Binds `other` and `target` of an ad without a port list to an unknown partner.
    pub fn unbind_other(&mut self, participant: Participant) {
        if let Some(member) = self.member_mut(participant) {
            member.bind_other_names(None);
        }
    }

    fn member(&self, participant: Participant) -> Option<&EnvironmentMember> {
        self.members.get(participant.position())
    }

    fn port(&self, (participant, port): (Participant, usize)) -> Option<&Arc<ScopeFrame>> {
        self.member(participant)?.ports.get(port)
    }

    /// Resolves an unqualified name in a scope.
    pub fn resolve(&self, frame: &Arc<ScopeFrame>, name: &Name, context: &Context) -> NameResolution {
        match self.resolve_own(frame, name, context) {
            NameResolution::Missing => self.resolve_in_partner(frame, name, context),
            found => found,
        }
    }

    /// Resolves an unqualified name among an ad's own attributes and its bindings. A name that only the partner defines
    /// is [`NameResolution::Missing`].
    pub fn resolve_own(&self, frame: &Arc<ScopeFrame>, name: &Name, context: &Context) -> NameResolution {
        let is_my = || context.dialect == Dialect::Classad && self.is_match && name.is("my");
        self.resolve_reserved(frame, name, context)
            .or_else(|| self.resolve_lexically(frame, name, context))
            .or_else(|| self.resolve_binding(frame, name))
            .or_else(|| is_my().then(|| NameResolution::Value(ad_value(frame))))
            .unwrap_or_else(|| self.resolve_missing(frame, name, context))
    }

    /// Resolves the names that the papers reserve, which no attribute hides in their dialect.
    fn resolve_reserved(&self, frame: &Arc<ScopeFrame>, name: &Name, context: &Context) -> Option<NameResolution> {
        if context.dialect.is_condor() { None } else { self.resolve_built_in(frame, name, context) }
    }

    /// Returns the resolution of a name that lexical lookup did not find: `Unknown` if the outermost ad may have
    /// further attributes, else `Missing`.
    fn resolve_missing(&self, frame: &Arc<ScopeFrame>, name: &Name, context: &Context) -> NameResolution {
        let may_be_my = context.dialect == Dialect::Classad && self.is_partner_unknown && name.is("my");
        if may_be_my || self.is_partly_known(frame.outermost()) {
            NameResolution::Unknown
        } else {
            NameResolution::Missing
        }
    }

    /// Whether `frame` is the scope of an ad that is known in part only.
    pub(crate) fn is_partly_known(&self, frame: &ScopeFrame) -> bool {
        frame.enclosing.is_none()
            && self.member(frame.participant).is_some_and(|member| {
                member.knowledge == Knowledge::Partial && member.frame.ad.identity() == frame.ad.identity()
            })
    }

    /// Whether anything about the ads or their partners is unknown.
    pub(crate) fn has_unknowns(&self) -> bool {
        self.is_partner_unknown || self.members.iter().any(|member| member.knowledge == Knowledge::Partial)
    }

    /// Resolves `.name`: an attribute of the outermost ad of this scope.
    pub fn resolve_root(&self, frame: &Arc<ScopeFrame>, name: &Name, context: &Context) -> NameResolution {
        let root = frame.outermost();
        match root.ad.get(name) {
            _ if context.dialect.is_condor() && self.is_match => NameResolution::Missing,
            _ if self.is_ad_unknown || (context.dialect.is_condor() && self.is_partner_unknown) => {
                NameResolution::Unknown
            }
            Some(expression) => NameResolution::Expression(expression.clone(), Arc::clone(root)),
            None => {
                self.resolve_built_in(root, name, context).unwrap_or_else(|| self.resolve_missing(root, name, context))
            }
        }
    }

    /// Resolves `ad.name` in the ad and the ads around it. In the papers' dialect the labels of the ad's ports are
    /// private, so they are not searched.
    pub fn resolve_selected(&self, ad: &Arc<ScopeFrame>, name: &Name, context: &Context) -> NameResolution {
        let condor = context.dialect.is_condor();
        let is_my = || !condor && self.is_match && name.is("my") && ad.ad.get(name).is_none();
        self.resolve_reserved(ad, name, context)
            .or_else(|| is_my().then(|| NameResolution::Value(ad_value(ad))))
            .or_else(|| self.resolve_lexically(ad, name, context))
            // HTCondor finds the names bound in its match ad from either side.
            .or_else(|| if condor { self.resolve_binding(ad, name) } else { None })
            .unwrap_or_else(|| self.resolve_missing(ad, name, context))
    }

    /// Looks a name up in the ad and then in the ads around it.
    fn resolve_lexically(&self, frame: &Arc<ScopeFrame>, name: &Name, context: &Context) -> Option<NameResolution> {
        let attribute = |frame: &Arc<ScopeFrame>| {
            frame.ad.get(name).map(|expression| NameResolution::Expression(expression.clone(), Arc::clone(frame)))
        };
        attribute(frame)
            .or_else(|| if context.dialect.is_condor() { self.resolve_built_in(frame, name, context) } else { None })
            .or_else(|| {
                iter::successors(frame.enclosing.as_ref(), |frame| frame.enclosing.as_ref()).find_map(attribute)
            })
    }

    /// Resolves the attributes that every ad has: `self`, `parent`, `root`, HTCondor's names for these, and HTCondor's
    /// `CurrentTime`. `None` for any other name.
    fn resolve_built_in(&self, frame: &Arc<ScopeFrame>, name: &Name, context: &Context) -> Option<NameResolution> {
        let condor = context.dialect.is_condor();
        Some(match ScopeAd::built_in(name, context.dialect) {
            Some(ScopeAd::Own) => NameResolution::Value(ad_value(frame)),
            Some(ScopeAd::Parent) => match &frame.enclosing {
                Some(enclosing) => self.resolve_enclosing(enclosing),
                None if condor && self.is_partner_unknown => NameResolution::Unknown,
                None if condor && self.is_match => NameResolution::Value(match_ad(frame)),
                None => NameResolution::Value(Value::Undefined),
            },
            Some(ScopeAd::Root) => match (self.is_match, self.is_partner_unknown) {
                (_, true) if condor => NameResolution::Unknown,
                (true, _) if condor => NameResolution::Value(match_ad(frame)),
                _ => self.resolve_enclosing(frame.outermost()),
            },
            _ if condor && name.is_known(CURRENT_TIME) => {
                context.now.map_or(NameResolution::Unknown, |now| NameResolution::Value(Value::Integer(now)))
            }
            _ => return None,
        })
    }

    /// Returns an enclosing ad as a value; unknown if it is the root and the ad that holds the expression is unknown.
    fn resolve_enclosing(&self, frame: &Arc<ScopeFrame>) -> NameResolution {
        if self.is_ad_unknown && frame.enclosing.is_none() {
            NameResolution::Unknown
        } else {
            NameResolution::Value(ad_value(frame))
        }
    }

    /// Looks a name up among the bindings of the ad of this scope; `None` if no binding of the name is visible.
    fn resolve_binding(&self, frame: &Arc<ScopeFrame>, name: &Name) -> Option<NameResolution> {
        let binding = self.member(frame.participant)?.bindings.iter().rev().find(|binding| {
            binding.name == *name && binding.first_port.is_none_or(|since| frame.port.is_some_and(|port| port >= since))
        })?;
        Some(match binding.to {
            Some(to) => NameResolution::Value(self.port(to).map_or(Value::Undefined, ad_value)),
            None => NameResolution::Unknown,
        })
    }

    /// Looks a name up in the only partner of an ad without a port list. HTCondor does this lookup only for names
    /// written in the ad itself, not in ads nested in it.
    fn resolve_in_partner(&self, frame: &Arc<ScopeFrame>, name: &Name, context: &Context) -> NameResolution {
        if context.dialect.is_condor() && !frame.falls_through {
            return NameResolution::Missing;
        }
        if self.is_partner_unknown {
            return NameResolution::Unknown;
        }
        let to = match self.member(frame.participant).map(|member| member.fallback) {
            Some(NameFallback::Partner(participant, port)) => (participant, port),
            Some(NameFallback::Unknown) => return NameResolution::Unknown,
            Some(NameFallback::Nowhere) | None => return NameResolution::Missing,
        };
        let Some(partner) = self.port(to) else { return NameResolution::Missing };
        self.resolve_lexically(partner, name, context).unwrap_or_else(|| self.resolve_missing(partner, name, context))
    }
}

fn ad_value(frame: &Arc<ScopeFrame>) -> Value {
    Value::Ad(AdValue { frame: Arc::clone(frame) })
}

/// Returns HTCondor's match ad, which encloses the two ads of a match. Here the match ad has no attributes.
fn match_ad(frame: &Arc<ScopeFrame>) -> Value {
    ad_value(&ScopeFrame::root(Ad::default(), frame.participant))
}
