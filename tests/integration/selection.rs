//! Reading only what is asked for gives what reading everything gives.

use std::fmt::Write as _;

use classad::ad::{Dialect, Name};
use classad::eval::{Context, FreeNames};
use classad::format::{FileFormat, Projection, StreamBlock};
use classad::matching::Query;
use classad::syntax::{ParseOptions, Style, parse_expression, print_value};
use proptest::prelude::*;

use super::binary::{classad, file};
use super::random::{NAMES, Text, seeds};

/// Ads with whatever may be in the way of finding an attribute.
const POOL: &str = "# a pool\n\
    Name = \"plain\"\nCpus = 8\nMemory = 4096\nState = \"Idle\"\n\n\
    Name = \"chain\"\nCpus = Total / 2\nTotal = Spare + 4\nSpare = 12\nMemory = 1.5e4\n\n\
    Name = \"circle\"\nCpus = Total\nTotal = Cpus\nMemory = 1\n\n\
    Name = \"twins\"\nCpus = isUndefined(Total) ? 9 : 8\nTotal = isUndefined(Total) ? 9 : 8\nMemory = Cpus\n\n\
    Name = \"repeated\"\nCpus = 1\nMemory = 64\ncPUS = 16\n\n\
    nAME = \"case\"\ncpus = 12\nMEMORY = 100\n\n\
    'Name' = \"quoted\"\n'Cpus'=10\n'a b' = \"x=y\"\nMemory = 3\n\n\
    a b = 3\nName = \"unquoted\"\nCpus =9\nMemory\t= 2\n\n\
    Name = \"returns\"\r\nCpus = 11\r\nMemory = 5\r\n\r\n\
    \n  # indented\n  Name = \"indented\"\n\tCpus = 13\n // Cpus = 1\nMemory = 5\n\n\
    Name = \"es\\\"caped\"\nCpus = 14\nMemory = 5\nOther = \"'it' \\\"is\\\" C:\\\"\n\n\
    Name = \"caf\u{e9}\"\nCpus = 15\nMemory = 5\nOther = \"\u{e9}\"\n\n\
    Name = \"nested\"\nCpus = Slot.Size\nSlot = [ Size = Base + 1; Base = 20 ]\nMemory = Slot.parent.Spare\nSpare = 7\n\n\
    Name = \"outer\"\nCpus = Slot.Size\nSlot = [ Size = Base + 1 ]\nBase = 30\nMemory = 1\n\n\
    Name = \"text\"\nCpus = eval(\"To\" + \"tal\")\nTotal = 40\nMemory = 1\n\n\
    Name = \"constant text\"\nCpus = eval(\"Total\")\nTotal = 41\nMemory = 1\n\n\
    Name = \"whole\"\nCpus = size(MY)\nMemory = 2\nx1 = 1\nx2 = 1\nx3 = 1\nx4 = 1\nx5 = 1\n\n\
    Name = \"list\"\nCpus = sum(Parts)\nParts = { Spare, Spare * 2 }\nSpare = 5\nMemory = 2\n\n\
    Name = \"true\"\nCpus = true\nMemory = false\n\n\
    Name = \"strings\"\nCpus = \"8\"\nMemory = \"4096\"\n\n\
    Cpus = 50\nClusterId = 7\nProcId = 1 + 1\n\n\
    Cpus = 51\n\n\
    Name = \"suffix\"\nCpus = 8K\nMemory = undefined\n\n\
    Name = \"bad line\"\nCpus = 8\nthis is none\n\n\
    Name = \"open\"\nCpus = 8\nOther = \"x\n\n\
     = 3\nName = \"no name\"\n\n\
    Name = \"last\"\nCpus = 60\nMemory = 9";

/// What is found only where it is asked for.
const BAD: &str = "Name = \"bad value\"\nCpus = 8 +\nMemory = 4096\n\n\
    Name = \"bad twice\"\nCpus = 8 +\nCpus = 8\n\n\
    Name = \"warned\"\nCpus = 8 # cores\nMemory = 1\n\n";

