//! Tests of diagnostics: excerpts of texts, lines that are broken, and characters that a terminal would obey.

use std::ops::Range;

use super::{
    Excerpt, ExcerptLimits, SourceDiagnostic, SourceText, limited_line, push_words, signed_line, single_line,
    visible_text, wants_color,
};
use crate::cli::program::session_of;

#[test]
fn words_are_broken_at_the_width() {
    for (indent, words, width, expected) in [
        ("", "", 9, "\n"),
        ("", "a", 0, "a\n"),
        ("", "a b", 3, "a b\n"),
        ("", "a b", 2, "a\n    b\n"),
        ("  ", "ab cd e", 9, "  ab cd e\n"),
        ("  ", "ab cd e", 8, "  ab cd\n      e\n"),
        ("", "a bb cc", 7, "a bb cc\n"),
        ("", "a bb cc", 6, "a bb\n    cc\n"),
        // Later lines have four more blanks.
        ("", "aaaaaaa cc d", 8, "aaaaaaa\n    cc d\n"),
        ("", "aaaaaaa cc d", 7, "aaaaaaa\n    cc\n    d\n"),
        ("  ", "aaaaaaa cc d", 10, "  aaaaaaa\n      cc d\n"),
        ("  ", "aaaaaaa cc d", 9, "  aaaaaaa\n      cc\n      d\n"),
        ("", "ää ää", 5, "ää ää\n"),
        ("", "a\tb", 9, "a␉b\n"),
    ] {
        let mut text = String::new();
        push_words(&mut text, indent, words.split(' ').filter(|word| !word.is_empty()).map(str::to_owned), width);
        assert_eq!(text, expected, "{words} in {width}");
    }
}

#[test]
fn long_lines_are_limited() {
    for (text, most, expected) in
        [("", 0, ""), ("a", 0, "..."), ("abc", 3, "abc"), ("abcd", 3, "abc..."), ("ää", 2, "ää"), ("a\nb", 3, "a␊b")]
    {
        assert_eq!(limited_line(text, most), expected);
    }
}

#[test]
fn control_characters_become_visible() {
    assert_eq!(single_line("\0\n\u{1f} ~\u{7f}\u{80}é\u{200b}"), "␀␊␟ ~␡\u{fffd}é\u{fffd}");
    assert_eq!(visible_text(b"a\tb\nc\r\xff"), "a\tb\nc␍\u{fffd}");
}

#[test]
fn a_line_with_a_sign_has_its_colour() {
    for (sign, code) in [('+', 32), ('-', 31), ('@', 1)] {
        assert_eq!(signed_line(false, "  ", sign, "a\tb"), format!("  {sign} a␉b"));
        assert_eq!(signed_line(true, "  ", sign, "a"), format!("  \x1b[{code}m{sign} a\x1b[0m"));
    }
}

#[test]
fn colours_are_as_they_were_asked_for() {
    for (color, expected) in [("always", true), ("never", false)] {
        let options = session_of(&["repl", "--color", color]).options;
        assert_eq!([false, true].map(|terminal| wants_color(&options, terminal)), [expected; 2]);
    }
}

/// Returns the text, the line and the column from 0, and the ranges of an excerpt of a text that begins in line 5.
fn excerpt(text: &str, ranges: &[Range<usize>], around: usize) -> (String, [usize; 2], Vec<Range<usize>>) {
    let (excerpt, spans) = Excerpt::new(&SourceText::from_lines("file", text, 5), ranges.to_vec(), around);
    (excerpt.text, [excerpt.line, excerpt.column], spans)
}

#[test]
#[allow(clippy::single_range_in_vec_init)] // the ranges are meant
fn an_excerpt_has_the_whole_lines_of_its_ranges() {
    let lines = "one\ntwo\nthree";
    for (ranges, text, place, spans) in [
        (&[4..7][..], "two", [5, 0], &[0..3][..]),
        (&[5..6], "two", [5, 0], &[1..2]),
        (&[0..1], "one", [4, 0], &[0..1]),
        (&[], "one", [4, 0], &[]),
        // A range at the end of a line has a blank to point at.
        (&[3..3], "one ", [4, 0], &[3..3]),
        (&[3..4], "one\ntwo", [4, 0], &[3..4]),
        (&[13..13], "three ", [6, 0], &[5..5]),
        (&[99..120], "three ", [6, 0], &[5..5]),
        (&[8..13], "three", [6, 0], &[0..5]),
        (&[0..3, 8..13], lines, [4, 0], &[0..3, 8..13]),
        (&[9..10, 5..6], "two\nthree", [5, 0], &[5..6, 1..2]),
    ] {
        assert_eq!(excerpt(lines, ranges, 160), (text.to_owned(), place, spans.to_vec()), "{ranges:?}");
    }
}

#[test]
#[allow(clippy::single_range_in_vec_init)] // the ranges are meant
fn an_excerpt_of_a_long_line_is_cut() {
    for (text, range, around, expected, column, span) in [
        ("0123456789", 5..6, 2, "34567", 3, 2..3),
        ("0123456789", 0..1, 2, "012", 0, 0..1),
        ("0123456789", 8..10, 2, "6789", 6, 2..4),
        ("0123456789", 9..10, 1, "89", 8, 1..2),
        ("0123456789", 5..6, 0, "", 5, 0..0),
        // A long range is shown to the same distance.
        ("0123456789", 2..10, 3, "01234567", 0, 2..8),
        // A carriage return at the end of a line shows nothing, unless it is meant.
        ("ab\r\ncd", 0..1, 160, "ab", 0, 0..1),
        ("ab\r\ncd", 2..3, 160, "ab␍", 0, 2..5),
        // Characters are whole.
        ("äöü", 2..4, 1, "äö", 0, 2..4),
        ("äöü", 4..6, 1, "öü", 1, 2..4),
    ] {
        let (shown, [_, at], spans) = excerpt(text, std::slice::from_ref(&range), around);
        let shown = shown.trim_end_matches(' ').to_owned();
        assert_eq!((shown.as_str(), at, spans), (expected, column, vec![span]), "{text} {range:?}");
    }
}

#[test]
fn marks_far_away_are_told_in_words() {
    let text = SourceText::from_lines("file", &"x".repeat(900), 5);
    for (other, words, help, expected) in [
        (400, "open", None, (2, None)),
        (401, "open", None, (1, Some("open (5:402)"))),
        (401, "open", Some("close it"), (1, Some("close it; open (5:402)"))),
        (401, "", Some("close it"), (1, Some("close it"))),
        (401, "", None, (1, None)),
        (3, "", None, (2, None)),
    ] {
        let marks = vec![(0..1, "here".to_owned()), (other..other + 1, words.to_owned())];
        let help = help.map(str::to_owned);
        let limits = ExcerptLimits::for_problems();
        let shown = SourceDiagnostic::from_marks(&text, miette::Severity::Error, marks, help, limits).diagnostic;
        let labels = shown.labels.unwrap();
        assert_eq!((labels.len(), shown.help.as_deref()), expected, "{other} {words}");
        let primary: Vec<bool> = labels.iter().map(miette::LabeledSpan::primary).collect();
        assert_eq!(primary, (0..labels.len()).map(|index| index == 0).collect::<Vec<_>>());
        assert_eq!(labels[0].label(), Some("here"));
        assert_eq!(
            labels.get(1).map(|label| label.label().unwrap_or("none")),
            labels.get(1).map(|_| if words.is_empty() { "none" } else { words })
        );
    }
}
