//! The commands `:my` and `:target`, and loading of the pool.

use std::fmt::Write;
use std::path::Path;

use classad::format::Problem;
use classad::syntax::parse_ad;
use classad::text::counted;

use super::argument::CommandArgument;
use super::arguments::ArgumentWord;
use super::expression_commands::ad_text;
use super::state::{ReplPool, ReplState};
use crate::cli::Failure;
use crate::cli::io::input::{self, NamedAd};
use crate::cli::io::source::AdSource;
use crate::cli::render::diagnostics;

/// The side of a match: `MY` or `TARGET`.
#[derive(Clone, Copy)]
enum ReplSide {
    My,
    Target,
}

impl ReplSide {
    fn name(self) -> &'static str {
        match self {
            ReplSide::My => "my",
            ReplSide::Target => "target",
        }
    }

    fn ad_mut<'d>(self, desk: &'d mut ReplState<'_>) -> &'d mut Option<NamedAd> {
        match self {
            ReplSide::My => &mut desk.my,
            ReplSide::Target => &mut desk.target,
        }
    }
}

/// `:my`: prints the ad in which expressions stand, or replaces it.
pub fn my(desk: &mut ReplState<'_>, argument: &CommandArgument<'_>) -> Result<(), Failure> {
    show_or_set(desk, argument, ReplSide::My)
}

/// `:target`: prints the ad on the other side, or replaces it.
pub fn target(desk: &mut ReplState<'_>, argument: &CommandArgument<'_>) -> Result<(), Failure> {
    show_or_set(desk, argument, ReplSide::Target)
}

/// Prints the ad of a side, or replaces it by the ad that the argument gives; `none` removes it.
fn show_or_set(desk: &mut ReplState<'_>, argument: &CommandArgument<'_>, side: ReplSide) -> Result<(), Failure> {
    let name = side.name();
    let ad = if argument.is_empty() {
        let text = match side.ad_mut(desk).as_ref().map(|ad| ad.ad.clone()) {
            Some(ad) => ad_text(desk, &ad),
            None => format!("{name} is no ad"),
        };
        return desk.print(&text);
    } else if argument.text.starts_with('[') {
        let ad = parse_ad(argument.text.as_bytes(), desk.rules());
        let ad = ad
            .map_err(|error| argument.report_problem(desk.session, &Problem::from_syntax(error, argument.offset, 0)))?;
        NamedAd::unnamed(ad).with_name(name.to_owned())
    } else if argument.text == "none" {
        *side.ad_mut(desk) = None;
        return Ok(());
    } else {
        load_chosen(desk, argument)?
    };
    let attributes = counted(ad.ad.len(), "attribute");
    // An ad typed at the prompt has no name.
    let message = if ad.id() == name {
        format!("{name} has {attributes}")
    } else {
        format!("{name} is {}: {attributes}", ad.id())
    };
    *side.ad_mut(desk) = Some(ad);
    desk.print(&diagnostics::single_line(&message))
}

/// Returns the ad that the argument selects: `FILE`, `FILE WHICH`, or the name or number of an ad of the pool.
fn load_chosen(desk: &mut ReplState<'_>, argument: &CommandArgument<'_>) -> Result<NamedAd, Failure> {
    let words = argument.words();
    let (first, which) = match words.as_slice() {
        [first] => (first, None),
        [first, which] => (first, Some(which)),
        _ => return Err(argument.report_error(desk.session, "this is more than a file and which of its ads is meant")),
    };
    if which.is_none() && !Path::new(&first.text).is_file() && !desk.pool.offers().is_empty() {
        let found = pick_from_pool(desk.pool.offers(), &first.text);
        let message = format!("neither a file nor an ad of the pool is called {}", first.text);
        return found.ok_or_else(|| argument.part(first.range.clone()).report_error(desk.session, message));
    }
    let wanted = which.map_or("1", |which| which.text.as_str());
    let (mut found, mut ads) = (None, 0);
    let mut sources = open_files(desk, argument, std::slice::from_ref(first))?;
    // Returning `false` stops reading once the ad is found.
    input::for_each_ad(desk.session, &mut sources, |session, text, entry| {
        let ad = input::name_ad(session, text, entry, None);
        ads += 1;
        if is_name_or_number(wanted, ad.id(), ads) {
            found = Some(ad);
        }
        Ok(found.is_none())
    })?;
    found.ok_or_else(|| {
        let message = match (ads, which) {
            (0, _) => format!("there is no ad in {}", first.text),
            (all, _) => {
                format!("none of the {} in {} is number {wanted} or has this name", counted(all, "ad"), first.text)
            }
        };
        argument.part(which.unwrap_or(first).range.clone()).report_error(desk.session, message)
    })
}

