//! What a job needs: what no advice gives up, and the least amount of a resource that it can do with.

use crate::ad::{Ad, BinaryOperator, Dialect, Expression, ExpressionKind, Name, UnaryOperator, Value};
use crate::constraint::{ClauseComparison, ClauseOperand};
use crate::eval::{Context, FreeNames};
use crate::explain::admission::is_owners_matter;
use crate::explain::clause_report::ClauseReport;
use crate::explain::distance::as_number;
use crate::explain::evaluation::OfferTable;
use crate::explain::failure_reason::FailureReason;
use crate::explain::features::names_feature;
use crate::explain::places::names_place;
use crate::explain::request_analysis::RequestAnalysis;
use crate::protocol::{RESOURCE_ATTRIBUTES, evaluate_attribute, is_set_by_run, requested_resource, words};

use super::edit::RequestEdit;

/// The attributes of slots that tell for which programs they are. A comparison of one is never dropped.
pub const SYSTEM_ATTRIBUTES: [&str; 3] = ["Arch", "Microarch", "OpSys"];

/// The prefixes of attributes of slots that tell how much there is of a resource in all.
const TOTAL_PREFIXES: [&str; 3] = ["TotalSlot", "Total", "Detected"];

/// The starts of the names of attributes of slots that tell of the GPUs or the software for which the job was written.
const STARTS_OF_NEEDS: [&str; 5] = ["CUDA", "CVMFS", "GPUs", "HAS_CVMFS", "Java"];

/// Resources of slots that a job needs if it asks for them.
const DEVICES: [&str; 2] = ["AvailableGPUs", "GPUs"];

/// What a job says of how long it runs. Its author alone knows whether it is shorter.
pub const DURATION: &str = "JobDurationCategory";

/// What a job runs and for how long. It is not taken from the job for a slot that does not admit it.
const PROGRAMS: [&str; 6] = ["Cmd", "ContainerImage", "DockerImage", DURATION, "SingularityImage", "TransferInput"];

/// The places where a job's files are. Without a shared file system, file transfer is the remedy.
const PLACES: [&str; 2] = ["FileSystemDomain", "UidDomain"];

/// Whether an attribute of slots tells for which programs they are: their architecture, or their operating system, as
/// `OSGVO_OS_STRING` does.
pub fn names_system(name: &Name) -> bool {
    let is_of_os = || name.as_str().to_ascii_uppercase().contains("_OS_");
    name.starts_with("OpSys") || is_one_of(name, &SYSTEM_ATTRIBUTES) || is_of_os()
}

/// The ends of names of attributes whose numbers tell which one it is: `CpuModelNumber`, `CpuFamily`.
const ENDS_OF_KINDS: [&str; 3] = ["Family", "Id", "Number"];

/// Whether the numbers of an attribute are no amounts, so that a smaller one is another, and not less.
pub fn names_kind(name: &Name) -> bool {
    ENDS_OF_KINDS.iter().any(|end| name.ends_with(end))
}

/// Whether an attribute of slots is the system itself, and no version of it: `Arch`, `OpSys`.
pub fn is_system_attribute(name: &Name) -> bool {
    is_one_of(name, &SYSTEM_ATTRIBUTES)
}

/// Whether a part of a clause asks for a feature by comparing it with `true`.
fn demands_feature(clause: &Expression) -> bool {
    let names = |operand: &Expression| match ClauseOperand::of(operand) {
        Some(ClauseOperand::Other(name) | ClauseOperand::Unqualified(name)) => names_feature(name),
        _ => false,
    };
    clause.parts().any(|part| match part.kind() {
        ExpressionKind::Binary(BinaryOperator::Equal | BinaryOperator::Is, left, right) => {
            [(left, right), (right, left)].into_iter().any(|(operand, bound)| {
                names(operand) && bound.without_parentheses().as_literal() == Some(&Value::Boolean(true))
            })
        }
        _ => false,
    })
}

/// Whether a clause keeps the job away from something, rather than asking for it.
pub fn is_exclusion(clause: &Expression) -> bool {
    match clause.without_parentheses().kind() {
        ExpressionKind::Unary(UnaryOperator::Not, _)
        | ExpressionKind::Binary(BinaryOperator::NotEqual | BinaryOperator::Isnt, ..) => true,
        ExpressionKind::Binary(BinaryOperator::Or | BinaryOperator::And, left, right) => {
            is_exclusion(left) && is_exclusion(right)
        }
        _ => false,
    }
}

