//! The expressions on the command line of `query`, and their values in ads.

use classad::ad::{Ad, Expression, Name};
use classad::eval::Context;

use super::QueryCommand;
use super::ad_lookup::AdLookup;
use super::print_mask::{MaskCell, PrintMask};
use super::sort::SortKey;
use super::tables::AdTable;
use crate::cli::Failure;
use crate::cli::io::input;
use crate::cli::io::named_ad::NamedAd;
use crate::cli::render::rows::TableCell;
use crate::cli::session::Session;

/// The parsed expressions of the command line.
pub struct Columns {
    /// Expressions of `--af`, each with its text on the command line.
    pub af: Vec<(String, Expression)>,
    /// Columns of HTCondor's `-autoformat` and `-format`.
    pub mask: Option<PrintMask>,
    /// Attributes to print of each ad; all if empty.
    pub attributes: Vec<Name>,
    /// The table of HTCondor's tools that is printed instead.
    pub table: Option<AdTable>,
    /// The keys of `--sort`.
    pub sort: Vec<SortKey>,
    pub group: Option<Expression>,
    pub id: Option<Expression>,
}

/// The values of some expressions in an ad, one cell for each expression.
#[derive(Default)]
pub struct Row {
    pub cells: Vec<TableCell>,
    /// The cells of the print mask instead, if there is one.
    pub masked: Vec<MaskCell>,
    /// Number of cells that are undefined because their evaluation exceeded a budget.
    pub failures: u64,
}

impl Columns {
    pub fn new(session: &mut Session, query: &QueryCommand, table: Option<AdTable>) -> Result<Self, Failure> {
        let texts = query.af.iter().flat_map(|list| split_expressions(list));
        let column = |text| Ok((str::to_owned(text), input::parse_argument_expression(session, "--af", text)?));
        Ok(Columns {
            af: texts.map(column).collect::<Result<_, Failure>>()?,
            attributes: query.attributes.iter().map(|name| Name::new(name.trim())).collect(),
            mask: PrintMask::new(session, query)?,
            sort: query.sort_keys(session)?,
            table,
            group: input::parse_optional_expression(session, "--group-by", query.group_by.as_deref())?,
            id: input::parse_optional_expression(session, "--id", query.id.as_deref())?,
        })
    }

    /// Returns all expressions that may be evaluated in an ad, including those of `--sort`, `--group-by` and `--id`.
    pub fn expressions(&self) -> impl Iterator<Item = &Expression> {
        let options = [&self.group, &self.id].into_iter().flatten();
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
        match &self.mask {
            Some(mask) => {
                let mut lookup = AdLookup::new(ad, context);
                let masked = mask.cells(&mask.values(&mut lookup));
                Row { masked, failures: lookup.failures, ..Row::default() }
            }
            None => Row::evaluate(ad, self.af.iter().map(|(_, expression)| expression), context),
        }
    }
}

impl Row {
    /// Evaluates expressions in an ad, one cell for each.
    pub fn evaluate<'e>(ad: &Ad, expressions: impl IntoIterator<Item = &'e Expression>, context: &Context) -> Self {
        let mut lookup = AdLookup::new(ad, context);
        let cells = expressions.into_iter().map(|expression| TableCell::from(&lookup.value(expression))).collect();
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

/// Splits a list of expressions at commas, except commas in brackets or in strings.
fn split_expressions(list: &str) -> Vec<&str> {
    let (mut depth, mut quote, mut is_escaped) = (0_i32, None, false);
    let parts = list.split(|c: char| {
        match (c, quote) {
            _ if std::mem::take(&mut is_escaped) => {}
            ('\\', Some(_)) => is_escaped = true,
            ('"' | '\'', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            ('(' | '[' | '{', None) => depth += 1,
            (')' | ']' | '}', None) => depth -= 1,
            _ => {}
        }
        c == ',' && quote.is_none() && depth == 0
    });
    parts.map(str::trim).filter(|part| !part.is_empty()).collect()
}
