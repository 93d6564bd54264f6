//! The ads in lists of offers, such as the GPUs of slots in `AvailableGPUs`, and what they have.

use indexmap::{IndexMap, IndexSet};

use crate::ad::{Ad, Expression, Name, Truth, Value};
use crate::eval::{Context, Environment, Evaluator};

use super::drained_slots::drained_slot;
use super::evaluation::OfferTable;

/// Maximum number of offers whose lists are read.
const MAX_LISTS: usize = 2000;

/// Maximum number of different nested ads that are tried.
const MAX_NESTED_ADS: usize = 500;

/// Returns the offers of a table, the slots among them as they would be without jobs.
pub fn drained(table: &OfferTable) -> Vec<Ad> {
    let without_jobs = |ad: &Ad| drained_slot(ad, &table.context).unwrap_or_else(|| ad.clone());
    table.ads.iter().take(MAX_LISTS).map(without_jobs).collect()
}

/// Returns the different ads in the lists that offers have in the attribute `list`, each with the rows that have it.
pub fn nested_ads(offers: &[Ad], list: &Name, context: &Context) -> Vec<(Ad, Vec<usize>)> {
    let list = Expression::attribute(list.clone());
    let mut ads: Vec<(Ad, Vec<usize>)> = Vec::new();
    for (row, offer) in offers.iter().take(MAX_LISTS).enumerate() {
        let (environment, frame) = Environment::single(offer.clone());
        let mut evaluator = Evaluator::new(&environment, context);
        let Ok(Value::List(list)) = evaluator.evaluate(&list, &frame) else { continue };
        let found = list.elements.iter().filter_map(|element| match evaluator.evaluate(element, &frame) {
            Ok(Value::Ad(ad)) => Some(ad.frame.ad.clone()),
            _ => None,
        });
        for ad in found.collect::<Vec<_>>() {
            match ads.iter_mut().find(|(known, _)| *known == ad) {
                Some((_, rows)) => rows.push(row),
                None => ads.push((ad, vec![row])),
            }
        }
        if ads.len() >= MAX_NESTED_ADS {
            break;
        }
    }
    ads
}

pub fn value_in(ad: &Ad, expression: &Expression, context: &Context) -> Option<Value> {
    let (environment, frame) = Environment::single(ad.clone());
    Evaluator::new(&environment, context).evaluate(expression, &frame).ok()
}

pub fn is_true_in(ad: &Ad, expression: &Expression, context: &Context) -> bool {
    value_in(ad, expression, context).is_some_and(|value| Truth::of(&value, context.dialect).is_true())
}

/// Returns the strings and numbers that nested ads have in an attribute, by their texts, with the rows of the ads.
pub fn rows_with_values<'n>(
    nested: impl Iterator<Item = (&'n Ad, &'n Vec<usize>)>,
    name: &Name,
    context: &Context,
) -> IndexMap<String, (Value, IndexSet<usize>)> {
    let attribute = Expression::attribute(name.clone());
    let mut rows_with: IndexMap<String, (Value, IndexSet<usize>)> = IndexMap::new();
    for (ad, rows) in nested {
        if let Some(value @ (Value::String(_) | Value::Integer(_) | Value::Real(_))) = value_in(ad, &attribute, context)
        {
            rows_with.entry(value.to_string()).or_insert_with(|| (value, IndexSet::new())).1.extend(rows);
        }
    }
    rows_with
}
