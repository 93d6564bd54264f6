//! Explanations: what they say is what evaluating every pair says.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use classad::ad::{Ad, Dialect, Expression, Name, Truth, Value};
use classad::eval::Context;
use classad::explain::{Explainer, RequestEdit, RequestReport, RequestVerdict};
use classad::matching::{Pair, PairSide};
use classad::protocol::Protocol;
use classad::syntax::{ParseOptions, Style, parse_ad, print_ad};
use fastrand::Rng;

use super::random::seeds;

const DIALECTS: [Dialect; 2] = [Dialect::Classad, Dialect::Condor];

fn pick<'a>(random: &mut Rng, from: &[&'a str]) -> &'a str {
    from[random.usize(0..from.len())]
}

/// A clause of a request, or of an offer: names meet on both sides, or on neither.
fn clause(random: &mut Rng) -> String {
    let name = pick(random, &["Cpus", "Memory", "Arch", "Owner", "Gpus", "Disk", "Half"]);
    let side = pick(random, &["other.", "other.", "target.", "TARGET.", "", "self.", "MY."]);
    let constant = pick(
        random,
        &["1", "2", "3", "2.5", "\"a\"", "\"A\"", "\"b\"", "true", "undefined", "Cpus", "self.Memory", "Wish", "\"2\""],
    );
    let operator = pick(random, &["<", "<=", "==", "!=", ">=", ">", "is", "isnt"]);
    match random.u8(0..15) {
        0 => format!("{side}{name}"),
        1 => format!("({side}{name} {operator} {constant} || other.Cpus > 2)"),
        2 => format!("!({side}{name} {operator} {constant})"),
        3 => format!("{constant} {operator} {side}{name}"),
        4 => format!("{side}{name} + 1 {operator} {constant}"),
        5 => format!("isUndefined({side}{name})"),
        6 => format!("{side}{name} - 1 > {constant} is undefined ? {constant} : true"),
        7 => pick(random, &["START", "MY.Half", "Requirements", "Constraint is error", "eval(\"other.Cpus > 1\")"])
            .into(),
        8 => pick(random, &["true", "1", "false", "unparse(Half) == \"x\"", "nosuch(1)", "other.START"]).into(),
        9 => format!("stringListMember({side}{name}, \"a, 2, c\")"),
        _ => format!("{side}{name} {operator} {constant}"),
    }
}

fn clauses(random: &mut Rng, most: usize) -> String {
    let clauses: Vec<String> = (0..random.usize(1..=most)).map(|_| clause(random)).collect();
    clauses.join(" && ")
}

fn ad(random: &mut Rng, most: usize) -> String {
    let mut text = String::from("[ ");
    let mut add = |random: &mut Rng, name: &str, values: &[&str]| {
        if random.u8(0..4) > 0 {
            let _ = write!(text, "{name} = {}; ", pick(random, values));
        }
    };
    add(random, "Cpus", &["1", "2", "3", "2.0", "\"2\"", "Memory"]);
    add(random, "Memory", &["1", "2", "3", "4"]);
    add(random, "Arch", &["\"a\"", "\"A\"", "\"b\"", "\"b\""]);
    add(random, "Owner", &["\"a\"", "\"b\"", "undefined", "error"]);
    add(random, "Disk", &["1", "2", "other.Cpus", "other.Disk"]);
    add(random, "Half", &["Cpus / 2", "other.Memory > 1", "MY.Cpus > 1 && other.Cpus > 1"]);
    add(random, "Wish", &["1", "2", "3"]);
    let start = clauses(random, 2);
    add(random, "START", &[&start, "true", "Constraint"]);
    if random.u8(0..12) > 0 {
        let _ = write!(text, "Constraint = {} ", clauses(random, most));
    }
    text + "]"
}

struct Brute<'a> {
    offers: &'a [Ad],
    protocol: Protocol,
    context: Context,
}

