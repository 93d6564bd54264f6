//! The accountant: accumulated usage of submitters, and the priorities derived from it (thesis 3.8; HTCondor's
//! formulas).

use std::collections::BTreeMap;

use crate::ad::Dialect;
use crate::format::Problem;
use crate::format::document_tree::{ConfigReader, YamlContent, YamlNode, YamlTree, string_scalar};

use super::parse::{NOT_POSITIVE, positive_number};
use super::weighted_share::{MIN_REAL_PRIORITY, WeightedShare};

/// The usage of all submitters, kept in a YAML file.
///
/// The real priority `p` of a submitter approaches the number of offers that it uses. After the submitter has used `n`
/// offers for `t` seconds, its real priority is `p * b + n * (1 - b)` with `b = 0.5 ^ (t / half-life)`, and at least
/// 0.5. Where submitters share by weight, `n` is the weight of the offers, as in HTCondor (`SLOT_WEIGHT`). The effective priority of a submitter in a negotiation is the real priority times the factor of the submitter.
/// Offers that a submitter gets in a cycle count as used until the next cycle.
#[derive(Clone, Debug, PartialEq)]
pub struct Accountant {
    /// Time in seconds after which the real priority of a submitter without offers is halved.
    pub half_life_seconds: f64,
    /// Time until which usage is accounted for, in seconds since 1970; `None` before the first cycle.
    pub accounted_until: Option<i64>,
    /// The account of each submitter, by name.
    pub submitters: BTreeMap<String, Account>,
    /// The claims that are not released yet, by the identifiers of their matches.
    pub claims: BTreeMap<String, AccountedClaim>,
    /// The weight that a submitter gets before the others get more, as HTCondor's accountant says, by name. Not written to
    /// a file of accounts.
    pub floors: BTreeMap<String, f64>,
    /// The maximum weight that a submitter may use, as [`Accountant::floors`].
    pub ceilings: BTreeMap<String, f64>,
}

/// A claim in the accounts. Its offers count as used until the claim is released.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountedClaim {
    /// The submitter who uses the offers.
    pub submitter: String,
    /// Number of offers that the submitter uses by this claim.
    pub offers: usize,
}

/// The account of a submitter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Account {
    /// The real priority; larger is worse.
    pub real_priority: f64,
    /// Factor by which the real priority is multiplied to give the effective priority.
    pub factor: f64,
    /// Number of offers that the submitter uses now, or their weight.
    pub resources: f64,
    /// Accumulated usage in offer-seconds, or in weight times seconds: using two offers for ten seconds adds 20.
    pub usage: f64,
}

impl Default for Account {
    fn default() -> Self {
        Account { real_priority: MIN_REAL_PRIORITY, factor: 1000.0, resources: 0.0, usage: 0.0 }
    }
}

impl Default for Accountant {
    fn default() -> Self {
        Accountant {
            half_life_seconds: 86400.0,
            accounted_until: None,
            submitters: BTreeMap::new(),
            claims: BTreeMap::new(),
            floors: BTreeMap::new(),
            ceilings: BTreeMap::new(),
        }
    }
}

impl Account {
    /// Returns the effective priority: the real priority times the factor. Larger is worse.
    #[must_use]
    pub fn effective_priority(&self) -> f64 {
        self.real_priority.max(MIN_REAL_PRIORITY) * self.factor
    }
}

impl Accountant {
    /// Reads accounts from YAML. An empty text has no accounts.
    ///
    /// # Errors
    ///
    /// Returns all errors of the text.
    pub fn parse(text: &[u8]) -> Result<Self, Vec<Problem>> {
        let outline = YamlTree::parse(text).map_err(|problem| vec![problem])?;
        let mut accountant = Accountant::default();
        if outline.root.content == YamlContent::Null {
            return Ok(accountant);
        }
        let mut settings = ConfigReader::new(&outline, Dialect::Classad);
        for (key, value) in
            settings.known_entries(&outline.root, "a usage file", &["half-life", "at", "submitters", "claims"])
        {
            match key {
                "half-life" => match value.text().and_then(positive_number) {
                    Some(seconds) => accountant.half_life_seconds = seconds,
                    None => settings.report(value, NOT_POSITIVE.0, NOT_POSITIVE.1),
                },
                "at" => {
                    accountant.accounted_until = value.text().and_then(|text| text.parse().ok());
                    if accountant.accounted_until.is_none() {
                        settings.report(value, "this is not a time", "write seconds since 1970");
                    }
                }
                "claims" => {
                    for (id, value) in settings.entries(value, "claims") {
                        let claim = read_claim(&mut settings, value);
                        accountant.claims.insert(id.text().unwrap_or_default().to_owned(), claim);
                    }
                }
                _ => {
                    for (name, value) in settings.entries(value, "submitters") {
                        let account = read_account(&mut settings, value);
                        accountant.submitters.insert(name.text().unwrap_or_default().to_owned(), account);
                    }
                }
            }
        }
        settings.finish(accountant)
    }

