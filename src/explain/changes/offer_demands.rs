//! Proposes values for the request's attributes, taken from the constraints of offers that reject it.

use std::collections::hash_map::Entry;

use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ad::{Ad, BinaryOperator, Expression, ExpressionKind, Name, OperatorGroup, Truth, Value};
use crate::constraint::{ClauseOperand, orient_comparison};
use crate::explain::clauses::ExplainedClause;
use crate::explain::decisive_part::ClauseInPair;
use crate::explain::distance::{as_number, relative_distance};
use crate::explain::evaluation::OfferTable;
use crate::explain::missing_attribute::MissingAttribute;
use crate::explain::offered_values::LIST_FUNCTIONS;
use crate::explain::refusals::request_attributes_read;
use crate::explain::request_analysis::RequestAnalysis;
use crate::explain::setting_slips::setting_slips;
use crate::lint;
use crate::matching::PairSide;
use crate::protocol::{requested_resource, words};
use crate::text::closest_names;

use super::edit::RequestEdit;
use super::search::Proposal;

/// Attributes that identify the user, the job, or where it was submitted, and those that HTCondor itself sets. Changes
/// of these attributes are never proposed.
const FIXED_ATTRIBUTES: [&str; 3] = [
    "Owner, User, OsUser, AcctGroup, AcctGroupUser, AccountingGroup, ClusterId, ProcId, GlobalJobId",
    "FileSystemDomain, UidDomain, JobUniverse, JobStatus",
    "MyType, TargetType, QDate, CurrentTime",
];

fn is_fixed(name: &Name) -> bool {
    FIXED_ATTRIBUTES.into_iter().flat_map(words).any(|fixed| name.is(fixed))
}

/// Whether two strings differ in case only.
fn differs_in_case(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::String(one), Value::String(other)) => lint::differs_in_case(one, other),
        _ => false,
    }
}

/// Whether a value must not be proposed for an attribute: a job that asks for a resource needs some of it, and one that
/// asks for no GPUs, and reads nothing of those of slots, needs none.
pub fn is_false_request(name: &Name, from: Option<&Expression>, to: &Value, reads_gpus: bool) -> bool {
    let is_none = as_number(to).is_some_and(|amount| amount <= 0.0);
    requested_resource(name).is_some_and(|resource| is_none || !reads_gpus && from.is_none() && resource.is("GPUs"))
}

/// Whether clauses of a request read attributes of GPUs of slots.
fn reads_gpus(analysis: &RequestAnalysis) -> bool {
    let is_of_gpus = |name: &Name| name.as_str().get(..4).is_some_and(|start| start.eq_ignore_ascii_case("GPUs"));
    analysis.clauses.iter().any(|clause| clause.analysis.offer_attributes.iter().any(is_of_gpus))
}

/// Maximum number of rows whose constraints are evaluated for demanded values.
const MAX_EVALUATED_ROWS: usize = 500;

/// Maximum number of values proposed for each pair of attribute and operator.
const MAX_VALUES: usize = 4;

/// The values that offers demand of the request's attributes: 1024 for `TARGET.RequestMemory <= 1024`. The key is the
/// name of an attribute, the identity of the attribute's current expression in memory, and the operator. Each entry
/// holds this expression, and the demanded values.
#[derive(Default)]
pub struct DemandedValues(IndexMap<DemandKey, (Option<Expression>, CountedValues)>);

type DemandKey = (Name, Option<usize>, BinaryOperator);

/// A value with the number of offers that have it or ask for it.
pub type WeightedValue = (Value, usize);

/// Distinct values with the numbers of their offers.
#[derive(Default)]
struct CountedValues {
    values: Vec<WeightedValue>,
    /// The places of the integers in `values`. There can be thousands of them.
    integers: FxHashMap<i64, usize>,
}

impl CountedValues {
    fn add(&mut self, value: &Value, offers: usize) {
        let Value::Integer(integer) = value else { return add_value(&mut self.values, value, offers) };
        match self.integers.entry(*integer) {
            Entry::Occupied(known) => self.values[*known.get()].1 += offers,
            Entry::Vacant(vacant) => {
                vacant.insert(self.values.len());
                self.values.push((value.clone(), offers));
            }
        }
    }
}

