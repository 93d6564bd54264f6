//! The offer that comes closest to meeting clauses that no offer meets together.

use super::unmet_offer_clause::ReadValue;

/// The offer that comes closest to meeting a conflict: of those that meet the clause that the fewest offers meet.
#[derive(Clone, Debug, PartialEq)]
pub struct ConflictExample {
    /// Index of the clause that the fewest offers meet.
    pub clause: usize,
    /// Number of offers that meet it.
    pub offers: usize,
    /// Index of the offer.
    pub offer: usize,
    /// What the offer has instead of what the other clauses of the conflict ask for.
    pub reads: Vec<ReadValue>,
}
