//! Checking of the policies of a configuration.

use std::ops::Range;

use classad::ad::{Ad, Expression, Name, Span};
use classad::configuration::{
    ConfiguredPolicy, ConfiguredRule, JobRouter, KnobKind, RouteObstacle, number_problems, unread_rules,
    unused_settings,
};
use classad::eval::Context;
use classad::format::{Problem, ReadCache};
use classad::lint::{
    AdChecker, FindingRegister, LintFinding, LintLevel, PolicyPlace, PolicyPool, RuleScope, check_policy_names,
    check_system_policy,
};
use classad::matching::policy::negotiator_problems;
use classad::protocol::Protocol;
use classad::text::shorten;
use classad::transform::{RuleAction, RuleOperand, rule_slips};

use super::check_run::CheckRun;
use super::located::{FindingPlace, KeptFinding, LocatedFinding};
use crate::cli::io::configuration::LoadedConfiguration;
use crate::cli::io::input::next_block;
use crate::cli::io::source::AdSource;
use crate::cli::session::Session;

/// Reads the ads of files a second time, for the names in policies. Files that cannot be read twice do not count.
pub fn read_again(session: &mut Session, sources: &[AdSource], pool: &mut PolicyPool) {
    let mut cache = ReadCache::new(session.dialect());
    for source in sources {
        let Ok(mut source) = source.reopen() else { continue };
        while let Some(text) = next_block(session, &mut source) {
            // Problems are reported when these files are checked.
            text.block.ads_cached(&mut cache).flatten().for_each(|entry| pool.add(&entry.ad));
        }
    }
}

/// Adds the findings about the policies, transforms and routes of a configuration.
pub fn check(
    run: &mut CheckRun<'_, LocatedFinding>,
    session: &Session,
    loaded: &LoadedConfiguration,
    task: &PolicyCheckTask,
) {
    let context = session.context();
    for problem in &loaded.problems {
        run.add_problem_of_rule(&loaded.text, problem, "doubtful-setting");
    }
    let (policies, problems) = ConfiguredPolicy::all(&loaded.configuration, &context);
    add_problems(run, loaded, &problems);
    let mut unused = unused_settings(&loaded.configuration, &context);
    unused.extend(number_problems(&loaded.configuration, &context));
    let of_negotiator = negotiator_problems(&loaded.configuration, &context);
    let of_jobs = task.pool.demands.problems(&loaded.configuration, &context);
    for problem in unused.iter().chain(&of_negotiator).chain(&of_jobs) {
        run.add_problem_of_rule(&loaded.text, problem, "doubtful-setting");
    }
    for policy in &policies {
        let subject =
            PolicySubject { knob: &policy.name, is_condition: policy.is_condition(), place: place_of(policy.kind) };
        check_expression(run, loaded, task, &subject, &policy.expression, &|span| {
            let range = policy.file_range(span, &loaded.configuration);
            let part = range.is_none().then(|| policy.part(span).to_owned());
            (range.unwrap_or_else(|| policy.value_range.clone()), part)
        });
    }
    let (mut rules, problems) = loaded.configuration.job_transforms(&context);
    add_problems(run, loaded, &problems);
    let (router, problems) = JobRouter::read(&loaded.configuration, &context);
    add_problems(run, loaded, &problems);
    if let Some(router) = router {
        for problem in router.doubts(&loaded.configuration) {
            run.add_problem_of_rule(&loaded.text, &problem, "doubtful-setting");
        }
        check_routes(run, loaded, task, &router);
        rules.extend(router.pre_route_transforms);
        rules.extend(router.routes.into_iter().map(|route| route.rules));
        rules.extend(router.post_route_transforms);
    }
    for rules in &rules {
        check_rules(run, loaded, task, rules);
    }
    *run.policies_checked.get_or_insert(0) += policies.len() + rules.len();
    for problem in unread_rules(&loaded.configuration, &rules) {
        run.add_problem_of_rule(&loaded.text, &problem, "doubtful-setting");
    }
}

