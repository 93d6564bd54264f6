//! What a query looks for and prints: the constraint, the columns and the table, made of the options.

use classad::ad::{BinaryOperator, Expression, Name, Value};
use classad::query::{ATTEMPT_COLUMNS, AdLookup, AdScanner, UnseenNames};

use super::QueryCommand;
use super::columns::Columns;
use super::identity_words::{IDENTITY_ATTRIBUTES, identity_constraint, note_job_number};
use super::query_ad::QueryAd;
use super::scan::{NeededPart, QueryScanner, QuerySelection};
use super::tables::{AdTable, TableChoice, choose_table};
use crate::cli::args::condor_options::RUNNING;
use crate::cli::io::argument_text;
use crate::cli::io::slip_notes::note_error;
use crate::cli::io::source::AdSource;
use crate::cli::outcome::{Failure, refuse};
use crate::cli::session::Session;

/// What a query looks for, and what it prints.
pub struct QueryPlan {
    pub choice: TableChoice,
    pub constraint: Expression,
    /// The expression whose truth in an ad ends a scan backwards; `None` if nothing does.
    stop: Option<Expression>,
    pub columns: Columns,
    /// Whether the output is the ads themselves.
    pub writes_ads: bool,
}

impl QueryPlan {
    /// Makes the plan of the options, the constraints and the source of `--query`. `sources` are the files; `None` for a
    /// merge, which has no tables.
    pub fn new(
        session: &mut Session,
        query: &QueryCommand,
        constraints: &[String],
        asked: Vec<AdSource>,
        sources: Option<&[AdSource]>,
    ) -> Result<Self, Failure> {
        let asked = asked_by(query, session, asked)?;
        let choice = TableChoice::new(&query.condor_table, || first_type(session, sources?.first()))?;
        let table = match sources {
            Some(sources) => {
                let names = sources.iter().map(|source| source.name.as_ref()).collect::<Vec<_>>().join(", ");
                choose_table(session, query, &choice, &names)?
            }
            None => None,
        };
        let constraint = joined_constraint(query, session, constraints, &asked, &choice, table.as_ref())?;
        let stop = stop_condition(query, session)?;
        // A number of ads would be false if none of the files can be read.
        if sources.is_some_and(<[_]>::is_empty) && query.prints_numbers() {
            return Err(Failure::Refused(None));
        }
        let columns = Columns::new(session, query, asked, table)?;
        // A partial result leaves the notes to the merge.
        if !query.partial.is_given() {
            columns.given().for_each(|expression| note_error(session, expression));
        }
        let writes_ads = query.writes_ads(&columns);
        Ok(QueryPlan { choice, constraint, stop, columns, writes_ads })
    }

    /// Creates the scanner for the ads. `needed_part` is what the output needs of each.
    pub fn scanner(&self, session: &Session, query: &QueryCommand, needed_part: NeededPart) -> QueryScanner<'_> {
        let (columns, context) = (&self.columns, session.context());
        let selection = QuerySelection { columns, context: context.clone(), needed_part };
        let mut scanner = AdScanner::new(self.constraint.clone(), context, selection);
        scanner.stop.clone_from(&self.stop);
        scanner.filter = query.filter();
        if !query.strict_input {
            scanner.read_needed(scanner.selection.needed_names(self.writes_ads));
        }
        // Ads are printed as they are written.
        scanner.is_as_written = !columns.attributes.is_empty();
        scanner.drops_banners = columns.attributes.is_empty();
        // The user has not written the names in the constraint of `identity_constraint`.
        let is_called =
            |name: &Name| !query.called.is_empty() && IDENTITY_ATTRIBUTES.iter().any(|known| name.is(known));
        // Nor those that -run stands for, of jobs and of slots.
        let is_of_run = |name: &Name| query.given.iter().any(|given| given == RUNNING) && name.is("State");
        scanner.constraint_names = scanner.constraint_names.without(|name| is_called(name) || is_of_run(name));
        scanner.selected_names = columns.names();
        if query.usage {
            // The user has not written them.
            scanner.selected_names = UnseenNames::new([]);
        }
        if query.attempts {
            let is_known = |name: &Name| ATTEMPT_COLUMNS.iter().any(|known| name.is(known));
            scanner.constraint_names = scanner.constraint_names.without(is_known);
            scanner.selected_names = scanner.selected_names.without(is_known);
        }
        scanner
    }

    /// Whether names of columns may be misspelt, as far as the ads of a scan tell.
    pub fn has_misspelt_candidates(&self, scanner: &QueryScanner<'_>) -> bool {
        scanner.selected_names.has_unseen() || !self.columns.attributes.is_empty()
    }
}

