//! Whole reports of jobs and small pools: `report_tests.txt` has the jobs, the slots, and what is told of them.

use std::collections::BTreeMap;
use std::fmt::{Debug, Display, Write as _};

use super::tests::{ad, report};
use super::{
    AdNames, AdReference, ClauseReport, ClosestOffer, JobReport, Narrowing, RefusalGroup, Remedies, RequestChange,
    RequestReport, RequestVerdict, ShortCauseWriter, SummaryWriter, UnmetOfferClause,
};
use crate::ad::time::local_moment;
use crate::ad::{ByteString, Dialect, Name};
use crate::eval::Context;
use crate::protocol::JobState;

/// Slots with their states as they are written.
pub(super) struct Slots<'s>(pub &'s [&'s str]);

impl AdNames for Slots<'_> {
    fn ad_name(&self, ad: AdReference) -> String {
        match ad {
            AdReference::Request(request) => format!("job{request}"),
            AdReference::Offer { offer, .. } => format!("slot{offer}"),
        }
    }

    fn slot_state(&self, offer: usize, _: Option<&ByteString>) -> Option<String> {
        let (_, state) = self.0.get(offer)?.split_once("State = \"")?;
        Some(state.split_once('"')?.0.to_ascii_lowercase().replace("unclaimed", "free"))
    }
}

/// Lines of a report, each with what it is about.
pub(super) struct Lines(pub String);

impl Lines {
    pub fn add(&mut self, label: &str, text: impl Display) {
        let text = text.to_string().replace('\n', " ");
        if !text.is_empty() {
            writeln!(self.0, "| {label}: {text}").unwrap();
        }
    }

    pub fn add_debug<T: Debug>(&mut self, label: &str, value: Option<&T>) {
        self.add(label, value.map_or_else(String::new, |value| format!("{value:?}")));
    }
}

fn names<'n>(names: impl IntoIterator<Item = &'n Name>) -> String {
    names.into_iter().map(Name::as_str).collect::<Vec<_>>().join(" ")
}

fn demand(writer: &SummaryWriter<'_>, demand: &UnmetOfferClause) -> String {
    let mut told = format!("{} ({:?})", writer.demand_phrase(demand, false), demand.outcome);
    let shared = writer.demand_phrase(demand, true);
    let marks = [
        (format!(" shared: {shared}"), !told.starts_with(&shared)),
        (" closed".to_owned(), demand.is_closed),
        (" limit".to_owned(), demand.is_limit),
        (format!(" slip: {}", demand.slip.as_deref().unwrap_or_default()), demand.slip.is_some()),
        (format!(" opens: {:?}", demand.opens.as_ref().map(|of| (of.from, of.to))), demand.opens.is_some()),
        (format!(" retired: {:?}", demand.retired), demand.retired.is_some()),
    ];
    told.extend(marks.into_iter().filter(|(_, is)| *is).map(|(mark, _)| mark));
    told
}

fn change(change: &RequestChange) -> String {
    let matched = &change.matched;
    let mut told =
        format!("{}: {} ({:?} free, {} if drained)", change.text(), matched.count, matched.free(), matched.if_drained);
    let marks = [
        (" correction", change.is_correction()),
        (" far less", change.is_far_less),
        (" worth free", change.is_worth_free),
    ];
    told.extend(marks.into_iter().filter(|(_, is)| *is).map(|(mark, _)| mark));
    told
}

fn closest(writer: &SummaryWriter<'_>, near: &ClosestOffer) -> String {
    let demands: Vec<String> = near.unmet_demands.iter().map(|of| demand(writer, of)).collect();
    format!("{} fails {:?} and demands [{}]", near.offer, near.failed_clauses, demands.join("; "))
}

fn refusal(writer: &SummaryWriter<'_>, group: &RefusalGroup) -> String {
    let further: Vec<String> = group.further.iter().map(|of| demand(writer, of)).collect();
    let (free, unwanted) =
        (if group.has_free { " free" } else { "" }, if group.is_unwanted { " unwanted" } else { "" });
    format!(
        "{}: {}, {} suitable{free}{unwanted}, such as {}; reads [{}]; further [{}]",
        demand(writer, &group.demand),
        group.offers,
        group.suitable,
        group.example,
        names(&group.attributes),
        further.join("; ")
    )
}

