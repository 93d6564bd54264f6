//! Names of attributes, labels and functions: compared without regard to case, printed as first written.
//!
//! No bench row: `negotiate` and `gangmatch` take 1.04 times as many instructions without the cache of names.

use std::cell::RefCell;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Number of slots of a thread's name cache; a power of two.
const NAME_CACHE_SLOTS: usize = 512;

thread_local! {
    /// Direct-mapped cache of recent names, by hash.  The ads of a pool repeat the same names: sharing one
    /// allocation per spelling saves memory and keeps comparisons in the processor's cache.
    static NAME_CACHE: RefCell<[Option<Name>; NAME_CACHE_SLOTS]> = const { RefCell::new([const { None }; NAME_CACHE_SLOTS]) };
}

/// The name of an attribute, a label or a function: compared and hashed without regard to ASCII case, printed
/// in its own spelling.  Cloning is O(1).
#[derive(Clone, serde::Serialize, serde::Deserialize)]
#[serde(into = "String", from = "String")]
pub struct Name(Arc<Spelling>);

struct Spelling {
    text: Box<str>,
    /// Hash of the name in lower case, computed once.
    hash: u32,
}

/// A name that the program knows, hashed at compile time, so that comparing it with a [`Name`] rarely reads the texts.
#[derive(Clone, Copy, Debug)]
pub struct KnownName {
    text: &'static str,
    hash: u32,
}

impl KnownName {
    /// Creates the known name `text`; in a constant, the hash is computed at compile time.
    #[must_use]
    pub const fn new(text: &'static str) -> Self {
        KnownName { text, hash: folded_hash(text) }
    }

    /// Returns the text as the program spells it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.text
    }

    /// Returns the hash, which all spellings of the name share.
    pub(super) const fn case_insensitive_hash(self) -> u32 {
        self.hash
    }
}

impl Name {
    /// Creates the name `text`, which shares memory with a recent name of the same spelling in this thread.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let hash = folded_hash(text);
        let shared = NAME_CACHE.try_with(|cache| {
            let slot = &mut cache.borrow_mut()[hash as usize % NAME_CACHE_SLOTS];
            match slot {
                Some(name) if name.as_str() == text => name.clone(),
                _ => slot.insert(Name::allocate(text, hash)).clone(),
            }
        });
        // While a thread ends, its cache is no longer accessible.
        shared.unwrap_or_else(|_| Name::allocate(text, hash))
    }

    fn allocate(text: &str, hash: u32) -> Self {
        Name(Arc::new(Spelling { text: text.into(), hash }))
    }

    /// Returns the name in its own spelling.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0.text
    }

    /// Returns the hash, which all spellings of the name share.
    pub(super) fn case_insensitive_hash(&self) -> u32 {
        self.0.hash
    }

    /// Whether this is the name `text`, ignoring case.
    #[must_use]
    pub fn is(&self, text: &str) -> bool {
        self.as_str().eq_ignore_ascii_case(text)
    }

    /// Whether the name begins with `start`, ignoring case.
    #[must_use]
    pub fn starts_with(&self, start: &str) -> bool {
        self.as_str().get(..start.len()).is_some_and(|found| found.eq_ignore_ascii_case(start))
    }

    /// Whether the name ends with `end`, ignoring case.
    #[must_use]
    pub fn ends_with(&self, end: &str) -> bool {
        let start = self.as_str().len().checked_sub(end.len());
        start.and_then(|start| self.as_str().get(start..)).is_some_and(|found| found.eq_ignore_ascii_case(end))
    }

    /// Whether this is the name `known`, ignoring case.
    #[must_use]
    pub fn is_known(&self, known: KnownName) -> bool {
        known.hash == self.0.hash && self.is(known.text)
    }

    /// Whether the papers reserve the name, so that no attribute and no label may have it.
    #[must_use]
    pub fn is_reserved(&self) -> bool {
        super::ScopeAd::is_reserved(self)
    }

    /// Whether HTCondor's tools do not print an attribute of this name unless it is asked for: a claim, a capability, or
    /// whatever begins with `_condor_priv`.
    #[must_use]
    pub fn is_private(&self) -> bool {
        const PREFIX: &[u8] = b"_condor_priv";
        const PRIVATE: [KnownName; 7] = [
            KnownName::new("Capability"),
            KnownName::new("ChildClaimIds"),
            KnownName::new("ClaimId"),
            KnownName::new("ClaimIdList"),
            KnownName::new("ClaimIds"),
            // Of versions of HTCondor before 23.
            KnownName::new("PairedClaimId"),
            KnownName::new("TransferKey"),
        ];
        let prefix = self.as_str().as_bytes().get(..PREFIX.len());
        PRIVATE.iter().any(|name| self.is_known(*name)) || prefix.is_some_and(|it| it.eq_ignore_ascii_case(PREFIX))
    }

    /// Whether explanations keep the values of such an attribute to themselves: it is private, and no `Capability`, which
    /// in nested ads is a property of GPUs.
    #[must_use]
    pub fn is_secret(&self) -> bool {
        self.is_private() && !self.is_known(KnownName::new("Capability"))
    }

    /// Whether the name can be written without quotes: a letter or underscore, then letters, digits
    /// and underscores, and no keyword.
    #[must_use]
    pub fn is_identifier(&self) -> bool {
        const KEYWORDS: [&str; 6] = ["true", "false", "undefined", "error", "is", "isnt"];
        let bytes = self.as_str().as_bytes();
        bytes.first().is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_')
            && bytes.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_')
            && !KEYWORDS.iter().any(|k| self.is(k))
    }
}