/// Joins the constraints: those given, those of a table, and that ads are called by the given names.
fn joined_constraint(
    query: &QueryCommand,
    session: &mut Session,
    given: &[String],
    asked: &QueryAd,
    choice: &TableChoice,
    table: Option<&AdTable>,
) -> Result<Expression, Failure> {
    note_job_number(session, given);
    let given = argument_text::parse_constraints(session, given)?;
    let own_type = table.filter(|table| !table.is_custom).map(|table| table.standard.ad_type);
    let own_type = own_type.filter(|name| !name.is_empty()).map(|name| {
        let own = Expression::attribute("MyType");
        Expression::binary(BinaryOperator::Is, own, Expression::literal(Value::string(name)))
    });
    let of_format = table.and_then(|table| table.format.constraint.clone());
    let parts = [given, asked.constraint.clone(), own_type, of_format, identity_constraint(&query.called, choice)];
    let joined = parts.into_iter().flatten().reduce(Expression::and);
    Ok(joined.unwrap_or_else(|| Expression::literal(Value::Boolean(true))))
}

/// Returns the expression that ends a scan backwards; `None` if the scan goes on to the beginning.
fn stop_condition(query: &QueryCommand, session: &mut Session) -> Result<Option<Expression>, Failure> {
    if let Some(time) = query.completed_since {
        let text = format!("CompletionDate <= {time}");
        return argument_text::parse_argument_expression(session, "--completed-since", &text).map(Some);
    }
    let Some(text) = &query.since else { return Ok(None) };
    let (cluster, process) = text.split_once('.').map_or((&text[..], None), |(cluster, rest)| (cluster, Some(rest)));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let of_job = is_number(cluster).then(|| match process {
        None | Some("") => Some(format!("ClusterId == {cluster}")),
        Some(process) if is_number(process) => Some(format!("ClusterId == {cluster} && ProcId == {process}")),
        Some(_) => None,
    });
    let expression =
        argument_text::parse_argument_expression(session, "--since", of_job.flatten().as_deref().unwrap_or(text))?;
    if expression.as_literal().is_some() {
        return refuse(format!("--since needs a job, such as 12.3, or a condition, not the constant `{text}`"));
    }
    Ok(Some(expression))
}

/// Reads the ad of `--query`. That it cannot be opened was reported.
fn asked_by(query: &QueryCommand, session: &mut Session, sources: Vec<AdSource>) -> Result<QueryAd, Failure> {
    match sources.into_iter().next() {
        Some(source) => QueryAd::read(session, source),
        None if query.query.is_some() => Err(Failure::Refused(None)),
        None => Ok(QueryAd::default()),
    }
}

/// Returns `MyType` of the first ad of a file; `None` if the source is not a file, which could be read only once.
fn first_type(session: &mut Session, source: Option<&AdSource>) -> Option<String> {
    let source = source.filter(|source| source.is_file()).and_then(|source| source.reopen().ok());
    // Problems are reported when the file is read.
    let text = source?.next_block().ok().flatten()?;
    let first = text.first_ad(session.dialect())?;
    AdLookup::new(&first, &session.context()).string("MyType")
}
