//! Programs give the tree walker's values: of random expressions in random ads, alone and in matches, with budgets that
//! are hardly enough, with circular references, and with trees and shapes that attributes and ads share.

use classad::ad::Dialect;

use crate::checks::{EvaluatorPair, compare_programs};
use crate::random::{Text, seeds};

#[test]
fn programs_give_the_values_of_the_tree_walker() {
    for dialect in [Dialect::Classad, Dialect::Condor] {
        let mut evaluators = EvaluatorPair::new(dialect);
        for seed in seeds() {
            compare_programs(&mut Text::new(seed), &mut evaluators);
        }
        let EvaluatorPair { compared, left, .. } = evaluators;
        println!("{dialect}: {compared} compared, {left} left to the tree walker");
        assert!(compared > left, "{dialect}: {compared} compared, {left} left to the tree walker");
    }
}
