//! Scores of candidates and gangs, by which a request prefers one gang to another (thesis 3.2.3, 3.2.4).

use std::cmp::Ordering;

use crate::ad::{Dialect, Participant, Value};
use crate::matching::policy::PolicyVector;

/// The score of a candidate at a port. A port left unfilled has scores of this type, too.
#[derive(Clone, Debug, PartialEq)]
pub enum CandidateScore {
    /// The score depends on ports that are not docked yet.
    Unknown,
    /// The value of the port's rank for the candidate, then the value of the candidate's rank for the port.
    Ranks(f64, f64),
    /// The same two values if one of them is not a number (thesis 3.2.3).
    TypedRanks(PolicyVector),
    /// A candidate's docking vector under the policy.
    Vector(PolicyVector),
}

impl CandidateScore {
    /// The score of a candidate if neither side has a rank.
    pub const ZERO: CandidateScore = CandidateScore::Ranks(0.0, 0.0);

    /// Returns the score of a candidate by two ranks, each a number or a value that orders among its own kind.
    pub fn of_ranks(ranks: [Value; 2], dialect: Dialect) -> CandidateScore {
        match ranks {
            [Value::Real(rank), Value::Real(offer_rank)] => CandidateScore::Ranks(rank, offer_rank),
            ranks => CandidateScore::TypedRanks(PolicyVector::new(ranks.to_vec(), dialect)),
        }
    }

    /// Returns the scores that a gang gets for leaving the `ports` unfilled. A gang with fewer unfilled ports is
    /// better. Of gangs with equally many unfilled ports, the gang that leaves later ports of the port list unfilled is
    /// better.
    pub fn unfilled_scores(ports: impl Iterator<Item = usize> + Clone) -> Vec<CandidateScore> {
        #[allow(clippy::cast_precision_loss)] // ports are fewer than 2^53
        let rank = |number: usize| number as f64;
        let fewest = CandidateScore::Ranks(0.0 - rank(ports.clone().count()), 0.0);
        std::iter::once(fewest).chain(ports.map(|port| CandidateScore::Ranks(rank(port), 0.0))).collect()
    }

    /// Whether a candidate with this score may dock: no component of its docking vector is undefined or an error.
    pub fn is_acceptable(&self) -> bool {
        !matches!(self, CandidateScore::Vector(vector) if !vector.is_complete())
    }

    /// Compares two scores. `Greater` means that `self` is better. `None` if one of the scores is unknown.
    pub fn compare(&self, other: &CandidateScore) -> Option<Ordering> {
        Some(match (self, other) {
            (CandidateScore::Unknown, _) | (_, CandidateScore::Unknown) => return None,
            (CandidateScore::Ranks(a, b), CandidateScore::Ranks(c, d)) => (a.total_cmp(c)).then(b.total_cmp(d)),
            (CandidateScore::Vector(left), CandidateScore::Vector(right)) => left.cmp_greatest_first(right).reverse(),
            (CandidateScore::TypedRanks(left), CandidateScore::TypedRanks(right)) => {
                left.cmp_greatest_first(right).reverse()
            }
            (CandidateScore::Ranks(a, b), CandidateScore::TypedRanks(vector)) => {
                PolicyVector::of_numbers([*a, *b]).cmp_greatest_first(vector).reverse()
            }
            (CandidateScore::TypedRanks(vector), CandidateScore::Ranks(a, b)) => {
                vector.cmp_greatest_first(&PolicyVector::of_numbers([*a, *b])).reverse()
            }
            // The two gangs fill different ports: a candidate of one gang is compared with an unfilled or missing port
            // of the other gang. The score of such a port is `Ranks` even if the policy has a docking vector.
            (CandidateScore::Ranks(a, b), CandidateScore::Vector(vector)) => vector.cmp_numbers([*a, *b]).reverse(),
            (CandidateScore::Vector(vector), CandidateScore::Ranks(a, b)) => vector.cmp_numbers([*a, *b]),
            // A policy has a docking vector for all candidates or for none.
            (CandidateScore::Vector(_), CandidateScore::TypedRanks(_))
            | (CandidateScore::TypedRanks(_), CandidateScore::Vector(_)) => Ordering::Equal,
        })
    }
}

