//! `query --having`: a condition on the groups, in which the columns have names.

use std::convert::Infallible;

use classad::ad::{Ad, Expression, Name};
use classad::eval::FreeNames;
use classad::matching::Query;
use classad::syntax::{Style, expression_text};
use classad::text::{closest_names, suggestion};

use crate::cli::io::input;
use crate::cli::render::rows::TableCell;
use crate::cli::session::Session;
use crate::cli::{Failure, refuse};

/// The condition of `--having`. A row satisfies it as an ad whose attributes are the columns.
pub struct GroupCondition {
    query: Query,
    columns: Vec<Name>,
}

impl GroupCondition {
    /// Parses the condition. `header` has the names of the columns: `ads`, or `sum(Memory)`, which is a column and no call.
    ///
    /// # Errors
    ///
    /// The text is not an expression, or it has a name that is not a column.
    pub fn new(session: &mut Session, text: &str, header: &[String]) -> Result<Self, Failure> {
        let expression = input::parse_argument_expression(session, "--having", text)?;
        let columns: Vec<Name> = header.iter().map(|name| Name::new(name)).collect();
        let expression = with_columns(&expression, &columns);
        let names = FreeNames::of(&expression, session.dialect());
        if let Some(name) = names.names.iter().find(|name| !columns.contains(name)) {
            let near = suggestion(&closest_names(name.as_str(), header.iter().map(String::as_str)));
            return refuse(format!(
                "--having: there is no column {name}{near}; the columns of the groups are {}",
                header.join(", ")
            ));
        }
        Ok(GroupCondition { query: Query::new(expression, session.context()), columns })
    }

    /// Whether the condition is true for a row. A condition that exceeds a budget is not.
    pub fn accepts(&self, row: &[TableCell]) -> bool {
        let attributes = self.columns.iter().cloned().zip(row.iter().map(|cell| Expression::literal(cell.value())));
        let ad: Ad = attributes.collect();
        self.query.accepts(&ad).unwrap_or(false)
    }
}

/// Replaces each part of an expression that is written like the name of a column by a reference to this column.
fn with_columns(expression: &Expression, columns: &[Name]) -> Expression {
    let plain = |text: &str| text.split_whitespace().collect::<String>();
    let text = plain(&expression_text(expression, Style::Long));
    if let Some(column) = columns.iter().find(|column| plain(column.as_str()).eq_ignore_ascii_case(&text)) {
        return Expression::attribute(column.clone());
    }
    let Ok(kind) = expression.kind().map_children(|child| Ok::<_, Infallible>(with_columns(child, columns)));
    kind.map_or_else(|| expression.clone(), |kind| Expression::new(kind, expression.span()))
}
