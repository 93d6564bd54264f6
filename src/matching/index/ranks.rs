//! Ranks of many pairs at once. Each rank expression is evaluated once for all pairs that it cannot distinguish.

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use crate::ad::Ad;
use crate::constraint::literal_value;
use crate::pool::code;
use crate::protocol::{Protocol, rank_value};

use super::super::{Candidate, PairSide};
use super::columns::OfferColumns;
use super::request::ProbedRequest;
use super::residue::{Residue, ResidueTable, limit_cached};

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

/// The ranks that offers give requests. Offers that give every request the same rank are in a class of their own.
pub struct OfferRanks {
    /// Class of each offer: the index of its constant rank in `constants`, or the class of offers that its rank
    /// expression cannot distinguish. [`NO_CLASS`] if only evaluation of the pair can tell the rank.
    classes: Vec<u32>,
    constants: Vec<f64>,
    /// The distinct rank expressions of the offers, each with the number of its first class.
    expressions: Vec<(Residue<f64>, usize)>,
    /// Number of classes.
    class_count: usize,
    /// Offers whose ranks only evaluation of the pair can tell.
    pub needs_evaluation: FixedBitSet,
}

/// Stands for the class of an offer that is in no class.
const NO_CLASS: u32 = u32::MAX;

/// Stands for a rank that has not been looked up. A rank that happens to have these bits is looked up repeatedly.
const UNKNOWN_RANK: f64 = f64::from_bits(0xfff8_5eed_0000_0001);

impl OfferRanks {
    /// Finds the [`RankForm`] of each offer.
    pub fn new(offers: &[Ad], columns: &mut OfferColumns, protocol: &Protocol, unindexable: &FixedBitSet) -> Self {
        let mut needs_evaluation = FixedBitSet::with_capacity(offers.len());
        let mut table = ResidueTable::new(PairSide::Offer);
        let mut constants: FxHashMap<u64, u32> = FxHashMap::default();
        let mut classes = Vec::with_capacity(offers.len());
        let mut computed = Vec::new();
        for (offer, ad) in offers.iter().enumerate() {
            let form = table.classify_rank(ad, protocol, columns, !unindexable.contains(offer));
            classes.push(match form {
                RankForm::Constant(rank) => {
                    let next = code(constants.len());
                    *constants.entry(rank.to_bits()).or_insert(next)
                }
                RankForm::NeedsEvaluation => {
                    needs_evaluation.insert(offer);
                    NO_CLASS
                }
                RankForm::Computed(number) => {
                    computed.push((offer, number));
                    NO_CLASS
                }
            });
        }
        let mut class_count = constants.len();
        let mut expressions = Vec::new();
        for residue in table.residues {
            let first = class_count;
            class_count +=
                residue.classes.as_ref().map_or(0, |classes| classes.borrow().offers.partition.first_rows().len());
            expressions.push((residue, first));
        }
        for (offer, number) in computed {
            let (residue, first) = &expressions[number];
            let group = residue.classes.as_ref().and_then(|classes| classes.borrow().offers.partition.group(offer));
            classes[offer] = group.map_or(NO_CLASS, |group| code(first + group));
        }
        let mut ranks = vec![0.0; constants.len()];
        for (bits, class) in constants {
            ranks[class as usize] = f64::from_bits(bits);
        }
        OfferRanks { classes, constants: ranks, expressions, class_count, needs_evaluation }
    }

    /// Whether the rank of every offer is the same for all requests.
    pub fn are_constant(&self) -> bool {
        self.expressions.is_empty() && self.needs_evaluation.is_clear()
    }

    /// Returns the rank that an offer gives all requests. [`OfferRanks::are_constant`] must be true.
    pub fn constant(&self, offer: usize) -> f64 {
        self.constants[self.classes[offer] as usize]
    }

    /// Drops cached ranks if they take too much memory.
    pub fn limit_cached(&mut self) {
        limit_cached(self.expressions.iter_mut().map(|(residue, _)| residue));
    }

    /// Begins a request: no rank is known but the constant ones.
    fn begin(&self, ranks: &mut Vec<f64>) {
        ranks.clear();
        ranks.extend_from_slice(&self.constants);
        ranks.resize(self.class_count, UNKNOWN_RANK);
    }

    /// Computes the rank that an offer and the others of its class give a request; `None` if only evaluation of the pair can tell it.
    #[cold]
    fn compute(&mut self, (offer, class): (usize, usize), request: &mut ProbedRequest<'_, '_>) -> Option<f64> {
        if let Some(rank) = self.constants.get(class) {
            return Some(*rank);
        }
        let number = self.expressions.partition_point(|(_, first)| *first <= class);
        let (residue, first) = &mut self.expressions[number.checked_sub(1)?];
        residue.class_value(request, (offer, class - *first), rank_value)
    }
}

/// Ranks by class, for the request that was probed last. [`UNKNOWN_RANK`] for a class that was not looked up yet.
#[derive(Default)]
pub struct ClassRanks {
    of_offers: Vec<f64>,
    of_request: Vec<f64>,
}

impl ClassRanks {
    /// Calls `visit` with each of the offers `all` and the ranks of the pair. Adds an offer to `unsure` instead if only
    /// evaluation of the pair can tell a rank.
    pub fn visit(
        &mut self,
        request: &mut ProbedRequest<'_, '_>,
        (form, request_ranks): (RankForm, &mut ResidueTable<f64>),
        offer_ranks: &mut OfferRanks,
        all: &FixedBitSet,
        unsure: &mut FixedBitSet,
        mut visit: impl FnMut(Candidate),
    ) {
        if all.is_clear() {
            return;
        }
        let ClassRanks { of_offers, of_request } = self;
        offer_ranks.begin(of_offers);
        let mut rank_of_offer = |offer: usize, request: &mut ProbedRequest<'_, '_>| {
            let class = offer_ranks.classes[offer] as usize;
            let rank = *of_offers.get(class)?;
            if rank.to_bits() != UNKNOWN_RANK.to_bits() {
                return Some(rank);
            }
            let rank = offer_ranks.compute((offer, class), request)?;
            of_offers[class] = rank;
            Some(rank)
        };
        let (constant, mut residue) = match form {
            RankForm::NeedsEvaluation => return unsure.union_with(all),
            RankForm::Constant(rank) => (Some(rank), None),
            RankForm::Computed(number) => {
                let residue = &mut request_ranks.residues[number];
                let Some(classes) = residue.offer_classes(request) else { return unsure.union_with(all) };
                of_request.clear();
                of_request.resize(classes.partition.first_rows().len(), UNKNOWN_RANK);
                (None, Some((residue, classes)))
            }
        };
        let mut rank_of_request = |offer: usize, request: &mut ProbedRequest<'_, '_>| {
            let Some((residue, classes)) = &mut residue else { return constant };
            let class = classes.partition.groups()[offer] as usize;
            let rank = *of_request.get(class)?;
            if rank.to_bits() != UNKNOWN_RANK.to_bits() {
                return Some(rank);
            }
            let rank = residue.class_value(request, (offer, class), rank_value)?;
            of_request[class] = rank;
            Some(rank)
        };
        for offer in all.ones() {
            let ranks = rank_of_request(offer, request)
                .and_then(|request_rank| Some((request_rank, rank_of_offer(offer, request)?)));
            match ranks {
                Some((request_rank, offer_rank)) => visit(Candidate { offer, request_rank, offer_rank }),
                None => unsure.insert(offer),
            }
        }
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
