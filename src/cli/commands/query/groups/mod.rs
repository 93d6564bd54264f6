//! `query --group-by`: the ads of each group counted, and values in them added up.

mod aggregate;
mod group_args;
mod having;
mod usage;

use std::cmp::Ordering;

use classad::ad::{Ad, Expression, Value};
use classad::eval::Context;
use classad::text::{closest_names, counted, suggestion, with_commas};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::cli::outcome::Failure;
use crate::cli::render::rows::TableCell;
use crate::cli::session::Session;
use aggregate::{Accumulator, AggregateFunction};
use classad::query::AdLookup;
use classad::query::compare_naturally;
use having::GroupCondition;

pub use group_args::GroupArgs;
pub use usage::UsageColumns;

/// Name of the column with the number of ads.
const COUNT_COLUMN: &str = "ads";

/// Text of the first cell of the row for all groups.
const TOTAL_LABEL: &str = "total";

/// The columns of groups.
pub struct GroupColumns {
    /// The keys, each with the name of its column.
    keys: Vec<(String, Expression)>,
    aggregates: Vec<Aggregate>,
    /// The order of the groups: indexes of columns, and whether they descend.
    order: Vec<(usize, bool)>,
    /// The condition that groups must satisfy.
    having: Option<GroupCondition>,
    has_percentages: bool,
    has_totals: bool,
    /// What `--usage` needs; `None` without it.
    usage: Option<UsageColumns>,
}

/// A column with a result for each group.
struct Aggregate {
    name: String,
    function: AggregateFunction,
    expression: Expression,
}

/// The ads of each group so far, in the order in which groups were first seen. Tables of adjacent ads are merged in the
/// order of the ads: those of blocks, and those of parts.
#[derive(Default, Serialize, Deserialize)]
pub struct GroupedAds {
    #[serde(with = "pairs")]
    groups: IndexMap<Vec<TableCell>, Group>,
    /// Number of evaluations that exceeded a budget.
    pub failures: u64,
}

/// The ads of a group.
#[derive(Clone, Default, Serialize, Deserialize)]
struct Group {
    ads: usize,
    values: Vec<Accumulator>,
    /// The last ad, for `--usage` with `--pool`.
    #[serde(skip)]
    last: Option<Ad>,
}

/// Groups in JSON: pairs of a key and a group.
mod pairs {
    use serde::{Deserialize, Deserializer, Serializer};

    use super::{Group, IndexMap, TableCell};

    pub fn serialize<S: Serializer>(
        groups: &IndexMap<Vec<TableCell>, Group>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(groups)
    }

    pub fn deserialize<'d, D: Deserializer<'d>>(reader: D) -> Result<IndexMap<Vec<TableCell>, Group>, D::Error> {
        Ok(Vec::deserialize(reader)?.into_iter().collect())
    }
}

impl GroupColumns {
    /// Returns all expressions that are evaluated in an ad.
    pub fn expressions(&self) -> impl Iterator<Item = &Expression> {
        let aggregates = self.aggregates.iter().map(|aggregate| &aggregate.expression);
        self.keys.iter().map(|(_, expression)| expression).chain(aggregates)
    }

    /// Returns the names of the columns.
    pub fn header(&self) -> Vec<String> {
        let keys = self.keys.iter().map(|(name, _)| name.clone());
        let mut header: Vec<String> = keys.collect();
        if let Some(usage) = &self.usage {
            header.extend(usage.header());
            return header;
        }
        let mut add = |name: &str, has_percentage: bool| {
            header.push(name.to_owned());
            header.extend(has_percentage.then(|| format!("percent({name})")));
        };
        add(COUNT_COLUMN, self.has_percentages);
        self.aggregates.iter().for_each(|aggregate| add(&aggregate.name, self.has_percentage(aggregate)));
        header
    }

    /// Whether groups must satisfy a condition.
    pub fn has_condition(&self) -> bool {
        self.having.is_some()
    }

    /// Whether the last ad of each group is kept, whole.
    pub fn keeps_ads(&self) -> bool {
        self.usage.as_ref().is_some_and(UsageColumns::keeps_jobs)
    }

    /// Whether a column with percentages follows that of the aggregate.
    fn has_percentage(&self, aggregate: &Aggregate) -> bool {
        self.has_percentages && aggregate.function == AggregateFunction::Sum
    }

