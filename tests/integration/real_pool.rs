//! What HTCondor's tools said of a real pool, and what ours say of the same files. `tests/pool/README.md` tells more.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A deviation from HTCondor's answer that is known. What is weaker than equal bytes still has to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Deviation {
    None,
    /// Equal, white space aside.
    Spaces,
    /// Equal ads.
    Form,
    /// Anything.
    Other,
}

/// A question to HTCondor's tools and to ours.
#[derive(Debug)]
struct Question {
    name: String,
    /// Command of ours. `None` if the comparison is to come.
    ours: Option<String>,
    deviation: Deviation,
}

fn pool_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pool")
}

/// Reads `tests/pool/questions`, whose beginning describes it.
fn questions() -> Vec<Question> {
    let text = fs::read_to_string(pool_folder().join("questions")).expect("there are questions");
    let mut questions: Vec<Question> = Vec::new();
    let mut explained = HashSet::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            questions.push(Question { name: name.to_owned(), ours: None, deviation: Deviation::None });
            continue;
        }
        let question = questions.last_mut().expect("a name comes first");
        let (key, value) = line.split_once(": ").unwrap_or_else(|| panic!("`{line}` has no meaning"));
        match key {
            "condor" => {}
            "ours" => question.ours = Some(value.to_owned()),
            "to come" => assert!(explained.insert(question.name.clone()), "{}: two reasons", question.name),
            "differs" => question.deviation = Deviation::Other,
            "differs in spaces" => question.deviation = Deviation::Spaces,
            "differs in form" => question.deviation = Deviation::Form,
            _ => panic!("`{line}` has no meaning"),
        }
    }
    for question in &questions {
        let is_to_come = explained.contains(&question.name);
        assert!(question.ours.is_some() != is_to_come, "{}: either `ours` or `to come`", question.name);
    }
    questions
}

fn answer_path(name: &str) -> PathBuf {
    pool_folder().join("answers").join(name)
}

/// Runs a shell's command, in which `classad` is ours, among the dumps.
fn run(command: &str) -> Output {
    let binary = Path::new(env!("CARGO_BIN_EXE_classad"));
    let folders = [binary.parent().expect("a folder").to_owned()];
    let others = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(folders.into_iter().chain(std::env::split_paths(&others))).expect("a path");
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(pool_folder().join("dumps")).env("PATH", path).env("TZ", "UTC");
    shell.stdin(Stdio::null()).output().expect("there is a shell")
}

fn without_spaces(text: &[u8]) -> Vec<u8> {
    text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect()
}

