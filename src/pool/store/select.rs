//! Queries of a store by a constraint: the ads on which it is true.
//!
//! Simple clauses are answered by columns.  The others are evaluated once for each group of ads that agree in all
//! attributes that the clause can read.

use std::rc::Rc;

use fixedbitset::FixedBitSet;

use crate::ad::{Ad, Expression, Name, Value};
use crate::constraint::{ClauseForm, ClauseOperand, conjuncts, is_scope_name, is_self_evaluating};
use crate::eval::{Context, Environment, Evaluator, FreeNames, transitive_closure};
use crate::pool::{AttributeColumn, ColumnCell, Partition};
use crate::protocol::is_met;

use super::Store;

/// Result of a query.
pub struct StoreSelection {
    /// The 0-based numbers of the ads on which the constraint is true.
    pub ads: FixedBitSet,
    /// Number of evaluations that exceeded a budget, summed over the clauses; their ads are not selected.
    pub failures: usize,
}

impl Store {
    /// Returns the ads on which a constraint is true: those on which each of its clauses is.
    pub fn select(&mut self, constraint: &Expression, context: &Context) -> StoreSelection {
        let mut left = FixedBitSet::with_capacity(self.len());
        left.insert_range(..);
        let mut scratch = FixedBitSet::with_capacity(self.len());
        let mut rest = Vec::new();
        for part in conjuncts(constraint) {
            scratch.clear();
            if self.select_by_column(part, context, &mut scratch) {
                left.intersect_with(&scratch);
            } else {
                rest.push(part);
            }
        }
        let failures = rest.into_iter().map(|part| self.filter_by_evaluation(part, context, &mut left)).sum();
        StoreSelection { ads: left, failures }
    }

    /// Adds the ads on which a clause is true to `found`, using a column; returns whether the clause is simple enough.
    fn select_by_column(&mut self, part: &Expression, context: &Context, found: &mut FixedBitSet) -> bool {
        let own = |operand| match operand {
            ClauseOperand::Unqualified(name) => Some(name),
            // In the papers' dialect there is no `my` without another side.
            ClauseOperand::Own(name) if context.dialect.is_condor() => Some(name),
            ClauseOperand::Own(_) | ClauseOperand::Other(_) | ClauseOperand::Literal(_) => None,
        };
        let value = |operand| match operand {
            ClauseOperand::Literal(value) if is_self_evaluating(value, context.dialect) => Some(value),
            _ => None,
        };
        match ClauseForm::of(part) {
            ClauseForm::Comparison(operator, left, right) => {
                let asked = match (own(left), value(right)) {
                    (Some(name), Some(value)) => Some((name, operator, value)),
                    _ => own(right).zip(value(left)).zip(operator.converse()).map(|((n, v), o)| (n, o, v)),
                };
                let Some((name, operator, value)) = asked else { return false };
                let Some(column) = self.column(name, context) else { return false };
                column.select(operator, value, context.dialect, found);
            }
            ClauseForm::Truth(operand) => {
                let Some(column) = own(operand).and_then(|name| self.column(name, context)) else { return false };
                column.select_where(|value| is_met(value, context.dialect), found);
            }
            ClauseForm::StringListMember(..) | ClauseForm::Residue => return false,
        }
        true
    }

    /// Returns the column of an attribute, built on first use; `None` if it is not a literal in all ads that have it.
    fn column(&mut self, name: &Name, context: &Context) -> Option<Rc<AttributeColumn>> {
        // An attribute named like a scope, such as `target`, changes the meaning of other names.
        if self.names().any(is_scope_name) {
            return None;
        }
        let Some(place) = self.attributes.get_index_of(name) else {
            return Some(Rc::new(AttributeColumn::new(std::iter::repeat_n(ColumnCell::Absent, self.len()))));
        };
        if let Some(known) = self.columns.get(&place) {
            return known.clone();
        }
        let texts = &self.attributes[place];
        let literals: Option<Vec<Value>> = (1..texts.codes())
            .map(|code| texts.literal(u32::try_from(code).ok()?))
            .map(|value| value.filter(|value| is_self_evaluating(value, context.dialect)))
            .collect();
        let column = literals.map(|literals| {
            let codes = (0..self.len()).map(|row| texts.code(row));
            Rc::new(AttributeColumn::from_codes(codes, literals))
        });
        self.columns.insert(place, column.clone());
        column
    }

    /// Evaluates a clause on the ads in `left` and removes those on which it is not true; returns the number of ads on
    /// which a budget was exceeded.
    fn filter_by_evaluation(&mut self, part: &Expression, context: &Context, left: &mut FixedBitSet) -> usize {
        let reached = self.dependencies(part, context);
        let groups = reached.as_ref().map(|places| {
            let mut groups = Partition::new(self.len());
            for place in places {
                let attribute = &self.attributes[*place];
                groups.split(attribute.codes(), |row| Some(attribute.code(row)));
            }
            groups
        });
        let mut known: Vec<Option<Option<bool>>> =
            vec![None; groups.as_ref().map_or(0, |groups| groups.first_rows().len())];
        let mut failures = 0;
        for row in left.ones().collect::<Vec<_>>() {
            let group = groups.as_ref().and_then(|groups| groups.group(row));
            let met = match (group, &reached) {
                (Some(group), Some(places)) => {
                    *known[group].get_or_insert_with(|| is_true_on(self.projection(row, places), part, context))
                }
                _ => is_true_on(self.ad(row).unwrap_or_default(), part, context),
            };
            failures += usize::from(met.is_none());
            left.set(row, met == Some(true));
        }
        failures
    }

    /// Returns the attributes that the value of a clause can depend on, directly or through the texts of attributes, as
    /// indexes into `attributes`; `None` if it can depend on anything else.
    fn dependencies(&self, part: &Expression, context: &Context) -> Option<Vec<usize>> {
        let mut names = FreeNames::of(part, context.dialect).all_names()?.clone();
        transitive_closure(&mut names, |name, names| {
            let Some(texts) = self.attributes.get(name) else { return Some(()) };
            for expression in texts.expressions().iter().filter_map(|code| texts.expression(*code, self.rules)) {
                names.extend(FreeNames::of(&expression, context.dialect).all_names()?.iter().cloned());
            }
            Some(())
        })?;
        Some(names.iter().filter_map(|name| self.attributes.get_index_of(name)).collect())
    }

    /// Builds the projection of an ad to some attributes, given as indexes into `attributes`.
    fn projection(&self, row: usize, places: &[usize]) -> Ad {
        let attributes = places.iter().filter_map(|place| {
            let (name, texts) = self.attributes.get_index(*place)?;
            Some((name.clone(), texts.expression(texts.code(row), self.rules)?))
        });
        attributes.collect()
    }
}

/// Whether a clause is true in an ad; `None` if a budget was exceeded.
fn is_true_on(ad: Ad, part: &Expression, context: &Context) -> Option<bool> {
    let (environment, frame) = Environment::single(ad);
    let value = Evaluator::new(&environment, context).evaluate(part, &frame).ok()?;
    Some(is_met(&value, context.dialect))
}
