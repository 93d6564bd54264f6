//! The index of the offers (thesis 4). It narrows the candidates of a request without evaluating every pair.
//!
//! A constraint is split into clauses, which must all be true. A clause is used in one of three ways:
//!
//! - The request compares an attribute of the offer with a constant, as in `TARGET.Memory >= 1024`. The constant is
//!   looked up in the column of the offers' `Memory`.
//! - An offer compares an attribute of the request with a constant. Such constants are bounds. They form one column for
//!   each attribute and operator, in which the value of the request is looked up.
//! - Any other clause is a residue. It is evaluated once for each pair of a class of requests and a class of offers.
//!
//! If a needed value depends on the other side (thesis 4.4: deviant), the index answers that the offer is unsure. The
//! caller decides on unsure offers by evaluating the pair.

mod build;
mod columns;
mod one_sided;
mod probe;
mod ranks;
mod remaining;
mod request;
mod residue;

use std::rc::Rc;

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use crate::ad::{Ad, ByteString, Name};
use crate::eval::Context;
use crate::pool::{BoundColumn, ColumnCell, SparseRows};
use crate::protocol::Protocol;

use super::PairSide;

use build::{CollectedClauses, OwnOperand, settle_residue};
use columns::OfferColumns;
pub use probe::ProbeResult;
use ranks::{ClassRanks, OfferRanks};
pub use remaining::RemainingOffers;
pub use request::PairEvaluator;
use residue::{Residue, ResidueTable};

/// The index of a fixed list of offers. A set of offers is a bitmap over the positions in this list.
pub struct OfferIndex {
    columns: OfferColumns,
    protocol: Rc<Protocol>,
    /// Offers that may match a request. Offers without a constraint, offers with a residue that no request can meet,
    /// and withdrawn offers are not included.
    eligible: FixedBitSet,
    /// Offers that have a clause which only evaluation of the pair can decide. Without capacity if there are none.
    needs_evaluation: FixedBitSet,
    /// Bounds of the offers on attributes of requests, one column for each attribute and operator. Sorted by attribute.
    imported_bounds: Vec<BoundColumn<Name>>,
    /// String lists of the offers, by attribute of the request. The list in `stringListMember(TARGET.Owner, "ann,bob")`
    /// is found under `Owner`.
    item_postings: Vec<(Name, ItemPostings)>,
    /// Residues of the offers' constraints, each with the offers for which the residue depends on the request.
    offer_residues: Vec<(Residue<bool>, SparseRows)>,
    /// Residues of the constraints of all requests probed so far.
    request_residues: ResidueTable<bool>,
    /// Rank expressions of all requests probed so far.
    request_ranks: ResidueTable<f64>,
    offer_ranks: OfferRanks,
    class_ranks: ClassRanks,
    /// Offers that cannot be indexed, because they redefine a scope name such as `target`.
    unindexable: FixedBitSet,
    scratch: FixedBitSet,
}

/// The offers' string lists in which the value of one attribute of the request must occur.
struct ItemPostings {
    offers: FixedBitSet,
    /// Posting lists: for each string the offers whose lists contain it.
    postings: FxHashMap<ByteString, Vec<u32>>,
}

impl OfferIndex {
    /// Builds the index from the constraints and ranks of the offers.
    #[must_use]
    pub fn new(offers: &[Ad], protocol: Protocol, context: Context) -> Self {
        let mut columns = OfferColumns::new(offers.to_vec(), context);
        let mut clauses = CollectedClauses::new(&columns);
        for (offer, ad) in offers.iter().enumerate() {
            clauses.add_offer(offer, ad, &protocol);
        }
        clauses.followed.push(protocol.rank_name().clone());
        columns.followed = clauses.followed;
        let CollectedClauses { mut eligible, needs_evaluation, mut unindexable, .. } = clauses;
        unindexable.intersect_with(&eligible);
        let dialect = columns.context.dialect;
        let mut imported_bounds = clauses.bounds.build(offers.len(), dialect, |offer, bound| match bound {
            OwnOperand::Value(value) => ColumnCell::Constant(value.clone()),
            OwnOperand::Attribute(name) => columns.column(name).cell(offer),
        });
        imported_bounds.sort_by(|left, right| left.subject.cmp(&right.subject));
        let residues = clauses.residues.residues.into_iter().zip(clauses.residue_offers);
        let offer_residues =
            residues.filter_map(|(residue, offers)| settle_residue(residue, offers, &mut columns, &mut eligible));
        let offer_residues = offer_residues.collect();
        OfferIndex {
            eligible,
            needs_evaluation: if needs_evaluation.is_clear() { FixedBitSet::new() } else { needs_evaluation },
            imported_bounds,
            item_postings: clauses.item_postings.into_iter().collect(),
            offer_residues,
            request_residues: ResidueTable::new(PairSide::Request),
            request_ranks: ResidueTable::new(PairSide::Request),
            class_ranks: ClassRanks::default(),
            offer_ranks: OfferRanks::new(offers, &mut columns, &protocol, &unindexable),
            unindexable,
            scratch: FixedBitSet::with_capacity(columns.offers.len()),
            columns,
            protocol: Rc::new(protocol),
        }
    }

    /// Excludes an offer from all later answers.
    pub fn withdraw(&mut self, offer: usize) {
        self.eligible.set(offer, false);
        self.unindexable.set(offer, false);
    }
}
