//! Several threads print what one does.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use super::binary::{file, run};

/// Exit status, standard output and standard error of `classad` with these arguments.
fn classad(arguments: &[&str]) -> (Option<i32>, Vec<u8>, String) {
    let output = run(arguments, b"");
    (output.status.code(), output.stdout, String::from_utf8_lossy(&output.stderr).into_owned())
}

/// So many ads are several pieces of a file.
const MANY: usize = 4000;

/// Then no ad is bad.
const NONE: usize = 2 * MANY;

/// Makes ads of which some, far from the beginning, mention an attribute that was not read before. The attribute is
/// read from there on. One of every `bad` ads has an error.
fn pool(bad: usize) -> String {
    let mut text = String::new();
    for number in 1..=MANY {
        let _ = write!(text, "Name = \"m{number}\"\nCpus = {}\nState = \"s{}\"\n", number % 17, number % 3);
        let _ = writeln!(text, "Filler = \"{}\"", "x".repeat(200 + number % 300));
        match number {
            1500 => text += "Memory = Spare * 2\nSpare = 7\n",
            2900 => text += "Memory = Later\nLater = Last\nLast = 8\n",
            3000 => text += "Name = strcat(\"m\", Suffix)\nSuffix = 3000\n",
            _ => {
                let _ = writeln!(text, "Memory = {}", number * 7 % 1000);
            }
        }
        let lines = [
            "Spare = 1 +",
            "Later = (",
            "Last = )",
            "this is not a line",
            "Other = \"open",
            "Memory = 1 2",
            "Cpus = *",
        ];
        if number % bad == bad - 1 {
            let _ = writeln!(text, "{}", lines[number / bad % lines.len()]);
        }
        text += "\n";
    }
    text
}

/// Compares what is printed with one thread and with several.
fn same(arguments: &[&str]) -> (Option<i32>, Vec<u8>, String) {
    let with = |threads: &str| classad(&[arguments, &["--now", "0", "--threads", threads]].concat());
    let one = with("1");
    let several = with("3");
    assert_eq!(several.0, one.0, "{arguments:?}");
    assert_eq!(several.2, one.2, "{arguments:?}");
    assert!(several.1 == one.1, "{arguments:?}: the output differs");
    one
}

#[test]
fn one_thread_and_several_print_the_same() {
    let bad = file("threads-bad.long", pool(50).as_bytes());
    let good = file("threads-good.long", pool(NONE).as_bytes());
    let [bad, good] = [&bad[..], &good];
    for (number, (constraint, options)) in [
        ("Cpus >= 8", &["--af", "Name,Memory"][..]),
        ("Cpus >= 8 && Memory > 500", &["--af", "Name,Memory", "-o", "json"]),
        ("Memory > Cpus * 3", &["--af", "State", "--distinct", "-o", "csv"]),
        ("Memory > Cpus * 3", &["--af", "Memory", "--distinct", "--limit", "700"]),
        ("Cpus == 3", &[]),
        ("Cpus == 3", &["--lenient", "-o", "jsonl"]),
        ("Cpus == 3", &["--strict-input", "-o", "names"]),
        ("regexp(\"^m3\", Name)", &["-o", "table"]),
        ("Spare > 1", &["--undefined", "--limit", "3000"]),
        ("Memory > 5", &["--sort", "Memory", "--af", "Name,Memory"]),
        ("Memory > 5", &["--group-by", "State", "--invert"]),
        ("Memory > 5", &["--count"]),
        ("Memory > 5", &["--limit", "2500", "--af", "Name"]),
        ("Name == \"m3900\"", &["-q"]),
        ("Name == \"nothing\"", &["-q"]),
        ("Memory > 5", &["--fail-fast", "--af", "Name"]),
        ("Memory + Cpus + Cpus > 5", &["--max-steps", "6", "--af", "Name,Memory * 2 * Memory * 3 * Memory * 4"]),
        ("random(1000) < 500", &["--seed", "7", "--af", "Name,random(50)"]),
        ("size(MY) > 4", &["--af", "Name"]),
    ]
    .into_iter()
    .enumerate()
    {
        let files = if number % 3 == 0 { &[good, bad][..] } else { &[bad] };
        same(&[&["query", constraint], files, options].concat());
    }
    // The test is of no use if nothing depends on what was found before.
    let (_, _, told) = same(&["query", "Memory > 5", bad, "--count", "--strict-input"]);
    assert!(told.contains(" not shown"), "{told}");
    let few = file("threads-few.long", pool(100).as_bytes());
    let (_, _, told) = same(&["query", "Memory > 5 && Cpus < 9 || Cpus < 90", &few, "--af", "Memory"]);
    // An ad is judged by what it needs itself, not by what ads before it need.
    assert!(told.contains("Memory = 1 2") && !told.contains("Spare = 1 +") && !told.contains("Last = )"), "{told}");
}

