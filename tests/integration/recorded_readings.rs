//! What is read of small texts of each form, whole, with one character left out, and cut off, as `tests/answers` records
//! it: the ads with their numbers and offsets, the problems with their places, and how the text is formatted.

use std::fmt::Write;
use std::io::{self, Read};
use std::ops::Range;

use classad::ad::{Dialect, Expression, Name};
use classad::format::{
    FileFormat, Position, Projection, ReadResult, Severity, Stream, StreamBlock, StreamLimits, attribute_spans,
    complete_prefix_length, detect, format_ads, read_document, write,
};
use classad::syntax::{ParseOptions, Style, is_incomplete, parse_expression, print_ad};

use crate::binary::{assert_answers, assert_recorded};

/// The texts by the names of their forms.
const TEXTS: [(&str, &str); 21] = [
    ("long", "# c\nName = \"a\\\"b\"\nB = 4 + x // d\n'q r' = { 1, [ b = 2 ] }\n\n-- Schedd: s\nC = a ?: 5\nD = \"x\n"),
    (
        "long",
        "A = 1\nOwner = \"b\"\n*** Offset = 0 ClusterId = 7 ProcId = 0 Owner = \"c\" CompletionDate = 9\n\
         A = 2\n*** EPOCH ClusterId=8 ProcId=-1 RunInstanceId=2 Owner=\"?\" CurrentTime=5\n",
    ),
    ("long", "A = 1\r\n\r\n***\r\nB = 3\r\n*** MASTER CurrentTime=1\r\nC = 4\r\n"),
    ("new", "// c\n[ a = 1; /* d */ b = { x, \"y\" }; ]\n# e\n[ c = [ d = a ? 1 : 2 ]; 'q r' = f(b)[0].c ]\n"),
    ("new", "[ Requirements = (Memory > 100 && Arch == \"INTEL\") || !(Disk <= 5); Rank = -x.y * 2 + z ] // end\n"),
    ("new", "a = 1;\nb = \"x\";\n[ c = 'd"),
    (
        "json",
        "[\n{\"a\": 1, \"b\": \"x\\u0041\\n\", \"c\": \"\\/Expr(a + 1)\\/\"},\n{\"d\": [true, null, {\"e\": -1.5e3}]}\n]\n",
    ),
    ("json", "{\"a\": \"/Date(1)/\", \"a\": 2}\n{\"b\": \"\\ud83d\\ude00\"} {\"c\": 01}\n"),
    ("jsonl", "{\"a\": 1}\n\n{\"b\": {\"c\": []}}\n{\"d\": 99999999999999999999}\n"),
    (
        "xml",
        "<?xml version=\"1.0\"?>\n<!DOCTYPE classads SYSTEM \"c.dtd\">\n<classads>\n<c><a n=\"A\"><i>1</i></a>\
         <a n=\"B\"><s>x &lt; &#65;</s></a></c>\n</classads>\n",
    ),
    (
        "xml",
        "<c><a n=\"C\"><l><b v=\"t\"/><r>1.5</r><un/></l></a><!-- d --><a n=\"E\"><e>a + 1</e></a>\
         <a n='F'><c><a n=\"G\"><er/></a></c></a></c>",
    ),
    ("xml", "<c><a n=\"A\"><at>2001-02-03T04:05:06Z</at></a><a n=\"B\"><rt>1:02</rt></a></c>\n"),
    ("yaml", "# c\n---\na: 1\nb: \"x\\ty\"\nc: !expr a + 1\n---\nd: [1, {e: ~}, 'q''r']\nf: |\n  g\n  h\n"),
    ("yaml", "- a: &x 0x1f\n  b: *x\n- c: >-\n    d\n    e\n  f: .inf\n"),
    (
        "events",
        "000 (001.000.000) 2026-11-22 23:35:27 Job submitted from host: <h>\n    n\n...\n\
         012 (001.000.000) 11/22 23:36:00 Job was held.\n\tbad\n\tCode 3 Subcode 4\n...\n",
    ),
    (
        "events",
        "005 (1.0.0) 2026-11-22T23:35:27 Job terminated.\n\t(1) Normal termination (return value 3)\n\
         \tPartitionable Resources :    Usage  Request Allocated\n\t   Cpus                 :     0.50        1         2\n...\n",
    ),
    (
        "queue-log",
        "107 1 CreationTimestamp 5\n105\n101 01.-1 Job Machine\n103 01.-1 Cmd \"a b\"\n101 1.0 Job\n103 1.0 P 0\n106\n104 1.0 P\n102 1.0\n",
    ),
    ("queue-log", "101 Customer.a@b * *\n103 Customer.a@b Priority 0.5\n103 Customer.a@b Q (\n"),
    (
        "dag",
        "JOB A a.sub DIR d NOOP\nSUBDAG EXTERNAL B b.dag\nPARENT A CHILD B\nVARS A x=\"1 2\" y=\"\\\"\"\nRETRY ALL_NODES 3\n",
    ),
    (
        "dag",
        "# c\nJob C {\n  executable = e\n}\nSCRIPT DEFER 4 60 POST C p $JOB\nABORT-DAG-ON C 3 RETURN 1\nDOT a.dot\n",
    ),
    ("dag", "JOB D @=end\nqueue\n@end DONE\nPRIORITY D -5\nCATEGORY D k\n"),
];

