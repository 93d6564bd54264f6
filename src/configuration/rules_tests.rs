//! Rules in brackets as rules of the language, and the router of a configuration.

use crate::ad::Dialect;
use crate::configuration::{Configuration, JobRoute, JobRouter};
use crate::eval::Context;
use crate::syntax::{ParseOptions, parse_ad};

/// Returns the transforms of a configuration as rules, and its problems.
fn transforms(text: &str) -> String {
    let (configuration, problems) = Configuration::read(text.as_bytes());
    assert!(problems.is_empty(), "{problems:?}");
    let (rules, problems) = configuration.job_transforms(&Context::new(Dialect::Condor));
    let problems = problems.iter().map(|problem| format!("! {}\n", problem.message));
    rules.iter().map(|rules| rules.rule.to_string()).chain(problems).collect()
}

/// The expected rules are those that `condor_transform_ads -convert` of 23.9 prints, but for blanks.
#[test]
fn brackets_become_rules() {
    let text = "JOB_TRANSFORM_NAMES = A\nJOB_TRANSFORM_A @=end\n[ Requirements = TARGET.Owner == user && limit > 3;\n\
                user = \"ann\"; limit = 5; set_Z = \"z\"; set_b = limit + 1; copy_Cmd = \"OldCmd\"; delete_X = true;\n\
                eval_set_Y = strcat(user, TARGET.Cmd); eval_set_Q = Memory * 2; TargetUniverse = 5; copy_q = 1;\n\
                GridResource = \"condor a b\" ]\n@end\n";
    assert_eq!(
        transforms(text),
        "NAME A\nREQUIREMENTS Owner == \"ann\"\nUNIVERSE 5\nGridResource = \"condor a b\"\nlimit = 5\nuser = ann\n\
         COPY Cmd OldCmd\nDELETE X\nSET b limit + 1\nSET Z \"z\"\nEVALSET Q Memory * 2\n\
         EVALSET Y strcat(\"ann\", MY.Cmd)\n! JOB_TRANSFORM_A: copy_q must be a string; copy_OLD = \"NEW\" \
         copies OLD to NEW\n"
    );
}

/// Nothing stands for a variable that nothing gives a value, as HTCondor has it. It tells nothing.
#[test]
fn a_gap_is_told_and_taken() {
    let text = "JOB_TRANSFORM_NAMES = A\nJOB_TRANSFORM_A = [ set_Site = \"$(SITE)-1\"; set_Z = 2 ]\n";
    assert_eq!(
        transforms(text),
        "NAME A\nSET Site \"-1\"\nSET Z 2\n! JOB_TRANSFORM_A: the variable SITE is not defined\n"
    );
}

#[test]
fn routes_in_order_and_turns() {
    let text = "JOB_ROUTER_ROUTE_NAMES = b a none\nJOB_ROUTER_DEFAULTS = [ MaxJobs = 7; TargetUniverse = 5; Requirements = Size > 5 ]\n\
                JOB_ROUTER_ENTRIES = [ Name = \"a\"; set_A = 1 ] [ Name = \"c\" ]\n\
                JOB_ROUTER_ROUTE_b @=end\n  REQUIREMENTS Owner == \"ann\" && Size < 9\n  UNIVERSE VANILLA\n  SET B $(B_SIZE)\n@end\n\
                B_SIZE = 3\n";
    let (configuration, _) = Configuration::read(text.as_bytes());
    let context = Context::new(Dialect::Condor);
    let (router, problems) = JobRouter::read(&configuration, &context);
    let router = router.unwrap();
    let told: Vec<_> = problems.iter().map(|problem| problem.message.as_str()).collect();
    assert_eq!(told, ["JOB_ROUTER_ROUTE_NAMES names a route none that is missing or has an error"]);
    assert_eq!(router.routes.iter().map(JobRoute::name).collect::<Vec<_>>(), ["b", "a"]);
    assert_eq!(router.disabled, ["c"]);
    assert_eq!((router.variable(1, "maxjobs"), router.variable(0, "MaxJobs")), (Some("7"), None));
    let job = |text: &str| parse_ad(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
    let ann = job("[ ProcId = 0; JobStatus = 1; Owner = \"ann\"; Size = 8 ]");
    let decision = router.decide(&ann, &context, true);
    assert_eq!((decision.excluded, decision.matching), (None, vec![0, 1]));
    let bob = job("[ ProcId = 0; JobStatus = 2; Owner = \"bob\"; Size = 8 ]");
    assert!(router.decide(&bob, &context, true).excluded.unwrap().contains("not idle"));
    assert_eq!(router.decide(&bob, &context, false).matching, [1]);
    let (clause, _) = router.refusing_clause(0, &bob, &context).unwrap();
    assert_eq!(clause.to_string(), "Owner == \"ann\"");
    let results = router.transform(0, &configuration, false).apply(&ann, &context);
    assert_eq!(results[0].ad.get_str("B").unwrap().to_string(), "3");
}
