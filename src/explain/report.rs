//! The data model of an explanation.

use indexmap::IndexSet;

use crate::ad::{ByteString, Expression, Name, Truth};
use crate::constraint::InconsistencyKind;
use crate::matching::negotiate::AccountingLimit;

use super::changes::{RequestChange, RequestEdit};
use super::clause_report::ClauseReport;
use super::clause_time::ClauseTime;
use super::conflict_example::ConflictExample;
use super::conflicts::Conflicts;
use super::corrected_slot::CorrectedSlot;
use super::failure_reason::FailureReason;
use super::foreseen_effect::ForeseenEffect;
use super::job_report::JobReport;
use super::offered_values::OfferedValues;
use super::own_expression::RequestExpression;
use super::places::names_wanted_place;
use super::precedence::Precedence;
use super::resource_shortage::ResourceShortage;
use super::scarce_resources::ScarceResources;
use super::slots::{SlotCounts, SlotTally};
use super::unmet_offer_clause::{ReadValue, UnmetOfferClause};

/// The explanation of one request. Other fields refer to a clause by its index into `clauses`.
#[derive(Clone, Debug, Default)]
pub struct RequestReport {
    /// Number of offers.
    pub offers: usize,
    /// Number of offers that match the request.
    pub matches: usize,
    /// Number of offers that meet the request's constraint, whether they accept the request or not.
    pub suitable: usize,
    /// Number of offers whose constraints accept the request, whether they meet the request's or not.
    pub accepting: usize,
    /// How many slots of HTCondor do what with the request; `None` if the offers have no states.
    pub slots: Option<SlotCounts>,
    /// The only other user who has claimed slots that match; `None` if there are several, or none.
    pub sole_claimant: Option<ByteString>,
    /// The states of the slots counted in [`SlotCounts::rejecting_request`] that the request accepts as they are; `None` if
    /// the offers have no states.
    pub refusing_states: Option<SlotTally>,
    /// Number of the slots counted in [`SlotCounts::rejecting_request`] that are full: those without a processor left, and those that
    /// the request rejects as they are. Drained, the latter would meet the request's constraint and refuse the request.
    pub full_refusing: usize,
    /// What the ad of a job tells of the job; `None` for a request of another kind. The explainer does not set this.
    pub job: Option<JobReport>,
    /// The decisive reason for the result.
    pub verdict: RequestVerdict,
    /// The places where offers are, if most of them refuse because they are at none that the request wants; `None` otherwise.
    pub places: Option<OfferedValues>,
    /// What a job matches that is held because it used too much, if it asks for as much as is proposed; `None` for any other job.
    pub raised: Option<Box<RequestReport>>,
    /// What else keeps many of the slots from a job that no free slot matches.
    pub narrowing: Option<Narrowing>,
    /// The resource of which no slot that refuses has enough; `None` unless they all refuse for it, and nothing matches.
    pub shortage: Option<ResourceShortage>,
    /// The expression behind a request for a resource that keeps the request from many offers, if no free one matches.
    pub own_expression: Option<RequestExpression>,
    /// The scarce resources of the partitionable slots that would match if drained. Empty if a free slot matches.
    pub scarce: ScarceResources,
    /// The scarce resources of the slots that match and that other requests have divided. The explainer does not set this.
    pub scarce_in_divided: ScarceResources,
    /// Why the requests that hold all offers were served first. The explainer does not set this.
    pub precedence: Precedence,
    /// The partitionable slots that would match if drained, by index: as many as groups of refusals are listed. Empty if
    /// a free slot matches.
    pub if_drained: Vec<usize>,
    /// The attributes of either side that the decisive reason involves.
    pub attributes: IndexSet<Name>,
    /// The clauses of the request's constraint, in the order of evaluation.
    pub clauses: Vec<ClauseReport>,
    /// The minimal sets of clauses that no offer meets together.
    pub conflicts: Conflicts,
    /// The changes with which the request would match. Those for at most half of what it asks for come last; there are
    /// none if slots would match once they are drained, so that it can wait. Changes with fewer edits come first.
    pub changes: Vec<RequestChange>,
    /// What only its author can decide and with which the request would match, such as another site, if no change was found.
    pub choices: Vec<RequestChange>,
    /// Whether the request matches nothing, and changes were sought with which it would.
    pub sought_changes: bool,
    /// A slot that meets the corrected decisive clause, if no change was found.
    pub corrected_slot: Option<CorrectedSlot>,
    /// The offer that comes closest to meeting the clauses that no offer meets together, if that is the verdict.
    pub conflict_example: Option<ConflictExample>,
    /// Number of dynamic slots that meet all clauses, where no slot meets one. They do not count, and their partitionable slots
    /// are not in the pool.
    pub orphans: usize,
    /// How the dynamic slots that do not count spell the string that no slot has, and their number.
    pub orphan_spelling: Option<(String, usize)>,
    /// The offers that come closest to a match; empty if some match.
    pub closest: Vec<ClosestOffer>,
    /// The refusals by offers, grouped by clause. The group with the largest number of suitable offers comes first.
    /// There may be further groups: see [`Explainer::with_max_refusals`](super::Explainer::with_max_refusals).
    pub refusals: Vec<RefusalGroup>,
    /// Number of all groups of refusals.
    pub refusal_count: usize,
    /// Number of the groups of refusals that have suitable offers.
    pub suitable_refusal_count: usize,
    /// Remarks on names and types.
    pub remarks: Vec<ClauseRemark>,
    /// Whether the request is not explained, because the steps of the run are spent. The rest of the report says nothing
    /// then.
    pub is_incomplete: bool,
}