/// Whether an edit is never proposed: it gives up the system, a feature or the place that the job needs, or it claims a
/// purpose for which slots are kept. An attribute that has the wrong type may get the right one.
pub fn is_never_proposed(edit: &RequestEdit, dialect: Dialect) -> bool {
    if !dialect.is_condor() {
        return false;
    }
    let needed = |name: &&Name| {
        is_one_of(name, &SYSTEM_ATTRIBUTES)
            || is_one_of(name, &PLACES)
            || is_one_of(name, &DEVICES)
            || names_feature(name)
    };
    let is_wanted_place = |clause: &Expression, name: &Name| names_place(name) && !is_exclusion(clause);
    let read = |clause: &Expression| {
        let mentions = FreeNames::of(clause, dialect);
        mentions.theirs.iter().chain(&mentions.unqualified).cloned().collect::<Vec<Name>>()
    };
    match edit {
        RequestEdit::Drop { clause } => {
            let is_system =
                |name: &Name| names_system(name) || STARTS_OF_NEEDS.iter().any(|start| name.starts_with(start));
            let is_kept =
                |name: &Name| needed(&name) || is_system(name) || is_set_by_run(name) || is_wanted_place(clause, name);
            // A limit of its own runs keeps a job that fails from starting again and again.
            let counts_runs = |name: &Name| words(COUNTS_OF_RUNS).any(|known| name.is(known));
            let own = FreeNames::of(clause, dialect);
            clause.as_literal().is_some()
                || read(clause).iter().any(is_kept)
                || own.mine.iter().chain(&own.unqualified).any(counts_runs)
        }
        RequestEdit::Rewrite { clause, to } => {
            let kept = read(to);
            let is_place = |name: &Name| is_one_of(name, &PLACES);
            let is_lost = |name: &Name| needed(&name) && !kept.contains(name);
            let names = read(clause);
            let turns_off = demands_feature(clause) && !demands_feature(to);
            // A misspelt feature may become the one that is meant.
            let is_renamed = kept.iter().any(|name| !names.contains(name));
            turns_off || names.iter().any(|name| is_place(name) || is_lost(name) && !is_renamed)
        }
        RequestEdit::Set { name, from, to } => {
            let text = |value: &Value| match value {
                Value::String(text) => text.to_str().into_owned(),
                other => other.to_string(),
            };
            let values = from.as_ref().and_then(Expression::as_literal).zip(to.as_literal());
            let is_measured = MEASURED.iter().any(|(_, usage, _)| name.is(usage)) || name.is("ImageSize");
            is_measured
                || (is_owners_matter(name) || is_one_of(name, &PLACES))
                    && !values.is_some_and(|(from, to)| text(from).eq_ignore_ascii_case(&text(to)))
        }
        RequestEdit::Define { name } => is_owners_matter(name),
        RequestEdit::Remove { name, .. } => is_owners_matter(name) || is_one_of(name, &PROGRAMS),
        RequestEdit::DropPorts { .. } => false,
    }
}

/// Whether a comparison demands a minimum amount of a resource.
pub fn demands_amount(comparison: &ClauseComparison) -> bool {
    let resource = |name: &Name| {
        let totals = TOTAL_PREFIXES.iter().filter_map(|prefix| {
            let (found, resource) = name.as_str().split_at_checked(prefix.len())?;
            found.eq_ignore_ascii_case(prefix).then(|| Name::new(resource))
        });
        is_one_of(name, &RESOURCE_ATTRIBUTES) || totals.into_iter().any(|name| is_one_of(&name, &RESOURCE_ATTRIBUTES))
    };
    matches!(comparison.operator, BinaryOperator::Greater | BinaryOperator::GreaterEqual)
        && comparison.attribute().is_some_and(resource)
}

