//! The ads of a pool as columns, for expressions that are evaluated in every ad.
//!
//! An expression is evaluated once for each group of ads that agree in all attributes on which its value can depend.

mod clauses;

use std::sync::{Arc, OnceLock};

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use crate::ad::{Ad, AdShape, Bounded, Dialect, Expression, ExpressionInterner, ExpressionKind, Name, Truth, Value};
use crate::constraint::{has_scope_attribute, is_scope_name, is_side_name};
use crate::eval::{
    Abort, CompiledEvaluator, CompiledScene, CompiledSubject, Context, FreeNames, Work, transitive_closure,
};

use super::Partition;
use super::code::code;
use super::expression_column::{ExpressionColumn, ExpressionColumns, build_columns};
use clauses::{GroupedClauses, LoneColumn, share_of_clauses};

/// The ads of a pool as columns. A *row* is an ad.
#[derive(Default)]
pub struct Store {
    ads: Vec<Ad>,
    dialect: Dialect,
    /// The columns built so far.
    columns: ExpressionColumns,
    /// Whether every attribute of the ads has a column.
    has_all_columns: bool,
    has_scope_attribute: OnceLock<bool>,
    /// The partitions computed so far, by attributes. Rows of one group bind equal expressions to all these attributes.
    partitions: Bounded<FxHashMap<Arc<[Name]>, Arc<Partition>>>,
    name_ids: IndexSet<Name, FxBuildHasher>,
    /// Shapes of ads with nothing but one attribute, by its name.
    lone_shapes: FxHashMap<Name, Arc<AdShape>>,
    interner: ExpressionInterner,
    free_names: FxHashMap<usize, Arc<FreeNames>>,
    /// Dependencies of each expression, by the identifier that [`Store::intern`] returns; `None` if the dependencies
    /// are not known.
    dependencies: FxHashMap<usize, Option<Dependencies>>,
    /// Evaluator of expressions in single ads; `None` before the first evaluation.
    evaluator: Option<CompiledEvaluator>,
    /// Evaluator of constraints in matches with single ads; `None` before the first evaluation.
    pair_evaluator: Option<CompiledEvaluator>,
}

/// The attributes on which the value of an expression can depend: the names that it mentions, the names that these
/// attributes mention, and so on. Rows that bind equal expressions to these attributes give the same value, and one
/// evaluation serves all these rows.
#[derive(Clone, Debug)]
pub struct Dependencies {
    /// The names of the attributes, sorted.
    pub names: Arc<[Name]>,
    /// Identifiers of the names, in the order of `names`. A name has the same identifier in the whole store.
    pub name_ids: Arc<[usize]>,
}

/// The values of an expression in all ads of a store. One value is kept for all ads that agree in the attributes on
/// which the value depends.
pub struct StoreValues {
    groups: Arc<Partition>,
    /// The index of the value of each group in `values`.
    numbers: Vec<u32>,
    values: Vec<Result<Value, Abort>>,
}

impl StoreValues {
    /// Returns the value of the expression in the ad at `row`.
    ///
    /// # Errors
    ///
    /// Fails if the evaluation exceeded a budget or was interrupted.
    pub fn value(&self, row: usize) -> Result<&Value, &Abort> {
        self.values[self.numbers[self.groups.group(row).unwrap_or_default()] as usize].as_ref()
    }
}

impl Store {
    /// Creates a store of some ads. Columns are built on first use.
    #[must_use]
    pub fn new(ads: Vec<Ad>, dialect: Dialect) -> Self {
        Store { ads, dialect, partitions: Bounded::large(), ..Store::default() }
    }

    /// Creates a store of some ads with the columns of all their attributes.
    #[must_use]
    pub fn with_all_columns(ads: Vec<Ad>, dialect: Dialect) -> Self {
        Store { columns: build_columns(&ads), has_all_columns: true, ..Store::new(ads, dialect) }
    }

    /// Returns the ads of the store. The index of an ad is its row.
    #[must_use]
    pub fn ads(&self) -> &[Ad] {
        &self.ads
    }

    /// Iterates over the columns built so far, each with the name of its attribute.
    pub fn built_columns(&self) -> impl Iterator<Item = (&Name, &Arc<ExpressionColumn>)> {
        self.columns.iter()
    }

