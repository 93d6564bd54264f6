//! Resource requests: ads that ask for the same thing several times (2006 paper §4.3).

use std::sync::LazyLock;

use crate::ad::{Ad, Name, Value};
use crate::eval::{Context, Environment, Evaluator};

/// The attribute that says how often an ad asks for what it describes.
pub const RESOURCE_COUNT: &str = "ResourceRequestCount";

/// No ad asks for more than this.
const MOST: usize = 1_000_000;

static COUNT: LazyLock<Name> = LazyLock::new(|| Name::new(RESOURCE_COUNT));

/// How many offers a request asks for, if it says so; a million at most, none if it asks for fewer than one.
#[must_use]
pub fn resource_count(ad: &Ad, context: &Context) -> Option<usize> {
    ad.get(&COUNT)?;
    let (environment, frame) = Environment::alone(ad.clone());
    match Evaluator::new(&environment, context).attribute(&frame, &COUNT) {
        Ok(Value::Integer(count)) => Some(usize::try_from(count.max(0)).unwrap_or(MOST).min(MOST)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::resource_count;
    use crate::ad::Dialect;
    use crate::eval::Context;
    use crate::syntax::{Rules, parse_ad};

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
            let ad = parse_ad(text.as_bytes(), Rules::default()).unwrap();
            assert_eq!(resource_count(&ad, &Context::new(Dialect::Classad)), expected, "{text}");
        }
    }
}
