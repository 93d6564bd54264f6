//! What an explanation says.

use indexmap::IndexSet;

use crate::ad::{Expression, Name, Value};
use crate::constraint::Clash;

use super::changes::Change;
use super::clause_analysis::Examined;
use super::conflicts::Conflicts;
use super::evaluation::{Counts, Outcome};
use super::failure_reason::Fault;

/// Why a request matches what it matches.  Clauses are known by their positions.
#[derive(Clone, Debug)]
pub struct Report {
    /// How many offers there are.
    pub offers: usize,
    /// How many match.
    pub matches: usize,
    /// As many more would, but the docking vector of the policy discards them.
    pub discarded: usize,
    /// How many meet the constraint of the request, whether they want it or not.
    pub suitable: usize,
    /// What decides.
    pub verdict: Verdict,
    /// The attributes that have to do with it, of either side.
    pub attributes: IndexSet<Name>,
    /// The clauses of the request's constraint, in the order in which they are evaluated.
    pub clauses: Vec<ClauseReport>,
    /// The sets of them that no offer meets together.
    pub conflicts: Conflicts,
    /// What would let it match, fewest and smallest first.
    pub changes: Vec<Change>,
    /// The offers that come nearest, if none matches.
    pub nearest: Vec<Near>,
    /// Why offers refuse the request, those first that suitable ones have.
    pub refusals: Vec<Refusal>,
    /// What is to be said of names and types.
    pub findings: Vec<Finding>,
}

/// What decides whether a request matches.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It matches.
    Matches,
    /// It would match, but others have what it could have: how many, and the requests that have it.
    Taken(Vec<usize>),
    /// It has ports, which gangs fill.
    Ports,
    /// The policy does not serve it.
    NotServed,
    /// The docking vector of the policy discards every offer that would do: most for this component.
    Discarded {
        /// Which component.
        component: usize,
        /// The component, as it is written.
        text: String,
        /// What it reads and no offer has, and attributes of offers that are spelt nearly so.
        missing: Option<(Name, Vec<(Name, usize)>)>,
    },
    /// There are no offers.
    NoOffers,
    /// It has no constraint, so that it accepts none.
    NoConstraint,
    /// Clauses of it can never be true together.
    Contradiction {
        /// Which.
        clauses: Vec<usize>,
        /// What they say different things of.
        subject: Expression,
        /// In which way.
        clash: Clash,
    },
    /// A clause is true of no offer.
    Unmet {
        /// Which.
        clause: usize,
        /// Why.
        fault: Fault,
        /// Attributes of offers that are spelt nearly like a missing one, and how many offers have them.
        near: Vec<(Name, usize)>,
    },
    /// Each clause is true of some offer, but no offer has all of these.
    Conflict(Vec<usize>),
    /// Offers would do, and none of them wants it.
    Refused,
}

impl Verdict {
    /// The word for it in `classad.explain/1`.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Verdict::Matches => "matches",
            Verdict::Taken(_) => "taken",
            Verdict::Ports => "ports",
            Verdict::NoConstraint => "missing-attribute",
            Verdict::Contradiction { clash: Clash::Type, .. } => "type-clash",
            Verdict::Contradiction { .. } => "contradiction",
            Verdict::Unmet { fault, .. } => match fault {
                Fault::Lacking(..) | Fault::Missing(_) => "missing-attribute",
                Fault::Types { .. } => "type-clash",
                Fault::Shadowed(_) | Fault::ByItself => "contradiction",
                Fault::Function(..) | Fault::Precedence(_) | Fault::Case { .. } | Fault::Value => "unsatisfied-clause",
            },
            Verdict::NoOffers => "unsatisfied-clause",
            Verdict::Conflict(_) => "conflict",
            Verdict::Refused | Verdict::NotServed | Verdict::Discarded { .. } => "refused",
        }
    }

    /// The clauses that decide.
    #[must_use]
    pub fn clauses(&self) -> Vec<usize> {
        match self {
            Verdict::Contradiction { clauses, .. } | Verdict::Conflict(clauses) => clauses.clone(),
            Verdict::Unmet { clause, .. } => vec![*clause],
            _ => Vec::new(),
        }
    }
}

/// What a clause is in the offers.
#[derive(Clone, Debug)]
pub struct ClauseReport {
    /// The clause, and what it is when the request is known.
    pub examined: Examined,
    /// As it is written, on one line.
    pub text: String,
    /// What is left of it when the request is known, if that is something else.
    pub left: Option<String>,
    /// In how many offers it is what.
    pub counts: Counts,
    /// How many offers meet this clause and those before it.
    pub remaining: usize,
    /// How many offers meet all other clauses and not this one.
    pub sole_blocker: usize,
    /// Of what it compares, what comes nearest in the offers.
    pub best: Option<Value>,
    /// Why it is true of no offer, if it is.
    pub fault: Option<Fault>,
}

/// An offer that comes near.
#[derive(Clone, Debug, PartialEq)]
pub struct Near {
    /// Which one.
    pub offer: usize,
    /// The clauses that it does not meet, and what they are in it.
    pub fails: Vec<(usize, Outcome)>,
    /// The clauses of its own constraint that the request does not meet.
    pub refuses: Vec<Demand>,
}

/// What an offer wants, and a request is not.
#[derive(Clone, Debug, PartialEq)]
pub struct Demand {
    /// The text of the clause; empty if the offer has no constraint.
    pub clause: String,
    /// The attributes of the request that it reads and the request has not.
    pub lacking: Vec<Name>,
}

/// Why some offers refuse a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// The text of the clause that is not met; none if they have no constraint.
    pub clause: Option<String>,
    /// What it is.
    pub outcome: Outcome,
    /// How many.
    pub offers: usize,
    /// How many of these meet the request's constraint.
    pub suitable: usize,
    /// One of them; a suitable one if there is one.
    pub example: usize,
    /// The attributes of the request that it reads.
    pub attributes: IndexSet<Name>,
    /// Those of them that the request has not.
    pub lacking: Vec<Name>,
}

/// Something to know of a name, or of types.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What kind of thing.
    pub kind: &'static str,
    /// The clause.
    pub clause: usize,
    /// What there is to know, as a sentence without a full stop.
    pub text: String,
}
