//! Transforming ads: files rewritten, rules printed and read back, whatever may be in a file of rules.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use classad::ad::{Ad, Dialect, Expression, Name, Value};
use classad::eval::Context;
use classad::format::Severity;
use classad::syntax::{ParseOptions, parse_ad};
use classad::transform::{
    IfCondition, IterationItems, NamePattern, RuleAction, RuleOperand, RuleStatement, RuleTarget, Transform,
    TransformLine, TransformRule, parse_rules,
};
use proptest::prelude::*;

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_classad")).args(arguments).output().expect("the binary runs")
}

/// A folder of its own for a test.
fn folder(name: &str) -> PathBuf {
    let folder = crate::binary::temporary().join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the folder can be made");
    folder
}

#[test]
fn files_are_rewritten_whole_or_not_at_all() {
    let folder = folder("transform-write");
    let path = |name: &str| folder.join(name).to_str().expect("a plain path").to_owned();
    let (good, bad, same) = (path("good.long"), path("bad.long"), path("same.ad"));
    fs::write(&good, "a = 1\nb = 2\n\nb = 3\n").unwrap();
    fs::write(&bad, "a = 1\n\na = (\n").unwrap();
    fs::write(&same, "// a comment\n[ b = 1 ]\n").unwrap();

    let output = run(&["transform", "-w=.old", "--delete", "A", &good, &bad, &same]);
    assert_eq!(output.status.code(), Some(2));
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(errors.contains("bad.long is left as it is"), "{errors}");
    assert!(output.stdout.is_empty());
    assert_eq!(fs::read_to_string(&good).unwrap(), "b = 2\n\nb = 3\n\n");
    assert_eq!(fs::read_to_string(format!("{good}.old")).unwrap(), "a = 1\nb = 2\n\nb = 3\n");
    assert_eq!(fs::read_to_string(&bad).unwrap(), "a = 1\n\na = (\n");
    // Nothing changed: not even the comment is lost.
    assert_eq!(fs::read_to_string(&same).unwrap(), "// a comment\n[ b = 1 ]\n");
    let mut left: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["bad.long", "good.long", "good.long.old", "same.ad"]);
}

