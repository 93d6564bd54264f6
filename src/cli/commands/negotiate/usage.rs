//! The usage of submitters after a cycle, and the file of `--usage` that keeps it.

use classad::matching::negotiate::{NegotiationOutcome, SubmitterOutcome};
use classad::matching::policy::{Account, Accountant, Policy};

use crate::cli::io::accounts;
use crate::cli::io::atomic_write::FileRevision;
use crate::cli::outcome::Failure;
use crate::cli::session::Session;

/// Adds accounts of submitters that have none, with the factors of the configuration.
pub fn add_accounts(policy: &Policy, accountant: &mut Accountant, outcome: &NegotiationOutcome) {
    let Some(share) = policy.weighted_share() else { return };
    for SubmitterOutcome { name, .. } in &outcome.submitters {
        if let Some(factor) = share.new_factor(name).filter(|_| !accountant.knows(name)) {
            accountant.submitters.insert(name.clone(), Account { factor, ..Account::default() });
        }
    }
}

/// Records what each submitter uses after the cycle: the weight of its offers if submitters share by weight, else the
/// number of offers that it got. Replaces the file atomically.
pub fn save_usage(
    session: &Session,
    path: &str,
    revision: &FileRevision,
    accountant: &mut Accountant,
    outcome: &NegotiationOutcome,
) -> Result<(), Failure> {
    #[allow(clippy::cast_precision_loss)] // a count of offers
    match &outcome.used_weight {
        Some(used) => accountant.assign_all(used.iter().map(|(submitter, weight)| (submitter.as_str(), *weight))),
        None => accountant.assign(outcome.submitters.iter().map(|of| (of.name.as_str(), of.offers as f64))),
    }
    accounts::write_accounts(session, path, accountant, revision)
}
