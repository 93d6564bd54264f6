//! Selection of the changes that are worth advising. A change that makes a request match is not advised if its author
//! cannot apply it, such as a job with half the memory that it needs.

use crate::ad::{Ad, BinaryOperator, Dialect, Expression, ExpressionKind, Name, UnaryOperator, Value};
use crate::constraint::ClauseComparison;
use crate::eval::{FreeNames, VolatileInputs};
use crate::explain::admission::is_owners_matter;
use crate::explain::clause_analysis::ClauseAnalysis;
use crate::explain::clauses::parenthesized;
use crate::explain::distance::as_number;
use crate::explain::evaluation::OfferTable;
use crate::explain::report::ClauseReport;
use crate::explain::request_analysis::RequestAnalysis;
use crate::lint;
use crate::protocol::{TOTAL_SLOT_PREFIX, evaluate_attribute, requested_resource, words};

use super::edit::RequestEdit;
use super::search::RequestChange;

/// The attributes of slots that tell for which programs they are. A comparison of one is never dropped.
const SYSTEM_ATTRIBUTES: [&str; 3] = ["Arch", "Microarch", "OpSys"];

/// The resources of slots.
const RESOURCE_ATTRIBUTES: [&str; 4] = ["Cpus", "Memory", "Disk", "GPUs"];

/// The prefixes of attributes of slots that tell how much there is of a resource in all.
const TOTAL_PREFIXES: [&str; 3] = ["TotalSlot", "Total", "Detected"];

/// Minimum share of a requested amount that advice keeps. A job that needs 64 GB cannot run with 8 GB.
const MIN_KEPT_SHARE: f64 = 0.5;

/// Features of slots that a job needs if it asks for them. A clause that reads one is not given up.
const FEATURES: &str = "AvailableGPUs, GPUs, HasCheckpointing, HasContainer, HasDocker, HasDockerURL, HasEncryptExecuteDirectory, \
    HasFileTransfer, HasFileTransferPluginMethods, HasJava, HasJobDeferral, HasMPI, HasPerFileEncryption, HasReconnect, \
    HasRemoteSyscalls, HasSandboxImage, HasSIF, HasSingularity, HasTransferInputRemaps, HasURLFileTransfer, \
    HasUserNamespaces, HasVM";

/// The places where a job's files are. Without a shared file system, file transfer is the remedy.
const PLACES: [&str; 2] = ["FileSystemDomain", "UidDomain"];

/// The attributes of slots that name a machine, and the ends of names of those that name a site or a cluster. A job that
/// asks for one has its reasons.
const NAMES_OF_PLACES: [&str; 3] = ["Machine", "Name", "UtsnameNodename"];
const ENDS_OF_PLACES: [&str; 7] =
    ["Site", "SiteName", "ResourceName", "ClusterName", "Cluster", "HostName", "PoolName"];

/// Whether an attribute of slots names a machine, a site or a cluster.
pub fn names_place(name: &Name) -> bool {
    let name_text = name.as_str();
    let ends_with = |end: &&str| {
        let start = name_text.len().checked_sub(end.len());
        start.and_then(|start| name_text.get(start..)).is_some_and(|found| found.eq_ignore_ascii_case(end))
    };
    is_one_of(name, &NAMES_OF_PLACES) || ENDS_OF_PLACES.iter().any(ends_with)
}

/// Whether a clause keeps the job away from something, rather than asking for it.
fn is_exclusion(clause: &Expression) -> bool {
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
        is_one_of(name, &SYSTEM_ATTRIBUTES) || is_one_of(name, &PLACES) || words(FEATURES).any(|known| name.is(known))
    };
    let is_wanted_place = |clause: &Expression, name: &Name| names_place(name) && !is_exclusion(clause);
    let read = |clause: &Expression| {
        let mentions = FreeNames::of(clause, dialect);
        mentions.theirs.iter().chain(&mentions.unqualified).cloned().collect::<Vec<Name>>()
    };
    match edit {
        RequestEdit::Drop { clause } => read(clause).iter().any(|name| needed(&name) || is_wanted_place(clause, name)),
        RequestEdit::Rewrite { clause, to } => {
            let kept = read(to);
            let is_place = |name: &Name| is_one_of(name, &PLACES);
            let is_lost = |name: &Name| needed(&name) && !kept.contains(name);
            let names = read(clause);
            // A misspelt feature may become the one that is meant.
            let is_renamed = kept.iter().any(|name| !names.contains(name));
            names.iter().any(|name| is_place(name) || is_lost(name) && !is_renamed)
        }
        RequestEdit::Set { name, from, to } => {
            let text = |value: &Value| match value {
                Value::String(text) => text.to_str().into_owned(),
                other => other.to_string(),
            };
            let values = from.as_ref().and_then(Expression::as_literal).zip(to.as_literal());
            is_owners_matter(name) && !values.is_some_and(|(from, to)| text(from).eq_ignore_ascii_case(&text(to)))
        }
        RequestEdit::Define { name } | RequestEdit::Remove { name, .. } => is_owners_matter(name),
        RequestEdit::DropPorts { .. } => false,
    }
}

