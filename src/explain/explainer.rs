//! The entry point: computes the [`RequestReport`] of a request.

use fixedbitset::FixedBitSet;

use crate::ad::{Ad, ByteString};
use crate::eval::Context;
use crate::matching::policy::PolicyRule;
use crate::protocol::{AdvertisedState, Protocol, SlotState, has_ports};

use super::changes::{RequestChange, find_changes, find_choices, is_choice};
use super::clause_report::ClauseReport;
use super::closest_offers::{closest_of, closest_offer, closest_offers};
use super::conflicts::Conflicts;
use super::decisive_request::decisive_request;
use super::drained_slots::DrainedOutcome;
use super::evaluation::{OfferTable, RequestContext};
use super::failure_reason::FailureReason;
use super::find_conflict_example::find_conflict_example;
use super::find_corrected_slot::find_corrected_slot;
use super::find_verdict::{decisive_attributes, find_verdict};
use super::findings::clause_remarks;
use super::narrowing::{find_partial_slip, narrowing};
use super::offered_values::OfferedValues;
use super::pair::PairReport;
use super::refusals::Refusals;
use super::report::{RequestReport, RequestVerdict};
use super::request_analysis::RequestAnalysis;
use super::slots::{SlotCounts, SlotStanding, SlotsByState};

/// Explains requests against a fixed set of offers. Evaluation results are cached across requests. Threads can share an
/// explainer.
pub struct Explainer {
    table: OfferTable,
    /// The slots of HTCondor among the offers; `None` if their states do not matter.
    slots: Option<SlotsByState>,
    /// Maximum number of groups in [`RequestReport::refusals`].
    max_refusals: usize,
    /// Whether a report lists slots that would match if drained although free slots match.
    lists_drained: bool,
}

impl Explainer {
    /// Prepares the explanation of requests against `offers`.
    #[must_use]
    pub fn new(offers: &[Ad], protocol: Protocol, context: Context) -> Self {
        Explainer {
            table: OfferTable::new(offers, protocol, context),
            slots: None,
            max_refusals: usize::MAX,
            lists_drained: false,
        }
    }

    /// Tells the states of the offers: `standings` has what each of `offers` tells of itself. Without this, each offer
    /// is free. Nothing changes if no offer is a slot that tells its state.
    #[must_use]
    pub fn with_slots(mut self, offers: &[Ad], standings: &[SlotStanding]) -> Self {
        if standings
            .iter()
            .any(|(state, _)| matches!(state, AdvertisedState::Slot(state) if *state != SlotState::Untold))
        {
            self.table.states = Some(SlotsByState::row_states(&self.table, standings));
            self.slots = Some(SlotsByState::new(&self.table, offers, standings));
        }
        self
    }

    /// Sets the docking vector of the policy. A report tells if the vector ranks none of the offers that match and can be
    /// given away. Otherwise it says the same without a policy.
    #[must_use]
    pub fn with_docking(mut self, docking: Vec<PolicyRule>) -> Self {
        self.table.docking = docking;
        self
    }

    /// Sets the maximum number of groups in [`RequestReport::refusals`], at least 2. A large pool can have thousands of
    /// groups.
    #[must_use]
    pub fn with_max_refusals(mut self, max_refusals: usize) -> Self {
        self.max_refusals = max_refusals.max(2);
        self
    }

    /// Makes reports list the slots that would match if drained although free slots match. Otherwise they are only counted.
    #[must_use]
    pub fn with_drained_listed(mut self, lists_drained: bool) -> Self {
        self.lists_drained = lists_drained;
        self
    }

    /// Returns the indices of the offers that match a request, and that the policy can give to it.
    #[must_use]
    pub fn matching_offers(&self, request: &Ad) -> Vec<usize> {
        let table = &self.table;
        let request = RequestContext::new(request);
        let mut rows = table.matching_rows(&request);
        if !table.docking.is_empty() {
            for row in rows.ones().collect::<Vec<_>>() {
                rows.set(row, table.unranked_component(&request, row).is_none());
            }
        }
        if table.row_count() == table.offer_count() {
            return rows.ones().collect();
        }
        let offers = table.row_of.iter().enumerate();
        offers.filter(|(_, row)| rows.contains(**row as usize)).map(|(offer, _)| offer).collect()
    }

