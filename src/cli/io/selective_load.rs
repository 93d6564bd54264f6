//! Selective loading: reads only those attributes of requests and offers that matching can look up.

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

/// Maximum number of passes over the sides. Reading one side may reveal further attributes that are needed from the
/// other; without a fixpoint after this many passes the ads are read whole.
const MOST_PASSES: usize = 6;

/// Bytes sampled from all over each file of offers before the first pass. The sample reveals nearly all attributes
/// that the offers look up in requests, which saves a second pass over the requests.
const SAMPLE: u64 = 1 << 19;

/// Reads the ads of both sides selectively. Ads that matching cannot tell apart share one [`Ad`](classad::ad::Ad).
///
/// `None` if the ads have to be read whole: some source is no file in the long form, or an expression may read any
/// attribute.
///
/// An attribute that an ad mentions is read from that ad at once. It may also be looked up on the other side:
/// a side is read again if the other one mentions names that were not selected when its reading began.
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
            // On an error the caller reads the ads whole, and reports it then.
            loaded.load(source, selection, labels, &context).ok()?;
        }
        loaded.newest = selection.newest();
        (!selection.is_everything()).then_some(loaded)
    };
    for source in offers {
        let Ok(pieces) = source.sample(SAMPLE) else { return Ok(None) };
        for piece in pieces {
            let Ok(piece) = piece else { return Ok(None) };
            // Mentions are collected line by line: ads cut off at the ends of a piece do not matter.
            Block::whole(piece, Form::Long).selected(&mut selection).look_for_mentions();
        }
    }
    if selection.is_everything() {
        return Ok(None);
    }
    // Requests are always deduplicated: the number of distinct ones is part of the statistics.
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

/// The data that is needed of each ad beside the attributes that matching looks up.
pub struct Labels<'l> {
    /// The expression of `--id`, for display names.
    pub id: Option<&'l Expression>,
    /// Whether all attributes of the advertising protocol are kept, for notifications.
    pub keeps_advertisements: bool,
    /// Whether all ads are to be read whole if any ad has ports.
    pub no_ports: bool,
    /// Further names that the caller looks up.
    pub also: &'l Mentions,
}

/// The ads of one side, as of one pass.
#[derive(Default)]
struct Side {
    ads: Vec<Identified>,
    problems: Vec<(source::Text, Problem)>,
    /// Whether an ad has ports.
    has_ports: bool,
    /// Version of the selection when the pass began.
    begun: usize,
    /// Version of the selection that added the last of the names that these ads mention.
    newest: usize,
}

/// Returns the names that are needed whatever the ads are; `None` if `--id` or the caller may read any attribute.
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
    /// Reads a source.
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
                // Reserve memory for the rest of the file, to avoid moving the ads as the vector grows. The first
                // piece is too short for an estimate. An estimate from tiny ads may exceed the memory: ignore the
                // error, the vector then grows as needed.
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
