//! Evaluates constraints, ranks, scores and remainders of docked participants.

use std::rc::Rc;
use std::sync::Arc;

use fixedbitset::FixedBitSet;

use crate::ad::{Ad, AdValue, Dialect, Expression, ExpressionKind, Name, ScopeFrame, Value};
use crate::constraint::{conjuncts, is_scope_name};
use crate::eval::{Abort, Evaluator, FreeNames, NameBinding, NameResolution};
use crate::matching::gang::search::CandidateScore;
use crate::matching::policy::{PolicyVector, Residual, candidate_label};
use crate::protocol::{is_met, rank_value};

use super::symbolic::{SymbolicEvaluator, SymbolicValue};
use super::{ParticipantTable, PortPlace};

/// A clause of a constraint, and the scope in which the clause is evaluated.
pub type ScopedClause = (Expression, Arc<ScopeFrame>);

/// Result of a constraint while some labels may be unbound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DockingVerdict {
    /// The constraint is met.
    Met,
    /// The constraint is not met.
    Refused,
    /// The result depends on ports that are not docked yet (thesis 5.3.1).
    Tentative,
}

impl ParticipantTable {
    /// Evaluates an expression in a scope, with what is docked now.
    ///
    /// # Errors
    ///
    /// When a budget is exceeded, or with [`Abort::Unknown`] if the value depends on open ports.
    pub fn evaluate(&self, expression: &Expression, frame: &Arc<ScopeFrame>) -> Result<Value, Abort> {
        Evaluator::new(&self.environment, &self.context).evaluate(expression, frame)
    }

    /// Resolves a reference `name` or `label.name` to the expression bound to the attribute, with the scope of that
    /// expression. `None` if `expression` has another form or the attribute is not bound to an expression.
    pub fn resolve_attribute(
        &self,
        expression: &Expression,
        frame: &Arc<ScopeFrame>,
    ) -> Option<(Expression, Arc<ScopeFrame>)> {
        let found = match expression.kind() {
            ExpressionKind::Attribute(name) => self.environment.resolve(frame, name, &self.context),
            ExpressionKind::Select(base, name) => match base.without_parentheses().kind() {
                ExpressionKind::Attribute(label) => match self.environment.resolve(frame, label, &self.context) {
                    NameResolution::Value(Value::Ad(ad)) => {
                        self.environment.resolve_selected(&ad.frame, name, &self.context)
                    }
                    _ => return None,
                },
                _ => return None,
            },
            _ => return None,
        };
        match found {
            NameResolution::Expression(bound, frame) => Some((bound, frame)),
            _ => None,
        }
    }

    /// Evaluates the constraint of a port against what is docked there. A port without a constraint refuses, as does a
    /// constraint that cannot be evaluated.
    pub fn accepts(&mut self, place: PortPlace) -> DockingVerdict {
        let Some(frame) = self.frame(place) else { return DockingVerdict::Refused };
        let Some(name) = self.protocol.constraint_name(&frame.ad).cloned() else { return DockingVerdict::Refused };
        self.statistics.evaluations += 1;
        let value = Evaluator::new(&self.environment, &self.context).attribute(&frame, &name);
        match value {
            Ok(value) if is_met(&value, self.context.dialect) => DockingVerdict::Met,
            Ok(_) => DockingVerdict::Refused,
            Err(Abort::Unknown) => self.check_conjuncts(&frame, &name),
            Err(_) => {
                self.statistics.failures += 1;
                DockingVerdict::Refused
            }
        }
    }

    /// Decides a constraint that depends on unbound labels: a single conjunct that is known not to be met refuses.
    fn check_conjuncts(&mut self, frame: &Arc<ScopeFrame>, name: &Name) -> DockingVerdict {
        let Some(constraint) = frame.ad.get(name) else { return DockingVerdict::Refused };
        for conjunct in conjuncts(constraint) {
            match self.evaluate(conjunct, frame) {
                Err(Abort::Unknown) => {}
                Ok(value) if is_met(&value, self.context.dialect) => {}
                Ok(_) => return DockingVerdict::Refused,
                Err(_) => {
                    self.statistics.failures += 1;
                    return DockingVerdict::Refused;
                }
            }
        }
        DockingVerdict::Tentative
    }

