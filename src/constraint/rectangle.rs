//! Rectangles: the profiles of a constraint as intervals of the partner's attributes (thesis 4.2.2).

use std::cmp::Ordering;
use std::collections::hash_map::Entry;
use std::fmt;

use rustc_hash::FxHashMap;

use crate::ad::{BinaryOperator, Dialect, Expression, ExpressionKind, Name, Span, Truth, Type, Value};
use crate::eval::binary;

use super::condition::{is_self_evaluating, orient_comparison};
use super::conjuncts::chain_operands;
use super::{is_scope_name, is_side_name, literal_value};

/// A disjunct of a constraint (thesis 4.2.1: profile): what a partner must have to meet it.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// An interval for each attribute and type that the profile restricts, in the order of the first restrictions.
    pub intervals: Vec<Interval>,
    /// The conjuncts that restrict no attribute to an interval (thesis 4.2.3: deviation). Only evaluation can tell
    /// whether a partner meets them.
    pub deviant: Vec<Expression>,
}

/// The values of one type that a profile admits for an attribute of the partner.
#[derive(Clone, Debug)]
pub struct Interval {
    /// The attribute, as the constraint refers to it.
    pub attribute: Expression,
    /// The lower end, and whether it belongs to the interval. `None` if there is no lower end.
    pub low: Option<(Value, bool)>,
    /// The upper end, and whether it belongs to the interval. `None` if there is no upper end.
    pub high: Option<(Value, bool)>,
    /// Values that the interval leaves out.
    pub excluded: Vec<Value>,
}

/// Maximum number of profiles of a constraint. A conjunct that would make more is deviant.
const MAX_PROFILES: usize = 64;

/// Returns the profiles of a specialized constraint: only attributes of the partner are left to evaluate in it.
/// `is_partner` says whether a name of a scope, such as the label of a port, denotes the partner. Unqualified names
/// are attributes of the partner.
///
/// Without profiles, the constraint is never met. The number of profiles is at most 64.
#[must_use]
pub fn profiles(constraint: &Expression, is_partner: &dyn Fn(&Name) -> bool, dialect: Dialect) -> Vec<Profile> {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || profiles_within(constraint, is_partner, dialect))
}

fn profiles_within(constraint: &Expression, is_partner: &dyn Fn(&Name) -> bool, dialect: Dialect) -> Vec<Profile> {
    let expression = constraint.without_parentheses();
    match expression.kind() {
        ExpressionKind::Literal(value) if Truth::of(value, dialect).is_true() => vec![Profile::default()],
        ExpressionKind::Literal(_) => Vec::new(),
        ExpressionKind::Binary(BinaryOperator::Or, ..) => {
            let of_all: Vec<Vec<Profile>> = chain_operands(expression, BinaryOperator::Or)
                .iter()
                .map(|part| profiles(part, is_partner, dialect))
                .collect();
            if of_all.iter().map(Vec::len).sum::<usize>() > MAX_PROFILES {
                return vec![Profile { deviant: vec![constraint.clone()], ..Profile::default() }];
            }
            of_all.into_iter().flatten().collect()
        }
        ExpressionKind::Binary(BinaryOperator::And, ..) => {
            let mut product = vec![GrowingProfile::default()];
            for part in chain_operands(expression, BinaryOperator::And) {
                let of_part = profiles(part, is_partner, dialect);
                if product.len() * of_part.len() > MAX_PROFILES {
                    for growing in &mut product {
                        growing.profile.deviant.push(part.clone());
                    }
                    continue;
                }
                product = match of_part.as_slice() {
                    [only] => {
                        for growing in &mut product {
                            growing.narrow(only, dialect);
                        }
                        product
                    }
                    several => {
                        let both = |one: &GrowingProfile, other: &Profile| {
                            let mut both = one.clone();
                            both.narrow(other, dialect);
                            both
                        };
                        product.iter().flat_map(|one| several.iter().map(|other| both(one, other))).collect()
                    }
                };
            }
            product.into_iter().map(|growing| growing.profile).collect()
        }
        _ => vec![Interval::of(expression, is_partner, dialect).map_or_else(
            || Profile { deviant: vec![constraint.clone()], ..Profile::default() },
            |interval| Profile { intervals: vec![interval], ..Profile::default() },
        )],
    }
}

