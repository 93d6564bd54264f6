//! Interchangeable ports of the request: ports that accept the same candidates, whatever docks at the other ports.
//!
//! Exchanging the candidates of two such ports makes another gang. A candidate that fits no gang at one of them
//! therefore fits none at the other.

use std::sync::Arc;

use crate::ad::{BinaryOperator, Expression, ExpressionKind, Name, Participant, Truth};
use crate::matching::gang::offer_pool::OfferPool;
use crate::matching::gang::participants::{
    ParticipantTable, PortPlace, SymbolicClause, SymbolicEvaluator, WindowCondition, as_comparison,
};
use crate::matching::gang::port_index::Distinction;
use crate::protocol::LABEL;

use super::all_different::{DifferingTerm, TermPair, differing_terms};

/// Which ports of the request are interchangeable.
pub struct PortSymmetry {
    /// For each port, the first port that it is interchangeable with: itself if there is none before it.
    first_equal: Vec<usize>,
}

/// What a port demands and shows, if it does so without regard to other ports.
struct PortProfile<'t> {
    /// Conditions on the candidate.
    conditions: Vec<WindowCondition>,
    /// Attributes that candidates may read, which are all literals.
    shown: Vec<(&'t Name, &'t Expression)>,
}

impl PortSymmetry {
    /// Compares the ports of the current request. Ignores what is docked at them. A port that a clause relates to
    /// another port is interchangeable only if the clause demands that they differ, which is the same from both sides.
    pub fn of_request(pool: &mut OfferPool) -> Self {
        let ports = pool.table.port_count(Participant::REQUEST);
        let none = PortSymmetry { first_equal: (0..ports).collect() };
        let protocol = pool.table.protocol.clone();
        // These attributes differ from port to port.
        let mut own_names = [&*LABEL, protocol.rank_name()].into_iter().chain(protocol.constraint_names());
        if !pool.table.docking_vector.is_empty() || own_names.any(|name| pool.is_demanded(name)) {
            return none;
        }
        pool.table.with_undocked(Participant::REQUEST, |table| PortSymmetry::of_open_ports(table)).unwrap_or(none)
    }

    /// Compares the ports of the request, at which nothing is docked. `None` if the request computes an attribute that
    /// all ports show from what is docked.
    fn of_open_ports(table: &ParticipantTable) -> Option<Self> {
        if !table.ports_mentioned_outside(Participant::REQUEST).is_clear() {
            return None;
        }
        let mut pairs: Vec<TermPair> = Vec::new();
        let mut profiles: Vec<Option<PortProfile>> = Vec::new();
        let mut related = Vec::new();
        for place in table.request_ports() {
            let profile = PortProfile::of(place, table, &mut pairs);
            if profile.is_none() {
                related.extend(table.mentioned_ports(place));
            }
            profiles.push(profile);
        }
        for port in related {
            profiles[port] = None;
        }
        let are_equal = |one: usize, other: usize| {
            let (Some(left), Some(right)) = (&profiles[one], &profiles[other]) else { return false };
            let [first, second] = [one, other].map(|port| table.frame(PortPlace::of_request(port)));
            let are_in_one_group = match (&first.enclosing, &second.enclosing) {
                (Some(one), Some(other)) => Arc::ptr_eq(one, other),
                _ => false,
            };
            are_in_one_group
                && left.equals(right)
                && pairs.iter().all(|pair| has_pair(&pairs, &exchanged(pair, one, other)))
        };
        let mut first_equal: Vec<usize> = Vec::with_capacity(profiles.len());
        for port in 0..profiles.len() {
            let before = (0..port).find(|before| first_equal[*before] == *before && are_equal(*before, port));
            first_equal.push(before.unwrap_or(port));
        }
        Some(PortSymmetry { first_equal })
    }

    /// Whether two ports of the request are interchangeable.
    pub fn are_interchangeable(&self, one: usize, other: usize) -> bool {
        self.first_equal[one] == self.first_equal[other]
    }

    /// Whether any two ports are interchangeable.
    pub fn has_interchangeable_ports(&self) -> bool {
        self.first_equal.iter().enumerate().any(|(port, first)| port != *first)
    }
}

impl<'t> PortProfile<'t> {
    /// Returns the profile of a port, and adds the pairs of terms that its clauses demand to differ. `None` if a clause
    /// has another form or the port shows an attribute that is not a literal.
    fn of(place: PortPlace, table: &'t ParticipantTable, pairs: &mut Vec<TermPair>) -> Option<Self> {
        let evaluator = SymbolicEvaluator::new(table);
        let mut conditions: Vec<WindowCondition> = Vec::new();
        for (clause, frame) in table.clauses(place)?.iter() {
            let is_ordered =
                matches!(as_comparison(clause), Some((BinaryOperator::Less | BinaryOperator::Greater, ..)));
            let mut terms = differing_terms(clause, frame, &evaluator);
            // What is not listed differs from what is listed, but an undefined value does so from one side only.
            terms.retain(|(distinction, _)| !is_ordered && *distinction != Distinction::NotListed);
            if !terms.is_empty() {
                pairs.append(&mut terms);
                continue;
            }
            match evaluator.clause(place, clause, frame) {
                SymbolicClause::Condition(condition) => {
                    if !conditions.contains(&condition) {
                        conditions.push(condition);
                    }
                }
                SymbolicClause::Known(value) if Truth::of(&value, table.context.dialect).is_true() => {}
                _ => return None,
            }
        }
        let record = &table.frame(place).ad;
        let constraint = table.protocol.constraint_name(record);
        let is_shown = |name: &Name| *name != *LABEL && Some(name) != constraint && name != table.protocol.rank_name();
        let shown = record.iter().filter(|attribute| is_shown(attribute.name));
        let shown = shown.map(|attribute| {
            let is_literal = matches!(attribute.expression.kind(), ExpressionKind::Literal(_));
            is_literal.then_some((attribute.name, attribute.expression))
        });
        Some(PortProfile { conditions, shown: shown.collect::<Option<_>>()? })
    }

    /// Whether two ports demand and show the same.
    fn equals(&self, other: &PortProfile<'_>) -> bool {
        self.conditions.len() == other.conditions.len()
            && self.conditions.iter().all(|condition| other.conditions.contains(condition))
            && self.shown.len() == other.shown.len()
            && self.shown.iter().all(|shown| other.shown.contains(shown))
    }
}

/// Returns a pair of terms with two ports of the request exchanged.
fn exchanged(pair: &TermPair, one: usize, other: usize) -> TermPair {
    let (distinction, terms) = pair;
    let exchange = |term: &DifferingTerm| {
        let mut term = term.clone();
        if term.place == PortPlace::of_request(one) {
            term.place = PortPlace::of_request(other);
        } else if term.place == PortPlace::of_request(other) {
            term.place = PortPlace::of_request(one);
        }
        term
    };
    (*distinction, terms.each_ref().map(exchange))
}

/// Whether `pairs` have a pair, in either order.
fn has_pair(pairs: &[TermPair], pair: &TermPair) -> bool {
    let (distinction, [left, right]) = pair;
    pairs.iter().any(|(other, [one, another])| {
        other == distinction && ((left == one && right == another) || (left == another && right == one))
    })
}
