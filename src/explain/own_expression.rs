//! The expression behind an attribute of a request, such as a request for memory that depends on an earlier run.

use crate::ad::{Dialect, Expression, Name, Value};
use crate::eval::FreeNames;
use crate::lint::SizeUnit;
use crate::protocol::{evaluate_attribute, requested_resource};
use crate::text::{join_and, suggestion};

use super::clauses::{ExplainedClause, text};
use super::distance::as_number;
use super::evaluation::{OfferTable, RequestContext};

/// A request for a resource that is an expression.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestExpression {
    /// The attribute of the request, such as `RequestMemory`.
    pub name: Name,
    /// The expression, and which values it reads: `RequestMemory is MemoryUsage * 3 / 2, and MemoryUsage is 960000`.
    pub phrase: String,
    /// Whether the request has one of the attributes that the expression reads, so that an earlier run can be the reason.
    pub reads_values: bool,
    /// The attribute that is not defined, so that the request has no value; `None` if it has one.
    pub missing: Option<Name>,
    /// The request's attributes with similar names, of which one may be meant by the missing one.
    pub near: Vec<Name>,
}

impl RequestExpression {
    /// The expression of an attribute. `None` if it is a literal, or asks for no resource.
    pub fn of(name: &Name, table: &OfferTable, request: &RequestContext) -> Option<Self> {
        requested_resource(name)?;
        let behind = request.ad.get(name).filter(|behind| behind.as_literal().is_none())?;
        let (dialect, context) = (table.context.dialect, &table.context);
        let (mut reads_values, mut missing) = (false, None);
        let is_undefined = evaluate_attribute(&request.ad, name, context).is_none_or(|value| value == Value::Undefined);
        let mut value = |read: Name| match evaluate_attribute(&request.ad, &read, context) {
            None | Some(Value::Undefined) => {
                missing = missing.take().or_else(|| is_undefined.then(|| read.clone()));
                format!("{read} is not defined")
            }
            Some(value) => {
                reads_values = true;
                let size = SizeUnit::of(&read).zip(as_number(&value));
                let size = size.map(|(unit, amount)| format!(" ({})", unit.readable(amount))).unwrap_or_default();
                format!("{read} is {value}{size}")
            }
        };
        let mut read = own_names(behind, dialect);
        read.retain(|read| read != name && !read.is_secret());
        read.dedup();
        let values: Vec<String> = read.into_iter().map(&mut value).collect();
        let values = missing.as_ref().map_or(values, |missing| vec![format!("{missing} is not defined")]);
        let near = missing.as_ref().map(|missing| table.near_names.of(&request.ad, missing));
        let near: Vec<Name> = near.into_iter().flatten().filter(|near| near != name).collect();
        let values = if values.is_empty() { String::new() } else { format!(", and {}", join_and(&values)) };
        let phrase = format!("{name} is {}{values}{}", text(behind, dialect), suggestion(&near));
        Some(RequestExpression { name: name.clone(), phrase, reads_values, missing, near })
    }

    /// Says that the request has no value, and why: `RequestMemory has no value: it is a * 4, and a is not defined`.
    #[must_use]
    pub fn no_value_phrase(&self) -> String {
        let is = self.phrase.strip_prefix(self.name.as_str()).unwrap_or(&self.phrase);
        format!("{} has no value: it{is}", self.name)
    }

    /// Finds the expression behind the first request for a resource in a clause. `None` if the requests are literals.
    pub fn in_clause(clause: &Expression, table: &OfferTable, request: &RequestContext) -> Option<Self> {
        own_names(clause, table.context.dialect).iter().find_map(|name| Self::of(name, table, request))
    }

    /// Finds the request for a resource that has no value, so that a clause is undefined for most offers. `None` if there is none.
    pub fn without_value(clause: &ExplainedClause, table: &OfferTable, request: &RequestContext) -> Option<Self> {
        let behind = Self::in_clause(&clause.expression, table, request).filter(|behind| behind.missing.is_some())?;
        let undefined = table.clause_results(request, clause).counts.undefined;
        (undefined * 2 > table.offer_count()).then_some(behind)
    }
}

/// The names of the request that an expression reads.
fn own_names(expression: &Expression, dialect: Dialect) -> Vec<Name> {
    let mentions = FreeNames::of(expression, dialect);
    mentions.mine.into_iter().chain(mentions.unqualified).collect()
}