/// Shows what is read, an item a line.
fn items(text: &str, form: FileFormat, dialect: Dialect) -> String {
    let place = |offset: usize| {
        let Position { line, column } = Position::of_offset(text.as_bytes(), offset);
        format!("{line}:{column}")
    };
    let item = |item: ReadResult| match item {
        Ok(entry) => {
            let banner = if entry.banner_attributes > 0 {
                format!(" banner {}", entry.banner_attributes)
            } else {
                String::new()
            };
            let ad = String::from_utf8_lossy(&print_ad(&entry.ad, Style::New)).into_owned();
            format!("    ad {} at {}{banner}: {ad}\n", entry.number, entry.offset)
        }
        Err(problem) => {
            let mark = if problem.severity == Severity::Error { "!" } else { "~" };
            let (from, to) = (place(problem.range.start), place(problem.range.end));
            let help = problem.help.map_or(String::new(), |help| format!(" ({help})"));
            let related = problem.related.map_or(String::new(), |(range, label)| {
                format!(" [{}-{}: {label}]", place(range.start), place(range.end))
            });
            format!("    {mark}{} {from}-{to}: {}{help}{related}\n", problem.ad_number, problem.message)
        }
    };
    read_document(text.as_bytes(), form, dialect).map(item).collect()
}

/// Shows all that is known of a text.
fn reading(text: &str, form: FileFormat) -> String {
    let mut shown = items(text, form, Dialect::Condor);
    let of_papers = items(text, form, Dialect::Classad);
    if of_papers != shown {
        write!(shown, "  classad\n{of_papers}").expect("a text has room");
    }
    if form == FileFormat::Long {
        let names = ["a", "Owner", "RecordType", "q r", "D"].map(Name::new);
        let mut projection = Projection::new(names, Dialect::Condor).with_piece_bytes(16);
        let block = StreamBlock::from_complete_text(text, form);
        let projected = block.project(&mut projection).map(|item| match item {
            Ok(entry) => format!(" {}{}", entry.number, String::from_utf8_lossy(&print_ad(&entry.ad, Style::New))),
            Err(problem) => format!(" !{} {:?}", problem.ad_number, problem.range),
        });
        writeln!(shown, "  projected{}", projected.collect::<String>()).expect("there is room");
    }
    let detected = detect(text.as_bytes());
    if detected != Some(form) {
        writeln!(shown, "  detected as {}", detected.map_or("nothing", |form| form.facts().name))
            .expect("there is room");
    }
    if let Ok(formatted) = format_ads(text.as_bytes(), form, Dialect::Condor, 30) {
        writeln!(shown, "  formatted {:?}", String::from_utf8_lossy(&formatted.text)).expect("there is room");
    }
    shown
}

