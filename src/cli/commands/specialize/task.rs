//! What is left of each ad: its residue, or the verdict on a constraint.

use std::borrow::Cow;
use std::sync::Arc;

use classad::ad::{Ad, Expression, Name, Participant, ScopeFrame};
use classad::constraint::{ClockBreaks, Timeline, with_moving_clock};
use classad::eval::{
    ConstraintVerdict, Context, Environment, FreeNames, SpecializeOptions, SpecializedExpression, specialize,
    specialize_ad, specialize_attribute, unknowns,
};
use classad::format::AdEntry;
use classad::matching::gang::OpenPorts;
use classad::protocol::{PortFault, Protocol, check_port_list, display_name, has_ports};
use classad::syntax::{Style, print};

use crate::cli::args::partial_scope::{PartialKnowledge, dependency_names};
use crate::cli::io::ad_map::AdTask;
use crate::cli::io::unseen_names::UnseenNames;
use crate::cli::io::{argument_text, input};

use super::{Specialize, SpecializeScope};

/// Specializes each ad, or the selected part of it.
pub(super) struct SpecializeTask<'c> {
    pub(super) command: &'c Specialize,
    pub(super) scope: SpecializeScope,
    pub(super) partial_scope: PartialKnowledge,
    /// The attributes of `--define`.
    pub(super) definitions: Ad,
    pub(super) target: Option<Ad>,
    pub(super) context: Context,
    /// The attribute of `--attr`, with whether some ad has it.
    pub(super) unseen_names: UnseenNames,
}

/// What specialization leaves of an ad.
pub(super) enum Specialized {
    Ad(Ad),
    /// The residue of an expression, printed.
    Residue(Vec<u8>),
    /// The verdict on a constraint.
    Verdict(Verdict),
    /// The verdicts over time on a constraint.
    Timeline(VerdictTimeline),
    /// The label of each port, with the verdicts over time on its constraint.
    PortTimelines(Vec<(String, VerdictTimeline)>),
    /// The label of each port, with the verdict on its constraint.
    PortVerdicts(Vec<(String, Verdict)>),
    /// The ports of the ad cannot be used.
    BadPorts(PortFault),
}

/// A verdict on a constraint, with the unknown names on which it depends.
pub(super) type Verdict = (ConstraintVerdict, Vec<String>);

/// The verdicts on a constraint over time, with what is left of it.
pub(super) type VerdictTimeline = Timeline<(ConstraintVerdict, String)>;

