//! `query --usage`: what the jobs of each group asked for and used, and what they should ask for.

use classad::ad::{Ad, Expression, Name, Value};
use classad::matching::{Accelerations, Matchmaker};
use classad::pool::NumberCounts;
use classad::protocol::Protocol;
use rustc_hash::FxHashSet;

use super::aggregate::{Accumulator, AggregateFunction};
use super::{Aggregate, Group, GroupColumns, GroupedAds};
use crate::cli::args::named_expressions::named_expressions;
use crate::cli::io::argument_text::parse_argument_expression;
use crate::cli::io::input;
use crate::cli::outcome::Failure;
use crate::cli::render::rows::TableCell;
use crate::cli::session::Session;

/// Least number of jobs whose use was measured for which a request is suggested.
const MIN_JOBS: u64 = 20;

/// The part of the jobs that are to keep the suggested request, and how certain that is to be for later jobs.
const KEPT_PART: f64 = 0.95;
const CERTAINTY: f64 = 0.95;

/// What the greatest use is multiplied by if the jobs are too few for that certainty.
const MARGIN: f64 = 1.1;

/// Number of jobs from which the binomial distribution is taken for a normal one.
const MANY_JOBS: u64 = 1000;

/// The quantile of the normal distribution for [`CERTAINTY`].
const NORMAL_QUANTILE: f64 = 1.645;

/// A resource that jobs ask for and use.
struct UsedResource {
    name: &'static str,
    unit: &'static str,
    /// The attribute of the request.
    request: &'static str,
    /// What was used, in the unit of the request; undefined if it was not measured.
    used: &'static str,
    /// What is wasted when one unit of `wasted_in` is wasted for a second, in the unit of the request.
    per_second: f64,
    wasted_in: &'static str,
    /// Requests are suggested in multiples of this.
    step: f64,
}

const HOUR: f64 = 3600.0;

/// The resources in the order of their rows. HTCondor gives a job memory in multiples of 128 MB, and disk in those of 1 MB.
const RESOURCES: [UsedResource; 4] = [
    UsedResource {
        name: "Memory",
        unit: "MB",
        request: "RequestMemory",
        used: "ifThenElse(MemoryUsage > 0, MemoryUsage, undefined)",
        per_second: 1024.0 * HOUR,
        wasted_in: "GB-hours",
        step: 128.0,
    },
    UsedResource {
        name: "Cpus",
        unit: "cores",
        request: "RequestCpus",
        used: "ifThenElse(RemoteWallClockTime > 0, ifThenElse(isUndefined(CpusUsage), (RemoteUserCpu + RemoteSysCpu) / \
               real(RemoteWallClockTime), CpusUsage), undefined)",
        per_second: HOUR,
        wasted_in: "core-hours",
        step: 1.0,
    },
    UsedResource {
        name: "Disk",
        unit: "KB",
        request: "RequestDisk",
        used: "ifThenElse(RemoteWallClockTime > 0 && DiskUsage > 0, DiskUsage, undefined)",
        per_second: 1024.0 * 1024.0 * HOUR,
        wasted_in: "GB-hours",
        step: 1024.0,
    },
    UsedResource {
        name: "GPUs",
        unit: "GPUs",
        request: "RequestGPUs",
        used: "ifThenElse(RequestGPUs > 0, GPUsUsage, undefined)",
        per_second: HOUR,
        wasted_in: "GPU-hours",
        step: 1.0,
    },
];

/// The columns that have no place in the rows of other groups.
const COLUMNS: [&str; 8] = ["resource", "unit", "requested", "used", "wasted", "wasted_in", "suggested", "kept"];
const POOL_COLUMNS: [&str; 3] = ["slots", "gained", "gained_by_all"];

/// What `--usage` needs beside the groups.
pub struct UsageColumns {
    /// The slots of `--pool`; `None` if it is not given.
    slots: Option<Vec<Ad>>,
}