    /// Charges each submitter for the time since the last cycle, and updates its real priority. `now` is in seconds
    /// since 1970. No time is charged if `now` is before the last cycle.
    #[allow(clippy::cast_precision_loss)] // seconds
    pub fn advance(&mut self, now: i64) {
        let seconds = self.accounted_until.map_or(0, |at| now.saturating_sub(at).max(0)) as f64;
        let kept = 0.5_f64.powf(seconds / self.half_life_seconds);
        for account in self.submitters.values_mut() {
            let priority = account.real_priority * kept + account.resources * (1.0 - kept);
            account.real_priority = priority.clamp(MIN_REAL_PRIORITY, f64::MAX);
            account.usage = (account.usage + account.resources * seconds).min(f64::MAX);
        }
        self.accounted_until = Some(now);
    }

    /// Returns the effective priority of a submitter. Without an account, a submitter has the best real priority and
    /// the default factor.
    #[must_use]
    pub fn effective_priority(&self, submitter: &str) -> f64 {
        self.submitters.get(submitter).copied().unwrap_or_default().effective_priority()
    }

    /// Returns the effective priority of a submitter. `None` if it has no account, and the share has a factor for new
    /// submitters.
    #[must_use]
    pub fn priority(&self, submitter: &str, share: Option<&WeightedShare>) -> Option<f64> {
        let has_factor = || share.is_some_and(|share| share.new_factor(submitter).is_some());
        (self.knows(submitter) || !has_factor()).then(|| self.effective_priority(submitter))
    }

    /// Whether a submitter has an account.
    #[must_use]
    pub fn knows(&self, submitter: &str) -> bool {
        self.submitters.contains_key(submitter)
    }

    /// Records the number of offers that each submitter uses from now on, besides those of its claims. A submitter that
    /// `used` does not name uses no other offers.
    #[allow(clippy::cast_precision_loss)] // a count of offers
    pub fn assign<'s>(&mut self, used: impl IntoIterator<Item = (&'s str, f64)>) {
        self.assign_all(used);
        for claim in self.claims.values() {
            self.submitters.entry(claim.submitter.clone()).or_default().resources += claim.offers as f64;
        }
    }

    /// Records what each submitter uses from now on. A submitter that `used` does not name uses nothing.
    pub fn assign_all<'s>(&mut self, used: impl IntoIterator<Item = (&'s str, f64)>) {
        self.submitters.values_mut().for_each(|account| account.resources = 0.0);
        for (submitter, resources) in used {
            self.submitters.entry(submitter.to_owned()).or_default().resources = resources;
        }
    }

    /// Records which claims began, and which matches are claimed no more. From now on only the offers of claims count
    /// as used: those that were matched and not claimed do not.
    pub fn settle<'s>(
        &mut self,
        claimed: impl IntoIterator<Item = (String, AccountedClaim)>,
        released: impl IntoIterator<Item = &'s str>,
    ) {
        self.claims.extend(claimed);
        for id in released {
            self.claims.remove(id);
        }
        self.assign([]);
    }

    /// Returns the accounts as YAML that [`Accountant::parse`] can read.
    #[must_use]
    pub fn to_yaml(&self) -> String {
        let mut text = format!("half-life: {}\n", self.half_life_seconds);
        text.extend(self.accounted_until.map(|at| format!("at: {at}\n")));
        text += if self.submitters.is_empty() { "submitters: {}\n" } else { "submitters:\n" };
        text.extend(self.submitters.iter().map(|(name, account)| {
            let Account { real_priority: priority, factor, resources, usage } = account;
            let name = string_scalar(name);
            format!("  {name}: {{ priority: {priority}, factor: {factor}, resources: {resources}, usage: {usage} }}\n")
        }));
        text.extend((!self.claims.is_empty()).then_some("claims:\n"));
        text.extend(self.claims.iter().map(|(id, AccountedClaim { submitter, offers })| {
            format!("  {}: {{ submitter: {}, offers: {offers} }}\n", string_scalar(id), string_scalar(submitter))
        }));
        text
    }
}

fn read_claim<'o>(settings: &mut ConfigReader<'o>, node: &'o YamlNode) -> AccountedClaim {
    let mut claim = AccountedClaim { submitter: String::new(), offers: 0 };
    for (key, value) in settings.known_entries(node, "a claim", &["submitter", "offers"]) {
        match (key, value.text()) {
            ("submitter", Some(text)) => text.clone_into(&mut claim.submitter),
            ("offers", Some(text)) if text.parse::<u32>().is_ok() => claim.offers = text.parse().unwrap_or_default(),
            ("submitter", _) => settings.report(value, "this is not a name", "write `submitter: alice`"),
            _ => settings.report(value, "expected a number of offers", "write `offers: 2`"),
        }
    }
    claim
}

