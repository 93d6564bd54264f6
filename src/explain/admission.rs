//! Rules by which the owner of a machine admits some jobs: lists of users and groups, and flags of purposes.

use crate::ad::{BinaryOperator, Expression, ExpressionKind, Name, Value};
use crate::constraint::{ClauseOperand, orient_comparison};
use crate::protocol::words;
use crate::text::join_with;

/// The attributes of a job that tell whose it is, and that a user does not change to get a slot.
const IDENTITY: &str = "AccountingGroup, AcctGroup, AcctGroupUser, OsUser, Owner, Scheduler, User, x509UserProxySubject, \
    x509UserProxyVOName";

/// The prefix of attributes by which jobs enter slots that are kept for a purpose.
const PURPOSE_PREFIX: &str = "Want";

/// Maximum number of values that a rule lists in a sentence.
const MAX_LISTED: usize = 3;

/// Whether an attribute of a job tells whose the job is, or for which purpose it asks. Its value is the decision of those
/// who own the slots.
pub fn is_owners_matter(name: &Name) -> bool {
    words(IDENTITY).any(|known| name.is(known)) || is_purpose(name)
}

/// Whether an attribute of a job states a purpose, such as `WantLargeMem`.
pub fn is_purpose(name: &Name) -> bool {
    let start = name.as_str().get(..PURPOSE_PREFIX.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(PURPOSE_PREFIX))
}

/// The jobs that a rule of an offer admits.
#[derive(Clone, Debug, PartialEq)]
pub struct AdmittedJobs {
    /// The attributes that admit a job, each with its values. One of them is enough.
    pub choices: Vec<(Name, Vec<Value>)>,
}

impl AdmittedJobs {
    /// Reads a rule that only whose the job is, or its purpose, decides. `None` for another rule. `is_jobs` tells whether an
    /// unqualified name is the job's, `value` evaluates what the offer itself has.
    pub fn of(
        rule: &Expression,
        is_jobs: &impl Fn(&Name) -> bool,
        value: &impl Fn(&Expression) -> Value,
    ) -> Option<Self> {
        let of_job = |operand: &Expression| match ClauseOperand::of(operand)? {
            ClauseOperand::Other(name) => Some(name.clone()),
            ClauseOperand::Unqualified(name) if is_jobs(name) => Some(name.clone()),
            _ => None,
        };
        let matter = |operand: &Expression| of_job(operand).filter(is_owners_matter);
        let own = |operand: &Expression| match value(operand) {
            Value::String(_) | Value::Boolean(_) | Value::Integer(_) if of_job(operand).is_none() => {
                Some(value(operand))
            }
            _ => None,
        };
        let rule = rule.without_parentheses();
        let choice = match rule.kind() {
            ExpressionKind::Binary(BinaryOperator::Or, left, right) => {
                let [mut left, right] = [Self::of(left, is_jobs, value)?, Self::of(right, is_jobs, value)?];
                left.choices.extend(right.choices);
                return Some(left);
            }
            ExpressionKind::Binary(operator @ (BinaryOperator::Equal | BinaryOperator::Is), left, right) => {
                let (name, _, value) = orient_comparison(*operator, left, right, matter, own)?;
                (name, vec![value])
            }
            ExpressionKind::Call(function, arguments) => {
                let [item, list] = &**arguments else { return None };
                let is_member = ["stringListMember", "stringListIMember"].iter().any(|known| function.is(known));
                let Some(Value::String(list)) = own(list).filter(|_| is_member) else { return None };
                (matter(item)?, words(&list.to_str()).map(Value::string).collect())
            }
            _ => (matter(rule)?, vec![Value::Boolean(true)]),
        };
        Some(AdmittedJobs { choices: vec![choice] })
    }

