//! What rules make of ads.

use crate::ad::Dialect;
use crate::eval::Context;
use crate::syntax::{ParseOptions, Style, parse_ad, print_ad};
use crate::transform::Transform;
use crate::transform::parse_rules;

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
