//! Policies, specs, configurations and files whose form is found out.

use std::io::{self, Cursor};
use std::ops::ControlFlow;

use classad::ad::{Ad, Dialect};
use classad::configuration::{
    Configuration, ConfiguredPolicy, JobPolicies, JobRouter, MapFileReader, parse_bracketed_rules,
};
use classad::eval::{Context, EvaluationSettings, UserMap};
use classad::format::document_tree::YamlTree;
use classad::format::{FileFormat, Stream, read};
use classad::matching::negotiate::{NegotiationSettings, negotiate};
use classad::matching::policy::Policy;
use classad::policy_test::Spec;
use classad::protocol::Protocol;
use classad::transform::Transform;

use super::DIALECTS;
use super::random::context;

const REQUESTS: &[u8] = b"[ Owner = \"a\"; Memory = 10; Constraint = other.Memory >= Memory; Requirements = Constraint ]\n\
    [ Owner = \"b\"; RequestCpus = 2; Constraint = true; Requirements = true; Rank = other.Memory ]\n\
    [ Owner = \"a\"; Ports = { [ Label = p; Memory = 5; Constraint = p.Memory > 9 ], [ Label = q; Constraint = true ] } ]";
const OFFERS: &[u8] = b"[ Name = \"m\"; Memory = 20; Cpus = 4; Gpus = { \"g0\", \"g1\" }; Constraint = true; Requirements = true ]\n\
    [ Name = \"n\"; Memory = 8; Constraint = other.Memory < 9; Requirements = true; State = \"Claimed\"; RemoteUser = \"b\" ]\n\
    [ Name = \"o\"; Memory = 12; Cpus = 1; Constraint = true; Rank = 3; Requirements = TARGET.Owner == \"a\" ]";

/// The ads of a text of bracketed ads.
fn ads(text: &[u8], dialect: Dialect) -> Vec<Ad> {
    read(text, FileFormat::Bracketed, dialect).flatten().map(|entry| entry.ad).collect()
}

fn small_context(dialect: Dialect) -> Context {
    Context { max_steps: 2_000, max_depth: 200, max_search_tests: 100, ..context(dialect) }
}

/// A policy has faults with their places, or leads a cycle to its end.
pub fn policy(data: &[u8]) {
    for dialect in DIALECTS {
        let policy = match Policy::parse(data, dialect) {
            Ok(policy) => policy,
            Err(problems) => {
                assert!(!problems.is_empty());
                for problem in problems {
                    assert!(problem.range.start <= problem.range.end && problem.range.end <= data.len(), "{problem:?}");
                }
                continue;
            }
        };
        let settings = NegotiationSettings::new(policy, Protocol::new(dialect), small_context(dialect));
        let [requests, offers] = [REQUESTS, OFFERS].map(|text| ads(text, dialect));
        let _ = negotiate(&settings, &requests, &offers, &|_| None, &mut |_| ControlFlow::Continue(()));
    }
}

/// A spec has faults with their places, or cases that end.
pub fn spec(data: &[u8]) {
    let Ok(outline) = YamlTree::parse(data) else { return };
    let given = EvaluationSettings {
        now: Some(0),
        max_steps: Some(2_000),
        max_depth: Some(200),
        max_search_tests: Some(100),
        ..EvaluationSettings::default()
    };
    let mut files = |_: &str| Err(io::ErrorKind::NotFound.into());
    match Spec::read(&outline, &given, &mut files) {
        Ok(spec) => {
            for case in &spec.cases {
                if let Ok(mismatches) = case.run() {
                    let _ = case.failure_details(&mismatches);
                }
            }
        }
        Err(problems) => {
            assert!(!problems.is_empty());
            for problem in problems {
                assert!(problem.range.start <= problem.range.end && problem.range.end <= data.len(), "{problem:?}");
            }
        }
    }
}

/// Configurations, map files, and rules in brackets: policies, transforms and routes are applied and end.
pub fn configuration(data: &[u8]) {
    let context = small_context(Dialect::Condor);
    let (configuration, problems) = Configuration::read(data);
    for problem in problems {
        assert!(problem.range.start <= problem.range.end && problem.range.end <= data.len(), "{problem:?}");
    }
    let jobs = ads(REQUESTS, Dialect::Condor);
    let _ = ConfiguredPolicy::all(&configuration, &context);
    let (policies, _) = JobPolicies::read(&configuration, &context);
    let (router, _) = JobRouter::read(&configuration, &context);
    for job in &jobs {
        let _ = policies.effects(job, &context);
        if let Some(router) = &router {
            let _ = router.decide(job, &context, true);
        }
    }
    let (rules, _) = parse_bracketed_rules(data, "rule", &Ad::default(), &context);
    for rule in rules {
        let transform = Transform { rules: vec![rule], ..Transform::default() };
        let _ = jobs.iter().map(|job| transform.apply(job, &context).len()).sum::<usize>();
    }
    for has_prefixes in [false, true] {
        let (mut reader, mut map) = (MapFileReader::new(data, has_prefixes), UserMap::default());
        while reader.read(&mut map).is_some() {}
    }
}

/// Any file: packed or not, in a form that is found out.
pub fn stream(data: &[u8]) {
    for dialect in DIALECTS {
        let Ok(mut stream) = Stream::new(Box::new(Cursor::new(data.to_vec())), None) else { continue };
        while let Ok(Some(block)) = stream.next_block() {
            for problem in block.ads(dialect).filter_map(Result::err) {
                assert!(problem.range.start <= problem.range.end, "{problem:?}");
            }
        }
    }
}