/// Whether an edit changes a clause that reads the clock, or a value that only such clauses read. These clauses come true by
/// themselves, or say when the job may run. `timed` are the clauses for which time decides.
pub fn is_of_clock(edit: &RequestEdit, timed: &[&ClauseAnalysis]) -> bool {
    let mut timed = timed.iter();
    let means_clock = |clause: &Expression| {
        clause.parts().any(|part| match part.kind() {
            ExpressionKind::Attribute(name) | ExpressionKind::Select(_, name) => lint::is_mistaken_clock_name(name),
            _ => false,
        })
    };
    match edit {
        RequestEdit::Drop { clause } if means_clock(clause) => true,
        RequestEdit::Drop { clause } | RequestEdit::Rewrite { clause, .. } => {
            VolatileInputs::of(clause).clock || timed.any(|known| known.clause.expression.ptr_eq(clause))
        }
        RequestEdit::Set { name, .. } | RequestEdit::Define { name } | RequestEdit::Remove { name, .. } => {
            timed.any(|known| known.request_attributes.contains(name) || known.missing_own.contains(name))
        }
        RequestEdit::DropPorts { .. } => false,
    }
}

/// The units to which requests for what is left of a divided slot are rounded down: MiB of memory, KiB of disk.
const LEFTOVER_UNITS: [(&str, i64); 2] = [("Memory", 1024), ("Disk", 1_048_576)];

/// Returns the amount of a resource that an offer has, as an expression. What jobs leave of the memory and the disk of a
/// partitionable slot is rounded down.
pub fn lasting_amount(resource: &Name, dialect: Dialect) -> Expression {
    let [_, other] = dialect.side_names();
    let of_offer = |name: &str| Expression::select(Expression::attribute(other), Name::new(name));
    let amount = of_offer(resource.as_str());
    let unit = LEFTOVER_UNITS.iter().find(|(known, _)| dialect.is_condor() && resource.is(known));
    let Some((_, unit)) = unit else { return amount };
    let unit = || Expression::literal(Value::Integer(*unit));
    let of = |operator, left, right| Expression::binary(operator, left, right);
    let total = of_offer(&format!("{TOTAL_SLOT_PREFIX}{resource}"));
    let is_divided = of(BinaryOperator::Greater, total, amount.clone());
    let is_partitionable =
        of(BinaryOperator::Is, of_offer("PartitionableSlot"), Expression::literal(Value::Boolean(true)));
    let is_left = of(
        BinaryOperator::And,
        is_partitionable,
        of(BinaryOperator::Is, parenthesized(&is_divided), Expression::literal(Value::Boolean(true))),
    );
    let rounded = of(BinaryOperator::Multiply, of(BinaryOperator::Divide, amount.clone(), unit()), unit());
    ExpressionKind::Conditional(is_left, rounded, amount).into()
}

/// Whether an edit fits a request to what jobs happen to leave of a partitionable slot: by the next cycle it is another
/// amount.
fn is_fitted_to_leftover(edit: &RequestEdit, table: &OfferTable, analysis: &RequestAnalysis) -> bool {
    let RequestEdit::Set { name, to, .. } = edit else { return false };
    let Some(resource) = requested_resource(name).filter(|_| table.context.dialect.is_condor()) else { return false };
    let unit = LEFTOVER_UNITS.iter().find(|(known, _)| resource.is(known));
    let (Some((_, unit)), Some(Value::Integer(amount))) = (unit, to.as_literal()) else { return false };
    if amount % unit == 0 {
        return false;
    }
    let of_slot = |name: Name| {
        let [_, other] = table.context.dialect.side_names();
        let attribute = Expression::select(Expression::attribute(other), name);
        table.expression_values(&analysis.request, &attribute)
    };
    let total = Name::new(&format!("{TOTAL_SLOT_PREFIX}{resource}"));
    let [left, total, kind] = [resource, total, Name::new("PartitionableSlot")].map(of_slot);
    (0..table.row_count()).any(|row| {
        left.value(row) == &Value::Integer(*amount)
            && kind.value(row) == &Value::Boolean(true)
            && as_number(total.value(row)).zip(as_number(left.value(row))).is_some_and(|(total, left)| total > left)
    })
}

