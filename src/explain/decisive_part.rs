//! The part of a clause that decides its value for one pair: `Cpus >= RequestCpus` of
//! `ifThenElse(RequestCpus is undefined, 1, Cpus >= RequestCpus) && ...`.

use indexmap::IndexSet;
use rustc_hash::FxHashSet;

use crate::ad::{Ad, BinaryOperator, Expression, ExpressionKind, Name, ScopeAd, Truth, UnaryOperator, Value};
use crate::constraint::{ClauseOperand, disjuncts, own_names};
use crate::eval::{CURRENT_TIME, ConstraintVerdict, Environment, FreeNames, Knowledge, SpecializeOptions, specialize};
use crate::matching::PairSide;

use super::admission::AdmittedJobs;
use super::clause_weight::ClauseWeight;
use super::clauses::{ExplainedClause, SelectedNames, parenthesized, text};
use super::evaluation::{OfferTable, RequestContext};
use super::missing_attribute::MissingAttribute;
use super::setting_slips::setting_slips;
use super::slots::PILOT_ENDS;
use super::unmet_offer_clause::{DecisivePart, ReadValue, UnmetOfferClause};
use crate::ad::rewrite_expression;

/// Maximum number of missing names that are tried one by one, in cubic time. None of more names is blamed.
const MAX_TRIED_NAMES: usize = 64;

/// Maximum number of steps into a clause. Attributes that name each other would lead on forever.
const MAX_STEPS: usize = 64;

/// Maximum number of characters of a disjunction that is told as it is written: of a longer one, a sentence has the beginning.
const MAX_CHARS_IN_ORDER: usize = 70;

/// Maximum number of names within disjunctions that are followed to their conditions.
const MAX_UNFOLDED_NAMES: usize = 32;

/// A clause of one side of a pair, and the row of the pair's offer.
#[derive(Clone, Copy)]
pub struct ClauseInPair<'p> {
    pub table: &'p OfferTable,
    pub request: &'p RequestContext,
    /// The side that the clause belongs to.
    pub side: PairSide,
    pub row: usize,
}

