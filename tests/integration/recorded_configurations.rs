//! What small configurations mean, as `tests/answers/configurations.txt` records it: their values, problems, and what
//! their policies and routes do to some jobs and slots.

use std::fmt::Write;
use std::ops::Range;

use classad::ad::{Ad, Dialect};
use classad::configuration::{
    Configuration, ConfigurationSettings, Defragmentation, DrainingObstacle, JobPolicies, JobRouter, MapFileItem,
    MapFileReader, PolicyEffect, number_problems, unread_rules, unused_settings,
};
use classad::eval::{Context, UserMap, UserMaps};
use classad::format::{FileFormat, Position, Problem, Severity, read};

use crate::binary::{assert_answers, assert_recorded};

/// Jobs by the letters that stand for them.
const JOBS: &str = "\
    [ Job = \"idle\"; ClusterId = 1; ProcId = 0; JobStatus = 1; Owner = \"ann\"; RequestMemory = 500; NumHolds = 1 ]
    [ Job = \"run\"; ClusterId = 1; ProcId = 1; JobStatus = 2; Owner = \"bob\"; RequestMemory = 5; ShadowBday = 900; \
      JobCurrentStartExecutingDate = 950; RemoteWallClockTime = 100.5; NumJobStarts = 0; AllowedJobDuration = 99; \
      OnExitHold = ExitCode == 1; OnExitHoldReason = \"one\"; OnExitHoldSubCode = 7; ExitCode = 1 ]
    [ Job = \"held\"; ClusterId = 2; ProcId = 0; JobStatus = 5; Owner = \"ann\"; HoldReasonCode = 3; NumHolds = 2; \
      PeriodicRelease = true; RoutedBy = \"jobrouter\"; RouteName = \"A\" ]
    [ Job = \"user\"; ClusterId = 2; ProcId = 1; JobStatus = 5; HoldReasonCode = 1; PeriodicRelease = true; \
      PeriodicRemove = NumHolds > 5; Managed = \"External\" ]
    [ Job = \"old\"; ClusterId = 3; ProcId = 0; JobStatus = 7; Owner = \"cy\"; TimerRemove = 5; PeriodicVacate = 0.5; \
      ShadowBday = 1; AllowedExecuteDuration = 100000; JobCurrentStartExecutingDate = 3; OnExitRemove = false ]
    [ Job = \"done\"; ClusterId = 3; ProcId = 1; JobStatus = 4; Owner = \"cy\"; RoutedBy = \"jobrouter\"; RouteName = \"B\"; \
      TimerRemove = undefined; StageInStart = 5 ]";

const SLOTS: &str = "\
    [ PartitionableSlot = true; Cpus = 2; TotalCpus = 8; TotalSlots = 3; Memory = 5; Name = \"a\" ]
    [ PartitionableSlot = true; Cpus = 8; TotalCpus = 8; State = \"Unclaimed\"; Offline = false; Name = \"b\" ]
    [ PartitionableSlot = true; Cpus = 1; TotalCpus = 4; Draining = true; DrainReason = \"Defrag \"; Name = \"c\" ]
    [ PartitionableSlot = true; Cpus = 1; TotalCpus = 4; Draining = true; DrainReason = \"other\"; Name = \"d\" ]
    [ PartitionableSlot = true; Cpus = 3; TotalCpus = 4; Offline = true; Name = \"e\" ]
    [ PartitionableSlot = true; Cpus = 4; TotalCpus = 16; Memory = 9; Name = \"f\" ]";

fn ads(text: &str) -> Vec<Ad> {
    read(text.as_bytes(), FileFormat::Bracketed, Dialect::Condor).map(|item| item.expect("it is an ad").ad).collect()
}

/// Lines that are collected.
#[derive(Default)]
struct Record(String);

impl Record {
    fn line(&mut self, line: impl AsRef<str>) {
        writeln!(self.0, "    {}", line.as_ref()).expect("a text has room");
    }

    fn problems(&mut self, text: &str, problems: impl IntoIterator<Item = Problem>) {
        for problem in problems {
            let mark = if problem.severity == Severity::Error { "!" } else { "~" };
            let Range { start, end } = problem.range;
            let Position { line, column } = Position::of_offset(text.as_bytes(), start.min(text.len()));
            let marked = text.get(start..end).unwrap_or("?");
            let help = problem.help.map_or(String::new(), |help| format!(" ({help})"));
            self.line(format!("{mark}{line}:{column} {marked:?}: {}{help}", problem.message));
        }
    }

    fn effect(&mut self, job: &str, what: &str, effect: &PolicyEffect) {
        let PolicyEffect { knob, line, kind, subcode, code, .. } = effect;
        let (kind, reason) = (kind.as_str(), effect.told_reason());
        self.line(format!("{job} {what} {knob} {line:?} {kind} {code:?} {subcode:?} {reason:?}"));
    }
}

fn describe(text: &str) -> String {
    let settings = ConfigurationSettings { allows_environment: false, ..ConfigurationSettings::default() };
    let context = Context { now: Some(1000), ..Context::new(Dialect::Condor) };
    let (configuration, problems) = Configuration::read_files(&[("main".to_owned(), text.into())], &settings);
    let text = configuration.text();
    let mut record = Record::default();
    for entry in configuration.entries() {
        let raw = configuration.raw_value(entry);
        match configuration.expand(entry, &context) {
            Ok(value) if value.is_verbatim => record.line(format!("{} {} = {raw:?}", entry.line, entry.name)),
            Ok(value) => record.line(format!("{} {} = {raw:?} is {:?}", entry.line, entry.name, value.text)),
            Err(problem) => record.problems(text, [problem]),
        }
        for old in configuration.replaced(&entry.name) {
            record.line(format!("    before {} {:?}", old.line, configuration.raw_value(old)));
        }
    }
    record.problems(text, problems);
    record.problems(text, unused_settings(&configuration, &context));
    record.problems(text, number_problems(&configuration, &context));
    let (policies, problems) = JobPolicies::read(&configuration, &context);
    record.problems(text, problems);
    record.problems(text, unread_rules(&configuration, &policies.transforms));
    let jobs = ads(JOBS);
    let (router, problems) = JobRouter::read(&configuration, &context);
    record.problems(text, problems);
    let has_policies = text.contains("SYSTEM_") || text.contains("SUBMIT_") || text.contains("TRANSFORM");
    for job in jobs.iter().filter(|_| has_policies || router.is_some()) {
        let name = job.get_str("Job").expect("it has one").to_string();
        if has_policies {
            describe_policies(&mut record, &name, &policies, job, &context);
        }
        if let Some(router) = &router {
            let decision = router.decide(job, &context, true);
            let free = router.decide(job, &context, false).matching;
            let clause = router.routes.first().and_then(|_| router.refusing_clause(0, job, &context));
            let clause = clause
                .map(|(clause, value)| format!(" refused by {clause} = {:?}", value.map(|value| value.to_string())))
                .unwrap_or_default();
            record.line(format!(
                "{name} excluded {:?} made {:?} matching {:?} free {free:?}{clause}",
                decision.excluded, decision.made_by, decision.matching
            ));
        }
    }
    if let Some(router) = &router {
        describe_routes(&mut record, router, &configuration, &context);
    }
    match Defragmentation::read(&configuration, &context) {
        Ok(None) => {}
        Ok(Some(defragmentation)) => {
            let plan = defragmentation.plan(&ads(SLOTS), &context);
            let obstacle = plan.obstacle.map(|obstacle| match obstacle {
                DrainingObstacle::Requirements(clause) => format!("no slot has {clause}"),
                other => format!("{other:?}"),
            });
            record.line(format!(
                "drains {:?} of {} at {:?} an hour, at most {:?}; {obstacle:?}",
                plan.candidates, plan.slots, plan.per_hour, plan.max_draining
            ));
        }
        Err(problem) => record.problems(text, [problem]),
    }
    record.0
}

fn describe_policies(record: &mut Record, name: &str, policies: &JobPolicies, job: &Ad, context: &Context) {
    for effect in policies.effects(job, context) {
        record.effect(name, "effect", &effect);
    }
    if let Some(effect) = policies.exit_effect(job, context) {
        record.effect(name, "exit", &effect);
    }
    for policy in policies.of_job(job, context) {
        let applies = if policy.applies { "applies" } else { "waits" };
        record.line(format!("{name} {} {applies} {} {}", policy.name, policy.effect.as_str(), policy.is_at_exit));
    }
}

fn describe_routes(record: &mut Record, router: &JobRouter, configuration: &Configuration, context: &Context) {
    record.line(format!("router {:?} {:?} {}", router.name, router.max_jobs, router.is_round_robin));
    for (index, route) in router.routes.iter().enumerate() {
        record.line(format!(
            "route {} {} {:?} {:?} {} {} {:?} {:?}",
            route.name(),
            route.universe,
            route.grid_resource,
            route.edits_in_place.as_ref().map(ToString::to_string),
            route.max_jobs,
            route.max_idle_jobs,
            route.obstacle.as_ref().map(|obstacle| &obstacle.reason),
            router.variable(index, "x")
        ));
        let result = router.transform(index, configuration, true).apply(&ads(JOBS)[0], context).into_iter().next();
        record.line(format!("    makes {}", result.map_or("nothing".to_owned(), |result| shown(&result.ad))));
        if let Some((whole, own)) = router.whole_condition(route, context) {
            record.line(format!("    requires {whole} of its own {own}"));
        }
    }
    record.line(format!("disabled {:?}", router.disabled));
    record.problems(configuration.text(), router.doubts(configuration));
}

fn shown(ad: &Ad) -> String {
    String::from_utf8_lossy(&classad::syntax::print_ad(ad, classad::syntax::Style::New)).into_owned()
}

/// ` // ` stands between the lines of a configuration.
#[test]
fn configurations_mean_what_is_recorded() {
    let answer = |case: &str| describe(&format!("{}\n", case.replace(" // ", "\n")));
    assert_answers("tests/answers/configurations.txt", answer);
}

/// Map files by what their lines have, with the results for some users.
#[test]
fn map_files_mean_what_is_recorded() {
    let mut record = Record::default();
    for text in [
        "* a b",
        "*\ta\tb",
        " * a b ",
        "* \"a b\" c",
        "* a \"b c\"",
        "* a \"b\\\"c\\\\d\\e\"",
        "* \"\" b",
        "* a \"\"",
        "* a",
        "*",
        "* \"a b",
        "* a \"b",
        "* /^a(.*)$/ x\\1y\\0\\2",
        "* /^A(.*)$/i \\1",
        "* /a.*?/U \\0",
        "* /a+/iU \\0",
        "* /a\\/b/ c",
        "* /a\\d/ c",
        "* /a/x b",
        "* /a/",
        "* /a",
        "* // b",
        "* /(/ b",
        "gsi a b\n* a c",
        "* a b\n* a c\n* /a/ d\n* a e",
        "* /a/ d\n* a e",
        "* a b # c",
        "* a b c",
        "* a b\r",
        "* a b \r",
        "* a\r",
        "\r",
        "# c",
        "#",
        " # c",
        "@include x",
        "@include \"x y\" z",
        "@include",
        "@include \"\"",
        "@include x\r",
        "@INCLUDE x",
    ] {
        for has_prefixes in [false, true] {
            writeln!(record.0, "{text:?} {has_prefixes}").expect("a text has room");
            let (mut map, mut maps) = (UserMap::default(), UserMaps::default());
            let mut reader = MapFileReader::new(text.as_bytes(), has_prefixes);
            while let Some(item) = reader.read(&mut map) {
                match item {
                    MapFileItem::Include(path, range) => record.line(format!("include {path:?} {range:?}")),
                    MapFileItem::Problem(problem) => record.problems(text, [problem]),
                }
            }
            maps.insert("m", map);
            for user in ["a", "A", "ab", "a b", "a1", "a/b", "/a", "\"a", "b"] {
                for name in ["m", "M.gsi"] {
                    if let Some(found) = maps.look_up(name, user.as_bytes()) {
                        record.line(format!("{name} {user} is {:?}", String::from_utf8_lossy(&found)));
                    }
                }
            }
        }
    }
    assert_recorded("tests/answers/map_files.txt", &record.0);
}
