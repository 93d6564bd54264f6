//! The commands `:my` and `:target`, and loading of the pool.

use std::fmt::Write;
use std::path::Path;

use classad::syntax::parse_ad;
use classad::text::counted;

use super::argument::{ArgumentWord, EntryPart};
use super::expression_commands::ad_text;
use super::state::{ReplPool, ReplState};
use crate::cli::io::input;
use crate::cli::io::named_ad::NamedAd;
use crate::cli::io::source::AdSource;
use crate::cli::outcome::{Failure, refuse};
use crate::cli::render::diagnostics::single_line;

/// A function that returns the ad of `:my`, or the ad of `:target`, from the state of the prompt.
type StateSide = for<'d> fn(&'d mut ReplState<'_>) -> &'d mut Option<NamedAd>;

/// `:my`: prints or replaces the ad in which expressions are evaluated.
pub fn my(state: &mut ReplState<'_>, argument: EntryPart<'_>) -> Result<(), Failure> {
    show_or_set(state, argument, "MY", |state| &mut state.my)
}

/// `:target`: prints or replaces the ad on the other side of the match.
pub fn target(state: &mut ReplState<'_>, argument: EntryPart<'_>) -> Result<(), Failure> {
    show_or_set(state, argument, "TARGET", |state| &mut state.target)
}

/// Prints the ad of a side if the argument is empty. Else replaces the ad by the ad that the argument gives; `none`
/// removes it.
fn show_or_set(state: &mut ReplState<'_>, argument: EntryPart<'_>, name: &str, side: StateSide) -> Result<(), Failure> {
    let ad = match argument.text {
        "" => {
            let ad = side(state).as_ref().map(|ad| ad.ad.clone());
            let text = ad.map_or_else(
                || format!("{name} is not set"),
                |ad| ad_text(state, &ad.printed(state.session.dialect())),
            );
            return state.print(&text);
        }
        "none" => {
            *side(state) = None;
            return Ok(());
        }
        text if text.starts_with('[') => {
            let ad = parse_ad(text.as_bytes(), state.rules()).map_err(|error| state.syntax_error(argument, error))?;
            NamedAd::unnamed(ad).with_name(name.to_owned())
        }
        text => {
            let is_attribute = side(state).as_ref().is_some_and(|ad| ad.ad.get_str(text).is_some());
            if is_attribute && !Path::new(text).exists() {
                let message = format!("there is no file {text}; type {name}.{text} to show the attribute of {name}");
                return Err(state.error_at(argument, message));
            }
            load_chosen(state, argument)?
        }
    };
    let attributes = counted(ad.ad.len(), "attribute");
    // An ad typed at the prompt is itself called `MY` or `TARGET`: do not print this name twice.
    let message = if ad.id() == name {
        format!("{name} has {attributes}")
    } else {
        format!("{name} is {}: {attributes}", ad.id())
    };
    *side(state) = Some(ad);
    state.print(&single_line(&message))
}

/// Returns the ad that the argument selects: `FILE`, `FILE ID`, or the name or number of an ad of the pool.
fn load_chosen(state: &mut ReplState<'_>, argument: EntryPart<'_>) -> Result<NamedAd, Failure> {
    let words = argument.words();
    let ([file] | [file, _]) = words.as_slice() else {
        return refuse("give only a file and, optionally, the number or the name of an ad");
    };
    let which = words.get(1);
    let is_wanted = |wanted: &str, id: &str, number: usize| wanted == id || wanted.parse() == Ok(number);
    let may_be_name = file.text != "-" && !Path::new(&file.text).is_file();
    if which.is_none() && may_be_name && !state.pool.offers().is_empty() {
        let found = state.pool.offers().iter().zip(1..).find(|(ad, number)| is_wanted(&file.text, ad.id(), *number));
        let found = found.map(|(ad, _)| NamedAd::unnamed(ad.ad.clone()).with_name(ad.id().to_owned()));
        let message = format!("there is no file {}, and the pool has no ad of this name or number", file.text);
        return found.ok_or_else(|| state.error_at(file.part, message));
    }
    let wanted = which.map_or("1", |which| &which.text);
    let (mut found, mut ads) = (None, 0);
    let mut sources = open_files(state, std::slice::from_ref(file))?;
    // Returning `false` stops reading once the ad is found.
    input::for_each_ad(state.session, &mut sources, |session, text, entry| {
        let ad = input::name_ad(session, text, entry, None);
        ads += 1;
        found = is_wanted(wanted, ad.id(), ads).then_some(ad);
        Ok(found.is_none())
    })?;
    if let Some(ad) = &found {
        state.take_time_of(std::slice::from_ref(ad));
    }
    found.ok_or_else(|| {
        let file_name = &file.text;
        let message = match ads {
            0 => format!("there is no ad in {file_name}"),
            _ => format!("no ad has the number or the name {wanted}; {file_name} has {}", counted(ads, "ad")),
        };
        state.error_at(which.unwrap_or(file).part, message)
    })
}

/// Opens files and decides the dialect by their forms. Refuses standard input, from which the entries are read.
fn open_files(state: &mut ReplState<'_>, files: &[ArgumentWord<'_>]) -> Result<Vec<AdSource>, Failure> {
    if let Some(file) = files.iter().find(|file| file.text == "-") {
        return Err(state.error_at(file.part, "standard input cannot be loaded: the entries come from it"));
    }
    let sources = input::open_sources(state.session, &paths(files))?;
    // Why none can be read was reported.
    if sources.is_empty() {
        return Err(Failure::Refused(None));
    }
    state.decide_dialect(&sources);
    Ok(sources)
}

fn paths(files: &[ArgumentWord<'_>]) -> Vec<String> {
    files.iter().map(|file| file.text.clone()).collect()
}

/// Replaces the pool by the ads of the files that the argument names, and prints a summary.
pub fn load_pool(state: &mut ReplState<'_>, argument: EntryPart<'_>) -> Result<(), Failure> {
    let files = argument.words();
    let before = state.session.error_count();
    let sources = open_files(state, &files)?;
    let ads = input::read_named_ads(state.session, sources, None)?;
    let lost = state.session.error_count() - before;
    state.take_time_of(&ads);
    state.pool = ReplPool::new(ads, paths(&files));
    print_pool_summary(state, lost)
}

/// Prints a summary of the pool. `lost` is the number of ads or files that could not be read.
pub fn print_pool_summary(state: &mut ReplState<'_>, lost: usize) -> Result<(), Failure> {
    if state.pool.files.is_empty() {
        return state.print("the pool is empty: `:pool FILE` loads one");
    }
    let attributes = state.pool.census.attributes().len();
    let mut text = format!(
        "{} of {}, {} in all",
        counted(state.pool.offers().len(), "ad"),
        state.pool.files.join(", "),
        counted(attributes, "attribute")
    );
    if lost > 0 {
        let _ = write!(text, "; {} while reading", counted(lost, "error"));
    }
    state.print_sentences(&single_line(&text))
}