/// A row of a group, before its slots are counted.
struct UsageRow<'r> {
    resource: &'r UsedResource,
    suggested: Option<i64>,
    cells: Vec<TableCell>,
}

impl UsageColumns {
    /// Makes the columns of the groups of `--by`. Reads the slots of `pool`.
    pub fn groups(session: &mut Session, by: &str, pool: &[String]) -> Result<GroupColumns, Failure> {
        let slots = if pool.is_empty() {
            None
        } else {
            let sources = input::open_sources(session, pool)?;
            let slots = input::read_named_ads(session, sources, None)?;
            Some(slots.into_iter().map(|slot| slot.ad).collect())
        };
        let mut aggregates = Vec::new();
        let mut add = |session: &mut Session, function, text: &str| -> Result<(), Failure> {
            let expression = parse_argument_expression(session, "--usage", text)?;
            aggregates.push(Aggregate { name: String::new(), function, expression });
            Ok(())
        };
        for UsedResource { request, used, per_second, .. } in &RESOURCES {
            add(session, AggregateFunction::Median, request)?;
            add(session, AggregateFunction::Median, used)?;
            let wasted = format!(
                "ifThenElse({request} > {used}, ({request} - {used}) * RemoteWallClockTime / {per_second:.1}, 0)"
            );
            add(session, AggregateFunction::Sum, &wasted)?;
        }
        let keys = named_expressions(session, "--by", &[by.to_owned()])?;
        let keys = keys.into_iter().map(|(name, text, expression)| (name.unwrap_or(text), expression)).collect();
        let usage = Some(UsageColumns { slots });
        Ok(GroupColumns {
            keys,
            aggregates,
            order: Vec::new(),
            having: None,
            has_percentages: false,
            has_totals: false,
            usage,
        })
    }

    /// Whether the last job of each group is kept, to be matched.
    pub fn keeps_jobs(&self) -> bool {
        self.slots.is_some()
    }

    /// Returns the names of the columns behind the keys.
    pub fn header(&self) -> impl Iterator<Item = String> {
        let of_pool = if self.slots.is_some() { &POOL_COLUMNS[..] } else { &[] };
        ["jobs", "measured"].iter().chain(&COLUMNS).chain(of_pool).map(|name| (*name).to_owned())
    }

    /// Returns the rows of at most `limit` groups, of the largest first.
    pub fn rows(&self, session: &Session, groups: GroupedAds, limit: usize) -> Vec<Vec<TableCell>> {
        let mut groups: Vec<_> = groups.groups.into_iter().collect();
        groups.sort_by_key(|(_, group)| std::cmp::Reverse(group.ads));
        groups.truncate(limit);
        let mut matchmaker = self.slots.as_deref().map(|slots| {
            let context = session.context();
            Matchmaker::new(slots, Protocol::new(context.dialect), context, Accelerations::ALL)
        });
        groups.into_iter().flat_map(|(key, group)| group_rows(&key, &group, matchmaker.as_mut())).collect()
    }
}

/// Returns a row for each resource that the jobs of a group asked for or used.
fn group_rows(key: &[TableCell], group: &Group, matchmaker: Option<&mut Matchmaker>) -> Vec<Vec<TableCell>> {
    let mut rows: Vec<UsageRow<'_>> = RESOURCES
        .iter()
        .zip(group.values.chunks(3))
        .filter_map(|(resource, values)| usage_row(key, group.ads, resource, values))
        .collect();
    if let (Some(matchmaker), Some(job)) = (matchmaker, &group.last) {
        let mut slots = |job: &Ad| -> FxHashSet<usize> {
            matchmaker.candidates(job).iter().map(|candidate| candidate.offer).collect()
        };
        let now = slots(job);
        let with = |job: Ad, row: &UsageRow<'_>| match row.suggested {
            Some(suggested) => job.with(Name::new(row.resource.request), Expression::literal(suggested)),
            None => job,
        };
        let all = slots(&rows.iter().fold(job.clone(), with));
        for row in &mut rows {
            let then = if row.suggested.is_some() { slots(&with(job.clone(), row)) } else { now.clone() };
            let gained = |then: &FxHashSet<usize>| TableCell::from(then.difference(&now).count());
            row.cells.extend([now.len().into(), gained(&then), gained(&all)]);
        }
    }
    rows.into_iter().map(|row| row.cells).collect()
}