fn read_account<'o>(settings: &mut ConfigReader<'o>, node: &'o YamlNode) -> Account {
    let mut account = Account::default();
    for (key, value) in settings.known_entries(node, "an account", &["priority", "factor", "resources", "usage"]) {
        let number = value.text().and_then(|text| text.parse::<f64>().ok());
        let Some(number) = number.filter(|number| number.is_finite() && *number >= 0.0) else {
            settings.report(value, "expected a number of at least 0", "write a number such as `10`");
            continue;
        };
        match key {
            "priority" => account.real_priority = number.max(MIN_REAL_PRIORITY),
            "factor" if number > 0.0 => account.factor = number,
            "factor" => settings.report(value, "a factor cannot be zero", "a larger factor gives a smaller share"),
            "resources" => account.resources = number,
            _ => account.usage = number,
        }
    }
    account
}

#[cfg(test)]
mod tests {
    use super::{Account, Accountant, AccountedClaim};

    #[test]
    fn half_of_the_distance_in_a_half_life() {
        let text = b"half-life: 100\nat: 1000\nsubmitters:\n  alice: { priority: 8, resources: 2, usage: 5 }\n  bob: { factor: 10 }\n";
        let mut accountant = Accountant::parse(text).unwrap();
        accountant.advance(1100);
        assert_eq!(
            accountant.submitters["alice"],
            Account { real_priority: 5.0, factor: 1000.0, resources: 2.0, usage: 205.0 }
        );
        // The factor of bob is 10, the default factor is 1000. The real priority of an unknown submitter is 0.5.
        assert_eq!(
            ["bob", "carol", "alice"].map(|name| accountant.effective_priority(name).to_string()),
            ["5", "500", "5000"]
        );
        accountant.assign([("carol", 3.0)]);
        accountant.advance(1050);
        let alice = Account { real_priority: 5.0, factor: 1000.0, resources: 0.0, usage: 205.0 };
        let carol = Account { real_priority: 0.5, factor: 1000.0, resources: 3.0, usage: 0.0 };
        assert_eq!((accountant.submitters["alice"], accountant.submitters["carol"]), (alice, carol));
        accountant.advance(1250);
        // After two half-lives a quarter of the old priority counts: 0.5 * 0.25 + 3 * 0.75.
        assert_eq!(accountant.submitters["carol"], Account { real_priority: 2.375, usage: 600.0, ..carol });
    }

    #[test]
    fn claims_count_until_they_are_released() {
        let claim = |submitter: &str, offers| AccountedClaim { submitter: submitter.to_owned(), offers };
        let mut accountant = Accountant::default();
        accountant.assign([("raman", 3.0), ("miron", 1.0)]);
        // Two of the three matches were claimed, that of miron was not.
        accountant.settle([("m1".to_owned(), claim("raman", 2))], []);
        let used =
            |accountant: &Accountant| ["raman", "miron"].map(|name| accountant.submitters[name].resources.to_string());
        assert_eq!(used(&accountant), ["2", "0"]);
        accountant.assign([("raman", 1.0), ("miron", 1.0)]);
        assert_eq!(used(&accountant), ["3", "1"]);
        accountant.settle([("m2: x".to_owned(), claim("miron", 1))], []);
        assert_eq!(Accountant::parse(accountant.to_yaml().as_bytes()), Ok(accountant.clone()));
        accountant.settle([], ["m1"]);
        assert_eq!(used(&accountant), ["0", "1"]);
        assert_eq!(Accountant::parse(b"claims: { m: { submitter: a, offers: -1 } }").unwrap_err().len(), 1);
    }

    #[test]
    fn what_is_written_is_read() {
        let mut accountant = Accountant { accounted_until: Some(-5), ..Accountant::default() };
        assert_eq!(Accountant::parse(accountant.to_yaml().as_bytes()), Ok(accountant.clone()));
        accountant.assign([("alice", 3.0), ("a: b # \"c'", 1.0), ("1", 0.0), ("", 1.5)]);
        assert_eq!(Accountant::parse(accountant.to_yaml().as_bytes()), Ok(accountant));
        assert_eq!(Accountant::parse(b""), Ok(Accountant::default()));
        assert_eq!(Accountant::parse(b"half-life: 0\nsubmitters: { a: { factor: 0, use: 1 } }").unwrap_err().len(), 3);
    }
}
