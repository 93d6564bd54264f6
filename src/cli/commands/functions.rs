//! `classad functions`: the table of built-in functions, and the description of one.

use std::io::Write;

use clap::Args;
use clap::builder::PossibleValue;
use classad::ad::{Dialect, Name};
use classad::eval::{BuiltinFunction, FUNCTIONS, find_function, similar_functions};

use crate::cli::args::suggested_values::SuggestedValues;
use crate::cli::outcome::{Failure, Status};
use crate::cli::render::function_help::{function_description, function_dialects, function_example};
use crate::cli::render::output::{OutputForm, out};
use crate::cli::render::rows::{ResultTable, TableCell};
use crate::cli::session::Session;

const EXAMPLES: &str = "\
Examples:
  classad functions
  classad functions substr";

/// List the built-in functions, or explain one
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Functions {
    /// The function to explain, in upper or lower case
    #[arg(value_parser = SuggestedValues(function_names), hide_possible_values = true)]
    name: Option<String>,
    /// Format of the output
    #[arg(short, long, value_name = "FORM")]
    output: Option<OutputForm>,
}

fn function_names() -> Vec<PossibleValue> {
    FUNCTIONS.iter().map(|function| PossibleValue::new(function.name).help(function.doc)).collect()
}

impl Functions {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        let Some(name) = &self.name else {
            function_table(FUNCTIONS.iter().copied()).write(&mut out(), self.output, true)?;
            return Ok(Status::Yes);
        };
        let Some(function) = find_function(&Name::new(name)) else {
            let hint = classad::text::suggestion(&similar_functions(name, Dialect::Classad));
            session.note(&format!("there is no function {name}(){hint}"));
            return Ok(Status::No);
        };
        match self.output {
            None => out().write_all(function_description(function).as_bytes())?,
            form => function_table([function].into_iter()).write(&mut out(), form, true)?,
        }
        Ok(Status::Yes)
    }
}

/// Returns a row for each function.
fn function_table<'f>(functions: impl Iterator<Item = &'f BuiltinFunction>) -> ResultTable {
    let rows = functions.map(|function| {
        let (signature, doc) = (function.signature.to_owned(), function.doc.to_owned());
        let cells = [signature, function_dialects(function).to_owned(), doc, function_example(function)];
        cells.map(TableCell::from).into()
    });
    ResultTable::with_rows(&["function", "dialect", "does", "example"], rows)
}
