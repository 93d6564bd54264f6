//! Reports as JSON, of the schema `classad.explain/2`.

use classad::ad::time::iso_moment;
use classad::configuration::PolicyEffect;
use classad::explain::{
    Cause, ClauseReport, ForeseenEffect, JobOutlook, JobReport, PolicyGap, PolicyMoment, PolicyOutlook, RequestChange,
    RequestReport, ScheddAnswer,
};
use classad::matching::negotiate::AccountingLimit;
use serde_json::{Map, Value as Json, json};

use super::case::ExplanationInput;
use super::remedies;
use crate::cli::render::json::value_json;
use crate::cli::session::Session;

/// The name of the JSON schema of reports.
pub const SCHEMA: &str = "classad.explain/2";

/// Returns the JSON report about a group of equivalent requests or, with `--reverse`, offers.
pub fn report_json(
    session: &Session,
    case: &ExplanationInput<'_>,
    group: &[usize],
    report: &RequestReport,
    summary: &str,
) -> Json {
    let requests: Vec<&str> = group.iter().map(|request| case.subjects[*request].id()).collect();
    let attributes: Vec<&str> = report.attributes.iter().map(classad::ad::Name::as_str).collect();
    let changes = |is_far_less: bool| -> Json {
        let changes = report.changes.iter().filter(|change| change.is_far_less == is_far_less);
        changes.map(|change| change_json(session, case, group, change)).collect()
    };
    let offer = |offer: usize| case.partners[offer].id();
    let nearest = report.closest.iter().map(|near| {
        let fails: Vec<usize> = near.failed_clauses.iter().map(|(clause, _)| *clause).collect();
        let refuses: Vec<&str> =
            near.unmet_demands.iter().map(|demand| demand.clause.as_deref().unwrap_or_default()).collect();
        json!({ "offer": offer(near.offer), "fails": fails, "refuses": refuses })
    });
    let refusals = report.refusals.iter().map(|refusal| {
        json!({
            "clause": refusal.demand.clause,
            "offers": refusal.offers,
            "suitable": refusal.suitable,
            "example": offer(refusal.example),
        })
    });
    json!({
        "requests": requests,
        "verdict": report.verdict.as_str(),
        "limit": report.verdict.limit().map(limit_json),
        "cause_id": case.short_cause(session, report).id,
        "attributes": attributes,
        "summary": summary,
        "job": report.job.as_ref().map(job_json),
        "suitable": report.suitable,
        "accepting": report.accepting,
        "slots": report.slots,
        "if_drained": report.if_drained.iter().map(|slot| offer(*slot)).collect::<Vec<_>>(),
        "clauses": report.clauses.iter().map(clause_json).collect::<Json>(),
        "conflicts": report.conflicts.sets,
        "what_to_do": remedies::phrases(session, case, group, report),
        "changes": changes(false),
        "far_less": changes(true),
        "choices": report.choices.iter().map(|choice| change_json(session, case, group, choice)).collect::<Json>(),
        "nearest": nearest.collect::<Json>(),
        "refusals": refusals.collect::<Json>(),
        "refusal_count": report.refusal_count,
        "names": report.remarks,
        "not_examined": case.not_examined,
    })
}

fn change_json(session: &Session, case: &ExplanationInput<'_>, group: &[usize], change: &RequestChange) -> Json {
    let matched = change.matched;
    let assignments = remedies::assignments(change, &case.subjects[group[0]].ad).into_iter();
    json!({
        "change": change.text(),
        "steps": change.steps,
        "matches": matched.count,
        "free": matched.free(),
        "if_drained": matched.if_drained,
        "set": assignments.map(|(name, value)| (name, value.into())).collect::<Map<_, _>>(),
        "command": remedies::change_command(session, case, group, change),
    })
}

fn clause_json(clause: &ClauseReport) -> Json {
    let span = clause.analysis.clause.expression.span();
    let not_before = clause.failure.as_ref().and_then(|failure| failure.awaited()?.from);
    json!({
        "text": clause.text,
        "span": [span.start, span.end],
        "true": clause.counts.is_true,
        "false": clause.counts.is_false,
        "undefined": clause.counts.undefined,
        "error": clause.counts.error,
        "remaining": clause.remaining,
        "sole_blocker": clause.sole_blocker,
        "best": clause.closest_value.as_ref().map(value_json),
        "best_if_drained": clause.closest_if_drained.as_ref().map(value_json),
        "not_before": not_before.map(|seconds| json!({ "seconds": seconds, "time": iso_moment(seconds) })),
    })
}

