//! `explain --when`: the intervals are those in which `match` finds slots.

use crate::binary::{classad, file};

/// 2026-07-06 10:00:00 UTC, a Monday.
const NOW: i64 = 1_783_332_000;

fn slots() -> String {
    let slot = |name: &str, more: &str| {
        format!(
            "MyType = \"Machine\"\nName = \"slot1@{name}\"\nState = \"Unclaimed\"\nActivity = \"Idle\"\nMemory = 4000\n\
             Cpus = 4\n{more}\nRequirements = Start\n\n"
        )
    };
    let clock = "ClockMin = 600\nClockDay = 1\nMyCurrentTime = 1783332000\n";
    slot("night", &format!("{clock}Start = ClockMin > 18 * 60 || ClockMin < 8 * 60"))
        + &slot("day", "Start = true").replace("\"Unclaimed\"", "\"Claimed\"\nRemoteUser = \"bob@x\"")
        + &slot("pilot", "GLIDEIN_ToDie = 1783340000\nStart = time() < GLIDEIN_ToDie - 600")
        + &slot("weekend", &format!("{clock}Start = ClockDay == 0 || ClockDay == 6"))
        + &slot("small", "Start = TARGET.RequestMemory < 10")
}

fn jobs() -> String {
    let job = |number: usize, requirements: &str| {
        format!(
            "MyType = \"Job\"\nClusterId = {number}\nProcId = 0\nJobStatus = 1\nOwner = \"ann\"\nUser = \"ann@x\"\n\
             RequestMemory = 100\nQDate = 1783331000\nRequirements = {requirements}\n\n"
        )
    };
    job(1, "TARGET.Memory > 5")
        + &job(2, "TARGET.Memory > 5 && (CurrentTime + 300) >= DeferralTime\nDeferralTime = 1783342000")
        + &job(3, "TARGET.Memory > 5 && time() - QDate > 20 * 3600")
        + &job(4, "TARGET.Memory > 5000")
        + &job(5, "regexp(\"T1[2-5]\", formatTime(time(), \"T%H\"))")
}

#[test]
fn intervals_are_those_in_which_matches_are_found() {
    let (slots, jobs) = (file("times.slots", slots()), file("times.jobs", jobs()));
    let begin = NOW.to_string();
    let (end, week) =
        (NOW + 6 * 86_400, ["explain", "--when", &jobs, "--pool", &slots, "--now", &begin, "--all-offers"]);
    let (status, out, told) = classad(&[&week[..], &["--until", &end.to_string(), "-o", "csv"]].concat());
    assert_eq!(status, Some(1), "{told}");
    let rows: Vec<Vec<&str>> = out.lines().skip(1).map(|row| row.split(',').collect()).collect();
    let number = |cell: &str| cell.parse::<i64>().expect("a number");
    let (mut compared, mut at) = (0, NOW);
    while at < end {
        let now = at.to_string();
        let whole = ["match", &jobs, "--pool", &slots, "--now", &now, "--all", "--all-states", "-o", "csv"];
        // The clocks of slots are as old as their ads.
        let minute = format!("ClockMin = {}\nClockDay = {}", at / 60 % 1440, (at / 86_400 + 4) % 7);
        let moved = file("times-at.slots", slots_at(&minute));
        let found = classad(&whole.map(|argument| if argument == slots { moved.as_str() } else { argument })).1;
        for job in ["1.0", "2.0", "3.0", "4.0", "5.0"] {
            let mut real: Vec<&str> =
                found.lines().filter(|row| row.starts_with(job)).filter_map(|row| row.split(',').nth(1)).collect();
            let covers = |row: &&Vec<&str>| row[0] == job && (number(row[2])..number(row[4])).contains(&at);
            let count = rows.iter().filter(covers).find(|row| row[1].is_empty()).map(|row| number(row[6]));
            let mut predicted: Vec<&str> =
                rows.iter().filter(covers).map(|row| row[1]).filter(|slot| !slot.is_empty()).collect();
            real.sort_unstable();
            predicted.sort_unstable();
            assert_eq!(predicted, real, "{job} at {at}");
            assert_eq!(count, i64::try_from(real.len()).ok(), "{job} at {at}");
            compared += 1;
        }
        at += 2 * 3600 + 17 * 60;
    }
    assert!(compared > 300, "{compared}");
}

fn slots_at(clock: &str) -> String {
    slots().replace("ClockMin = 600\nClockDay = 1", clock)
}

#[test]
fn a_report_has_a_sentence_and_the_slots() {
    let (slots, all) = (file("times-said.slots", slots()), file("times-said.jobs", jobs()));
    let explain = |arguments: &[&str]| {
        let begin = NOW.to_string();
        classad(&[&["explain", "--when", &all, "--pool", &slots, "--now", &begin], arguments].concat())
    };
    let (status, out, _) = explain(&["--request", "1.0"]);
    assert_eq!(
        (status, &*out),
        (
            Some(0),
            "1.0 matches 2 of 5 slots now, and 1 from 2026-07-06 12:03:20 UTC to 2026-07-06 18:01:00 UTC, in 2 h 3 min\n\
             from                     to                       slots\n\
             2026-07-06 10:00:00 UTC  2026-07-06 12:03:20 UTC      2\n\
             2026-07-06 12:03:20 UTC  2026-07-06 18:01:00 UTC      1\n\
             2026-07-06 18:01:00 UTC  2026-07-07 08:00:00 UTC      2\n\
             2026-07-07 08:00:00 UTC  2026-07-07 10:00:00 UTC      1\n\
             slot         matches                                            state\n\
             slot1@day    up to 2026-07-07 10:00:00 UTC                      claimed by bob@x\n\
             slot1@pilot  up to 2026-07-06 12:03:20 UTC                      free\n\
             slot1@night  2026-07-06 18:01:00 UTC - 2026-07-07 08:00:00 UTC  free\n"
        )
    );
    let (status, out, _) = explain(&["--request", "4.0"]);
    let never = "4.0 matches none of 5 slots, at no time up to 2026-07-07 10:00:00 UTC\n";
    assert_eq!((status, &*out), (Some(1), never));
    let (status, out, _) = explain(&[]);
    assert!(status == Some(1) && out.starts_with("jobs  slots now  at most  next change\n"), "{out}");
    for (arguments, expected) in [
        (&["--until", "2026-07-06T10:00:00Z"][..], "is not after 2026-07-06 10:00:00 UTC, the time of the evaluations"),
        (&["--until", "-3h"], "expected seconds since 1970"),
        (&["--until", "never"], "expected seconds since 1970"),
        (&["--reverse"], "cannot be used with"),
    ] {
        let (status, _, told) = explain(arguments);
        assert!(status == Some(2) && told.contains(expected), "{told}");
    }
    let (_, out, _) = explain(&["--request", "4.0", "--until", "90m"]);
    assert_eq!(out, never.replace("07-07 10:00:00", "07-06 11:30:00"));
    // A year is the most.
    let (_, _, told) = explain(&["--request", "4.0", "--until", "99999999999"]);
    assert!(told.contains("times are sought up to 2027-07-07 10:00:00 UTC"), "{told}");
}
