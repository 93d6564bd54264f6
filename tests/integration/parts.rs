//! Parts of files tile them, and many files are read one after the other.

use std::fmt::Write as _;
use std::process::Command;

use super::binary::{classad, file};

/// Ads in the long form with ragged ends: blank lines, comments, carriage returns, bad lines.
pub fn long_text(ads: usize) -> String {
    let mut text = String::from("# a pool\n\n");
    for number in 0..ads {
        let end = if number % 3 == 0 { "\r\n" } else { "\n" };
        let _ = write!(text, "Id = {number}{end}Name = \"n{number}\"{end}Owner = \"o{}\"{end}", number % 4);
        let _ = write!(text, "Cpus = {}{end}", number % 5);
        match number % 7 {
            2 => text += "# a comment\n",
            3 => text += "Cpus = (\n",
            5 => text += "Other = )\n",
            _ => {}
        }
        text += if number % 5 == 1 { "\n \n\n" } else { end };
    }
    text
}

/// A history file, whose last record has no banner.
pub fn history_text(records: usize) -> String {
    let mut text = String::new();
    for number in 0..records {
        let _ = write!(text, "ClusterId = {number}\nProcId = 0\nOwner = \"o{}\"\nCompletionDate = 7\n", number % 3);
        let _ = write!(text, "Id = {number}\nCpus = {}\n", number % 5);
        if number % 6 == 4 {
            text += "Cpus = 1 +\n";
        }
        let _ = writeln!(
            text,
            "*** Offset = 0 ClusterId = {number} ProcId = 0 Owner = \"o{}\" CompletionDate = 7 CurrentTime = 9",
            number % 3
        );
    }
    text + "ClusterId = 99999\nId = 99999\n"
}

/// Ads in JSON Lines, some of them bad.
pub fn json_text(ads: usize) -> String {
    let mut text = String::new();
    for number in 0..ads {
        let _ = match number % 6 {
            4 => write!(text, "{{\"Id\": {number}, \"Cpus\": }}"),
            _ => write!(text, "{{\"Id\": {number}, \"Cpus\": {}, \"Owner\": \"o{}\"}}", number % 5, number % 3),
        };
        text += ["\n", "\r\n", "\n\n"][number % 3];
    }
    text
}

/// Numbers of an own, simple generator, so that the cuts are the same in each run.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits fit") % bound
    }
}

#[test]
fn parts_tile_a_file() {
    let mut numbers = Numbers(1);
    for (name, text) in
        [("parts.long", long_text(40)), ("parts.history", history_text(30)), ("parts.jsonl", json_text(40))]
    {
        let path = file(name, &text);
        let (_, whole, _) = classad(&["query", "true", &path, "--af", "Id,Cpus"]);
        assert!(whole.lines().count() > 20, "{name}: {whole}");
        for _ in 0..12 {
            let mut cuts: Vec<usize> = (0..3).map(|_| numbers.below(text.len() + 1)).collect();
            cuts.sort_unstable();
            let ends = cuts.iter().map(ToString::to_string).chain([String::new()]);
            let starts = std::iter::once(0).chain(cuts.iter().copied());
            let parts: Vec<String> = starts.zip(ends).map(|(start, end)| format!("{path}@{start}-{end}")).collect();
            let arguments: Vec<&str> = ["query", "true", "--af", "Id,Cpus"].into_iter().collect();
            let together = classad(&[&arguments[..], &parts.iter().map(String::as_str).collect::<Vec<_>>()].concat());
            assert_eq!(together.1, whole, "{name} cut at {cuts:?}");
        }
    }
}

