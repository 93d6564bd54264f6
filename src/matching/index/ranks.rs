//! Ranks of many pairs at once: each expression is evaluated once for each class of offers and requests that it
//! cannot distinguish.

use std::cell::RefCell;
use std::rc::Rc;

use fixedbitset::FixedBitSet;

use crate::ad::{Ad, Expression, ExpressionInterner};
use crate::constraint::literal_value;
use crate::eval::{Context, FreeNames};
use crate::pool::SparseRows;
use crate::protocol::{Protocol, rank_value};

use super::super::PairSide;
use super::classes::AttributeClasses;
use super::request::ProbedRequest;
use super::residue::Residue;

/// What it takes to know the rank that an ad gives its partner.
#[derive(Clone, Copy)]
pub enum RankForm {
    /// The same rank for every partner.
    Constant(f64),
    /// A rank that depends on the partner; index of its expression.
    Computed(usize),
    /// A rank that only evaluation of the pair can tell.
    NeedsEvaluation,
}

/// The ranks that offers give requests.
pub struct OfferRanks {
    /// The distinct rank expressions.
    pub expressions: RankExpressions,
    /// For each expression the offers that rank by it.
    pub offers_by_expression: Vec<SparseRows>,
    /// Rank of each offer: the constant one, or the one computed for the last request.
    pub values: Vec<f64>,
    /// Offers whose ranks only evaluation of the pair can tell.
    pub needs_evaluation: FixedBitSet,
}

impl OfferRanks {
    /// Creates the table for `offers` offers, all of which give the rank 0.
    pub fn new(offers: usize) -> Self {
        OfferRanks {
            expressions: RankExpressions::new(PairSide::Offer),
            offers_by_expression: Vec::new(),
            values: vec![0.0; offers],
            needs_evaluation: FixedBitSet::with_capacity(offers),
        }
    }

    /// Records the form of an offer's rank.
    pub fn record(&mut self, offer: usize, rank: RankForm) {
        match rank {
            RankForm::Constant(rank) => self.values[offer] = rank,
            RankForm::NeedsEvaluation => self.needs_evaluation.insert(offer),
            RankForm::Computed(number) => {
                self.offers_by_expression
                    .resize_with(self.offers_by_expression.len().max(number + 1), SparseRows::default);
                self.offers_by_expression[number].push(offer);
            }
        }
    }
}

/// The distinct rank expressions of the ads of one side.
pub struct RankExpressions {
    side: PairSide,
    interner: ExpressionInterner,
    residues: Vec<Residue<f64>>,
}

impl RankExpressions {
    /// Creates an empty table.
    pub fn new(side: PairSide) -> Self {
        RankExpressions { side, interner: ExpressionInterner::default(), residues: Vec::new() }
    }

    /// Classifies the rank of an ad and interns its expression. If the ad cannot be indexed (`is_odd`), any rank but a
    /// literal needs evaluation of the pair.
    pub fn classify(
        &mut self,
        ad: &Ad,
        protocol: &Protocol,
        context: &Context,
        is_odd: bool,
        groups: impl FnOnce(&FreeNames) -> Rc<RefCell<AttributeClasses>>,
    ) -> RankForm {
        let Some(expression) = ad.get(protocol.rank_name()) else { return RankForm::Constant(0.0) };
        if let Some(value) = literal_value(expression, context.dialect) {
            return RankForm::Constant(rank_value(value));
        }
        if is_odd {
            return RankForm::NeedsEvaluation;
        }
        let (number, is_new) = self.interner.intern(expression);
        if is_new {
            let mentions = FreeNames::of(expression, context.dialect);
            let is_opaque = mentions.reads_unknown() || mentions.names.contains(protocol.rank_name());
            let groups = (!is_opaque).then(|| groups(&mentions));
            self.residues.push(Residue::new(expression.clone(), self.side, groups));
        }
        RankForm::Computed(number)
    }

    /// Computes the rank expression `number` for a request paired with each of these offers. `answer` gets each offer
    /// and its rank, `None` where only evaluation of the pair can tell.
    pub fn evaluate_each(
        &mut self,
        number: usize,
        request: &mut ProbedRequest<'_>,
        offers: impl Iterator<Item = usize>,
        evaluate: &mut dyn FnMut(PairSide, &Expression, usize) -> Option<f64>,
        answer: impl FnMut(usize, Option<f64>),
    ) {
        self.residues[number].evaluate_each(request, offers, evaluate, answer);
    }
}
