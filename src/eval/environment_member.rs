//! An ad that takes part in an evaluation, with the names that its scope binds to other ads.

use std::sync::{Arc, LazyLock};

use crate::ad::{Name, Participant, ScopeAd, ScopeFrame};

/// Ad that takes part in an evaluation.
#[derive(Clone, Debug)]
pub struct EnvironmentMember {
    /// Scope of the ad.
    pub frame: Arc<ScopeFrame>,
    /// Scopes of the ad's ports, in order. An ad without a port list has its own scope here.
    pub ports: Vec<Arc<ScopeFrame>>,
    /// Names that this ad's scope binds to other ads. If several visible bindings have the same name, the last one
    /// applies.
    pub bindings: Vec<NameBinding>,
    /// Where the ad looks up a name that it neither defines nor binds.
    pub fallback: NameFallback,
    /// Whether the ad is known completely.
    pub knowledge: Knowledge,
}

/// Where an ad looks up a name that it neither defines nor binds. Only an ad without a port list looks it up in its
/// partner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NameFallback {
    /// Nowhere: the name is undefined.
    #[default]
    Nowhere,
    /// In a partner that is not known yet: the name is unknown.
    Unknown,
    /// In the only partner: the participant and the index of its port in [`EnvironmentMember::ports`].
    Partner(Participant, usize),
}

/// Whether an ad is known completely (thesis 2.6.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Knowledge {
    /// Completely: an attribute that it lacks is undefined.
    #[default]
    Complete,
    /// In part: the ad may have further attributes, whose names and values are unknown. Names that every scope binds,
    /// such as `my` and `other`, are not among them.
    Partial,
}

/// Name that is bound to another ad.
#[derive(Clone, Debug)]
pub struct NameBinding {
    /// The name: a port's label, `other` or `target`.
    pub name: Name,
    /// 0-based index of the first port of the ad that sees the name; later ports see it, too. `None` if the ad has no
    /// port list, so that the whole ad sees the name.
    pub first_port: Option<u32>,
    /// Partner that the name denotes: the participant and the 0-based index of its docked port. `None` if the partner
    /// is unknown.
    pub to: Option<(Participant, usize)>,
}

/// Value of [`NameBinding::to`] for a port that stays unfilled: the port's label is undefined.
pub const UNFILLED_PORT: (Participant, usize) = (Participant::NONE, 0);

impl NameBinding {
    /// Returns the bindings of `other` and `target` to one partner, visible everywhere in the ad. `None` stands for an
    /// unknown partner.
    pub fn of_other(to: Option<(Participant, usize)>) -> impl Iterator<Item = NameBinding> {
        static NAMES: LazyLock<Vec<Name>> = LazyLock::new(|| ScopeAd::Other.names().map(Name::new).collect());
        NAMES.iter().map(move |name| NameBinding { name: name.clone(), first_port: None, to })
    }
}

impl EnvironmentMember {
    /// Returns a completely known member without a partner.
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
    pub(super) fn bind_other_names(&mut self, to: Option<(Participant, usize)>) {
        self.bindings.clear();
        self.bindings.extend(NameBinding::of_other(to));
        self.fallback =
            to.map_or(NameFallback::Unknown, |(participant, port)| NameFallback::Partner(participant, port));
    }
}
