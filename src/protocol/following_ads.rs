//! The ads that agents advertise after a claim and after its release (thesis 3.8): the offer is claimed and tells by
//! whom, and it is free again.

use crate::ad::{Ad, AdExtension, Expression, Name, Value};
use crate::eval::Context;

use super::{Advertisement, evaluate_attribute};

/// The attributes that tell what runs in a claimed offer. A claim without a request has none of them.
const RUN_ATTRIBUTES: [&str; 4] = ["GlobalJobId", "JobId", "JobStart", "TotalJobRunTime"];

/// The attributes that tell who uses an offer and what runs there, as HTCondor's startd advertises them of a claim.
const USE_ATTRIBUTES: [&str; 14] = [
    "RemoteUser",
    "RemoteOwner",
    "RemoteProject",
    "RemoteScheddName",
    "RemoteGroup",
    "RemoteNegotiatingGroup",
    "RemoteAutoregroup",
    "AccountingGroup",
    "ConcurrencyLimits",
    "ClientMachine",
    "GlobalJobId",
    "JobId",
    "JobStart",
    "PublicClaimId",
];

/// Returns the ad of an offer as its agent advertises it after the request claimed it. `rank` is the rank that the
/// offer gives the request, `at` the time in seconds since 1970.
///
/// The ticket is used up, and its successor is the agent's secret: the ad has none.
#[must_use]
pub fn claimed_offer(offer: &Ad, request: &Ad, rank: f64, at: i64, context: &Context) -> Ad {
    let of_use = use_of(request, context).chain([("CurrentRank", Value::Real(rank))]);
    with_values(&without_use(offer), of_use.chain(state(["Claimed", "Busy"], at)).chain(update(offer, at, context)))
}

/// Returns the ad of a claimed offer as its agent advertises it when the request has ended, and the claim goes on.
#[must_use]
pub fn idle_claim(offer: &Ad, at: i64, context: &Context) -> Ad {
    let activity = [("Activity", Value::string("Idle")), ("EnteredCurrentActivity", Value::Integer(at))].into_iter();
    with_values(&without(offer, &RUN_ATTRIBUTES), activity.chain(update(offer, at, context)))
}

/// Returns the ad of an offer as its agent advertises it when the claim is released.
#[must_use]
pub fn released_offer(offer: &Ad, at: i64, context: &Context) -> Ad {
    let rank = [("CurrentRank", Value::Real(0.0))].into_iter();
    with_values(&without_use(offer), rank.chain(state(["Unclaimed", "Idle"], at)).chain(update(offer, at, context)))
}

/// Returns the ad of an offer whose parts are claimed and released. `rest` is the offer with what it has now. An offer
/// that a request used as a whole before is free.
#[must_use]
pub fn divided_offer(rest: &Ad, offer: &Ad, at: i64, context: &Context) -> Ad {
    let is_held = |name: &str| {
        let value = evaluate_attribute(offer, &Name::new(name), context);
        let Some(Value::String(text)) = value else { return false };
        name != "State" || ["claimed", "matched", "preempting"].contains(&text.to_str().to_ascii_lowercase().as_str())
    };
    if ["State", "RemoteUser", "RemoteOwner"].into_iter().any(is_held) {
        return released_offer(rest, at, context);
    }
    with_values(&rest.public(), update(offer, at, context))
}

/// Returns the attributes of [`USE_ATTRIBUTES`] that the ad of a request determines. The accounting group has the domain of
/// the user, as in the ads of slots.
fn use_of(request: &Ad, context: &Context) -> impl Iterator<Item = (&'static str, Value)> {
    let value = |name: &str| evaluate_attribute(request, &Name::new(name), context);
    let text = |name: &str| value(name).filter(|value| matches!(value, Value::String(_)));
    let group = text("AccountingGroup").map(|group| match (&group, text("User")) {
        (Value::String(name), Some(Value::String(user))) if !name.to_str().contains('@') => {
            let domain = user.to_str().split_once('@').map(|(_, domain)| format!("@{domain}"));
            Value::string(format!("{}{}", name.to_str(), domain.unwrap_or_default()))
        }
        _ => group,
    });
    let job = match (value("ClusterId"), value("ProcId")) {
        (Some(Value::Integer(cluster)), Some(Value::Integer(process))) => {
            Some(Value::string(format!("{cluster}.{process}")))
        }
        _ => None,
    };
    let of_request = [
        ("RemoteUser", text("User").or_else(|| text("Owner"))),
        ("RemoteOwner", text("Owner").or_else(|| text("User"))),
        ("AccountingGroup", group),
        ("ConcurrencyLimits", text("ConcurrencyLimits")),
        ("GlobalJobId", text("GlobalJobId")),
        ("JobId", job),
    ];
    of_request.into_iter().filter_map(|(name, value)| Some((name, value?)))
}

