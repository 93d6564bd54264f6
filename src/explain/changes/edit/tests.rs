//! Edits in words, and what they do to requests.

use super::RequestEdit;
use crate::ad::{Ad, Dialect, Expression, Name};
use crate::syntax::{ParseOptions, Style, parse_ad, parse_expression, print_ad};

fn expression(text: &str) -> Expression {
    parse_expression(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap()
}

fn ad(text: &str) -> Ad {
    parse_ad(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap()
}

fn set(name: &str, from: Option<&Expression>, to: &str) -> RequestEdit {
    RequestEdit::Set { name: Name::new(name), from: from.cloned(), to: expression(to) }
}

fn ports(labels: &[&str]) -> RequestEdit {
    RequestEdit::DropPorts { labels: labels.iter().map(|label| Name::new(label)).collect() }
}

fn applied(edit: &RequestEdit, request: &Ad) -> String {
    let changed = edit.apply(request);
    changed.map_or("-".to_owned(), |ad| String::from_utf8(print_ad(&ad, Style::New)).unwrap())
}

#[test]
fn edits_in_words() {
    let (gib, five) = (expression("1073741824.0"), expression("5"));
    for (edit, condor, classad) in [
        (RequestEdit::Drop { clause: expression("a > 1073741824.0") }, "drop `a > 1073741824.0`", "drop `a > 1G`"),
        (
            RequestEdit::Rewrite { clause: expression("a > 1073741824.0"), to: expression("a > 5") },
            "`a > 1073741824.0` -> `a > 5`",
            "`a > 1G` -> `a > 5`",
        ),
        (set("a", Some(&gib), "536870912.0"), "a 1073741824.0 -> 536870912.0", "a 1G -> 512M"),
        (set("a", Some(&gib), "5"), "a 1073741824.0 -> 5", "a 1073741824.0 -> 5"),
        (set("a", Some(&five), "1073741824.0"), "a 5 -> 1073741824.0", "a 5 -> 1073741824.0"),
        (set("a", None, "1073741824.0"), "a = 1073741824.0", "a = 1G"),
        (
            RequestEdit::Define { name: Name::new("projectname") },
            "set projectname to the name of your project",
            "set projectname to the name of your project",
        ),
        (
            RequestEdit::Define { name: Name::new("a") },
            "define a, for example as \"any\"",
            "define a, for example as \"any\"",
        ),
        (RequestEdit::Remove { name: Name::new("a"), from: five.clone() }, "delete a", "delete a"),
        (ports(&["a"]), "do without a", "do without a"),
        (ports(&["a", "b", "c"]), "do without a, b and c", "do without a, b and c"),
    ] {
        assert_eq!(edit.text(Dialect::Condor), condor);
        assert_eq!(edit.text(Dialect::Classad), classad);
    }
}

#[test]
fn edits_of_private_attributes_are_known() {
    let of = |name: &str| Name::new(name);
    for (edit, expected) in [
        (RequestEdit::Drop { clause: expression("TARGET.ClaimId > 1") }, true),
        (RequestEdit::Drop { clause: expression("TARGET.Cpus > 1") }, false),
        (RequestEdit::Rewrite { clause: expression("a > 1"), to: expression("ClaimId > 1") }, true),
        (RequestEdit::Rewrite { clause: expression("ClaimId > 1"), to: expression("a > 1") }, true),
        (RequestEdit::Rewrite { clause: expression("a > 1"), to: expression("a > 2") }, false),
        (set("ClaimId", None, "1"), true),
        (set("a", None, "1"), false),
        (RequestEdit::Define { name: of("ClaimId") }, true),
        (RequestEdit::Define { name: of("a") }, false),
        (RequestEdit::Remove { name: of("ClaimId"), from: expression("1") }, true),
        (ports(&["ClaimId"]), false),
    ] {
        assert_eq!(edit.reads_private(Dialect::Condor), expected, "{edit:?}");
    }
}

#[test]
fn edits_change_what_they_were_made_for() {
    let request = ad("[ A = 1; B = A > 2 && (A > 3) && A > 4; C = (A > 5) ]");
    let clauses: Vec<Expression> = request.get_str("B").unwrap().parts().cloned().collect();
    let clause = |text: &str| clauses.iter().find(|part| part.to_string() == text).unwrap().clone();
    let dropped = |text: &str| RequestEdit::Drop { clause: clause(text) };
    let whole = request.get_str("C").unwrap().without_parentheses().clone();
    for (edit, expected) in [
        (dropped("A > 2"), "[ A = 1; B = (A > 3) && A > 4; C = (A > 5) ]"),
        (dropped("A > 3"), "[ A = 1; B = A > 2 && A > 4; C = (A > 5) ]"),
        (dropped("A > 4"), "[ A = 1; B = A > 2 && (A > 3); C = (A > 5) ]"),
        (RequestEdit::Drop { clause: whole }, "[ A = 1; B = A > 2 && (A > 3) && A > 4; C = (true) ]"),
        (RequestEdit::Drop { clause: expression("A > 2") }, "-"),
        (
            RequestEdit::Rewrite { clause: clause("A > 4"), to: expression("A > 0") },
            "[ A = 1; B = A > 2 && (A > 3) && (A > 0); C = (A > 5) ]",
        ),
        (RequestEdit::Rewrite { clause: expression("A > 4"), to: expression("A > 0") }, "-"),
        (set("A", request.get_str("A"), "7"), "[ A = 7; B = A > 2 && (A > 3) && A > 4; C = (A > 5) ]"),
        (set("D", None, "7"), "[ A = 1; B = A > 2 && (A > 3) && A > 4; C = (A > 5); D = 7 ]"),
        (
            RequestEdit::Define { name: Name::new("ProjectName") },
            "[ A = 1; B = A > 2 && (A > 3) && A > 4; C = (A > 5); ProjectName = \"YOUR_PROJECTNAME\" ]",
        ),
        (
            RequestEdit::Define { name: Name::new("D") },
            "[ A = 1; B = A > 2 && (A > 3) && A > 4; C = (A > 5); D = \"any\" ]",
        ),
        (
            RequestEdit::Remove { name: Name::new("A"), from: expression("1") },
            "[ B = A > 2 && (A > 3) && A > 4; C = (A > 5) ]",
        ),
        (ports(&["a"]), "-"),
    ] {
        assert_eq!(applied(&edit, &request), expected, "{}", edit.text(Dialect::Condor));
    }
}

#[test]
fn ports_are_dropped_one_by_one_or_with_their_group() {
    let port = |label: &str| format!("[ Label = {label}; Constraint = true ]");
    let group = format!("[ Ports = {{ {}, {} }} ]", port("a"), port("b"));
    for (list, labels, expected) in [
        (format!("{}, {}", port("a"), port("b")), &["a"][..], format!("[ Ports = {{ {} }} ]", port("b"))),
        (format!("{}, {}", port("a"), port("b")), &["b"], format!("[ Ports = {{ {} }} ]", port("a"))),
        (port("a"), &["a"], "-".to_owned()),
        (format!("{}, {}", port("a"), port("b")), &["c"], "-".to_owned()),
        (format!("{group}, {}", port("c")), &["a", "b"], format!("[ Ports = {{ {} }} ]", port("c"))),
        (
            format!("{group}, {}", port("c")),
            &["a"],
            format!("[ Ports = {{ [ Ports = {{ {} }} ], {} }} ]", port("b"), port("c")),
        ),
        (format!("{group}, {}", port("c")), &["c"], format!("[ Ports = {{ {group} }} ]")),
    ] {
        let request = ad(&format!("[ Ports = {{ {list} }} ]"));
        let expected =
            if expected == "-" { expected } else { String::from_utf8(print_ad(&ad(&expected), Style::New)).unwrap() };
        assert_eq!(applied(&ports(labels), &request), expected, "{list} {labels:?}");
    }
}

#[test]
fn edits_of_the_same_part_differ_in_value_only() {
    let [one, other] = ["a > 1", "b > 1"].map(expression);
    let dropped = |clause: &Expression| RequestEdit::Drop { clause: clause.clone() };
    let rewritten = |clause: &Expression, to: &str| RequestEdit::Rewrite { clause: clause.clone(), to: expression(to) };
    let defined = |name: &str| RequestEdit::Define { name: Name::new(name) };
    for (edit, of, expected) in [
        (set("a", Some(&one), "1"), set("a", Some(&one), "2"), true),
        (set("a", Some(&one), "1"), set("b", Some(&one), "1"), false),
        (set("a", Some(&one), "1"), set("a", Some(&other), "1"), false),
        (set("a", None, "1"), set("a", None, "2"), true),
        (set("a", None, "1"), set("a", Some(&one), "1"), false),
        (rewritten(&one, "1"), rewritten(&one, "2"), true),
        (rewritten(&one, "1"), rewritten(&other, "1"), false),
        (rewritten(&one, "1"), dropped(&one), false),
        (dropped(&one), dropped(&one), true),
        (dropped(&one), dropped(&other), false),
        (defined("a"), defined("a"), true),
        (defined("a"), defined("b"), false),
        (defined("a"), set("a", None, "1"), false),
        (ports(&["a"]), ports(&["a"]), true),
        (ports(&["a"]), ports(&["b"]), false),
        (ports(&["a"]), defined("a"), false),
    ] {
        assert_eq!(edit.differs_in_value_only(&of), expected, "{edit:?} {of:?}");
    }
}

#[test]
fn a_later_edit_of_what_an_edit_wrote_takes_its_place() {
    let (clause, to, other) = (expression("a > 1"), expression("(a > 2)"), expression("a > 3"));
    let rewrite = RequestEdit::Rewrite { clause: clause.clone(), to: to.clone() };
    let value = expression("7");
    let known = RequestEdit::Set { name: Name::new("a"), from: Some(clause.clone()), to: value.clone() };
    let added = RequestEdit::Set { name: Name::new("a"), from: None, to: value.clone() };
    let inner = to.without_parentheses().clone();
    let dropped = |clause: &Expression| RequestEdit::Drop { clause: clause.clone() };
    let joined = |mut edit: RequestEdit, later: &RequestEdit| {
        let is_joined = edit.join(later);
        format!("{is_joined} {}", edit.text(Dialect::Condor))
    };
    for (edit, later, expected) in [
        (&rewrite, RequestEdit::Rewrite { clause: inner.clone(), to: other.clone() }, "true `a > 1` -> `a > 3`"),
        (&rewrite, dropped(&inner), "true drop `a > 1`"),
        (&rewrite, dropped(&clause), "false `a > 1` -> `a > 2`"),
        (&rewrite, RequestEdit::Define { name: Name::new("b") }, "false `a > 1` -> `a > 2`"),
        (&rewrite, RequestEdit::Remove { name: Name::new("b"), from: to.clone() }, "false `a > 1` -> `a > 2`"),
        (&rewrite, ports(&["b"]), "false `a > 1` -> `a > 2`"),
        (&known, set("a", Some(&value), "8"), "true a a > 1 -> 8"),
        (&known, set("a", Some(&other), "8"), "false a a > 1 -> 7"),
        (&known, dropped(&value), "true drop `a > 1`"),
        (&added, set("a", Some(&value), "8"), "true a = 8"),
        (&added, dropped(&value), "false a = 7"),
        (&dropped(&value), set("a", Some(&value), "8"), "false drop `7`"),
    ] {
        assert_eq!(joined(edit.clone(), &later), expected, "{later:?}");
    }
}
