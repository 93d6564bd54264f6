//! Evaluates constraints, ranks, scores and remainders of docked participants.

use std::rc::Rc;
use std::sync::Arc;

use fixedbitset::FixedBitSet;

use crate::ad::{Ad, AdValue, Dialect, Expression, ExpressionKind, Participant, ScopeFrame, Truth, Value};
use crate::constraint::{conjuncts, for_each_conjunct, is_scope_name};
use crate::eval::{Abort, Context, Evaluator, FreeNames, NameBinding, NameResolution};
use crate::matching::gang::search::CandidateScore;
use crate::matching::policy::{PolicyVector, Residual, candidate_label};
use crate::protocol::{PORTS, is_typed_rank, rank_value};

use super::{ParticipantTable, PortPlace};

/// A clause of a constraint, and the scope in which the clause is evaluated.
pub type ScopedClause = (Expression, Arc<ScopeFrame>);

/// Whether the constraint of a port is met, as far as the current dockings tell.
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
    /// Evaluates an expression in a scope, given the current dockings.
    ///
    /// # Errors
    ///
    /// When the evaluation exceeds its limits of depth or steps, or with [`Abort::Unknown`] if the value depends on
    /// open ports.
    pub fn evaluate(&self, expression: &Expression, frame: &Arc<ScopeFrame>) -> Result<Value, Abort> {
        Evaluator::new(&self.environment, &self.context).evaluate(expression, frame)
    }

    /// Returns the expression to which a reference `name` or `label.name` resolves, and the scope of that expression.
    /// `None` if `expression` is no such reference or resolves to no expression.
    pub fn resolve_attribute(
        &self,
        expression: &Expression,
        frame: &Arc<ScopeFrame>,
    ) -> Option<(Expression, Arc<ScopeFrame>)> {
        let (bound, found) = self.find_attribute(expression, frame)?;
        Some((bound?, found))
    }

    /// Returns the expression to which a reference `name` or `label.name` resolves, and the scope of that expression. If
    /// the ad that is meant lacks the attribute, returns no expression, and the scope of that ad. `None` if `expression`
    /// is no such reference, or if its ad is unknown.
    pub fn find_attribute(
        &self,
        expression: &Expression,
        frame: &Arc<ScopeFrame>,
    ) -> Option<(Option<Expression>, Arc<ScopeFrame>)> {
        let (found, searched) = match expression.kind() {
            ExpressionKind::Attribute(name) => {
                (self.environment.resolve(frame, name, &self.context), Arc::clone(frame))
            }
            ExpressionKind::Select(base, name) => {
                let ExpressionKind::Attribute(label) = base.without_parentheses().kind() else { return None };
                let resolved = self.environment.resolve(frame, label, &self.context);
                let NameResolution::Value(Value::Ad(ad)) = resolved else { return None };
                (self.environment.resolve_selected(&ad.frame, name, &self.context), Arc::clone(&ad.frame))
            }
            _ => return None,
        };
        match found {
            NameResolution::Expression(bound, frame) => Some((Some(bound), frame)),
            NameResolution::Missing => Some((None, searched)),
            NameResolution::Value(_) | NameResolution::Unknown => None,
        }
    }

    /// Returns the value of an expression if the value is the same whatever docks at open ports. `None` if the value
    /// depends on open ports or on `random()`, or if the evaluation exceeds its limits.
    pub fn evaluate_fixed(&self, expression: &Expression, frame: &Arc<ScopeFrame>) -> Option<Value> {
        // Evaluate without a random stream, so that `random()` fails: its value would differ at each evaluation.
        let context = Context { random: None, ..self.context.clone() };
        Evaluator::new(&self.environment, &context).evaluate(expression, frame).ok()
    }

    /// Returns the value of an evaluation. `None` if the value depends on open ports. An evaluation that fails for
    /// another reason is counted in the statistics and gives undefined.
    fn known_value(&mut self, result: Result<Value, Abort>) -> Option<Value> {
        match result {
            Ok(value) => Some(value),
            Err(Abort::Unknown) => None,
            Err(_) => {
                self.statistics.failures += 1;
                Some(Value::Undefined)
            }
        }
    }

    /// Evaluates the constraint of a port against the participant docked there. A port without a constraint refuses. A
    /// constraint that cannot be evaluated refuses, too.
    pub fn accepts(&mut self, place: PortPlace) -> DockingVerdict {
        let frame = Arc::clone(self.frame(place));
        let Some(name) = self.protocol.constraint_name(&frame.ad) else { return DockingVerdict::Refused };
        let value = Evaluator::new(&self.environment, &self.context).attribute(&frame, name);
        self.statistics.evaluations += 1;
        let dialect = self.context.dialect;
        match self.known_value(value) {
            Some(value) if Truth::of(&value, dialect).is_true() => DockingVerdict::Met,
            Some(_) => DockingVerdict::Refused,
            None => {
                // A single conjunct that is certain to fail makes the port refuse, whatever docks at the open ports.
                let constraint = self.protocol.constraint_expression(&frame.ad);
                let is_refused = constraint.map(conjuncts).unwrap_or_default().into_iter().any(|conjunct| {
                    let value = self.evaluate(conjunct, &frame);
                    self.known_value(value).is_some_and(|value| !Truth::of(&value, dialect).is_true())
                });
                if is_refused { DockingVerdict::Refused } else { DockingVerdict::Tentative }
            }
        }
    }

    /// Returns the clauses of the constraint of a port, each with its scope. The constraint is met if all clauses are
    /// true. `None` if the port has no constraint.
    ///
    /// A clause that is only the name of an attribute is replaced by the clauses of the attribute's expression.
    pub fn clauses(&self, place: PortPlace) -> Option<Rc<[ScopedClause]>> {
        let clauses = &self.port_info[place.participant.position()].clauses;
        clauses[place.port].get_or_init(|| self.split_constraint(place)).clone()
    }

    /// Splits the constraint of a port into clauses. `None` if the port has no constraint.
    fn split_constraint(&self, place: PortPlace) -> Option<Rc<[ScopedClause]>> {
        let frame = self.frame(place);
        let constraint = self.protocol.constraint_expression(&frame.ad)?;
        let (mut clauses, mut followed, mut pending) = (Vec::new(), 0, Vec::new());
        let mut split = |expression: &Expression, frame: &Arc<ScopeFrame>, pending: &mut Vec<ScopedClause>| {
            for_each_conjunct(expression, |clause| {
                let bound = match clause.without_parentheses().kind() {
                    ExpressionKind::Attribute(name) if followed < MAX_FOLLOWED_ATTRIBUTES => {
                        self.environment.resolve_own(frame, name, &self.context)
                    }
                    _ => NameResolution::Missing,
                };
                if let NameResolution::Expression(bound, frame) = bound {
                    followed += 1;
                    pending.push((bound, frame));
                } else {
                    clauses.push((clause.clone(), Arc::clone(frame)));
                }
            });
        };
        split(constraint, frame, &mut pending);
        while let Some((expression, frame)) = pending.pop() {
            split(&expression, &frame, &mut pending);
        }
        Some(clauses.into())
    }

    /// Whether a port has a rank.
    pub fn has_rank(&self, place: PortPlace) -> bool {
        self.frame(place).ad.get(self.protocol.rank_name()).is_some()
    }

    /// Returns the value of a port's rank for the participant docked there, as a number. `None` if the value depends on an
    /// open port.
    pub fn rank(&mut self, place: PortPlace) -> Option<f64> {
        self.ordered_rank(place).map(|rank| rank_value(&rank))
    }

    /// Returns the value of a port's rank for the participant docked there: a number, or a value that orders among its own
    /// kind. Returns 0 if the port has no rank. `None` if the value depends on an open port.
    pub fn ordered_rank(&mut self, place: PortPlace) -> Option<Value> {
        if !self.has_rank(place) {
            return Some(Value::Real(0.0));
        }
        self.statistics.evaluations += 1;
        let rank =
            Evaluator::new(&self.environment, &self.context).attribute(self.frame(place), self.protocol.rank_name());
        let rank = self.known_value(rank)?;
        Some(self.ordered_value(place, rank))
    }

    /// Returns the value of a port's rank as it orders. Notes a value that is not a number and counts as 0.
    pub fn ordered_value(&mut self, place: PortPlace, rank: Value) -> Value {
        if is_typed_rank(&rank, self.context.dialect) {
            return rank;
        }
        if !matches!(rank, Value::Integer(_) | Value::Real(_) | Value::Boolean(_) | Value::Undefined) {
            self.note_non_numeric(place, &rank);
        }
        Value::Real(rank_value(&rank))
    }

    /// Notes that the value of a port's rank counts as 0.
    pub fn note_non_numeric(&mut self, place: PortPlace, rank: &Value) {
        self.non_numeric_ranks.entry(place).or_insert(rank.value_type());
    }

    /// Returns the score of the candidate `link` at the port `place`. Docks the candidate for the evaluation only.
    pub fn candidate_score(&mut self, place: PortPlace, link: PortPlace) -> CandidateScore {
        self.with_docked(place, link, |table| table.docked_score(place, link))
    }

    /// Returns the score of a docked candidate (thesis 3.2.4). The score is the docking vector if the policy has one.
    /// Otherwise the score is the value of the port's rank and the value of the candidate's rank.
    pub fn docked_score(&mut self, above: PortPlace, link: PortPlace) -> CandidateScore {
        if self.docking_vector.is_empty() {
            let (Some(rank), Some(offer_rank)) = (self.ordered_rank(above), self.ordered_rank(link)) else {
                return CandidateScore::Unknown;
            };
            return CandidateScore::of_ranks([rank, offer_rank], self.context.dialect);
        }
        // Bind the name of the candidate in a new scope inside the port's scope, so that no attribute of the port hides
        // the name.
        let candidate = Expression::literal(Value::Ad(AdValue { frame: Arc::clone(self.frame(link)) }));
        let port = self.frame(above);
        let scope = Arc::new(ScopeFrame {
            ad: [(candidate_label(), candidate)].into_iter().collect(),
            participant: port.participant,
            port: port.port,
            enclosing: Some(Arc::clone(port)),
            falls_through: port.falls_through,
        });
        let mut values = Vec::with_capacity(self.docking_vector.len());
        for rule in 0..self.docking_vector.len() {
            self.statistics.evaluations += 1;
            let value = self.evaluate(&self.docking_vector[rule].expression, &scope);
            let Some(value) = self.known_value(value) else { return CandidateScore::Unknown };
            values.push(self.docking_vector[rule].ordered_value(value, self.context.dialect));
        }
        CandidateScore::Vector(PolicyVector::new(values, self.context.dialect))
    }

    /// Returns the indices of the ports whose labels the port `place` mentions, without `place` itself. All these ports
    /// belong to the same participant. Searches the record of `place` and the groups that enclose the record.
    pub fn mentioned_ports(&self, place: PortPlace) -> Vec<usize> {
        let bindings = &self.member(place.participant).bindings;
        let mut mentioned = FixedBitSet::with_capacity(bindings.len());
        for frame in self.frames(place).filter(|frame| frame.enclosing.is_some()) {
            for attribute in frame.ad.iter() {
                add_mentioned_ports(attribute.expression, bindings, self.context.dialect, &mut mentioned);
            }
        }
        mentioned.ones().filter(|port| *port != place.port).collect()
    }

    /// Returns the indices of the ports of a participant whose labels its ad mentions outside the records of the ports:
    /// in its own attributes and in those of groups of ports.
    pub fn ports_mentioned_outside(&self, participant: Participant) -> FixedBitSet {
        let bindings = &self.member(participant).bindings;
        let mut mentioned = FixedBitSet::with_capacity(bindings.len());
        let groups = self.ports(participant).flat_map(|place| self.frames(place).skip(1));
        for attribute in groups.flat_map(|frame| frame.ad.iter()).filter(|attribute| *attribute.name != *PORTS) {
            add_mentioned_ports(attribute.expression, bindings, self.context.dialect, &mut mentioned);
        }
        mentioned
    }

    /// Returns what remains of an offer whose port `link` is docked at the port `above`, and whether it is offered again.
    /// `None` if nothing remains.
    ///
    /// If the expressions of `residual` cannot be evaluated, the result is also `None` and a failure is counted.
    pub fn rest(&mut self, residual: &Residual, above: PortPlace, link: PortPlace) -> Option<(Ad, bool)> {
        let member = self.environment.member_mut(link.participant)?;
        let (frame, own) = (Arc::clone(&member.frame), member.bindings.len());
        // An ad with a port list does not bind `other`. Bind `other` to the port at which the offer is docked, for this
        // evaluation only.
        let to = Some((above.participant, above.port));
        member.bindings.extend(NameBinding::of_other(to));
        self.statistics.evaluations += residual.set.len() as u64;
        let rest = residual.rest(&frame, &self.environment, &self.context);
        self.environment.member_mut(link.participant)?.bindings.truncate(own);
        let offered = |rest: Ad| residual.is_offered(&rest, &self.context).map(|is_offered| (rest, is_offered));
        let rest = rest.and_then(|rest| rest.map(offered).transpose());
        self.statistics.failures += u64::from(rest.is_err());
        rest.ok().flatten()
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
            // A call, or an ad used as a whole, may read more than it names. Add every port that the whole expression
            // may read.
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
/// stay clauses, so that the splitting of cyclic definitions ends.
const MAX_FOLLOWED_ATTRIBUTES: usize = 64;
