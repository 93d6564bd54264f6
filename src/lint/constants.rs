//! Checks attributes of an ad that are constants: those of HTCondor's standard attributes have a type and a unit.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rustc_hash::FxHasher;

use crate::ad::{Ad, AdShape, Dialect, Expression, ExpressionKind, Name, Value};
use crate::eval::Context;
use crate::pool::ScalarKind;
use crate::protocol::Advertisement;

use super::finding::LintFinding;
use super::operand_types::is_other_type;
use super::rules;
use super::slip::Slip;
use super::standard_attributes::{SizeUnit, StandardType};
use super::units;

/// An attribute whose value has a type or a unit, if it is a scalar.
pub(super) struct WatchedConstant {
    /// 0-based index of the attribute in the ad.
    pub position: usize,
    kind: StandardType,
    unit: Option<SizeUnit>,
    /// The kinds of values that need a closer check, as bits.
    suspect_kinds: u8,
}

/// The findings about the constants of an ad, with a hash of what they say.
pub(super) struct ConstantFindings {
    pub hash: u64,
    pub findings: Vec<LintFinding>,
}

/// Returns the attributes of the ads of a shape whose values are to be checked.
pub(super) fn watched_constants(shape: &AdShape, dialect: Dialect) -> Arc<[WatchedConstant]> {
    let names = shape.names().iter().enumerate().filter(|_| dialect.is_condor());
    let watched = names.filter_map(|(position, name)| {
        Some(WatchedConstant::new(position, StandardType::of(name)?, SizeUnit::of(name)))
    });
    watched.collect()
}

impl WatchedConstant {
    fn new(position: usize, kind: StandardType, unit: Option<SizeUnit>) -> Self {
        let expects_string = kind == StandardType::String;
        let may_be_suspect = |of_value: &ScalarKind| match of_value {
            ScalarKind::Exceptional => false,
            ScalarKind::String => !expects_string,
            ScalarKind::Boolean | ScalarKind::SmallInteger => expects_string,
            ScalarKind::LargeInteger | ScalarKind::Real => expects_string || unit.is_some(),
            ScalarKind::Time => true,
        };
        let suspects = ScalarKind::ALL.into_iter().filter(may_be_suspect);
        WatchedConstant { position, kind, unit, suspect_kinds: suspects.fold(0, |bits, kind| bits | 1 << kind as u8) }
    }

    /// Whether something may be wrong with the value of an expression.
    pub(super) fn is_suspect(&self, expression: &Expression) -> bool {
        let ExpressionKind::Literal(value) = expression.kind() else { return false };
        is_other_type(self.kind, value, Dialect::Condor)
            || (self.unit.is_some() && matches!(value, Value::Real(_) | Value::Integer(1_073_741_824..)))
    }

    /// Whether something may be wrong with a value of this kind.
    pub(super) fn may_be_suspect(&self, kind: ScalarKind) -> bool {
        self.suspect_kinds >> kind as u8 & 1 == 1
    }
}

/// Checks constants of an ad. `None` if nothing is wrong, which is decided fast, because most ads are right.
pub(super) fn check<'w>(
    ad: &Ad,
    watched: impl IntoIterator<Item = &'w WatchedConstant>,
    context: &Context,
) -> Option<ConstantFindings> {
    let expressions = ad.expressions();
    let is_suspect = |constant: &&WatchedConstant| constant.is_suspect(&expressions[constant.position]);
    let suspects: Vec<&WatchedConstant> = watched.into_iter().filter(is_suspect).collect();
    if suspects.is_empty() || !is_job_or_machine(ad, context) {
        return None;
    }
    let mut hasher = FxHasher::default();
    let mut findings = Vec::new();
    for constant in suspects {
        let (name, expression) = (&ad.shape().names()[constant.position], &expressions[constant.position]);
        let Some(slip) = slip(expression, constant, name) else { continue };
        (name, &slip.message).hash(&mut hasher);
        let finding = LintFinding::new(slip.rule, slip.message).at(name, expression, "");
        findings.push(match slip.help {
            Some(help) => finding.with_help(help),
            None => finding,
        });
    }
    (!findings.is_empty()).then(|| ConstantFindings { hash: hasher.finish(), findings })
}

fn slip(literal: &Expression, constant: &WatchedConstant, name: &Name) -> Option<Slip> {
    let value = literal.as_literal()?;
    if is_other_type(constant.kind, value, Dialect::Condor) {
        let message =
            format!("{name} is {} in HTCondor, but this is {}", constant.kind.phrase(), value.value_type().phrase());
        return Some(Slip::new(&rules::ATTRIBUTE_TYPE, literal, message));
    }
    units::check_literal(literal, Some(name))
}

/// Whether the ad is one of a job or a machine, as far as its type tells. Other daemons use names of their own.
fn is_job_or_machine(ad: &Ad, context: &Context) -> bool {
    Advertisement::new(ad, context)
        .kind()
        .is_none_or(|kind| ["Job", "Machine"].into_iter().any(|known| kind.eq_ignore_ascii_case(known)))
}
