//! `--what-if NAME=EXPR`: matching with hypothetical attributes.

use classad::ad::{Ad, Expression, ExpressionKind, Name};
use classad::eval::{Context, Environment, Knowledge, SpecializeOptions, direct_references, specialize};

use classad::protocol::closest_attributes;
use classad::text::suggestion;
use indexmap::IndexSet;

use super::named_ad::NamedAd;
use super::parties::Parties;
use super::slip_notes::note_slips_of_definition;
use crate::cli::io::argument_text;
use crate::cli::outcome::Failure;
use crate::cli::session::Session;

/// Maximum number of ads of a side whose attributes are looked at to find out whether a name is misspelt.
const MAX_SAMPLED_ADS: usize = 1000;

/// Hypothetical attributes of every request and of every offer.
#[derive(Default)]
pub struct WhatIf {
    requests: Vec<(Name, Expression)>,
    offers: Vec<(Name, Expression)>,
}

impl WhatIf {
    /// Parses definitions: `NAME=EXPR` or `request.NAME=EXPR` for requests, `offer.NAME=EXPR` for offers.
    pub fn new(session: &mut Session, definitions: &[String]) -> Result<Self, Failure> {
        let mut what_if = WhatIf::default();
        for definition in definitions {
            let wanted = || format!("--what-if needs NAME=EXPR or offer.NAME=EXPR, not `{definition}`");
            let (name, text) = definition.split_once('=').ok_or_else(|| Failure::refused(wanted()))?;
            let (side, name) = match name.trim().split_once('.') {
                Some((side, name)) if side.eq_ignore_ascii_case("offer") => (&mut what_if.offers, name),
                Some((side, name)) if side.eq_ignore_ascii_case("request") => (&mut what_if.requests, name),
                _ => (&mut what_if.requests, name),
            };
            let expression = argument_text::parse_argument_expression(session, name.trim(), text)?;
            let name = argument_text::parse_required_name(session, "--what-if", name)?;
            note_slips_of_definition(session, &name, &expression);
            side.push((name, expression));
        }
        Ok(what_if)
    }

    /// Adds hypothetical attributes of every offer. Definitions of the same names that are there already have precedence.
    pub fn add_to_offers(&mut self, definitions: Vec<(Name, Expression)>) {
        let known = std::mem::take(&mut self.offers);
        self.offers = definitions.into_iter().chain(known).collect();
    }

    /// Whether there are no hypothetical attributes.
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty() && self.offers.is_empty()
    }

    /// Notes each hypothetical attribute that no ad of its side has, that no ad reads, and that is spelt like one that they
    /// have: it is most likely misspelt. Also notes names of sides in values.
    pub fn note_misspelt(&self, session: &Session, parties: &Parties) {
        let sides = [(&self.requests, &parties.requests, "request"), (&self.offers, &parties.offers, "offer")];
        for (name, value) in self.requests.iter().chain(&self.offers) {
            note_side_in_value(session, (name, value), parties);
        }
        for (definitions, ads, noun) in sides {
            let new = definitions.iter().map(|(name, _)| name);
            for name in new.filter(|name| ads.iter().all(|ad| ad.ad.get(name).is_none())) {
                let sampled = ads.iter().take(MAX_SAMPLED_ADS).flat_map(|ad| ad.ad.iter());
                let known: IndexSet<&str> = sampled.map(|attribute| attribute.name.as_str()).collect();
                let near = closest_attributes(name.as_str(), known);
                let mut sampled =
                    [&parties.requests, &parties.offers].into_iter().flat_map(|ads| ads.iter().take(MAX_SAMPLED_ADS));
                if !near.is_empty() && !sampled.any(|ad| reads(&ad.ad, name)) {
                    session.note(&format!("no {noun} has the attribute {name}{}", suggestion(&near)));
                }
            }
        }
    }

    /// Returns the parties with the hypothetical attributes added or replaced.
    pub fn apply_to_parties(&self, parties: &Parties, context: &Context) -> Parties {
        let [requests, offers] = self.apply(parties, context);
        let changed = |named: &[NamedAd], ads: Vec<Ad>| -> Vec<NamedAd> {
            named.iter().zip(ads).map(|(named, ad)| named.clone().with_ad(ad)).collect()
        };
        Parties::new([changed(&parties.requests, requests), changed(&parties.offers, offers)])
    }

    /// Returns the requests and the offers, each with the hypothetical attributes added or replaced.
    pub fn apply(&self, parties: &Parties, context: &Context) -> [Vec<Ad>; 2] {
        let change = |ad: Ad, (name, expression): &(Name, Expression)| {
            let expression = resolve_self_reference(&ad, name, expression, context);
            ad.with(name.clone(), expression)
        };
        let changed = |ads: &[NamedAd], definitions: &[(Name, Expression)]| {
            ads.iter().map(|ad| definitions.iter().fold(ad.ad.clone(), change)).collect()
        };
        [changed(&parties.requests, &self.requests), changed(&parties.offers, &self.offers)]
    }
}

/// Resolves references of a definition to the attribute that the definition replaces. In `Memory=Memory/2` the second
/// `Memory` means the old attribute, so the expression is specialized in the unchanged ad.
fn resolve_self_reference(ad: &Ad, name: &Name, expression: &Expression, context: &Context) -> Expression {
    let (environment, frame) = Environment::partner_unknown(ad.clone(), Knowledge::Complete);
    if !direct_references(expression, &frame, &environment, context).internal.contains(name) {
        return expression.clone();
    }
    let options = SpecializeOptions { inline: true, ..SpecializeOptions::default() };
    let context = Context { random: None, ..context.clone() };
    specialize(expression, &frame, &environment, &context, options).expression
}

/// Notes `offer.Memory` in the value of a definition, unless some ad has an attribute `offer`, or the value defines a
/// label. Only the name of a definition begins with a side.
fn note_side_in_value(session: &Session, (defined, value): (&Name, &Expression), parties: &Parties) {
    let mut found = None;
    for part in value.parts() {
        match part.kind() {
            ExpressionKind::Ad(_) => return,
            ExpressionKind::Select(subject, name) => match subject.kind() {
                ExpressionKind::Attribute(side) if side.is("offer") || side.is("request") => found = Some((side, name)),
                _ => {}
            },
            _ => {}
        }
    }
    let Some((side, name)) = found else { return };
    let is_defined = |ads: &[NamedAd]| ads.iter().any(|ad| ad.ad.get(side).is_some());
    if !is_defined(&parties.requests) && !is_defined(&parties.offers) {
        let advice = format!("write {name} for the attribute of the same ad, TARGET.{name} for that of the other ad");
        session.note(&format!("--what-if {defined}: {side}.{name} is undefined; {advice}"));
    }
}

/// Whether an expression of an ad reads an attribute of this name, of whichever ad.
fn reads(ad: &Ad, name: &Name) -> bool {
    let mut parts = ad.expressions().iter().flat_map(Expression::parts);
    parts.any(
        |part| matches!(part.kind(), ExpressionKind::Attribute(read) | ExpressionKind::Select(_, read) if read == name),
    )
}