/// Adds a finding for each route whose requirements contradict what all routes require.
fn check_routes(
    run: &mut CheckRun<'_, LocatedFinding>,
    loaded: &LoadedConfiguration,
    task: &PolicyCheckTask,
    router: &JobRouter,
) {
    let name = task.protocol.attribute_names().next().unwrap_or(task.protocol.rank_name());
    let conflict = |expression: Expression| {
        let ad: Ad = [(name.clone(), expression)].into_iter().collect();
        let findings = AdChecker::new(task.protocol.clone(), &task.context).of_partial_ads().check(&ad);
        let mut register = FindingRegister::default();
        let found = register.register(&findings).into_iter().map(|(_, finding)| finding);
        found.into_iter().find(|finding| ["contradiction", "type-clash"].contains(&finding.rule.name))
    };
    for route in router.routes.iter().filter(|route| route.obstacle.is_none()) {
        let Some((whole, own)) = router.whole_condition(route, &task.context) else { continue };
        if conflict(own).is_some() {
            continue;
        }
        if let Some(finding) = conflict(whole) {
            let reason =
                format!("{}; all routes require an idle job and JOB_ROUTER_SOURCE_JOB_CONSTRAINT", finding.message);
            let range = loaded.configuration.entry(&route.rules.knob).map_or(0..1, |entry| entry.name_range.clone());
            let obstacle = RouteObstacle { reason, help: finding.help, range };
            run.add_problem_of_rule(&loaded.text, &obstacle.problem(&route.rules.knob), "doubtful-setting");
        }
    }
}

fn add_problems(run: &mut CheckRun<'_, LocatedFinding>, loaded: &LoadedConfiguration, problems: &[Problem]) {
    for problem in problems {
        run.add_problem(&loaded.text, problem);
    }
}

/// Adds the findings about the requirements of rules and the expressions that they set.
fn check_rules(
    run: &mut CheckRun<'_, LocatedFinding>,
    loaded: &LoadedConfiguration,
    task: &PolicyCheckTask,
    rules: &ConfiguredRule,
) {
    let entry = loaded.configuration.entry(&rules.knob);
    let knob_range = entry.map_or(0..1, |entry| entry.name_range.clone());
    let requirements = rules.rule.requirements.as_ref().and_then(RuleOperand::expression);
    if let Some(requirements) = requirements {
        let subject = PolicySubject { knob: &rules.knob, is_condition: true, place: PolicyPlace::Job };
        check_expression(run, loaded, task, &subject, requirements, &|_| (knob_range.clone(), None));
    }
    for problem in rule_slips(&rules.rule) {
        let message = format!("{}: {}", rules.knob, problem.message);
        run.add_problem_of_rule(&loaded.text, &Problem { message, ..problem }, "doubtful-setting");
    }
    for statement in &rules.rule.statements {
        let operand = match &statement.action {
            RuleAction::Set(name, operand)
            | RuleAction::Default(name, operand)
            | RuleAction::EvaluateSet(name, operand) => operand.expression().map(|expression| (name, expression)),
            _ => None,
        };
        if let Some((name, expression)) = operand {
            let is_condition = name.as_str().eq_ignore_ascii_case("requirements");
            let range = statement.range.clone();
            let subject = PolicySubject { knob: &rules.knob, is_condition, place: PolicyPlace::Job };
            check_expression(run, loaded, task, &subject, expression, &|_| (range.clone(), None));
        }
    }
}

/// What policies are checked with.
pub struct PolicyCheckTask {
    pub protocol: Protocol,
    pub context: Context,
    pub pool: PolicyPool,
}

/// What an expression of a configuration belongs to.
struct PolicySubject<'s> {
    /// The name of the variable.
    knob: &'s str,
    /// Whether the expression is a condition. Another expression is a value.
    is_condition: bool,
    place: PolicyPlace,
}

fn place_of(kind: KnobKind) -> PolicyPlace {
    match kind {
        KnobKind::NegotiatorPolicy => PolicyPlace::Negotiator,
        kind if kind.is_of_job() => PolicyPlace::Job,
        _ => PolicyPlace::Slot,
    }
}

