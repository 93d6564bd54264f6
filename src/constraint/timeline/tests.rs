//! Timelines beside the evaluator at each minute.

use std::ops::Range;

use crate::ad::time::{SECONDS_PER_DAY, in_local_zone};
use crate::ad::{Ad, Dialect, Expression, Name, Truth};
use crate::eval::{Context, Environment, Evaluator};
use crate::syntax::{ParseOptions, parse_ad, parse_expression};

use super::{MAX_SPAN_SECONDS, Timeline, truth_timeline, with_moving_clock};

const NOW: i64 = 1_783_286_388;

/// The ads of a job and of a slot whose policies depend on the clock.
const JOB: &str = "[ EnteredCurrentStatus = 1783280000; QDate = 1783200000; DeferralTime = 1783372788; \
    DeferralPrepTime = 300; ScheddInterval = 60; Late = time() - QDate > 100000; Wait = 2 * 3600; x = y; y = x; \
    Since = MY.Now - EnteredCurrentStatus; Now = CurrentTime ]";

const SLOT: &str = "[ JobStart = 1783284000; Weekend = ClockDay == 0 || ClockDay == 6; \
    Night = ClockMin < 480 || ClockMin >= 18 * 60; GLIDEIN_ToDie = 1783310000; Half = { 1, time() / 1800 } ]";

/// The slot as its startd advertises it at a second.
fn slot(ad: &Ad, second: i64) -> Ad {
    let local = in_local_zone(second);
    let clock = local.calendar_time(local.offset);
    let [minute, day] = [clock.hour * 60 + clock.minute, clock.weekday];
    let with = |ad: &Ad, name: &str, number: i64| ad.with(Name::new(name), Expression::literal(number));
    with(&with(ad, "ClockMin", minute), "ClockDay", day)
}

struct Scene {
    dialect: Dialect,
    job: Ad,
    slot: Ad,
    context: Context,
}

impl Scene {
    fn new(dialect: Dialect) -> Self {
        let [job, slot] = [JOB, SLOT].map(|ad| parse_ad(ad.as_bytes(), ParseOptions::new(dialect)).unwrap());
        Scene { dialect, job, slot, context: Context { now: Some(NOW), ..Context::new(dialect) } }
    }

    fn parse(&self, text: &str) -> Expression {
        parse_expression(text.as_bytes(), ParseOptions::new(self.dialect)).expect(text)
    }

    fn timeline(&self, expression: &Expression, span: Range<i64>) -> Timeline<Option<Truth>> {
        let slot = with_moving_clock(&slot(&self.slot, NOW), &self.context).unwrap();
        let (environment, [frame, _]) = Environment::pair(self.job.clone(), slot);
        truth_timeline(expression, &frame, &environment, &self.context, span)
    }

    /// The truth at a second, with the slot's ad of that second.
    fn truth(&self, expression: &Expression, second: i64) -> Option<Truth> {
        let (environment, [frame, _]) = Environment::pair(self.job.clone(), slot(&self.slot, second));
        let context = Context { now: Some(second), ..self.context.clone() };
        let value = Evaluator::new(&environment, &context).evaluate(expression, &frame).ok()?;
        Some(Truth::of(&value, self.dialect))
    }
}

fn comparison(random: &mut fastrand::Rng) -> &'static str {
    ["<", "<=", ">", ">=", "==", "!="][random.usize(..6)]
}