/// Adds `offers` to the count of a value in a list of distinct values.
pub fn add_value(values: &mut Vec<WeightedValue>, value: &Value, offers: usize) {
    match values.iter_mut().find(|(known, _)| known == value) {
        Some((_, count)) => *count += offers,
        None => values.push((value.clone(), offers)),
    }
}

impl DemandedValues {
    /// Records that `offers` offers demand `name operator value`, where `name` is an attribute of the request. `from`
    /// is the current expression of the attribute; `None` if the request lacks the attribute.
    pub fn add(
        &mut self,
        name: &Name,
        from: Option<&Expression>,
        operator: BinaryOperator,
        value: &Value,
        offers: usize,
    ) {
        let key = (name.clone(), from.map(Expression::identity), operator);
        let (_, values) = self.0.entry(key).or_insert_with(|| (from.cloned(), CountedValues::default()));
        values.add(value, offers);
    }

    /// Proposes to set each attribute to values that the offers demand: at most `max_bounds` values for an inequality,
    /// else at most `MAX_VALUES`. With `reads_gpus`, the request may ask for GPUs. The loosest bound comes first, as the smallest change. If the request lacks the
    /// attribute, the strictest bound comes first, because it suits the most offers.
    pub fn propose(self, max_bounds: usize, reads_gpus: bool) -> Vec<Proposal> {
        let mut proposals = Vec::new();
        for ((name, _, operator), (from, CountedValues { mut values, .. })) in self.0 {
            // How much a job needs that asks for nothing, no offer knows.
            let is_nothing = from.as_ref().and_then(Expression::as_literal) == Some(&Value::Integer(0));
            if is_nothing && requested_resource(&name).is_some() {
                continue;
            }
            // Without a current value to stay close to, prefer the strictest bound, which suits the most offers.
            let order = if from.is_some() { Some(operator) } else { operator.converse() };
            sort_by_preference(&mut values, order.unwrap_or(operator));
            let old = from.as_ref().and_then(Expression::as_literal);
            let is_bound = values.iter().all(|(value, _)| as_number(value).is_some())
                && operator.group() == OperatorGroup::Comparison
                && operator != BinaryOperator::Equal;
            let most = if is_bound { max_bounds } else { MAX_VALUES };
            // What the request meets already helps nothing: memory below an upper bound need not be raised to it.
            values.retain(|(value, _)| old.is_none_or(|old| !meets_bound(old, operator, value)));
            // Slots that have none left demand a request for 0.
            let values = values.into_iter().filter_map(|(value, _)| value_meeting(operator, value));
            // The name of a group may have been written in another case.
            let is_allowed = |to: &Value| !is_fixed(&name) || old.is_some_and(|old| differs_in_case(old, to));
            let values = values.filter(is_allowed);
            let sensible = values.filter(|to| !is_false_request(&name, from.as_ref(), to, reads_gpus)).take(most);
            for to in sensible.filter(|to| Some(to) != old) {
                let is_respelt = old.is_some_and(|old| differs_in_case(old, &to));
                let size = if is_respelt { 0.0 } else { old.map_or(1.0, |old| relative_distance(&to, old)) };
                let set = RequestEdit::Set { name: name.clone(), from: from.clone(), to: Expression::literal(to) };
                proposals.push(Proposal::new(set, size));
            }
        }
        proposals
    }
}

/// Proposes to set attributes of the request to values that the constraints of offers demand. Considers only the offers
/// whose failed clauses of the request are a minimal set: no other offer fails a proper subset.
pub fn propose_demanded_values(table: &OfferTable, analysis: &RequestAnalysis) -> Vec<Proposal> {
    let mut demands = DemandedValues::default();
    let near = analysis.failures.rows_failing(&analysis.minimal_failures);
    for row in near.ones().take(MAX_EVALUATED_ROWS) {
        collect_demands(table, analysis, row, &mut demands);
    }
    // A match needs only one offer, so that one bound for each inequality is enough.
    demands.propose(1, reads_gpus(analysis))
}

/// Maximum number of rows whose unmet clauses lead to proposals to define or to drop attributes.
const MAX_ATTRIBUTE_ROWS: usize = 20;

