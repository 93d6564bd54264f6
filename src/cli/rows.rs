//! Requests and offers of which only what matching reads is read.

use std::io;

use classad::ad::{Expression, Name};
use classad::constraint::{IDENTITY, Protocol, identity};
use classad::eval::{Context, Mentions};
use classad::format::{Problem, Selection};

use super::Failure;
use super::input::Identified;
use super::session::Session;
use super::source::{Source, Text};

/// What is read on either side shows what is to be read on the other.  If it is not all known after so many
/// passes, the ads are read whole.
const MOST_PASSES: usize = 6;

/// The ads of both sides; those that matching cannot tell apart are one ad.  None if they have to be read whole:
/// they are in no files of the long form, or something may read any attribute.
pub fn selected(
    session: &mut Session,
    sides: [&[Source]; 2],
    protocol: &Protocol,
    id: Option<&Expression>,
) -> Result<Option<[Vec<Identified>; 2]>, Failure> {
    let context = session.context();
    let Some(mut selection) = selection(protocol, id, &context) else { return Ok(None) };
    if !sides.into_iter().flatten().all(Source::is_long_file) {
        return Ok(None);
    }
    for pass in 0..MOST_PASSES {
        let version = selection.version();
        let mut problems = Vec::new();
        let mut load = |side: &[Source]| -> io::Result<Vec<Identified>> {
            let mut ads = Vec::new();
            for source in side {
                // The beginnings tell nearly all; what they leave open costs another pass.
                load(source, pass == 0, &mut selection, id, &context, &mut ads, &mut problems)?;
            }
            Ok(ads)
        };
        // What cannot be read is told by whoever reads it whole.
        let (Ok(requests), Ok(offers)) = (load(sides[0]), load(sides[1])) else { return Ok(None) };
        if selection.is_everything() {
            return Ok(None);
        }
        if pass > 0 && selection.version() == version {
            for (text, problem) in &problems {
                session.problem(text, problem)?;
            }
            return Ok(Some([requests, offers]));
        }
    }
    Ok(None)
}

/// What matching is known to read before any ad is seen.
fn selection(protocol: &Protocol, id: Option<&Expression>, context: &Context) -> Option<Selection> {
    let mut labels = Mentions::default();
    match id {
        Some(id) => labels.add(id, context.dialect),
        None => labels.names.extend(IDENTITY.map(Name::new)),
    }
    let names = protocol.names().cloned().chain([Name::new("Ports")]);
    (!labels.everything).then(|| Selection::new(names, context.dialect).grouped(labels.names))
}

/// Reads a file, or its beginning.
fn load(
    source: &Source,
    only_beginning: bool,
    selection: &mut Selection,
    id: Option<&Expression>,
    context: &Context,
    ads: &mut Vec<Identified>,
    problems: &mut Vec<(Text, Problem)>,
) -> io::Result<()> {
    let mut source = source.again()?;
    while let Some(text) = source.next_text()? {
        let mut selected = text.block.selected(selection);
        while let Some(item) = selected.next() {
            match item {
                Ok(entry) => {
                    let name = identity(selected.label(), id, context);
                    let name = name.unwrap_or_else(|| format!("{}:{}", source.name, entry.number));
                    ads.push(Identified::new(entry.ad, name, entry.number));
                }
                Err(problem) => problems.push((text.clone(), problem)),
            }
        }
        source.ads = selected.number();
        if only_beginning {
            break;
        }
    }
    Ok(())
}