/// The decisive reason why a request matches or does not match.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum RequestVerdict {
    /// The request matches.
    #[default]
    Matches,
    /// The request matches, but other requests hold all offers that match it; holds the indices of these requests.
    Taken(Vec<usize>),
    /// The request matches, but the accounting of the pool keeps it from the offers; holds the limit.
    Limited(AccountingLimit),
    /// The request asks for several offers and got fewer.
    PartlyServed {
        /// Number of offers that the request got.
        granted: usize,
        /// Number of offers that the request asks for.
        wanted: usize,
        /// The limit of the accounting that keeps the request from more offers.
        limit: Option<AccountingLimit>,
        /// Whether other requests hold offers that match.
        others_hold: bool,
    },
    /// The request is a job that does not wait for a slot: held, running, completed, or of a universe without slots.
    /// Holds the verdict on the job if it waited.
    NotWaiting(Box<RequestVerdict>),
    /// Slots match the request, but none of them is free.
    Claimed,
    /// No slot matches the request as it is, but partitionable slots would match if drained. Holds the verdict on the
    /// slots as they are.
    IfDrained(Box<RequestVerdict>),
    /// The request has ports and needs a gang, which [`explain_gang`](super::explain_gang) explains.
    NeedsGang,
    /// The policy does not serve the request: `roots` of the policy is not true of the request.
    NotServed,
    /// Offers match that can be given away, and the policy has no rank for any of them.
    Unranked {
        /// The name of the rule of the policy that has no value, or its source text.
        rule: String,
        /// An attribute that the rule reads and that no offer has, with similar attributes. Each similar attribute
        /// has the number of offers that have it. `None` if no attribute is missing.
        missing: Option<(Name, Vec<(Name, usize)>)>,
    },
    /// There are no offers.
    NoOffers,
    /// The request has no constraint, and so accepts no offer.
    NoConstraint,
    /// Some clauses of the request can never be true together.
    Contradiction {
        /// Indices of the clauses that contradict each other.
        clauses: Vec<usize>,
        /// The expression that the clauses constrain.
        subject: Expression,
        /// The kind of contradiction.
        clash: InconsistencyKind,
        /// The attributes of the request that the clauses read.
        own_values: Vec<ReadValue>,
    },
    /// A clause is true of no offer, or has a mistake that keeps offers away which would match.
    Unmet {
        /// Index of the unmet clause.
        clause: usize,
        /// The reason why no offer meets the clause, or the mistake.
        fault: FailureReason,
    },
    /// Each clause is true of some offer, but no offer meets all clauses with these indices.
    Conflict(Vec<usize>),
    /// Some offers meet the request's constraint, but all of these offers refuse the request.
    Refused,
}

