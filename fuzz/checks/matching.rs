//! Matches with and without accelerations, explanations, and files in parts.

use std::fmt::Write;
use std::io::Cursor;
use std::ops::ControlFlow;

use classad::ad::{Ad, Dialect};
use classad::eval::Context;
use classad::explain::Explainer;
use classad::format::{FileFormat, PartBoundary, Stream, StreamLimits, part_boundary};
use classad::lint::Checker;
use classad::matching::negotiate::{NegotiationOutcome, NegotiationSettings, negotiate};
use classad::matching::policy::Policy;
use classad::matching::{Accelerations, Candidate, Matchmaker, Pair, PairSide};
use classad::pool::Census;
use classad::protocol::Protocol;
use classad::syntax::{ParseOptions, parse_ad};

use super::DIALECTS;
use super::random::{NAMES, Text, context, print_text};

/// The index finds the candidates that an evaluation of each pair finds, also after offers are replaced.
pub fn indexed(data: &[u8]) {
    for dialect in DIALECTS {
        let mut text = Text::from_bytes(data);
        let [mut offers, requests] = [6, 4].map(|most| party(&mut text, most, dialect));
        let (protocol, context) = (Protocol::new(dialect), context(dialect));
        let mut matcher = Matchmaker::new(&offers, protocol.clone(), context.clone(), Accelerations::ALL);
        for round in 0..2 {
            for request in &requests {
                let expected = candidates(request, &offers, &protocol, &context);
                let found = matcher.candidates(request);
                assert_eq!(
                    format!("{found:?}"),
                    format!("{expected:?}"),
                    "{dialect}, round {round}: {}\n{}",
                    print_text(request),
                    offers.iter().map(print_text).collect::<Vec<_>>().join("\n")
                );
            }
            let (Some(ad), false) = (party(&mut text, 1, dialect).pop(), offers.is_empty()) else { break };
            let replaced = text.random.usize(0..offers.len());
            offers[replaced] = ad.clone();
            matcher.replace(replaced, ad);
        }
    }
}

/// The candidates of a request among all offers, best first.
fn candidates(request: &Ad, offers: &[Ad], protocol: &Protocol, context: &Context) -> Vec<Candidate> {
    let candidate = |(offer, ad): (usize, &Ad)| {
        let pair = Pair::new(request.clone(), ad.clone(), protocol.clone(), context.clone());
        let is_match = pair.accepts(PairSide::Request).ok()? && pair.accepts(PairSide::Offer).ok()?;
        let ranks = [PairSide::Request, PairSide::Offer].map(|side| pair.rank(side));
        let [Ok(request_rank), Ok(offer_rank)] = ranks else { return None };
        is_match.then_some(Candidate { offer, request_rank, offer_rank })
    };
    let mut found: Vec<Candidate> = offers.iter().enumerate().filter_map(candidate).collect();
    found.sort_by(Candidate::cmp_best_first);
    found
}

/// Some ads with constraints and ranks. They share expressions.
fn party(text: &mut Text, most: usize, dialect: Dialect) -> Vec<Ad> {
    let constraints = [(); 2].map(|()| {
        let clauses: Vec<String> = (0..text.random.usize(0..4)).map(|_| clause(text)).collect();
        if clauses.is_empty() { "true".to_owned() } else { clauses.join(" && ") }
    });
    let rank = text.expression(1);
    let name = if dialect == Dialect::Condor { "Requirements" } else { "Constraint" };
    let ad = |text: &mut Text| {
        let body = text.ad(1, 6);
        let constraint = &constraints[text.random.usize(0..2)];
        let rank = if text.random.bool() { format!("Rank = {rank};") } else { String::new() };
        parse_ad(format!("[ {name} = {constraint}; {rank} {}", &body[1..]).as_bytes(), ParseOptions::new(dialect)).ok()
    };
    (0..text.random.usize(0..=most)).filter_map(|_| ad(text)).collect()
}

/// A clause that an index can often answer.
fn clause(text: &mut Text) -> String {
    if text.random.u8(0..8) == 7 {
        return format!("({})", text.expression(2));
    }
    let name = format!("{}{}", text.pick(&["TARGET.", "other.", "", "MY."]), text.pick(&NAMES));
    let operator = text.pick(&["==", "!=", "<", "<=", ">", ">=", "is", "isnt", "=?=", "=!="]);
    let value = match text.random.u8(0..3) {
        0 => text.plain().to_owned(),
        1 => text.random.i32(-2..4).to_string(),
        _ => format!("{}{}", text.pick(&["MY.", "", "TARGET."]), text.pick(&NAMES)),
    };
    match text.random.u8(0..10) {
        0 => format!("!({name} {operator} {value})"),
        1 => format!("({value} {operator} {name})"),
        2 => format!("({name} {operator} {value} || {})", text.leaf()),
        3 => format!("stringListMember({name}, \"a, b,1\")"),
        4 => format!("member({name}, {{ {value}, 1, \"a\" }})"),
        5 => format!("({name} + 1 {operator} {value})"),
        6 => name,
        _ => format!("({name} {operator} {value})"),
    }
}

