//! The periodic policies beside a schedd of HTCondor.

use super::job_policies::JobPolicies;
use crate::ad::Dialect;
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
