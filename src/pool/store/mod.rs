//! The ads of a pool as columns, for expressions that are evaluated in every ad.
//!
//! An expression is evaluated once for each group of ads that agree in all attributes on which its value can depend.

mod clauses;

use std::sync::{Arc, OnceLock};

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use crate::ad::{Ad, AdShape, Dialect, Expression, ExpressionInterner, ExpressionKind, Name, Value};
use crate::constraint::{has_scope_attribute, is_scope_name, is_side_name};
use crate::eval::{Abort, CompiledEvaluator, Context, FreeNames, transitive_closure};

use super::Partition;
use super::expression_column::{ExpressionColumn, ExpressionColumns, build_columns};
use clauses::ClauseValues;

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
    partitions: FxHashMap<Arc<[Name]>, Arc<Partition>>,
    name_ids: IndexSet<Name, FxBuildHasher>,
    interner: ExpressionInterner,
    free_names: FxHashMap<usize, Arc<FreeNames>>,
    /// Dependencies of each expression, by the identifier that [`Store::intern`] returns; `None` if the dependencies
    /// are not known.
    dependencies: FxHashMap<usize, Option<Dependencies>>,
    /// Evaluator of expressions in single ads; `None` before the first evaluation.
    evaluator: Option<CompiledEvaluator>,
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
    values: Vec<Result<Value, Abort>>,
}

impl StoreValues {
    /// Returns the value of the expression in the ad at `row`.
    ///
    /// # Errors
    ///
    /// Fails if the evaluation exceeded a budget or was interrupted.
    pub fn value(&self, row: usize) -> Result<&Value, &Abort> {
        self.values[self.groups.group(row).unwrap_or_default()].as_ref()
    }
}

impl Store {
    /// Creates a store of some ads. Columns are built on first use.
    #[must_use]
    pub fn new(ads: Vec<Ad>, dialect: Dialect) -> Self {
        Store { ads, dialect, ..Store::default() }
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
        let has_dependencies = dependencies.is_some();
        let groups = self.partition(dependencies.map(|found| found.names));
        let clauses = if has_dependencies { ClauseValues::of(self, expression, &groups, context) } else { None };
        let (ads, evaluator) = self.ads_and_evaluator();
        let value = |row: &u32| {
            let row = *row as usize;
            match clauses.as_ref().and_then(|clauses| clauses.conjunction(row)) {
                Some(value) => Ok(value),
                None => evaluator.evaluate(expression, &ads[row], context),
            }
        };
        let values = groups.first_rows().iter().map(value).collect();
        StoreValues { groups, values }
    }

    fn ads_and_evaluator(&mut self) -> (&[Ad], &mut CompiledEvaluator) {
        (&self.ads, self.evaluator.get_or_insert_with(|| CompiledEvaluator::for_ads(self.dialect)))
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

    /// Partitions the rows into groups that bind equal expressions to these attributes. If `names` is `None`, each row
    /// is a group of its own. A partition by names is cached.
    pub fn partition(&mut self, names: Option<Arc<[Name]>>) -> Arc<Partition> {
        let Some(names) = names else { return Arc::new(Partition::discrete(self.ads.len())) };
        if let Some(known) = self.partitions.get(&names) {
            return Arc::clone(known);
        }
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
