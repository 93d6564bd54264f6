//! Unions of ranges over an ordered type (thesis 4.2: the intervals of a rectangle).

use std::cmp::Ordering;
use std::ops::Bound;

/// A union of ranges, unsorted. The set may hold too many values, never too few: an intersection of very many ranges is
/// not computed.
#[derive(Clone, Debug)]
pub(super) struct Ranges<T>(Vec<(Bound<T>, Bound<T>)>);

/// Maximum number of pairs of ranges that one intersection computes.
const MAX_RANGE_PAIRS: usize = 1 << 14;

impl<T: PartialOrd + Clone> Ranges<T> {
    pub(super) fn all() -> Self {
        Ranges(vec![(Bound::Unbounded, Bound::Unbounded)])
    }

    pub(super) fn none() -> Self {
        Ranges(Vec::new())
    }

    pub(super) fn of(low: Bound<T>, high: Bound<T>) -> Self {
        Ranges::all().intersection(&Ranges(vec![(low, high)]))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the set holds no value or every value. `false` for very many ranges.
    pub(super) fn is_none_or_all(&self) -> bool {
        let outside = |bound: &Bound<T>| match bound {
            Bound::Included(end) => Some(Bound::Excluded(end.clone())),
            Bound::Excluded(end) => Some(Bound::Included(end.clone())),
            Bound::Unbounded => None,
        };
        let gaps = self.0.iter().fold(Ranges::all(), |gaps, (low, high)| {
            let below = outside(low).map(|end| (Bound::Unbounded, end));
            let above = outside(high).map(|end| (end, Bound::Unbounded));
            gaps.intersection(&Ranges(below.into_iter().chain(above).collect()))
        });
        self.is_empty() || gaps.is_empty()
    }

    /// Returns the union, without merging ranges.
    pub(super) fn union(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Returns the intersection. Returns `self`, which may hold too many values, if more than [`MAX_RANGE_PAIRS`] pairs
    /// of ranges would be intersected.
    pub(super) fn intersection(&self, other: &Self) -> Self {
        if self.0.len().saturating_mul(other.0.len()) > MAX_RANGE_PAIRS {
            return self.clone();
        }
        let pairs = self.0.iter().flat_map(|left| other.0.iter().map(move |right| (left, right)));
        let common = pairs
            .map(|((a, b), (c, d))| (tighter_bound(a, c, Ordering::Greater), tighter_bound(b, d, Ordering::Less)))
            .filter(|(low, high)| may_hold_value(low, high))
            .map(|(low, high)| (low.clone(), high.clone()));
        Ranges(common.collect())
    }
}

/// Returns the tighter of two bounds: the greater of two lower bounds (`narrower` is `Greater`), or the lesser of two
/// upper bounds (`narrower` is `Less`).
fn tighter_bound<'b, T: PartialOrd>(left: &'b Bound<T>, right: &'b Bound<T>, narrower: Ordering) -> &'b Bound<T> {
    use Bound::{Excluded, Included, Unbounded};
    let is_left = match (left, right) {
        (Included(a) | Excluded(a), Included(b) | Excluded(b)) => match a.partial_cmp(b) {
            Some(Ordering::Equal) => matches!(right, Included(_)),
            order => order == Some(narrower),
        },
        (_, right) => matches!(right, Unbounded),
    };
    if is_left { left } else { right }
}

/// Whether a value may lie between the bounds.
fn may_hold_value<T: PartialOrd>(low: &Bound<T>, high: &Bound<T>) -> bool {
    match (low, high) {
        (Bound::Unbounded, _) | (_, Bound::Unbounded) => true,
        (Bound::Included(low), Bound::Included(high)) => low <= high,
        (Bound::Included(low) | Bound::Excluded(low), Bound::Included(high) | Bound::Excluded(high)) => low < high,
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Bound::{Excluded, Included, Unbounded};

    use super::Ranges;

    #[test]
    fn what_is_in_both() {
        let below = |value| Ranges::of(Unbounded, Excluded(value));
        let from = |value| Ranges::of(Included(value), Unbounded);
        assert!(below(1.0).intersection(&from(1.0)).is_empty());
        assert!(!below(1.5).intersection(&from(1.0)).is_empty());
        assert!(!Ranges::of(Included(1.0), Included(1.0)).is_empty());
        assert!(Ranges::of(Excluded(1.0), Included(1.0)).is_empty());
        let ends = below(1.0).union(from(5.0));
        assert!(ends.intersection(&Ranges::of(Included(1.0), Excluded(5.0))).is_empty());
        assert!(!ends.intersection(&Ranges::of(Included(1.0), Included(5.0))).is_empty());
        assert!(Ranges::<f64>::none().intersection(&Ranges::all()).is_empty());
    }

    #[test]
    fn too_many_hold_more_rather_than_less() {
        let points = |from: u16| {
            (0..1000)
                .map(|n| f64::from(from + n))
                .fold(Ranges::none(), |all, n| all.union(Ranges::of(Included(n), Included(n))))
        };
        assert!(!points(0).intersection(&points(2000)).is_empty());
        assert!(points(0).intersection(&Ranges::of(Included(2000.0), Unbounded)).is_empty());
    }
}