#[test]
fn queries_answer_as_if_everything_were_parsed() {
    let pool = &file("selection.long", POOL);
    let constraints = [
        "Cpus >= 8",
        "Cpus",
        "Cpus >= 8 && Memory > 4 && Name != \"plain\"",
        "8 <= Cpus && State =?= undefined",
        "Cpus + Memory > 20",
        "regexp(\"e\", Name) && Total > 1",
        "MY.Cpus > 8",
        "'a b' == \"x=y\" || 'a b' == 3",
        "eval(\"Cp\" + \"us\") > 8",
        "size(MY) > 3",
        "Slot.Size > 1",
        "self.Cpus is 8",
        "Nothing",
        "random(10) < 5",
        "true",
    ];
    let options: [&[&str]; 20] = [
        &["--af", "Name,Cpus,Memory"],
        &["--af", "Name", "--invert"],
        &["--undefined"],
        &["--undefined", "--af", "Total"],
        &["--invert", "-o", "names"],
        &["-o", "table"],
        &["-o", "jsonl"],
        &[],
        &["--sort", "Memory * -1", "--af", "Name"],
        &["--group-by", "Cpus"],
        &["--count"],
        &["-q"],
        &["--limit", "2", "-o", "long"],
        &["--af", "Cpus", "--distinct"],
        &["--id", "strcat(Name, Total)", "-o", "names"],
        &["--af", "unparse(Cpus),size(MY)"],
        &["--attributes", "Name,Cpus", "-o", "jsonl"],
        &["--attributes", "memory,Total,name,a b"],
        &["--attributes", "Cpus,Nothing", "--sort", "Memory", "-o", "xml"],
        &["--attributes", "Slot,Parts", "--undefined", "-o", "new"],
    ];
    for (shift, dialect) in ["condor", "classad"].into_iter().enumerate() {
        for (place, constraint) in constraints.into_iter().enumerate() {
            // Every third option with each constraint; three constraints have all of them.
            for options in options.into_iter().skip((place + shift) % 3).step_by(3) {
                let common = ["query", constraint, pool, "--dialect", dialect, "--seed", "3", "--now", "0"];
                let fast = classad(&[&common[..], options].concat());
                let full = classad(&[&common[..], options, &["--strict-input"]].concat());
                assert_eq!(fast, full, "{constraint} {options:?} {dialect}");
            }
        }
    }
}

#[test]
fn what_is_bad_is_reported_as_by_a_full_parse() {
    let pool = &file("reported.long", &(BAD.to_owned() + POOL));
    let (status, _, fast) = classad(&["query", "Cpus > 8 || random() > 2", pool, "--af", "Name"]);
    let (_, _, full) = classad(&["query", "Cpus > 8 || random() > 2", pool, "--af", "Name", "--strict-input"]);
    assert_eq!((status, &fast), (Some(2), &full));
    assert!(
        full.contains("this line does not have the form `name = expression`")
            && full.contains(
                "closing \
        quote"
            ),
        "{full}"
    );

    let text = "Name = \"a\"\nFoo = 1 +\n\nName = \"b\"\nFoo = 1\n";
    let hidden = &file("hidden.long", text);
    let names = |options: &[&str]| classad(&[&["query", "Name != \"c\"", hidden], options].concat());
    assert_eq!(names(&["--af", "Name"]), (Some(0), "a\nb\n".to_owned(), String::new()));
    // The attributes of a banner come last, its kind first of them.
    let epoch = &file(
        "selection.epoch",
        "Id = 1\nproc = 2\n*** EPOCH ClusterId=7 ProcId=0 RunInstanceId=1 Owner=\"a\" CurrentTime=5\n",
    );
    let ad = "{\"Id\": 1, \"proc\": 2, \"RecordType\": \"EPOCH\", \"ClusterId\": 7, \"Owner\": \"a\"}\n";
    let attributes = ["query", "true", epoch, "--attributes", "Owner,Proc,recordtype,CLUSTERID,Id", "-o", "jsonl"];
    for options in [&[][..], &["--strict-input"]] {
        assert_eq!(classad(&[&attributes[..], options].concat()), (Some(0), ad.to_owned(), String::new()));
    }
    let ads = "{\"Name\": \"a\"}\n{\"Name\": \"b\"}\n".to_owned();
    assert_eq!(names(&["--attributes", "Name", "-o", "jsonl"]), (Some(0), ads, String::new()));
    for options in [&["--af", "Name", "--strict-input"][..], &["--af", "Name,Foo"], &["-o", "long"]] {
        let (status, out, err) = names(options);
        assert!(status == Some(2) && !out.contains('a') || out.contains("Name = \"b\""), "{out}");
        assert!(err.contains("hidden.long:2:10") && err.contains("(ad 1)"), "{err}");
    }
}

