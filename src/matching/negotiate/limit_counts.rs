//! How much of the concurrency limits is in use during a cycle.

use rustc_hash::FxHashMap;

use crate::ad::{Ad, Value};
use crate::eval::Context;
use crate::matching::policy::{ConcurrencyLimits, parse_limits};

/// The units of each limit that are in use.
pub struct LimitCounts {
    limits: ConcurrencyLimits,
    counts: FxHashMap<String, f64>,
    /// What the user of each offer uses.
    of_offers: Vec<Vec<(String, f64)>>,
}

impl LimitCounts {
    /// Counts what the users of the offers use.
    pub fn new(limits: &ConcurrencyLimits, offers: &[Ad], context: &Context) -> Self {
        let used = |offer: &Ad| match limits.in_use.as_ref()?.evaluate(offer, context).ok()? {
            Value::String(list) => Some(parse_limits(&list.to_str())),
            _ => None,
        };
        let of_offers: Vec<Vec<(String, f64)>> = offers.iter().map(|offer| used(offer).unwrap_or_default()).collect();
        let mut counts = LimitCounts { limits: limits.clone(), counts: FxHashMap::default(), of_offers: Vec::new() };
        for used in &of_offers {
            counts.add(used, 1.0);
        }
        LimitCounts { of_offers, ..counts }
    }

    /// Returns the first of these limits that has too few units left, as a phrase; `None` if all have enough.
    pub fn first_reached(&self, needs: &[(String, f64)]) -> Option<String> {
        needs.iter().find_map(|(name, units)| {
            let (used, most) = (self.counts.get(name).copied().unwrap_or(0.0), self.limits.maximum(name));
            (used + units > most).then(|| {
                if *units > most {
                    return format!("concurrency limit {name}, which allows {most}; the request needs {units}");
                }
                format!("concurrency limit {name}: {used} of {most} in use; the request needs {units}")
            })
        })
    }

    /// Records that a request that needs these limits got an offer, whose user stops.
    pub fn give(&mut self, needs: &[(String, f64)], offer: usize) {
        let stopped = std::mem::take(&mut self.of_offers[offer]);
        self.add(&stopped, -1.0);
        self.add(needs, 1.0);
    }

    fn add(&mut self, units: &[(String, f64)], sign: f64) {
        for (name, units) in units {
            *self.counts.entry(name.clone()).or_default() += sign * units;
        }
    }
}