/// Whether both texts are equal ads, in any order of attributes and any form.
fn are_equal_ads(name: &str, theirs: &Path, ours: &[u8]) -> bool {
    let file = crate::binary::temporary().join(format!("real-pool-{name}"));
    fs::write(&file, ours).expect("the file can be written");
    let mut diff = Command::new(env!("CARGO_BIN_EXE_classad"));
    let output = diff.args(["diff", "--dialect", "condor"]).args([theirs, &file]).output().expect("the binary runs");
    // Status 0 says that there is no difference; status 2 would say that a file cannot be read.
    assert!(output.status.code().is_some_and(|code| code < 2), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    output.status.success()
}

/// Returns the least deviation that explains the difference between HTCondor's answer and ours.
fn least_deviation(name: &str, ours: &[u8], declared: Deviation) -> Deviation {
    let path = answer_path(name);
    let theirs = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    if theirs == ours {
        Deviation::None
    } else if without_spaces(&theirs) == without_spaces(ours) {
        Deviation::Spaces
    } else if declared == Deviation::Form && are_equal_ads(name, &path, ours) {
        Deviation::Form
    } else {
        Deviation::Other
    }
}

/// The first line in which the answers differ.
fn first_difference(name: &str, ours: &[u8]) -> String {
    let theirs = fs::read(answer_path(name)).expect("the answer is there");
    let (theirs, ours) = (String::from_utf8_lossy(&theirs).into_owned(), String::from_utf8_lossy(ours).into_owned());
    let mut lines = (theirs.lines(), ours.lines());
    for number in 1.. {
        match (lines.0.next(), lines.1.next()) {
            (None, None) => break,
            (theirs, ours) if theirs == ours => {}
            (theirs, ours) => {
                let [theirs, ours] = [theirs, ours].map(|line| line.unwrap_or("(the end)").to_owned());
                return format!("line {number}\n    HTCondor: {theirs}\n    ours:     {ours}");
            }
        }
    }
    "the last line's end".to_owned()
}

#[test]
fn answers_are_htcondors() {
    let mut faults = Vec::new();
    let mut compared = 0;
    for Question { name, ours, deviation } in questions() {
        let Some(command) = ours else { continue };
        compared += 1;
        let output = run(&command);
        // Status 1 says that no ad was found.
        let has_failed = output.status.code().is_none_or(|code| code > 1) || !output.stderr.is_empty();
        let least = least_deviation(&name, &output.stdout, deviation);
        if has_failed {
            let problem = String::from_utf8_lossy(&output.stderr).into_owned();
            faults.push(format!("[{name}] {command}\n  {}: {problem}", output.status));
        } else if least < deviation && (least, deviation) != (Deviation::Spaces, Deviation::Form) {
            faults.push(format!("[{name}] no longer differs so: {deviation:?} was declared, {least:?} is enough"));
        } else if least > deviation {
            faults.push(format!("[{name}] {command}\n  {}", first_difference(&name, &output.stdout)));
        }
    }
    assert!(faults.is_empty(), "{} of {compared} answers:\n{}", faults.len(), faults.join("\n"));
    assert!(compared >= 40, "{compared} answers were compared");
}

#[test]
fn every_question_has_one_answer_and_every_answer_a_question() {
    let names: Vec<String> = questions().into_iter().map(|question| question.name).collect();
    let asked: HashSet<&str> = names.iter().map(String::as_str).collect();
    assert_eq!(asked.len(), names.len(), "two questions share a name");
    let entries = fs::read_dir(pool_folder().join("answers")).expect("there are answers");
    let answered: Vec<String> =
        entries.map(|entry| entry.expect("an answer").file_name().to_string_lossy().into_owned()).collect();
    let answered: HashSet<&str> = answered.iter().map(String::as_str).collect();
    let odd: Vec<&&str> = asked.symmetric_difference(&answered).collect();
    assert!(odd.is_empty(), "a question or an answer alone: {odd:?}");
}

#[test]
fn every_ad_of_the_dumps_is_read() {
    let dumps = pool_folder().join("dumps");
    for name in ["queue.long", "few.long", "machines.long", "daemons.long", "submit.dry-run"] {
        let text = fs::read_to_string(dumps.join(name)).expect("the dump is there");
        let paragraphs = text.split("\n\n").filter(|paragraph| !paragraph.trim().is_empty()).count();
        let output = run(&format!("classad query true --strict-input --count {name}"));
        assert!(output.stderr.is_empty(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), paragraphs.to_string(), "{name}");
    }
}

/// The rows of `condor_q -better-analyze`'s table: how its lines end, and which of our counts are the same. HTCondor looks at
/// no dynamic slots.
const ANALYSIS_ROWS: [(&str, &[&str]); 6] = [
    ("are rejected by your job's requirements", &["rejected_by_request"]),
    ("reject your job because of their own requirements", &["rejecting_request"]),
    ("match and are already running your jobs", &["claimed_by_user"]),
    ("match but are serving other users", &["claimed_by_others"]),
    ("are willing to run your job", &["free", "owner", "draining", "offline"]),
    ("would match if drained", &["if_drained"]),
];

#[test]
fn the_table_of_better_analyze_has_htcondors_numbers() {
    let answer = fs::read_to_string(answer_path("analyze-all")).expect("the answer is there");
    let ours = run("classad explain queue.long --pool machines.long -o json --now $(cat now)").stdout;
    let ours: serde_json::Value = serde_json::from_slice(&ours).expect("this is JSON");
    let reports = ours["reports"].as_array().expect("there are reports");
    let (mut compared, mut drained) = (0, 0);
    // A table begins with `016.000:  Run analysis summary ignoring user priority.  Of 6 machines,`.
    for table in answer.split("\n\n").filter(|part| part.contains("Run analysis summary")) {
        let (job, _) = table.trim().split_once(':').expect("a job comes first");
        let (cluster, process) = job.split_once('.').expect("a job has two numbers");
        let number = |text: &str| text.trim_start_matches('0').parse::<u32>().unwrap_or_default();
        let name = format!("{}.{}", number(cluster), number(process));
        let is_report = |report: &&serde_json::Value| {
            report["requests"].as_array().is_some_and(|names| names.iter().any(|known| *known == *name))
        };
        let report = reports.iter().find(is_report).unwrap_or_else(|| panic!("there is no report on {name}"));
        if table.contains("Of 1 slots on 1 machines") || table.contains("Of 1 machines") {
            // A job that the access point itself runs is held against the access point.
            assert_eq!(report["verdict"], "not-waiting", "{name}");
            continue;
        }
        let slots = &report["slots"];
        let count = |key: &str| slots[key].as_u64().unwrap_or_else(|| panic!("{name} has no {key}"));
        let if_drained = count("if_drained");
        drained += usize::from(if_drained > 0);
        for (ending, counts) in ANALYSIS_ROWS {
            // Rows of 0 may be left out.
            let line = table.lines().find(|line| line.ends_with(ending)).unwrap_or("0");
            let theirs: u64 = line.trim().split(' ').next().and_then(|number| number.parse().ok()).expect("a number");
            let ours: u64 = counts.iter().map(|key| count(key)).sum();
            // HTCondor has no notion of a GPU that a job gives back: such a slot counts as rejected there.
            let is_gpu_given_back = if_drained > 0 && theirs.abs_diff(ours) == if_drained;
            assert!(theirs == ours || is_gpu_given_back, "{name}: {theirs} {ending}, and {ours} for us: {slots}");
            compared += 1;
        }
    }
    assert!(compared >= 100 && drained <= 2, "{compared} numbers, {drained} jobs that a drained slot would take");
}

/// The rows of `-better-analyze:summary`: of each job the slots that it takes, that refuse it, and that run it, run others or
/// are free. HTCondor counts dynamic slots here.
#[test]
fn the_summary_of_better_analyze_has_htcondors_numbers() {
    let ours = run("classad explain queue.long --pool machines.long --all-slots -o json --now $(cat now)").stdout;
    let ours: serde_json::Value = serde_json::from_slice(&ours).expect("this is JSON");
    let reports = ours["reports"].as_array().expect("there are reports");
    let answer = fs::read_to_string(answer_path("analyze-summary")).expect("the answer is there");
    let elsewhere = run("classad query 'JobUniverse != 5' queue.long -o names").stdout;
    let elsewhere = String::from_utf8(elsewhere).expect("names are text");
    let mut compared = 0;
    for row in answer.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_digit())) {
        let cells: Vec<&str> = row.split_whitespace().collect();
        let [job, _, accepted, refusing, own, others, free, _] = cells[..] else { panic!("{row}") };
        let is_report = |report: &&serde_json::Value| {
            report["requests"].as_array().is_some_and(|names| names.iter().any(|name| name == job))
        };
        let report = reports.iter().find(is_report).unwrap_or_else(|| panic!("there is no report on {job}"));
        if elsewhere.lines().any(|name| name == job) {
            // HTCondor holds a job that the access point itself runs against the access point.
            continue;
        }
        let count = |key: &str| report["slots"][key].as_u64().unwrap_or_else(|| panic!("{job} has no {key}"));
        // `1/3` are a job's own slot and those of its user. Slots that drained would match count as refusing, or as
        // not accepted.
        let number = |text: &str| text.rsplit('/').next().and_then(|text| text.parse::<u64>().ok()).expect(row);
        let matching = count("claimed_by_user") + count("claimed_by_others") + count("free");
        let pairs = [
            (own, count("claimed_by_user")),
            (others, count("claimed_by_others")),
            (free, count("free")),
            (accepted, count("rejecting_request") + matching),
            (refusing, count("rejecting_request")),
        ];
        for (theirs, ours) in pairs {
            let theirs = number(theirs);
            assert!(theirs.abs_diff(ours) <= count("if_drained"), "{row}: {theirs}, and {ours} for us");
            compared += 1;
        }
    }
    assert!(compared >= 60, "{compared} numbers");
}

