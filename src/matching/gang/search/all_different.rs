//! All-different constraints: sets of ports whose candidates must differ pairwise in a value, such as the colour of a
//! machine.
//!
//! They are recognised by the clauses of the ports: `b.Colour != a.Colour`, `c.Colour != a.Colour` and
//! `c.Colour != b.Colour` make one constraint on three ports. No gang fills the ports if they have fewer values than
//! ports, which bipartite matching finds without trying colours one after another (Hall's condition).

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::ad::{BinaryOperator, Expression, ExpressionKind, ScopeFrame, UnaryOperator};
use crate::matching::gang::offer_pool::OfferPool;
use crate::matching::gang::participants::{
    AttributeTranslation, ParticipantTable, PortPlace, SymbolicEvaluator, SymbolicValue, as_comparison,
};
use crate::matching::gang::port_index::{DistinctValue, Distinction, RowBitmap};
use crate::pool::ValueKey;

/// An all-different constraint: the values of its terms must differ pairwise.
#[derive(Clone, Debug)]
pub struct AllDifferent {
    distinction: Distinction,
    /// The terms, at most one for each port.
    terms: Vec<DifferingTerm>,
}

/// A term of an all-different constraint: a function of an attribute of the candidate at a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DifferingTerm {
    /// The port.
    pub place: PortPlace,
    /// The function of the attribute.
    pub translation: AttributeTranslation,
}

/// Maximum number of all-different constraints of an ad. Each costs a bipartite matching for every candidate that is
/// docked. Further constraints are left to the evaluation of the candidates.
const MAX_CONSTRAINTS: usize = 16;

/// Returns the all-different constraints of the open ports of an ad, given the current dockings. Every pair of terms
/// that must differ is in some constraint, up to [`MAX_CONSTRAINTS`].
pub fn all_different_constraints(ports: &[PortPlace], table: &ParticipantTable) -> Vec<AllDifferent> {
    let mut terms: Vec<(Distinction, DifferingTerm)> = Vec::new();
    let mut pairs: BTreeSet<(usize, usize)> = BTreeSet::new();
    let evaluator = SymbolicEvaluator::new(table);
    for place in ports {
        let Some(clauses) = table.clauses(*place) else { continue };
        for (clause, frame) in clauses.iter() {
            for (distinction, sides) in differing_terms(clause, frame, &evaluator) {
                if !sides.iter().all(|term| ports.contains(&term.place)) {
                    continue;
                }
                let [left, right] = sides.map(|term| {
                    let term = (distinction, term);
                    let known = terms.iter().position(|known| *known == term);
                    known.unwrap_or_else(|| {
                        terms.push(term);
                        terms.len() - 1
                    })
                });
                pairs.insert((left.min(right), left.max(right)));
            }
        }
    }
    let must_differ = |one: usize, other: usize| pairs.contains(&(one.min(other), one.max(other)));
    let mut covered: BTreeSet<(usize, usize)> = BTreeSet::new();
    let mut constraints = Vec::new();
    for pair in &pairs {
        if covered.contains(pair) || constraints.len() >= MAX_CONSTRAINTS {
            continue;
        }
        // A pair of terms with one distinction and the terms that differ from all terms so far: a maximal clique.
        let mut clique = vec![pair.0, pair.1];
        for term in 0..terms.len() {
            let place = terms[term].1.place;
            if clique.iter().all(|other| must_differ(term, *other) && terms[*other].1.place != place) {
                clique.push(term);
            }
        }
        for one in &clique {
            covered.extend(clique.iter().filter(|other| one < other).map(|other| (*one, *other)));
        }
        let distinction = terms[pair.0].0;
        constraints
            .push(AllDifferent { distinction, terms: clique.iter().map(|term| terms[*term].1.clone()).collect() });
    }
    constraints
}

/// A pair of terms of two ports, and how they must differ.
pub type TermPair = (Distinction, [DifferingTerm; 2]);

/// Returns pairs of terms that differ in every gang in which a clause is met.
pub fn differing_terms(
    clause: &Expression,
    frame: &Arc<ScopeFrame>,
    evaluator: &SymbolicEvaluator<'_>,
) -> Vec<TermPair> {
    let Some((distinction, left, right)) = as_difference(clause) else { return Vec::new() };
    let term = |side: &Expression| match evaluator.value(side, frame) {
        SymbolicValue::Function(place, translation) => Some(DifferingTerm { place, translation }),
        _ => None,
    };
    let Some(left) = term(left) else { return Vec::new() };
    let rights = right.iter().filter_map(term).filter(|right| right.place != left.place);
    rights.map(|right| (distinction, [left.clone(), right])).collect()
}

/// Returns a side of a clause and the other sides from which it differs if the clause is met, and how it differs.
fn as_difference(clause: &Expression) -> Option<(Distinction, &Expression, &[Expression])> {
    use std::slice::from_ref;
    let clause = clause.without_parentheses();
    let ExpressionKind::Unary(UnaryOperator::Not, negated) = clause.kind() else {
        return match as_comparison(clause)? {
            (BinaryOperator::NotEqual | BinaryOperator::Less | BinaryOperator::Greater, left, right) => {
                Some((Distinction::Unequal, left, from_ref(right)))
            }
            (BinaryOperator::Isnt, left, right) => Some((Distinction::NotIdentical, left, from_ref(right))),
            _ => None,
        };
    };
    if let ExpressionKind::Call(name, arguments) = negated.without_parentheses().kind()
        && let [wanted, list] = &**arguments
        && let ExpressionKind::List(elements) = list.without_parentheses().kind()
        && name.is("member")
    {
        return Some((Distinction::NotListed, wanted, elements));
    }
    match as_comparison(negated)? {
        (BinaryOperator::Equal, left, right) => Some((Distinction::Unequal, left, from_ref(right))),
        (BinaryOperator::Is, left, right) => Some((Distinction::NotIdentical, left, from_ref(right))),
        _ => None,
    }
}

