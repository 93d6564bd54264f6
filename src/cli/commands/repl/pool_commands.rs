//! The commands `:pool` and `:match`.

use std::fmt::Write;

use classad::ad::{Expression, Kind, Name, Value};
use classad::constraint::stands_for_an_ad;
use classad::eval::{Environment, Evaluator, Halt};
use classad::explain::{Outcome, thousands};
use classad::format::Problem;
use classad::matching::{Accelerations, Matchmaker, Pair, Side};
use classad::syntax::parse_expression;
use indexmap::IndexSet;

use super::ads::{counted, load_pool, tell_pool};
use super::argument::Argument;
use super::arguments::Word;
use super::entry::names_files;
use super::state::Desk;
use crate::cli::Failure;
use crate::cli::io::input;
use crate::cli::render::diagnostics;
use crate::cli::render::output::{OutputForm, out};
use crate::cli::render::rows::Rows;

/// Maximum number of ads named for each outcome.
const MOST_NAMED: usize = 3;

/// Default number of matches printed.
const USUAL: usize = 10;

/// `:pool`
pub fn pool(desk: &mut Desk<'_>, argument: &Argument<'_>) -> Result<(), Failure> {
    if argument.is_empty() {
        return tell_pool(desk, 0);
    }
    let words = argument.words();
    if names_files(argument.text) {
        return load_pool(desk, argument, &words);
    }
    let parsed = parse_expression(argument.text.as_bytes(), desk.rules());
    let names_nothing = parsed.as_ref().map_or(true, |expression| is_unknown(desk, expression));
    let missing = missing_file(&words).filter(|_| names_nothing || desk.pool.files.is_empty());
    if let Some(word) = missing {
        return Err(argument.part(word.range.clone()).refuse(desk.session, "there is no such file"));
    }
    let expression =
        parsed.map_err(|error| argument.problem(desk.session, &Problem::from_syntax(error, argument.offset, 0)))?;
    if desk.pool.files.is_empty() {
        let message = "the pool is empty: `:pool FILE` loads one";
        return Err(argument.refuse(desk.session, message));
    }
    count(desk, &expression)
}

/// Returns the first word that names no existing file, if all words look like paths; else `None`.
fn missing_file(words: &[Word]) -> Option<&Word> {
    let is_path = |word: &&Word| word.text.contains(['/', '.']) && !word.text.contains(['(', ')', '<', '>', '=', '"']);
    let missing = words.iter().find(|word| !std::path::Path::new(&word.text).exists());
    missing.filter(|_| words.iter().all(|word| is_path(&word)))
}

/// Whether an expression looks up attributes, and none of them exists in the pool or is defined.
fn is_unknown(desk: &Desk<'_>, expression: &Expression) -> bool {
    let names = looked_up(expression);
    !names.is_empty() && names.iter().all(|name| is_missing(desk, name))
}

/// Whether no ad of the pool has the attribute and it is not defined, either.
fn is_missing(desk: &Desk<'_>, name: &Name) -> bool {
    desk.pool.census.attribute(name).is_none() && !desk.definitions.contains_key(name)
}

/// Returns the names that an expression looks up in its own ad.
fn looked_up(expression: &Expression) -> IndexSet<Name> {
    let is_own = |of: &Expression| matches!(of.kind(), Kind::Attribute(name) if name.is("my") || name.is("self"));
    let (mut names, mut pending) = (IndexSet::new(), vec![expression]);
    while let Some(part) = pending.pop() {
        match part.kind() {
            Kind::Attribute(name) if !stands_for_an_ad(name) => {
                names.insert(name.clone());
            }
            Kind::Select(of, name) if is_own(of) => {
                names.insert(name.clone());
            }
            Kind::Select(of, _) => pending.push(of),
            // Names in a nested ad may be found there.
            Kind::Ad(_) => {}
            kind => kind.for_each_child(|child| pending.push(child)),
        }
    }
    names
}

/// The ads for which an expression has one of the outcomes.
#[derive(Default)]
struct Tally {
    ads: usize,
    /// Names of the first ads.
    named: Vec<String>,
    /// Reason of the first error.
    reason: Option<String>,
}

