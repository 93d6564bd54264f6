//! The commands `:pool` and `:match`.

use std::fmt::Write;

use classad::ad::ScopeAd;
use classad::ad::{Ad, Expression, ExpressionKind, Name, Value};
use classad::constraint::is_scope_name;
use classad::eval::Abort;
use classad::explain::ClauseOutcome;
use classad::format::Problem;
use classad::matching::{Accelerations, Matchmaker, Pair, PairSide};
use classad::pool::Store;
use classad::protocol::PORTS;
use classad::syntax::parse_expression;
use classad::text::{counted, with_commas};
use indexmap::IndexSet;

use super::ads::{load_pool, print_pool_summary};
use super::argument::CommandArgument;
use super::arguments::ArgumentWord;
use super::entry::are_existing_files;
use super::state::ReplState;
use crate::cli::io::input;
use crate::cli::render::diagnostics;
use crate::cli::render::output::{OutputForm, out};
use crate::cli::render::rows::ResultTable;
use crate::cli::{Failure, refuse};

/// Maximum number of ads named for each outcome.
const MAX_NAMED_ADS: usize = 3;

/// Default number of matches printed.
const DEFAULT_MATCHES_SHOWN: usize = 10;

/// `:pool`: loads files as the pool, counts the outcomes of an expression, or prints a summary of the pool.
pub fn pool(desk: &mut ReplState<'_>, argument: &CommandArgument<'_>) -> Result<(), Failure> {
    if argument.is_empty() {
        return print_pool_summary(desk, 0);
    }
    let words = argument.words();
    if are_existing_files(argument.text) {
        return load_pool(desk, argument, &words);
    }
    let parsed = parse_expression(argument.text.as_bytes(), desk.rules());
    let names_nothing = parsed.as_ref().map_or(true, |expression| is_unknown(desk, expression));
    let missing = missing_file(&words).filter(|_| names_nothing || desk.pool.files.is_empty());
    if let Some(word) = missing {
        return Err(argument.part(word.range.clone()).report_error(desk.session, "there is no such file"));
    }
    let expression = parsed
        .map_err(|error| argument.report_problem(desk.session, &Problem::from_syntax(error, argument.offset, 0)))?;
    if desk.pool.files.is_empty() {
        let message = "the pool is empty: `:pool FILE` loads one";
        return Err(argument.report_error(desk.session, message));
    }
    count_outcomes(desk, &expression)
}

/// Returns the first word that names no existing file, if all words may be paths; else `None`.
fn missing_file(words: &[ArgumentWord]) -> Option<&ArgumentWord> {
    let is_path =
        |word: &&ArgumentWord| word.text.contains(['/', '.']) && !word.text.contains(['(', ')', '<', '>', '=', '"']);
    let missing = words.iter().find(|word| !std::path::Path::new(&word.text).exists());
    missing.filter(|_| words.iter().all(|word| is_path(&word)))
}

/// Whether an expression looks up attributes, and none of them exists in the pool or is defined.
fn is_unknown(desk: &ReplState<'_>, expression: &Expression) -> bool {
    let names = own_names(expression);
    !names.is_empty() && names.iter().all(|name| is_missing(desk, name))
}

/// Whether no ad of the pool has the attribute and it is not defined, either.
fn is_missing(desk: &ReplState<'_>, name: &Name) -> bool {
    desk.pool.census.attribute(name).is_none() && !desk.definitions.contains_key(name)
}

/// Returns the names that an expression looks up in its own ad.
fn own_names(expression: &Expression) -> IndexSet<Name> {
    let is_own = |of: &Expression| matches!(of.kind(), ExpressionKind::Attribute(name) if ScopeAd::of(name) == Some(ScopeAd::Own));
    let (mut names, mut pending) = (IndexSet::new(), vec![expression]);
    while let Some(part) = pending.pop() {
        match part.kind() {
            ExpressionKind::Attribute(name) if !is_scope_name(name) => {
                names.insert(name.clone());
            }
            ExpressionKind::Select(of, name) if is_own(of) => {
                names.insert(name.clone());
            }
            ExpressionKind::Select(of, _) => pending.push(of),
            // Skip nested ads: a name in a nested ad may be found there.
            ExpressionKind::Ad(_) => {}
            kind => kind.for_each_child(|child| pending.push(child)),
        }
    }
    names
}

/// The number of ads for which an expression has one of the outcomes, and examples of these ads.
#[derive(Default)]
struct OutcomeTally {
    ads: usize,
    /// Names of the first ads.
    first_names: Vec<String>,
    /// Reason of the first error.
    reason: Option<String>,
}

