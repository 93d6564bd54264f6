//! Checks ads in one thread, and tells each finding once.

use std::sync::Arc;

use crate::ad::Ad;
use crate::eval::Context;
use crate::protocol::Protocol;

use super::AdChecker;
use super::finding::LintFinding;
use super::finding_register::FindingRegister;
use super::pool_statistics::PoolStatistics;

/// Checks ads one after the other. A finding is reported once, for the first ad that has it. Later ads with the same
/// finding are only counted.
pub struct Checker {
    ads: AdChecker,
    register: FindingRegister,
}

impl Checker {
    /// Creates a checker. `protocol` names the attributes that are the constraint and the rank of an ad.
    #[must_use]
    pub fn new(protocol: Protocol, context: &Context) -> Self {
        Checker { ads: AdChecker::new(protocol, context), register: FindingRegister::default() }
    }

    /// Also checks the ads against the pool in which they are to match.
    #[must_use]
    pub fn with_pool(self, pool: PoolStatistics) -> Self {
        Checker { ads: self.ads.with_pool(Arc::new(pool)), ..self }
    }

    /// Checks an ad. Returns the findings that no earlier ad had, each with its identifying number. A finding that an
    /// earlier ad had is only counted.
    pub fn check(&mut self, ad: &Ad) -> Vec<(usize, LintFinding)> {
        let found = self.ads.check(ad);
        let new = self.register.register(&found);
        self.register.count_ads(&found, 1);
        new
    }

    /// Returns the number of ads that have a finding. `number` identifies the finding.
    #[must_use]
    pub fn count(&self, number: usize) -> usize {
        self.register.count(number)
    }
}