fn clause(writer: &SummaryWriter<'_>, clause: &ClauseReport) -> String {
    let counts = clause.counts;
    let mut told = format!(
        "{}: {} {} {} {}, {} remain, {} alone",
        clause.text,
        counts.is_true,
        counts.is_false,
        counts.undefined,
        counts.error,
        clause.remaining,
        clause.sole_blocker
    );
    if let Some(closest) = &clause.closest_value {
        write!(told, "; closest {closest}").unwrap();
    }
    if let Some(drained) = &clause.closest_if_drained {
        write!(told, ", drained {drained}").unwrap();
    }
    if let Some(own) = &clause.own_expression {
        write!(told, "; own {own:?}").unwrap();
    }
    if let Some(offered) = clause.offered() {
        let values: Vec<String> = offered
            .values
            .iter()
            .map(|of| format!("{} {} {:?} {}", of.value, of.offers, of.free, of.example))
            .collect();
        write!(
            told,
            "; {} has [{}] of {}, similar {}, likely {}, absent {}, undefined {}, other {}",
            offered.name,
            values.join(", "),
            offered.value_count,
            offered.is_similar,
            offered.likely,
            offered.absent,
            offered.undefined,
            offered.other
        )
        .unwrap();
        for (label, range) in [("range", &offered.range), ("offline", &offered.offline)] {
            if let Some(range) = range {
                write!(
                    told,
                    ", {label} {} to {} of {}, {}",
                    range.bounds[0], range.bounds[1], range.offers, range.example
                )
                .unwrap();
            }
        }
    }
    if let Some(failure) = &clause.failure {
        write!(told, "; {}", writer.failures().failure(clause, failure)).unwrap();
    }
    told
}

/// Writes all that a report tells.
fn told(job: &str, slots: &[&str]) -> String {
    let context = Context { now: Some(1_783_286_388), ..Context::new(Dialect::Condor) };
    let mut report: RequestReport = report(job, slots);
    report.job = JobReport::new(&ad(job), &context);
    if report.job.as_ref().is_some_and(|job| job.state != JobState::Idle) {
        report.verdict = RequestVerdict::NotWaiting(Box::new(report.verdict));
    }
    let names_of_slots = Slots(slots);
    let (nouns, dialect) = (["slot", "slots"], Dialect::Condor);
    let of_brevity = |brevity: u8| SummaryWriter {
        subject: "job",
        is_plural: false,
        nouns,
        names: &names_of_slots,
        dialect,
        max_clause_chars: 90,
        brevity,
    };
    let writer = of_brevity(0);
    let mut lines = Lines(String::new());
    let summary = writer.summary(&report);
    lines.add("summary", &summary);
    let brief = of_brevity(3).summary(&report);
    lines.add("brief", if brief == summary { "" } else { brief.as_str() });
    let cause = ShortCauseWriter { subject: "job", nouns, dialect }.cause(&report);
    lines.add("cause", format!("{}, {}: {}", report.verdict.as_str(), cause.id, cause.text));
    let RequestReport { offers, suitable, accepting, matches, refusal_count, suitable_refusal_count, .. } = report;
    lines.add(
        "counts",
        format!(
            "{offers} offers, {suitable} suitable, {accepting} accepting, {matches} match, {} refuse in {refusal_count} and \
             {suitable_refusal_count} groups, {} full of them",
            report.refusing(),
            report.full_refusing
        ),
    );
    let states = report.slots.map(|slots| (slots.rejected_by_request, slots.rejecting_request, slots.if_drained));
    lines.add_debug("states", states.as_ref());
    lines.add("attributes", names(&report.attributes));
    for known in report.job.iter().flat_map(|job| &job.circumstances) {
        lines.add("circumstance", writer.circumstance(known));
    }
    for phrase in Remedies(&writer).phrases(&report) {
        lines.add("to do", phrase);
    }
    for of in &report.changes {
        lines.add("change", change(of));
    }
    for of in &report.choices {
        lines.add("choice", change(of));
    }
    for of in &report.closest {
        lines.add("closest", closest(&writer, of));
    }
    lines.add_debug("near", report.near_offer().map(|near| near.offer).as_ref());
    for of in report.refusals.iter().take(4) {
        lines.add("refusal", refusal(&writer, of));
    }
    for of in &report.clauses {
        lines.add("clause", clause(&writer, of));
    }
    for of in &report.remarks {
        lines.add("remark", format!("{} {}: {}", of.kind, of.clause, of.text));
    }
    lines.add(
        "conflicts",
        if report.conflicts.sets.is_empty() { String::new() } else { format!("{:?}", report.conflicts.sets) },
    );
    lines.add_debug("narrowing", report.narrowing.as_ref().map(Narrowing::clause).as_ref());
    lines.add_debug("shortage", report.shortage.as_ref());
    lines.add_debug("own expression", report.own_expression.as_ref());
    lines.add_debug("drained", Some(&report.if_drained).filter(|slots| !slots.is_empty()));
    lines.add_debug("scarce", Some(&report.scarce).filter(|scarce| !scarce.is_empty()));
    let places = report
        .places
        .as_ref()
        .map(|places| (&places.name, places.values.iter().map(|of| &of.value).collect::<Vec<_>>()));
    lines.add_debug("places", places.as_ref());
    let corrected = report.corrected_slot.as_ref().map(|of| (&of.correction, of.offer, &of.unmet, of.demands.len()));
    lines.add_debug("corrected", corrected.as_ref());
    let example = report.conflict_example.as_ref().map(|of| (of.clause, of.offers, of.offer, of.reads.len()));
    lines.add_debug("example", example.as_ref());
    without_zone(lines.0, &format!("{job} {}", slots.join(" ")))
}

