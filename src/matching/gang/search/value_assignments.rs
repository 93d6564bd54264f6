//! The values that the open ports of the request can get, while their scores are fixed port after port.

use crate::matching::gang::offer_pool::OfferPool;
use crate::matching::gang::participants::PortPlace;
use crate::matching::gang::port_index::DistinctValue;
use crate::pool::ValueKey;

use super::assignment::PortAssignment;
use super::decisions::SearchState;

/// The values that the open ports of the request can get, while scores are fixed port after port.
pub struct ValueAssignments {
    constraints: Vec<OpenValues>,
}

/// The values of one all-different constraint.
struct OpenValues {
    /// Number of terms of the constraint.
    terms: usize,
    /// The values of the candidates that are docked.
    taken: Vec<ValueKey>,
    /// The values that each open port can get. `None` if they are not scarce.
    scarce: Vec<Option<Vec<ValueKey>>>,
    /// Whether the constraint has a term for each open port.
    concerned: Vec<bool>,
    /// The matching of the ports fixed so far.
    fixed: PortAssignment<ValueKey>,
}

impl ValueAssignments {
    /// Returns the values of the ports `open` before any of them is fixed, given the ports `docked` with their links.
    pub fn new(
        pool: &mut OfferPool,
        open: &[PortPlace],
        docked: &[(PortPlace, PortPlace)],
        state: &SearchState,
    ) -> Self {
        let constraints = state.all_different.iter().map(|constraint| {
            let taken = constraint.taken_values(pool, docked.iter().copied());
            let mut scarce_values = |place: &PortPlace| {
                let domain = state.domains.iter().find(|domain| domain.place == *place)?;
                let mut values = constraint.scarce_values(pool, *place, &domain.rows)?;
                values.retain(|value| !taken.contains(value));
                Some(values)
            };
            let scarce = open.iter().map(&mut scarce_values).collect();
            let concerned = open.iter().map(|place| constraint.concerns(*place)).collect();
            OpenValues { terms: constraint.term_count(), taken, scarce, concerned, fixed: PortAssignment::default() }
        });
        ValueAssignments { constraints: constraints.collect() }
    }

    /// Whether no docked candidate has one of `values`, the values of a candidate under each constraint.
    pub fn is_free(&self, values: &[DistinctValue]) -> bool {
        values.iter().zip(&self.constraints).all(|(value, constraint)| match value {
            DistinctValue::Key(key) => !constraint.taken.contains(key),
            DistinctValue::Unknown => true,
            DistinctValue::Incomparable => false,
        })
    }

    /// Fixes that an open port gets any value. Returns false, and fixes nothing, if the open ports cannot get distinct
    /// values then.
    pub fn assign_any(&mut self, number: usize) -> bool {
        let values = self.constraints.iter().map(|constraint| constraint.scarce[number].clone()).collect();
        self.fix(number, values)
    }

    /// Fixes that an open port gets one of `candidates`, each given by its values under each constraint. Returns false,
    /// and fixes nothing, if the open ports cannot get distinct values then.
    pub fn assign<'v>(
        &mut self,
        number: usize,
        candidates: &(impl Iterator<Item = &'v [DistinctValue]> + Clone),
    ) -> bool {
        let values = self.constraints.iter().enumerate().map(|(position, constraint)| {
            if !constraint.concerned[number] {
                return None;
            }
            let mut keys: Vec<ValueKey> = Vec::new();
            for values in candidates.clone() {
                match values.get(position)? {
                    DistinctValue::Key(key) if !keys.contains(key) => keys.push(key.clone()),
                    DistinctValue::Unknown => return None,
                    _ => {}
                }
                if keys.len() >= constraint.terms {
                    return None;
                }
            }
            Some(keys)
        });
        let values = values.collect();
        self.fix(number, values)
    }