/// Returns the ad without its secrets, and without those who used it.
fn without_use(offer: &Ad) -> Ad {
    without(offer, &USE_ATTRIBUTES)
}

/// Returns the ad without its secrets, and without these attributes.
fn without(offer: &Ad, names: &[&str]) -> Ad {
    let public = offer.public();
    let kept = public.iter().filter(|attribute| !names.iter().any(|name| attribute.name.is(name)));
    kept.map(|attribute| (attribute.name.clone(), attribute.expression.clone())).collect()
}

/// Returns the attributes of a slot that is in a state since the time `at`.
fn state([state, activity]: [&str; 2], at: i64) -> impl Iterator<Item = (&'static str, Value)> {
    let since = Value::Integer(at);
    let words = [("State", Value::string(state)), ("Activity", Value::string(activity))];
    words.into_iter().chain([("EnteredCurrentState", since.clone()), ("EnteredCurrentActivity", since)])
}

/// Returns the sequence number after that of the ad `before`, and the time `at` at which the new ad is heard of.
fn update(before: &Ad, at: i64, context: &Context) -> impl Iterator<Item = (&'static str, Value)> + use<> {
    let sequence = Advertisement::new(before, context).sequence().unwrap_or(0).saturating_add(1);
    [("UpdateSequenceNumber", Value::Integer(sequence)), ("LastHeardFrom", Value::Integer(at))].into_iter()
}

/// Returns the ad with these attributes.
fn with_values<'n>(ad: &Ad, values: impl Iterator<Item = (&'n str, Value)>) -> Ad {
    AdExtension::new(values.map(|(name, value)| (Name::new(name), Expression::literal(value))).collect()).extend(ad)
}

pub(super) fn with_value(ad: &Ad, name: &str, value: Value) -> Ad {
    ad.with(Name::new(name), Expression::literal(value))
}

#[cfg(test)]
mod tests {
    use super::{claimed_offer, idle_claim, released_offer};
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
        let open = idle_claim(&claimed, 150, &context);
        let wanted = ad("[ MyType = \"Machine\"; Name = \"leonardo\"; State = \"Claimed\"; Activity = \"Idle\"; \
                         UpdateSequenceNumber = 6; CurrentRank = 10.0; Memory = 64; RemoteUser = \"raman\"; \
                         RemoteOwner = \"raman\"; EnteredCurrentState = 100; EnteredCurrentActivity = 150; \
                         LastHeardFrom = 150 ]");
        assert_eq!(open, wanted);
        let free = released_offer(&claimed, 200, &context);
        let wanted = ad("[ MyType = \"Machine\"; Name = \"leonardo\"; State = \"Unclaimed\"; Activity = \"Idle\"; \
                         UpdateSequenceNumber = 6; CurrentRank = 0.0; Memory = 64; EnteredCurrentState = 200; \
                         EnteredCurrentActivity = 200; LastHeardFrom = 200 ]");
        assert_eq!(free, wanted);
    }

    #[test]
    fn every_ad_that_follows_has_the_next_sequence_number() {
        let context = Context::new(Dialect::Classad);
        for (text, number) in [
            ("[ MyType = \"Machine\"; Name = \"m\"; UpdateSequenceNumber = 4 ]", 5),
            ("[ Type = \"Machine\"; Name = \"m\"; UpdateSequenceNumber = 4 ]", 5),
            ("[ Type = \"License\"; Name = \"l\"; UpdateSequenceNumber = 2 + 2 ]", 5),
            ("[ Name = \"n\" ]", 1),
        ] {
            let sequence = |ad: &Ad| Advertisement::new(ad, &context).sequence();
            let claimed = claimed_offer(&ad(text), &ad("[ Owner = \"raman\" ]"), 0.0, 100, &context);
            assert_eq!(sequence(&claimed), Some(number), "{text}");
            assert_eq!(sequence(&released_offer(&claimed, 200, &context)), Some(number + 1), "{text}");
        }
    }

    #[test]
    fn a_claimed_slot_tells_whose_job_runs_there() {
        let context = Context::new(Dialect::Condor);
        let slot =
            ad("[ RemoteUser = \"x\"; AccountingGroup = \"old.x@d\"; ConcurrencyLimits = \"sw\"; JobId = \"9.9\" ]");
        let job =
            ad("[ Owner = \"erin\"; User = \"erin@d\"; AccountingGroup = \"bio.erin\"; ClusterId = 3; ProcId = 0 ]");
        let claimed = claimed_offer(&slot, &job, 0.0, 1, &context);
        let text = |name: &str| claimed.get_str(name).map(ToString::to_string);
        assert_eq!(text("AccountingGroup").as_deref(), Some("\"bio.erin@d\""));
        assert_eq!(text("RemoteUser").as_deref(), Some("\"erin@d\""));
        assert_eq!(text("JobId").as_deref(), Some("\"3.0\""));
        assert_eq!(text("ConcurrencyLimits"), None);
    }
}
