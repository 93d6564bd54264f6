//! Checks sizes and times in the wrong unit: HTCondor's attributes count memory in MiB, disk space in KiB and time in seconds.

use crate::ad::{BinaryOperator, Dialect, Expression, ExpressionKind, Name, OperatorGroup, Value};
use crate::constraint::{ClauseOperand, constant_integer};

use super::rules;
use super::scale_suffix::written_suffix;
use super::short_text::short_text;
use super::slip::Slip;
use super::slips::is_comparison;
use super::standard_attributes::SizeUnit;
use super::subexpressions::for_each_in_scope;
use crate::protocol::requested_resource;

/// Sizes from this number of bytes are beyond all machines: 1 PiB.
const MIN_IMPLAUSIBLE_BYTES: f64 = 1_125_899_906_842_624.0;

/// Amounts from these sizes on are larger than what machines have, though a pool of disks may have more: 4 TiB of memory and
/// 10 TiB of disk that a job asks for, 8 TiB of memory and 10 TiB of disk of a slot, 1 TiB of a GPU.
const MIN_IMPLAUSIBLE_REQUESTS: [(&str, i64); 12] = [
    ("RequestMemory", 4 << 20),
    ("RequestDisk", 10 << 30),
    ("Memory", 8 << 20),
    ("DetectedMemory", 8 << 20),
    ("TotalMemory", 8 << 20),
    ("TotalSlotMemory", 8 << 20),
    ("Disk", 10 << 30),
    ("TotalDisk", 10 << 30),
    ("TotalSlotDisk", 10 << 30),
    ("GlobalMemoryMb", 1 << 20),
    ("GPUs_GlobalMemoryMb", 1 << 20),
    ("GPUsMinMemory", 1 << 20),
];

/// Returns the least amount or time of an attribute that is implausible, in its unit. `None` for any other attribute.
pub(super) fn least_suspect(name: &Name) -> Option<i64> {
    let of_time = TIMES.iter().find(|known| name.is(known)).map(|_| LEAST_MILLISECONDS);
    SizeUnit::of(name).map(|unit| least_implausible(name, unit)).or(of_time)
}

/// Returns the least amount of an attribute that is implausible, in its unit.
#[expect(clippy::cast_possible_truncation, reason = "the constant is below 2^53")]
fn least_implausible(name: &Name, unit: SizeUnit) -> i64 {
    let request = MIN_IMPLAUSIBLE_REQUESTS.iter().find(|(known, _)| name.is(known));
    request.map_or((MIN_IMPLAUSIBLE_BYTES / unit.bytes()) as i64, |(_, least)| *least)
}

/// Checks the sizes in an expression of HTCondor's dialect.
pub(super) fn check(expression: &Expression, found: &mut Vec<Slip>) {
    let mut pending = vec![(expression, None)];
    while let Some((part, beside)) = pending.pop() {
        match part.kind() {
            ExpressionKind::Ad(_) => {}
            ExpressionKind::Literal(_) => found.extend(check_literal(part, beside)),
            ExpressionKind::Parentheses(inner) => pending.push((inner, beside)),
            ExpressionKind::Binary(operator, left, right) if is_comparison(*operator) => {
                // A minute may be meant exactly.
                let is_exact = operator.group() == OperatorGroup::Identity
                    || matches!(operator, BinaryOperator::Equal | BinaryOperator::NotEqual);
                let beside = |operand| attribute_name(operand).filter(|name| !(is_exact && name.is("ClockMin")));
                pending.extend([(right, beside(left)), (left, beside(right))]);
            }
            ExpressionKind::Binary(BinaryOperator::Multiply, ..)
                if beside.is_some() && constant_integer(part).is_some() =>
            {
                let product = constant_integer(part).map(|product| Expression::literal(Value::Integer(product)));
                let slip = product.and_then(|product| check_literal(&product, beside));
                found.extend(slip.map(|slip| Slip { place: part.clone(), ..slip }));
            }
            kind => {
                let start = pending.len();
                for_each_in_scope(kind, |child| pending.push((child, None)));
                pending[start..].reverse();
            }
        }
    }
}

