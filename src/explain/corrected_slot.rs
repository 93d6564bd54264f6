//! A slot that a request misses although a clause of it is corrected.

use super::unmet_offer_clause::UnmetOfferClause;

/// A slot that meets the corrected clause of a request, and does not match the request all the same.
#[derive(Clone, Debug, PartialEq)]
pub struct CorrectedSlot {
    /// The corrected clause, or the corrected value of an attribute that it reads.
    pub correction: String,
    /// Index of the slot.
    pub offer: usize,
    /// The other clauses of the request that the slot does not meet.
    pub unmet: Vec<String>,
    /// The clauses of the slot that the request does not meet.
    pub demands: Vec<UnmetOfferClause>,
}
