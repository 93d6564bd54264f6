//! `classad functions`: the table of built-in functions, and the description of one.

use std::io::Write;

use clap::Args;
use clap::builder::PossibleValue;
use classad::ad::Name;
use classad::eval::{FUNCTIONS, find_function, similar_functions};

use crate::cli::args::suggested_values::SuggestedValues;
use crate::cli::render::function_help::{function_description, function_example};
use crate::cli::render::output::{OutputForm, out};
use crate::cli::render::rows::{ResultTable, TableCell};
use crate::cli::session::Session;
use crate::cli::{Failure, Status};

const EXAMPLES: &str = "\
Examples:
  classad functions
  classad functions substr";

/// List the built-in functions, or explain one
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Functions {
    /// The function to explain; upper or lower case
    #[arg(value_parser = SuggestedValues(function_names), hide_possible_values = true)]
    name: Option<String>,
    /// The form of the output
    #[arg(short, long, value_name = "FORM")]
    output: Option<OutputForm>,
}

fn function_names() -> Vec<PossibleValue> {
    FUNCTIONS.iter().map(|function| PossibleValue::new(function.name).help(function.doc)).collect()
}

impl Functions {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        let Some(name) = &self.name else {
            let mut rows = ResultTable::new(&["function", "does", "example"]);
            for function in FUNCTIONS.iter() {
                let cells = [function.signature.to_owned(), function.doc.to_owned(), function_example(function)];
                rows.rows.push(cells.map(TableCell::from).into());
            }
            rows.write(&mut out(), self.output, true)?;
            return Ok(Status::Yes);
        };
        let Some(function) = find_function(&Name::new(name)) else {
            let hint = classad::text::suggestion(&similar_functions(name));
            session.note(&format!("there is no function {name}(){hint}"));
            return Ok(Status::No);
        };
        out().write_all(function_description(function).as_bytes())?;
        Ok(Status::Yes)
    }
}
