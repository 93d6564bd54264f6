//! The global options, which every command takes, and the parsers of their values.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use classad::ad::{AbsoluteTime, Dialect};
use classad::eval::{Context, EvaluationSettings, RunBudgets};
use classad::format::{FORMS, FileFormat, FormFacts, StreamLimits};

use super::suggested_values::SuggestedValues;
use crate::cli::io::live::{LIVE_AGE_SECONDS, LIVE_TIMEOUT_SECONDS, LiveSettings};

/// Heading of the options of every command in the help.
pub const GLOBAL_HEADING: &str = "Options of every command";

/// The options that every command takes.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = GLOBAL_HEADING)]
#[allow(clippy::struct_excessive_bools)] // each is a flag
pub struct GlobalOptions {
    // The dialect. `None` if the inputs decide it.
    /// Evaluate expressions as HTCondor does (`condor`), or as in the papers (`classad`) [default: see `classad help
    /// dialects`]
    #[arg(long, global = true, value_name = "classad|condor", value_parser = dialect_parser(), hide_possible_values = true)]
    pub dialect: Option<Dialect>,
    /// Format of the input [default: detected from the content]
    #[arg(long, global = true, value_name = "FORM", value_parser = form_parser(|_| true))]
    pub from: Option<FileFormat>,
    /// Set the current time: seconds since 1970, a time such as `2026-01-31T12:00:00Z`, `now`, or `dump` for the time of
    /// the newest ad
    #[arg(long, global = true, value_name = "TIME", value_parser = TimeOption::parse, allow_hyphen_values = true)]
    pub now: Option<TimeOption>,
    // The seed of the random numbers, for `random()` and for synthetic ads.
    /// Seed of the random numbers
    #[arg(long, global = true, value_name = "N")]
    pub seed: Option<u64>,
    /// Maximum number of steps of one evaluation
    #[arg(long, global = true, value_name = "N")]
    pub max_steps: Option<u64>,
    /// Maximum number of steps of all evaluations of a run, not counting the first 4,096 of each. Each byte of input
    /// adds 25
    #[arg(long, global = true, value_name = "N")]
    pub max_run_steps: Option<u64>,
    /// Maximum number of steps to compare requests with offers, or to join ads. Each byte of input adds 25
    #[arg(long, global = true, value_name = "N")]
    pub max_comparison_steps: Option<u64>,
    /// Maximum number of bytes for lists of candidates and for rows about pairs of ads. Each byte of input adds 16
    #[arg(long, global = true, value_name = "N")]
    pub max_held_bytes: Option<u64>,
    /// Maximum depth of nested evaluations
    #[arg(long, global = true, value_name = "N")]
    pub max_depth: Option<u32>,
    /// Maximum number of bytes of the values that functions make in one evaluation
    #[arg(long, global = true, value_name = "N")]
    pub max_value_bytes: Option<u64>,
    /// Maximum number of tests in a search for the best gang, not counting one of each offer at each
    /// port
    #[arg(long, global = true, value_name = "N")]
    pub max_search_tests: Option<u64>,
    /// Maximum number of bytes of the text of an ad, approximately. Reading a file stops at a longer ad
    #[arg(long, global = true, value_name = "N")]
    pub max_ad_bytes: Option<usize>,
    /// Maximum ratio of the unpacked to the compressed size of a file; 64 MiB are always allowed
    #[arg(long, global = true, value_name = "N")]
    pub max_unpack_ratio: Option<u64>,
    /// Maximum number of ads from one compressed file, in commands that keep whole ads in memory, such as `match`
    #[arg(long, global = true, value_name = "N")]
    pub max_packed_ads: Option<usize>,
    /// Load a map for `userMap()` from a map file of HTCondor
    #[arg(long, global = true, value_name = "NAME=FILE")]
    pub map: Vec<String>,
    /// Let submit files (`$ENV(...)`, `getenv`) and rules that change ads (`$ENV(...)` in values) read the environment.
    /// HTCondor does so. Without this option, nothing takes their place
    #[arg(long, global = true)]
    pub allow_env: bool,
    /// Configuration of the access point for submit files: its files or folders, or the output of
    /// `condor_config_val -dump`
    #[arg(long, global = true, value_name = "CONFIG")]
    pub submit_config: Option<String>,
    /// Maximum seconds that a tool of HTCondor may take for a source such as `live:slots`: see `classad help live`
    #[arg(long, global = true, value_name = "SECONDS", default_value_t = LIVE_TIMEOUT_SECONDS, hide_default_value = true)]
    pub live_timeout: u64,
    /// Use slots that `live:slots` printed at most so many seconds ago; 0 to ask again
    #[arg(long, global = true, value_name = "SECONDS", default_value_t = LIVE_AGE_SECONDS, hide_default_value = true)]
    pub live_age: u64,
    /// Access point that live sources ask, as `condor_q -name`
    #[arg(long, global = true, value_name = "SCHEDD")]
    pub name: Option<String>,
    /// Pool that live sources ask, as `condor_q -pool`
    #[arg(long, global = true, value_name = "HOST")]
    pub pool_name: Option<String>,
    /// Folder that takes the place of `/` in configuration files: what they include is read below it, and so are the files
    /// of `LOCAL_CONFIG_DIR` and `LOCAL_CONFIG_FILE`
    #[arg(long, global = true, value_name = "DIR")]
    pub config_root: Option<PathBuf>,
    /// Local name of the daemon that reads the configuration: `NAME.X` counts before `X`
    #[arg(long, global = true, value_name = "NAME")]
    pub config_local_name: Option<String>,
    /// Maximum number of threads [default: the number of processors, at most 8]
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=64))]
    pub threads: Option<u8>,
    /// Exit with status 2 if the output format cannot represent a value
    #[arg(long, global = true)]
    pub strict: bool,
    /// Report bad ads, but do not exit with status 2 because of them
    #[arg(long, global = true)]
    pub lenient: bool,
    /// Stop at the first bad ad, except in `check`
    #[arg(long, global = true)]
    pub fail_fast: bool,
    /// Exit with status 0 where the status would be 1
    #[arg(long, global = true)]
    pub exit_zero: bool,
    // 0 without the option, 2 for `-vv`.
    /// Report more, such as the dialect. In `explain`, -vv also shows values
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// Print nothing on standard output
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
}

