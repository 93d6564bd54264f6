//! The periodic policies beside a schedd of HTCondor.

use super::job_policies::JobPolicies;
use crate::ad::{Ad, Dialect};
use crate::configuration::Configuration;
use crate::eval::Context;
use crate::syntax::{ParseOptions, parse_ad};

/// Each setting reads an attribute of the job, so that one job can have what another has not.
const CONFIGURATION: &str = "SYSTEM_PERIODIC_HOLD_NAMES = B, A, b\nSYSTEM_PERIODIC_HOLD_A = TestA\n\
    SYSTEM_PERIODIC_HOLD_B = TestB\nSYSTEM_PERIODIC_HOLD = Hold\nSYSTEM_PERIODIC_HOLD_REASON = strcat(\"in \", JobStatus)\n\
    SYSTEM_PERIODIC_HOLD_SUBCODE = 70 + JobStatus\nSYSTEM_PERIODIC_RELEASE = Release\nSYSTEM_PERIODIC_REMOVE = Remove\n\
    SYSTEM_PERIODIC_VACATE = Vacate\nSYSTEM_MAX_RELEASES = 3\n";

/// The effects on jobs of a schedd of HTCondor 25.14.1 with this configuration.
#[test]
fn policies_are_tried_in_order_and_by_status() {
    let (configuration, _) = Configuration::read(CONFIGURATION.as_bytes());
    let context = Context { now: Some(1000), ..Context::new(Dialect::Condor) };
    let (policies, problems) = JobPolicies::read(&configuration, &context);
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!(policies.unevaluated(), ["SYSTEM_PERIODIC_VACATE"]);
    for (job, expected) in [
        ("JobStatus = 1; Hold = true", "holds by SYSTEM_PERIODIC_HOLD (in 1, 71)"),
        ("JobStatus = 1; Hold = undefined; Remove = error", ""),
        ("JobStatus = 1; Hold = \"x\"", ""),
        ("JobStatus = 1; Hold = 0.5", ""),
        ("JobStatus = 1; Hold = 2", "holds by SYSTEM_PERIODIC_HOLD (in 1, 71)"),
        ("JobStatus = 1; Hold = JobStatus == 1; Remove = true", "holds by SYSTEM_PERIODIC_HOLD (in 1, 71)"),
        ("JobStatus = 1; PeriodicRemove = true; Hold = true", "holds by SYSTEM_PERIODIC_HOLD (in 1, 71)"),
        ("JobStatus = 1; TestA = true; TestB = true; Hold = true", "holds by SYSTEM_PERIODIC_HOLD_B ()"),
        ("JobStatus = 1; TestA = true; Hold = true", "holds by SYSTEM_PERIODIC_HOLD_A ()"),
        (
            "JobStatus = 1; PeriodicHold = true; PeriodicHoldReason = \"mine\"; PeriodicHoldSubCode = 5; Hold = true",
            "holds by PeriodicHold (mine, 5)",
        ),
        ("JobStatus = 1; PeriodicVacate = true; Vacate = true", ""),
        ("JobStatus = 1; TimerRemove = 900; Hold = true", "removes by TimerRemove ()"),
        ("JobStatus = 1; TimerRemove = 5.5; Hold = true", "removes by TimerRemove ()"),
        ("JobStatus = 1; TimerRemove = 1100; Hold = true", "holds by SYSTEM_PERIODIC_HOLD (in 1, 71)"),
        ("JobStatus = 1; TimerRemove = undefined; Hold = true", ""),
        ("JobStatus = 2; TimerRemove = undefined; Hold = true", "holds by TimerRemove ()"),
        ("JobStatus = 2; Vacate = true", ""),
        ("JobStatus = 2; PeriodicVacate = true; Hold = true", "vacates by PeriodicVacate ()"),
        ("JobStatus = 2; Hold = true", "holds by SYSTEM_PERIODIC_HOLD (in 2, 72)"),
        ("JobStatus = 2; Remove = true", "removes by SYSTEM_PERIODIC_REMOVE ()"),
        ("JobStatus = 2; AllowedJobDuration = 6; ShadowBday = 994", "holds by AllowedJobDuration ()"),
        ("JobStatus = 2; AllowedJobDuration = 7; ShadowBday = 994", ""),
        (
            "JobStatus = 2; AllowedExecuteDuration = 6; ShadowBday = 900; JobCurrentStartExecutingDate = 993",
            "holds by AllowedExecuteDuration ()",
        ),
        (
            "JobStatus = 2; AllowedExecuteDuration = 6; ShadowBday = 900; JobCurrentStartExecutingDate = 993; \
             TransferOutFinished = 994",
            "",
        ),
        ("JobStatus = 3; Hold = true; Remove = true; PeriodicHold = true; TimerRemove = 1", ""),
        ("JobStatus = 4; Hold = true; PeriodicHold = true; Vacate = true", ""),
        ("JobStatus = 4; Hold = true; Remove = true", "removes by SYSTEM_PERIODIC_REMOVE ()"),
        ("JobStatus = 5; HoldReasonCode = 15; Release = true; Remove = true", "releases by SYSTEM_PERIODIC_RELEASE ()"),
        ("JobStatus = 5; Release = true; Hold = true", "releases by SYSTEM_PERIODIC_RELEASE ()"),
        ("JobStatus = 5; HoldReasonCode = 1; Release = true; PeriodicRelease = true", ""),
        ("JobStatus = 5; HoldReasonCode = 1; Release = true; Remove = true", "removes by SYSTEM_PERIODIC_REMOVE ()"),
        ("JobStatus = 5; HoldReasonCode = 26; NumHolds = 3; Release = true", ""),
        ("JobStatus = 5; HoldReasonCode = 16; Release = true; Remove = true; TimerRemove = 1", ""),
        ("JobStatus = 6; PeriodicVacate = true; Hold = true", "holds by SYSTEM_PERIODIC_HOLD (in 6, 76)"),
        ("JobStatus = 7; Hold = true", "holds by SYSTEM_PERIODIC_HOLD (in 7, 77)"),
        ("JobStatus = 7; PeriodicVacate = JobStatus == 7; Hold = true", "vacates by PeriodicVacate ()"),
        ("JobStatus = 12; Hold = true; Remove = true", ""),
    ] {
        let ad = parse_ad(format!("[ {job} ]").as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
        let shown = policies.effects(&ad, &context).into_iter().map(|effect| {
            let subcode = effect.subcode.map_or_else(String::new, |subcode| format!(", {subcode}"));
            format!("{} by {} ({}{subcode})", effect.kind.as_str(), effect.knob, effect.reason)
        });
        assert_eq!(shown.collect::<Vec<_>>().join("; "), expected, "{job}");
    }
}

/// Reasons and codes as a schedd and a shadow of HTCondor 25.14.1 wrote them.
#[test]
fn reasons_and_codes_are_those_of_htcondor() {
    let text = "SYSTEM_PERIODIC_HOLD_NAMES = Slow\nSYSTEM_PERIODIC_HOLD_Slow = Slow && NumHolds < $(MOST)\nMOST = 5\n";
    let (configuration, _) = Configuration::read(text.as_bytes());
    let context = Context { now: Some(1000), ..Context::new(Dialect::Condor) };
    let (policies, _) = JobPolicies::read(&configuration, &context);
    for (job, expected) in [
        (
            "JobStatus = 1; PeriodicHold = JobStatus == 1 && time() > 5",
            "3: The job attribute PeriodicHold expression 'JobStatus == 1 && time() > 5' evaluated to TRUE",
        ),
        (
            "JobStatus = 1; Slow = true; NumHolds = 1",
            "26: The system macro SYSTEM_PERIODIC_HOLD expression 'Slow && NumHolds < 5' evaluated to TRUE",
        ),
        ("JobStatus = 1; PeriodicHold = true; PeriodicHoldReason = strcat(\"a\", 1)", "3: a1"),
        (
            "JobStatus = 2; AllowedJobDuration = 75; ShadowBday = 900",
            "46: The job exceeded allowed job duration of 01:15",
        ),
        (
            "JobStatus = 2; AllowedExecuteDuration = 600; ShadowBday = 100; JobCurrentStartExecutingDate = 100",
            "47: The job exceeded allowed execute duration of 10:00",
        ),
        (
            "JobStatus = 2; TimerRemove = undefined",
            "5: The job attribute TimerRemove expression 'undefined' evaluated to UNDEFINED",
        ),
        (
            "JobStatus = 2; PeriodicVacate = true",
            "1000: The job attribute PeriodicVacate expression 'true' evaluated to TRUE",
        ),
        (
            "JobStatus = 2; PeriodicRemove = RemoteWallClockTime > 70; RemoteWallClockTime = 10.0; ShadowBday = 939",
            "-: The job attribute PeriodicRemove expression 'RemoteWallClockTime > 70' evaluated to TRUE",
        ),
        ("JobStatus = 2; PeriodicRemove = RemoteWallClockTime > 70; RemoteWallClockTime = 10.0; ShadowBday = 941", ""),
    ] {
        let ad = parse_ad(format!("[ {job} ]").as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
        let shown = policies.queue_effect(&ad, &context).map(|effect| {
            let code = effect.code.map_or_else(|| "-".to_owned(), |code| code.to_string());
            format!("{code}: {}", effect.told_reason())
        });
        assert_eq!(shown.unwrap_or_default(), expected, "{job}");
    }
}

/// As a schedd of 25.14.1 counted two runs, of which a policy ended each.
#[test]
fn runs_are_in_the_wall_clock_time() {
    let parsed = |text: &str| parse_ad(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
    let context = Context::new(Dialect::Condor);
    let text = |ad: &Ad, name: &str| ad.get_str(name).map(ToString::to_string).unwrap_or_default();
    let first = parsed("[ JobStatus = 2; RemoteWallClockTime = 0.0; ShadowBday = 1795974694 ]");
    let first = JobPolicies::job_after_run(&first, 1_795_974_732, &context);
    assert_eq!([text(&first, "RemoteWallClockTime"), text(&first, "ShadowBday")], ["38.0", "undefined"]);
    let second = parsed("[ JobStatus = 2; RemoteWallClockTime = 38.0; ShadowBday = 1795974739 ]");
    let second = JobPolicies::job_after_run(&second, 1_795_974_768, &context);
    assert_eq!(text(&second, "RemoteWallClockTime"), "67.0");
    // What does not run stays as it is.
    let waiting = parsed("[ JobStatus = 1; RemoteWallClockTime = 38.0 ]");
    assert_eq!(text(&JobPolicies::job_after_run(&waiting, 9, &context), "RemoteWallClockTime"), "38.0");
}
