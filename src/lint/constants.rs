//! Checks attributes of an ad that are constants: those of HTCondor's standard attributes have a type and a unit.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rustc_hash::FxHasher;

use crate::ad::{Ad, AdShape, ByteString, Dialect, Expression, ExpressionKind, Name, Value};
use crate::eval::Context;
use crate::pool::ScalarKind;
use crate::protocol::Advertisement;

use super::expressions::unquoted;
use super::finding::LintFinding;
use super::operand_types::is_other_type;
use super::patterns::{is_list_attribute, with_commas};
use super::rules;
use super::short_text::short_text;
use super::slip::Slip;
use super::standard_attributes::{SizeUnit, StandardType};
use super::units;

/// The requests for resources that each job needs some of.
pub(super) const NEEDED_REQUESTS: [&str; 3] = ["RequestCpus", "RequestDisk", "RequestMemory"];

/// An attribute whose value has a type or a unit, if it is a scalar.
pub(super) struct WatchedConstant {
    /// 0-based index of the attribute in the ad.
    pub position: usize,
    kind: StandardType,
    /// Whether only the name tells the type: that of a flag begins with `Want`, that of a list ends with `Sites`.
    is_by_name: bool,
    unit: Option<SizeUnit>,
    /// Whether the attribute is a list in a string.
    is_list: bool,
    /// Whether the attribute asks for a resource that each job needs.
    is_request: bool,
    /// The least amount that is suspect; `None` for an attribute that is no amount.
    least_suspect: Option<i64>,
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
    names.filter_map(|(position, name)| WatchedConstant::of(position, name)).collect()
}

impl WatchedConstant {
    /// `None` for an attribute with any value.
    fn of(position: usize, name: &Name) -> Option<Self> {
        let standard = StandardType::of(name);
        let is_flag_by_name = standard.is_none()
            && name
                .as_str()
                .strip_prefix("Want")
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()));
        let is_list = is_list_attribute(name);
        let by_name = if is_list { Some(StandardType::String) } else { None };
        let kind = standard.or(is_flag_by_name.then_some(StandardType::Boolean)).or(by_name)?;
        let is_by_name = standard.is_none();
        let is_request = NEEDED_REQUESTS.iter().any(|needed| name.is(needed));
        let (unit, expects_string) = (SizeUnit::of(name), kind == StandardType::String);
        let least_suspect = units::least_suspect(name);
        let may_be_small = least_suspect.is_some_and(|least| least < 1_000_000_000);
        let may_be_suspect = |of_value: &ScalarKind| match of_value {
            ScalarKind::Exceptional => false,
            ScalarKind::String => !expects_string || is_list,
            ScalarKind::Boolean => expects_string,
            ScalarKind::SmallInteger => expects_string || may_be_small || is_request,
            ScalarKind::LargeInteger | ScalarKind::Real => expects_string || least_suspect.is_some(),
            ScalarKind::Time => true,
        };
        let suspects = ScalarKind::ALL.into_iter().filter(may_be_suspect);
        let suspect_kinds = suspects.fold(0, |bits, kind| bits | 1 << kind as u8);
        Some(WatchedConstant { position, kind, is_by_name, unit, is_list, is_request, least_suspect, suspect_kinds })
    }

    /// Whether something may be wrong with the value of an expression.
    pub(super) fn is_suspect(&self, expression: &Expression) -> bool {
        let ExpressionKind::Literal(value) = expression.kind() else { return false };
        match value {
            Value::String(text) if self.is_by_name && !self.is_list => is_truth_word(text),
            Value::String(text) if self.is_list => text.as_bytes().contains(&b';'),
            Value::Integer(0) if self.is_request => true,
            _ if self.is_by_name && self.is_list => false,
            _ if is_other_type(self.kind, value, Dialect::Condor) => !self.is_by_name,
            Value::Integer(amount) => self.least_suspect.is_some_and(|least| *amount >= least),
            Value::Real(_) => self.unit.is_some(),
            _ => false,
        }
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
        findings.push(LintFinding::of_slip(name, slip));
    }
    (!findings.is_empty()).then(|| ConstantFindings { hash: hasher.finish(), findings })
}

/// Returns the mistake in the value of an attribute: a constant of a wrong type or in a wrong unit, or a list with `;`.
#[must_use]
pub fn find_setting_slip(name: &Name, value: &Expression) -> Option<Slip> {
    let constant = WatchedConstant::of(0, name).filter(|constant| constant.is_suspect(value))?;
    slip(value, &constant, name)
}

fn slip(literal: &Expression, constant: &WatchedConstant, name: &Name) -> Option<Slip> {
    let value = literal.as_literal()?;
    if constant.is_list && matches!(value, Value::String(_)) {
        let rewrite = with_commas(literal)?;
        let message = format!("commas separate the items of {name}, not `;`: this is one item");
        let help = format!("write {}", short_text(&rewrite, Dialect::Condor));
        return Some(Slip::new(&rules::LIST_SEPARATOR, literal, message).with_help(help).with_rewrite(rewrite));
    }
    if constant.is_request && *value == Value::Integer(0) {
        return Some(Slip::new(
            &rules::ZERO_REQUEST,
            literal,
            format!("{name} is 0: ask for as much as the job needs"),
        ));
    }
    if !is_other_type(constant.kind, value, Dialect::Condor) {
        return units::check_literal(literal, Some(name));
    }
    if let Some(slip) = units::check_literal(literal, Some(name)) {
        return Some(slip);
    }
    let given = value.value_type().phrase();
    if constant.kind == StandardType::Condition {
        let rewrite = unquoted(literal, Dialect::Condor)?;
        let message = format!("{name} is an expression in quotes: a string, and no condition");
        let help = format!("write `{}`, without the quotes", short_text(&rewrite, Dialect::Condor));
        return Some(Slip::new(&rules::QUOTED, literal, message).with_help(help).with_rewrite(rewrite));
    }
    let truth = match value {
        Value::String(text) if constant.kind == StandardType::Boolean && is_truth_word(text) => {
            Some(Expression::literal(Value::Boolean(text.to_str().eq_ignore_ascii_case("true"))))
        }
        _ => None,
    };
    let slip = if constant.is_by_name {
        Slip::new(&rules::ATTRIBUTE_TYPE, literal, format!("{name} is probably a boolean, but this is {given}"))
    } else {
        let message = format!("{name} is {} in HTCondor, but this is {given}", constant.kind.phrase());
        Slip::new(&rules::ATTRIBUTE_TYPE, literal, message)
    };
    Some(match truth {
        Some(truth) => {
            let help = format!("write `{}`, without the quotes", short_text(&truth, Dialect::Condor));
            slip.with_help(help).with_rewrite(truth)
        }
        None => slip,
    })
}

/// Whether a string is `true` or `false`, in any case.
fn is_truth_word(text: &ByteString) -> bool {
    ["true", "false"].iter().any(|word| text.as_bytes().eq_ignore_ascii_case(word.as_bytes()))
}

/// Whether the ad is one of a job or a machine, as far as its type tells. Other daemons use names of their own.
fn is_job_or_machine(ad: &Ad, context: &Context) -> bool {
    Advertisement::new(ad, context)
        .kind()
        .is_none_or(|kind| ["Job", "Machine"].into_iter().any(|known| kind.eq_ignore_ascii_case(known)))
}
