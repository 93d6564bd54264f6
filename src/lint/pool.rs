//! Checks references to the other side against a pool.

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashSet};

use crate::ad::{
    Ad, BinaryOperator, ByteString, Dialect, Expression, ExpressionKind, Name, OperatorGroup, Type, Value,
};
use crate::constraint::{ClauseOperand, is_scope_name};
use crate::eval::find_function;
use crate::pool::BindingKind;
use crate::text::did_you_mean;

use super::expressions::short_text;
use super::finding::LintFinding;
use super::rules;
use super::slips::{differs_in_case, is_comparison, similar_names};

/// The attributes of a pool, with the types and strings that occur.
#[derive(Default)]
pub struct PoolStatistics {
    ads: usize,
    attributes: IndexMap<Name, AttributeStatistics, FxBuildHasher>,
}

/// Statistics of one attribute of a pool.
#[derive(Default)]
struct AttributeStatistics {
    ads: usize,
    contents: Vec<(BindingKind, usize)>,
    strings: FxHashSet<ByteString>,
}

/// Maximum number of distinct strings stored per attribute.
const MAX_STRINGS_PER_ATTRIBUTE: usize = 5000;

impl PoolStatistics {
    /// Adds an ad of the pool.
    pub fn add(&mut self, ad: &Ad) {
        self.ads += 1;
        for attribute in ad.iter() {
            let known = match self.attributes.get_mut(attribute.name) {
                Some(known) => known,
                None => self.attributes.entry(attribute.name.clone()).or_default(),
            };
            known.add(attribute.expression.without_parentheses());
        }
    }

    /// Number of ads added.
    #[must_use]
    pub fn ads(&self) -> usize {
        self.ads
    }

    /// Returns a string of the attribute `name` in the pool that differs from `text` in case only. `None` if the pool
    /// has `text` itself, or no such string.
    fn other_spelling(&self, name: &Name, text: &ByteString) -> Option<&ByteString> {
        let strings = &self.attributes.get(name)?.strings;
        // Of several spellings return the smallest, to be deterministic.
        let alike = || strings.iter().filter(|known| differs_in_case(known, text)).min();
        if strings.contains(text) { None } else { alike() }
    }
}

impl AttributeStatistics {
    fn add(&mut self, expression: &Expression) {
        self.ads += 1;
        let content = BindingKind::of(expression);
        match self.contents.iter_mut().find(|(known, _)| *known == content) {
            Some((_, ads)) => *ads += 1,
            None => self.contents.push((content, 1)),
        }
        if let ExpressionKind::Literal(Value::String(text)) = expression.kind()
            && self.strings.len() < MAX_STRINGS_PER_ATTRIBUTE
            && !self.strings.contains(text)
        {
            self.strings.insert(text.clone());
        }
    }

    /// The kind of content that the attribute has in most ads.
    fn most_common_content(&self) -> Option<BindingKind> {
        self.contents.iter().max_by_key(|(_, ads)| *ads).map(|(content, _)| *content)
    }
}

/// A reference to an attribute of the other side.
struct PoolReference<'e> {
    attribute: &'e Name,
    name: &'e Name,
    expression: &'e Expression,
    is_qualified: bool,
}

/// Checks the references to the other ad in the attributes `reached`, on which constraint and rank depend.
pub(super) fn check_references(
    ad: &Ad,
    reached: &[Name],
    pool: Option<&PoolStatistics>,
    dialect: Dialect,
    found: &mut Vec<LintFinding>,
) {
    let mut reached: Vec<_> = reached.iter().filter_map(|name| ad.attribute(name)).collect();
    reached.reverse();
    for attribute in &reached {
        let mut mentions = unresolved_references(ad, attribute.name, attribute.expression);
        report_fall_through(&mentions, dialect, found);
        let Some(pool) = pool.filter(|pool| pool.ads() > 0) else { continue };
        pool.check_comparisons(ad, attribute.name, attribute.expression, dialect, found);
        let guarded = guarded_names(attribute.expression);
        let mut told: FxHashSet<&Name> = FxHashSet::default();
        mentions.retain(|mention| !guarded.contains(mention.name) && told.insert(mention.name));
        for mention in &mentions {
            pool.check_known(mention, found);
        }
    }
}