#[cfg(unix)]
#[test]
fn permissions_are_kept_and_links_followed() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = folder("transform-links");
    let (file, link) = (folder.join("file.ad"), folder.join("link.ad"));
    fs::write(&file, "[ a = 1 ]\n").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("file.ad", &link).unwrap();
    let output = run(&["transform", "-w", "--set", "a=2", link.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&file).unwrap(), "[\n  a = 2;\n]\n");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn compressed_files_are_not_rewritten() {
    use std::io::Write;
    let path = folder("transform-gzip").join("ads.long.gz");
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(b"a = 1\n").unwrap();
    let packed = packed.finish().unwrap();
    fs::write(&path, &packed).unwrap();
    let output = run(&["transform", "-w", "--delete", "a", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(fs::read(&path).unwrap(), packed);
}

fn apply(rules: Vec<TransformRule>, ad: &Ad) -> Ad {
    let mut results = Transform { rules, ..Transform::default() }.apply(ad, &Context::new(Dialect::Condor));
    assert_eq!(results.len(), 1);
    results.remove(0).ad
}

fn name() -> impl Strategy<Value = String> {
    "[A-Za-z_][A-Za-z0-9_]{0,5}".prop_filter("these begin other lines", |name| {
        !["if", "elif", "else", "endif"].iter().any(|word| name.eq_ignore_ascii_case(word))
    })
}

/// Texts that are expressions, and some with macros in them.
fn operand(rules: ParseOptions) -> impl Strategy<Value = RuleOperand> {
    let text = prop_oneof![
        "[0-9]{1,5}",
        "[a-z]{1,4} [+*<] [0-9]{1,3}",
        "\"[ -!#-\\[\\]-~]{0,8}\"",
        "\\{ [a-z], \\[ [a-z] = [0-9] \\] \\}",
        "\\$\\([a-z]{1,3}(:[a-z0-9 ]{0,3})?\\) \\+ 1",
        "\"\\$\\(MY\\.[A-Z][a-z]{1,3}\\)\\$INT\\([0-9]\\)\"",
        "strcat\\(\"[a-z]#\", \\$EVAL\\(a\\)\\)",
    ];
    text.prop_filter_map("it must be one", move |text| RuleOperand::new(text.trim(), rules).ok())
}

fn target() -> impl Strategy<Value = RuleTarget> {
    prop_oneof![
        name().prop_map(|name| RuleTarget::Name(Name::new(&name))),
        "[a-z .#]{1,5}".prop_map(|odd| RuleTarget::Name(Name::new(&format!("'{odd}")))),
        ("[A-Za-z^$]{0,3}(\\(\\.\\*\\))?[ a-z]{0,3}", "[gimU]{0,2}")
            .prop_map(|(text, options)| RuleTarget::Pattern(NamePattern { text, options })),
    ]
}

/// Whether a line may be read: `$F()` and its kin are refused.
fn is_supported(line: &str) -> bool {
    !(line.contains("$F") || line.contains("NAME(")) || !line.contains(')')
}

fn change() -> impl Strategy<Value = RuleAction> {
    let escaped = ParseOptions::new(Dialect::Condor);
    let long = ParseOptions::long(Dialect::Condor);
    prop_oneof![
        (name(), "[ -~]{0,12}")
            .prop_filter("$F() is refused", |(_, text)| is_supported(text))
            .prop_map(|(name, text)| RuleAction::Assign(name, text.trim().to_owned())),
        name().prop_map(|name| RuleAction::Assign(name, "$F(".to_owned())),
        (name(), prop::collection::vec("[!-?A-~]{1,6}", 2..4))
            .prop_filter("comments are left out", |(_, lines)| lines.iter().all(|line| !line.starts_with('#')))
            .prop_filter("$F() is refused", |(_, lines)| lines.iter().all(|line| is_supported(line)))
            .prop_map(|(name, lines)| RuleAction::Assign(name, lines.join("\n"))),
        (name(), operand(escaped)).prop_map(|(name, operand)| RuleAction::EvaluateMacro(name, operand)),
        (name(), operand(long)).prop_map(|(name, operand)| RuleAction::Set(Name::new(&name), operand)),
        (name(), operand(long)).prop_map(|(name, operand)| RuleAction::Default(Name::new(&name), operand)),
        (name(), operand(escaped)).prop_map(|(name, operand)| RuleAction::EvaluateSet(Name::new(&name), operand)),
        (target(), name()).prop_map(|(target, name)| RuleAction::Copy(target, name)),
        (target(), name()).prop_map(|(target, name)| RuleAction::Rename(target, format!("{name}$(x:y)"))),
        target().prop_map(RuleAction::Delete),
    ]
}

fn condition() -> impl Strategy<Value = IfCondition> {
    prop_oneof![
        "true",
        "0\\.[0-9]",
        "defined MY\\.[a-z]{1,4}",
        "! \\$\\([a-z]{1,3}\\)",
        "[a-z]{1,3} == [0-9]",
        "!\\([a-z] > 1\\)"
    ]
    .prop_filter_map("it must be one", |text| IfCondition::new(&text, ParseOptions::new(Dialect::Condor)).ok())
}

fn statements() -> impl Strategy<Value = Vec<RuleAction>> {
    let few = prop::collection::vec(change(), 0..4);
    few.prop_recursive(3, 24, 3, |inner| {
        (change(), condition(), inner.clone(), condition(), inner.clone(), inner).prop_map(
            |(first, one, then, two, instead, otherwise)| {
                let mut all = vec![first, RuleAction::If(one)];
                all.extend(then);
                all.push(RuleAction::ElseIf(two));
                all.extend(instead);
                all.push(RuleAction::Else);
                all.extend(otherwise);
                all.push(RuleAction::EndIf);
                all
            },
        )
    })
}

fn rule() -> impl Strategy<Value = TransformRule> {
    let items = prop_oneof![
        prop::collection::vec("[a-z0-9.:]{1,4}", 1..4).prop_map(IterationItems::In),
        prop::collection::vec("[a-z][a-z0-9, ]{0,6}", 1..4)
            .prop_map(|lines| IterationItems::From(lines.iter().map(|line| line.trim().to_owned()).collect())),
    ];
    let listed = (prop::collection::vec("v[a-z]{0,3}", 1..3), items);
    let iteration = (1_usize..9, prop::option::of(listed)).prop_map(|(count, listed)| {
        let (variables, items) = listed.map_or((Vec::new(), None), |(variables, items)| (variables, Some(items)));
        TransformLine { count, variables, items, has_macros: false }
    });
    let plain = operand(ParseOptions::long(Dialect::Condor)).prop_filter("no macros", |o| o.expression().is_some());
    ("[a-z][a-z ]{0,5}[a-z]", prop::option::of(plain), statements(), prop::option::of(iteration)).prop_map(
        |(name, requirements, actions, iteration)| {
            let statements = actions.into_iter().map(|action| RuleStatement { action, range: 0..0, line: 0 }).collect();
            TransformRule { name: Some(name), requirements, statements, iteration, universe: None }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Rules that are printed read back as the same rules.
    #[test]
    fn printed_rules_read_back(rules in prop::collection::vec(rule(), 1..4)) {
        let text: String = rules.iter().map(TransformRule::to_string).collect();
        let (again, problems) = parse_rules(text.as_bytes(), Dialect::Condor);
        prop_assert!(problems.iter().all(|p| p.severity == Severity::Warning), "{text}\n{problems:?}");
        prop_assert!(again == rules, "{text}\nreads back as\n{}", again.iter().map(TransformRule::to_string).collect::<String>());
    }

    /// What is set and then deleted was never there; what is renamed there and back is as it was.
    #[test]
    fn changes_can_be_undone(names in prop::collection::hash_set("[a-f]{1,2}", 1..6), other in "[g-k]{1,2}") {
        let value = |number: i64| Expression::literal(Value::Integer(number));
        let ad: Ad = names.iter().zip(0..).map(|(name, number)| (Name::new(name), value(number))).collect();
        let set = RuleAction::Set(Name::new(&other), RuleOperand::of("7", value(7)));
        let delete = RuleAction::Delete(RuleTarget::Name(Name::new(&other)));
        let shown = |ad: &Ad| ad.iter().map(|attribute| attribute.name.to_string()).collect::<Vec<_>>();
        let after = apply([set, delete].map(TransformRule::from_action).into(), &ad);
        prop_assert!(after == ad && shown(&after) == shown(&ad));
        let first = RuleTarget::Name(ad.iter().next().unwrap().name.clone());
        let name = first.to_string();
        let away = RuleAction::Rename(first, other.clone());
        let back = RuleAction::Rename(RuleTarget::Name(Name::new(&other)), name);
        let after = apply([away, back].map(TransformRule::from_action).into(), &ad);
        prop_assert!(after == ad && shown(&after) == shown(&ad));
    }

    /// Whatever stands in a file of rules, it is read and applied without a panic.
    #[test]
    fn garbage_is_no_harm(text in "([A-Za-z$()/\\\\:=@#\"' \n.,0-9{}\\[\\]+]|SET |COPY |RENAME |DELETE |if |endif\n|EVALMACRO |TRANSFORM |\\$INT\\(|\\$\\(MY\\.a\\)){0,60}") {
        let (rules, _) = parse_rules(text.as_bytes(), Dialect::Condor);
        let ad = parse_ad(b"[ a = 1; b = \"x\" ]", ParseOptions::new(Dialect::Condor)).unwrap();
        // Whoever asks all the same gets an answer, too.
        let _ = Transform { rules, ..Transform::default() }.apply(&ad, &Context::new(Dialect::Condor));
    }
}

/// Macros of paths are read wherever they can stand, and what is not closed is none.
#[test]
fn path_macros_are_read_wherever_they_stand() {
    for text in [
        "A = $F(\n",
        "A = $F\n",
        "A = ) $F(\n",
        "A @=end\n$F(\nx)\n@end\n",
        "A = $F(x)\n",
        "A = $Fpn( $(x) )\n",
        "A @=end\n1 +\n$DIRNAME(x)\n@end\n",
        "SET A $F(x)\n",
    ] {
        let (rules, problems) = parse_rules(text.as_bytes(), Dialect::Condor);
        let errors: Vec<_> = problems.iter().filter(|problem| problem.severity == Severity::Error).collect();
        assert!(errors.is_empty(), "{text} {problems:?}");
        let printed: String = rules.iter().map(TransformRule::to_string).collect();
        assert_eq!(parse_rules(printed.as_bytes(), Dialect::Condor).0, rules, "{text}");
    }
}

/// Files of rules that would take longer than anyone waits if anything were looked at again and again.
#[test]
fn no_rule_takes_forever() {
    let many = 20_000;
    for (what, text) in [
        ("open macros", format!("SET b \"{}\"", "$(a:".repeat(many))),
        ("open functions", format!("SET b \"{}\"", "$INT(".repeat(many))),
        ("nested macros", format!("SET b \"{}{}\"", "$(".repeat(many), ")".repeat(many))),
        ("dollars", format!("SET b \"{}\"", "$".repeat(many * 4))),
        ("macros", format!("x = 1\nSET b \"{}\"", "$(x)".repeat(many))),
        ("a dollar before macros", format!("x = 1\nSET b \"${}\"", "$(x)".repeat(many))),
        (
            "laughs",
            format!(
                "x0 = ha\n{}SET b \"$(x99)\"",
                (1..100).fold(String::new(), |all, n| all + &format!("x{n} = $(x{0})$(x{0})\n", n - 1))
            ),
        ),
        ("growth", format!("x = ha\n{}SET b \"$(x)\"", "x = $(x)$(x)\n".repeat(200))),
        ("itself", "x = $(y)a\ny = $(x)b\nSET b \"$(x)\"".to_owned()),
        ("continued lines", format!("SET b 1{}", " \\\n + 1".repeat(many))),
        ("open ifs", "if true\n".repeat(many)),
        ("many lines", "SET b 1\nDELETE c\nCOPY a d\n".repeat(many / 10)),
        ("many names", (0..many / 10).fold(String::new(), |all, n| all + &format!("SET b{n} 1\n"))),
        ("unknown variables", (0..2000).fold(String::new(), |all, n| all + &format!("SET b{n} $(v{n})\n"))),
        ("a pattern", format!("DELETE /{}/", "(a*)*".repeat(2000))),
        ("slow patterns", "DELETE /^(a+)+$/\nDELETE /^(a|a)*b/\n".repeat(10)),
        ("many ads", "SET b 1\nTRANSFORM 10000\nNAME x\nTRANSFORM 10000".to_owned()),
    ] {
        let ad = format!("[ a = 1; {} = 2 ]", "a".repeat(40) + "c");
        let ad = parse_ad(ad.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
        let (rules, _) = parse_rules(text.as_bytes(), Dialect::Condor);
        let results = Transform { rules, ..Transform::default() }.apply(&ad, &Context::new(Dialect::Condor));
        assert!(!results.is_empty(), "{what}: the ad is lost");
    }
}

/// Comments are dropped with a word, and a dry run is another name for `-n`.
#[test]
fn dropped_comments_are_noted() {
    let folder = folder("transform-comments");
    let (commented, plain) = (folder.join("commented.long"), folder.join("plain.long"));
    fs::write(&commented, "# why\nA = 1\n").expect("it can be written");
    fs::write(&plain, "A = 1\n").expect("it can be written");
    let [commented, plain] = [commented, plain].map(|path| path.to_str().expect("it is text").to_owned());
    let output = run(&["transform", "--set", "A=2", "-w", &commented, &plain]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("commented.long: its comments are dropped") && !told.contains("plain.long"), "{told}");
    for (number, (text, has_comment)) in [
        ("[ A = 1; // why\n B = 2 ]", true),
        ("[ A = \"a\\\"b\"; /* why */ B = 2 ]", true),
        ("[ A = \"http://a\"; B = 4 / 2; 'c//' = \"\\\\\" ]", false),
    ]
    .into_iter()
    .enumerate()
    {
        let path = folder.join(format!("bracketed-{number}.ad"));
        fs::write(&path, text).expect("it can be written");
        let output = run(&["transform", "--set", "D=2", "-w", path.to_str().expect("it is text")]);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(told.contains("its comments are dropped"), has_comment, "{text}: {told}");
    }
    let [dry, diff] = ["--dry-run", "-n"].map(|option| run(&["transform", "--set", "A=3", option, &plain]));
    assert!(dry.status.success() && !dry.stdout.is_empty());
    assert_eq!(dry.stdout, diff.stdout);
    assert_eq!(fs::read_to_string(&plain).expect("it is there").trim_end(), "A = 2");
}