/// A condition on the clock.
fn atom(random: &mut fastrand::Rng) -> String {
    let is = comparison(random);
    let near = NOW + random.i64(-3600..3 * SECONDS_PER_DAY);
    let (minute, hour, day) = (random.i64(..1440), random.i64(..24), random.i64(..7));
    let few = [random.i64(1..600), random.i64(600..100_000)][random.usize(..2)];
    match random.u8(..38) {
        0 => format!("time() {is} {near}"),
        1 => format!("CurrentTime {is} {near}"),
        2 => format!("time() - EnteredCurrentStatus {is} {}", near - 1_783_280_000),
        3 => format!("(time() + ScheddInterval) >= (DeferralTime - {few})"),
        4 => format!("ClockMin {is} {minute}"),
        5 => format!("TARGET.ClockDay {is} {day}"),
        6 => format!("dayTime() {is} relTime({})", random.i64(..86_400)),
        7 => format!("splitTime(time()).Hours {is} {hour}"),
        8 => format!("splitTime(time()).Minutes {is} {}", random.i64(..60)),
        9 => format!("int(formatTime(time(), \"%H\")) {is} {hour}"),
        10 => "stringListMember(formatTime(time(), \"%a\"), \"Sat,Sun,Mon\")".to_owned(),
        11 => format!("formatTime(time() + {few}, \"%H:%M\") {is} \"{hour:02}:30\""),
        12 => format!("member(ClockDay, {{ 0, {day} }})"),
        13 => format!("time() / 3600 % 24 {is} {hour}"),
        14 => format!("time() - time() / {few} * {few} {is} {}", random.i64(..600)),
        15 => format!("time() % {few} {is} {}", random.i64(..few)),
        16 => format!("(time() - QDate) / 3600.0 {is} {}.5", random.i64(20..70)),
        17 => format!("int((time() - QDate) / 3600.0) {is} {}", random.i64(20..70)),
        18 => format!("max({{ JobStart, EnteredCurrentStatus }}) + {few} {is} time()"),
        19 => format!("min({{ time(), JobStart + {few}, GLIDEIN_ToDie }}) {is} {near}"),
        20 => format!("ifThenElse(Weekend, ClockMin {is} {minute}, Night)"),
        21 => format!("(ClockMin {is} {minute}) == Weekend"),
        22 => format!("MY.Since {is} Wait * {}", random.i64(1..20)),
        23 => format!("GLIDEIN_ToDie - time() {is} {few}"),
        24 => format!("(Late ? {near} : JobStart + {few}) {is} CurrentTime"),
        25 => format!("Missing {is} time()"),
        26 => format!("(x ?: time()) {is} {near}"),
        27 => format!("time() % {few} % 7 - 3"),
        28 => format!("getDayOfWeek(absTime(time() - {few})) {is} {day}"),
        29 => format!("getHours(relTime(time() - {near})) {is} {}", hour - 12),
        30 => format!("quantize(time(), {few}) {is} {near}"),
        31 => format!("formatTime(time(), \"%M:%S\") {is} \"30\""),
        32 => format!("floor(-(time() / {few}.0)) {is} -{}", near / few),
        33 => format!("(time() > {near}) + ClockDay {is} 3"),
        34 => format!("-time() + 2 * time() {is} {near}"),
        35 => format!("Half[1] {is} {}", near / 1800),
        36 => format!("(ClockMin / 60 * 60 {is} ClockMin) =?= (ClockMin % 60 {is} 0)"),
        _ => format!("isUndefined(time() > {near} ? Missing : 1)"),
    }
}

fn constraint(random: &mut fastrand::Rng, depth: u8) -> String {
    if depth == 0 || random.u8(..3) == 0 {
        return atom(random);
    }
    let mut next = || constraint(random, depth - 1);
    let [left, right] = [next(), next()];
    match random.u8(..6) {
        0 | 1 => format!("({left} && {right})"),
        2 | 3 => format!("({left} || {right})"),
        4 => format!("!({left})"),
        _ => format!("({left} ? {right} : {})", constraint(random, depth - 1)),
    }
}

