//! The data model of an explanation.

use indexmap::IndexSet;

use crate::ad::{Expression, Name, Value};
use crate::constraint::Clash;

use super::changes::Change;
use super::clause_analysis::Examined;
use super::conflicts::Conflicts;
use super::evaluation::{Counts, Outcome};
use super::failure_reason::Fault;

/// The explanation of one request. Clauses are referred to by their index into `clauses`.
#[derive(Clone, Debug)]
pub struct Report {
    /// Number of offers.
    pub offers: usize,
    /// Number of offers that match.
    pub matches: usize,
    /// Number of offers that would match but for the docking vector of the policy, which discards them.
    pub discarded: usize,
    /// Number of offers that meet the request's constraint, whether they accept the request or not.
    pub suitable: usize,
    /// The decisive cause.
    pub verdict: Verdict,
    /// The attributes of either side that the decisive cause involves.
    pub attributes: IndexSet<Name>,
    /// The clauses of the request's constraint, in the order of evaluation.
    pub clauses: Vec<ClauseReport>,
    /// The minimal sets of clauses that no offer meets together.
    pub conflicts: Conflicts,
    /// The changes with which the request would match; fewest and smallest first.
    pub changes: Vec<Change>,
    /// The offers that come closest to a match; empty if some match.
    pub nearest: Vec<Near>,
    /// The refusals by offers, grouped by clause; groups with suitable offers first.
    pub refusals: Vec<Refusal>,
    /// Remarks on names and types.
    pub findings: Vec<Finding>,
}

/// The decisive cause why a request matches or does not.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It matches.
    Matches,
    /// It matches, but other requests hold all its offers: the indices of these requests.
    Taken(Vec<usize>),
    /// It has ports; it needs a gang, which [`explain_gang`](super::explain_gang) explains.
    Ports,
    /// The policy does not serve the request.
    NotServed,
    /// The docking vector of the policy discards every offer that would match.
    Discarded {
        /// 0-based index of the component that discards most.
        component: usize,
        /// The source text of the component.
        text: String,
        /// An attribute that the component reads and no offer has; similar attributes with the number of offers that
        /// have each.
        missing: Option<(Name, Vec<(Name, usize)>)>,
    },
    /// There are no offers.
    NoOffers,
    /// It has no constraint, and so accepts no offer.
    NoConstraint,
    /// Some of its clauses can never be true together.
    Contradiction {
        /// Indices of the clauses.
        clauses: Vec<usize>,
        /// The expression that the clauses constrain.
        subject: Expression,
        /// The kind of contradiction.
        clash: Clash,
    },
    /// A clause is true of no offer.
    Unmet {
        /// Index of the clause.
        clause: usize,
        /// The reason.
        fault: Fault,
        /// Similar attributes for a missing one, each with the number of offers that have it.
        near: Vec<(Name, usize)>,
    },
    /// Each clause is true of some offer, but no offer meets all of these.
    Conflict(Vec<usize>),
    /// Some offers meet the request's constraint, and all of them refuse the request.
    Refused,
}

impl Verdict {
    /// The verdict's code in the JSON schema `classad.explain/1`.
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

    /// Indices of the decisive clauses.
    #[must_use]
    pub fn clauses(&self) -> Vec<usize> {
        match self {
            Verdict::Contradiction { clauses, .. } | Verdict::Conflict(clauses) => clauses.clone(),
            Verdict::Unmet { clause, .. } => vec![*clause],
            _ => Vec::new(),
        }
    }
}

/// The results of one clause over all offers.
#[derive(Clone, Debug)]
pub struct ClauseReport {
    /// The analysis of the clause given the request.
    pub examined: Examined,
    /// The source text on one line.
    pub text: String,
    /// The text of the residue given the request; `None` if it equals `text`.
    pub left: Option<String>,
    /// Number of offers per outcome.
    pub counts: Counts,
    /// Number of offers that meet this clause and all before it.
    pub remaining: usize,
    /// Number of offers that meet all clauses but this one.
    pub sole_blocker: usize,
    /// The offers' value that comes closest to meeting the comparison. `None` if the clause is no comparison with a
    /// constant or no value is comparable.
    pub best: Option<Value>,
    /// The reason why no offer meets the clause; `None` if some do.
    pub fault: Option<Fault>,
}

/// An offer that comes close to a match.
#[derive(Clone, Debug, PartialEq)]
pub struct Near {
    /// Index into the offers.
    pub offer: usize,
    /// The clauses that the offer does not meet, with their outcomes.
    pub fails: Vec<(usize, Outcome)>,
    /// The clauses of the offer's own constraint that the request does not meet.
    pub refuses: Vec<Demand>,
}

/// A clause of an offer's constraint that the request does not meet.
#[derive(Clone, Debug, PartialEq)]
pub struct Demand {
    /// The text of the clause; empty if the offer has no constraint.
    pub clause: String,
    /// The attributes that the clause reads and the request lacks.
    pub lacking: Vec<Name>,
}

/// A group of offers that refuse the request by the same clause.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// The text of the unmet clause; `None` if the offers have no constraint.
    pub clause: Option<String>,
    /// The outcome of the clause in the first of these offers.
    pub outcome: Outcome,
    /// Number of offers in the group.
    pub offers: usize,
    /// Number of these offers that meet the request's constraint.
    pub suitable: usize,
    /// Index of one of these offers; a suitable one if there is any.
    pub example: usize,
    /// The attributes of the request that the clause reads.
    pub attributes: IndexSet<Name>,
    /// Those of `attributes` that the request lacks.
    pub lacking: Vec<Name>,
}

/// A remark on a name or on types.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The kind of remark: `function`, `precedence`, `lacking`, `missing`, `shadowed`, `types`, `case` or
    /// `fall-through`.
    pub kind: &'static str,
    /// Index of the clause.
    pub clause: usize,
    /// The message, as a sentence without a full stop.
    pub text: String,
}
