//! `query --group-by`: the ads of each group counted, and values in them added up.

mod aggregate;
mod having;

use std::cmp::Ordering;

use clap::Args;
use classad::ad::{Ad, Expression, Value};
use classad::eval::Context;
use classad::text::{closest_names, counted, suggestion, with_commas};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::ad_lookup::AdLookup;
use super::sort::compare_naturally;
use crate::cli::args::named_expressions::{named_expressions, refuse_equal_names, split_expressions};
use crate::cli::outcome::{Failure, refuse};
use crate::cli::render::rows::TableCell;
use crate::cli::session::Session;
use aggregate::{Accumulator, AggregateFunction};
use having::GroupCondition;

/// Name of the column with the number of ads.
const COUNT_COLUMN: &str = "ads";

/// Text of the first cell of the row for all groups.
const TOTAL_LABEL: &str = "total";

/// The options about groups.
#[derive(Args, Default)]
pub struct GroupArgs {
    /// Group the ads by these expressions, and print the number of ads in each group
    ///
    /// `NAME=EXPR` names a column. The largest groups come first. `"a"` and `"A"` are two groups; `toLower(NAME)`
    /// ignores case. --sort then takes names of columns, such as `ads` or `sum(EXPR)`.
    #[arg(long, value_name = "[NAME=]EXPR,...")]
    pub group_by: Option<String>,
    /// Print the sum of each expression over the ads of each group, or over all selected ads
    ///
    /// Booleans count as 1 and 0; other values that are not numbers are ignored.
    #[arg(long, value_name = "[NAME=]EXPR,...", allow_hyphen_values = true)]
    sum: Vec<String>,
    /// Print the mean of each expression, over numbers and booleans
    #[arg(long, value_name = "[NAME=]EXPR,...", allow_hyphen_values = true)]
    mean: Vec<String>,
    /// Print the median of each expression, over numbers and booleans
    #[arg(long, value_name = "[NAME=]EXPR,...", allow_hyphen_values = true)]
    median: Vec<String>,
    /// Print the percentile P of each expression, P from 0 to 100, such as `95:Memory`
    ///
    /// P also applies to the expressions after it: `50:A,B,95:A`. Between two numbers, the percentile is interpolated
    /// linearly.
    #[arg(long, value_name = "P:[NAME=]EXPR,...", allow_hyphen_values = true)]
    percentile: Vec<String>,
    /// Print the least value of each expression; values compare as in --sort
    #[arg(long, value_name = "[NAME=]EXPR,...", allow_hyphen_values = true)]
    min: Vec<String>,
    /// Print the greatest value of each expression; values compare as in --sort
    #[arg(long, value_name = "[NAME=]EXPR,...", allow_hyphen_values = true)]
    max: Vec<String>,
    /// Print only groups for which EXPR is true, such as `ads > 20 && sum(Cpus) > 100`
    ///
    /// EXPR refers to columns by their names: `sum(Cpus)` needs --sum Cpus.
    #[arg(long, value_name = "EXPR", requires = "group_by", allow_hyphen_values = true)]
    having: Option<String>,
    /// Also print the share of each group in the number of ads and in each sum, in percent
    ///
    /// The columns are `percent(ads)` and `percent(sum(EXPR))`. 100 is the total of all groups, printed or not.
    #[arg(long, requires = "group_by")]
    percent: bool,
    /// Also print a last row with the totals of all groups, printed or not
    #[arg(long, requires = "group_by")]
    totals: bool,
}

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

impl GroupArgs {
    /// Whether rows about groups are wanted.
    pub fn is_given(&self) -> bool {
        let aggregates = [&self.sum, &self.mean, &self.median, &self.percentile, &self.min, &self.max];
        self.group_by.is_some() || aggregates.into_iter().any(|expressions| !expressions.is_empty())
    }

