//! The commands `:my` and `:target`, and loading of the pool.

use std::fmt::Write;
use std::path::Path;

use classad::explain::thousands;
use classad::format::Problem;
use classad::syntax::parse_ad;

use super::argument::Argument;
use super::arguments::Word;
use super::expression_commands::ad_text;
use super::state::{Desk, Pool};
use crate::cli::Failure;
use crate::cli::io::input::{self, Identified};
use crate::cli::io::source::Source;
use crate::cli::render::diagnostics;

/// The side of a match: `MY` or `TARGET`.
#[derive(Clone, Copy)]
enum Side {
    My,
    Target,
}

impl Side {
    fn name(self) -> &'static str {
        match self {
            Side::My => "my",
            Side::Target => "target",
        }
    }

    fn of<'d>(self, desk: &'d mut Desk<'_>) -> &'d mut Option<Identified> {
        match self {
            Side::My => &mut desk.my,
            Side::Target => &mut desk.target,
        }
    }
}

/// `:my`
pub fn my(desk: &mut Desk<'_>, argument: &Argument<'_>) -> Result<(), Failure> {
    side(desk, argument, Side::My)
}

/// `:target`
pub fn target(desk: &mut Desk<'_>, argument: &Argument<'_>) -> Result<(), Failure> {
    side(desk, argument, Side::Target)
}

/// Shows the ad of a side, or replaces it.
fn side(desk: &mut Desk<'_>, argument: &Argument<'_>, side: Side) -> Result<(), Failure> {
    let name = side.name();
    let ad = if argument.is_empty() {
        let text = match side.of(desk).as_ref().map(|ad| ad.ad.clone()) {
            Some(ad) => ad_text(desk, &ad),
            None => format!("{name} is no ad"),
        };
        return desk.print(&text);
    } else if argument.text.starts_with('[') {
        let ad = parse_ad(argument.text.as_bytes(), desk.rules());
        let ad =
            ad.map_err(|error| argument.problem(desk.session, &Problem::from_syntax(error, argument.offset, 0)))?;
        Identified::unnamed(ad).called(name.to_owned())
    } else if argument.text == "none" {
        *side.of(desk) = None;
        return Ok(());
    } else {
        chosen(desk, argument)?
    };
    let attributes = counted(ad.ad.len(), "attribute");
    // An ad typed at the prompt has no name.
    let message = if ad.id() == name {
        format!("{name} has {attributes}")
    } else {
        format!("{name} is {}: {attributes}", ad.id())
    };
    *side.of(desk) = Some(ad);
    desk.print(&diagnostics::line(&message))
}

/// Returns the ad that the argument selects: `FILE`, `FILE WHICH`, or the name or number of an ad of the pool.
fn chosen(desk: &mut Desk<'_>, argument: &Argument<'_>) -> Result<Identified, Failure> {
    let words = argument.words();
    let (first, which) = match words.as_slice() {
        [first] => (first, None),
        [first, which] => (first, Some(which)),
        _ => return Err(argument.refuse(desk.session, "this is more than a file and which of its ads is meant")),
    };
    if which.is_none() && !Path::new(&first.text).is_file() && !desk.pool.offers().is_empty() {
        let found = pick(desk.pool.offers(), &first.text);
        let message = format!("neither a file nor an ad of the pool is called {}", first.text);
        return found.ok_or_else(|| argument.part(first.range.clone()).refuse(desk.session, message));
    }
    let wanted = which.map_or("1", |which| which.text.as_str());
    let (mut found, mut ads) = (None, 0);
    for mut source in open(desk, argument, std::slice::from_ref(first))? {
        // Stop reading at the ad.
        input::each_ad(desk.session, &mut source, |session, ad| {
            let ad = input::identify(session, ad, None);
            ads += 1;
            if is_meant(wanted, ad.id(), ads) {
                found = Some(ad);
            }
            Ok(found.is_none())
        })?;
    }
    found.ok_or_else(|| {
        let message = match (ads, which) {
            (0, _) => format!("there is no ad in {}", first.text),
            (all, _) => {
                format!("none of the {} in {} is number {wanted} or has this name", counted(all, "ad"), first.text)
            }
        };
        argument.part(which.unwrap_or(first).range.clone()).refuse(desk.session, message)
    })
}

/// Whether `wanted` is the name of an ad or its 1-based number.
fn is_meant(wanted: &str, id: &str, number: usize) -> bool {
    wanted == id || wanted.parse() == Ok(number)
}

/// Returns the ad of the pool with this name or 1-based number; `None` if there is no such ad.
fn pick(ads: &[Identified], wanted: &str) -> Option<Identified> {
    let mut numbered = (1..).zip(ads);
    let (_, ad) = numbered.find(|(number, ad)| is_meant(wanted, ad.id(), *number))?;
    Some(Identified::unnamed(ad.ad.clone()).called(ad.id().to_owned()))
}

/// Opens files and decides the dialect by their forms. Refuses standard input.
fn open(desk: &mut Desk<'_>, argument: &Argument<'_>, files: &[Word]) -> Result<Vec<Source>, Failure> {
    if let Some(word) = files.iter().find(|file| file.text == "-") {
        let message = "standard input is where the entries come from";
        return Err(argument.part(word.range.clone()).refuse(desk.session, message));
    }
    let paths: Vec<String> = files.iter().map(|file| file.text.clone()).collect();
    let before = desk.session.mistakes();
    let sources = input::open(desk.session, &paths)?;
    if sources.is_empty() && desk.session.mistakes() > before {
        return Err(Failure::Refused(None));
    }
    desk.decide_dialect(&sources);
    Ok(sources)
}

/// Replaces the pool by the ads of the files that the argument names.
pub fn pool_of_files(desk: &mut Desk<'_>, argument: &Argument<'_>) -> Result<(), Failure> {
    load_pool(desk, argument, &argument.words())
}

/// Replaces the pool by the ads of these files, and prints a summary.
pub fn load_pool(desk: &mut Desk<'_>, argument: &Argument<'_>, files: &[Word]) -> Result<(), Failure> {
    let before = desk.session.mistakes();
    let sources = open(desk, argument, files)?;
    let ads = input::identified(desk.session, sources, None)?;
    let lost = desk.session.mistakes() - before;
    desk.pool = Pool::new(ads, files.iter().map(|file| file.text.clone()).collect());
    tell_pool(desk, lost)
}

/// Prints a summary of the pool. `lost` is the number of ads or files that could not be read.
pub fn tell_pool(desk: &mut Desk<'_>, lost: usize) -> Result<(), Failure> {
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
    desk.print(&diagnostics::line(&text))
}

/// Returns a number with its noun, such as `3 ads`.
pub fn counted(count: usize, what: &str) -> String {
    format!("{} {what}{}", thousands(count), if count == 1 { "" } else { "s" })
}