    /// Finds the column of a key of `--sort`. A `-` before its name makes the order descending.
    fn find(&self, text: &str, is_reversed: bool) -> Result<(usize, bool), Failure> {
        let header = self.header();
        let plain = |text: &str| text.split_whitespace().collect::<String>();
        let index = |name: &str| header.iter().position(|column| plain(column).eq_ignore_ascii_case(&plain(name)));
        let descending = || Some((index(text.trim().strip_prefix('-')?)?, true));
        let found = index(text).map(|column| (column, false)).or_else(descending);
        let (column, is_descending) = found.ok_or_else(|| {
            let near = suggestion(&closest_names(text, header.iter().map(String::as_str)));
            Failure::refused(format!(
                "--sort: there is no column {text}{near}; the columns of the groups are {}",
                header.join(", ")
            ))
        })?;
        Ok((column, is_descending != is_reversed))
    }

    /// Compares two rows by the columns that decide the order: by the number of ads if none does.
    fn compare(&self, a: &[TableCell], b: &[TableCell]) -> Ordering {
        let by_count = [(self.keys.len(), true)];
        let order = if self.order.is_empty() { &by_count[..] } else { &self.order };
        let parts = order.iter().map(|(column, is_descending)| compare_cells(&a[*column], &b[*column], *is_descending));
        parts.fold(Ordering::Equal, Ordering::then)
    }
}

/// Compares cells: numbers come first, then texts. Undefined cells come last, in ascending and in descending order.
fn compare_cells(a: &TableCell, b: &TableCell, is_descending: bool) -> Ordering {
    let ordering = match (a.number(), b.number()) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        (a, b) => a.is_none().cmp(&b.is_none()),
    };
    let ordering = ordering.then_with(|| compare_naturally(a.text.as_bytes(), b.text.as_bytes()));
    let ordering = if is_descending { ordering.reverse() } else { ordering };
    a.is_null().cmp(&b.is_null()).then(ordering)
}

impl GroupedAds {
    /// Adds an ad.
    pub fn add(&mut self, columns: &GroupColumns, ad: &Ad, context: &Context) {
        let mut lookup = AdLookup::new(ad, context);
        let key = columns
            .keys
            .iter()
            .map(|(_, expression)| TableCell::from(&lookup.value_with_elements(expression)))
            .collect();
        let group = self.groups.entry(key).or_insert_with(|| Group::empty(columns));
        group.ads += 1;
        if columns.keeps_ads() {
            group.last = Some(ad.clone());
        }
        for (aggregate, accumulator) in columns.aggregates.iter().zip(&mut group.values) {
            aggregate.function.add(accumulator, lookup.value(&aggregate.expression));
        }
        self.failures += lookup.failures;
    }

    /// Adds the groups of later ads.
    pub fn merge(&mut self, columns: &GroupColumns, later: GroupedAds) {
        self.failures = self.failures.saturating_add(later.failures);
        for (key, later) in later.groups {
            self.groups.entry(key).or_insert_with(|| Group::empty(columns)).merge(columns, later);
        }
    }

    /// Returns the number of ads.
    pub fn ads(&self) -> usize {
        count_ads(self.groups.values())
    }

    /// Prints a note of groups whose sum or mean is undefined, because none of their ads has a number.
    fn note_groups_without_number(&self, session: &Session, columns: &GroupColumns) {
        for (index, aggregate) in columns.aggregates.iter().enumerate() {
            if !aggregate.function.is_of_numbers() {
                continue;
            }
            let without: Vec<&Group> =
                self.groups.values().filter(|group| group.values[index].count == 0 && group.ads > 0).collect();
            if !without.is_empty() {
                let ads = count_ads(without.iter().copied());
                let name = &aggregate.name;
                let groups = if columns.keys.is_empty() {
                    String::new()
                } else {
                    format!(" for {}", counted(without.len(), "group"))
                };
                let text = match ads {
                    1 => format!("{name} is undefined{groups}: the only ad has no number"),
                    ads if groups.is_empty() => {
                        format!("{name} is undefined: none of the {} ads has a number", with_commas(ads))
                    }
                    ads => format!(
                        "{name} is undefined{groups}: none of the {} ads in them has a number",
                        with_commas(ads)
                    ),
                };
                session.note(&text);
            }
        }
    }