#[test]
fn a_part_begins_behind_a_separator() {
    let path = file("parts-rule.long", "A = 1\n\nA = 2\n\nA = 3\n");
    for (range, values) in [
        ("0-", "1\n2\n3\n"),
        ("0-6", "1\n"),
        ("0-7", "1\n"),
        ("0-8", "1\n2\n"),
        ("7-8", "2\n"),
        ("6-7", ""),
        ("8-", "3\n"),
        ("15-", ""),
        ("0-0", ""),
    ] {
        let (_, out, told) = classad(&["query", "true", &format!("{path}@{range}"), "--af", "A"]);
        assert_eq!((out.as_str(), told.as_str()), (values, ""), "{range}");
    }
    // A file with exactly this name takes precedence.
    let named = file("parts-rule.long@0-6", "A = 9\n");
    assert_eq!(classad(&["query", "true", &named, "--af", "A"]).1, "9\n");
    std::fs::remove_file(named).expect("it is there");
    // Problems are in lines of the part.
    let path = file("parts-line.long", "A = 1\n\nA = (\n");
    let (status, _, told) = classad(&["query", "true", &format!("{path}@3-"), "--af", "A"]);
    assert!(status == Some(2) && told.contains("parts-line.long@3-:1:"), "{told}");
}

#[test]
fn what_has_no_parts_is_refused() {
    let bracketed = file("parts.ad", "[a = 1]\n[a = 2]\n");
    let packed = file("parts.zst", zstd::stream::encode_all(&b"A = 1\n"[..], 1).expect("it packs"));
    let long = file("parts-shrunk.long", "A = 1\n");
    for (argument, reason) in [
        (format!("{bracketed}@0-4"), "the bracketed form cannot be read in parts"),
        (format!("{packed}@0-4"), "a compressed file cannot be read in parts"),
        (format!("{long}@9-4"), "the end of the part is before its start"),
        (format!("{long}-none@0-4"), "no such file"),
    ] {
        let (status, _, told) = classad(&["query", "true", &argument, "--af", "A"]);
        assert!(status == Some(2) && told.contains(reason), "{argument}: {told}");
    }
    let (status, out, told) = classad(&["query", "true", &format!("{long}@0-60"), "--af", "A"]);
    assert_eq!((status, out.as_str()), (Some(0), "1\n"));
    assert!(told.contains("has only 6 bytes, but the part ends at 60"), "{told}");
}

#[test]
fn a_plan_has_each_ad_once() {
    let text = long_text(400);
    let long = file("plan.long", &text);
    let packed = file("plan.zst", zstd::stream::encode_all(text.as_bytes(), 1).expect("it packs"));
    let small: Vec<String> = (0..5).map(|number| file(&format!("plan small {number}.long"), "Id = 1\n")).collect();
    let mut arguments = vec!["parts", "--size", "5K", &long, &packed];
    arguments.extend(small.iter().map(String::as_str));
    let (status, plan, told) = classad(&arguments);
    assert_eq!((status, told.as_str()), (Some(0), ""));
    let lines: Vec<&str> = plan.lines().collect();
    assert!(lines.len() > 4, "{plan}");
    assert!(lines[0].ends_with("plan.long@0-5120") && lines.last().expect("one").matches("plan small").count() == 5);
    let count = |words: &str| {
        let script = format!("{} query true --count -q --lenient {words}", env!("CARGO_BIN_EXE_classad"));
        let script = script.replace(" -q", "");
        let output = Command::new("sh").args(["-c", &script]).output().expect("a shell");
        String::from_utf8_lossy(&output.stdout).trim().parse::<usize>().expect("a number")
    };
    let whole = count(&format!("'{long}' '{packed}' '{}'", small.join("' '")));
    assert_eq!(lines.iter().map(|line| count(line)).sum::<usize>(), whole);
    assert_eq!(classad(&["parts", "--size", "0", &long]).0, Some(2));
    assert_eq!(classad(&["parts", "--size", "1X", &long]).0, Some(2));
    assert_eq!(classad(&["parts"]).0, Some(2));
}

