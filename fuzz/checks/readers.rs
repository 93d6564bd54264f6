//! Readers and printers: texts of expressions, of ads in each form, and of rules.

use std::collections::{BTreeMap, HashSet};
use std::io::{self, Read};

use classad::ad::{Ad, Dialect, Expression, Name};
use classad::eval::{Context, Environment, Evaluator, FreeNames, Knowledge, SpecializeOptions, references, specialize};
use classad::format::{
    self, AdEntry, FileFormat, Problem, Projection, ReadResult, Severity, Stream, StreamBlock, read, write,
};
use classad::syntax::{ParseOptions, Style, parse_expression, print, print_ad};
use classad::transform;

use super::DIALECTS;

pub(super) const FORMS: [FileFormat; 5] =
    [FileFormat::Long, FileFormat::Bracketed, FileFormat::Json, FileFormat::Xml, FileFormat::Yaml];

/// An expression prints as text that reads back, and nothing that is done with it ends badly.
pub fn expression(data: &[u8]) {
    for dialect in DIALECTS {
        for rules in [ParseOptions::new(dialect), ParseOptions::long(dialect)] {
            if let Ok(tree) = parse_expression(data, rules) {
                reads_back(&tree, dialect);
                used(&tree, dialect);
            }
        }
    }
}

fn reads_back(tree: &Expression, dialect: Dialect) {
    let text = print(tree, Style::New);
    let again = parse_expression(&text, ParseOptions::new(dialect));
    let again = again.unwrap_or_else(|error| panic!("{}: {error}", String::from_utf8_lossy(&text)));
    assert!(again == *tree, "{}", String::from_utf8_lossy(&text));
}

/// What is evaluated, specialized and searched for references ends.
fn used(tree: &Expression, dialect: Dialect) {
    let context = Context { now: Some(0), max_steps: 2_000, max_depth: 200, ..Context::new(dialect) };
    let (environment, frame) = Environment::single(Ad::default());
    let before = Evaluator::new(&environment, &context).evaluate(tree, &frame);
    let _ = references(tree, &frame, &environment, &context);
    let (unmet, unmet_frame) = Environment::partner_unknown(Ad::default(), Knowledge::Partial);
    let left = specialize(tree, &unmet_frame, &unmet, &context, SpecializeOptions::default());
    let text = print(&left.expression, Style::New);
    assert!(parse_expression(&text, ParseOptions::new(dialect)).is_ok(), "{}", String::from_utf8_lossy(&text));
    // Drawing lots twice gives two results.
    let by_chance = String::from_utf8_lossy(&print(tree, Style::New)).to_ascii_lowercase().contains("random");
    if let (Ok(before), false) = (before, by_chance)
        && let Ok(after) = Evaluator::new(&environment, &context).evaluate(&left.expression, &frame)
    {
        assert_eq!(before.value_type(), after.value_type(), "{}", String::from_utf8_lossy(&text));
    }
}

/// The long form.
pub fn long(data: &[u8]) {
    reader(data, FileFormat::Long);
}

/// Bracketed ads.
pub fn new(data: &[u8]) {
    reader(data, FileFormat::Bracketed);
}

/// JSON and JSON Lines.
pub fn json(data: &[u8]) {
    reader(data, FileFormat::Json);
}

/// XML.
pub fn xml(data: &[u8]) {
    reader(data, FileFormat::Xml);
}

/// YAML.
pub fn yaml(data: &[u8]) {
    reader(data, FileFormat::Yaml);
}

/// Problems have their places in the text; what is read survives every form that can carry it; and a stream
/// in small pieces has the same ads.
fn reader(data: &[u8], form: FileFormat) {
    for dialect in DIALECTS {
        let mut ads = Vec::new();
        let mut errors = 0;
        for item in read(data, form, dialect) {
            match item {
                Ok(entry) => {
                    assert!(entry.offset <= data.len());
                    ads.push(entry.ad);
                }
                Err(problem) => {
                    assert!(problem.range.start <= problem.range.end && problem.range.end <= data.len(), "{problem:?}");
                    errors += usize::from(problem.severity == Severity::Error);
                }
            }
        }
        for ad in &ads {
            for form in FORMS {
                survives(ad, form, dialect);
            }
        }
        if errors == 0 {
            // The beginning of a stream is read at once.
            let far = [b"\n".repeat(5000).as_slice(), data].concat();
            let whole = read(&far, form, dialect).flatten().count();
            assert_eq!(streamed(far, form, dialect), whole, "in pieces there are other ads");
        }
    }
}

