//! Ranks of the papers' dialect that are strings or times (thesis 3.2.3): a docking vector orders them.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ad::{Ad, Dialect, Expression, ExpressionKind, Name, OperatorGroup, UnaryOperator};
use crate::eval::find_function;
use crate::protocol::{Protocol, is_typed_rank};

use super::{Policy, PolicyRule, RankOrder, candidate_label};

/// Returns the policy for ads whose ranks may be strings or times: with a docking vector of the two ranks. Unchanged if
/// there is a docking vector, or if every rank is a number.
#[must_use]
pub fn with_typed_ranks(
    policy: Policy,
    requests: &[Ad],
    offers: &[Ad],
    protocol: &Protocol,
    dialect: Dialect,
) -> Policy {
    let name = protocol.rank_name();
    let mut types = RankTypes { ads: [requests, offers], known: FxHashMap::default() };
    if dialect.is_condor() || !policy.docking.is_empty() || !types.may_name_be_typed(name) {
        return policy;
    }
    let rule = |shown: &str, ad: Name| PolicyRule {
        name: Some(shown.into()),
        rank: Some(RankOrder::Typed),
        ..Expression::select(Expression::attribute(ad), name.clone()).into()
    };
    let docking = vec![rule("request_rank", Name::new("self")), rule("offer_rank", candidate_label())];
    Policy { docking, ..policy }
}

/// Finds out which attributes may be strings or times. An attribute that cannot be told may be.
struct RankTypes<'a> {
    ads: [&'a [Ad]; 2],
    /// Whether the attributes of a name may be, in some ad. False while the name is being looked at.
    known: FxHashMap<Name, bool>,
}

impl RankTypes<'_> {
    fn may_name_be_typed(&mut self, name: &Name) -> bool {
        if let Some(known) = self.known.get(name) {
            return *known;
        }
        self.known.insert(name.clone(), false);
        let mut seen = FxHashSet::default();
        let [requests, offers] = self.ads;
        let is_typed = requests
            .iter()
            .chain(offers)
            .filter_map(|ad| ad.get(name))
            .any(|expression| seen.insert(expression.identity()) && self.may_be_typed(expression));
        self.known.insert(name.clone(), is_typed);
        is_typed
    }

    fn may_be_typed(&mut self, expression: &Expression) -> bool {
        stacker::maybe_grow(64 << 10, 1 << 20, || self.may_operation_be_typed(expression))
    }

    fn may_operation_be_typed(&mut self, expression: &Expression) -> bool {
        match expression.without_parentheses().kind() {
            ExpressionKind::Literal(value) => is_typed_rank(value, Dialect::Classad),
            ExpressionKind::Attribute(name) | ExpressionKind::RootAttribute(name) => self.may_name_be_typed(name),
            ExpressionKind::Select(of, name) => {
                !matches!(of.kind(), ExpressionKind::Attribute(_)) || self.may_name_be_typed(name)
            }
            ExpressionKind::Unary(operator, operand) => *operator != UnaryOperator::Not && self.may_be_typed(operand),
            ExpressionKind::Binary(operator, left, right) => {
                operator.group() == OperatorGroup::Arithmetic && (self.may_be_typed(left) || self.may_be_typed(right))
            }
            ExpressionKind::Conditional(_, one, other) | ExpressionKind::Elvis(one, other) => {
                self.may_be_typed(one) || self.may_be_typed(other)
            }
            ExpressionKind::Call(name, _) => {
                let result = find_function(name).and_then(|function| function.signature.rsplit("-> ").next());
                !matches!(result, Some("bool" | "int" | "real" | "number" | "int | real"))
            }
            ExpressionKind::List(_) | ExpressionKind::Ad(_) => false,
            ExpressionKind::Subscript(..) | ExpressionKind::Parentheses(_) => true,
        }
    }
}
