//! Uses of strings in expressions beyond equality. Pseudonyms keep equality; any other use may have another result.

use std::collections::{BTreeMap, BTreeSet};

use crate::ad::{Ad, BinaryOperator, Expression, ExpressionKind, Name, Value};
use crate::eval::find_function;

/// Functions that only pass strings on, test their type, or compare them for equality.
const EQUALITY_FUNCTIONS: &[&str] = &[
    "debug",
    "identicalMember",
    "ifThenElse",
    "isAbsTime",
    "isBoolean",
    "isClassAd",
    "isError",
    "isInteger",
    "isList",
    "isMember",
    "isReal",
    "isRelTime",
    "isString",
    "isUndefined",
    "member",
];

/// Where the strings of an expression's value may come from.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct TextOrigin {
    /// Whether the expression itself makes a string.
    is_text: bool,
    /// The attributes whose values are that of the expression, or parts of it.
    names: BTreeSet<Name>,
}

/// A use of strings beyond equality: the symbol of an operator, or a function with `()`.
type UseName = String;

/// The uses of strings beyond equality in the expressions of ads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextUses {
    /// Where the strings of each attribute's values come from, over all ads.
    origins: BTreeMap<Name, TextOrigin>,
    /// The uses in each attribute. Each depends on operands all of which may be strings.
    uses: BTreeMap<Name, BTreeSet<(UseName, Vec<TextOrigin>)>>,
}

impl TextUses {
    /// Whether nothing was found and no attribute was seen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.origins.is_empty()
    }

    /// Adds an attribute of an ad. O(n) in the size of the expression.
    pub(super) fn add(&mut self, name: &Name, expression: &Expression) {
        self.origins.entry(name.clone()).or_default().extend(origin(expression));
        let mut pending = vec![expression];
        while let Some(expression) = pending.pop() {
            if let Some((use_name, operands)) = text_use(expression) {
                self.uses
                    .entry(name.clone())
                    .or_default()
                    .extend(operands.into_iter().map(|all| (use_name.clone(), all)));
            }
            if let Some(ad) = nested_ad(expression) {
                for attribute in ad.iter() {
                    self.origins.entry(attribute.name.clone()).or_default().extend(origin(attribute.expression));
                }
            }
            for_each_part(expression, |part| pending.push(part));
        }
    }

    /// Adds what was found elsewhere.
    pub fn merge(&mut self, other: TextUses) {
        for (name, origin) in other.origins {
            self.origins.entry(name).or_default().extend(origin);
        }
        for (name, uses) in other.uses {
            self.uses.entry(name).or_default().extend(uses);
        }
    }

    /// Returns the attributes whose values may depend on more of a string than what it is equal to, each with the
    /// operators and functions, such as `regexp()`. An attribute that no ad has may be a string.
    #[must_use]
    pub fn beyond_equality(&self) -> Vec<(&Name, Vec<&str>)> {
        let texts = self.text_attributes();
        let is_text = |origin: &TextOrigin| {
            origin.is_text || origin.names.iter().any(|name| texts.contains(name) || !self.origins.contains_key(name))
        };
        let found = self.uses.iter().map(|(name, uses)| {
            let uses = uses.iter().filter(|(_, operands)| operands.iter().all(is_text));
            let mut names: Vec<&str> = uses.map(|(use_name, _)| use_name.as_str()).collect();
            names.dedup();
            (name, names)
        });
        found.filter(|(_, uses)| !uses.is_empty()).collect()
    }

    /// Returns the attributes that may be strings, or hold some.
    fn text_attributes(&self) -> BTreeSet<&Name> {
        // The attributes into which the strings of each attribute go.
        let mut users: BTreeMap<&Name, Vec<&Name>> = BTreeMap::new();
        let mut pending: Vec<&Name> = Vec::new();
        for (name, origin) in &self.origins {
            origin.names.iter().for_each(|of| users.entry(of).or_default().push(name));
            if origin.is_text || origin.names.iter().any(|of| !self.origins.contains_key(of)) {
                pending.push(name);
            }
        }
        let mut texts: BTreeSet<&Name> = BTreeSet::new();
        while let Some(name) = pending.pop() {
            if texts.insert(name) {
                pending.extend(users.get(name).into_iter().flatten());
            }
        }
        texts
    }
}