/// Returns the references in an expression that `ad` does not resolve.
fn unresolved_references<'e>(ad: &Ad, attribute: &'e Name, expression: &'e Expression) -> Vec<PoolReference<'e>> {
    let mut mentions = Vec::new();
    let mut pending = vec![expression];
    while let Some(expression) = pending.pop() {
        let mention = |name, is_qualified| PoolReference { attribute, name, expression, is_qualified };
        match expression.kind() {
            ExpressionKind::Attribute(name) if !is_scope_name(name) && ad.get(name).is_none() => {
                mentions.push(mention(name, false));
            }
            ExpressionKind::Select(..) => match ClauseOperand::of(expression) {
                Some(ClauseOperand::Other(name)) => mentions.push(mention(name, true)),
                Some(_) => {}
                None => expression.kind().for_each_child(|child| pending.push(child)),
            },
            ExpressionKind::Ad(_) => {}
            kind => {
                let start = pending.len();
                super::for_each_in_scope(kind, |child| pending.push(child));
                pending[start..].reverse();
            }
        }
    }
    mentions
}

fn report_fall_through(mentions: &[PoolReference<'_>], dialect: Dialect, found: &mut Vec<LintFinding>) {
    let mut firsts: Vec<&PoolReference<'_>> = Vec::new();
    for mention in mentions.iter().filter(|mention| !mention.is_qualified) {
        if !firsts.iter().any(|first| first.name == mention.name) {
            firsts.push(mention);
        }
    }
    let Some(first) = firsts.first() else { return };
    let names: Vec<&str> = firsts.iter().map(|mention| mention.name.as_str()).collect();
    let message = match names.as_slice() {
        [name] => format!("this ad has no {name}: the name falls through to the other ad"),
        names => format!("this ad has none of {}: the names fall through to the other ad", names.join(", ")),
    };
    let [_, side] = dialect.side_names();
    let help = format!("write `{side}.{}` to say whose attribute it is", first.name);
    let mut finding = LintFinding::new(&rules::FALLS, message).with_help(help);
    for mention in firsts {
        finding = finding.at(mention.attribute, mention.expression, "");
    }
    found.push(finding);
}

/// Returns the names that an expression guards against being undefined: by `isUndefined`, `=?=`, `=!=` or `?:`.
fn guarded_names(expression: &Expression) -> FxHashSet<Name> {
    let mut names = FxHashSet::default();
    let mut pending = vec![expression];
    let name = |expression: &Expression| match ClauseOperand::of(expression) {
        Some(ClauseOperand::Other(name) | ClauseOperand::Unqualified(name)) => Some(name.clone()),
        _ => None,
    };
    while let Some(expression) = pending.pop() {
        match expression.kind() {
            ExpressionKind::Call(function, arguments) if function.is("isUndefined") => {
                names.extend(arguments.iter().filter_map(name));
            }
            ExpressionKind::Binary(operator, left, right) if operator.group() == OperatorGroup::Identity => {
                names.extend([left, right].into_iter().filter_map(name));
            }
            ExpressionKind::Elvis(left, _) => names.extend(name(left)),
            _ => {}
        }
        expression.kind().for_each_child(|child| pending.push(child));
    }
    names
}

impl PoolStatistics {
    fn check_known(&self, mention: &PoolReference<'_>, found: &mut Vec<LintFinding>) {
        let name = mention.name;
        if self.attributes.contains_key(name) {
            return;
        }
        let ads_with = |name: &Name| self.attributes.get(name).map_or(0, |known| known.ads);
        let near = similar_names(name, self.attributes.keys(), ads_with).into_iter();
        let near: Vec<String> =
            near.map(|(near, ads)| format!("{near} ({ads} ad{})", if ads == 1 { "" } else { "s" })).collect();
        let help = match (&near, find_function(name)) {
            (_, Some(function)) => format!("{} is a function: {}", function.name, function.signature),
            (near, None) => did_you_mean(near).unwrap_or_else(|| rules::UNKNOWN.help.to_owned()),
        };
        let message = match self.ads() {
            1 => format!("the one ad of the pool does not have {name}"),
            ads => format!("none of the {ads} ads of the pool has {name}"),
        };
        let finding = LintFinding::new(&rules::UNKNOWN, message);
        found.push(finding.with_help(help).at(mention.attribute, mention.expression, ""));
    }

    /// Checks comparisons of an attribute of the pool with a literal, or with an attribute that the ad binds to a
    /// literal.
    fn check_comparisons(
        &self,
        ad: &Ad,
        attribute: &Name,
        expression: &Expression,
        dialect: Dialect,
        found: &mut Vec<LintFinding>,
    ) {
        let mut pending = vec![expression];
        while let Some(expression) = pending.pop() {
            if let ExpressionKind::Binary(operator, left, right) = expression.kind()
                && is_comparison(*operator)
            {
                for (side, other) in [(left, right), (right, left)] {
                    let name = match ClauseOperand::of(side) {
                        Some(ClauseOperand::Other(name)) => name,
                        Some(ClauseOperand::Unqualified(name)) if ad.get(name).is_none() => name,
                        _ => continue,
                    };
                    if let Some(value) = literal_value(ad, other) {
                        let comparison =
                            PoolComparison { attribute, expression, operator: *operator, name, value, other };
                        self.check_comparison(&comparison, dialect, found);
                    }
                }
            }
            expression.kind().for_each_child(|child| pending.push(child));
        }
    }

    fn check_comparison(&self, compared: &PoolComparison<'_>, dialect: Dialect, found: &mut Vec<LintFinding>) {
        let PoolComparison { attribute, expression, operator, name, value, other } = compared;
        let Some(known) = self.attributes.get(*name) else { return };
        let class = |kind: Type| match kind {
            Type::Integer | Type::Real => Some(Type::Real),
            Type::Boolean if dialect.is_condor() => Some(Type::Real),
            Type::Undefined | Type::Error => None,
            kind => Some(kind),
        };
        let kinds: Option<Vec<Type>> = known
            .contents
            .iter()
            .map(|(content, _)| match content {
                BindingKind::Value(kind) => class(*kind),
                BindingKind::Expression => None,
            })
            .collect();
        if let (Some(kinds), Some(wanted)) = (kinds, class(value.value_type()))
            && !kinds.contains(&wanted)
        {
            let has = known.most_common_content().map_or("nothing", |content| match content {
                BindingKind::Value(kind) => kind.phrase(),
                BindingKind::Expression => "an expression",
            });
            let result = match operator {
                BinaryOperator::Is => "false",
                BinaryOperator::Isnt => "true",
                _ => "an error",
            };
            let message = format!(
                "{name} is {has} in the pool, and this is {}: the result is {result}",
                value.value_type().phrase()
            );
            found.push(LintFinding::new(&rules::TYPE, message).at(attribute, expression, ""));
        }
        if let (Value::String(text), OperatorGroup::Identity) = (value, operator.group())
            && let Some(spelt) = self.other_spelling(name, text)
        {
            let symbol = operator.symbol_in(dialect);
            let message = format!("the pool writes \"{}\", and `{symbol}` tells upper from lower case", spelt.to_str());
            let instead = if *operator == BinaryOperator::Is { "==" } else { "!=" };
            let help = format!("write `{instead} {}`, which ignores case", short_text(other, dialect));
            found.push(LintFinding::new(&rules::LETTERS, message).with_help(help).at(attribute, expression, ""));
        }
    }
}

/// A comparison of the pool's attribute `name` with a value known from the ad.
struct PoolComparison<'e> {
    attribute: &'e Name,
    expression: &'e Expression,
    operator: BinaryOperator,
    name: &'e Name,
    value: &'e Value,
    other: &'e Expression,
}

/// Returns the value of a literal, or of an attribute that the ad binds to a literal. `None` for any other expression.
fn literal_value<'e>(ad: &'e Ad, expression: &'e Expression) -> Option<&'e Value> {
    match ClauseOperand::of(expression)? {
        ClauseOperand::Literal(value) => Some(value),
        ClauseOperand::Own(name) | ClauseOperand::Unqualified(name) => ad.get(name)?.as_literal(),
        ClauseOperand::Other(_) => None,
    }
}