/// Whether a lower bound is relaxed to nothing, so that the clause asks for nothing any more, or a formula of what the request asks
/// for to a number that some slot has.
pub fn asks_for_nothing(edit: &RequestEdit, analysis: &RequestAnalysis, dialect: Dialect) -> bool {
    use BinaryOperator::{Greater, GreaterEqual};
    let RequestEdit::Rewrite { clause, to } = edit else { return false };
    let known = analysis.clauses.iter().find(|known| known.analysis.clause.expression.ptr_eq(clause));
    let comparison = known.and_then(|known| known.analysis.comparison.as_ref());
    let comparison = comparison.filter(|of| matches!(of.operator, Greater | GreaterEqual) && dialect.is_condor());
    let Some((known, comparison)) = known.zip(comparison) else { return false };
    let bound = match to.without_parentheses().kind() {
        ExpressionKind::Binary(_, left, right) => right.as_literal().or_else(|| left.as_literal()).and_then(as_number),
        _ => None,
    };
    let is_formula = known.analysis.request_attributes.iter().any(|name| requested_resource(name).is_some());
    let is_lower = bound.zip(as_number(&comparison.bound)).is_some_and(|(to, from)| to < from);
    is_lower && (is_formula || bound.is_some_and(|bound| bound <= 0.0))
}

/// Whether a value is none of the resource of which a comparison demands an amount: a job that asks for GPUs needs some.
pub fn is_none_of_amount(comparison: &ClauseComparison, value: &Value) -> bool {
    demands_amount(comparison) && as_number(value).is_some_and(|amount| amount <= 0.0)
}

/// Whether a job needs what a clause demands: an amount of a resource, or the system that the job was built for; and whether
/// the clause lacks an attribute of its own ad. Dropping such a clause is not advised.
pub fn must_keep_clause(clause: &ClauseReport, table: &OfferTable) -> bool {
    let analysis = &clause.analysis;
    let asks = |name: &Name| requested_resource(name).is_some_and(|resource| table.offers_with(&resource) > 0);
    let compares = analysis.comparison.as_ref().is_some_and(|comparison| {
        let is_equality = matches!(comparison.operator, BinaryOperator::Equal | BinaryOperator::Is);
        let is_system = |name: &Name| is_one_of(name, &SYSTEM_ATTRIBUTES);
        is_equality && comparison.attribute().is_some_and(is_system)
            || demands_amount(comparison) && table.context.dialect.is_condor()
    });
    // What a job asks for is an attribute of slots by mistake.
    let misreads = |name: &Name| requested_resource(name).is_some() && table.offers_with(name) == 0;
    let is_mistaken = matches!(clause.failure, Some(FailureReason::MissingOwnAttribute(..)))
        || analysis.offer_attributes.iter().any(misreads);
    let is_mistaken = is_mistaken && table.context.dialect.is_condor();
    analysis.request_attributes.iter().any(asks) || compares || is_mistaken
}

/// Whether a clause is an unmet bound of which the offers tell what can be had: a milder one is for its author to choose.
pub fn has_milder_bound(clause: &ClauseReport) -> bool {
    use BinaryOperator::{Greater, GreaterEqual, Less, LessEqual};
    let comparison = clause.analysis.comparison.as_ref();
    let is_bound = comparison.is_some_and(|of| matches!(of.operator, Greater | GreaterEqual | Less | LessEqual));
    // A lower bound of nothing asks for nothing.
    let is_lower = comparison.is_some_and(|of| matches!(of.operator, Greater | GreaterEqual));
    let closest = clause.closest_value.as_ref().and_then(as_number);
    is_bound && clause.closest_value.is_some() && !(is_lower && closest.is_some_and(|closest| closest <= 0.0))
}

/// What HTCondor has measured of a job, with the attribute that asks for as much, and how many units of it are one of that.
const MEASURED: [(&str, &str, f64); 3] = [
    ("RequestMemory", "MemoryUsage", 1.0),
    ("RequestMemory", "ResidentSetSize", 1024.0),
    ("RequestDisk", "DiskUsage", 1.0),
];

/// Returns the attributes of jobs that tell what was measured of them.
pub fn measured_attributes() -> impl Iterator<Item = &'static str> {
    MEASURED.into_iter().map(|(_, usage, _)| usage)
}

/// The attributes that count what has happened to a job. They are 0 when it is submitted.
const COUNTS_OF_RUNS: &str = "NumHolds, NumJobCompletions, NumJobMatches, NumJobStarts, NumRestarts, NumShadowStarts, NumSystemHolds, JobRunCount";

