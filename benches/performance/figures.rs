//! The index's figures of the thesis (§4.6.2), at the machine at hand: elapsed time against evaluating every pair
//! (Figures 21 and 22), the index alone (23), its memory (24), and what preparing an ad costs (25).
//!
//! The place of the 2006 paper's Figure 3, a negotiation cycle with and without autoclusters and match lists, is
//! here, too, as soon as there is a cycle to measure.

use std::cell::RefCell;
use std::fmt::Write;
use std::time::Instant;

use classad::ad::{Ad, Dialect};
use classad::eval::{Context, Environment, Knowledge, SpecializeOptions, references, specialize};
use classad::matching::Accelerations;
use classad::workload::DomainMix;

use crate::measure::{Bench, Run, Task, in_turns};
use crate::table::{self, Unit};
use crate::tasks::{Counted, ads, every_query, held};
use crate::{Result, machine};

const SIZES: [u32; 5] = [1000, 2000, 4000, 8000, 16_000];
const ATTRIBUTES: [u16; 4] = [2, 4, 8, 12];

/// Up to so many ads every pair is evaluated, too, as in the thesis.
const MOST_PAIRS: u32 = 2000;

/// All the figures as text.
pub fn report(bench: &Bench) -> Result<String> {
    let mut text = format!("# The index (thesis §4.6.2)\n\nOn {}.\n", machine::described());
    text += &elapsed(bench)?;
    text += &preparation(bench)?;
    Ok(text)
}

/// Figures 21 to 24.
fn elapsed(bench: &Bench) -> Result<String> {
    let mut text = "\n## Figures 21 to 24: build and all queries, N objects and N queries\n\n".to_owned();
    text += &table::heading(&[
        "mix",
        "attributes",
        "N",
        "every pair evaluated",
        "index",
        "ratio",
        "evaluations a query",
        "probes a query",
        "memory of the index an ad",
    ]);
    print!("{text}");
    for mix in DomainMix::ALL {
        for attributes in [4, 8] {
            for n in SIZES.map(|n| bench.data.size(n)) {
                let line = table::line(&row(bench, mix, attributes, n)?);
                print!("{line}");
                text += &line;
            }
        }
    }
    Ok(text)
}

fn row(bench: &Bench, mix: DomainMix, attributes: u16, n: u32) -> Result<Vec<String>> {
    let files = bench.data.index(mix, n, attributes)?;
    let counted = RefCell::new(Counted::default());
    let ours = |bench: &Bench| {
        let (run, found) = every_query(bench, &files, Accelerations::ALL)?;
        counted.replace(found);
        Ok(run)
    };
    let theirs = |bench: &Bench| Ok(every_query(bench, &files, Accelerations::NONE)?.0);
    let theirs = (n <= bench.data.size(MOST_PAIRS)).then_some(&theirs as Task);
    let (indexed, exhaustive) = in_turns(bench, &ours, theirs)?;
    let counted = counted.into_inner();
    #[allow(clippy::cast_precision_loss)] // counts are small
    let a_query = |count: u64| format!("{:.1}", count as f64 / f64::from(counted.asked.max(1)));
    let folder = files[1].parent().ok_or("a file is in a folder")?;
    Ok(vec![
        mix.name().to_owned(),
        attributes.to_string(),
        n.to_string(),
        exhaustive.as_ref().map_or("-".to_owned(), |run| Unit::Time.show(run)),
        Unit::Time.show(&indexed),
        exhaustive.as_ref().map_or("-".to_owned(), |run| table::ratio(&indexed, run)),
        a_query(counted.statistics.evaluations),
        a_query(counted.statistics.probes),
        Unit::Bytes.show(&held(folder)?),
    ])
}

/// Figure 25: what it costs to find out what an ad refers to, and to specialize its constraint.
fn preparation(bench: &Bench) -> Result<String> {
    let mut text = "\n## Figure 25: preparing an ad\n\n".to_owned();
    text += &table::heading(&["attributes", "external references", "specialization"]);
    for attributes in ATTRIBUTES {
        let objects = ads(&bench.data.index(DomainMix::Ten, bench.data.size(2000), attributes)?[1])?;
        let context = Context::new(Dialect::Condor);
        let each = |work: &dyn Fn(&Ad)| {
            let start = Instant::now();
            objects.iter().for_each(work);
            let run = Run::of(start.elapsed()).amount(objects.len());
            Unit::Each.show(&run)
        };
        let referred = each(&|ad| {
            let (environment, scope) = Environment::partner_unknown(ad.clone(), Knowledge::Complete);
            let constraint = ad.get_str("Requirements").map(|it| references(it, &scope, &environment, &context));
            std::hint::black_box(constraint);
        });
        let specialized = each(&|ad| {
            let (environment, scope) = Environment::partner_unknown(ad.clone(), Knowledge::Complete);
            let special = |it| specialize(it, &scope, &environment, &context, SpecializeOptions::default());
            std::hint::black_box(ad.get_str("Requirements").map(special));
        });
        writeln!(text, "| {attributes} | {referred} | {specialized} |")?;
    }
    print!("{}", &text);
    Ok(text)
}