/// A cycle grants the same with and without accelerations.
pub fn negotiated(data: &[u8]) {
    for dialect in DIALECTS {
        let mut text = Text::from_bytes(data);
        let policy = policy(&mut text);
        let Ok(policy) = Policy::parse(policy.as_bytes(), dialect) else { continue };
        let [requests, offers] = [8, 6].map(|most| party(&mut text, most, dialect));
        let run = |accelerations| {
            let settings = NegotiationSettings {
                accelerations,
                ..NegotiationSettings::new(policy.clone(), Protocol::new(dialect), context(dialect))
            };
            let outcome = negotiate(&settings, &requests, &offers, &|_| None, &mut |_| ControlFlow::Continue(()));
            outcome.map(|NegotiationOutcome { grants, submitters, .. }| format!("{grants:?} {submitters:?}"))
        };
        assert_eq!(run(Accelerations::ALL), run(Accelerations::NONE), "{dialect}");
    }
}

/// The text of a policy.
fn policy(text: &mut Text) -> String {
    let rule = |text: &mut Text| format!("\"{}\"", text.expression(1).replace('\\', "\\\\").replace('"', "\\\""));
    let mut policy = String::new();
    for key in ["roots", "order", "docking"] {
        if text.random.bool() {
            let _ = writeln!(policy, "{key}: {}", rule(text));
        }
    }
    if text.random.bool() {
        let _ = writeln!(policy, "share: {{ by: {} }}", text.pick(&NAMES));
    }
    if text.random.bool() {
        let name = text.pick(&NAMES);
        let _ = writeln!(policy, "residual: {{ when: {}, set: {{ {name}: {} }} }}", rule(text), rule(text));
    }
    policy
}

/// Checks and explanations end, and count the matches that there are.
pub fn analysed(data: &[u8]) {
    for dialect in DIALECTS {
        let mut text = Text::from_bytes(data);
        let [offers, requests] = [5, 2].map(|most| party(&mut text, most, dialect));
        let (protocol, context) = (Protocol::new(dialect), context(dialect));
        let mut checker = Checker::new(protocol.clone(), &context);
        for ad in requests.iter().chain(&offers) {
            checker.check(ad);
        }
        let explainer = Explainer::new(&offers, protocol.clone(), context.clone());
        for request in &requests {
            let mut expected: Vec<usize> =
                candidates(request, &offers, &protocol, &context).iter().map(|candidate| candidate.offer).collect();
            expected.sort_unstable();
            let shown = || {
                let offers: Vec<String> = offers.iter().map(print_text).collect();
                format!("{dialect}: {}\n{}", print_text(request), offers.join("\n"))
            };
            assert_eq!(explainer.matching_offers(request), expected, "{}", shown());
            let report = explainer.explain(request);
            assert_eq!(report.matches, expected.len(), "{}", shown());
            for offer in 0..offers.len() {
                let _ = explainer.explain_pair(request, offer);
            }
        }
    }
}

/// Parts of a file hold the ads of the file, each once, and the counts of parts add up to those of the file.
pub fn parts(data: &[u8]) {
    let Some((cuts, text)) = data.split_at_checked(4) else { return };
    for form in [FileFormat::Long, FileFormat::JsonLines] {
        let mut file = Cursor::new(text);
        let boundary = |cut: u64| part_boundary(&mut file, form, cut).expect("memory can be read");
        // Also a cut at each quarter of the text.
        let cuts =
            cuts.iter().zip(1_u64..).flat_map(|(cut, quarter)| [u64::from(*cut), quarter * text.len() as u64 / 4]);
        let mut boundaries: Vec<PartBoundary> = cuts.chain([0, text.len() as u64]).map(boundary).collect();
        boundaries.sort_by_key(|boundary| boundary.offset);
        boundaries.dedup_by_key(|boundary| boundary.offset);
        for dialect in DIALECTS {
            let (mut parts, mut merged) = (Vec::new(), Census::values().nested());
            for pair in boundaries.windows(2) {
                let range = usize::try_from(pair[0].offset).unwrap()..usize::try_from(pair[1].offset).unwrap();
                let part = text[range].to_vec();
                let mut counter = merged.counter();
                for item in
                    items(Stream::of_part(Box::new(Cursor::new(part)), form, pair[0], StreamLimits::default()), dialect)
                {
                    item.as_ref().map(|ad| counter.add(ad)).unwrap_or_default();
                    parts.push(item);
                }
                merged.merge(counter.take());
            }
            let start = PartBoundary { offset: 0, is_behind_banner: false };
            let whole = items(
                Stream::of_part(Box::new(Cursor::new(text.to_vec())), form, start, StreamLimits::default()),
                dialect,
            );
            // Where JSON goes on behind a mistake depends on everything before it.
            if form == FileFormat::JsonLines && whole.iter().any(Result::is_err) {
                continue;
            }
            assert!(parts == whole, "{form} {dialect} {boundaries:?}: {}", String::from_utf8_lossy(text));
            let mut census = Census::values().nested();
            whole.iter().flatten().for_each(|ad| census.add(ad));
            let [one, other] = [&mut census, &mut merged].map(|census| format!("{:?}", census.take_part()));
            assert_eq!(one, other, "{form} {dialect} {boundaries:?}: {}", String::from_utf8_lossy(text));
        }
    }
}

/// The ads of a stream, and the messages of its problems; the last may be that the document is torn.
fn items(mut stream: Stream, dialect: Dialect) -> Vec<Result<Ad, String>> {
    let mut items = Vec::new();
    loop {
        match stream.next_block() {
            Ok(Some(block)) => {
                let ads = block.ads(dialect).map(|item| item.map(|entry| entry.ad).map_err(|problem| problem.message));
                items.extend(ads);
            }
            Ok(None) => return items,
            Err(error) => {
                items.push(Err(error.to_string()));
                return items;
            }
        }
    }
}
