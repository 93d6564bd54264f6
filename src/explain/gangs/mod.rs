//! Why a request with ports gets no gang: the port that nobody docks at, what rules its candidates out, and what would
//! help.

mod cause;
mod changes;
mod summary;
#[cfg(test)]
mod tests;

use indexmap::IndexSet;

use crate::ad::{Ad, Name};
use crate::eval::Mentions;
use crate::matching::gang::{Gang, GangFault, Gangmatcher, Impasse};
use crate::protocol::ports;

pub use cause::{Cause, Obstacle};
pub use changes::GangChange;
pub use summary::GangWording;

/// What an explanation of a gang says.
#[derive(Clone, Debug)]
pub struct GangReport {
    /// How many offers are left.
    pub offers: usize,
    /// The gang, if the request gets one.
    pub gang: Option<Gang>,
    /// Otherwise what is known of its ports.
    pub impasse: Option<Impasse>,
    /// What decides.
    pub verdict: GangVerdict,
    /// The attributes that have to do with it.
    pub attributes: IndexSet<Name>,
    /// What would let it have a gang, fewest and smallest steps first.
    pub changes: Vec<GangChange>,
}

/// What decides whether a request gets a gang.
#[derive(Clone, Debug)]
pub enum GangVerdict {
    /// It gets one.
    Matches,
    /// It would get one, but others have some of it: these requests.
    Taken(Vec<usize>),
    /// There are no offers.
    NoOffers,
    /// No offer docks at a port, whatever is docked at the others.
    Empty(Obstacle),
    /// Ports have candidates, but cannot be filled together.
    Apart(Obstacle),
}

impl GangVerdict {
    /// The word for it in `classad.explain/1`.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            GangVerdict::Matches => "matches",
            GangVerdict::Taken(_) => "taken",
            GangVerdict::NoOffers => "unsatisfied-clause",
            GangVerdict::Apart(Obstacle { cause: Cause::Discarded, .. }) => "refused",
            GangVerdict::Apart(_) => "conflict",
            GangVerdict::Empty(obstacle) => match obstacle.cause {
                Cause::NoConstraint | Cause::Missing { .. } => "missing-attribute",
                Cause::Refused { .. } => "refused",
                Cause::Conflict(_) => "conflict",
                _ => "unsatisfied-clause",
            },
        }
    }
}

/// Why a request gets the gang that it gets of the offers that are left, or none.  Nothing is used up.
///
/// # Errors
///
/// When the ports of the request cannot be used, or docking vectors do not compare.
pub fn explain_gang(matcher: &mut Gangmatcher, index: usize, request: &Ad) -> Result<GangReport, GangFault> {
    let mut report = GangReport {
        offers: matcher.left(),
        gang: matcher.possible(index, request)?,
        impasse: None,
        verdict: GangVerdict::Matches,
        attributes: IndexSet::new(),
        changes: Vec::new(),
    };
    if report.gang.is_some() {
        return Ok(report);
    }
    report.impasse = matcher.impasse(index, request)?;
    let Some(impasse) = &report.impasse else { return Ok(report) };
    if report.offers == 0 {
        report.verdict = GangVerdict::NoOffers;
        return Ok(report);
    }
    let (obstacle, obstacles) = cause::find(matcher, request, impasse)?;
    report.attributes = attributes(matcher, request, &obstacle, &obstacles);
    let is_empty = impasse.ports.get(obstacle.port).is_some_and(|port| port.alone == 0);
    report.verdict = if is_empty { GangVerdict::Empty(obstacle) } else { GangVerdict::Apart(obstacle) };
    report.changes = changes::changes(matcher, index, request, impasse)?;
    Ok(report)
}

/// The attributes that the decisive conditions read.
fn attributes(
    matcher: &Gangmatcher,
    request: &Ad,
    obstacle: &Obstacle,
    obstacles: &crate::matching::gang::Obstacles,
) -> IndexSet<Name> {
    let labels: Vec<Name> =
        ports(request).map(|ports| ports.list.into_iter().map(|port| port.label).collect()).unwrap_or_default();
    let mut mentions = Mentions::default();
    let dialect = matcher.dialect();
    let decisive = obstacle.cause.parts().into_iter().filter_map(|part| obstacles.parts.get(part));
    decisive.for_each(|part| mentions.add(&part.expression, dialect));
    let is_refused = matches!(obstacle.cause, Cause::Refused { .. });
    let wishes = obstacles.offers.iter().filter(|offer| is_refused && offer.failing == 0);
    let wishes = wishes.filter_map(|offer| offer.wish.as_ref()?.part.as_ref());
    wishes.for_each(|part| mentions.add(part, dialect));
    let is_attribute = |name: &Name| !labels.contains(name) && !crate::constraint::stands_for_a_side(name);
    mentions.names.into_iter().filter(is_attribute).collect()
}
