//! Constraints that no ad can meet: the consistency errors of the thesis (§4.2.2, §4.5).
//!
//! Each part of a constraint claims that what it speaks of has a value of some domain.  Where the domains of one thing
//! have nothing in common, the parts cannot be true together, whatever the other side is.

mod domain;
mod ranges;
mod value_constraint;

use crate::ad::{Dialect, Expression};

use domain::Domain;
use value_constraint::{Claims, Subject};

/// Parts of a constraint that cannot be true together.
#[derive(Clone, Debug)]
pub struct Inconsistency {
    /// The positions of the parts, in ascending order.  Without any one of them the others do not contradict each
    /// other about this subject.  One part may contradict itself.
    pub parts: Vec<usize>,
    /// What they say different things of, as the first of them writes it: in most cases an attribute.
    pub subject: Expression,
    /// In which way.
    pub clash: Clash,
}

/// In which way parts of a constraint contradict each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clash {
    /// No value is in all ranges: `x < 10 && x > 12`.
    Value,
    /// No type will do: `x < 10 && x == "a"`.
    Type,
    /// It has to be there, and not: `x is undefined && x > 5`.
    Presence,
}

impl Clash {
    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Clash::Value => "value",
            Clash::Type => "type",
            Clash::Presence => "presence",
        }
    }
}

/// So many contradictions about one subject are told.
const MOST: usize = 64;

/// The contradictions among the parts of a specialized constraint, such as [`conjuncts`](super::conjuncts) finds: in
/// it an unqualified name is one of the other side.  What is reported is certain; not every contradiction is found.
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

/// The sets of places, each as small as can be, whose domains have nothing in common: single ones, pairs, and if there
/// are no such, one larger set.
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