fn attribute_name(expression: &Expression) -> Option<&Name> {
    match ClauseOperand::of(expression)? {
        ClauseOperand::Other(name) | ClauseOperand::Own(name) | ClauseOperand::Unqualified(name) => Some(name),
        ClauseOperand::Literal(_) => None,
    }
}

/// Reports a literal number with a suffix such as `G`, and one that was probably meant in bytes. `beside` is the
/// attribute that has the number as its value, or that is compared with it.
pub(super) fn check_literal(literal: &Expression, beside: Option<&Name>) -> Option<Slip> {
    let number = match literal.as_literal()? {
        Value::String(text) => return check_text(literal, &text.to_str(), beside?),
        #[expect(clippy::cast_precision_loss, reason = "a size of 2^53 is implausible whatever the unit is")]
        Value::Integer(integer) => *integer as f64,
        Value::Real(real) if real.is_finite() => *real,
        _ => return None,
    };
    let sized = beside.and_then(|name| Some((name, SizeUnit::of(name)?)));
    let in_unit = |unit: SizeUnit| Expression::literal(whole_number((number / unit.bytes()).ceil()));
    let text = |expression: &Expression| short_text(expression, Dialect::Condor);
    if let Some(suffix) = written_suffix(literal) {
        let rewrite = sized.map_or_else(|| Expression::literal(whole_number(number)), |(_, unit)| in_unit(unit));
        let counts = sized.map_or_else(String::new, |(name, unit)| format!("{name} is in {}: ", unit.symbol()));
        let help = format!("{counts}write {}", text(&rewrite));
        let message = format!(
            "this number is {} here, but HTCondor ignores or refuses its suffix `{suffix}`",
            text(&Expression::literal(whole_number(number)))
        );
        return Some(Slip::new(&rules::UNIT, literal, message).with_help(help).with_rewrite(rewrite));
    }
    if let Some(slip) = check_gpu_memory(literal, number, sized).or_else(|| check_time(literal, number, beside?)) {
        return Some(slip);
    }
    #[expect(clippy::cast_precision_loss, reason = "the least implausible amounts are below 2^53")]
    let is_implausible = |(name, unit): &(&Name, SizeUnit)| number >= least_implausible(name, *unit) as f64;
    let (name, unit) = sized.filter(is_implausible)?;
    // An amount of memory in KiB is smaller than one in bytes.
    let is_in_kib = unit == SizeUnit::Mebibytes && number < f64::from(1 << 30);
    let (meant, rewrite) = if is_in_kib {
        ("KiB", Expression::literal(whole_number((number / 1024.0).ceil())))
    } else {
        ("bytes", in_unit(unit))
    };
    let message = format!("{name} is in {}: this is {}", unit.symbol(), unit.readable(number));
    let help = format!("if the size is in {meant}, write {}", text(&rewrite));
    Some(Slip::new(&rules::UNIT, literal, message).with_help(help).with_rewrite(rewrite))
}

/// Attributes with the memory of a GPU. No GPU has so few MiB as it has GiB.
const GPU_MEMORY: [&str; 3] = ["GlobalMemoryMb", "GPUs_GlobalMemoryMb", "GPUsMinMemory"];

/// The numbers that are more probably GiB than MiB of a GPU.
const GIBIBYTES_OF_GPU: std::ops::RangeInclusive<f64> = 2.0..=512.0;

/// Reports a size of a GPU's memory that was probably meant in GiB.
fn check_gpu_memory(literal: &Expression, number: f64, sized: Option<(&Name, SizeUnit)>) -> Option<Slip> {
    let (name, unit) = sized.filter(|(name, _)| GPU_MEMORY.iter().any(|known| name.is(known)))?;
    if !GIBIBYTES_OF_GPU.contains(&number) {
        return None;
    }
    let rewrite = Expression::literal(whole_number((number * 1024.0).ceil()));
    let message = format!("{name} is in {}: this is {}", unit.symbol(), unit.readable(number));
    let help = format!("if the size is in GiB, write {}", short_text(&rewrite, Dialect::Condor));
    Some(Slip::new(&rules::UNIT, literal, message).with_help(help).with_rewrite(rewrite))
}

