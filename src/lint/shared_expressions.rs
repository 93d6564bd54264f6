//! What does not change from ad to ad about the expressions that many ads share.

use std::sync::Arc;

use crate::ad::{Bounded, ByIdentity, Dialect, Expression, Name};
use crate::eval::{FreeNames, NameSet};

use super::subexpressions::own_names;

/// Fingerprints and names of expressions.
#[derive(Default)]
pub(super) struct SharedExpressions(Bounded<ByIdentity<Expression, SharedExpression>>);

/// What was computed from an expression.
pub(super) struct SharedExpression {
    pub fingerprint: u64,
    /// The attributes of the containing ad that the expression reads itself.
    pub names: Arc<[Name]>,
    /// `names`, and those that nested ads in the expression and texts for `eval()` read.
    pub reads: Arc<[Name]>,
    /// Whether the expression may read any attribute.
    pub reads_anything: bool,
}

impl SharedExpressions {
    /// Returns what is known of an expression, and computes it for a new one.
    pub(super) fn get(&mut self, expression: &Expression, dialect: Dialect) -> &SharedExpression {
        self.0.get_or_insert_with(expression, size_of::<SharedExpression>(), || {
            let names: Arc<[Name]> = own_names(expression).into();
            let free = FreeNames::of(expression, dialect);
            let reads: NameSet = names.iter().chain(&free.mine).chain(&free.unqualified).cloned().collect();
            SharedExpression {
                fingerprint: expression.fingerprint(),
                reads: if reads.len() > names.len() { reads.into_iter().collect() } else { Arc::clone(&names) },
                names,
                reads_anything: free.reads_anything,
            }
        })
    }
}
