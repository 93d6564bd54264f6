//! Checks references to the other side against a pool.

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashSet};

use crate::ad::{Ad, BinaryOperator, Dialect, Expression, Group, Kind, Name, Text, Type, Value, nearest};
use crate::constraint::{Operand, stands_for_an_ad};
use crate::eval::find_function;
use crate::pool::Content;

use super::expressions::shown;
use super::finding::Finding;
use super::rules;

/// The attributes of a pool, with the types and strings that occur.
#[derive(Default)]
pub struct Pool {
    ads: usize,
    attributes: IndexMap<Name, Known, FxBuildHasher>,
}

/// Statistics of one attribute of a pool.
#[derive(Default)]
struct Known {
    ads: usize,
    contents: Vec<(Content, usize)>,
    strings: FxHashSet<Text>,
}

/// Maximum number of distinct strings stored per attribute.
const MOST_STRINGS: usize = 5000;

impl Pool {
    /// Adds an ad of the pool.
    pub fn add(&mut self, ad: &Ad) {
        self.ads += 1;
        for attribute in ad.iter() {
            let known = match self.attributes.get_mut(attribute.name) {
                Some(known) => known,
                None => self.attributes.entry(attribute.name.clone()).or_default(),
            };
            known.add(attribute.expression.bare());
        }
    }

    /// Number of ads added.
    #[must_use]
    pub fn ads(&self) -> usize {
        self.ads
    }

    /// Returns the pool's spelling of a string that it has in another case only. `None` if it has the exact string or
    /// none.
    fn spelt(&self, name: &Name, text: &Text) -> Option<&Text> {
        let strings = &self.attributes.get(name)?.strings;
        // Of several spellings return the smallest, to be deterministic.
        let alike = || strings.iter().filter(|known| known.eq_ignore_case(text)).min();
        if strings.contains(text) { None } else { alike() }
    }
}

impl Known {
    fn add(&mut self, expression: &Expression) {
        self.ads += 1;
        let content = Content::of(expression);
        match self.contents.iter_mut().find(|(known, _)| *known == content) {
            Some((_, ads)) => *ads += 1,
            None => self.contents.push((content, 1)),
        }
        if let Kind::Literal(Value::String(text)) = expression.kind()
            && self.strings.len() < MOST_STRINGS
            && !self.strings.contains(text)
        {
            self.strings.insert(text.clone());
        }
    }

    /// The kind of content that most ads have.
    fn most(&self) -> Option<Content> {
        self.contents.iter().max_by_key(|(_, ads)| *ads).map(|(content, _)| *content)
    }
}

/// A reference to an attribute of the other side.
struct Mention<'e> {
    attribute: &'e Name,
    name: &'e Name,
    expression: &'e Expression,
    is_qualified: bool,
}

/// Checks the references to the other ad in the attributes that constraint and rank depend on.
pub(super) fn references(ad: &Ad, reached: &[Name], pool: Option<&Pool>, dialect: Dialect, found: &mut Vec<Finding>) {
    let mut reached: Vec<_> = reached.iter().filter_map(|name| ad.attribute(name)).collect();
    reached.reverse();
    for attribute in &reached {
        let mut mentions = mentions(ad, attribute.name, attribute.expression);
        falls_through(&mentions, dialect, found);
        let Some(pool) = pool.filter(|pool| pool.ads() > 0) else { continue };
        pool.comparisons(ad, attribute.name, attribute.expression, dialect, found);
        let guarded = guarded(attribute.expression);
        let mut told: FxHashSet<&Name> = FxHashSet::default();
        mentions.retain(|mention| !guarded.contains(mention.name) && told.insert(mention.name));
        for mention in &mentions {
            pool.unknown(mention, found);
        }
    }
}

/// Returns the references in an expression that its own ad does not resolve.
fn mentions<'e>(ad: &Ad, attribute: &'e Name, expression: &'e Expression) -> Vec<Mention<'e>> {
    let mut mentions = Vec::new();
    let mut pending = vec![expression];
    while let Some(expression) = pending.pop() {
        let mention = |name, is_qualified| Mention { attribute, name, expression, is_qualified };
        match expression.kind() {
            Kind::Attribute(name) if !stands_for_an_ad(name) && ad.get(name).is_none() => {
                mentions.push(mention(name, false));
            }
            Kind::Select(..) => match Operand::of(expression) {
                Some(Operand::Other(name)) => mentions.push(mention(name, true)),
                Some(_) => {}
                None => expression.kind().for_each_child(|child| pending.push(child)),
            },
            Kind::Ad(_) => {}
            kind => {
                let start = pending.len();
                super::for_each_local(kind, |child| pending.push(child));
                pending[start..].reverse();
            }
        }
    }
    mentions
}