/// The attributes of jobs that users set to a time in seconds since 1970.
const TIMES: [&str; 1] = ["DeferralTime"];

/// The least time that is probably meant in milliseconds: it is in the year 5138.
const LEAST_MILLISECONDS: i64 = 100_000_000_000;

/// The attributes with the capability of a GPU, and the numbers of architectures, which are ten times it.
const CAPABILITIES: [&str; 4] = ["Capability", "CUDACapability", "GPUs_Capability", "GPUsMinCapability"];
const ARCHITECTURES: std::ops::RangeInclusive<f64> = 50.0..=199.0;

/// The numbers that are more probably hours than minutes of a day.
const HOURS: std::ops::RangeInclusive<f64> = 1.0..=24.0;

/// Reports a time that was probably meant in milliseconds or in hours, and a capability of a GPU that is written as an architecture.
fn check_time(literal: &Expression, number: f64, name: &Name) -> Option<Slip> {
    if CAPABILITIES.iter().any(|known| name.is(known)) && ARCHITECTURES.contains(&number) {
        let rewrite = Expression::literal(Value::Real(number / 10.0));
        let message = format!("{name} of sm_{number} is {:.1}", number / 10.0);
        let help = format!("write {}", short_text(&rewrite, Dialect::Condor));
        return Some(Slip::new(&rules::UNIT, literal, message).with_help(help).with_rewrite(rewrite));
    }
    // Nobody starts at a certain minute after midnight, but many at a certain hour.
    if name.is("ClockMin") && HOURS.contains(&number) {
        let minutes = whole_number(number * 60.0);
        let message = format!("{name} counts minutes from midnight: this is 0:{number:02}");
        let rewrite = Expression::literal(minutes);
        let help = format!("if the time is in hours, write {}", short_text(&rewrite, Dialect::Condor));
        return Some(Slip::new(&rules::UNIT, literal, message).with_help(help).with_rewrite(rewrite));
    }
    #[expect(clippy::cast_precision_loss, reason = "the constant is below 2^53")]
    let is_time = TIMES.iter().any(|known| name.is(known)) && number >= LEAST_MILLISECONDS as f64;
    let rewrite = is_time.then(|| Expression::literal(whole_number((number / 1000.0).floor())))?;
    let message = format!("{name} is in seconds since 1970: this is thousands of years ahead");
    let help = format!("if the time is in milliseconds, write {}", short_text(&rewrite, Dialect::Condor));
    Some(Slip::new(&rules::UNIT, literal, message).with_help(help).with_rewrite(rewrite))
}

/// Reports a size that is written as a string with its unit, such as `"4 GB"`.
fn check_text(literal: &Expression, text: &str, name: &Name) -> Option<Slip> {
    let unit = SizeUnit::of(name).filter(|_| requested_resource(name).is_some())?;
    let digits = text.trim().trim_end_matches(|letter: char| letter.is_ascii_alphabetic() || letter == ' ');
    let number: f64 = digits.parse().ok()?;
    let suffix = text.trim()[digits.len()..].trim().to_ascii_uppercase();
    let suffix = suffix.trim_end_matches('B').trim_end_matches('I');
    let power =
        if suffix.is_empty() { return None } else { ["K", "M", "G", "T"].iter().position(|of| suffix == *of)? };
    let bytes = (0..=power).fold(number, |bytes, _| bytes * 1024.0);
    let rewrite = Expression::literal(whole_number((bytes / unit.bytes()).ceil()));
    let message = format!("{name} is a number in HTCondor, but this is a string; it counts {}", unit.symbol());
    let help = format!("write {}", short_text(&rewrite, Dialect::Condor));
    Some(Slip::new(&rules::ATTRIBUTE_TYPE, literal, message).with_help(help).with_rewrite(rewrite))
}

