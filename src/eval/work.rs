//! Prices of work that is no evaluation.

use super::Context;

/// Work that counts for the budgets of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Work {
    /// A candidate in a list, because lists are sorted.
    Candidate,
    /// A pair, before its ads are evaluated.
    Pair,
    /// A listed pair, because its row is printed.
    ListedPair,
    /// An evaluation by the tree walker, besides its steps.
    Walk,
    /// An evaluation by a program, besides its nodes.
    Program,
    /// An evaluation of another expression than the one before.
    Switch,
    /// A row of joined ads, besides its columns and its text.
    JoinedRow,
    /// A column of such a row, besides the steps of its evaluation.
    JoinedColumn,
    /// An evaluation of a clause.
    Clause,
    /// The comparison of a request with a further clause of an offer. The outcome may be cached.
    OfferClause,
    /// An attribute on which a clause depends, if they are many.
    ClauseAttribute,
    /// A visit to a part of an expression in a search for a gang.
    SymbolicVisit,
    /// The comparison with a further name.
    KnownName,
}

/// Which budget of a run pays.
#[derive(Clone, Copy)]
enum Payer {
    Steps,
    Comparisons,
}

impl Work {
    /// Returns the number of steps that the work counts as: it was measured how many of them take as long.
    #[must_use]
    pub const fn steps(self) -> u64 {
        self.price().1
    }

    #[allow(clippy::match_same_arms)] // a row for each kind of work
    const fn price(self) -> (Payer, u64) {
        match self {
            Work::Candidate => (Payer::Comparisons, 4),
            Work::Pair => (Payer::Comparisons, 4),
            Work::ListedPair => (Payer::Comparisons, 10),
            Work::Walk => (Payer::Comparisons, 10),
            Work::Program => (Payer::Comparisons, 3),
            Work::Switch => (Payer::Comparisons, 26),
            Work::JoinedRow => (Payer::Comparisons, 6),
            Work::JoinedColumn => (Payer::Comparisons, 4),
            Work::Clause => (Payer::Steps, 20),
            Work::OfferClause => (Payer::Steps, 40),
            Work::ClauseAttribute => (Payer::Steps, 4),
            Work::SymbolicVisit => (Payer::Steps, 2),
            Work::KnownName => (Payer::Steps, 25),
        }
    }
}

impl Context {
    /// Counts work for the run, `times` times.
    #[inline]
    pub fn charge(&self, work: Work, times: u64) {
        let (payer, steps) = work.price();
        let steps = steps.saturating_mul(times);
        match payer {
            Payer::Steps => self.count_steps(steps),
            Payer::Comparisons => self.count_comparisons(steps),
        }
    }
}
