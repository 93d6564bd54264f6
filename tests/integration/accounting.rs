//! `explain` and `negotiate --transcript` keep one account of a pool: what `explain` says of groups, ceilings and limits is
//! what the transcript says, job by job.

use std::collections::{BTreeMap, BTreeSet};

use classad::ad::Dialect;
use classad::eval::Context;
use classad::format::{detect, read};
use classad::matching::policy::{Account, Accountant};
use serde_json::Value as Json;

use crate::binary::{classad, file};

/// The ads and the accounting of a pool.
struct Pool {
    jobs: String,
    slots: String,
    accounts: String,
    config: String,
    time: String,
}

impl Pool {
    fn of_cycle(folder: &str) -> Self {
        let actual = std::fs::read_to_string(format!("{folder}/actual.json")).expect("it is there");
        let actual: Json = serde_json::from_str(&actual).expect("it is JSON");
        Pool {
            jobs: format!("{folder}/jobs.long.gz"),
            slots: format!("{folder}/slots.long.gz"),
            accounts: format!("{folder}/userprio.long"),
            config: format!("{folder}/config.dump"),
            time: actual["time"].to_string(),
        }
    }

    /// A pool in which nothing is left to do, with the configuration of Y1.
    fn settled() -> Self {
        Pool {
            jobs: "tests/pool/settled/jobs.long.xz".to_owned(),
            slots: "tests/pool/settled/slots.long.xz".to_owned(),
            accounts: "tests/pool/settled/userprio.long".to_owned(),
            config: "tests/pool/cycles/Y1/config.dump".to_owned(),
            time: "1795813644".to_owned(),
        }
    }

    fn run(&self, command: &str, more: &[&str]) -> String {
        let Pool { jobs, slots, accounts, config, time } = self;
        let id = "(ClusterId isnt undefined) ? strcat(ClusterId, \".\", ProcId) : Name";
        let files = [command, jobs, "--pool", slots, "--userprio", accounts, "--config", config, "--now", time];
        let (status, out, errors) = classad(&[&files, &["--policy", "htcondor", "--id", id][..], more].concat());
        assert!(matches!(status, Some(0 | 1)), "{jobs}: {errors}");
        out
    }
}

/// What the transcript says last of each job, of each submitter, and of each group.
#[derive(Default)]
struct Reasons {
    matched: BTreeSet<String>,
    of_jobs: BTreeMap<String, String>,
    ceilings: BTreeMap<String, String>,
    /// What each group uses, and may use, as each event says.
    groups: BTreeMap<String, Vec<(String, String)>>,
}

/// Returns the numbers before and after ` of ` in a text such as `(6 of 6 in use)`.
fn used_of(text: &str) -> Option<(String, String)> {
    let words: Vec<&str> = text.split(|letter: char| !(letter.is_ascii_digit() || letter == '.')).collect();
    let mut numbers = words.into_iter().filter(|word| word.parse::<f64>().is_ok()).map(str::to_owned);
    numbers.next().zip(numbers.next())
}

impl Reasons {
    fn of(pool: &Pool) -> Self {
        let rows: Json = serde_json::from_str(&pool.run("negotiate", &["--transcript", "-o", "json"])).expect("JSON");
        let mut reasons = Reasons::default();
        for row in rows.as_array().expect("rows") {
            let [event, request, submitter, detail] = ["event", "request", "submitter", "detail"]
                .map(|column| row[column].as_str().unwrap_or_default().to_owned());
            match event.as_str() {
                "matched" => _ = reasons.matched.insert(request),
                "rejected" | "deferred" => _ = reasons.of_jobs.insert(request, detail),
                "ceiling reached" => _ = reasons.ceilings.insert(submitter, detail),
                "quota reached" | "skipped group" => {
                    let use_of_group = detail.split_once('(').and_then(|(_, numbers)| used_of(numbers));
                    reasons.groups.entry(submitter).or_default().extend(use_of_group);
                }
                "group" => reasons.groups.entry(submitter).or_default().extend(used_of(&detail)),
                _ => {}
            }
        }
        reasons
    }
}

