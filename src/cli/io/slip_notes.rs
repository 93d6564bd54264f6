//! Notes of probable mistakes in expressions of the command line.

use classad::ad::{BinaryOperator, Expression, Name};
use classad::lint::find_slips;

use crate::cli::session::Session;

/// Names of the lint rules whose mistakes are noted: those that make an expression quietly mean something else.
const NOTED_RULES: [&str; 3] = ["wrong-unit", "bare-word", "single-quotes"];

/// Prints a note for each number in a wrong unit and each string without quotes in an expression, with what to write
/// instead.
pub fn note_slips(session: &Session, expression: &Expression) {
    let slips = find_slips(expression, session.dialect(), None);
    for slip in slips.iter().filter(|slip| NOTED_RULES.contains(&slip.rule.name)) {
        let help = slip.help.as_ref().map_or_else(String::new, |help| format!("; {help}"));
        session.note(&format!("{}{help}", slip.message));
    }
}

/// Prints the notes of [`note_slips`] for the definition of an attribute.
pub fn note_slips_of_definition(session: &Session, name: &Name, value: &Expression) {
    // A value has the unit of the attribute that it is compared with.
    let attribute = Expression::attribute(name.clone());
    note_slips(session, &Expression::binary(BinaryOperator::Equal, attribute, value.clone()));
}
