//! Requests and offers of which only what matching reads is read.

use std::borrow::Cow;
use std::io;

use classad::ad::{Expression, Name, Text};
use classad::eval::{Context, Mentions};
use classad::format::{Block, Entry, Form, Problem, Selected, Selection, Sharing};
use classad::protocol::{ADVERTISING, Advertisement, Protocol, STANDING, identity};

use super::input::Identified;
use super::source::{self, Source};
use crate::cli::Failure;
use crate::cli::render::output;
use crate::cli::session::Session;

/// What is read on either side shows what is to be read on the other.  If it is not all known after so many
/// passes, the ads are read whole.
const MOST_PASSES: usize = 6;

/// So much of the offers, from all over a file, shows nearly all that they read of requests, in bytes.
const SAMPLE: u64 = 1 << 19;

/// The ads of both sides; those that matching cannot tell apart are one ad.  None if they have to be read whole:
/// they are in no files of the long form, or something may read any attribute.
///
/// What an ad mentions is looked for in that ad at once.  It may also be looked for on the other side, so that a side
/// is read again if the other one mentions what was not yet asked for when its reading began.
pub fn selected(
    session: &mut Session,
    [requests, offers]: [&[Source]; 2],
    labels: &Labels<'_>,
    protocol: &Protocol,
) -> Result<Option<[Vec<Identified>; 2]>, Failure> {
    let context = session.context();
    let Some(mut selection) = selection(protocol, labels, &context) else { return Ok(None) };
    if !requests.iter().chain(offers).all(Source::is_long_file) {
        return Ok(None);
    }
    let load = |side: &[Source], sharing, selection: &mut Selection| -> Option<Side> {
        let mut loaded = Side { begun: selection.begin(sharing), ..Side::default() };
        for source in side {
            // What cannot be read is told by whoever reads it whole.
            loaded.load(source, selection, labels, &context).ok()?;
        }
        loaded.newest = selection.newest();
        (!selection.is_everything()).then_some(loaded)
    };
    for source in offers {
        let Ok(pieces) = source.sample(SAMPLE) else { return Ok(None) };
        for piece in pieces {
            let Ok(piece) = piece else { return Ok(None) };
            // An ad that is cut off where a piece ends mentions what it mentions all the same.
            Block::whole(piece, Form::Long).selected(&mut selection).look_for_mentions();
        }
    }
    if selection.is_everything() {
        return Ok(None);
    }
    // How many requests there are to tell apart is a figure of its own.
    let [of_requests, of_offers] = [Sharing::Always, Sharing::WhileItPays];
    let Some(mut asking) = load(requests, of_requests, &mut selection) else { return Ok(None) };
    let Some(mut offered) = load(offers, of_offers, &mut selection) else { return Ok(None) };
    for _ in 0..MOST_PASSES {
        let lacks = [offered.newest > asking.begun, asking.newest > offered.begun];
        if lacks == [false, false] {
            if labels.no_ports && (asking.has_ports || offered.has_ports) {
                return Ok(None);
            }
            for (text, problem) in asking.problems.iter().chain(&offered.problems) {
                session.problem(text, problem)?;
            }
            output::leave(selection);
            return Ok(Some([asking.ads, offered.ads]));
        }
        let sides = [(&mut asking, requests, of_requests), (&mut offered, offers, of_offers)];
        for ((side, sources, sharing), lacks) in sides.into_iter().zip(lacks) {
            if lacks {
                let Some(again) = load(sources, sharing, &mut selection) else { return Ok(None) };
                *side = again;
            }
        }
    }
    Ok(None)
}

/// What is to be known of an ad beside what matching reads.
pub struct Labels<'l> {
    /// What it is called.
    pub id: Option<&'l Expression>,
    /// Whether all that it says of itself as an advertisement is kept.
    pub keeps_advertisements: bool,
    /// Whether ads with ports are not read in part, nor are any others beside them.
    pub no_ports: bool,
    /// What is looked up in it besides.
    pub also: &'l Mentions,
}

/// The ads of one side, and the problems of those that are lost.
#[derive(Default)]
struct Side {
    ads: Vec<Identified>,
    problems: Vec<(source::Text, Problem)>,
    /// Whether some ad has ports.
    has_ports: bool,
    /// The version of the selection when the reading began.
    begun: usize,
    /// With which version the last of the names came that its ads mention.
    newest: usize,
}

/// What matching is known to read before any ad is seen.
fn selection(protocol: &Protocol, labels: &Labels<'_>, context: &Context) -> Option<Selection> {
    let Labels { id, keeps_advertisements, no_ports: _, also } = labels;
    let mut labels = Mentions::default();
    let advertising = if *keeps_advertisements { &ADVERTISING } else { STANDING };
    labels.names.extend(advertising.iter().map(|name| Name::new(name)));
    if let Some(id) = id {
        labels.add(id, context.dialect);
    }
    let names = protocol.names().cloned().chain([Name::new("Ports")]).chain(also.names.iter().cloned());
    let everything = labels.everything || also.everything;
    (!everything).then(|| Selection::new(names, context.dialect).grouped(labels.names))
}

impl Side {
    /// Reads a file.
    fn load(
        &mut self,
        source: &Source,
        selection: &mut Selection,
        labels: &Labels<'_>,
        context: &Context,
    ) -> io::Result<()> {
        let mut source = source.again()?;
        let mut pieces = 0;
        while let Some(text) = source.next_text()? {
            pieces += 1;
            let mut selected = text.block.selected(selection);
            while let Some(item) = selected.next() {
                match item {
                    Ok(entry) => self.ads.push(labels.identified(entry, &selected, &source.name, context)),
                    Err(problem) => self.problems.push((text.clone(), problem)),
                }
            }
            source.ads = selected.number();
            self.has_ports |= selected.occurs(&Name::new("Ports"));
            if pieces == 2 {
                // Nothing need be moved again and again as it grows; the first piece is too short to tell how far.  A
                // piece of tiny ads may promise more than there is memory for: then it grows as it must.
                let left = source.ads_left();
                let _ = self.ads.try_reserve(left.saturating_add(left / 16));
            }
            source.give_back(text);
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
        let by_place = || format!("{source}:{}", entry.number);
        let other_name = match (&label, self.id, standing.identity.as_ref().map(Text::to_str)) {
            (Some(ad), Some(id), _) => Some(identity(ad, Some(id), context).unwrap_or_else(by_place)),
            (_, _, Some(Cow::Borrowed(_))) => None,
            (_, _, Some(Cow::Owned(shown))) => Some(shown),
            (_, _, None) => Some(by_place()),
        };
        let advertisement = label.filter(|_| self.keeps_advertisements);
        let ad = Identified::selected(entry.ad, standing, advertisement, entry.number);
        match other_name {
            Some(name) => ad.called(name),
            None => ad,
        }
    }
}