/// Compares what the two commands say. Returns the number of jobs that groups, ceilings and limits keep from slots.
fn compare(pool: &Pool) -> [usize; 3] {
    let reasons = Reasons::of(pool);
    let out = pool.run("explain", &["--unmatched", "-o", "json"]);
    let document: Json = serde_json::from_str(&out).expect("it is JSON");
    let [mut groups, mut ceilings, mut limits] = [0; 3];
    let mut told: BTreeSet<String> = BTreeSet::new();
    for report in document["reports"].as_array().expect("reports") {
        let (verdict, summary) = (report["verdict"].as_str().expect("a verdict"), report["summary"].to_string());
        for job in report["requests"].as_array().expect("requests") {
            let job = job.as_str().expect("a job").to_owned();
            assert!(!reasons.matched.contains(&job), "{job} got a slot: {summary}");
            assert!(!(summary.contains("of 0") && summary.contains("wait")), "{job} waits in vain: {summary}");
            let rejection = reasons.of_jobs.get(&job).filter(|detail| detail.starts_with("concurrency limit"));
            if verdict != "limited" {
                // A limit that keeps no free slot from a job is not the cause: others took the slots.
                assert!(rejection.is_none() || verdict != "matches", "{job}: {summary}, but {rejection:?}");
            } else if let Some((_, group)) = summary.split_once("the group ") {
                let name = group.split(' ').next().expect("a name");
                let (used, most) = used_of(group.split_once(" has used ").expect("a use").1).expect("numbers");
                let known = &reasons.groups[name];
                assert!(known.contains(&(used, most)), "{job}: {summary}, but {known:?}");
                groups += 1;
            } else if let Some((_, share)) = summary.split_once(" of its share of ") {
                assert!(used_of(share).is_some(), "{job}: {summary}");
            } else if let Some((before, ceiling)) = summary.split_once(" has used ") {
                let submitter = before.rsplit(' ').next().expect("a submitter");
                let (_, most) = used_of(ceiling).expect("numbers");
                assert!(reasons.ceilings[submitter].ends_with(&format!("its ceiling is {most}")), "{job}: {summary}");
                ceilings += 1;
            } else {
                // An equivalent request may have been rejected for it.
                let (_, limit) = summary.split_once("concurrency limit ").expect("a limit");
                let is_told = |detail: &String| limit.starts_with(detail.trim_start_matches("concurrency limit "));
                assert!(rejection.map_or_else(|| reasons.of_jobs.values().any(is_told), is_told), "{job}: {summary}");
                limits += 1;
            }
            told.insert(job);
        }
    }
    assert!(told.is_disjoint(&reasons.matched));
    [groups, ceilings, limits]
}

#[test]
fn explain_says_what_the_transcript_says() {
    assert_eq!(compare(&Pool::of_cycle("tests/pool/cycles/Y1")), [4, 3, 4]);
    assert_eq!(compare(&Pool::settled()), [0, 0, 4]);
    let mut sums = [0; 3];
    let mut cycles = 0;
    for folder in std::fs::read_dir("tests/pool/cycles").expect("it is there") {
        let folder = folder.expect("it can be read").path();
        if folder.is_dir() {
            let found = compare(&Pool::of_cycle(folder.to_str().expect("it is UTF-8")));
            println!("{}: {found:?}", folder.display());
            sums = std::array::from_fn(|at| sums[at] + found[at]);
            cycles += 1;
        }
    }
    println!("{cycles} cycles: {sums:?}");
    assert!(cycles == 28 && sums.iter().all(|sum| *sum > 0), "{cycles} cycles: {sums:?}");
}

/// Also where the limit alone does not keep the requests from slots, so that `explain` has another cause.
#[test]
fn the_transcript_says_what_ended_the_turns() {
    for (folder, expected) in [
        (
            "tests/pool/cycles/S21b",
            &["erin@live.test: 2 of 4 requests had no turn: an equivalent request reached a concurrency limit"][..],
        ),
        (
            "tests/pool/cycles/S24b",
            &[
                "frank@live.test: 6 of 8 requests had no turn: an equivalent request reached a concurrency limit",
                "alice@live.test: 1 of 2 requests had no turn: an equivalent request reached a concurrency limit",
            ],
        ),
        (
            "tests/pool/negotiation/cycles/depth-first-1",
            &[
                "bob@pool.example: 3 of 6 requests had no turn: the maximum of the group <none> was reached",
                "carol@pool.example: 4 of 5 requests had no turn: the share was used up",
            ],
        ),
    ] {
        let out = Pool::of_cycle(folder).run("negotiate", &["--transcript"]);
        let told: Vec<&str> = out.lines().filter(|line| line.contains(" had no turn: ")).collect();
        assert_eq!(told, expected, "{folder}: {out}");
    }
}