/// Returns the parser of `--dialect`.
fn dialect_parser() -> impl TypedValueParser<Value = Dialect> {
    const DIALECTS: [(Dialect, &str); 2] = [
        (Dialect::Classad, "The language of the papers"),
        (Dialect::Condor, "The language as HTCondor 25 evaluates it"),
    ];
    let values = || DIALECTS.map(|(dialect, about)| PossibleValue::new(dialect.as_str()).help(about)).into();
    SuggestedValues(values).try_map(|text| text.parse::<Dialect>())
}

/// The values of `--color`: when to use colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    Auto,
    Always,
    Never,
}

impl GlobalOptions {
    /// Returns the options that affect evaluations: dialect, time, seed and limits.
    pub fn evaluation_settings(&self) -> EvaluationSettings {
        let GlobalOptions { dialect, seed, max_steps, max_depth, max_value_bytes, max_search_tests, .. } = *self;
        let now = match self.now {
            Some(TimeOption::At(seconds)) => Some(seconds),
            // The time of the dump replaces the clock once the inputs are open.
            Some(TimeOption::Dump) | None => None,
        };
        EvaluationSettings {
            dialect,
            now,
            seed,
            max_steps,
            max_depth,
            max_value_bytes,
            max_search_tests,
            run_budgets: Some(Arc::new(RunBudgets::new([
                self.max_run_steps,
                self.max_comparison_steps,
                self.max_held_bytes,
            ]))),
            ..EvaluationSettings::default()
        }
    }

    /// Returns the limits on what is read of files.
    pub fn stream_limits(&self) -> StreamLimits {
        let usual = StreamLimits::default();
        StreamLimits {
            max_ad_bytes: self.max_ad_bytes.unwrap_or(usual.max_ad_bytes),
            max_unpack_ratio: self.max_unpack_ratio.unwrap_or(usual.max_unpack_ratio),
        }
    }

    /// Returns how live sources are asked.
    pub fn live_settings(&self) -> LiveSettings {
        LiveSettings {
            timeout: Duration::from_secs(self.live_timeout),
            age: Duration::from_secs(self.live_age),
            name: self.name.clone(),
            pool_name: self.pool_name.clone(),
        }
    }

