//! `classad functions`: the table of built-in functions.

use std::io::Write;

use clap::Args;
use classad::eval::{FUNCTIONS, Function, find_function, near_functions};

use super::output::{Cell, OutputForm, Rows, out};
use super::session::Session;
use super::{Failure, Status};

const EXAMPLES: &str = "\
Examples:
  classad functions
  classad functions substr";

/// List the built-in functions, or explain one
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Functions {
    /// The function to explain, in any case
    name: Option<String>,
    /// The form of the output
    #[arg(short, long, value_name = "FORM")]
    output: Option<OutputForm>,
}

impl Functions {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        let mut out = out();
        let Some(name) = &self.name else {
            let mut rows = Rows::new(&["function", "does", "example"]);
            for function in FUNCTIONS.iter() {
                let cells = [function.signature.to_owned(), function.doc.to_owned(), example(function)];
                rows.rows.push(cells.map(Cell::from).into());
            }
            if !session.options.quiet {
                rows.write(&mut out, self.output, true)?;
            }
            out.flush()?;
            return Ok(Status::Yes);
        };
        let Some(function) = find_function(name) else {
            let near = near_functions(name);
            let hint = if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(", ")) };
            session.note(&format!("there is no function {name}(){hint}"));
            return Ok(Status::No);
        };
        if !session.options.quiet {
            out.write_all(described(function).as_bytes())?;
        }
        out.flush()?;
        Ok(Status::Yes)
    }
}

/// What there is to know of a function, in a few lines.
pub fn described(function: &Function) -> String {
    let strict = "    in the papers' dialect an undefined or error argument decides\n";
    let strict = if function.strict { strict } else { "" };
    format!("{}\n    {}\n    {}\n{strict}", function.signature, function.doc, example(function))
}

fn example(function: &Function) -> String {
    let example = &function.example;
    let dialect = example.dialect.map_or(String::new(), |dialect| format!("  (--dialect {dialect})"));
    format!("{} = {}{dialect}", example.call, example.value)
}
