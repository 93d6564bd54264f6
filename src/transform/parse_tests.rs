//! What is wrong with rules, and where.

use crate::ad::Dialect;
use crate::format::{Position, Severity};
use crate::transform::{parse_rules, parse_target};

/// Formats each problem as `line:column: message (help)`; warnings begin with a tilde.
fn problems(text: &str) -> Vec<String> {
    let (_, problems) = parse_rules(text.as_bytes(), Dialect::Condor);
    let shown = problems.into_iter().map(|problem| {
        assert!(problem.range.end <= text.len(), "{problem:?} of {text}");
        let at = Position::of_offset(text.as_bytes(), problem.range.start);
        let mark = if problem.severity == Severity::Warning { "~" } else { "" };
        let help = problem.help.map_or(String::new(), |help| format!(" ({help})"));
        format!("{mark}{}:{}: {}{help}", at.line, at.column, problem.message)
    });
    shown.collect()
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    for (text, expected) in [
        ("SETT A 1", "1:1: `SETT` is not a keyword (did you mean SET?)"),
        (
            "qwerty A 1",
            "1:1: `qwerty` is not a keyword (a line begins with a keyword such as SET, or reads `variable = text`)",
        ),
        ("SET", "1:1: `SET` needs something after it (write `SET attribute expression`)"),
        ("SET A", "1:1: `SET` needs two things after it (write `SET attribute expression`)"),
        ("SET A=1", "1:1: `SET` needs two things after it (write `SET A 1`)"),
        ("SET A= 1", "1:5: `A=` is not an attribute name (write a blank instead of the `=`)"),
        ("SET A 1 +", "1:10: expected an expression, found the end (`+` needs something after it)"),
        ("SET A (1 \\\n  + ]", "2:5: expected an expression, found `]` (`+` needs something after it)"),
        ("SET /a/ 1", "1:5: a regular expression can follow only COPY, RENAME and DELETE"),
        (
            "\n  DELETE /[a/",
            "~2:10: `[a` is not a valid regular expression: missing terminating ] for character class; this statement is left out",
        ),
        (
            "COPY /(/ x",
            "~1:6: `(` is not a valid regular expression: missing closing parenthesis; this statement is left out",
        ),
        (
            "n = 2\nTRANSFORM $(n)",
            "~2:11: n has no value here: this line is expanded before the rules are carried out (write its value)",
        ),
        (
            "TRANSFORM x in [1:] (a,b)",
            "~1:16: HTCondor ignores this slice: all items are used (list the items that you need, without brackets)",
        ),
        (
            "TRANSFORM x in [a] (a,b)",
            "1:16: these brackets hold no slice (list the items that you need, without brackets)",
        ),
        (
            "DELETE /a",
            "1:8: the second slash is missing (write a regular expression between two slashes, without a slash in it)",
        ),
        (
            "DELETE /a/iz",
            "1:12: `z` is not an option of a regular expression (the options are g, i, m and U; the expression cannot contain a slash)",
        ),
        ("DELETE A B", "~1:10: the text after the name is ignored, as in HTCondor"),
        ("COPY A 1x", "1:8: `1x` is not an attribute name"),
        ("REQUIREMENTS A == $(x)", "1:14: macros are not expanded in REQUIREMENTS"),
        (
            "REQUIREMENTS = A",
            "~1:1: this line sets a variable REQUIREMENTS, because `=` follows the name (write `REQUIREMENTS \
            expression`)",
        ),
        (
            "REQUIREMENTS A\nREQUIREMENTS B",
            "~2:1: this rule has REQUIREMENTS already, which have no effect (join them with `&&`; HTCondor only uses the last one)",
        ),
        (
            "if true\nNAME x\nendif",
            "~2:1: NAME does not depend on the `if` around it (HTCondor reads this line whether the condition is true or false)",
        ),
        ("if true", "1:1: this `if` has no `endif`"),
        ("endif", "1:1: `endif` without an `if`"),
        (
            "if a\nendif",
            "1:4: this word alone is not a condition (write `if $(a)` for a variable, `if $(MY.a)` for an \
            attribute, or compare the name with a value)",
        ),
        ("if true\nelse\nelif true\nendif", "3:1: `elif` after an `else`"),
        (
            "if version > 8\nendif",
            "1:4: expected a comparison with a version such as 23.0, at least 6.0 (write `if version >= 23.0` or `if version < 10.0.0`)",
        ),
        (
            "if version > 8.9.7.1\nendif",
            "1:4: expected a comparison with a version such as 23.0, at least 6.0 (write `if version >= 23.0` or `if version < 10.0.0`)",
        ),
        (
            "if version > 5.9\nendif",
            "1:4: expected a comparison with a version such as 23.0, at least 6.0 (write `if version >= 23.0` or `if version < 10.0.0`)",
        ),
        (
            "SET A $(limit)\nlimits = 1",
            "~1:9: the variable limit has no value and is replaced by an empty string (did you mean $(limits)?)",
        ),
        ("SET A \"$int(1)\"", "~1:8: $int() is not a function: write $INT()"),
        ("+A = 1", "~1:1: this line sets a variable MY.A, not the attribute A (write `SET A ...`)"),
        ("include : x", "1:1: `include :` is not supported in rules"),
        ("x @=end\na", "1:1: the line `@end` that ends this text is missing"),
        ("TRANSFORM x", "1:11: `in` or `from` is missing after the variables (write `TRANSFORM x in (a, b)`)"),
        (
            "TRANSFORM x matching *.dat",
            "1:13: patterns of file names are not supported here (list the items after `in` or `from`)",
        ),
        ("TRANSFORM x from items.txt", "1:18: cannot read items.txt: there is no such file"),
        ("TRANSFORM x from", "1:17: expected `(` or the name of a file"),
        ("TRANSFORM 99999 in (a)", "1:20: one ad would become more than 10000 ads"),
        ("TRANSFORM x in (a\nb", "1:1: the `)` that ends this list is missing"),
        ("TRANSFORM 1\nSET A 1", "~2:1: this line and those after it follow TRANSFORM and are ignored, as in HTCondor"),
        ("UNIVERSE vanilla", "~1:1: UNIVERSE has no effect here: only HTCondor's job router uses it"),
    ] {
        assert_eq!(problems(text), [expected], "{text}");
    }
    // Without arguments, TRANSFORM ends no rule.
    assert!(problems("TRANSFORM\nSET A 1").is_empty());
}