/// Returns the least amount with which a job can do: what it was measured to use, or what its request was before the first
/// run. `None` if neither is known.
pub fn least_needed(request: &Ad, name: &Name, context: &Context) -> Option<f64> {
    let number = |request: &Ad, name: &Name| as_number(&evaluate_attribute(request, name, context)?);
    let is_expression = request.get(name).is_some_and(|own| own.as_literal().is_none());
    let first = || {
        let zero = Expression::literal(Value::Integer(0));
        let before_runs = request.iter().filter(|attribute| !is_set_by_run(attribute.name)).map(|attribute| {
            let is_count = words(COUNTS_OF_RUNS).any(|known| attribute.name.is(known));
            (attribute.name.clone(), if is_count { zero.clone() } else { attribute.expression.clone() })
        });
        number(&before_runs.collect(), name)
    };
    measured_usage(request, name, context).into_iter().chain(is_expression.then(first).flatten()).reduce(f64::max)
}

/// Returns the amount that a job was measured to use of what it asks for. `None` if it is not known.
fn measured_usage(request: &Ad, name: &Name, context: &Context) -> Option<f64> {
    let measured = MEASURED.iter().filter(|(of, ..)| context.dialect.is_condor() && name.is(of));
    let usage = |usage: &str| as_number(&evaluate_attribute(request, &Name::new(usage), context)?);
    measured.filter_map(|(_, attribute, units)| Some(usage(attribute)? / units)).reduce(f64::max)
}

/// Returns what a job needs that was measured to use less than its expression asks for: a quarter more than it used, as a
/// multiple of 1024, and no less than it asked for at first. `None` if the request is a literal, or if nothing was measured.
#[expect(clippy::cast_possible_truncation, reason = "the number is below 2^53")]
pub fn enough(request: &Ad, name: &Name, context: &Context) -> Option<Value> {
    const MARGIN: f64 = 1.25;
    const UNIT: f64 = 1024.0;
    request.get(name).filter(|own| own.as_literal().is_none())?;
    let enough = (measured_usage(request, name, context)? * MARGIN / UNIT).ceil() * UNIT;
    let enough = least_needed(request, name, context).map_or(enough, |least| enough.max(least));
    (enough > 0.0 && enough < 9e15).then_some(Value::Integer(enough as i64))
}

/// Whether an edit asks for more of a resource than a job needs, as far as that was measured.
pub fn exceeds_need(edit: &RequestEdit, request: &Ad, context: &Context) -> bool {
    let RequestEdit::Set { name, to, .. } = edit else { return false };
    let enough = requested_resource(name).and_then(|_| as_number(&enough(request, name, context)?));
    to.as_literal().and_then(as_number).zip(enough).is_some_and(|(to, enough)| to > enough)
}

/// Whether an edit asks for less of a resource than a job can do with.
pub fn is_too_small(edit: &RequestEdit, request: &Ad, context: &Context) -> bool {
    let RequestEdit::Set { name, to, .. } = edit else { return false };
    let amount = to.as_literal().and_then(as_number).filter(|_| requested_resource(name).is_some());
    amount.zip(least_needed(request, name, context)).is_some_and(|(amount, least)| amount < least)
}

pub fn is_one_of(name: &Name, names: &[&str]) -> bool {
    names.iter().any(|known| name.is(known))
}

#[cfg(test)]
mod tests {
    use super::{
        RequestEdit, enough, exceeds_need, is_exclusion, is_never_proposed, is_too_small, least_needed, names_kind,
        names_system,
    };
    use crate::ad::{Dialect, Expression, Name, Value};
    use crate::eval::Context;
    use crate::syntax::{ParseOptions, parse_ad, parse_expression};

