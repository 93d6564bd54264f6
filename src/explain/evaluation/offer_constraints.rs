//! The clauses of the offers' constraints: which offers have which clause, at which position of their constraint.

use std::sync::{Arc, OnceLock};

use fixedbitset::FixedBitSet;
use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxBuildHasher;

use crate::ad::{Ad, Dialect, Name};
use crate::eval::FreeNames;
use crate::explain::clause_weight::ClauseWeight;
use crate::explain::clauses::{ExplainedClause, split_constraint, text};
use crate::pool::{Dependencies, Partition, SparseRows, Store, code};

use super::OfferTable;

/// The distinct clauses of the offers' constraints.
pub struct OfferConstraints {
    /// The rows in groups with equal constraints.
    groups: Arc<Partition>,
    /// The clauses of each group.
    lists: Vec<GroupClauses>,
    /// The distinct clauses, and the whole constraints of all groups.
    pub clauses: Vec<OfferClause>,
    /// The clauses that depend on the same attributes, without whole constraints.
    pub families: Vec<ClauseFamily>,
    /// The clauses at each position of constraints, in the order in which an unmet clause decides: by their
    /// [`ClauseWeight`], then by position. A row has at most one clause at a position.
    pub units: Vec<ClauseUnit>,
    /// The rows that have a constraint.
    pub constrained: FixedBitSet,
    /// The distinct texts of the clauses. Clauses with different expressions can have one text.
    pub texts: Vec<String>,
}

/// The clauses of the constraint that the rows of a group have. Clauses are indexes into [`OfferConstraints::clauses`].
struct GroupClauses {
    /// The clauses in the order of evaluation; empty if the rows have no constraint.
    split: Box<[u32]>,
    /// The whole constraint as one clause.
    whole: Option<u32>,
}

/// A clause of offers' constraints.
pub struct OfferClause {
    pub clause: ExplainedClause,
    /// Index of the clause's text.
    pub text: usize,
    /// The rows with this clause, ascending.
    pub rows: Box<[u32]>,
    /// The groups of rows with this clause.
    groups: Vec<u32>,
    /// Index of the clause's family, and of the clause in the family; `None` for a whole constraint.
    pub place: Option<(usize, usize)>,
    /// Whether the clause depends on an attribute that contains it, whatever the request is.
    pub is_circular: bool,
    pub weight: ClauseWeight,
    /// The names that the clause reads from the request, and those that it reads without a qualifier.
    mentions: OnceLock<[Box<[Name]>; 2]>,
    reads_secret: OnceLock<bool>,
}

/// Clauses that depend on the same attributes.
pub struct ClauseFamily {
    /// The attributes; `None` if they are unknown.
    pub dependencies: Option<Dependencies>,
    pub members: Vec<FamilyMember>,
}

/// A clause of a family.
pub struct FamilyMember {
    /// Index of the clause.
    pub clause: usize,
    /// The rows of the clause in groups that agree in the attributes of the family; empty if these are unknown.
    pub local: LocalGroups,
}

/// The rows of a clause in groups that agree in some attributes.
#[derive(Default)]
pub struct LocalGroups {
    /// The group of each row, in the order of [`OfferClause::rows`].
    pub of_row: Box<[u32]>,
    /// The first row of each group.
    pub first_rows: Box<[u32]>,
}

/// A clause at a position of constraints.
pub struct ClauseUnit {
    /// Index of the clause.
    pub clause: usize,
    /// The same as [`OfferClause::place`], within reach of a loop over all units.
    pub place: Option<(usize, usize)>,
    /// The rows with the clause at this position.
    pub rows: SparseRows,
}

/// Divisor of the number of rows. A clause with at least this share of the rows gets a bitmap, which is then faster
/// than a list.
const MIN_MANY_SHARE: usize = 32;

/// Whether `rows` of `all` rows are many.
pub fn is_many(rows: usize, all: usize) -> bool {
    rows * MIN_MANY_SHARE >= all
}