/// Prints for how many ads of the pool an expression is true, false, undefined, or an error.
fn count_outcomes(desk: &mut ReplState<'_>, expression: &Expression) -> Result<(), Failure> {
    let context = desk.session.context();
    let mut tallies = [ClauseOutcome::True, ClauseOutcome::False, ClauseOutcome::Undefined, ClauseOutcome::Error]
        .map(|is| (is, OutcomeTally::default()));
    let (mut numbers, mut failures): (Vec<f64>, u64) = (Vec::new(), 0);
    // Attributes of the ad take precedence over definitions.
    let defined = |ad: Ad| {
        desk.definitions.iter().fold(ad, |ad, (name, defined)| match ad.get(name) {
            Some(_) => ad,
            None => ad.with(name.clone(), defined.expression.clone()),
        })
    };
    let ads = desk.pool.ads().into_iter().map(defined).collect();
    let values = Store::new(ads, context.dialect).evaluate(expression, &context);
    for (row, offer) in desk.pool.offers().iter().enumerate() {
        let value = match values.value(row) {
            Ok(value) => value,
            Err(Abort::Interrupted) => return Err(Failure::Refused(None)),
            Err(_) => {
                failures += 1;
                continue;
            }
        };
        #[allow(clippy::cast_precision_loss)] // a range for people
        match value {
            Value::Integer(integer) => numbers.push(*integer as f64),
            Value::Real(real) => numbers.push(*real),
            _ => {}
        }
        let outcome = ClauseOutcome::of(value, context.dialect);
        let Some((_, tally)) = tallies.iter_mut().find(|(is, _)| *is == outcome) else { continue };
        tally.ads += 1;
        if tally.first_names.len() < MAX_NAMED_ADS {
            tally.first_names.push(offer.id().to_owned());
        }
        if outcome == ClauseOutcome::Error && tally.reason.is_none() {
            let no_boolean = || format!("{} is no boolean", value.value_type().phrase());
            tally.reason = Some(value.error_origin().map_or_else(no_boolean, ToString::to_string));
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
    desk.session.report_budget_failures(failures);
    if tallies[0].1.ads == 0 {
        let names = own_names(expression);
        let missing = names.iter().filter(|name| is_missing(desk, name));
        missing.for_each(|name| input::note_unknown_attribute(desk.session, &desk.pool.census, name));
    }
    Ok(())
}

impl OutcomeTally {
    /// Returns the line of an outcome, such as `true  2 of 12 ads: slot1, slot2`.
    fn line(&self, outcome: ClauseOutcome, all: usize) -> String {
        let of = if outcome == ClauseOutcome::True { format!(" of {}", counted(all, "ad")) } else { String::new() };
        let mut text = format!("{:9}  {}{of}", outcome.as_str(), with_commas(self.ads));
        // Most ads are false: do not name them.
        if outcome != ClauseOutcome::False && !self.first_names.is_empty() {
            let more = if self.ads > self.first_names.len() { ", ..." } else { "" };
            let _ = write!(text, ": {}{more}", self.first_names.join(", "));
        }
        if let Some(reason) = &self.reason {
            let _ = write!(text, " ({reason})");
        }
        diagnostics::single_line(&text)
    }
}

/// `:match`: prints the best matches in the pool with their ranks, or whether the other side matches.
pub fn match_pool(desk: &mut ReplState<'_>, argument: &CommandArgument<'_>) -> Result<(), Failure> {
    let request = desk.request()?;
    if argument.text == "target" || (desk.pool.files.is_empty() && argument.is_empty() && desk.target.is_some()) {
        return match_target(desk);
    }
    let most = argument.number(desk.session)?.unwrap_or(DEFAULT_MATCHES_SHOWN);
    if desk.pool.files.is_empty() {
        return refuse("there is nobody to match: `:pool FILE` loads offers");
    }
    let accelerations = Accelerations { match_lists: false, ..Accelerations::ALL };
    let offers = desk.pool.ads();
    let mut matcher = Matchmaker::new(&offers, desk.protocol(), desk.session.context(), accelerations);
    let candidates = matcher.candidates(&request.ad);
    desk.session.check_interrupt()?;
    desk.session.report_budget_failures(matcher.statistics.failures);
    let all = counted(offers.len(), "offer");
    desk.print(&diagnostics::single_line(&format!(
        "{} matches {} of {all}",
        request.id(),
        with_commas(candidates.len())
    )))?;
    if request.ad.get(&PORTS).is_some() {
        desk.session.note("it has Ports, which only :gang fills");
    }
    if candidates.is_empty() {
        return Ok(());
    }
    let mut rows = ResultTable::new(&["offer", "request_rank", "offer_rank"]);
    rows.rows.extend(candidates.iter().take(most).map(|candidate| {
        let offer = &desk.pool.offers()[candidate.offer];
        vec![offer.id().to_owned().into(), candidate.request_rank.into(), candidate.offer_rank.into()]
    }));
    rows.write(&mut out(), Some(OutputForm::Table), true)?;
    match candidates.len().saturating_sub(most) {
        0 => Ok(()),
        more => desk.print(&format!("and {} more", with_commas(more))),
    }
}

/// Prints whether each side accepts the other, the ranks, and whether the two sides match.
fn match_target(desk: &mut ReplState<'_>) -> Result<(), Failure> {
    let request = desk.request()?;
    let message = "there is no other side: `:target FILE` or `:target [ ... ]` gives an ad";
    let target = desk.target.as_ref().map(|target| target.ad.clone());
    let target = target.ok_or_else(|| Failure::refused(message))?;
    let pair = Pair::new(request.ad, target, desk.protocol(), desk.session.context());
    let (mut text, mut is_match) = (String::new(), true);
    for (side, who, whom) in [(PairSide::Request, "my", "target"), (PairSide::Offer, "target", "my")] {
        let both = pair.accepts(side).and_then(|accepts| Ok((accepts, pair.rank(side)?)));
        let (accepts, rank) = match both {
            Ok(both) => both,
            Err(Abort::Interrupted) => return Err(Failure::Refused(None)),
            Err(halt) => {
                desk.session.report_abort(&halt, who);
                return Ok(());
            }
        };
        is_match &= accepts;
        let verb = if accepts { "accepts" } else { "does not accept" };
        let _ = writeln!(text, "{who} {verb} {whom}, and ranks it {rank}");
    }
    desk.print(&(text + if is_match { "they match" } else { "they do not match" }))
}