/// Writes moments as the seconds that are `written` in ads: the zone is that of the machine.
fn without_zone(told: String, written: &str) -> String {
    let numbers = written.split(|letter: char| !letter.is_ascii_digit()).filter_map(|digits| digits.parse().ok());
    let moments = numbers.filter(|number: &i64| *number > 1_000_000_000);
    moments.fold(told, |told, at| told.replace(&local_moment(at), &format!("@{at}")))
}

/// Returns a line of the document with each `$NAME` replaced.
fn expanded(line: &str, known: &BTreeMap<&str, String>) -> String {
    known.iter().rev().fold(line.to_owned(), |line, (name, text)| line.replace(&format!("${name}"), text))
}

/// Returns a document with what is told of each request and its offers.
fn rewritten(document: &str, tell: fn(&str, &[&str]) -> String) -> String {
    let (mut out, mut known, mut job, mut slots) = (String::new(), BTreeMap::new(), String::new(), Vec::new());
    let mut lines = document.lines().filter(|line| !line.starts_with('|')).peekable();
    while let Some(line) = lines.next() {
        out.push_str(line);
        out.push('\n');
        if let Some((name, text)) = line.strip_prefix('$').and_then(|line| line.split_once(": ")) {
            known.insert(name, expanded(text, &known));
        } else if let Some(text) = line.strip_prefix("job: ") {
            (job, slots) = (expanded(text, &known), Vec::new());
        } else if let Some(text) = line.strip_prefix("slot: ") {
            slots.push(expanded(text, &known));
        } else if let Some((count, text)) = line.strip_prefix("slots ").and_then(|line| line.split_once(": ")) {
            let text = expanded(text, &known);
            slots.extend((0..count.parse::<usize>().unwrap()).map(|number| text.replace('#', &number.to_string())));
        } else {
            continue;
        }
        let is_complete = lines.peek().is_none_or(|next| next.is_empty());
        if is_complete && !job.is_empty() {
            let slots: Vec<&str> = slots.iter().map(String::as_str).collect();
            out.push_str(&tell(&std::mem::take(&mut job), &slots));
        }
    }
    out
}

/// Compares a document in this directory with what is told. With `BLESS=1` in the environment it is rewritten.
pub(super) fn assert_document(name: &str, document: &str, tell: fn(&str, &[&str]) -> String) {
    let found = rewritten(document, tell);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(format!("{}/src/explain/{name}", env!("CARGO_MANIFEST_DIR")), &found).unwrap();
        return;
    }
    for (found, expected) in found.lines().zip(document.lines()) {
        assert_eq!(found, expected);
    }
    assert_eq!(found.len(), document.len());
}

#[test]
fn reports_are_as_the_document_has_them() {
    assert_document("report_tests.txt", include_str!("report_tests.txt"), told);
}