/// What keeps many of the slots from a job that matches no free one.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Narrowing {
    /// A clause has a mistake that the linter knows, and with the mistake corrected more offers meet it.
    Slip {
        /// Index of the clause.
        clause: usize,
        /// The mistake.
        fault: FailureReason,
    },
    /// One clause, given by its index, is all that rules out many offers.
    Clause(usize),
    /// Many offers that the request accepts refuse it: see [`RequestReport::refusals`].
    Refusals,
}

impl Narrowing {
    /// Index of the clause of the request that keeps the slots away; `None` if it is the slots that refuse.
    #[must_use]
    pub fn clause(&self) -> Option<usize> {
        match self {
            Narrowing::Slip { clause, .. } | Narrowing::Clause(clause) => Some(*clause),
            Narrowing::Refusals => None,
        }
    }
}

impl RequestReport {
    /// Indices of the clauses that the summary tells of.
    #[must_use]
    pub fn told_clauses(&self) -> Vec<usize> {
        let mut clauses = self.verdict.clauses();
        let narrowing = self.narrowing.as_ref().and_then(Narrowing::clause);
        clauses.extend(narrowing.filter(|place| !clauses.contains(place)));
        clauses
    }

    /// Whether a change helps with which the job asks for much the same: nobody but its author knows whether it can do without
    /// the places that it wants.
    #[must_use]
    pub fn has_plain_change(&self) -> bool {
        let gives_up_place =
            |edit: &RequestEdit| matches!(edit, RequestEdit::Remove { name, .. } if names_wanted_place(name));
        self.changes.iter().any(|change| !change.is_far_less && !change.edits.iter().any(gives_up_place))
    }

    /// The nearest offer, where no change and no choice leads to others. `None` if it is not near, or matches once its jobs end.
    #[must_use]
    pub fn near_offer(&self) -> Option<&ClosestOffer> {
        let near = self.closest.first().filter(|near| near.reasons() <= MAX_REASONS_OF_NEAR)?;
        let is_told = self.changes.is_empty() && self.choices.is_empty() && !self.if_drained.contains(&near.offer);
        is_told.then_some(near)
    }

    /// The mistake that keeps many of the slots from a job that no free slot matches, with the index of its clause.
    #[must_use]
    pub fn slip(&self) -> Option<(usize, &FailureReason)> {
        let is_waiting = self.verdict == RequestVerdict::Refused || self.verdict.is_of_states();
        match self.narrowing.as_ref().filter(|_| is_waiting)? {
            Narrowing::Slip { clause, fault } => Some((*clause, fault)),
            _ => None,
        }
    }

    /// The time from which the clauses that read the clock are all true, if none is true now; `None` if there is no such clause.
    #[must_use]
    pub fn awaited(&self) -> Option<&ClauseTime> {
        let times = self.clauses.iter().filter_map(|clause| clause.failure.as_ref()?.awaited());
        times.max_by_key(|time| time.from)
    }

    /// The second from which the clock alone may give a request offers that matches none; `None` if it does not, as far as the
    /// search looked.
    #[must_use]
    pub fn opens_from(&self) -> Option<i64> {
        use RequestVerdict::{Conflict, Refused, Unmet};
        if !matches!(self.verdict, Conflict(_) | Refused | Unmet { .. }) {
            return None;
        }
        let of_offers = || self.refusals.iter().filter_map(|group| group.demand.opens.as_ref()?.from).min();
        self.awaited().map_or_else(of_offers, |time| time.from)
    }

    /// What a policy of the job does to it at the next evaluation; `None` if none does anything.
    #[must_use]
    pub fn imminent(&self) -> Option<&ForeseenEffect> {
        self.job.as_ref()?.outlook.as_ref()?.imminent()
    }

    /// Whether the summary tells of slots that refuse.
    #[must_use]
    pub fn tells_refusals(&self) -> bool {
        let as_they_are = if let RequestVerdict::IfDrained(verdict) = &self.verdict { verdict } else { &self.verdict };
        *as_they_are == RequestVerdict::Refused || self.narrowing == Some(Narrowing::Refusals)
    }

    /// Whether the correction of a mistake gives the request a free offer.
    pub(super) fn is_corrected_to_free(&self) -> bool {
        self.changes.iter().any(|change| change.is_correction() && change.matched.free().is_some_and(|free| free > 0))
    }

