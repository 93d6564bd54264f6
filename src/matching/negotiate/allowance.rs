//! What a submitter may still get in its turn.

use super::limit_counts::ReachedLimit;

/// What a submitter may still get in its turn.
pub enum Allowance {
    /// A number of offers.
    Offers {
        /// Maximum number of offers.
        slice: usize,
        /// Number of offers that the submitter got in this turn.
        granted: usize,
    },
    /// A weight of offers.
    Weight(WeightAllowance),
}

/// What is left of an allowance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RemainingAllowance {
    /// A number of offers.
    Offers(usize),
    /// A weight of offers that nobody uses.
    Weight(f64),
}

/// The weight that a submitter may get in its turn, as in HTCondor's negotiator.
#[derive(Clone, Debug, Default)]
pub struct WeightAllowance {
    /// Maximum weight, with offers that others use.
    pub limit: f64,
    /// Maximum weight of offers that nobody uses.
    pub unclaimed_limit: f64,
    /// Maximum weight until the submitter reaches its ceiling.
    pub ceiling: f64,
    /// Whether candidates of the rule `beyond` may be taken although the share is used up.
    pub goes_beyond: bool,
    /// Weight that the submitter got in this turn.
    pub used: f64,
    /// Weight of the offers among it that nobody used.
    pub used_unclaimed: f64,
    /// Whether a request got nothing because of the share.
    pub was_limited: bool,
    /// Number of offers that the submitter got in this turn.
    pub granted: usize,
    /// The autocluster that was considered last in this turn, and whether the share was used up then.
    pub last_considered: Option<(usize, bool)>,
}

/// Why candidates of a request were refused, although they were free.
#[derive(Clone, Debug, Default)]
pub struct RefusalReasons {
    /// Number of candidates that weigh more than the submitter may still get.
    pub over_share: usize,
    /// The smallest weight of these candidates.
    pub lightest_over_share: Option<f64>,
    /// A concurrency limit that is reached.
    pub limit: Option<ReachedLimit>,
    /// Whether a candidate is free that the limit keeps from the request.
    pub limit_keeps_free: bool,
    /// Number of candidates that were passed over because the share is used up.
    pub not_beyond: usize,
}

impl RefusalReasons {
    /// Whether no candidate was refused.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.over_share == 0 && self.limit.is_none() && self.not_beyond == 0
    }

    /// Whether all candidates were only passed over because the share is used up.
    pub(super) fn is_silent(&self) -> bool {
        self.not_beyond > 0 && self.over_share == 0 && self.limit.is_none()
    }
}

impl Allowance {
    /// Whether the submitter may get nothing more in this turn.
    pub fn is_used_up(&self) -> bool {
        match self {
            Allowance::Offers { slice, granted } => granted >= slice,
            Allowance::Weight(weight) => {
                weight.used >= weight.ceiling || weight.used >= weight.limit && !weight.goes_beyond
            }
        }
    }

    /// Returns the number of offers that the submitter got in this turn.
    pub fn granted(&self) -> usize {
        match self {
            Allowance::Offers { granted, .. } => *granted,
            Allowance::Weight(weight) => weight.granted,
        }
    }

    /// Whether the submitter may get a gang of this many offers, or of this weight. The first gang of a turn may have
    /// more offers than the slice.
    pub fn permits_gang(&mut self, offers: usize, weight: f64) -> bool {
        match self {
            Allowance::Offers { slice, granted } => *granted == 0 || offers <= slice.saturating_sub(*granted),
            Allowance::Weight(allowance) => {
                let permits = allowance.permits_unclaimed(weight);
                allowance.was_limited |= !permits;
                permits
            }
        }
    }

    /// Returns what the submitter may still get.
    pub fn remaining(&self) -> RemainingAllowance {
        match self {
            Allowance::Offers { slice, granted } => RemainingAllowance::Offers(slice.saturating_sub(*granted)),
            Allowance::Weight(weight) => {
                RemainingAllowance::Weight((weight.unclaimed_limit - weight.used_unclaimed).max(0.0))
            }
        }
    }

    /// Returns the weight that the submitter got in this turn.
    pub fn weight_used(&self) -> f64 {
        match self {
            Allowance::Offers { .. } => 0.0,
            Allowance::Weight(weight) => weight.used,
        }
    }

    /// Whether the submitter would have got more without its share.
    pub fn was_limited(&self) -> bool {
        match self {
            Allowance::Offers { .. } => false,
            Allowance::Weight(weight) => weight.was_limited || weight.used >= weight.limit,
        }
    }

