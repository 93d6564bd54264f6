//! Proposes values for the request's attributes, taken from the constraints of offers that reject it.

use rustc_hash::FxHashSet;

use crate::ad::{Expression, ExpressionKind, Name, Truth, Value};
use crate::explain::clauses::ExplainedClause;
use crate::explain::evaluation::{OfferTable, RequestContext};
use crate::explain::missing_attribute::MissingAttribute;
use crate::explain::request_analysis::RequestAnalysis;
use crate::matching::PairSide;
use crate::protocol::words;
use crate::text::closest_names;

use super::demanded_attributes::is_of_slots;
use super::demanded_values::DemandedValues;
use super::request_comparison::{RequestComparison, is_stricter, request_comparisons};
use super::search::Proposal;

/// Whether clauses of a request read attributes of GPUs of slots.
fn reads_gpus(analysis: &RequestAnalysis) -> bool {
    let is_of_gpus = |name: &Name| name.starts_with("GPUs");
    analysis.clauses.iter().any(|clause| clause.analysis.offer_attributes.iter().any(is_of_gpus))
}

/// Maximum number of rows whose constraints are evaluated for demanded values.
const MAX_EVALUATED_ROWS: usize = 500;

/// Proposes to set attributes of the request to values that the constraints of offers demand. Considers only the offers
/// whose failed clauses of the request are a minimal set: no other offer fails a proper subset.
pub fn propose_demanded_values(table: &OfferTable, analysis: &RequestAnalysis) -> Vec<Proposal> {
    let mut demands = DemandedValues::default();
    let near = analysis.failures.rows_failing(&analysis.minimal_failures);
    for row in near.ones().take(MAX_EVALUATED_ROWS) {
        if let Some(offer) = RejectingOffer::new(table, analysis, row) {
            offer.add_demands(&mut demands);
        }
    }
    // A match needs only one offer, so that one bound for each inequality is enough.
    demands.propose(1, reads_gpus(analysis))
}

/// An offer whose constraint rejects the request.
struct RejectingOffer<'a> {
    table: &'a OfferTable,
    request: &'a RequestContext,
    row: usize,
    /// The clauses of the constraint, by place, and what they are for the request.
    outcomes: Vec<(usize, Truth)>,
}

impl<'a> RejectingOffer<'a> {
    /// Returns the offer of a row. `None` if it accepts the request: it demands nothing more.
    fn new(table: &'a OfferTable, analysis: &'a RequestAnalysis, row: usize) -> Option<Self> {
        if analysis.acceptance.accepting.contains(row) {
            return None;
        }
        let request = &analysis.request;
        let outcomes = analysis.acceptance.row_outcomes(table, request, row).collect();
        Some(Self { table, request, row, outcomes })
    }

    /// Adds what the offer demands. Of the comparisons that must all be true, the strictest bound of each attribute and
    /// operator counts.
    fn add_demands(&self, demands: &mut DemandedValues) {
        let comparisons = self.comparisons();
        let mut bounds: Vec<(&RequestComparison, Value)> = Vec::new();
        for comparison in &comparisons {
            let Some(value) = self.demanded_value(comparison) else { continue };
            if !comparison.is_required || !comparison.is_bound(&value) {
                self.add_demand(comparison, &value, demands);
                continue;
            }
            match bounds.iter_mut().find(|(known, _)| known.is_of_same(comparison)) {
                Some((_, known)) if is_stricter(comparison.operator, &value, known) => *known = value,
                Some(_) => {}
                None => bounds.push((comparison, value)),
            }
        }
        for (comparison, value) in &bounds {
            self.add_demand(comparison, value, demands);
        }
    }

