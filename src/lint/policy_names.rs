//! Checks the names in the policies of a configuration against a pool.

use rustc_hash::FxHashSet;
use strsim::osa_distance;

use crate::ad::{Ad, ByteString, Expression, Name, Value};
use crate::constraint::ClauseOperand;
use crate::eval::Context;
use crate::matching::policy::JobDemands;
use crate::protocol::{PRIORITY_SIDES, is_priority_attribute, priority_attributes};
use crate::text::did_you_mean;

use super::finding::LintFinding;
use super::pool::{PoolCheck, PoolReference, unresolved_references};
use super::pool_statistics::PoolStatistics;
use super::rules;
use super::subexpressions::{guarded_names, guarded_parts, subexpressions};

/// The jobs and the slots of a pool, with which the names in policies are compared. Ads of other types do not count.
#[derive(Default)]
pub struct PolicyPool {
    jobs: PoolStatistics,
    slots: PoolStatistics,
    /// What the jobs ask of the negotiator's settings.
    pub demands: JobDemands,
}

/// Where a policy is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyPlace {
    /// In a job's ad; TARGET is a slot.
    Job,
    /// In a slot's ad; TARGET is a job.
    Slot,
    /// In a slot's ad by the negotiator, which adds attributes of priorities; TARGET is a job.
    Negotiator,
}

impl PolicyPool {
    /// Adds the attributes of an ad to the statistics of jobs or of slots.
    pub fn add(&mut self, ad: &Ad) {
        let my_type = ad.get(&Name::new("MyType")).and_then(Expression::as_literal);
        let is = |of: &str| matches!(my_type, Some(Value::String(text)) if *text == ByteString::from(of));
        if is("Job") {
            self.jobs.add(ad);
            self.demands.add(ad);
        } else if is("Machine") {
            self.slots.add(ad);
        }
    }

    /// Whether there are neither jobs nor slots.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.jobs.ads() + self.slots.ads() == 0
    }
}

/// Checks the names in an expression of a configuration against a pool.
///
/// A name without MY or TARGET may be one of the other ad, so that it is reported only if the pool has ads of both
/// kinds, or a similar name.
#[must_use]
pub fn check_policy_names(
    expression: &Expression,
    place: PolicyPlace,
    pool: &PolicyPool,
    context: &Context,
) -> Vec<LintFinding> {
    let [own, other] = match place {
        PolicyPlace::Job => [&pool.jobs, &pool.slots],
        PolicyPlace::Slot | PolicyPlace::Negotiator => [&pool.slots, &pool.jobs],
    };
    let check = PolicyCheck { place, own, other, context };
    let mut found = Vec::new();
    let (guarded, mut seen) = (guarded_names(expression), FxHashSet::default());
    for reference in unresolved_references(&Ad::default(), expression) {
        if !seen.insert((reference.is_qualified, reference.name)) {
            continue;
        }
        let is_guarded = guarded.contains(reference.name);
        if reference.is_qualified {
            check.check(&reference, other, is_guarded, &mut found);
        } else {
            check.check_unqualified(&reference, is_guarded, &mut found);
        }
    }
    let own_name = |part| match ClauseOperand::of(part) {
        Some(ClauseOperand::Own(name)) => Some(name),
        _ => None,
    };
    let guarded: FxHashSet<&Name> = guarded_parts(expression).filter_map(own_name).collect();
    let mut seen = FxHashSet::default();
    for reference in own_references(expression).iter().filter(|reference| seen.insert(reference.name)) {
        check.check(reference, own, guarded.contains(reference.name), &mut found);
    }
    found
}

/// Check of the names in one policy.
struct PolicyCheck<'p> {
    place: PolicyPlace,
    /// The ads in which the policy is evaluated.
    own: &'p PoolStatistics,
    /// The ads that are TARGET.
    other: &'p PoolStatistics,
    context: &'p Context,
}

