//! Resource requests: ads that ask for the same resource several times (2006 paper 4.3).

use std::sync::LazyLock;

use crate::ad::{Ad, Name, Value};
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
        Value::Integer(..0) => "is below zero and counts as 0".to_owned(),
        Value::Integer(_) => format!("is cut to {MAX_RESOURCE_COUNT}"),
        other => format!("is {}, not an integer, and counts as 1", other.value_type().phrase()),
    };
    Some(format!("{RESOURCE_COUNT} {written} {effect}"))
}

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
    use super::{invalid_count_reason, resource_count};
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
    fn what_is_not_counted_as_written_is_told() {
        for (text, expected) in [
            ("[ ResourceRequestCount = 3 ]", None),
            ("[ Count = 3 ]", None),
            ("[ ResourceRequestCount = 2000000 ]", Some("ResourceRequestCount 2000000 is cut to 1000000")),
            ("[ ResourceRequestCount = -1 ]", Some("ResourceRequestCount -1 is below zero and counts as 0")),
            (
                "[ ResourceRequestCount = 2.0 ]",
                Some("ResourceRequestCount 2.0 is a real, not an integer, and counts as 1"),
            ),
        ] {
            let ad = parse_ad(text.as_bytes(), ParseOptions::default()).unwrap();
            assert_eq!(invalid_count_reason(&ad, &Context::new(Dialect::Classad)).as_deref(), expected, "{text}");
        }
    }
}
