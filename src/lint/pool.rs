//! Checks references to the other side against a pool.

use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::FxHashSet;
use strsim::osa_distance;

use crate::ad::{Ad, Attribute, BinaryOperator, Dialect, Expression, ExpressionKind, Name};
use crate::constraint::{ClauseOperand, is_scope_name};
use crate::eval::{Context, Work, find_function};
use crate::protocol::{PORTS, Ports, is_set_by_run, likely_current_names, read_ports, renamed_attribute};
use crate::text::{counted, did_you_mean, with_commas};

use super::finding::LintFinding;
use super::fix::LintFix;
use super::pool_comparisons;
use super::pool_statistics::PoolStatistics;
use super::rules;
use super::short_text::short_text;
use super::slip::PoolColumns;
use super::slips::similar_names;
use super::standard_attributes::{StandardType, is_of_one_side};
use super::subexpressions::{for_each_in_scope, guarded_names, guarded_parts, subexpressions};

/// A reference to an attribute of the other side.
pub(super) struct PoolReference<'e> {
    pub(super) name: &'e Name,
    pub(super) expression: &'e Expression,
    pub(super) is_qualified: bool,
}

/// Checks references to the other ad. `reached` names the attributes of the ad to check: its constraint, its rank and
/// the attributes that these two depend on. `words_of` returns the names in an attribute that have a finding as strings
/// without quotes. `is_machine` says whether the ad is of a machine.
pub(super) fn check_references(
    ad: &Ad,
    is_machine: bool,
    reached: &[Name],
    words_of: &dyn Fn(&Name) -> Arc<[Name]>,
    pool: Option<&PoolStatistics>,
    context: &Context,
    found: &mut Vec<LintFinding>,
) {
    let dialect = context.dialect;
    for Attribute { name: attribute, expression } in reached.iter().rev().filter_map(|name| ad.attribute(name)) {
        let words = words_of(attribute);
        let mut references = unresolved_references(ad, expression);
        references.retain(|reference| reference.is_qualified || !words.contains(reference.name));
        found.extend(fall_through((ad, attribute), &references, dialect, &|name| {
            // Jobs get many attributes only later.
            !dialect.is_condor() || !(is_of_one_side(name, is_machine) || pool.is_some_and(|pool| pool.lacks(name)))
        }));
        if is_machine && attribute.is("START") {
            found.extend(undefined_start(attribute, expression, &references));
        }
        let Some(pool) = pool.filter(|pool| pool.ads() > 0) else { continue };
        pool_comparisons::check(expression, (ad, attribute), pool, context, found);
        let mut check = PoolCheck { pool, ad, attribute, context, found };
        // Each name is reported once.
        let (guarded, mut seen) = (guarded_names(expression), FxHashSet::default());
        for reference in references.iter().filter(|reference| seen.insert(reference.name)) {
            if check.check_renamed(reference, expression) {
                continue;
            }
            if guarded.contains(reference.name) {
                check.check_guarded(reference);
            } else {
                check.check_known(reference);
                check.check_frequency(reference, expression);
            }
        }
    }
}

/// Checks references to the ads that dock at the ports of an ad, such as `cpu.Memory` with a port labelled `cpu`.
pub(super) fn check_port_references(
    ad: &Ad,
    pool: Option<&PoolStatistics>,
    context: &Context,
    found: &mut Vec<LintFinding>,
) {
    let (Some(pool), Ok(ports)) = (pool.filter(|pool| pool.ads() > 0), read_ports(ad)) else { return };
    let records = ports.list.iter().filter_map(|port| port.record.as_ref());
    let in_ports = records.flat_map(Ad::iter).map(|attribute| (&*PORTS, attribute.expression));
    let rest = ad.iter().filter(|attribute| *attribute.name != *PORTS);
    let expressions = in_ports.chain(rest.map(|attribute| (attribute.name, attribute.expression)));
    for (attribute, expression) in expressions {
        let mut excluded: FxHashSet<&Name> =
            guarded_parts(expression).filter_map(|part| docked_name(part, &ports)).collect();
        let mut check = PoolCheck { pool, ad, attribute, context, found };
        for part in subexpressions(expression) {
            if let Some(name) = docked_name(part, &ports)
                && excluded.insert(name)
            {
                check.check_known(&PoolReference { name, expression: part, is_qualified: true });
            }
        }
    }
}

