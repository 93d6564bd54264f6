//! What failures tell, counted over many of them.

use std::collections::BTreeMap;

use super::{Ad, Context, Dialect, GangAdGenerator, GangFailure, Gangmatcher, MemberCause, Protocol};
use crate::matching::gang::failure::{FailedClauses, FailedCondition, ReadAttribute};
use crate::matching::policy::Policy;

/// Counts by name.
#[derive(Default)]
struct Told(BTreeMap<&'static str, usize>);

impl Told {
    fn add(&mut self, what: &'static str, number: usize) {
        *self.0.entry(what).or_default() += number;
    }

    fn list(&self) -> String {
        self.0.iter().map(|(what, number)| format!("{what} {number}")).collect::<Vec<_>>().join(", ")
    }

    fn condition(&mut self, condition: &FailedCondition) {
        let letters = |read: &ReadAttribute| read.name.len() + read.text.len() + read.value.len();
        self.add("conditions", 1);
        self.add("letters", condition.text.len());
        self.add("of ports", usize::from(condition.is_of_port));
        self.add("own reads", condition.request_attributes.iter().map(letters).sum());
        self.add("other reads", condition.offer_attributes.iter().map(letters).sum());
        self.add("labels", condition.labels.len());
        self.add("ruled out", condition.offers.iter().map(|offer| offer + 1).sum());
    }

    fn failure(&mut self, failure: &GangFailure) {
        self.add("failures", 1);
        self.add("cut off", usize::from(failure.is_cut_off));
        self.add("deepest", failure.deepest.members().iter().map(|docked| docked.offer + docked.link + 1).sum());
        self.add("discarding", failure.discarding_component().map_or(0, |component| component + 1));
        for port in &failure.ports {
            self.add("independent", port.independent);
            self.add("consistent", port.consistent);
            self.add("used up", port.used_up);
            self.add("required", usize::from(port.is_required));
            port.ruled_out.iter().for_each(|condition| self.condition(condition));
        }
        for blocked in &failure.blocked {
            self.add("blocked", blocked.port + 1);
            self.add("held", blocked.held.iter().map(|offer| offer + 1).sum());
            self.add("unacceptable", blocked.unacceptable);
            self.add("unserved", blocked.unserved.iter().map(|offer| offer + 1).sum());
            self.add("fitting", blocked.fitting);
            self.add("contested", usize::from(blocked.is_contested));
            self.add("incompatible", blocked.incompatible.iter().map(|port| port + 1).sum());
            blocked.conditions.iter().for_each(|condition| self.condition(condition));
            let Some(member) = &blocked.member else { continue };
            self.add("members", member.offer + member.link.len());
            match &member.cause {
                MemberCause::OwnPorts(own) => {
                    self.add("own ports", 1);
                    self.failure(own);
                }
                MemberCause::Refused { own_ports, clauses, fail_alone } => {
                    self.add("refused", own_ports.iter().map(|docked| docked.offer + 1).sum());
                    self.add("fail alone", usize::from(*fail_alone));
                    for clause in clauses {
                        self.condition(&clause.condition);
                        self.add(
                            "operands",
                            clause.operands.iter().flatten().map(|value| value.to_string().len()).sum(),
                        );
                    }
                }
                MemberCause::Unknown => self.add("unknown", 1),
            }
        }
    }

    fn clauses(&mut self, failed: &FailedClauses) {
        for clause in &failed.clauses {
            self.add("clauses", 1);
            self.add("candidate attributes", clause.candidate_attributes.len());
            let Some(bound) = &clause.bound else { continue };
            self.add("bounds", 1 + usize::from(bound.is_reversed));
            self.add("holders", usize::from(bound.bound_holder.is_some()));
        }
        for offer in &failed.offers {
            self.add("rejected", offer.offer + 1);
            self.add("failed clauses", usize::try_from(offer.failed_mask).unwrap());
            self.add("actual values", offer.actual_values.iter().map(|(_, value)| value.to_string().len()).sum());
            let Some(demand) = &offer.demand else { continue };
            self.add("demands", 1 + usize::from(demand.clause.is_some()));
            self.add("missing", usize::from(demand.missing.is_some()));
            let Some(bound) = &demand.bound else { continue };
            self.add("demanded bounds", 1 + usize::from(bound.is_reversed));
            self.add("demanded holders", usize::from(bound.bound_holder.is_some()));
        }
    }
}

#[test]
fn failures_tell_what_they_tell() {
    for (policy, limit, expected) in [
        (
            "",
            None,
            "actual values 313, blocked 114, bounds 67, candidate attributes 165, clauses 154, conditions 440, consistent 54, contested 60, cut off 0, deepest 102, demanded bounds 21, demanded holders 5, demands 182, discarding 0, failed clauses 164, failures 64, fitting 9, held 72, holders 0, incompatible 134, independent 235, labels 13, letters 7075, members 35, missing 16, of ports 274, other reads 2927, own ports 7, own reads 2834, rejected 602, required 151, ruled out 586, unacceptable 0, unserved 21, used up 87",
        ),
        (
            "docking: [ label.B + 0, 'label.A is 1 ? 1 : 0' ]",
            None,
            "actual values 346, blocked 112, bounds 71, candidate attributes 168, clauses 157, conditions 446, consistent 63, contested 58, cut off 0, deepest 90, demanded bounds 19, demanded holders 5, demands 180, discarding 6, failed clauses 165, failures 65, fitting 9, held 65, holders 0, incompatible 126, independent 250, labels 13, letters 7134, members 31, missing 14, of ports 279, other reads 2999, own ports 6, own reads 2821, rejected 586, required 152, ruled out 578, unacceptable 9, unserved 19, used up 79",
        ),
        (
            "docking: [ self.X + 0 ]",
            None,
            "actual values 292, blocked 102, bounds 63, candidate attributes 163, clauses 153, conditions 439, consistent 58, contested 59, cut off 0, deepest 78, demanded bounds 22, demanded holders 5, demands 174, discarding 3, failed clauses 160, failures 64, fitting 8, held 51, holders 0, incompatible 132, independent 233, labels 9, letters 7070, members 37, missing 17, of ports 278, other reads 2931, own ports 7, own reads 2779, rejected 586, required 153, ruled out 598, unacceptable 5, unserved 23, used up 87",
        ),
        (
            "",
            Some(2),
            "actual values 315, blocked 114, bounds 67, candidate attributes 165, clauses 154, conditions 440, consistent 54, contested 60, cut off 3, deepest 102, demanded bounds 21, demanded holders 5, demands 182, discarding 0, failed clauses 166, failures 64, fitting 9, held 72, holders 0, incompatible 134, independent 239, labels 13, letters 7075, members 35, missing 16, of ports 274, other reads 2927, own ports 7, own reads 2834, rejected 607, required 151, ruled out 591, unacceptable 0, unserved 21, used up 83",
        ),
    ] {
        let mut told = Told::default();
        for seed in 0..80 {
            let mut writer = GangAdGenerator(fastrand::Rng::with_seed(seed));
            let offers: Vec<Ad> = (0..writer.0.usize(2..8)).map(|_| writer.offer()).collect();
            let (earlier, request) = (writer.request(2), writer.request(4));
            let policy = if policy.is_empty() { "order: [ 1 ]" } else { policy };
            let policy = Policy::parse(policy.as_bytes(), Dialect::Classad).unwrap();
            let mut context = Context::new(Dialect::Classad);
            context.max_search_tests = limit.unwrap_or(context.max_search_tests);
            let (matcher, _) = Gangmatcher::new(&offers, Protocol::new(Dialect::Classad), context);
            let mut matcher = matcher.with_docking_vector(policy.docking);
            // Values of several types cannot be compared.
            if matcher.marshal(0, &earlier).is_err() {
                continue;
            }
            let Ok(Some(failure)) = matcher.gang_failure(1, &request) else { continue };
            told.failure(&failure);
            for port in 0..failure.ports.len() {
                told.clauses(&matcher.failed_clauses(&request, &failure, port).unwrap());
            }
            for offer in 0..offers.len() {
                for trial in matcher.trial_dockings(&request, offer).unwrap() {
                    trial.condition.iter().for_each(|condition| told.condition(condition));
                }
            }
        }
        assert_eq!(told.list(), expected, "{policy} {limit:?}");
    }
}
