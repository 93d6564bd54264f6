//! Names and settings of a configuration that `check` reports.

use crate::binary::{classad, file};

/// TARGET in START is a job and MY is a slot, wherever the files of both are on the command line.
#[test]
fn names_in_policies_are_checked_with_jobs_and_slots() {
    let jobs = file("names-jobs.long", "MyType = \"Job\"\nClusterId = 1\nProcId = 0\nAcctGroup = \"a\"\n");
    let slots = file("names-slots.long", "MyType = \"Machine\"\nName = \"s\"\nKeyboardIdle = 5\n");
    let config = "START = TARGET.AcctGrp == \"a\" && MY.KeybordIdle > 1\n\
                  PREEMPTION_REQUIREMENTS = RemoteUserPrio > SubmittorUserPrio * 1.2 && SubmitterNegotiatingGroup != \"b\"\n";
    let config = file("names.dump", config);
    for files in [vec![&*jobs, &slots], vec![&jobs, "--pool", &slots], vec![&slots, "--pool", &jobs]] {
        let (_, out, err) =
            classad(&[&["check", "--config", &config, "--only", "unknown-attribute"], &files[..]].concat());
        let found = format!("{out}{err}");
        for expected in [
            "START: the only job has no AcctGrp",
            "START: the only slot has no KeybordIdle",
            "the negotiator adds no SubmittorUserPrio",
            "did you mean SubmitterUserPrio?",
        ] {
            assert!(found.contains(expected), "{files:?}: {found}");
        }
        for known in ["RemoteUserPrio", "SubmitterNegotiatingGroup"] {
            assert!(!found.contains(&format!("has no {known}")), "{found}");
        }
    }
}

#[test]
fn quotas_of_subgroups_above_their_parents_are_found() {
    let dump = |child: u32| {
        let text =
            format!("GROUP_NAMES = a, a.b, a.c\nGROUP_QUOTA_a = 20\nGROUP_QUOTA_a.b = 10\nGROUP_QUOTA_a.c = {child}\n");
        let (_, out, err) = classad(&["check", "--config", &file(&format!("quotas-{child}.dump"), text)]);
        out + &err
    };
    assert!(dump(11).contains("the quotas of the subgroups of a add up to 21"));
    let exact = "GROUP_NAMES = a, a.b, a.c\nGROUP_QUOTA_a = 3.3\nGROUP_QUOTA_a.b = 1.1\nGROUP_QUOTA_a.c = 2.2\n";
    assert_eq!(classad(&["check", "--config", &file("quotas-exact.dump", exact)]).0, Some(0));
    let wrong = "NEGOTIATOR_CONSIDER_PREEMPTION = flase\nGROUP_NAMES = a\nGROUP_QUOTA_a = 0.5\n";
    let (status, out, err) = classad(&["check", "--config", &file("quotas-wrong.dump", wrong)]);
    let found = out + &err;
    assert!(status == Some(2) && found.contains("flase") && found.contains("GROUP_QUOTA_DYNAMIC_a"), "{found}");
    assert!(dump(10).contains("nothing found in the configuration"), "{}", dump(10));
}

/// A request sees the attributes of the port at which it docks: those of every port of an offer count.
#[test]
fn a_pool_has_the_attributes_of_its_ports() {
    let port = |kind: &str| format!("[ Label = {kind}; Kind = \"{kind}\"; Constraint = true ]");
    let offers =
        file("ports-offers.ad", format!("[ Name = \"o\"; Ports = {{ {}, {} }} ]", port("alpha"), port("beta")));
    for (kind, finding) in [("alpha", ""), ("beta", ""), ("gamma", "no ad of the pool has Kind \"gamma\"")] {
        let request = format!("[ Name = \"r\"; Constraint = other.Kind == \"{kind}\" ]");
        let request = file(&format!("ports-{kind}.ad"), request);
        let (_, out, err) = classad(&["check", "--pool", &offers, &request]);
        assert_eq!(
            !finding.is_empty(),
            (out + &err).contains(if finding.is_empty() { "Kind" } else { finding }),
            "{kind}"
        );
    }
}
