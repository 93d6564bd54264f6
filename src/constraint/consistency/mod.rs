//! Detects contradictions among the clauses of a constraint: the consistency errors of thesis 4.2.2 and 4.5.
//!
//! Each clause restricts its subject (mostly an attribute) to a domain of values. If the domains of one subject do
//! not intersect, the clauses cannot be true together, whatever the other ad is.

mod domain;
mod ranges;
mod value_constraint;

use crate::ad::{Dialect, Expression};

use domain::Domain;
use value_constraint::{Claims, Subject};

/// A set of clauses that cannot be true together.
#[derive(Clone, Debug)]
pub struct Inconsistency {
    /// Positions of the clauses, ascending. The set is minimal: without any one of them the others do not contradict
    /// each other about this subject. A single clause may contradict itself.
    pub parts: Vec<usize>,
    /// The subject of the contradiction as its first clause writes it, in most cases an attribute.
    pub subject: Expression,
    /// The kind of the contradiction.
    pub clash: Clash,
}

/// The kind of a contradiction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clash {
    /// The types agree, the ranges do not intersect: `x < 10 && x > 12`.
    Value,
    /// No type satisfies all clauses: `x < 10 && x == "a"`.
    Type,
    /// The subject must be both present and absent: `x is undefined && x > 5`.
    Presence,
}

impl Clash {
    /// Returns the kind as a lower-case word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Clash::Value => "value",
            Clash::Type => "type",
            Clash::Presence => "presence",
        }
    }
}

/// Maximum number of contradictions found about one subject.
const MOST: usize = 64;

/// Finds contradictions among the clauses of a specialized constraint, such as [`conjuncts`](super::conjuncts)
/// returns. Unqualified names are taken as attributes of the other side.
///
/// Sound but not complete: every reported contradiction is certain, some are missed. Per subject O(n²) in the number
/// of clauses that restrict it.
#[must_use]
pub fn inconsistencies(parts: &[&Expression], dialect: Dialect) -> Vec<Inconsistency> {
    let mut subjects: Vec<(Subject<'_>, Vec<(usize, Domain)>)> = Vec::new();
    for (place, part) in parts.iter().enumerate() {
        let Claims::Of(claims) = Claims::of(part, true, dialect) else { continue };
        for (subject, domain) in claims {
            match subjects.iter_mut().find(|(known, _)| known.same(subject)) {
                Some((_, domains)) => domains.push((place, domain)),
                None => subjects.push((subject, vec![(place, domain)])),
            }
        }
    }
    let mut found: Vec<Inconsistency> = Vec::new();
    for (subject, domains) in &subjects {
        for places in conflicts(domains) {
            let of = |place: usize| domains.iter().filter(move |(known, _)| *known == place).map(|(_, domain)| domain);
            let clash = clash(places.iter().copied().flat_map(of));
            found.push(Inconsistency { parts: places, subject: subject.expression().clone(), clash });
        }
    }
    found.sort_by(|a, b| a.parts.cmp(&b.parts));
    found
}

/// Returns minimal conflict sets of clause positions, whose domains do not intersect: single clauses and pairs, or,
/// if there are neither, one larger set, found by dropping clauses greedily.
fn conflicts(domains: &[(usize, Domain)]) -> Vec<Vec<usize>> {
    let mut found = Vec::new();
    let able: Vec<&(usize, Domain)> = domains.iter().filter(|(_, domain)| !domain.is_empty()).collect();
    found.extend(domains.iter().filter(|(_, domain)| domain.is_empty()).map(|(place, _)| vec![*place]));
    for (index, (place, domain)) in able.iter().enumerate() {
        for (later, other) in &able[index + 1..] {
            if found.len() < MOST && domain.and(other).is_empty() {
                found.push(vec![*place, *later]);
            }
        }
    }
    if found.is_empty() && common(&able).is_empty() {
        let mut needed = able;
        let mut at = 0;
        while at < needed.len() {
            let mut fewer = needed.clone();
            fewer.remove(at);
            if common(&fewer).is_empty() {
                needed = fewer;
            } else {
                at += 1;
            }
        }
        found.push(needed.into_iter().map(|(place, _)| *place).collect());
    }
    found
}

fn common(domains: &[&(usize, Domain)]) -> Domain {
    domains.iter().fold(Domain::all(), |common, (_, domain)| common.and(domain))
}

fn clash<'d>(domains: impl Iterator<Item = &'d Domain>) -> Clash {
    let domains: Vec<&Domain> = domains.collect();
    if domains.len() < 2 || domains.iter().fold(u16::MAX, |common, domain| common & domain.types()) != 0 {
        Clash::Value
    } else if domains.iter().any(|domain| domain.present() == 0) {
        Clash::Presence
    } else {
        Clash::Type
    }
}

#[cfg(test)]
mod tests;