/// Returns `Memory` for `cpu.Memory`, if a port has the label `cpu`.
fn docked_name<'e>(part: &'e Expression, ports: &Ports) -> Option<&'e Name> {
    let ExpressionKind::Select(subject, name) = part.without_parentheses().kind() else { return None };
    let ExpressionKind::Attribute(label) = subject.without_parentheses().kind() else { return None };
    ports.list.iter().any(|port| port.label == *label).then_some(name)
}

/// Returns the references in an expression to attributes of the other ad. These are names such as `TARGET.Memory`, and
/// unqualified names that `ad` does not have.
pub(super) fn unresolved_references<'e>(ad: &Ad, expression: &'e Expression) -> Vec<PoolReference<'e>> {
    let mut references = Vec::new();
    let mut pending = vec![expression];
    while let Some(expression) = pending.pop() {
        let mut add = |name, is_qualified| references.push(PoolReference { name, expression, is_qualified });
        match expression.kind() {
            ExpressionKind::Attribute(name) if !is_scope_name(name) && ad.get(name).is_none() => add(name, false),
            ExpressionKind::Select(..) => match ClauseOperand::of(expression) {
                Some(ClauseOperand::Other(name)) => add(name, true),
                Some(_) => {}
                None => expression.kind().for_each_child(|child| pending.push(child)),
            },
            ExpressionKind::Ad(_) => {}
            kind => {
                let start = pending.len();
                for_each_in_scope(kind, |child| pending.push(child));
                pending[start..].reverse();
            }
        }
    }
    references
}