/// Proposes to define attributes that the request lacks and to which clauses of offers owe that they are not met, and to
/// do without attributes that such clauses read, unless `is_set` says that other values of them are proposed. Considers
/// the offers that [`propose_demanded_values`] considers.
pub fn propose_attributes(
    table: &OfferTable,
    analysis: &RequestAnalysis,
    is_set: impl Fn(&Name) -> bool,
) -> Vec<Proposal> {
    let request = &analysis.request;
    let constraints = table.offer_constraints();
    let near = analysis.failures.rows_failing(&analysis.minimal_failures);
    let (mut edits, mut seen) = (Vec::<RequestEdit>::new(), FxHashSet::default());
    for row in near.ones().take(MAX_ATTRIBUTE_ROWS) {
        if analysis.acceptance.accepting.contains(row) {
            continue;
        }
        let pair = ClauseInPair { table, request, side: PairSide::Offer, row };
        let outcomes = analysis.acceptance.row_outcomes(table, request, row);
        for (clause, _) in outcomes.filter(|(_, outcome)| *outcome != Truth::True) {
            let place = (clause, table.group_of_clause(request, &constraints.clauses[clause].clause, row));
            if !seen.insert(place) {
                continue;
            }
            let clause = &constraints.clauses[clause];
            let names = request_attributes_read(clause, table, row);
            // An offer that misspells an attribute of the request should be corrected itself.
            let missing = pair.missing_attributes(&clause.clause.expression, &names).into_iter();
            let missing = missing.filter(|missing| missing.near.is_empty() && !is_of_slots(table, missing));
            let defined = missing.map(|missing| RequestEdit::Define { name: missing.name });
            let dropped = names.into_iter().filter_map(|name| {
                let from = request.ad.get(&name)?.clone();
                let slips = setting_slips(&request.ad, &name, &from, table);
                Some(match slips.first().and_then(|slip| slip.corrected(&from)) {
                    Some(to) => RequestEdit::Set { name, from: Some(from), to },
                    None => RequestEdit::Remove { name, from },
                })
            });
            for edit in defined.chain(dropped) {
                let is_allowed = match &edit {
                    RequestEdit::Define { name } | RequestEdit::Remove { name, .. } => {
                        !is_fixed(name) && requested_resource(name).is_none() && !is_set(name)
                    }
                    _ => true,
                };
                if is_allowed && !edits.contains(&edit) {
                    edits.push(edit);
                }
            }
        }
    }
    // The correction of a mistake gives nothing up.
    let size = |edit: &RequestEdit| if matches!(edit, RequestEdit::Set { .. }) { 0.0 } else { 1.0 };
    edits.into_iter().map(|edit| (size(&edit), edit)).map(|(size, edit)| Proposal::new(edit, size)).collect()
}

/// Whether a missing attribute is for the offers to define: slots have it, or other offers.
fn is_of_slots(table: &OfferTable, missing: &MissingAttribute) -> bool {
    missing.is_of_slots() || missing.is_of_neither && table.offers_with(&missing.name) > 0
}