/// The intervals are those of an evaluation at each minute of 48 hours; the exact ones also to the second.
#[test]
fn intervals_are_those_of_an_evaluation_at_each_minute() {
    let (mut changing, mut sampled, mut exact) = (0, 0, 0);
    for seed in 0..500 {
        let mut random = fastrand::Rng::with_seed(seed);
        let scene = Scene::new(if seed % 5 == 0 { Dialect::Classad } else { Dialect::Condor });
        let text = constraint(&mut random, 2);
        let expression = scene.parse(&text);
        let end = NOW + 2 * SECONDS_PER_DAY;
        let timeline = scene.timeline(&expression, NOW..end);
        assert_eq!((timeline.intervals[0].seconds.start, timeline.end()), (NOW, Some(end)), "{text}");
        let at = |second: i64| {
            let begun = timeline.intervals.partition_point(|interval| interval.seconds.start <= second);
            let holds = &timeline.intervals[begun - 1];
            assert!(holds.seconds.contains(&second), "they cover all");
            holds.value
        };
        for second in (NOW..end).step_by(60) {
            assert_eq!(at(second), scene.truth(&expression, second), "{text} at {second}, seed {seed}: {timeline:?}");
        }
        changing += usize::from(timeline.intervals.len() > 1);
        sampled += usize::from(timeline.sampling.is_some());
        if timeline.sampling.is_none() {
            let bounds =
                timeline.intervals.iter().flat_map(|interval| [interval.seconds.start, interval.seconds.end - 1]);
            let some: Vec<i64> = (0..200).map(|_| random.i64(NOW..end)).collect();
            for second in bounds.take(1000).chain(some) {
                exact += 1;
                assert_eq!(at(second), scene.truth(&expression, second), "{text} at {second}, seed {seed}");
            }
        }
    }
    println!("{changing} change, {sampled} are sampled, {exact} seconds are exact");
    assert!(changing > 200 && sampled < 125, "{changing} change, {sampled} are sampled");
}

#[test]
fn bounds_are_exact_or_said_to_be_sampled() {
    let scene = Scene::new(Dialect::Condor);
    let day = NOW..NOW + SECONDS_PER_DAY;
    for (text, true_seconds, is_sampled) in [
        ("time() >= 1783286500", "112-86400", false),
        ("time() == 1783286500", "112-113", false),
        ("time() - EnteredCurrentStatus > 7200 && time() < 1783290000", "813-3612", false),
        ("time() + ScheddInterval >= DeferralTime - DeferralPrepTime", "86040-86400", false),
        ("true", "0-86400", false),
        ("Missing || time() < 1783286389", "0-1", false),
        ("(time() - 1783286388) * (time() - 1783286388) < 1000000", "0-1000", true),
        ("formatTime() == \"x\"", "", true),
        ("random(10) < 11 && time() > 1783286400", "", false),
        ("x && time() > 0", "", false),
    ] {
        let timeline = scene.timeline(&scene.parse(text), day.clone());
        let shown = timeline.seconds_in(|value| *value == Some(Truth::True));
        let shown: Vec<String> =
            shown.map(|seconds| format!("{}-{}", seconds.start - NOW, seconds.end - NOW)).collect();
        assert_eq!((shown.join(" ").as_str(), timeline.sampling.is_some()), (true_seconds, is_sampled), "{text}");
    }
}

/// Formats when an expression is true within a day and an hour, in seconds from now; `~` stands for samples.
fn shown(text: &str) -> String {
    let scene = Scene::new(Dialect::Condor);
    let timeline = scene.timeline(&scene.parse(text), NOW..NOW + SECONDS_PER_DAY + 3600);
    let kinds = [(Some(Truth::True), ""), (Some(Truth::Undefined), "?"), (Some(Truth::Error), "!"), (None, "-")];
    let shown = timeline.intervals.iter().filter_map(|interval| {
        let (_, mark) = kinds.iter().find(|(truth, _)| *truth == interval.value)?;
        Some(format!("{mark}{}..{}", interval.seconds.start - NOW, interval.seconds.end - NOW))
    });
    let shown: Vec<String> = shown.collect();
    let sampling = timeline.sampling.map_or(String::new(), |every| format!(" ~{every}"));
    format!("{}{sampling}", shown.join(" "))
}

