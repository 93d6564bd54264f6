//! Specialization preserves values: what is left of an expression has, in every completion of the known
//! part of its ad, the value of the expression.

use classad::ad::Dialect;

use crate::checks::compare_residues;
use crate::random::{Text, seeds};

#[test]
fn values_are_preserved_in_every_completion() {
    let (mut decided, mut compared) = (0, 0);
    for dialect in [Dialect::Classad, Dialect::Condor] {
        for seed in seeds() {
            let counts = compare_residues(&mut Text::new(seed), dialect);
            decided += counts.decided;
            compared += counts.compared;
        }
    }
    println!("{compared} values compared");
    assert!(compared > 2 * seeds().count(), "in each dialect a value for each case: {compared}");
    assert!(decided * 20 > seeds().count(), "some values are known: {decided}");
}