    /// Returns the clauses of the constraint of a port, each with its scope. The constraint is met if all clauses are
    /// true. `None` if the port has no constraint.
    ///
    /// A clause that is only the name of an attribute is replaced by the clauses of the attribute's expression.
    pub fn clauses(&self, place: PortPlace) -> Option<Rc<[ScopedClause]>> {
        self.port_info[place.participant.position()].clauses(place.port, || self.split_constraint(place))
    }

    /// Splits the constraint of a port into clauses.
    fn split_constraint(&self, place: PortPlace) -> Option<Rc<[ScopedClause]>> {
        let frame = self.frame_of(place)?;
        let constraint = self.protocol.constraint_expression(&frame.ad)?;
        let (mut parts, mut followed) = (Vec::new(), 0);
        let (mut next, mut pending) = (Some((constraint.clone(), Arc::clone(frame))), Vec::new());
        while let Some((expression, frame)) = next {
            for part in conjuncts(&expression) {
                match part.without_parentheses().kind() {
                    ExpressionKind::Attribute(name) if followed < MAX_FOLLOWED_ATTRIBUTES => {
                        match self.environment.resolve_own(&frame, name, &self.context) {
                            NameResolution::Expression(bound, frame) => {
                                followed += 1;
                                pending.push((bound, frame));
                            }
                            _ => parts.push((part.clone(), Arc::clone(&frame))),
                        }
                    }
                    _ => parts.push((part.clone(), Arc::clone(&frame))),
                }
            }
            next = pending.pop();
        }
        Some(parts.into())
    }

    /// Whether a port has a rank.
    pub fn has_rank(&self, place: PortPlace) -> bool {
        self.frame_of(place).is_some_and(|frame| frame.ad.get(self.protocol.rank_name()).is_some())
    }

    /// Returns the rank of a port as a symbolic value with what is docked now. `None` if the port has no rank.
    pub fn symbolic_rank(&self, place: PortPlace) -> Option<SymbolicValue> {
        let frame = self.frame_of(place)?;
        frame.ad.get(self.protocol.rank_name()).map(|rank| SymbolicEvaluator::new(self).value(rank, frame))
    }

    /// Returns the rank that a port gives to what is docked there. 0 if the port has no rank or the rank is unknown.
    pub fn rank(&mut self, place: PortPlace) -> f64 {
        self.rank_if_known(place).unwrap_or(0.0)
    }

    /// Returns the rank that a port gives to what is docked there, 0 if the port has no rank. `None` if the rank
    /// depends on a port that is not docked yet.
    fn rank_if_known(&mut self, place: PortPlace) -> Option<f64> {
        if !self.has_rank(place) {
            return Some(0.0);
        }
        let Some(frame) = self.frame(place) else { return Some(0.0) };
        self.statistics.evaluations += 1;
        match Evaluator::new(&self.environment, &self.context).attribute(&frame, self.protocol.rank_name()) {
            // Adding 0.0 turns minus zero into zero, so that both are one rank.
            Ok(value) => Some(rank_value(&value) + 0.0),
            Err(Abort::Unknown) => None,
            Err(_) => {
                self.statistics.failures += 1;
                Some(0.0)
            }
        }
    }

    /// Returns the score of the candidate `link` at the port `place`. Docks the candidate for the evaluation only.
    pub fn candidate_score(&mut self, place: PortPlace, link: PortPlace) -> CandidateScore {
        self.with_docked(place, link, |table| table.docked_score(place, link))
    }

