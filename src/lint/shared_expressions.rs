//! What does not change from ad to ad about the expressions that many ads share.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::ad::{Dialect, Expression, Name};
use crate::eval::{FreeNames, NameSet};

use super::subexpressions::own_names;

/// Maximum number of expressions in the table. More make it forget all.
const MAX_EXPRESSIONS: usize = 4096;

/// Fingerprints and names of expressions, by the identity of the expression.
#[derive(Default)]
pub(super) struct SharedExpressions(FxHashMap<usize, SharedExpression>);

/// An expression with what was computed from it.
pub(super) struct SharedExpression {
    /// The expression. It is kept so that no other expression gets its identity.
    _expression: Expression,
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
        if self.0.len() >= MAX_EXPRESSIONS {
            self.0.clear();
        }
        self.0.entry(expression.identity()).or_insert_with(|| {
            let names: Arc<[Name]> = own_names(expression).into();
            let free = FreeNames::of(expression, dialect);
            let reads: NameSet = names.iter().chain(&free.mine).chain(&free.unqualified).cloned().collect();
            SharedExpression {
                _expression: expression.clone(),
                fingerprint: expression.fingerprint(),
                reads: if reads.len() > names.len() { reads.into_iter().collect() } else { Arc::clone(&names) },
                names,
                reads_anything: free.reads_anything,
            }
        })
    }
}
