//! Checks of an ad as a whole.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ad::{Ad, Expression, ExpressionKind, Name, ScopeFrame, Type, Value};
use crate::constraint::{ClauseOperand, ConstraintClause, ConstraintClauses, is_scope_name, own_attribute_name};
use crate::eval::{Context, Environment, FreeNames, Knowledge, SpecializeOptions, find_function, specialize};
use crate::protocol::{Advertisement, PORTS, Protocol, is_met, read_ports};

use super::expressions::short_text;
use super::finding::{FindingLabel, LintFinding};
use super::logic::{self, ConditionPart, ConditionPosition};
use super::rules;

/// An ad under check, with the scope in which its expressions are specialized.
pub(super) struct AdCheck<'a> {
    pub ad: &'a Ad,
    pub protocol: &'a Protocol,
    pub context: &'a Context,
    environment: Environment,
    frame: Arc<ScopeFrame>,
}

impl<'a> AdCheck<'a> {
    pub(super) fn new(ad: &'a Ad, protocol: &'a Protocol, context: &'a Context) -> Self {
        let (environment, frame) = Environment::partner_unknown(ad.clone(), Knowledge::Complete);
        AdCheck { ad, protocol, context, environment, frame }
    }

    pub(super) fn check(&self, circles: bool, found: &mut Vec<LintFinding>) {
        self.check_ports(found);
        let has_ports = self.ad.get(&PORTS).is_some();
        match self.protocol.constraint_name(self.ad) {
            Some(name) if !has_ports => self.check_constraint(&name.clone(), circles, found),
            None if !has_ports && self.is_party() => {
                let message = "this ad has no constraint, and so accepts nothing".to_owned();
                found.push(LintFinding::new(&rules::MISSING, message));
            }
            _ => {}
        }
        self.check_rank(found);
    }

    /// Whether the ad is evidently a request or an offer: its type says so, or it has a rank.
    fn is_party(&self) -> bool {
        let kind = Advertisement::new(self.ad, self.context).kind();
        let is_kind = kind.is_some_and(|kind| kind.eq_ignore_ascii_case("Job") || kind.eq_ignore_ascii_case("Machine"));
        is_kind || self.ad.get(self.protocol.rank_name()).is_some()
    }

