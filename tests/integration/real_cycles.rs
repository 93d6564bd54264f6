//! The built-in policy `htcondor` beside a negotiator and a schedd of HTCondor 25.14.1: which submitter got which slot, and
//! which job started where, in 28 cycles of one pool (`tests/pool/cycles`) and 30 of another (`tests/pool/negotiation`).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::binary::{classad, file};

/// What is counted over all cycles.
#[derive(Debug, Default)]
struct Counts {
    cycles: usize,
    predicted: usize,
    real: usize,
    /// Matches with the same submitter and the same slot.
    same: usize,
    /// Cycles in which each submitter got as many slots as in reality.
    same_by_submitter: usize,
    predicted_starts: usize,
    real_starts: usize,
    did_start: usize,
    started_there: usize,
}

/// The number of a job, as the records have it.
const JOB_ID: &str = "(ClusterId isnt undefined) ? strcat(ClusterId, \".\", ProcId) : Name";

/// Runs a cycle, or two. Returns request and slot of each row, of two cycles those of the second.
fn rows(folder: &str, time: &str, more: &[&str]) -> Vec<(String, String)> {
    let [jobs, slots] = ["jobs", "slots"].map(|name| format!("{folder}/{name}.long.gz"));
    let [accounts, config] = ["userprio.long", "config.dump"].map(|name| format!("{folder}/{name}"));
    let arguments = ["negotiate", &jobs, "--pool", &slots, "--userprio", &accounts, "--config", &config, "--now", time];
    let options = ["--policy", "htcondor", "--id", JOB_ID, "-o", "tsv"];
    let (status, out, errors) = classad(&[&arguments[..], &options, more].concat());
    assert!(matches!(status, Some(0 | 1)), "{folder}: {errors}");
    let first = usize::from(more.contains(&"--cycles")) * 2;
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        let offer = cells[first + 1].split('#').next().unwrap_or_default().to_owned();
        (first == 0 || cells[0] == "2").then(|| (cells[first].to_owned(), offer))
    };
    out.lines().skip(1).filter_map(row).collect()
}

/// Reads what a real cycle did.
fn actual(folder: &str) -> Json {
    let text = std::fs::read_to_string(format!("{folder}/actual.json")).expect("it is there");
    serde_json::from_str(&text).expect("it is JSON")
}

/// Returns the submitter of each job.
fn submitters(folder: &str) -> BTreeMap<String, String> {
    let jobs = format!("{folder}/jobs.long.gz");
    let submitter = "AccountingGroup is undefined ? User : regexp(\"@\", AccountingGroup) ? AccountingGroup \
                     : strcat(AccountingGroup, \"@\", split(User, \"@\")[1])";
    let attributes = format!("strcat(ClusterId, \".\", ProcId),{submitter}");
    let (_, out, errors) = classad(&["query", "true", &jobs, "--af", &attributes, "-o", "tsv", "--no-header"]);
    let pair = |line: &str| line.split_once('\t').map(|(job, user)| (job.to_owned(), user.to_owned()));
    let found: BTreeMap<String, String> = out.lines().filter_map(pair).collect();
    assert!(!found.is_empty(), "{folder}: {errors}");
    found
}

fn text(value: &Json) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Returns how often each entry occurs.
fn counted<T: Ord>(entries: impl Iterator<Item = T>) -> BTreeMap<T, usize> {
    let mut counts = BTreeMap::new();
    entries.for_each(|entry| *counts.entry(entry).or_default() += 1);
    counts
}

/// Returns the slot from which a job's slot was made: `slot1@h` for `slot1_2@h`.
fn whole_slot(host: &str) -> String {
    match host.split_once('@') {
        Some((slot, machine)) => format!("{}@{machine}", slot.split('_').next().unwrap_or(slot)),
        None => host.to_owned(),
    }
}

impl Counts {
    fn add(&mut self, folder: &str) {
        let actual = actual(folder);
        let (time, users) = (actual["time"].to_string(), submitters(folder));
        let list = |key: &str| actual[key].as_array().cloned().unwrap_or_default();
        let real: Vec<(String, String)> = list("act").iter().map(|of| (text(&of[1]), text(&of[2]))).collect();
        let predicted: Vec<(String, String)> = rows(folder, &time, &[])
            .into_iter()
            .map(|(job, slot)| (users.get(&job).cloned().unwrap_or_default(), slot))
            .collect();
        let [ours, theirs] = [&predicted, &real].map(|pairs| counted(pairs.iter()));
        let same = ours.iter().map(|(pair, count)| theirs.get(pair).copied().unwrap_or(0).min(*count)).sum::<usize>();
        self.same += same;
        let [ours, theirs] = [&predicted, &real].map(|pairs| counted(pairs.iter().map(|(user, _)| user)));
        self.same_by_submitter += usize::from(ours == theirs);
        (self.cycles, self.predicted, self.real) =
            (self.cycles + 1, self.predicted + predicted.len(), self.real + real.len());
        let object = |key: &str| actual[key].as_object().cloned().unwrap_or_default();
        let before = object("run0");
        let started: BTreeMap<String, String> = object("run1")
            .into_iter()
            .filter(|(job, host)| before.get(job) != Some(host))
            .map(|(job, host)| (job, whole_slot(&text(&host[1]))))
            .collect();
        let starts = rows(folder, &time, &["--starts"]);
        let jobs: BTreeSet<&String> = starts.iter().map(|(job, _)| job).collect();
        self.did_start += jobs.iter().filter(|job| started.contains_key(**job)).count();
        let there = starts.iter().filter(|(job, slot)| started.get(job) == Some(slot)).count();
        self.started_there += there;
        (self.predicted_starts, self.real_starts) =
            (self.predicted_starts + starts.len(), self.real_starts + started.len());
        println!(
            "{folder}: {} matches predicted, {} real, {same} the same; {} starts, {} real, {there} in the slot",
            predicted.len(),
            real.len(),
            starts.len(),
            started.len()
        );
    }
}

