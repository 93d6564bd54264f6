//! The ads that agents advertise after a claim and after its release (thesis 3.8): the offer is claimed and tells by
//! whom, and it is free again.

use crate::ad::{Ad, Expression, Name, Value};
use crate::eval::Context;

use super::advertised_state::{AdvertisedState, SlotState};
use super::{Advertisement, evaluate_attribute, without_private_attributes};

/// The attributes that tell who uses an offer.
const USE_ATTRIBUTES: [&str; 4] = ["RemoteUser", "RemoteOwner", "GlobalJobId", "JobId"];

/// Returns the ad of an offer as its agent advertises it after the request claimed it. `rank` is the rank that the
/// offer gives the request, `at` the time in seconds since 1970.
///
/// The ticket is used up, and its successor is the agent's secret: the ad has none. An offer whose claim no matchmaker
/// can see, as it is not a slot, keeps its sequence number: it counts as matched until it is released.
#[must_use]
pub fn claimed_offer(offer: &Ad, request: &Ad, rank: f64, at: i64, context: &Context) -> Ad {
    let mut ad = without_use(offer);
    let text = |name: &str| match evaluate_attribute(request, &Name::new(name), context) {
        Some(Value::String(text)) => Some(Value::String(text)),
        _ => None,
    };
    let (user, owner) = (text("User").or_else(|| text("Owner")), text("Owner").or_else(|| text("User")));
    let users = [("RemoteUser", user), ("RemoteOwner", owner), ("GlobalJobId", text("GlobalJobId"))];
    for (name, value) in users.into_iter().filter_map(|(name, value)| Some((name, value?))) {
        ad = with_value(&ad, name, value);
    }
    ad = with_value(&ad, "CurrentRank", Value::Real(rank));
    ad = with_state(&ad, ["Claimed", "Busy"], at);
    let is_seen = Advertisement::new(&ad, context).state() == AdvertisedState::Slot(SlotState::Claimed);
    if is_seen { advertised_afresh(&ad, offer, at, context) } else { ad }
}

/// Returns the ad of an offer as its agent advertises it when the claim is released.
#[must_use]
pub fn released_offer(offer: &Ad, at: i64, context: &Context) -> Ad {
    let ad = with_value(&without_use(offer), "CurrentRank", Value::Real(0.0));
    advertised_afresh(&with_state(&ad, ["Unclaimed", "Idle"], at), offer, at, context)
}

/// Returns the ad without its secrets, and without those who used it.
fn without_use(offer: &Ad) -> Ad {
    let is_of_use = |name: &Name| USE_ATTRIBUTES.iter().any(|of_use| name.is(of_use));
    let public = without_private_attributes(offer);
    let kept = public.iter().filter(|attribute| !is_of_use(attribute.name));
    kept.map(|attribute| (attribute.name.clone(), attribute.expression.clone())).collect()
}

fn with_state(ad: &Ad, [state, activity]: [&str; 2], at: i64) -> Ad {
    let ad = with_value(&with_value(ad, "State", Value::string(state)), "Activity", Value::string(activity));
    let ad = with_value(&ad, "EnteredCurrentState", Value::Integer(at));
    with_value(&ad, "EnteredCurrentActivity", Value::Integer(at))
}

/// Returns the ad with the sequence number after that of `before`, heard of at the time `at`.
fn advertised_afresh(ad: &Ad, before: &Ad, at: i64, context: &Context) -> Ad {
    let sequence = Advertisement::new(before, context).sequence().unwrap_or(0).saturating_add(1);
    let ad = with_value(ad, "UpdateSequenceNumber", Value::Integer(sequence));
    with_value(&ad, "LastHeardFrom", Value::Integer(at))
}

fn with_value(ad: &Ad, name: &str, value: Value) -> Ad {
    ad.with(Name::new(name), Expression::literal(value))
}

#[cfg(test)]
mod tests {
    use super::{claimed_offer, released_offer};
    use crate::ad::{Ad, Dialect};
    use crate::eval::Context;
    use crate::protocol::Advertisement;
    use crate::syntax::{ParseOptions, parse_ad};

    fn ad(text: &str) -> Ad {
        parse_ad(text.as_bytes(), ParseOptions::default()).unwrap()
    }

    #[test]
    fn claimed_and_free_again() {
        let context = Context::new(Dialect::Classad);
        let idle = "[ MyType = \"Machine\"; Name = \"leonardo\"; State = \"Unclaimed\"; Activity = \"Idle\"; ClaimId = \"t\"; \
                    UpdateSequenceNumber = 4; CurrentRank = 0.0; Memory = 64 ]";
        let job = ad("[ Owner = \"raman\"; GlobalJobId = \"j1\" ]");
        let claimed = claimed_offer(&ad(idle), &job, 10.0, 100, &context);
        let wanted = ad("[ MyType = \"Machine\"; Name = \"leonardo\"; State = \"Claimed\"; Activity = \"Busy\"; \
                         UpdateSequenceNumber = 5; CurrentRank = 10.0; Memory = 64; RemoteUser = \"raman\"; \
                         RemoteOwner = \"raman\"; GlobalJobId = \"j1\"; EnteredCurrentState = 100; \
                         EnteredCurrentActivity = 100; LastHeardFrom = 100 ]");
        assert_eq!(claimed, wanted);
        let free = released_offer(&claimed, 200, &context);
        let wanted = ad("[ MyType = \"Machine\"; Name = \"leonardo\"; State = \"Unclaimed\"; Activity = \"Idle\"; \
                         UpdateSequenceNumber = 6; CurrentRank = 0.0; Memory = 64; EnteredCurrentState = 200; \
                         EnteredCurrentActivity = 200; LastHeardFrom = 200 ]");
        assert_eq!(free, wanted);
        // A licence tells no matchmaker that it is claimed: --matched goes on to leave it out.
        let licence = ad("[ Type = \"License\"; Name = \"l\"; UpdateSequenceNumber = 4 ]");
        let claimed = claimed_offer(&licence, &job, 0.0, 100, &context);
        assert_eq!(Advertisement::new(&claimed, &context).sequence(), Some(4));
        assert_eq!(Advertisement::new(&released_offer(&claimed, 200, &context), &context).sequence(), Some(5));
    }
}