impl ClauseInPair<'_> {
    fn value(&self, expression: &Expression) -> Value {
        self.table.value(self.request, self.side, &ExplainedClause::detached(expression.clone()), self.row)
    }

    fn outcome(&self, expression: &Expression) -> Truth {
        Truth::of(&self.value(expression), self.table.context.dialect)
    }

    /// The ad that the clause belongs to, and its partner.
    fn ads(&self) -> [&Ad; 2] {
        let [request, offer] = [&self.request.ad, &self.table.ads[self.row]];
        if self.side == PairSide::Request { [request, offer] } else { [offer, request] }
    }

    /// Returns the part of a clause that decides that the clause is not true. Goes through conjunctions, conditions that
    /// the pair decides, tests whether something is defined, and names of the ad's own conditions.
    pub fn decisive_part(&self, clause: &Expression) -> Expression {
        self.part_within(clause, &mut { MAX_UNFOLDED_NAMES })
    }

    /// Returns the decisive part of a clause, as [`ClauseInPair::decisive_part`] does. `left` is the number of names that may
    /// still be followed within disjunctions.
    fn part_within(&self, clause: &Expression, left: &mut usize) -> Expression {
        let (part, _) = self.stepped_into(clause);
        let ExpressionKind::Binary(BinaryOperator::Or, ..) = part.kind() else { return part };
        let operands = disjuncts(&part).into_iter();
        let named: Vec<(Expression, Expression)> =
            operands.filter_map(|operand| Some((operand.clone(), self.named_condition(operand, left)?))).collect();
        let of_name = |operand: &Expression| named.iter().find(|(name, _)| name.ptr_eq(operand));
        rewrite_expression(&part, &mut |operand| of_name(operand).map(|(_, condition)| condition.clone()))
            .unwrap_or(part)
    }

    /// Returns what decides the condition that an operand of a disjunction names; `None` if the operand names none.
    fn named_condition(&self, operand: &Expression, left: &mut usize) -> Option<Expression> {
        let is_own = |name: &Name| self.ads()[0].get(name).is_some();
        let (of, name) = match ClauseOperand::of(operand)? {
            ClauseOperand::Literal(_) => return None,
            ClauseOperand::Own(name) => (*self, name),
            ClauseOperand::Unqualified(name) if is_own(name) => (*self, name),
            ClauseOperand::Other(name) | ClauseOperand::Unqualified(name) => {
                (ClauseInPair { side: self.side.other(), ..*self }, name)
            }
        };
        let condition = of.own_condition(name)?;
        *left = left.checked_sub(1)?;
        let part = of.part_within(&condition, left);
        let part = if of.side == self.side { part } else { of.as_seen_by_partner(&part) };
        let is_loose = matches!(part.kind(), ExpressionKind::Conditional(..) | ExpressionKind::Elvis(..));
        Some(if is_loose { parenthesized(&part) } else { part })
    }

    /// Returns an expression of the clause's ad as it reads in the partner.
    fn as_seen_by_partner(&self, expression: &Expression) -> Expression {
        let [own, _] = self.ads();
        let [my, target] = self.table.context.dialect.side_names();
        let select = |side: &str, name: &Name| Some(Expression::select(Expression::attribute(side), name.clone()));
        let seen = rewrite_expression(expression, &mut |part| match ClauseOperand::of(part)? {
            ClauseOperand::Own(name) => select(target, name),
            ClauseOperand::Other(name) => select(my, name),
            ClauseOperand::Unqualified(name) => select(if own.get(name).is_some() { target } else { my }, name),
            ClauseOperand::Literal(_) => None,
        });
        seen.unwrap_or_else(|| expression.clone())
    }

    /// Goes into a clause step by step. Returns where that ends, and the conditions that decided which branches lead there.
    fn stepped_into(&self, clause: &Expression) -> (Expression, Vec<Expression>) {
        let (mut part, mut found) = (clause.without_parentheses().clone(), Vec::new());
        for _ in 0..MAX_STEPS {
            let Some(next) = self.step(&part) else { break };
            if let Some([condition, ..]) = part.conditional()
                && !condition.ptr_eq(&next)
            {
                found.push(condition.clone());
            }
            part = next.without_parentheses().clone();
        }
        (part, found)
    }

    /// Returns the operand that decides the value of `part`; `None` if all of it does.
    fn step(&self, part: &Expression) -> Option<Expression> {
        let of_condition = |condition: &Expression, yes: &Expression, no: &Expression| match self.outcome(condition) {
            Truth::True => Some(yes.clone()),
            // A branch that is a constant says nothing: the condition decides.
            Truth::False if no.without_parentheses().as_literal().is_none() => Some(no.clone()),
            _ => Some(condition.clone()),
        };
        match part.kind() {
            ExpressionKind::Binary(BinaryOperator::And, left, right) => {
                // A false second operand makes the whole false, even if the first one is undefined.
                let is_decisive = !matches!(
                    (self.outcome(left), self.outcome(right)),
                    (Truth::True, _) | (Truth::Undefined, Truth::False)
                );
                Some(if is_decisive { left.clone() } else { right.clone() })
            }
            ExpressionKind::Binary(BinaryOperator::Or, left, right) => {
                let [tests_left, tests_right] = [left, right].map(|operand| tested_name(operand).is_some());
                match (tests_left, tests_right) {
                    (true, false) => Some(right.clone()),
                    (false, true) => Some(left.clone()),
                    _ => None,
                }
            }
            ExpressionKind::Conditional(condition, yes, no) => of_condition(condition, yes, no),
            ExpressionKind::Call(name, arguments) if name.is("ifThenElse") => match &**arguments {
                [condition, yes, no] => of_condition(condition, yes, no),
                _ => None,
            },
            ExpressionKind::Elvis(value, default) => {
                let is_undefined = self.value(value) == Value::Undefined;
                Some(if is_undefined { default.clone() } else { value.clone() })
            }
            ExpressionKind::Attribute(name) => self.own_condition(name),
            ExpressionKind::Select(scope, name) => match scope.without_parentheses().kind() {
                ExpressionKind::Attribute(scope) if scope.is("my") => self.own_condition(name),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether the names that stand for conditions in a clause, and in these conditions, stand for the same in other rows.
    pub fn names_the_same(&self, clause: &Expression, others: &[usize]) -> bool {
        let [own, _] = self.ads();
        let mut known: IndexSet<Name> = own_names([clause]);
        let mut at = 0;
        while let Some(name) = known.get_index(at).cloned() {
            at += 1;
            let Some(condition) = own.get(&name).filter(|own| own.as_literal().is_none()) else { continue };
            if at > MAX_UNFOLDED_NAMES || others.iter().any(|row| self.table.ads[*row].get(&name) != Some(condition)) {
                return false;
            }
            known.extend(own_names([condition]));
        }
        true
    }

    /// Returns the expression of an attribute of the clause's own ad; `None` if it is absent or a literal.
    fn own_condition(&self, name: &Name) -> Option<Expression> {
        let [own, _] = self.ads();
        own.get(name).filter(|own| own.as_literal().is_none()).cloned()
    }

    /// Returns the attributes in `names` that the request lacks and to which a clause of the offer owes that it is not met.
    pub fn missing_attributes(&self, clause: &Expression, names: &IndexSet<Name>) -> Vec<MissingAttribute> {
        let request = &self.request.ad;
        let absent = names.iter().filter(|name| is_absent(request, name) && !name.is_known(CURRENT_TIME)).cloned();
        let qualified = FreeNames::of(clause, self.table.context.dialect).theirs;
        let missing = |name: Name| {
            let is_of_neither = !qualified.contains(&name);
            MissingAttribute::of(self.table, request, name, is_of_neither)
        };
        self.blamed_names(clause, absent).into_iter().map(missing).collect()
    }

    /// Returns the names in `names` that the partner lacks and to which the decisive part of a clause owes that it is
    /// not true: some value of the attribute would change it, and the part provides for no absence.
    pub fn blamed_names(&self, clause: &Expression, names: impl IntoIterator<Item = Name>) -> Vec<Name> {
        let part = self.decisive_part(clause);
        let dialect = self.table.context.dialect;
        let mentions = FreeNames::of(&without_guarded(&part), dialect);
        let [own, partner] = self.ads();
        let [theirs, unqualified] =
            [&mentions.theirs, &mentions.unqualified].map(|names| names.iter().collect::<FxHashSet<&Name>>());
        let is_read = |name: &Name| theirs.contains(name) || (unqualified.contains(name) && own.get(name).is_none());
        let missing: Vec<Name> = names.into_iter().filter(|name| is_absent(partner, name) && is_read(name)).collect();
        if missing.len() > MAX_TRIED_NAMES {
            return Vec::new();
        }
        let would_change = |name: &&Name| {
            let others = missing.iter().filter(|other| other != name);
            self.can_be_true_with(&part, name, others)
        };
        missing.iter().filter(would_change).cloned().collect()
    }

    /// Whether an expression could be true if the partner had the attribute `name`. `others` are further names that the
    /// partner lacks.
    fn can_be_true_with<'n>(&self, part: &Expression, name: &Name, others: impl Iterator<Item = &'n Name>) -> bool {
        let [own, partner] = self.ads();
        let undefined = || Expression::literal(Value::Undefined);
        let partner = others
            .filter(|other| *other != name)
            .fold(partner.clone(), |ad, other| ad.with(other.clone(), undefined()));
        let (mut environment, [frame, partner]) = Environment::pair(own.clone(), partner);
        if let Some(member) = environment.member_mut(partner.participant) {
            member.knowledge = Knowledge::Partial;
        }
        let context = &self.table.context;
        let specialized = specialize(part, &frame, &environment, context, SpecializeOptions::default());
        specialized.verdict != ConstraintVerdict::Never
    }

    /// Returns the attributes that an expression of the clause's ad reads: 0 for its own ad or 1 for the partner, and the name.
    pub fn attributes_read(&self, expression: &Expression) -> IndexSet<(usize, Name)> {
        let mentions = FreeNames::of(expression, self.table.context.dialect);
        let [of_own, of_other] = [ScopeAd::Own, ScopeAd::Other].map(|side| SelectedNames::new(expression, side));
        let [own, _] = self.ads();
        let (mine, fall_through): (Vec<Name>, Vec<Name>) =
            mentions.unqualified.into_iter().partition(|name| own.get(name).is_some());
        let mine = mentions.mine.into_iter().filter(|name| of_own.reads(name)).chain(mine).map(|name| (0, name));
        let theirs = mentions.theirs.into_iter().filter(|name| of_other.reads(name)).chain(fall_through);
        mine.chain(theirs.map(|name| (1, name))).collect()
    }

    /// Returns the value of an attribute of a side, as [`ClauseInPair::attributes_read`] has it.
    pub fn attribute_value(&self, side: usize, name: &Name) -> Value {
        let side = Expression::attribute(self.table.context.dialect.side_names()[side]);
        self.value(&Expression::select(side, name.clone()))
    }

    /// Describes a clause of an offer that the request does not meet; `expression` is `None` if there is none. `names` are
    /// the attributes of the request that it reads.
    pub fn unmet_clause(
        &self,
        clause: Option<String>,
        outcome: Truth,
        expression: Option<&Expression>,
        names: &IndexSet<Name>,
    ) -> UnmetOfferClause {
        let missing = expression.map(|expression| self.missing_attributes(expression, names)).unwrap_or_default();
        let [own, _] = self.ads();
        let admits = expression.and_then(|expression| {
            let part = self.decisive_part(expression);
            AdmittedJobs::of(&part, &|name| own.get(name).is_none(), &|operand| self.value(operand))
        });
        let weight = expression.map(|expression| ClauseWeight::of(expression, own, self.table.context.dialect));
        let slip = names.iter().find_map(|name| {
            let value = self.request.ad.get(name)?;
            setting_slips(&self.request.ad, name, value, self.table).into_iter().next().map(|slip| slip.message)
        });
        let is_closed = weight.is_none() || weight == Some(ClauseWeight::Closed);
        UnmetOfferClause {
            opens: None,
            slip,
            is_closed,
            retired: if is_closed { self.retired() } else { None },
            is_limit: matches!(weight, Some(ClauseWeight::Limit(_))),
            clause,
            outcome,
            missing,
            part: expression.map(|expression| self.describe(expression)),
            admits,
        }
    }

    /// Returns the seconds since the pilot that runs the slot stopped to take jobs. `None` if it still does, or is no pilot.
    fn retired(&self) -> Option<i64> {
        let [own, _] = self.ads();
        let times = PILOT_ENDS.iter().filter_map(|name| own.get(&Name::new(name))?.as_literal().cloned());
        let times = times.filter_map(|time| if let Value::Integer(time) = time { Some(time) } else { None });
        let end = times.min().filter(|time| *time > 0)?;
        self.table.context.now?.checked_sub(end).filter(|ago| *ago >= 0)
    }

    /// Returns the text of the decisive part of a clause, and the attributes that it reads with their values.
    pub fn describe(&self, clause: &Expression) -> DecisivePart {
        let part = self.decisive_part(clause);
        let (ads, dialect) = (self.ads(), self.table.context.dialect);
        let mut known: FxHashSet<Name> = FxHashSet::default();
        // What of the partner decides which branch counts.
        let (_, conditions) = self.stepped_into(clause);
        let of_conditions = conditions.iter().flat_map(|condition| self.attributes_read(condition));
        let of_partner = of_conditions.filter(|(side, _)| *side == 1);
        let read = self.attributes_read(&part).into_iter().chain(of_partner);
        let read = read.filter(|(side, name)| ads[*side].get(name).is_some() && known.insert(name.clone()));
        let reads =
            read.map(|(side, name)| ReadValue::of(&name, self.attribute_value(side, &name), side == 1)).collect();
        let outcome = self.outcome(&part);
        DecisivePart { text: text(&self.with_partner_first(part), dialect), outcome, reads, is_common: false }
    }

    /// Returns a long disjunction with the operands first that read the partner: these its author can meet.
    fn with_partner_first(&self, part: Expression) -> Expression {
        let ExpressionKind::Binary(BinaryOperator::Or, ..) = part.kind() else { return part };
        if text(&part, self.table.context.dialect).chars().count() <= MAX_CHARS_IN_ORDER {
            return part;
        }
        let reads_partner = |operand: &&Expression| self.attributes_read(operand).iter().any(|(side, _)| *side == 1);
        let (first, last): (Vec<&Expression>, Vec<&Expression>) = disjuncts(&part).into_iter().partition(reads_partner);
        let operands = first.into_iter().chain(last).cloned();
        operands.reduce(|left, right| Expression::binary(BinaryOperator::Or, left, right)).unwrap_or(part)
    }
}

/// Whether an ad does not define an attribute, or defines it as `undefined`.
pub fn is_absent(ad: &Ad, name: &Name) -> bool {
    ad.get(name).is_none_or(|expression| matches!(expression.as_literal(), Some(Value::Undefined)))
}

/// Returns the name of which an expression tests whether it is defined: `Foo is undefined`, `isUndefined(Foo)` or their
/// negations. `None` for another expression.
fn tested_name(expression: &Expression) -> Option<&Name> {
    match expression.without_parentheses().kind() {
        ExpressionKind::Binary(BinaryOperator::Is | BinaryOperator::Isnt, left, right) => {
            let is_undefined = |expression: &Expression| {
                matches!(expression.without_parentheses().as_literal(), Some(Value::Undefined))
            };
            if is_undefined(right) {
                referred_name(left)
            } else if is_undefined(left) {
                referred_name(right)
            } else {
                None
            }
        }
        ExpressionKind::Call(name, arguments) if name.is("isUndefined") => match &**arguments {
            [only] => referred_name(only),
            _ => None,
        },
        ExpressionKind::Unary(UnaryOperator::Not, operand) => tested_name(operand),
        _ => None,
    }
}

/// Returns the name of a plain reference, as `Foo`, `MY.Foo` or `TARGET.Foo`.
fn referred_name(expression: &Expression) -> Option<&Name> {
    match expression.without_parentheses().kind() {
        ExpressionKind::Attribute(name) | ExpressionKind::Select(_, name) => Some(name),
        _ => None,
    }
}

/// Replaces by `undefined` what provides for its own absence: `Foo ?: 0`, and conditions that test whether a name is
/// defined.
fn without_guarded(expression: &Expression) -> Expression {
    let undefined = || Expression::literal(Value::Undefined);
    let tests = |condition: &Expression| condition.parts().any(|part| tested_name(part).is_some());
    let is_guarded = |part: &Expression| match part.kind() {
        ExpressionKind::Elvis(..) => true,
        ExpressionKind::Conditional(condition, ..) => tests(condition),
        ExpressionKind::Call(name, arguments) if name.is("ifThenElse") => arguments.first().is_some_and(tests),
        _ => false,
    };
    let rewritten = rewrite_expression(expression, &mut |part| is_guarded(part).then(undefined));
    rewritten.unwrap_or_else(|| expression.clone())
}
