use super::documents::{DocumentExtents, complete_prefix_length};
use super::reader::read_ads;
use super::writer::SYNTAX;
use crate::ad::{Ad, Dialect, Name};
use crate::format::Position;
use crate::syntax::{ParseOptions, Style, parse_ad, print_ad};

/// Returns a text for each item: an ad printed on one line, or a problem as `!line:column: message`.
fn items(text: &str) -> Vec<String> {
    read_ads(text.as_bytes(), Dialect::Classad)
        .map(|item| match item {
            Ok(entry) => String::from_utf8(print_ad(&entry.ad, Style::New)).unwrap(),
            Err(problem) => {
                assert!(problem.range.start <= problem.range.end && problem.range.end <= text.len(), "{text}");
                let at = Position::of_offset(text.as_bytes(), problem.range.start);
                format!("!{}:{}: {}", at.line, at.column, problem.message)
            }
        })
        .collect()
}

fn ad(text: &str) -> Ad {
    parse_ad(text.as_bytes(), ParseOptions::new(Dialect::Classad)).unwrap()
}

fn written(ad: &Ad) -> String {
    let mut out = Vec::new();
    SYNTAX.push_ad(ad, &mut out);
    String::from_utf8(out).unwrap()
}

/// Asserts that an ad is unchanged after it is written and read again.
fn survives(ad: &Ad) {
    let text = written(ad);
    let again: Vec<_> = read_ads(text.as_bytes(), Dialect::Classad).collect();
    assert!(matches!(again.as_slice(), [Ok(entry)] if entry.ad == *ad), "{text}\n{:?}", items(&text));
}

#[test]
fn what_it_looks_like() {
    for (text, yaml) in [
        ("[ ]", "--- {}\n"),
        ("[ i = 1; r = 1.5; b = true; u = undefined ]", "---\ni: 1\nr: 1.5\nb: true\nu: null\n"),
        ("[ r = 1e100; s = -1.5e-7; t = -0.0 ]", "---\nr: 1.0e+100\ns: -1.5e-7\nt: -0.0\n"),
        ("[ p = real(\"INF\"); m = real(\"-INF\"); x = real(\"NaN\") ]", "---\np: .inf\nm: -.inf\nx: .nan\n"),
        (
            "[ s = \"a plain one\"; t = \"yes\"; u = \"1\"; v = \"\" ]",
            "---\ns: a plain one\nt: \"yes\"\nu: \"1\"\nv: \"\"\n",
        ),
        ("[ s = \"C:\\\\x\"; t = \"a\\nb\"; u = \"\\377\" ]", "---\ns: 'C:\\x'\nt: \"a\\nb\"\nu: !expr '\"\\377\"'\n"),
        ("[ e = error; x = a + 1; z = !b ]", "---\ne: !expr error\nx: !expr a + 1\nz: !expr '!b'\n"),
        ("[ t = relTime(\"0+00:00:01\") ]", "---\nt: !expr 'relTime(\"0+00:00:01\")'\n"),
        ("[ l = { 1, \"a\", x }; e = { } ]", "---\nl: [1, a, !expr x]\ne: []\n"),
        ("[ p = { [ a = 1; b = { } ], { { 2 }, [ ] } } ]", "---\np:\n  - a: 1\n    b: []\n  - - [2]\n    - {}\n"),
        ("[ a = [ b = [ c = 1 ]; d = 2 ] ]", "---\na:\n  b:\n    c: 1\n  d: 2\n"),
        (
            "[ 'true' = 1; '1a' = 2; 'it''s' = 3 ]".replace("''", "\\'").as_str(),
            "---\n\"true\": 1\n\"1a\": 2\n\"it's\": 3\n",
        ),
    ] {
        assert_eq!(written(&ad(text)), yaml, "{text}");
        survives(&ad(text));
    }
}