    /// Says which jobs are admitted: `Owner alice, bob or carol, or AcctGroup gpulab`, `WantLargeMem = true`.
    #[must_use]
    pub fn phrase(&self) -> String {
        let word = |value: &Value| match value {
            Value::String(text) => text.to_str().into_owned(),
            other => other.to_string(),
        };
        let choice = |(name, values): &(Name, Vec<Value>)| match values.as_slice() {
            [value @ (Value::Boolean(_) | Value::Integer(_))] => format!("{name} = {value}"),
            // Nobody but its access point gives a job the name of a dedicated scheduler.
            [scheduler] if name.is("Scheduler") => {
                let scheduler = word(scheduler);
                let host = scheduler.split_once('@').map_or(scheduler.as_str(), |(_, host)| host);
                format!("universe = parallel (of {host})")
            }
            values => {
                let mut shown: Vec<String> = values.iter().take(MAX_LISTED).map(word).collect();
                if values.len() > MAX_LISTED {
                    shown.push(format!("{} more", values.len() - MAX_LISTED));
                }
                format!("{name} {}", join_with(&shown, "or"))
            }
        };
        let choices: Vec<String> = self.choices.iter().map(choice).collect();
        choices.join(if choices.len() > 1 { ", or " } else { "" })
    }

    /// Whether the slots are dedicated to jobs of the parallel universe.
    #[must_use]
    pub fn is_of_parallel(&self) -> bool {
        self.choices.iter().any(|(name, _)| name.is("Scheduler"))
    }

    /// Whether only the purpose that a job states admits it, such as `WantLargeMem`.
    #[must_use]
    pub fn is_of_purpose(&self) -> bool {
        self.choices.iter().all(|(name, _)| is_purpose(name))
    }

    /// Returns the accounting group of which a job is admitted; `None` if there is none, or several.
    #[must_use]
    pub fn group(&self) -> Option<String> {
        let values = self.choices.iter().find(|(name, _)| name.is("AcctGroup")).map(|(_, values)| values.as_slice());
        match values {
            Some([Value::String(group)]) => Some(group.to_str().into_owned()),
            _ => None,
        }
    }

    /// Returns the value that is asked for and that the job has as a string: `true` for `"true"`.
    pub(super) fn quoted<'r>(&self, reads: impl Iterator<Item = (&'r Name, &'r Value)>) -> Option<Value> {
        let mut found = reads.filter_map(|(name, value)| {
            let Value::String(text) = value else { return None };
            let of_name = self.choices.iter().filter(|(choice, _)| choice == name).flat_map(|(_, values)| values);
            let mut meant = of_name.filter(|wanted| !matches!(wanted, Value::String(_)));
            meant.find(|wanted| wanted.to_string().eq_ignore_ascii_case(text.to_str().trim())).cloned()
        });
        found.next()
    }
}

#[cfg(test)]
mod tests {
    use super::AdmittedJobs;
    use crate::ad::{Dialect, Value};
    use crate::syntax::{ParseOptions, parse_expression};

    #[test]
    fn whom_a_rule_admits() {
        for (rule, expected) in [
            ("stringListMember(TARGET.Owner, \"alice,bob,carol\")", Some("Owner alice, bob or carol")),
            (
                "(stringListMember(Owner, \"a,b,c,d,e\") || TARGET.AcctGroup =?= \"gpulab\")",
                Some("Owner a, b, c or 2 more, or AcctGroup gpulab"),
            ),
            ("\"ann\" == TARGET.Owner", Some("Owner ann")),
            ("TARGET.WantLargeMem =?= true", Some("WantLargeMem = true")),
            ("TARGET.WantLargeMem", Some("WantLargeMem = true")),
            // What the job itself decides, and a rule that something else meets, too.
            ("TARGET.RequestMemory == 5", None),
            ("TARGET.Owner == \"ann\" || Memory > 5", None),
            ("TARGET.Owner != \"ann\"", None),
            ("TARGET.Owner == TARGET.User", None),
        ] {
            let rule = parse_expression(rule.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
            let value = |part: &crate::ad::Expression| part.as_literal().cloned().unwrap_or(Value::Undefined);
            let found = AdmittedJobs::of(&rule, &|_| true, &value).map(|found| found.phrase());
            assert_eq!(found.as_deref(), expected);
        }
    }
}