/// Names of ads in which a constraint is true, read whole or selected with lines sought in pieces of so many bytes.
fn accepted(text: &str, constraint: &str, dialect: Dialect, piece: Option<usize>) -> String {
    let constraint = parse_expression(constraint.as_bytes(), ParseOptions::new(dialect)).unwrap();
    let block = StreamBlock::from_complete_text(text, FileFormat::Long);
    let mut mentions = FreeNames::default();
    mentions.add(&constraint, dialect);
    assert!(!mentions.reads_anything);
    let query = Query::new(constraint, Context::new(dialect));
    let names = mentions.names.into_iter().chain([Name::new("a")]);
    let items: Vec<_> = match piece {
        Some(piece) => block.project(&mut Projection::new(names, dialect).with_piece_bytes(piece)).collect(),
        None => block.ads(dialect).collect(),
    };
    let mut lines = String::new();
    for item in items {
        match item {
            Ok(entry) => {
                let value = match query.evaluate(&entry.ad) {
                    Ok(value) => print_value(&value, Style::New).escape_ascii().to_string(),
                    Err(halt) => halt.to_string(),
                };
                let _ = writeln!(lines, "{}@{} {value}", entry.number, entry.offset);
            }
            // Only what a full parse finds, too, where it finds it.
            Err(problem) => {
                let _ = writeln!(lines, "{} {:?} {}", problem.ad_number, problem.range, problem.message);
            }
        }
    }
    lines
}

/// A line of the long form, more or less.
fn line() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec!["a", "A", "b", "c", "d", "'a'", "a b", " b", "self", "e"]);
    let value = prop::sample::select(vec![
        "1",
        " 2.5",
        " true",
        "\"x\"",
        " b",
        " c + 1",
        " a",
        " [ b = c; d = 2 ]",
        " d.b",
        " { a, b }",
        " eval(\"c\")",
        "\"\"",
        " 'c'",
        " eval(b)",
        " MY",
        " MY.c",
        " \"\\\"\"",
        " -3",
        " \u{e9}",
        " \"\u{e9}\"",
        " parent.a",
        " isUndefined(b) ? 1 : b",
    ]);
    let attribute = (name, value, prop::sample::select(vec!["", "\r", " "]))
        .prop_map(|(name, value, end)| format!("{name} ={value}{end}"));
    prop_oneof![
        12 => attribute,
        3 => Just(String::new()),
        1 => prop::sample::select(vec!["# c = 1", " // a = \"", " ", "\r", "#"]).prop_map(str::to_owned),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(250))]
    #[test]
    fn selected_ads_evaluate_like_whole_ones(
        lines in prop::collection::vec(line(), 0..30),
        constraint in prop::sample::select(vec![
            "a", "a > 1", "d.b", "a == b && c < 3", "sum(a)", "unparse(a) == \"b\"", "size(unparse(d))", "unresolved(a)",
            "a is b", "countMatches(b > 1, { d })", "a.b.c", "eval(\"b\")", "b ?: c",
        ]),
        end in prop::sample::select(vec!["", "\n", "\n\n"]),
        piece in prop_oneof![0_usize..200, Just(usize::MAX)],
    ) {
        let text = lines.join("\n") + end;
        for dialect in [Dialect::Condor, Dialect::Classad] {
            // None of these lines is bad only where no one asks.
            let [whole, selected] = [None, Some(piece)].map(|piece| accepted(&text, constraint, dialect, piece));
            prop_assert_eq!(selected, whole, "{}\n{}", constraint, text);
        }
    }
}

