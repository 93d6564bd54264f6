//! The findings of single expressions, without the other attributes of their ads.

use std::sync::Arc;

use crate::ad::{Ad, Expression, Name, Span};
use crate::eval::{Context, Knowledge};
use crate::protocol::current_names;

use super::find_slips::find_slips;
use super::finding::LintFinding;
use super::finding_register::{ExpressionKey, FindingOrigin, FindingSet};
use super::pool::{PoolReference, unresolved_references};
use super::rules::{self, LintLevel};
use super::shared_expressions::SharedExpression;
use super::{PoolColumns, PoolStatistics, Slip, logic};

/// The cached results of checking one expression.
#[derive(Clone)]
pub(super) struct CheckedExpression {
    pub fingerprint: u64,
    /// The place of the expression that was checked. An equal expression elsewhere has its findings at the same
    /// distances from its start.
    pub span: Span,
    pub findings: Arc<FindingSet>,
    /// The attributes of the containing ad that the expression reads itself.
    pub names: Arc<[Name]>,
    /// `names`, and those that nested ads in the expression and texts for `eval()` read.
    pub reads: Arc<[Name]>,
    /// Whether the expression may read any attribute.
    pub reads_anything: bool,
    /// Names that were told to be words without quotes. If the ad has one of them as an attribute, it is none.
    pub words: Arc<[Name]>,
}

impl CheckedExpression {
    /// Checks an expression. `defined` names the words in it that are attributes of the ad. An expression of an ad that is
    /// known in part is a policy, or one that stands alone: people wrote its literals.
    pub(super) fn new(
        ad: &Ad,
        expression: &Expression,
        known: &SharedExpression,
        key: ExpressionKey,
        defined: &[Name],
        (pool, knowledge): (Option<&PoolStatistics>, Knowledge),
        context: &Context,
    ) -> Self {
        let (name, fingerprint, is_constraint, _) = &key;
        let fingerprint = *fingerprint;
        let mut slips = find_slips(expression, context.dialect, pool.map(|pool| pool as &dyn PoolColumns));
        slips.retain(|slip| slip.word().is_none_or(|word| !defined.contains(word)));
        let words: Vec<Name> = slips.iter().filter_map(Slip::word).cloned().collect();
        let mut found: Vec<LintFinding> = slips.into_iter().map(|slip| LintFinding::of_slip(name, slip)).collect();
        let is_policy = knowledge == Knowledge::Partial;
        logic::check(name, expression, !is_constraint, is_policy, context, &mut found);
        if name.is("RequireGPUs") && context.dialect.is_condor() {
            found.extend(properties_of_slots(ad, name, expression));
        }
        remove_consequences(&mut found);
        if pool.is_some() {
            // Drop the notes of the rule `case-sensitive`, which concern `=?=` with any string. The rule `wrong-case`
            // knows the pool, and reports only strings whose case is wrong: `"linux"` if the pool has `"LINUX"`.
            found.retain(|finding| finding.rule != &rules::CASE);
        }
        CheckedExpression {
            fingerprint,
            span: expression.span(),
            findings: FindingSet::new(FindingOrigin::Expression(key), ad, found),
            names: Arc::clone(&known.names),
            reads: Arc::clone(&known.reads),
            reads_anything: known.reads_anything,
            words: words.into(),
        }
    }
}

/// Returns findings on properties of GPUs that are named as those of a slot in a constraint on single GPUs.
fn properties_of_slots<'a>(
    ad: &'a Ad,
    attribute: &'a Name,
    constraint: &'a Expression,
) -> impl Iterator<Item = LintFinding> + 'a {
    unresolved_references(ad, constraint).into_iter().filter_map(move |PoolReference { name, expression, .. }| {
        let current = current_names(name.as_str());
        let property = current.iter().find(|current| !current.starts_with("GPUs_"))?;
        let finding = LintFinding::new(&rules::UNKNOWN, format!("the ad of a GPU has no {name}"));
        Some(finding.with_help(format!("did you mean {property}?")).at(attribute, expression, ""))
    })
}

/// Removes findings that are only consequences: a part is constant or never true because of a mistake within this part,
/// which has a finding of its own.
fn remove_consequences(found: &mut Vec<LintFinding>) {
    let is_consequence = |finding: &LintFinding| {
        let is_alone = finding.labels.len() == 1 && finding.rule == &rules::CONTRADICTION;
        is_alone || [&rules::CONSTANT, &rules::DEAD].contains(&finding.rule)
    };
    let span = |finding: &LintFinding| finding.labels.first().and_then(|label| label.span);
    let causes = found.iter().filter(|finding| !is_consequence(finding) && finding.rule.level > LintLevel::Note);
    let causes: Vec<Span> = causes.filter_map(span).collect();
    let has_cause = |whole: Span| causes.iter().any(|cause| whole.start <= cause.start && cause.end <= whole.end);
    found.retain(|finding| !is_consequence(finding) || !span(finding).is_some_and(has_cause));
}