/// The three totals of `-better-analyze -reverse`.
#[test]
fn the_totals_of_reverse_analysis_are_htcondors() {
    for node in 1..=4 {
        let slot = format!("slot1@node{node}.pool.example");
        let answer =
            fs::read_to_string(answer_path(&format!("analyze-reverse-node{node}"))).expect("the answer is there");
        let command = format!(
            "classad explain --reverse --all-states queue.long --pool machines.long --request {slot} -o json --now $(cat now)"
        );
        let ours: serde_json::Value = serde_json::from_slice(&run(&command).stdout).expect("this is JSON");
        let report = &ours["reports"][0];
        let matches = report["summary"].as_str().expect("there is a sentence");
        for (ending, ours) in [
            ("match the requirements of this slot.", &report["suitable"]),
            ("have job requirements that match this slot.", &report["accepting"]),
        ] {
            let line = answer.lines().find(|line| line.ends_with(ending)).unwrap_or_else(|| panic!("{slot}: {ending}"));
            let theirs = line.split_whitespace().next().expect("a number");
            assert_eq!(theirs, ours.to_string(), "{slot}: {line} ({matches})");
        }
    }
}

/// HTCondor's words choose the ads that its own tables list.
#[test]
fn words_choose_the_ads_of_htcondors_tables() {
    for (table, command) in [
        ("table-queue-held", "classad query -jobads queue.long -hold -af:j Owner"),
        ("table-queue-running", "classad query -jobads queue.long -run -af:j Owner"),
        ("table-machines-available", "classad query -ads machines.long -avail -af Name"),
        ("table-machines-claimed", "classad query -ads machines.long -claimed -af Name"),
    ] {
        let text = fs::read_to_string(answer_path(table)).expect("the answer is there");
        let is_name = |word: &str| word.contains('@') || word.parse::<f64>().is_ok_and(|_| word.contains('.'));
        let first_words = text.lines().filter_map(|line| line.split_whitespace().next());
        let mut theirs: Vec<&str> = first_words.filter(|word| is_name(word)).collect();
        let ours = String::from_utf8(run(command).stdout).expect("names are text");
        let mut ours: Vec<&str> = ours.lines().filter_map(|line| line.split_whitespace().next()).collect();
        theirs.sort_unstable();
        ours.sort_unstable();
        assert!(!ours.is_empty(), "{table}");
        assert_eq!(ours, theirs, "{table}");
    }
}