    /// Returns the column of an attribute, building it on first use.
    pub fn column(&mut self, name: &Name) -> Arc<ExpressionColumn> {
        if let Some(column) = self.columns.get(name) {
            return Arc::clone(column);
        }
        let ads = if self.has_all_columns { &[] } else { &*self.ads };
        let column = Arc::new(ExpressionColumn::of(ads, name));
        if !self.has_all_columns {
            self.columns.insert(name.clone(), Arc::clone(&column));
        }
        column
    }

    /// Whether some ad has an attribute with a name that normally denotes a scope, such as `target`.
    pub fn has_scope_attribute(&self) -> bool {
        *self.has_scope_attribute.get_or_init(|| {
            if self.has_all_columns {
                self.columns.keys().any(is_scope_name)
            } else {
                let mut seen: FxHashSet<*const AdShape> = FxHashSet::default();
                self.ads.iter().any(|ad| seen.insert(Arc::as_ptr(ad.shape())) && has_scope_attribute(ad))
            }
        })
    }

    /// Returns the identifier of an expression. Equal expressions have the same identifier.
    pub fn intern(&mut self, expression: &Expression) -> usize {
        self.interner.intern(expression).0
    }

    /// Evaluates an expression in each ad, without a partner.
    pub fn evaluate(&mut self, expression: &Expression, context: &Context) -> StoreValues {
        let dependencies = if self.has_scope_attribute() { None } else { self.dependencies(expression) };
        let conjunction = dependencies.as_ref().and_then(|_| self.grouped_conjunction(expression, context));
        let groups = self.partition(dependencies.map(|found| found.names));
        let evaluator = self.evaluator.get_or_insert_with(|| CompiledEvaluator::for_ads(self.dialect));
        let truths = conjunction.map(|(clauses, share)| {
            clauses.truths(groups.first_rows(), |clause, rows| {
                let scenes = rows.iter().map(|row| clause.ad(&self.ads, *row).into());
                evaluator.truths(CompiledSubject::Expression(clause.expression), scenes, &share)
            })
        });
        let mut values = vec![Ok(Value::Boolean(true)), Ok(Value::Boolean(false)), Ok(Value::Undefined)];
        let number = |(group, row): (usize, &u32)| match truths.as_ref().and_then(|truths| truths[group]) {
            Some(Truth::True) => 0,
            Some(Truth::False) => 1,
            Some(Truth::Undefined) => 2,
            // Only the tree walker knows the cause of an error.
            Some(Truth::Error) | None => {
                values.push(evaluator.evaluate(expression, &self.ads[*row as usize], context));
                code(values.len() - 1)
            }
        };
        let numbers = groups.first_rows().iter().enumerate().map(number).collect();
        StoreValues { groups, numbers, values }
    }

    /// Returns the truth value of the constraint `name` of a partner in its match with each ad: `None` for an ad in which
    /// only the tree walker can tell it. Returns no values at all if they depend on unknown attributes, or on `name` itself.
    pub fn truths_for(&mut self, partner: &Ad, name: &Name, context: &Context) -> Option<Vec<Option<Truth>>> {
        if self.has_scope_attribute() || has_scope_attribute(partner) {
            return None;
        }
        let (clauses, share) = share_of_clauses(partner.get(name)?, context)?;
        let clauses = self.grouped_clauses(&clauses, |store, clause| {
            let usual = store.dependencies(clause)?;
            let is_literal = |name| partner.get(name).is_none_or(|bound| bound.as_literal().is_some());
            let found =
                if usual.names.iter().all(is_literal) { usual } else { store.dependencies_with(partner, clause)? };
            (!found.names.contains(name)).then_some(found)
        })?;
        let evaluator = self.pair_evaluator.get_or_insert_with(|| CompiledEvaluator::for_pairs(self.dialect));
        let mut evaluations = 0;
        let rows: Vec<u32> = (0..code(self.ads.len())).collect();
        let truths = clauses.truths(&rows, |clause, rows| {
            evaluations += rows.len() as u64;
            let scenes =
                rows.iter().map(|row| CompiledScene { ads: [partner.into(), clause.ad(&self.ads, *row)], side: 0 });
            evaluator.truths(CompiledSubject::Expression(clause.expression), scenes, &share)
        });
        context.charge(Work::Program, evaluations);
        Some(truths)
    }