/// Adds the findings about an expression. `place` returns the range of a span in the dump, and the text of the span if
/// the range is that of a larger part.
fn check_expression(
    run: &mut CheckRun<'_, LocatedFinding>,
    loaded: &LoadedConfiguration,
    task: &PolicyCheckTask,
    subject: &PolicySubject<'_>,
    expression: &Expression,
    place: &dyn Fn(Span) -> (Range<usize>, Option<String>),
) {
    let constraint = task.protocol.attribute_names().next().filter(|_| subject.is_condition);
    let name: &Name = constraint.unwrap_or(task.protocol.rank_name());
    let ad: Ad = [(name.clone(), expression.clone())].into_iter().collect();
    let findings = AdChecker::new(task.protocol.clone(), &task.context).of_partial_ads().check(&ad);
    let mut new = run.register.register(&findings);
    run.register.count_ads(&findings, 1);
    // An expression alone is not an ad: rules about whole ads do not apply.
    new.retain(|(_, finding)| finding.rule.scope != RuleScope::Ad);
    let of_names = check_policy_names(expression, subject.place, &task.pool, &task.context);
    // A policy that a mistake makes constant is told with the mistake.
    let is_mistaken = new.iter().any(|(_, finding)| finding.rule.level > LintLevel::Note);
    let of_jobs = check_system_policy(&Name::new(subject.knob), expression, &task.context).filter(|_| !is_mistaken);
    new.extend(of_names.into_iter().chain(of_jobs).map(|finding| (run.register.register_external(), finding)));
    for (number, finding) in new {
        if !(run.wanted)(finding.rule) {
            continue;
        }
        let mut parts = Vec::new();
        let mut mark = |span: Option<Span>, text: &str| {
            let (range, part) = place(span.unwrap_or(expression.span()));
            parts.extend(part.filter(|_| span.is_some_and(|span| span != expression.span())));
            (range, text.to_owned())
        };
        let mut marks: Vec<_> = finding.labels.iter().map(|label| mark(label.span, &label.text)).collect();
        if marks.is_empty() {
            marks.push(mark(None, ""));
        }
        marks.dedup_by(|next, mark| next.0 == mark.0);
        let help = [
            Some(finding.help.clone()).filter(|help| !help.is_empty()),
            loaded.replaced(subject.knob),
            loaded.defaults(subject.knob),
        ];
        let help = help.into_iter().flatten().collect::<Vec<_>>().join("; ");
        let finding =
            LintFinding { help, message: format!("{}: {}", subject.knob, naming(finding.message, &parts)), ..finding };
        let place = FindingPlace { marks, id: Some(subject.knob.to_owned()), ..FindingPlace::default() };
        run.findings.push(LocatedFinding::new(number, finding, &loaded.text, place));
    }
}

/// Names the parts of an expression about which a message speaks as `this`, where a picture cannot show them.
fn naming(message: String, parts: &[String]) -> String {
    let named: Vec<String> = parts.iter().map(|part| format!("`{}`", shorten(part, MAX_PART_CHARS))).collect();
    match (message.strip_prefix("this "), &named[..]) {
        (_, []) => message,
        (Some(rest), [part]) => format!("{part} {rest}"),
        (_, parts) if parts.iter().all(|part| message.contains(part.as_str())) => message,
        (_, parts) => format!("{message} ({})", parts.join(", ")),
    }
}

/// Maximum length of a part that a message names, in characters.
const MAX_PART_CHARS: usize = 60;

#[cfg(test)]
mod tests {
    use super::{MAX_PART_CHARS, naming};

    #[test]
    fn parts_that_no_picture_shows_are_named() {
        for (message, parts, expected) in [
            ("this is never true", &[][..], "this is never true"),
            ("this is never true", &["a > 1"], "`a > 1` is never true"),
            ("both `a` and `b` are", &["a", "b"], "both `a` and `b` are"),
            ("both `a` and more are", &["a", "b"], "both `a` and more are (`a`, `b`)"),
            ("this and that", &["a", "b"], "this and that (`a`, `b`)"),
            ("x is wrong", &["a"], "x is wrong (`a`)"),
            ("thistle is wrong", &["a"], "thistle is wrong (`a`)"),
        ] {
            let parts: Vec<String> = parts.iter().map(|part| (*part).to_owned()).collect();
            assert_eq!(naming(message.to_owned(), &parts), expected);
        }
        let named = naming("this".to_owned(), &["x".repeat(MAX_PART_CHARS + 1)]);
        assert!(named.chars().count() < MAX_PART_CHARS + 10, "{named}");
    }
}