#[test]
fn every_string_and_name_survives() {
    let words =
        ["yes", "null", "~", "1e3", "0x1", "0o17", "017", "1_000", ".inf", ".nan", "inf", "nan", "-", "--- ", "..."];
    let odd = [
        " a",
        "a ",
        "a  b",
        "a: b",
        "a #b",
        "#",
        "!x",
        "&x",
        "*x",
        "?",
        ":",
        "[",
        "{",
        "]",
        ",",
        "%",
        "@",
        "`",
        "|",
        ">",
        "a\tb",
        "\t",
        "a\nb\n",
        "\r\n",
        "\u{1}",
        "\u{7f}",
        "\u{85}",
        "\u{a0}",
        "\u{2028}x",
        "\u{2029}",
        "\u{feff}",
        "\u{fffe}",
        "\u{10ffff}",
        "\u{1f600}",
        "é",
        "'",
        "\"",
        "\\",
        "'\"\\",
        "2001-02-03",
        "12:30:45",
        "<<",
        "=",
        "//",
        "---\na: 1\n---",
        "a\n---\n",
        "\n",
        "'' ''",
        "a'b\"c",
        "/",
        "_",
        "+1",
        "-1",
        "1.",
        "y",
        "N",
        "Off",
    ];
    for text in words.into_iter().chain(odd) {
        let string = crate::ad::Expression::literal(crate::ad::Value::string(text));
        let list = crate::ad::Expression::new(
            crate::ad::ExpressionKind::List([string.clone(), string.clone()].into()),
            crate::ad::Span::default(),
        );
        survives(&[(Name::new(text), string), (Name::new("l"), list)].into_iter().collect());
    }
    for length in [1_000, 1_025, 5_000, 100_000] {
        let name = Name::new(&"é".repeat(length));
        let inner: Ad =
            [(name.clone(), crate::ad::Expression::literal(crate::ad::Value::Integer(1)))].into_iter().collect();
        let nested = crate::ad::Expression::new(crate::ad::ExpressionKind::Ad(inner), crate::ad::Span::default());
        survives(&[(name, nested.clone()), (Name::new("b"), nested)].into_iter().collect());
    }
}

#[test]
fn depth_harms_neither_writing_nor_reading() {
    for (open, close) in [("[a=", "]"), ("{", "}"), ("{[a=", "]}"), ("-", ""), ("(", ")"), ("f(", ")")] {
        for depth in [30, 63, 64, 65, 127, 128, 129, 500, 20_000] {
            survives(&ad(&format!("[ x = {}1{} ]", open.repeat(depth), close.repeat(depth))));
        }
    }
    for text in ["[", "{a: ", "- ", "? ", "a: [{", "[[1],"] {
        let text = text.repeat(30_000);
        assert!(items(&text)[0].starts_with('!'), "{}", &text[..10]);
    }
    // Brackets in strings do not count towards the maximum number of open brackets.
    assert_eq!(items(&format!("a: '{}'\nb: \"\\\"{}\"", "[".repeat(10_000), "{".repeat(10_000))).len(), 1);
    assert!(!items(&format!("a: '{}'", "[''".repeat(10_000)))[0].starts_with('!'));
}

#[test]
fn what_others_write() {
    for (text, expected) in [
        ("a: 1\nb: x", &["[ a = 1; b = \"x\" ]"][..]),
        ("--- {a: 1, b: [1, x, null, ~]}\n...\n", &["[ a = 1; b = { 1, \"x\", undefined, undefined } ]"]),
        ("a: 1\n---\nb: 2\n---\n# nothing\n---\nc: 3\n", &["[ a = 1 ]", "[ b = 2 ]", "[ c = 3 ]"]),
        ("%YAML 1.2\n---\na: 1\n...\n%YAML 1.1\n---\nb: 2", &["[ a = 1 ]", "[ b = 2 ]"]),
        ("- a: 1\n- {b: 2}\n- !expr '[ c = 3 ]'\n", &["[ a = 1 ]", "[ b = 2 ]", "[ c = 3 ]"]),
        ("[]", &[]),
        (
            "a: 0o17\nb: 0x1F\nc: 017\nd: 1e3\ne: -.INF\nf: +5",
            &["[ a = 15; b = 31; c = \"017\"; d = 1000.0; e = real(\"-INF\"); f = 5 ]"],
        ),
        ("1: x\ntrue: y\n~: z\n1.50: w", &["[ '1' = \"x\"; 'true' = \"y\"; '~' = \"z\"; '1.50' = \"w\" ]"]),
        ("a: |\n  x\n   y\nb: >-\n  x\n  y\n", &["[ a = \"x\\n y\\n\"; b = \"x y\" ]"]),
        ("a: !expr |\n  b &&\n  c\nd: !expr b >= 5\n", &["[ a = b && c; d = b >= 5 ]"]),
        ("a: &x {b: 1}\nc: *x\nA: 2", &["[ a = 2; c = [ b = 1 ] ]"]),
        ("a: !!str 5\nb: !!float 5\nc: !expr 5", &["[ a = \"5\"; b = 5.0; c = 5 ]"]),
        ("\u{feff}a: 1\r\n---\r\nb: 2\r\n", &["[ a = 1 ]", "[ b = 2 ]"]),
        ("a:\nb: ''", &["[ a = undefined; b = \"\" ]"]),
        ("a: 9223372036854775807\nb: -9223372036854775808", &["[ a = 9223372036854775807; b = -9223372036854775808 ]"]),
        (
            "a: 1e50\nb: '99999999999999999999999999999999999999999999999999'",
            &["[ a = 1e50; b = \"99999999999999999999999999999999999999999999999999\" ]"],
        ),
        ("", &[]),
        ("# nothing\n", &[]),
        ("a: 1\n---", &["[ a = 1 ]"]),
    ] {
        assert_eq!(items(text), expected, "{text}");
    }
}