    #[test]
    fn the_least_with_which_a_job_can_do() {
        for (attributes, name, least) in [
            ("RequestMemory = 4096", "RequestMemory", None),
            ("RequestMemory = 4096; MemoryUsage = 900", "RequestMemory", Some(900.0)),
            ("RequestMemory = 4096; ResidentSetSize = 2048; MemoryUsage = 1", "RequestMemory", Some(2.0)),
            ("RequestMemory = MemoryUsage * 3 / 2; MemoryUsage = 900", "RequestMemory", Some(900.0)),
            ("RequestMemory = 8192 * pow(4, NumJobStarts); NumJobStarts = 3", "RequestMemory", Some(8192.0)),
            (
                "RequestMemory = ifThenElse(MemoryUsage =!= undefined, MemoryUsage * 2, 512); MemoryUsage = 9",
                "RequestMemory",
                Some(512.0),
            ),
            ("RequestDisk = DiskUsage; DiskUsage = 70", "RequestDisk", Some(70.0)),
            ("RequestCpus = 4; MemoryUsage = 900", "RequestCpus", None),
        ] {
            let ad = parse_ad(format!("[ {attributes} ]").as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
            let found = least_needed(&ad, &Name::new(name), &Context::new(Dialect::Condor));
            assert_eq!(found, least, "{attributes}");
        }
    }

    fn expression(text: &str) -> Expression {
        parse_expression(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap()
    }

    #[test]
    fn what_a_job_needs_and_what_is_kept_for_others() {
        let drop = |clause: &str| RequestEdit::Drop { clause: expression(clause) };
        let rewrite = |clause: &str, to: &str| RequestEdit::Rewrite { clause: expression(clause), to: expression(to) };
        let set = |name: &str, from: Option<&str>, to: &str| RequestEdit::Set {
            name: Name::new(name),
            from: from.map(expression),
            to: expression(to),
        };
        for (edit, is_never) in [
            (drop("TARGET.Arch == \"X86_64\""), true),
            (drop("Memory > 5 || OpSys == \"LINUX\""), true),
            (drop("TARGET.HasDocker"), true),
            (drop("TARGET.FileSystemDomain == \"a\""), true),
            (drop("TARGET.Machine == \"a\""), true),
            (drop("GLIDEIN_Site =?= \"a\""), true),
            (drop("regexp(\"a\", Name)"), true),
            (drop("stringListMember(TARGET.ClusterName, \"a,b\")"), true),
            (drop("Machine != \"a\" && !regexp(\"b\", Machine)"), false),
            (drop("TARGET.GPUs_DeviceName == \"a\""), true),
            (drop("OpSysMajorVer == 9"), true),
            (drop("TARGET.OpSysLongName == \"a\""), true),
            (drop("OSG_OS_VERSION > 5"), true),
            (drop("TARGET.OSGVO_OS_STRING == \"RHEL 9\""), true),
            (drop("TARGET.Machine != MachineAttrMachine1"), true),
            (drop("TARGET.HAS_CVMFS_a"), true),
            (drop("TARGET.JavaVersion >= \"17\""), true),
            (drop("false"), true),
            (drop("TARGET.HasMatlab"), true),
            (drop("TARGET.HAS_R == true"), true),
            (drop("TARGET.Hash == 5"), false),
            (drop("NumJobStarts < 3"), true),
            (drop("MY.HasDocker"), false),
            (drop("TARGET.Memory > 5"), false),
            (rewrite("TARGET.Arch == \"ARM64\"", "TARGET.Arch == \"aarch64\""), false),
            (rewrite("TARGET.Arch == \"X86_64\" && Memory > 5", "Memory > 5"), true),
            (rewrite("TARGET.HAS_R == true", "TARGET.HAS_R == false"), true),
            (rewrite("true is TARGET.HAS_R", "TARGET.HAS_R isnt true"), true),
            (rewrite("TARGET.HAS_R == true", "TARGET.HAS_R is true"), false),
            (rewrite("TARGET.HAS_R == false", "!TARGET.HAS_R"), false),
            (rewrite("TARGET.Hash == true", "TARGET.Hash"), false),
            (rewrite("TARGET.FileSystemDomain == \"a\"", "TARGET.FileSystemDomain == \"b\""), true),
            (set("WantLargeMem", None, "true"), true),
            (set("WantLargeMem", Some("false"), "true"), true),
            (set("WantLargeMem", Some("\"true\""), "true"), false),
            (set("Scheduler", None, "\"DedicatedScheduler@a\""), true),
            (set("RequestMemory", Some("4096"), "2048"), false),
            (set("ImageSize", Some("4096"), "2048"), true),
            (set("DiskUsage", Some("4096"), "2048"), true),
            (RequestEdit::Define { name: Name::new("WantFlocking") }, true),
            (RequestEdit::Define { name: Name::new("ProjectName") }, false),
        ] {
            assert_eq!(is_never_proposed(&edit, Dialect::Condor), is_never, "{edit:?}");
            assert!(!is_never_proposed(&edit, Dialect::Classad), "{edit:?}");
        }
    }

    #[test]
    fn a_quarter_more_than_was_used_is_enough() {
        let context = Context::new(Dialect::Condor);
        for (attributes, name, expected) in [
            ("RequestMemory = MemoryUsage * 2; MemoryUsage = 3276", "RequestMemory", Some(4096)),
            ("RequestMemory = MemoryUsage * 2; MemoryUsage = 3277", "RequestMemory", Some(5120)),
            ("RequestMemory = MemoryUsage * 2; MemoryUsage = 0", "RequestMemory", None),
            ("RequestMemory = 9000; MemoryUsage = 3000", "RequestMemory", None),
            ("RequestMemory = MemoryUsage * 2", "RequestMemory", None),
            ("RequestMemory = Size * 2; ResidentSetSize = 2097152; Size = 9000", "RequestMemory", Some(18000)),
            ("RequestMemory = ResidentSetSize / 512; ResidentSetSize = 2097152", "RequestMemory", Some(3072)),
            (
                "RequestMemory = ifThenElse(MemoryUsage =!= undefined, 99, 8192); MemoryUsage = 9",
                "RequestMemory",
                Some(8192),
            ),
            ("RequestDisk = DiskUsage * 3; DiskUsage = 1000", "RequestDisk", Some(3000)),
            ("RequestCpus = CpusUsage * 3; CpusUsage = 1000", "RequestCpus", None),
        ] {
            let ad = parse_ad(format!("[ {attributes} ]").as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
            let name = Name::new(name);
            assert_eq!(enough(&ad, &name, &context), expected.map(Value::Integer), "{attributes}");
            let Some(expected) = expected else { continue };
            for (to, exceeds) in [(expected - 1, false), (expected, false), (expected + 1, true)] {
                let edit = RequestEdit::Set { name: name.clone(), from: None, to: Expression::literal(to) };
                assert_eq!(exceeds_need(&edit, &ad, &context), exceeds, "{attributes}: {to}");
            }
        }
    }

    #[test]
    fn less_than_was_used_is_too_little() {
        let context = Context::new(Dialect::Condor);
        let text = b"[ RequestMemory = 5000; MemoryUsage = 3000; RequestCpus = 4; Prio = 3 ]";
        let ad = parse_ad(text, ParseOptions::new(Dialect::Condor)).unwrap();
        for (name, to, expected) in [
            ("RequestMemory", "2999", true),
            ("RequestMemory", "2999.5", true),
            ("RequestMemory", "3000", false),
            ("RequestMemory", "\"2\"", false),
            ("RequestCpus", "1", false),
            ("Prio", "1", false),
        ] {
            let edit = RequestEdit::Set { name: Name::new(name), from: None, to: expression(to) };
            assert_eq!(is_too_small(&edit, &ad, &context), expected, "{name} {to}");
            assert!(!exceeds_need(&edit, &ad, &context), "{name} {to}");
        }
        let edit = RequestEdit::Define { name: Name::new("RequestMemory") };
        assert!(!is_too_small(&edit, &ad, &context) && !exceeds_need(&edit, &ad, &context));
    }

    #[test]
    fn what_excludes_and_what_is_no_amount() {
        for (clause, expected) in [
            ("!a", true),
            ("(a != 1)", true),
            ("a =!= 1", true),
            ("a != 1 && b != 2", true),
            ("a != 1 && b == 2", false),
            ("b == 2 && a != 1", false),
            ("a != 1 || !b", true),
            ("a != 1 || b", false),
            ("-a", false),
            ("a", false),
        ] {
            assert_eq!(is_exclusion(&expression(clause)), expected, "{clause}");
        }
        for (name, is_kind, is_system) in [
            ("CpuFamily", true, false),
            ("SlotId", true, false),
            ("CpuModelNumber", true, false),
            ("Cpus", false, false),
            ("opsysandver", false, true),
            ("Microarch", false, true),
            ("OSGVO_OS_STRING", false, true),
            ("GLIDEIN_os_name", false, true),
            ("OsName", false, false),
        ] {
            let name = Name::new(name);
            assert_eq!((names_kind(&name), names_system(&name)), (is_kind, is_system), "{name}");
        }
    }
}
