//! Constraints on the ads of a list: `countMatches(MY.RequireGPUs, TARGET.AvailableGPUs) >= RequestGPUs` asks for so many
//! ads of the list `AvailableGPUs` that meet the constraint `RequireGPUs`.

use fixedbitset::FixedBitSet;
use indexmap::IndexSet;

use crate::ad::{Ad, BinaryOperator, Expression, ExpressionKind, Name, Value, rename_attribute, rewrite_expression};
use crate::constraint::{ClauseOperand, conjuncts, inconsistencies};
use crate::eval::{Context, FreeNames};
use crate::lint::{self, LintLevel, SizeUnit};
use crate::protocol::{closest_attributes, evaluate_attribute};

use super::clauses::text;
use super::distance::{as_number, is_near, relative_distance};
use super::evaluation::{OfferTable, RequestContext};
use super::loose_patterns::looser_patterns;
use super::nested_ads::{drained, is_true_in, nested_ads};
use super::nested_values::{closest_in, offered_in, other_values, relaxed_part};
use super::offered_values::OfferedValues;

/// The functions that evaluate their first argument in each ad of a list.
const NESTED_FUNCTIONS: [&str; 2] = ["countMatches", "evalInEachContext"];

/// Maximum relative distance of sizes that stand for one another: a GPU of 40 GiB has a little less.
const MAX_DISTANCE_OF_SIZES: f64 = 0.1;

/// Why no offer has enough ads in a list that meet a nested constraint.
#[derive(Clone, Debug, PartialEq)]
pub struct NestedFailure {
    /// The request's attribute that holds the nested constraint, such as `RequireGPUs`, with its expression.
    pub holder: (Name, Expression),
    /// The offers' attribute that holds the list, such as `AvailableGPUs`.
    pub list: Name,
    /// Whether `unmet` holds also of what jobs use, such as the GPUs of full slots.
    pub is_of_all: bool,
    /// The text of the part of the nested constraint that no ad meets; `None` if all lists are empty.
    pub unmet: Option<String>,
    /// The attributes that `unmet` reads.
    pub read: IndexSet<Name>,
    /// The operator and the bound of `unmet`, and the value that comes closest to meeting it. `None` if `unmet` is no
    /// comparison with a literal, or if no ad has a comparable value.
    pub closest: Option<(BinaryOperator, Value, Value)>,
    /// The strings that the ads have in the attribute that `unmet` compares with another string.
    pub offered: Option<OfferedValues>,
    /// An attribute that `unmet` reads and that no ad has, and the ads' attribute that it means. `None` if there is none.
    pub renamed: Option<(Name, Name)>,
    /// An attribute that `unmet` reads, that no ad has, and that means none of theirs, and what the ads have. `None` if there is none.
    pub absent: Option<(Name, Vec<Name>)>,
    /// What to say of a mistake in `unmet`, and `unmet` with its correction, which some ad meets. `None` if none is known.
    pub mistake: Option<(String, String)>,
    /// The nested constraint with the names that the ads have, with `mistake` corrected, or with `unmet` relaxed to a
    /// string that is spelt like its own, or a size that is near; `None` if none is known.
    pub relaxed: Option<Expression>,
    /// The nested constraint with `unmet` relaxed to other values that the ads have, the closest first.
    pub others: Vec<Expression>,
    /// The parts of the nested constraint that contradict each other, so that no ad at all can meet `unmet`. Empty if none do.
    pub clashing: Vec<String>,
    /// The attributes of the request that these parts read, with their values: `GPUsMinCapability is 8.5`.
    pub own_values: Vec<String>,
}

