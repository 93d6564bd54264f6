//! The options `--output` and `--no-header`, the forms that each command has, and writing of result tables.

use clap::builder::{EnumValueParser, TypedValueParser};
use clap::{Args, Command, ValueEnum};

use crate::cli::Failure;
use crate::cli::render::output::{OutputForm, out};
use crate::cli::render::rows::ResultTable;

/// The options of commands whose results are tables.
#[derive(Args, Clone, Copy)]
pub struct TableOutputArgs {
    /// The form of the output
    #[arg(id = "output", short, long = "output", value_name = "FORM")]
    pub form: Option<OutputForm>,
    /// Leave the heading out
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

/// The forms of rows.
const ROWS: &[OutputForm] =
    &[OutputForm::Table, OutputForm::Json, OutputForm::Jsonl, OutputForm::Csv, OutputForm::Tsv, OutputForm::Names];

/// The forms of ads.
const ADS: &[OutputForm] = &[
    OutputForm::Long,
    OutputForm::New,
    OutputForm::Json,
    OutputForm::Jsonl,
    OutputForm::Xml,
    OutputForm::Yaml,
    OutputForm::Names,
];

/// The forms of documents of ads.
const DOCUMENTS: &[OutputForm] =
    &[OutputForm::Long, OutputForm::New, OutputForm::Json, OutputForm::Jsonl, OutputForm::Xml, OutputForm::Yaml];

/// The forms of reports.
const REPORTS: &[OutputForm] =
    &[OutputForm::Table, OutputForm::Json, OutputForm::Jsonl, OutputForm::Csv, OutputForm::Tsv];

/// The commands that have only some forms.
const FORMS: [(&str, &[OutputForm]); 14] = [
    ("anonymize", DOCUMENTS),
    ("census", ROWS),
    ("collect", ADS),
    ("diff", ROWS),
    ("explain", REPORTS),
    ("functions", ROWS),
    ("join", ROWS),
    ("match", ROWS),
    ("negotiate", ROWS),
    ("parse", ADS),
    ("refs", ROWS),
    ("sample", ADS),
    ("split", DOCUMENTS),
    ("transform", ADS),
];

/// Lets `--output` of each command take the forms that it has, and list them.
pub fn restrict_forms(tree: Command) -> Command {
    FORMS.iter().fold(tree, |tree, (command, forms)| {
        tree.mut_subcommand(command, |command| {
            command.mut_args(|argument| match argument.get_long() {
                Some("output") => argument.value_parser(FormParser(forms)),
                _ => argument,
            })
        })
    })
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
        let form = EnumValueParser::<OutputForm>::new().parse_ref(command, option, text)?;
        if self.0.contains(&form) {
            return Ok(form);
        }
        // The message lists the forms that there are.
        let names = self.0.iter().filter_map(ValueEnum::to_possible_value);
        clap::builder::PossibleValuesParser::new(names).parse_ref(command, option, text).map(|_| form)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = clap::builder::PossibleValue> + '_>> {
        Some(Box::new(self.0.iter().filter_map(ValueEnum::to_possible_value)))
    }
}
