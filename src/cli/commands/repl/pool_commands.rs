//! The commands `:pool` and `:match`.

use std::fmt::Write;
use std::path::Path;

use classad::ad::ScopeAd;
use classad::ad::{Ad, Expression, ExpressionKind, Name, Truth, Value};
use classad::constraint::is_scope_name;
use classad::eval::{Abort, Context, FreeNames};
use classad::matching::{Accelerations, Matchmaker, Pair, PairSide, about_one_ad};
use classad::pool::Store;
use classad::protocol::has_ports;
use classad::syntax::parse_expression;
use classad::text::{counted, with_commas};
use indexmap::IndexSet;

use super::ads::{load_pool, print_pool_summary};
use super::argument::EntryPart;
use super::background::wait_for;
use super::entry::are_existing_files;
use super::state::ReplState;
use crate::cli::io::argument_text;
use crate::cli::outcome::Failure;
use crate::cli::render::diagnostics::single_line;
use crate::cli::render::output::{OutputForm, out};
use crate::cli::render::rows::ResultTable;

/// Maximum number of ads that `:pool` names for each outcome of an expression.
const MAX_NAMED_ADS: usize = 3;

/// Default number of matches that `:match` prints.
const DEFAULT_MATCHES_SHOWN: usize = 10;

/// `:pool`: loads files as the pool, counts the outcomes of an expression, or prints a summary of the pool.
pub fn pool(state: &mut ReplState<'_>, argument: EntryPart<'_>) -> Result<(), Failure> {
    if argument.is_empty() {
        return print_pool_summary(state, 0);
    }
    if are_existing_files(argument) {
        return load_pool(state, argument);
    }
    let parsed = parse_expression(argument.text.as_bytes(), state.rules());
    let names_nothing = parsed.as_ref().map_or(true, |expression| is_unknown(state, expression));
    if (names_nothing || state.pool.files.is_empty())
        && let Some(file) = missing_file(argument)
    {
        return Err(state.error_at(file, "there is no such file"));
    }
    let expression = parsed.map_err(|error| state.syntax_error(argument, error))?;
    state.require_pool("the pool is empty: `:pool FILE` loads one")?;
    if !FreeNames::of(&expression, state.session.dialect()).theirs.is_empty() {
        state
            .session
            .note("`:pool` evaluates an expression in each ad of the pool, which TARGET is, too; see also `:match`");
    }
    let dialect = state.session.dialect();
    count_outcomes(state, &about_one_ad(expression, dialect))
}

/// Returns the first word that is not the name of an existing file. `None` if there is no such word. `None` too if some
/// word does not look like a path, because the argument is then an expression.
fn missing_file(argument: EntryPart<'_>) -> Option<EntryPart<'_>> {
    let words = argument.words();
    let is_path = |text: &str| text.contains(['/', '.']) && !text.contains(['(', ')', '<', '>', '=', '"']);
    let missing = words.iter().find(|word| !Path::new(&word.text).exists())?;
    words.iter().all(|word| is_path(&word.text)).then_some(missing.part)
}

/// Whether an expression looks up attributes, and neither the pool nor a definition has any of them.
fn is_unknown(state: &ReplState<'_>, expression: &Expression) -> bool {
    let names = own_names(expression);
    !names.is_empty() && names.iter().all(|name| is_missing(state, name))
}

/// Whether neither an ad of the pool nor a definition has the attribute.
fn is_missing(state: &ReplState<'_>, name: &Name) -> bool {
    state.pool.census.attribute(name).is_none() && !state.definitions.contains_key(name)
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
            // Skip nested ads, because a name in a nested ad may mean an attribute of the nested ad.
            ExpressionKind::Ad(_) => {}
            kind => kind.for_each_child(|child| pending.push(child)),
        }
    }
    names
}

/// The ads of the pool for which an expression has the same outcome: their number, and some names.
struct OutcomeTally {
    outcome: Truth,
    ads: usize,
    /// Names of the first ads with the outcome, at most [`MAX_NAMED_ADS`].
    first_names: Vec<String>,
    /// Reason of the first error; `None` for other outcomes.
    reason: Option<String>,
}

/// Prints for how many ads of the pool an expression is true, false, undefined, or an error.
fn count_outcomes(state: &mut ReplState<'_>, expression: &Expression) -> Result<(), Failure> {
    let context = state.session.context();
    let mut tallies = [Truth::True, Truth::False, Truth::Undefined, Truth::Error].map(|outcome| OutcomeTally {
        outcome,
        ads: 0,
        first_names: Vec::new(),
        reason: None,
    });
    let (mut numbers, mut failures): (Vec<f64>, u64) = (Vec::new(), 0);
    // Attributes of the ad take precedence over definitions.
    let with_definitions = |ad: Ad| {
        state.definitions.iter().fold(ad, |ad, (name, defined)| match ad.get(name) {
            Some(_) => ad,
            None => ad.with(name.clone(), defined.expression.clone()),
        })
    };
    let ads = state.pool.ads().into_iter().map(with_definitions).collect();
    let evaluated = expression.clone();
    let evaluate = move |context: Context| Store::new(ads, context.dialect).evaluate(&evaluated, &context);
    let values = wait_for(state.session, "evaluating", evaluate)?;
    for (row, offer) in state.pool.offers().iter().enumerate() {
        let value = match values.value(row) {
            Ok(value) => value,
            Err(Abort::Interrupted) => return Err(Failure::Refused(None)),
            Err(_) => {
                failures += 1;
                continue;
            }
        };
        numbers.extend(value.as_real());
        let outcome = Truth::of(value, context.dialect);
        if let Some(tally) = tallies.iter_mut().find(|tally| tally.outcome == outcome) {
            tally.add(offer.id(), value);
        }
    }
    let all = state.pool.offers().len();
    let range = (!numbers.is_empty()).then(|| {
        let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
        let most = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        format!("{:9}  {}: {least} to {most}", "numbers", numbers.len())
    });
    state.print_lines(tallies.iter().map(|tally| tally.line(all)).chain(range))?;
    state.session.report_budget_failures(failures);
    if tallies[0].ads == 0 {
        for name in own_names(expression).iter().filter(|name| is_missing(state, name)) {
            argument_text::note_unknown_attribute(
                state.session,
                state.pool.census.attributes().map(|(known, _)| known.as_str()),
                name,
            );
        }
    }
    Ok(())
}