impl NestedFailure {
    /// Finds the nested constraint of a clause that is true of no offer. `None` if the clause has none, or if some
    /// nested ads meet it, so that their number decides.
    pub fn find(clause: &Expression, table: &OfferTable, request: &RequestContext) -> Option<Self> {
        let (holder, list) = nested_call(clause)?;
        let constraint = request.ad.get(&holder)?.clone();
        let holder = (holder, constraint.clone());
        let failure = NestedFailure::new(holder, list);
        // What even no GPU in use has is told first.
        let of_all = failure.of_ads(&constraint, (&drained(table), true), table, request);
        let is_told = of_all.as_ref().is_some_and(|of_all| of_all.unmet.is_some());
        if is_told { of_all } else { failure.of_ads(&constraint, (&table.ads, false), table, request) }
    }

    /// Finds the part of a constraint that no ad in the lists of `offers` meets. `None` if some ad meets each.
    fn of_ads(
        &self,
        constraint: &Expression,
        (offers, is_of_all): (&[Ad], bool),
        table: &OfferTable,
        request: &RequestContext,
    ) -> Option<Self> {
        let lists = nested_ads(offers, &self.list, &table.context);
        let (nested, rows_of): (Vec<Ad>, Vec<Vec<usize>>) = lists.into_iter().unzip();
        let context = &table.context;
        let constraint = with_own_values(constraint, &nested, request, context);
        let parts = conjuncts(&constraint);
        if let Some(clash) = self.with_clash(&parts, context) {
            return Some(clash);
        }
        if nested.is_empty() {
            return Some(self.clone());
        }
        let unmet = parts.into_iter().find(|part| !nested.iter().any(|ad| is_true_in(ad, part, context)))?;
        let failure = NestedFailure { is_of_all, ..self.clone() };
        Some(failure.with_unmet(unmet, &constraint, (&nested, &rows_of), table))
    }

    fn new(holder: (Name, Expression), list: Name) -> Self {
        NestedFailure {
            holder,
            list,
            is_of_all: false,
            unmet: None,
            read: IndexSet::new(),
            closest: None,
            offered: None,
            renamed: None,
            absent: None,
            mistake: None,
            relaxed: None,
            others: Vec::new(),
            clashing: Vec::new(),
            own_values: Vec::new(),
        }
    }

    /// Returns the failure with those of `parts` that contradict each other; `None` if none do.
    fn with_clash(&self, parts: &[&Expression], context: &Context) -> Option<Self> {
        let clash = inconsistencies(parts, context.dialect).into_iter().next();
        let clash = clash.filter(|clash| clash.clauses.len() > 1)?;
        let written = conjuncts(&self.holder.1);
        let of_clash = || clash.clauses.iter().map(|place| (written.get(*place).copied(), parts[*place]));
        let clashing = of_clash().map(|(written, part)| text(written.unwrap_or(part), context.dialect)).collect();
        let own_values = of_clash().filter_map(|(written, part)| Some(own_values(written?, part))).flatten().collect();
        let unmet: Vec<String> = of_clash().map(|(_, part)| text(part, context.dialect)).collect();
        Some(NestedFailure { unmet: Some(unmet.join(" && ")), clashing, own_values, ..self.clone() })
    }

    /// Tells of the first part of the constraint that no nested ad meets, and what is to be written instead. `nested` are the
    /// ads with the rows of each.
    fn with_unmet(
        self,
        unmet: &Expression,
        constraint: &Expression,
        (nested, rows_of): (&[Ad], &[Vec<usize>]),
        table: &OfferTable,
    ) -> Self {
        let context = &table.context;
        let read: IndexSet<Name> = FreeNames::of(unmet, context.dialect).names.into_iter().collect();
        let known: IndexSet<&Name> = nested.iter().flat_map(Ad::iter).map(|attribute| attribute.name).collect();
        let absent = read.iter().find(|name| !known.contains(name));
        let absent = absent.map(|name| (name.clone(), known.into_iter().cloned().collect()));
        let failure = NestedFailure { unmet: Some(text(unmet, context.dialect)), read, absent, ..self };
        if let Some((renamed, relaxed)) = with_known_names(constraint, unmet, nested, context) {
            return NestedFailure { renamed: Some(renamed), relaxed, ..failure };
        }
        let offered = offered_in(unmet, &failure.list, (nested, rows_of), table);
        if let Some((message, corrected)) = correction_of(unmet, nested, context) {
            let mistake = Some((message, text(&corrected, context.dialect)));
            return NestedFailure { offered, mistake, relaxed: with_part(constraint, unmet, &corrected), ..failure };
        }
        let closest = closest_in(unmet, nested, context);
        // What less of a device would do for a job, only its author knows. A little less memory is the size of the model.
        let is_size = failure.read.first().and_then(SizeUnit::of).is_some();
        let is_near = |(_, bound, closest): &&(BinaryOperator, Value, Value)| match as_number(bound) {
            Some(_) => is_size && relative_distance(closest, bound) <= MAX_DISTANCE_OF_SIZES,
            None => is_near(closest, bound),
        };
        let relaxed_to = |value: &Value| with_part(constraint, unmet, &relaxed_part(unmet, value)?);
        let relaxed = closest.as_ref().filter(is_near).and_then(|(_, _, closest)| relaxed_to(closest));
        let others = other_values(unmet, nested, context).iter().filter_map(relaxed_to).collect();
        NestedFailure { closest, offered, relaxed, others, ..failure }
    }
}