#[test]
fn a_line_that_htcondor_prints_is_told() {
    assert_eq!(problems("warning : a\nSET A 1"), ["~1:1: HTCondor only prints this line"]);
}

/// A target ends at `=`, of which a regular expression may have some of its own.
#[test]
fn a_target_ends_at_an_equals_sign() {
    for (text, rest) in [("a=b", "=b"), ("/a=b/=c", "=c"), (" /a=b/ = c", "= c"), ("a", ""), ("/a/", "")] {
        assert_eq!(parse_target(text, Dialect::Condor).expect(text).1, rest, "{text}");
    }
}

#[test]
fn each_name_but_the_first_begins_a_rule() {
    assert_eq!(problems("SET A 1\nNAME one\nSET B 1 # not a comment\n").len(), 1);
    let (rules, problems) = parse_rules(b"# rules\nSET A 1\nNAME one\nNAME two\nSET B 2\n", Dialect::Condor);
    assert!(problems.is_empty());
    let shown: Vec<_> = rules.iter().map(|rule| (rule.name.as_deref(), rule.statements.len())).collect();
    assert_eq!(shown, [(Some("one"), 1), (Some("two"), 1)]);
    assert_eq!(rules[1].statements[0].line, 5);
}

#[test]
fn what_is_printed_reads_back() {
    for rules in [
        "NAME n\nREQUIREMENTS A > 1\nUNIVERSE vanilla\nSET A 1\nDEFAULT B 2\nEVALSET C A + 1\nEVALMACRO m A",
        "COPY A B\nCOPY /^a(.)/i \\1\nRENAME A B\nDELETE A\nDELETE /b/g",
        "x = 1\nx += 2\nx +,= 3\nx =",
        "x @=end\na\nb\n@end\nSET A 1",
        "x @=end\na\n@-\n@--\n@---\n@end\nSET A 1",
        "x @=end\na\n@----------\n@end\nSET A 1",
        "if $(MY.A)\nSET B 1\nelif $(MY.C)\nSET B 2\nelse\nSET B 3\nendif",
        "SET A $(x)\nTRANSFORM",
        "SET A $(x)\nTRANSFORM 3",
        "SET A $(x)\nTRANSFORM 2 x in (a, b)",
        "SET A $(x)\nTRANSFORM x,y from (\na b\nc d\n)",
    ] {
        let (read, problems) = parse_rules(rules.as_bytes(), Dialect::Condor);
        let has_errors = problems.iter().any(|problem| problem.severity == Severity::Error);
        assert!(!read.is_empty() && !has_errors, "{rules}\n{problems:?}");
        let text: String = read.iter().map(ToString::to_string).collect();
        assert_eq!(parse_rules(text.as_bytes(), Dialect::Condor).0, read, "{rules}\nis printed as\n{text}");
    }
    let (read, _) = parse_rules(b"x @=end\na\nbb\n@end\nSET A 1", Dialect::Condor);
    assert_eq!(read[0].to_string(), "x @=---\na\nbb\n@---\nSET A 1\n");
}
