//! The findings of all ads of a run, with their identifying numbers and counts.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHasher};

use crate::ad::{Ad, Bounded, Name};
use crate::pool::is_constant;

use super::finding::LintFinding;
use super::rules;

/// What the findings of an expression depend on: the attribute, the fingerprint of the expression, whether it is the
/// constraint of the ad, and a hash of the words in it that are attributes of the ad, or 0 if there are none.
pub(super) type ExpressionKey = (Name, u64, bool, u64);

/// What the findings of a set come from. Sets of equal origin have the same findings.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum FindingOrigin {
    Expression(ExpressionKey),
    /// An ad as a whole, by the result of `ad_hash`.
    Ad(u64),
    /// The constants of an ad, by a hash of what the findings say.
    Constants(u64),
    /// The policies and requests of a job, by a hash of what they depend on.
    Policies(u64),
}

/// The findings of one expression, or of an ad as a whole.
pub(super) struct FindingSet {
    origin: FindingOrigin,
    /// Findings, each with the result of [`content_hash`].
    findings: Vec<(u64, LintFinding)>,
}

impl FindingSet {
    pub(super) fn new(origin: FindingOrigin, ad: &Ad, found: Vec<LintFinding>) -> Arc<Self> {
        // The fingerprint of each marked expression, by its identity: thousands of findings can mark one expression.
        let mut fingerprints = FxHashMap::default();
        let mut hash = |finding: &LintFinding| content_hash(ad, finding, &mut fingerprints);
        let findings = found.into_iter().map(|finding| (hash(&finding), finding)).collect();
        Arc::new(FindingSet { origin, findings })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.findings.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &LintFinding> {
        self.findings.iter().map(|(_, finding)| finding)
    }
}

/// All findings of an ad.
pub struct AdFindings {
    /// The sets that have findings.
    sets: Vec<Arc<FindingSet>>,
}

impl AdFindings {
    /// Each of `sets` must have findings.
    pub(super) fn new(sets: impl Iterator<Item = Arc<FindingSet>>) -> Arc<Self> {
        Arc::new(AdFindings { sets: sets.collect() })
    }

    /// Returns all findings.
    pub fn iter(&self) -> impl Iterator<Item = &LintFinding> {
        self.sets.iter().flat_map(|set| set.iter())
    }

    /// Returns a number for the content of each finding. Findings of equal content have the same number, as in
    /// [`FindingRegister::content`].
    pub fn contents(&self) -> impl Iterator<Item = u64> {
        self.sets.iter().flat_map(|set| set.findings.iter().map(|(content, _)| *content))
    }

    /// Whether nothing was found.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }
}

/// Numbers the findings of the ads of a run, and counts the ads with each finding.
#[derive(Default)]
pub struct FindingRegister {
    /// Number of ads that have each finding. The index is the identifying number of the finding.
    counts: Vec<usize>,
    /// Hash of the content of each finding; `None` for a finding of the parser.
    contents: Vec<Option<u64>>,
    /// Identifying numbers of the findings of each set.
    sets: Bounded<FxHashMap<FindingOrigin, Vec<usize>>>,
    /// Identifying number of each finding, by a hash of the finding's content.
    numbers_by_content: FxHashMap<u64, usize>,
}

impl FindingRegister {
    /// Registers the findings of an ad. Returns those that no ad registered earlier had, each with its identifying
    /// number.
    pub fn register(&mut self, found: &AdFindings) -> Vec<(usize, LintFinding)> {
        let mut new = Vec::new();
        for set in &found.sets {
            if !self.sets.contains_key(&set.origin) {
                let numbers = set.findings.iter().map(|(content, finding)| {
                    *self.numbers_by_content.entry(*content).or_insert_with(|| {
                        self.counts.push(0);
                        self.contents.push(Some(*content));
                        new.push((self.counts.len() - 1, finding.clone()));
                        self.counts.len() - 1
                    })
                });
                let numbers: Vec<usize> = numbers.collect();
                self.sets.make_room(size_of_val(numbers.as_slice()));
                self.sets.insert(set.origin.clone(), numbers);
            }
        }
        new
    }

    /// Counts ads that have the same findings. They must be registered.
    pub fn count_ads(&mut self, found: &AdFindings, ads: usize) {
        let numbers = found.sets.iter().flat_map(|set| {
            self.sets.get(&set.origin).cloned().unwrap_or_else(|| {
                set.findings.iter().filter_map(|(content, _)| self.numbers_by_content.get(content).copied()).collect()
            })
        });
        let mut numbers: Vec<usize> = numbers.collect();
        numbers.sort_unstable();
        numbers.dedup();
        for number in numbers {
            self.counts[number] += ads;
        }
    }

