//! The workload of the index (thesis 4.6.1, Figures 19 and 20).

use clap::{Args, ValueEnum};
use classad::ad::{Ad, BinaryOperator, Expression, Name, Value};

use super::rng::SeededRng;
use super::{AdForm, AdGenerator, AdKind, GeneratedAds, WorkloadOutput, parse_share};

/// Objects and as many queries, each with bounds on the attributes of the other side (thesis §4.6.1)
#[derive(Args)]
pub struct IndexWorkload {
    /// How many objects, and how many queries
    #[arg(long, value_name = "N", default_value_t = 1000)]
    n: u32,
    /// How many attributes an ad has, and how many bounds
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=676))]
    attrs: u16,
    /// The domains of the attributes
    #[arg(long, value_name = "MIX", default_value = "T", ignore_case = true)]
    mix: DomainMix,
    /// The share of attributes and bounds that is left out
    #[arg(long, value_name = "SHARE", default_value_t = 0.05, value_parser = parse_share)]
    omit: f64,
    /// The attribute that is the constraint
    #[arg(long, value_name = "NAME", default_value = "Requirements")]
    constraint_attr: String,
    #[command(flatten)]
    pub(super) delivery: WorkloadOutput,
}

/// The domains of the attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DomainMix {
    /// Ten values each
    #[value(name = "T")]
    Ten,
    /// Ten values for the first half of them, N for the others
    #[value(name = "M")]
    Mixed,
    /// N values each
    #[value(name = "D")]
    Diverse,
}

impl AdGenerator for IndexWorkload {
    fn kinds(&self) -> &'static [AdKind] {
        &[AdKind::Objects, AdKind::Queries]
    }

    fn form(&self) -> AdForm {
        AdForm::New
    }

    fn ads(&self, kind: AdKind, seed: u64) -> GeneratedAds<'_> {
        let (mine, theirs, stream) = match kind {
            AdKind::Objects => (self.names(true), self.names(false), "index objects"),
            AdKind::Queries => (self.names(false), self.names(true), "index queries"),
            _ => return Box::new(std::iter::empty()),
        };
        let (other, constraint) = (Expression::attribute("other"), Name::new(&self.constraint_attr));
        let mut chance = SeededRng::new(seed, stream);
        Box::new((0..self.n).map(move |_| {
            let mut attributes: Vec<(Name, Expression)> = Vec::new();
            for (place, name) in mine.iter().enumerate() {
                let value = chance.below(self.domain(place));
                if !chance.with_probability(self.omit) {
                    attributes.push((name.clone(), Expression::literal(Value::Integer(value))));
                }
            }
            let mut bounds: Option<Expression> = None;
            for (place, name) in theirs.iter().enumerate() {
                let operator =
                    if chance.with_probability(0.5) { BinaryOperator::LessEqual } else { BinaryOperator::GreaterEqual };
                let value = chance.below(self.domain(place));
                if chance.with_probability(self.omit) {
                    continue;
                }
                let selected = Expression::select(other.clone(), name.clone());
                let bound = Expression::binary(operator, selected, Expression::literal(Value::Integer(value)));
                bounds = Some(bounds.into_iter().fold(bound, |bound, before| Expression::and(before, bound)));
            }
            let bounds = bounds.unwrap_or_else(|| Expression::literal(Value::Boolean(true)));
            attributes.push((constraint.clone(), bounds));
            attributes.into_iter().collect::<Ad>()
        }))
    }
}

impl IndexWorkload {
    /// Returns the names of the objects' attributes, A, B, C..., or of the queries', Z, Y, X...; with more than 13
    /// attributes, when the two would overlap, they are PAA, PAB... and QAA, QAB....
    fn names(&self, of_objects: bool) -> Vec<Name> {
        let letter = |number: u16| char::from(b'A' + (number % 26) as u8);
        let names = (0..self.attrs).map(|number| match (of_objects, self.attrs) {
            (true, ..=13) => letter(number).to_string(),
            (false, ..=13) => letter(25 - number).to_string(),
            (true, _) => format!("P{}{}", letter(number / 26), letter(number)),
            (false, _) => format!("Q{}{}", letter(number / 26), letter(number)),
        });
        names.map(|name| Name::new(&name)).collect()
    }

    /// Returns the number of values of the attribute at a 0-based place.
    fn domain(&self, place: usize) -> i64 {
        match self.mix {
            DomainMix::Mixed if place < usize::from(self.attrs).div_ceil(2) => 10,
            DomainMix::Ten => 10,
            DomainMix::Mixed | DomainMix::Diverse => i64::from(self.n),
        }
    }
}
