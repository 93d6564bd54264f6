//! The expressions on the command line of `query`, and their values in ads.

use classad::ad::{Ad, Expression, Name, Value};
use classad::eval::Context;
use classad::query::{ATTEMPT_COLUMNS, AdLookup, SortKey, SortValues, sort_values};
use serde::{Deserialize, Serialize};

use super::QueryCommand;
use super::groups::{GroupColumns, UsageColumns};
use super::print_mask::{MaskCell, PrintMask};
use super::query_ad::QueryAd;
use super::tables::AdTable;
use crate::cli::args::named_expressions::{named_expressions, refuse_equal_names};
use crate::cli::io::argument_text;
use crate::cli::io::named_ad::NamedAd;
use crate::cli::io::unseen_names::UnseenNames;
use crate::cli::outcome::Failure;
use crate::cli::render::output::OutputForm;
use crate::cli::render::rows::TableCell;
use crate::cli::session::Session;

/// The parsed expressions of the command line.
pub struct Columns {
    /// Expressions of `--af`, each with its text on the command line. In a table, also the names of `--attributes`.
    pub af: Vec<(String, Expression)>,
    /// Columns of HTCondor's `-autoformat` and `-format`.
    pub mask: Option<PrintMask>,
    /// Attributes to print of each ad; all if empty.
    pub attributes: Vec<Name>,
    /// The table of HTCondor's tools that is printed instead.
    pub table: Option<AdTable>,
    /// The keys of `--sort`.
    pub sort: Vec<SortKey>,
    /// The columns of `--group-by`, `--sum` and so on; `None` if there are no groups.
    pub group: Option<GroupColumns>,
    pub id: Option<Expression>,
    /// Whether rows have values instead of cells, for typed columns.
    pub writes_parquet: bool,
    /// Whether equal rows are found by their cells.
    has_distinct_rows: bool,
}

/// The values of some expressions in an ad, one cell for each expression.
#[derive(Default, Serialize, Deserialize)]
pub struct Row {
    pub cells: Vec<TableCell>,
    /// The values themselves, for typed columns.
    #[serde(skip)]
    pub values: Vec<Value>,
    /// The cells of the print mask instead, if there is one.
    pub masked: Vec<MaskCell>,
    /// The values of the keys of `--sort`.
    pub order: SortValues,
    /// Number of cells that are undefined because their evaluation exceeded a budget.
    pub failures: u64,
}

impl Columns {
    pub fn new(
        session: &mut Session,
        query: &QueryCommand,
        asked: QueryAd,
        table: Option<AdTable>,
    ) -> Result<Self, Failure> {
        let af = named_expressions(session, "--af", &query.af)?;
        let has_keys = matches!(query.output.form, Some(OutputForm::Json | OutputForm::Jsonl));
        let names = af.iter().map(|(name, text, _)| name.as_ref().unwrap_or(text));
        refuse_equal_names(names.filter(|_| has_keys))?;
        let group = if query.usage {
            Some(UsageColumns::groups(session, &query.by, &query.pool)?)
        } else {
            query.groups.columns(session, &query.sort, query.desc)?
        };
        let mut af: Vec<(String, Expression)> =
            af.into_iter().map(|(name, text, expression)| (name.unwrap_or(text), expression)).collect();
        let mut attributes: Vec<Name> = query.attributes.iter().map(|name| Name::new(name.trim())).collect();
        if attributes.is_empty() && query.prints_whole_ads() {
            attributes = asked.attributes;
        }
        if query.prints_table_of_ads() {
            // In a table, the attributes are columns.
            af.extend(attributes.drain(..).map(|name| (name.to_string(), Expression::attribute(name))));
        }
        if query.attempts && query.prints_whole_ads() && attributes.is_empty() && !query.count {
            let names = attempt_columns(query.output.form);
            af.extend(names.iter().map(|name| ((*name).to_owned(), Expression::attribute(*name))));
        }
        let mut sort = if group.is_some() { Vec::new() } else { query.sort_keys(session)? };
        if group.is_none() {
            sort.extend(asked.rank.map(|expression| SortKey { expression, is_descending: true }));
        }
        Ok(Columns {
            af,
            attributes,
            mask: PrintMask::new(session, query)?,
            sort,
            table,
            group,
            id: argument_text::parse_optional_expression(session, "--id", query.id.as_deref())?,
            writes_parquet: query.writes_parquet(),
            has_distinct_rows: query.distinct,
        })
    }

    /// Returns the expressions of `--af`.
    pub fn af(&self) -> impl Iterator<Item = &Expression> {
        self.af.iter().map(|(_, expression)| expression)
    }

    /// Returns all expressions that may be evaluated in an ad, including those of `--sort`, of groups and of `--id`.
    pub fn expressions(&self) -> impl Iterator<Item = &Expression> {
        let options = self.group.iter().flat_map(GroupColumns::expressions).chain(&self.id);
        let keys = self.sort.iter().map(|key| &key.expression);
        let masked = self.mask.iter().flat_map(PrintMask::expressions);
        let tabled = self.table.iter().flat_map(AdTable::expressions);
        self.af.iter().map(|(_, expression)| expression).chain(masked).chain(tabled).chain(keys).chain(options)
    }

