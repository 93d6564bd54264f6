//! Updates of single attributes of an advertisement, by its identity (thesis 3.4.2).

use std::fmt;

use crate::ad::{Ad, Attribute};
use crate::eval::Context;

use super::Advertisement;

/// Why an update of an advertisement is discarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum UpdateFault {
    /// The advertisement has a greater `UpdateSequenceNumber` than the update.
    Stale,
    /// The advertisement expired before the update came, by the `LastHeardFrom` of the update: it exists no more.
    Expired,
}

impl fmt::Display for UpdateFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            UpdateFault::Stale => "older than the ad",
            UpdateFault::Expired => "after the ad expired",
        })
    }
}

/// Returns an advertisement with the attributes of an update, which replace attributes of the same names. An update with
/// a `LastHeardFrom` extends the life of the advertisement.
///
/// # Errors
///
/// The update is too old or too late.
pub fn updated_advertisement(ad: &Ad, update: &Ad, context: &Context) -> Result<Ad, UpdateFault> {
    let (held, new) = (Advertisement::new(ad, context), Advertisement::new(update, context));
    if new.sequence().is_some_and(|new| held.sequence().is_some_and(|held| new < held)) {
        return Err(UpdateFault::Stale);
    }
    if let (Some(expiration), Some(at)) = (held.expiration(), new.last_heard())
        && expiration < at
    {
        return Err(UpdateFault::Expired);
    }
    let replace = |ad: Ad, Attribute { name, expression }: Attribute<'_>| ad.with(name.clone(), expression.clone());
    Ok(update.iter().fold(ad.clone(), replace))
}

#[cfg(test)]
mod tests {
    use super::{UpdateFault, updated_advertisement};
    use crate::ad::{Ad, Dialect};
    use crate::eval::Context;
    use crate::syntax::{ParseOptions, parse_ad};

    fn ad(text: &str) -> Ad {
        parse_ad(text.as_bytes(), ParseOptions::default()).unwrap()
    }

    fn update(of: &str, update: &str) -> Result<Ad, UpdateFault> {
        updated_advertisement(&ad(of), &ad(update), &Context::new(Dialect::Classad))
    }

    #[test]
    fn attributes_are_replaced_where_they_stand() {
        let held = "[ Name = \"cobra\"; LoadAvg = 1.0; KeyboardIdle = 70526; Memory = 251 ]";
        let updated = update(held, "[ Name = \"cobra\"; loadavg = 0.1; State = \"Owner\" ]").unwrap();
        let wanted = ad("[ Name = \"cobra\"; LoadAvg = 0.1; KeyboardIdle = 70526; Memory = 251; State = \"Owner\" ]");
        assert_eq!(updated, wanted);
    }

    #[test]
    fn an_update_is_neither_old_nor_late() {
        let held = "[ Name = \"a\"; UpdateSequenceNumber = 4; LastHeardFrom = 100; ClassAdLifetime = 20; x = 1 ]";
        assert_eq!(update(held, "[ UpdateSequenceNumber = 3; x = 2 ]"), Err(UpdateFault::Stale));
        assert!(update(held, "[ UpdateSequenceNumber = 4; x = 2 ]").is_ok());
        assert!(update(held, "[ x = 2 ]").is_ok());
        // An ad without a sequence is older than any.
        assert!(update("[ Name = \"a\" ]", "[ UpdateSequenceNumber = 4; x = 2 ]").is_ok());
        // The ad lives to the end of second 120.
        assert!(update(held, "[ LastHeardFrom = 120; x = 2 ]").is_ok());
        assert_eq!(update(held, "[ LastHeardFrom = 121; x = 2 ]"), Err(UpdateFault::Expired));
    }
}