/// A profile to which conjuncts are added.
#[derive(Clone, Default)]
struct GrowingProfile {
    profile: Profile,
    /// The places of the intervals in the profile.
    places: FxHashMap<IntervalDimension, usize>,
}

/// What two intervals must have in common to be narrowed to one: the type of the values and the attribute, with the label
/// of its port.
type IntervalDimension = (Option<Type>, Option<(Option<Name>, Name)>);

impl GrowingProfile {
    /// Narrows the profile to what meets another profile, too.
    fn narrow(&mut self, other: &Profile, dialect: Dialect) {
        for interval in &other.intervals {
            let intervals = &mut self.profile.intervals;
            match self.places.entry(interval.dimension()) {
                Entry::Occupied(known) => intervals[*known.get()].narrow(interval, dialect),
                Entry::Vacant(vacant) => {
                    vacant.insert(intervals.len());
                    intervals.push(interval.clone());
                }
            }
        }
        self.profile.deviant.extend(other.deviant.iter().cloned());
    }
}

impl Interval {
    /// Returns the interval of a property: a comparison of an attribute of the partner with a constant, or an attribute
    /// that must be true. `None` for any other expression.
    fn of(property: &Expression, is_partner: &dyn Fn(&Name) -> bool, dialect: Dialect) -> Option<Self> {
        let attribute = |expression: &Expression| partner_attribute(expression, is_partner).then(|| expression.clone());
        let constant = |expression: &Expression| literal_value(expression.without_parentheses(), dialect).cloned();
        let ExpressionKind::Binary(operator, left, right) = property.kind() else {
            let point = Some((Value::Boolean(true), true));
            return Some(Interval {
                attribute: attribute(property)?,
                low: point.clone(),
                high: point,
                excluded: Vec::new(),
            });
        };
        let (attribute, operator, value) = orient_comparison(*operator, left, right, attribute, constant)?;
        // Undefined and error have no interval (thesis 4.2.1).
        if matches!(value, Value::Undefined) || !is_self_evaluating(&value, dialect) {
            return None;
        }
        let mut interval = Interval { attribute, low: None, high: None, excluded: Vec::new() };
        let end = |is_included| Some((value.clone(), is_included));
        match operator {
            BinaryOperator::Less => interval.high = end(false),
            BinaryOperator::LessEqual => interval.high = end(true),
            BinaryOperator::Greater => interval.low = end(false),
            BinaryOperator::GreaterEqual => interval.low = end(true),
            // An identity test is narrower than the point: the interval holds all values that pass it.
            BinaryOperator::Equal | BinaryOperator::Is => (interval.low, interval.high) = (end(true), end(true)),
            BinaryOperator::NotEqual => interval.excluded.push(value),
            _ => return None,
        }
        Some(interval)
    }

    /// Returns some value of the interval's type.
    fn sample(&self) -> Option<&Value> {
        let ends = [&self.low, &self.high].into_iter().flatten().map(|(value, _)| value);
        ends.chain(&self.excluded).next()
    }

    /// Returns the dimension. Intervals of the same attribute and of comparable values have the same.
    fn dimension(&self) -> IntervalDimension {
        let kind = match self.sample().map(Value::value_type) {
            Some(Type::Integer) => Some(Type::Real),
            other => other,
        };
        (kind, dimension(&self.attribute).map(|(label, name)| (label.cloned(), name.clone())))
    }

    /// Removes the values that another interval of the same dimension does not have.
    fn narrow(&mut self, other: &Interval, dialect: Dialect) {
        let is_tighter = |new: &Option<(Value, bool)>, old: &Option<(Value, bool)>, tighter: Ordering| match (new, old)
        {
            (Some((new, new_included)), Some((old, old_included))) => {
                let order = compare(new, old, dialect);
                order == Some(tighter) || order == Some(Ordering::Equal) && *old_included && !new_included
            }
            (Some(_), None) => true,
            (None, _) => false,
        };
        if is_tighter(&other.low, &self.low, Ordering::Greater) {
            self.low.clone_from(&other.low);
        }
        if is_tighter(&other.high, &self.high, Ordering::Less) {
            self.high.clone_from(&other.high);
        }
        self.excluded.extend(other.excluded.iter().cloned());
    }