const SLOTS: &str = "MyType = \"Machine\"\nName = \"slot1@a\"\nState = \"Unclaimed\"\nActivity = \"Idle\"\nCpus = 1\nRequirements = true\n\
    SlotWeight = 1\n\nMyType = \"Machine\"\nName = \"slot2@a\"\nState = \"Unclaimed\"\nActivity = \"Idle\"\nCpus = 1\nRequirements = true\n\
    SlotWeight = 1\n\nMyType = \"Machine\"\nName = \"slot3@a\"\nState = \"Claimed\"\nActivity = \"Busy\"\nCpus = 1\nRequirements = true\n\
    SlotWeight = 1\nRemoteUser = \"bio.ann@x\"\nAccountingGroup = \"bio.ann@x\"\nConcurrencyLimits = \"sw\"\n";

/// Returns what `explain` prints of a job with these attributes, and on standard error.
fn explain(job: &str, accounts: &str, config: &str, options: &[&str]) -> [String; 2] {
    let job = format!(
        "MyType = \"Job\"\nClusterId = 1\nProcId = 0\nJobStatus = 1\nOwner = \"ann\"\nUser = \"ann@x\"\n\
         Requirements = true\n{job}\n"
    );
    let files = [("j", job.as_str()), ("s", SLOTS), ("u", accounts), ("c", config)];
    let [job, slots, accounts, config] =
        files.map(|(name, text)| file(&format!("accounting-{name}{}", options.concat()), text));
    let arguments = ["explain", &job, "--pool", &slots, "--userprio", &accounts, "--config", &config];
    let (_, out, errors) = classad(&[&arguments[..], options].concat());
    [out, errors]
}

/// Returns the first line of the explanation of a job with these attributes.
fn first_line(job: &str, accounts: &str, config: &str, options: &[&str]) -> String {
    let [out, errors] = explain(job, accounts, config, options);
    let out = out.replace("\n    ", " ");
    let line = out.lines().find(|line| line.starts_with("1.0 "));
    line.map_or(errors, str::to_owned)
}

const ACCOUNTS: &str = "Name1 = \"ann@x\"\nPriority1 = 500.0\nPriorityFactor1 = 1000.0\n";

#[test]
fn what_is_used_up_before_the_cycle_is_told_without_competition() {
    let groups = "GROUP_NAMES = bio, chem\nGROUP_QUOTA_bio = 1\nSW_LIMIT = 1\nNONE_LIMIT = 0\n";
    let with_ceiling = |most: i64| format!("{ACCOUNTS}Ceiling1 = {most}\n");
    for (job, accounts, config, expected) in [
        (
            "AccountingGroup = \"bio.ann\"",
            ACCOUNTS.to_owned(),
            groups,
            "1.0 waits: the group bio has used 1 of its quota of 1; 2 free slots match",
        ),
        (
            "AccountingGroup = \"chem.ann\"",
            ACCOUNTS.to_owned(),
            groups,
            "1.0 never starts: the group chem has used 0 of its quota of 0; 2 free slots match",
        ),
        (
            "ConcurrencyLimits = \"sw\"",
            ACCOUNTS.to_owned(),
            groups,
            "1.0 waits for concurrency limit sw: 1 of 1 in use; the request needs 1; 2 free slots match",
        ),
        (
            "ConcurrencyLimits = \"none\"",
            ACCOUNTS.to_owned(),
            groups,
            "1.0 never starts: concurrency limit none, which allows 0; the request needs 1; 2 free slots match",
        ),
        ("", with_ceiling(0), "", "1.0 never starts: ann@x has used 0 of its ceiling of 0; 2 free slots match"),
    ] {
        for options in [&[][..], &["--unmatched"], &["--policy", "htcondor"]] {
            assert_eq!(first_line(job, &accounts, config, options), expected, "{job} {options:?}");
        }
    }
    let free = first_line("", &with_ceiling(1), groups, &[]);
    assert!(free.starts_with("1.0 matches"), "{free}");
}

