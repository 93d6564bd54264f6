//! Requests and offers of which only what matching reads is read.

use std::io;

use classad::ad::{Expression, Name};
use classad::constraint::{ADVERTISING, Advertisement, Protocol, identity};
use classad::eval::{Context, Mentions};
use classad::format::{Entry, Problem, Selected, Selection};

use super::Failure;
use super::input::Identified;
use super::session::Session;
use super::source::{Source, Text};

/// What is read on either side shows what is to be read on the other.  If it is not all known after so many
/// passes, the ads are read whole.
const MOST_PASSES: usize = 6;

/// So much of the offers shows nearly all that they read of requests, in bytes.
const BEGINNING: usize = 1 << 20;

/// The ads of both sides; those that matching cannot tell apart are one ad.  None if they have to be read whole:
/// they are in no files of the long form, or something may read any attribute.
///
/// What an ad mentions is looked for in that ad at once.  It may also be looked for on the other side, so that a side
/// is read again when the other one has mentioned more since.
pub fn selected(
    session: &mut Session,
    [requests, offers]: [&[Source]; 2],
    labels: &Labels<'_>,
    protocol: &Protocol,
) -> Result<Option<[Vec<Identified>; 2]>, Failure> {
    let context = session.context();
    let Some(mut selection) = selection(protocol, labels.id, &context) else { return Ok(None) };
    if !requests.iter().chain(offers).all(Source::is_long_file) {
        return Ok(None);
    }
    let mut load = |side: &[Source], most| -> Option<(Side, usize)> {
        let mut loaded = Side::default();
        for source in side {
            // What cannot be read is told by whoever reads it whole.
            loaded.load(source, most, &mut selection, labels, &context).ok()?;
        }
        (!selection.is_everything()).then(|| (loaded, selection.version()))
    };
    if load(offers, BEGINNING).is_none() {
        return Ok(None);
    }
    let (mut asked, mut offered) = (None, None);
    for _ in 0..MOST_PASSES {
        asked = load(requests, usize::MAX);
        let Some((_, known)) = &asked else { return Ok(None) };
        if offered.as_ref().is_none_or(|(_, known_then)| known_then < known) {
            offered = load(offers, usize::MAX);
        }
        let Some((_, known_now)) = &offered else { return Ok(None) };
        if known_now == known {
            break;
        }
    }
    let (Some((asked, known)), Some((offered, known_then))) = (asked, offered) else { return Ok(None) };
    if known != known_then {
        return Ok(None);
    }
    for (text, problem) in asked.problems.iter().chain(&offered.problems) {
        session.problem(text, problem)?;
    }
    Ok(Some([asked.ads, offered.ads]))
}

/// What is to be known of an ad beside what matching reads.
pub struct Labels<'l> {
    /// What it is called.
    pub id: Option<&'l Expression>,
    /// Whether all that it says of itself as an advertisement is kept.
    pub keeps_advertisements: bool,
}

/// The ads of one side, and the problems of those that are lost.
#[derive(Default)]
struct Side {
    ads: Vec<Identified>,
    problems: Vec<(Text, Problem)>,
}

/// What matching is known to read before any ad is seen.
fn selection(protocol: &Protocol, id: Option<&Expression>, context: &Context) -> Option<Selection> {
    let mut labels = Mentions::default();
    labels.names.extend(ADVERTISING.map(Name::new));
    if let Some(id) = id {
        labels.add(id, context.dialect);
    }
    let names = protocol.names().cloned().chain([Name::new("Ports")]);
    (!labels.everything).then(|| Selection::new(names, context.dialect).grouped(labels.names))
}

impl Side {
    /// Reads a file, or so much of it.
    fn load(
        &mut self,
        source: &Source,
        most: usize,
        selection: &mut Selection,
        labels: &Labels<'_>,
        context: &Context,
    ) -> io::Result<()> {
        let mut source = source.again()?;
        let mut read = 0;
        while let Some(text) = source.next_text()?
            && read < most
        {
            read += text.block.text.len();
            let mut selected = text.block.selected(selection);
            while let Some(item) = selected.next() {
                match item {
                    Ok(entry) => self.ads.push(labels.identified(entry, &selected, &source.name, context)),
                    Err(problem) => self.problems.push((text.clone(), problem)),
                }
            }
            source.ads = selected.number();
        }
        Ok(())
    }
}

impl Labels<'_> {
    fn identified(&self, entry: Entry, selected: &Selected<'_, '_>, source: &str, context: &Context) -> Identified {
        let value = |label| selected.label_value(label);
        let is_plain = selected.has_plain_labels();
        let label = (!is_plain || self.id.is_some() || self.keeps_advertisements).then(|| selected.label());
        let standing = match &label {
            Some(ad) if !is_plain => Advertisement::new(ad, context).standing(),
            _ => Advertisement::of_values(&value).standing(),
        };
        let name = match (&label, self.id) {
            (Some(ad), Some(id)) => identity(ad, Some(id), context),
            _ => standing.identity.as_ref().map(|text| text.to_str().into_owned()),
        };
        let name = name.unwrap_or_else(|| format!("{source}:{}", entry.number));
        Identified::selected(entry.ad, standing, label.filter(|_| self.keeps_advertisements), name, entry.number)
    }
}