    /// The number of expressions evaluated so far.
    #[must_use]
    pub fn evaluations(&self) -> u64 {
        self.table.evaluations()
    }

    /// Explains why a request and one offer match or do not match. `offer` is an index into the offers.
    #[must_use]
    pub fn explain_pair(&self, request: &Ad, offer: usize) -> PairReport {
        PairReport::new(&self.table, request, offer)
    }

    /// Explains why a request matches some offers or none.
    #[must_use]
    pub fn explain(&self, request: &Ad) -> RequestReport {
        self.explain_for(request, None)
    }

    /// Explains as [`Explainer::explain`] does. The report also tells which matching slots `user` has claimed.
    #[must_use]
    pub fn explain_for(&self, request: &Ad, user: Option<&ByteString>) -> RequestReport {
        let table = &self.table;
        let mut analysis = RequestAnalysis::new(request, table);
        if analysis.is_incomplete {
            return RequestReport { is_incomplete: true, ..RequestReport::default() };
        }
        let mut report = RequestReport {
            offers: table.offer_count(),
            suitable: table.weights.of_set(&analysis.suitable),
            accepting: table.weights.of_set(&analysis.acceptance.accepting),
            ..RequestReport::default()
        };
        if has_ports(request) {
            report.verdict = RequestVerdict::NeedsGang;
            return report;
        }
        let mut matching = analysis.suitable.clone();
        matching.intersect_with(&analysis.acceptance.accepting);
        report.matches = table.weights.of_set(&matching);
        let slots = self.slots.as_ref();
        if slots.is_some_and(|slots| slots.tally(&matching, user).available() == 0) {
            analysis.slip = find_partial_slip(&analysis, table);
        }
        let drained_slots = slots.and_then(|slots| slots.drained.as_ref());
        let drained =
            drained_slots.map(|slots| slots.outcome(request, [&analysis.suitable, &analysis.acceptance.accepting]));
        self.find_closest_if_drained(&mut analysis);
        let refusals = Refusals::new(table, &analysis, drained_slots.zip(drained.as_ref()));
        self.count_slots(&mut report, &analysis, (&matching, drained.as_ref(), &refusals), user);
        report.refusals = refusals.groups(self.max_refusals);
        report.refusal_count = refusals.count();
        report.suitable_refusal_count = refusals.suitable_count();
        report.conflicts = Conflicts::from_failures(&analysis.minimal_failures);
        self.seek_changes(&mut report, &analysis);
        report.verdict = find_verdict(&report, &analysis, &matching, table);
        report.conflict_example = find_conflict_example(&report.verdict, &analysis, table);
        self.seek_beside_changes(&mut report, &analysis);
        if let Some((slots, drained)) = slots.zip(drained.as_ref()) {
            self.list_drained(&mut report, &analysis, slots, drained);
        }
        let is_refused = report.verdict == RequestVerdict::Refused;
        let elsewhere = report.refusals.iter().filter(|_| is_refused).max_by_key(|group| group.suitable);
        report.places = elsewhere.and_then(|group| OfferedValues::of_places(&group.demand, table));
        report.shortage = is_refused.then(|| refusals.shortage(drained_slots.map(|slots| &slots.table))).flatten();
        if slots.is_some() && free_slots(&report) == 0 && (is_refused || report.verdict.is_of_states()) {
            report.narrowing = narrowing(&report, &analysis);
        }
        if may_tell_expression(&report, &analysis.clauses) {
            report.own_expression = decisive_request(&report, &analysis, table);
        }
        report.attributes = decisive_attributes(&report.verdict, &analysis.clauses, &refusals);
        tell_refusing_values(&report.verdict, &mut analysis, table);
        report.remarks = clause_remarks(&analysis.clauses, table, &analysis.request);
        report.clauses = analysis.clauses;
        report
    }

    /// Finds for each unmet clause the value of a slot without jobs that comes closest to it.
    fn find_closest_if_drained(&self, analysis: &mut RequestAnalysis) {
        let Some(slots) = &self.slots else { return };
        for clause in analysis.clauses.iter_mut().filter(|clause| clause.failure.is_some()) {
            clause.closest_if_drained = clause.closest_value.as_ref().and_then(|known| {
                slots.closest_if_drained(clause.analysis.comparison.as_ref()?, known, &analysis.request)
            });
        }
    }