/// Returns the verified changes of the request of `analysis` that are worth telling, those to less than half of a requested
/// amount last: they show how much is available. Leaves out a request that matches no more offers than one nearer to the
/// original, one for more of several resources, and a sacrifice for a single slot that is not free.
pub fn worth_telling(
    changes: Vec<RequestChange>,
    table: &OfferTable,
    analysis: &RequestAnalysis,
) -> Vec<RequestChange> {
    let mut found: Vec<RequestChange> = Vec::new();
    for mut change in changes {
        if change.edits.iter().any(|edit| is_fitted_to_leftover(edit, table, analysis)) {
            continue;
        }
        let is_dominated = found.iter().any(|known| is_nearer_request(known, &change));
        let gives_up = !change.edits.iter().all(|edit| corrects(edit, analysis));
        let is_of_use = !gives_up || !gains_one_used_slot(&change) && !gains_offline_slots(&change);
        if !is_dominated && !raises_several_amounts(&change, table, analysis) && is_of_use {
            change.is_far_less = change.edits.iter().any(|edit| asks_for_far_less(edit, table, analysis));
            found.push(change);
        }
    }
    found.sort_by_key(|change| change.is_far_less);
    found
}

/// Whether `known` sets the same attribute as `change` does, to an amount nearer to what the request asks for: a larger one, or
/// a smaller one if it asks for nothing; and matches as many offers and as many free slots.
fn is_nearer_request(known: &RequestChange, change: &RequestChange) -> bool {
    let amount = |change: &RequestChange| match change.edits.as_slice() {
        [RequestEdit::Set { name, from, to }] if requested_resource(name).is_some() => {
            Some((name.clone(), from.is_some(), as_number(to.as_literal()?)?))
        }
        _ => None,
    };
    let amounts = amount(known).zip(amount(change));
    known.matched.count >= change.matched.count
        && known.matched.free() >= change.matched.free()
        && amounts.is_some_and(|((known, is_asked, one), (name, _, other))| {
            known == name && if is_asked { one > other } else { one < other }
        })
}

/// Whether a change asks for more of several resources: the job would take what it does not need, to fit one kind of slot.
fn raises_several_amounts(change: &RequestChange, table: &OfferTable, analysis: &RequestAnalysis) -> bool {
    let raises = |edit: &&RequestEdit| {
        let RequestEdit::Set { name, to, .. } = edit else { return false };
        let wanted = evaluate_attribute(&analysis.request.ad, name, &table.context);
        let numbers = wanted.and_then(|wanted| as_number(&wanted)).zip(to.as_literal().and_then(as_number));
        requested_resource(name).is_some() && numbers.is_some_and(|(wanted, to)| to > wanted)
    };
    change.edits.iter().filter(raises).count() > 1
}

/// Whether an edit corrects a mistake, and gives nothing up. A lower bound of a number gives something up.
pub fn corrects(edit: &RequestEdit, analysis: &RequestAnalysis) -> bool {
    match edit {
        RequestEdit::Define { .. } => true,
        RequestEdit::Rewrite { clause, to } => {
            let known = analysis.clauses.iter().find(|known| known.analysis.clause.expression.ptr_eq(clause));
            let bound = known.and_then(|known| known.analysis.comparison.as_ref()).map(|comparison| &comparison.bound);
            let to = bound_of(to);
            let numbers = bound.and_then(as_number).zip(to.as_ref().and_then(as_number));
            numbers.is_none_or(|(from, to)| from.total_cmp(&to).is_eq())
        }
        _ => false,
    }
}

/// Whether a change gains a single slot, which is not free: until it is free again, other jobs may have it.
fn gains_one_used_slot(change: &RequestChange) -> bool {
    change.matched.count == 1 && change.matched.free() == Some(0)
}

/// Whether a change gains only slots of machines that hibernate.
fn gains_offline_slots(change: &RequestChange) -> bool {
    change.matched.states.is_some_and(|states| states.offline > 0 && states.offline == states.all())
}

/// Whether an edit leaves less than half of an amount that the request asks for.
fn asks_for_far_less(edit: &RequestEdit, table: &OfferTable, analysis: &RequestAnalysis) -> bool {
    let amounts = match edit {
        RequestEdit::Set { name, to, .. } if requested_resource(name).is_some() => {
            let wanted = evaluate_attribute(&analysis.request.ad, name, &table.context);
            wanted.zip(to.as_literal().cloned())
        }
        RequestEdit::Rewrite { clause, to } if table.context.dialect.is_condor() => {
            let is_clause = |known: &&ClauseReport| known.analysis.clause.expression.ptr_eq(clause);
            let comparison =
                analysis.clauses.iter().find(is_clause).and_then(|known| known.analysis.comparison.as_ref());
            comparison
                .filter(|comparison| demands_amount(comparison))
                .map(|known| known.bound.clone())
                .zip(bound_of(to))
        }
        _ => None,
    };
    let numbers = amounts.and_then(|(wanted, to)| as_number(&wanted).zip(as_number(&to)));
    numbers.is_some_and(|(wanted, to)| to < wanted * MIN_KEPT_SHARE)
}

