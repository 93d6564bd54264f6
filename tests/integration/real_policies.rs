//! What `explain` foresees of the policies of jobs beside a schedd and its shadows of HTCondor 25.14.1 (`tests/pool/policies`).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::binary::classad;

const FOLDER: &str = "tests/pool/policies";

/// Seconds that an evaluation may come later than its interval: those in which the pool does it.
const SLACK: f64 = 2.0;

/// What was done to a job: the action, the codes and the reason.
type Deed = (String, [i64; 2], String);

/// Returns what policies did to each job, by its number, with the time.
fn deeds(now: &str) -> BTreeMap<String, Vec<(f64, Deed)>> {
    let columns = "strcat(Cluster, \".\", Proc),MyType,EventTime,Reason ?: HoldReason ?: \"\",HoldReasonCode ?: ReasonCode ?: 0,\
                   HoldReasonSubCode ?: 0,TerminatedAndRequeued ?: false,int(absTime(strcat(substr(EventTime, 0, 19), \"Z\")))";
    let after = format!("Cluster isnt undefined && int(absTime(strcat(substr(EventTime, 0, 19), \"Z\"))) >= {now}");
    let events = format!("{FOLDER}/events.json.gz");
    let (_, out, errors) = classad(&["query", &after, &events, "--af", columns, "-o", "tsv", "--no-header"]);
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
        found.entry(job.to_owned()).or_default().push((time.parse().expect("it is a time"), deed));
    }
    found
}

/// Reads an effect of a policy in a report.
fn deed(of: &Json) -> Deed {
    let number = |name: &str| of[name].as_i64().unwrap_or_default();
    let text = |name: &str| of[name].as_str().unwrap_or_default().to_owned();
    (text("effect"), ["code", "subcode"].map(number), text("reason"))
}

#[test]
fn what_policies_do_is_foreseen() {
    let now = std::fs::read_to_string(format!("{FOLDER}/now")).expect("it is there");
    let now = now.trim();
    let [jobs, slots] = ["jobs", "slots"].map(|name| format!("{FOLDER}/{name}.long.gz"));
    let config = format!("{FOLDER}/config.dump");
    let kinds = "strcat(ClusterId, \".\", ProcId),Kind";
    let (_, out, _) = classad(&["query", "true", &jobs, "--af", kinds, "-o", "tsv", "--no-header"]);
    let real = deeds(now);
    let end = real.values().flatten().map(|(time, _)| *time).fold(0.0, f64::max);
    let (mut same, mut wrong, mut policies) = (0, Vec::new(), BTreeSet::new());
    for row in out.lines() {
        let (job, kind) = row.split_once('\t').expect("two cells");
        let arguments = ["explain", &jobs, "--pool", &slots, "--config", &config, "--now", now, "--request", job];
        let (_, out, errors) = classad(&[&arguments[..], &["-o", "jsonl"]].concat());
        let report: Json = serde_json::from_str(out.lines().next().unwrap_or_default())
            .unwrap_or_else(|error| panic!("{job}: {error}: {errors}{out}"));
        let outlook = &report["job"]["policies"];
        let interval = outlook["interval"].as_f64().unwrap_or_default();
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
    println!("{same} of {} jobs, by {policies:?}", same + wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!((same, policies.len()), (35, 12));
}
