//! `--query`: a query that is an ad (1998 paper 4).

use classad::ad::{Ad, BinaryOperator, Expression, Name, Value};
use classad::eval::{Context, Environment, Knowledge, SpecializeOptions, specialize};
use classad::matching::about_one_ad;
use classad::protocol::{Protocol, evaluate_attribute};

use crate::cli::io::input;
use crate::cli::io::source::AdSource;
use crate::cli::outcome::{Failure, refuse};
use crate::cli::session::Session;
use classad::query::AdLookup;

/// HTCondor's name for the attribute that lists the requested attributes.
const PROJECTION: &str = "Projection";

/// What an ad asks for.
#[derive(Default)]
pub struct QueryAd {
    pub constraint: Option<Expression>,
    /// The requested attributes; all if empty.
    pub attributes: Vec<Name>,
    /// The rank of an ad, by which the results are ordered.
    pub rank: Option<Expression>,
}

impl QueryAd {
    /// Reads the ad of the source of `--query`. In its expressions the attributes of the query itself are known, so that
    /// they are replaced; what remains is about the other ad.
    pub fn read(session: &mut Session, source: AdSource) -> Result<Self, Failure> {
        let ad = read_only_ad(session, source)?;
        let (protocol, context) = (Protocol::new(session.dialect()), session.context());
        let about_other = |expression: &Expression| without_own_names(&ad, expression, &context);
        let rank = ad.get(protocol.rank_name()).map(about_other).map(|rank| {
            let has_no_value = ["isUndefined", "isError"].map(|test| Expression::call(test, [rank.clone()]));
            let [is_undefined, is_error] = has_no_value;
            // As in a match, a rank without a value is 0.
            let zero = Expression::literal(Value::Integer(0));
            Expression::call("ifThenElse", [Expression::binary(BinaryOperator::Or, is_undefined, is_error), zero, rank])
        });
        Ok(QueryAd {
            constraint: protocol.constraint_expression(&ad).map(about_other),
            attributes: requested_attributes(&ad, &context),
            rank,
        })
    }
}

/// Reads the ad of a source that has no other.
fn read_only_ad(session: &mut Session, mut source: AdSource) -> Result<Ad, Failure> {
    let mut first = None;
    input::for_each_ad(session, [&mut source], |_, _, entry| {
        first.get_or_insert(entry.ad);
        Ok(true)
    })?;
    match (first, source.ads_read) {
        (Some(ad), 1) => Ok(ad),
        (Some(_), count) => refuse(format!("expected one ad in {}, not {count}", source.name)),
        (None, _) => refuse(format!("there is no ad in {}", source.name)),
    }
}

/// Specializes an expression of a query to its ad, and writes what remains about the other ad as an expression of this
/// ad.
fn without_own_names(query: &Ad, expression: &Expression, context: &Context) -> Expression {
    let (environment, frame) = Environment::partner_unknown(query.clone(), Knowledge::Complete);
    // The time is that of each evaluation.
    let context = Context { now: None, random: None, ..context.clone() };
    let options = SpecializeOptions { loose: false, inline: true };
    let left = specialize(expression, &frame, &environment, &context, options).expression;
    about_one_ad(left, context.dialect)
}

/// Returns the names in `Projection`, which is a text with commas or blanks, or a list of texts.
fn requested_attributes(query: &Ad, context: &Context) -> Vec<Name> {
    let Some(value) = evaluate_attribute(query, &Name::new(PROJECTION), context) else { return Vec::new() };
    let texts = match AdLookup::new(query, context).elements(&value) {
        Some(elements) => elements,
        None => vec![value],
    };
    let names = texts.iter().filter_map(|text| match text {
        Value::String(text) => Some(text.to_str().into_owned()),
        _ => None,
    });
    let names: Vec<String> = names.collect();
    let is_separator = |c: char| c == ',' || c.is_ascii_whitespace();
    names.iter().flat_map(|text| text.split(is_separator)).filter(|name| !name.is_empty()).map(Name::new).collect()
}
