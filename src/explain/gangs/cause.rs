//! Finds the port that keeps a gang from forming, and the reason.

use indexmap::IndexMap;

use crate::ad::{Ad, Dialect, Name, Value, nearest};
use crate::explain::conflicts::{Conflicts, minimal, positions};
use crate::explain::distance::nearest_to;
use crate::matching::gang::{Bound, GangFault, Gangmatcher, Impasse, Obstacles, Part};

/// A port that stays empty, with the reason.
#[derive(Clone, Debug)]
pub struct Obstacle {
    /// Index of the port in the request.
    pub port: usize,
    /// The reason.
    pub cause: Cause,
}

/// The reason why no offer docks at a port. Parts are referred to by their index into [`Obstacles::parts`].
#[derive(Clone, Debug)]
pub enum Cause {
    /// The port has no constraint, and so accepts no offer.
    NoConstraint,
    /// A part of its constraint reads an attribute that no offer has.
    Missing {
        /// Index of the part.
        part: usize,
        /// The attribute.
        name: Name,
        /// Similar attributes, each with the number of offers that have it.
        near: Vec<(Name, usize)>,
    },
    /// No offer meets a part of its constraint.
    Unmet {
        /// Index of the part.
        part: usize,
        /// The text of the part in the classad syntax, for comparison with the text of conditions.
        text: String,
        /// The part as a comparison with a constant; `None` if it is anything else.
        asked: Option<Box<Bound>>,
        /// The offers' value that comes closest to meeting the comparison. `None` if no value is comparable.
        best: Option<Value>,
    },
    /// Each part is met by some offer, but no offer meets all of these.
    Conflict(Vec<usize>),
    /// Some offers meet the port's constraint, and all of them refuse.
    Refused {
        /// Number of offers that meet the port's constraint.
        suitable: usize,
    },
    /// All remaining candidates are docked at other ports.
    Held,
    /// The docking vector discards every candidate.
    Discarded,
    /// Candidates exist that cannot fill their own ports.
    Unserved,
    /// No assignment of offers fills the group.
    Group,
}

impl Cause {
    /// Indices of the decisive parts of the port's constraint.
    #[must_use]
    pub fn parts(&self) -> Vec<usize> {
        match self {
            Cause::Missing { part, .. } | Cause::Unmet { part, .. } => vec![*part],
            Cause::Conflict(parts) => parts.clone(),
            _ => Vec::new(),
        }
    }
}

/// Returns the indices of the decisive ports, the most decisive first: a required port without any candidate of its
/// own, else the blocked ports.
pub fn decisive(impasse: &Impasse) -> Vec<usize> {
    if let Some(empty) = impasse.ports.iter().position(|port| port.is_needed && port.alone == 0) {
        return vec![empty];
    }
    let mut stuck: Vec<_> = impasse.stuck.iter().collect();
    stuck.sort_by_key(|stuck| (stuck.fitting > 0, stuck.port));
    stuck.into_iter().map(|stuck| stuck.port).collect()
}

/// Finds the decisive port and the reason why it stays empty. Also returns the obstacles at this port.
pub fn find(matcher: &mut Gangmatcher, request: &Ad, impasse: &Impasse) -> Result<(Obstacle, Obstacles), GangFault> {
    let port = decisive(impasse).first().copied().unwrap_or_default();
    let obstacles = matcher.obstacles(request, impasse, port)?;
    let stuck = impasse.stuck.iter().find(|stuck| stuck.port == port);
    let is_alone = impasse.ports[port].alone == 0;
    let cause = match stuck.filter(|_| !is_alone) {
        Some(stuck) if stuck.fitting > 0 => Cause::Group,
        Some(stuck) if !stuck.unserved.is_empty() => Cause::Unserved,
        Some(stuck) if stuck.discarded > 0 => Cause::Discarded,
        Some(stuck) if stuck.conditions.is_empty() => Cause::Held,
        _ if obstacles.parts.is_empty() => Cause::NoConstraint,
        _ => of_offers(matcher, &obstacles),
    };
    Ok((Obstacle { port, cause }, obstacles))
}

fn of_offers(matcher: &Gangmatcher, obstacles: &Obstacles) -> Cause {
    let never = obstacles.offers.iter().fold(u128::MAX, |never, offer| never & offer.failing);
    let never: Vec<usize> = positions(never).into_iter().filter(|part| *part < obstacles.parts.len()).collect();
    // Report a probable misspelling first, otherwise the first unmet part.
    let missing = |part: &usize| {
        let name = missing(matcher, &obstacles.parts[*part])?;
        let near = near(matcher, &name);
        Some(Cause::Missing { part: *part, name, near })
    };
    let is_misspelt = |cause: &Cause| matches!(cause, Cause::Missing { near, .. } if !near.is_empty());
    let misspelt = never.iter().filter_map(missing).find(is_misspelt);
    if let Some(cause) = misspelt.or_else(|| never.first().and_then(missing)) {
        return cause;
    }
    if let Some(part) = never.first() {
        let asked = obstacles.parts[*part].asked.as_ref();
        let best = asked.and_then(|asked| best(matcher, obstacles, *part, asked));
        let text = crate::explain::clauses::text(&obstacles.parts[*part].expression, Dialect::Classad);
        return Cause::Unmet { part: *part, text, asked: asked.cloned().map(Box::new), best };
    }
    let suitable = obstacles.offers.iter().filter(|offer| offer.failing == 0).count();
    if suitable > 0 {
        return Cause::Refused { suitable };
    }
    let failing = minimal(obstacles.offers.iter().map(|offer| offer.failing));
    Cause::Conflict(Conflicts::of(&failing).sets.into_iter().next().unwrap_or_default())
}

/// Returns the first attribute of the candidate that a part reads and no offer has. `None` if there is none.
pub fn missing(matcher: &Gangmatcher, part: &Part) -> Option<Name> {
    part.theirs.iter().find(|name| matcher.showing(name) == 0).cloned()
}

/// Returns the offers' attributes with names similar to `name`, each with the number of offers that have it.
pub fn near(matcher: &Gangmatcher, name: &Name) -> Vec<(Name, usize)> {
    let near = nearest(name.as_str(), matcher.names().map(Name::as_str));
    near.into_iter().map(|near| (Name::new(near), matcher.showing(&Name::new(near)))).collect()
}

/// Returns the offers' value that comes closest to meeting a part. `None` if no value is comparable.
fn best(matcher: &Gangmatcher, obstacles: &Obstacles, part: usize, asked: &Bound) -> Option<Value> {
    let mut values: IndexMap<String, (Value, usize)> = IndexMap::new();
    for (_, value) in obstacles.offers.iter().flat_map(|offer| &offer.has).filter(|(at, _)| *at == part) {
        let text = crate::explain::findings::value_text(value);
        values.entry(text).or_insert_with(|| (value.clone(), 0)).1 += 1;
    }
    let values = values.values().map(|(value, offers)| (value, *offers));
    nearest_to(asked.operator, &asked.value, values, matcher.dialect())
}
