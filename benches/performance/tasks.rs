//! How ours does the work, within this process and through what the library shows.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use classad::ad::{Ad, Dialect, Truth};
use classad::eval::Context;
use classad::format::{detect, read};
use classad::matching::{Accelerations, Matchmaker, Pair, PairSide, Statistics};
use classad::pool::Store;
use classad::protocol::Protocol;
use classad::syntax::{ParseOptions, parse_expression};

use crate::Result;
use crate::measure::{Bench, Run, repeated};

/// Two files: of requests and of offers.
pub type Files = [PathBuf; 2];

/// How often ads in memory are queried.
pub const ROUNDS: usize = 20;
/// How many pairs of ads are tried.
pub const PAIRS: usize = 20_000;

/// The ads of a file, as HTCondor means them.
pub fn ads(path: &Path) -> Result<Vec<Ad>> {
    ads_in(path, Dialect::Condor)
}

/// The ads of a file.
pub fn ads_in(path: &Path, dialect: Dialect) -> Result<Vec<Ad>> {
    let text = fs::read(path)?;
    let form = detect(&text).ok_or("there are no ads")?;
    Ok(read(&text, form, dialect).flatten().map(|entry| entry.ad).collect())
}

/// Reads all ads of a file.
pub fn parse(path: &Path) -> Result<Run> {
    let text = fs::read(path)?;
    let form = detect(&text).ok_or("there are no ads")?;
    let (run, ads) = Run::timed(|| read(&text, form, Dialect::Condor).flatten().count());
    Ok(run.amount(text.len()).answer(ads))
}

/// The bytes held for an ad, in a process of its own, so that nothing that was given back is taken again.
pub fn held(path: &Path) -> Result<Run> {
    let program = std::env::current_exe()?;
    let output = Command::new(program).arg("--memory-of").arg(path).output()?;
    let cost = String::from_utf8(output.stdout)?.trim().parse()?;
    Ok(Run { cost, amount: 1.0, ..Run::default() })
}

/// Asks ads in memory, again and again. Reading the ads into columns is not timed.
pub fn query(path: &Path, constraint: &str) -> Result<Run> {
    let ads = ads(path)?;
    let count = ads.len();
    let mut store = Store::with_all_columns(ads, Dialect::Condor);
    let expression = parse_expression(constraint.as_bytes(), ParseOptions::new(Dialect::Condor))?;
    let context = Context::new(Dialect::Condor);
    let mut ask = || {
        let values = store.evaluate(&expression, &context);
        (0..count)
            .filter(|row| values.value(*row).is_ok_and(|value| Truth::of(value, Dialect::Condor).is_true()))
            .count()
    };
    let (run, counts) = Run::timed(|| (0..ROUNDS).map(|_| ask()).collect::<Vec<_>>());
    Ok(run.amount(count * ROUNDS).answer(counts[0]))
}

/// The pairs that `pairs` of the script tries, too.
pub fn pairs([left, right]: &Files) -> Result<Run> {
    let [left, right] = [ads(left)?, ads(right)?];
    let scopes = |ads: &[Ad], side| ads.iter().map(|ad| Pair::make_scope(ad.clone(), side)).collect::<Vec<_>>();
    let (lefts, rights) = (scopes(&left, PairSide::Request), scopes(&right, PairSide::Offer));
    let (protocol, context) = (Protocol::new(Dialect::Condor), Context::new(Dialect::Condor));
    let mut pair = Pair::new(Ad::default(), Ad::default(), protocol, context);
    let (run, matches) = Run::timed(|| {
        let mut matches = 0;
        for number in 0..PAIRS {
            pair.replace(PairSide::Request, &lefts[number / 100 * 7 % lefts.len()]);
            pair.replace(PairSide::Offer, &rights[number % 100 * 13 % rights.len()]);
            let accepts = |side| pair.accepts(side).unwrap_or(false);
            matches += usize::from(accepts(PairSide::Request) && accepts(PairSide::Offer));
        }
        matches
    });
    Ok(run.amount(PAIRS).answer(matches))
}

/// How many queries were asked, and what was counted.
#[derive(Default)]
pub struct Counted {
    pub asked: u32,
    pub statistics: Statistics,
}

/// Builds what there is to build and asks for every query which objects match it; again and again, for as long as a
/// sample of pairs takes.  What would take too long is estimated from the first queries.
pub fn every_query(bench: &Bench, [queries, objects]: &Files, accelerations: Accelerations) -> Result<(Run, Counted)> {
    let [queries, objects] = [ads(queries)?, ads(objects)?];
    let mut counted = Counted::default();
    let run = repeated(|| {
        let (whole, found) = once(bench.limit / 4, &queries, &objects, accelerations);
        let is_estimate = (found.asked as usize) < queries.len();
        counted = found;
        Ok(Run { is_estimate, ..Run::of(whole) })
    })?;
    Ok((run, counted))
}

fn once(limit: Duration, queries: &[Ad], objects: &[Ad], accelerations: Accelerations) -> (Duration, Counted) {
    let (protocol, context) = (Protocol::new(Dialect::Condor), Context::new(Dialect::Condor));
    let start = Instant::now();
    let mut matchmaker = Matchmaker::new(objects, protocol, context, accelerations);
    let built = start.elapsed();
    let mut asked = 0_u32;
    for query in queries {
        std::hint::black_box(matchmaker.candidates(query));
        asked += 1;
        if start.elapsed() > limit {
            break;
        }
    }
    let asking = start.elapsed().saturating_sub(built);
    #[allow(clippy::cast_precision_loss)] // there are not so many queries
    let whole = built + asking.mul_f64(queries.len() as f64 / f64::from(asked.max(1)));
    (whole, Counted { asked, statistics: matchmaker.statistics })
}