    /// Returns the number of ads that have a finding. `number` identifies the finding.
    #[must_use]
    pub fn count(&self, number: usize) -> usize {
        self.counts.get(number).copied().unwrap_or(0)
    }

    /// Registers a new finding of the parser, with a count of one ad. Returns the identifying number of the finding.
    pub fn register_external(&mut self) -> usize {
        self.counts.push(1);
        self.contents.push(None);
        self.counts.len() - 1
    }

    /// Returns a number that findings of equal content share, also in other runs of this version; `None` for a finding
    /// of the parser, which is like no other. `number` identifies the finding.
    #[must_use]
    pub fn content(&self, number: usize) -> Option<u64> {
        self.contents.get(number).copied().flatten()
    }

    /// Registers a finding of another run, with its content and its number of ads. Returns its identifying number, or
    /// `None` if a finding of that content is registered; its ads are counted then.
    pub fn register_counted(&mut self, content: Option<u64>, ads: usize) -> Option<usize> {
        if let Some(number) = content.and_then(|content| self.numbers_by_content.get(&content)) {
            let known = &mut self.counts[*number];
            *known = known.saturating_add(ads);
            return None;
        }
        let number = self.counts.len();
        self.counts.push(ads);
        self.contents.push(content);
        self.numbers_by_content.extend(content.map(|content| (content, number)));
        Some(number)
    }
}

/// Hashes the content of a finding: its rule, its message and the expressions it marks. The position in the ad is left
/// out, so that the same finding in other ads has the same hash.
fn content_hash(ad: &Ad, finding: &LintFinding, fingerprints: &mut FxHashMap<usize, u64>) -> u64 {
    let mut hasher = FxHasher::default();
    (finding.rule.name, &finding.message).hash(&mut hasher);
    // Two notes of one of these rules count as the same finding if they say the same, whatever they mark.
    if [&rules::CASE, &rules::FALLS, &rules::UNSAFE].contains(&finding.rule) {
        finding.help.hash(&mut hasher);
        return hasher.finish();
    }
    for label in &finding.labels {
        label.attribute.hash(&mut hasher);
        // The value of a constant does not count.
        let expression = ad.get(&label.attribute).filter(|expression| !is_constant(expression));
        if let (Some(span), Some(expression)) = (label.span, expression) {
            let start = expression.span().start;
            let fingerprint = fingerprints.entry(expression.identity()).or_insert_with(|| expression.fingerprint());
            (span.start.wrapping_sub(start), *fingerprint).hash(&mut hasher);
        }
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::FindingRegister;
    use crate::ad::Dialect;
    use crate::eval::Context;
    use crate::lint::AdChecker;
    use crate::lint::tests::ad;
    use crate::protocol::Protocol;

    #[test]
    fn a_finding_is_told_once_and_counted_for_each_ad() {
        let mut checker = AdChecker::new(Protocol::new(Dialect::Condor), &Context::new(Dialect::Condor));
        let mut check = |text: &str| checker.check(&ad(&format!("[ {text} ]"), Dialect::Condor));
        let (first, both) = (check("a = x == undefined"), check("a = x == undefined; b = y == undefined"));
        let (second, nothing) = (check("b = y == undefined; c = 1"), check("c = 1"));
        assert!(nothing.is_empty() && !first.is_empty());
        assert_eq!([&first, &both, &second, &nothing].map(|found| found.iter().count()), [1, 2, 1, 0]);
        let mut register = FindingRegister::default();
        let mut told = Vec::new();
        for (found, ads) in [(&both, 1), (&first, 2), (&second, 3), (&nothing, 4), (&both, 5)] {
            told.push(register.register(found).into_iter().map(|(number, _)| number).collect::<Vec<_>>());
            register.count_ads(found, ads);
        }
        assert_eq!(told, [vec![0, 1], vec![], vec![], vec![], vec![]]);
        assert_eq!([0, 1, 2].map(|number| register.count(number)), [8, 9, 0]);
        // Findings of equal content have one number, in other runs, too.
        let contents: Vec<u64> = both.contents().collect();
        assert_eq!([0, 1, 2].map(|number| register.content(number)), [Some(contents[0]), Some(contents[1]), None]);
        let external = register.register_external();
        assert_eq!((external, register.count(2), register.content(2)), (2, 1, None));
        assert_eq!(register.register_counted(Some(contents[0]), 10), None);
        assert_eq!(register.register_counted(Some(7), 3), Some(3));
        assert_eq!(register.register_counted(Some(7), 4), None);
        assert_eq!(register.register_counted(None, 5), Some(4));
        assert_eq!([0, 1, 2, 3, 4].map(|number| register.count(number)), [18, 9, 1, 7, 5]);
    }
}