    /// Whether the request that was considered before is of this autocluster, and the share is used up now as it was then.
    pub fn is_repeated(&self, cluster: usize) -> bool {
        match self {
            Allowance::Offers { .. } => false,
            Allowance::Weight(weight) => weight.last_considered == Some((cluster, weight.is_beyond())),
        }
    }

    /// Records that a request of an autocluster is considered. Returns whether HTCondor's negotiator takes its candidates
    /// from the match list of the request before, where the rule `beyond` does not count: see
    /// `Matchmaker::matchmakingAlgorithm`.
    pub fn begin(&mut self, cluster: usize) -> bool {
        match self {
            Allowance::Offers { .. } => false,
            Allowance::Weight(weight) => {
                let now = Some((cluster, weight.is_beyond()));
                std::mem::replace(&mut weight.last_considered, now) == now
            }
        }
    }

    /// Records why a request got nothing.
    pub fn note(&mut self, refusals: &RefusalReasons) {
        if let Allowance::Weight(weight) = self {
            weight.was_limited |= refusals.over_share > 0;
        }
    }
}

impl WeightAllowance {
    /// Whether only candidates of the rule `beyond` may be taken, because the share is used up.
    pub fn is_beyond(&self) -> bool {
        self.used >= self.limit
    }

    /// Whether an offer of this weight may be taken from its user.
    pub fn permits_claimed(&self, weight: f64) -> bool {
        is_within(self.used, weight, self.limit)
    }

    /// Whether an offer of this weight, which nobody uses, may be taken.
    pub fn permits_unclaimed(&self, weight: f64) -> bool {
        is_within(self.used_unclaimed, weight, self.unclaimed_limit)
    }
}

/// Whether a weight may be added to what is used. The first offer of a turn may be heavier than what is left, so that no
/// crumbs remain that nobody can take.
fn is_within(used: f64, weight: f64, limit: f64) -> bool {
    used + weight <= limit || used <= 0.0 && limit > 0.0
}

#[cfg(test)]
mod tests {
    use super::{Allowance, ReachedLimit, RefusalReasons, RemainingAllowance, WeightAllowance};

    #[test]
    fn a_number_of_offers() {
        for (slice, granted, is_used_up, remaining, gangs) in [
            (2, 0, false, 2, [true, true, true]),
            (2, 1, false, 1, [true, false, false]),
            (2, 2, true, 0, [false, false, false]),
            (2, 3, true, 0, [false, false, false]),
            (0, 0, true, 0, [true, true, true]),
        ] {
            let mut allowance = Allowance::Offers { slice, granted };
            assert_eq!(allowance.is_used_up(), is_used_up, "{granted} of {slice}");
            assert_eq!(allowance.remaining(), RemainingAllowance::Offers(remaining), "{granted} of {slice}");
            assert_eq!([1, 2, 3].map(|offers| allowance.permits_gang(offers, 9.0)), gangs, "{granted} of {slice}");
            assert!(!allowance.was_limited() && !allowance.begin(0) && !allowance.begin(0));
            assert_eq!((allowance.granted(), allowance.weight_used()), (granted, 0.0));
        }
    }

    /// The limits are for offers in use, for free ones, and the ceiling; the weights used are of all offers, and of free
    /// ones.
    #[test]
    fn a_weight_of_offers() {
        for ([limit, unclaimed_limit, ceiling], [used, used_unclaimed], goes_beyond, expected) in [
            ([4.0, 3.0, 9.0], [0.0, 0.0], false, "left 3"),
            ([4.0, 3.0, 9.0], [2.0, 2.0], false, "left 1"),
            ([4.0, 3.0, 9.0], [4.0, 2.0], false, "used up, beyond, limited, left 1"),
            ([4.0, 3.0, 9.0], [4.0, 2.0], true, "beyond, limited, left 1"),
            ([4.0, 3.0, 4.0], [4.0, 2.0], true, "used up, beyond, limited, left 1"),
            ([4.0, 3.0, 2.0], [2.0, 2.0], false, "used up, left 1"),
            ([4.0, 3.0, 9.0], [5.0, 5.0], false, "used up, beyond, limited, left 0"),
            ([0.0, 0.0, 9.0], [0.0, 0.0], false, "used up, beyond, limited, left 0"),
        ] {
            let weight = WeightAllowance {
                limit,
                unclaimed_limit,
                ceiling,
                goes_beyond,
                used,
                used_unclaimed,
                ..WeightAllowance::default()
            };
            let is_beyond = weight.is_beyond();
            let allowance = Allowance::Weight(weight);
            let RemainingAllowance::Weight(left) = allowance.remaining() else { panic!("a weight") };
            let told = [
                (allowance.is_used_up(), "used up, "),
                (is_beyond, "beyond, "),
                (allowance.was_limited(), "limited, "),
            ];
            let told: String = told.iter().filter(|(is, _)| *is).map(|(_, word)| *word).collect();
            assert_eq!(format!("{told}left {left}"), expected, "{limit} {unclaimed_limit} {used} {used_unclaimed}");
            assert_eq!(allowance.weight_used().to_bits(), used.to_bits());
        }
    }