/// Orders by bytes in ASCII lower case.
pub(super) fn cmp_ignore_case(left: &[u8], right: &[u8]) -> std::cmp::Ordering {
    left.iter().map(u8::to_ascii_lowercase).cmp(right.iter().map(u8::to_ascii_lowercase))
}

/// Returns the FNV-1a hash of the bytes in lower case.
const fn folded_hash(text: &str) -> u32 {
    let (bytes, mut hash, mut position) = (text.as_bytes(), 0x811c_9dc5_u32, 0);
    while position < bytes.len() {
        hash = (hash ^ bytes[position].to_ascii_lowercase() as u32).wrapping_mul(0x0100_0193);
        position += 1;
    }
    hash
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || (self.0.hash == other.0.hash && self.is(other.as_str()))
    }
}

impl Eq for Name {}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u32(self.0.hash);
    }
}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Name {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        cmp_ignore_case(self.as_str().as_bytes(), other.as_str().as_bytes())
    }
}

impl From<&str> for Name {
    fn from(text: &str) -> Self {
        Name::new(text)
    }
}

impl From<String> for Name {
    fn from(text: String) -> Self {
        Name::new(&text)
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.as_str().to_owned()
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::{KnownName, Name};

    #[test]
    fn case_does_not_count_but_is_kept() {
        assert_eq!(Name::new("ImageSize"), Name::new("imagesize"));
        assert_ne!(Name::new("a"), Name::new("b"));
        assert_eq!(Name::new("ImageSize").to_string(), "ImageSize");
        assert!(Name::new("IMAGEsize").is_known(KnownName::new("ImageSize")));
        assert!(!Name::new("ImageSiz").is_known(KnownName::new("ImageSize")));
    }

    #[test]
    fn equal_spellings_share_their_text() {
        let shares = |one: &str, other: &str| std::ptr::eq(Name::new(one).as_str(), Name::new(other).as_str());
        assert!(shares("ImageSize", "ImageSize"));
        assert!(!shares("ImageSize", "imagesize"));
        assert_eq!(Name::new("imagesize").to_string(), "imagesize");
    }

    #[test]
    fn keywords_and_odd_names_want_quotes() {
        for plain in ["a", "_x", "A1", "parent", "isn"] {
            assert!(Name::new(plain).is_identifier(), "{plain}");
        }
        for quoted in ["", "1a", "a b", "TRUE", "isnt", "é", "a.b"] {
            assert!(!Name::new(quoted).is_identifier(), "{quoted}");
        }
    }

    #[test]
    fn beginnings_and_ends_are_compared_without_case() {
        for (name, part, begins, ends) in [
            ("GPUs_Mem", "gpus_", true, false),
            ("GPUs_Mem", "MEM", false, true),
            ("GPUs_Mem", "gpus_mem", true, true),
            ("GPUs_Mem", "gpus_memo", false, false),
            ("GPUs_Mem", "", true, true),
            ("", "", true, true),
            ("", "a", false, false),
            ("é", "e", false, false),
            ("éa", "é", true, false),
        ] {
            let found = (Name::new(name).starts_with(part), Name::new(name).ends_with(part));
            assert_eq!(found, (begins, ends), "{name} {part}");
        }
        let mut names = ["b", "A", "a1", "_", "B1", "aB"].map(Name::new);
        names.sort();
        assert_eq!(names.map(|name| name.to_string()), ["_", "A", "a1", "aB", "b", "B1"]);
    }

    #[test]
    fn private_names_are_secrets_but_for_one() {
        for (name, is_private, is_secret) in [
            ("claimid", true, true),
            ("ChildClaimIds", true, true),
            ("ClaimIdList", true, true),
            ("ClaimIds", true, true),
            ("PairedClaimId", true, true),
            ("TransferKey", true, true),
            ("capability", true, false),
            ("_CONDOR_PRIV", true, true),
            ("_condor_privX", true, true),
            ("_condor_pri", false, false),
            ("x_condor_priv", false, false),
            ("ClaimIdx", false, false),
            ("PublicClaimId", false, false),
        ] {
            let name = Name::new(name);
            assert_eq!((name.is_private(), name.is_secret()), (is_private, is_secret), "{name}");
        }
    }
}