impl Brute<'_> {
    fn pair(&self, request: &Ad, offer: usize) -> Pair {
        Pair::new(request.clone(), self.offers[offer].clone(), self.protocol.clone(), self.context.clone())
    }

    fn matching(&self, request: &Ad) -> Vec<usize> {
        let accepts = |offer: &usize| {
            let pair = self.pair(request, *offer);
            [PairSide::Request, PairSide::Offer].iter().all(|side| pair.accepts(*side).unwrap())
        };
        (0..self.offers.len()).filter(accepts).collect()
    }

    /// What each clause of a report is in each offer.
    fn outcomes(&self, request: &Ad, report: &RequestReport) -> Vec<Vec<Truth>> {
        let of_offer = |offer| {
            let pair = self.pair(request, offer);
            let of_clause = report.clauses.iter().map(|clause| {
                let clause = &clause.analysis.clause;
                let value = if clause.is_whole {
                    pair.evaluate_attribute(PairSide::Request, &clause.path[0])
                } else {
                    pair.evaluate(PairSide::Request, &clause.expression)
                };
                outcome(&value.unwrap(), self.context.dialect)
            });
            of_clause.collect()
        };
        (0..self.offers.len()).map(of_offer).collect()
    }
}

/// Groups of refusals: the clause, the outcome, the number of offers, the number of suitable offers, and the example.
type Refusals = Vec<(Option<String>, Truth, usize, usize, usize)>;

fn refusals(report: &RequestReport) -> Refusals {
    let told = report.refusals.iter();
    told.map(|group| (group.demand.clause.clone(), group.demand.outcome, group.offers, group.suitable, group.example))
        .collect()
}

impl Brute<'_> {
    /// The refusals, of which each offer is asked by itself: every clause is evaluated in it. An offer counts at the unmet
    /// clause that all suitable offers have, if there is one, else at one that no request
    /// meets, else at its first one.
    fn refusals(&self, request: &Ad) -> Refusals {
        let explainer = Explainer::new(self.offers, self.protocol.clone(), self.context.clone());
        let asked = (0..self.offers.len()).map(|offer| {
            let clauses = explainer.explain_pair(request, offer).offer;
            let is_unconstrained = clauses.is_empty();
            let unmet = clauses.into_iter().filter(|clause| clause.outcome != Truth::True);
            let mut unmet: Vec<(Option<String>, Truth)> =
                unmet.map(|unmet| (Some(unmet.text), unmet.outcome)).collect();
            let own = &self.offers[offer];
            let is_literal = |name: &str| own.get_str(name).is_some_and(|own| own.as_literal().is_some());
            let is_closed =
                |text: &String| text.eq_ignore_ascii_case("false") || is_literal(text.trim_start_matches("MY."));
            unmet.sort_by_key(|(text, _)| !text.as_ref().is_some_and(is_closed));
            unmet.extend(is_unconstrained.then_some((None, Truth::Undefined)));
            (offer, unmet, self.pair(request, offer).accepts(PairSide::Request).unwrap())
        });
        let asked: Vec<_> = asked.filter(|(_, unmet, _)| !unmet.is_empty()).collect();
        let suitable: Vec<_> =
            asked.iter().filter(|(.., is_suitable)| *is_suitable).map(|(_, unmet, _)| unmet).collect();
        let is_common =
            |text: &&Option<String>| suitable.iter().all(|unmet| unmet.iter().any(|(other, _)| other == *text));
        let mut of_first = suitable.first().into_iter().flat_map(|unmet| unmet.iter().map(|(text, _)| text));
        let common = of_first.find(is_common);
        let mut found: Refusals = Vec::new();
        for (offer, unmet, is_suitable) in &asked {
            let of_common = unmet.iter().find(|(text, _)| *is_suitable && Some(text) == common);
            let (clause, outcome) = of_common.unwrap_or(&unmet[0]).clone();
            let (offer, suitable) = (*offer, usize::from(*is_suitable));
            match found.iter_mut().find(|group| group.0 == clause) {
                Some((_, _, offers, suitable_offers, example)) => {
                    if suitable > 0 && *suitable_offers == 0 {
                        *example = offer;
                    }
                    *offers += 1;
                    *suitable_offers += suitable;
                }
                None => found.push((clause, outcome, 1, suitable, offer)),
            }
        }
        found.sort_by_key(|(_, _, offers, suitable, _)| std::cmp::Reverse((*suitable, *offers)));
        found
    }
}

fn outcome(value: &Value, dialect: Dialect) -> Truth {
    match value {
        value if Truth::of(value, dialect).is_true() => Truth::True,
        Value::Boolean(_) => Truth::False,
        Value::Integer(_) | Value::Real(_) if dialect.is_condor() => Truth::False,
        Value::Undefined => Truth::Undefined,
        _ => Truth::Error,
    }
}