/// Shows the mistakes in an expression, or how it is printed.
fn expression(text: &str, dialect: Dialect) -> String {
    let options = ParseOptions::new(dialect);
    let error = match parse_expression(text.as_bytes(), options) {
        Ok(expression) => return format!("    {expression}\n"),
        Err(error) => error,
    };
    let unfinished = if is_incomplete(text.as_bytes(), options) { " ..." } else { "" };
    let help = error.help.map_or(String::new(), |help| format!(" ({help})"));
    let related = error.related.map_or(String::new(), |(span, label)| format!(" [{:?}: {label}]", span.range()));
    format!("    !{:?}: {}{help}{related}{unfinished}\n", error.span.range(), error.message)
}

/// Attributes of odd texts, each in an ad of a form, or alone as an expression.
#[test]
fn odd_texts_are_read_as_recorded() {
    assert_answers("tests/answers/texts.txt", |case| {
        let [name, text]: [String; 2] = serde_json::from_str(case).expect("it is a form and a text");
        let form = FileFormat::of_name(&name);
        let [condor, classad] = [Dialect::Condor, Dialect::Classad]
            .map(|dialect| form.map_or_else(|| expression(&text, dialect), |form| items(&text, form, dialect)));
        if classad == condor { condor } else { format!("{condor}  classad\n{classad}") }
    });
}

#[test]
fn texts_without_a_character_are_read_as_recorded() {
    let mut record = String::new();
    for (name, text) in TEXTS {
        let form = FileFormat::of_name(name).expect("it is a form");
        let whole = reading(text, form);
        write!(record, "{name} {text:?}\n{whole}").expect("there is room");
        let mut before = whole.clone();
        // A time without its `Z` is one of the zone of this machine.
        for (offset, character) in text.char_indices().filter(|(_, character)| *character != 'Z') {
            let without = format!("{}{}", &text[..offset], &text[offset + character.len_utf8()..]);
            let shown = reading(&without, form);
            if shown == before {
                writeln!(record, "{offset} {character:?} the same").expect("there is room");
            } else {
                writeln!(record, "{offset} {character:?}").expect("there is room");
                for line in shown.lines() {
                    // What is as in the whole text is told by its place there.
                    match whole.lines().position(|known| known == line) {
                        Some(place) => writeln!(record, "    = {place}").expect("there is room"),
                        None => writeln!(record, "{line}").expect("there is room"),
                    }
                }
            }
            before = shown;
        }
    }
    assert_recorded("tests/answers/damaged.txt", &record);
}

/// The last problem of each beginning of a text, and how much of it is complete ads.
#[test]
fn beginnings_of_texts_are_read_as_recorded() {
    let mut record = String::new();
    for (name, text) in TEXTS {
        let form = FileFormat::of_name(name).expect("it is a form");
        writeln!(record, "{name} {text:?}").expect("there is room");
        let mut before = String::new();
        for length in 0..=text.len() {
            let begun = &text[..length];
            let complete = complete_prefix_length(begun.as_bytes(), form);
            let detected = detect(begun.as_bytes()).map_or("nothing", |form| form.facts().name);
            let items = items(begun, form, Dialect::Condor);
            let last = items.lines().next_back().unwrap_or("    nothing");
            let shown = format!("{complete} {detected} {}", last.trim_start());
            if shown != before {
                writeln!(record, "{length}: {shown}").expect("there is room");
            }
            before = shown;
        }
    }
    assert_recorded("tests/answers/beginnings.txt", &record);
}

