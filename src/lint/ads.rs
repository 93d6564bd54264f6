//! Checks of an ad as a whole.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::ad::{Ad, Expression, ExpressionKind, Name, ScopeFrame, Truth, Type, Value};
use crate::constraint::{
    ClauseOperand, ConstraintClause, ConstraintClauses, conjuncts, is_scope_name, own_attribute_name,
};
use crate::eval::{Context, Environment, FreeNames, Knowledge, SpecializeOptions, find_function, specialize};
use crate::protocol::{Advertisement, InvalidAd, PORTS, Protocol, has_ports, invalidities, read_ports};

use super::finding::LintFinding;
use super::logic::{self, ConditionPart, ConditionPosition};
use super::rules;
use super::short_text::short_text;
use super::standard_attributes::is_of_one_side;
use super::subexpressions::subexpressions;

/// An ad under check, with the scope in which its expressions are specialized.
pub(super) struct AdCheck<'a> {
    ad: &'a Ad,
    protocol: &'a Protocol,
    context: &'a Context,
    environment: Environment,
    frame: Arc<ScopeFrame>,
}

/// What specialization leaves of a clause of a constraint.
#[derive(Clone)]
pub(super) enum ClauseResidue {
    /// The clause is always true.
    Met,
    /// The clause never is true. It has this value.
    NeverMet(Value),
    /// The clause may have another value each time it is evaluated.
    Unsteady,
    /// The clause depends on the other side, and it contradicts neither itself nor another clause.
    Consistent,
    /// The clause depends on the other side.
    Open {
        /// What is left of the clause.
        residue: Expression,
        /// Whether this is another expression than the clause as written.
        is_changed: bool,
    },
}

/// Returns the clauses of the constraint of an ad, each with the attribute that contains it. A clause such as `START` is
/// left out if the clauses of the attribute `START` are returned instead.
pub(super) fn constraint_clauses(ad: &Ad, constraint: &Name) -> Vec<(Name, Expression)> {
    let is_literal = |bound: &Expression| matches!(bound.without_parentheses().kind(), ExpressionKind::Literal(_));
    let clauses = ConstraintClauses::resolved(constraint, ad.get(constraint), |name| {
        ad.attribute(name).filter(|bound| !is_literal(bound.expression))
    });
    let is_new = |part: &&ConstraintClause<'_>| {
        own_attribute_name(part.expression).is_none_or(|name| clauses.followed().all(|known| known != name))
    };
    let parts = clauses.items.iter().filter(is_new);
    parts.map(|part| (clauses.attribute(part).clone(), part.expression.clone())).collect()
}

impl<'a> AdCheck<'a> {
    pub(super) fn new(ad: &'a Ad, protocol: &'a Protocol, context: &'a Context, knowledge: Knowledge) -> Self {
        let (environment, frame) = Environment::partner_unknown(ad.clone(), knowledge);
        AdCheck { ad, protocol, context, environment, frame }
    }

    /// Checks the ports, the constraint and the rank of the ad. `has_cycles` tells whether some attributes of the ad
    /// refer to each other in a circle. `residues` is what specialization leaves of the clauses of the constraint, if
    /// that is known.
    pub(super) fn check(&self, has_cycles: bool, residues: Option<Vec<ClauseResidue>>, found: &mut Vec<LintFinding>) {
        self.check_validity(found);
        self.check_ports(found);
        let constraint = self.protocol.constraint_name(self.ad);
        if let Some(name) = constraint.filter(|_| !has_ports(self.ad)) {
            self.check_constraint(name, has_cycles, residues, found);
        }
        self.check_devices(found);
        self.check_rank(found);
    }

    /// Reports parts of a job's wish for GPUs that contradict each other by the values of the job's own attributes, such as
    /// `Capability < 8.0` beside `Capability >= GPUsMinCapability`.
    fn check_devices(&self, found: &mut Vec<LintFinding>) {
        let Some(wish) = self.ad.attribute(&Name::new("RequireGPUs")).filter(|_| self.is_kind("Job")) else { return };
        let open = |(place, part): (usize, &&Expression)| match self.clause_residue(part, false) {
            ClauseResidue::Open { residue, is_changed } => {
                let (attribute, written) = (wish.name.clone(), (*part).clone());
                Some(ConditionPart { attribute, written, residue, is_changed, place })
            }
            _ => None,
        };
        let parts: Vec<ConditionPart> = conjuncts(wish.expression).iter().enumerate().filter_map(open).collect();
        // Parts that contradict each other as they are written are found with the expression.
        if parts.iter().any(|part| part.is_changed) {
            logic::check_contradictions(&parts, ConditionPosition::Constraint, self.context.dialect, found);
        }
    }

    /// Whether the ad is evidently a request or an offer: its type says so, or it has a rank.
    fn is_party(&self) -> bool {
        self.is_kind("Job") || self.is_kind("Machine") || self.ad.get(self.protocol.rank_name()).is_some()
    }

