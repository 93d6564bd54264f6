//! Choice of the table from the words of `--condor-table`. `condor_options` writes them from HTCondor's options.

use classad::format::FileFormat;
use classad::text::join_and;

use super::ad_table::AdTable;
use super::{RowGrouping, StandardTable, TableSubject, find_table};
use crate::cli::args::condor_options::table_option;
use crate::cli::commands::query::QueryCommand;
use crate::cli::commands::query::print_format::{FormatSummary, PrintFormat, WidthRule, read_print_format};
use crate::cli::commands::query::print_function::find_function;
use crate::cli::commands::query::print_mask::append_columns;
use crate::cli::io::argument_text;
use crate::cli::io::source_text::SourceText;
use crate::cli::io::whole_file::read_text;
use crate::cli::outcome::{Failure, refuse};
use crate::cli::session::Session;
use classad::query::SortKey;

/// Words of `--condor-table` that are about jobs.
const JOB_WORDS: [&str; 10] =
    ["of-jobs", "batches", "jobs", "held", "idle", "dag", "io", "grid", "goodput", "job-totals"];

/// Words of `--condor-table` that are about slots and daemons, but for `of-slots`: the ads of `-ads` may be jobs.
const SLOT_WORDS: [&str; 13] = [
    "slots",
    "avail",
    "states",
    "servers",
    "claimed",
    "gpus",
    "machines",
    "schedds",
    "submitters",
    "masters",
    "startds",
    "negotiators",
    "collectors",
];

/// Table that the words of `--condor-table` choose.
pub struct TableChoice {
    /// The ads that the words are about; `None` if no word tells.
    pub subject: Option<TableSubject>,
    words: Vec<String>,
}

impl TableChoice {
    /// Reads the words of `--condor-table`. `first_type` returns `MyType` of the first ad, which counts if no word
    /// tells what the ads are.
    pub fn new(words: &[String], first_type: impl FnOnce() -> Option<String>) -> Result<Self, Failure> {
        let is_any_of = |known: &[&str]| words.iter().find(|word| known.contains(&word.as_str()));
        let subject = match (is_any_of(&JOB_WORDS), is_any_of(&SLOT_WORDS)) {
            (Some(job), Some(slot)) if job != "of-jobs" => {
                let (job, slot) = (table_option(job), table_option(slot));
                return refuse(format!("-{job} is for jobs and -{slot} is for slots: give only one of them"));
            }
            (_, Some(_)) => Some(TableSubject::Slots),
            (Some(_), None) => Some(TableSubject::Jobs),
            (None, None) if words.iter().all(|word| word == "partial") => None,
            (None, None) => match first_type().as_deref() {
                Some("Job") => Some(TableSubject::Jobs),
                _ => Some(TableSubject::Slots),
            },
        };
        Ok(TableChoice { subject, words: words.to_vec() })
    }

    fn has(&self, word: &str) -> bool {
        self.words.iter().any(|known| known == word)
    }

    /// Whether the table is about claimed slots: names are those of users then.
    pub fn is_about_users(&self) -> bool {
        self.subject == Some(TableSubject::Slots) && (self.has("claimed") || self.has("running"))
    }

    /// Whether the nodes of a DAG are listed with it.
    pub fn includes_nodes(&self) -> bool {
        self.job_table().is_ok_and(|name| name == "batches" || name == "dag") || self.has("dag")
    }