impl LocalGroups {
    /// Groups some rows as a partition of all rows does.
    pub fn new(rows: &[u32], partition: &Partition) -> Self {
        let groups = partition.groups();
        // For each group of the partition its number among the groups of `rows`.
        let mut numbers = vec![u32::MAX; partition.first_rows().len()];
        let mut first_rows = Vec::new();
        let of_row = rows.iter().map(|row| {
            let number = &mut numbers[groups[*row as usize] as usize];
            if *number == u32::MAX {
                *number = code(first_rows.len());
                first_rows.push(*row);
            }
            *number
        });
        LocalGroups { of_row: of_row.collect(), first_rows: first_rows.into() }
    }

    /// The size in bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.of_row) + size_of_val(&*self.first_rows)
    }
}

impl OfferConstraints {
    pub fn new(table: &OfferTable) -> Self {
        let names: Arc<[Name]> = table.constraint_attributes().into();
        let groups = Arc::clone(&table.groups(Some(names)).partition);
        let mut builder = ConstraintsBuilder::default();
        let lists: Vec<GroupClauses> = groups.first_rows().iter().map(|row| builder.add_group(table, *row)).collect();
        let positions = lists.iter().map(|list| list.split.len()).max().unwrap_or_default();
        let mut stages: Vec<IndexMap<u32, SparseRows, FxBuildHasher>> = vec![IndexMap::default(); positions];
        let mut rows: Vec<Vec<u32>> = vec![Vec::new(); builder.clauses.len()];
        let mut constrained = FixedBitSet::with_capacity(table.row_count());
        for (row, group) in groups.groups().iter().enumerate() {
            let list = &lists[*group as usize];
            constrained.set(row, !list.split.is_empty());
            for (position, clause) in list.split.iter().enumerate() {
                // A constraint can have equal clauses at several positions.
                let of_clause = &mut rows[*clause as usize];
                if of_clause.last() != Some(&code(row)) {
                    of_clause.push(code(row));
                }
                stages[position].entry(*clause).or_default().push(row);
            }
            if let Some(whole) = list.whole {
                rows[whole as usize].push(code(row));
            }
        }
        let unit = |(clause, rows): (u32, SparseRows)| ClauseUnit { clause: clause as usize, place: None, rows };
        let units = stages.into_iter().flatten().map(unit).collect();
        let mut found = OfferConstraints {
            groups,
            lists,
            clauses: Vec::new(),
            families: Vec::new(),
            units,
            constrained,
            texts: builder.texts.into_iter().collect(),
        };
        found.clauses = builder.clauses.into_values().zip(rows).map(|(clause, rows)| clause.with_rows(rows)).collect();
        for (group, list) in found.lists.iter().enumerate() {
            for clause in &list.split {
                found.clauses[*clause as usize].groups.push(code(group));
            }
        }
        let OfferConstraints { units, clauses, .. } = &mut found;
        units.sort_by_key(|unit| clauses[unit.clause].weight.precedence());
        found.group_families(table);
        found
    }

    /// Groups the clauses by the attributes on which they depend.
    fn group_families(&mut self, table: &OfferTable) {
        let mut families: IndexMap<Option<Arc<[Name]>>, ClauseFamily, FxBuildHasher> = IndexMap::default();
        for (index, clause) in self.clauses.iter_mut().enumerate() {
            // A whole constraint is evaluated only if a clause of it is circular.
            if clause.clause.is_whole {
                continue;
            }
            let dependencies = clause.dependencies(table, &mut table.store());
            let mut path = clause.clause.path.iter();
            clause.is_circular = dependencies.as_ref().is_some_and(|found| path.any(|name| found.names.contains(name)));
            let names = dependencies.as_ref().map(|found| Arc::clone(&found.names));
            let local = match &names {
                Some(names) => LocalGroups::new(&clause.rows, &table.groups(Some(Arc::clone(names))).partition),
                None => LocalGroups::default(),
            };
            let family = families.entry(names);
            let number = family.index();
            let family = family.or_insert_with(|| ClauseFamily { dependencies, members: Vec::new() });
            clause.place = Some((number, family.members.len()));
            family.members.push(FamilyMember { clause: index, local });
        }
        self.families = families.into_values().collect();
        for unit in &mut self.units {
            unit.place = self.clauses[unit.clause].place;
        }
    }