/// Each ad of the texts in each form that is written, what is lost in it, and the places of its attributes in the text.
#[test]
fn ads_are_written_as_recorded() {
    let mut record = String::new();
    for (name, text) in TEXTS {
        let form = FileFormat::of_name(name).expect("it is a form");
        for entry in read_document(text.as_bytes(), form, Dialect::Condor).flatten() {
            writeln!(record, "{name} {text:?} at {}", entry.offset).expect("there is room");
            for span in attribute_spans(text.as_bytes(), form, entry.offset, Dialect::Condor) {
                let marked = |range: Range<usize>| String::from_utf8_lossy(&text.as_bytes()[range]).into_owned();
                let parts = entry.ad.get(&span.name).into_iter().flat_map(Expression::parts);
                let parts: Vec<String> = parts.map(|part| marked(span.file_range(part.span()))).collect();
                let name = marked(span.name_range.clone());
                writeln!(record, "    {}: {name:?} {parts:?}", span.name).expect("there is room");
            }
            for facts in classad::format::FORMS.iter().filter(|facts| facts.is_written) {
                let mut out = Vec::new();
                let lost = write(&mut out, &entry.ad, facts.form).expect("memory has room");
                let lost = if lost.is_empty() { String::new() } else { format!(" {lost:?}") };
                writeln!(record, "    {} {:?}{lost}", facts.name, String::from_utf8_lossy(&out))
                    .expect("there is room");
            }
        }
    }
    assert_recorded("tests/answers/written.txt", &record);
}

/// Texts at the beginnings of files, most of them no ads.
const BEGINNINGS: [&str; 119] = [
    "",
    " \n# c\n",
    "// c\n",
    "/* c",
    "\u{feff}",
    "\u{feff}a = 1\n",
    "a = 1\n",
    "[a = 1]",
    "[]",
    "[ ]x",
    "[[",
    "[ [a = 1], [b = 2] ]",
    "[[{\"a\": 1}]]",
    "[1]",
    "[\"a\"]",
    "[ // c\n{\"a\": 1}]",
    "{",
    "{}",
    "{ [a = 1] }",
    "{ /* c */ [a = 1] }",
    "{\"a\": 1}\n{\"a\":\n2}",
    "{\"a\": 1} {\"b\": 2}",
    "{\n\"a\": 1}",
    "{\"hits\": {\"hits\": [{\"_source\": {\"a\": {\"b\": \"}\\\"\"}}}, {\"_source\": 5}]}}",
    "{\"_index\": 1, \"_source\" :\n {\"a\": 1}}",
    "{\"_source\": {\"a\": 1}}",
    "<",
    "<c></c>",
    "<classads></classads>",
    "<classads>",
    "<?xml?>\n<c/>",
    "---",
    "---\n",
    "--- a: 1",
    "---a",
    "%YAML 1.2\n---\na: 1\n",
    "%TAG ! x\n---\na: 1\n",
    "%X",
    "a: 1\n",
    "a:1\n",
    "a:\n",
    "a:",
    "- a: 1\n",
    "- a\n",
    "\"a b\": 1\n",
    "'a': 1\n",
    "'a : 1\n",
    "a-b.c_d: 1\n",
    "a b: 1\n",
    ": 1\n",
    "-- Schedd: a\n",
    "-- Schedd: a\n\n",
    "-- Schedd: a\n{\"a\": 1}\n",
    "-- Schedd: a\n[{\"a\": 1}]\n-- Schedd: b\n[{\"b\": 1}]\n",
    "-- Schedd: a\n<c></c>\n",
    "-- Schedd: a\na = 1\n",
    "-- x\n[a = 1]\n",
    "a = 1;\nb = 2;\n",
    "a = 1;\nb = 2\n",
    "a = 1;\nb = 2\nc = 3\n",
    "a = \"x;\";\n",
    "a = 1; // c\n# d\nb = {1,\n2};\n",
    "a = 1; b = 2\n",
    "a = [b = 1;\nc = 2];\n",
    "a = 1 /* ; */\nb = 2\n",
    "[\n# c\na = 1 #d\n]\n",
    "[\n# c\n\"#\" ]\n",
    "[ a = '#'; # c\nb = \"#\\\"#\"; #\n]\n",
    "[ a = 1 ] // # c\n",
    "000 (1.0.0) 2026-01-01 00:00:00 x\n...\n",
    "000 (-1.0.0) x\n",
    "000 (a",
    "0 (1",
    "101 1.0 Job\n",
    "107 1\n",
    "108 1\n",
    "100 1\n",
    "101 = 1\n",
    "101",
    "111 1\n",
    "JOB A a.sub\n",
    "job = 1\n",
    "JOB\n",
    "JOB A : 1\n",
    "MAXJOBS A 1\n",
    "RETRY A 1\n",
    "executable = a\nqueue\n",
    "log = a\n",
    "log = a\nqueue x in (a)\n",
    "queue\n",
    "queue = 1\n",
    "queue == 1\n",
    "queue\u{b}\n",
    "+a = 1\n",
    "+1 = 1\n",
    "+ a = 1\n",
    "universe = vanilla\n",
    "universe = \"x\"\n",
    "universe = .5\n",
    "universe = .x\n",
    "getenv = True\n",
    "x = 1 \\\nqueue\n",
    "request_cpus == 1\n",
    "arguments = 1\nMyType = 1\n",
    "A = $(B)\n",
    "A = \"$(B)\"\n",
    "A @=e\n@e\n",
    "A @=\n",
    "use role : x\n",
    "use x : y\n",
    "include : x\n",
    "include = 1\n",
    "SET a 1\n",
    "# c\nNAME a b\n",
    "Name OpSys Arch\n",
    "11/22/26 23:35:27 x\n",
    "11/22/2026 23:35:27 x\n",
    "a 1\nb 2\n",
    "a 1\nb (\n",
];

