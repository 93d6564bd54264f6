//! What a transcript says of a request: why it gets nothing, and what its offer is worth.

use std::iter;

use classad::ad::Value;
use classad::matching::negotiate::{AccountingLimit, GrantedOffer, RefusalReasons, RemainingAllowance};
use classad::matching::policy::{Policy, PolicyVector};
use classad::text::{counted, rounded, with_commas};

use crate::cli::render::rows::value_text;

/// Names the first of some requests, and counts the others.
pub fn several(first: &str, count: usize) -> String {
    if count == 1 { first.to_owned() } else { format!("{first} and {} more", with_commas(count - 1)) }
}

/// Why a request is skipped.
pub const EQUIVALENT: &str = "an equivalent request was rejected";

/// Says why requests had no turn.
pub fn limit_text(limit: &AccountingLimit) -> String {
    match limit {
        AccountingLimit::Group(of) if of.is_skipped => format!("the group {} is skipped", of.group),
        AccountingLimit::Group(of) if of.maximum <= 0.0 => format!("the group {} may use no more", of.group),
        AccountingLimit::Group(of) => format!("the maximum of the group {} was reached", of.group),
        AccountingLimit::Ceiling(_) => "the ceiling of the submitter was reached".to_owned(),
        AccountingLimit::Share(of) if of.usage < of.maximum => "the share was too small for another turn".to_owned(),
        AccountingLimit::Share(_) => "the share was used up".to_owned(),
        _ => "an equivalent request reached a concurrency limit".to_owned(),
    }
}

/// Says why a gang, which takes this number of offers of this weight, waits for the next round.
pub fn deferral_detail(submitter: &str, (offers, weight): (usize, f64), left: RemainingAllowance) -> String {
    let (needed, left) = match left {
        RemainingAllowance::Offers(left) => (counted(offers, "offer"), left.to_string()),
        RemainingAllowance::Weight(left) => (format!("weight {}", rounded(weight)), rounded(left).to_string()),
    };
    format!("its gang needs {needed}, but {submitter} can get only {left} more in this round")
}

/// Says why a request is rejected: a limit, its share, or the offers.
pub fn rejection_detail(refusals: &RefusalReasons, offers: [usize; 2], are_divided: bool) -> String {
    match refusals {
        RefusalReasons { limit: Some(limit), .. } => limit.to_string(),
        RefusalReasons { over_share: 0, .. } => rejection_reason(offers, are_divided),
        RefusalReasons { over_share, lightest_over_share, .. } => {
            let offers = match over_share {
                1 => "the compatible offer that is left weighs".to_owned(),
                _ => format!("each of {} weighs at least", counted(*over_share, "compatible offer")),
            };
            let lightest = rounded(lightest_over_share.unwrap_or_default());
            format!("the share is too small; {offers} {lightest}")
        }
    }
}

/// Explains why a request is rejected, by the number of compatible offers and the number of offers that the docking
/// vector discarded. If offers may be divided, `compatible` does not count those that were compatible before.
fn rejection_reason([compatible, discarded]: [usize; 2], are_divided: bool) -> String {
    let offers = counted(compatible, "compatible offer");
    let given = compatible - discarded;
    match (given, discarded) {
        (_, 0) if are_divided => "no offer that is left is compatible".to_owned(),
        (_, some) if are_divided => {
            format!("the policy discards the only {} left", counted(some, "compatible offer"))
        }
        (0, 0) => "no offer is compatible".to_owned(),
        (1, 0) => format!("no offer that is left is compatible ({offers} is given already)"),
        (_, 0) => format!("no offer that is left is compatible ({offers} are given already)"),
        (0, _) => format!("{offers}, discarded by the policy"),
        (given, some) => format!("{offers} ({given} already given, {some} discarded by the policy)"),
    }
}

/// Returns what decides between candidates: the docking vector, or the two ranks.
pub fn worth_text(granted: &GrantedOffer, policy: &Policy) -> String {
    match &granted.vector {
        Some(vector) => vector_text(vector, policy),
        None => format!("(request rank {}, offer rank {})", granted.request_rank, granted.offer_rank),
    }
}

/// Lists the components of a docking vector, each with its name if the policy names it.
fn vector_text(vector: &PolicyVector, policy: &Policy) -> String {
    let names = policy.docking.iter().map(|rule| rule.name.as_deref()).chain(iter::repeat(None));
    let components = vector.0.iter().zip(names).map(|(component, name)| {
        let value = component.as_ref().map_or(&Value::Undefined, |component| &component.value);
        let value = String::from_utf8_lossy(&value_text(value, false)).into_owned();
        name.map_or(value.clone(), |name| format!("{name} {value}"))
    });
    format!("{{ {} }}", components.collect::<Vec<_>>().join(", "))
}
