//! HTCondor's words: `-af`, `-format` and the others, as scripts for `condor_q` and `condor_status` have them.

use std::process::Command;

/// What is printed, what is said of it, and the exit status.
fn run(command: &str, arguments: &[&str]) -> (String, String, i32) {
    let output = Command::new(env!("CARGO_BIN_EXE_classad"))
        .arg(command)
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("classad runs");
    let text = |bytes| String::from_utf8(bytes).expect("it is text");
    (text(output.stdout), text(output.stderr), output.status.code().expect("it ends by itself"))
}

/// What `query` prints of `tests/cases/words/jobs.long`, which it is given as `condor_q` would be.
fn printed(arguments: &[&str]) -> String {
    let (out, errors, status) = run("query", &[&["-jobads", "tests/cases/words/jobs.long"], arguments].concat());
    assert_eq!((errors.as_str(), status), ("", 0), "{arguments:?}");
    out
}

/// A file of any name is read, or it is said that it cannot be; none is sought under another name.
#[test]
#[cfg(unix)]
fn names_of_files_are_not_changed() {
    use std::os::unix::ffi::OsStrExt;
    let folder = crate::binary::temporary();
    let file = folder.join(std::ffi::OsStr::from_bytes(b"words-\xff.long"));
    std::fs::write(&file, "Name = \"a\"\n").expect("it can be written");
    for word in ["-slotads", "-jobads", "-ads"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_classad"));
        let output = command.args(["query", "-constraint", "true", word]).arg(&file).output().expect("classad runs");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(errors.contains("invalid UTF-8 was detected"), "{errors}");
        assert_eq!(output.status.code(), Some(2));
    }
}