/// The score of a gang, by which two gangs of one request are compared.
///
/// `scores` are compared first. Of gangs with equal scores, the gang with earlier offers in the input is better, then
/// the gang with smaller indices of links.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GangScore {
    /// Scores in preorder of the ads: for each ad the scores of its unfilled ports, then those of the candidates at its
    /// ports.
    pub scores: Vec<CandidateScore>,
    /// The docked offers, in the order in which `scores` lists them.
    pub offers: Vec<Participant>,
    /// Index of the link of each of the `offers`.
    pub links: Vec<usize>,
}

impl GangScore {
    /// Compares `scores` with the scores of this gang from index `first` on. A score that this gang lacks counts as
    /// zero. `Greater` means that `scores` are better. `None` if some score is unknown.
    pub fn compare_steps<'s>(
        &self,
        first: usize,
        scores: impl IntoIterator<Item = &'s CandidateScore>,
    ) -> Option<Ordering> {
        for (step, score) in scores.into_iter().enumerate() {
            let order = score.compare(self.scores.get(first + step).unwrap_or(&CandidateScore::ZERO))?;
            if order.is_ne() {
                return Some(order);
            }
        }
        Some(Ordering::Equal)
    }

    /// Compares two gangs. `Greater` means that `self` is better. A score that only one gang has is compared with zero.
    pub fn compare(&self, other: &GangScore) -> Ordering {
        let steps = self.scores.len().max(other.scores.len());
        let [left, right] =
            [self, other].map(|gang| gang.scores.iter().chain(std::iter::repeat(&CandidateScore::ZERO)));
        left.zip(right)
            .take(steps)
            .filter_map(|(left, right)| left.compare(right))
            .find(|order| order.is_ne())
            .unwrap_or_else(|| other.offers.cmp(&self.offers).then_with(|| other.links.cmp(&self.links)))
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use super::{CandidateScore, GangScore};
    use crate::ad::{Dialect, Participant, Value};
    use crate::matching::policy::PolicyVector;

    #[test]
    fn worths_compare() {
        let vector = |values: [i64; 2]| {
            CandidateScore::Vector(PolicyVector::new(values.map(Value::Integer).to_vec(), Dialect::Classad))
        };
        for (better, worse) in [
            (CandidateScore::Ranks(2.0, 0.0), CandidateScore::Ranks(1.0, 9.0)),
            (CandidateScore::Ranks(1.0, 1.0), CandidateScore::Ranks(1.0, 0.0)),
            (vector([1, 0]), vector([0, 9])),
            (vector([0, 1]), CandidateScore::ZERO),
            (CandidateScore::ZERO, vector([0, -1])),
        ] {
            assert_eq!(better.compare(&worse), Some(Ordering::Greater), "{better:?} {worse:?}");
            assert_eq!(worse.compare(&better), Some(Ordering::Less));
        }
        assert_eq!(CandidateScore::Unknown.compare(&CandidateScore::ZERO), None);
    }

    #[test]
    fn worth_before_position_before_link() {
        let gang = |worths: Vec<CandidateScore>, offers: &[usize], links: &[usize]| GangScore {
            scores: worths,
            offers: offers.iter().map(|offer| Participant::at(*offer)).collect(),
            links: links.to_vec(),
        };
        let ranked = |rank: f64| vec![CandidateScore::Ranks(rank, 0.0)];
        let unfilled = |ports: &[usize]| CandidateScore::unfilled_scores(ports.iter().copied());
        let sorted = [
            gang(ranked(1.0), &[9], &[0]),
            gang(ranked(0.0), &[1], &[0]),
            gang(unfilled(&[]), &[1], &[1]),
            gang(vec![CandidateScore::ZERO; 2], &[2], &[0]),
            // A negative rank is worse than zero, even if the offer comes earlier in the input.
            gang(vec![CandidateScore::ZERO, CandidateScore::Ranks(0.0, -1.0)], &[1], &[0]),
            gang(unfilled(&[2]), &[1], &[0]),
            gang(unfilled(&[1]), &[1], &[0]),
            gang(unfilled(&[1, 2]), &[1], &[0]),
        ];
        for (better, worse) in sorted.iter().zip(&sorted[1..]) {
            assert_eq!(better.compare(worse), Ordering::Greater, "{better:?} {worse:?}");
        }
    }
}