/// Returns the mistake that the value of a size in MiB is computed from one in KiB and not divided: `ImageSize * 2` for
/// `RequestMemory`. `None` for any other value.
#[must_use]
pub fn find_undivided(name: &Name, value: &Expression) -> Option<Slip> {
    const LEAST_DIVISOR: i64 = 1000;
    let is_kib = |name: &&Name| SizeUnit::of(name) == Some(SizeUnit::Kibibytes);
    let read = value.parts().find_map(|part| attribute_name(part).filter(is_kib))?;
    let is_divisor =
        |part: &Expression| part.as_literal().and_then(Value::as_integer).is_some_and(|by| by >= LEAST_DIVISOR);
    if SizeUnit::of(name) != Some(SizeUnit::Mebibytes) || value.parts().any(is_divisor) {
        return None;
    }
    let whole = ExpressionKind::Parentheses(value.clone()).into();
    let divisor = Expression::literal(Value::Integer(1024));
    let rewrite = Expression::binary(BinaryOperator::Divide, whole, divisor);
    let message = format!("{name} is in MiB, and {read} in KiB");
    let help = format!("write {}", short_text(&rewrite, Dialect::Condor));
    Some(Slip::new(&rules::UNIT, value, message).with_help(help).with_rewrite(rewrite))
}

/// The attributes with an amount of memory that people write in KiB.
const MEMORY: [&str; 5] = ["RequestMemory", "DetectedMemory", "Memory", "TotalMemory", "TotalSlotMemory"];

/// Returns the mistake that an amount of memory is in KiB, which the caller knows to be more than any machine has: a whole number of
/// GiB. `None` for any other value.
#[must_use]
pub fn find_kibibytes(name: &Name, value: &Expression) -> Option<Slip> {
    const GIBIBYTE: i64 = 1 << 20;
    let Some(Value::Integer(amount)) = value.as_literal() else { return None };
    let is_whole = MEMORY.iter().any(|known| name.is(known)) && *amount > 0 && amount % GIBIBYTE == 0;
    let rewrite = is_whole.then(|| Expression::literal(Value::Integer(amount / 1024)))?;
    in_other_unit(name, value, *amount, ("KiB", rewrite))
}

/// Returns the mistake that a request for disk space is in bytes, which the caller knows to be more than most machines have: a whole
/// number of megabytes, 1 TB or more in KiB. `None` for any other value.
#[must_use]
pub fn find_bytes(name: &Name, value: &Expression) -> Option<Slip> {
    const LEAST: i64 = 1_000_000_000;
    let Some(Value::Integer(amount)) = value.as_literal() else { return None };
    // HTCondor itself writes multiples of GiB.
    let is_decimal = amount % 1_000_000 == 0 && amount % (1 << 20) != 0;
    let is_meant = name.is("RequestDisk") && *amount >= LEAST && is_decimal;
    let rewrite = is_meant.then(|| Expression::literal(Value::Integer((amount + 1023) / 1024)))?;
    in_other_unit(name, value, *amount, ("bytes", rewrite))
}

/// The mistake that an amount of a size is in the unit `meant`, with the amount in the unit of its attribute. `None` if the
/// attribute is no size.
fn in_other_unit(name: &Name, value: &Expression, amount: i64, (meant, rewrite): (&str, Expression)) -> Option<Slip> {
    let unit = SizeUnit::of(name)?;
    #[expect(clippy::cast_precision_loss, reason = "the message rounds the amount")]
    let message = format!("{name} is in {}: this is {}", unit.symbol(), unit.readable(amount as f64));
    let help = format!("if the size is in {meant}, write {}", short_text(&rewrite, Dialect::Condor));
    Some(Slip::new(&rules::UNIT, value, message).with_help(help).with_rewrite(rewrite))
}

/// Returns a number as an integer if it is one.
fn whole_number(number: f64) -> Value {
    const MAX_EXACT: f64 = 9_007_199_254_740_992.0;
    #[expect(clippy::cast_possible_truncation, reason = "the number must be an integer and small enough")]
    if number.fract() == 0.0 && number.abs() <= MAX_EXACT { Value::Integer(number as i64) } else { Value::Real(number) }
}
