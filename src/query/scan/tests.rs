use super::{AdScanner, ScanItem, ScannedBlock, TruthFilter};
use crate::ad::{Ad, Dialect, Expression, Name};
use crate::eval::Context;
use crate::format::{FileFormat, Stream, StreamBlock};
use crate::query::{BlockTask, for_each_block_of};
use crate::syntax::{ParseOptions, parse_expression};

const POOL: &str = "n = 1\na = 5\nx = b\nb = 1\n\nn = 2\na = \"s\"\n\nn = 3\n\nn = 4\na = 1 +\n\nn = 5\na = 7\n\n\
                    n = 6\na = 5 + 2\nx = 1\n";

fn expression(text: &str) -> Expression {
    parse_expression(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap()
}

/// What is found in an ad: the number, and the names of its attributes.
fn found(ad: &Ad) -> String {
    let names: String = ad.iter().map(|attribute| attribute.name.to_string()).collect();
    format!("{}{names}", ad.get_str("n").unwrap())
}

fn shown(scanned: ScannedBlock<String>) -> String {
    let items = scanned.items.into_iter().map(|item| match item {
        ScanItem::Found(found) => found,
        ScanItem::Problem(problem) => format!("bad {}", problem.ad_number),
        ScanItem::Halted(abort, number) => format!("{number} {abort:?}"),
        ScanItem::Stop => "stop".to_owned(),
    });
    let items: Vec<String> = items.collect();
    format!("{} of {}", items.join(" "), scanned.ads)
}

#[test]
fn ads_are_selected_by_the_value_of_the_constraint() {
    for (constraint, filter, expected) in [
        ("true", TruthFilter::True, "1naxb 2na 3n bad 4 5na 6nax of 6"),
        ("a > 5", TruthFilter::True, "bad 4 5na 6nax of 6"),
        ("a > 5", TruthFilter::NotTrue, "1naxb 2na 3n bad 4 of 6"),
        ("a > 5", TruthFilter::Undefined, "3n bad 4 of 6"),
        ("a", TruthFilter::True, "1naxb bad 4 5na 6nax of 6"),
        ("size(a) == 1", TruthFilter::True, "2na bad 4 of 6"),
        ("no", TruthFilter::Undefined, "1naxb 2na 3n bad 4 5na 6nax of 6"),
    ] {
        for reads_some in [false, true] {
            let mut scanner = AdScanner::new(expression(constraint), Context::new(Dialect::Condor), found);
            scanner.filter = filter;
            if reads_some {
                scanner.read_only([Name::new("n"), Name::new("a"), Name::new("x")]);
            }
            let block = StreamBlock::from_complete_text(POOL, FileFormat::Long);
            let told = shown(scanner.run(&mut scanner.new_state(), &block));
            assert_eq!(told, expected, "{:?}", (constraint, filter, reads_some));
        }
    }
}

/// Of an ad in the long form only the needed attributes are read: those that are asked for, those of the constraint, and
/// those to which they refer.
#[test]
fn only_needed_attributes_are_read() {
    for (constraint, stop, names, expected) in [
        ("true", None, &["n"][..], "1n 2n 3n 4n 5n 6n of 6"),
        ("true", None, &["n", "x"], "1nxb 2n 3n 4n 5n 6nx of 6"),
        ("a > 5", None, &["n"], "bad 4 5na 6na of 6"),
        ("a + 0 > 5", None, &["n"], "bad 4 5na 6na of 6"),
        ("true", Some("a == 7"), &["n"], "1na 2na 3n bad 4 stop stop of 6"),
        ("a > 5", Some("n == 5"), &["n"], "bad 4 stop 6na of 6"),
        ("eval(\"a\") > 5", None, &["n"], "bad 4 5na 6na of 6"),
    ] {
        let mut scanner = AdScanner::new(expression(constraint), Context::new(Dialect::Condor), found);
        scanner.stop = stop.map(expression);
        scanner.read_only(names.iter().map(|name| Name::new(name)));
        let block = StreamBlock::from_complete_text(POOL, FileFormat::Long);
        assert_eq!(shown(scanner.run(&mut scanner.new_state(), &block)), expected, "{:?}", (constraint, stop));
    }
}

#[test]
fn a_scan_knows_which_names_and_values_there_were() {
    for (constraint, text, unseen, reason) in [
        ("a > 5", "a = 1\n\nb = 1\n", "", None),
        ("a > 5 && c", "a = 1\n\nb = 1\n", "c", None),
        ("c > 5", "a = 1\n", "c", None),
        (
            "a > 5",
            "a = \"x\"\n",
            "",
            Some("true in no ad: in some it is an error: `>` does not work with a string and an integer"),
        ),
        ("a > 5", "a = \"x\"\n\na = 1\n", "", None),
        ("a", "a = \"x\"\n", "", Some("true in no ad: in some it is a string")),
        ("a > 5", "", "a", None),
    ] {
        for reads_some in [false, true] {
            let mut scanner = AdScanner::new(expression(constraint), Context::new(Dialect::Condor), |_: &Ad| ());
            if reads_some {
                scanner.read_only([]);
            }
            let block = StreamBlock::from_complete_text(text, FileFormat::Long);
            scanner.run(&mut scanner.new_state(), &block);
            let names: Vec<_> = scanner.constraint_names.unseen().map(ToString::to_string).collect();
            assert_eq!(names.join(" "), unseen, "{constraint} {text}");
            assert_eq!(format!("{:?}", scanner.errors.reason()), format!("{reason:?}"), "{:?}", (constraint, text));
        }
    }
}

#[test]
fn an_evaluation_that_halts_is_told_with_its_ad() {
    for (constraint, stop, expected) in [
        ("1 + 1 + 1 + 1 > 0", None, "1 TooManySteps(3) 2 TooManySteps(3) of 2"),
        ("true", Some("1 + 1 + 1 + 1 > 0"), "1 TooManySteps(3) 2 TooManySteps(3) of 2"),
        ("true", Some("n == 2"), "1n stop of 2"),
    ] {
        let context = Context { max_steps: 3, ..Context::new(Dialect::Condor) };
        let mut scanner = AdScanner::new(expression(constraint), context, found);
        scanner.stop = stop.map(expression);
        let block = StreamBlock::from_complete_text("n = 1\n\nn = 2\n", FileFormat::Long);
        assert_eq!(shown(scanner.run(&mut scanner.new_state(), &block)), expected, "{:?}", (constraint, stop));
    }
}

#[test]
fn a_scan_of_read_ads_ends_when_no_more_is_wanted() {
    let scanner = AdScanner::new(expression("a > 4"), Context::new(Dialect::Condor), found);
    let block = std::sync::Arc::new(StreamBlock::from_complete_text(POOL, FileFormat::Long));
    let entries = || block.ads(Dialect::Condor).flatten().map(|entry| (std::sync::Arc::clone(&block), entry));
    for (wanted, expected) in [(9, "1naxb 5na 6nax"), (2, "1naxb 5na"), (1, "1naxb")] {
        let mut all = Vec::new();
        let done = scanner.scan_read_ads(entries(), &mut |_, item| {
            if let ScanItem::Found(found) = item {
                all.push(found);
            }
            Ok::<_, ()>(all.len() < wanted)
        });
        assert_eq!((all.join(" ").as_str(), done), (expected, Ok(())));
    }
    assert_eq!(scanner.scan_read_ads(entries(), &mut |_, _| Err(5)), Err(5));
    assert!(!scanner.constraint_names.has_unseen());
}

/// A block of a stream has at most 256 KiB.
#[test]
fn blocks_are_scanned_in_their_order_until_no_more_is_wanted() {
    let ad = |number| format!("n = {number}\na{} = n\nb = a{}\n\n", number % 7, number % 5);
    let text = (0..30_000).map(ad).collect::<Vec<_>>().concat();
    let mut scanner = AdScanner::new(expression("n % 1000 == 5"), Context::new(Dialect::Condor), found);
    scanner.read_only(["n", "b"].map(Name::new));
    let scan = |threads, wanted| {
        let (mut all, mut blocks, mut ads) = (Vec::new(), 0, 0);
        let mut stream = Stream::new(Box::new(std::io::Cursor::new(text.clone())), None).unwrap();
        let done = for_each_block_of(&mut stream, threads, &scanner, |_, scanned| {
            (blocks, ads) = (blocks + 1, ads + scanned.ads);
            all.extend(scanned.items.into_iter().filter_map(|item| match item {
                ScanItem::Found(found) => Some(found),
                _ => None,
            }));
            Ok(blocks < wanted)
        });
        assert!(done.is_ok());
        (all, blocks, ads)
    };
    let alone = scan(1, 99);
    assert_eq!((alone.0.len(), alone.2, alone.1 > 2), (30, 30_000, true));
    for threads in [2, 3] {
        let found = scan(threads, 99);
        assert_eq!((found.0, found.2), (alone.0.clone(), alone.2), "{threads}");
    }
    for threads in [1, 3] {
        for wanted in [1, 2] {
            assert_eq!(scan(threads, wanted).1, wanted);
        }
    }
}
