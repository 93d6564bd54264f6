//! What rules make of ads.

use std::fmt::Write;

use crate::ad::{Ad, Dialect, Expression, Name, Value};
use crate::eval::Context;
use crate::syntax::{ParseOptions, Style, parse_ad, parse_expression, print_ad};
use crate::transform::{AppliedChange, FaultScope, StatementPosition, Transform, TransformFault, parse_rules};

/// Returns the ads that the rules make of `ad`. Each is printed without brackets and followed by its faults.
fn results(ad: &str, rules: &str) -> Vec<String> {
    let ad = parse_ad(format!("[ {ad} ]").as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
    let (rules, problems) = parse_rules(rules.as_bytes(), Dialect::Condor);
    let errors = problems.iter().filter(|problem| problem.severity == crate::format::Severity::Error);
    assert_eq!(errors.count(), 0, "{problems:?}");
    let results = Transform { rules, ..Transform::default() }.apply(&ad, &Context::new(Dialect::Condor));
    let shown = results.into_iter().map(|result| {
        let text = String::from_utf8(print_ad(&result.ad, Style::Long)).unwrap();
        let text = text.trim_start_matches("[ ").trim_end_matches([' ', ']']).to_owned();
        result.faults.iter().fold(text, |text, fault| format!("{text} ! {}", fault.message))
    });
    shown.collect()
}

/// Expected results are those of HTCondor 25.14, except for the faults, which it words differently or does not
/// report.
#[test]
fn every_keyword_does_what_it_does_in_htcondor() {
    for (ad, rules, expected) in [
        ("a = 1", "SET b a + 1", "a = 1; b = a + 1"),
        ("a = 1", "set A = 2", "a = 2"),
        ("a = 1", "SET s \"x\\\\y\"", "a = 1; s = \"x\\\\y\""),
        ("a = 1", "DEFAULT a 2\nDEFAULT b 3", "a = 1; b = 3"),
        ("a = undefined", "DEFAULT a 2", "a = undefined"),
        ("a = 1", "EVALSET b a + 1\nEVALSET c x", "a = 1; b = 2; c = undefined"),
        ("a = 1", "EVALSET b { a, x }", "a = 1; b = { a, x }"),
        ("a = 1", "EVALMACRO m strcat(\"x\", a)\nSET b \"$(m)\"", "a = 1; b = \"x1\""),
        ("a = 1; b = 2", "COPY a c\nCOPY b A\nCOPY x d", "a = 2; b = 2; c = 1"),
        ("a = 1; b = 2", "COPY /^(.)$/ Old_\\1", "a = 1; b = 2; Old_a = 1; Old_b = 2"),
        ("a = 1; b = 2; c = 3", "RENAME a C\nRENAME x d", "C = 1; b = 2"),
        ("a = 1", "RENAME a A", "A = 1"),
        ("Owner = 1", "RENAME /(own)(er)/ \\2_\\1_\\0", "er_Own_Owner = 1"),
        ("aa = 1; ab = 2", "RENAME /a(.)/ x", "x = 2"),
        ("aa = 1; ba = 2; c = 3", "DELETE /A/\nDELETE C", ""),
        ("aa = 1; ba = 2", "DELETE /a/g", "ba = 2"),
        ("a = 1", "COPY a $(x)\nSET b 1", "a = 1; b = 1 ! the new name is empty"),
        (
            "a = 1",
            "SET b $(MY.x)\nSET c 1",
            "a = 1; c = 1 ! the expression becomes empty: expected an expression, found the end",
        ),
    ] {
        assert_eq!(results(ad, rules), [expected], "{rules}");
    }
}

#[test]
fn macros_stand_for_what_they_stand_for_in_htcondor() {
    for (rules, expected) in [
        ("x = 1\nSET b $(x)$(X:2)$(y:3)", "113"),
        ("x = 1\ny = $(x)\nx = 2\nSET b $(y)", "2"),
        ("x = 1\nx = $(x)2\nSET b $(x)", "12"),
        ("x = s\nSET b \"$(MY.$(x))\"", "\"two\""),
        ("SET b \"$(MY.s:x)$(MY.no:$(MY.s))$(MY.no)\"", "\"twotwo\""),
        ("SET b $(MY.e)", "a + 1"),
        ("SET b \"$(DOLLAR)(x) $$(x) $x $\"", "\"$(x) $$(x) $x $\""),
        ("SET b $INT(MY.r) + $REAL(MY.a) + $INT(1+2)", "2 + 1 + 3"),
        ("SET b \"$INT(7,%05d) $REAL(2.5,%.2f) $STRING(MY.s,%5s)\"", "\"00007 2.50   two\""),
        ("SET b \"$STRING(\"q\") $STRING(1+1) $EVAL(a + 1) $EVAL(MY.e) $EVAL(s)\"", "\"q 1+1 2 2 two\""),
        ("l = x, y\nSET b \"$CHOICE(1,l) $CHOICE(MY.a,p,q)\"", "\"y q\""),
        ("SET b \"$SUBSTR(MY.s,1)$SUBSTR(MY.s,-2,1)$SUBSTR(MY.s,0,-1)\"", "\"wowtw\""),
        ("SET b \"$ENV(NO_SUCH_VARIABLE) $ENV(NO_SUCH_VARIABLE:d)\"", "\"UNDEFINED d\""),
        ("SET b $RANDOM_INTEGER(4,4) + $RANDOM_CHOICE(5)", "4 + 5"),
        ("x @=end\n  1 +\n  2\n@end\nSET b $(x)", "1 + 2"),
        (
            "SET b \"$(IsLinux)$(IsWindows)$(IsClusterAd)$(LateMaterialization)$(Iterating)$(Row)$(XFormId)\"",
            "\"10000\"",
        ),
        ("IsLinux = 3\nSET b $(IsLinux)", "3"),
        ("x += 1\nx += 2\nx +,= 3\nSET b \"$(x)\"", "\"1 2,3\""),
        ("n = y\nx$(n) = 4\nSET b $(xy)", "4"),
        ("SET b 1 \\\n  # no comment \\\n  + 2", "1 + 2"),
    ] {
        let ad = "a = 1; s = \"two\"; e = a + 1; r = 2.7";
        let expected = format!("a = 1; s = \"two\"; e = a + 1; r = 2.7; b = {expected}");
        assert_eq!(results(ad, rules), [expected], "{rules}");
    }
    for (rules, fault) in [
        ("SET b $INT(MY.e)", "$INT(): `a + 1` is not a number; in rules, EVALMACRO evaluates an expression in the ad"),
        ("SET b $INT(1,%s)", "$INT(): `%s` does not format an integer; write a format such as `%d`"),
        ("SET b $CHOICE(5,x,y)", "$CHOICE(): there is no item 5: the list has 2 items, and the first is item 0"),
        (
            "SET b $EVAL(strcat(s, \"x\"))",
            "$EVAL(): `strcat(s, \"x\"`: expected `,`, `;` or `)`, found the end; $EVAL() ends at the first `)`, \
            so use EVALMACRO here",
        ),
        ("x = $(y)\ny = $(x)\nSET b $(x)", "the macros form a circle, are nested too deeply, or give too long a text"),
    ] {
        assert_eq!(results("a = 1; e = a + 1", rules), [format!("a = 1; e = a + 1 ! {fault}")], "{rules}");
    }
}

#[test]
fn conditions_choose_lines() {
    for (condition, holds) in [
        ("true", true),
        ("NO", false),
        ("0.0", false),
        ("-1", true),
        ("defined MY.a", true),
        ("defined a", false),
        ("! defined MY.x", true),
        ("$(x)", false),
        ("! $(x)", true),
        ("$(x:1)", true),
        ("a == 1", true),
        ("a == 2", false),
        ("!(a == 2)", true),
        ("\"$(MY.s)\" == \"two\"", true),
    ] {
        let rules = format!("if {condition}\nSET b 1\nelif true\nSET b 2\nelse\nSET b 3\nendif");
        let expected = format!("a = 1; s = \"two\"; b = {}", if holds { 1 } else { 2 });
        assert_eq!(results("a = 1; s = \"two\"", &rules), [expected], "{condition}");
    }
    let nested = "if false\nif true\nSET b 1\nendif\nelse\nif 0\nelse\nSET c 1\nendif\nendif";
    assert_eq!(results("a = 1", nested), ["a = 1; c = 1"]);
    let fault = "a = 1 ! the condition is undefined, but it must be a boolean or a number";
    assert_eq!(results("a = 1", "SET b 1\nif x > 1\nendif\nSET c 1"), [fault]);
}

/// Returns what rules make of an ad: the ads, what was changed by which statement, and the faults with their extents.
fn told(ad: &str, rules: &str) -> String {
    let ad = parse_ad(format!("[ {ad} ]").as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
    let (rules, _) = parse_rules(rules.as_bytes(), Dialect::Condor);
    let text = |expression: &Option<Expression>| expression.as_ref().map_or("-".to_owned(), ToString::to_string);
    let results = Transform { rules, ..Transform::default() }.apply(&ad, &Context::new(Dialect::Condor));
    let shown = results.into_iter().map(|result| {
        let mut shown = String::from_utf8(print_ad(&result.ad, Style::Long)).unwrap();
        for change in result.changes {
            let AppliedChange { position: StatementPosition { rule, statement }, attribute, before, after } = change;
            let statement = statement.map_or("-".to_owned(), |statement| statement.to_string());
            write!(shown, "; {attribute}: {} to {} by {rule}.{statement}", text(&before), text(&after)).unwrap();
        }
        for TransformFault { position, message, scope, .. } in result.faults {
            let place = position.map(|position| (position.rule, position.statement));
            write!(shown, "; {scope:?} of {place:?}: {message}").unwrap();
        }
        shown
    });
    shown.collect::<Vec<_>>().join(" / ")
}

#[test]
fn a_change_is_told_with_its_statement() {
    for (ad, rules, expected) in [
        ("a = 1", "SET a 1", "[ a = 1 ]"),
        ("a = 2", "SET A 1", "[ a = 1 ]; A: 2 to 1 by 0.0"),
        ("a = 3", "COPY a a\nRENAME a a", "[ a = 3 ]"),
        ("a = 4", "RENAME a A", "[ A = 4 ]; a: 4 to - by 0.0; A: - to 4 by 0.0"),
        ("a = 5; b = 2", "RENAME a b", "[ b = 5 ]; a: 5 to - by 0.0; b: 2 to 5 by 0.0"),
        ("a = 6; b = 2", "COPY a b\nCOPY c a", "[ a = 6; b = 6 ]; b: 2 to 6 by 0.0"),
        ("a = 7", "DELETE a\nDELETE b", "[ ]; a: 7 to - by 0.0"),
        ("a = 8", "DEFAULT a 2\nDEFAULT b 3", "[ a = 8; b = 3 ]; b: - to 3 by 0.1"),
        (
            "a = 9",
            "EVALSET a 9\nEVALSET b { 1, a }\nEVALSET c [ x = a ]",
            "[ a = 9; b = { 1, a }; c = [ x = a ] ]; b: - to { 1, a } by 0.1; c: - to [ x = a ] by 0.2",
        ),
        (
            "ab = 1; aa = 2; c = 3",
            "COPY /^a(.)$/ Old\\1\\2",
            "[ ab = 1; aa = 2; c = 3 ]; Attribute(\"aa\") of Some((0, Some(0))): `Olda\\2` is not an attribute name; \
             Attribute(\"ab\") of Some((0, Some(0))): `Oldb\\2` is not an attribute name",
        ),
        (
            "ab = 1; aa = 2; c = 4",
            "RENAME /^a/ 1\\0\nSET d 1",
            "[ ab = 1; aa = 2; c = 4; d = 1 ]; d: - to 1 by 0.1; Attribute(\"aa\") of Some((0, Some(0))): `1a` is not \
             an attribute name; Attribute(\"ab\") of Some((0, Some(0))): `1a` is not an attribute name",
        ),
        (
            "ab = 1; aa = 2; c = 5",
            "RENAME /^A/ $(x)",
            "[ ab = 1; aa = 2; c = 5 ]; Attribute(\"aa\") of Some((0, Some(0))): the new name is empty; \
             Attribute(\"ab\") of Some((0, Some(0))): the new name is empty",
        ),
        ("ab = 1; aa = 2; c = 6", "DELETE /^A/", "[ c = 6 ]; aa: 2 to - by 0.0; ab: 1 to - by 0.0"),
        (
            "a = 10",
            "NAME one\nx = 1\nSET b $(x)\nNAME two\nif true\nSET c 1\nendif",
            "[ a = 10; b = 1; c = 1 ]; b: - to 1 by 0.1; c: - to 1 by 1.1",
        ),
        ("a = 11", "SET b 1\nTRANSFORM 2", "[ a = 11; b = 1 ]; b: - to 1 by 0.0 / [ a = 11; b = 1 ]; b: - to 1 by 0.0"),
        ("a = 12", "EVALMACRO m a + 1\nSET b $(m)", "[ a = 12; b = 13 ]; b: - to 13 by 0.1"),
    ] {
        assert_eq!(told(ad, rules), expected, "{ad}");
    }
}

/// Ads, rules, and what is told.
const FAULTS: &[(&str, &str, &str)] = &[
    (
        "a = 1",
        "SET b $INT(x)\nSET c 1",
        "[ a = 1; c = 1 ]; c: - to 1 by 0.1; Statement of Some((0, Some(0))): $INT(): `x` is not a number; in \
             rules, EVALMACRO evaluates an expression in the ad",
    ),
    (
        "a = 2",
        "SET b 1$INT(x)",
        "[ a = 2; b = 1 ]; b: - to 1 by 0.0; Macro of Some((0, Some(0))): $INT(): `x` is not a number; in rules, \
             EVALMACRO evaluates an expression in the ad",
    ),
    (
        "a = 3",
        "SET b 1$INT(x)$REAL(y)",
        "[ a = 3; b = 1 ]; b: - to 1 by 0.0; Macro of Some((0, Some(0))): $INT(): `x` is not a number; in rules, \
             EVALMACRO evaluates an expression in the ad; Macro of Some((0, Some(0))): $REAL(): `y` is not a number; \
            in rules, EVALMACRO evaluates an expression in the ad",
    ),
    (
        "a = 4",
        "SET b $(x) +",
        "[ a = 4 ]; Statement of Some((0, Some(0))): the expression becomes ` +`: expected an expression, found \
             the end",
    ),
    (
        "a = 5",
        "SET b $(x)",
        "[ a = 5 ]; Statement of Some((0, Some(0))): the expression becomes empty: expected an expression, found \
             the end",
    ),
    (
        "a = 6; e = \"$ENV(HOME)\"",
        "SET b \"<$(MY.e)>\"",
        "[ a = 6; e = \"$ENV(HOME)\"; b = \"<>\" ]; b: - to \"<>\" by 0.0; Environment of Some((0, Some(0))): the \
             ad does not get the environment variable HOME",
    ),
    (
        "a = 7",
        "SET c 1\nif $INT(x)\nSET b 1\nendif",
        "[ a = 7; c = 1 ]; c: - to 1 by 0.0; Macro of Some((0, Some(1))): $INT(): `x` is not a number; in rules, \
             EVALMACRO evaluates an expression in the ad",
    ),
    (
        "a = 8",
        "SET c 1\nif a > x\nSET b 1\nendif",
        "[ a = 8 ]; Ad of Some((0, Some(1))): the condition is undefined, but it must be a boolean or a number",
    ),
    (
        "a = 9",
        "SET c 1\nif 1 / 0 == 1\nSET b 1\nendif",
        "[ a = 9 ]; Ad of Some((0, Some(1))): the condition is an error: division by zero",
    ),
    (
        "a = 10",
        "SET c 1\nif { 1 } == 1\nSET b 1\nendif",
        "[ a = 10 ]; Ad of Some((0, Some(1))): the condition is an error: `==` does not work with a list and an \
             integer",
    ),
    (
        "a = 12",
        "x = $(y)\ny = $(x)\nif $(x)\nendif",
        "[ a = 12 ]; Ad of Some((0, Some(2))): the macros form a circle, are nested too deeply, or give too long \
             a text",
    ),
    (
        "a = 13",
        "EVALSET b $(x)",
        "[ a = 13 ]; Statement of Some((0, Some(0))): the expression becomes empty: expected an expression, found \
             the end",
    ),
    ("a = 14", "x = 1)\nEVALSET b 1 + $(x)", "[ a = 14; b = 2 ]; b: - to 2 by 0.1"),
    (
        "a = 15",
        "x = )\nEVALSET b $(x)",
        "[ a = 15 ]; Statement of Some((0, Some(1))): the expression becomes `)`: expected an expression, found \
             `)`",
    ),
    (
        "a = 16",
        "COPY a \"b\"\nRENAME a $(x)-",
        "[ a = 16 ]; Attribute(\"a\") of Some((0, Some(0))): `-` is not an attribute name",
    ),
    (
        "a = 17",
        "SET b 1\nTRANSFORM 200\nNAME x\nSET c 1\nTRANSFORM 51",
        "[ a = 17 ]; Ad of Some((1, None)): one ad would become more than 10000 ads",
    ),
    ("a = 18", "x = 1\nx = $(x)$(y)\ny = $(y:2)\nSET b $(x)", "[ a = 18; b = 12 ]; b: - to 12 by 0.3"),
];

#[test]
fn a_fault_is_told_with_what_stays_unchanged() {
    for &(ad, rules, expected) in FAULTS {
        assert_eq!(told(ad, rules), expected, "{ad}");
    }
}

#[test]
fn rules_make_at_most_10000_ads_of_one() {
    let ad: Ad = [(Name::new("a"), Expression::literal(1))].into_iter().collect();
    for (rules, expected) in [
        ("TRANSFORM 10000", Ok(10_000)),
        ("TRANSFORM 10001", Err(0)),
        ("TRANSFORM 2\nNAME x\nTRANSFORM 5000", Ok(10_000)),
        ("TRANSFORM 2\nNAME x\nTRANSFORM 5001", Err(1)),
        // The first ad does not meet the requirements, so that there is an ad already.
        ("SET b $(Step)\nTRANSFORM 2\nNAME x\nREQUIREMENTS b == 1\nTRANSFORM 9999", Ok(10_000)),
        ("SET b $(Step)\nTRANSFORM 2\nNAME x\nREQUIREMENTS b == 1\nTRANSFORM 10000", Err(1)),
        ("SET b $(Step)\nTRANSFORM 2\nNAME x\nREQUIREMENTS b == 1\nTRANSFORM 99999999999999999999", Err(1)),
    ] {
        let (read, _) = parse_rules(rules.as_bytes(), Dialect::Condor);
        let results = Transform { rules: read, ..Transform::default() }.apply(&ad, &Context::new(Dialect::Condor));
        let fault = results[0].faults.first().and_then(|fault| fault.position);
        assert_eq!(fault.map_or(Ok(results.len()), |position| Err(position.rule)), expected, "{rules}");
    }
}

#[test]
fn rules_put_at_most_8_mebibytes_into_an_ad() {
    let text = Expression::literal(Value::string("x".repeat(1 << 20).as_bytes()));
    let ad: Ad = [(Name::new("a"), text), (Name::new("b"), Expression::literal(0))].into_iter().collect();
    for (rules, expected) in [
        ("COPY a b\n".repeat(8), None),
        ("COPY a b\n".repeat(9), Some(8)),
        ("COPY a b\n".repeat(8) + "SET c 1", None),
        ("COPY a b\n".repeat(8) + "SET c d", Some(8)),
    ] {
        let (rules, _) = parse_rules(rules.as_bytes(), Dialect::Condor);
        let results = Transform { rules, ..Transform::default() }.apply(&ad, &Context::new(Dialect::Condor));
        let fault = expected.map(|statement| {
            let position = Some(StatementPosition { rule: 0, statement: Some(statement) });
            let message = "the rules put more than 8388608 bytes into one ad".to_owned();
            TransformFault { position, message, halt: None, scope: FaultScope::Ad }
        });
        assert_eq!(results[0].faults, Vec::from_iter(fault));
        assert_eq!(results[0].ad == ad, expected.is_some());
    }
}

/// The first branch counts whose condition holds, and none within a branch that does not count.
#[test]
fn nested_branches_are_those_of_a_program() {
    for number in 0..32 {
        let [first, inner, inner_elif, second, third] = [1, 2, 4, 8, 16].map(|bit| number & bit != 0);
        let rules = format!(
            "if {first}\nif {inner}\nSET x 1\nelif {inner_elif}\nSET x 2\nelse\nSET x 3\nendif\nSET y 1\n\
             elif {second}\nSET y 2\n\
             elif {third}\nif {inner}\nSET x 4\nendif\nSET y 3\nelse\nif {inner}\nelse\nSET x 5\nendif\nSET y 4\nendif\nSET z 1"
        );
        let (x, y) = match (first, second, third) {
            (true, ..) => (if inner { 1 } else { 3 - i32::from(inner_elif) }, 1),
            (_, true, _) => (0, 2),
            (_, _, true) => (if inner { 4 } else { 0 }, 3),
            _ => (if inner { 0 } else { 5 }, 4),
        };
        let x = if x == 0 { String::new() } else { format!("x = {x}; ") };
        assert_eq!(results("a = 1", &rules), [format!("a = 1; {x}y = {y}; z = 1")], "{rules}");
    }
}

#[test]
fn a_condition_of_all_rules_is_true_as_in_its_dialect() {
    for (condition, in_condor, in_classad) in [
        ("true", true, true),
        ("a == 1", true, true),
        ("a == 2", false, false),
        ("1", true, false),
        ("0", false, false),
        ("x", false, false),
        ("\"true\"", false, false),
    ] {
        for (dialect, is_true) in [(Dialect::Condor, in_condor), (Dialect::Classad, in_classad)] {
            let ad = parse_ad(b"[ a = 1 ]", ParseOptions::new(dialect)).unwrap();
            let condition = parse_expression(condition.as_bytes(), ParseOptions::new(dialect)).unwrap();
            let (rules, _) = parse_rules(b"SET b 1", dialect);
            let transform = Transform { rules, condition: Some(condition.clone()), ..Transform::default() };
            let results = transform.apply(&ad, &Context::new(dialect));
            assert_eq!(results.len(), 1);
            assert_eq!(results[0].changes.len(), usize::from(is_true), "{condition} {dialect:?}");
            assert_eq!(results[0].ad == ad, !is_true, "{condition}");
        }
    }
}

#[test]
fn variables_come_from_where_they_can() {
    let ad = parse_ad(b"[ e = \"$ENV(PATH)\" ]", ParseOptions::new(Dialect::Condor)).unwrap();
    let path = std::env::var("PATH").unwrap();
    let rules = "SET b \"$(x) $(X:1) $(y) $ENV(PATH) $ENV(NONE:d) $(MY.e)\"\nx = 2\nSET c $(x)";
    for (allows_environment, expected) in [
        (false, format!("e = \"$ENV(PATH)\"; b = \"7 7  {path} d \"; c = 2")),
        (true, format!("e = \"$ENV(PATH)\"; b = \"7 7  {path} d {path}\"; c = 2")),
    ] {
        let (rules, _) = parse_rules(rules.as_bytes(), Dialect::Condor);
        let variables = [("X", "7"), ("y", "")].into_iter().collect();
        let transform = Transform { rules, variables, allows_environment, ..Transform::default() };
        let results = transform.apply(&ad, &Context::new(Dialect::Condor));
        let shown = String::from_utf8(print_ad(&results[0].ad, Style::Long)).unwrap();
        assert_eq!(shown, format!("[ {expected} ]"));
        assert_eq!(results[0].faults.len(), usize::from(!allows_environment));
    }
}

#[test]
fn rules_follow_one_another() {
    let rules = "NAME one\nREQUIREMENTS a == 1\nx = 5\nSET a 2\nNAME two\nREQUIREMENTS a == 2\nSET b $(x)";
    assert_eq!(results("a = 1", rules), ["a = 2; b = 5"]);
    assert_eq!(results("a = 3", rules), ["a = 3"]);
}

#[test]
fn transform_makes_several_ads_of_one() {
    let show = "SET b \"$(Row) $(Step) $(XFormId) $(Iterating) $(v) $(w)\"\n";
    for (line, expected) in [
        ("TRANSFORM", vec!["   0  "]),
        ("TRANSFORM 0", vec!["   0  "]),
        ("TRANSFORM 2", vec!["0 0 0 1  ", "0 1 1 1  "]),
        ("TRANSFORM v in (p, q r)", vec!["0 0 0 1 p ", "1 0 1 1 q ", "2 0 2 1 r "]),
        ("TRANSFORM 2 v in p", vec!["0 0 0 1 p ", "0 1 1 1 p "]),
        ("TRANSFORM v, w from (\np q r\n# no\ns,t\n)", vec!["0 0 0 1 p q r", "1 0 1 1 s t"]),
    ] {
        let expected: Vec<_> = expected.iter().map(|text| format!("a = 1; b = \"{text}\"")).collect();
        assert_eq!(results("a = 1", &format!("{show}{line}")), expected, "{line}");
    }
}