/// Only ads in the long form are read in part.
#[test]
fn commands_that_read_in_part_answer_as_if_they_read_everything() {
    let is_expression = |text: &str| parse_expression(text.as_bytes(), ParseOptions::new(Dialect::Condor)).is_ok();
    for seed in seeds().step_by(60) {
        let mut text = Text::new(seed);
        let mut expression = || loop {
            let expression = text.expression(3);
            if is_expression(&expression) {
                break expression;
            }
        };
        let mut pool = String::new();
        for number in 0..8 {
            let _ = writeln!(pool, "Name = \"m{number}\"");
            for name in NAMES.iter().skip(number % 3) {
                let _ = writeln!(pool, "{name} = {}", expression());
            }
            pool.push('\n');
        }
        let (wanted, name) = (expression(), NAMES[usize::try_from(seed).unwrap() % NAMES.len()]);
        let part = file("selection-part.long", &pool);
        let (status, pool, _) = classad(&["convert", &part, "--to", "new"]);
        assert_eq!(status, Some(0));
        let whole = file("selection-whole.new", pool);
        for command in [
            &["specialize", "--each", "--expr", &wanted][..],
            &["specialize", "--each", "--attr", name, "--inline"],
            &["specialize", "--verdict", "--expr", &wanted, "-D", "x=a + b"],
            &["refs", "--attr", name],
            &["refs", "--attr", name, "--internal", "--count"],
            &["refs", "--attr", name, "--dot"],
            &["refs", "--expr", &wanted],
            &["eval", "--each", &wanted],
            &["eval", "--each", "-D", "y=a + b", &wanted],
        ] {
            let run = |path: &str| {
                // Some of the expressions lead back to each other, and take as many steps as they may.
                let common = ["--dialect", "condor", "--now", "0", "--max-steps", "20000", path];
                let (status, out, told) = classad(&[command, &common].concat());
                (status, out, told.replace(path, "FILE"))
            };
            assert_eq!(run(&part), run(&whole), "seed {seed}: {command:?}");
        }
    }
}

/// A misspelt name is told of, also if the only ad that is known to be complete is bad where it was not read.
#[test]
fn names_that_no_ad_has_are_told() {
    let path = &file("selection-misspelt.long", "Name = \"a\"\nCpus = 8 +\nMemory = 4\n\nName = \"b\"\nMemory = 2\n");
    let note = "note: no ad has the attribute Memroy; did you mean Memory?\n";
    for command in [
        &["refs", "--attr", "Memroy"][..],
        &["specialize", "--attr", "Memroy"],
        &["eval", "--each", "Memroy * 2 > MY.Name"],
        &["eval", "--attr", "Memroy"],
        &["query", "Memroy > 3"],
    ] {
        assert_eq!(classad(&[command, &[path]].concat()).2, note, "{command:?}");
    }
    for command in [&["eval", "-D", "Memroy=3", "--each", "Memroy"][..], &["eval", "--each", "Memory"]] {
        assert_eq!(classad(&[command, &[path]].concat()).2, "", "{command:?}");
    }
}

/// What is mentioned is asked for, without an ad being made, as far as ads that are read mention it.
#[test]
fn what_ads_mention_is_asked_for() {
    let rare: Vec<String> = (0..400).map(|ad| format!("a = b\nName = c\nb = {ad} + d{ad}\n")).collect();
    let many = (0..2000).map(|name| format!("e{name}")).collect::<Vec<_>>().join(" + ");
    for (text, is_everything) in
        [(rare.join("\n"), false), (format!("a = {many}"), true), ("a = eval(b)".to_owned(), true)]
    {
        for piece in [1, 1000, usize::MAX] {
            let names = [Name::new("a")];
            let mut selection =
                Projection::new(names, Dialect::Condor).with_shared_ads([Name::new("Name")]).with_piece_bytes(piece);
            StreamBlock::from_complete_text(text.as_str(), FileFormat::Long)
                .project(&mut selection)
                .collect_references();
            assert_eq!(selection.reads_everything(), is_everything);
            if !is_everything {
                let expected = ["a", "Name", "b"].map(Name::new).into_iter();
                let expected = expected.chain((0..400).map(|ad| Name::new(&format!("d{ad}"))));
                assert!(selection.names().cloned().eq(expected));
            }
        }
    }
}

/// Offers that share what matching reads, and some that do not.
const OFFERS: &str = "Name = \"m1\"\nCpus = 4\nMemory = 100\nRequirements = TARGET.Need <= Cpus && START\nSTART = Spare > 1\nSpare = 2\nRank = TARGET.Prio\n\n\
    Name = \"m2\"\nCpus = 4\nMemory = 100\nRequirements = TARGET.Need <= Cpus && START\nSTART = Spare > 1\nSpare = 2\nRank = TARGET.Prio\nOther = 7\n\n\
    Name = \"m3\"\nCpus = 8\nRequirements = true\nSpare = 0\nconstraint = false\n\n\
    Name = strcat(\"m\", Suffix)\nSuffix = \"4\"\ncpus = 8\nRequirements = START\nSTART = other.Prio > 5\nRank = size(Owner)\n\n\
    Cpus = 4\nRequirements = Name == \"x\"\n\n\
    MyAddress = \"<1.2.3.4>\"\nCpus = 1\nCPUS = 16\nRequirements = true\n\n\
    Name = \"bad\"\nRequirements = true\nCpus = (\n\n\
    Name = \"worse\"\nno attribute\n\n\
    Name = \"warned\"\nCpus = 3 x\nRequirements = true\n\n\
    Name = \"none\"\nCpus = 9\n";