    /// Returns the score of a docked candidate (thesis 3.2.4): its docking vector, or the two ranks.
    pub fn docked_score(&mut self, above: PortPlace, link: PortPlace) -> CandidateScore {
        if self.docking_vector.is_empty() {
            let (Some(rank), Some(offer_rank)) = (self.rank_if_known(above), self.rank_if_known(link)) else {
                return CandidateScore::Unknown;
            };
            return CandidateScore::Ranks(rank, offer_rank);
        }
        let (Some(port), Some(candidate)) = (self.frame(above), self.frame(link)) else {
            return CandidateScore::Unknown;
        };
        // Bind the label of the candidate in a scope inside the port's scope, so that no attribute of the port hides
        // it.
        let bound: Ad =
            [(candidate_label(), Expression::literal(Value::Ad(AdValue { frame: candidate })))].into_iter().collect();
        let falls_through = port.falls_through;
        let scope = Arc::new(ScopeFrame {
            ad: bound,
            participant: port.participant,
            port: port.port,
            enclosing: Some(port),
            falls_through,
        });
        let mut values = Vec::with_capacity(self.docking_vector.len());
        for rule in &self.docking_vector {
            self.statistics.evaluations += 1;
            match self.evaluate(&rule.expression, &scope) {
                Ok(value) => values.push(value),
                Err(Abort::Unknown) => return CandidateScore::Unknown,
                Err(_) => {
                    self.statistics.failures += 1;
                    values.push(Value::Undefined);
                }
            }
        }
        CandidateScore::Vector(PolicyVector::new(values, self.context.dialect))
    }

    /// Returns the indices of the participant's other ports whose labels are mentioned in the record of a port or in
    /// the groups around that record.
    pub fn mentioned_ports(&self, place: PortPlace) -> Vec<usize> {
        let Some(member) = self.member(place.participant) else { return Vec::new() };
        let mut mentioned = FixedBitSet::with_capacity(member.bindings.len());
        let mut frame = member.ports.get(place.port);
        while let Some(record) = frame.filter(|frame| frame.enclosing.is_some()) {
            let expressions = record.ad.iter().map(|attribute| attribute.expression);
            for expression in expressions.filter(|expression| !matches!(expression.kind(), ExpressionKind::Literal(_)))
            {
                add_mentioned_ports(expression, &member.bindings, self.context.dialect, &mut mentioned);
            }
            frame = record.enclosing.as_ref();
        }
        mentioned.ones().filter(|port| *port != place.port).collect()
    }

    /// Returns what remains of the offer of `link`, docked at the port `above`. `None` if nothing remains.
    ///
    /// # Errors
    ///
    /// When the expressions of `residual` exceed a budget or depend on open ports.
    pub fn remainder(&mut self, residual: &Residual, above: PortPlace, link: PortPlace) -> Result<Option<Ad>, Abort> {
        let Some(member) = self.environment.member_mut(link.participant) else { return Ok(None) };
        let (frame, own) = (member.frame.clone(), member.bindings.len());
        // An ad with a port list does not bind `other`, so bind it to the port above for the evaluation.
        let to = Some((above.participant, above.port));
        member.bindings.extend(NameBinding::of_other(to));
        self.statistics.evaluations += residual.set.len() as u64;
        let remainder = residual.remainder(&frame, &self.environment, &self.context);
        if let Some(member) = self.environment.member_mut(link.participant) {
            member.bindings.truncate(own);
        }
        remainder
    }
}

/// Adds to `mentioned` the ports whose labels an expression mentions.
fn add_mentioned_ports(
    expression: &Expression,
    bindings: &[NameBinding],
    dialect: Dialect,
    mentioned: &mut FixedBitSet,
) {
    let mut pending = vec![expression];
    while let Some(part) = pending.pop() {
        match part.kind() {
            ExpressionKind::Attribute(name) if !is_scope_name(name) => {
                mentioned.extend(bindings.iter().position(|binding| binding.name == *name));
            }
            // A call, or an ad used as a whole, may read more than it names: add every port that the expression may
            // read.
            ExpressionKind::Attribute(_) | ExpressionKind::RootAttribute(_) | ExpressionKind::Call(..) => {
                let mentions = FreeNames::of(expression, dialect);
                let is_mentioned =
                    |binding: &NameBinding| mentions.reads_anything || mentions.names.contains(&binding.name);
                mentioned.extend((0..bindings.len()).filter(|port| is_mentioned(&bindings[*port])));
                return;
            }
            kind => kind.for_each_child(|child| pending.push(child)),
        }
    }
}

/// Maximum number of attribute references that are followed when a constraint is split into clauses. Further references
/// stay clauses, so that cyclic definitions come to an end.
const MAX_FOLLOWED_ATTRIBUTES: usize = 64;
