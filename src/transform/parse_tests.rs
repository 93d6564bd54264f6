//! What is wrong with rules, and where.

use crate::ad::Dialect;
use crate::format::{Position, Severity};
use crate::transform::{RuleSurroundings, parse_rules, parse_rules_within, parse_target, rule_slips};

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

/// Formats each problem as the text at its place, and its message.
fn places(text: &str, surroundings: &RuleSurroundings) -> String {
    let parsed = parse_rules_within(text, 0..text.len(), Dialect::Condor, surroundings);
    let shown = parsed.problems.into_iter().map(|problem| {
        let mark = if problem.severity == Severity::Warning { "~" } else { "" };
        let help = problem.help.map_or(String::new(), |help| format!(" ({help})"));
        format!("{mark}`{}` {}{help}", &text[problem.range], problem.message)
    });
    let statements: usize = parsed.rules.iter().map(|rule| rule.statements.len()).sum();
    let shown: Vec<_> = shown.chain([format!("{statements} of {}", parsed.rules.len())]).collect();
    format!("{}{}", shown.join("; "), if parsed.are_usable { "" } else { ", refused" })
}

/// Behind the problems stand the numbers of statements and of rules, and whether HTCondor refuses them.
const PLACES: &[(&str, &str)] = &[
    ("SET A 1\nSETT B 2\nSET C 3", "`SETT` `SETT` is not a keyword (did you mean SET?); 2 of 1, refused"),
    ("SET A 1 +\nSET C 3", "`` expected an expression, found the end (`+` needs something after it); 1 of 1"),
    ("EVALSET A 1 +\nSET B 1", "`` expected an expression, found the end (`+` needs something after it); 1 of 1"),
    ("EVALSET A 1 2", "~`2` the text after the expression is ignored, as in HTCondor; 1 of 1"),
    ("EVALMACRO a 1 )", "~`)` the text after the expression is ignored, as in HTCondor; 1 of 1"),
    (
        "EVALMACRO a-b 1",
        "`a-b` `a-b` is not a variable name (a variable's name has only ASCII letters, digits, `_`, `.` and `/`); 0 \
         of 1, refused",
    ),
    ("EVALMACRO $(a) 1", "~`$(a)` macros are not expanded in this name: it stays `$(a)`; 1 of 1"),
    ("SET", "`SET` `SET` needs something after it (write `SET attribute expression`); 0 of 1, refused"),
    ("SET A", "`SET A` `SET` needs two things after it (write `SET attribute expression`); 0 of 1, refused"),
    ("SET A= ", "`SET A=` `SET` needs two things after it (write `SET attribute expression`); 0 of 1, refused"),
    ("SET A=1", "`SET A=1` `SET` needs two things after it (write `SET A 1`); 0 of 1, refused"),
    ("SET 'A' 1", "1 of 1"),
    ("SET 'A", "`'A` this quote is not closed; 0 of 1, refused"),
    ("SET $(x) 1", "~`$(x)` macros are not expanded in this name: it stays `$(x)`; 1 of 1"),
    ("COPY $(x) B", "~`$(x)` macros are not expanded in this name: it stays `$(x)`; 1 of 1"),
    ("COPY A B C", "`B C` `B C` is not an attribute name; 0 of 1, refused"),
    (
        "COPY A $(x)",
        "~`x` the variable x has no value and is replaced by an empty string (write `$(x:...)` to give a default, or \
         `$(MY.x)` for the attribute of the ad); 1 of 1",
    ),
    ("COPY A B\\1", "`B\\1` `B\\1` is not an attribute name; 0 of 1, refused"),
    ("COPY /A/ B\\1", "1 of 1"),
    ("COPY /A/ B-", "`B-` `B-` is not an attribute name; 0 of 1, refused"),
    ("RENAME A = B", "1 of 1"),
    (
        "RENAME /(/ B\nSET A 1",
        "~`/(/` `(` is not a valid regular expression: missing closing parenthesis; this statement is left out; 1 of 1",
    ),
    ("DELETE", "`DELETE` `DELETE` needs something after it (write `DELETE attribute`); 0 of 1, refused"),
    ("DELETE A   B C", "~`B C` the text after the name is ignored, as in HTCondor; 1 of 1"),
    (
        "DELETE /(/ B",
        "~`/(/` `(` is not a valid regular expression: missing closing parenthesis; this statement is left out; ~`B` \
         the text after the name is ignored, as in HTCondor; 0 of 1",
    ),
    ("x = $(y)\ny = 1", "2 of 1"),
    ("x = $(x)", "1 of 1"),
    (
        "x += $(x)$(z)",
        "~`z` the variable z has no value and is replaced by an empty string (write `$(z:...)` to give a default, or \
         `$(MY.z)` for the attribute of the ad); 1 of 1",
    ),
    (
        " = 1",
        "`=` the name before `=` is missing (a variable's name has only ASCII letters, digits, `_`, `.` and `/`); 0 \
         of 1, refused",
    ),
    (
        "a-b = 1",
        "`a-b` `a-b` is not a variable name (a variable's name has only ASCII letters, digits, `_`, `.` and `/`); 0 \
         of 1, refused",
    ),
    (
        "if = 1",
        "`if = 1` this `if` has no `endif`; `=` expected an expression, found `=` (write one `=` to set an attribute: \
         `name = expression`); 0 of 1, refused",
    ),
    (
        "set = 1",
        "~`set` this line sets a variable set, because `=` follows the name (write `SET attribute expression`); 1 of 1",
    ),
    ("+A = 1\nSET B $(MY.A)", "~`+A` this line sets a variable MY.A, not the attribute A (write `SET A ...`); 2 of 1"),
    ("-A = 1", "~`-A` this line sets a variable MY.A, not the attribute A (write `SET A ...`); 1 of 1"),
    (
        "+ = 1",
        "`+` `+` is not a variable name (a variable's name has only ASCII letters, digits, `_`, `.` and `/`); 0 of 1, \
         refused",
    ),
    ("x$(y) = 1\nSET A $(z)", "2 of 1"),
    (
        "x-$(y) = 1",
        "`x-$(y)` `x-$(y)` is not a variable name (a variable's name has only ASCII letters, digits, `_`, `.` and \
         `/`); 0 of 1, refused",
    ),
    (
        "x @=end\n a $(z)\n\n b\n@end\nSET A $(x)",
        "~`z` the variable z has no value and is replaced by an empty string (write `$(z:...)` to give a default, or \
         `$(MY.z)` for the attribute of the ad); 2 of 1",
    ),
    ("x @=end\na", "`x @=end` the line `@end` that ends this text is missing; 0 of 1, refused"),
    ("NAME", "`NAME` `NAME` needs something after it (write `NAME name`); 0 of 1, refused"),
    ("NAME a\nNAME b\nSET A 1", "1 of 2"),
    ("REQUIREMENTS A == $(x)\nSET A 1", "`A == $(x)` macros are not expanded in REQUIREMENTS; 1 of 1, refused"),
    ("REQUIREMENTS A ==", "`` expected an expression, found the end (`==` needs something after it); 0 of 1, refused"),
    (
        "REQUIREMENTS A\nREQUIREMENTS B",
        "~`REQUIREMENTS B` this rule has REQUIREMENTS already, which have no effect (join them with `&&`; HTCondor \
         only uses the last one); 0 of 1",
    ),
    ("UNIVERSE 5", "~`UNIVERSE 5` UNIVERSE has no effect here: only HTCondor's job router uses it; 0 of 1"),
    ("TRANSFORM\nSET A 1", "1 of 1"),
    (
        "TRANSFORM 2\nSET A 1\nSET B 1\nNAME a\nTRANSFORM 1\nSET C 1",
        "~`SET A 1` this line and those after it follow TRANSFORM and are ignored, as in HTCondor; ~`SET C 1` this \
         line and those after it follow TRANSFORM and are ignored, as in HTCondor; 0 of 2",
    ),
    ("TRANSFORM x in (a\nb\n)\nNAME x\nSET A $(x)", "1 of 2"),
    (
        "TRANSFORM x in (a\n$(z)\n$(w:c)\n)",
        "~`$(z)` z has no value here: this line is expanded before the rules are carried out (write its value); 0 of 1",
    ),
    ("TRANSFORM x from (\na\n)\n", "0 of 1"),
    ("TRANSFORM x from (\na\n", "`TRANSFORM x from (` the `)` that ends this list is missing; 0 of 1, refused"),
    (
        "TRANSFORM $(n) x in (a)",
        "~`$(n) x in (a)` n has no value here: this line is expanded before the rules are carried out (write its \
         value); 0 of 1",
    ),
    (
        "TRANSFORM $(n:5000) x in (a, b, c)",
        "`TRANSFORM $(n:5000) x in (a, b, c)` one ad would become more than 10000 ads; 0 of 1, refused",
    ),
    (
        "TRANSFORM x in [1] (a)",
        "~`[1]` HTCondor ignores this slice: all items are used (list the items that you need, without brackets); 0 \
         of 1",
    ),
    ("TRANSFORM 20000", "0 of 1"),
    ("if true\n  :SET A 1\n: : SET B 1\nendif\n:SET C 1", "`:` a line cannot begin with this; 4 of 1, refused"),
    ("if\nSET A 1\nendif", "`if` `if` needs something after it (write `if condition`); 2 of 1, refused"),
    ("elif", "`elif` `elif` needs something after it (write `elif condition`); 0 of 1, refused"),
    ("else", "`else` `else` without an `if`; 0 of 1, refused"),
    ("endif\nSET A 1", "`endif` `endif` without an `if`; 1 of 1, refused"),
    ("if true\nif false\nendif", "`if true` this `if` has no `endif`; 3 of 1, refused"),
    ("if true\nelse\nelse\nendif", "`else` `else` after an `else`; 3 of 1, refused"),
    ("if true\nelse # x\nendif", "3 of 1"),
    ("if true\nelse x\nendif", "`x` nothing may follow `else` (for another condition write `elif`); 2 of 1, refused"),
    ("if true\nelse\nelif true\nendif", "`elif true` `elif` after an `else`; 3 of 1, refused"),
    (
        "if $(x)\nSET A $(x)\nelse\nSET A $(x)\nendif",
        "~`x` the variable x has no value and is replaced by an empty string (write `$(x:...)` to give a default, or \
         `$(MY.x)` for the attribute of the ad); ~`x` the variable x has no value and is replaced by an empty string \
        (write `$(x:...)` to give a default, or `$(MY.x)` for the attribute of the ad); 5 of 1",
    ),
    (
        "if ! defined x\nSET A $(x)\nelse\nSET A $(x)\nendif",
        "~`x` the variable x has no value and is replaced by an empty string (write `$(x:...)` to give a default, or \
         `$(MY.x)` for the attribute of the ad); 5 of 1",
    ),
    (
        "if a b\nendif",
        "`b` expected the end, found a name `b` (is an operator missing between these names?); 1 of 1, refused",
    ),
    (
        "if true\nREQUIREMENTS A\nTRANSFORM\nendif",
        "~`REQUIREMENTS A` REQUIREMENTS does not depend on the `if` around it (HTCondor reads this line whether the \
         condition is true or false); ~`TRANSFORM` TRANSFORM does not depend on the `if` around it (HTCondor reads \
        this line whether the condition is true or false); 2 of 1",
    ),
    ("warning : look", "~`warning : look` HTCondor only prints this line; 0 of 1"),
    (
        "warning look",
        "`warning` `warning` is not a keyword (a line begins with a keyword such as SET, or reads `variable = text`); \
         0 of 1, refused",
    ),
    (
        "SET A $(o)$(s)$(Row)$(Step)$(DOLLAR)$(q)",
        "~`q` the variable q has no value and is replaced by an empty string (write `$(q:...)` to give a default, or \
         `$(MY.q)` for the attribute of the ad); 1 of 1",
    ),
    ("SET A $(q:1)$(MY.q)$ENV(q)$INT(q)", "1 of 1"),
    ("SET A \"$int(q) $Int (1) $INT(1) $int\"", "~`$int` $int() is not a function: write $INT(); 1 of 1"),
    (
        "SET A \"$env(q)$basename(x)$foo(x)\"",
        "~`$env` $env() is not a function: write $ENV(); ~`$basename` $basename() is not a function: write \
         $BASENAME(); 1 of 1",
    ),
    (
        "oo = 1\nSET A $(ooo)",
        "~`ooo` the variable ooo has no value and is replaced by an empty string (did you mean $(oo)?); 2 of 1",
    ),
];