/// The sets of clauses that no offer meets, while each smaller set is met by some.
fn conflicts(outcomes: &[Vec<Truth>], clauses: usize) -> Vec<Vec<usize>> {
    let is_met = |set: usize| {
        outcomes.iter().any(|of| (0..clauses).all(|clause| set >> clause & 1 == 0 || of[clause] == Truth::True))
    };
    let is_minimal = |set: usize| {
        let without = |clause: usize| set & !(1 << clause);
        !is_met(set) && (0..clauses).all(|clause| without(clause) == set || is_met(without(clause)))
    };
    let places = |set: usize| (0..clauses).filter(|clause| set >> clause & 1 == 1).collect::<Vec<_>>();
    let mut found: Vec<Vec<usize>> = (1..1 << clauses).filter(|set| is_minimal(*set)).map(places).collect();
    found.sort_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
    found
}

/// A thousand random requests and pools: every count, conflict and change is what evaluation says.
#[test]
fn every_count_is_that_of_brute_force() {
    let (mut changes, mut joined, mut sets, mut verdicts) = (0, 0, 0, std::collections::BTreeMap::new());
    for seed in seeds().take(1000) {
        let mut random = Rng::with_seed(seed);
        let dialect = DIALECTS[random.usize(0..2)];
        let parse = |text: &str| {
            parse_ad(text.as_bytes(), ParseOptions::new(dialect)).unwrap_or_else(|error| panic!("{text}: {error:?}"))
        };
        let mut offers: Vec<Ad> = (0..random.usize(1..12)).map(|_| parse(&ad(&mut random, 2))).collect();
        // Some offers are one ad in memory.
        offers.extend(offers.first().cloned().filter(|_| random.bool()));
        let request = parse(&ad(&mut random, 6));
        let shown = || {
            let offers: Vec<_> = offers.iter().map(|ad| print_ad(ad, Style::default())).collect();
            let texts = std::iter::once(print_ad(&request, Style::default())).chain(offers);
            let texts: Vec<String> = texts.map(|text| String::from_utf8(text).unwrap()).collect();
            format!("seed {seed}, {dialect}: {}", texts.join("\n"))
        };
        let context = Context { random: None, now: Some(1), ..Context::new(dialect) };
        let protocol = Protocol::new(dialect);
        let brute = Brute { offers: &offers, protocol: protocol.clone(), context: context.clone() };
        let explainer = Explainer::new(&offers, protocol, context);
        // What is asked once more is answered as before, whatever was asked in between.
        let _ = explainer.explain(&parse(&ad(&mut random, 3)));
        let report = explainer.explain(&request);
        let matching = brute.matching(&request);
        assert_eq!(explainer.matching_offers(&request), matching, "{}", shown());
        assert_eq!((report.offers, report.matches), (offers.len(), matching.len()), "{}", shown());
        assert_eq!(report.verdict == RequestVerdict::Matches, !matching.is_empty(), "{}", shown());

        let outcomes = brute.outcomes(&request, &report);
        let clauses = report.clauses.len();
        for (place, clause) in report.clauses.iter().enumerate() {
            let count = |wanted: Truth| outcomes.iter().filter(|of| of[place] == wanted).count();
            let counts = &clause.counts;
            let found = [counts.is_true, counts.is_false, counts.undefined, counts.error];
            let expected = [Truth::True, Truth::False, Truth::Undefined, Truth::Error].map(count);
            assert_eq!(found, expected, "clause {place}, {}", shown());
            let is_true = |of: &Vec<Truth>, clause: usize| of[clause] == Truth::True;
            let remaining = outcomes.iter().filter(|of| (0..=place).all(|clause| is_true(of, clause))).count();
            assert_eq!(clause.remaining, remaining, "clause {place}, {}", shown());
            let others = |of: &&Vec<Truth>| (0..clauses).all(|other| other == place || is_true(of, other));
            let alone = outcomes.iter().filter(|of| of[place] != Truth::True).filter(others).count();
            assert_eq!(clause.sole_blocker, alone, "clause {place}, {}", shown());
        }
        let accepts = |side, offer| brute.pair(&request, offer).accepts(side).unwrap();
        let suitable = (0..offers.len()).filter(|offer| accepts(PairSide::Request, *offer)).count();
        assert_eq!(report.suitable, suitable, "{}", shown());
        let refusing = (0..offers.len()).filter(|offer| !accepts(PairSide::Offer, *offer)).count();
        assert_eq!(report.refusals.iter().map(|refusal| refusal.offers).sum::<usize>(), refusing, "{}", shown());
        assert_eq!(refusals(&report), brute.refusals(&request), "{}", shown());
        let suitable = report.refusals.iter().filter(|refusal| refusal.suitable > 0).count();
        assert_eq!((report.refusal_count, report.suitable_refusal_count), (report.refusals.len(), suitable));

        if clauses > 0 {
            assert!(!report.conflicts.is_truncated);
            assert_eq!(report.conflicts.sets, conflicts(&outcomes, clauses), "{}", shown());
            sets += report.conflicts.sets.len();
        }
        for near in &report.closest {
            let unmet = outcomes[near.offer].iter().enumerate().filter(|(_, is)| **is != Truth::True);
            let unmet: Vec<(usize, Truth)> = unmet.map(|(place, is)| (place, *is)).collect();
            assert_eq!(near.failed_clauses, unmet, "{}", shown());
            assert_eq!(near.unmet_demands.is_empty(), accepts(PairSide::Offer, near.offer), "{}", shown());
        }
        for change in &report.changes {
            assert_eq!(change.matched.count, brute.matching(&change.request).len(), "{}: {}", change.text(), shown());
            assert!(change.matched.count > 0 && !change.edits.is_empty());
            changes += 1;
            joined += usize::from(
                change.edits.iter().any(|edit| matches!(edit, RequestEdit::Set { .. })) && change.edits.len() > 1,
            );
        }
        *verdicts.entry(report.verdict.as_str()).or_insert(0) += 1;
    }
    // The texts are such that there is something of everything.
    assert!(changes > 200 && joined > 40 && sets > 300, "{changes} changes, {joined} of several, {sets} conflicts");
    assert!(verdicts.len() >= 7, "{verdicts:?}");
}

