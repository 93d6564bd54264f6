//! Inputs that are not whole, or not what they seem to be: torn documents, packed streams, JDL without brackets.

use super::binary::{classad, classad_on, file, run};

/// Documents with what stands around their ads, and the number of bytes that may be missing at the end.
const DOCUMENTS: [(&str, &str, usize); 5] = [
    ("json", "[\n{\"a\": 1, \"l\": [1, {\"b\": 2}]},\n{\"a\": \"]\"}\n]\n", 1),
    ("json", "[{\"a\":1},{\"a\":2}] // ]", 5),
    (
        "xml",
        "<?xml version=\"1.0\"?>\n<!DOCTYPE classads SYSTEM \"classads.dtd\">\n<classads>\n<c>\n<a n=\"a\"><i>1</i></a>\n\
         </c>\n<!-- <c> --><c><a n=\"a\"><s><![CDATA[</c>]]></s></a></c>\n</classads>\n",
        1,
    ),
    ("new", "{\n[ a = { 1 } ],\n[ a = \"}\"; ]\n}\n", 1),
    ("new", "{[a=1],[a=2]}", 0),
];

/// Commands that read ads.
const COMMANDS: [&[&str]; 10] = [
    &["query", "true", "--count"],
    &["query", "true", "--af", "a", "--threads", "2"],
    &["parse"],
    &["census"],
    &["refs"],
    &["check"],
    &["eval", "--each", "a"],
    &["convert", "--to", "jsonl"],
    &["sample", "-n", "1"],
    &["query", "true", "--sort", "a", "--strict-input"],
];

#[test]
fn a_document_that_ends_early_is_an_error_after_its_ads() {
    for (form, document, spare) in DOCUMENTS {
        let whole = classad_on(&["query", "true", "--from", form, "--count"], document.as_bytes());
        assert_eq!(whole, (Some(0), "2\n".to_owned(), String::new()), "{document}");
        let second =
            document.rfind(["{", "<c><a", "["][["json", "xml", "new"].iter().position(|it| *it == form).unwrap_or(0)]);
        for length in 1..document.len() - spare {
            let torn = &document.as_bytes()[..length];
            let (status, counted, told) = classad_on(&["query", "true", "--from", form, "--count"], torn);
            let is_blank = torn.trim_ascii().is_empty();
            assert!(is_blank || status == Some(2) && !told.is_empty(), "{length} of {document}: {status:?} {told}");
            assert_eq!(told.matches("the rest of the file is missing").count().max(1), 1, "{length}: {told}");
            assert!(second >= Some(length) || counted != "0\n", "{length} of {document}: {counted}");
        }
    }
}

#[test]
fn every_command_notices_a_torn_document() {
    for (number, (form, document, _)) in DOCUMENTS.into_iter().enumerate().filter(|(number, _)| *number != 1) {
        let last = document.rfind(['}', ']', '>']).unwrap_or(0);
        let torn = &document[..=document[..last].rfind(['}', ']', '>']).unwrap_or(0)];
        let packed = zstd::encode_all(torn.as_bytes(), 1).expect("it is packed");
        let paths = [file(&format!("torn-{number}.{form}"), torn), file(&format!("torn-{number}.zst"), packed)];
        for (command, path) in COMMANDS.iter().flat_map(|command| paths.iter().map(move |path| (command, path))) {
            let (status, _, told) = classad(&[*command, &[path]].concat());
            let fault = "the rest of the file is missing";
            assert!(status == Some(2) && told.replace("\n  ", " ").contains(fault), "{command:?} {torn}: {told}");
        }
    }
}