impl OutcomeTally {
    /// Counts an ad in which the expression has this value.
    fn add(&mut self, name: &str, value: &Value) {
        self.ads += 1;
        if self.first_names.len() < MAX_NAMED_ADS {
            self.first_names.push(name.to_owned());
        }
        if self.outcome == Truth::Error {
            let no_boolean = || format!("{} is not a boolean", value.value_type().phrase());
            let reason = || value.error_origin().map_or_else(no_boolean, ToString::to_string);
            self.reason.get_or_insert_with(reason);
        }
    }

    /// Returns the line of an outcome, such as `true  2 of 12 ads: slot1, slot2`.
    fn line(&self, all: usize) -> String {
        let mut text = format!("{:9}  {}", self.outcome.as_str(), with_commas(self.ads));
        if self.outcome == Truth::True {
            let _ = write!(text, " of {}", counted(all, "ad"));
        }
        // Do not name the ads for which the expression is false: usually these are most ads of the pool.
        if self.outcome != Truth::False && !self.first_names.is_empty() {
            let more = if self.ads > self.first_names.len() { ", ..." } else { "" };
            let _ = write!(text, ": {}{more}", self.first_names.join(", "));
        }
        if let Some(reason) = &self.reason {
            let _ = write!(text, " ({reason})");
        }
        single_line(&text)
    }
}

/// `:match`: prints the best matches of the ad of `:my` in the pool with their ranks. With `target`, prints whether the
/// ad of `:my` matches the ad of `:target`.
pub fn match_pool(state: &mut ReplState<'_>, argument: EntryPart<'_>) -> Result<(), Failure> {
    let request = state.request()?;
    if argument.text == "target" || (state.pool.files.is_empty() && argument.is_empty() && state.target.is_some()) {
        return match_target(state);
    }
    let most = argument.number()?.unwrap_or(DEFAULT_MATCHES_SHOWN);
    state.require_pool("there are no offers: `:pool FILE` loads ads")?;
    let accelerations = Accelerations { match_lists: false, ..Accelerations::ALL };
    let offers = state.pool.ads();
    let (count, protocol, ad) = (offers.len(), state.protocol(), request.ad.clone());
    let find_candidates = move |context| {
        let mut matcher = Matchmaker::new(&offers, protocol, context, accelerations);
        (matcher.candidates(&ad), matcher.statistics.failures)
    };
    let (candidates, failures) = wait_for(state.session, "matching", find_candidates)?;
    state.session.report_budget_failures(failures);
    let (all, matching) = (counted(count, "offer"), with_commas(candidates.len()));
    state.print_sentences(&single_line(&format!("{} matches {matching} of {all}", request.id())))?;
    if has_ports(&request.ad) {
        state.session.note(&single_line(&format!("{} has Ports, which only :gang fills", request.id())));
    }
    if candidates.is_empty() {
        state.session.note(":explain says why");
        return Ok(());
    }
    let mut rows = ResultTable::new(&["offer", "request_rank", "offer_rank"]);
    rows.rows.extend(candidates.iter().take(most).map(|candidate| {
        let offer = &state.pool.offers()[candidate.offer];
        vec![offer.id().to_owned().into(), candidate.request_rank.into(), candidate.offer_rank.into()]
    }));
    rows.write(&mut out(), Some(OutputForm::Table), true)?;
    match candidates.len().saturating_sub(most) {
        0 => Ok(()),
        more => state.print(&format!("and {} more", with_commas(more))),
    }
}

/// Prints whether the ads of `:my` and `:target` accept each other, their ranks, and whether they match.
fn match_target(state: &mut ReplState<'_>) -> Result<(), Failure> {
    let request = state.request()?;
    let pair = Pair::new(request.ad, state.other_side()?.ad, state.protocol(), state.session.context());
    let (mut text, mut is_match) = (String::new(), true);
    for (side, who, whom) in [(PairSide::Request, "MY", "TARGET"), (PairSide::Offer, "TARGET", "MY")] {
        let (accepts, rank) = match pair.accepts(side).and_then(|accepts| Ok((accepts, pair.rank(side)?))) {
            Ok(accepts_and_rank) => accepts_and_rank,
            Err(Abort::Interrupted) => return Err(Failure::Refused(None)),
            Err(abort) => {
                state.session.report_abort(&abort, who);
                return Ok(());
            }
        };
        is_match &= accepts;
        let verb = if accepts { "accepts" } else { "does not accept" };
        let _ = writeln!(text, "{who} {verb} {whom}, and ranks it {rank}");
    }
    state.print(&(text + if is_match { "they match" } else { "they do not match" }))
}
