//! The index workload: objects and queries for measuring the index (thesis 4.6.1, Figures 19 and 20).

use crate::ad::{Ad, BinaryOperator, Expression, Name};

use super::generator::{AdGenerator, AdKind, GeneratedAds};
use super::rng::SeededRng;

/// Objects and equally many queries. An object's constraint has bounds on attributes of queries, a query's constraint
/// on attributes of objects (thesis 4.6.1).
#[derive(Clone, Debug)]
pub struct IndexWorkload {
    /// Number of objects, which is also the number of queries.
    pub ads: u32,
    /// Number of attributes of an ad, which is also the number of bounds in its constraint. Names repeat beyond 676
    /// attributes.
    pub attributes: u16,
    /// How many different values the attributes can have.
    pub mix: DomainMix,
    /// Probability with which an attribute or a bound is left out, from 0 to 1.
    pub omitted: f64,
    /// Name of the attribute that holds the constraint.
    pub constraint: String,
}

/// How many different values the attributes can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DomainMix {
    /// Ten values for each attribute.
    Ten,
    /// Ten values for each attribute of the first half. Each other attribute has as many values as there are objects.
    Mixed,
    /// As many values for each attribute as there are objects.
    Diverse,
}

impl DomainMix {
    /// All mixes.
    pub const ALL: [DomainMix; 3] = [DomainMix::Ten, DomainMix::Mixed, DomainMix::Diverse];

    /// Returns the letter that the thesis uses for the mix.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            DomainMix::Ten => "T",
            DomainMix::Mixed => "M",
            DomainMix::Diverse => "D",
        }
    }
}

impl Default for IndexWorkload {
    fn default() -> Self {
        IndexWorkload {
            ads: 1000,
            attributes: 4,
            mix: DomainMix::Ten,
            omitted: 0.05,
            constraint: "Requirements".to_owned(),
        }
    }
}

impl AdGenerator for IndexWorkload {
    fn kinds(&self) -> &'static [AdKind] {
        &[AdKind::Objects, AdKind::Queries]
    }

    fn ads(&self, kind: AdKind, seed: u64) -> GeneratedAds<'_> {
        let (mine, theirs, stream) = match kind {
            AdKind::Objects => (self.names(true), self.names(false), "index objects"),
            AdKind::Queries => (self.names(false), self.names(true), "index queries"),
            _ => return Box::new(std::iter::empty()),
        };
        let (other, constraint) = (Expression::attribute(Name::new("other")), Name::new(&self.constraint));
        let mut rng = SeededRng::new(seed, stream);
        Box::new((0..self.ads).map(move |_| {
            let values = mine.iter().enumerate().filter_map(|(place, name)| {
                let value = rng.below(self.domain(place));
                let is_omitted = rng.with_probability(self.omitted);
                (!is_omitted).then(|| (name.clone(), Expression::literal(value)))
            });
            let mut attributes: Vec<(Name, Expression)> = values.collect();
            let bounds = theirs.iter().enumerate().filter_map(|(place, name)| {
                let operator =
                    if rng.with_probability(0.5) { BinaryOperator::LessEqual } else { BinaryOperator::GreaterEqual };
                let value = rng.below(self.domain(place));
                let is_omitted = rng.with_probability(self.omitted);
                let selected = || Expression::select(other.clone(), name.clone());
                (!is_omitted).then(|| Expression::binary(operator, selected(), Expression::literal(value)))
            });
            let bounds = bounds.reduce(Expression::and);
            attributes.push((constraint.clone(), bounds.unwrap_or_else(|| Expression::literal(true))));
            attributes.into_iter().collect::<Ad>()
        }))
    }
}

impl IndexWorkload {
    /// Returns the attribute names of the objects (A, B, C...) or of the queries (Z, Y, X...). With more than 13
    /// attributes these names would overlap, so PAA, PAB... and QAA, QAB... are used.
    fn names(&self, of_objects: bool) -> Vec<Name> {
        let letter = |number: u16| char::from(b'A' + (number % 26) as u8);
        let name = |number| match (of_objects, self.attributes) {
            (true, ..=13) => letter(number).to_string(),
            (false, ..=13) => letter(25 - number).to_string(),
            (true, _) => format!("P{}{}", letter(number / 26), letter(number)),
            (false, _) => format!("Q{}{}", letter(number / 26), letter(number)),
        };
        (0..self.attributes).map(|number| Name::new(&name(number))).collect()
    }

    /// Returns how many values the attribute at a 0-based index can have.
    fn domain(&self, place: usize) -> i64 {
        match self.mix {
            DomainMix::Mixed if place < usize::from(self.attributes).div_ceil(2) => 10,
            DomainMix::Ten => 10,
            DomainMix::Mixed | DomainMix::Diverse => i64::from(self.ads),
        }
    }
}