    /// Groups the ads for the clauses of a conjunction, with the context for these; `None` for any other expression.
    /// They take no more evaluations of clauses than the conjunction as a whole does, and each reads fewer attributes.
    fn grouped_conjunction<'e>(
        &mut self,
        expression: &'e Expression,
        context: &Context,
    ) -> Option<(GroupedClauses<'e>, Context)> {
        let (clauses, share) = share_of_clauses(expression, context)?;
        if clauses.len() < 2 {
            return None;
        }
        Some((self.grouped_clauses(&clauses, Store::dependencies)?, share))
    }

    /// Groups the ads by what `dependencies` finds for each clause of a conjunction. `None` if it finds nothing for one.
    fn grouped_clauses<'e>(
        &mut self,
        clauses: &[&'e Expression],
        dependencies: impl Fn(&mut Store, &Expression) -> Option<Dependencies>,
    ) -> Option<GroupedClauses<'e>> {
        let names = clauses.iter().map(|clause| Some((*clause, dependencies(self, clause)?.names)));
        let names: Vec<_> = names.collect::<Option<_>>()?;
        Some(GroupedClauses::new(self, names))
    }

    /// Returns the attributes on which the value of an expression can depend; `None` if they are not known, as with
    /// `eval(Text)`. The result is cached.
    pub fn dependencies(&mut self, expression: &Expression) -> Option<Dependencies> {
        let number = self.intern(expression);
        if let Some(known) = self.dependencies.get(&number) {
            return known.clone();
        }
        let found = self.dependencies_with(&Ad::default(), expression);
        self.dependencies.insert(number, found.clone());
        found
    }

    /// Like [`Store::dependencies`], for ads of the store that are matched with `other`. Attributes of `other` may read
    /// further attributes of the store's ads.
    pub fn dependencies_with(&mut self, other: &Ad, expression: &Expression) -> Option<Dependencies> {
        let mut names: IndexSet<Name> = IndexSet::new();
        let add = |mentions: &FreeNames, names: &mut IndexSet<Name>| {
            names.extend(mentions.names.iter().filter(|name| !is_side_name(name)).cloned());
            (!mentions.reads_unknown()).then_some(())
        };
        add(&self.free_names_of(expression), &mut names)?;
        transitive_closure(&mut names, |name, names| {
            if let Some(bound) = other.get(name).filter(|bound| !matches!(bound.kind(), ExpressionKind::Literal(_))) {
                add(&self.free_names_of(bound), names)?;
            }
            let dialect = self.dialect;
            add(self.column(name).free_names(dialect), names)
        })?;
        names.sort();
        let numbers = names.iter().map(|name| match self.name_ids.get_index_of(name) {
            Some(known) => known,
            None => self.name_ids.insert_full(name.clone()).0,
        });
        let name_ids = numbers.collect();
        Some(Dependencies { names: names.into_iter().collect(), name_ids })
    }

    fn free_names_of(&mut self, expression: &Expression) -> Arc<FreeNames> {
        let number = self.intern(expression);
        let known = self.free_names.entry(number).or_insert_with(|| Arc::new(FreeNames::of(expression, self.dialect)));
        Arc::clone(known)
    }

    /// Returns the column of the only one of these attributes that some ad has; `None` if there are several, or none.
    fn lone_column(&mut self, names: &[Name]) -> Option<LoneColumn> {
        let mut present = names.iter().filter(|name| !self.column(name).expressions().is_empty());
        let (Some(name), None) = (present.next(), present.next()) else { return None };
        let shape =
            self.lone_shapes.entry(name.clone()).or_insert_with(|| Arc::new([name.clone()].into_iter().collect()));
        Some(LoneColumn { shape: Arc::clone(shape), column: self.column(name) })
    }

    /// Partitions the rows into groups that bind equal expressions to these attributes. If `names` is `None`, each row
    /// is a group of its own. A partition by names is cached.
    pub fn partition(&mut self, names: Option<Arc<[Name]>>) -> Arc<Partition> {
        let Some(names) = names else { return Arc::new(Partition::discrete(self.ads.len())) };
        // An attribute that no ad has separates no rows. Without it, more expressions share one partition.
        let mut is_absent = |name: &Name| self.column(name).expressions().is_empty();
        let names: Arc<[Name]> = names.iter().filter(|name| !is_absent(name)).cloned().collect();
        if let Some(known) = self.partitions.get(&names) {
            return Arc::clone(known);
        }
        self.partitions.make_room(self.ads.len() * size_of::<u32>());
        let mut groups = Partition::new(self.ads.len());
        for name in &*names {
            let attribute = self.column(name);
            groups.split(attribute.code_count(), |row| Some(attribute.code(row)));
        }
        let groups = Arc::new(groups);
        self.partitions.insert(names, Arc::clone(&groups));
        groups
    }
}

#[cfg(test)]
mod tests;