/// Returns the request's attribute that holds the nested constraint of a clause, with its expression, and this constraint with one
/// part relaxed to values that the nested ads of some rows have, the closest first. `None` if the clause has none.
pub fn relaxed_for(
    clause: &Expression,
    table: &OfferTable,
    request: &RequestContext,
    rows: &FixedBitSet,
) -> Option<((Name, Expression), Vec<Expression>)> {
    let (holder, list) = nested_call(clause)?;
    let written = request.ad.get(&holder)?.clone();
    let of_rows = nested_ads(&table.ads, &list, &table.context)
        .into_iter()
        .filter(|(_, of)| of.iter().any(|row| rows.contains(*row)));
    let nested: Vec<Ad> = of_rows.map(|(ad, _)| ad).collect();
    let constraint = with_own_values(&written, &nested, request, &table.context);
    let is_unmet = |part: &&Expression| !nested.iter().any(|ad| is_true_in(ad, part, &table.context));
    let relaxed = conjuncts(&constraint).into_iter().filter(is_unmet).flat_map(|part| {
        let with = |value: &Value| with_part(&constraint, part, &relaxed_part(part, value)?);
        other_values(part, &nested, &table.context).iter().filter_map(with).collect::<Vec<_>>()
    });
    let relaxed = relaxed.collect();
    Some(((holder, written), relaxed))
}

/// Returns a constraint with another expression in place of a part.
fn with_part(constraint: &Expression, part: &Expression, with: &Expression) -> Option<Expression> {
    rewrite_expression(constraint, &mut |known| known.ptr_eq(part).then(|| with.clone()))
}

/// Returns a part with a mistake corrected that the linter knows, or with a looser pattern, so that some nested ad meets it; with
/// what to say of it. `None` if there is none.
fn correction_of(unmet: &Expression, nested: &[Ad], context: &Context) -> Option<(String, Expression)> {
    let slips = lint::find_slips(unmet, context.dialect, None).into_iter();
    let slips = slips.filter(|slip| slip.rule.level > LintLevel::Note);
    let corrected = slips.filter_map(|slip| Some((slip.message.clone(), slip.corrected(unmet)?)));
    let is_met = |(_, corrected): &(String, Expression)| nested.iter().any(|ad| is_true_in(ad, corrected, context));
    corrected.chain(looser_patterns(unmet)).find(is_met)
}