/// As `condor_q` 23.9 does: only a quote can follow a backslash that does not stand for itself.
#[test]
fn a_backslash_in_a_string_stands_for_itself() {
    assert_eq!(printed(&["-constraint", r#"regexp("^\w+$", Owner)"#, "-af", "Owner"]), "alice\n");
    let strings = [r#""a\b""#, r#""\"q\"""#, r#"size("\n\\x")"#, r#""C:\""#];
    let values = "\"a\\b\" \"\\\"q\\\"\" 5 \"C:\\\"\n";
    assert_eq!(printed(&[&["101", "-af:V"][..], &strings].concat()), values);
    assert_eq!(printed(&["101", "-format", "%s\\n", r#"regexps("(a)l", Owner, "\1-")"#]), "a-\n");
    // alice's name is one word: true comes after false.
    assert_eq!(printed(&["-sort", r#"regexp("^\w+$", Owner)"#, "-af", "Owner"]), "bob the builder\nalice\n");
    // A quote in the string, and a backslash that precedes none.
    assert_eq!(printed(&["-constraint", r#"Owner != "a\"\b" && Owner == "alice""#, "-af", "Owner"]), "alice\n");
    let jobs = ["-jobads", "tests/cases/words/jobs.long", "-slotads", "samples/pool/machines.long"];
    let (out, errors, _) = run("explain", &[&jobs[..], &["-constraint", r#"regexp("^\w+$", Owner)"#]].concat());
    assert!(out.contains("101") && !out.contains("1002"), "{out}{errors}");
    // Elsewhere it is an escape.
    let (out, ..) = run("query", &[r#"size("\n") == 1"#, "--count", "tests/cases/words/jobs.long"]);
    assert_eq!(out, "2\n");
    let (_, errors, status) = run("query", &["-jobads", "x", "-constraint", r#"Owner == "\w"#]);
    assert!(status == 2 && errors.contains("no closing quote"), "{errors}");
}

/// The expected texts are those of HTCondor 25.14's own library.
#[test]
fn rows_are_printed_as_htcondor_prints_them() {
    for (arguments, expected) in [
        (&["-af", "Owner", "Memory", "Cost"][..], "alice 2048 1.5\nbob the builder 4 100.25\n"),
        (&["-autoformat", "Owner"], "alice\nbob the builder\n"),
        (&["-af:j", "Owner"], "101.0 alice\n1002.17 bob the builder\n"),
        (
            &["-af:jh", "Owner", "ClusterId"],
            " ID     Owner           ClusterId\n101.0   alice           101      \n1002.17 bob the builder 1002     \n",
        ),
        (&["-af:l", "Owner", "Memory"], "Owner = alice Memory = 2048\nOwner = bob the builder Memory = 4\n"),
        (&["-af:jl", "Owner"], "ID = 101.0 Owner = alice\nID = 1002.17 Owner = bob the builder\n"),
        (&["-af:lh", "Memory"], "Memory\n2048  \n4     \n"),
        (
            &["-af:lrng", "Owner", "Req"],
            "\nOwner = \"alice\"\nReq = Memory > 1000 && Owner == \"alice\"\n\
             \nOwner = \"bob the builder\"\nReq = undefined\n",
        ),
        (&["-af:V", "Owner", "Env"], "\"alice\" \"a \\\"q\\\" b\"\n\"bob the builder\" undefined\n"),
        (&["-af:r", "Memory+1", "Nope", "Nope+1"], "Memory + 1 undefined Nope + 1\nMemory + 1 undefined Nope + 1\n"),
        (&["-af:jt", "Owner", "Memory"], "101.0\talice\t2048\n1002.17\tbob the builder\t4\n"),
        (&["-af:j,", "Owner", "Memory"], "101.0, alice, 2048\n1002.17, bob the builder, 4\n"),
        (&["-af:n", "Owner", "Memory"], "alice\n 2048\nbob the builder\n 4\n"),
        (&["-af:g", "Owner", "Memory"], "\nalice2048\n\nbob the builder4\n"),
        (&["-format", "%s ", "Owner", "-format", "%d\\n", "Memory"], "alice 2048\nbob the builder 4\n"),
        (&["-format", "%s\\n", "Req"], "Memory > 1000 && Owner == \"alice\"\n"),
        (&["-format", "%s\\n", "Memory"], "2048\n4\n"),
        (&["-format", "%s\\n", "Memory+1"], ""),
        (&["-format", "%d\\n", "Owner"], ""),
        (&["-format", "%d\\n", "Cost"], "1\n100\n"),
        (&["-format", "%d\\n", "Flag"], "1\n"),
        (&["-format", "%8.3f|\\n", "Cost"], "   1.500|\n 100.250|\n"),
        (&["-format", "%5d|\\n", "Nope"], "          "),
        (&["-format", "%v\\n", "Nope"], "undefined\nundefined\n"),
        (&["-format", "%20V|\\n", "Owner"], "             \"alice\"|\n   \"bob the builder\"|\n"),
        (&["-format", "hello\\n", "Owner"], "hello\nhello\n"),
        (&["-af", "Owner", "-format", "%d\\n", "Memory"], "alice 2048\n\nbob the builder 4\n\n"),
        (
            &["-format", "%s", "Owner", "-format", " %s ", "Env", "-format", " ProcId = %d\\n", "ProcId"],
            "alice a \"q\" b  ProcId = 0\nbob the builder ProcId = 17\n",
        ),
    ] {
        assert_eq!(printed(arguments), expected, "{arguments:?}");
    }
}

#[test]
fn words_are_those_of_ours_that_mean_the_same() {
    let pool = "samples/pool/machines.long";
    for (words, ours) in [
        (&["-constraint", "Memory > 100000", pool][..], &["Memory > 100000", pool][..]),
        (&[pool, "-const", "Memory > 100000"], &["Memory > 100000", pool]),
        (
            &["-slotads", pool, "-cons", "Cpus > 3", "-constr", "Memory > 100000"],
            &["Cpus > 3 && Memory > 100000", pool],
        ),
        (&["-slotads", pool, "-json"], &["true", pool, "-o", "json"]),
        (&["-slotads", pool, "-jsonl"], &["true", pool, "-o", "jsonl"]),
        (&["-slotads", pool, "-xml"], &["true", pool, "-o", "xml"]),
        (&["-slotads", pool, "-long"], &["true", pool]),
        (&["-slotads", pool, "-l:new"], &["true", pool, "-o", "new"]),
        (&["-slotads", pool, "-limit", "3"], &["true", pool, "--limit", "3"]),
        (&["-slotads", pool, "-sort", "-Memory"], &["true", pool, "--sort", "-Memory"]),
        (&["-slotads", pool, "-attr", "Name,Cpus"], &["true", pool, "--attributes", "Name,Cpus"]),
        (&[pool, "-xml"], &["true", pool, "-o", "xml"]),
        (&["Cpus > 3", pool, "-json"], &["Cpus > 3", pool, "-o", "json"]),
        (&["-jsonl", "--constraint", "Cpus > 3", pool], &["Cpus > 3", pool, "-o", "jsonl"]),
        (&["-jsonl", "--", "Cpus > 3", pool], &["Cpus > 3", pool, "-o", "jsonl"]),
        (&["-jobads", "samples/pool/jobs.long", "101", "-long"], &["ClusterId == 101", "samples/pool/jobs.long"]),
    ] {
        let (out, errors, status) = run("query", words);
        assert!(!out.is_empty() && errors.is_empty() && status == 0, "{words:?}: {errors}");
        assert_eq!(out, run("query", ours).0, "{words:?}");
    }
    let (jobs, pool) = (&["-jobads", "samples/pool/jobs.long"], &["-slotads", pool]);
    let ours = ["samples/pool/jobs.long", "--pool", pool[1]];
    for (command, words, more) in [
        ("query", &["-better-analyze", "105.0"][..], &["--constraint", "ClusterId == 105 && ProcId == 0"][..]),
        ("explain", &["-better-analyze", "105", "106"], &["--constraint", "ClusterId == 105 || ClusterId == 106"]),
        ("why", &["-constraint", "Owner == \"alice\""], &["--constraint", "Owner == \"alice\""]),
        ("query", &["-analyze:reverse", "105"], &["--reverse", "--constraint", "ClusterId == 105"]),
        ("query", &["-reverse", "105"], &["--reverse", "--constraint", "ClusterId == 105"]),
        ("query", &["-better-analyze:reverse", "-reverse", "105"], &["--reverse", "--constraint", "ClusterId == 105"]),
        ("explain", &["-json"], &["-o", "json"]),
    ] {
        let words = [&jobs[..], &pool[..], words].concat();
        let (out, errors, status) = run(command, &words);
        // The sample ads are old, which is told.
        let notes = errors.lines().all(|line| line.starts_with("note: "));
        assert!(!out.is_empty() && notes && status < 2, "{words:?}: {errors}");
        assert_eq!((out, errors, status), run("explain", &[&ours[..], more].concat()), "{words:?}");
    }
}

#[test]
fn what_is_no_word_is_told_with_what_may_have_been_meant() {
    for (command, arguments, told) in [
        ("query", &["-constrant", "x"][..], "there is no option -constrant; did you mean -constraint"),
        ("query", &["-atributes", "x"], "there is no option -atributes; did you mean -attributes"),
        ("query", &["--limt", "3"], "there is no option --limt; did you mean --limit?"),
        ("explain", &["-slotsads", "x"], "there is no option -slotsads; did you mean -slotads?"),
        ("explain", &["-af", "x"], "`explain` has no option -autoformat, but `query` has"),
        ("explain", &["-pool", "x"], "did you mean --pool?"),
        ("query", &["-af"], "-af needs an attribute or an expression"),
        ("query", &["-af", "-json"], "-af needs an attribute or an expression"),
        ("query", &["-format", "%s"], "-format needs a format and an expression"),
        ("query", &["-limit"], "-limit needs a value"),
        (
            "query",
            &["true", "-af:k", "x", "README.md"],
            "does not support the letter `k`; see `classad help from-condor`",
        ),
        ("query", &["true", "-format", "%c", "x", "README.md"], "the conversion `%c` is not supported: use %s %d"),
        ("query", &["-sort", "--limit", "3"], "-sort needs a value"),
        ("query", &["-format", "%d", "--limit", "3"], "-format needs a format and an expression"),
        ("query", &["-nobacth", "README.md"], "there is no option -nobacth; did you mean -nobatch"),
        ("query", &["true", "-format", "%s%d", "x", "README.md"], "has more than one conversion"),
        ("query", &["true", "-af", "x", "-json", "README.md"], "-autoformat and -format cannot be combined with"),
        (
            "explain",
            &["-constraint", "false", "-jobads", "samples/pool/jobs.long", "-slotads", "samples/pool/jobs.long"],
            "the constraint `false` is true for no request",
        ),
    ] {
        let (out, errors, status) = run(command, arguments);
        assert!(errors.contains(told), "{arguments:?}: {errors}");
        assert_eq!((out.as_str(), status), ("", 2), "{arguments:?}");
    }
    // An expression is not an option, nor is a value of one.
    for arguments in
        [&["true", "--sort", "-Memory", "--af", "Name"][..], &["-1 < Memory", "-qo", "json"], &["true", "-ojson"]]
    {
        let (_, errors, status) = run("query", &[arguments, &["samples/pool/machines.long"]].concat());
        assert!(errors.is_empty() && status < 2, "{arguments:?}: {errors}");
    }
}

/// Words that readers of help, manual pages, documents and messages had to read twice.
const BANNED: [&str; 14] = [
    "told",
    "tells",
    "behind",
    "wants",
    "whoever",
    "whomever",
    "nobody",
    "anybody",
    "of which",
    "stands for",
    "stands in",
    "can stand",
    "this is no",
    "is wanted",
];

/// Finds a banned phrase in a text, and `is no` and `are no` but for `there is no` and `there are no`.
fn banned_phrase(text: &str) -> Option<&'static str> {
    let letters = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let words = format!(" {} ", letters.map(str::to_ascii_lowercase).collect::<Vec<_>>().join(" "));
    let has = |phrase: &str| words.contains(&format!(" {phrase} "));
    if let Some(found) = BANNED.into_iter().find(|phrase| has(phrase)) {
        return Some(found);
    }
    let others = [" there is no ", " there are no ", " is no longer ", " are no longer "];
    let others = others.into_iter().fold(words.clone(), |words, usual| words.replace(usual, " "));
    ["is no", "are no"].into_iter().find(|phrase| others.contains(&format!(" {phrase} ")))
}

#[test]
fn help_and_documents_are_plain() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let pages =
        std::fs::read_dir(root.join("man")).expect("there are pages").map(|page| page.expect("it is there").path());
    let documents = ["README.md", "samples/README.md", "samples/tour.md"].map(|name| root.join(name));
    let (mut found, mut read) = (Vec::new(), 0);
    for path in pages.chain(documents) {
        let text = std::fs::read_to_string(&path).expect("it is text");
        for line in text.lines() {
            found.extend(banned_phrase(line).map(|phrase| format!("{}: `{phrase}`: {line}", path.display())));
        }
        read += 1;
    }
    assert!(read > 30 && found.is_empty(), "{}", found.join("\n"));
}

/// Maximum number of words in a sentence of help. Readers had to read longer sentences twice.
const MAX_SENTENCE_WORDS: usize = 20;

/// Returns the sentences of a text of help, without examples and tables. Code in backquotes is one word.
fn sentences(help: &str) -> Vec<String> {
    let is_prose = |line: &&str| !["$", "classad ", "{", "[", "|", "Usage"].iter().any(|start| line.starts_with(start));
    let code_as_word = |line: &str| {
        let parts = line.split('`').enumerate();
        parts.map(|(place, part)| if place % 2 == 1 { "CODE" } else { part }).collect::<String>()
    };
    let lines = help.lines().map(str::trim).filter(is_prose).map(code_as_word);
    let ends = |line: String| [". ", ": ", "; "].iter().fold(line, |line, end| line.replace(end, ".\n"));
    lines.map(ends).flat_map(|line| line.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
}

#[test]
fn sentences_of_help_are_short() {
    // Each paragraph is one line of this width.
    let help = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_classad"));
        let output = command.args(arguments).env("COLUMNS", "5000").output().expect("classad runs");
        assert!(output.status.success(), "{arguments:?}");
        String::from_utf8(output.stdout).expect("it is text")
    };
    let listed = |list: &str| -> Vec<String> {
        let lines = help(&["help", list]);
        lines
            .lines()
            .filter(|line| line.starts_with("  "))
            .filter_map(|line| line.split_whitespace().next())
            .map(str::to_owned)
            .collect()
    };
    let commands = listed("commands").into_iter().map(|name| (help(&[&name, "--help"]), name));
    let topics = listed("topics").into_iter().map(|name| (help(&["help", &name]), name));
    let (mut read, mut long) = (0, Vec::new());
    for (text, name) in commands.chain(topics) {
        for sentence in sentences(&text) {
            let words = sentence.split_whitespace().filter(|word| word.contains(char::is_alphabetic)).count();
            read += 1;
            long.extend((words > MAX_SENTENCE_WORDS).then(|| format!("{name}: {words} words: {sentence}")));
        }
    }
    assert!(read > 1500 && long.is_empty(), "{read} sentences\n{}", long.join("\n"));
}

/// Returns the texts in quotes of a source file, without those of its tests and its comments.
fn string_literals(source: &str) -> Vec<String> {
    let source = source.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let (mut literals, mut letters) = (Vec::new(), source.chars().peekable());
    let mut before = ' ';
    while let Some(letter) = letters.next() {
        match letter {
            '/' if letters.peek() == Some(&'/') => drop(letters.by_ref().find(|letter| *letter == '\n')),
            // A character in quotes, or a lifetime.
            '\'' if letters.peek() == Some(&'\\') => {
                letters.nth(1);
            }
            '\'' if letters.peek() == Some(&'"') => drop(letters.next()),
            '"' => {
                let is_raw = before == 'r' || before == '#';
                let mut literal = String::new();
                while let Some(letter) = letters.next().filter(|letter| *letter != '"') {
                    match letter {
                        '\\' if !is_raw => match letters.next() {
                            // The line goes on in the next one.
                            Some('\n') => while letters.next_if(|letter| letter.is_whitespace()).is_some() {},
                            Some('n') => literal.push('\n'),
                            other => literal.extend(other),
                        },
                        letter => literal.push(letter),
                    }
                }
                literals.push(literal);
            }
            _ => {}
        }
        before = letter;
    }
    literals
}

/// Every text of the sources that a user may see: messages, headings, reports, help.
#[test]
fn messages_are_plain() {
    let mut folders = vec![std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    let (mut found, mut read) = (Vec::new(), 0);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("it is a folder") {
            let path = entry.expect("it is there").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.extension().is_none_or(|extension| extension != "rs") || name.ends_with("tests.rs") {
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("it is text");
            for literal in string_literals(&text) {
                read += 1;
                // A name of a placeholder is not shown.
                let parts = literal.split('{').map(|part| part.split_once('}').map_or(part, |(_, rest)| rest));
                let shown = parts.collect::<Vec<_>>().join("it");
                found.extend(banned_phrase(&shown).map(|phrase| format!("{}: `{phrase}`: {literal}", path.display())));
            }
        }
    }
    assert!(read > 5000 && found.is_empty(), "{read} texts\n{}", found.join("\n"));
}

/// What the two tests above find, and what they do not.
#[test]
fn phrases_are_found_in_literals() {
    let source = "// told\nlet a = \"this is \\\n    no YAML\"; let b = '\"'; let c = \"there is no file\"; let d = r\"it \\ wants\";\n\
                  #[cfg(test)]\nmod tests { let e = \"behind\"; }";
    let literals = string_literals(source);
    assert_eq!(literals, ["this is no YAML", "there is no file", "it \\ wants"]);
    let found: Vec<_> = literals.iter().map(|literal| banned_phrase(literal)).collect();
    assert_eq!(found, [Some("this is no"), None, Some("wants")]);
    assert_eq!(banned_phrase("a string is no boolean"), Some("is no"));
}