/// Prints for how many ads of the pool an expression is true, false, undefined, or an error.
fn count(desk: &mut Desk<'_>, expression: &Expression) -> Result<(), Failure> {
    let context = desk.session.context();
    let mut tallies =
        [Outcome::True, Outcome::False, Outcome::Undefined, Outcome::Error].map(|is| (is, Tally::default()));
    let (mut numbers, mut failures): (Vec<f64>, u64) = (Vec::new(), 0);
    for offer in desk.pool.offers() {
        // Attributes of the ad take precedence over definitions.
        let ad = desk.definitions.iter().fold(offer.ad.clone(), |ad, (name, defined)| match ad.get(name) {
            Some(_) => ad,
            None => ad.with(name.clone(), defined.expression.clone()),
        });
        let (environment, frame) = Environment::alone(ad);
        let value = match Evaluator::new(&environment, &context).evaluate(expression, &frame) {
            Ok(value) => value,
            Err(Halt::Interrupted) => return Err(Failure::Refused(None)),
            Err(_) => {
                failures += 1;
                continue;
            }
        };
        #[allow(clippy::cast_precision_loss)] // a range for people
        match &value {
            Value::Integer(integer) => numbers.push(*integer as f64),
            Value::Real(real) => numbers.push(*real),
            _ => {}
        }
        let outcome = Outcome::of(&value, context.dialect);
        let Some((_, tally)) = tallies.iter_mut().find(|(is, _)| *is == outcome) else { continue };
        tally.ads += 1;
        if tally.named.len() < MOST_NAMED {
            tally.named.push(offer.id().to_owned());
        }
        if outcome == Outcome::Error && tally.reason.is_none() {
            let no_boolean = || format!("{} is no boolean", value.kind().phrase());
            tally.reason = Some(value.fault().map_or_else(no_boolean, ToString::to_string));
        }
    }
    let all = desk.pool.offers().len();
    let mut lines: Vec<String> = tallies.iter().map(|(outcome, tally)| tally.line(*outcome, all)).collect();
    if !numbers.is_empty() {
        let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
        let most = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        lines.push(format!("{:9}  {}: {least} to {most}", "numbers", numbers.len()));
    }
    desk.print(&lines.join("\n"))?;
    desk.session.failures(failures);
    if tallies[0].1.ads == 0 {
        let names = looked_up(expression);
        let missing = names.iter().filter(|name| is_missing(desk, name));
        missing.for_each(|name| input::no_ad_has(desk.session, &desk.pool.census, name));
    }
    Ok(())
}

impl Tally {
    /// Returns the line of an outcome, such as `true  2 of 12 ads: slot1, slot2`.
    fn line(&self, outcome: Outcome, all: usize) -> String {
        let of = if outcome == Outcome::True { format!(" of {}", counted(all, "ad")) } else { String::new() };
        let mut text = format!("{:9}  {}{of}", outcome.as_str(), thousands(self.ads));
        // Most ads are false: do not name them.
        if outcome != Outcome::False && !self.named.is_empty() {
            let more = if self.ads > self.named.len() { ", ..." } else { "" };
            let _ = write!(text, ": {}{more}", self.named.join(", "));
        }
        if let Some(reason) = &self.reason {
            let _ = write!(text, " ({reason})");
        }
        diagnostics::line(&text)
    }
}

/// `:match`
pub fn matching(desk: &mut Desk<'_>, argument: &Argument<'_>) -> Result<(), Failure> {
    let request = desk.request()?;
    if argument.text == "target" || (desk.pool.files.is_empty() && argument.is_empty() && desk.target.is_some()) {
        return meet(desk);
    }
    let most = argument.number(desk.session)?.unwrap_or(USUAL);
    if desk.pool.files.is_empty() {
        return Err(Failure::Refused(Some("there is nobody to match: `:pool FILE` loads offers".to_owned())));
    }
    let accelerations = Accelerations { match_lists: false, ..Accelerations::ALL };
    let offers = desk.pool.ads();
    let mut matcher = Matchmaker::new(&offers, desk.protocol(), desk.session.context(), accelerations);
    let candidates = matcher.candidates(&request.ad);
    desk.session.go_on()?;
    desk.session.failures(matcher.statistics.failures);
    let all = counted(offers.len(), "offer");
    desk.print(&diagnostics::line(&format!("{} matches {} of {all}", request.id(), thousands(candidates.len()))))?;
    if request.ad.get_str("Ports").is_some() {
        desk.session.note("it has Ports, which only :gang fills");
    }
    if candidates.is_empty() || desk.session.options.quiet {
        return Ok(());
    }
    let mut rows = Rows::new(&["offer", "request_rank", "offer_rank"]);
    rows.rows.extend(candidates.iter().take(most).map(|candidate| {
        let offer = &desk.pool.offers()[candidate.offer];
        vec![offer.id().to_owned().into(), candidate.request_rank.into(), candidate.offer_rank.into()]
    }));
    rows.write(&mut out(), Some(OutputForm::Table), true)?;
    match candidates.len().saturating_sub(most) {
        0 => Ok(()),
        more => desk.print(&format!("and {} more", thousands(more))),
    }
}

/// Prints whether the two sides match.
fn meet(desk: &mut Desk<'_>) -> Result<(), Failure> {
    let request = desk.request()?;
    let message = "there is no other side: `:target FILE` or `:target [ ... ]` gives an ad";
    let target = desk.target.as_ref().map(|target| target.ad.clone());
    let target = target.ok_or_else(|| Failure::Refused(Some(message.to_owned())))?;
    let pair = Pair::new(request.ad, target, desk.protocol(), desk.session.context());
    let (mut text, mut is_match) = (String::new(), true);
    for (side, who, whom) in [(Side::Left, "my", "target"), (Side::Right, "target", "my")] {
        let both = pair.accepts(side).and_then(|accepts| Ok((accepts, pair.rank(side)?)));
        let (accepts, rank) = match both {
            Ok(both) => both,
            Err(Halt::Interrupted) => return Err(Failure::Refused(None)),
            Err(halt) => {
                desk.session.halted(&halt, who);
                return Ok(());
            }
        };
        is_match &= accepts;
        let verb = if accepts { "accepts" } else { "does not accept" };
        let _ = writeln!(text, "{who} {verb} {whom}, and ranks it {rank}");
    }
    desk.print(&(text + if is_match { "they match" } else { "they do not match" }))
}