/// Returns the row of a resource; `None` if no job asked for it or used it.
fn usage_row<'r>(
    key: &[TableCell],
    jobs: usize,
    resource: &'r UsedResource,
    values: &[Accumulator],
) -> Option<UsageRow<'r>> {
    let [requested, used, wasted] = values else { return None };
    if requested.count == 0 && used.count == 0 {
        return None;
    }
    let number = |value: Option<f64>| TableCell::from(&value.map_or(Value::Undefined, rounded));
    let suggested = suggestion(&used.numbers, resource.step);
    #[allow(clippy::cast_precision_loss)] // counts and requests are far below 2^53
    let kept = suggested.map(|suggested| {
        let kept = used.numbers.count_up_to(suggested as f64);
        kept as f64 * 100.0 / used.numbers.total() as f64
    });
    let mut cells = key.to_vec();
    cells.extend([
        jobs.into(),
        TableCell::from(i128::from(used.count)),
        resource.name.into(),
        resource.unit.into(),
        number(requested.numbers.percentile(5000)),
        number(used.numbers.percentile(5000)),
        number((wasted.count > 0).then(|| wasted.sum.total().as_real())),
        resource.wasted_in.into(),
        TableCell::from(&suggested.map_or(Value::Undefined, Value::Integer)),
        number(kept),
    ]);
    Some(UsageRow { resource, suggested, cells })
}

/// Rounds a number to hundredths; a whole one becomes an integer.
#[allow(clippy::cast_possible_truncation)] // `as` saturates
fn rounded(number: f64) -> Value {
    let rounded = (number * 100.0).round() / 100.0;
    if rounded.fract() == 0.0 { Value::Integer(rounded as i64) } else { Value::Real(rounded) }
}

/// Returns the request that a part of [`KEPT_PART`] of later jobs keeps: the use of one of the jobs, which is no less
/// with [`CERTAINTY`] (a distribution-free tolerance limit). `None` for less than [`MIN_JOBS`].
#[allow(clippy::cast_possible_truncation)] // `as` saturates
fn suggestion(used: &NumberCounts, step: f64) -> Option<i64> {
    let jobs = used.total();
    if jobs < MIN_JOBS {
        return None;
    }
    let limit = match tolerance_rank(jobs) {
        Some(rank) => used.at(rank - 1)?,
        None => used.at(jobs - 1)? * MARGIN,
    };
    Some(((limit / step).ceil().max(1.0) * step) as i64)
}

/// Returns the rank, from 1, of the number among `count` that is no less than [`KEPT_PART`] of the distribution with
/// [`CERTAINTY`]. `None` if there are too few.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // counts, and at most these
fn tolerance_rank(count: u64) -> Option<u64> {
    let jobs = count as f64;
    if count > MANY_JOBS {
        let deviation = (jobs * KEPT_PART * (1.0 - KEPT_PART)).sqrt();
        return Some(((jobs * KEPT_PART + NORMAL_QUANTILE * deviation).ceil() as u64 + 1).min(count));
    }
    // The probability that `rank` numbers or more are in the part.
    let (mut rank, mut of_rank) = (count, KEPT_PART.powf(jobs));
    let mut above = of_rank;
    if above > 1.0 - CERTAINTY {
        return None;
    }
    while rank > 1 {
        of_rank *= rank as f64 * (1.0 - KEPT_PART) / ((jobs - rank as f64 + 1.0) * KEPT_PART);
        above += of_rank;
        if above > 1.0 - CERTAINTY {
            break;
        }
        rank -= 1;
    }
    Some(rank)
}

