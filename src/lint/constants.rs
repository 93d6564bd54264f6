//! Checks attributes of an ad that are constants: those of HTCondor's standard attributes have a type and a unit.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use crate::ad::{Ad, Dialect, Expression, Name, Value};
use crate::eval::Context;
use crate::pool::is_constant;
use crate::protocol::Advertisement;

use super::finding::LintFinding;
use super::operand_types::is_other_type;
use super::rules;
use super::slip::Slip;
use super::standard_attributes::{SizeUnit, StandardType};
use super::units;

/// A constant attribute of the ads of a class whose value has a type or a unit.
pub(super) struct WatchedConstant {
    /// 0-based index of the attribute in the ad.
    position: usize,
    kind: StandardType,
    unit: Option<SizeUnit>,
}

/// The findings about the constants of an ad, with a hash of what they say.
pub(super) struct ConstantFindings {
    pub hash: u64,
    pub findings: Vec<LintFinding>,
}

/// Returns the constants of an ad whose values are to be checked.
pub(super) fn watched_constants(ad: &Ad, dialect: Dialect) -> Vec<WatchedConstant> {
    if !dialect.is_condor() {
        return Vec::new();
    }
    let constants = ad.iter().enumerate().filter(|(_, attribute)| is_constant(attribute.expression));
    let watched = constants.filter_map(|(position, attribute)| {
        let kind = StandardType::of(attribute.name)?;
        Some(WatchedConstant { position, kind, unit: SizeUnit::of(attribute.name) })
    });
    watched.collect()
}

/// Checks the constants of an ad. `None` if nothing is wrong, which is decided fast, because most ads are right.
pub(super) fn check(ad: &Ad, watched: &[WatchedConstant], context: &Context) -> Option<ConstantFindings> {
    let expressions = ad.expressions();
    let is_suspect = |constant: &&WatchedConstant| {
        let value = expressions[constant.position].as_literal();
        value.is_some_and(|value| {
            is_other_type(constant.kind, value, Dialect::Condor)
                || (constant.unit.is_some() && matches!(value, Value::Real(_) | Value::Integer(1_073_741_824..)))
        })
    };
    let suspects: Vec<&WatchedConstant> = watched.iter().filter(is_suspect).collect();
    if suspects.is_empty() || !is_job_or_machine(ad, context) {
        return None;
    }
    let mut hasher = FxHasher::default();
    let mut findings = Vec::new();
    for constant in suspects {
        let attribute = ad.iter().nth(constant.position)?;
        let Some(slip) = slip(attribute.expression, constant, attribute.name) else { continue };
        (attribute.name, &slip.message).hash(&mut hasher);
        let finding = LintFinding::new(slip.rule, slip.message).at(attribute.name, attribute.expression, "");
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
            format!("{name} is {} in HTCondor, and this is {}", constant.kind.phrase(), value.value_type().phrase());
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
