//! Checks comparisons with a number against the numbers that the pool has.

use crate::ad::{BinaryOperator, Expression, ExpressionKind, Name, Value};
use crate::protocol::words;

use super::finding::LintFinding;
use super::rules;
use super::standard_attributes::SizeUnit;

/// Maximum depth of the arithmetic of a constant. Nobody writes a deeper one.
const MAX_DEPTH: usize = 8;

/// The least and the greatest number that an attribute has in a pool.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct NumberRange {
    least: f64,
    greatest: f64,
    /// The least number that the attribute can have. It is less than `least` for what may be given away, such as the memory
    /// of a partitionable slot.
    floor: f64,
}

impl NumberRange {
    pub(super) fn of(number: f64) -> Self {
        NumberRange { least: number, greatest: number, floor: number }
    }

    /// Extends the range to a number.
    pub(super) fn include(&mut self, number: f64) {
        self.least = self.least.min(number);
        self.greatest = self.greatest.max(number);
        self.floor = self.floor.min(number);
    }

    /// Extends the range to a total, of which any part may be left.
    pub(super) fn include_parts_of(&mut self, total: f64) {
        self.include(total);
        self.floor = self.floor.min(0.0);
    }

    #[cfg(test)]
    pub(super) fn ends(self) -> (f64, f64) {
        (self.least, self.greatest)
    }

    fn contains(self, number: f64) -> bool {
        (self.floor..=self.greatest).contains(&number)
    }

    /// Returns whether a comparison of the attribute with a number is never true (`false`) or always true (`true`) in the
    /// range. `None` if it depends on the value, and for operators that do not compare.
    fn decide(self, operator: BinaryOperator, number: f64) -> Option<bool> {
        let of_ends =
            |test: fn(f64, f64) -> bool| match [self.floor, self.least, self.greatest].map(|end| test(end, number)) {
                [_, true, true] => Some(true),
                [false, _, false] => Some(false),
                _ => None,
            };
        match operator {
            BinaryOperator::Less => of_ends(|value, number| value < number),
            BinaryOperator::LessEqual => of_ends(|value, number| value <= number),
            BinaryOperator::Greater => of_ends(|value, number| value > number),
            BinaryOperator::GreaterEqual => of_ends(|value, number| value >= number),
            BinaryOperator::Equal | BinaryOperator::Is if !self.contains(number) => Some(false),
            _ => None,
        }
    }
}

/// The attributes of slots that change by themselves: what they are now is not what they will be.
const CHANGING: &str = "ClockDay, ClockMin, CondorLoadAvg, ConsoleIdle, CurrentTime, KeyboardIdle, LastHeardFrom, LoadAvg, \
    MyCurrentTime, TotalCondorLoadAvg, TotalLoadAvg";

/// Returns the finding that no ad of the pool satisfies the comparison of an attribute with a number, or that all do
/// because the number is in the wrong unit. `None` if there is no such finding. `part` is the whole comparison, in
/// `attribute`; `is_literal` says whether the number stands in it.
pub(super) fn check(
    (attribute, part): (&Name, &Expression),
    name: &Name,
    range: NumberRange,
    operator: BinaryOperator,
    number: f64,
    is_literal: bool,
) -> Option<LintFinding> {
    if words(CHANGING).any(|known| name.is(known)) {
        return None;
    }
    let unit = SizeUnit::of(name);
    let shown = |number: f64| match unit {
        Some(unit) => format!("{number} ({})", unit.readable(number)),
        None => number.to_string(),
    };
    if range.decide(operator, number)? {
        // Only a number that is too small for a size is probably a mistake.
        let unit = unit.filter(|_| is_literal && number >= 2.0 && operator != BinaryOperator::Less)?;
        let meant = unit_meant([1, 2], unit, number, range)?;
        let least = shown(range.least);
        let message = format!("{name} is in {}, at least {least} in the pool: this is never false", unit.symbol());
        return Some(LintFinding::new(&rules::UNIT, message).with_help(meant).at(attribute, part, ""));
    }
    let limit = match operator {
        BinaryOperator::Less | BinaryOperator::LessEqual => format!("at least {}", shown(range.floor)),
        BinaryOperator::Greater | BinaryOperator::GreaterEqual => format!("at most {}", shown(range.greatest)),
        _ if range.greatest <= range.floor => format!("always {}", shown(range.floor)),
        _ => format!("between {} and {}", shown(range.floor), shown(range.greatest)),
    };
    let compared = if is_literal { "this".to_owned() } else { format!("the comparison with {}", shown(number)) };
    let message = format!("{name} is {limit} in the pool: {compared} is never true");
    let finding = LintFinding::new(&rules::RANGE, message);
    let meant = unit.and_then(|unit| unit_meant([-1, -2], unit, number, range));
    let help = meant.unwrap_or_else(|| format!("`classad census POOL --attr {name}` shows the most frequent values"));
    Some(finding.with_help(help).at(attribute, part, ""))
}