/// Whether `wanted` is the name of an ad or its 1-based number.
fn is_name_or_number(wanted: &str, id: &str, number: usize) -> bool {
    wanted == id || wanted.parse() == Ok(number)
}

/// Returns the ad of the pool with this name or 1-based number; `None` if there is no such ad.
fn pick_from_pool(ads: &[NamedAd], wanted: &str) -> Option<NamedAd> {
    let mut numbered = (1..).zip(ads);
    let (_, ad) = numbered.find(|(number, ad)| is_name_or_number(wanted, ad.id(), *number))?;
    Some(NamedAd::unnamed(ad.ad.clone()).with_name(ad.id().to_owned()))
}

/// Opens files and decides the dialect by their forms. Refuses standard input, from which the entries are read.
fn open_files(
    desk: &mut ReplState<'_>,
    argument: &CommandArgument<'_>,
    files: &[ArgumentWord],
) -> Result<Vec<AdSource>, Failure> {
    if let Some(word) = files.iter().find(|file| file.text == "-") {
        let message = "standard input is where the entries come from";
        return Err(argument.part(word.range.clone()).report_error(desk.session, message));
    }
    let paths: Vec<String> = files.iter().map(|file| file.text.clone()).collect();
    let before = desk.session.error_count();
    let sources = input::open_sources(desk.session, &paths)?;
    if sources.is_empty() && desk.session.error_count() > before {
        return Err(Failure::Refused(None));
    }
    desk.decide_dialect(&sources);
    Ok(sources)
}

/// Replaces the pool by the ads of the files that the argument names.
pub fn load_pool_argument(desk: &mut ReplState<'_>, argument: &CommandArgument<'_>) -> Result<(), Failure> {
    load_pool(desk, argument, &argument.words())
}

/// Replaces the pool by the ads of these files, and prints a summary.
pub fn load_pool(
    desk: &mut ReplState<'_>,
    argument: &CommandArgument<'_>,
    files: &[ArgumentWord],
) -> Result<(), Failure> {
    let before = desk.session.error_count();
    let sources = open_files(desk, argument, files)?;
    let ads = input::read_named_ads(desk.session, sources, None)?;
    let lost = desk.session.error_count() - before;
    desk.pool = ReplPool::new(ads, files.iter().map(|file| file.text.clone()).collect());
    print_pool_summary(desk, lost)
}

/// Prints a summary of the pool. `lost` is the number of ads or files that could not be read.
pub fn print_pool_summary(desk: &mut ReplState<'_>, lost: usize) -> Result<(), Failure> {
    if desk.pool.files.is_empty() {
        return desk.print("the pool is empty: `:pool FILE` loads one");
    }
    let attributes = desk.pool.census.attributes().len();
    let mut text = format!(
        "{} of {}, {} in all",
        counted(desk.pool.offers().len(), "ad"),
        desk.pool.files.join(", "),
        counted(attributes, "attribute")
    );
    if lost > 0 {
        let _ = write!(text, "; {lost} could not be read");
    }
    desk.print(&diagnostics::single_line(&text))
}