/// Returns the first attribute of `unmet` that no nested ad has, with the attribute of the ads that it means, and the
/// whole constraint with the names that the ads have. `None` if the ads have all names, or none that is meant.
fn with_known_names(
    constraint: &Expression,
    unmet: &Expression,
    nested: &[Ad],
    context: &Context,
) -> Option<((Name, Name), Option<Expression>)> {
    let known: IndexSet<&Name> = nested.iter().flat_map(Ad::iter).map(|attribute| attribute.name).collect();
    let meant = |name: &Name| {
        let near = closest_attributes(name.as_str(), known.iter().map(|known| known.as_str()));
        near.first().map(|near| Name::new(near)).filter(|_| !known.contains(name))
    };
    let names = FreeNames::of(unmet, context.dialect).names;
    let first = names.iter().find_map(|name| Some((name.clone(), meant(name)?)))?;
    let all = FreeNames::of(constraint, context.dialect).names;
    let renamed = all.iter().filter_map(|name| Some((name, meant(name)?)));
    let corrected = renamed.fold(constraint.clone(), |constraint, (name, known)| {
        rename_attribute(&constraint, name, &known).unwrap_or(constraint)
    });
    let is_met = nested.iter().any(|ad| is_true_in(ad, &corrected, context));
    Some((first, is_met.then_some(corrected)))
}

/// Replaces attributes of the request by their values, where no nested ad has an attribute of that name.
fn with_own_values(constraint: &Expression, nested: &[Ad], request: &RequestContext, context: &Context) -> Expression {
    let own_value = |part: &Expression| {
        let ExpressionKind::Attribute(name) = part.kind() else { return None };
        if nested.iter().any(|ad| ad.get(name).is_some()) {
            return None;
        }
        evaluate_attribute(&request.ad, name, context).map(Expression::literal)
    };
    rewrite_expression(constraint, &mut { own_value }).unwrap_or_else(|| constraint.clone())
}

/// Returns the names that stand for values of the request in a part as it is written, with the values, which stand in `part`.
fn own_values(written: &Expression, part: &Expression) -> Vec<String> {
    let value = |(name, value): (&Expression, &Expression)| match (name.kind(), value.as_literal()) {
        (ExpressionKind::Attribute(name), Some(value)) => Some(format!("{name} is {value}")),
        _ => None,
    };
    written.parts().zip(part.parts()).filter_map(value).collect()
}

/// Returns the names of the request's attribute and of the offers' list in a call such as
/// `countMatches(MY.RequireGPUs, TARGET.AvailableGPUs)` within a clause.
fn nested_call(clause: &Expression) -> Option<(Name, Name)> {
    for part in clause.parts() {
        if let ExpressionKind::Call(function, arguments) = part.kind()
            && NESTED_FUNCTIONS.iter().any(|known| function.is(known))
            && let [constraint, list] = &**arguments
        {
            let own = match ClauseOperand::of(constraint)? {
                ClauseOperand::Own(name) | ClauseOperand::Unqualified(name) => name.clone(),
                _ => return None,
            };
            let theirs = match ClauseOperand::of(list)? {
                ClauseOperand::Other(name) | ClauseOperand::Unqualified(name) => name.clone(),
                _ => return None,
            };
            return Some((own, theirs));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::with_own_values;
    use crate::ad::{Ad, Dialect};
    use crate::eval::Context;
    use crate::explain::evaluation::RequestContext;
    use crate::syntax::{ParseOptions, parse_ad, parse_expression};

    #[test]
    fn attributes_of_the_request_have_their_values_where_no_nested_ad_has_them() {
        let rules = ParseOptions::new(Dialect::Condor);
        let ad = |text: &str| -> Ad { parse_ad(text.as_bytes(), rules).unwrap() };
        let request = RequestContext::new(&ad("[ Least = 2 + 3; Capability = 1; Memory = 7 ]"));
        let nested = [ad("[ Capability = 8.0 ]"), ad("[ Capability = 9.0; Memory = 40 ]")];
        for (constraint, expected) in [
            ("Capability >= Least", "Capability >= 5"),
            ("Memory > Least && Least > 1", "Memory > 5 && 5 > 1"),
            ("Capability >= 8.0", "Capability >= 8.0"),
        ] {
            let parsed = parse_expression(constraint.as_bytes(), rules).unwrap();
            let found = with_own_values(&parsed, &nested, &request, &Context::new(Dialect::Condor));
            assert_eq!(found.to_string(), expected, "{constraint}");
        }
    }
}