#[test]
fn problems_have_a_place_and_cost_no_other_document() {
    for (text, problem) in [
        ("a: [1, 2", "!1:9: this is not YAML: did not find expected ',' or ']'"),
        ("a: 1\nb: *x", "!2:4: this is not YAML: unknown anchor"),
        ("a: 1\n b: 2", "!2:3: this is not YAML: mapping values are not allowed in this context"),
        ("a: 1\nb: !expr 'x + '", "!2:15: expected an expression, found the end"),
        ("a: 1\nb: !expr \"x $ 1\"", "!2:13: `$` is not part of the language"),
        ("a: !expr |\n  b &&\n   $\n", "!1:4: `$` is not part of the language (column 7 of the expression)"),
        ("a:\n  - !date 2001-01-01", "!2:5: there is no tag `!date`"),
        ("a: !date {b: 1}", "!1:4: there is no tag `!date`"),
        ("a: !expr [1]", "!1:4: a: invalid type: sequence, expected the text of an expression"),
        ("a: 9223372036854775808", "!1:4: `9223372036854775808` does not fit into a signed 64-bit integer"),
        ("a: [-9223372036854775809]", "!1:5: `-9223372036854775809` does not fit into a signed 64-bit integer"),
        (
            "a: 1\nb: -12345678901234567890123456789012345678901234567890",
            "!2:4: `-12345678901234567890123456789012345678901234567890` does not fit into a signed 64-bit integer",
        ),
        ("'': 1", "!1:1: a name cannot be empty"),
        ("a: {self: 1}", "!1:5: `self` is a reserved word, not an attribute name"),
        ("? [1]\n: 2", "!1:3: invalid type: sequence, expected a name"),
        ("a: \"\\0\"", "!1:4: an ad cannot contain a byte of value 0"),
        ("a: x\u{7}y", "!1:5: YAML does not allow the character \\u{7} without an escape"),
        (
            "just a text",
            "!1:1: invalid type: string \"just a text\", expected a mapping of names to values, or a sequence of \
            such mappings",
        ),
        ("- 5", "!1:3: this is not an ad"),
        ("!expr 1 + 1", "!1:1: this is not an ad"),
    ] {
        let both = items(&format!("{text}\n---\nc: 3\n"));
        assert_eq!(both, [problem, "[ c = 3 ]"], "{text}");
        // If `text` is the second document, the same problem is reported three lines further down.
        let line = problem[1..].split(':').next().unwrap().parse::<usize>().unwrap();
        let lower = problem.replacen(&format!("!{line}:"), &format!("!{}:", line + 3), 1);
        assert_eq!(items(&format!("b: 2\n# é\n---\n{text}\n")), ["[ b = 2 ]", &lower], "{text}");
    }
    // All problems of a bad ad are reported, in the place of the ad.
    assert_eq!(
        items("- a: !expr (\n  b: 1\n  c: !expr x y\n- d: 4\n- e: !expr 1 +"),
        [
            "!1:13: expected an expression, found the end",
            "!3:14: expected the end, found a name `y`",
            "[ d = 4 ]",
            "!5:15: expected an expression, found the end",
        ]
    );
    assert_eq!(
        items("- a: 1\n- b: !expr (\n- 7\n- c: 3\n- d: !x 4\n- e: 5"),
        [
            "[ a = 1 ]",
            "!2:13: expected an expression, found the end",
            "!3:3: this is not an ad",
            "[ c = 3 ]",
            "!5:6: there is no tag `!x`",
            "[ e = 5 ]"
        ]
    );
    assert_eq!(items(&"- 1\n".repeat(1000)).len(), 51);
}

