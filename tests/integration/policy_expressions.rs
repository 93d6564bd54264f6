//! Expressions of real policies, and of mistakes in such: `check` raises no false alarm and finds nearly all mistakes, and
//! their values are those of HTCondor's library.

use classad::ad::{Ad, Dialect, Expression, Name, Type, Value};
use classad::eval::{Context, Environment, Evaluator};
use classad::lint::{AdChecker, FindingRegister, LintLevel, RuleScope};
use classad::protocol::Protocol;
use classad::syntax::{ParseOptions, parse_ad, parse_expression};

const DIALECT: Dialect = Dialect::Condor;

/// An expression of the collection.
struct PolicyExpression {
    judgement: String,
    source: String,
    /// What HTCondor's library gives.
    value: String,
    text: String,
}

fn path(name: &str) -> String {
    format!("{}/tests/policies/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn collection() -> Vec<PolicyExpression> {
    let text = std::fs::read_to_string(path("expressions.tsv")).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let expression = |line: &str| {
        let fields: Vec<String> = line.splitn(4, '\t').map(str::to_owned).collect();
        let [judgement, source, value, text] = fields.try_into().unwrap_or_else(|fields| panic!("{fields:?}"));
        PolicyExpression { judgement, source, value, text }
    };
    lines.map(expression).collect()
}

fn parsed(text: &str) -> Option<Expression> {
    parse_expression(text.as_bytes(), ParseOptions::new(DIALECT)).ok()
}

/// Returns the findings of `check -e`, without notes. An expression that cannot be read has one.
fn findings(text: &str) -> Vec<String> {
    let Some(expression) = parsed(text) else { return vec!["syntax".to_owned()] };
    let mut checker = AdChecker::new(Protocol::new(DIALECT), &Context::new(DIALECT)).of_partial_ads();
    let ad: Ad = [(Name::new("Requirements"), expression)].into_iter().collect();
    let found = FindingRegister::default().register(&checker.check(&ad));
    let found = found.into_iter().map(|(_, finding)| finding);
    let told = found.filter(|finding| finding.rule.scope != RuleScope::Ad && finding.rule.level > LintLevel::Note);
    told.map(|finding| format!("{}: {}", finding.rule.name, finding.message)).collect()
}

#[test]
fn real_policies_raise_no_false_alarm_and_most_bugs_are_found() {
    let collection = collection();
    let public = collection.iter().filter(|expression| expression.source != "written").count();
    assert!(public >= 281, "{public} of public sources");
    let judged =
        |judgement: &'static str| collection.iter().filter(move |expression| expression.judgement == judgement);
    let alarms: Vec<_> = judged("fine").map(|fine| (&fine.text, findings(&fine.text))).collect();
    let alarms: Vec<_> = alarms.into_iter().filter(|(_, found)| !found.is_empty()).collect();
    assert!(alarms.is_empty(), "{alarms:#?}");
    let bugs = judged("bug").count();
    let missed: Vec<&String> = judged("bug").map(|bug| &bug.text).filter(|text| findings(text).is_empty()).collect();
    assert!(bugs >= 100 && missed.len() * 10 <= bugs, "{} of {bugs} missed: {missed:#?}", missed.len());
    assert_eq!(judged("fine").count() + bugs + judged("unclear").count(), collection.len());
    assert!(judged("unclear").count() * 50 <= collection.len());
}

#[test]
fn real_policies_have_the_values_of_the_library() {
    let ad = |name: &str| {
        let text = std::fs::read(path(&format!("{name}.ad"))).unwrap();
        parse_ad(&text, ParseOptions::new(DIALECT)).unwrap()
    };
    let (slot, job) = (ad("slot"), ad("job"));
    let mut differing = Vec::new();
    for expression in collection() {
        let value = match parsed(&expression.text) {
            None => "unreadable",
            Some(parsed) => {
                let (environment, [frame, _]) = Environment::pair(slot.clone(), job.clone());
                match Evaluator::new(&environment, &Context::new(DIALECT)).evaluate(&parsed, &frame).unwrap() {
                    Value::Boolean(true) => "true",
                    Value::Boolean(false) => "false",
                    value => match value.value_type() {
                        Type::Integer | Type::Real => "number",
                        other => other.as_str(),
                    },
                }
            }
        };
        // Suffixes of numbers are the papers' own: `check` tells that HTCondor cannot read them.
        let has_suffix = || findings(&expression.text).iter().any(|found| found.starts_with("wrong-unit"));
        if value != expression.value && !(expression.value == "unreadable" && has_suffix()) {
            differing.push(format!("{}: {value}, and the library: {}", expression.text, expression.value));
        }
    }
    assert!(differing.is_empty(), "{differing:#?}");
}