    /// Number of the offers that meet the request's constraint and refuse the request. A slot that would match if drained
    /// does not count. A slot counts that would refuse if drained.
    #[must_use]
    pub fn refusing(&self) -> usize {
        self.slots.map_or(self.suitable - self.matches, |slots| slots.rejecting_request)
    }
}

impl RequestVerdict {
    /// The verdict's code in the JSON schema `classad.explain/2`.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        self.cause().verdict()
    }

    /// Whether the summary sentence tells all that there is to tell without evidence.
    #[must_use]
    pub fn is_told_by_summary(&self) -> bool {
        use RequestVerdict::{Limited, Matches, NotWaiting, PartlyServed, Taken};
        matches!(self, Matches | Taken(_) | Limited(_) | PartlyServed { .. } | NotWaiting(_))
    }

    /// Whether the states of the slots explain the result.
    #[must_use]
    pub fn is_of_states(&self) -> bool {
        matches!(self, RequestVerdict::Claimed | RequestVerdict::IfDrained(_))
    }

    /// The limit of the accounting that keeps the request from offers, or from more of them.
    #[must_use]
    pub fn limit(&self) -> Option<&AccountingLimit> {
        match self {
            RequestVerdict::Limited(limit) => Some(limit),
            RequestVerdict::PartlyServed { limit, .. } => limit.as_ref(),
            _ => None,
        }
    }

    /// Indices of the decisive clauses.
    #[must_use]
    pub fn clauses(&self) -> Vec<usize> {
        match self {
            RequestVerdict::Contradiction { clauses, .. } | RequestVerdict::Conflict(clauses) => clauses.clone(),
            RequestVerdict::Unmet { clause, .. } => vec![*clause],
            RequestVerdict::IfDrained(as_they_are) => as_they_are.clauses(),
            _ => Vec::new(),
        }
    }
}

/// Maximum number of reasons against an offer that is near.
const MAX_REASONS_OF_NEAR: usize = 2;

/// An offer that comes close to a match.
#[derive(Clone, Debug, PartialEq)]
pub struct ClosestOffer {
    /// Index of the offer.
    pub offer: usize,
    /// The request's clauses that the offer does not meet, each as its index and its outcome.
    pub failed_clauses: Vec<(usize, Truth)>,
    /// The clauses of the offer's own constraint that the request does not meet.
    pub unmet_demands: Vec<UnmetOfferClause>,
}

impl ClosestOffer {
    /// Number of reasons why the offer does not match.
    #[must_use]
    pub fn reasons(&self) -> usize {
        self.failed_clauses.len() + self.unmet_demands.len()
    }
}

/// A group of offers that refuse the request by the same clause.
#[derive(Clone, Debug, PartialEq)]
pub struct RefusalGroup {
    /// The unmet clause, with the outcome that it has in the first offer of the group. All else is as in `example`.
    pub demand: UnmetOfferClause,
    /// Number of offers in the group.
    pub offers: usize,
    /// Number of offers in the group that meet the request's constraint. A slot that would match if drained does not
    /// count. A slot counts that would meet the constraint, and refuse, if drained.
    pub suitable: usize,
    /// Whether a suitable offer of the group is a free slot.
    pub has_free: bool,
    /// Whether the offers are at none of the places that the request wants (`DESIRED_Sites`), and others are there.
    pub is_unwanted: bool,
    /// Index of an offer of the group. This offer meets the request's constraint if any offer of the group does.
    pub example: usize,
    /// The attributes of the request that the clause reads.
    pub attributes: IndexSet<Name>,
    /// The other clauses by which the only suitable offer refuses; empty if there are several.
    pub further: Vec<UnmetOfferClause>,
}

impl RefusalGroup {
    /// Whether a free slot of the group refuses for another reason than its size, and so is close to a match. A pilot
    /// that has retired, or one at a place that is not wanted, is not.
    #[must_use]
    pub fn has_close_slot(&self) -> bool {
        self.has_free && !self.demand.is_limit && self.demand.retired.is_none() && !self.is_unwanted
    }
}

/// A remark on a name or on types.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct ClauseRemark {
    /// The kind of remark: `function`, `precedence`, `lacking`, `missing`, `shadowed`, `types`, `case` or
    /// `fall-through`.
    pub kind: &'static str,
    /// Index of the clause to which the remark belongs.
    pub clause: usize,
    /// The message, as a sentence without a full stop.
    pub text: String,
}
