//! What cycles read of ads. Between cycles ads keep everything. A cycle gets only what it reads, so that ads that differ in their
//! clocks and names are alike to it. Alike ads are one ad, and whatever a cycle makes of an ad, it makes once.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::ad::{Ad, AdShape, Expression, ExpressionInterner, Name};
use crate::eval::{FreeNames, NameSet, transitive_closure};
use crate::protocol::PORTS;

use super::super::{NegotiationSettings, negotiation_names};

/// Maximum number of distinct ads that are known at once. Clocks that cycles read make new ones in each cycle.
const MAX_ADS: usize = 1 << 17;

/// Makes ads of what cycles read.
pub struct NarrowAds {
    /// The names of the attributes that cycles read. `None` if they may read any.
    names: Option<NameSet>,
    expressions: ExpressionInterner,
    /// The ads, by the numbers of the expressions of all names, counted from 1; 0 for a name that an ad lacks.
    ads: FxHashMap<Box<[u32]>, Ad>,
    /// The shapes, by whether ads have each name.
    shapes: FxHashMap<Box<[bool]>, Arc<AdShape>>,
}

impl NarrowAds {
    /// Finds the names that cycles read in ads, and in what is made of these ads.
    pub fn new<'a>(settings: &NegotiationSettings, ads: impl Iterator<Item = &'a Ad>) -> Self {
        NarrowAds {
            names: names_of_cycles(settings, ads),
            expressions: ExpressionInterner::default(),
            ads: FxHashMap::default(),
            shapes: FxHashMap::default(),
        }
    }

    /// Returns what cycles read of an ad.
    pub fn narrow(&mut self, ad: &Ad) -> Ad {
        let Some(names) = &self.names else { return ad.clone() };
        if self.ads.len() >= MAX_ADS {
            (self.ads, self.expressions) = Default::default();
        }
        let found: Vec<Option<&Expression>> = names.iter().map(|name| ad.get(name)).collect();
        let mut number =
            |expression: &Expression| u32::try_from(self.expressions.intern(expression).0 + 1).unwrap_or(u32::MAX);
        let key = found.iter().map(|expression| expression.map_or(0, &mut number)).collect();
        let make = || {
            let places = found.iter().map(Option::is_some).collect();
            let bound = names.iter().zip(&found).filter(|(_, expression)| expression.is_some());
            let shape =
                self.shapes.entry(places).or_insert_with(|| Arc::new(bound.map(|(name, _)| name.clone()).collect()));
            Ad::from_shape(Arc::clone(shape), found.iter().copied().flatten().cloned().collect())
        };
        self.ads.entry(key).or_insert_with(make).clone()
    }
}

/// Returns the names of the attributes that cycles read, directly or through other attributes of either side. `None` if they may
/// read any attribute.
fn names_of_cycles<'a>(settings: &NegotiationSettings, ads: impl Iterator<Item = &'a Ad>) -> Option<NameSet> {
    let dialect = settings.context.dialect;
    // What is bound to each name, without constants.
    let mut bound: FxHashMap<&Name, (ExpressionInterner, Vec<&Expression>)> = FxHashMap::default();
    for attribute in ads.flat_map(Ad::iter) {
        if *attribute.name == *PORTS {
            return None;
        }
        if attribute.expression.as_literal().is_none() {
            let (distinct, expressions) = bound.entry(attribute.name).or_default();
            if distinct.intern(attribute.expression).1 {
                expressions.push(attribute.expression);
            }
        }
    }
    let FreeNames { mut names, reads_anything, .. } = negotiation_names(&settings.policy, dialect);
    names.extend(settings.protocol.attribute_names().cloned());
    transitive_closure(&mut names, |name, names| {
        for expression in bound.get(name).into_iter().flat_map(|(_, expressions)| expressions) {
            let mentioned = FreeNames::of(expression, dialect);
            names.extend(mentioned.names);
            (!mentioned.reads_anything).then_some(())?;
        }
        Some(())
    })?;
    (!reads_anything).then_some(names)
}
