//! Semantics of expressions: name resolution, evaluation, specialization and reference analysis.
//!
//! [`Environment`] is the only place that knows how a name finds an attribute. Evaluation, specialization and reference
//! analysis resolve names through its methods.

mod active_attributes;
mod attribute_memo;
mod builtin;
mod compiled;
mod context;
mod dotted_path;
mod environment_member;
mod evaluate;
mod free_names;
mod operators;
mod pattern;
mod reference_walk;
mod references;
mod relocatable_expressions;
mod run_budgets;
mod scope;
mod settings;
mod specialize;
mod spending;
mod subscript;
mod user_maps;
mod volatile;
mod work;

pub(crate) use builtin::regex::{TemplatePiece, parse_template};
pub use builtin::{
    BuiltinFunction, FUNCTIONS, FunctionExample, FunctionKind, find_function, find_function_in, similar_functions,
    string_list_items, tested_type, unknown_function_message,
};
pub(crate) use builtin::{quoted_word, quoted_words};
pub use compiled::{CompiledAd, CompiledEvaluator, CompiledName, CompiledScene, CompiledSubject, CompiledValue};
pub use context::{Abort, Context, Interrupt, RandomStream};
pub use environment_member::{EnvironmentMember, Knowledge, NameBinding, NameFallback, UNFILLED_PORT};
pub use evaluate::Evaluator;
pub use free_names::{FreeNames, NameSet, transitive_closure};
pub use operators::{binary, compare, unary};
pub(crate) use pattern::{CompiledPattern, PatternOptions, SearchSteps, group_text};
pub use reference_walk::{direct_references, external_references, references, references_of_all};
pub use references::{Reference, References};
pub use run_budgets::{RunBudget, RunBudgets};
pub use scope::{CURRENT_TIME, Environment, NameResolution};
pub use settings::EvaluationSettings;
pub(crate) use specialize::TypeSet;
pub use specialize::{
    ConstraintVerdict, SpecializeOptions, SpecializedExpression, Unknowns, specialize, specialize_ad,
    specialize_attribute, unknowns,
};
pub use user_maps::{UserMap, UserMaps};
pub use volatile::VolatileInputs;
pub use work::Work;