    /// Returns the maximum number of threads that work at once.
    ///
    /// The number is 1 with `--seed`, because random numbers must be drawn in the order of the input.
    pub fn threads(&self) -> usize {
        const DEFAULT_MAX_THREADS: usize = 8;
        let processors =
            || std::thread::available_parallelism().map_or(1, |processors| processors.get().min(DEFAULT_MAX_THREADS));
        if self.seed.is_some() { 1 } else { self.threads.map_or_else(processors, usize::from) }
    }
}

/// Returns the parser of the name of a form. `is_taken` chooses the forms.
pub fn form_parser(is_taken: fn(&FormFacts) -> bool) -> impl TypedValueParser<Value = FileFormat> {
    let taken = FORMS.iter().filter(move |facts| is_taken(facts));
    let values = taken.map(|facts| PossibleValue::new(facts.name).help(facts.looks_like));
    PossibleValuesParser::new(values).try_map(|name| FileFormat::of_name(&name).ok_or("no such form"))
}

/// The value of `--now`: the time that functions read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeOption {
    /// A time in seconds since 1970.
    At(i64),
    /// The newest time that the ads of the input tell.
    Dump,
}

impl TimeOption {
    fn parse(text: &str) -> Result<Self, String> {
        if text.eq_ignore_ascii_case("dump") {
            return Ok(TimeOption::Dump);
        }
        time(text)
            .map(TimeOption::At)
            .map_err(|_| "expected seconds since 1970, a time such as 2026-01-31T12:00:00Z, `now` or `dump`".into())
    }
}

/// Parses a length of time of the command line into seconds: a number with `s`, `m`, `h`, `d` or `w`, as in `24h`.
pub fn duration(text: &str) -> Result<i64, String> {
    let units = [("s", 1), ("m", 60), ("h", 3600), ("d", 86_400), ("w", 7 * 86_400)];
    let unit = units.into_iter().find_map(|(unit, length)| Some((text.strip_suffix(unit)?, length)));
    let (number, length) = unit.unwrap_or((text, 1));
    let seconds = number.trim_end().parse::<i64>().ok().and_then(|number| number.checked_mul(length));
    seconds.filter(|seconds| *seconds > 0).ok_or_else(|| "expected a length of time such as 90m, 24h or 7d".to_owned())
}

/// A time, or how much later it is than another.
#[derive(Clone, Copy)]
pub enum Moment {
    /// In seconds since 1970.
    At(i64),
    /// In seconds from the time of the evaluations on.
    After(i64),
}

impl Moment {
    /// Returns the time in seconds since 1970.
    pub fn seconds(self, now: i64) -> i64 {
        match self {
            Moment::At(seconds) => seconds,
            Moment::After(seconds) => now.saturating_add(seconds),
        }
    }
}

/// Reads a time as [`time`] does, or a duration as [`duration`] does: one with a unit, such as `24h`.
pub fn moment(text: &str) -> Result<Moment, String> {
    let has_unit = text.ends_with(|letter: char| letter.is_ascii_alphabetic());
    match duration(text) {
        Ok(seconds) if has_unit => Ok(Moment::After(seconds)),
        _ => time(text).map(Moment::At).map_err(|problem| format!("{problem}, or a duration such as 24h")),
    }
}