/// Expressions, and when they are true.
const REGULAR: &[(&str, &str)] = &[
    ("time() < 1783286400", "0..12"),
    ("time() * 2 > 1783286400 * 2", "13..90000"),
    ("2 * time() <= 1783286400 * 2", "0..13"),
    ("-2 * time() < -1783286400 * 2", "13..90000"),
    ("time() * 0 == 0", "0..90000"),
    ("time() / 2 > 1783286400 / 2", "14..90000"),
    ("time() / 2.0 > 1783286400 / 2", "13..90000"),
    ("5 / time() == 0", "0..90000 ~60"),
    ("time() * time() > 0", "0..90000 ~60"),
    ("-time() < -1783286400", "13..90000"),
    ("+time() > 1783286400", "13..90000"),
    ("~time() > 0", " ~60"),
    ("!(time() > 1783286400)", "0..13"),
    ("(time() > 1783286400) == true", "13..90000"),
    (
        "time() % 10000 < 5",
        "3612..3617 13612..13617 23612..23617 33612..33617 43612..43617 53612..53617 63612..63617 73612..73617 \
             83612..83617",
    ),
    ("time() % 10000.0 < 5", "!0..90000"),
    ("time() % 0 < 5", "!0..90000"),
    ("1000000 % time() < 5", " ~60"),
    (
        "time() / 60 % 60 == 30",
        "612..672 4212..4272 7812..7872 11412..11472 15012..15072 18612..18672 22212..22272 25812..25872 \
             29412..29472 33012..33072 36612..36672 40212..40272 43812..43872 47412..47472 51012..51072 54612..54672 \
            58212..58272 61812..61872 65412..65472 69012..69072 72612..72672 76212..76272 79812..79872 83412..83472 \
            87012..87072",
    ),
    ("time() - time() / 60 * 60 == 5 && time() < 1783286500", "17..18 77..78"),
    (
        "time() / 60 - time() / 3600 * 60 == 5",
        "2712..2772 6312..6372 9912..9972 13512..13572 17112..17172 20712..20772 24312..24372 27912..27972 \
             31512..31572 35112..35172 38712..38772 42312..42372 45912..45972 49512..49572 53112..53172 56712..56772 \
            60312..60372 63912..63972 67512..67572 71112..71172 74712..74772 78312..78372 81912..81972 85512..85572 \
            89112..89172",
    ),
    ("time() / 60 + time() / 7 > 284443300", "0..90000"),
    ("time() / 60 > time() / 61", "0..90000"),
    ("time() - 5 > time() / 60 * 60 + 49 && time() < 1783286500", "7..12 67..72"),
    ("time() < time() / 60 * 60 + 1 && time() < 1783286500", "12..13 72..73"),
    ("time() == -time() + 2 * 1783286400", "12..13"),
    ("int(time() / 60.0) == 29721441", "72..132"),
    ("floor(time() / 60.0) == 29721441", "72..132"),
    ("ceiling(time() / 60.0) == 29721441", "13..73"),
    ("round(time() / 60.0) == 29721441", "43..102"),
    ("real(time()) > 1783286400", "13..90000"),
    ("int(time()) > 1783286400", "13..90000"),
    ("quantize(time(), 3600) == 1783288800", "0..2413"),
    ("strcat(time()) == \"1783286400\" && time() < 1783286500", " ~60"),
    ("size(strcat(time())) == 10", "0..90000 ~60"),
    ("max({ time(), 1783286400 }) == 1783286400", "0..13"),
    ("min({ time(), 1783286400 }) == 1783286400", "12..90000"),
    ("max({ time() / 60, 29721441 }) == 29721441", "0..132"),
    ("isUndefined(time())", ""),
    ("isInteger(time())", "0..90000"),
    ("time() > 1783286400 ? x : true", "0..13 ?13..90000"),
    ("ifThenElse(time() > 1783286400, time() < 1783286500, false)", "13..112"),
    ("(time() > 1783286400 ? 1 : Missing) == 1", "?0..13 13..90000"),
    ("(Missing ?: time()) > 1783286400", "13..90000"),
    ("(5 ?: time()) > 1783286400", ""),
    ("(time() ?: 5) > 1783286400", "13..90000"),
    ("{ time(), 5 }[1] == 5", "0..90000"),
    ("{ time(), 5 }[0] > 1783286400 && time() < 1783286500", "13..112"),
    ("[ a = time() ].a > 1783286400", "13..90000"),
    ("[ a = 5 ].a == 5", "0..90000"),
    ("random() > 2 || time() > 1783286400", "-0..90000"),
    ("splitTime(time()).Seconds == 30 && time() < 1783286500", "42..43 102..103"),
    ("formatTime(time(), \"%S\") == \"30\" && time() < 1783286500", " ~60"),
    ("getSeconds(absTime(time())) == 0 && time() < 1783286500", "12..13 72..73"),
    ("getYear(absTime(time())) == 2026", "0..90000"),
    ("getDays(relTime(time())) > 20639", "9612..90000"),
    ("inDays(relTime(time() - 1783286388)) >= 1.0", "!0..90000"),
    ("time() > \"x\"", "!0..90000"),
    ("time() + \"x\" > 5", "!0..90000"),
    ("\"x\" % time() > 5", "!0..90000 ~60"),
    ("time() - 1783286400", "0..12 13..90000"),
    ("(time() - 1783286400) / 100", "112..90000"),
    ("time() > 1783286400 && Missing", "?13..90000"),
    ("CurrentTime > 1783286400", "13..90000"),
    ("MY.Since > 6400", "13..90000"),
    ("y > 5", "?0..90000"),
];

