//! The books of a cycle: what submitters use of their shares, and what is in use of the concurrency limits. They decide
//! which candidates a submitter may get.

use crate::ad::{Ad, Value};
use crate::eval::Context;
use crate::matching::policy::{Policy, WeightedShare, parse_limits};

use super::allowance::{Allowance, RefusalReasons};
use super::limit_counts::{LimitCounts, LimitNeeds};
use super::offers::CycleOffers;
use super::weight_accounts::{WeightAccounts, valid_weight, weight};

/// The books of a cycle.
pub struct CycleLedger<'p> {
    policy: &'p Policy,
    context: &'p Context,
    /// What submitters use. Empty unless they share by weight.
    pub weights: WeightAccounts,
    /// How much of the concurrency limits is in use, if there are any.
    pub limits: Option<LimitCounts>,
}

impl<'p> CycleLedger<'p> {
    /// Opens the books for these offers, whose weights are known.
    pub fn new(policy: &'p Policy, (offers, weights): (&[Ad], WeightAccounts), context: &'p Context) -> Self {
        CycleLedger {
            policy,
            context,
            weights,
            limits: policy.limits.as_ref().map(|limits| LimitCounts::new(limits, offers, context)),
        }
    }

    /// Whether a request may get an offer now. Records why not. `needs` are the concurrency limits of the request, if
    /// they do not depend on the offer. The flag says whether the request before was of the same autocluster.
    pub fn is_permitted(
        &self,
        offers: &mut CycleOffers,
        (request, offer): (&Ad, usize),
        needs: Option<&LimitNeeds>,
        (allowance, is_repeated): (&Allowance, bool),
        refusals: &mut RefusalReasons,
    ) -> bool {
        if let Allowance::Weight(allowance) = allowance {
            let has_user = self.weights.users[offer].is_some();
            let is_beyond = has_user && self.may_go_beyond(offers, request, offer);
            if allowance.is_beyond() && !is_beyond {
                refusals.not_beyond += 1;
                return false;
            }
            if is_repeated || !is_beyond {
                let cost = self.cost(offers, request, offer);
                let permits = match has_user {
                    false => allowance.permits_unclaimed(cost),
                    true if is_repeated => allowance.permits_claimed(cost) || allowance.permits_unclaimed(cost),
                    true => allowance.permits_claimed(cost),
                };
                if !permits {
                    refusals.over_share += 1;
                    refusals.lightest_over_share =
                        Some(refusals.lightest_over_share.map_or(cost, |lightest| lightest.min(cost)));
                    return false;
                }
            }
        }
        let of_pair = if needs.is_none() { self.limits_of(offers, request, Some(offer)) } else { None };
        let reached = self.limits.as_ref().zip(needs.or(of_pair.as_ref()));
        match reached.and_then(|(limits, needs)| limits.first_reached(needs)) {
            Some(limit) => {
                refusals.limit.get_or_insert(limit);
                refusals.limit_keeps_free = true;
                false
            }
            None => true,
        }
    }

    /// Whether the rule `beyond` of the share is true for a request and an offer.
    pub fn may_go_beyond(&self, offers: &mut CycleOffers, request: &Ad, offer: usize) -> bool {
        let rule = self.policy.weighted_share().and_then(|share| share.beyond.as_ref());
        rule.is_some_and(|rule| matches!(offers.docking_value(rule, request, offer), Value::Boolean(true)))
    }

    /// Returns the weight that an offer costs: its weight less that of what is left of it.
    fn cost(&self, offers: &mut CycleOffers, request: &Ad, offer: usize) -> f64 {
        let Some(share) = self.policy.weighted_share() else { return 0.0 };
        let whole = self.weights.weights[offer];
        let rest = offers.rest(offer, request);
        let is_offered = rest.as_ref().is_some_and(|rest| offers.offers_again(rest));
        (whole - self.weight_left(share, rest.as_ref(), is_offered, whole)).max(0.0)
    }

    /// Returns the weight of `rest`, the remainder of an offer with the weight `whole`. The weight of a remainder that is
    /// not offered again counts only if it is below `whole`: a constant weight does not describe the remainder.
    fn weight_left(&self, share: &WeightedShare, rest: Option<&Ad>, is_offered: bool, whole: f64) -> f64 {
        match rest {
            None => 0.0,
            Some(rest) if is_offered => weight(&share.weight, rest, self.context),
            Some(rest) => valid_weight(&share.weight, rest, self.context).filter(|left| *left < whole).unwrap_or(0.0),
        }
    }

    /// Returns the concurrency limits that a request needs, with an offer if one is given. `None` if they depend on the
    /// offer and none is given.
    pub fn limits_of(&self, offers: &mut CycleOffers, request: &Ad, offer: Option<usize>) -> Option<LimitNeeds> {
        let Some(rule) = self.policy.limits.as_ref().and_then(|limits| limits.needs.as_ref()) else {
            return Some(Vec::new());
        };
        let value = match offer {
            None => rule.evaluate(request, self.context).unwrap_or(Value::Undefined),
            Some(offer) => offers.docking_value(rule, request, offer),
        };
        match value {
            Value::String(list) => Some(parse_limits(&list.to_str())),
            Value::Undefined if offer.is_none() => None,
            _ => Some(Vec::new()),
        }
    }

    /// Accounts for offers that a submitter got and that are taken already: to its share, its usage and the limits that
    /// its request needs. Returns their weight; `None` unless submitters share by weight.
    pub fn settle(
        &mut self,
        cycle_offers: &CycleOffers,
        submitter: &str,
        (offers, needs): (&[usize], &[(String, f64)]),
        allowance: &mut Allowance,
    ) -> Option<f64> {
        if let Some(limits) = &mut self.limits {
            for (place, offer) in offers.iter().enumerate() {
                // The request needs its limits once, however many offers its gang has.
                limits.give(if place == 0 { needs } else { &[] }, *offer);
            }
        }
        let weighing = match allowance {
            Allowance::Offers { granted, .. } => {
                *granted += offers.len();
                return None;
            }
            Allowance::Weight(weighing) => weighing,
        };
        weighing.granted += offers.len();
        let share = self.policy.weighted_share()?;
        let mut weight = 0.0;
        for offer in offers {
            let had_user = self.weights.users[*offer].is_some();
            let current = cycle_offers.current(*offer);
            let rest = current.or_else(|| cycle_offers.unoffered_rest(*offer));
            let whole = self.weights.weights[*offer];
            let is_kept = current.is_some() && cycle_offers.is_kept(*offer);
            let left = if is_kept { 0.0 } else { self.weight_left(share, rest, current.is_some(), whole) };
            let got = self.weights.give(share, submitter, *offer, left);
            if is_kept {
                self.weights.weights[*offer] = whole;
            }
            weighing.used += got;
            if !had_user {
                weighing.used_unclaimed += got;
            }
            weight += got;
        }
        Some(weight)
    }
}