/// The limit that is the cause, with numbers; `null` if there is none.
#[test]
fn the_limit_is_an_object_in_json() {
    let config = "GROUP_NAMES = bio, chem\nGROUP_QUOTA_bio = 1\nSW_LIMIT = 1\nNONE_LIMIT = 0\n";
    let with_0 = format!("{ACCOUNTS}Ceiling1 = 0\n");
    for (job, accounts, expected) in [
        ("AccountingGroup = \"bio.ann\"", ACCOUNTS, "group-quota bio 1.0 0.0 1.0 weight 1.0 null null false"),
        ("AccountingGroup = \"chem.ann\"", ACCOUNTS, "group-quota chem 0.0 0.0 0.0 weight 0.0 null null true"),
        ("ConcurrencyLimits = \"sw\"", ACCOUNTS, "concurrency-limit sw 1.0 0.0 1.0 units null null 1.0 false"),
        ("ConcurrencyLimits = \"none:2\"", ACCOUNTS, "concurrency-limit none 0.0 0.0 0.0 units null null 2.0 true"),
        ("", &with_0, "ceiling ann@x 0.0 0.0 0.0 weight null 500.0 null true"),
        ("", ACCOUNTS, "null"),
    ] {
        let [out, errors] = explain(job, accounts, config, &["-o", "json"]);
        let document: Json = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{errors}"));
        let limit = &document["reports"][0]["limit"];
        let columns = ["kind", "name", "used", "given", "maximum", "unit", "quota", "priority", "needed", "permanent"];
        let told = columns.map(|column| limit[column].to_string().replace('"', "")).join(" ");
        assert_eq!(if limit.is_null() { "null" } else { &told }, expected, "{job}");
    }
}

/// Reads the accounts of a file, as `--userprio` does.
fn accounts(path: &str) -> Accountant {
    let text = std::fs::read(path).expect("there is such a file");
    let form = detect(&text).expect("it has a form");
    let (context, mut accounts) = (Context::new(Dialect::Condor), Accountant::default());
    for entry in read(&text, form, Dialect::Condor) {
        let of_ad = Accountant::from_userprio(&entry.expect("it is an ad").ad, &context).unwrap_or_default();
        accounts.submitters.extend(of_ad.submitters);
        accounts.ceilings.extend(of_ad.ceilings);
        accounts.floors.extend(of_ad.floors);
    }
    accounts
}

/// The log of a negotiator of HTCondor 25.14.1, and what `condor_userprio` printed of it. `tests/pool/accounts/run` asks it.
#[test]
fn the_log_of_the_accountant_has_the_numbers_of_condor_userprio() {
    let [logged, printed] =
        ["Accountantnew.log", "userprio.long"].map(|name| accounts(&format!("tests/pool/accounts/{name}")));
    assert_eq!((&logged.ceilings, &logged.floors), (&printed.ceilings, &printed.floors));
    let numbers = |accounts: &Accountant| -> Vec<String> {
        let of_account = |account: &Account| {
            format!("{:.2} {:.2} {:.2} {:.2}", account.real_priority, account.factor, account.resources, account.usage)
        };
        accounts.submitters.iter().map(|(name, account)| format!("{name} {}", of_account(account))).collect()
    };
    let expected = [
        "ann@pool.example 123.50 20.00 0.00 4711.00",
        "carol@pool.example 0.50 1000.00 0.00 80.00",
        "low@pool.example 0.50 1000.00 0.00 0.00",
    ];
    assert_eq!(
        (numbers(&logged), numbers(&printed)),
        (expected.map(str::to_owned).into(), expected.map(str::to_owned).into())
    );
    let log = std::fs::read_to_string("tests/pool/accounts/Accountantnew.log").expect("it is UTF-8");
    // Before the negotiator has corrected a priority that is too low.
    let cut = log.rsplit_once("103 Customer.low@pool.example Priority 0.500000\n").expect("it is corrected").0;
    assert_eq!(numbers(&accounts(&file("Accountantnew.log", cut))), expected);
    let given = ["negotiate", "samples/pool/jobs.long", "--pool", "samples/pool/machines.long", "--userprio"];
    let (status, _, errors) = classad(&[&given[..], &["tests/pool/accounts/Accountantnew.log"]].concat());
    assert!(status == Some(0) && !errors.contains("error"), "{errors}");
}
