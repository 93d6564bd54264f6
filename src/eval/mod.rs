//! Semantics of expressions: name resolution, evaluation, specialization and reference analysis.
//!
//! [`Environment`] is the only place that knows how a name finds an attribute. Evaluation, specialization and
//! reference analysis all resolve names through it.

mod builtin;
mod context;
mod evaluate;
mod free_names;
mod operators;
mod references;
mod scope;
mod specialize;

pub(crate) use builtin::regex::{Options as PatternOptions, Pattern};
pub use builtin::{Call, Example, FUNCTIONS, Function, find_function, listed_items, near_functions};
pub use context::{Chance, Context, Halt, Interrupt};
pub use evaluate::Evaluator;
pub use free_names::Mentions;
pub use operators::{binary, compare, unary};
pub use references::{Reference, References, direct_references, external_references, references, references_of_all};
pub use scope::{Binding, Environment, Extent, Fallback, Member, Resolution, UNFILLED};
pub use specialize::{Liberties, Specialized, Verdict, specialize, specialize_ad, specialize_attribute, unknowns};