/// Returns the finding that unqualified names in an attribute are looked up in the other ad, because the attribute's
/// own ad lacks them. `may_have` says whether the other ad can have a name. `None` if there are no such names.
fn fall_through(
    (ad, attribute): (&Ad, &Name),
    references: &[PoolReference<'_>],
    dialect: Dialect,
    may_have: &dyn Fn(&Name) -> bool,
) -> Option<LintFinding> {
    let [_, side] = dialect.side_names().map(Name::new);
    let (mut firsts, mut replacements) = (IndexMap::<&Name, &Expression>::new(), Vec::new());
    // What a run adds to this ad is not of the other ad.
    let falls = |of: &&PoolReference<'_>| !of.is_qualified && !is_set_by_run(of.name) && may_have(of.name);
    for reference in references.iter().filter(falls) {
        firsts.entry(reference.name).or_insert(reference.expression);
        let qualified = Expression::select(Expression::attribute(side.clone()), reference.name.clone());
        replacements.push((reference.expression.clone(), qualified));
    }
    let (first, _) = firsts.first()?;
    let message = if firsts.len() == 1 {
        format!("this ad has no {first}: the name is looked up in the other ad")
    } else {
        let names: Vec<&str> = firsts.keys().map(|name| name.as_str()).collect();
        format!("this ad has none of {}: the names are looked up in the other ad", names.join(", "))
    };
    let help = format!("write `{side}.{first}` to name the ad that has the attribute");
    let finding = LintFinding::new(&rules::FALLS, message).with_help(help);
    let fix = ad.get(&side).is_none().then(|| LintFix::new(attribute, true, replacements));
    let finding = LintFinding { fix, ..finding };
    Some(firsts.into_values().fold(finding, |finding, expression| finding.at(attribute, expression, "")))
}

/// Returns the finding that the `START` of a machine is undefined for a job without attributes that HTCondor does not
/// set itself. `None` if there are no such attributes, or if the expression guards them.
fn undefined_start(attribute: &Name, start: &Expression, references: &[PoolReference<'_>]) -> Option<LintFinding> {
    let guarded = guarded_names(start);
    let mut symbol = BinaryOperator::Is;
    let mut firsts: IndexMap<&Name, &Expression> = IndexMap::new();
    for PoolReference { name, expression, .. } in references {
        if !guarded.contains(name) && StandardType::of(name).is_none() {
            if firsts.is_empty() {
                symbol = identity_for(start, expression);
            }
            firsts.entry(name).or_insert(expression);
        }
    }
    let names: Vec<&str> = firsts.keys().map(|name| name.as_str()).collect();
    let first = names.first()?;
    let message = format!("{attribute} can be undefined for a job without {}", join_or(&names));
    let symbol = symbol.symbol();
    let help =
        format!("an undefined {attribute} starts no job; write `{first} {symbol} VALUE` or `({first} ?: VALUE)`");
    let finding = LintFinding::new(&rules::UNSAFE, message).with_help(help);
    Some(firsts.into_values().fold(finding, |finding, expression| finding.at(attribute, expression, "")))
}

/// Returns the comparison that is never undefined in place of the one of an operand: `=!=` in place of `!=`, else `=?=`.
fn identity_for(whole: &Expression, operand: &Expression) -> BinaryOperator {
    let is_operand = |side: &Expression| side.without_parentheses().ptr_eq(operand.without_parentheses());
    let is_unequal = subexpressions(whole).any(|part| match part.kind() {
        ExpressionKind::Binary(BinaryOperator::NotEqual, left, right) => is_operand(left) || is_operand(right),
        _ => false,
    });
    if is_unequal { BinaryOperator::Isnt } else { BinaryOperator::Is }
}

/// Whether an operand must be large for `whole` to be true, as in `TARGET.GPUs >= RequestGPUs`. An ad without the
/// attribute is then meant to be excluded.
fn must_be_large(whole: &Expression, operand: &Expression) -> bool {
    use BinaryOperator::{Greater, GreaterEqual, Less, LessEqual};
    let is_operand = |side: &Expression| side.without_parentheses().ptr_eq(operand.without_parentheses());
    subexpressions(whole).any(|part| match part.kind() {
        ExpressionKind::Binary(Greater | GreaterEqual, left, _) => is_operand(left),
        ExpressionKind::Binary(Less | LessEqual, _, right) => is_operand(right),
        _ => false,
    })
}

/// Joins names as in `a, b or c`.
fn join_or(names: &[&str]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        names => names.concat(),
    }
}

/// Number of names of the pool with which an unknown name is compared for nothing. Usual pools have fewer.
const FREE_NAMES: usize = 1000;

/// Minimum number of letters of a name that may be misspelt although the pool need not have it.
const MIN_GUARDED_LETTERS: usize = 4;

/// The check of one attribute of an ad against the pool.
pub(super) struct PoolCheck<'a> {
    pub(super) pool: &'a PoolStatistics,
    pub(super) ad: &'a Ad,
    pub(super) attribute: &'a Name,
    pub(super) context: &'a Context,
    pub(super) found: &'a mut Vec<LintFinding>,
}

