//! The weights of the offers of a cycle, who uses them, and what submitters and groups use.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::ad::{Ad, Value};
use crate::eval::Context;
use crate::matching::policy::{PolicyRule, WeightedShare};

/// The weights of offers, and the usage of submitters and groups, in weight.
#[derive(Default)]
pub struct WeightAccounts {
    /// The weight of each offer as it is now.
    pub weights: Vec<f64>,
    /// The submitter who uses each offer now. `None` if nobody uses it, and after it was given away.
    pub users: Vec<Option<String>>,
    /// The weight of all offers at the beginning.
    pub total: f64,
    /// The smallest weight of an offer at the beginning; 0 if there are no offers.
    pub smallest: f64,
    /// Number of offers whose weight is not a number, or negative.
    pub without_weight: usize,
    usage: FxHashMap<String, f64>,
    /// The usage of each group itself, without the groups below it.
    pub group_usage: Vec<f64>,
}

impl WeightAccounts {
    /// Weighs the offers and counts who uses them.
    pub fn new(share: &WeightedShare, offers: &[Ad], context: &Context) -> Self {
        let valid: Vec<Option<f64>> = offers.iter().map(|offer| valid_weight(&share.weight, offer, context)).collect();
        let weights: Vec<f64> = valid.iter().map(|weight| weight.unwrap_or(1.0)).collect();
        let user = |offer: &Ad| match share.in_use_by.as_ref()?.evaluate(offer, context).ok()? {
            Value::String(text) => Some(text.to_str().into_owned()).filter(|name| !name.is_empty()),
            _ => None,
        };
        let mut accounts = WeightAccounts {
            users: offers.iter().map(user).collect(),
            total: weights.iter().sum(),
            without_weight: valid.iter().filter(|weight| weight.is_none()).count(),
            smallest: weights.iter().copied().reduce(f64::min).unwrap_or(0.0),
            weights,
            usage: FxHashMap::default(),
            group_usage: vec![0.0; share.groups.groups().len()],
        };
        for offer in 0..offers.len() {
            if let Some(user) = accounts.users[offer].clone() {
                accounts.charge(share, &user, accounts.weights[offer]);
            }
        }
        accounts
    }

    /// Returns the weight that a submitter uses.
    pub fn usage(&self, submitter: &str) -> f64 {
        self.usage.get(submitter).copied().unwrap_or(0.0)
    }

    /// Returns the weight that each submitter uses.
    pub fn used(&self) -> BTreeMap<String, f64> {
        self.usage.iter().map(|(submitter, weight)| (submitter.clone(), weight.max(0.0))).collect()
    }

    /// Adds weight to what a submitter and its group use.
    pub fn charge(&mut self, share: &WeightedShare, submitter: &str, weight: f64) {
        *self.usage.entry(submitter.to_owned()).or_default() += weight;
        self.group_usage[share.groups.group_of(submitter)] += weight;
    }

    /// Records that a submitter got an offer, of which `left` is the weight that remains. The user before loses it.
    /// Returns the weight that the submitter got.
    pub fn give(&mut self, share: &WeightedShare, submitter: &str, offer: usize, left: f64) -> f64 {
        let weight = self.weights[offer];
        if let Some(user) = self.users[offer].take() {
            self.charge(share, &user, -weight);
        }
        self.weights[offer] = left;
        let got = (weight - left).max(0.0);
        self.charge(share, submitter, got);
        got
    }
}

/// Returns the value of a rule of weight in an ad. A value that is not a number, or negative, counts as 1.
pub fn weight(rule: &PolicyRule, ad: &Ad, context: &Context) -> f64 {
    valid_weight(rule, ad, context).unwrap_or(1.0)
}

/// Returns the value of a rule of weight in an ad; `None` if it is not a number, or negative.
pub fn valid_weight(rule: &PolicyRule, ad: &Ad, context: &Context) -> Option<f64> {
    #[allow(clippy::cast_precision_loss)] // weights are small
    let number = match rule.evaluate(ad, context) {
        Ok(Value::Integer(number)) => number as f64,
        Ok(Value::Real(number)) => number,
        _ => return None,
    };
    Some(number).filter(|number| number.is_finite() && *number >= 0.0)
}

#[cfg(test)]
mod tests {
    use crate::ad::Dialect;
    use crate::eval::Context;
    use crate::matching::policy::PolicyRule;
    use crate::syntax::{ParseOptions, parse_ad, parse_expression};

    use super::{valid_weight, weight};

    #[test]
    fn a_weight_that_is_no_number_or_negative_counts_as_1() {
        let (rules, context) = (ParseOptions::new(Dialect::Condor), Context::new(Dialect::Condor));
        let rule = PolicyRule::from(parse_expression(b"SlotWeight", rules).unwrap());
        for (value, expected) in [
            ("0", Some(0.0)),
            ("3", Some(3.0)),
            ("2.5", Some(2.5)),
            ("Cpus * 2", Some(8.0)),
            ("-1", None),
            ("-0.5", None),
            ("\"heavy\"", None),
            ("undefined", None),
            ("error", None),
            ("{ 2 }", None),
            ("real(\"INF\")", None),
            ("real(\"NaN\")", None),
        ] {
            let ad = parse_ad(format!("[ Cpus = 4; SlotWeight = {value} ]").as_bytes(), rules).unwrap();
            assert_eq!(valid_weight(&rule, &ad, &context), expected, "{value}");
            assert_eq!(weight(&rule, &ad, &context).to_bits(), expected.unwrap_or(1.0).to_bits(), "{value}");
        }
    }
}