/// Parses a time of the command line into seconds since 1970: a number, `now`, or a time as `absTime()` reads it, but with
/// a date that exists and a year of four digits.
pub fn time(text: &str) -> Result<i64, String> {
    if text.eq_ignore_ascii_case("now") {
        return Context::new(Dialect::default()).now.ok_or_else(|| "there is no clock".to_owned());
    }
    let date = |text: &str| text.chars().filter(char::is_ascii_digit).take(8).collect::<String>();
    let exists = |time: &AbsoluteTime| date(&time.to_string()).starts_with(&date(text));
    let year = text.trim_start_matches(|letter: char| !letter.is_ascii_digit());
    let has_year = year.bytes().take_while(u8::is_ascii_digit).count() >= 4;
    let time =
        AbsoluteTime::parse(text).filter(|time| has_year && exists(time)).or_else(|| AbsoluteTime::parse_asctime(text));
    let seconds = text.parse().ok().or(time.map(|time| time.seconds));
    seconds.ok_or_else(|| "expected seconds since 1970, a time such as 2026-01-31T12:00:00Z, or `now`".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{GlobalOptions, Moment, TimeOption, duration, moment, time};

    const NOON: i64 = 1_769_860_800;

    impl GlobalOptions {
        /// The options of a command line, whose words have spaces between them.
        pub fn of_line(line: &str) -> Self {
            let command = <Self as clap::Args>::augment_args(clap::Command::new("classad"));
            let matches = command.try_get_matches_from(["classad"].into_iter().chain(line.split_whitespace())).unwrap();
            <Self as clap::FromArgMatches>::from_arg_matches(&matches).unwrap()
        }
    }

    #[test]
    fn lengths_of_time_have_units() {
        for (text, expected) in [
            ("5", Some(5)),
            ("5s", Some(5)),
            ("90m", Some(5400)),
            ("1h", Some(3600)),
            ("2d", Some(172_800)),
            ("1w", Some(604_800)),
            ("5 h", Some(18_000)),
            ("1", Some(1)),
            ("0", None),
            ("0s", None),
            ("-1h", None),
            ("h", None),
            ("", None),
            ("1.5h", None),
            ("9223372036854775807", Some(i64::MAX)),
            ("9223372036854775807m", None),
        ] {
            assert_eq!(duration(text).ok(), expected, "{text}");
        }
        assert_eq!(duration("x"), Err("expected a length of time such as 90m, 24h or 7d".to_owned()));
    }

    #[test]
    fn times_are_numbers_or_dates_that_exist() {
        for (text, expected) in [
            ("0", Some(0)),
            ("-5", Some(-5)),
            ("26", Some(26)),
            ("2026-01-31T12:00:00Z", Some(NOON)),
            ("2026-01-31T13:00:00+01:00", Some(NOON)),
            ("2026-01-31T12:00Z", Some(NOON)),
            ("Jan 31 12:00:00 2026 Z", Some(NOON)),
            ("Sat Jan 31 12:00:00 2026 (UTC) +00:00", Some(NOON)),
            ("2026-02-31T12:00:00Z", None),
            ("2026-13-01T12:00:00Z", None),
            ("26-01-31T12:00:00Z", None),
            ("202-01-31T12:00:00Z", None),
            ("Feb 30 12:00:00 2026 Z", None),
            ("noon", None),
            ("", None),
        ] {
            assert_eq!(time(text).ok(), expected, "{text}");
        }
        let message = "expected seconds since 1970, a time such as 2026-01-31T12:00:00Z, or `now`";
        assert_eq!(time("noon"), Err(message.to_owned()));
        assert!(time("NOW").unwrap() > NOON);
        assert_eq!(TimeOption::parse("Dump"), Ok(TimeOption::Dump));
        assert_eq!(TimeOption::parse("7"), Ok(TimeOption::At(7)));
        let message = "expected seconds since 1970, a time such as 2026-01-31T12:00:00Z, `now` or `dump`";
        assert_eq!(TimeOption::parse("noon"), Err(message.to_owned()));
    }

    #[test]
    fn a_moment_is_a_time_or_a_length_of_time_with_its_unit() {
        for (text, expected) in [
            ("24h", Some(86_401)),
            ("90", Some(90)),
            ("0", Some(0)),
            ("2026-01-31T12:00:00Z", Some(NOON)),
            ("0h", None),
            ("1.5h", None),
        ] {
            assert_eq!(moment(text).ok().map(|moment| moment.seconds(1)), expected, "{text}");
        }
        assert_eq!(Moment::After(5).seconds(i64::MAX), i64::MAX);
        let message =
            "expected seconds since 1970, a time such as 2026-01-31T12:00:00Z, or `now`, or a duration such as 24h";
        assert_eq!(moment("noon").err().as_deref(), Some(message));
    }

    #[test]
    fn random_numbers_need_one_thread() {
        assert_eq!(GlobalOptions::of_line("--threads 3").threads(), 3);
        assert_eq!(GlobalOptions::of_line("--threads 3 --seed 1").threads(), 1);
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        assert_eq!(GlobalOptions::of_line("").threads(), processors.min(8));
    }

    #[test]
    fn limits_of_files_are_the_usual_ones_if_they_are_not_given() {
        let usual = classad::format::StreamLimits::default();
        let limits = |line: &str| {
            let limits = GlobalOptions::of_line(line).stream_limits();
            (limits.max_ad_bytes, limits.max_unpack_ratio)
        };
        assert_eq!(limits(""), (usual.max_ad_bytes, usual.max_unpack_ratio));
        assert_eq!(limits("--max-ad-bytes 70000 --max-unpack-ratio 9"), (70_000, 9));
    }
}