/// What has a regular shape is solved, and not sampled.
#[test]
fn regular_expressions_are_not_sampled() {
    for &(text, expected) in REGULAR {
        assert_eq!(shown(text), expected, "{text}");
    }
}

/// When these are true depends on the time zone.
#[test]
fn fields_of_local_times_are_not_sampled() {
    for text in [
        "splitTime(time()).Hours == 0",
        "splitTime(time()).Minutes == 30",
        "formatTime(time(), \"%H\") == \"00\"",
        "formatTime(time(), \"%M\") == \"30\"",
        "formatTime(time(), strcat(\"%H\")) == \"00\"",
        "getHours(absTime(time())) == 0",
        "getMinutes(absTime(time() + 3600)) == 0",
        "dayTime() < relTime(60)",
        "timeZoneOffset() == relTime(0)",
    ] {
        let shown = shown(text);
        assert!(!shown.contains(['~', '?', '!']), "{text}: {shown}");
    }
}

/// Between two samples that differ, the second of the change is found.
#[test]
fn a_change_between_samples_is_found_to_the_second() {
    let scene = Scene::new(Dialect::Condor);
    for second in (NOW + 3590)..(NOW + 3600 + 65) {
        let text = format!("strcat(time()) >= \"{second}\"");
        let found = scene.timeline(&scene.parse(&text), NOW..NOW + SECONDS_PER_DAY);
        let found: Vec<_> = found.seconds_in(|value| *value == Some(Truth::True)).collect();
        assert_eq!(found, [&(second..NOW + SECONDS_PER_DAY)], "{text}");
    }
}

#[test]
fn spans_are_bounded() {
    let scene = Scene::new(Dialect::Condor);
    for (span, from, to) in [
        (5..5, None, None),
        (Range { start: 9, end: 5 }, None, None),
        (NOW..i64::MAX, Some(NOW), Some(NOW + MAX_SPAN_SECONDS)),
        (i64::MAX - 5..i64::MAX, None, None),
        (i64::MIN..i64::MIN + 5, None, None),
    ] {
        for text in ["ClockMin > 5", "time() > 5", "strcat(time()) > \"x\"", "dayTime() > relTime(5)"] {
            let found = scene.timeline(&scene.parse(text), span.clone());
            let ends = (found.intervals.first().map(|first| first.seconds.start), found.end());
            assert_eq!(ends, (from, to), "{text} in {span:?}");
        }
    }
}

/// What takes long ends early, and tells how far the search looked.
#[test]
fn the_search_is_bounded() {
    let scene = Scene::new(Dialect::Condor);
    let long = format!("size(\"{}\")", "x".repeat(50));
    let sum = vec![long; 400].join(" + ");
    let begin = std::time::Instant::now();
    for text in [
        format!("({sum}) * random(5) + size(strcat(time())) > 3"),
        format!("({sum}) + size(strcat(time())) + x > 3"),
        vec!["time() % 7 == 1"; 500].join(" || "),
        vec!["time() * time() % 7 == 1"; 200].join(" || "),
        format!("{}time(){} > 5", "(-".repeat(3000), ")".repeat(3000)),
    ] {
        let found = scene.timeline(&scene.parse(&text), NOW..NOW + MAX_SPAN_SECONDS);
        assert!(found.end().is_some_and(|end| end > NOW), "{}", &text[..60]);
    }
    assert!(begin.elapsed().as_secs() < 60, "{:?}", begin.elapsed());
}