impl TextOrigin {
    const TEXT: TextOrigin = TextOrigin { is_text: true, names: BTreeSet::new() };

    fn extend(&mut self, other: TextOrigin) {
        self.is_text |= other.is_text;
        self.names.extend(other.names);
    }
}

/// Returns the ad that an expression writes.
fn nested_ad(expression: &Expression) -> Option<&Ad> {
    match expression.kind() {
        ExpressionKind::Ad(ad) => Some(ad),
        ExpressionKind::Literal(Value::Ad(value)) => Some(value.ad()),
        _ => None,
    }
}

/// Calls `visit` for the children of an expression, and for the parts of a literal list or ad.
fn for_each_part<'e>(expression: &'e Expression, mut visit: impl FnMut(&'e Expression)) {
    match expression.kind() {
        ExpressionKind::Literal(Value::List(list)) => list.elements.iter().for_each(visit),
        ExpressionKind::Literal(Value::Ad(value)) => value.ad().expressions().iter().for_each(visit),
        kind => kind.for_each_child(&mut visit),
    }
}

/// Returns where the strings of an expression's value may come from.
fn origin(expression: &Expression) -> TextOrigin {
    let mut origin = TextOrigin::default();
    let mut pending = vec![expression];
    while let Some(expression) = pending.pop() {
        match expression.kind() {
            ExpressionKind::Literal(Value::String(_)) => origin.is_text = true,
            ExpressionKind::Attribute(name) | ExpressionKind::RootAttribute(name) | ExpressionKind::Select(_, name) => {
                origin.names.insert(name.clone());
            }
            ExpressionKind::Subscript(subject, _) => pending.push(subject),
            ExpressionKind::Conditional(_, consequent, alternative) => pending.extend([consequent, alternative]),
            ExpressionKind::Call(name, arguments) if makes_text(name) => {
                if is_equality_function(name) {
                    pending.extend(arguments.iter());
                } else {
                    origin.is_text = true;
                }
            }
            ExpressionKind::Unary(..) | ExpressionKind::Binary(..) | ExpressionKind::Call(..) => {}
            // The attributes of a nested ad have origins of their own. To visit them for each ad around them would take
            // quadratic time.
            _ if nested_ad(expression).is_some() => {
                origin.names.extend(nested_ad(expression).into_iter().flat_map(|ad| ad.shape().names()).cloned());
            }
            _ => for_each_part(expression, |part| pending.push(part)),
        }
    }
    origin
}

fn is_equality_function(name: &Name) -> bool {
    EQUALITY_FUNCTIONS.iter().any(|known| known.eq_ignore_ascii_case(name.as_str()))
}

/// Whether the value of a function may be a string, or hold one.
fn makes_text(name: &Name) -> bool {
    find_function(name).is_none_or(|function| {
        let results = function.signature.rsplit("-> ").next().unwrap_or_default();
        results.split(" | ").any(|result| ["string", "any", "list", "ad"].contains(&result))
    })
}

