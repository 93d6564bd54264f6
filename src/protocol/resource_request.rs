//! Resource requests: ads that ask for the same resource several times (2006 paper 4.3).

use std::sync::LazyLock;

use crate::ad::{Ad, Expression, ExpressionKind, Name, Value};
use crate::eval::Context;

use super::advertisement::evaluate_attribute;

/// Name of the attribute that holds the number of offers a request asks for.
pub const RESOURCE_COUNT: &str = "ResourceRequestCount";

/// Maximum number of offers that one resource request asks for. A larger count is reduced to it.
const MAX_RESOURCE_COUNT: i64 = 1_000_000;

static COUNT: LazyLock<Name> = LazyLock::new(|| Name::new(RESOURCE_COUNT));

/// Returns the number of offers that a request asks for. A negative count becomes 0, a count above 1,000,000 becomes
/// 1,000,000.
///
/// Returns `None` if the request has no count, or if the count is not an integer.
#[must_use]
pub fn resource_count(ad: &Ad, context: &Context) -> Option<usize> {
    let Value::Integer(count) = evaluate_attribute(ad, &COUNT, context)? else { return None };
    usize::try_from(count.clamp(0, MAX_RESOURCE_COUNT)).ok()
}

/// Returns the reason, as a phrase, why the count of a request is not used as written, such as a negative count. `None`
/// if the count is used as written, undefined or absent.
#[must_use]
pub fn invalid_count_reason(ad: &Ad, context: &Context) -> Option<String> {
    let written = evaluate_attribute(ad, &COUNT, context)?;
    let effect = match &written {
        Value::Undefined | Value::Integer(0..=MAX_RESOURCE_COUNT) => return None,
        Value::Integer(..0) => "is below 0 and counts as 0".to_owned(),
        Value::Integer(_) => format!("is cut to {MAX_RESOURCE_COUNT}"),
        other => format!("is {} instead of an integer and counts as 1", other.value_type().phrase()),
    };
    Some(format!("{RESOURCE_COUNT} {written} {effect}"))
}

/// Name of the attribute in which the ad of a submitter holds its resource requests, a list of ads.
pub static RESOURCE_REQUESTS: LazyLock<Name> = LazyLock::new(|| Name::new("ResourceRequests"));

/// Name of the attribute that holds the number of idle jobs of a submitter.
pub const IDLE_JOBS: &str = "IdleJobs";

/// Attributes of a submitter that are not those of its requests.
const SUBMITTER_ATTRIBUTES: [&str; 4] = ["MyType", "Name", IDLE_JOBS, "ResourceRequests"];

/// Returns the resource requests nested in the ad of a submitter (2006 paper 4.3). Each takes over the attributes of the
/// submitter that it lacks, such as `Owner`. `None` if the ad holds no list of ads as `ResourceRequests`.
#[must_use]
pub fn nested_requests(submitter: &Ad) -> Option<Vec<Ad>> {
    let ExpressionKind::List(requests) = submitter.get(&RESOURCE_REQUESTS)?.without_parentheses().kind() else {
        return None;
    };
    let is_common = |name: &Name| !SUBMITTER_ATTRIBUTES.iter().any(|own| name.is(own));
    let with_common = |request: &Expression| {
        let ExpressionKind::Ad(request) = request.without_parentheses().kind() else { return None };
        let common = submitter.iter().filter(|common| is_common(common.name) && request.get(common.name).is_none());
        let all = common.chain(request.iter()).map(|attribute| (attribute.name.clone(), attribute.expression.clone()));
        Some(all.collect())
    };
    requests.iter().map(with_common).collect()
}

/// The resources of which each slot has an amount, and GPUs.
pub const RESOURCE_ATTRIBUTES: [&str; 4] = ["Cpus", "Memory", "Disk", "GPUs"];

/// Prefix of the attributes that ask for a resource. What follows is the attribute in which a slot tells what it has of
/// the resource.
const REQUEST_PREFIX: &str = "Request";

/// Returns the resource for which an attribute asks: `Memory` for `RequestMemory`. `None` for another attribute.
#[must_use]
pub fn requested_resource(name: &Name) -> Option<Name> {
    let (prefix, resource) = name.as_str().split_at_checked(REQUEST_PREFIX.len())?;
    (prefix.eq_ignore_ascii_case(REQUEST_PREFIX) && !resource.is_empty()).then(|| Name::new(resource))
}

#[cfg(test)]
mod tests {
    use super::{invalid_count_reason, nested_requests, resource_count};
    use crate::ad::Dialect;
    use crate::eval::Context;
    use crate::syntax::{ParseOptions, parse_ad};

    #[test]
    fn how_many_are_asked_for() {
        for (text, expected) in [
            ("[ ResourceRequestCount = 3 ]", Some(3)),
            ("[ resourcerequestcount = 1 + 1 ]", Some(2)),
            ("[ ResourceRequestCount = -1 ]", Some(0)),
            ("[ ResourceRequestCount = 2000000000 ]", Some(1_000_000)),
            ("[ ResourceRequestCount = \"3\" ]", None),
            ("[ Count = 3 ]", None),
        ] {
            let ad = parse_ad(text.as_bytes(), ParseOptions::default()).unwrap();
            assert_eq!(resource_count(&ad, &Context::new(Dialect::Classad)), expected, "{text}");
        }
    }

    #[test]
    fn nested_requests_take_over_what_they_lack() {
        let ad = |text: &str| parse_ad(text.as_bytes(), ParseOptions::default()).unwrap();
        let submitter = ad("[ MyType = \"Submitter\"; Name = \"u\"; Owner = \"u\"; IdleJobs = 5; ResourceRequests = \
                            { [ ResourceRequestCount = 2 ], ([ Owner = \"v\"; ResourceRequestCount = 3 ]) } ]");
        let expected = ["[ Owner = \"u\"; ResourceRequestCount = 2 ]", "[ Owner = \"v\"; ResourceRequestCount = 3 ]"];
        assert_eq!(nested_requests(&submitter), Some(expected.map(ad).to_vec()));
        for other in ["[ ResourceRequests = 3 ]", "[ ResourceRequests = { 3 } ]", "[ a = 1 ]"] {
            assert_eq!(nested_requests(&ad(other)), None, "{other}");
        }
    }

    #[test]
    fn what_is_not_counted_as_written_is_told() {
        for (text, expected) in [
            ("[ ResourceRequestCount = 3 ]", None),
            ("[ Count = 3 ]", None),
            ("[ ResourceRequestCount = 2000000 ]", Some("ResourceRequestCount 2000000 is cut to 1000000")),
            ("[ ResourceRequestCount = -1 ]", Some("ResourceRequestCount -1 is below 0 and counts as 0")),
            (
                "[ ResourceRequestCount = 2.0 ]",
                Some("ResourceRequestCount 2.0 is a real instead of an integer and counts as 1"),
            ),
        ] {
            let ad = parse_ad(text.as_bytes(), ParseOptions::default()).unwrap();
            assert_eq!(invalid_count_reason(&ad, &Context::new(Dialect::Classad)).as_deref(), expected, "{text}");
        }
    }
}
