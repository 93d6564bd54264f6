//! Scopes and name resolution: how a name finds an attribute (thesis 2.4.5 and 3.2.2).
//!
//! `my`, `target`, `other` and the labels of ports are names that an ad's scope binds to an ad. A match binds `other`
//! and `target` to the partner, a gang binds the label of each docked port. An ad without a partner has no such
//! binding.

use std::iter;
use std::sync::Arc;

use crate::ad::{Ad, AdValue, Dialect, Expression, KnownName, Name, Participant, ScopeAd, ScopeFrame, Value};

use super::Context;
use super::environment_member::{EnvironmentMember, Knowledge, NameFallback};

/// Ads that take part in an evaluation, and the names by which they refer to one another.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Environment {
    members: Vec<EnvironmentMember>,
    /// Whether the ads form a match or a gang. HTCondor's `root` is then the match ad, not one of the participants.
    is_match: bool,
    /// Whether the partner is unknown. There may then also be no partner at all.
    is_partner_unknown: bool,
    /// Whether the ad that holds the evaluated expression is unknown. The partner is then unknown, too.
    is_ad_unknown: bool,
}

/// HTCondor's name for the current time, an attribute that every ad has.
pub const CURRENT_TIME: KnownName = KnownName::new("CurrentTime");

/// Result of resolving a name.
#[derive(Clone, Debug)]
#[must_use]
pub enum NameResolution {
    /// Expression of an attribute, and the scope in which it was found and must be evaluated.
    Expression(Expression, Arc<ScopeFrame>),
    /// A value: the ad to which the name is bound, or the current time.
    Value(Value),
    /// The name refers to something unknown, such as a label whose port is not docked yet.
    Unknown,
    /// The name refers to nothing.
    Missing,
}

impl Environment {
    /// Returns an environment of one ad without a partner, and the ad's scope.
    pub fn single(ad: Ad) -> (Self, Arc<ScopeFrame>) {
        let frame = ScopeFrame::root(ad, Participant::REQUEST);
        let member = EnvironmentMember::new(Arc::clone(&frame), vec![Arc::clone(&frame)]);
        (Environment { members: vec![member], ..Environment::default() }, frame)
    }

    /// Returns an environment of one ad whose partner is unknown, and the ad's scope. `extent` says how completely the
    /// ad is known.
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

    /// Returns an environment for a match or gang, still without members.
    pub fn for_match() -> Self {
        Environment { is_match: true, ..Environment::default() }
    }

    /// Returns a match of two ads, and the scopes of `left` and `right`. `other` and `target` in one ad denote the
    /// other ad.
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

    /// Returns an environment of `ad` and its partner `target`, both known completely, and the scope of `ad`. If
    /// `target` is `None`, there is no partner. If only `ad` is `None`, an ad without attributes stands for it. If both
    /// are `None`, the result is [`Environment::empty`].
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

    /// Like [`Environment::known`], but the partner is unknown if `target` is `None`. `extent` says how completely the
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

    /// Ads that take part, in the order of their [`Participant`] numbers.
    #[must_use]
    pub fn members(&self) -> &[EnvironmentMember] {
        &self.members
    }

    /// Returns the member with this participant number; `None` if there is none.
    pub fn member_mut(&mut self, participant: Participant) -> Option<&mut EnvironmentMember> {
        self.members.get_mut(participant.position())
    }

    /// Adds a member. Precondition: the participant number in the member's frames is the number of members added
    /// before.
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

    /// Resolves an unqualified name: in the ad of the scope, in the ads around it, and then in the partner.
    pub fn resolve(&self, frame: &Arc<ScopeFrame>, name: &Name, context: &Context) -> NameResolution {
        match self.resolve_own(frame, name, context) {
            NameResolution::Missing => self.resolve_in_partner(frame, name, context),
            found => found,
        }
    }