impl AllDifferent {
    /// Whether a port has a term of the constraint.
    pub fn concerns(&self, place: PortPlace) -> bool {
        self.translation(place).is_some()
    }

    fn translation(&self, place: PortPlace) -> Option<&AttributeTranslation> {
        self.terms.iter().find(|term| term.place == place).map(|term| &term.translation)
    }

    /// Returns the value of a candidate at a port. The value is unknown if the port has no term of the constraint.
    pub fn value(&self, pool: &mut OfferPool, place: PortPlace, row: usize) -> DistinctValue {
        let OfferPool { index, table, .. } = pool;
        self.translation(place)
            .map_or(DistinctValue::Unknown, |of| index.distinct_value(row, of, self.distinction, table))
    }

    /// Returns the number of terms.
    pub fn term_count(&self) -> usize {
        self.terms.len()
    }

    /// Returns the values of the candidates that are docked, as far as they are known. `docked` are pairs of a port and
    /// the link docked there.
    pub fn taken_values(
        &self,
        pool: &mut OfferPool,
        docked: impl Iterator<Item = (PortPlace, PortPlace)>,
    ) -> Vec<ValueKey> {
        let values = docked.filter_map(|(place, link)| match self.value(pool, place, pool.index.row(link)) {
            DistinctValue::Key(key) => Some(key),
            _ => None,
        });
        values.collect()
    }

    /// Returns the values of the candidates of a port. `None` if they are not scarce: they are at least as many as the
    /// ports of the constraint, or not all known. Also `None` if the port has no term of the constraint.
    pub fn scarce_values(&self, pool: &mut OfferPool, place: PortPlace, rows: &RowBitmap) -> Option<Vec<ValueKey>> {
        let OfferPool { index, table, .. } = pool;
        index.distinct_values(rows, self.translation(place)?, self.distinction, self.terms.len(), table)
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_CONSTRAINTS, all_different_constraints};
    use crate::ad::{Dialect, Participant};
    use crate::eval::Context;
    use crate::matching::gang::participants::ParticipantTable;
    use crate::protocol::Protocol;
    use crate::syntax::{ParseOptions, parse_ad};

    /// Returns the numbers of the ports of each constraint. A port is given by its clauses; its label is `p` and its number.
    fn constraints(ports: &[String]) -> Vec<Vec<usize>> {
        let port = |(number, clauses)| format!("[ Label = p{number}; Constraint = {clauses} ]");
        let ports: Vec<String> = ports.iter().enumerate().map(port).collect();
        let request = format!("[ Ports = {{ {} }} ]", ports.join(", "));
        let request = parse_ad(request.as_bytes(), ParseOptions::default()).unwrap();
        let (mut table, _) =
            ParticipantTable::new(&[], Protocol::new(Dialect::Classad), Context::new(Dialect::Classad));
        assert!(table.replace(Participant::REQUEST, &request).is_ok());
        let places: Vec<_> = table.request_ports().collect();
        let found = all_different_constraints(&places, &table);
        let ports = |constraint: &super::AllDifferent| {
            let ports: Vec<usize> = (0..places.len()).filter(|port| constraint.concerns(places[*port])).collect();
            assert_eq!(ports.len(), constraint.term_count());
            ports
        };
        found.iter().map(ports).collect()
    }

    #[test]
    fn terms_that_differ_pairwise_are_one_constraint() {
        for (ports, expected) in [
            (&["p0.A > 0", "p1.A > 0"][..], &[][..]),
            (&["p0.A > 0", "p1.A != p0.A"], &[&[0, 1][..]]),
            (&["p0.A > 0", "p1.A < p0.A"], &[&[0, 1]]),
            (&["p0.A > 0", "!(p1.A == p0.A)"], &[&[0, 1]]),
            (&["p0.A > 0", "p1.A <= p0.A"], &[]),
            (&["p0.A > 0", "!(p1.A != p0.A)"], &[]),
            (&["p0.A > 0", "p1.A != p0.A", "p2.A != p0.A && p2.A != p1.A"], &[&[0, 1, 2]]),
            (&["p0.A > 0", "p1.A > 0", "!member(p2.A, { p0.A, p1.A })"], &[&[0, 2], &[1, 2]]),
            (&["p0.A > 0", "p1.A != p0.A", "p2.A != p1.A"], &[&[0, 1], &[1, 2]]),
            // Other attributes and other ways to differ are other terms.
            (&["p0.A > 0", "p1.A != p0.A && p1.B != p0.B"], &[&[0, 1], &[0, 1]]),
            (&["p0.A > 0", "p1.A != p0.A", "p2.A isnt p0.A && p2.A isnt p1.A"], &[&[0, 1], &[0, 2], &[1, 2]]),
        ] {
            let ports: Vec<String> = ports.iter().map(|clauses| (*clauses).to_owned()).collect();
            assert_eq!(constraints(&ports), expected, "{ports:?}");
        }
    }

    #[test]
    fn an_ad_has_at_most_16_constraints() {
        assert_eq!(MAX_CONSTRAINTS, 16);
        for (attributes, expected) in [(1, 1), (15, 15), (16, 16), (17, 16)] {
            let differ = (0..attributes).map(|number| format!("p1.A{number} != p0.A{number}"));
            let ports = ["true".to_owned(), differ.collect::<Vec<_>>().join(" && ")];
            assert_eq!(constraints(&ports).len(), expected, "{attributes}");
        }
    }
}