#[test]
fn aliases_that_explode_are_refused() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..20 {
        let below = vec![format!("*a{}", level - 1); 9].join(", ");
        text.extend([format!("a{level}: &a{level} ["), below, "]\n".to_owned()]);
    }
    assert_eq!(
        items(&(text + "---\nb: 1")),
        ["!1:1: the aliases of this document expand to too many values", "[ b = 1 ]"]
    );
}

#[test]
fn a_window_is_cut_between_documents() {
    let text =
        "# c\n---\na: 1\n--- {b: 2}\n---x: 3\n...\n%YAML 1.2\n---\nc: |\n  --- x\n---\n---\nd: '\n---\ne: 1\n...";
    let documents: Vec<_> = DocumentExtents { text: text.as_bytes(), at: 0 }.collect();
    let all = items(text);
    assert_eq!(documents.len(), 6, "{all:?}");
    for end in 0..=text.len() {
        let cut = complete_prefix_length(&text.as_bytes()[..end]);
        assert!(cut <= end && complete_prefix_length(&text.as_bytes()[..cut]) <= cut);
        // The texts before and behind `cut` must have the same documents as the whole text.
        let ranges = |part: &str, offset: usize| {
            let documents = DocumentExtents { text: part.as_bytes(), at: 0 };
            documents.map(|found| found.range.start + offset..found.range.end + offset).collect::<Vec<_>>()
        };
        let mut parts = ranges(&text[..cut], 0);
        parts.extend(ranges(&text[cut..], cut));
        assert_eq!(parts, ranges(text, 0), "cut at {cut} of {end}");
    }
    for (text, cut) in [
        ("", 0),
        ("a: 1\n", 0),
        ("a: 1\n---", 0),
        ("a: 1\n--- ", 5),
        ("a: 1\n---b", 0),
        ("---\n---\n", 4),
        ("a: 1\n...", 0),
        ("a: 1\n...\n", 9),
    ] {
        assert_eq!(complete_prefix_length(text.as_bytes()), cut, "{text}");
    }
}

#[test]
fn whatever_comes_in() {
    let mut random = fastrand::Rng::with_seed(11);
    let parts = [
        "a",
        "b: ",
        "- ",
        "? ",
        ": ",
        ":",
        "{",
        "}",
        "[",
        "]",
        ", ",
        "'",
        "\"",
        "\\",
        "\n",
        "\n  ",
        "\r",
        "\t",
        "#",
        "&a ",
        "*a",
        "!expr ",
        "!!str ",
        "!",
        "|",
        ">",
        "%YAML 1.2\n",
        "---",
        "...",
        "1",
        "<<",
        "\u{85}",
        "\u{feff}",
        "é",
        "\u{2028}",
        "\n---\n",
        "|-\n",
        "\\x",
        "\\u12",
        "!<x>",
        "@",
    ];
    for _ in 0..12_000 {
        let text: String = (0..random.usize(0..12)).map(|_| parts[random.usize(0..parts.len())]).collect();
        items(&text);
        for item in read_ads(&text.as_bytes()[random.usize(0..=text.len())..], Dialect::Condor) {
            let _ = item;
        }
    }
}

#[test]
fn the_parser_sees_no_document_that_is_too_long() {
    let long = format!("a: {}\n", "x".repeat(crate::format::MAX_AD_BYTES));
    let problem = super::document_tree::YamlTree::parse(long.as_bytes()).unwrap_err();
    assert_eq!(problem.message, "a YAML document can have at most 8388608 bytes");
    let ads: Vec<_> = super::read_ads(long.as_bytes(), crate::ad::Dialect::Condor).collect();
    assert!(
        matches!(ads.as_slice(), [Err(problem)] if problem.message == "a YAML document can have at most 8388608 bytes")
    );
}

#[test]
fn aliases_repeat_a_bounded_number_of_bytes() {
    let read = |text: &str| super::read_ads(text.as_bytes(), crate::ad::Dialect::Condor).collect::<Vec<_>>();
    let list = vec!["1"; 2000].join(", ");
    let lists = |count: usize| (0..count).map(|number| format!("b{number}: *a\n")).collect::<Vec<_>>().concat();
    assert!(read(&format!("a: &a [{list}]\n{}", lists(100))).iter().all(Result::is_ok));
    let long = "x".repeat(100_000);
    for text in [format!("a: &a [{list}]\n{}", lists(1000)), format!("a: &a {long}\n{}", lists(50))] {
        let items = read(&text);
        assert!(
            matches!(items.as_slice(), [Err(problem)] if problem.message == "aliases repeat more than 1048576 bytes"),
            "{:?}",
            items.first().map(|item| item.as_ref().map(|_| ()))
        );
    }
}