#[test]
fn explanations_are_those_of_one_thread() {
    let workload = |kind: &str| {
        let (status, text, _) =
            classad(&["workload", "pool", "--machines", "90", "--jobs", "200", "--shapes", "50", "--kind", kind]);
        assert_eq!(status, Some(0));
        file(&format!("threads-{kind}.long"), &text)
    };
    let [jobs, machines] = ["jobs", "machines"].map(workload);
    for options in [&["--unmatched"][..], &["-v"], &["--unmatched", "-o", "json"], &["--reverse", "-o", "jsonl"]] {
        let (_, out, _) = same(&[&["explain", &jobs, "--pool", &machines], options].concat());
        assert!(out.len() > 3_000, "{options:?}: {}", out.len());
    }
}

#[test]
fn a_name_that_no_ad_has_is_told_when_nothing_is_found() {
    let good = &file("threads-names.long", pool(NONE).as_bytes());
    let misspelt = "note: no ad has the attribute Memroy; did you mean Memory?\n";
    // One ad has `Spare`, far from the beginning.
    for (constraint, note) in
        [("Spare > 100", ""), ("Memroy > 5 || Cpus > 100", misspelt), ("other.Memroy > 5", misspelt)]
    {
        for options in [&[][..], &["--strict-input"]] {
            let (status, _, told) = same(&[&["query", constraint, good], options].concat());
            assert_eq!((status, told.as_str()), (Some(1), note), "{constraint} {options:?}");
        }
    }
    for (constraint, options) in [("Memroy > 5 || Cpus > 5", &[][..]), ("Memroy > 5", &["--invert"])] {
        let (status, _, told) = same(&[&["query", constraint, good], options].concat());
        assert_eq!((status, told.as_str()), (Some(0), ""), "{constraint} {options:?}");
    }
}

#[test]
fn several_threads_read_all_forms() {
    let good = &file("threads-forms.long", pool(NONE).as_bytes());
    for form in ["new", "json", "jsonl", "xml", "yaml"] {
        let (status, text, _) = classad(&["convert", good, "--to", form]);
        assert_eq!(status, Some(0));
        // Far from the beginning something is wrong.
        let at = text.len() * 2 / 3;
        let at = at + text[at..].windows(4).position(|four| four == b"Cpus").expect("ads have that");
        let broken = [&text[..at], b"\"] }:<", &text[at..]].concat();
        let name = format!("threads.{form}");
        let path = &file(&name, &text);
        let broken = &file(&format!("threads-broken.{form}"), &broken);
        let (status, out, _) = same(&["query", "Cpus >= 15", path, broken, "--af", "Name,Memory"]);
        let rows = String::from_utf8_lossy(&out).lines().count();
        assert!(status == Some(2) && (470..=940).contains(&rows), "{form}: {rows}");
    }
}