    /// Whether the type of the ad is `kind`.
    pub(super) fn is_kind(&self, kind: &str) -> bool {
        Advertisement::new(self.ad, self.context).kind().is_some_and(|own| own.eq_ignore_ascii_case(kind))
    }

    /// Specializes a clause of the constraint. `has_cycles` tells whether some attributes of the ad refer to each other
    /// in a circle.
    pub(super) fn clause_residue(&self, clause: &Expression, has_cycles: bool) -> ClauseResidue {
        // Inlining assumes that no reference is circular.
        let options = SpecializeOptions { inline: !has_cycles, ..SpecializeOptions::default() };
        let residue = specialize(clause, &self.frame, &self.environment, self.context, options);
        match residue.value {
            Some(value) if Truth::of(&value, self.context.dialect).is_true() => ClauseResidue::Met,
            Some(value) => ClauseResidue::NeverMet(value),
            None if self.is_steady(&residue.expression) => {
                let is_changed = !residue.expression.ptr_eq(clause);
                ClauseResidue::Open { residue: residue.expression, is_changed }
            }
            None => ClauseResidue::Unsteady,
        }
    }

    fn check_constraint(
        &self,
        constraint: &Name,
        has_cycles: bool,
        residues: Option<Vec<ClauseResidue>>,
        found: &mut Vec<LintFinding>,
    ) {
        // `place` counts the clauses that depend on the other side.
        let (mut parts, mut place) = (Vec::new(), 0);
        let mut known = residues.into_iter().flatten();
        for (attribute, written) in constraint_clauses(self.ad, constraint) {
            match known.next().unwrap_or_else(|| self.clause_residue(&written, has_cycles)) {
                ClauseResidue::NeverMet(value) => {
                    found.extend(self.never_met(constraint, &attribute, &written, &value));
                }
                ClauseResidue::Open { residue, is_changed } => {
                    parts.push(ConditionPart { attribute, written, residue, is_changed, place });
                    place += 1;
                }
                ClauseResidue::Consistent => place += 1,
                ClauseResidue::Met | ClauseResidue::Unsteady => {}
            }
        }
        let is_machine = self.is_kind("Machine");
        let position = if is_machine { ConditionPosition::Machine } else { ConditionPosition::Constraint };
        logic::check_contradictions(&parts, position, self.context.dialect, found);
    }

    /// Whether an expression has the same value each time it is evaluated, as far as the ad alone tells. `false` for an
    /// expression that calls `random()`, because each evaluation draws another number.
    fn is_steady(&self, expression: &Expression) -> bool {
        let mut seen: FxHashSet<Name> = FxHashSet::default();
        let mut pending = vec![expression.clone()];
        while let Some(expression) = pending.pop() {
            let mentions = FreeNames::of(&expression, self.context.dialect);
            if mentions.is_impure {
                return false;
            }
            let named = mentions.names.into_iter().filter_map(|name| Some((self.ad.get(&name)?.clone(), name)));
            pending.extend(named.filter(|(_, name)| seen.insert(name.clone())).map(|(bound, _)| bound));
        }
        true
    }

    /// Returns the finding about a clause of the constraint that is never met, whatever the other side is.
    fn never_met(
        &self,
        constraint: &Name,
        attribute: &Name,
        written: &Expression,
        value: &Value,
    ) -> Option<LintFinding> {
        // Skip a clause that is constant even without the attributes of the ad. A literal `false` is intended, and
        // other rules report other constants.
        let (nothing, nowhere) = Environment::unknown();
        let by_itself = specialize(written, &nowhere, &nothing, self.context, SpecializeOptions::default());
        if by_itself.value.is_some() {
            return None;
        }
        let value = match value {
            Value::Error(_) => "an error".to_owned(),
            value => short_text(&Expression::literal(value.clone()), self.context.dialect),
        };
        let message = format!("no ad can match: this part of the {constraint} is {value} in this ad");
        let mut finding = LintFinding::new(&rules::NEVER, message).at(attribute, written, "");
        let missing_own = subexpressions(written).find_map(|part| match ClauseOperand::of(part) {
            Some(ClauseOperand::Own(name)) if self.ad.get(name).is_none() => Some(name),
            _ => None,
        });
        if let Some(name) = missing_own {
            let of_other = if is_of_one_side(name, true) {
                let other = self.context.dialect.side_names()[1].to_uppercase();
                format!("; for that of the other ad, write `{other}.{name}`")
            } else {
                String::new()
            };
            finding = finding.with_help(format!("this ad has no {name}{of_other}"));
        }
        Some(finding)
    }

    fn check_rank(&self, found: &mut Vec<LintFinding>) {
        let Some(rank) = self.ad.attribute(self.protocol.rank_name()) else { return };
        if let Some(kind) = self.rank_type(rank.expression) {
            found.push(rank_finding(kind).at(rank.name, rank.expression, ""));
        }
    }

