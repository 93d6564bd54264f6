//! The normal form of constraints: conjuncts, clauses followed through attributes, indexable conditions, and
//! contradictions among them.

mod clauses;
mod comparison;
mod condition;
mod conjuncts;
mod consistency;
mod rectangle;
mod timeline;

pub use clauses::{ConstraintClause, ConstraintClauses, own_attribute_name};
pub use comparison::{ClauseComparison, constant_integer};
pub use condition::{
    ClauseForm, ClauseOperand, has_scope_attribute, is_scope_name, is_self_evaluating, is_side_name, literal_value,
    orient_comparison, own_names,
};
pub use conjuncts::{conjuncts, disjuncts, for_each_conjunct};
pub use consistency::{
    Inconsistency, InconsistencyKind, MAX_COMPARED_CLAUSES, PossibleTruths, Tautology, Witness, contradicts_itself,
    inconsistencies, possible_truths, tautologies,
};
pub use rectangle::{Interval, Profile, profiles};
pub use timeline::{
    CLOCK_TIMES, ClockBreaks, EXACT_SPAN_SECONDS, MAX_SPAN_SECONDS, Timeline, TimelineInterval, is_clock_attribute,
    truth_timeline, with_moving_clock,
};