#[test]
fn packed_files_and_pipes() {
    let text = pool(50);
    let packed = zstd::stream::encode_all(text.as_bytes(), 1).unwrap();
    let packed = file("threads.zst", &packed);
    same(&["query", "Memory > 900", &packed, "--af", "Name"]);
    // A file that ends in the middle is told to do so behind what was found in it.
    let whole = std::fs::read(&packed).unwrap();
    let torn = file("threads-torn.zst", &whole[..whole.len() / 2]);
    let (status, _, told) = same(&["query", "Memory > 900", &torn, "--af", "Name"]);
    assert!(status == Some(2) && told.contains("cannot read"), "{told}");

    // Whoever writes bit by bit gets each answer before more is written.
    let mut child = Command::new(env!("CARGO_BIN_EXE_classad"))
        .args(["query", "A > 0", "--af", "A", "--from", "long", "--threads", "4"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut into = child.stdin.take().unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    for number in 1..20 {
        writeln!(into, "A = {number}\n").unwrap();
        assert_eq!(lines.next().unwrap().unwrap(), number.to_string());
    }
    drop(into);
    assert!(child.wait().unwrap().success());
}

#[test]
fn ads_have_their_numbers_in_the_source() {
    let mut text = String::new();
    for number in 1..=12_000 {
        let _ = writeln!(text, "[ a = {number}; b = \"{}\" ]", if number % 4_000 == 0 { "x\\ny" } else { "x" });
    }
    let path = &file("threads-numbers.ad", &text);
    let told = |source: &str| {
        let line = |number| format!("warning: {source}:{number}: b: a newline in a string is written as a space");
        [4_000, 8_000, 12_000].map(line)
    };
    let has_all = |printed: &str, source: &str| told(source).iter().all(|line| printed.contains(line));
    for command in ["convert", "transform"] {
        let (_, _, printed) = same(&[command, "-o", "long", path]);
        assert!(has_all(&printed, path), "{printed}");
        let printed = run(&[command, "-o", "long"], text.as_bytes()).stderr;
        let printed = String::from_utf8_lossy(&printed);
        assert!(has_all(&printed, "standard input"), "{printed}");
    }
    let (_, names, _) = same(&["transform", "-o", "names", path]);
    assert!(String::from_utf8_lossy(&names).ends_with("threads-numbers.ad:12000\n"));
}

#[test]
fn several_threads_specialize() {
    let bad = file("threads-specialize.long", pool(50).as_bytes());
    for options in [
        &["--each", "--expr", "Memory > Cpus * target.x"][..],
        &["--verdict", "--attr", "Memory"],
        &["--attr", "Memroy", "-o", "json"],
        &["-D", "Spare=1", "-o", "jsonl"],
    ] {
        same(&[&["specialize", &bad], options].concat());
    }
}

#[test]
fn several_threads_transform() {
    let bad = file("threads-transform-bad.long", pool(50).as_bytes());
    let good = file("threads-transform-good.long", pool(NONE).as_bytes());
    let [bad, good] = [&bad[..], &good];
    for options in [
        &["--set", "A=1"][..],
        &["--rename", "/^(.)e/=\\1", "--delete", "Cpus", "--eval-set", "B=Memory * 2", "-o", "jsonl"],
        &["--constraint", "Cpus > 8", "--set", "Cpus=Cpus + 1", "-n"],
        &["--constraint", "Cpus > 8", "--default", "Spare=8", "-n", "-o", "json"],
        &["--set", "A=\"x\\ny\"", "--strict"],
        &["--set", "Cpus=1", "-o", "names", "--id", "Cpus"],
        &["--copy", "Cpus=true 1", "--set", "A=1"],
        &["--eval-set", "A=random(1000)", "--seed", "7"],
    ] {
        same(&[&["transform"], options, &[good, bad]].concat());
    }
}

#[test]
fn several_threads_format() {
    let text = pool(50).replace("Cpus = ", "Cpus =  ").replace("\n\n", "\n\n  # a comment \n\n\n");
    let path = &file("threads-format.long", text.as_bytes());
    for options in [&[][..], &["--check"], &["--lenient"], &["--fail-fast"]] {
        same(&[&["fmt", path], options].concat());
    }
    let good = pool(NONE);
    for text in [good.clone(), good.replace("Cpus = ", "Cpus="), format!("{good}\n"), text] {
        let path = &file("threads-format-pieces.long", text.as_bytes());
        let (_, formatted, _) = same(&["fmt", path]);
        assert_eq!(run(&["fmt"], text.as_bytes()).stdout, formatted);
        let status = same(&["fmt", "--check", path]).0;
        let is_bad = text.contains("this is not a line");
        assert_eq!(status, Some(if is_bad { 2 } else { i32::from(formatted != text.as_bytes()) }));
        assert_eq!(classad(&["fmt", "--write", path]).0, Some(if is_bad { 2 } else { 0 }));
        assert!(std::fs::read(path).unwrap() == if is_bad { text.into_bytes() } else { formatted });
    }
}

#[test]
fn a_number_of_threads_must_be_one() {
    for threads in ["0", "65", "many", ""] {
        let (status, out, told) = classad(&["query", "true", "samples/pool/machines.long", "--threads", threads]);
        assert_eq!((status, out.as_slice()), (Some(2), &b""[..]), "{threads}");
        assert!(told.contains("--threads"), "{told}");
    }
}

#[test]
fn ads_have_the_same_numbers_in_all_blocks() {
    let bad = &file("threads-numbers.long", pool(500).as_bytes());
    // One of these ads is read with a warning, the others are bad.
    let expected: Vec<usize> = (1..=MANY).filter(|number| number % 500 == 499).collect();
    for arguments in
        [&["parse", "-q"][..], &["convert", "--to", "jsonl"], &["census", "-o", "json"], &["refs", "--count"]]
    {
        let (_, _, told) = same(&[arguments, &[bad, bad]].concat());
        let numbers = told.split("(ad ").skip(1).filter_map(|rest| rest.split(')').next()?.parse().ok());
        let numbers: Vec<usize> = numbers.collect();
        assert_eq!(numbers, expected.repeat(2), "{arguments:?}");
    }
    let (_, rows, _) = same(&["refs", "--internal", bad]);
    let rows = String::from_utf8(rows).expect("it is text");
    assert!(rows.contains("\nm1500\tSpare\n"), "{rows}");
    same(&["check", "-o", "json", bad, bad]);
}