pub(super) fn survives(ad: &Ad, form: FileFormat, dialect: Dialect) {
    let mut text = Vec::new();
    let Ok(changes) = write(&mut text, ad, form) else { return };
    // The long form has no empty ads.
    if !changes.is_empty() || (ad.is_empty() && form == FileFormat::Long) {
        return;
    }
    let again: Vec<_> = read(&text, form, dialect).collect();
    let shown = || {
        format!("{form}: {}\n{}", String::from_utf8_lossy(&print_ad(ad, Style::New)), String::from_utf8_lossy(&text))
    };
    match again.as_slice() {
        [Ok(entry)] => assert!(entry.ad == *ad, "{}", shown()),
        [Err(problem), ..] | [_, Err(problem), ..] => panic!("{problem:?}\n{}", shown()),
        other => panic!("{} ads of one\n{}", other.len(), shown()),
    }
}

/// How many ads a stream has whose pieces end anywhere.
fn streamed(text: Vec<u8>, form: FileFormat, dialect: Dialect) -> usize {
    struct Pieces(io::Cursor<Vec<u8>>, usize);

    impl Read for Pieces {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            self.1 = self.1 % 13 + 1;
            let length = self.1.min(into.len());
            self.0.read(&mut into[..length])
        }
    }

    let mut stream = Stream::new(Box::new(Pieces(io::Cursor::new(text), 0)), Some(form)).expect("memory can be read");
    let mut count = 0;
    // A torn document is an error behind its ads.
    while let Ok(Some(block)) = stream.next_block() {
        count += block.ads(dialect).flatten().count();
    }
    count
}

/// `fmt`: what is laid out means what it meant, and is laid out already.
pub fn layout(data: &[u8]) {
    for (form, width) in [(FileFormat::Bracketed, 40), (FileFormat::Long, 40), (FileFormat::Bracketed, 100)] {
        let Ok(once) = format::format_ads(data, form, Dialect::Condor, width) else { continue };
        let ads = |text: &[u8]| read(text, form, Dialect::Condor).flatten().map(|entry| entry.ad).collect::<Vec<_>>();
        assert!(ads(data) == ads(&once.text), "it means something else: {}", String::from_utf8_lossy(&once.text));
        if once.is_valid() {
            let twice = format::format_ads(&once.text, form, Dialect::Condor, width).expect("it was laid out before");
            assert_eq!(String::from_utf8_lossy(&once.text), String::from_utf8_lossy(&twice.text));
        }
    }
}

/// Transform rules: whatever they do, it ends, and its faults have their places.
pub fn rules(data: &[u8]) {
    let (rules, problems) = transform::parse_rules(data, Dialect::Condor);
    for problem in problems {
        assert!(problem.range.start <= problem.range.end && problem.range.end <= data.len(), "{problem:?}");
    }
    let context = Context { now: Some(0), max_steps: 2_000, max_depth: 200, ..Context::new(Dialect::Condor) };
    let text = b"[ A = 1; B = A + 1; Owner = \"x\"; xa = { 1, [ b = 2 ] }; tmpfile = \"/tmp/x\" ]";
    for entry in read(text, FileFormat::Bracketed, Dialect::Condor).flatten() {
        let transform = transform::Transform { rules: rules.clone(), ..transform::Transform::default() };
        for result in transform.apply(&entry.ad, &context) {
            survives(&result.ad, FileFormat::Bracketed, Dialect::Condor);
        }
    }
}

