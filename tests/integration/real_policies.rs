//! What `explain` foresees of the policies of jobs beside a schedd and its shadows of HTCondor 25.14.1 (`tests/pool/policies`).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::binary::classad;

/// The sets of jobs, each in a folder of its own, with the number of its jobs and of the policies that do something.
const SETS: [(&str, usize, usize); 2] = [("first", 35, 12), ("more", 34, 13)];

/// Seconds that an evaluation may come later than its interval: those in which the pool does it.
const SLACK: f64 = 2.0;

/// What was done to a job: the action, the codes and the reason.
type Deed = (String, [i64; 2], String);

/// Returns the times at which shadows stopped their jobs, with the jobs.
fn stops(folder: &str) -> Vec<(f64, String)> {
    let text = std::fs::read_to_string(format!("{folder}/stops.tsv")).expect("it is there");
    let rows = text.lines().filter_map(|row| row.split_once('\t'));
    rows.map(|(time, job)| (time.parse().expect("it is a time"), job.to_owned())).collect()
}

/// Returns what policies did to each job, by its number, with the time: that of the event, or, for a job that ran, that at
/// which its shadow stopped it.
fn deeds(folder: &str, now: &str) -> BTreeMap<String, Vec<(f64, Deed)>> {
    let columns = "strcat(Cluster, \".\", Proc),MyType,EventTime,Reason ?: HoldReason ?: \"\",HoldReasonCode ?: ReasonCode ?: 0,\
                   HoldReasonSubCode ?: 0,TerminatedAndRequeued ?: false,int(absTime(strcat(substr(EventTime, 0, 19), \"Z\")))";
    let after = format!("Cluster isnt undefined && int(absTime(strcat(substr(EventTime, 0, 19), \"Z\"))) >= {now}");
    let events = format!("{folder}/events.json.gz");
    let (_, out, errors) = classad(&["query", &after, &events, "--af", columns, "-o", "tsv", "--no-header"]);
    let stops = stops(folder);
    let mut found: BTreeMap<String, Vec<(f64, Deed)>> = BTreeMap::new();
    for row in out.lines() {
        let cells: Vec<&str> = row.split('\t').collect();
        let [job, kind, _, reason, code, subcode, is_requeued, time] = cells[..] else { panic!("{row}: {errors}") };
        let action = match kind {
            "JobHeldEvent" => "holds",
            "JobReleaseEvent" => "releases",
            "JobAbortedEvent" => "removes",
            "JobEvictedEvent" if is_requeued == "true" => "requeues",
            "JobEvictedEvent" if !reason.is_empty() => "vacates",
            "JobTerminatedEvent" => "ends",
            _ => continue,
        };
        let [code, subcode] = [code, subcode].map(|number| number.parse().expect("it is a number"));
        let deed = (action.to_owned(), [code, subcode], reason.to_owned());
        let of_job = found.entry(job.to_owned()).or_default();
        let event: f64 = time.parse().expect("it is a time");
        let before = of_job.last().map_or(0.0, |(time, _)| *time);
        let stop = stops.iter().rev().find(|(time, stopped)| stopped == job && (before..=event).contains(time));
        of_job.push((stop.map_or(event, |(time, _)| *time), deed));
    }
    found
}

/// Reads an effect of a policy in a report.
fn deed(of: &Json) -> Deed {
    let number = |name: &str| of[name].as_i64().unwrap_or_default();
    let text = |name: &str| of[name].as_str().unwrap_or_default().to_owned();
    (text("effect"), ["code", "subcode"].map(number), text("reason"))
}