impl PolicyCheck<'_> {
    /// Checks a name against the ads in which it is looked up.
    fn check(
        &self,
        reference: &PoolReference<'_>,
        ads: &PoolStatistics,
        is_guarded: bool,
        found: &mut Vec<LintFinding>,
    ) {
        if ads.ads() == 0 || self.is_of_negotiator(reference, found) {
            return;
        }
        let (ad, attribute) = (Ad::default(), Name::new("Policy"));
        let mut check = PoolCheck { pool: ads, ad: &ad, attribute: &attribute, context: self.context, found };
        if is_guarded {
            check.check_guarded(reference);
        } else {
            check.check_known(reference);
        }
    }

    /// Checks a name that is looked up in the own ad, and then in the other ad.
    fn check_unqualified(&self, reference: &PoolReference<'_>, is_guarded: bool, found: &mut Vec<LintFinding>) {
        let has = |ads: &PoolStatistics| ads.attributes.contains_key(reference.name);
        if has(self.own) || has(self.other) {
            return;
        }
        let before = found.len();
        for ads in [self.own, self.other] {
            self.check(reference, ads, true, found);
            if found.len() > before {
                return;
            }
        }
        // A policy of a job may run without a slot.
        let has_ads = self.own.ads() > 0 && (self.place == PolicyPlace::Job || self.other.ads() > 0);
        if has_ads && !is_guarded {
            self.check(reference, self.own, false, found);
        }
    }

    /// Whether the negotiator adds the attribute to ads. Reports a name that is spelt like such an attribute.
    fn is_of_negotiator(&self, reference: &PoolReference<'_>, found: &mut Vec<LintFinding>) -> bool {
        if self.place != PolicyPlace::Negotiator {
            return false;
        }
        if is_priority_attribute(reference.name) {
            return true;
        }
        let known = |name: &Name| self.own.attributes.contains_key(name) || self.other.attributes.contains_key(name);
        let name = reference.name.as_str().to_ascii_lowercase();
        let mut added = PRIORITY_SIDES.into_iter().flat_map(priority_attributes);
        let near = added.find(|(added, _)| osa_distance(&added.as_str().to_ascii_lowercase(), &name) <= 1);
        let Some((near, _)) = near.filter(|_| !known(reference.name)) else { return false };
        let message = format!("the negotiator adds no {} to ads", reference.name);
        let help = did_you_mean(&[near.to_string()]).unwrap_or_default();
        let finding = LintFinding::new(&rules::UNKNOWN, message).with_help(help);
        found.push(finding.at(&Name::new("Policy"), reference.expression, ""));
        true
    }
}

/// Returns the references in an expression to attributes of its own ad that name this ad, such as `MY.Memory`.
fn own_references(expression: &Expression) -> Vec<PoolReference<'_>> {
    let reference = |part| match ClauseOperand::of(part) {
        Some(ClauseOperand::Own(name)) => Some(PoolReference { name, expression: part, is_qualified: true }),
        _ => None,
    };
    subexpressions(expression).filter_map(reference).collect()
}

#[cfg(test)]
mod tests {
    use super::{PolicyPlace, PolicyPool, check_policy_names};
    use crate::ad::Dialect;
    use crate::eval::Context;
    use crate::lint::tests::ad;
    use crate::syntax::{ParseOptions, parse_expression};