/// Reader that returns its text in pieces of so many bytes.
struct Pieces(Vec<u8>, usize);

impl Read for Pieces {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = self.1.min(self.0.len()).min(into.len());
        into[..length].copy_from_slice(&self.0[..length]);
        self.0.drain(..length);
        Ok(length)
    }
}

/// Shows the blocks of a file, and how its ads begin.
fn stream(text: &[u8], name: &str, piece: usize) -> String {
    let limits = StreamLimits::default();
    let mut stream = match Stream::of_file(Box::new(Pieces(text.to_vec(), piece)), name, limits) {
        Ok(stream) => stream,
        Err(error) => return format!("! {error}"),
    };
    let form = stream.form().map_or("nothing", |form| form.facts().name);
    let mut shown = format!("{form}{}", if stream.is_rewritten() { " rewritten" } else { "" });
    let place = |Position { line, column }: Position| format!("{line}:{column}");
    loop {
        write!(shown, " {}", place(stream.position())).expect("a text has room");
        match stream.next_block() {
            Ok(Some(block)) => {
                let unfinished = if block.is_unfinished { " unfinished" } else { "" };
                let items: Vec<String> = block
                    .ads(Dialect::Condor)
                    .map(|item| match item {
                        Ok(entry) => format!("{}@{}", entry.number, place(block.position(entry.offset))),
                        Err(problem) => {
                            format!("!{}@{}", problem.ad_number, place(block.position(problem.range.start)))
                        }
                    })
                    .collect();
                write!(shown, " [{} bytes{unfinished}: {}]", block.text.len(), items.join(" "))
                    .expect("a text has room");
            }
            Ok(None) => return shown,
            Err(error) => write!(shown, " ! {error}").expect("a text has room"),
        }
    }
}

