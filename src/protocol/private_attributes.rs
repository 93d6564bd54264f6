//! Attributes that only the agent of an ad and its partner may see, such as the ticket of a claim.

use crate::ad::{Ad, Name};

/// The attributes that HTCondor keeps from other readers of an ad (its `classad_helpers`), in lower case.
const PRIVATE_ATTRIBUTES: [&str; 7] =
    ["capability", "childclaimids", "claimid", "claimidlist", "claimids", "pairedclaimid", "transferkey"];

/// The beginning of further names of attributes that HTCondor keeps from other readers.
const PRIVATE_PREFIX: &str = "_condor_priv";

/// Whether an attribute holds a secret between two agents: a ticket that a claim presents, or a key.
#[must_use]
pub fn is_private_attribute(name: &Name) -> bool {
    let lower = name.as_str().to_ascii_lowercase();
    PRIVATE_ATTRIBUTES.contains(&lower.as_str()) || lower.starts_with(PRIVATE_PREFIX)
}

/// Returns the ad as other readers may see it.
#[must_use]
pub fn without_private_attributes(ad: &Ad) -> Ad {
    if !ad.iter().any(|attribute| is_private_attribute(attribute.name)) {
        return ad.clone();
    }
    let public = ad.iter().filter(|attribute| !is_private_attribute(attribute.name));
    public.map(|attribute| (attribute.name.clone(), attribute.expression.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::without_private_attributes;
    use crate::syntax::{ParseOptions, parse_ad};

    #[test]
    fn tickets_are_left_out_whatever_their_case() {
        let parse = |text: &str| parse_ad(text.as_bytes(), ParseOptions::default()).unwrap();
        let ad = parse("[ Name = \"a\"; claimid = \"x\"; _CONDOR_PRIVKey = 1; ClaimIds = { 1 }; ClaimIdle = 2 ]");
        assert_eq!(without_private_attributes(&ad), parse("[ Name = \"a\"; ClaimIdle = 2 ]"));
        let open = parse("[ Name = \"a\" ]");
        assert_eq!(without_private_attributes(&open), open);
    }
}