    #[test]
    fn names_of_policies_are_those_of_jobs_and_slots() {
        use PolicyPlace::{Job, Negotiator, Slot};
        let mut pool = PolicyPool::default();
        for text in [
            "[ MyType = \"Job\"; RequestMemory = 1; JobPrio = 1 ]",
            "[ MyType = \"Job\"; RequestMemory = 2 ]",
            "[ MyType = \"Machine\"; Memory = 1; KeyboardIdle = 1; State = \"Owner\" ]",
            "[ MyType = \"Submitter\"; Fooo = 1 ]",
        ] {
            pool.add(&ad(text, Dialect::Condor));
        }
        for (place, policy, expected) in [
            (Slot, "Memory > 1 && TARGET.RequestMemory > 1 && JobPrio > 1", ""),
            (Slot, "KeyboardIdle > 1 || MY.State == \"Owner\"", ""),
            (Slot, "Fooo > 3", "Fooo"),
            (Slot, "isUndefined(Fooo) || Fooo > 3", ""),
            (Slot, "Fooo =?= undefined || Fooo > 3", ""),
            (Slot, "(Fooo ?: 0) > 3", ""),
            (Slot, "MY.Fooo > 3", "Fooo"),
            (Slot, "isUndefined(MY.Fooo) || MY.Fooo > 3", ""),
            (Slot, "TARGET.Fooo > 3", "Fooo"),
            (Slot, "isUndefined(TARGET.Fooo) || TARGET.Fooo > 3", ""),
            (Slot, "isUndefined(KeyboardIdl) || KeyboardIdl > 3", "KeyboardIdl"),
            (Slot, "TARGET.Memory > 1 && MY.RequestMemory > 1", "Memory RequestMemory"),
            (Job, "MY.RequestMemory > 1 && TARGET.Memory > 1", ""),
            (Job, "MY.Memory > 1", "Memory"),
            (Slot, "RemoteUserPrio > 1", "RemoteUserPrio"),
            (Negotiator, "RemoteUserPrio > 1 && TARGET.SubmitterUserPrio > 1", ""),
            (Negotiator, "RemoteUserPri > 1", "RemoteUserPri"),
            (Negotiator, "RemoteUserPr > 1 && TARGET.RemoteUserPr > 1", "RemoteUserPr RemoteUserPr"),
            (Negotiator, "MY.remoteuserpriq > 1", ""),
            (Negotiator, "Memory > 1 && TARGET.RequestMemory > 1", ""),
            (Job, "Fooo > 3 && Memory > 1 && RequestMemory > 1", "Fooo"),
            (Job, "Memoryy > 3 && TARGET.Fooo > 3 && TARGET.Fooo > 4 && Memoryy > 4", "Memoryy Fooo"),
            (Job, "MY.Fooo > 3 && MY.Fooo > 4 && Fooo > 5", "Fooo Fooo"),
        ] {
            let expression = parse_expression(policy.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
            let found = check_policy_names(&expression, place, &pool, &Context::new(Dialect::Condor));
            let names = found
                .iter()
                .map(|finding| finding.message.rsplit(' ').find(|word| word.starts_with(char::is_uppercase)));
            let names: Vec<&str> = names.flatten().collect();
            assert_eq!(names.join(" "), expected, "{place:?} {policy}: {found:?}");
        }
    }
    /// A name that may be one of either ad is told only if both are known, or if it resembles one of them.
    #[test]
    fn a_pool_without_jobs_or_slots_says_less() {
        let (job, slot) = ("[ MyType = \"Job\"; RequestMemory = 1 ]", "[ MyType = \"Machine\"; Memory = 1 ]");
        for (ads, place, policy, expected) in [
            (&[job][..], PolicyPlace::Slot, "Fooo > 1", ""),
            (&[slot], PolicyPlace::Slot, "Fooo > 1", ""),
            (&[job, slot], PolicyPlace::Slot, "Fooo > 1", "the only slot has no Fooo"),
            (&[job], PolicyPlace::Job, "Fooo > 1", "the only job has no Fooo"),
            (&[slot], PolicyPlace::Job, "Fooo > 1", ""),
            (&[slot], PolicyPlace::Job, "Memorx > 1", "the only slot has no Memorx"),
            (&[slot, slot], PolicyPlace::Slot, "MY.Fooo > 1 && TARGET.Fooo > 1", "none of the 2 slots has Fooo"),
            (&[], PolicyPlace::Slot, "MY.Fooo > 1", ""),
        ] {
            let mut pool = PolicyPool::default();
            for text in ads {
                pool.add(&ad(text, Dialect::Condor));
            }
            assert_eq!(pool.is_empty(), ads.is_empty());
            let expression = parse_expression(policy.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
            let found = check_policy_names(&expression, place, &pool, &Context::new(Dialect::Condor));
            let messages: Vec<&str> = found.iter().map(|finding| finding.message.as_str()).collect();
            assert_eq!(messages.join("; "), expected, "{ads:?} {place:?} {policy}");
        }
    }
}