    /// Returns the attributes that are read beside those of the expressions.
    pub fn attributes_beside(&self) -> impl Iterator<Item = &'static str> {
        let masked = self.mask.iter().flat_map(PrintMask::function_attributes);
        masked.chain(self.table.iter().flat_map(AdTable::attributes))
    }

    /// Returns the names that the options for columns, keys and groups mention. Those of `--attributes` are not among
    /// them: ads in the long form may be copied without a look at their attributes.
    pub fn names(&self) -> UnseenNames {
        UnseenNames::of_expressions(self.given())
    }

    /// Returns the expressions that the user gave: of columns, keys and groups.
    pub fn given(&self) -> impl Iterator<Item = &Expression> {
        let groups = self.group.iter().flat_map(GroupColumns::expressions);
        let keys = self.sort.iter().map(|key| &key.expression);
        self.af.iter().map(|(_, expression)| expression).chain(keys).chain(groups)
    }

    /// Whether the output has a row for each ad: of `--af`, of a print mask, or of a table.
    pub fn prints_rows(&self) -> bool {
        !self.af.is_empty() || self.mask.is_some() || self.table.is_some()
    }

    /// Projects an ad onto the attributes of `--attributes`.
    pub fn project(&self, ad: &Ad) -> Ad {
        let kept = ad.iter().filter(|attribute| self.attributes.contains(attribute.name));
        kept.map(|attribute| (attribute.name.clone(), attribute.expression.clone())).collect()
    }

    /// Evaluates the expressions of the print mask, or of `--af`, in an ad.
    pub fn row(&self, ad: &Ad, context: &Context) -> Row {
        let mut lookup = AdLookup::new(ad, context);
        let mut row = Row { order: sort_values(&self.sort, &mut lookup), ..Row::default() };
        match &self.mask {
            Some(mask) => row.masked = mask.cells(&mask.values(&mut lookup)),
            None if self.writes_parquet => {
                row.values = self.af.iter().map(|(_, expression)| lookup.value_with_elements(expression)).collect();
                if self.has_distinct_rows {
                    row.cells = row.values.iter().map(TableCell::from).collect();
                }
            }
            None => {
                row.cells =
                    self.af.iter().map(|(_, text)| TableCell::from(&lookup.value_with_elements(text))).collect();
            }
        }
        Row { failures: lookup.failures, ..row }
    }
}

impl Row {
    /// Evaluates expressions in an ad, one cell for each.
    pub fn evaluate<'e>(ad: &Ad, expressions: impl IntoIterator<Item = &'e Expression>, context: &Context) -> Self {
        let mut lookup = AdLookup::new(ad, context);
        let cells = expressions
            .into_iter()
            .map(|expression| TableCell::from(&lookup.value_with_elements(expression)))
            .collect();
        Row { cells, failures: lookup.failures, ..Row::default() }
    }
}

/// Attributes that may become columns of a table by default, the first ones preferred.
pub const DEFAULT_COLUMNS: [&str; 12] = [
    "Owner",
    "Type",
    "State",
    "Activity",
    "Arch",
    "OpSys",
    "Cpus",
    "Memory",
    "RequestCpus",
    "RequestMemory",
    "JobStatus",
    "Cmd",
];

/// Returns the default columns of a table: the first six of the default attributes that some ad has.
pub fn default_columns(ads: &[NamedAd]) -> Vec<(String, Expression)> {
    let present = DEFAULT_COLUMNS.into_iter().filter(|name| ads.iter().any(|ad| ad.ad.get_str(name).is_some()));
    present.take(6).map(|name| (name.to_owned(), Expression::attribute(name))).collect()
}

/// The columns of a table of attempts.
const ATTEMPT_TABLE_COLUMNS: [&str; 8] =
    ["Job", "Attempt", "StartTime", "EndTime", "Host", "Outcome", "Seconds", "WastedSeconds"];

/// Returns the columns of attempts in a form of output if none are given. None if it has whole ads.
fn attempt_columns(form: Option<OutputForm>) -> &'static [&'static str] {
    match form {
        None | Some(OutputForm::Table) => &ATTEMPT_TABLE_COLUMNS,
        Some(OutputForm::Json | OutputForm::Jsonl) => &ATTEMPT_COLUMNS,
        Some(form) if form.has_lines_of_cells() => &ATTEMPT_COLUMNS,
        Some(_) => &[],
    }
}

#[cfg(test)]
mod tests {
    use classad::ad::Dialect;
    use classad::syntax::{ParseOptions, parse_ad};

    use super::*;

    #[test]
    fn default_columns_are_the_first_six_that_some_ad_has() {
        let columns = |ads: &[&str]| {
            let ad = |text: &&str| parse_ad(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
            let ads: Vec<NamedAd> = ads.iter().map(ad).map(NamedAd::unnamed).collect();
            default_columns(&ads).into_iter().map(|(name, _)| name).collect::<Vec<_>>().join(" ")
        };
        for (ads, expected) in [
            (&[][..], ""),
            (&["[ x = 1 ]"], ""),
            (&["[ cpus = undefined ]"], "Cpus"),
            (&["[ Cmd = 1 ]", "[ Memory = 1; x = 2 ]", "[ Owner = 3; Cmd = 4 ]"], "Owner Memory Cmd"),
            (
                &["[ Cmd = 1; JobStatus = 1; RequestMemory = 1; RequestCpus = 1; Memory = 1; Cpus = 1; OpSys = 1 ]"],
                "OpSys Cpus Memory RequestCpus RequestMemory JobStatus",
            ),
        ] {
            assert_eq!(columns(ads), expected, "{ads:?}");
        }
    }

    #[test]
    fn attempts_have_columns_where_there_are_rows() {
        for (form, count) in [
            (None, 8),
            (Some(OutputForm::Table), 8),
            (Some(OutputForm::Json), ATTEMPT_COLUMNS.len()),
            (Some(OutputForm::Jsonl), ATTEMPT_COLUMNS.len()),
            (Some(OutputForm::Csv), ATTEMPT_COLUMNS.len()),
            (Some(OutputForm::Tsv), ATTEMPT_COLUMNS.len()),
            (Some(OutputForm::Names), 0),
        ] {
            assert_eq!(attempt_columns(form).len(), count, "{form:?}");
        }
    }
}