impl PoolCheck<'_> {
    /// Reports a reference to an attribute that the pool does not have.
    pub(super) fn check_known(&mut self, reference: &PoolReference<'_>) {
        if !self.pool.attributes.contains_key(reference.name) {
            let near = self.similar_names(reference.name);
            self.report_unknown(reference, &near);
        }
    }

    /// Returns the attribute that took the place of the one that a reference names, if more ads of the pool have it.
    fn renamed(&self, reference: &PoolReference<'_>) -> Option<Name> {
        let known = self.pool.attributes.keys().map(Name::as_str);
        let renamed = renamed_attribute(reference.name.as_str(), known).map(Name::new)?;
        (self.pool.ads_with(&renamed) > self.pool.ads_with(reference.name)).then_some(renamed)
    }

    /// Reports a reference to an attribute by its old name, unless `whole` also reads it by its current name. Returns
    /// whether the reference is one.
    fn check_renamed(&mut self, reference: &PoolReference<'_>, whole: &Expression) -> bool {
        let Some(renamed) = self.renamed(reference) else { return false };
        if unresolved_references(self.ad, whole).iter().all(|read| *read.name != renamed) {
            self.report_unknown(reference, &[(renamed.clone(), self.pool.ads_with(&renamed))]);
        }
        true
    }

    /// Reports a reference to an attribute that the pool need not have, if its name is most likely misspelt: a name of
    /// the pool differs in one letter.
    pub(super) fn check_guarded(&mut self, reference: &PoolReference<'_>) {
        let name = reference.name.as_str().to_ascii_lowercase();
        if name.len() < MIN_GUARDED_LETTERS || self.pool.attributes.contains_key(reference.name) {
            return;
        }
        let mut near = self.similar_names(reference.name);
        near.retain(|(near, _)| osa_distance(&near.as_str().to_ascii_lowercase(), &name) == 1);
        if !near.is_empty() {
            self.report_unknown(reference, &near);
        }
    }

    /// Returns names of the pool that are spelt like `name`, each with the number of ads that have it. Thousands of
    /// unknown names are not compared with thousands of known ones.
    fn similar_names(&self, name: &Name) -> Vec<(Name, usize)> {
        if self.context.has_spent_run() {
            return Vec::new();
        }
        let known = &self.pool.attributes;
        self.context.charge(Work::KnownName, known.len().saturating_sub(FREE_NAMES) as u64);
        similar_names(name, known.keys(), |name| known.get(name).map_or(0, |known| known.ads))
    }

    fn report_unknown(&mut self, reference: &PoolReference<'_>, near: &[(Name, usize)]) {
        let PoolReference { name, expression, .. } = *reference;
        let near: Vec<String> = near.iter().map(|(near, ads)| format!("{near} ({})", counted(*ads, "ad"))).collect();
        // Even if no ad has it, the current name of an attribute is the one to write.
        let current = likely_current_names(name.as_str()).into_iter().next();
        let near = if near.is_empty() { current.into_iter().collect() } else { near };
        let help = match find_function(name) {
            Some(function) => format!("{} is a function: {}", function.name, function.signature),
            None => did_you_mean(&near).unwrap_or_else(|| rules::UNKNOWN.help.to_owned()),
        };
        let (noun, having) = (self.pool.noun(), self.pool.ads_with(name));
        let message = match self.pool.ads() {
            1 => format!("the only {noun} has no {name}"),
            ads if having > 0 => format!("only {} of {} {noun}s has {name}", with_commas(having), with_commas(ads)),
            ads => format!("none of the {} {noun}s has {name}", with_commas(ads)),
        };
        let finding = LintFinding::new(&rules::UNKNOWN, message);
        self.found.push(finding.with_help(help).at(self.attribute, expression, ""));
    }

    /// Notes an attribute that most ads of the pool do not have, so that the clause is undefined for them.
    fn check_frequency(&mut self, reference: &PoolReference<'_>, whole: &Expression) {
        let (ads, all) = (self.pool.ads_with(reference.name), self.pool.ads());
        if ads > 0 && ads * 2 < all && !must_be_large(whole, reference.expression) {
            let name = reference.name;
            let shown = short_text(reference.expression, self.context.dialect);
            let (lacking, all) = (with_commas(all - ads), with_commas(all));
            let noun = self.pool.noun();
            let message = format!("{lacking} of {all} {noun}s have no {name}: this is undefined for them");
            let operator = identity_for(whole, reference.expression);
            let symbol = operator.symbol_in(self.context.dialect);
            let test = match operator {
                BinaryOperator::Isnt => format!("{shown} {symbol} ..."),
                _ => format!("({shown} {symbol} undefined || ...)"),
            };
            let help = format!("to include these ads, write `{test}` or `({shown} ?: VALUE)`");
            let finding = LintFinding::new(&rules::UNSAFE, message).with_help(help);
            self.found.push(finding.at(self.attribute, reference.expression, ""));
        }
    }
}
