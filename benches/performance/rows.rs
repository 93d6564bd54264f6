//! The table: what is measured, how ours does it, and how theirs.

use std::fmt::Write;
use std::fs;

use classad::matching::Accelerations;
use classad::workload::DomainMix;
use serde_json::json;

use crate::data::Data;
use crate::measure::{Bench, Run, Task, in_turns};
use crate::peer::task;
use crate::process::{self, BINARY};
use crate::table::{self, Unit};
use crate::tasks::{self, PAIRS, ROUNDS};
use crate::{Result, machine};

/// One line of the table.
struct Row {
    work: String,
    unit: Unit,
    ours: Measured,
    /// Beside whom, and how they do it.
    theirs: Option<(&'static str, Measured)>,
}

type Measured = Box<dyn Fn(&Bench) -> Result<Run>>;

impl Row {
    fn new(work: impl Into<String>, unit: Unit, ours: impl Fn(&Bench) -> Result<Run> + 'static) -> Self {
        Row { work: work.into(), unit, ours: Box::new(ours), theirs: None }
    }

    fn beside(mut self, name: &'static str, theirs: impl Fn(&Bench) -> Result<Run> + 'static) -> Self {
        self.theirs = Some((name, Box::new(theirs)));
        self
    }
}

/// Constraints: simple clauses; functions and arithmetic.
const CONSTRAINTS: [(&str, &str); 2] = [
    ("simple clauses", "PartitionableSlot && Cpus >= 8 && Memory >= 16384 && OpSysMajorVer == 9"),
    (
        "functions and arithmetic",
        "regexp(\"^gpu[0-9]*7\", Machine) && Memory / Cpus > 2000 && toLower(OpSysName) != \"centos\"",
    ),
];

/// Commands that read all of an ad: the arguments before the file, and the file of the large pool.
const WHOLE_AD_COMMANDS: [(&[&str], &str); 9] = [
    (&["parse", "--count"], "machines.long"),
    (&["check"], "machines.long"),
    (&["refs", "--count"], "machines.long"),
    (&["census"], "machines.long"),
    (&["convert", "--to", "jsonl"], "machines.long"),
    (&["convert", "--to", "long"], "machines.long"),
    (&["convert", "--to", "long"], "machines.jsonl"),
    (&["transform", "--set", "A=1"], "machines.long"),
    (&["fmt"], "machines.long"),
];

const LIBRARY: &str = "classad2";
const SCRIPT: &str = "a script with classad2";
const PARSER: &str = "a script that merely parses them with classad2";
const SAMPLE: &str = "`symmetricMatch` of all pairs, from a sample";

/// The rows, in the order of the table.
fn rows(data: &Data) -> Vec<Row> {
    let mut rows = reading();
    rows.extend(WHOLE_AD_COMMANDS.into_iter().flat_map(|(arguments, file)| streaming(arguments, file)));
    rows.extend(CONSTRAINTS.into_iter().flat_map(|(kind, constraint)| querying(kind, constraint)));
    rows.extend(testing());
    for n in [2000, 16_000] {
        rows.extend(DomainMix::ALL.map(|mix| indexing(data.size(n), mix)));
    }
    rows.extend(["pool", "large"].map(|name| matching(name, data.sizes(name))));
    rows.push(
        Row::new("process start", Unit::Time, |bench| silent(process::run(BINARY, &["--version"], bench.limit)))
            .beside("`import classad2`", |bench| silent(bench.peer.start(bench))),
    );
    rows
}

fn reading() -> Vec<Row> {
    let parse = |name: &str, file: &'static str| {
        let work = format!("parse {name} into ads that can be evaluated");
        Row::new(work, Unit::Throughput, move |bench| tasks::parse(&bench.data.pool("pool", file)?))
    };
    let theirs = |file: &'static str| {
        move |bench: &Bench| {
            let path = bench.data.pool("pool", file)?;
            let size = usize::try_from(fs::metadata(&path)?.len())?;
            Ok(bench.peer.ask(&task("parse", &[&path], &[]))?.amount(size))
        }
    };
    let machines = |bench: &Bench| bench.data.pool("large", "machines.long");
    vec![
        parse("the long form", "machines.long").beside(LIBRARY, theirs("machines.long")),
        parse("the bracketed form", "machines.new").beside(LIBRARY, theirs("machines.new")),
        parse("JSON", "machines.json"),
        // Of the dump, so that what an allocator keeps at hand does not count for much; theirs of fewer ads, for its time.
        Row::new("memory held for an ad of the pool", Unit::Bytes, |bench| {
            tasks::held(&bench.data.pool("dump", "machines.long")?)
        })
        .beside(LIBRARY, move |bench| bench.peer.ask(&task("memory", &[&machines(bench)?], &[]))),
    ]
}

