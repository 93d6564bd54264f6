//! `query --having`: a condition on the groups, in which the columns have names.

use std::convert::Infallible;

use classad::ad::{Ad, Dialect, Expression, Name};
use classad::eval::FreeNames;
use classad::matching::{Query, about_one_ad};
use classad::syntax::{ParseOptions, parse_expression};
use classad::text::{closest_names, suggestion};

use crate::cli::io::argument_text;
use crate::cli::outcome::{Failure, refuse};
use crate::cli::render::rows::TableCell;
use crate::cli::session::Session;

/// The condition of `--having`. A row satisfies it as an ad whose attributes are the columns.
pub struct GroupCondition {
    query: Query,
    columns: Vec<Name>,
    dialect: Dialect,
}

impl GroupCondition {
    /// Parses the condition. `header` has the names of the columns: `ads`, or `sum(Memory)`, which is a column and no call.
    ///
    /// # Errors
    ///
    /// The text is not an expression, it has a name that is not a column, or two columns have one name.
    pub fn new(session: &mut Session, text: &str, header: &[String]) -> Result<Self, Failure> {
        let expression = argument_text::parse_argument_expression(session, "--having", text)?;
        let dialect = session.dialect();
        let columns: Vec<Name> = header.iter().map(|name| Name::new(name)).collect();
        if let Some((_, name)) = columns.iter().enumerate().find(|(at, name)| columns[..*at].contains(name)) {
            return refuse(format!("--having: two columns have the name {name}; rename one with NAME=EXPR"));
        }
        // What is written like the name of a column means this column.
        let written = header.iter().map(|name| parse_expression(name.as_bytes(), ParseOptions::new(dialect)).ok());
        let written: Vec<Option<u64>> = written.map(|name| Some(about_one_ad(name?, dialect).fingerprint())).collect();
        let expression = with_columns(&expression, &|part| {
            let column = written.iter().position(|name| *name == Some(part.fingerprint()))?;
            Some(Expression::attribute(columns[column].clone()))
        });
        let names = FreeNames::of(&expression, dialect);
        if let Some(name) = names.unqualified.iter().chain(&names.mine).find(|name| !columns.contains(name)) {
            let near = suggestion(&closest_names(name.as_str(), header.iter().map(String::as_str)));
            return refuse(format!(
                "--having: there is no column {name}{near}; the columns of the groups are {}",
                header.join(", ")
            ));
        }
        Ok(GroupCondition { query: Query::new(expression, session.context()), columns, dialect })
    }

    /// Whether the condition is true for a row. `None` if its evaluation exceeds a budget.
    pub fn accepts(&self, row: &[TableCell]) -> Option<bool> {
        let values = row.iter().map(|cell| cell.expression(self.dialect));
        let ad: Ad = self.columns.iter().cloned().zip(values).collect();
        self.query.accepts(&ad).ok()
    }
}

/// Replaces the parts of an expression that `column` knows.
fn with_columns(expression: &Expression, column: &dyn Fn(&Expression) -> Option<Expression>) -> Expression {
    if let Some(column) = column(expression) {
        return column;
    }
    let Ok(kind) = expression.kind().map_children(|child| Ok::<_, Infallible>(with_columns(child, column)));
    kind.map_or_else(|| expression.clone(), |kind| Expression::new(kind, expression.span()))
}