    /// Whether no value is in the interval (thesis 4.2.2: value consistency error).
    #[must_use]
    pub fn is_empty(&self, dialect: Dialect) -> bool {
        let (Some((low, low_included)), Some((high, high_included))) = (&self.low, &self.high) else { return false };
        match compare(low, high, dialect) {
            Some(Ordering::Less) => false,
            Some(Ordering::Equal) => {
                let is_excluded = |value: &Value| compare(value, low, dialect) == Some(Ordering::Equal);
                !(*low_included && *high_included) || self.excluded.iter().any(is_excluded)
            }
            _ => true,
        }
    }
}

/// Compares two values by the language's own operators. `None` if they are not comparable.
fn compare(one: &Value, other: &Value, dialect: Dialect) -> Option<Ordering> {
    let holds = |operator| binary(operator, one, other, dialect, Span::default()) == Value::Boolean(true);
    if holds(BinaryOperator::Less) {
        Some(Ordering::Less)
    } else if holds(BinaryOperator::Greater) {
        Some(Ordering::Greater)
    } else {
        holds(BinaryOperator::Equal).then_some(Ordering::Equal)
    }
}

/// Returns the attribute that a reference is about, with the label of the port if the reference has one. `TARGET.x` and
/// `x` are about the same attribute.
fn dimension(reference: &Expression) -> Option<(Option<&Name>, &Name)> {
    match reference.without_parentheses().kind() {
        ExpressionKind::Attribute(name) => Some((None, name)),
        ExpressionKind::Select(scope, name) => match scope.without_parentheses().kind() {
            ExpressionKind::Attribute(scope) => Some((Some(scope).filter(|scope| !is_side_name(scope)), name)),
            _ => None,
        },
        _ => None,
    }
}

/// Whether an expression is a reference to an attribute of the partner: `x`, or `other.x`.
fn partner_attribute(expression: &Expression, is_partner: &dyn Fn(&Name) -> bool) -> bool {
    match expression.without_parentheses().kind() {
        ExpressionKind::Attribute(name) => !is_scope_name(name) && !is_partner(name),
        ExpressionKind::Select(scope, name) => match scope.without_parentheses().kind() {
            ExpressionKind::Attribute(scope) => !is_scope_name(name) && is_partner(scope),
            _ => false,
        },
        _ => false,
    }
}

impl fmt::Display for Interval {
    /// Writes the interval as `[31, inf)`, a point as its value, and the values that are left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.low, &self.high) {
            (Some((low, true)), Some((high, true))) if low == high => write!(f, "{low}")?,
            (low, high) => {
                match low {
                    Some((low, is_included)) => write!(f, "{}{low}", if *is_included { "[" } else { "(" })?,
                    None => f.write_str("(-inf")?,
                }
                match high {
                    Some((high, is_included)) => write!(f, ", {high}{}", if *is_included { "]" } else { ")" })?,
                    None => f.write_str(", inf)")?,
                }
            }
        }
        self.excluded
            .iter()
            .enumerate()
            .try_for_each(|(place, value)| write!(f, "{} {value}", if place == 0 { " without" } else { "," }))
    }
}

#[cfg(test)]
mod tests {
    use super::profiles;
    use crate::ad::{Dialect, Name};
    use crate::constraint::is_side_name;
    use crate::syntax::{ParseOptions, parse_expression};