impl SpecializeTask<'_> {
    /// Returns the names that are looked up in each ad. `None` if that may be any name.
    pub(super) fn needed_names(&self) -> Option<FreeNames> {
        if self.target.is_some() {
            return None;
        }
        let mut needed = input::identity_names();
        match &self.scope {
            SpecializeScope::WholeAd | SpecializeScope::Ports(_) => return None,
            SpecializeScope::Attribute(name) => drop(needed.names.insert(name.clone())),
            SpecializeScope::Expression(expression) => needed.add(expression, self.context.dialect),
        }
        for definition in self.definitions.expressions() {
            needed.add(definition, self.context.dialect);
        }
        Some(needed)
    }

    /// Specializes an ad. `None` if no ad is known.
    pub(super) fn specialize(&self, ad: Option<Ad>) -> Specialized {
        let is_known = ad.is_some() || !self.definitions.is_empty();
        let mut ad = argument_text::with_definitions(ad.unwrap_or_default(), &self.definitions);
        if self.command.over.is_some() {
            ad = with_moving_clock(&ad, &self.context).unwrap_or(ad);
        }
        if let SpecializeScope::Ports(protocol) = &self.scope {
            if let Err(fault) = check_port_list(&ad, self.context.dialect) {
                return Specialized::BadPorts(fault);
            } else if has_ports(&ad) {
                return self.ports(&ad, protocol).unwrap_or_else(Specialized::BadPorts);
            }
        }
        let known = [Some(&ad), self.target.as_ref()].map(|side| side.map(|side| self.shown(side)));
        let [own, target] = &known;
        let (environment, frame) =
            self.partial_scope.environment(own.as_deref().filter(|_| is_known), target.as_deref());
        let options = SpecializeOptions { loose: self.command.loose, inline: self.command.inline };
        let context = &self.context;
        if self.command.over.is_some()
            && let Some(timelines) = self.timelines(&frame, &environment)
        {
            return timelines;
        }
        let residue = match &self.scope {
            SpecializeScope::WholeAd => {
                return Specialized::Ad(specialize_ad(&frame, &environment, context, options));
            }
            SpecializeScope::Expression(expression) => specialize(expression, &frame, &environment, context, options),
            SpecializeScope::Attribute(name) => specialize_attribute(name, &frame, &environment, context, options),
            SpecializeScope::Ports(protocol) => {
                let name = protocol.constraint_name(&frame.ad).unwrap_or(&protocol.constraint_names()[0]);
                let residue = specialize_attribute(name, &frame, &environment, context, options);
                let label = Name::new("other").to_string();
                return Specialized::PortVerdicts(vec![(label, self.verdict(&residue, &frame, &environment))]);
            }
        };
        if !self.command.verdict {
            return Specialized::Residue(print(&residue.expression, Style::New));
        }
        Specialized::Verdict(self.verdict(&residue, &frame, &environment))
    }

    /// Returns an ad without the values that are not printed, so that their names stay. All values count if only a
    /// verdict is printed; a private attribute that the command line names counts, too.
    fn shown<'a>(&self, ad: &'a Ad) -> Cow<'a, Ad> {
        let is_named = match &self.scope {
            SpecializeScope::Attribute(name) => name.is_private(),
            SpecializeScope::Expression(expression) => {
                FreeNames::of(expression, self.context.dialect).names.iter().any(Name::is_private)
            }
            SpecializeScope::Ports(_) | SpecializeScope::WholeAd => false,
        };
        if self.command.verdict || is_named { Cow::Borrowed(ad) } else { ad.printed(self.context.dialect) }
    }

    /// Returns the verdict on a specialized constraint.
    fn verdict(&self, residue: &SpecializedExpression, frame: &Arc<ScopeFrame>, environment: &Environment) -> Verdict {
        let depends = residue.verdict == ConstraintVerdict::Depends;
        let unknowns = || unknowns(&residue.expression, frame, environment, &self.context);
        (residue.verdict, if depends { dependency_names(&unknowns()) } else { Vec::new() })
    }

    /// Returns the verdicts over time on the selected part of an ad without ports. `None` for a whole ad.
    fn timelines(&self, frame: &Arc<ScopeFrame>, environment: &Environment) -> Option<Specialized> {
        let attribute =
            |name: &Name| frame.ad.get(name).cloned().unwrap_or_else(|| Expression::attribute(name.clone()));
        let over = |expression: &Expression| self.timeline(expression, frame, environment);
        Some(match &self.scope {
            SpecializeScope::Expression(expression) => Specialized::Timeline(over(expression)),
            SpecializeScope::Attribute(name) => Specialized::Timeline(over(&attribute(name))),
            SpecializeScope::Ports(protocol) => {
                let name = protocol.constraint_name(&frame.ad).unwrap_or(&protocol.constraint_names()[0]);
                Specialized::PortTimelines(vec![(Name::new("other").to_string(), over(&attribute(name)))])
            }
            SpecializeScope::WholeAd => return None,
        })
    }

    /// Returns the verdicts on a constraint over time. What is left of it names the clock where it changes with each second.
    fn timeline(&self, expression: &Expression, frame: &Arc<ScopeFrame>, environment: &Environment) -> VerdictTimeline {
        let options = SpecializeOptions { loose: self.command.loose, inline: self.command.inline };
        let at = |now: Option<i64>| {
            let context = Context { now, ..self.context.clone() };
            let residue = specialize(expression, frame, environment, &context, options);
            let text = print(&residue.expression, Style::New);
            (residue.verdict, String::from_utf8_lossy(&text).into_owned())
        };
        let start = self.context.now.unwrap_or_default();
        let span = start..start.saturating_add(self.command.over.unwrap_or_default());
        let breaks = ClockBreaks::of(expression, frame, environment, &self.context, span);
        breaks.timeline(|seconds| {
            let first = at(Some(seconds.start));
            let is_same = seconds.end - seconds.start == 1 || at(Some(seconds.end - 1)).1 == first.1;
            Some(if is_same { first } else { (first.0, at(None).1) })
        })
    }

    /// Returns the verdicts on the constraints of the ports of an ad. A port without a constraint accepts nothing.
    fn ports(&self, ad: &Ad, protocol: &Protocol) -> Result<Specialized, PortFault> {
        let OpenPorts { mut environment, ports } = OpenPorts::of(&self.partial_scope.known_attributes(ad, false))?;
        if let Some(member) = environment.member_mut(Participant::REQUEST) {
            member.knowledge = self.partial_scope.knowledge();
        }
        let options = SpecializeOptions { loose: self.command.loose, inline: self.command.inline };
        let never = Expression::literal(false);
        let constraint = |frame: &Arc<ScopeFrame>| protocol.constraint_expression(&frame.ad).unwrap_or(&never).clone();
        if self.command.over.is_some() {
            let over = |(label, frame): (Name, Arc<ScopeFrame>)| {
                (label.to_string(), self.timeline(&constraint(&frame), &frame, &environment))
            };
            return Ok(Specialized::PortTimelines(ports.into_iter().map(over).collect()));
        }
        let verdict = |(label, frame): (Name, Arc<ScopeFrame>)| {
            let residue = specialize(&constraint(&frame), &frame, &environment, &self.context, options);
            (label.to_string(), self.verdict(&residue, &frame, &environment))
        };
        Ok(Specialized::PortVerdicts(ports.into_iter().map(verdict).collect()))
    }
}

impl AdTask for SpecializeTask<'_> {
    type State = ();
    /// The identity of the ad in the advertising protocol, and what is left of the ad.
    type Output = (Option<String>, Specialized);

    fn new_state(&self) {}

    fn run(&self, (): &mut (), entry: AdEntry) -> Self::Output {
        self.unseen_names.mark_present(|name| entry.ad.get(name).is_some());
        (display_name(&entry.ad, None, &self.context), self.specialize(Some(entry.ad)))
    }
}
