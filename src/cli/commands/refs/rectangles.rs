//! The rectangles of ads, as an index of the matchmaker sees them (thesis 4.2 to 4.4).

use std::sync::Arc;

use classad::ad::{Ad, Name, ScopeAd, ScopeFrame, Value};
use classad::constraint::{Profile, profiles};
use classad::eval::{Context, Environment, Evaluator, Knowledge, SpecializeOptions, specialize};
use classad::format::AdEntry;
use classad::matching::gang::OpenPorts;
use classad::protocol::{LABEL, PORTS, PortFault, Protocol, check_port_list, display_name, has_ports};
use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxBuildHasher;

use crate::cli::io::ad_map::map_ads;
use crate::cli::io::input::report_error;
use crate::cli::io::source::AdSource;
use crate::cli::outcome::Failure;
use crate::cli::render::rows::{ResultTable, TableCell};
use crate::cli::session::Session;

/// Writes the rectangles of the ads of `sources` as a table: a row for each attribute of an ad and each interval of a
/// profile. If `is_summary` is set, a row for each attribute, with the number of ads.
pub fn rectangle_table(
    session: &mut Session,
    sources: &mut [AdSource],
    is_summary: bool,
) -> Result<ResultTable, Failure> {
    let context = Context { random: None, ..session.context() };
    let task = RectangleTask { protocol: Protocol::new(context.dialect), context };
    let mut rows = ResultTable::new(&["ad", "port", "profile", "attribute", "interval", "state"]);
    let (mut summary, mut ads) = (Summary::default(), 0);
    // The identity of each ad, and the sides of its rectangles.
    let find = |AdEntry { ad, .. }: AdEntry| (display_name(&ad, None, &task.context), task.sides(&ad));
    for source in sources {
        map_ads(session, [source], None, &find, |session, mut mapped| {
            let id = mapped.output.0.take().unwrap_or_else(|| mapped.location());
            let sides = match mapped.output.1 {
                Ok(sides) => sides,
                Err(fault) => {
                    report_error(session, &format!("{id}: {fault}"))?;
                    return Ok(true);
                }
            };
            ads += 1;
            if is_summary {
                summary.add(sides);
            } else {
                rows.rows.extend(sides.into_iter().map(|side| side.into_row(&id)));
            }
            Ok(true)
        })?;
    }
    Ok(if is_summary { summary.into_table(ads) } else { rows })
}

/// Finds the rectangles of an ad.
struct RectangleTask {
    protocol: Protocol,
    context: Context,
}

/// What an ad has, or asks of its partner, in one dimension.
struct RectangleSide {
    /// Label of the port. Empty for the ad itself.
    port: String,
    /// 1-based number of the profile of the constraint. `None` for an attribute of the ad.
    profile: Option<usize>,
    /// The attribute. Empty if a conjunct restricts no attribute to an interval.
    attribute: String,
    /// The value, the interval or the conjunct.
    interval: String,
    state: SideState,
}

/// How an index knows a side of a rectangle.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SideState {
    /// As a value or an interval.
    Indexed,
    /// As an interval without values: nothing meets the profile.
    Empty,
    /// As an expression that depends on the partner.
    Deviant,
    /// As a value that has no place in an interval: undefined, an error, a list or an ad.
    Unindexed,
    /// As a constraint that is never met.
    Never,
}

impl SideState {
    fn as_str(self) -> &'static str {
        match self {
            SideState::Indexed => "indexed",
            SideState::Empty => "empty",
            SideState::Deviant => "deviant",
            SideState::Unindexed => "unindexed",
            SideState::Never => "never",
        }
    }
}

impl RectangleSide {
    fn into_row(self, ad: &str) -> Vec<TableCell> {
        let profile = self.profile.map_or_else(|| String::new().into(), TableCell::from);
        let state = self.state.as_str().to_owned();
        vec![ad.into(), self.port.into(), profile, self.attribute.into(), self.interval.into(), state.into()]
    }
}

impl RectangleTask {
    fn sides(&self, ad: &Ad) -> Result<Vec<RectangleSide>, PortFault> {
        let mut sides = Vec::new();
        check_port_list(ad, self.context.dialect)?;
        if !has_ports(ad) {
            let (environment, frame) = Environment::partner_unknown(ad.clone(), Knowledge::Complete);
            self.add_values("", &frame, &environment, &mut sides);
            let is_partner = |scope: &Name| ScopeAd::of(scope) == Some(ScopeAd::Other);
            self.add_profiles("", &frame, &environment, &is_partner, &mut sides);
            return Ok(sides);
        }
        let OpenPorts { environment, ports } = OpenPorts::of(ad)?;
        if let Some(member) = environment.members().first() {
            self.add_values("", &member.frame, &environment, &mut sides);
        }
        for (label, frame) in &ports {
            let port = label.to_string();
            self.add_values(&port, frame, &environment, &mut sides);
            self.add_profiles(&port, frame, &environment, &|scope| scope == label, &mut sides);
        }
        Ok(sides)
    }