    /// Returns the comparisons of the attributes that an unmet clause compares, from all clauses. What the offer demands by
    /// its own private attribute is not told.
    fn comparisons(&self) -> Vec<RequestComparison> {
        let dialect = self.table.context.dialect;
        let clauses = &self.table.offer_constraints().clauses;
        let comparisons_of =
            |clause: usize| request_comparisons(&clauses[clause].clause.expression, &self.table.ads[self.row]);
        let mut told: Vec<(usize, Option<Vec<RequestComparison>>)> = Vec::new();
        for (clause, outcome) in &self.outcomes {
            if !clauses[*clause].reads_secret(dialect) {
                told.push((*clause, (*outcome != Truth::True).then(|| comparisons_of(*clause))));
            }
        }
        let of_unmet = told.iter().filter_map(|(_, found)| found.as_ref()).flatten();
        let unmet: FxHashSet<Name> = of_unmet.map(|comparison| comparison.name.clone()).collect();
        if unmet.is_empty() {
            return Vec::new();
        }
        let reads_unmet = |clause: usize| {
            clauses[clause].mentions(dialect).iter().any(|names| names.iter().any(|name| unmet.contains(name)))
        };
        let found = told
            .into_iter()
            .filter_map(|(clause, found)| found.or_else(|| reads_unmet(clause).then(|| comparisons_of(clause))));
        found.flatten().filter(|comparison| unmet.contains(&comparison.name)).collect()
    }

    /// Returns the value with which a comparison compares. `None` if the request cannot have it.
    fn demanded_value(&self, comparison: &RequestComparison) -> Option<Value> {
        let value = match &comparison.bound {
            Some(bound) => {
                let bound = ExplainedClause::detached(bound.clone());
                self.table.value(self.request, PairSide::Offer, &bound, self.row)
            }
            None => Value::Boolean(true),
        };
        // A list that the job has is its choice, but for the spelling; one that it lacks has the offer's item at least.
        let value = match self.request.ad.get(&comparison.name).filter(|_| comparison.is_list) {
            Some(own) => items_in_string(own).or_else(|| with_item_respelt(own, &value))?,
            None => value,
        };
        (!value.is_exceptional() && !matches!(value, Value::List(_) | Value::Ad(_))).then_some(value)
    }

    /// Adds the demand for a value, unless the offer misspells the attribute, or it is for the offer to define.
    fn add_demand(&self, comparison: &RequestComparison, value: &Value, demands: &mut DemandedValues) {
        let (table, ad, name) = (self.table, &self.request.ad, &comparison.name);
        let own = ad.attribute(name);
        if own.is_none() {
            let clauses = &table.offer_constraints().clauses;
            let mut mentions = self.outcomes.iter().map(|(clause, _)| clauses[*clause].mentions(table.context.dialect));
            let is_qualified = mentions.any(|names| names[0].contains(name));
            let missing = MissingAttribute::of(table, ad, name.clone(), !is_qualified);
            if !missing.near.is_empty() || is_of_slots(table, &missing) {
                return;
            }
        }
        // As the request spells it.
        let name = own.as_ref().map_or(name, |attribute| attribute.name);
        demands.add(name, ad.get(name), comparison.operator, value, table.weights.of_row(self.row));
    }
}

/// Returns the strings of a list as one string, as functions such as `stringListMember` read it. `None` for any other value.
fn items_in_string(list: &Expression) -> Option<Value> {
    let ExpressionKind::List(items) = list.without_parentheses().kind() else { return None };
    let text = |item: &Expression| match item.as_literal() {
        Some(Value::String(text)) => Some(text.to_str().into_owned()),
        _ => None,
    };
    let items: Vec<String> = items.iter().map(text).collect::<Option<_>>()?;
    (!items.is_empty()).then(|| Value::string(items.join(",")))
}

/// Returns a list in a string with `item` in place of the entry that is spelt like it, or that is a word of it: `AMNH,Hellbender`
/// means `Missouri-Hellbender`. `None` if there is no such entry.
fn with_item_respelt(list: &Expression, item: &Value) -> Option<Value> {
    let (Some(Value::String(list)), Value::String(item)) = (list.as_literal(), item) else { return None };
    let (list, item) = (list.to_str(), item.to_str());
    let is_meant = |entry: &str| {
        let is_word = item.split(|letter: char| !letter.is_alphanumeric()).any(|word| word.eq_ignore_ascii_case(entry));
        is_word || !closest_names(entry, std::iter::once(&*item)).is_empty()
    };
    let mut entries: Vec<&str> = words(&list).collect();
    let place = entries.iter().position(|entry| is_meant(entry))?;
    entries[place] = &item;
    Some(Value::string(entries.join(",")))
}