/// Returns what the accounting says of a limit: what is used of it, and of how much.
pub fn limit_json(limit: &AccountingLimit) -> Json {
    let [mut quota, mut priority, mut needed] = [None; 3];
    let (name, [used, given, maximum], unit) = match limit {
        AccountingLimit::Group(of) => {
            quota = Some(of.quota);
            (&of.group, [of.usage, of.given, of.maximum], "weight")
        }
        AccountingLimit::Ceiling(of) | AccountingLimit::Share(of) => {
            priority = Some(of.priority);
            (&of.submitter, [of.usage, of.given, of.maximum], "weight")
        }
        AccountingLimit::Concurrency(of) => {
            needed = Some(of.needed);
            (&of.name, [of.used, of.given, of.maximum], "units")
        }
        _ => return Json::Null,
    };
    json!({
        "kind": Cause::from(limit).identifier(), "name": name, "used": used, "given": given, "maximum": maximum,
        "unit": unit, "quota": quota, "priority": priority, "needed": needed, "permanent": limit.is_permanent(),
    })
}

fn job_json(job: &JobReport) -> Json {
    json!({
        "state": job.state.word(),
        "hold_reason": job.hold.as_ref().map(|hold| &hold.text),
        "hold_codes": job.hold.as_ref().map(|hold| hold.codes),
        "factory": job.factory.as_ref().map(|factory| json!({
            "mode": factory.mode.word(), "reason": factory.reason, "made": factory.made, "total": factory.total,
            "limit": factory.limit, "max_idle": factory.max_idle,
        })),
        "ending": job.ending,
        "slot": job.slot,
        "last_rejection": job.last_rejection.as_ref().map(|last| &last.reason),
        "last_rejection_time": job.last_rejection.as_ref().and_then(|last| last.time),
        "concurrency_limits": job.concurrency_limits,
        "policies": job.outlook.as_ref().map(outlook_json),
        "circumstances": job.circumstances.iter().map(|known| json!({
            "kind": known.kind, "text": known.predicate, "decisive": known.is_decisive,
        })).collect::<Json>(),
        "schedd": job.schedd.as_ref().map(|answer| match answer {
            ScheddAnswer::Accepts => json!({ "accepts": true, "why": null }),
            ScheddAnswer::RefusedByJob(why) | ScheddAnswer::Refuses(why) => json!({ "accepts": false, "why": why }),
        }),
    })
}

/// Returns what the policies of a job will do.
fn outlook_json(outlook: &JobOutlook) -> Json {
    let moment = |seconds: i64| json!({ "seconds": seconds, "time": iso_moment(seconds) });
    let policy = |policy: &PolicyOutlook| {
        let (when, from, is_sampled) = match policy.moment {
            PolicyMoment::Now => ("now", Some(outlook.now), false),
            PolicyMoment::From(from, is_sampled) => ("later", Some(from), is_sampled),
            PolicyMoment::Unknown(from) => ("unknown", Some(from), false),
            PolicyMoment::AtExit => ("exit", None, false),
            PolicyMoment::Never => ("never", None, false),
        };
        let (fault, undefined) = match &policy.fault {
            Some(PolicyGap::Undefined(names)) => (Some("undefined"), names.as_slice()),
            Some(PolicyGap::Error) => (Some("error"), [].as_slice()),
            None => (None, [].as_slice()),
        };
        json!({
            "name": policy.name, "line": policy.line, "effect": policy.effect.as_str(), "when": when,
            "from": from.map(moment), "sampled": is_sampled, "part": policy.part, "fault": fault, "undefined": undefined,
        })
    };
    let done = |effect: &PolicyEffect| {
        json!({
            "name": effect.knob, "effect": effect.kind.as_str(), "code": effect.code, "subcode": effect.subcode,
            "reason": effect.told_reason(),
        })
    };
    let foreseen = |foreseen: &ForeseenEffect| json!({ "from": moment(foreseen.from), "sampled": foreseen.is_sampled, "does": done(&foreseen.effect) });
    json!({
        "interval": outlook.interval,
        "policies": outlook.policies.iter().map(policy).collect::<Json>(),
        "course": outlook.course.iter().map(foreseen).collect::<Json>(),
        "after_success": outlook.after_success.as_ref().map(done),
    })
}