    /// Returns the type of a rank that always counts as 0; `None` if it may be a number.
    pub(super) fn rank_type(&self, rank: &Expression) -> Option<Type> {
        self.rank_type_in(rank, &self.frame)
    }

    fn rank_type_in(&self, rank: &Expression, frame: &Arc<ScopeFrame>) -> Option<Type> {
        let residue = specialize(rank, frame, &self.environment, self.context, SpecializeOptions::default());
        // In the papers' dialect these order among their own kind (thesis 3.2.3).
        let is_typed = |kind: &Type| matches!(kind, Type::String | Type::AbsoluteTime | Type::RelativeTime);
        non_numeric_type(&residue.expression).filter(|kind| self.context.dialect.is_condor() || !is_typed(kind))
    }

    /// Reports what makes an ad invalid as an advertisement. Only an ad that is evidently a party needs a constraint.
    fn check_validity(&self, found: &mut Vec<LintFinding>) {
        for fault in invalidities(self.ad, self.protocol, self.context.dialect) {
            let rule = match fault {
                InvalidAd::Ports(_) => &rules::PORTS,
                InvalidAd::PortWithoutConstraint(_) => &rules::MISSING,
                InvalidAd::NoConstraint if self.is_party() => &rules::MISSING,
                InvalidAd::NoConstraint => continue,
            };
            let finding = LintFinding::new(rule, fault.to_string());
            found.push(match fault.port_fault() {
                Some(fault) => finding.at_span(&PORTS, Some(fault.span), ""),
                None => finding,
            });
        }
    }

    /// Reports ranks of ports that are never numbers, and references to the label of a later port.
    fn check_ports(&self, found: &mut Vec<LintFinding>) {
        let Some(list) = self.ad.attribute(&PORTS) else { return };
        let Ok(ports) = read_ports(self.ad) else { return };
        for (place, port) in ports.list.iter().enumerate() {
            let Some(record) = &port.record else { continue };
            if let Some(rank) = record.get(self.protocol.rank_name())
                && let Some(kind) = self.rank_type_in(rank, &self.frame.dock(record.clone(), u32::try_from(place).ok()))
            {
                found.push(rank_finding(kind).at(list.name, rank, ""));
            }
            let is_later = |name: &Name| ports.list[place + 1..].iter().any(|later| later.label == *name);
            for attribute in record.iter().filter(|attribute| !attribute.name.is("Label")) {
                let mut names = unqualified_names(attribute.expression).into_iter();
                if let Some((name, part)) = names.find(|(name, _)| is_later(name) && record.get(name).is_none()) {
                    let message = format!("the port {} refers to the later port {name}", port.label);
                    found.push(LintFinding::new(&rules::LABELS, message).at(list.name, part, "not known here"));
                }
            }
        }
    }
}

/// Returns the unqualified names in an expression, each with the subexpression that is the name. Names in nested ads
/// are skipped.
fn unqualified_names(expression: &Expression) -> Vec<(&Name, &Expression)> {
    let mut names = Vec::new();
    let mut pending = vec![expression];
    while let Some(expression) = pending.pop() {
        match expression.kind() {
            ExpressionKind::Attribute(name) if !is_scope_name(name) => names.push((name, expression)),
            ExpressionKind::Ad(_) => {}
            kind => {
                let start = pending.len();
                kind.for_each_child(|child| pending.push(child));
                pending[start..].reverse();
            }
        }
    }
    names
}

/// Returns the finding about a rank that always has a type other than a number.
fn rank_finding(kind: Type) -> LintFinding {
    LintFinding::new(&rules::RANK, format!("this rank is {} and counts as 0", kind.phrase()))
}

/// Returns the type of an expression that is never a number. `None` if the expression may be a number or a boolean, as
/// a boolean counts as 0 or 1.
fn non_numeric_type(expression: &Expression) -> Option<Type> {
    let mut pending = vec![expression];
    let mut found = None;
    while let Some(expression) = pending.pop() {
        if let Some([_, consequent, alternative]) = expression.conditional() {
            pending.extend([consequent, alternative]);
            continue;
        }
        let kind = match expression.without_parentheses().kind() {
            ExpressionKind::Literal(Value::Undefined) => continue,
            ExpressionKind::Literal(value) => value.value_type(),
            ExpressionKind::List(_) => Type::List,
            ExpressionKind::Ad(_) => Type::Ad,
            ExpressionKind::Call(name, _) => match find_function(name)?.signature.rsplit("-> ").next()? {
                "string" => Type::String,
                "list" => Type::List,
                "ad" => Type::Ad,
                _ => return None,
            },
            _ => return None,
        };
        if matches!(kind, Type::Boolean | Type::Integer | Type::Real) {
            return None;
        }
        found = Some(kind);
    }
    found
}