    fn job_table(&self) -> Result<&'static str, Failure> {
        let states: Vec<&str> = ["held", "running", "idle"].into_iter().filter(|word| self.has(word)).collect();
        if states.len() > 1 {
            return refuse("give only one of -hold, -run and -idle: no job has two states");
        }
        // The last of these words counts.
        let named = ["goodput", "io", "grid", "batches", "totals"];
        let last = self.words.iter().rev().find_map(|word| named.into_iter().find(|known| known == word));
        Ok(match (last, states.first().copied()) {
            (Some("totals"), _) => "job-totals",
            (Some(word), _) => word,
            (None, Some(state)) => state,
            (None, None) if self.has("dag") && self.has("jobs") => "dag",
            (None, None) if self.has("jobs") => "jobs",
            (None, None) => "batches",
        })
    }

    fn slot_table(&self) -> Result<&'static str, Failure> {
        let known = SLOT_WORDS.into_iter().filter(|word| *word != "machines" && *word != "avail");
        let mut named: Vec<&str> = known.filter(|word| self.has(word)).collect();
        if self.has("running") && !self.has("claimed") {
            named.push("claimed");
        }
        // Words for the look of a table go with words that choose slots.
        if named.len() > 1 {
            named.retain(|word| *word != "slots");
        }
        if named.len() == 2 && named.contains(&"states") && named.contains(&"claimed") {
            named.retain(|word| *word == "states");
        }
        if named.len() > 1 {
            let named: Vec<String> = named.into_iter().map(|word| format!("-{}", table_option(word))).collect();
            return refuse(format!("{} select different tables: give only one of them", join_and(&named)));
        }
        let name = named.first().copied().unwrap_or("slots");
        match (self.has("machines"), name) {
            (true, "slots") => Ok("machines"),
            (true, _) => refuse("-compact works only with the table of all slots and with -avail"),
            (false, name) => Ok(name),
        }
    }

    fn table(&self) -> Result<Option<&'static StandardTable>, Failure> {
        let name = match self.subject {
            Some(TableSubject::Jobs) => self.job_table()?,
            Some(TableSubject::Slots) => self.slot_table()?,
            None => return Ok(None),
        };
        Ok(find_table(name))
    }
}

/// Returns the table that is to be printed: of `--print-format`, or of HTCondor's words if nothing else is asked for.
/// `files` are the names of the files, for the title.
pub fn choose_table(
    session: &mut Session,
    query: &QueryCommand,
    choice: &TableChoice,
    files: &str,
) -> Result<Option<AdTable>, Failure> {
    if has_other_output(query)? || query.count || session.options.quiet {
        return Ok(None);
    }
    let standard = choice.table()?;
    let custom = match &query.print_format {
        Some(path) => Some(read_format_file(session, path, choice.subject)?),
        None => None,
    };
    let fallback = || find_table(if choice.subject == Some(TableSubject::Slots) { "slots" } else { "jobs" });
    let Some(standard) = standard.or_else(|| custom.as_ref().and_then(|_| fallback())) else {
        if query.append.is_empty() {
            return Ok(None);
        }
        return refuse(
            "-aaf adds columns only to a table with a row for each ad, such as those of -nobatch and -state",
        );
    };
    let is_custom = custom.is_some();
    let mut format = match custom {
        Some(format) => format,
        None => standard_format(session, choice, standard),
    };
    let grouping = if is_custom { RowGrouping::None } else { standard.grouping };
    if !query.append.is_empty() {
        if matches!(grouping, RowGrouping::Batches | RowGrouping::Machines) {
            return refuse("-aaf needs a table with a row for each ad: add -nobatch, or leave -compact out");
        }
        append_columns(session, &mut format.mask, &query.append)?;
    }
    let is_totals_only = choice.has("totals");
    let order = order(session, query, &format, standard)?;
    let title = if query.userlog.is_empty() { "Jobads" } else { "Userlog" };
    Ok(Some(AdTable {
        subject: standard.subject,
        grouping,
        standard,
        has_totals: is_totals_only || matches!(format.summary, FormatSummary::Standard),
        is_totals_only,
        is_partial: ["partial", "held", "running", "idle"].into_iter().any(|word| choice.has(word)),
        is_custom,
        order,
        title: format!("{title}: {files}"),
        format,
    }))
}

/// Whether the options ask for another output than a table of HTCondor's tools.
fn has_other_output(query: &QueryCommand) -> Result<bool, Failure> {
    let is_other = query.output.form.is_some()
        || !query.af.is_empty()
        || !query.mask.is_empty()
        || !query.attributes.is_empty()
        || query.groups.group_by.is_some()
        || query.undefined;
    if is_other && (query.print_format.is_some() || !query.append.is_empty()) {
        return refuse(
            "-print-format and -aaf cannot be combined with -af, -format, -o, --af, --attributes, --group-by or \
            --undefined",
        );
    }
    Ok(is_other)
}

