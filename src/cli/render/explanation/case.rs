//! The input of an explanation: the ads to explain, the ads they could match, and the policy.

use classad::ad::Ad;
use classad::explain::{Explainer, RequestReport, SummaryWriter};
use classad::pool::RequestClusters;
use classad::protocol::Protocol;
use indexmap::IndexMap;

use crate::cli::args::policy::LoadedPolicy;
use crate::cli::io::input::NamedAd;
use crate::cli::io::parties::Parties;
use crate::cli::render::diagnostics::single_line;
use crate::cli::session::Session;

/// Maximum number of elements in lists of offers, and of groups of offers, of a report without `--all-offers`.
pub const MAX_LISTED_OFFERS: usize = 10;

/// The input of an explanation: the ads to explain, and those that they could match.
pub struct ExplanationInput<'c> {
    pub parties: &'c Parties,
    pub subjects: &'c [NamedAd],
    pub partners: &'c [NamedAd],
    /// The noun for the ads of `partners`, singular and plural: `request` or `offer`.
    pub nouns: [&'static str; 2],
    pub protocol: Protocol,
    pub policy: &'c LoadedPolicy,
    /// Whether `--reverse` is given, so that offers are explained instead of requests.
    pub is_reverse: bool,
    /// Whether some offers have ports, so that requests are served by gangs.
    pub has_ports: bool,
    pub evidence_level: u8,
}

impl<'c> ExplanationInput<'c> {
    /// Makes the input for explaining requests or, with `is_reverse`, offers.
    pub fn new(
        parties: &'c Parties,
        is_reverse: bool,
        protocol: Protocol,
        policy: &'c LoadedPolicy,
        evidence_level: u8,
    ) -> Self {
        let (subjects, partners, nouns) = if is_reverse {
            (&parties.offers, &parties.requests, ["request", "requests"])
        } else {
            (&parties.requests, &parties.offers, ["offer", "offers"])
        };
        let has_ports = !is_reverse && super::gangs::any_ports(partners);
        ExplanationInput { parties, subjects, partners, nouns, protocol, policy, is_reverse, has_ports, evidence_level }
    }

    /// Makes the explainer of the subjects. Unless `all_offers`, a report holds only as many refusals as it shows.
    pub fn explainer(&self, session: &Session, all_offers: bool) -> Explainer {
        let ads: Vec<_> = self.partners.iter().map(|ad| ad.ad.clone()).collect();
        let explainer = Explainer::new(&ads, self.protocol.clone(), session.context());
        let explainer = if all_offers { explainer } else { explainer.with_max_refusals(MAX_LISTED_OFFERS) };
        // The docking vector orders offers for requests, not the other way round.
        if self.is_reverse { explainer } else { explainer.with_docking(self.policy.policy.docking.clone()) }
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
        for group in &mut groups {
            group.sort_unstable();
        }
        groups.sort_unstable();
        groups
    }

    /// Whether a request is served by gangs rather than by pairs: the request or some offer has ports.
    pub fn needs_gang(&self, request: usize) -> bool {
        !self.is_reverse && (self.has_ports || super::gangs::has_ports(&self.subjects[request].ad))
    }

    /// Returns the name of a group: `A`, `A and B`, or `A and 5 more`.
    pub fn group_name(&self, group: &[usize]) -> String {
        let first = self.subjects[group[0]].id();
        let subject = match group.len() {
            1 => first.to_owned(),
            2 => format!("{first} and {}", self.subjects[group[1]].id()),
            many => format!("{first} and {} more", many - 1),
        };
        single_line(&subject)
    }

    /// Returns the summary sentence about a group. `longest` is the maximum number of characters of a clause that the
    /// sentence quotes.
    pub fn summary(&self, session: &Session, group: &[usize], report: &RequestReport, longest: usize) -> String {
        let subject = self.group_name(group);
        single_line(&self.summary_writer(session, &subject, group, longest).summary(report))
    }

    /// Returns the writer of sentences about a group. `subject` is the name of the group in these sentences.
    pub fn summary_writer<'w>(
        &'w self,
        session: &Session,
        subject: &'w str,
        group: &[usize],
        max_clause_chars: usize,
    ) -> SummaryWriter<'w> {
        let (is_plural, nouns, dialect) = (group.len() > 1, self.nouns, session.dialect());
        SummaryWriter { subject, is_plural, nouns, names: self.parties, dialect, max_clause_chars }
    }
}
