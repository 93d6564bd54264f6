//! What must hold whatever the input: for fuzzing, and for the tests, which run the checks over a fixed corpus.
//!
//! A check takes the bytes that a fuzzer makes. The checks of `readers` and `documents` read them as text. The others
//! take each byte as a choice of [`random::Text`], which makes ads and expressions of them.

mod documents;
mod evaluation;
mod gangs;
mod matching;
pub mod random;
mod readers;

pub use documents::{configuration, policy, spec, stream};
pub use evaluation::{EvaluatorPair, bare, compare_programs, compare_residues, compiled, printed, specialized, stored};
pub use gangs::gangs;
pub use matching::{analysed, indexed, negotiated, parts};
pub use readers::{expression, json, layout, long, new, rules, selected, xml, yaml};

use classad::ad::Dialect;

const DIALECTS: [Dialect; 2] = [Dialect::Classad, Dialect::Condor];