#[test]
fn a_problem_has_a_place_and_statements_without_errors_are_kept() {
    for &(text, expected) in PLACES {
        let surroundings = RuleSurroundings {
            variables: [("o", "1")].into_iter().collect(),
            shared_variables: vec!["s".to_owned()],
            is_route: false,
        };
        assert_eq!(places(text, &surroundings), expected, "{text}");
    }
    let route = RuleSurroundings { is_route: true, ..RuleSurroundings::default() };
    assert_eq!(places("UNIVERSE 5", &route), "0 of 1");
    let (rules, problems) = parse_rules(b"SET A \xff", Dialect::Condor);
    assert_eq!((rules.len(), &problems[0].range, &*problems[0].message), (0, &(6..7), "a rules file must be UTF-8"));
}

#[test]
fn ifs_are_nested_63_deep() {
    for (depth, expected) in [(63, None), (64, Some("64:1: `if` is nested more than 63 levels deep"))] {
        let text = format!("{}{}", "if true\n".repeat(depth), "endif\n".repeat(63));
        assert_eq!(problems(&text).first().map(String::as_str), expected);
    }
}

#[test]
fn rules_are_printed_line_by_line() {
    for (rules, expected) in [
        (
            "name n\nrequirements A>1\nuniverse 5\nset a 1\ndefault 'b c' 2\nevalset 'b\"c' A+1\nevalmacro m A",
            "NAME n\nREQUIREMENTS A>1\nUNIVERSE 5\nSET a 1\nDEFAULT 'b c' 2\nEVALSET 'b\"c' A+1\nEVALMACRO m A\n",
        ),
        (
            "copy a b\ncopy /^a(.)/ig \\1\nrename \"it's\" b\ndelete a\ndelete /b/g",
            "COPY a b\nCOPY /^a(.)/ig \\1\nRENAME \"it's\" b\nDELETE a\nDELETE /b/g\n",
        ),
        ("x=1\nx +=2\nx +,= 3\nx +&&= 4\nx=\ny = a\\\\\n", "x = 1\nx += 2\nx +,= 3\nx +&&= 4\nx = \ny = a\\\\\n\n"),
        ("x @=end\na\nbb\n@end", "x @=---\na\nbb\n@---\n"),
        ("if  true\nelif $(x)\nelse\nendif", "if true\nelif $(x)\nelse\nendif\n"),
        ("transform", ""),
        ("transform 3", "TRANSFORM 3\n"),
        ("transform x,y in (a b,c)", "TRANSFORM 1 x, y in (a, b, c)\n"),
        ("transform 2 in (a)", "TRANSFORM 2 Item in (a)\n"),
        ("transform x from (\n a b\nc\n)", "TRANSFORM 1 x from (\na b\nc\n)\n"),
    ] {
        let (read, _) = parse_rules(rules.as_bytes(), Dialect::Condor);
        assert_eq!(read[0].to_string(), expected, "{rules}");
    }
}