#[test]
fn texts_of_cases_and_specs_and_formatted_lists_are_documents_too() {
    let cases =
        "{\"id\": 1, \"text\": \"[{\\\"a\\\": 1},\", \"form\": \"json\"}\n{\"id\": 2, \"text\": \"{[a=1],[a=2]\"}\n";
    let answers = classad(&["parse", "--cases", &file("torn-cases.jsonl", cases)]).1;
    assert_eq!(answers.matches("\"ok\":false").count(), 2, "{answers}");
    assert!(answers.contains("this array has no `]`") && answers.contains("this list of ads has no `}`"), "{answers}");
    let path = file("torn-list.ad", "{[a=1],[a=2]");
    for command in [&["fmt"][..], &["fmt", "-w"], &["fmt", "--check"]] {
        let (status, _, told) = classad(&[command, &[&path]].concat());
        assert!(status == Some(2) && told.contains("this list of ads has no `}`"), "{command:?}: {told}");
    }
    assert_eq!(std::fs::read_to_string(&path).expect("it is there"), "{[a=1],[a=2]");
}

#[test]
fn what_follows_a_document_is_an_error_if_it_is_no_ad() {
    for (text, fault) in [
        ("[{\"a\":1}]]\n", "line 1: this `]` ends no array"),
        ("[{\"a\":1}]\n[{\"a\":2}]\n]", "line 3: this `]` ends no array"),
        ("{\"a\":1}\n]\n{\"a\":2}\n", "line 2: this `]` ends no array"),
        ("{\"a\":1}\n{\"a\":2} ]\n", "line 2: this `]` ends no array"),
        ("{\"a\":1}\n[ {\"a\":2}\n", "line 3: the array that begins in line 2 has no `]`"),
        ("[{\"a\":1}] x", "expected an ad"),
        ("<classads><c/></classads>\n</classads>", "line 2: this `</classads>` ends no element `<classads>`"),
        ("<classads><c/></classads>x", "expected an ad"),
        ("{[a=1]}\n}", "line 2: this `}` ends no list of ads"),
        ("[\n{\"a\":1}\n]\n[\n{\"a\":2}\n", "line 6: the array that begins in line 4 has no `]`"),
        ("<?xml version=\"1.0\"?>\n", "it has no element `<classads>`: the rest of the file is missing"),
    ] {
        let (status, _, told) = classad_on(&["query", "true", "--count"], text.as_bytes());
        assert!(status == Some(2) && told.replace("\n  ", " ").contains(fault), "{text}: {told}");
    }
    // Documents one after the other, and ads without anything around them, are whole.
    for (text, count) in [
        ("[{\"a\":1}]\n[{\"a\":2}]", "2\n"),
        ("{\"a\":1}{\"a\":2}", "2\n"),
        ("{\"a\":1}\n[{\"a\":2}]\n", "2\n"),
        ("{\"a\":[{\"b\":[[1], 2]},[3]]}\n{\"c\":\"x[0]]\"}\n", "2\n"),
        ("<c/><c/>", "2\n"),
        ("<classads/>", "0\n"),
        ("<classads><c/></classads><classads><c/></classads>", "2\n"),
        ("{[a=1]} [a=2]", "2\n"),
        ("[a={1}] [b={2}]", "2\n"),
    ] {
        let (_, counted, told) = classad_on(&["query", "true", "--count"], text.as_bytes());
        assert_eq!((&*counted, &*told), (count, ""), "{text}");
    }
}

#[test]
fn frames_that_zstd_skips_may_stand_anywhere() {
    let frame = |text: &str| zstd::encode_all(text.as_bytes(), 1).expect("it is packed");
    let skipped =
        |kind: u8, length: u8| [&[kind, 0x2a, 0x4d, 0x18, length, 0, 0, 0], &vec![b'x'; length.into()][..]].concat();
    let (first, second) = (frame("a = 1\n\n"), frame("a = 2\n"));
    for (number, packed) in [
        [skipped(0x50, 4), first.clone(), second.clone()].concat(),
        [skipped(0x5f, 0), first.clone(), skipped(0x51, 9), second.clone(), skipped(0x52, 3)].concat(),
        [skipped(0x50, 4), skipped(0x50, 4), first, second].concat(),
    ]
    .into_iter()
    .enumerate()
    {
        let path = file(&format!("skipped-{number}.zst"), &packed);
        let counted = Some(0);
        assert_eq!(classad(&["query", "true", &path, "--count"]), (counted, "2\n".to_owned(), String::new()));
        assert_eq!(classad_on(&["query", "true", "--count"], &packed).1, "2\n");
        let (status, _, told) = classad(&["query", "true", &format!("{path}@0-9")]);
        assert!(status == Some(2) && told.contains("a compressed file cannot be read in parts"), "{told}");
        let (status, _, told) = classad(&["fmt", "-w", &path]);
        assert!(status == Some(2) && told.contains("compressed"), "{told}");
        assert_eq!(std::fs::read(&path).expect("it is there"), packed);
    }
    let (status, _, told) = classad_on(&["query", "true"], &skipped(0x50, 200)[..50]);
    assert_eq!((status, told.is_empty()), (Some(2), false));
}

