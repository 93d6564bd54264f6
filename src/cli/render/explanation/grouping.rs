//! Groups of ads that get the same explanation.

use classad::ad::Ad;
use classad::explain::{
    Explainer, JobCircumstance, JobOutlook, JobReport, OutlookKind, RequestChange, RequestReport, ScheddAnswer,
    ShortCause, ShortCauseWriter,
};
use classad::pool::RequestClusters;
use classad::protocol::{AdvertisedState, JobState};
use indexmap::IndexMap;

use super::access_point::AccessPoint;
use super::case::{ExplanationInput, best_change};
use super::dedicated_scheduler::{DedicatedScheduler, PARALLEL};
use crate::cli::render::rows::TableCell;
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

    /// Returns what the policies of a job will do; `None` for another ad, where states do not matter, and without policies.
    pub fn job_outlook(&self, session: &Session, subject: usize) -> Option<JobOutlook> {
        let AccessPoint { policies, interval, .. } =
            self.access_point.filter(|_| self.respects_states && !self.is_reverse)?;
        let is_job = matches!(self.subjects[subject].state(&session.context()), AdvertisedState::Job(_));
        is_job.then(|| JobOutlook::new(policies, &self.subjects[subject].ad, *interval, &session.context())).flatten()
    }

    /// Whether a policy holds or removes a job at the next evaluation, whatever slot it gets.
    pub fn is_ended_by_policy(&self, session: &Session, subject: usize) -> bool {
        let access_point = self.access_point.filter(|_| self.respects_states && !self.is_reverse);
        let job = &self.subjects[subject].ad;
        access_point.is_some_and(|AccessPoint { policies, .. }| {
            policies.watch(job) && policies.queue_effect(job, &session.context()).is_some()
        })
    }

    /// Returns what jobs have in common of which the policies do the same.
    fn outlook_kind(&self, session: &Session, subject: usize) -> OutlookKind {
        match self.access_point.filter(|_| self.respects_states && !self.is_reverse) {
            Some(AccessPoint { policies, .. }) => {
                JobOutlook::kind(policies, &self.subjects[subject].ad, &session.context())
            }
            None => OutlookKind::default(),
        }
    }

    /// Returns what the access point says of a job: whether it runs it itself, and which limit keeps it waiting.
    fn answer_of_access_point(
        &self,
        session: &Session,
        subject: usize,
    ) -> Option<(Option<ScheddAnswer>, Option<JobCircumstance>)> {
        let access_point = self.access_point.filter(|_| self.respects_states && !self.is_reverse)?;
        let (job, context) = (&self.subjects[subject], session.context());
        Some((access_point.answer(job, &context), access_point.full(job, &context)))
    }

    /// Returns the report with the slots that a job of the parallel universe can get: those that its dedicated scheduler has.
    pub fn with_dedicated(
        &self,
        session: &Session,
        subject: usize,
        mut report: RequestReport,
        explainer: &Explainer,
    ) -> RequestReport {
        let parallel = report.job.iter_mut().flat_map(|job| &mut job.circumstances).find(|of| of.kind == PARALLEL);
        if let Some(parallel) = parallel.filter(|_| !self.is_reverse) {
            self.dedicated_scheduler(session, subject, explainer).tell(parallel);
        }
        report
    }

    /// Returns the dedicated scheduler of a job of the parallel universe.
    fn dedicated_scheduler<'e>(
        &'e self,
        session: &Session,
        job: usize,
        explainer: &'e Explainer,
    ) -> DedicatedScheduler<'e> {
        DedicatedScheduler::new(&self.subjects[job], self.partners, explainer, session.context())
    }

    /// Whether a waiting job gets no slot, although slots match it: see [`RequestReport::is_kept_back`].
    pub fn is_kept_back(&self, session: &Session, subject: usize, explainer: Option<&Explainer>) -> bool {
        let circumstances = self.job_report(session, subject).map_or(Vec::new(), |job| job.circumstances);
        let decisive = circumstances.into_iter().find(|known| known.is_decisive);
        let is_full = || self.answer_of_access_point(session, subject).is_some_and(|(_, full)| full.is_some());
        match decisive.map(|known| known.kind) {
            Some(PARALLEL) => {
                explainer.is_some_and(|explainer| self.dedicated_scheduler(session, subject, explainer).is_short())
            }
            decisive => decisive.is_some() || is_full(),
        }
    }

    /// Returns a row for each member of a group: name, verdict, number of matching and of free partners, the summary and
    /// the best change. Each row comes with the index of its subject.
    pub fn rows(&self, session: &Session, group: &[usize], report: &RequestReport) -> Vec<(usize, Vec<TableCell>)> {
        let free = report.slots.map_or(report.matches, |slots| slots.matching.available());
        let change = best_change(report.changes.iter()).map(RequestChange::text).unwrap_or_default();
        let row = |subject: &usize| {
            let summary = self.summary(session, &[*subject], report, usize::MAX);
            let name = self.subjects[*subject].id().to_owned();
            let verdict = report.verdict.as_str().to_owned();
            let [matches, free] = [report.matches, free].map(|number| number.to_string());
            (
                *subject,
                vec![name.into(), verdict.into(), matches.into(), free.into(), summary.into(), change.clone().into()],
            )
        };
        group.iter().map(row).collect()
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
            let report = self.job_report(session, job);
            // What keeps one job from running does not keep the others.
            let circumstances = report.iter().flat_map(|report| report.circumstances.iter().cloned());
            let decisive: Vec<JobCircumstance> = circumstances.filter(|known| known.is_decisive).collect();
            let report = report.filter(|_| self.is_not_waiting(session, job));
            let state = if self.is_reverse { Some(self.subjects[job].state(&session.context())) } else { None };
            let kind = (self.outlook_kind(session, job), self.answer_of_access_point(session, job));
            let reason = report.map(|report| (report.state, report.hold, report.factory));
            by_reason.entry((reason, state, kind, decisive)).or_default().push(job);
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
            let mode = |report: &JobReport| report.factory.as_ref().map(|factory| factory.mode);
            let kind = report.map(|report| (report.state, mode(&report), report.hold.map(|hold| hold.kind())));
            let foreseen = (self.outlook_kind(session, job), self.answer_of_access_point(session, job));
            kinds.entry((kind, foreseen)).or_default().push(job);
        }
        let divided = if divided.is_empty() { Vec::new() } else { self.group_equivalent(session, &divided) };
        kinds.into_values().chain(divided).collect()
    }
}