    /// Fixes the values of an open port under each constraint. `None` are values that are not scarce. Returns false,
    /// and fixes nothing, if the open ports cannot get distinct values then.
    fn fix(&mut self, number: usize, values: Vec<Option<Vec<ValueKey>>>) -> bool {
        let mut fixed = Vec::with_capacity(self.constraints.len());
        for (constraint, values) in self.constraints.iter().zip(values) {
            let mut assignment = constraint.fixed.clone();
            if values.is_some_and(|values| assignment.add(values).is_err()) {
                return false;
            }
            // The ports after this one must still get distinct values, too.
            let mut all = assignment.clone();
            if constraint.scarce[number + 1..].iter().flatten().any(|values| all.add(values.clone()).is_err()) {
                return false;
            }
            fixed.push(assignment);
        }
        for (constraint, assignment) in self.constraints.iter_mut().zip(fixed) {
            constraint.fixed = assignment;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::{OpenValues, ValueAssignments};
    use crate::ad::Value;
    use crate::matching::gang::port_index::DistinctValue;
    use crate::matching::gang::search::assignment::PortAssignment;
    use crate::pool::ValueKey;

    fn key(number: i64) -> ValueKey {
        ValueKey::of(&Value::Integer(number))
    }

    /// Returns ports that must all get distinct values, each with the values that it can get; none are not scarce.
    fn ports(values: &[&[i64]]) -> ValueAssignments {
        let scarce = |values: &&[i64]| (!values.is_empty()).then(|| values.iter().copied().map(key).collect());
        let constraint = OpenValues {
            terms: values.len(),
            taken: vec![key(9)],
            scarce: values.iter().map(scarce).collect(),
            concerned: vec![true; values.len()],
            fixed: PortAssignment::default(),
        };
        ValueAssignments { constraints: vec![constraint] }
    }

    #[test]
    fn ports_are_fixed_as_long_as_all_get_distinct_values() {
        let known = |values: &[i64]| -> Vec<[DistinctValue; 1]> {
            values.iter().map(|value| [DistinctValue::Key(key(*value))]).collect()
        };
        // The values that each port can get, and the candidates for each port in turn: whether they can be fixed.
        for (of_ports, candidates, expected) in [
            (&[&[1, 2][..], &[1, 2]][..], &[&[1][..], &[2]][..], &[true, true][..]),
            (&[&[1, 2], &[1, 2]], &[&[1], &[1]], &[true, false]),
            // The last port has only one value.
            (&[&[1, 2], &[1]], &[&[1], &[1]], &[false, true]),
            (&[&[1, 2], &[1]], &[&[2], &[1]], &[true, true]),
            (&[&[1, 2], &[1, 2], &[1, 2]], &[&[1], &[1], &[2]], &[false, true, true]),
            (&[&[1, 2], &[]], &[&[1], &[1]], &[true, false]),
            (&[&[], &[]], &[&[1], &[1, 2]], &[true, true]),
        ] {
            let mut assignments = ports(of_ports);
            let fixed = candidates.iter().enumerate().map(|(number, values)| {
                let values = known(values);
                assignments.assign(number, &values.iter().map(<[DistinctValue; 1]>::as_slice))
            });
            assert_eq!(fixed.collect::<Vec<_>>(), expected, "{of_ports:?} {candidates:?}");
        }
        for (of_ports, expected) in [
            (&[&[1, 2][..], &[1, 2]][..], &[true, true][..]),
            (&[&[1], &[1]], &[false, true]),
            (&[&[1], &[]], &[true, true]),
        ] {
            let mut assignments = ports(of_ports);
            let fixed: Vec<bool> = (0..of_ports.len()).map(|number| assignments.assign_any(number)).collect();
            assert_eq!(fixed, expected, "{of_ports:?}");
        }
    }

    #[test]
    fn what_is_docked_already_is_free_no_more() {
        for (value, expected) in [
            (DistinctValue::Key(key(1)), true),
            (DistinctValue::Key(key(9)), false),
            (DistinctValue::Unknown, true),
            (DistinctValue::Incomparable, false),
        ] {
            assert_eq!(ports(&[&[1, 2]]).is_free(&[value]), expected);
        }
    }
}
