//! Ads with the names by which the program calls them.

use std::borrow::Cow;

use classad::ad::{Ad, Expression, Name, Span, Value};
use classad::eval::Context;
use classad::format::{AdEntry, AttributeSpan, FileFormat, Problem};
use classad::protocol::{
    AdvertisedState, Advertisement, AdvertisementHeader, ContentIdentities, InvalidAd, PORTS, PortFault,
    evaluate_attribute,
};
use classad::text::TextEdit;

use super::source_text::SourceText;
use crate::cli::outcome::Failure;
use crate::cli::session::Session;

/// The place in a source where an ad begins.
#[derive(Clone)]
struct Location {
    text: SourceText,
    offset: usize,
    /// 1-based number of the ad in its source.
    number: usize,
    /// Whether the ad is called by this place, as it has no name.
    is_name: bool,
    /// What records of matches call the ad that has no name; see [`ContentIdentities`].
    content_id: Option<Box<str>>,
}

/// An ad with its display name.
#[derive(Clone, Default)]
pub struct NamedAd {
    pub ad: Ad,
    /// The display name. `None` if the identity in the advertising protocol serves as the name.
    display_name: Option<Box<str>>,
    /// Identity, sequence number and lifetime in the advertising protocol. `None` if the ad was read whole, because
    /// these values can be computed from a whole ad.
    header: Option<AdvertisementHeader>,
    advertisement: Option<Ad>,
    /// The place where the ad begins; `None` if the ad comes from no source or was read only in part.
    location: Option<Box<Location>>,
}

impl NamedAd {
    /// Wraps an ad that has neither a name nor a location.
    pub fn unnamed(ad: Ad) -> Self {
        NamedAd { ad, ..NamedAd::default() }
    }

    /// Makes a named ad of an ad in `text`. If `name` is `None`, the ad is called by its location, `FILE:NUMBER`.
    pub fn located(text: &SourceText, AdEntry { ad, number, offset, .. }: AdEntry, name: Option<String>) -> Self {
        let is_name = name.is_none();
        let name = name.unwrap_or_else(|| format!("{}:{number}", text.name));
        let location = Some(Box::new(Location { text: text.clone(), offset, number, is_name, content_id: None }));
        NamedAd { location, ..NamedAd::unnamed(ad).with_name(name) }
    }

    /// Sets the display name.
    pub fn with_name(self, id: String) -> Self {
        NamedAd { display_name: Some(id.into()), ..self }
    }

    /// Replaces the ad, and keeps its name.
    pub fn with_ad(self, ad: Ad) -> Self {
        NamedAd { ad, ..self }
    }

    /// The display name: the one that was set, else the identity in the advertising protocol, else empty.
    pub fn id(&self) -> &str {
        let own = || str::from_utf8(self.header.as_ref()?.identity.as_ref()?.as_bytes()).ok();
        self.display_name.as_deref().or_else(own).unwrap_or_default()
    }

    /// What records of matches call the ad: its name, or for an ad without one its content identity, if it was assigned.
    pub fn record_id(&self) -> &str {
        let content_id = self.location.as_deref().and_then(|location| location.content_id.as_deref());
        content_id.unwrap_or_else(|| self.id())
    }

    /// Assigns a content identity to an ad that has no name. Returns whether it has none.
    pub fn assign_content_id(&mut self, identities: &mut ContentIdentities) -> bool {
        let Some(location) = self.location.as_deref_mut().filter(|location| location.is_name) else { return false };
        location.content_id = Some(identities.identify(&self.ad).into());
        true
    }

    /// Whether the ad is that of a job, called by its `ClusterId` and `ProcId`.
    pub fn is_named_by_job_number(&self) -> bool {
        self.display_name.as_deref().is_some_and(is_job_number)
    }

    /// Calls the ad by its identity in the advertising protocol, if it has one.
    pub fn name_by_identity(&mut self, context: &Context) {
        let identity = self.header(context).identity.as_ref().map(|identity| identity.to_str().into());
        self.display_name = identity.or(self.display_name.take());
    }

    /// Wraps an ad that was read only in part.
    ///
    /// `ad` may lack the attributes of the advertising protocol. `header` is the header computed from these
    /// attributes; `advertisement` holds the attributes themselves, if notifications need them. The identity becomes
    /// the display name. If the identity is missing or is not UTF-8, the caller must name the ad by
    /// [`NamedAd::with_name`].
    pub fn from_projection(ad: Ad, header: AdvertisementHeader, advertisement: Option<Ad>) -> Self {
        NamedAd { ad, header: Some(header), advertisement, ..NamedAd::default() }
    }

    /// Whether the ad was read only in part. Ads that agree in the part read may share one [`Ad`].
    pub fn is_projected(&self) -> bool {
        self.header.is_some()
    }

