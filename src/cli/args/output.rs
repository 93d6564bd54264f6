//! The options `--output` and `--no-header`, the forms that each command has, the shortcuts of two of them, and writing
//! of result tables.

use clap::builder::{ArgPredicate, EnumValueParser, TypedValueParser};
use clap::{Arg, ArgAction, Args, Command, ValueEnum};

use crate::cli::outcome::Failure;
use crate::cli::render::output::OutputForm::{
    self, Csv, Json, Jsonl, Long, Markdown, Names, New, Parquet, Svg, Table, Tree, Tsv, Xml, Yaml,
};
use crate::cli::render::output::out;
use crate::cli::render::rows::ResultTable;

/// The options of commands whose results are tables.
#[derive(Args, Clone, Copy, Default)]
pub struct TableOutputArgs {
    /// Format of the output
    #[arg(id = "output", short, long = "output", value_name = "FORM")]
    pub form: Option<OutputForm>,
    /// Omit the heading
    #[arg(long)]
    pub no_header: bool,
}

impl TableOutputArgs {
    /// Writes a table to standard output.
    ///
    /// # Errors
    ///
    /// The form is for whole ads or trees, not for tables, or writing fails.
    pub fn write(self, table: &ResultTable) -> Result<(), Failure> {
        table.write(&mut out(), self.form, !self.no_header)
    }
}

/// The option that says how undefined is written.
#[derive(Args, Default)]
pub struct NullArgs {
    /// Write TEXT for undefined values in csv, tsv and markdown [default: undefined]
    #[arg(long, value_name = "TEXT")]
    pub null: Option<String>,
}

/// The forms of rows, and a picture.
const ROWS_OR_PICTURE: &[OutputForm] = &[Table, Json, Jsonl, Csv, Tsv, Markdown, Names, Svg];

/// The forms of gangs.
const GANGS: &[OutputForm] = &[Tree, Table, Json, Jsonl, Long, New, Xml, Yaml, Csv, Tsv, Markdown, Names, Svg];

/// The forms of what `query` prints: ads, or rows about them.
const QUERIED: &[OutputForm] = &[Table, Long, New, Json, Jsonl, Xml, Yaml, Csv, Tsv, Markdown, Names, Parquet];

/// The forms of what is either ads or rows about them.
const ROWS_OR_ADS: &[OutputForm] = &[Table, Long, New, Json, Jsonl, Xml, Yaml, Csv, Tsv, Markdown, Names];

/// The forms of rows.
const ROWS: &[OutputForm] = &[Table, Json, Jsonl, Csv, Tsv, Markdown, Names];

/// The forms of routes.
const TABLES: &[OutputForm] = &[Table, Json, Csv, Tsv, Markdown];

/// The forms of ads.
const ADS: &[OutputForm] = &[Long, New, Json, Jsonl, Xml, Yaml, Names];

/// The forms of documents of ads.
const DOCUMENTS: &[OutputForm] = &[Long, New, Json, Jsonl, Xml, Yaml];

/// The forms of reports.
const REPORTS: &[OutputForm] = &[Table, Json, Jsonl, Csv, Tsv, Markdown, Svg];

/// The forms of `convert`.
const CONVERTED: &[OutputForm] = &[Long, New, Json, Jsonl, Xml, Yaml, Parquet];

/// The commands that have only some forms.
const FORMS: [(&str, &[OutputForm]); 21] = [
    ("anonymize", DOCUMENTS),
    ("autocluster", ROWS_OR_ADS),
    ("census", ROWS_OR_PICTURE),
    ("claim", ROWS),
    ("collect", ADS),
    ("convert", CONVERTED),
    ("diff", ROWS),
    ("explain", REPORTS),
    ("functions", ROWS),
    ("gangmatch", GANGS),
    ("join", ROWS),
    ("match", ROWS),
    ("negotiate", ROWS_OR_PICTURE),
    ("parse", ADS),
    ("query", QUERIED),
    ("refs", ROWS),
    ("route", TABLES),
    ("sample", ADS),
    ("specialize", ROWS_OR_ADS),
    ("split", DOCUMENTS),
    ("transform", ADS),
];

/// Lets `--output` of each command take the forms that it has, and list them.
fn restrict_forms(command: Command) -> Command {
    let Some((_, forms)) = FORMS.iter().find(|(name, _)| command.get_name() == *name) else { return command };
    command.mut_args(|argument| match argument.get_long() {
        Some("output" | "to") => argument.value_parser(FormParser(forms)),
        _ => argument,
    })
}

/// The forms that have an option of their own name.
const SHORTCUTS: [&str; 2] = ["json", "csv"];

/// Lets `--output` of each command take its forms. Gives each command that takes `-o json` the option `--json`, and each
/// that takes `-o csv` the option `--csv`.
pub fn add_forms(tree: Command) -> Command {
    tree.mut_subcommands(|command| {
        let command = add_forms(restrict_forms(command));
        let Some(option) = output_option(&command).cloned() else { return command };
        let taken: Vec<&str> = SHORTCUTS.into_iter().filter(|form| takes_form(&option, form)).collect();
        let flags = taken.iter().map(|&form| {
            let others = taken.iter().copied().filter(|other| *other != form);
            let flag = Arg::new(form).long(form).action(ArgAction::SetTrue).help(format!("Same as -o {form}"));
            flag.conflicts_with(option.get_id()).conflicts_with_all(others)
        });
        let command = command.args(flags);
        // A flag sets the default of the form, which no other argument can set beside it.
        let defaults = taken.iter().map(|&form| (form, ArgPredicate::Equals("true".into()), Some(form)));
        let is_required = option.is_required_set();
        command.mut_arg(option.get_id(), |option| {
            let option = option.default_value_ifs(defaults);
            if is_required { option.required(false).required_unless_present_any(&taken) } else { option }
        })
    })
}

/// Returns the option of a command that sets the form of its output.
pub fn output_option(command: &Command) -> Option<&Arg> {
    command
        .get_arguments()
        .find(|option| option.get_long_and_visible_aliases().is_some_and(|names| names.contains(&"output")))
}

/// Whether the option that sets the form of the output takes this form.
pub fn takes_form(option: &Arg, form: &str) -> bool {
    option.get_possible_values().iter().any(|value| value.get_name() == form)
}

/// Parser of some of the forms.
#[derive(Clone, Copy)]
struct FormParser(&'static [OutputForm]);

impl TypedValueParser for FormParser {
    type Value = OutputForm;

    fn parse_ref(
        &self,
        command: &Command,
        option: Option<&clap::Arg>,
        text: &std::ffi::OsStr,
    ) -> Result<OutputForm, clap::Error> {
        // The message about another text lists the forms of this command.
        let names = self.0.iter().filter_map(ValueEnum::to_possible_value);
        clap::builder::PossibleValuesParser::new(names).parse_ref(command, option, text)?;
        EnumValueParser::<OutputForm>::new().parse_ref(command, option, text)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = clap::builder::PossibleValue> + '_>> {
        let has = |form| self.0.contains(&form);
        let names_help = match (has(Table), has(Long)) {
            (true, false) => Some("The first column of the table, one cell on each line"),
            (false, true) => Some("The names of the ads, one on each line"),
            _ => None,
        };
        let value = move |form: &OutputForm| {
            let value = form.to_possible_value()?;
            Some(match names_help.filter(|_| *form == Names) {
                Some(help) => value.help(help),
                None => value,
            })
        };
        Some(Box::new(self.0.iter().filter_map(value)))
    }
}