    /// Returns at most `limit` rows in their order, and the row for all groups if it is wanted. Also returns the number of
    /// conditions that exceeded a budget; they accept no group. Prints a note of the values that are left out.
    pub fn into_rows(mut self, session: &Session, columns: &GroupColumns, limit: usize) -> (Vec<Vec<TableCell>>, u64) {
        if let Some(usage) = &columns.usage {
            return (usage.rows(session, self, limit), 0);
        }
        let mut all = Group::empty(columns);
        self.groups.values().for_each(|group| all.merge(columns, group.clone()));
        if columns.keys.is_empty() && self.groups.is_empty() {
            self.groups.insert(Vec::new(), all.clone());
        }
        self.note_groups_without_number(session, columns);
        let mut rows: Vec<Vec<TableCell>> =
            self.groups.into_iter().map(|(key, group)| group.row(columns, key, &all)).collect();
        let mut failures = 0;
        if let Some(condition) = &columns.having {
            rows.retain(|row| {
                let accepts = condition.accepts(row);
                failures += u64::from(accepts.is_none());
                accepts == Some(true)
            });
        }
        rows.sort_by(|a, b| columns.compare(a, b));
        rows.truncate(limit);
        for (aggregate, values) in columns.aggregates.iter().zip(&all.values).filter(|(_, values)| values.unfit > 0) {
            let what = match (aggregate.function.is_of_numbers(), values.unfit) {
                (true, 1) => "value that is not a number",
                (true, _) => "values that are not numbers",
                (false, 1) => "value that is an error, a list or an ad",
                (false, _) => "values that are errors, lists or ads",
            };
            session.note(&format!("{} ignores {} {what}", aggregate.name, values.unfit));
        }
        if columns.has_totals {
            let labels = std::iter::once(TOTAL_LABEL).chain(std::iter::repeat(""));
            let key = labels.take(columns.keys.len()).map(TableCell::from).collect();
            rows.push(all.row(columns, key, &all));
        }
        (rows, failures)
    }
}

/// Returns the number of ads in some groups. Damaged partial results may claim more than there can be.
fn count_ads<'g>(groups: impl Iterator<Item = &'g Group>) -> usize {
    groups.fold(0, |ads, group| ads.saturating_add(group.ads))
}

impl Group {
    fn empty(columns: &GroupColumns) -> Self {
        Group { ads: 0, values: vec![Accumulator::default(); columns.aggregates.len()], last: None }
    }

    fn merge(&mut self, columns: &GroupColumns, later: Group) {
        self.ads = self.ads.saturating_add(later.ads);
        self.last = later.last.or(self.last.take());
        for ((aggregate, accumulator), later) in columns.aggregates.iter().zip(&mut self.values).zip(later.values) {
            aggregate.function.merge(accumulator, later);
        }
    }

    /// Returns the cells of the group's row. `all` has the ads of all groups.
    fn row(&self, columns: &GroupColumns, key: Vec<TableCell>, all: &Group) -> Vec<TableCell> {
        let mut row = key;
        let mut add = |cell: TableCell, whole: Option<TableCell>| {
            let percentage = whole.map(|whole| percentage(&cell, &whole));
            row.push(cell);
            row.extend(percentage);
        };
        add(self.ads.into(), columns.has_percentages.then(|| all.ads.into()));
        for (aggregate, (values, all)) in columns.aggregates.iter().zip(self.values.iter().zip(&all.values)) {
            let result = |values| aggregate.function.result(values);
            add(result(values), columns.has_percentage(aggregate).then(|| result(all)));
        }
        row
    }
}

/// Returns the percentage of a number in another, rounded to hundredths; undefined without such a number.
fn percentage(part: &TableCell, whole: &TableCell) -> TableCell {
    let numbers = part.number().zip(whole.number()).filter(|(_, whole)| *whole != 0.0);
    // Adding 0 makes 0 of -0.
    let percentage = numbers.map(|(part, whole)| (part / whole * 10_000.0).round() / 100.0 + 0.0);
    let percentage = percentage.filter(|percentage| percentage.is_finite());
    TableCell::from(&percentage.map_or(Value::Undefined, Value::Real))
}

#[cfg(test)]
mod tests {
    use classad::ad::Dialect;
    use classad::syntax::{ParseOptions, parse_expression};