/// Compares what is foreseen of the jobs of a folder with what was done. Returns the number of jobs, and the policies that
/// do something.
fn compare(folder: &str) -> (usize, BTreeSet<String>) {
    let now = std::fs::read_to_string(format!("{folder}/now")).expect("it is there");
    let now = now.trim();
    let [jobs, slots] = ["jobs", "slots"].map(|name| format!("{folder}/{name}.long.gz"));
    let config = format!("{folder}/config.dump");
    let kinds = "strcat(ClusterId, \".\", ProcId),Kind";
    let (_, out, _) = classad(&["query", "true", &jobs, "--af", kinds, "-o", "tsv", "--no-header"]);
    let real = deeds(folder, now);
    let end = real.values().flatten().map(|(time, _)| *time).fold(0.0, f64::max);
    let (mut same, mut wrong, mut policies) = (0, Vec::new(), BTreeSet::new());
    let mut unknown_jobs = Vec::new();
    for row in out.lines() {
        let (job, kind) = row.split_once('\t').expect("two cells");
        let arguments = ["explain", &jobs, "--pool", &slots, "--config", &config, "--now", now, "--request", job];
        let (_, out, errors) = classad(&[&arguments[..], &["-o", "jsonl"]].concat());
        let report: Json = serde_json::from_str(out.lines().next().unwrap_or_default())
            .unwrap_or_else(|error| panic!("{job}: {error}: {errors}{out}"));
        let outlook = &report["job"]["policies"];
        let interval = outlook["interval"].as_f64().unwrap_or_default();
        // What a policy does is unknown that depends on what only the shadow of the job knows, but not from when on.
        let unknown = |name: &str, time: f64| {
            let policies = outlook["policies"].as_array().into_iter().flatten();
            let is_unknown =
                |policy: &Json| policy["when"] == "unknown" && policy["from"]["seconds"].as_f64() <= Some(time);
            policies.filter(|policy| is_unknown(policy)).any(|policy| policy["name"].as_str() == Some(name))
        };
        let foreseen = outlook["course"].as_array().into_iter().flatten();
        let foreseen = foreseen.map(|next| (next["from"]["seconds"].as_f64().expect("a time"), &next["does"]));
        let mut foreseen: Vec<(Option<f64>, Deed)> = foreseen
            .filter(|(from, _)| *from < end - interval)
            .map(|(from, does)| {
                policies.insert(does["name"].as_str().unwrap_or_default().to_owned());
                (Some(from), deed(does))
            })
            .collect();
        let real = real.get(job).map(Vec::as_slice).unwrap_or_default();
        // A run that ends before a policy does something.
        if let ([], [(time, deed)]) = (foreseen.as_slice(), real)
            && let Some((name, _)) = deed.2.strip_prefix("The job attribute ").and_then(|rest| rest.split_once(' '))
            && unknown(name, *time)
        {
            unknown_jobs.push(job.to_owned());
            continue;
        }
        if foreseen.is_empty() && !real.is_empty() {
            let after = &outlook["after_success"];
            policies.extend(after["name"].as_str().map(str::to_owned));
            let deed = if after.is_null() { ("ends".to_owned(), [0, 0], String::new()) } else { deed(after) };
            foreseen.push((None, deed));
        }
        // What becomes of a job that runs again is another run.
        let count =
            if foreseen.iter().any(|(_, deed)| deed.0 == "requeues" || deed.0 == "vacates") { 1 } else { real.len() };
        let is_same = foreseen.len() == count
            && (1_u32..).zip(foreseen.iter().zip(real)).all(|(place, ((from, deed), (time, done)))| {
                // Each effect waits for an evaluation.
                let most = interval * f64::from(place) + SLACK;
                deed == done && from.is_none_or(|from| (from - 1.0..=from + most).contains(time))
            });
        if is_same { same += 1 } else { wrong.push(format!("{job} {kind}: {foreseen:?}, but {real:?}")) }
    }
    println!("{folder}: {same} of {} jobs, by {policies:?}", same + wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(unknown_jobs.len() <= 1, "{unknown_jobs:?}");
    (same, policies)
}

#[test]
fn what_policies_do_is_foreseen() {
    for (set, jobs, policies) in SETS {
        let (same, found) = compare(&format!("tests/pool/policies/{set}"));
        assert_eq!((same, found.len()), (jobs, policies), "{set}: {found:?}");
    }
}
