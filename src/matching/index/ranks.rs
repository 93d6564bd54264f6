//! Ranks of many pairs at once: each expression is evaluated once for each class of offers and requests that it
//! cannot distinguish.

use fixedbitset::FixedBitSet;

use crate::ad::Ad;
use crate::constraint::literal_value;
use crate::pool::SparseRows;
use crate::protocol::{Protocol, rank_value};

use super::super::PairSide;
use super::columns::OfferColumns;
use super::request::ProbedRequest;
use super::residue::{Residue, ResidueTable};

/// What it takes to know the rank that an ad gives its partner.
#[derive(Clone, Copy)]
pub enum RankForm {
    /// The same rank for every partner.
    Constant(f64),
    /// A rank that depends on the partner; number of its residue.
    Computed(usize),
    /// A rank that only evaluation of the pair can tell.
    NeedsEvaluation,
}

/// The ranks that offers give requests.
pub struct OfferRanks {
    /// The distinct rank expressions, each with the offers that rank by it.
    pub expressions: Vec<(Residue<f64>, SparseRows)>,
    /// Rank of each offer: the constant one, or the one computed for the last request.
    pub values: Vec<f64>,
    /// Offers whose ranks only evaluation of the pair can tell.
    pub needs_evaluation: FixedBitSet,
}

impl OfferRanks {
    /// Classifies the ranks of all offers.
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
}

impl ResidueTable<f64> {
    /// Classifies the rank of an ad and interns its expression. If the ad cannot be indexed, any rank but a literal
    /// needs evaluation of the pair.
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
        // A rank that mentions the rank is circular, so that it gets no classes.
        if is_new && !residue.mentions.names.contains(protocol.rank_name()) {
            residue.classify(columns);
        }
        RankForm::Computed(number)
    }
}

impl Residue<f64> {
    /// Computes the rank for a request paired with each of these offers into `values`, by offer. Offers of which only
    /// evaluation of the pair can tell the rank become unsure.
    pub fn compute_ranks(
        &mut self,
        request: &mut ProbedRequest<'_, '_>,
        offers: impl Iterator<Item = usize>,
        values: &mut [f64],
        unsure: &mut FixedBitSet,
    ) {
        self.evaluate_each(request, offers, rank_value, |offer, rank| match rank {
            Some(rank) => values[offer] = rank,
            None => unsure.insert(offer),
        });
    }
}
