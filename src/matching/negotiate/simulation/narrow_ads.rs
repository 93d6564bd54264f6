//! What cycles read of ads. Between cycles ads keep everything. A cycle gets only what it reads, so that ads that differ in their
//! clocks and names are alike to it. Alike ads are one ad, and whatever is made of an ad is made once.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::ad::{Ad, AdExtension, AdShape, Bounded, Dialect, Expression, ExpressionInterner, Name};
use crate::eval::{FreeNames, NameSet, VolatileInputs, transitive_closure};
use crate::matching::policy::PolicyRule;
use crate::protocol::PORTS;

/// Makes ads of what is read of them.
pub struct NarrowAds {
    /// The names of the attributes that are read. `None` if any may be read.
    names: Option<NameSet>,
    /// The attributes that the policy adds.
    added: Option<AdExtension>,
    /// The ads that are known. Clocks that cycles read make new ones in each cycle.
    known: Bounded<NarrowedAds>,
    /// The shapes, by whether ads have each name.
    shapes: FxHashMap<Box<[bool]>, Arc<AdShape>>,
}

#[derive(Default)]
struct NarrowedAds {
    expressions: ExpressionInterner,
    /// The ads, by the numbers of the expressions of all names, counted from 1; 0 for a name that an ad lacks.
    ads: FxHashMap<Box<[u32]>, Ad>,
}

/// Estimated size of a known ad with its key, in bytes, for each name.
const BYTES_PER_NAME: usize = 16;

impl NarrowAds {
    /// Takes ads that have these attributes alone, and those that a policy adds.
    pub fn new(names: Option<NameSet>, added: &[(Name, PolicyRule)]) -> Self {
        let added = added.iter().map(|(name, rule)| (name.clone(), rule.expression.clone())).collect::<Vec<_>>();
        NarrowAds {
            names,
            added: (!added.is_empty()).then(|| AdExtension::new(added)),
            known: Bounded::large(),
            shapes: FxHashMap::default(),
        }
    }

    /// Returns what is read of an ad.
    pub fn narrow(&mut self, ad: &Ad) -> Ad {
        let mut add = |ad: Ad| self.added.as_mut().map_or_else(|| ad.clone(), |added| added.extend(&ad));
        let Some(names) = &self.names else { return add(ad.clone()) };
        if self.known.is_full() {
            self.known.forget();
        }
        let found: Vec<Option<&Expression>> = names.iter().map(|name| ad.get(name)).collect();
        let mut number = |expression: &Expression| {
            u32::try_from(self.known.expressions.intern(expression).0 + 1).unwrap_or(u32::MAX)
        };
        let key: Box<[u32]> = found.iter().map(|expression| expression.map_or(0, &mut number)).collect();
        if !self.known.ads.contains_key(&key) {
            self.known.grow(key.len() * BYTES_PER_NAME);
        }
        let make = || {
            let places = found.iter().map(Option::is_some).collect();
            let bound = names.iter().zip(&found).filter(|(_, expression)| expression.is_some());
            let shape =
                self.shapes.entry(places).or_insert_with(|| Arc::new(bound.map(|(name, _)| name.clone()).collect()));
            add(Ad::from_shape(Arc::clone(shape), found.iter().copied().flatten().cloned().collect()))
        };
        self.known.ads.entry(key).or_insert_with(make).clone()
    }
}

/// What ads bind to names, without constants.
pub struct BoundExpressions<'a> {
    by_name: FxHashMap<&'a Name, (ExpressionInterner, Vec<&'a Expression>)>,
    dialect: Dialect,
}

impl<'a> BoundExpressions<'a> {
    /// Collects the distinct expressions of each name. `None` if an ad has ports, whose labels are names, too.
    pub fn of(ads: impl Iterator<Item = &'a Ad>, dialect: Dialect) -> Option<Self> {
        let mut by_name: FxHashMap<&Name, (ExpressionInterner, Vec<&Expression>)> = FxHashMap::default();
        for attribute in ads.flat_map(Ad::iter) {
            if *attribute.name == *PORTS {
                return None;
            }
            if attribute.expression.as_literal().is_none() {
                let (distinct, expressions) = by_name.entry(attribute.name).or_default();
                if distinct.intern(attribute.expression).1 {
                    expressions.push(attribute.expression);
                }
            }
        }
        Some(BoundExpressions { by_name, dialect })
    }

    /// Returns the names that are read where some are read, directly or through other attributes of either side. `None` if any
    /// attribute may be read.
    pub fn read_names(&self, of: FreeNames) -> Option<NameSet> {
        let FreeNames { mut names, reads_anything, .. } = of;
        transitive_closure(&mut names, |name, names| {
            for expression in self.of_name(name) {
                let mentioned = FreeNames::of(expression, self.dialect);
                names.extend(mentioned.names);
                (!mentioned.reads_anything).then_some(())?;
            }
            Some(())
        })?;
        (!reads_anything).then_some(names)
    }

    /// Whether expressions have the same values as long as the ads stay the same, whatever the clock says.
    pub fn keep_values<'e>(&self, expressions: impl IntoIterator<Item = &'e Expression>) -> bool {
        let mut names = FreeNames::default();
        let mut are_volatile = false;
        for expression in expressions {
            names.add(expression, self.dialect);
            are_volatile |= !VolatileInputs::are_none_in(expression, self.dialect);
        }
        !are_volatile && self.read_names(names).is_some_and(|names| names.iter().all(|name| self.are_lasting(name)))
    }

    /// Whether no expression of a name reads the clock or draws random numbers.
    pub fn are_lasting(&self, name: &Name) -> bool {
        self.of_name(name).all(|expression| VolatileInputs::are_none_in(expression, self.dialect))
    }

    fn of_name(&self, name: &Name) -> impl Iterator<Item = &&'a Expression> {
        self.by_name.get(name).into_iter().flat_map(|(_, expressions)| expressions)
    }
}