#[test]
fn a_statement_that_is_probably_a_mistake_is_told() {
    for (rules, expected) in [
        (
            "SET A A + 1",
            "`SET A A + 1` A refers to itself, not to its old value (EVALSET A uses the old value; in SET, `$(MY.A)` \
             is the old expression)",
        ),
        (
            "SET A MY.a + $(x)",
            "`SET A MY.a + $(x)` A refers to itself, not to its old value (EVALSET A uses the old value; in SET, \
             `$(MY.A)` is the old expression)",
        ),
        ("SET A B + 1", ""),
        ("SET A TARGET.A", ""),
        ("SET A $(MY.A) + 1", ""),
        (
            "DEFAULT A A",
            "`DEFAULT A A` A refers to itself, not to its old value (DEFAULT sets A only if it is missing: write \
             another expression)",
        ),
        ("EVALSET A A + 1", ""),
        (
            "if A > 1\nelif $(x) == 1\nelif defined A\nelif $(x)\nelif version > 8.0\nendif",
            "`if A > 1` HTCondor does not support complex conditionals: where this one is not true, the rules fail \
             (give its value to a variable with EVALMACRO, and write `if $(variable)`); `elif $(x) == 1` HTCondor \
            does not support complex conditionals: where this one is not true, the rules fail (give its value to a \
            variable with EVALMACRO, and write `if $(variable)`)",
        ),
    ] {
        let (read, _) = parse_rules(rules.as_bytes(), Dialect::Condor);
        let shown = rule_slips(&read[0]).into_iter().map(|slip| {
            assert_eq!(slip.severity, Severity::Warning);
            format!("`{}` {} ({})", &rules[slip.range], slip.message, slip.help.unwrap_or_default())
        });
        assert_eq!(shown.collect::<Vec<_>>().join("; "), expected, "{rules}");
    }
}