#[test]
fn streams_are_read_as_recorded() {
    let mut record = String::new();
    for text in BEGINNINGS.into_iter().chain(TEXTS.map(|(_, text)| text)) {
        writeln!(record, "{text:?}").expect("a text has room");
        let mut before = String::new();
        for (name, piece) in [("x", usize::MAX), ("x", 1), ("x", 7), ("x.sub", usize::MAX), ("x.dag.gz", usize::MAX)] {
            let shown = stream(text.as_bytes(), name, piece);
            if shown != before {
                writeln!(record, "    {name} in pieces of {piece}: {shown}").expect("a text has room");
            }
            before = shown;
        }
    }
    for bytes in [
        &b"\x1f\x8b"[..],
        b"\x28\xb5\x2f\xfd",
        b"\xfd7zXZ",
        b"BZh91AY&SY",
        b"BZh9 = 1",
        b"BZh0 = 1",
        b"PK\x03\x04",
        b"Rar!\x1a\x07",
        b"\xff\xfea\0",
        b"\xfe\xff\0a",
        b"\x01\x02\x03\x04",
        b"\x01\x02\x03\x04\xff",
        b"\x01\x02\x03\xff",
        b"\x01\x02\x03\x04\xff = 1\0\0\0\0",
    ] {
        writeln!(record, "{}\n    {}", bytes.escape_ascii(), stream(bytes, "x", usize::MAX)).expect("a text has room");
    }
    assert_recorded("tests/answers/streams.txt", &record);
}

/// The times of events, those without years by the time at which the log was written and by that of the event before.
#[test]
fn years_of_events_are_found_as_recorded() {
    let logs = [
        "12/31 23:59:59,01/01 00:00:00",
        "01/01 00:00:00,12/31 23:59:59",
        "01/02 00:00:00,01/01 00:00:00,01/01 00:00:01",
        "02/29 00:00:00",
        "02/28 12:00:00,02/29 12:00:00,03/01 12:00:00",
        "03/01 00:00:00,02/28 00:00:00,02/29 00:00:00",
        "06/01 00:00:00,2025-06-02 00:00:00,06/01 00:00:00,05/31 23:59:59,06/03 00:00:00",
        "06/03 00:00:01,06/03 00:00:00,2025-06-02 00:00:00",
        "2025-12-31 23:59:59,01/01 00:00:00,12/30 23:59:59,12/31 00:00:00",
        "12/31 00:00:00,02/29 00:00:00,01/01 00:00:00,02/29 00:00:00",
        "1/2 3:4:5",
        "00/01 00:00:00",
        "13/01 00:00:00",
        "12/00 00:00:00",
        "12/31 00:00:00",
        "12/32 00:00:00",
        "04/31 00:00:00",
        "01/01 23:59:61",
        "01/01 24:00:00",
        "01/01 00:60:00",
        "01/01 00:00:62",
        "01/01/01 00:00:00",
        "2025/01/01 00:00:00",
        "2025-02-29 00:00:00",
        "2024-02-29 00:00:00",
        "0000-01-01 00:00:00",
        "9999-12-31T23:59:59",
        "10000-01-01T00:00:00",
        "2025-01-01T00:00:00.5Z",
        "2025-01-01T00:00",
        "01/01 00:00:00.5",
    ];
    let mut record = String::new();
    for log in logs {
        writeln!(record, "{log}").expect("a text has room");
        let text = log.split(',').map(|time| format!("001 (1.0.0) {time} x\n...\n")).collect::<Vec<_>>().concat();
        let mut before = String::new();
        for written in [
            None,
            Some(-1),
            Some(0),
            Some(1_709_164_799),
            Some(1_709_164_800),
            Some(1_767_225_599),
            Some(1_767_225_600),
        ] {
            for latest in [None, Some(1_709_164_800), Some(1_767_225_600)] {
                let mut block = StreamBlock::from_complete_text(text.as_str(), FileFormat::EventLog);
                (block.written_at, block.latest_event_before) = (written, latest);
                let time = |item: ReadResult| match item {
                    Ok(entry) => entry.ad.get_str("EventTime").map(ToString::to_string).unwrap_or_default(),
                    Err(problem) => problem.message,
                };
                let times: Vec<String> = block.ads(Dialect::Condor).map(time).collect();
                let shown = format!("{} {:?}", times.join(" "), block.yearless_events());
                if shown != before {
                    writeln!(record, "    written at {written:?} after {latest:?}: {shown}").expect("a text has room");
                }
                before = shown;
            }
        }
    }
    assert_recorded("tests/answers/years.txt", &record);
}