/// Collects the values that a row's constraint demands of the request's attributes. Considers only the attributes that
/// an unmet clause of the constraint compares. For these attributes, collects the values from all clauses of the
/// constraint.
fn collect_demands(table: &OfferTable, analysis: &RequestAnalysis, row: usize, demands: &mut DemandedValues) {
    // An offer that accepts the request demands nothing more.
    if analysis.acceptance.accepting.contains(row) {
        return;
    }
    let (request, dialect) = (&analysis.request, table.context.dialect);
    let ad = &table.ads[row];
    let clauses = &table.offer_constraints().clauses;
    let outcomes: Vec<(usize, Truth)> = analysis.acceptance.row_outcomes(table, request, row).collect();
    let is_qualified =
        |name: &Name| outcomes.iter().any(|(clause, _)| clauses[*clause].mentions(dialect)[0].contains(name));
    // What an offer demands by its own private attribute is not told.
    let told: Vec<&(usize, Truth)> =
        outcomes.iter().filter(|(clause, _)| !clauses[*clause].reads_secret(dialect)).collect();
    let comparisons_of = |clause: usize| request_comparisons(&clauses[clause].clause.expression, ad);
    let of_unmet = told.iter().filter(|(_, outcome)| *outcome != Truth::True);
    let mut of_unmet: FxHashMap<usize, Vec<RequestComparison>> =
        of_unmet.map(|(clause, _)| (*clause, comparisons_of(*clause))).collect();
    let unmet: FxHashSet<Name> = of_unmet.values().flatten().map(|comparison| comparison.name.clone()).collect();
    if unmet.is_empty() {
        return;
    }
    let reads_unmet = |clause: usize| {
        clauses[clause].mentions(dialect).iter().any(|names| names.iter().any(|name| unmet.contains(name)))
    };
    let comparisons = told.iter().filter_map(|(clause, outcome)| match of_unmet.remove(clause) {
        Some(found) if *outcome != Truth::True => Some(found),
        _ => reads_unmet(*clause).then(|| comparisons_of(*clause)),
    });
    let comparisons: Vec<RequestComparison> = comparisons.flatten().collect();
    // The strictest bound of each attribute and operator, of the comparisons that must all be true.
    let mut bounds: Vec<(&Name, BinaryOperator, Value)> = Vec::new();
    let mut add = |name: &Name, operator: BinaryOperator, value: &Value| {
        // As the request spells it.
        let own = request.ad.attribute(name);
        if own.is_none() {
            let missing = MissingAttribute::of(table, &request.ad, name.clone(), !is_qualified(name));
            // The offer misspells it, or it is for the offer to define.
            if !missing.near.is_empty() || is_of_slots(table, &missing) {
                return;
            }
        }
        let name = own.as_ref().map_or(name, |attribute| attribute.name);
        demands.add(name, request.ad.get(name), operator, value, table.weights.of_row(row));
    };
    for comparison in &comparisons {
        let RequestComparison { name, operator, bound, is_required, is_list } = comparison;
        if !unmet.contains(name) {
            continue;
        }
        let value = match bound {
            Some(bound) => table.value(request, PairSide::Offer, &ExplainedClause::detached(bound.clone()), row),
            None => Value::Boolean(true),
        };
        // A list that the job has is its choice, but for the spelling; one that it lacks has the offer's item at least.
        let value = match request.ad.get(name).filter(|_| *is_list) {
            Some(own) => match items_in_string(own).or_else(|| with_item_respelt(own, &value)) {
                Some(list) => list,
                None => continue,
            },
            None => value,
        };
        if value.is_exceptional() || matches!(value, Value::List(_) | Value::Ad(_)) {
            continue;
        }
        if !*is_required || !is_bound(*operator, &value) {
            add(name, *operator, &value);
            continue;
        }
        match bounds.iter_mut().find(|(of, by, _)| *of == name && by == operator) {
            Some((.., known)) if is_stricter(*operator, &value, known) => *known = value,
            Some(_) => {}
            None => bounds.push((name, *operator, value)),
        }
    }
    for (name, operator, value) in bounds {
        add(name, operator, &value);
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

/// Whether a comparison with a value by this operator is an upper or a lower bound of a number.
fn is_bound(operator: BinaryOperator, value: &Value) -> bool {
    use BinaryOperator::{Greater, GreaterEqual, Less, LessEqual};
    matches!(operator, Less | LessEqual | Greater | GreaterEqual) && as_number(value).is_some()
}

/// Whether a number meets an upper or a lower bound.
fn meets_bound(number: &Value, operator: BinaryOperator, bound: &Value) -> bool {
    use BinaryOperator::{Greater, GreaterEqual, Less, LessEqual};
    as_number(number).zip(as_number(bound)).is_some_and(|(number, bound)| match operator {
        Less => number < bound,
        LessEqual => number <= bound,
        Greater => number > bound,
        GreaterEqual => number >= bound,
        _ => false,
    })
}

/// Whether a bound permits less than another one of the same operator.
fn is_stricter(operator: BinaryOperator, bound: &Value, than: &Value) -> bool {
    let is_upper = matches!(operator, BinaryOperator::Less | BinaryOperator::LessEqual);
    as_number(bound)
        .zip(as_number(than))
        .is_some_and(|(bound, than)| if is_upper { bound < than } else { bound > than })
}

/// A comparison `name operator bound` of an attribute of the request within an offer's clause.
struct RequestComparison {
    name: Name,
    operator: BinaryOperator,
    /// The bound; `None` for an attribute that must be true.
    bound: Option<Expression>,
    /// Whether the clause is true only if the comparison is. If not, it may be one of several alternatives.
    is_required: bool,
    /// Whether the attribute is a list in which the bound is sought.
    is_list: bool,
}

/// Returns the comparisons within an offer's clause that compare an attribute of the request.
fn request_comparisons(clause: &Expression, ad: &Ad) -> Vec<RequestComparison> {
    let other = |expression: &Expression| {
        // Read `TARGET.x ?: 5` as `TARGET.x`, because the default 5 counts only if the request lacks `x`.
        let named = match expression.without_parentheses().kind() {
            ExpressionKind::Elvis(named, _) => named,
            _ => expression,
        };
        match ClauseOperand::of(named) {
            Some(ClauseOperand::Other(name)) => Some(name.clone()),
            Some(ClauseOperand::Unqualified(name)) if ad.get(name).is_none() => Some(name.clone()),
            _ => None,
        }
    };
    let mut found = Vec::new();
    let mut pending = vec![(clause, true)];
    while let Some((expression, is_required)) = pending.pop() {
        let comparison =
            |(name, operator, bound)| RequestComparison { name, operator, bound, is_required, is_list: false };
        match expression.kind() {
            ExpressionKind::Binary(operator, left, right)
                if matches!(operator.group(), OperatorGroup::Comparison | OperatorGroup::Identity) =>
            {
                let oriented = orient_comparison(*operator, left, right, other, |bound| Some(Some(bound.clone())));
                found.extend(oriented.into_iter().map(comparison));
            }
            ExpressionKind::Binary(operator, left, right) if operator.group() == OperatorGroup::Logic => {
                let is_required = is_required && *operator == BinaryOperator::And;
                pending.extend([(right, is_required), (left, is_required)]);
            }
            ExpressionKind::Parentheses(inner) => pending.push((inner, is_required)),
            // Each branch may be the one that decides.
            ExpressionKind::Conditional(_, yes, no) => pending.extend([(no, false), (yes, false)]),
            ExpressionKind::Call(name, arguments) if name.is("ifThenElse") => {
                pending.extend(arguments.iter().skip(1).map(|branch| (branch, false)));
            }
            ExpressionKind::Call(name, arguments) if LIST_FUNCTIONS.iter().any(|known| name.is(known)) => {
                let [item, list, ..] = &**arguments else { continue };
                let item = Some(item.clone());
                let list = other(list).map(|name| comparison((name, BinaryOperator::Equal, item)));
                found.extend(list.map(|list| RequestComparison { is_list: true, ..list }));
            }
            _ => found.extend(other(expression).map(|name| comparison((name, BinaryOperator::Equal, None)))),
        }
    }
    found
}

/// Sorts values by preference. The bounds of an inequality are sorted by strictness, the loosest first, because the
/// loosest bound requires the smallest change. Other values are sorted by frequency, the most frequent first.
pub fn sort_by_preference(values: &mut [WeightedValue], operator: BinaryOperator) {
    values.sort_by(|(a, a_count), (b, b_count)| match (operator, as_number(a), as_number(b)) {
        (BinaryOperator::Less | BinaryOperator::LessEqual, Some(a), Some(b)) => b.total_cmp(&a),
        (BinaryOperator::Greater | BinaryOperator::GreaterEqual, Some(a), Some(b)) => a.total_cmp(&b),
        _ => b_count.cmp(a_count),
    });
}

/// Returns a value `v` for which `v operator bound` is true. `None` if no such value is obvious for the operator and
/// the bound.
fn value_meeting(operator: BinaryOperator, bound: Value) -> Option<Value> {
    match (operator, &bound) {
        (BinaryOperator::Less, Value::Integer(bound)) => bound.checked_sub(1).map(Value::Integer),
        (BinaryOperator::Greater, Value::Integer(bound)) => bound.checked_add(1).map(Value::Integer),
        (BinaryOperator::Less, Value::Real(bound)) => next_real(*bound, -1.0),
        (BinaryOperator::Greater, Value::Real(bound)) => next_real(*bound, 1.0),
        (BinaryOperator::Less | BinaryOperator::Greater | BinaryOperator::NotEqual | BinaryOperator::Isnt, _) => None,
        _ => Some(bound),
    }
}

/// Returns the next number in a direction: a whole MiB or KiB from a whole one, else a whole number.
fn next_real(bound: f64, direction: f64) -> Option<Value> {
    let unit = [1_048_576.0, 1024.0].into_iter().find(|unit| bound != 0.0 && bound % unit == 0.0).unwrap_or(1.0);
    let next = if direction < 0.0 { (bound / unit).ceil() - 1.0 } else { (bound / unit).floor() + 1.0 };
    (bound.abs() < 9_007_199_254_740_992.0).then_some(Value::Real(next * unit))
}