/// A command that reads all of each ad: on one thread beside their mere parsing, and on two threads beside one.
fn streaming(arguments: &'static [&'static str], file: &'static str) -> [Row; 2] {
    let run = move |bench: &Bench, threads: &str| {
        let path = bench.data.pool("large", file)?;
        let size = usize::try_from(fs::metadata(&path)?.len())?;
        let path = path.to_string_lossy();
        let arguments = [&["--threads", threads], arguments, &[path.as_ref()]].concat();
        Ok(silent(process::run(BINARY, &arguments, bench.limit))?.amount(size))
    };
    let work = format!("`{} {file}`", arguments.join(" "));
    let theirs = |bench: &Bench| {
        let path = bench.data.pool("large", "machines.long")?;
        let size = usize::try_from(fs::metadata(&path)?.len())?;
        Ok(silent(bench.peer.run(bench, &["parse", &path.to_string_lossy()]))?.amount(size))
    };
    [
        Row::new(format!("{work}, one thread; whole process"), Unit::Throughput, move |bench| run(bench, "1"))
            .beside(PARSER, theirs),
        Row::new(format!("{work}, two threads; whole process"), Unit::Throughput, move |bench| run(bench, "2"))
            .beside("one thread", move |bench| run(bench, "1")),
    ]
}

fn querying(kind: &'static str, constraint: &'static str) -> Vec<Row> {
    let dump = |bench: &Bench| -> Result<String> {
        Ok(bench.data.pool("dump", "machines.long")?.to_string_lossy().into_owned())
    };
    let ours =
        move |bench: &Bench| process::run(BINARY, &["query", constraint, &dump(bench)?, "--af", "Name"], bench.limit);
    vec![
        Row::new(format!("`query` of the dump, {kind}, names printed; whole process"), Unit::Time, ours)
            .beside(SCRIPT, move |bench| bench.peer.run(bench, &["query", constraint, &dump(bench)?])),
        Row::new(format!("the same, {kind}, beside a mere search"), Unit::Time, move |bench| silent(ours(bench)))
            .beside("`grep -c '^OpSysAndVer'`", move |bench| {
                silent(process::run("grep", &["-c", "^OpSysAndVer", &dump(bench)?], bench.limit))
            }),
        Row::new(format!("peak of its anonymous memory, {kind}"), Unit::Bytes, move |bench| {
            let peak = process::peak(BINARY, &["query", constraint, &dump(bench)?, "--af", "Name"], bench.limit)?;
            #[allow(clippy::cast_precision_loss)] // bytes of this machine
            Ok(Run { cost: peak as f64, amount: 1.0, ..Run::default() })
        }),
        Row::new(format!("query of ads in memory, {kind}"), Unit::Rate, move |bench| {
            tasks::query(&bench.data.pool("pool", "machines.long")?, constraint)
        })
        .beside(LIBRARY, move |bench| {
            let path = bench.data.pool("pool", "machines.long")?;
            let ads = usize::try_from(bench.data.sizes("pool")[0])?;
            let run = bench.peer.ask(&task("query", &[&path], &[json!(constraint), json!(ROUNDS)]))?;
            Ok(run.amount(ads * ROUNDS))
        }),
    ]
}

