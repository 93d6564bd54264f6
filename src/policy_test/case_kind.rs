//! The kinds of cases, by their keys.

/// The keys common to all cases, in addition to those of [`EvaluationSettings`].
pub const CASE_KEYS: [&str; 2] = ["name", "tags"];

/// A kind of case: the key that states the question, the required keys, the optional keys, and the keys of
/// expectations. A case needs at least one expectation.
pub struct CaseKind {
    pub key: &'static str,
    pub needs: &'static [&'static str],
    pub takes: &'static [&'static str],
    pub expects: &'static [&'static str],
}

/// The kinds of cases, one for each question that a case can ask.
pub const CASE_KINDS: [CaseKind; 7] = [
    CaseKind { key: "knob", needs: &[], takes: &["my", "target"], expects: &["expect"] },
    CaseKind { key: "expression", needs: &[], takes: &["my", "target"], expects: &["expect"] },
    CaseKind { key: "match", needs: &["request", "offer"], takes: &[], expects: &["match", "refused-by", "clause"] },
    CaseKind { key: "query", needs: &["pool"], takes: &[], expects: &["ids", "count"] },
    CaseKind { key: "gang", needs: &["request", "offers"], takes: &["policy"], expects: &["gang"] },
    CaseKind { key: "matches", needs: &["requests", "offers"], takes: &["policy"], expects: &["matches"] },
    CaseKind { key: "specialize", needs: &[], takes: &["my", "target", "closed"], expects: &["residue", "verdict"] },
];

impl CaseKind {
    pub fn has(&self, key: &str) -> bool {
        self.key == key || [self.needs, self.takes, self.expects].iter().any(|keys| keys.contains(&key))
    }
}