    fn rectangles(text: &str) -> String {
        let constraint = parse_expression(text.as_bytes(), ParseOptions::default()).unwrap();
        let is_partner = |scope: &Name| is_side_name(scope) || scope.is("cpu");
        let shown = profiles(&constraint, &is_partner, Dialect::Classad).into_iter().map(|profile| {
            let intervals = profile.intervals.iter().map(|interval| {
                let empty = if interval.is_empty(Dialect::Classad) { " (empty)" } else { "" };
                format!("{} {interval}{empty}", interval.attribute)
            });
            let deviant = profile.deviant.iter().map(|part| format!("? {part}"));
            let parts: Vec<String> = intervals.chain(deviant).collect();
            if parts.is_empty() { "anything".to_owned() } else { parts.join("; ") }
        });
        shown.collect::<Vec<String>>().join(" | ")
    }

    /// The examples of thesis 4.2.2 and 4.4, and what deviates.
    #[test]
    fn profiles_are_rectangles() {
        for (constraint, expected) in [
            ("other.x > 10 && other.x < 50", "other.x (10, 50)"),
            ("other.x < 10 && other.x > 12", "other.x (12, 10) (empty)"),
            ("x >= 1 && 5 >= target.x && x != 3", "x [1, 5] without 3"),
            ("other.Y <= 6 && other.D == \"a\" || cpu.Z", "other.Y (-inf, 6]; other.D \"a\" | cpu.Z true"),
            ("(a > 1 || b > 1) && c == 2.0", "a (1, inf); c 2.0 | b (1, inf); c 2.0"),
            ("x > 10 && x > \"a\"", "x (10, inf); x (\"a\", inf)"),
            ("x == 3 && x != 3", "x 3 without 3 (empty)"),
            ("x is undefined && y + 1 > 2 && z isnt 4", "? x is undefined; ? y + 1 > 2; ? z isnt 4"),
            ("other.x == cpu.y", "? other.x == cpu.y"),
            ("true", "anything"),
            ("false", ""),
            ("5", ""),
            ("x > 1 && x > 2 && x >= 2 && x > 0", "x (2, inf)"),
            ("x >= 2 && x > 2", "x (2, inf)"),
            ("x < 3 && x < 2 && x <= 2 && x < 9", "x (-inf, 2)"),
            ("x <= 2 && x <= 2", "x (-inf, 2]"),
            ("x >= 2 && x <= 2", "x 2"),
            ("x > 2 && x <= 2", "x (2, 2] (empty)"),
            ("x >= 2 && x < 2", "x [2, 2) (empty)"),
            ("x != 1 && x != 2 && x > 5", "x (5, inf) without 1, 2"),
            ("x is 4", "x 4"),
            ("x is \"a\"", "x \"a\""),
            ("5 > x", "x (-inf, 5)"),
            ("5 == x", "x 5"),
            ("x", "x true"),
            ("!x", "? !x"),
            ("x == error", "? x == error"),
            ("x == { 1 }", "? x == { 1 }"),
            ("x > true", "x (true, inf)"),
            ("x > 1 && TARGET.x < 5 && other.X != 3", "x (1, 5) without 3"),
            ("cpu.x > 1 && x < 5", "cpu.x (1, inf); x (-inf, 5)"),
            ("disk.x > 1", "? disk.x > 1"),
            ("other.cpu > 1 && cpu > 2 && other.my > 3", "other.cpu (1, inf); ? cpu > 2; ? other.my > 3"),
            ("x > 1 || y || (z || w)", "x (1, inf) | y true | z true | w true"),
            (
                "(x > 1 || x > 2) && (y || z)",
                "x (1, inf); y true | x (1, inf); z true | x (2, inf); y true | x (2, inf); z true",
            ),
            ("false || x > 1", "x (1, inf)"),
            ("false && x > 1", ""),
            ("true && x > 1", "x (1, inf)"),
            ("undefined", ""),
        ] {
            assert_eq!(rectangles(constraint), expected, "{constraint}");
        }
    }

    #[test]
    fn many_profiles_are_deviant() {
        let clause = |part: usize| format!("(a{part} > 1 || b{part} > 1)");
        let constraint = (0..8).map(clause).collect::<Vec<String>>().join(" && ");
        let shown = rectangles(&constraint);
        assert_eq!((shown.matches(" | ").count(), shown.matches("? ").count()), (63, 2 * 64), "{shown}");
    }
}
