//! The table of causes: why a request does not get an offer, in the order in which causes decide.

use crate::constraint::{ClauseComparison, InconsistencyKind};
use crate::matching::negotiate::AccountingLimit;
use crate::protocol::JobState;

use super::clause_report::ClauseReport;
use super::failure_reason::FailureReason;
use super::features::is_of_feature;
use super::report::{RequestReport, RequestVerdict};

macro_rules! causes {
    ($($variant:ident $identifier:literal $verdict:literal $words:literal,)*) => {
        /// A cause for which a request does not get an offer. Of several, the lowest one decides.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Cause {
            $(#[doc = $words] $variant,)*
        }

        impl Cause {
            /// All causes, in the order in which they decide.
            pub const ALL: &'static [Cause] = &[$(Cause::$variant,)*];

            /// The identifier of the cause in JSON and in files of reasons.
            #[must_use]
            pub fn identifier(self) -> &'static str {
                match self {
                    $(Cause::$variant => $identifier,)*
                }
            }

            /// The code of the verdicts that have this cause, in the JSON schema `classad.explain/2`.
            #[must_use]
            pub fn verdict(self) -> &'static str {
                match self {
                    $(Cause::$variant => $verdict,)*
                }
            }

            /// What the cause is, in one sentence without a full stop.
            #[must_use]
            pub fn words(self) -> &'static str {
                match self {
                    $(Cause::$variant => $words,)*
                }
            }
        }
    };
}

causes! {
    Policy "policy" "not-waiting" "A policy of the job or of the access point holds, removes or releases it soon",
    Held "held" "not-waiting" "The job is held, and waits to be released",
    CoolDown "cool-down" "limited" "The job is in cool-down after a failed run, and is offered to no slot",
    TooFew "too-few-slots" "partly-served" "The job needs more slots at once than match it and are free",
    AtLimit "at-limit" "limited" "As many jobs of its access point run as the configuration allows",
    NotWaiting "not-waiting" "not-waiting" "The job waits for no slot: it runs, has ended, or runs without a slot",
    Gang "gang" "ports" "The request has ports, and needs a gang",
    NotServed "not-served" "refused" "The policy does not serve the request",
    NoConstraint "no-requirements" "missing-attribute" "The request has no constraint, and accepts nothing",
    Contradiction "contradiction" "contradiction" "Clauses of the request can never be true together",
    TypeClash "type-clash" "type-clash" "Clauses of the request need values of different types for one attribute",
    NoOffers "no-slots" "unsatisfied-clause" "There are no slots",
    UnknownFunction "unknown-function" "unsatisfied-clause" "A clause calls a function that does not exist",
    Mistake "mistake" "unsatisfied-clause" "A clause, or a setting that it reads, has a mistake that check finds, too",
    OwnAttribute "own-attribute" "missing-attribute" "A clause reads an attribute of the job that the job lacks",
    Shadowed "shadowed" "contradiction" "A clause reads an attribute of the job where that of the slot is meant",
    NeverTrue "never-true" "contradiction" "A clause is never true, whatever slots have",
    MissingAttribute "missing-attribute" "missing-attribute" "A clause reads an attribute that no slot has",
    Feature "feature" "unsatisfied-clause" "No slot has a feature that a clause asks for, such as Docker",
    Device "device" "unsatisfied-clause" "No slot has a free device, such as a GPU, of the kind that the job asks for",
    Type "type" "type-clash" "A clause compares an attribute of slots with a value of another type",
    LetterCase "letter-case" "unsatisfied-clause" "A clause compares with =?= a string that slots have in other letter case",
    OtherAttribute "other-attribute" "unsatisfied-clause" "Slots have the wanted value in another attribute",
    Value "value" "unsatisfied-clause" "No slot has a value that a clause asks for",
    Size "size" "unsatisfied-clause" "No slot is as large as the job asks for",
    NotNow "not-now" "unsatisfied-clause" "A clause reads the clock, and is not true yet, or not true any more",
    Conflict "conflict" "conflict" "Slots meet each clause of the job, but none meets all",
    TooSmall "too-small" "refused" "No slot that would do has as much as the job asks for",
    Closed "closed" "refused" "The slots that would do take no job at all, such as Start = false",
    OwnerRule "owner-rule" "refused" "The slots that would do take only jobs that their owner admits",
    Refused "refused" "refused" "The slots that would do refuse the job for other reasons",
    Full "full" "claimed" "The slots that would match are full, or drain",
    InUse "in-use" "claimed" "Slots match, but none is free",
    Unranked "unranked" "refused" "The policy has no rank for the slots that match",
    Group "group-quota" "limited" "The group of the submitter uses all that it may use",
    Ceiling "ceiling" "limited" "The submitter uses as much as its ceiling allows",
    Share "share" "limited" "The submitter uses its share of the pool",
    Concurrency "concurrency-limit" "limited" "A concurrency limit has too few units left",
    PartlyServed "partly-served" "partly-served" "The request got fewer slots than it asks for",
    Taken "taken" "taken" "Other requests get the slots that match",
    Matches "matches" "matches" "The request matches, and nothing keeps it from a slot",
}