#[test]
fn files_from_a_list() {
    let names: Vec<String> =
        (0..3).map(|number| file(&format!("list {number}.long"), format!("A = {number}\n"))).collect();
    let lines = file("list.lines", names.join("\r\n") + "\n\n");
    let nuls = file("list.nuls", names.join("\0") + "\0");
    for list in [&lines, &nuls] {
        assert_eq!(classad(&["query", "true", "--files-from", list, "--af", "A"]).1, "0\n1\n2\n");
        assert_eq!(classad(&["query", "true", &names[2], "--files-from", list, "--af", "A"]).1, "2\n0\n1\n2\n");
    }
    let list = lines.as_str();
    assert_eq!(classad(&["eval", "A + 1", "--files-from", list]).1, "1\n2\n3\n");
    assert_eq!(classad(&["eval", "--attr", "A", &names[2], "--files-from", list]).1, "2\n0\n1\n2\n");
    assert_eq!(classad(&["specialize", "--expr", "A + B", "--files-from", list]).1, "0 + B\n1 + B\n2 + B\n");
    let (status, _, told) = classad(&["specialize", "--known", &names[0], "--files-from", list, "--expr", "A"]);
    assert!(status == Some(2) && told.contains("--files-from"), "{told}");
    let untidy = [file("list fmt.long", "A=0\n"), file("list fmt-2.long", "A=1\n")];
    let untidy_list = file("list.fmt", untidy.join("\n"));
    assert_eq!(classad(&["fmt", "--files-from", &untidy_list]).1, "A = 0\nA = 1\n");
    assert_eq!(classad(&["fmt", "--write", "--files-from", &untidy_list]).0, Some(0));
    let written = untidy.map(|path| std::fs::read_to_string(path).expect("fmt keeps the file"));
    assert_eq!(written, ["A = 0\n", "A = 1\n"]);
    let from_stdin = super::binary::run(&["census", "--files-from", "-", "-o", "names"], names.join("\n").as_bytes());
    assert_eq!(String::from_utf8_lossy(&from_stdin.stdout), "A\n");
    let empty = file("list.empty", "\n");
    for (list, reason) in [(&empty[..], "names no file"), ("no such list", "there is no such file")] {
        let (status, out, told) = classad(&["query", "true", "--files-from", list, "--count"]);
        assert!(status == Some(2) && out.is_empty() && told.contains(reason), "{told}");
    }
    assert_eq!(classad(&["query", "true", "-", "--files-from", "-", "--count"]).0, Some(2));
}

/// Files are opened one after the other, so that a low limit of open files is enough.
#[test]
fn more_files_than_may_be_open() {
    let folder = crate::binary::temporary().join("many");
    std::fs::create_dir_all(&folder).expect("the folder can be written");
    for number in 0..300 {
        std::fs::write(folder.join(format!("{number:03}.long")), format!("A = {number}\nRequirements = true\n"))
            .expect("it can be written");
    }
    let run = |arguments: &str| {
        let script = format!("ulimit -n 64; {} {arguments}", env!("CARGO_BIN_EXE_classad"));
        Command::new("sh").current_dir(&folder).args(["-c", &script]).output().expect("a shell")
    };
    for (arguments, lines) in [
        ("query true *.long --count", 1),
        ("query true *.long --af A", 300),
        ("query true *.long --newest --af A", 300),
        ("census *.long", 1),
        ("parse --count *.long", 300),
        ("convert --to jsonl *.long", 300),
        ("refs --count *.long", 0),
        ("check *.long -o github", 0),
        ("autocluster *.long", 1),
        ("match *.long --pool 000.long --all --count", 0),
        ("collect *.long -o names", 300),
        ("transform --set B=1 *.long -o names", 300),
        ("eval A *.long", 300),
        ("specialize --expr A *.long", 300),
        ("fmt *.long", 300),
        ("explain *.long --pool 000.long", 0),
    ] {
        let output = run(arguments);
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(!told.contains("open files"), "{arguments}: {told}");
        assert!(String::from_utf8_lossy(&output.stdout).lines().count() >= lines, "{arguments}: {told}");
    }
}
