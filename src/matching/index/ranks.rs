//! Ranks of many pairs at once. Each rank expression is evaluated once for all pairs that it cannot distinguish.

use fixedbitset::FixedBitSet;

use crate::ad::Ad;
use crate::constraint::literal_value;
use crate::pool::SparseRows;
use crate::protocol::{Protocol, rank_value};

use super::super::PairSide;
use super::columns::OfferColumns;
use super::request::ProbedRequest;
use super::residue::{Residue, ResidueTable};

/// How to find the rank that an ad gives its partner.
#[derive(Clone, Copy)]
pub enum RankForm {
    /// The rank is the same for every partner.
    Constant(f64),
    /// The rank depends on the partner. Holds the index of its expression in [`ResidueTable::residues`].
    Computed(usize),
    /// Only evaluation of the pair can tell the rank.
    NeedsEvaluation,
}

/// The ranks that offers give requests.
pub struct OfferRanks {
    /// The distinct rank expressions of the offers, each with the offers that have this expression.
    pub expressions: Vec<(Residue<f64>, SparseRows)>,
    /// Rank of each offer: its constant rank, or its rank for the request that was probed last.
    pub values: Vec<f64>,
    /// Offers whose ranks only evaluation of the pair can tell.
    pub needs_evaluation: FixedBitSet,
}

impl OfferRanks {
    /// Finds the [`RankForm`] of each offer.
    pub fn new(offers: &[Ad], columns: &mut OfferColumns, protocol: &Protocol, unindexable: &FixedBitSet) -> Self {
        let mut values = vec![0.0; offers.len()];
        let mut needs_evaluation = FixedBitSet::with_capacity(offers.len());
        let mut table = ResidueTable::new(PairSide::Offer);
        let mut offers_by_expression: Vec<SparseRows> = Vec::new();
        for (offer, ad) in offers.iter().enumerate() {
            match table.classify_rank(ad, protocol, columns, !unindexable.contains(offer)) {
                RankForm::Constant(rank) => values[offer] = rank,
                RankForm::NeedsEvaluation => needs_evaluation.insert(offer),
                RankForm::Computed(number) => {
                    offers_by_expression.resize_with(table.residues.len(), SparseRows::default);
                    offers_by_expression[number].push(offer);
                }
            }
        }
        let expressions = table.residues.into_iter().zip(offers_by_expression).collect();
        OfferRanks { expressions, values, needs_evaluation }
    }

    /// Whether the rank of every offer is the same for all requests.
    pub fn are_constant(&self) -> bool {
        self.expressions.is_empty() && self.needs_evaluation.is_clear()
    }
}

impl ResidueTable<f64> {
    /// Finds the [`RankForm`] of an ad. A rank that must be computed is added to the table. The rank of an ad that
    /// cannot be indexed needs evaluation of each pair, unless the rank is a literal or absent.
    pub fn classify_rank(
        &mut self,
        ad: &Ad,
        protocol: &Protocol,
        columns: &mut OfferColumns,
        is_indexable: bool,
    ) -> RankForm {
        let Some(expression) = ad.get(protocol.rank_name()) else { return RankForm::Constant(0.0) };
        if let Some(value) = literal_value(expression, columns.context.dialect) {
            return RankForm::Constant(rank_value(value));
        }
        if !is_indexable {
            return RankForm::NeedsEvaluation;
        }
        let (number, is_new) = self.intern(expression, columns.context.dialect);
        let residue = &mut self.residues[number];
        // A rank that mentions itself is circular. It gets no classes, so that it is evaluated for each pair.
        if is_new && !residue.mentions.names.contains(protocol.rank_name()) {
            residue.classify(columns);
        }
        RankForm::Computed(number)
    }
}

impl Residue<f64> {
    /// Computes the rank for each pair of the request and one of `offers`. Writes the rank to `values`, at the index of
    /// the offer. If only evaluation of the pair can tell the rank, adds the offer to `unsure` instead.
    pub fn compute_ranks(
        &mut self,
        request: &mut ProbedRequest<'_, '_>,
        offers: impl Iterator<Item = usize>,
        values: &mut [f64],
        unsure: &mut FixedBitSet,
    ) {
        self.evaluate_each(request, offers, rank_value, |offer, rank| match rank {
            Some(rank) => values[offer] = rank,
            None => unsure.grow_and_insert(offer),
        });
    }
}