/// Threads that share an explainer, and its caches, tell what one that is asked first tells; a limit shortens the
/// refusals and nothing else.
#[test]
fn threads_can_share_an_explainer() {
    let mut random = Rng::with_seed(5);
    let context = Context { random: None, now: Some(1), ..Context::new(Dialect::Condor) };
    let parse = |text: &str| parse_ad(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
    let offers: Vec<Ad> = (0..100).map(|_| parse(&ad(&mut random, 2))).collect();
    let requests: Vec<Ad> = (0..40).map(|_| parse(&ad(&mut random, 6))).collect();
    let explainer = || Explainer::new(&offers, Protocol::new(Dialect::Condor), context.clone());
    let shown = |report: &RequestReport| format!("{report:?}");
    let expected: Vec<RequestReport> = requests.iter().map(|request| explainer().explain(request)).collect();
    let (shared, limited) = (explainer(), explainer().with_max_refusals(3));
    std::thread::scope(|scope| {
        for first in [0, 20] {
            let (requests, expected, shared, limited) = (&requests, &expected, &shared, &limited);
            scope.spawn(move || {
                for number in (0..requests.len()).map(|number| (number + first) % requests.len()) {
                    let report = shared.explain(&requests[number]);
                    assert_eq!(shown(&report), shown(&expected[number]), "request {number}");
                    let short = limited.explain(&requests[number]);
                    let refusals = report.refusals.iter().take(3).cloned().collect();
                    assert_eq!(shown(&short), shown(&RequestReport { refusals, ..report }), "request {number}");
                }
            });
        }
    });
}

/// What is told to be changed beside a clause is needed.
#[test]
fn nothing_needless_is_changed() {
    let parse = |text: &str| parse_ad(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
    let offer = |memory: u32, disk: u32| {
        parse(&format!(
            "[ Memory = {memory}; Disk = {disk}; Requirements = TARGET.RequestMemory <= MY.Memory \
             && TARGET.RequestDisk <= MY.Disk && TARGET.Owner != \"bob\" ]"
        ))
    };
    let request = parse("[ RequestMemory = 128; Owner = \"al\"; Requirements = TARGET.Memroy >= RequestMemory ]");
    let context = Context::new(Dialect::Condor);
    let explainer = Explainer::new(&[offer(64, 10), offer(32, 5)], Protocol::new(Dialect::Condor), context);
    let report = explainer.explain(&request);
    let changes: Vec<_> = report.changes.iter().collect();
    let steps: Vec<&[String]> = changes.iter().map(|change| change.steps.as_slice()).collect();
    let expected = ["`TARGET.Memroy >= RequestMemory` -> `TARGET.Memory >= RequestMemory`", "RequestDisk = 5"];
    assert_eq!(steps[0][..2], expected);
    assert_eq!((steps[0].len(), steps[0][2].as_str(), changes[0].matched.count), (3, "RequestMemory 128 -> 64", 1));
    for change in changes {
        for left_out in 0..change.edits.len() {
            // Without it, the request is as it was in this: nothing matches.
            let mut ad = change.request.clone();
            match &change.edits[left_out] {
                RequestEdit::Set { name, from: Some(from), .. } | RequestEdit::Remove { name, from } => {
                    ad = ad.with(name.clone(), from.clone());
                }
                RequestEdit::Set { name, from: None, .. } | RequestEdit::Define { name } => {
                    let others = ad.iter().filter(|attribute| attribute.name != name);
                    ad = others.map(|attribute| (attribute.name.clone(), attribute.expression.clone())).collect();
                }
                RequestEdit::Drop { .. } | RequestEdit::Rewrite { .. } | RequestEdit::DropPorts { .. } => {
                    let name = Name::new("Requirements");
                    ad = ad.with(name.clone(), request.get(&name).unwrap().clone());
                }
            }
            assert!(explainer.matching_offers(&ad).is_empty(), "{}", change.text());
        }
    }
}

/// No request for a resource is made smaller than the other steps of a change need: what any offer has in between does
/// not match.
#[test]
fn no_request_is_smaller_than_needed() {
    let parse = |text: &str| parse_ad(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
    let mut random = fastrand::Rng::with_seed(22);
    let mut checked = 0;
    for _ in 0..100 {
        let offers: Vec<Ad> = (0..random.usize(2..8))
            .map(|_| {
                let (cpus, memory) = (random.u32(1..30), random.u32(1..30) * 100);
                // No change of the owner is proposed: some slots seem near and cannot be had.
                let owner = if random.bool() { "&& TARGET.Owner == \"bob\"" } else { "" };
                parse(&format!(
                    "[ Cpus = {cpus}; Memory = {memory}; Requirements = !isUndefined(TARGET.ProjectName) \
                     && TARGET.RequestCpus <= MY.Cpus {owner} ]"
                ))
            })
            .collect();
        let request = parse(
            "[ RequestCpus = 32; RequestMemory = 4000; Owner = \"al\"; \
             Requirements = TARGET.Cpus >= RequestCpus && TARGET.Memory >= RequestMemory ]",
        );
        let explainer = Explainer::new(&offers, Protocol::new(Dialect::Condor), Context::new(Dialect::Condor));
        let report = explainer.explain(&request);
        for change in report.changes.iter().filter(|change| change.edits.len() > 1) {
            for edit in &change.edits {
                let RequestEdit::Set { name, from: Some(from), to } = edit else { continue };
                let number = |value: &Expression| match value.as_literal() {
                    Some(Value::Integer(integer)) => *integer,
                    other => panic!("{other:?}"),
                };
                let resource = Name::new(&name.as_str()["Request".len()..]);
                let amounts = offers.iter().filter_map(|offer| offer.get(&resource)).map(number);
                for amount in amounts.filter(|amount| (number(to) + 1..number(from)).contains(amount)) {
                    let larger = change.request.with(name.clone(), Expression::literal(Value::Integer(amount)));
                    assert!(explainer.matching_offers(&larger).is_empty(), "{} not {amount}", change.text());
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 50, "{checked}");
}

/// Two literal bounds are relaxed to the values of one offer; names and operators are those of the dialect.
#[test]
fn bounds_are_relaxed_together() {
    let parse = |text: &str| parse_ad(text.as_bytes(), ParseOptions::default()).unwrap();
    let offers = ["[ Memory = 8; Disk = 1; Constraint = true ]", "[ Memory = 4; Disk = 5; Constraint = true ]"];
    let offers = offers.map(parse);
    let explainer = Explainer::new(&offers, Protocol::new(Dialect::Classad), Context::new(Dialect::Classad));
    let report = explainer.explain(&parse("[ Constraint = other.Memory >= 9 && other.Disk >= 6 && self.Prio > 1 ]"));
    let steps = ["`other.Memory >= 9` -> `other.Memory >= 8`", "`other.Disk >= 6` -> `other.Disk >= 1`"];
    assert!(report.changes.iter().any(|change| change.steps[..2] == steps), "{:?}", report.changes);
    assert!(
        report.remarks.iter().any(|remark| remark.text == "this ad has no Prio, which self.Prio reads"),
        "{:?}",
        report.remarks
    );
}

/// A situation: files, and the arguments of `classad explain`.
struct Situation {
    arguments: Vec<String>,
    files: Vec<(String, String)>,
}

impl Situation {
    fn parse(text: &str) -> Self {
        let mut situation = Situation { arguments: Vec::new(), files: Vec::new() };
        for part in text.split("\n--- ").skip(1) {
            let (name, content) = part.split_once('\n').unwrap();
            match name {
                "arguments" => situation.arguments = content.split_whitespace().map(str::to_owned).collect(),
                name => situation.files.push((name.to_owned(), format!("{}\n", content.trim_end()))),
            }
        }
        situation
    }

    /// What is printed at a width, on a terminal without one if there is none; escapes are shown.
    fn run(&self, folder: &Path, columns: Option<&str>, more: &[&str]) -> (String, Option<i32>) {
        std::fs::create_dir_all(folder).unwrap();
        for (name, content) in &self.files {
            std::fs::write(folder.join(name), content).unwrap();
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_classad"));
        command.current_dir(folder).env_remove("COLUMNS").env("LC_ALL", "C.UTF-8").env_remove("NO_COLOR");
        command.args(["explain", &self.files[0].0, "--pool", &self.files[1].0]).args(&self.arguments).args(more);
        if let Some(columns) = columns {
            command.env("COLUMNS", columns);
        }
        let output = command.output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        let mut text = String::from_utf8(output.stdout).unwrap();
        for line in errors.lines() {
            let _ = writeln!(text, "! {line}");
        }
        (text.replace('\x1b', "<ESC>"), output.status.code())
    }
}

/// Every situation of `tests/cases/explain`, at three widths, in colour, and piped.  With `BLESS=1` in the environment
/// what differs is rewritten.
#[test]
fn what_is_shown() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/explain");
    let mut names: Vec<_> = std::fs::read_dir(&cases).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.retain(|path| path.extension().is_some_and(|extension| extension == "case"));
    names.sort();
    assert!(names.len() >= 25);
    let mut differing = Vec::new();
    for path in names {
        let situation = Situation::parse(&std::fs::read_to_string(&path).unwrap());
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let folder = crate::binary::temporary().join("explain").join(&name);
        let mut shown = String::new();
        let mut last = String::new();
        for columns in ["60", "120", "80"] {
            let (text, status) = situation.run(&folder, Some(columns), &[]);
            assert!(matches!(status, Some(0 | 1)), "{name}: {status:?}\n{text}");
            if text != last {
                let _ = write!(shown, "=== {columns} columns, status {}\n{text}", status.unwrap());
            }
            last = text;
        }
        let (piped, _) = situation.run(&folder, None, &[]);
        if piped != last {
            // Only tables are wider: no column is dropped and no cell is broken.
            let _ = write!(shown, "=== in a pipe\n{piped}");
            assert!(!piped.contains("(no room for"), "{name}");
        }
        assert!(!shown.contains("<ESC>"), "{name}: nothing of the input, and no colour, reaches a terminal");
        let (coloured, _) = situation.run(&folder, Some("80"), &["--color", "always"]);
        if coloured != last {
            let _ = write!(shown, "=== 80 columns, in colour\n{coloured}");
        }
        let expected = path.with_extension("out");
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&expected, &shown).unwrap();
        } else if std::fs::read_to_string(&expected).unwrap_or_default() != shown {
            differing.push(format!("{name}:\n{shown}"));
        }
    }
    assert!(differing.is_empty(), "{}\n(BLESS=1 rewrites them)", differing.join("\n"));
}

/// The first line says it all, and the first screen is no longer than a screen.
#[test]
fn the_first_line_suffices() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/explain");
    for (name, words) in [
        ("misspelt", &["no slot defines OpSysMajorVersion", "OpSysMajorVer?", "3 slots have it"][..]),
        ("string-number", &["of a number and a string is an error", "TARGET.Memory >= 4096"]),
        ("case", &["=?= is case-sensitive", "\"LINUX\""]),
        ("precedence", &["is read as `((TARGET.Memory - 1024 > TARGET.Limit) =?= undefined) ?"]),
        ("memory", &["no slot has Memory >= 65536 (RequestMemory)", "63488"]),
        ("contradiction", &["TARGET.Memory > 64000", "TARGET.Memory < 4000", "never be true together"]),
        ("conflict", &["Arch", "Cpus >= 32", "together"]),
        ("refused", &["but it refuses: `TARGET.Owner != \"alice\"` is false"]),
        ("taken", &["7.1 matches 1 of 3 slots", "which goes to 7.0"]),
        ("three-obstacles", &["no slot defines Memroy", "did you mean Memory?"]),
        ("lacking", &["reads RequestMem, which its own ad does not have", "RequestMemory"]),
        ("function", &["there is no function regex()", "regexp()"]),
        ("gang-bound", &["cpu stays empty", "no offer has cpu.Memory >= 65536 (RequestMemory)", "32768"]),
        ("gang-misspelt", &["cpu stays empty", "no offer has Memroy", "Memory? 2 offers have it"]),
        ("gang-held", &["first and second both need slot1@a, and no other offer fits"]),
        ("gang-refused", &["cpu stays empty", "it refuses", "job.Priority >= 5"]),
        ("gang-nested", &["service fits server", "own port license", "license.Type is \"Machine\""]),
        ("gang-taken", &["job-2 could have a gang", "go to job-1"]),
        ("docking", &["gives it none", "its rule `label.Speeed` has no value"]),
    ] {
        let situation = Situation::parse(&std::fs::read_to_string(cases.join(name).with_extension("case")).unwrap());
        let folder = crate::binary::temporary().join("explain-first").join(name);
        let (text, _) = situation.run(&folder, Some("80"), &[]);
        let first = text.lines().next().unwrap_or_default();
        for word in words {
            assert!(first.contains(word), "{name}: {word} is not in {first}");
        }
        assert!(text.lines().count() <= 25, "{name}: {text}");
    }
}

/// Why a job of the generated pool is never matched, by what its constraint says: the verdict and an attribute.
fn cause(job: &str) -> Option<(&'static [&'static str], &'static str)> {
    const MISSING: &[&str] = &["missing-attribute"];
    const UNSATISFIED: &[&str] = &["unsatisfied-clause"];
    [
        ("TARGET.HasSingularty", MISSING, "HasSingularty"),
        ("TARGET.OpSysMajorVersion", MISSING, "OpSysMajorVersion"),
        ("(TARGET.HasCVMFS)", MISSING, "HasCVMFS"),
        ("Target.GpuCapability", MISSING, "GpuCapability"),
        ("(TARGET.OpSysMajorVer == 6)", UNSATISFIED, "OpSysMajorVer"),
        ("\"CentOS6\"", UNSATISFIED, "OpSysAndVer"),
        ("\"SL6\"", UNSATISFIED, "OpSysAndVer"),
        ("\"RedHat7\"", UNSATISFIED, "OpSysAndVer"),
        ("\"INTEL\"", UNSATISFIED, "Arch"),
        ("\"aarch64\"", UNSATISFIED, "Arch"),
        ("\"ppc64le\"", UNSATISFIED, "Arch"),
        ("RequestMemory = 4000000\n", UNSATISFIED, "RequestMemory"),
        ("RequestMemory = 8000000\n", UNSATISFIED, "RequestMemory"),
        ("RequestMemory = 16777216\n", UNSATISFIED, "RequestMemory"),
        ("TARGET.Memory < ", &["contradiction"], "Memory"),
    ]
    .into_iter()
    .find_map(|(text, verdicts, attribute)| job.contains(text).then_some((verdicts, attribute)))
}

/// Each reference to an attribute that draws random numbers has another value: what looks like a contradiction can be
/// true, and is not called one.
#[test]
fn chance_is_no_contradiction() {
    let ad = |text: &str| parse_ad(text.as_bytes(), ParseOptions::default()).unwrap();
    let (protocol, context) = (Protocol::new(Dialect::Classad), Context::new(Dialect::Classad));
    for (request, x) in [
        ("[ Constraint = other.x < 0.3 && other.x > 0.6 ]", "random()"),
        ("[ Constraint = other.x < 0.3 && other.x > 0.6 ]", "y + 0; y = random()"),
        ("[ y = random(); Constraint = y < 0.3 && MY.y > 0.6 ]", "1"),
    ] {
        let (request, offer) = (ad(request), ad(&format!("[ x = {x}; Constraint = true ]")));
        let pair = Pair::new(request.clone(), offer.clone(), protocol.clone(), context.clone());
        assert!((0..10_000).any(|_| pair.accepts(PairSide::Request) == Ok(true)), "{x}");
        // A draw that matches is not a failure to explain.
        let explainer = Explainer::new(&[offer], protocol.clone(), context.clone());
        for _ in 0..20 {
            let verdict = explainer.explain(&request).verdict;
            assert!(!matches!(verdict, RequestVerdict::Contradiction { .. }), "{x}: {verdict:?}");
        }
    }
    let steady = ad("[ x = y + 0; y = 1; Constraint = true ]");
    let request = ad("[ Constraint = other.x < 0.3 && other.x > 0.6 ]");
    let verdict = Explainer::new(&[steady], protocol, context).explain(&request).verdict;
    assert!(matches!(verdict, RequestVerdict::Contradiction { .. }), "{verdict:?}");
}

/// Every job of a generated pool that can never match is told why, and that is true.
#[test]
fn causes_that_are_known_are_found() {
    let folder = crate::binary::temporary().join("explain-pool");
    std::fs::create_dir_all(&folder).unwrap();
    let classad = |arguments: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_classad"));
        command.args(arguments.split(' ')).current_dir(&folder).output().unwrap()
    };
    for kind in ["machines", "jobs"] {
        let ads = classad(&format!("workload pool --machines 250 --jobs 2000 --never 0.3 --form long --kind {kind}"));
        std::fs::write(folder.join(kind), ads.stdout).unwrap();
    }
    let output = classad("explain jobs --pool machines --unmatched -o json");
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["schema"], "classad.explain/2");
    let reports = document["reports"].as_array().unwrap();
    let text = std::fs::read_to_string(folder.join("jobs")).unwrap();
    let mut told = std::collections::BTreeMap::new();
    for job in text.split("\n\n") {
        let Some((verdicts, attribute)) = cause(job) else { continue };
        let id = job.lines().find_map(|line| line.strip_prefix("GlobalJobId = ")).unwrap().trim_matches('"');
        let number = id.split('#').nth(1).unwrap();
        let of_job = reports
            .iter()
            .find(|report| report["requests"].as_array().unwrap().iter().any(|name| name == id || name == number));
        let report = of_job.unwrap_or_else(|| panic!("{id} can never match: {job}"));
        let verdict = report["verdict"].as_str().unwrap();
        // What is wrong by itself comes before what is wrong with the pool.
        let is_expected = verdicts.contains(&verdict) || verdict == "contradiction";
        assert!(is_expected, "{id}: {verdict}, expected {verdicts:?}: {}", report["summary"]);
        let attributes = report["attributes"].as_array().unwrap();
        assert!(attributes.iter().any(|name| name == attribute), "{id}: {attribute} is not in {attributes:?}");
        *told.entry(attribute).or_insert(0) += 1;
    }
    assert!(told.len() >= 6, "{told:?}");
    for report in reports {
        let clauses = report["clauses"].as_array().unwrap();
        let never = clauses.iter().any(|clause| clause["true"] == 0);
        let remaining = clauses.last().map_or(0, |clause| clause["remaining"].as_u64().unwrap());
        match report["verdict"].as_str().unwrap() {
            "unsatisfied-clause" | "missing-attribute" | "type-clash" => assert!(never, "{report}"),
            "conflict" | "contradiction" => assert!(remaining == 0, "{report}"),
            "claimed" => assert!(report["slots"]["free"] == 0, "{report}"),
            "refused" | "taken" => assert!(remaining > 0, "{report}"),
            other => panic!("{other}: {report}"),
        }
    }
}

/// A clause with several mistakes is corrected at once, and not dropped.
#[test]
fn all_mistakes_of_a_clause_are_corrected() {
    let job = "MyType = \"Job\"\nClusterId = 1\nProcId = 0\nOwner = \"a\"\nRequestCpus = 1\nRequestMemory = 1\n\
        RequestDisk = 1\nRequirements = TARGET.OpSys == LINUX && TARGET.Machine != node01.example.org || TARGET.x\n";
    let job = super::binary::file("explain-mistakes.long", job);
    let (_, out, err) = super::binary::classad(&["explain", &job, "--pool", "samples/pool/machines.long"]);
    let corrected = "TARGET.OpSys == \"LINUX\" && TARGET.Machine != \"node01.example.org\"";
    let words = super::binary::words(&out);
    assert!(words.contains(&format!("-> `{corrected}")), "{out}{err}");
}