    /// Adds the values of the attributes of a scope.
    fn add_values(
        &self,
        port: &str,
        frame: &Arc<ScopeFrame>,
        environment: &Environment,
        sides: &mut Vec<RectangleSide>,
    ) {
        let is_protocol = |name: &Name| {
            *name == *PORTS || *name == *LABEL || self.protocol.attribute_names().any(|of_protocol| of_protocol == name)
        };
        for attribute in frame.ad.iter().filter(|attribute| !is_protocol(attribute.name)) {
            let value = Evaluator::new(environment, &self.context).attribute(frame, attribute.name);
            let (interval, state) = match &value {
                Ok(Value::Undefined | Value::Error(_) | Value::List(_) | Value::Ad(_)) => {
                    (attribute.expression.to_string(), SideState::Unindexed)
                }
                Ok(value) => (value.to_string(), SideState::Indexed),
                Err(_) => (attribute.expression.to_string(), SideState::Deviant),
            };
            let attribute = attribute.name.to_string();
            sides.push(RectangleSide { port: port.to_owned(), profile: None, attribute, interval, state });
        }
    }

    /// Adds the profiles of the constraint of a scope. An ad without a constraint accepts nobody.
    fn add_profiles(
        &self,
        port: &str,
        frame: &Arc<ScopeFrame>,
        environment: &Environment,
        is_partner: &dyn Fn(&Name) -> bool,
        sides: &mut Vec<RectangleSide>,
    ) {
        let options = SpecializeOptions { inline: true, ..SpecializeOptions::default() };
        let residue = self
            .protocol
            .constraint_expression(&frame.ad)
            .map(|constraint| specialize(constraint, frame, environment, &self.context, options).expression);
        let found: Vec<Profile> =
            residue.iter().flat_map(|residue| profiles(residue, is_partner, self.context.dialect)).collect();
        let mut push = |profile, attribute: String, interval: String, state| {
            sides.push(RectangleSide { port: port.to_owned(), profile, attribute, interval, state });
        };
        if found.is_empty() {
            let constraint = residue.map(|residue| residue.to_string()).unwrap_or_default();
            push(None, String::new(), constraint, SideState::Never);
        }
        for (number, profile) in (1..).zip(&found) {
            for interval in &profile.intervals {
                let is_empty = interval.is_empty(self.context.dialect);
                let state = if is_empty { SideState::Empty } else { SideState::Indexed };
                push(Some(number), interval.attribute.to_string(), interval.to_string(), state);
            }
            for clause in &profile.deviant {
                push(Some(number), String::new(), clause.to_string(), SideState::Deviant);
            }
        }
    }
}

/// How many ads have an attribute, or restrict it, in each state.
#[derive(Default)]
struct Summary {
    /// The numbers of ads, by whether the attribute is the partner's and by its name in lower case.
    dimensions: IndexMap<(bool, String), DimensionCounts, FxBuildHasher>,
}

#[derive(Default)]
struct DimensionCounts {
    /// The attribute as the first ad writes it.
    attribute: String,
    indexed: usize,
    deviant: usize,
    unindexed: usize,
}

impl Summary {
    /// Counts an ad.
    fn add(&mut self, sides: Vec<RectangleSide>) {
        let mut seen = IndexSet::<_, FxBuildHasher>::default();
        for side in sides.into_iter().filter(|side| side.state != SideState::Never) {
            let key = (side.profile.is_some(), side.attribute.to_ascii_lowercase());
            let counts = self.dimensions.entry(key.clone()).or_default();
            if counts.attribute.is_empty() {
                counts.attribute = side.attribute;
            }
            if !seen.insert((key, side.state == SideState::Deviant)) {
                continue;
            }
            match side.state {
                SideState::Deviant => counts.deviant += 1,
                SideState::Unindexed => counts.unindexed += 1,
                _ => counts.indexed += 1,
            }
        }
    }

    /// Returns a row for each attribute of the `ads` ads.
    fn into_table(self, ads: usize) -> ResultTable {
        let mut rows = ResultTable::new(&["attribute", "of", "indexed", "deviant", "unindexed", "absent"]);
        for ((is_partner, _), DimensionCounts { attribute, indexed, deviant, unindexed }) in self.dimensions {
            let absent = ads.saturating_sub(indexed + deviant + unindexed);
            let of = if is_partner { "partner" } else { "ad" };
            rows.rows.push(vec![
                attribute.into(),
                of.into(),
                indexed.into(),
                deviant.into(),
                unindexed.into(),
                absent.into(),
            ]);
        }
        rows
    }
}