/// JDL without brackets, as grids of the time of EGEE wrote it.
const JDL: &str = "Executable = \"/bin/hostname\";\nStdOutput  = \"std.out\";\nOutputSandbox = {\"std.out\",\n  \"std.err\"};\n\n\
                   Requirements =  other.GlueCEStateStatus == \"Production;\"  ;\n";

#[test]
fn jdl_without_brackets_is_read() {
    let commented = format!("# a job\n// of mine\n{JDL}");
    let one_line = "Executable = \"/bin/ls\"; Arguments = \"-l\"; StdOutput = \"out\";\n";
    let list_first = "InputSandbox = {\"a\",\n\"b\"}; # c\nExecutable = \"c\";\n";
    let without_last = "StdOutput = \"out\";\nExecutable = \"/bin/ls\";\nArguments = \"-l\"\n";
    for (number, jdl) in [JDL, &commented, one_line, list_first, without_last].into_iter().enumerate() {
        let path = file(&format!("jdl-{number}.jdl"), jdl);
        let bracketed = format!("[\n{}]\n", jdl.replace("# a job\n", "").replace(" # c", ""));
        let bracketed = file(&format!("bracketed-{number}.jdl"), bracketed);
        for command in [
            &["parse"][..],
            &["query", "true"],
            &["query", "true", "--count"],
            &["census", "--threads", "2"],
            &["parse", "--from", "new"],
            &["convert", "--to", "json"],
        ] {
            let [of_jdl, of_brackets] = [&path, &bracketed].map(|path| classad(&[command, &[path]].concat()));
            let named = of_brackets.1.replace("bracketed-", "jdl-");
            assert_eq!((of_jdl.0, &of_jdl.1), (Some(0), &named), "{command:?} {number}: {}", of_jdl.2);
        }
        for command in [&["fmt"][..], &["fmt", "-w"], &["fmt", "--check"], &["check", "--fix", "-w"]] {
            let (status, printed, told) = classad(&[command, &[&path]].concat());
            assert!(status == Some(2) && !printed.contains("bin"), "{command:?} {number}: {printed}{told}");
        }
        assert_eq!(std::fs::read_to_string(&path).expect("it is there"), jdl);
        // A pipe shows the same, however it comes.
        assert_eq!(run(&["parse"], jdl.as_bytes()).status.code(), Some(0));
    }
    // A mistake has its own line and column.
    let (status, _, told) = classad(&["query", "true", &file("jdl-bad.jdl", "a = 1;\nb = 2 +;\nc = 3;\n")]);
    assert!(status == Some(2) && told.contains("jdl-bad.jdl:2:8"), "{told}");
}

#[test]
fn some_semicolons_are_ignored_in_the_long_form() {
    let text = "a = 1;\nb = \"x;\"\nc = [ d = 1; ]\n\na = 2\nb = 3;\nc = 4\n";
    let (status, counted, told) = classad_on(&["query", "true", "--count"], text.as_bytes());
    assert_eq!((status, &*counted), (Some(0), "2\n"), "{told}");
    let told = classad_on(&["parse"], text.as_bytes()).2;
    assert_eq!(told.matches("the text after the expression is ignored, as in HTCondor").count(), 2, "{told}");
}
