//! Expressions that may be evaluated in another scope than the one they are written in, and these scopes.

use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};

use crate::ad::{Expression, ExpressionKind, Name, ScopeFrame};

/// Expressions that may be evaluated in another scope than the one they are written in, with the scopes in which they
/// may be evaluated.
#[derive(Default)]
pub(super) struct RelocatableExpressions {
    /// Elements of lists, and arguments that are evaluated in each ad of a list. The key is the identity of the
    /// expression. The number in the value is the identity of the ad that holds the expression.
    expressions: IndexMap<usize, (Expression, usize)>,
    /// Names that are selected from an ad which the analysis cannot determine, such as `x` in `f(a).x`.
    names_of_unknown_ads: IndexSet<Name>,
    /// Scopes of nested ads and of calls. The key is the identity of the scope's ad.
    scopes: IndexMap<usize, Arc<ScopeFrame>>,
}

impl RelocatableExpressions {
    /// Adds an expression that is written in a scope. Literals, lists and ads are left out: they keep the scope in
    /// which they are written.
    pub(super) fn add(&mut self, expression: &Expression, frame: &ScopeFrame) {
        if !matches!(
            expression.without_parentheses().kind(),
            ExpressionKind::Literal(_) | ExpressionKind::List(_) | ExpressionKind::Ad(_)
        ) {
            self.expressions.entry(expression.identity()).or_insert((expression.clone(), frame.ad.identity()));
        }
    }

    /// Adds a name that is selected from an ad which the analysis cannot determine.
    pub(super) fn add_name(&mut self, name: Name) {
        self.names_of_unknown_ads.insert(name);
    }

    /// Adds a scope in which expressions from other scopes may be evaluated. Returns false if the same ad has another
    /// scope, which is kept: an ad in a list element may be evaluated inside several enclosing ads.
    pub(super) fn add_scope(&mut self, frame: &Arc<ScopeFrame>) -> bool {
        let around = |frame: &ScopeFrame| frame.enclosing.as_ref().map(|enclosing| enclosing.ad.identity());
        let known = self.scopes.entry(frame.ad.identity()).or_insert_with(|| Arc::clone(frame));
        around(known) == around(frame)
    }

    /// Returns the numbers of expressions, of names and of scopes.
    pub(super) fn size(&self) -> [usize; 3] {
        [self.expressions.len(), self.names_of_unknown_ads.len(), self.scopes.len()]
    }

    /// Returns the names that are selected from unknown ads, as references.
    pub(super) fn names(&self) -> Vec<Expression> {
        self.names_of_unknown_ads.iter().cloned().map(Expression::attribute).collect()
    }

    /// Returns the number of scopes.
    pub(super) fn scope_count(&self) -> usize {
        self.scopes.len()
    }

    /// Returns the scope with a 0-based index.
    pub(super) fn scope(&self, position: usize) -> Arc<ScopeFrame> {
        Arc::clone(&self.scopes[position])
    }

    /// Iterates over the expressions that are written in other ads than that of a scope.
    pub(super) fn written_elsewhere(&self, scope: &ScopeFrame) -> impl Iterator<Item = &Expression> {
        let own = scope.ad.identity();
        self.expressions.values().filter(move |(_, ad)| *ad != own).map(|(expression, _)| expression)
    }
}