    /// Returns the clauses of the constraint, each with the attribute that contains it. Clauses that only name an
    /// attribute already expanded are left out.
    fn clauses(&self, constraint: &Name) -> Vec<(Name, Expression)> {
        let is_literal = |bound: &Expression| matches!(bound.without_parentheses().kind(), ExpressionKind::Literal(_));
        let clauses = ConstraintClauses::resolved(constraint, self.ad.get(constraint), |name| {
            self.ad.attribute(name).filter(|bound| !is_literal(bound.expression))
        });
        let is_new = |part: &&ConstraintClause<'_>| {
            own_attribute_name(part.expression).is_none_or(|name| clauses.followed().all(|known| known != name))
        };
        let parts = clauses.items.iter().filter(is_new);
        parts.map(|part| (clauses.attribute(part).clone(), part.expression.clone())).collect()
    }

    fn check_constraint(&self, constraint: &Name, circles: bool, found: &mut Vec<LintFinding>) {
        let mut parts = Vec::new();
        for (attribute, written) in self.clauses(constraint) {
            // Inlining assumes that no reference is circular.
            let liberties = SpecializeOptions { inline: !circles, ..SpecializeOptions::default() };
            let left = specialize(&written, &self.frame, &self.environment, self.context, liberties);
            match left.value {
                Some(value) if !is_met(&value, self.context.dialect) => {
                    self.report_never_met(constraint, &attribute, &written, &value, found);
                }
                Some(_) => {}
                None if !self.is_steady(&left.expression) => {}
                None => parts.push(ConditionPart { attribute, written, residue: left.expression }),
            }
        }
        let standing = if self.is_machine() { ConditionPosition::Machine } else { ConditionPosition::Constraint };
        logic::check_contradictions(&parts, standing, self.context.dialect, found);
    }

    /// Whether an expression has one value throughout an evaluation, as far as the ad tells. An expression that depends
    /// on `random()` has several: each reference draws another number.
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

    fn is_machine(&self) -> bool {
        let kind = Advertisement::new(self.ad, self.context).kind();
        kind.is_some_and(|kind| kind.eq_ignore_ascii_case("Machine"))
    }

    /// Reports a clause of the constraint that is never met, whatever the other side is.
    fn report_never_met(
        &self,
        constraint: &Name,
        attribute: &Name,
        written: &Expression,
        value: &Value,
        found: &mut Vec<LintFinding>,
    ) {
        // Skip a clause that is constant without the ad: a literal `false` is intended, and other rules report the
        // rest.
        let (nothing, nowhere) = Environment::unknown();
        let by_itself = specialize(written, &nowhere, &nothing, self.context, SpecializeOptions::default());
        if by_itself.value.is_some() {
            return;
        }
        let value = short_text(&Expression::literal(value.clone()), self.context.dialect);
        let message = format!("nothing can meet the {constraint} of this ad: this part is {value} here");
        let missing = self.missing_own_attribute(written);
        let finding = LintFinding::new(&rules::NEVER, message);
        let finding = match missing {
            Some(name) => finding.with_help(format!("this ad has no {name}")),
            None => finding,
        };
        found.push(finding.at(attribute, written, ""));
    }

    /// Returns an attribute that the expression reads as the ad's own although the ad lacks it. `None` if there is no
    /// such attribute.
    fn missing_own_attribute(&self, expression: &Expression) -> Option<Name> {
        let mut pending = vec![expression];
        while let Some(expression) = pending.pop() {
            if let Some(ClauseOperand::Own(name)) = ClauseOperand::of(expression)
                && self.ad.get(name).is_none()
            {
                return Some(name.clone());
            }
            expression.kind().for_each_child(|child| pending.push(child));
        }
        None
    }

    fn check_rank(&self, found: &mut Vec<LintFinding>) {
        let Some(rank) = self.ad.attribute(self.protocol.rank_name()) else { return };
        let left =
            specialize(rank.expression, &self.frame, &self.environment, self.context, SpecializeOptions::default());
        if let Some(kind) = non_numeric_type(&left.expression) {
            let finding = LintFinding::new(&rules::RANK, format!("this rank is {}, which counts as 0", kind.phrase()));
            found.push(finding.at(rank.name, rank.expression, ""));
        }
    }

    /// Reports invalid ports, ports without a constraint, and references to the label of a later port.
    fn check_ports(&self, found: &mut Vec<LintFinding>) {
        let Some(list) = self.ad.attribute(&PORTS) else { return };
        let ports = match read_ports(self.ad) {
            Ok(ports) => ports,
            Err(fault) => {
                let mut finding = LintFinding::new(&rules::PORTS, fault.reason);
                finding.labels.push(FindingLabel {
                    attribute: list.name.clone(),
                    span: Some(fault.span),
                    text: String::new(),
                });
                return found.push(finding);
            }
        };
        let entries: &[Expression] = match list.expression.without_parentheses().kind() {
            ExpressionKind::List(entries) => entries,
            _ => &[],
        };
        for (place, port) in ports.list.iter().enumerate() {
            let Some(record) = &port.record else { continue };
            if self.protocol.constraint_name(record).is_none() {
                // With groups the entries of the list are not the ports. The whole list is marked then, and the message
                // names the port.
                let is_listed = entries.len() == ports.list.len();
                let entry = entries.get(place).filter(|_| is_listed).unwrap_or(list.expression);
                let message = format!("the port {} has no constraint, and so accepts nothing", port.label);
                found.push(LintFinding::new(&rules::MISSING, message).at(list.name, entry, ""));
            }
            let later = ports.list.get(place + 1..).unwrap_or_default();
            for attribute in record.iter().filter(|attribute| !attribute.name.is("Label")) {
                let expression = attribute.expression;
                let named = unqualified_names(expression)
                    .into_iter()
                    .find(|(name, _)| later.iter().any(|later| later.label == *name) && record.get(name).is_none());
                if let Some((name, at)) = named {
                    let message = format!("the port {} refers to {name}, which is docked after it", port.label);
                    found.push(LintFinding::new(&rules::LABELS, message).at(list.name, &at, "not known here"));
                }
            }
        }
    }
}

/// Returns the unqualified names in an expression, each with its subexpression. Nested ads are skipped.
pub(super) fn unqualified_names(expression: &Expression) -> Vec<(Name, Expression)> {
    let mut names = Vec::new();
    let mut pending = vec![expression];
    while let Some(expression) = pending.pop() {
        match expression.kind() {
            ExpressionKind::Attribute(name) if !is_scope_name(name) => names.push((name.clone(), expression.clone())),
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

/// Returns the type of an expression that is never a number. `None` if the expression may be a number, or a boolean,
/// which counts as 0 or 1.
fn non_numeric_type(expression: &Expression) -> Option<Type> {
    let mut pending = vec![expression];
    let mut found = None;
    while let Some(expression) = pending.pop() {
        let kind = match expression.without_parentheses().kind() {
            ExpressionKind::Conditional(_, consequent, alternative) => {
                pending.extend([consequent, alternative]);
                continue;
            }
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

/// Finds the circular references by depth-first search. Each cycle is returned once. `named` maps an attribute to the
/// attributes that it reads.
pub(super) fn reference_cycles(named: &FxHashMap<Name, Vec<Name>>, order: &[Name]) -> Vec<Vec<Name>> {
    let mut found = Vec::new();
    let mut done: FxHashSet<&Name> = FxHashSet::default();
    for start in order {
        let mut path: Vec<(&Name, usize)> = vec![(start, 0)];
        if done.contains(start) {
            continue;
        }
        while let Some((name, next)) = path.last_mut() {
            let Some(target) = named.get(*name).and_then(|targets| targets.get(*next)) else {
                done.insert(name);
                path.pop();
                continue;
            };
            *next += 1;
            if let Some(at) = path.iter().position(|(on_path, _)| *on_path == target) {
                found.push(path[at..].iter().map(|(name, _)| (*name).clone()).collect());
            } else if named.contains_key(target) && !done.contains(target) {
                path.push((target, 0));
            }
        }
    }
    found
}
