//! What macros stand for.

use crate::ad::{Dialect, Name};
use crate::eval::{Context, RandomStream};
use crate::syntax::{ParseOptions, parse_ad};
use crate::transform::edited_ad::EditedAd;
use crate::transform::edited_shapes::EditedShapes;
use crate::transform::expander::{EnvironmentReaders, MacroExpander};
use crate::transform::macros::{
    MacroReference, MacroText, MacroVariables, VariableTable, find_macros, replace_dollars,
};
use crate::transform::{MacroScope, ScopedExpansion};

/// Returns the text with its macros expanded for an ad, what stands for nothing, and the unknown variable.
fn expanded(text: &str) -> String {
    let ad = "[ i = 3; s = \"two\"; e = i + 1; r = 2.7; l = { 1, i }; q = \"a\\\"b\"; m = \"$(v)\"; t = \"$ENV(X)\"; \
    n = \"\" ]";
    let ad = parse_ad(ad.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
    let own =
        [("v", "a"), ("w", "x, y , z"), ("u", "$(v)$(v)"), ("empty", ""), ("p", "/a/b.c"), ("k", "1+1"), ("f", "%d")];
    let own: MacroVariables =
        own.into_iter().map(|(name, text)| (name.into(), text.as_bytes().to_vec().into())).collect();
    let outer: VariableTable = [("v", "outer"), ("o", "out")].into_iter().collect();
    let mut ad = EditedAd::new(&ad, &EditedShapes::default());
    let context = Context { random: Some(RandomStream::new(1)), ..Context::new(Dialect::Condor) };
    let mut expander = MacroExpander::new((&own, &outer), &mut ad, &context);
    expander.folder = Some("/t".into());
    let found = expander.expand(text.as_bytes(), ParseOptions::long(Dialect::Condor));
    let mut shown = match found {
        Ok(text) => String::from_utf8(text).unwrap(),
        Err(failure) => format!("! {}", failure.message),
    };
    shown.extend(expander.gaps.iter().map(|gap| format!("; {gap:?}")));
    shown.extend(expander.take_unknown().map(|name| format!("; {name} unknown")));
    shown
}

#[test]
fn a_name_stands_for_its_text() {
    for (text, expected) in [
        ("", ""),
        ("$", "$"),
        ("a $ b", "a $ b"),
        ("$(v)", "a"),
        ("<$(V)> $(v) $(o)", "<a> a out"),
        ("$(x)", "; x unknown"),
        ("$(x:1)$(y)", "1; y unknown"),
        ("$(y)$(x)", "; y unknown"),
        ("$(empty)<$(empty:d)>", "<d>"),
        ("$(u)", "aa"),
        ("$(x:$(u))", "aa"),
        ("$($(v))", "; a unknown"),
        ("$(MY.$(x:s))", "two"),
        ("a$b$(x:v)", "a$bv"),
        ("$$(v)", "$$(v)"),
        ("$$$(v)", "$$a"),
        ("$(DOLLAR)(v) $(dollar)$(DOLLAR)$(DOLLAR:x)", "$(v) $$(DOLLAR)$"),
        ("$(MY.i)$(my.S)$(MY.e)$(MY.l)$(MY.none)$(MY.none:d)", "3twoi + 1{ 1, i }d; MY.none unknown"),
        ("$(MY.n:d)$(MY.)", "d; MY. unknown"),
        ("\"$(MY.q)\" $(MY.q)", "\"a\\\"b\" a\"b"),
        ("$(MY.m)", "a"),
        ("$(MY.t)", "; Environment(\"X\")"),
        ("$(i)", "; i unknown"),
        ("$(a b)$(v", "$(a b)$(v"),
        ("$ENV(NO_SUCH_VARIABLE)$ENV(NO_SUCH_VARIABLE:d)", "UNDEFINEDd"),
        ("$FOO(x)$int(1)", "$FOO(x)$int(1)"),
    ] {
        assert_eq!(expanded(text), expected, "{text}");
    }
}

/// Calls of functions.
const FUNCTIONS: &[(&str, &str)] = &[
    ("$INT(1)", "1"),
    ("$INT( k )", "2"),
    ("$INT(2.9)$INT(-2.9)$INT(true)$INT(false)", "2-210"),
    ("$INT(MY.r)$INT(MY.i)", "23"),
    (
        "$INT(MY.e)",
        "; Function(\"$INT(): `i + 1` is not a number; in rules, EVALMACRO evaluates an expression in the ad\")",
    ),
    ("$INT()", "; Function(\"$INT(): a number is missing\")"),
    ("$INT(x)", "; Function(\"$INT(): `x` is not a number; in rules, EVALMACRO evaluates an expression in the ad\")"),
    (
        "$INT(1e300*1e300)",
        "; Function(\"$INT(): `1e300*1e300` is not a number; in rules, EVALMACRO evaluates an expression in the \
             ad\")",
    ),
    ("$INT(7,%03d)$INT(7,%x)", "0077"),
    ("$INT(7,)", "; Function(\"$INT(): `` does not format an integer; write a format such as `%d`\")"),
    ("$INT(7,%d%d)", "; Function(\"$INT(): `%d%d` does not format an integer; write a format such as `%d`\")"),
    ("$INT(7,%f)", "; Function(\"$INT(): `%f` does not format an integer; write a format such as `%d`\")"),
    ("$REAL(1)$REAL(true) $REAL(2.5) $REAL(1/3.0)", "11 2.5 0.3333333333333333"),
    ("$REAL(2,%g)$REAL(2,%.1f)", "2.02.0"),
    ("$REAL(x)", "; Function(\"$REAL(): `x` is not a number; in rules, EVALMACRO evaluates an expression in the ad\")"),
    ("$REAL(1,%d)", "; Function(\"$REAL(): `%d` does not format a real; write a format such as `%f`\")"),
    ("$STRING(MY.s)$STRING(\"q\")$STRING(k)$STRING(1 +)$STRING()", "twoq1+11 +"),
    ("$STRING(MY.s,%5s)$STRING(MY.s,<%-5s>)", "  two<two  >"),
    ("$STRING(MY.s,%d)", "; Function(\"$STRING(): `%d` does not format a string; write a format such as `%s`\")"),
    ("$EVAL(i + 1)$EVAL(MY.s)$EVAL(s)$EVAL(MY.e)$EVAL(x)$EVAL({ 1, i })", "4undefinedtwo4undefined{ 1, i }"),
    ("$EVAL(i +)", "; Function(\"$EVAL(): `i +`: expected an expression, found the end\")"),
    (
        "$EVAL(strcat(s, s))",
        "); Function(\"$EVAL(): `strcat(s, s`: expected `,`, `;` or `)`, found the end; $EVAL() ends at the first \
             `)`, so use EVALMACRO here\")",
    ),
    ("$EVAL()", "; Function(\"$EVAL(): ``: expected an expression, found the end\")"),
    ("$CHOICE(0,w)$CHOICE(2,w)", "xz"),
    ("$CHOICE(k,w)", "z"),
    ("$CHOICE(3,w)", "; Function(\"$CHOICE(): there is no item 3: the list has 3 items, and the first is item 0\")"),
    ("$CHOICE(1, p, q )", "q"),
    (
        "$CHOICE(0,v)$CHOICE(1,v)",
        "a; Function(\"$CHOICE(): there is no item 1: the list has 1 item, and the first is item 0\")",
    ),
    ("$CHOICE(-1,w)", "; Function(\"$CHOICE(): `-1` is not an index\")"),
    (
        "$CHOICE(x,w)",
        "; Function(\"$CHOICE(): `x` is not a number; in rules, EVALMACRO evaluates an expression in the ad\")",
    ),
    ("$CHOICE(1)", "; Function(\"$CHOICE(): there is no list\")"),
    ("$SUBSTR(p,0)|$SUBSTR(p,1)|$SUBSTR(p,6)|$SUBSTR(p,7)", "/a/b.c|a/b.c||"),
    ("$SUBSTR(p,-1)|$SUBSTR(p,-6)|$SUBSTR(p,-7)", "c|/a/b.c|/a/b.c"),
    ("$SUBSTR(p,1,2)|$SUBSTR(p,1,0)|$SUBSTR(p,1,9)|$SUBSTR(p,1,-1)|$SUBSTR(p,1,-9)", "a/||a/b.c|a/b.|"),
    ("$SUBSTR(x,0)|$SUBSTR(MY.s,1,1)", "|w"),
    ("$SUBSTR(p)", "; Function(\"$SUBSTR(): it needs a name, a start and, optionally, a length\")"),
    ("$SUBSTR(p,1,2,3)", "; Function(\"$SUBSTR(): it needs a name, a start and, optionally, a length\")"),
    (
        "$SUBSTR(p,x)",
        "; Function(\"$SUBSTR(): `x` is not a number; in rules, EVALMACRO evaluates an expression in the ad\")",
    ),
    ("$RANDOM_CHOICE(5)$RANDOM_CHOICE(v)", "5a"),
    ("$RANDOM_INTEGER(4,4)$RANDOM_INTEGER(0,1,2)$RANDOM_INTEGER(-3,-3,1)", "40-3"),
    (
        "$RANDOM_INTEGER(4,3)",
        "; Function(\"$RANDOM_INTEGER(): the minimum must be at most the maximum, and the step at least 1\")",
    ),
    (
        "$RANDOM_INTEGER(1,2,0)",
        "; Function(\"$RANDOM_INTEGER(): the minimum must be at most the maximum, and the step at least 1\")",
    ),
    ("$RANDOM_INTEGER(1)", "; Function(\"$RANDOM_INTEGER(): it needs a minimum, a maximum and, optionally, a step\")"),
    (
        "$RANDOM_INTEGER(1,2,3,4)",
        "; Function(\"$RANDOM_INTEGER(): it needs a minimum, a maximum and, optionally, a step\")",
    ),
    ("$Fn(p)$Fx(p)$BASENAME(p,.C)$DIRNAME(p)$Ff(y)$Fn(MY.s)", "b.cb/a//t/ytwo"),
    (
        "$INT($(k))$CHOICE($(x:1),w)",
        "),w); Function(\"$INT(): `$(k` is not a number; in rules, EVALMACRO evaluates an expression in the \
             ad\"); Function(\"$CHOICE(): there is no list\")",
    ),
    ("$INT(1", "$INT(1"),
];

#[test]
fn a_function_stands_for_what_it_makes_of_its_argument() {
    for &(text, expected) in FUNCTIONS {
        assert_eq!(expanded(text), expected, "{text}");
    }
    let found: std::collections::BTreeSet<String> =
        (0..9).map(|_| expanded("$RANDOM_INTEGER(1,8,3)$RANDOM_CHOICE(a,b)$RANDOM_CHOICE(w)")).collect();
    // A generator of its own for each text begins alike.
    assert_eq!(found.len(), 1);
}

#[test]
fn random_numbers_are_within_their_bounds() {
    let scope = MacroScope::new(VariableTable::default(), false);
    let context = Context { random: Some(RandomStream::new(1)), ..Context::new(Dialect::Condor) };
    for (text, expected) in [
        ("$RANDOM_INTEGER(1,8,3)", "1 4 7"),
        ("$RANDOM_INTEGER(-1,1)", "-1 0 1"),
        ("$RANDOM_INTEGER(1,2,5)", "1"),
        ("$RANDOM_CHOICE(a, b ,c)", "a b c"),
    ] {
        let drawn = |_| {
            let found = scope.expand(text, &context).unwrap();
            assert!(found.is_random);
            found.text
        };
        let drawn: std::collections::BTreeSet<String> = (0..100).map(drawn).collect();
        assert_eq!(Vec::from_iter(drawn).join(" "), expected, "{text}");
    }
    let context = Context { random: None, ..context };
    let found = scope.expand("<$RANDOM_CHOICE(a,b)>", &context).unwrap();
    assert_eq!(found.text, "<>");
}

#[test]
fn a_scope_has_variables_over_defaults() {
    let mut scope = MacroScope::new([("d", "default"), ("e", "$(d)!")].into_iter().collect(), false);
    let context = Context::new(Dialect::Condor);
    scope.set("A".into(), "1");
    scope.set("a".into(), "$(d)2");
    scope.assign("d", "$(d)3").unwrap();
    scope.assign("f", "$(f:x)$(F)").unwrap();
    for (name, text, has) in [
        ("a", Some("$(d)2"), true),
        ("D", Some("default3"), true),
        ("e", Some("$(d)!"), false),
        ("f", Some("x"), true),
        ("g", None, false),
    ] {
        assert_eq!(scope.get(&name.into()), text.map(str::as_bytes), "{name}");
        assert_eq!(scope.has(&name.into()), has, "{name}");
    }
    let shown = |found: ScopedExpansion| {
        let names: Vec<_> = found.looked_up.iter().map(Name::as_str).collect();
        let unknown = found.unknown.map_or(String::new(), |name| format!(", {name} unknown"));
        let gaps: Vec<String> = found.gaps.iter().map(|gap| format!(", {gap:?}")).collect();
        assert!(!found.is_random);
        format!("<{}> by {}{unknown}{}", found.text, names.join(" "), gaps.concat())
    };
    for (text, expected) in [
        ("plain", "<plain> by "),
        ("$", "<$> by "),
        ("$(a)$(e)", "<default32default3!> by a d e d"),
        ("$(g)$(h:1)", "<1> by g h, g unknown"),
        (
            "$INT(x)",
            "<> by x, Function(\"$INT(): `x` is not a number; in rules, EVALMACRO evaluates an expression in the ad\")",
        ),
        ("$ENV(PATH)", "<> by , Environment(\"PATH\")"),
        ("$Ff(x)", "<x> by x"),
        ("$(DOLLAR)$(MY.a)", "<$> by MY.a, MY.a unknown"),
    ] {
        assert_eq!(shown(scope.expand(text, &context).unwrap()), expected, "{text}");
    }
    scope.folder = Some("/t/".into());
    assert_eq!(shown(scope.expand("$Ff(x)$Ff(/y)$Fn(z)", &context).unwrap()), "</t/x/yz> by x Iwd /y Iwd z");
    scope.allows_environment = true;
    assert_eq!(scope.expand("$ENV(PATH)", &context).unwrap().text, std::env::var("PATH").unwrap());
    scope.assign("c", "$(a)").unwrap();
    scope.assign("a", "$(c)").unwrap();
    let endless = "the macros form a circle, are nested too deeply, or give too long a text";
    assert_eq!(scope.expand("$(c)", &context).unwrap_err(), endless);
}

#[test]
fn macros_are_nested_50_deep() {
    for (depth, expected) in [(49, "1"), (50, "1"), (51, ""), (52, "")] {
        let mut scope = MacroScope::new([("x0", "1")].into_iter().collect(), false);
        (1..=depth).for_each(|number| scope.set(format!("x{number}").into(), &format!("$INT(x{})", number - 1)));
        let found = scope.expand(&format!("$(x{depth})"), &Context::new(Dialect::Condor));
        assert_eq!(found.map_or_else(|reason| reason, |found| found.text), expected, "{depth}");
    }
}

#[test]
fn a_table_has_its_variables_over_others() {
    let table: VariableTable = [("a", "1"), ("b", ""), ("A", "2")].into_iter().collect();
    let shown = |table: &VariableTable| {
        let mut all: Vec<_> =
            table.names().map(|name| format!("{name}={}", String::from_utf8_lossy(table.get(name).unwrap()))).collect();
        all.sort_unstable();
        all.join(" ").to_lowercase()
    };
    assert!(table.contains("B") && !table.contains("c"));
    assert_eq!((table.get("a"), table.get("c")), (Some(&b"2"[..]), None));
    let other: VariableTable = [("b", "3"), ("c", "4"), ("a", "5")].into_iter().collect();
    for (found, expected) in [
        (&table, "a=2 b="),
        (&table.over(&other), "a=2 b= c=4"),
        (&other.over(&table), "a=5 b=3 c=4"),
        // An empty value is none.
        (&table.with_defaults([("b", "3"), ("c", "4"), ("a", "5")]), "a=2 b=3 c=4"),
        (&table.with_defaults([("c", "")]), "a=2 b= c="),
    ] {
        assert_eq!(shown(found), expected);
    }
    let expansion = table.expand(b"$(a)$(x)$(y)", &Context::new(Dialect::Condor)).unwrap();
    assert_eq!((&expansion.text[..], expansion.unknown.as_deref()), (&b"2"[..], Some("x")));
}

#[test]
fn macros_are_found_in_their_order() {
    for (text, expected) in [
        ("$(a)$(b:c)", "$(a)/a $(b:c)/b"),
        ("$(a:$(b))", "$(a:$(b))/a"),
        ("$(a$(b))", "$(b)/b"),
        ("$INT(a)b)$F(c)$X(d)", "$INT(a)/a $F(c)/c"),
        ("$ENV(a)$ENV(a b)", "$ENV(a)/a"),
        ("$$(a)$(b)$(", "$(b)/b"),
        (")$(a", ""),
        ("", ""),
    ] {
        let shown = find_macros(text.as_bytes())
            .into_iter()
            .map(|MacroReference { range, body, .. }| format!("{}/{}", &text[range], &text[body]));
        assert_eq!(shown.collect::<Vec<_>>().join(" "), expected, "{text}");
    }
    // The closing parenthesis of a macro is at most 4096 bytes behind the opening one.
    for (length, count) in [(4095, 1), (4096, 0)] {
        assert_eq!(find_macros(format!("$({})", "a".repeat(length)).as_bytes()).len(), count, "{length}");
    }
    for (text, expected) in [
        ("$(DOLLAR)", "$"),
        ("a$(dollar)b$(x)", "a$b$(x)"),
        ("$(DOLLAR)$(DOLLAR)", "$$(DOLLAR)"),
        ("$(DOLLAR) $(DOLLAR)", "$ $"),
        ("$(DOLLAR)$(DOLLAR)$(DOLLAR)", "$$(DOLLAR)$"),
        ("$(DOLLARS)", "$(DOLLARS)"),
    ] {
        assert_eq!(replace_dollars(text.as_bytes()), expected.as_bytes(), "{text}");
    }
}

#[test]
fn an_ad_reads_the_environment_if_it_may() {
    use EnvironmentReaders::{Everybody, Nobody, Rules};
    let ad = b"[ e = \"$ENV(PATH)\"; zero = \"$(nought)\" ]";
    let ad = parse_ad(ad, ParseOptions::new(Dialect::Condor)).unwrap();
    let text = |name: &str, text: &str, is_from_ad| (name.into(), MacroText { bytes: text.into(), is_from_ad });
    let own: MacroVariables = [
        text("v", "$ENV(PATH)", true),
        text("nought", "0", false),
        text("first", "$(MY.zero)", false),
        text("list", "$ENV(PATH),b", false),
    ]
    .into_iter()
    .collect();
    let (outer, path) = (VariableTable::default(), std::env::var("PATH").unwrap());
    for (text, in_rules, in_ads) in [
        ("$ENV(PATH)", true, true),
        ("$(x:$ENV(PATH))", true, true),
        ("$(MY.e)", false, true),
        ("$(v)", false, true),
        ("$STRING(MY.e)", false, true),
        ("$STRING($(v))", false, true),
        // What an ad reads of a list does not make the list its own.
        ("$CHOICE(first,list)", true, true),
    ] {
        for (readers, is_read) in [(Nobody, false), (Rules, in_rules), (Everybody, in_ads)] {
            let mut ad = EditedAd::new(&ad, &EditedShapes::default());
            let context = Context::new(Dialect::Condor);
            let mut expander = MacroExpander::new((&own, &outer), &mut ad, &context);
            expander.environment = readers;
            let found = expander.expand(text.as_bytes(), ParseOptions::long(Dialect::Condor)).unwrap();
            assert_eq!(String::from_utf8(found).unwrap(), if is_read { &*path } else { "" }, "{text} {readers:?}");
            assert_eq!(expander.gaps.len(), usize::from(!is_read), "{text} {readers:?}");
        }
    }
}