const REQUESTS: &str = "ClusterId = 1\nProcId = 0\nNeed = 2\nPrio = 1\nRequirements = TARGET.Cpus >= Need\nRank = TARGET.Memory\n\n\
    ClusterId = 1\nProcId = 1\nNeed = 2\nPrio = 1\nRequirements = TARGET.Cpus >= Need\nRank = TARGET.Memory\n\n\
    ClusterId = 1\nProcId = 2\nNeed = 2\nPrio = 9\nRequirements = Cpus >= Need\nOwner = \"me\"\n\n\
    ClusterId = 2\nProcId = 0\nNeed = 16\nRequirements = TARGET.Cpus >= Need\nName = \"x\"\n\n\
    ClusterId = 3\nProcId = 0\nRequirements = TARGET.Late is 7\nNeed = 1\n\n";

#[test]
fn matches_are_those_of_whole_ads() {
    let far =
        format!("ClusterId = 9\nProcId = 9\nRequirements = false\nFiller = \"{}\"\n\n", "x".repeat(9000)).repeat(40);
    let late = "ClusterId = 4\nProcId = 0\nRequirements = TARGET.Other is 7\nNeed = 1\nPorts = 0\n\n";
    let whole = "ClusterId = 5\nProcId = 0\nRequirements = size(TARGET) > 3\nNeed = 1\n\n";
    let computed = "ClusterId = 6\nProcId = 0\nRequirements = eval(strcat(\"TARGET.Sp\", \"are\")) is 2\nNeed = 1\n\n";
    let offers = file("offers.long", OFFERS);
    for (index, more) in
        [String::new(), late.to_owned(), far + late, whole.to_owned(), computed.to_owned()].iter().enumerate()
    {
        let requests = file(&format!("requests-{index}.long"), format!("{REQUESTS}{more}"));
        let [requests, offers] = [&requests[..], &offers];
        for dialect in ["condor", "classad"] {
            for options in [
                &[][..],
                &["--all"],
                &["--all", "--count"],
                &["--no-consume", "-o", "json"],
                &["--id", "strcat(ClusterId, Name, Need)", "--all"],
                &["--constraint-attr", "START", "--all"],
                &["--rank-attr", "Need", "--no-consume"],
            ] {
                let common = ["match", requests, "--pool", offers, "--dialect", dialect];
                let fast = classad(&[&common[..], options].concat());
                let full = classad(&[&common[..], options, &["--strict-input"]].concat());
                assert_eq!(fast.1, full.1, "{index} {dialect} {options:?}\n{}", fast.2);
                // What is bad in an attribute that is not read is not told.
                if !options.contains(&"START") {
                    assert_eq!((fast.0, &fast.2), (full.0, &full.2), "{index} {dialect} {options:?}");
                }
            }
        }
    }
}

#[test]
fn explanations_are_those_of_whole_ads() {
    let job = "ClusterId = 1\nProcId = 0\nb = 1\nv = 4\nOwner = \"me\"\nRequirements = TARGET.b > 6 && W > TARGET.v\n";
    let machine = "MyType = \"Machine\"\nName = \"m1\"\nState = 9\nW = 2\na = 1\nb = 5\nv = 3\n\
        Requirements = b isnt TARGET.b && a == other.v && START\nSTART = size(MY.Name) > 1\n";
    let alike = machine.replace("m1", "m2").replace("State = 9", "State = 8");
    let [requests, offers] = [file("asking.long", job), file("asked.long", format!("{machine}\n{alike}"))];
    for dialect in ["condor", "classad"] {
        for options in [&["-v"][..], &["-vv"], &["-vv", "--reverse"], &["-vv", "-o", "json"]] {
            let common = ["explain", &requests, "--pool", &offers, "--dialect", dialect];
            let fast = classad(&[&common[..], options].concat());
            let full = classad(&[&common[..], options, &["--strict-input"]].concat());
            assert!(fast.1.len() > 500, "{}", fast.2);
            assert_eq!(fast, full, "{dialect} {options:?}");
        }
    }
}