/// Returns the advice to write a number in the unit of its attribute, if the pool has such numbers. `steps` are the
/// numbers of factors of 1024 by which the unit that was meant may be larger.
fn unit_meant(steps: [i32; 2], unit: SizeUnit, number: f64, range: NumberRange) -> Option<String> {
    let rewritten = |steps: i32| number * 1024.0_f64.powi(steps);
    let steps = steps.into_iter().find(|steps| number != 0.0 && range.contains(rewritten(*steps)))?;
    let exponent = match unit {
        SizeUnit::Kibibytes => 1,
        SizeUnit::Mebibytes => 2,
    };
    let symbol = ["bytes", "KiB", "MiB", "GiB", "TiB"].get(usize::try_from(exponent + steps).ok()?)?;
    Some(format!("if {number} {symbol} is meant, write {}", rewritten(steps).ceil()))
}

/// Returns the number that a literal, or arithmetic of literals, gives: 8192.0 for `8 * 1024`. `None` for other
/// expressions.
pub(super) fn constant_number(expression: &Expression) -> Option<f64> {
    number_within(expression, MAX_DEPTH)
}

fn number_within(expression: &Expression, depth: usize) -> Option<f64> {
    match expression.without_parentheses().kind() {
        ExpressionKind::Literal(Value::Real(real)) => Some(*real).filter(|real| real.is_finite()),
        #[expect(clippy::cast_precision_loss, reason = "the number is only part of a range")]
        ExpressionKind::Literal(Value::Integer(integer)) => Some(*integer as f64),
        ExpressionKind::Binary(operator, left, right) if depth > 0 => {
            let [left, right] = [left, right].map(|side| number_within(side, depth - 1));
            match operator {
                BinaryOperator::Add => Some(left? + right?),
                BinaryOperator::Subtract => Some(left? - right?),
                BinaryOperator::Multiply => Some(left? * right?),
                _ => None,
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{NumberRange, check, constant_number};
    use crate::ad::BinaryOperator::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
    use crate::ad::{Expression, Name};
    use crate::syntax::{ParseOptions, parse_expression};

    #[test]
    fn a_number_that_all_sizes_exceed_may_be_in_another_unit() {
        let mut range = NumberRange::of(1000.0);
        range.include(9000.0);
        for (name, operator, number, is_literal, expected) in [
            ("Memory", GreaterEqual, 2.0, true, Some("if 2 GiB is meant, write 2048")),
            ("Memory", Greater, 8.5, true, Some("if 8.5 GiB is meant, write 8704")),
            // One is a number of any unit, and what is computed is meant so.
            ("Memory", GreaterEqual, 1.0, true, None),
            ("Memory", GreaterEqual, 2.0, false, None),
            ("Memory", GreaterEqual, 999.0, true, None),
            ("Memory", Less, 9001.0, true, None),
            ("Cpus", GreaterEqual, 2.0, true, None),
            ("Memory", GreaterEqual, 1.5, true, None),
            ("Memory", Less, 1000.0, true, Some("`classad census POOL --attr Memory` shows the most frequent values")),
            ("Memory", Greater, 9000.0 * 1024.0, true, Some("if 9216000 KiB is meant, write 9000")),
            (
                "Memory",
                Greater,
                9001.0 * 1024.0,
                true,
                Some("`classad census POOL --attr Memory` shows the most frequent values"),
            ),
            ("Memory", GreaterEqual, 2000.0 * 1_048_576.0, true, Some("if 2097152000 bytes is meant, write 2000")),
            ("Memory", Equal, 2.0, true, Some("`classad census POOL --attr Memory` shows the most frequent values")),
            ("Disk", GreaterEqual, 2.0, true, Some("if 2 MiB is meant, write 2048")),
            ("Disk", GreaterEqual, 0.003, true, None),
            ("ClockMin", Less, 5.0, true, None),
            ("loadavg", Less, 5.0, true, None),
        ] {
            let part = (&Name::new("Requirements"), &Expression::literal(true));
            let found = check(part, &Name::new(name), range, operator, number, is_literal);
            assert_eq!(found.map(|finding| finding.help).as_deref(), expected, "{name} {operator:?} {number}");
        }
    }

    #[test]
    fn comparisons_are_decided_where_all_numbers_agree() {
        let mut range = NumberRange::of(10.0);
        range.include(20.0);
        for (operator, number, expected) in [
            (Less, 10.0, Some(false)),
            (Less, 15.0, None),
            (Less, 21.0, Some(true)),
            (LessEqual, 9.0, Some(false)),
            (LessEqual, 10.0, None),
            (LessEqual, 20.0, Some(true)),
            (Greater, 20.0, Some(false)),
            (Greater, 9.0, Some(true)),
            (GreaterEqual, 20.0, None),
            (GreaterEqual, 21.0, Some(false)),
            (GreaterEqual, 10.0, Some(true)),
            (Equal, 9.0, Some(false)),
            (Equal, 15.0, None),
            (NotEqual, 9.0, None),
        ] {
            assert_eq!(range.decide(operator, number), expected, "{operator:?} {number}");
        }
    }
    #[test]
    fn a_part_of_a_total_may_be_left() {
        let mut range = NumberRange::of(10.0);
        range.include_parts_of(20.0);
        for (operator, number, expected) in [
            (Less, 5.0, None),
            (Less, 0.0, Some(false)),
            (LessEqual, 0.0, None),
            (Greater, 20.0, Some(false)),
            (GreaterEqual, 10.0, Some(true)),
            (GreaterEqual, 11.0, None),
            (Equal, 0.0, None),
            (Equal, -1.0, Some(false)),
            (Equal, 20.0, None),
            (Equal, 21.0, Some(false)),
        ] {
            assert_eq!(range.decide(operator, number), expected, "{operator:?} {number}");
        }
    }

    #[test]
    fn arithmetic_of_literals_is_a_number() {
        for (text, expected) in [
            ("5", Some(5.0)),
            ("2.5", Some(2.5)),
            ("(8 * 1024)", Some(8192.0)),
            ("8 + 2 * 3 - 1", Some(13.0)),
            ("8 / 2", None),
            ("-8", Some(-8.0)),
            ("-a", None),
            ("a", None),
            ("1 + a", None),
            ("\"1\"", None),
            ("1+(1+(1+(1+(1+(1+(1+(1+1)))))))", Some(9.0)),
            ("1+(1+(1+(1+(1+(1+(1+(1+(1+1))))))))", None),
        ] {
            let expression = parse_expression(text.as_bytes(), ParseOptions::default()).unwrap();
            assert_eq!(constant_number(&expression), expected, "{text}");
        }
    }
}