    use super::*;

    /// Columns of groups by `key`, with the sum and the mean of `x`.
    fn columns(has_percentages: bool) -> GroupColumns {
        let x = parse_expression(b"x", ParseOptions::new(Dialect::Condor)).unwrap();
        let aggregate = |name: &str, function| Aggregate { name: name.to_owned(), function, expression: x.clone() };
        GroupColumns {
            keys: vec![("key".to_owned(), x.clone())],
            aggregates: vec![aggregate("sum(x)", AggregateFunction::Sum), aggregate("-m", AggregateFunction::Mean)],
            order: Vec::new(),
            having: None,
            has_percentages,
            has_totals: false,
            usage: None,
        }
    }

    #[test]
    fn a_name_finds_its_column_in_any_case_and_with_any_blanks() {
        assert_eq!(columns(false).header(), ["key", "ads", "sum(x)", "-m"]);
        assert_eq!(columns(true).header(), ["key", "ads", "percent(ads)", "sum(x)", "percent(sum(x))", "-m"]);
        for (name, is_reversed, expected) in [
            ("key", false, Some((0, false))),
            ("-key", false, Some((0, true))),
            ("key", true, Some((0, true))),
            ("-key", true, Some((0, false))),
            (" - ADS ", false, Some((1, true))),
            ("Sum ( X )", false, Some((2, false))),
            ("-m", false, Some((3, false))),
            ("--m", false, Some((3, true))),
            ("m", false, None),
            ("", false, None),
        ] {
            assert_eq!(columns(false).find(name, is_reversed).ok(), expected, "{name}");
        }
    }

    #[test]
    fn cells_are_ordered_numbers_first_and_undefined_ones_last() {
        let cell = |text: &str| match text {
            "undefined" => TableCell::from(&Value::Undefined),
            text => {
                text.parse::<f64>().map_or_else(|_| TableCell::from(text), |real| TableCell::from(&Value::Real(real)))
            }
        };
        let order = ["-1", "2", "10", "1.5x", "a2", "a10", "b", "undefined"];
        let down = ["b", "a10", "a2", "1.5x", "10", "2", "-1", "undefined"];
        for (order, is_descending) in [(order, false), (down, true)] {
            for (place, one) in order.iter().enumerate() {
                for (other_place, other) in order.iter().enumerate() {
                    let found = compare_cells(&cell(one), &cell(other), is_descending);
                    assert_eq!(found, place.cmp(&other_place), "{one} {other} {is_descending}");
                }
            }
        }
    }

    #[test]
    fn percentages_are_rounded_and_need_a_whole() {
        let real = |real: f64| TableCell::from(&Value::Real(real));
        for (part, whole, expected) in [
            (1.0, 3.0, "33.33"),
            (2.0, 3.0, "66.67"),
            (3.0, 3.0, "100.0"),
            (0.0, 3.0, "0.0"),
            (-0.0, 3.0, "0.0"),
            (-1.0, 2.0, "-50.0"),
            (1.0, 0.0, "undefined"),
            (f64::INFINITY, 2.0, "undefined"),
            (1.0, f64::INFINITY, "undefined"),
            (1e308, 1e-300, "undefined"),
        ] {
            assert_eq!(percentage(&real(part), &real(whole)).text, expected, "{part} of {whole}");
        }
        assert_eq!(percentage(&TableCell::from("a"), &real(2.0)).text, "undefined");
        assert_eq!(percentage(&real(2.0), &TableCell::from(&Value::Undefined)).text, "undefined");
    }

    #[test]
    fn rows_without_an_order_are_sorted_by_the_number_of_ads() {
        let mut columns = columns(false);
        let row =
            |key: &str, ads: usize| vec![TableCell::from(key), ads.into(), TableCell::from("x"), TableCell::from("y")];
        assert_eq!(columns.compare(&row("a", 2), &row("b", 3)), Ordering::Greater);
        assert_eq!(columns.compare(&row("a", 2), &row("b", 2)), Ordering::Equal);
        columns.order = vec![(1, false), (0, true)];
        assert_eq!(columns.compare(&row("a", 2), &row("b", 3)), Ordering::Less);
        assert_eq!(columns.compare(&row("a", 2), &row("b", 2)), Ordering::Greater);
    }
}
