//! The input of an explanation: the ads to explain, the ads they could match, and the policy.

use classad::explain::{Explainer, Report, Wording};
use classad::pool::Clusters;
use classad::protocol::Protocol;
use indexmap::IndexMap;

use crate::cli::args::policy::GivenPolicy;
use crate::cli::io::input::Identified;
use crate::cli::io::parties::Parties;
use crate::cli::render::diagnostics::line;
use crate::cli::session::Session;

/// The input of an explanation: the ads to explain, and those that they could match.
pub struct Case<'c> {
    pub asking: &'c [Identified],
    pub offered: &'c [Identified],
    /// Noun for the ads of `offered`, singular and plural.
    pub ads: [&'static str; 2],
    pub protocol: Protocol,
    pub given: &'c GivenPolicy,
    /// Whether offers are explained, with `--reverse`.
    pub is_reverse: bool,
    /// Whether some offers have ports, so that requests are served by gangs.
    pub has_ports: bool,
    pub evidence: u8,
}

impl<'c> Case<'c> {
    /// Makes the input for explaining requests or, with `is_reverse`, offers.
    pub fn new(
        parties: &'c Parties,
        is_reverse: bool,
        protocol: Protocol,
        given: &'c GivenPolicy,
        evidence: u8,
    ) -> Self {
        let (asking, offered, ads) = if is_reverse {
            (&parties.offers, &parties.requests, ["request", "requests"])
        } else {
            (&parties.requests, &parties.offers, ["offer", "offers"])
        };
        let has_ports = !is_reverse && super::gangs::any_ports(offered);
        Case { asking, offered, ads, protocol, given, is_reverse, has_ports, evidence }
    }

    pub fn explainer(&self, session: &Session) -> Explainer {
        let ads: Vec<_> = self.offered.iter().map(|ad| ad.ad.clone()).collect();
        let explainer = Explainer::new(&ads, self.protocol.clone(), session.context());
        // The docking vector orders offers for requests, not the other way round.
        if self.is_reverse { explainer } else { explainer.with_docking(self.given.policy.docking.clone()) }
    }

    /// Groups ads that get the same explanation, by autocluster. `left` and the groups hold indexes into `asking`;
    /// groups and their members are in the order of the input.
    pub fn alike(&self, session: &Session, left: &[usize]) -> Vec<Vec<usize>> {
        if let [only] = left {
            return vec![vec![*only]];
        }
        // Ads that share one `Ad` are in one group without further comparison.
        let mut same: IndexMap<usize, Vec<usize>> = IndexMap::new();
        for request in left {
            same.entry(self.asking[*request].ad.identity()).or_default().push(*request);
        }
        let same: Vec<Vec<usize>> = same.into_values().collect();
        let ads = |ads: &mut dyn Iterator<Item = &Identified>| ads.map(|ad| ad.ad.clone()).collect::<Vec<_>>();
        let asking = ads(&mut same.iter().map(|group| &self.asking[group[0]]));
        let offered = ads(&mut self.offered.iter());
        let policies = self.given.policy.of_matches();
        let clusters = Clusters::new(&asking, &offered, &policies, &self.protocol, &session.context());
        let mut groups = vec![Vec::new(); clusters.clusters.len()];
        for (group, cluster) in same.into_iter().zip(clusters.of) {
            groups[cluster].extend(group);
        }
        for group in &mut groups {
            group.sort_unstable();
        }
        groups.sort_unstable();
        groups
    }

    /// Whether a request is served by gangs rather than by pairs.
    pub fn is_gang(&self, request: usize) -> bool {
        !self.is_reverse && (self.has_ports || super::gangs::has_ports(&self.asking[request].ad))
    }

    /// Returns the name of a group: `A`, `A and B`, or `A and 5 more`.
    pub fn subject(&self, group: &[usize]) -> String {
        let first = self.asking[group[0]].id();
        let subject = match group.len() {
            1 => first.to_owned(),
            2 => format!("{first} and {}", self.asking[group[1]].id()),
            many => format!("{first} and {} more", many - 1),
        };
        line(&subject)
    }

    /// Returns the summary sentence about a group. `longest` is the maximum length of a quoted clause in characters.
    pub fn summary(&self, session: &Session, group: &[usize], report: &Report, longest: usize) -> String {
        let wording = Wording {
            subject: &self.subject(group),
            is_plural: group.len() > 1,
            ads: self.ads,
            names: &|request| self.asking[request].id().to_owned(),
            dialect: session.dialect(),
            longest,
        };
        line(&wording.summary(report))
    }
}
