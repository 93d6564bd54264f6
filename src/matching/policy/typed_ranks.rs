//! Ranks of the papers' dialect that are strings or times (thesis 3.2.3): a docking vector orders them.

use rustc_hash::FxHashSet;

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
    let mut types = RankTypes { ads: [requests, offers], seen: FxHashSet::default() };
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
    /// The names that were looked at. None of them may be: the first that may ends the search.
    seen: FxHashSet<Name>,
}

impl RankTypes<'_> {
    fn may_name_be_typed(&mut self, name: &Name) -> bool {
        if !self.seen.insert(name.clone()) {
            return false;
        }
        let mut seen = FxHashSet::default();
        let [requests, offers] = self.ads;
        requests
            .iter()
            .chain(offers)
            .filter_map(|ad| ad.get(name))
            .any(|expression| seen.insert(expression.identity()) && self.may_be_typed(expression))
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

#[cfg(test)]
mod tests {
    use super::with_typed_ranks;
    use crate::ad::{Ad, Dialect};
    use crate::matching::policy::Policy;
    use crate::protocol::Protocol;
    use crate::syntax::{ParseOptions, parse_ad};

    #[test]
    fn ranks_that_may_be_strings_or_times_are_ordered_by_a_docking_vector() {
        for (request, offer, expected) in [
            ("Rank = 1", "Rank = 2.5", false),
            ("Rank = \"a\"", "", true),
            ("", "Rank = absTime(0)", true),
            ("Rank = true", "Rank = undefined", false),
            ("Rank = -other.Speed", "Speed = 1", false),
            ("Rank = -other.Speed", "Speed = '01:00:00'", true),
            ("Rank = !other.Speed", "Speed = '01:00:00'", false),
            ("Rank = other.Speed + 1", "Speed = '01:00:00'", true),
            ("Rank = 1 + other.Speed", "Speed = '01:00:00'", true),
            ("Rank = other.Speed == 1", "Speed = '01:00:00'", false),
            ("Rank = other.Speed && x", "Speed = '01:00:00'", false),
            ("Rank = x ? 1 : other.Speed", "Speed = '01:00:00'", true),
            ("Rank = x ? other.Speed : 1", "Speed = '01:00:00'", true),
            ("Rank = other.Speed ? 1 : 2", "Speed = '01:00:00'", false),
            ("Rank = (other.Speed ?: 1)", "Speed = \"a\"", true),
            ("Rank = other.a.b", "", true),
            ("Rank = size(x)", "", false),
            ("Rank = toUpper(x)", "", true),
            ("Rank = nothing(x)", "", true),
            ("Rank = {1}[0]", "", true),
            ("Rank = { \"a\" }", "Rank = [ a = \"b\" ]", false),
            ("Rank = Speed; Speed = Rank", "", false),
            ("Rank = Speed + Weight; Speed = Rank; Weight = \"a\"", "", true),
            ("Rank = Speed + Weight; Speed = Weight; Weight = 1", "Weight = \"a\"", true),
        ] {
            let ad = |text: &str| {
                let text = format!("[ {text} ]");
                vec![
                    parse_ad(text.as_bytes(), ParseOptions::new(Dialect::Classad))
                        .unwrap_or_else(|e| panic!("{text}: {e}")),
                ]
            };
            let (requests, offers): (Vec<Ad>, Vec<Ad>) = (ad(request), ad(offer));
            let docking = |policy: Policy, dialect: Dialect| {
                with_typed_ranks(policy, &requests, &offers, &Protocol::new(dialect), dialect).docking.len()
            };
            let docked = docking(Policy::default(), Dialect::Classad);
            assert_eq!(docked, if expected { 2 } else { 0 }, "{request} | {offer}");
            // HTCondor's ranks are numbers, and a vector of the policy stays.
            assert_eq!(docking(Policy::default(), Dialect::Condor), 0);
            let given = Policy { docking: vec![crate::ad::Expression::attribute("x").into()], ..Policy::default() };
            assert_eq!(docking(given, Dialect::Classad), 1);
        }
    }
}