impl RequestVerdict {
    /// The cause, as far as the verdict alone tells it.
    pub(super) fn cause(&self) -> Cause {
        match self {
            RequestVerdict::Matches => Cause::Matches,
            RequestVerdict::Taken(_) => Cause::Taken,
            RequestVerdict::Limited(limit) => limit.into(),
            RequestVerdict::PartlyServed { .. } => Cause::PartlyServed,
            RequestVerdict::NotWaiting(_) => Cause::NotWaiting,
            RequestVerdict::Claimed => Cause::InUse,
            RequestVerdict::IfDrained(_) => Cause::Full,
            RequestVerdict::NeedsGang => Cause::Gang,
            RequestVerdict::NotServed => Cause::NotServed,
            RequestVerdict::Unranked { .. } => Cause::Unranked,
            RequestVerdict::NoOffers => Cause::NoOffers,
            RequestVerdict::NoConstraint => Cause::NoConstraint,
            RequestVerdict::Contradiction { clash: InconsistencyKind::Type, .. } => Cause::TypeClash,
            RequestVerdict::Contradiction { .. } => Cause::Contradiction,
            RequestVerdict::Unmet { fault, .. } => fault.cause(),
            RequestVerdict::Conflict(_) => Cause::Conflict,
            RequestVerdict::Refused => Cause::Refused,
        }
    }
}

impl From<&AccountingLimit> for Cause {
    fn from(limit: &AccountingLimit) -> Self {
        match limit {
            AccountingLimit::Concurrency(_) => Cause::Concurrency,
            AccountingLimit::Group(_) => Cause::Group,
            AccountingLimit::Ceiling(_) => Cause::Ceiling,
            AccountingLimit::Share(_) => Cause::Share,
        }
    }
}

impl FailureReason {
    /// The cause, as far as the reason alone tells it.
    pub(super) fn cause(&self) -> Cause {
        match self {
            FailureReason::UnknownFunction(..) => Cause::UnknownFunction,
            FailureReason::Precedence(_)
            | FailureReason::Unquoted { .. }
            | FailureReason::Slip { .. }
            | FailureReason::Setting { .. } => Cause::Mistake,
            FailureReason::MissingOwnAttribute(..) | FailureReason::NoValue(_) => Cause::OwnAttribute,
            FailureReason::Shadowed(_) => Cause::Shadowed,
            FailureReason::NotNow(_) => Cause::NotNow,
            FailureReason::NeverTrue(_) => Cause::NeverTrue,
            FailureReason::MissingAttribute { .. } => Cause::MissingAttribute,
            FailureReason::Nested(nested) if !nested.clashing.is_empty() => Cause::Contradiction,
            FailureReason::Nested(_) => Cause::Device,
            FailureReason::TypeMismatch { .. } => Cause::Type,
            FailureReason::CaseMismatch { .. } => Cause::LetterCase,
            FailureReason::Misplaced(_) => Cause::OtherAttribute,
            FailureReason::NoSuchValue | FailureReason::Alternatives(_) => Cause::Value,
        }
    }
}

impl ClauseReport {
    /// The cause for which no offer meets the clause; `None` if some do.
    pub(super) fn cause(&self) -> Option<Cause> {
        let is_size = || self.analysis.comparison.as_ref().is_some_and(ClauseComparison::bound_is_amount);
        match self.failure.as_ref()?.cause() {
            Cause::Value if is_of_feature(&self.analysis) => Some(Cause::Feature),
            Cause::Value if is_size() => Some(Cause::Size),
            cause => Some(cause),
        }
    }
}

impl RequestReport {
    /// Whether the job gets no slot although slots match it: it is in cool-down, at a limit, or needs more slots at once.
    #[must_use]
    pub fn is_kept_back(&self) -> bool {
        matches!(self.cause(), Cause::CoolDown | Cause::AtLimit | Cause::TooFew)
    }

    /// Why the request does not get an offer; [`Cause::Matches`] if nothing keeps it from one.
    #[must_use]
    pub fn cause(&self) -> Cause {
        if self.imminent().is_some() {
            return Cause::Policy;
        }
        let circumstances = self.job.iter().flat_map(|job| &job.circumstances);
        match circumstances.into_iter().find(|known| known.is_decisive).map(|known| known.kind) {
            Some("cool-down") => return Cause::CoolDown,
            Some("max-jobs") => return Cause::AtLimit,
            Some("too-few-slots") => return Cause::TooFew,
            Some("universe") => return Cause::NotWaiting,
            _ => {}
        }
        let is_held = || self.job.as_ref().is_some_and(|job| job.state == JobState::Held);
        if let Some((_, fault)) = self.slip() {
            return fault.cause();
        }
        match &self.verdict {
            RequestVerdict::Unmet { clause, fault } => self.clauses[*clause].cause().unwrap_or_else(|| fault.cause()),
            RequestVerdict::NotWaiting(_) if is_held() => Cause::Held,
            RequestVerdict::Refused if self.shortage.is_some() => Cause::TooSmall,
            RequestVerdict::Refused => {
                let demand = self.refusals.first().map(|group| &group.demand);
                match demand {
                    Some(demand) if demand.admits.is_some() => Cause::OwnerRule,
                    Some(demand) if demand.is_closed => Cause::Closed,
                    _ => Cause::Refused,
                }
            }
            verdict => verdict.cause(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Cause;

    #[test]
    fn causes_have_identifiers_of_their_own_in_the_order_in_which_they_decide() {
        let mut known: Vec<&str> = Vec::new();
        for (place, cause) in Cause::ALL.iter().enumerate() {
            assert_eq!(*cause as usize, place);
            assert!(!known.contains(&cause.identifier()), "{cause:?}");
            assert!(cause.words().chars().count() <= 80 && !cause.words().ends_with('.'), "{cause:?}");
            known.push(cause.identifier());
        }
        // Mistakes of the request come before properties of the pool, and these before the state of its slots.
        let order = [
            Cause::Policy,
            Cause::Held,
            Cause::Contradiction,
            Cause::Mistake,
            Cause::Value,
            Cause::OwnerRule,
            Cause::InUse,
        ];
        assert!(order.is_sorted() && order.contains(Cause::ALL.first().unwrap()));
    }
}