    /// Resolves an unqualified name among an ad's own attributes and bindings, but not in its partner. A name that only
    /// the partner defines is [`NameResolution::Missing`].
    pub fn resolve_own(&self, frame: &Arc<ScopeFrame>, name: &Name, context: &Context) -> NameResolution {
        let is_my = || context.dialect == Dialect::Classad && self.is_match && name.is("my");
        self.resolve_reserved(frame, name, context)
            .or_else(|| self.resolve_lexically(frame, name, context))
            .or_else(|| self.resolve_binding(frame, name))
            .or_else(|| is_my().then(|| NameResolution::Value(ad_value(frame))))
            .unwrap_or_else(|| self.resolve_missing(frame, name, context))
    }

    /// Resolves `self`, `parent` and `root` in the papers' dialect, where no attribute hides them. `None` for other
    /// names and in HTCondor's dialect.
    fn resolve_reserved(&self, frame: &Arc<ScopeFrame>, name: &Name, context: &Context) -> Option<NameResolution> {
        if context.dialect.is_condor() { None } else { self.resolve_built_in(frame, name, context) }
    }

    /// Returns the resolution of a name that was not found: `Unknown` if the outermost ad may have further attributes,
    /// else `Missing`. In the papers' dialect `my` exists only in a match, so `my` is `Unknown` for an unknown partner.
    fn resolve_missing(&self, frame: &Arc<ScopeFrame>, name: &Name, context: &Context) -> NameResolution {
        let may_be_my = context.dialect == Dialect::Classad && self.is_partner_unknown && name.is("my");
        if may_be_my || self.is_partly_known(frame.outermost()) {
            NameResolution::Unknown
        } else {
            NameResolution::Missing
        }
    }

    /// Whether `frame` is the scope of a root ad that is known only in part.
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

    /// Resolves `.name`, an attribute of the outermost ad of this scope. In a match HTCondor finds nothing, since its
    /// outermost ad is the match ad.
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
    /// private, so they are not searched. In HTCondor's dialect the ad's bindings are searched, too.
    pub fn resolve_selected(&self, ad: &Arc<ScopeFrame>, name: &Name, context: &Context) -> NameResolution {
        let condor = context.dialect.is_condor();
        let is_my = || !condor && self.is_match && name.is("my") && ad.ad.get(name).is_none();
        self.resolve_reserved(ad, name, context)
            .or_else(|| is_my().then(|| NameResolution::Value(ad_value(ad))))
            .or_else(|| self.resolve_lexically(ad, name, context))
            // HTCondor binds names in the match ad, where both sides find them.
            .or_else(|| if condor { self.resolve_binding(ad, name) } else { None })
            .unwrap_or_else(|| self.resolve_missing(ad, name, context))
    }

    /// Looks a name up in the ad and then in the ads around it; `None` if it is in none of them.
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

    /// Resolves the attributes that every ad has: `self`, `parent` and `root`, and in HTCondor's dialect also `my`,
    /// `toplevel` and `CurrentTime`. `None` for any other name.
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

    /// Returns an enclosing ad as a value. The root is unknown if the ad that holds the expression is unknown.
    fn resolve_enclosing(&self, frame: &Arc<ScopeFrame>) -> NameResolution {
        if self.is_ad_unknown && frame.enclosing.is_none() {
            NameResolution::Unknown
        } else {
            NameResolution::Value(ad_value(frame))
        }
    }

    /// Looks a name up among the bindings of the ad of this scope; `None` if no visible binding has the name.
    fn resolve_binding(&self, frame: &Arc<ScopeFrame>, name: &Name) -> Option<NameResolution> {
        let binding = self.member(frame.participant)?.bindings.iter().rev().find(|binding| {
            binding.name == *name && binding.first_port.is_none_or(|since| frame.port.is_some_and(|port| port >= since))
        })?;
        Some(match binding.to {
            Some(to) => NameResolution::Value(self.port(to).map_or(Value::Undefined, ad_value)),
            None => NameResolution::Unknown,
        })
    }

    /// Looks a name up in the partner of an ad without a port list. In HTCondor's dialect only names written in the ad
    /// itself are looked up there, not those in nested ads.
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

/// Returns HTCondor's match ad, which encloses the two ads of a match. In this library it has no attributes.
fn match_ad(frame: &Arc<ScopeFrame>) -> Value {
    ad_value(&ScopeFrame::root(Ad::default(), frame.participant))
}
