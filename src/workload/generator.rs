//! What all workloads have in common: they generate the ads of several kinds.

use crate::ad::Ad;

/// A kind of ads of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdKind {
    /// The offers of the index workload.
    Objects,
    /// The requests of the index workload.
    Queries,
    /// Offers.
    Machines,
    /// Offers, valid on some of the machines.
    Licenses,
    /// Requests.
    Jobs,
}

impl AdKind {
    /// All kinds.
    pub const ALL: [AdKind; 5] = [AdKind::Objects, AdKind::Queries, AdKind::Machines, AdKind::Licenses, AdKind::Jobs];

    /// Returns the name in the plural, in lower case.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            AdKind::Objects => "objects",
            AdKind::Queries => "queries",
            AdKind::Machines => "machines",
            AdKind::Licenses => "licenses",
            AdKind::Jobs => "jobs",
        }
    }
}

/// An iterator that generates each ad only when it is asked for.
pub type GeneratedAds<'w> = Box<dyn Iterator<Item = Ad> + 'w>;

/// A workload: generates the ads of several kinds.
pub trait AdGenerator {
    /// Returns the kinds of ads, those of offers first.
    fn kinds(&self) -> &'static [AdKind];

    /// Generates the ads of a kind; none if the workload lacks the kind.
    fn ads(&self, kind: AdKind, seed: u64) -> GeneratedAds<'_>;

    /// Returns why the parameters contradict each other; `None` if they do not.
    fn contradiction(&self) -> Option<String> {
        None
    }

    /// Returns a note about the ads of a kind that the ads do not show, such as how many requests cannot match; `None`
    /// if there is none.
    fn remark(&self, _kind: AdKind, _seed: u64) -> Option<String> {
        None
    }
}
