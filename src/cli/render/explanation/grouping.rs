//! Groups of ads that get the same explanation.

use classad::ad::Ad;
use classad::explain::{RequestReport, ShortCause, ShortCauseWriter};
use classad::pool::RequestClusters;
use classad::protocol::{AdvertisedState, JobState};
use indexmap::IndexMap;

use super::case::ExplanationInput;
use crate::cli::session::Session;

impl ExplanationInput<'_> {
    /// Returns the cause of a report in a few words.
    pub fn short_cause(&self, session: &Session, report: &RequestReport) -> ShortCause {
        let (subject, nouns, dialect) = (self.subject_noun(session), self.nouns, session.dialect());
        ShortCauseWriter { subject, nouns, dialect }.cause(report)
    }

    /// Whether a subject is a held job.
    pub fn is_held(&self, session: &Session, subject: usize) -> bool {
        let state = self.subjects[subject].state(&session.context());
        self.respects_states && state == AdvertisedState::Job(JobState::Held)
    }

    /// Groups ads by autocluster, because the ads of an autocluster get the same explanation. `left` has the indexes of
    /// these ads in `subjects`, and the groups hold the same indexes. Groups and their members are in the order of the
    /// input.
    pub fn group_equivalent(&self, session: &Session, left: &[usize]) -> Vec<Vec<usize>> {
        if let [only] = left {
            return vec![vec![*only]];
        }
        // Several ads may share one `Ad` in memory. Such ads are equal: group them first, without comparing them.
        let mut same: IndexMap<usize, Vec<usize>> = IndexMap::new();
        for request in left {
            same.entry(self.subjects[*request].ad.identity()).or_default().push(*request);
        }
        let subjects: Vec<Ad> = same.values().map(|group| self.subjects[group[0]].ad.clone()).collect();
        let partners: Vec<Ad> = self.partners.iter().map(|ad| ad.ad.clone()).collect();
        let policies = self.policy.policy.match_policies();
        let clusters = RequestClusters::new(&subjects, &partners, &policies, &self.protocol, &session.context());
        let mut groups = vec![Vec::new(); clusters.clusters.len()];
        for (group, cluster) in same.into_values().zip(clusters.cluster_of) {
            groups[cluster].extend(group);
        }
        if self.respects_states {
            groups = groups.into_iter().flat_map(|group| self.divide_by_state(session, group)).collect();
        }
        for group in &mut groups {
            group.sort_unstable();
        }
        groups.sort_unstable();
        groups
    }

    /// Divides a group of equivalent jobs by the reasons why they do not wait for a slot, or of slots by their states.
    fn divide_by_state(&self, session: &Session, group: Vec<usize>) -> Vec<Vec<usize>> {
        let mut by_reason: IndexMap<_, Vec<usize>> = IndexMap::new();
        for job in group {
            let report = if self.is_not_waiting(session, job) { self.job_report(session, job) } else { None };
            let state = if self.is_reverse { Some(self.subjects[job].state(&session.context())) } else { None };
            by_reason.entry((report.map(|report| (report.state, report.hold)), state)).or_default().push(job);
        }
        by_reason.into_values().collect()
    }

    /// Groups jobs that do not wait: with `by_kind`, by what [`ExplanationInput::short_cause`] tells of them.
    /// Otherwise held jobs are grouped as jobs that wait are.
    pub fn group_past(&self, session: &Session, jobs: &[usize], by_kind: bool) -> Vec<Vec<usize>> {
        let is_divided = |job: &&usize| !by_kind && self.is_held(session, **job);
        let (divided, others): (Vec<usize>, Vec<usize>) = jobs.iter().partition(is_divided);
        let mut kinds: IndexMap<_, Vec<usize>> = IndexMap::new();
        for job in others {
            let report = self.job_report(session, job);
            let kind = report.map(|report| (report.state, report.hold.map(|hold| hold.kind())));
            kinds.entry(kind).or_default().push(job);
        }
        let divided = if divided.is_empty() { Vec::new() } else { self.group_equivalent(session, &divided) };
        kinds.into_values().chain(divided).collect()
    }
}