/// Returns the literal of a comparison.
fn bound_of(comparison: &Expression) -> Option<Value> {
    let ExpressionKind::Binary(_, left, right) = comparison.without_parentheses().kind() else { return None };
    right.as_literal().or_else(|| left.as_literal()).cloned()
}

/// Whether a comparison demands a minimum amount of a resource.
fn demands_amount(comparison: &ClauseComparison) -> bool {
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

/// Whether a value is none of the resource of which a comparison demands an amount: a job that asks for GPUs needs some.
pub fn is_none_of_amount(comparison: &ClauseComparison, value: &Value) -> bool {
    demands_amount(comparison) && as_number(value).is_some_and(|amount| amount <= 0.0)
}

/// Whether a job needs what a clause demands: a requested resource, or the system that the job was built for. Dropping such
/// a clause is not advised. If `has_fix`, the clause can be changed instead; then a minimum amount of a resource counts as
/// needed, too. A job that asks for GPUs needs them in any case, if slots have any.
pub fn must_keep_clause(clause: &ClauseReport, table: &OfferTable, has_fix: bool) -> bool {
    let analysis = &clause.analysis;
    let asks = |name: &Name| requested_resource(name).is_some_and(|resource| table.offers_with(&resource) > 0);
    let compares = analysis.comparison.as_ref().is_some_and(|comparison| {
        comparison.attribute().is_some_and(|name| match comparison.operator {
            BinaryOperator::Equal | BinaryOperator::Is => is_one_of(name, &SYSTEM_ATTRIBUTES),
            BinaryOperator::Greater | BinaryOperator::GreaterEqual => {
                let is_needed = has_fix || name.is("GPUs") && table.offers_with(name) > 0;
                is_needed && is_one_of(name, &RESOURCE_ATTRIBUTES)
            }
            _ => false,
        })
    });
    analysis.request_attributes.iter().any(asks) || compares
}

/// Whether an edit gives the ad of a machine more of a resource, or lets it give away more than it has.
pub fn exceeds_machine(edit: &RequestEdit, ad: &Ad, dialect: Dialect) -> bool {
    let is_resource = |name: &Name| is_one_of(name, &RESOURCE_ATTRIBUTES);
    is_machine(ad)
        && match edit {
            RequestEdit::Set { name, .. } => is_resource(name),
            RequestEdit::Drop { clause } => {
                let mentions = FreeNames::of(clause, dialect);
                mentions.mine.iter().chain(&mentions.unqualified).any(is_resource)
            }
            _ => false,
        }
}

/// Whether an ad tells that it is of a machine, as HTCondor's do.
fn is_machine(ad: &Ad) -> bool {
    let kind = ad.get(&Name::new("MyType")).and_then(Expression::as_literal);
    matches!(kind, Some(Value::String(kind)) if kind.to_str().eq_ignore_ascii_case("Machine"))
}

fn is_one_of(name: &Name, names: &[&str]) -> bool {
    names.iter().any(|known| name.is(known))
}

#[cfg(test)]
mod tests {
    use super::{RequestEdit, is_never_proposed};
    use crate::ad::{Dialect, Expression, Name};
    use crate::syntax::{ParseOptions, parse_expression};

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
            (drop("TARGET.GPUs_DeviceName == \"a\""), false),
            (drop("TARGET.HasMatlab"), false),
            (drop("MY.HasDocker"), false),
            (drop("TARGET.Memory > 5"), false),
            (rewrite("TARGET.Arch == \"ARM64\"", "TARGET.Arch == \"aarch64\""), false),
            (rewrite("TARGET.Arch == \"X86_64\" && Memory > 5", "Memory > 5"), true),
            (rewrite("TARGET.FileSystemDomain == \"a\"", "TARGET.FileSystemDomain == \"b\""), true),
            (set("WantLargeMem", None, "true"), true),
            (set("WantLargeMem", Some("false"), "true"), true),
            (set("WantLargeMem", Some("\"true\""), "true"), false),
            (set("Scheduler", None, "\"DedicatedScheduler@a\""), true),
            (set("RequestMemory", Some("4096"), "2048"), false),
            (RequestEdit::Define { name: Name::new("WantFlocking") }, true),
            (RequestEdit::Define { name: Name::new("ProjectName") }, false),
        ] {
            assert_eq!(is_never_proposed(&edit, Dialect::Condor), is_never, "{edit:?}");
            assert!(!is_never_proposed(&edit, Dialect::Classad), "{edit:?}");
        }
    }
}
