//! Identities of ads that have no name: hashes of their contents (thesis 3.4.2).

use rustc_hash::FxHashMap;

use crate::ad::Ad;
use crate::syntax::{Style, print};

/// Gives ads identities by their contents, one ad after the other.
///
/// The identity does not depend on the order of the ads or on the file. Ads with equal contents cannot be told apart:
/// the second one has `.2` appended, and so on.
#[derive(Default)]
pub struct ContentIdentities {
    /// Number of the ads so far, by their hash.
    counts: FxHashMap<u64, usize>,
}

impl ContentIdentities {
    /// Returns the identity of the next ad: `content:` and 16 hexadecimal digits.
    pub fn identify(&mut self, ad: &Ad) -> String {
        let hash = content_hash(ad);
        let count = self.counts.entry(hash).or_default();
        *count += 1;
        let number = if *count > 1 { format!(".{count}") } else { String::new() };
        format!("content:{hash:016x}{number}")
    }
}

/// Hashes the attributes of an ad. Their order and the case of their names do not count.
fn content_hash(ad: &Ad) -> u64 {
    let line = |name: &str, text: &[u8]| {
        let mut line = name.to_ascii_lowercase().into_bytes();
        line.extend([b"=", text, b"\n"].concat());
        line
    };
    let mut lines: Vec<Vec<u8>> =
        ad.iter().map(|attribute| line(attribute.name.as_str(), &print(attribute.expression, Style::New))).collect();
    lines.sort_unstable();
    stable_hash(&lines.concat())
}

/// Hashes a text by FNV-1a in 64 bits. The hash of a text stays the same in later versions of this program. The hash
/// function of the standard library may change.
pub(crate) fn stable_hash(text: &[u8]) -> u64 {
    text.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::{ContentIdentities, stable_hash};
    use crate::syntax::{ParseOptions, parse_ad};

    #[test]
    fn an_identity_is_that_of_the_contents() {
        let mut identities = ContentIdentities::default();
        let mut of = |text: &str| identities.identify(&parse_ad(text.as_bytes(), ParseOptions::default()).unwrap());
        let first = of("[ Owner = \"raman\"; Size = 1 + 2 ]");
        assert!(first.starts_with("content:") && first.len() == 24, "{first}");
        assert_eq!(of("[ SIZE = 1+2; owner = \"raman\" ]"), format!("{first}.2"));
        assert_ne!(of("[ Owner = \"Raman\"; Size = 1 + 2 ]"), first);
        assert_ne!(of("[ Owner = \"raman\"; Size = 1 + 3 ]"), first);
        assert_eq!(of("[ Owner = \"raman\"; Size = 1 + 2 ]"), format!("{first}.3"));
        assert_eq!(stable_hash(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
