//! What all workloads have in common: each generates ads of several kinds.

use crate::ad::Ad;

/// Kind of ads that a workload generates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdKind {
    /// The offers of the index workload.
    Objects,
    /// The requests of the index workload.
    Queries,
    /// Machines, which are offers.
    Machines,
    /// Software licences, which are offers and are valid on some of the machines.
    Licenses,
    /// Jobs, which are requests.
    Jobs,
}

impl AdKind {
    /// All kinds.
    pub const ALL: [AdKind; 5] = [AdKind::Objects, AdKind::Queries, AdKind::Machines, AdKind::Licenses, AdKind::Jobs];

    /// Returns the name of the kind in the plural, in lower case.
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

/// Iterator over ads that generates each ad only when it is asked for.
pub type GeneratedAds<'w> = Box<dyn Iterator<Item = Ad> + 'w>;

/// Workload: generates the ads of several kinds.
pub trait AdGenerator {
    /// Returns the kinds of ads that the workload generates, offers before requests.
    fn kinds(&self) -> &'static [AdKind];

    /// Generates the ads of a kind; no ads if the workload lacks the kind.
    fn ads(&self, kind: AdKind, seed: u64) -> GeneratedAds<'_>;

    /// Returns a sentence that says why the workload's parameters contradict each other; `None` if they do not.
    fn contradiction(&self) -> Option<String> {
        None
    }

    /// Returns a note about something that the ads of a kind do not show, such as how many requests cannot match;
    /// `None` if there is no such note.
    fn remark(&self, _kind: AdKind, _seed: u64) -> Option<String> {
        None
    }
}
