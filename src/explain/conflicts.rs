//! Minimal conflicts: sets of clauses that no offer meets together.

/// The minimal sets of clauses that no offer meets together: every proper subset is met by some offer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conflicts {
    /// The sets, as indices into the clauses; smaller sets first.
    pub sets: Vec<Vec<usize>>,
    /// Whether some minimal sets are missing, because there are too many.
    pub is_truncated: bool,
}

/// Maximum number of sets during the exact search. If a step exceeds this limit, [`greedy_hitting_sets`] computes only
/// some of the minimal sets.
const MAX_HITTING_SETS: usize = 2000;

/// The positions of the bits of a mask, in ascending order.
pub fn bit_positions(mask: u128) -> Vec<usize> {
    // Each step removes the lowest bit of the mask.
    let rests = std::iter::successors(Some(mask), |mask| Some(mask & mask.wrapping_sub(1)));
    rests.take_while(|mask| *mask != 0).map(|mask| mask.trailing_zeros() as usize).collect()
}

/// Returns the masks that have no other mask as a subset, smaller ones first. O(n²) in the number of distinct masks.
pub fn minimal_masks(masks: impl IntoIterator<Item = u128>) -> Vec<u128> {
    let mut masks: Vec<u128> = masks.into_iter().collect();
    masks.sort_unstable_by_key(|mask| (mask.count_ones(), *mask));
    masks.dedup();
    let mut kept: Vec<u128> = Vec::new();
    for mask in masks {
        if !kept.iter().any(|smaller| smaller & mask == *smaller) {
            kept.push(mask);
        }
    }
    kept
}

impl Conflicts {
    /// Computes the conflicts as the minimal hitting sets of `failing`. Each mask in `failing` holds the clauses that
    /// one offer fails. A set of clauses is a conflict if it shares a clause with each mask. Berge's algorithm extends
    /// the hitting sets mask by mask. There is no conflict if `failing` is empty.
    pub(super) fn from_failures(failing: &[u128]) -> Self {
        let mut found = vec![0_u128];
        let mut is_truncated = false;
        for failed in failing {
            let (mut hit, missed): (Vec<u128>, Vec<u128>) = found.iter().partition(|set| *set & failed != 0);
            let grown =
                missed.iter().flat_map(|set| bit_positions(*failed).into_iter().map(move |place| set | 1 << place));
            hit.extend(grown.take(4 * MAX_HITTING_SETS));
            let is_too_much = hit.len() > 4 * MAX_HITTING_SETS;
            found = if is_too_much { hit } else { minimal_masks(hit) };
            if found.len() > MAX_HITTING_SETS {
                (found, is_truncated) = (greedy_hitting_sets(failing), true);
                break;
            }
        }
        found.retain(|set| *set != 0);
        Conflicts { sets: sorted_positions(found), is_truncated }
    }
}

/// Computes some of the minimal hitting sets, at most one for each clause. Each run starts with the set of all clauses
/// and tries to drop each clause in a cyclic order. A clause is dropped if the remaining set still shares a clause with
/// each mask in `failing`. Each run starts the cyclic order at another clause.
fn greedy_hitting_sets(failing: &[u128]) -> Vec<u128> {
    let all = failing.iter().fold(0, |all, failed| all | failed);
    let places = bit_positions(all);
    let from = |first: usize| {
        let order = places.iter().cycle().skip(first).take(places.len());
        order.fold(all, |set, place| {
            let fewer = set & !(1 << place);
            if failing.iter().all(|failed| failed & fewer != 0) { fewer } else { set }
        })
    };
    minimal_masks((0..places.len()).map(from))
}

fn sorted_positions(sets: Vec<u128>) -> Vec<Vec<usize>> {
    let mut sets: Vec<Vec<usize>> = sets.into_iter().map(bit_positions).collect();
    sets.sort_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
    sets
}

#[cfg(test)]
mod tests {
    use super::{Conflicts, greedy_hitting_sets, minimal_masks};

    /// Computes the expected conflicts by trying every set of clauses.
    fn brute(failing: &[u128], clauses: u32) -> Vec<Vec<usize>> {
        let is_conflict = |set: u128| failing.iter().all(|failed| failed & set != 0);
        super::sorted_positions(minimal_masks((0..1 << clauses).filter(|set| is_conflict(*set))))
    }

    #[test]
    fn minimal_and_complete() {
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..500 {
            let clauses = random.u32(1..8);
            let failing: Vec<u128> = (0..random.usize(1..9)).map(|_| random.u128(1..1 << clauses)).collect();
            let failing = minimal_masks(failing);
            let found = Conflicts::from_failures(&failing);
            assert_eq!(found.sets, brute(&failing, clauses), "{failing:?}");
            assert!(!found.is_truncated);
            assert!(super::sorted_positions(greedy_hitting_sets(&failing)).iter().all(|set| found.sets.contains(set)));
        }
    }

    #[test]
    fn too_many_are_not_all_sought() {
        // Twenty disjoint pairs have 2^20 minimal hitting sets.
        let failing: Vec<u128> = (0..20).map(|pair| 3 << (2 * pair)).collect();
        let found = Conflicts::from_failures(&failing);
        assert!(found.is_truncated && !found.sets.is_empty());
        assert!(found.sets.iter().all(|set| set.len() == 20));
    }

    #[test]
    fn nothing_fails_nothing_conflicts() {
        assert_eq!([&[][..], &[0]].map(Conflicts::from_failures), [Conflicts::default(), Conflicts::default()]);
    }
}
