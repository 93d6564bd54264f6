//! What an access point says of a job that it runs itself, without a slot.

use crate::ad::{Ad, Expression, Truth, Value};
use crate::configuration::ConfiguredPolicy;
use crate::constraint::conjuncts;
use crate::eval::{Context, Environment, Evaluator, FreeNames};
use crate::text::join_and;

use super::clauses::text;

/// The answer of an access point to a job that it runs itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ScheddAnswer {
    /// It runs the job.
    Accepts,
    /// The requirements of the job refuse it: by a clause, and why.
    RefusedByJob(String),
    /// Its own condition refuses the job: the name, and what decides.
    Refuses(String),
}

impl ScheddAnswer {
    /// Asks the ad of a schedd. `start` is `START_LOCAL_UNIVERSE` or `START_SCHEDULER_UNIVERSE` of its configuration. Without it
    /// that of the ad counts, and then HTCondor's default, if one counts.
    #[must_use]
    pub fn of(job: &Ad, is_local: bool, schedd: &Ad, start: Option<&ConfiguredPolicy>, context: &Context) -> Self {
        let name = if is_local { "StartLocalUniverse" } else { "StartSchedulerUniverse" };
        let of_ad = schedd.get_str(name);
        let start = start.filter(|start| !start.is_default || of_ad.is_none());
        let note = if start.is_some_and(|start| start.is_default) { " (HTCondor's default)" } else { "" };
        if let Some(start) = start.map(|start| &start.expression).or(of_ad)
            && let Some(refusal) = refusal(start, schedd, job, "the job", context)
        {
            return ScheddAnswer::Refuses(format!("{name}{note}: {refusal}"));
        }
        let refused =
            job.get_str("Requirements").and_then(|own| refusal(own, job, schedd, "the ad of the schedd", context));
        refused.map_or(ScheddAnswer::Accepts, ScheddAnswer::RefusedByJob)
    }
}

/// Says which clause of an ad's condition a partner does not meet, and what the partner lacks; `None` if it meets all.
fn refusal(condition: &Expression, own: &Ad, partner: &Ad, noun: &str, context: &Context) -> Option<String> {
    let (environment, [frame, _]) = Environment::pair(own.clone(), partner.clone());
    let outcome = |part: &Expression| {
        let value = Evaluator::new(&environment, context).evaluate(part, &frame).unwrap_or(Value::Undefined);
        Truth::of(&value, context.dialect)
    };
    if outcome(condition) == Truth::True {
        return None;
    }
    let clauses = conjuncts(condition);
    let unmet = clauses.into_iter().find(|clause| outcome(clause) != Truth::True).unwrap_or(condition);
    let names = FreeNames::of(unmet, context.dialect);
    let read = names.theirs.iter().chain(names.unqualified.iter().filter(|name| own.get(name).is_none()));
    let mut lacks: Vec<String> =
        read.filter(|name| partner.get(name).is_none()).map(std::string::ToString::to_string).collect();
    lacks.dedup();
    let lacks = if lacks.is_empty() || outcome(unmet) == Truth::False {
        String::new()
    } else {
        format!(" ({noun} has no {})", join_and(&lacks))
    };
    Some(format!("`{}` is {}{lacks}", text(unmet, context.dialect), outcome(unmet).phrase()))
}

#[cfg(test)]
mod tests {
    use super::ScheddAnswer;
    use crate::ad::{Ad, Dialect};
    use crate::eval::Context;
    use crate::syntax::{ParseOptions, parse_ad};

    fn ad(text: &str) -> Ad {
        parse_ad(format!("[ {text} ]").as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap()
    }

    #[test]
    fn an_access_point_answers_for_jobs_without_slots() {
        let context = Context { now: Some(1000), ..Context::new(Dialect::Condor) };
        let schedd = ad("MyType = \"Scheduler\"; TotalSchedulerJobsRunning = 10; TotalLocalJobsRunning = 3; \
             StartSchedulerUniverse = TotalSchedulerJobsRunning < 500 && TARGET.Owner =!= \"bob\"; StartLocalUniverse = TotalLocalJobsRunning < 3");
        for (job, is_local, expected) in [
            ("Requirements = true || false && TARGET.OpSys == \"LINUX\"", false, "Accepts"),
            (
                "Requirements = (true || false) && TARGET.OpSys == \"LINUX\"",
                false,
                "RefusedByJob(\"`TARGET.OpSys == \\\"LINUX\\\"` is undefined (the ad of the schedd has no OpSys)\")",
            ),
            (
                "Requirements = true; Owner = \"bob\"",
                false,
                "Refuses(\"StartSchedulerUniverse: `TARGET.Owner =!= \\\"bob\\\"` is false\")",
            ),
            ("Requirements = true", true, "Refuses(\"StartLocalUniverse: `TotalLocalJobsRunning < 3` is false\")"),
            ("Owner = \"ann\"", false, "Accepts"),
        ] {
            let answer = ScheddAnswer::of(&ad(job), is_local, &schedd, None, &context);
            assert_eq!(format!("{answer:?}"), expected, "{job}");
        }
    }
}