fn falls_through(mentions: &[Mention<'_>], dialect: Dialect, found: &mut Vec<Finding>) {
    let mut firsts: Vec<&Mention<'_>> = Vec::new();
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
    let side = if dialect.is_condor() { "TARGET" } else { "other" };
    let help = format!("write `{side}.{}` to say whose attribute it is", first.name);
    let mut finding = Finding::new(&rules::FALLS, message).with_help(help);
    for mention in firsts {
        finding = finding.at(mention.attribute, mention.expression, "");
    }
    found.push(finding);
}

/// Returns the names that an expression guards against being undefined: by `isUndefined`, `=?=`, `=!=` or `?:`.
fn guarded(expression: &Expression) -> FxHashSet<Name> {
    let mut names = FxHashSet::default();
    let mut pending = vec![expression];
    let name = |expression: &Expression| match Operand::of(expression) {
        Some(Operand::Other(name) | Operand::Free(name)) => Some(name.clone()),
        _ => None,
    };
    while let Some(expression) = pending.pop() {
        match expression.kind() {
            Kind::Call(function, arguments) if function.is("isUndefined") => {
                names.extend(arguments.iter().filter_map(name));
            }
            Kind::Binary(operator, left, right) if operator.group() == Group::Identity => {
                names.extend([left, right].into_iter().filter_map(name));
            }
            Kind::Elvis(left, _) => names.extend(name(left)),
            _ => {}
        }
        expression.kind().for_each_child(|child| pending.push(child));
    }
    names
}

impl Pool {
    fn unknown(&self, mention: &Mention<'_>, found: &mut Vec<Finding>) {
        let name = mention.name;
        if self.attributes.contains_key(name) {
            return;
        }
        let near = nearest(name.as_str(), self.attributes.keys().map(Name::as_str));
        let near: Vec<String> = near.into_iter().map(|near| self.counted(near)).collect();
        let help = match (near.as_slice(), find_function(name.as_str())) {
            (_, Some(function)) => format!("{} is a function: {}", function.name, function.signature),
            ([], None) => rules::UNKNOWN.help.to_owned(),
            (near, None) => format!("did you mean {}?", near.join(", ")),
        };
        let message = match self.ads() {
            1 => format!("the one ad of the pool does not have {name}"),
            ads => format!("none of the {ads} ads of the pool has {name}"),
        };
        let finding = Finding::new(&rules::UNKNOWN, message);
        found.push(finding.with_help(help).at(mention.attribute, mention.expression, ""));
    }

    fn counted(&self, name: &str) -> String {
        let ads = self.attributes.get(&Name::new(name)).map_or(0, |known| known.ads);
        format!("{name} ({ads} ad{})", if ads == 1 { "" } else { "s" })
    }

    /// Checks comparisons of an attribute of the pool with a constant, or with an attribute of the ad that is one.
    fn comparisons(
        &self,
        ad: &Ad,
        attribute: &Name,
        expression: &Expression,
        dialect: Dialect,
        found: &mut Vec<Finding>,
    ) {
        let mut pending = vec![expression];
        while let Some(expression) = pending.pop() {
            if let Kind::Binary(operator, left, right) = expression.kind()
                && matches!(operator.group(), Group::Comparison | Group::Identity)
            {
                for (side, other) in [(left, right), (right, left)] {
                    let name = match Operand::of(side) {
                        Some(Operand::Other(name)) => name,
                        Some(Operand::Free(name)) if ad.get(name).is_none() => name,
                        _ => continue,
                    };
                    if let Some(value) = constant(ad, other) {
                        let comparison = Comparison { attribute, expression, operator: *operator, name, value, other };
                        self.comparison(&comparison, dialect, found);
                    }
                }
            }
            expression.kind().for_each_child(|child| pending.push(child));
        }
    }

    fn comparison(&self, compared: &Comparison<'_>, dialect: Dialect, found: &mut Vec<Finding>) {
        let Comparison { attribute, expression, operator, name, value, other } = compared;
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
                Content::Value(kind) => class(*kind),
                Content::Expression => None,
            })
            .collect();
        if let (Some(kinds), Some(wanted)) = (kinds, class(value.kind()))
            && !kinds.contains(&wanted)
        {
            let has = known.most().map_or("nothing", |content| match content {
                Content::Value(kind) => kind.phrase(),
                Content::Expression => "an expression",
            });
            let result = match operator {
                BinaryOperator::Is => "false",
                BinaryOperator::Isnt => "true",
                _ => "an error",
            };
            let message =
                format!("{name} is {has} in the pool, and this is {}: the result is {result}", value.kind().phrase());
            found.push(Finding::new(&rules::TYPE, message).at(attribute, expression, ""));
        }
        if let (Value::String(text), Group::Identity) = (value, operator.group())
            && let Some(spelt) = self.spelt(name, text)
        {
            let message = format!("the pool writes \"{}\", and `=?=` tells upper from lower case", spelt.to_str());
            let instead = if *operator == BinaryOperator::Is { "==" } else { "!=" };
            let help = format!("write `{instead} {}`, which ignores case", shown(other, dialect));
            found.push(Finding::new(&rules::LETTERS, message).with_help(help).at(attribute, expression, ""));
        }
    }
}

/// A comparison of a pool attribute with a value.
struct Comparison<'e> {
    attribute: &'e Name,
    expression: &'e Expression,
    operator: BinaryOperator,
    name: &'e Name,
    value: &'e Value,
    other: &'e Expression,
}

/// Returns the literal that an expression is or that the ad binds to the name it is. `None` for anything else.
fn constant<'e>(ad: &'e Ad, expression: &'e Expression) -> Option<&'e Value> {
    match Operand::of(expression)? {
        Operand::Literal(value) => Some(value),
        Operand::Own(name) | Operand::Free(name) => match ad.get(name)?.bare().kind() {
            Kind::Literal(value) => Some(value),
            _ => None,
        },
        Operand::Other(_) => None,
    }
}