#[cfg(test)]
mod tests {
    use classad::pool::NumberCounts;

    use super::{rounded, suggestion, tolerance_rank};

    #[test]
    fn ranks_are_those_of_tables_of_tolerance_limits() {
        // One-sided, 95 % of the distribution with 95 %: 59 numbers for the greatest, 93 for the second, 124, 153, 181.
        for (count, below) in [
            (58, None),
            (59, Some(0)),
            (92, Some(0)),
            (93, Some(1)),
            (123, Some(1)),
            (124, Some(2)),
            (152, Some(2)),
            (153, Some(3)),
            (181, Some(4)),
        ] {
            assert_eq!(tolerance_rank(count).map(|rank| count - rank), below, "{count}");
        }
        let ranks = [tolerance_rank(1000), tolerance_rank(1001), tolerance_rank(100_000)];
        assert_eq!(ranks, [Some(962), Some(964), Some(95_115)]);
    }

    #[test]
    fn requests_are_suggested_in_steps_from_20_jobs_on() {
        let suggest = |count: u64, step| {
            let mut used = NumberCounts::default();
            (1..=count).for_each(|number| used.add(f64::from(u32::try_from(number).expect("it is small"))));
            suggestion(&used, step)
        };
        assert_eq!(
            [19, 20, 58, 59, 93].map(|count| suggest(count, 1.0)),
            [None, Some(22), Some(64), Some(59), Some(92)]
        );
        assert_eq!(suggest(93, 128.0), Some(128));
        assert_eq!(suggest(200, 128.0), Some(256));
    }

    #[test]
    fn whole_numbers_have_no_decimals() {
        let numbers = [0.0, 1.0, 1.004, 1.005, 2.5, -0.126, 99.999, 1e300];
        let texts = numbers.map(|number| rounded(number).to_string());
        assert_eq!(texts, ["0", "1", "1", "1", "2.5", "-0.13", "100", "9223372036854775807"]);
    }

    #[test]
    fn a_suggestion_is_at_least_one_step() {
        let suggest = |number: f64, step| {
            let mut used = NumberCounts::default();
            (0..60).for_each(|_| used.add(number));
            suggestion(&used, step)
        };
        assert_eq!([0.0, 0.5, 1.0, 1.5].map(|number| suggest(number, 1.0)), [Some(1), Some(1), Some(1), Some(2)]);
        assert_eq!([0.0, 128.0, 128.5].map(|number| suggest(number, 128.0)), [Some(128), Some(128), Some(256)]);
    }

    #[test]
    fn later_jobs_keep_what_earlier_ones_suggest() {
        let mut random = fastrand::Rng::with_seed(11);
        let (mut kept, mut later) = (0_u64, 0_u64);
        for group in 0..400_u32 {
            // Uses of some shapes: even, with a long tail, in two clumps.
            let mut used = || match group % 3 {
                0 => random.f64() * 1000.0,
                1 => 100.0 / (1.0 - random.f64()).powf(0.7),
                _ => (if random.f64() < 0.1 { 5000.0 } else { 300.0 }) + random.f64() * 50.0,
            };
            let mut first = NumberCounts::default();
            let count = 20 + group * 3;
            (0..count).for_each(|_| first.add(used()));
            let suggested = suggestion(&first, 1.0).expect("there are enough jobs");
            #[allow(clippy::cast_precision_loss)] // it is small
            let is_kept = |used: f64| used <= suggested as f64;
            kept += (0..count).filter(|_| is_kept(used())).map(|_| 1).sum::<u64>();
            later += u64::from(count);
        }
        #[allow(clippy::cast_precision_loss)] // counts
        let part = kept as f64 / later as f64;
        assert!(part > 0.95 && part < 0.985, "{part}");
    }
}