fn testing() -> [Row; 2] {
    let index = |bench: &Bench| bench.data.index(DomainMix::Ten, bench.data.size(2000), 8);
    let pool = |bench: &Bench| bench.data.pool_files("pool");
    [
        Row::new("one bilateral test, no index: ads of the index workload", Unit::Each, move |bench| {
            tasks::pairs(&index(bench)?)
        })
        .beside(LIBRARY, move |bench| their_pairs(bench, &index(bench)?)),
        Row::new("one bilateral test, no index: ads of the pool", Unit::Each, move |bench| tasks::pairs(&pool(bench)?))
            .beside(LIBRARY, move |bench| their_pairs(bench, &pool(bench)?)),
    ]
}

fn indexing(n: u32, mix: DomainMix) -> Row {
    let work =
        format!("index workload (thesis §4.6), N = {n}, 8 attributes, mix {}: build and all queries", mix.name());
    let ours = move |bench: &Bench| Ok(tasks::every_query(bench, &bench.data.index(mix, n, 8)?, Accelerations::ALL)?.0);
    Row::new(work, Unit::Time, ours).beside(SAMPLE, move |bench| {
        let run = their_pairs(bench, &bench.data.index(mix, n, 8)?)?;
        let all = f64::from(n) * f64::from(n);
        Ok(Run { cost: run.each() * all, amount: 1.0, answer: None, is_estimate: true, ..run })
    })
}

fn matching(name: &'static str, [machines, jobs]: [u32; 2]) -> Row {
    let files = |bench: &Bench| -> Result<[String; 2]> {
        Ok(bench.data.pool_files(name)?.map(|path| path.to_string_lossy().into_owned()))
    };
    let work = format!("`match`, {machines} x {jobs}, from files; whole process");
    let ours = move |bench: &Bench| {
        let [jobs, machines] = files(bench)?;
        silent(process::run(BINARY, &["match", &jobs, "--pool", &machines], bench.limit))
    };
    Row::new(work, Unit::Time, ours).beside(PARSER, move |bench| {
        let [jobs, machines] = files(bench)?;
        silent(bench.peer.run(bench, &["parse", &jobs, &machines]))
    })
}

fn their_pairs(bench: &Bench, [left, right]: &tasks::Files) -> Result<Run> {
    Ok(bench.peer.ask(&task("pairs", &[left, right], &[json!(PAIRS)]))?.amount(PAIRS))
}

/// A run whose answer is another one than theirs.
fn silent(run: Result<Run>) -> Result<Run> {
    Ok(Run { answer: None, ..run? })
}

/// The table as text, and whether all answers agree.
pub fn report(bench: &Bench, only: Option<&str>) -> Result<(String, bool)> {
    let mut text = format!("# Measured\n\nOn {}.\n", machine::described());
    let rounds = bench.rounds;
    writeln!(text, "Ours and theirs in turns in one run, medians of {rounds} (fewer of what takes minutes).")?;
    text += "What is done in less than a fifth of a second is done again and again, for about as long.\n";
    text += "Ratios are what counts: how many times less time or memory.\n\n";
    text += &table::heading(&["work", "ours", "beside", "theirs", "ratio"]);
    print!("{text}");
    let mut is_sound = true;
    for row in rows(&bench.data).iter().filter(|row| only.is_none_or(|only| row.work.contains(only))) {
        let theirs = row.theirs.as_ref().map(|(_, theirs)| &**theirs as Task);
        let (ours, theirs) = in_turns(bench, &*row.ours, theirs)?;
        let mut cells = vec![row.work.clone(), row.unit.show(&ours)];
        match (&row.theirs, theirs) {
            (Some((name, _)), Some(theirs)) => {
                let differs = ours.answer.as_ref().zip(theirs.answer.as_ref()).is_some_and(|(one, other)| one != other);
                is_sound &= !differs;
                let ratio = table::ratio(&ours, &theirs);
                let ratio = if differs { format!("{ratio}, but answers differ") } else { ratio };
                cells.extend([(*name).to_owned(), row.unit.show(&theirs), ratio]);
            }
            _ => cells.extend(["-".to_owned(), "-".to_owned(), "-".to_owned()]),
        }
        let line = table::line(&cells);
        print!("{line}");
        text += &line;
    }
    Ok((text, is_sound))
}
