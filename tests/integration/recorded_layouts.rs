//! How ads are formatted and expressions are printed, as `tests/answers` records it.

use std::fmt::Write;
use std::fs;

use classad::ad::Dialect;
use classad::format::{FileFormat, format_ads};
use classad::syntax::{ParseOptions, Style, expression_text, parse_expression, print_multiline};

use crate::binary::assert_recorded;

/// Ads in the bracketed form, with a space between any two tokens.
const ADS: [&str; 7] = [
    "[ a = 1 ; b = \"x\" ; ]",
    "[ a = { 1 , 2 , [ c = d ] } ; e = f ( g , 3 ) . h [ 0 ] ; ]",
    "[ a = b && c + d * - e || ! f ; g = ( h ) ; ; ]",
    "[ a = b ? c : d ; e = f ? : g ; h = \"i\" \"j\" ; ]",
    "[ Requirements = ( Memory >= 1000 && Arch == \"INTEL\" ) || member ( Name , { \"a\" , \"b\" } ) ; Rank = x ? y + 1 : z ; ]",
    "{ [ a = 1 ] , [ ] , [ b = { } ; c = [ d = [ e = 2 ] ] ] } [ g = 3 ]",
    "[ x = first isnt second . third && fourth [ fifth ] ? sixth ( ) : seventh ?: eighth ; y = \"one\" \"two\" \"three\" ; ]",
];

/// Texts in the long form.
const LONG: [&str; 6] = [
    "a=1\n\n\n# c\n  b = {1,2}\n-- Schedd: s\nc=x&&y // d\n",
    "a=(\nb=2\n\n# c\n\n# d\ne=1\n*** MASTER CurrentTime=1\nf=2\n",
    "# only\n\n# comments\n",
    "a=1\n***\nb=2\n*** x\n\n\nc=3 junk\n\n",
    "\n\na  =\"x\\\"\r\nb=1\r\n",
    "-- Schedd: s\na=1\n-- Schedd: t\nb=1\n\n-- Schedd: u\n\n# e\nc=(\n-- Schedd: v\nd=1",
];

fn formatted(text: &str, form: FileFormat, width: usize) -> String {
    match format_ads(text.as_bytes(), form, Dialect::Condor, width) {
        Ok(formatted) => {
            let problems = formatted.problems.iter().map(|problem| format!("! {}\n", problem.message));
            format!("{}{}", String::from_utf8_lossy(&formatted.text), problems.collect::<Vec<_>>().concat())
        }
        Err(problem) => format!("! {}\n", problem.message),
    }
}

/// Each ad at each width, where it differs from that at the width before.
#[test]
fn ads_of_each_width_are_formatted_as_recorded() {
    let mut record = String::new();
    for ad in ADS {
        let mut before = String::new();
        for width in 0..140 {
            let shown = formatted(ad, FileFormat::Bracketed, width);
            if shown != before {
                write!(record, "---- {width} columns: {ad}\n{shown}").expect("a text has room");
            }
            before = shown;
        }
    }
    for text in LONG {
        write!(record, "---- {text:?}\n{}", formatted(text, FileFormat::Long, 80)).expect("a text has room");
    }
    assert_recorded("tests/answers/widths.txt", &record);
}

/// Each ad with a comment or line ends in place of each of its spaces.
#[test]
fn comments_are_formatted_as_recorded() {
    let mut record = String::new();
    for ad in &ADS[..6] {
        for between in
            ["\n", "\n\n\n", " /* c */ ", "\n/* c */ ", " // c\n", "\n\n// c\n\n", " /* c\n  d */ ", "/*c*/\n"]
        {
            let mut before = String::new();
            for (at, _) in ad.match_indices(' ') {
                let text = format!("{}{between}{}", &ad[..at], &ad[at + 1..]);
                let shown = formatted(&text, FileFormat::Bracketed, 40);
                if shown == before {
                    writeln!(record, "---- {text:?} the same").expect("a text has room");
                } else {
                    write!(record, "---- {text:?}\n{shown}").expect("a text has room");
                }
                before = shown;
            }
        }
    }
    assert_recorded("tests/answers/comments.txt", &record);
}

/// The expressions of the cases that read ads, in each style in which they differ from the usual one.
#[test]
fn expressions_are_printed_as_recorded() {
    let path = format!("{}/tests/conformance/curated.txt", env!("CARGO_MANIFEST_DIR"));
    let cases = fs::read_to_string(path).expect("it is text");
    let mut record = String::new();
    let later = cases.lines().skip_while(|line| *line != "## ref");
    let extra =
        ["'a\\tb'.c", "\"\\a\\177\\303\\251\\377\\\"'\"", "{ 1.5, -0.0, 1e300, relTime(5), \"a\\nb\", \"c\\\\\" }"];
    let extra =
        extra.into_iter().chain(["[ bb = 1; a = 2; c = { } ]", "[ ]", "- 5", "- 5 .b", "-(5)", "!-x", "(a ?: b).c"]);
    let extra = extra.chain([
        "'1:2:3'",
        "'\\061:2'",
        "parent.a",
        "'parent'",
        "(-a)[0]",
        "(a + b) * c - (d - e)",
        "a ? (b ? c : d) : e",
    ]);
    for line in later.filter(|line| !line.starts_with(['#', '@']) && !line.is_empty()).chain(extra) {
        let Ok(expression) = parse_expression(line.as_bytes(), ParseOptions::new(Dialect::Classad)) else { continue };
        let usual = expression_text(&expression, Style::New);
        // A time without a zone is one of the zone of this machine.
        if usual.contains("absTime(\"") {
            continue;
        }
        writeln!(record, "{line}\n    {usual}").expect("a text has room");
        for style in [Style::Long, Style::Library, Style::LongLibrary] {
            let text = expression_text(&expression, style);
            if text != usual {
                writeln!(record, "    {style:?} {text}").expect("a text has room");
            }
        }
        let lines = String::from_utf8_lossy(&print_multiline(&expression)).into_owned();
        if lines.contains('\n') {
            writeln!(record, "    lines {lines:?}").expect("a text has room");
        }
        let parts: Vec<String> = expression.parts().map(|part| format!("{:?}", part.span().range())).collect();
        writeln!(record, "    parts {}", parts.join(" ")).expect("a text has room");
    }
    assert_recorded("tests/answers/styles.txt", &record);
}