    /// Index of the group of a row.
    pub fn group_of(&self, row: usize) -> usize {
        self.groups.groups()[row] as usize
    }

    /// Returns the clauses of a group's constraint, in the order of evaluation. There are none if its rows have no
    /// constraint. With `as_whole` the constraint is one clause.
    pub fn group_clauses(&self, group: usize, as_whole: bool) -> &[u32] {
        let list = &self.lists[group];
        if as_whole { list.whole.as_slice() } else { &list.split }
    }

    /// Returns the groups of rows with a clause.
    pub fn groups_with(&self, clause: usize) -> impl Iterator<Item = usize> + '_ {
        self.clauses[clause].groups.iter().map(|group| *group as usize)
    }
}

/// Collects the distinct clauses of constraints.
#[derive(Default)]
struct ConstraintsBuilder {
    /// The clauses. A key holds the identifier of the expression, the path, and whether it is the whole constraint.
    clauses: IndexMap<(usize, Arc<[Name]>, bool), OfferClause, FxBuildHasher>,
    texts: IndexSet<String, FxBuildHasher>,
}

impl ConstraintsBuilder {
    /// Adds the clauses of a group's constraint. `row` is the first row of the group.
    fn add_group(&mut self, table: &OfferTable, row: u32) -> GroupClauses {
        let ad = &table.ads[row as usize];
        let Some(name) = table.protocol.constraint_name(ad) else {
            return GroupClauses { split: Box::default(), whole: None };
        };
        let clauses = split_constraint(ad, name).into_iter();
        GroupClauses {
            split: clauses.map(|clause| self.add_clause(table, ad, clause)).collect(),
            whole: ExplainedClause::whole_constraint(ad, name).map(|whole| self.add_clause(table, ad, whole)),
        }
    }

    fn add_clause(&mut self, table: &OfferTable, ad: &Ad, clause: ExplainedClause) -> u32 {
        let key = (table.store().intern(&clause.expression), Arc::clone(&clause.path), clause.is_whole);
        let entry = self.clauses.entry(key);
        let index = code(entry.index());
        entry.or_insert_with(|| {
            let text = self.texts.insert_full(text(&clause.expression, table.context.dialect)).0;
            let weight = ClauseWeight::of(&clause.expression, ad, table.context.dialect);
            OfferClause {
                clause,
                weight,
                text,
                rows: Box::default(),
                groups: Vec::new(),
                place: None,
                is_circular: false,
                mentions: OnceLock::new(),
                reads_secret: OnceLock::new(),
            }
        });
        index
    }
}

impl OfferClause {
    fn with_rows(self, rows: Vec<u32>) -> Self {
        OfferClause { rows: rows.into(), ..self }
    }

    /// Returns the attributes on which the clause depends if the request binds literals to them; `None` if they are
    /// unknown.
    fn dependencies(&self, table: &OfferTable, store: &mut Store) -> Option<Dependencies> {
        if table.has_scope_attribute { None } else { store.dependencies(&self.clause.expression) }
    }

    /// Whether the clause reads a private attribute.
    pub fn reads_secret(&self, dialect: Dialect) -> bool {
        *self
            .reads_secret
            .get_or_init(|| FreeNames::of(&self.clause.expression, dialect).names.iter().any(Name::is_secret))
    }

    /// Returns the names that the clause reads from the request, and the names that it reads without a qualifier.
    pub fn mentions(&self, dialect: Dialect) -> &[Box<[Name]>; 2] {
        self.mentions.get_or_init(|| {
            let mentions = FreeNames::of(&self.clause.expression, dialect);
            [mentions.theirs, mentions.unqualified].map(|names| names.iter().cloned().collect())
        })
    }
}