/// Compares all cycles in a folder.
fn compare(folder: &str) -> Counts {
    let mut counts = Counts::default();
    let cycles = std::fs::read_dir(folder).expect("it is there");
    let mut cycles: Vec<_> = cycles.map(|entry| entry.expect("it can be read").path()).collect();
    cycles.sort();
    for cycle in cycles.iter().filter(|cycle| cycle.is_dir()) {
        counts.add(cycle.to_str().expect("it is UTF-8"));
    }
    println!("{counts:?}");
    counts
}

/// What differs: in A7, slots of the same worth have another order in the collector than in the dump.
#[test]
fn matches_and_starts_are_those_of_a_real_pool() {
    let counts = compare("tests/pool/cycles");
    assert_eq!((counts.cycles, counts.real, counts.real_starts), (28, 288, 349), "{counts:?}");
    assert!(counts.predicted == 288 && counts.same >= 286 && counts.same_by_submitter >= 27, "{counts:?}");
    assert!(counts.predicted_starts <= 343 && counts.did_start >= 342 && counts.started_there >= 337, "{counts:?}");
}

/// What differs: submitters of the same priority and use have another order in the collector (limits-1, depth-first-1,
/// full-pool-2: with priorities that give its order, all their matches are the real ones), and so have slots of equal worth.
#[test]
fn fifteen_situations_end_as_in_a_real_pool() {
    let counts = compare("tests/pool/negotiation/cycles");
    assert_eq!((counts.cycles, counts.real, counts.real_starts), (30, 208, 263), "{counts:?}");
    assert!(counts.predicted == 207 && counts.same >= 201 && counts.same_by_submitter >= 28, "{counts:?}");
    assert!(counts.predicted_starts <= 254 && counts.did_start >= 250 && counts.started_there >= 237, "{counts:?}");
}

/// Predicts the second of two consecutive cycles from what was known before the first. Returns the numbers of real matches, of
/// predicted ones, and of those with the same submitter and slot.
fn compare_second(first: &str, second: &str) -> [usize; 3] {
    let [before, after] = [actual(first), actual(second)];
    let interval = after["time"].as_i64().unwrap_or(0) - before["time"].as_i64().unwrap_or(0);
    // The jobs that were submitted between the two cycles.
    let [time, jobs] = [before["time"].to_string(), format!("{second}/jobs.long.gz")];
    let (_, out, errors) = classad(&["query", &format!("QDate > {time}"), &jobs, "-o", "long"]);
    assert!(errors.is_empty(), "{errors}");
    let later = file(&format!("{}-later.long", first.replace('/', "-")), out);
    let rows = rows(first, &time, &["--cycles", "2", "--interval", &interval.to_string(), &later]);
    let mut users = submitters(first);
    users.extend(submitters(second));
    let predicted = counted(rows.into_iter().map(|(job, slot)| (users.get(&job).cloned().unwrap_or_default(), slot)));
    let real = after["act"].as_array().cloned().unwrap_or_default();
    let real = counted(real.iter().map(|of| (text(&of[1]), text(&of[2]))));
    let same = real.iter().map(|(pair, count)| predicted.get(pair).copied().unwrap_or(0).min(*count)).sum();
    let counts = [real.values().sum(), predicted.values().sum(), same];
    println!("{first}: {} real, {} predicted, {same} the same", counts[0], counts[1]);
    counts
}

#[test]
fn second_cycles_are_predicted_from_the_first() {
    let pairs = [
        ("A1", "A1b"),
        ("N0", "N1"),
        ("P1-leftovers", "P1b"),
        ("R11", "R11b"),
        ("R13", "R13b"),
        ("S21", "S21b"),
        ("S24", "S24b"),
        ("Z3", "Z3b"),
        ("Z4", "Z4b"),
    ];
    let counts = pairs.map(|pair| {
        let [first, second] = <[&str; 2]>::from(pair).map(|name| format!("tests/pool/cycles/{name}"));
        compare_second(&first, &second)
    });
    assert_eq!(counts.map(|[real, ..]| real), [4, 8, 7, 3, 3, 2, 4, 2, 0]);
    assert!(counts.iter().all(|[real, predicted, same]| real == predicted && real == same), "{counts:?}");
}

/// What differs: the order of slots and submitters in the collector.
#[test]
fn second_cycles_of_another_pool_are_predicted_from_the_first() {
    let folders = std::fs::read_dir("tests/pool/negotiation/cycles").expect("it is there");
    let folders = folders.map(|entry| entry.expect("it can be read").path().display().to_string());
    let firsts: Vec<String> = folders.filter_map(|path| Some(path.strip_suffix("-1")?.to_owned())).collect();
    let counts = firsts.iter().map(|path| compare_second(&format!("{path}-1"), &format!("{path}-2")));
    let sum = counts.fold([0; 3], |sum, counts| [0, 1, 2].map(|place| sum[place] + counts[place]));
    let [real, predicted, same] = sum;
    assert!(firsts.len() == 15 && real == 33 && predicted == 33 && same >= 30, "{sum:?}");
}