/// Returns the print format of a table of HTCondor's tools. A test reads all of them, so that none is wrong.
fn standard_format(session: &Session, choice: &TableChoice, standard: &StandardTable) -> PrintFormat {
    let mut format = read_print_format(standard.format, session.dialect(), WidthRule::Cuts).unwrap_or_default();
    // With -dag, the batch of a node that stands alone has the node in place of the owner.
    if choice.has("dag")
        && standard.grouping == RowGrouping::Batches
        && let Some(column) = format.mask.columns.first_mut()
    {
        column.function = find_function("DAG_OWNER");
    }
    format
}

/// Returns the keys by which the rows are sorted: those of `--sort`, of `GROUP BY`, or the names of slots.
fn order(
    session: &mut Session,
    query: &QueryCommand,
    format: &PrintFormat,
    standard: &StandardTable,
) -> Result<Vec<SortKey>, Failure> {
    let given = query.sort_keys(session)?;
    if query.is_unsorted() {
        return Ok(Vec::new());
    }
    if !given.is_empty() {
        return Ok(given);
    }
    // The type of a slot may have a sign, which tells nothing.
    let names: &[&str] = match (standard.subject, standard.grouping) {
        (TableSubject::Jobs, _) => &[],
        (TableSubject::Slots, RowGrouping::Machines) => {
            &["Machine", "SlotTypeId < 0 ? -SlotTypeId : SlotTypeId", "Name"]
        }
        (TableSubject::Slots, _) => &["Machine", "Name"],
    };
    let mut keys = format.order.clone();
    for name in names {
        let expression = argument_text::parse_argument_expression(session, "the order of slots", name)?;
        keys.push(SortKey { expression, is_descending: false });
    }
    Ok(keys)
}

fn read_format_file(session: &mut Session, path: &str, subject: Option<TableSubject>) -> Result<PrintFormat, Failure> {
    let rule = if subject == Some(TableSubject::Slots) { WidthRule::Pads } else { WidthRule::Cuts };
    let bytes = read_text(path).map_err(|error| Failure::unreadable(path, &error))?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    read_print_format(&text, session.dialect(), rule).map_err(|problems| {
        let source = SourceText::from_file(path, text.clone().into_bytes(), FileFormat::Bracketed);
        session.print_setting_problems(&source, &problems);
        Failure::Refused(None)
    })
}

#[cfg(test)]
mod tests {
    use super::{TableChoice, TableSubject};

    #[test]
    fn words_choose_a_table() {
        for (words, first_type, expected) in [
            ("of-jobs", "", "batches, with nodes"),
            ("", "Job", "none"),
            ("of-slots", "Job", "batches, with nodes"),
            ("of-slots", "Machine", "slots"),
            ("batches", "", "batches, with nodes"),
            ("jobs", "", "jobs"),
            ("jobs dag", "", "dag, with nodes"),
            ("dag", "", "batches, with nodes"),
            ("held", "", "held"),
            ("held dag", "", "held, with nodes"),
            ("idle", "", "idle"),
            ("of-jobs running", "", "running"),
            ("held idle", "", "refused"),
            ("io grid", "", "grid"),
            ("goodput io", "", "io"),
            ("of-jobs totals", "", "job-totals"),
            ("jobs slots", "", "refused"),
            ("of-jobs slots", "", "slots"),
            ("slots", "Job", "slots"),
            ("slots running", "", "claimed, of users"),
            ("claimed", "", "claimed, of users"),
            ("states", "", "states"),
            ("states slots", "", "states"),
            ("states claimed", "", "states, of users"),
            ("states servers", "", "refused"),
            ("machines", "", "machines"),
            ("machines avail", "", "machines"),
            ("machines states", "", "refused"),
            ("schedds", "", "schedds"),
            ("partial", "Job", "none"),
        ] {
            let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
            let choice = TableChoice::new(&words, || Some(first_type.to_owned()));
            let found = choice.and_then(|choice| {
                let table = choice.table()?;
                assert!(table.is_none_or(|table| Some(table.subject) == choice.subject), "{words:?}");
                let is_of_jobs = choice.subject == Some(TableSubject::Jobs);
                let nodes = if is_of_jobs && choice.includes_nodes() { ", with nodes" } else { "" };
                let users = if choice.is_about_users() { ", of users" } else { "" };
                Ok(format!("{}{nodes}{users}", table.map_or("none", |table| table.name)))
            });
            assert_eq!(found.unwrap_or_else(|_| "refused".to_owned()), expected, "{words:?} {first_type}");
        }
    }
}
