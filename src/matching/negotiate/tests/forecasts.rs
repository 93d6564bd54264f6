//! When requests will start.

use std::sync::Arc;

use super::{Ad, Context, Dialect, NegotiationSettings, ParseOptions, Policy, Protocol, parse_ad};
use crate::matching::negotiate::{
    CompletedRun, ForecastSettings, RequestLoad, RunHistory, RunTimes, StartForecast, forecast_starts,
};
use crate::matching::policy::{Accountant, ready_policy};
use crate::syntax::parse_expression;

fn ad(text: &str) -> Ad {
    parse_ad(format!("[ {text} ]").as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap()
}

fn job(user: &str, more: &str) -> Ad {
    ad(&format!(
        "User = \"{user}@d\"; Owner = \"{user}\"; Requirements = true; RequestCpus = 1; RequestMemory = 128; RequestDisk = 1; {more}"
    ))
}

fn told(forecast: &StartForecast) -> String {
    let before: Vec<String> =
        forecast.before.iter().map(|(user, load)| format!("{user} {} {}", load.requests, load.cores)).collect();
    let RequestLoad { requests, cores } = forecast.load();
    format!("{:?} {:?} after {requests} {cores} [{}]", forecast.earliest, forecast.latest, before.join(", "))
}

fn history(seconds: &[i64]) -> RunTimes {
    let context = Context::new(Dialect::Condor);
    let run = |seconds: &i64| CompletedRun::new(&ad("JobStatus = 4; Owner = \"ann\""), *seconds, &context);
    RunTimes::History(Arc::new(RunHistory::new(seconds.iter().filter_map(run))))
}

fn expression(text: &str) -> RunTimes {
    RunTimes::Expression(parse_expression(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap())
}

/// What is told of each row of `starts_lie_between_the_short_and_the_long_runs`.
const STARTS: [&str; 15] = [
    "Some(1000) Some(1060) after 0 0 [] | Some(1240) Some(1360) after 1 1 [ann 1 1] | Some(1540) Some(1660) after 2 3 [ann 2 3] | None None after 3 4.5 [ann 2 3, bob 1 1.5] | 0",
    "Some(1000) Some(1060) after 1 1 [ann 1 1] | Some(1000) Some(1060) after 0 0 [] | 0",
    "Some(1000) Some(1060) after 0 0 [] | None None after 1 1 [ann 1 1] | None None after 1 1 [ann 1 1] | 0",
    "None None after 1 1 [ann 1 1] | 0",
    "Some(1000) Some(1060) after 0 0 [] | None None after 1 1 [ann 1 1] | 1",
    "Some(1000) Some(1060) after 0 0 [] | None None after 2 2.5 [ann 1 1, bob 1 1.5] | Some(1000) Some(1060) after 1 1 [ann 1 1] | 2",
    "Some(1240) Some(1360) after 1 1 [ann 1 1] | Some(1540) Some(1660) after 2 3 [ann 2 3] | 0",
    "Some(1000) Some(1060) after 0 0 [] | Some(1040) Some(1960) after 1 1 [ann 1 1] | Some(1180) Some(2860) after 2 3 [ann 2 3] | None None after 3 4.5 [ann 2 3, bob 1 1.5] | 0",
    "Some(1040) Some(1960) after 1 1 [ann 1 1] | Some(1180) None after 2 3 [ann 2 3] | 0",
    "Some(1040) Some(19075) after 1 1 [ann 1 1] | Some(1180) Some(10060) after 2 3 [ann 2 3] | 0",
    "Some(1000) Some(1060) after 0 0 [] | None None after 1 1 [ann 1 1] | 1",
    " | 0",
    "Some(4600) Some(4720) after 0 0 [] | 0",
    "Some(99946) Some(100774) after 0 0 [] | 0",
    "None None after 0 0 [] | 0",
];

#[test]
fn starts_lie_between_the_short_and_the_long_runs() {
    let queue = [
        job("ann", "QDate = 1"),
        job("ann", "QDate = 2; RequestCpus = 2"),
        job("bob", "QDate = 3; RequestCpus = 1.5"),
        job("ann", "QDate = 4; Requirements = false"),
        job("ann", "QDate = 5; Requirements = TARGET.Opens"),
    ];
    let opens = |at: &str| format!("Cpus = 2; Memory = 1024; Requirements = TARGET.QDate == 5; Opens = {at}");
    let opening = ["time() > 4600", "time() > 100000", "time() < 0"].map(opens);
    let [soon, late, never] = opening.each_ref().map(|text| [text.as_str()]);
    let two = &["Cpus = 2; Memory = 1024; Requirements = true"; 2][..];
    let one = &two[..1];
    let rows = [
        (expression("300"), one, [60, 3600], vec![], &[0, 1, 2, 3][..]),
        (expression("300"), two, [60, 3600], vec![], &[2, 0]),
        (expression("300"), one, [60, 60], vec![], &[0, 1, 2]),
        (expression("300"), one, [0, 600], vec![], &[1]),
        (expression("\"soon\""), one, [60, 3600], vec![], &[0, 1]),
        (expression("-1"), two, [60, 3600], vec![], &[0, 1, 2]),
        (expression("300"), one, [60, 3600], vec![job("eve", "QDate = 1010; JobPrio = 5")], &[1, 2]),
        (history(&[100, 200, 300, 400, 500, 600, 700, 800, 900, 1000]), one, [60, 36_000], vec![], &[0, 1, 2, 3]),
        (history(&[100, 200, 300, 400, 500, 600, 700, 800, 900, 1000]), one, [60, 1500], vec![], &[1, 2]),
        (
            history(&[100, 200, 9000]),
            one,
            [60, 36_000],
            vec![job("eve", "QDate = 1010"), job("eve", "QDate = 1100")],
            &[1, 2],
        ),
        (history(&[]), one, [60, 36_000], vec![], &[0, 1]),
        (expression("300"), one, [60, 3600], vec![], &[]),
        // The clock alone opens a slot. Late cycles lie further apart.
        (expression("300"), &soon, [60, 604_800], vec![], &[4]),
        (expression("300"), &late, [60, 604_800], vec![], &[4]),
        (expression("300"), &never, [60, 604_800], vec![], &[4]),
    ];
    assert_eq!(rows.len(), STARTS.len());
    for ((run_times, slots, [interval, horizon], arrivals, wanted), expected) in rows.into_iter().zip(STARTS) {
        let policy = Policy::parse(ready_policy("htcondor").unwrap().as_bytes(), Dialect::Condor).unwrap();
        let context = Context { now: Some(1000), ..Context::new(Dialect::Condor) };
        let settings = NegotiationSettings::new(policy, Protocol::new(Dialect::Condor), context);
        let of = ForecastSettings { run_times, interval, begin: 1000, horizon, arrivals };
        let slots: Vec<(String, Ad)> =
            slots.iter().enumerate().map(|(at, text)| (format!("s{at}"), ad(text))).collect();
        let (found, without) =
            forecast_starts(&settings, &of, (&queue, &slots), &Accountant::default(), wanted).unwrap();
        let found: Vec<String> = found.iter().map(told).collect();
        assert_eq!(format!("{} | {without}", found.join(" | ")), expected, "{of:?} {wanted:?}");
    }
}