    #[test]
    fn the_first_offer_of_a_turn_may_be_too_heavy() {
        for (limit, used, weight, expected) in [
            (4.0, 0.0, 4.0, true),
            (4.0, 0.0, 5.0, true),
            (0.0, 0.0, 5.0, false),
            (0.0, 0.0, 0.0, true),
            (4.0, 1.0, 3.0, true),
            (4.0, 1.0, 3.5, false),
            (4.0, 4.0, 0.0, true),
        ] {
            let claimed = WeightAllowance { limit, used, ..WeightAllowance::default() };
            let unclaimed =
                WeightAllowance { unclaimed_limit: limit, used_unclaimed: used, ..WeightAllowance::default() };
            assert_eq!(claimed.permits_claimed(weight), expected, "{limit} {used} {weight}");
            assert_eq!(unclaimed.permits_unclaimed(weight), expected, "{limit} {used} {weight}");
            let mut allowance = Allowance::Weight(WeightAllowance { limit: 9.0, ..unclaimed });
            assert_eq!(allowance.permits_gang(7, weight), expected);
            assert_eq!(allowance.was_limited(), !expected);
        }
    }

    #[test]
    fn an_autocluster_is_repeated_until_the_share_is_used_up() {
        let mut allowance = Allowance::Weight(WeightAllowance { limit: 1.0, ..WeightAllowance::default() });
        assert_eq!([0, 0, 1, 1, 0].map(|cluster| allowance.begin(cluster)), [false, true, false, true, false]);
        let Allowance::Weight(weight) = &mut allowance else { panic!("a weight") };
        weight.used = 1.0;
        assert_eq!([0, 0].map(|cluster| allowance.begin(cluster)), [false, true]);
    }

    #[test]
    fn reasons_for_refusals() {
        for (over_share, not_beyond, is_none, is_silent, limits) in [
            (0, 0, true, false, false),
            (1, 0, false, false, true),
            (0, 1, false, true, false),
            (1, 1, false, false, true),
        ] {
            let refusals = RefusalReasons { over_share, not_beyond, ..RefusalReasons::default() };
            assert_eq!((refusals.is_none(), refusals.is_silent()), (is_none, is_silent), "{over_share} {not_beyond}");
            let mut allowance = Allowance::Weight(WeightAllowance { limit: 1.0, ..WeightAllowance::default() });
            allowance.note(&refusals);
            assert_eq!(allowance.was_limited(), limits);
        }
    }

    #[test]
    fn what_is_granted_is_counted() {
        let weight =
            WeightAllowance { granted: 3, used: 2.5, limit: 9.0, was_limited: true, ..WeightAllowance::default() };
        let allowance = Allowance::Weight(weight);
        assert_eq!((allowance.granted(), allowance.weight_used().to_bits()), (3, 2.5_f64.to_bits()));
        assert!(allowance.was_limited() && allowance.is_used_up());
        let mut number = Allowance::Offers { slice: 3, granted: 1 };
        number.note(&RefusalReasons { over_share: 1, ..RefusalReasons::default() });
        assert!(!number.was_limited() && !number.is_repeated(0));
        assert!(number.permits_gang(2, f64::INFINITY) && !number.permits_gang(3, 0.0));
    }

    #[test]
    fn a_cluster_is_repeated_if_it_was_considered_last() {
        let mut allowance = Allowance::Weight(WeightAllowance { limit: 1.0, ..WeightAllowance::default() });
        assert!(!allowance.is_repeated(4));
        assert!(!allowance.begin(4));
        assert!(allowance.is_repeated(4) && !allowance.is_repeated(5));
        let Allowance::Weight(weight) = &mut allowance else { panic!("a weight") };
        weight.used = 1.0;
        assert!(!allowance.is_repeated(4));
    }

    #[test]
    fn a_limit_that_is_reached_is_a_reason() {
        let limit = Some(ReachedLimit { name: "sw".to_owned(), used: 1.0, given: 0.0, maximum: 1.0, needed: 1.0 });
        for not_beyond in [0, 1] {
            let refusals = RefusalReasons { limit: limit.clone(), not_beyond, ..RefusalReasons::default() };
            assert!(!refusals.is_none() && !refusals.is_silent(), "{not_beyond}");
        }
    }
}