    /// Parses the options; `None` if no groups are wanted. `sort` names the columns that decide the order.
    pub fn columns(
        &self,
        session: &mut Session,
        sort: &[String],
        is_reversed: bool,
    ) -> Result<Option<GroupColumns>, Failure> {
        use AggregateFunction::{Max, Mean, Median, Min, Sum};
        let mut options = vec![
            (Sum, "--sum", self.sum.clone()),
            (Mean, "--mean", self.mean.clone()),
            (Median, "--median", self.median.clone()),
        ];
        for list in &self.percentile {
            let mut percentile = None;
            for part in split_expressions(list) {
                let (own, expression) = split_percentile(part);
                percentile = own.or(percentile);
                if let Some(AggregateFunction::Percentile(hundredths @ 1..100)) = own {
                    let percent = f64::from(hundredths) / 100.0;
                    session.note(&format!("--percentile counts in percent: {percent} is less than 1 percent"));
                }
                let Some(function) = percentile else {
                    return refuse(
                        "--percentile needs a number from 0 to 100, a colon and an expression, such as 95:Memory",
                    );
                };
                options.push((function, "--percentile", vec![expression.to_owned()]));
            }
        }
        options.extend([(Min, "--min", self.min.clone()), (Max, "--max", self.max.clone())]);
        let mut aggregates = Vec::new();
        for (function, option, texts) in options {
            for (name, text, expression) in named_expressions(session, option, &texts)? {
                let name = name.unwrap_or_else(|| format!("{}({text})", function.name()));
                aggregates.push(Aggregate { name, function, expression });
            }
        }
        if self.group_by.is_none() && aggregates.is_empty() {
            return Ok(None);
        }
        let keys = named_expressions(session, "--group-by", self.group_by.as_slice())?;
        let keys = keys.into_iter().map(|(name, text, expression)| (name.unwrap_or(text), expression)).collect();
        let mut columns = GroupColumns {
            keys,
            aggregates,
            order: Vec::new(),
            having: None,
            has_percentages: self.percent,
            has_totals: self.totals,
        };
        refuse_equal_names(&columns.header())?;
        if let Some(condition) = &self.having {
            columns.having = Some(GroupCondition::new(session, condition, &columns.header())?);
        }
        columns.order = sort.iter().map(|name| columns.find(name, is_reversed)).collect::<Result<_, _>>()?;
        Ok(Some(columns))
    }
}

/// Splits `95:EXPR` into the percentile and the expression. A text that does not begin so is an expression.
fn split_percentile(text: &str) -> (Option<AggregateFunction>, &str) {
    let split = text.split_once(':').and_then(|(percent, expression)| {
        let percent = percent.trim().parse::<f64>().ok().filter(|percent| (0.0..=100.0).contains(percent))?;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // at most 10,000
        Some((Some(AggregateFunction::Percentile((percent * 100.0).round() as u16)), expression))
    });
    split.unwrap_or((None, text))
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
        let mut add = |name: &str, has_percentage: bool| {
            header.push(name.to_owned());
            header.extend(has_percentage.then(|| format!("percent({name})")));
        };
        add(COUNT_COLUMN, self.has_percentages);
        self.aggregates.iter().for_each(|aggregate| add(&aggregate.name, self.has_percentage(aggregate)));
        header
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

    /// Returns at most `limit` rows in their order, and the row for all groups if it is wanted. Prints a note of the
    /// values that are left out.
    pub fn into_rows(mut self, session: &Session, columns: &GroupColumns, limit: usize) -> Vec<Vec<TableCell>> {
        let mut all = Group::empty(columns);
        self.groups.values().for_each(|group| all.merge(columns, group.clone()));
        if columns.keys.is_empty() && self.groups.is_empty() {
            self.groups.insert(Vec::new(), all.clone());
        }
        self.note_groups_without_number(session, columns);
        let mut rows: Vec<Vec<TableCell>> =
            self.groups.into_iter().map(|(key, group)| group.row(columns, key, &all)).collect();
        if let Some(condition) = &columns.having {
            rows.retain(|row| condition.accepts(row));
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
        rows
    }
}

/// Returns the number of ads in some groups. Damaged partial results may claim more than there can be.
fn count_ads<'g>(groups: impl Iterator<Item = &'g Group>) -> usize {
    groups.fold(0, |ads, group| ads.saturating_add(group.ads))
}

impl Group {
    fn empty(columns: &GroupColumns) -> Self {
        Group { ads: 0, values: vec![Accumulator::default(); columns.aggregates.len()] }
    }

    fn merge(&mut self, columns: &GroupColumns, later: Group) {
        self.ads = self.ads.saturating_add(later.ads);
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