/// What a later ad mentions is asked for already when the other side is seen to look for it in the first.
#[test]
fn what_the_other_side_looks_for_is_found_in_every_ad() {
    let requests = file(
        "late-requests.long",
        "Name = \"first\"\nSite = 2\nRequirements = TARGET.Near\n\n\
         Name = \"second\"\nSite = 1\nRequirements = MY.Site is 1 && false\n",
    );
    let offers = file("late-offers.long", "Name = \"m\"\nNear = TARGET.Site is 2\nRequirements = true\n");
    let [requests, offers] = [&requests[..], &offers];
    for [requests, offers, expected] in [[requests, offers, "first\tm\t0\t0\n"], [offers, requests, "m\tfirst\t0\t0\n"]]
    {
        let (_, out, errors) = classad(&["match", requests, "--pool", offers, "--no-header"]);
        assert_eq!((out.as_str(), errors.as_str()), (expected, ""));
    }
}

#[test]
fn rows_that_nothing_can_tell_apart_are_one_ad() {
    let block = StreamBlock::from_complete_text(OFFERS, FileFormat::Long);
    let names = ["Cpus", "Memory", "Requirements"].map(Name::new);
    let mut selection = Projection::new(names, Dialect::Condor).with_shared_ads(["Name", "Suffix"].map(Name::new));
    let mut selected = block.project(&mut selection);
    let mut ads = Vec::new();
    let mut labels = Vec::new();
    while let Some(item) = selected.next() {
        if let Ok(entry) = item {
            labels.push(selected.label_attributes().get_str("Name").is_some());
            // The fifth mentions the name.
            assert!(entry.is_whole || entry.number >= 5 || entry.ad.get_str("Name").is_none());
            ads.push(entry.ad);
        }
    }
    assert_eq!(ads[0].identity(), ads[1].identity());
    assert!(ads[1..].windows(2).all(|pair| pair[0].identity() != pair[1].identity()));
    assert_eq!(labels[..6], [true, true, true, true, false, false]);
    assert!(ads[0].get_str("Spare").is_some() && ads[0].get_str("Rank").is_none());
}

/// Beside HTCondor's words, the first argument is a constraint as it is without them.
#[test]
fn a_constraint_goes_with_words_that_select() {
    let text = "ClusterId = 1\nJobStatus = 5\nMemory = 3\n\nClusterId = 2\nJobStatus = 5\nMemory = 1\n\n\
        ClusterId = 3\nJobStatus = 1\nMemory = 3\n";
    let jobs = file("selection-words.long", text);
    for arguments in [
        &["query", "Memory > 2", &jobs, "-hold", "-af", "ClusterId"][..],
        &["query", "-hold", "Memory > 2", &jobs, "-af", "ClusterId"],
        &["query", "Memory > 2", &jobs, "-constraint", "JobStatus == 5", "-af", "ClusterId"],
        &["query", "Memory > 2", &jobs, "--constraint", "JobStatus == 5", "--af", "ClusterId"],
    ] {
        assert_eq!(classad(arguments), (Some(0), "1\n".to_owned(), String::new()), "{arguments:?}");
    }
    let (status, _, told) = classad(&["query", "missing.long", "-hold", "-af", "ClusterId"]);
    assert!(status == Some(2) && told.contains("there is no such file"), "{told}");
}

/// A dump of jobs has the time of its newest event, if it has no other.
#[test]
fn the_newest_event_dates_a_dump_of_jobs() {
    let text = "ClusterId = 1\nQDate = 1000\nEnteredCurrentStatus = 2000\n\nClusterId = 2\nQDate = 1500\n";
    let jobs = file("selection-events.long", text);
    let query = ["query", "time() - QDate == 500", &jobs, "--now", "dump", "--af", "ClusterId"];
    let (status, out, told) = classad(&query);
    assert_eq!((status, out.as_str()), (Some(0), "2\n"), "{told}");
    assert!(
        told.contains("--now dump uses 1970-01-01T00:33:20Z, the newest event of a job: no ad was written later"),
        "{told}"
    );
    let dated = file("selection-dated.long", format!("{text}ServerTime = 2500\n"));
    assert_eq!(
        classad(&["query", "time() - QDate == 1000", &dated, "--now", "dump", "--af", "ClusterId"]),
        (Some(0), "2\n".to_owned(), String::new())
    );
    let undated = file("selection-undated.long", "ClusterId = 1\n");
    let (_, _, told) = classad(&["query", "true", &undated, "--now", "dump", "--count"]);
    assert!(
        told.contains("--now dump uses the current time: no ad has a time such as LastHeardFrom or QDate"),
        "{told}"
    );
}