/// Reading the long form without reading all of it.  The first line has the names that are asked for.
pub fn selected(data: &[u8]) {
    let (first, text) = data.split_at(memchr(data, b'\n').map_or(0, |end| end + 1));
    // No attribute has an empty name.
    let first_line = String::from_utf8_lossy(first);
    let names: Vec<Name> = first_line.trim().split(',').filter(|name| !name.is_empty()).map(Name::new).collect();
    if names.is_empty() {
        return;
    }
    let block = StreamBlock::from_complete_text(text, FileFormat::Long);
    for dialect in DIALECTS {
        let whole = by_ad(block.ads(dialect));
        let selections = [
            Projection::new(names.clone(), dialect).with_piece_bytes(first.len()),
            // What an ad is called may be kept apart from the ad.
            Projection::new(names[1..].to_vec(), dialect).with_shared_ads(names[..1].to_vec()),
        ];
        for (mut selection, asked) in selections.into_iter().zip([&names[..], &names[1..]]) {
            let found = by_ad(block.project(&mut selection));
            for number in whole.keys().chain(found.keys()) {
                let [whole, found] = [&whole, &found].map(|ads| ads.get(number).unwrap_or(&NOTHING));
                agrees(text, asked, dialect, whole, found);
            }
        }
    }
}

fn memchr(text: &[u8], byte: u8) -> Option<usize> {
    text.iter().position(|one| *one == byte)
}

/// What is read of one ad.
#[derive(Default)]
struct Reading {
    entry: Option<AdEntry>,
    problems: Vec<Problem>,
}

static NOTHING: Reading = Reading { entry: None, problems: Vec::new() };

/// What is read of each ad, by its number.
fn by_ad(items: impl Iterator<Item = ReadResult>) -> BTreeMap<usize, Reading> {
    let mut ads = BTreeMap::<usize, Reading>::new();
    for item in items {
        match item {
            Ok(entry) => {
                let before = ads.entry(entry.number).or_default().entry.replace(entry);
                assert!(before.is_none(), "an ad comes twice");
            }
            Err(problem) => ads.entry(problem.ad_number).or_default().problems.push(problem),
        }
    }
    ads
}

/// Whether an ad that was read as far as it was asked for is what the whole ad is.
fn agrees(text: &[u8], asked: &[Name], dialect: Dialect, whole: &Reading, found: &Reading) {
    let shown = || format!("{asked:?} of\n{}", String::from_utf8_lossy(text));
    let Some(entry) = found.entry.as_ref().filter(|entry| !entry.is_whole) else {
        // Read whole after all, or lost.
        assert_eq!(found.problems, whole.problems, "{}", shown());
        let ad = |reading: &Reading| reading.entry.as_ref().map(|entry| (entry.ad.clone(), entry.offset));
        assert!(ad(found) == ad(whole), "{}", shown());
        return;
    };
    assert!(found.problems.is_empty(), "{}", shown());
    let (mut needed, mut next) = (asked.to_vec(), 0);
    let mut known: HashSet<String> = asked.iter().map(|name| name.as_str().to_ascii_lowercase()).collect();
    while let Some(name) = needed.get(next) {
        let expression = entry.ad.get(name);
        if let Some(whole) = &whole.entry {
            assert!(expression == whole.ad.get(name), "{name}: {}", shown());
        }
        for mentioned in expression.map(|e| FreeNames::of(e, dialect).names).into_iter().flatten() {
            if known.insert(mentioned.as_str().to_ascii_lowercase()) {
                needed.push(mentioned);
            }
        }
        next += 1;
    }
    if let Some(whole) = &whole.entry {
        assert_eq!(entry.offset, whole.offset, "{}", shown());
        let is_there = |name: &Name| whole.ad.get(name).is_some();
        assert!(entry.ad.iter().all(|attribute| is_there(attribute.name)), "{}", shown());
    }
    // Only what is wrong with a value that no one asked for may be overlooked.
    for problem in &whole.problems {
        let start = text[..problem.range.start].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let line = &text[start..start + memchr(&text[start..], b'\n').unwrap_or(text.len() - start)];
        let equals = memchr(line, b'=').unwrap_or_else(|| panic!("{problem:?}: {}", shown()));
        let name = String::from_utf8_lossy(line[..equals].trim_ascii()).to_ascii_lowercase();
        assert!(start + equals < problem.range.start, "{problem:?}: {}", shown());
        assert!(!known.contains(&name), "{problem:?}: {}", shown());
        assert!(!problem.message.contains("closing quote"), "{problem:?}: {}", shown());
    }
}