    /// Counts the slots by what they do with a request: those that match, that would match if drained, and that refuse.
    fn count_slots(
        &self,
        report: &mut RequestReport,
        analysis: &RequestAnalysis,
        (matching, drained, refusals): (&FixedBitSet, Option<&DrainedOutcome>, &Refusals<'_>),
        user: Option<&ByteString>,
    ) {
        let Some(slots) = &self.slots else { return };
        let accepted = [&analysis.suitable, &analysis.acceptance.accepting];
        let (refusing, used_up) = slots.refusing(accepted, drained, user, self.table.states.as_ref());
        report.refusing_states = Some(refusing);
        report.full_refusing = used_up + drained.map_or(0, |drained| drained.refusing_only_drained);
        let (rejecting_request, if_drained) =
            (refusals.suitable_offers(), drained.map_or(0, |drained| drained.matching.len()));
        let counts = SlotCounts {
            slots: report.offers,
            rejected_by_request: report.offers - rejecting_request - if_drained - report.matches,
            rejecting_request,
            matching: slots.tally(matching, user),
            if_drained,
        };
        if counts.matching.claimed_by_others > 0 {
            report.sole_claimant = slots.sole_claimant(matching, user).cloned();
        }
        report.slots = Some(counts);
    }

    /// Lists the slots that would match if drained, unless free slots match and the list is not asked for.
    fn list_drained(
        &self,
        report: &mut RequestReport,
        analysis: &RequestAnalysis,
        slots: &SlotsByState,
        drained: &DrainedOutcome,
    ) {
        let has_free = free_slots(report) > 0;
        if drained.matching.is_empty() || (has_free && !self.lists_drained) {
            return;
        }
        let Some(of_drained) = &slots.drained else { return };
        let found: Vec<usize> = drained.matching.iter().map(|slot| of_drained.offer(*slot)).collect();
        if !has_free {
            report.scarce = SlotsByState::scarce_resources(&self.table, &analysis.request, &found);
        }
        if !report.closest.is_empty() {
            report.closest = closest_of(&self.table, analysis, &found);
        }
        report.if_drained = found;
        report.if_drained.truncate(self.max_refusals);
    }

    /// Seeks changes with which a request would match, or would match a free slot if it matches only slots in use.
    fn seek_changes(&self, report: &mut RequestReport, analysis: &RequestAnalysis) {
        let table = &self.table;
        let free = free_slots(report);
        let is_unmatched = report.matches == 0;
        let found = if report.offers == 0 || analysis.clauses.is_empty() {
            None
        } else if is_unmatched {
            report.closest = closest_offers(table, analysis);
            Some(find_changes(table, self.slots.as_ref(), analysis, false))
        } else {
            let has_free = table.states.as_ref().is_some_and(|states| !states.free.is_clear());
            let slots = self.slots.as_ref().filter(|_| free == 0 && has_free);
            slots.map(|slots| find_changes(table, Some(slots), analysis, true))
        };
        report.sought_changes = found.is_some() && is_unmatched;
        let Some(found) = found else { return };
        (report.choices, report.changes) =
            found.into_iter().partition(|change| is_choice(change, analysis, table.context.dialect));
        // Nobody knows what a request without a value needs: a slot that it matches by chance is no advice.
        if matches!(analysis.slip, Some((_, FailureReason::NoValue(_)))) {
            report.changes.clear();
            report.choices.clear();
            report.closest.clear();
        }
        // A job that matches slots in use gives up nothing, and need not do with much less, unless that has a free slot.
        let is_less = |change: &RequestChange| change.is_far_less && !change.is_worth_free;
        report.changes.retain(|change| is_unmatched || !is_less(change) && !change.drops_clause());
        report.choices.retain(|choice| is_unmatched || choice.matched.free() != Some(0));
    }

    /// Where no change is found, seeks what only the author of a request can decide, and a slot that meets a corrected clause.
    fn seek_beside_changes(&self, report: &mut RequestReport, analysis: &RequestAnalysis) {
        let is_waiting = self.slots.is_some() && free_slots(report) == 0;
        // A request without a value is to be mended first.
        let lacks_value = report.own_expression.as_ref().is_some_and(|own| own.missing.is_some());
        if !lacks_value && !report.has_plain_change() && (report.sought_changes || is_waiting) {
            report.choices.extend(find_choices(&self.table, self.slots.as_ref(), analysis));
        }
        if report.sought_changes && report.changes.is_empty() {
            report.corrected_slot = find_corrected_slot(&report.verdict, analysis, &self.table);
        }
    }
}

/// Whether the expression behind a request for a resource may be what keeps offers away.
fn may_tell_expression(report: &RequestReport, clauses: &[ClauseReport]) -> bool {
    // The expression has no value, or asks for so much that nothing helps but to ask for less.
    let decides = |place: usize| {
        let behind = clauses[place].own_expression.as_ref();
        behind.is_some_and(|behind| behind.missing.is_some() || behind.reads_values && report.changes.is_empty())
    };
    matches!(report.verdict, RequestVerdict::Refused | RequestVerdict::Conflict(_))
        || report.verdict.is_of_states()
        || report.verdict.clauses().into_iter().any(decides)
}

/// Number of the slots that match a request and that it can have at once; 0 if the states of the offers do not matter.
fn free_slots(report: &RequestReport) -> usize {
    report.slots.map_or(0, |slots| slots.matching.available())
}

/// Tells of the first value that offers have, where a decisive clause asks for another, by which clauses an offer with it
/// refuses the request.
fn tell_refusing_values(verdict: &RequestVerdict, analysis: &mut RequestAnalysis, table: &OfferTable) {
    for place in verdict.clauses() {
        let offered = analysis.clauses[place].offered();
        let Some(example) = offered.and_then(|offered| offered.values.first()).map(|value| value.example) else {
            continue;
        };
        let row = table.row_of[example] as usize;
        if analysis.acceptance.accepting.contains(row) {
            continue;
        }
        let refusals = closest_offer(table, analysis, row).unmet_demands;
        let value = analysis.clauses[place].offered_mut().and_then(|offered| offered.values.first_mut());
        if let Some(value) = value {
            value.refusals = refusals;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Explainer;
    use crate::ad::{Ad, Dialect};
    use crate::eval::Context;
    use crate::explain::tests::ad;
    use crate::protocol::{Advertisement, Protocol};

    fn explainer(offers: &[Ad]) -> Explainer {
        let context = Context { now: Some(1_783_286_388), ..Context::new(Dialect::Condor) };
        let standing = |offer: &Ad| {
            let told = Advertisement::new(offer, &context);
            (told.state(), told.user().map(Into::into))
        };
        let standings: Vec<_> = offers.iter().map(standing).collect();
        Explainer::new(offers, Protocol::new(Dialect::Condor), context.clone()).with_slots(offers, &standings)
    }

    #[test]
    fn offers_that_match_are_told_by_their_places() {
        let [small, large] = ["Memory = 1; Requirements = true", "Memory = 9; Requirements = true"].map(ad);
        let request = ad("Requirements = TARGET.Memory > 5");
        for (offers, expected) in [
            (vec![], &[][..]),
            (vec![&small], &[]),
            (vec![&large], &[0]),
            (vec![&small, &large], &[1]),
            // Copies of one ad are offers of their own.
            (vec![&large, &small, &large, &small, &large], &[0, 2, 4]),
        ] {
            let offers: Vec<Ad> = offers.into_iter().cloned().collect();
            let explainer = explainer(&offers);
            assert_eq!(explainer.matching_offers(&request), expected, "{}", offers.len());
            assert_eq!(explainer.matching_offers(&ad("x = 1")), [0; 0]);
            assert_eq!(explainer.explain(&request).matches, expected.len());
        }
    }

    #[test]
    fn at_least_two_groups_of_refusals_are_listed() {
        let offers: Vec<Ad> =
            (0..4).map(|prio| ad(&format!("Memory = 9; Requirements = TARGET.Prio > {prio}"))).collect();
        let request = ad("Requirements = TARGET.Memory > 5");
        for (most, expected) in [(0, 2), (1, 2), (2, 2), (3, 3), (4, 4), (5, 4)] {
            let report = explainer(&offers).with_max_refusals(most).explain(&request);
            assert_eq!((report.refusals.len(), report.refusal_count), (expected, 4), "{most}");
            assert!(report.slots.is_none());
        }
    }

    #[test]
    fn full_slots_are_listed_if_no_free_slot_matches_or_if_asked_for() {
        let full = "MyType = \"Machine\"; State = \"Unclaimed\"; PartitionableSlot = true; TotalSlotMemory = 500; Cpus = 1; \
                    Memory = 10; Requirements = true";
        let free = "MyType = \"Machine\"; State = \"Unclaimed\"; Cpus = 1; Memory = 90; Requirements = true";
        let request = ad("Requirements = TARGET.Memory > 50");
        for (offers, is_listed, most, expected) in [
            (vec![full], false, 9, &[0][..]),
            (vec![free, full], false, 9, &[]),
            (vec![free, full], true, 9, &[1]),
            (vec![full, full, full], false, 9, &[0, 1, 2]),
            (vec![full, full, full], false, 2, &[0, 1]),
            (vec![free], true, 9, &[]),
        ] {
            let ads: Vec<Ad> = offers.iter().map(|text| ad(text)).collect();
            let report = explainer(&ads).with_drained_listed(is_listed).with_max_refusals(most).explain(&request);
            assert_eq!(report.if_drained, expected, "{} {is_listed} {most}", offers.len());
            let full = offers.iter().filter(|text| text.contains("Partitionable")).count();
            assert_eq!(report.slots.unwrap().if_drained, full);
        }
    }

    #[test]
    fn states_count_if_some_offer_tells_its_state() {
        let told = "MyType = \"Machine\"; State = \"Unclaimed\"; Requirements = true";
        let untold = "MyType = \"Machine\"; Requirements = true";
        for (offers, expected) in [
            (vec![], false),
            (vec![untold], false),
            (vec![told], true),
            (vec![untold, told], true),
            (vec!["x = 1"], false),
        ] {
            let offers: Vec<Ad> = offers.into_iter().map(ad).collect();
            let report = explainer(&offers).explain(&ad("Requirements = true"));
            assert_eq!(report.slots.is_some(), expected, "{}", offers.len());
        }
    }

    #[test]
    fn a_pair_is_explained_by_the_clauses_of_both_sides() {
        let offers = [
            ad("Memory = 9; Requirements = TARGET.Prio > 3 && START && TARGET.Dept == \"a\"; START = false"),
            ad("Memory = 1; Requirements = TARGET.Prio > 1"),
            ad("Memory = 9"),
        ];
        let explainer = explainer(&offers);
        let request = ad("Requirements = TARGET.Memory > 5 && Prio > 1; Prio = 2");
        for (offer, expected) in [
            (
                0,
                "TARGET.Memory > 5 True (TARGET.Memory is 9); Prio > 1 True (MY.Prio is 2) | TARGET.Prio > 3 False (TARGET.Prio \
                 is 2); START False (MY.START is false); TARGET.Dept == \"a\" Undefined (TARGET.Dept is undefined) | Some(1), 3 \
                 unmet, match false",
            ),
            (
                1,
                "TARGET.Memory > 5 False (TARGET.Memory is 1); Prio > 1 True (MY.Prio is 2) | TARGET.Prio > 1 True (TARGET.Prio \
                 is 2) | None, 1 unmet, match false",
            ),
            (
                2,
                "TARGET.Memory > 5 True (TARGET.Memory is 9); Prio > 1 True (MY.Prio is 2) |  | None, 0 unmet, match false",
            ),
            (3, " |  | None, 0 unmet, match false"),
        ] {
            let pair = explainer.explain_pair(&request, offer);
            let [own, demands] = [&pair.request, &pair.offer].map(|clauses| {
                let told = clauses.iter().map(|of| format!("{} {:?}{}", of.text, of.outcome, of.values_read(20)));
                told.collect::<Vec<_>>().join("; ")
            });
            let (decisive, unmet, is_match) = (pair.decisive_demand, pair.unmet().count(), pair.is_match());
            let told = format!("{own} | {demands} | {decisive:?}, {unmet} unmet, match {is_match}");
            assert_eq!(told, expected, "{offer}");
        }
        let pair = explainer.explain_pair(&ad("Requirements = TARGET.Memory < 5; Prio = 2"), 1);
        assert!(pair.is_match());
    }
}
