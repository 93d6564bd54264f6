//! What keeps the decisive port of a request empty.

use indexmap::IndexMap;

use crate::ad::{Ad, Dialect, Name, Value, nearest};
use crate::explain::conflicts::{Conflicts, minimal, positions};
use crate::explain::distance::nearest_to;
use crate::matching::gang::{Bound, GangFault, Gangmatcher, Impasse, Obstacles, Part};

/// A port that stays empty, and why.
#[derive(Clone, Debug)]
pub struct Obstacle {
    /// The position of the port.
    pub port: usize,
    /// Why.
    pub cause: Cause,
}

/// Why none of the offers that are looked at docks at a port.  Parts are known by their positions.
#[derive(Clone, Debug)]
pub enum Cause {
    /// The port has no constraint, so that it accepts none.
    NoConstraint,
    /// A part of its constraint reads what no offer has; names that are spelt nearly alike, and how many have them.
    Missing {
        /// Which part.
        part: usize,
        /// What it reads.
        name: Name,
        /// Near names.
        near: Vec<(Name, usize)>,
    },
    /// A part of its constraint is met by none.
    Unmet {
        /// Which part.
        part: usize,
        /// The same in the classad syntax, as conditions have it.
        text: String,
        /// The part, as far as it is a comparison.
        asked: Option<Box<Bound>>,
        /// What comes nearest to what it asks for.
        best: Option<Value>,
    },
    /// Each part is met by some, but none meets all of these.
    Conflict(Vec<usize>),
    /// Offers would do, and each of them refuses.
    Refused {
        /// How many would do.
        suitable: usize,
    },
    /// All that are left are docked at other ports already.
    Held,
    /// The docking vector discards each that would do.
    Discarded,
    /// Offers would do that cannot fill their own ports.
    Unserved,
    /// There are enough offers for no way to fill the group.
    Group,
}

impl Cause {
    /// The parts of the port's constraint that decide.
    #[must_use]
    pub fn parts(&self) -> Vec<usize> {
        match self {
            Cause::Missing { part, .. } | Cause::Unmet { part, .. } => vec![*part],
            Cause::Conflict(parts) => parts.clone(),
            _ => Vec::new(),
        }
    }
}

/// The ports that decide, the first one first: one that must be filled and that no offer could have alone, else those
/// that are stuck.
pub fn decisive(impasse: &Impasse) -> Vec<usize> {
    if let Some(empty) = impasse.ports.iter().position(|port| port.is_needed && port.alone == 0) {
        return vec![empty];
    }
    let mut stuck: Vec<_> = impasse.stuck.iter().collect();
    stuck.sort_by_key(|stuck| (stuck.fitting > 0, stuck.port));
    stuck.into_iter().map(|stuck| stuck.port).collect()
}

/// The port that decides, and why it stays empty.
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
    // What is most likely misspelt comes first; otherwise what the port asks for first.
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

/// The first attribute of the candidate that a part reads and no offer has.
pub fn missing(matcher: &Gangmatcher, part: &Part) -> Option<Name> {
    part.theirs.iter().find(|name| matcher.showing(name) == 0).cloned()
}

/// Attributes of offers that are spelt nearly like a name, and how many offers have each.
pub fn near(matcher: &Gangmatcher, name: &Name) -> Vec<(Name, usize)> {
    let near = nearest(name.as_str(), matcher.names().map(Name::as_str));
    near.into_iter().map(|near| (Name::new(near), matcher.showing(&Name::new(near)))).collect()
}

/// Of what offers have where a part is not met, what comes nearest to it.
fn best(matcher: &Gangmatcher, obstacles: &Obstacles, part: usize, asked: &Bound) -> Option<Value> {
    let mut values: IndexMap<String, (Value, usize)> = IndexMap::new();
    for (_, value) in obstacles.offers.iter().flat_map(|offer| &offer.has).filter(|(at, _)| *at == part) {
        let text = crate::explain::findings::value_text(value);
        values.entry(text).or_insert_with(|| (value.clone(), 0)).1 += 1;
    }
    let values = values.values().map(|(value, offers)| (value, *offers));
    nearest_to(asked.operator, &asked.value, values, matcher.dialect())
}