    /// Identity, sequence number and lifetime in the advertising protocol.
    pub fn header(&self, context: &Context) -> Cow<'_, AdvertisementHeader> {
        let of_whole = || Cow::Owned(Advertisement::new(&self.ad, context).header());
        self.header.as_ref().map_or_else(of_whole, Cow::Borrowed)
    }

    /// The state of the job or slot, as its ad tells it.
    pub fn state(&self, context: &Context) -> AdvertisedState {
        let of_whole = || Advertisement::new(&self.ad, context).state();
        self.header.as_ref().map_or_else(of_whole, |header| header.state)
    }

    /// Whether the ad is called `wanted`: by its display name or its identity; a job also by its `ClusterId` or its
    /// `Owner`, a slot also by its `Machine`, or by its name without `slot1@`.
    pub fn is_called(&self, wanted: &str, context: &Context) -> bool {
        let is_wanted = |value: Value| match value {
            Value::String(text) => text.to_str() == wanted,
            Value::Integer(number) => number.to_string() == wanted,
            _ => false,
        };
        if self.id() == wanted {
            return true;
        }
        let header = self.header(context);
        let has = |name| evaluate_attribute(self.advertisement(), &Name::new(name), context).is_some_and(is_wanted);
        header.identity.as_ref().is_some_and(|identity| identity.to_str() == wanted)
            || match header.state {
                AdvertisedState::Job(_) => has("ClusterId") || has("Owner"),
                AdvertisedState::Slot(_) => {
                    self.id().split_once('@').is_some_and(|(_, host)| host == wanted) || has("Machine")
                }
                AdvertisedState::Stateless | AdvertisedState::Daemon => false,
            }
    }

    /// Returns the ad kept for notifications, which has the attributes of the advertising protocol. If no ad was kept,
    /// returns the ad itself.
    pub fn advertisement(&self) -> &Ad {
        self.advertisement.as_ref().unwrap_or(&self.ad)
    }

    /// Whether the ad is a job of a submit file, which is not in a queue.
    pub fn is_of_submit_file(&self) -> bool {
        self.location.as_deref().is_some_and(|location| location.text.block.form == FileFormat::Submit)
    }

    /// Returns where the command of a submit file stands from which the job has an attribute: `FILE:LINE`. It is the file
    /// alone if no command sets the attribute. `None` if the ad is not a job of a submit file.
    pub fn submit_place(&self, session: &Session, attribute: &str) -> Option<String> {
        let Location { text, offset, .. } = self.location.as_deref().filter(|_| self.is_of_submit_file())?;
        let places = text.block.attribute_spans(*offset, session.dialect());
        let place = places.iter().rev().find(|place| place.name == Name::new(attribute));
        Some(match place {
            Some(place) => format!("{}:{}", text.name, text.position(place.name_range.start).line),
            None => text.name.to_string(),
        })
    }

    /// Returns the text from which the ad was read, and the edits of it that set attributes to the texts of expressions.
    /// `None` if the ad comes from no text in the long form or in brackets.
    pub fn edits(&self, session: &Session, assignments: &[(String, String)]) -> Option<(&SourceText, Vec<TextEdit>)> {
        let Location { text, offset, .. } = self.location.as_deref()?;
        let bytes = &text.block.text;
        let is_long = match text.block.form {
            FileFormat::Long => true,
            FileFormat::Bracketed => false,
            _ => return None,
        };
        let places = text.block.attribute_spans(*offset, session.dialect());
        let value_range = |place: &AttributeSpan| {
            let span = self.ad.get(&place.name).map(Expression::span).unwrap_or_default();
            let range = place.file_range(span);
            if !is_long {
                return range;
            }
            // In the long form, a value has the rest of its line.
            let start = place.file_range(Span::default()).start;
            let line = bytes[start..].split(|byte| *byte == b'\n').next().unwrap_or_default();
            let lead = line.len() - line.trim_ascii_start().len();
            start + lead..start + line.trim_ascii_end().len().max(lead)
        };
        let end = value_range(places.last()?).end;
        let edit = |(name, value): &(String, String)| {
            let place = places.iter().rev().find(|place| place.name == Name::new(name));
            match place {
                Some(place) => (value_range(place), value.clone()),
                None if is_long => (end..end, format!("\n{name} = {value}")),
                None => (end..end, format!("; {name} = {value}")),
            }
        };
        Some((text, assignments.iter().map(edit).collect()))
    }

    /// Reports that the ports of this ad are invalid, with the position in the source. Does nothing if the ad has no
    /// location.
    pub fn report_bad_ports(&self, session: &mut Session, fault: &PortFault) -> Result<(), Failure> {
        self.report_invalid(session, &InvalidAd::Ports(fault.clone()))
    }

    /// Reports that this ad is no valid advertisement, with the position in the source. Does nothing if the ad has no
    /// location.
    pub fn report_invalid(&self, session: &mut Session, fault: &InvalidAd) -> Result<(), Failure> {
        let Some(Location { text, offset, number, .. }) = self.location.as_deref() else { return Ok(()) };
        let places = text.block.attribute_spans(*offset, session.dialect());
        let ports = places.iter().rev().find(|place| place.name == *PORTS);
        let range = ports.zip(fault.port_fault());
        let range = range.map_or(*offset..offset + 1, |(place, fault)| place.file_range(fault.span));
        session.report_problem(text, &Problem::error_at(range, *number, fault.to_string()))
    }
}

/// Whether a name is the number of a job: `ClusterId.ProcId`.
pub fn is_job_number(name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    name.split_once('.').is_some_and(|(cluster, process)| is_number(cluster) && is_number(process))
}

#[cfg(test)]
#[path = "named_ad_tests.rs"]
mod tests;