/// Returns the use of strings at the root of an expression: its name, and the operands. Each alternative is a list of
/// operands that are all strings in such a use.
fn text_use(expression: &Expression) -> Option<(UseName, Vec<Vec<TextOrigin>>)> {
    match expression.kind() {
        ExpressionKind::Binary(operator, left, right) => {
            use BinaryOperator::{Greater, GreaterEqual, Less, LessEqual};
            let is_order = matches!(operator, Less | LessEqual | Greater | GreaterEqual);
            // A string and a number have no order: the result is an error, whatever the string.
            is_order.then(|| (operator.symbol().to_owned(), vec![vec![origin(left), origin(right)]]))
        }
        ExpressionKind::Subscript(_, index) => Some(("[]".to_owned(), vec![vec![origin(index)]])),
        ExpressionKind::Call(name, _) if is_equality_function(name) => None,
        ExpressionKind::Call(name, arguments) => {
            let function = find_function(name).map_or(name.as_str(), |function| function.name);
            let operands = if makes_text(name) {
                vec![vec![TextOrigin::TEXT]]
            } else {
                arguments.iter().map(|argument| vec![origin(argument)]).collect()
            };
            Some((format!("{function}()"), operands))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::TextUses;
    use crate::ad::Dialect;
    use crate::syntax::{ParseOptions, parse_ad};

    fn uses(text: &str) -> TextUses {
        let ad = parse_ad(format!("[ {text} ]").as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
        let mut uses = TextUses::default();
        for attribute in ad.iter() {
            uses.add(attribute.name, attribute.expression);
        }
        uses
    }

    /// Returns the uses in each attribute: `b: < regexp()`.
    fn told(uses: &TextUses) -> String {
        let found = uses.beyond_equality().into_iter();
        found.map(|(name, uses)| format!("{name}: {}", uses.join(" "))).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn uses_beyond_equality_are_told_if_all_operands_may_be_strings() {
        for (ad, expected) in [
            ("", ""),
            ("a = \"x\"; b = a < \"y\"", "b: <"),
            ("a = \"x\"; b = a == \"y\"", ""),
            ("a = \"x\"; b = a <= \"y\" && a >= \"z\" || a > \"z\"", "b: <= > >="),
            ("a = \"x\"; b = a < \"y\" && a < \"z\"", "b: <"),
            ("a = 1; b = a < 2", ""),
            ("a = 1; b = a < \"y\"", ""),
            ("b = a < \"y\"", "b: <"),
            ("b = a < 5", ""),
            ("a = \"x\"; b = 5 < a", ""),
            ("a = \"x\"; b = regexp(\"y\", a)", "b: regexp()"),
            ("a = 1; b = REGEXP(a, a)", ""),
            ("b = strcat(1, 2)", "b: strcat()"),
            ("b = foo(1)", "b: foo()"),
            ("b = member(a, { \"x\" })", ""),
            ("b = ISUNDEFINED(a)", ""),
            ("b = size({ 1 })", ""),
            ("a = \"x\"; b = size(a)", "b: size()"),
            ("a = \"x\"; b = { 1, 2 }[a]", "b: []"),
            ("a = 1; b = { 1, 2 }[a]", ""),
            // A condition is no part of the value.
            ("b = c ? \"x\" : 1; d = b < \"z\"", "d: <"),
            ("c = \"x\"; b = c ? 2 : 1; d = b < \"z\"", ""),
            ("a = ifThenElse(c, 1, \"x\"); d = a < \"z\"", "d: <"),
            ("a = strcat(1, 2); d = a < \"z\"", "a: strcat(); d: <"),
            ("a = int(\"5\"); d = a < \"z\"", "a: int()"),
            ("a = -b; b = \"x\"; d = a < \"z\"", ""),
            ("a = b + 1; b = \"x\"; d = a < \"z\"", ""),
            // Strings in lists and in nested ads count.
            ("l = { \"x\" }; d = l[0] < \"a\"", "d: <"),
            ("l = { 1 }; d = l[0] < \"a\"", ""),
            ("n = [ x = \"y\" ]; d = n.x < \"a\"", "d: <"),
            ("n = [ x = 1 ]; d = n.x < \"a\"", ""),
            ("n = [ x = \"y\" ]; d = n < \"a\"", "d: <"),
            ("n = [ x = a < \"y\" ]; a = \"z\"", "n: <"),
            ("d = (a) < \"a\"; a = (\"x\")", "d: <"),
            ("a = b; b = c; c = \"x\"; d = a < \"y\"", "d: <"),
            ("a = b; b = a; d = a < \"y\"", ""),
        ] {
            assert_eq!(told(&uses(ad)), expected, "{ad}");
        }
    }

    #[test]
    fn what_is_found_in_several_ads_counts_together() {
        let mut all = uses("b = a < \"y\"; a = 1");
        assert_eq!((told(&all).as_str(), all.is_empty()), ("", false));
        all.merge(uses("a = \"x\"; b = a > \"y\""));
        assert_eq!(told(&all), "b: < >");
        assert!(TextUses::default().is_empty());
    }
}
