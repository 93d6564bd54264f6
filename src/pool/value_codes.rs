//! Codes of the values of ads, which are made from the texts of attributes without expression trees.
//!
//! Bench row `refs --count machines.long`: it takes 25 times as long if the codes are forgotten at each new expression.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::ad::{AdShape, Bounded, Dialect, Expression, ExpressionKind, Name, Type, Value};
use crate::eval::FunctionKind;
use crate::format::{AdText, AttributeTextReader, AttributeWriter};
use crate::syntax::{LiteralText, long_string_length};

use super::constants::{FIRST_CODE, SCALAR, SCALAR_LIST, constant_code};

/// Position of the [`ScalarKind`] in the code of a scalar, in bits. Codes are smaller.
const KIND_SHIFT: u32 = 29;

/// Length of the code of a value, in bytes.
const CODE_BYTES: usize = size_of::<u32>();

/// The bits of a code that are not those of the kind of a scalar.
const CODE_MASK: u32 = (1 << KIND_SHIFT) - 1;

/// The same of two codes in turn.
const CLASS_MASK: u64 = CODE_MASK as u64 * 0x1_0000_0001;

/// What a scalar is, as far as its text tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalarKind {
    /// Undefined or an error. Also stands for every value that is not a scalar.
    Exceptional,
    /// A boolean.
    Boolean,
    /// An integer of at most [`ScalarKind::MAX_SMALL_DIGITS`] digits.
    SmallInteger,
    /// An integer of more digits.
    LargeInteger,
    /// A real.
    Real,
    /// A string.
    String,
    /// A time.
    Time,
}

/// Reads ads as the codes of their values: that of its kind for a constant, else the code of the expression.
pub(super) struct CodeReader {
    reader: AttributeTextReader<ValueCodes>,
    /// The codes of the values of the last ad, with the kinds of scalars.
    codes: Vec<u8>,
    /// Stands for every scalar.
    scalar: Expression,
    /// Stands for every list of scalars.
    scalar_list: Expression,
}

impl CodeReader {
    /// Creates a reader of ads of a dialect. `ignores_strings` tells whether expressions share a code that differ only in
    /// strings that have no influence on references.
    pub(super) fn new(dialect: Dialect, ignores_strings: bool) -> Self {
        let writer = ValueCodes { ignores_strings, known: Bounded::default() };
        let reader = AttributeTextReader::new(dialect, writer, [""; 3]);
        let scalar = Expression::literal(Value::Undefined);
        CodeReader { reader, codes: Vec::new(), scalar, scalar_list: Expression::list(Vec::new()) }
    }

    /// Reads the first ad of a text. Returns its length and its shape. In the long form, the blank line after the ad
    /// counts. `None` if the ad cannot be read attribute by attribute.
    pub(super) fn read(&mut self, text: AdText) -> Option<(usize, Arc<AdShape>)> {
        self.reader.clear_if_large();
        self.codes.clear();
        self.reader.push_ad(text, &mut self.codes)
    }

    /// Returns the number of times that codes were forgotten. In one generation, a code always stands for the same
    /// expression, and shapes keep their addresses.
    pub(super) fn generation(&self) -> usize {
        self.reader.generation()
    }

    /// Returns the codes of the last ad without the kinds of scalars, two in each word. A single last code is in a word
    /// of its own.
    pub(super) fn words(&self) -> impl Iterator<Item = u64> {
        let (pairs, rest) = self.codes.as_chunks::<{ 2 * CODE_BYTES }>();
        let last = rest.first_chunk::<CODE_BYTES>().map(|code| u64::from(u32::from_le_bytes(*code)));
        pairs.iter().map(|pair| u64::from_le_bytes(*pair)).chain(last).map(|word| word & CLASS_MASK)
    }

    /// Returns the expression of an attribute of the last ad. `position` is its 0-based index. In place of a constant is
    /// one that stands for all of its kind.
    pub(super) fn expression(&self, position: usize) -> &Expression {
        match self.code(position) & CODE_MASK {
            SCALAR => &self.scalar,
            SCALAR_LIST => &self.scalar_list,
            code => self.reader.writer().expression(code).unwrap_or(&self.scalar),
        }
    }

    /// Reads a value of the last ad, whose text is `text`. `position` is the 0-based index of the attribute. `None` if
    /// the value has an error, which cannot be.
    pub(super) fn value(&self, text: &[u8], position: usize) -> Option<Expression> {
        self.reader.value(text, position)
    }

    /// Returns the kind of a value of the last ad. `position` is the 0-based index of the attribute.
    pub(super) fn kind(&self, position: usize) -> ScalarKind {
        ScalarKind::of_code(self.code(position))
    }

    fn code(&self, position: usize) -> u32 {
        self.codes.as_chunks().0.get(position).map_or(SCALAR, |code| u32::from_le_bytes(*code))
    }
}

impl ScalarKind {
    /// Maximum number of digits of a small integer.
    pub const MAX_SMALL_DIGITS: usize = 9;

    /// All kinds.
    pub const ALL: [ScalarKind; 7] = [
        ScalarKind::Exceptional,
        ScalarKind::Boolean,
        ScalarKind::SmallInteger,
        ScalarKind::LargeInteger,
        ScalarKind::Real,
        ScalarKind::String,
        ScalarKind::Time,
    ];

    /// Returns the kind of a literal.
    fn of_literal(literal: &LiteralText) -> Self {
        match literal.value_type {
            Type::String => ScalarKind::String,
            Type::Real => ScalarKind::Real,
            Type::Boolean => ScalarKind::Boolean,
            _ if literal.text.len() <= Self::MAX_SMALL_DIGITS => ScalarKind::SmallInteger,
            _ => ScalarKind::LargeInteger,
        }
    }

    /// Returns the kind of an expression.
    fn of(expression: &Expression) -> Self {
        match expression.as_literal() {
            None | Some(Value::Undefined | Value::Error(_) | Value::List(_) | Value::Ad(_)) => ScalarKind::Exceptional,
            Some(Value::Boolean(_)) => ScalarKind::Boolean,
            Some(Value::Integer(-999_999_999..=999_999_999)) => ScalarKind::SmallInteger,
            Some(Value::Integer(_)) => ScalarKind::LargeInteger,
            Some(Value::Real(_)) => ScalarKind::Real,
            Some(Value::String(_)) => ScalarKind::String,
            Some(Value::AbsoluteTime(_) | Value::RelativeTime(_)) => ScalarKind::Time,
        }
    }

    /// Returns the code of a scalar of this kind.
    fn code(self) -> u32 {
        SCALAR | (self as u32) << KIND_SHIFT
    }

    fn of_code(code: u32) -> Self {
        Self::ALL[(code >> KIND_SHIFT) as usize % Self::ALL.len()]
    }
}

/// Writes the code of the value of each attribute: that of its kind for a constant, else a code of its own.
struct ValueCodes {
    /// Whether expressions share a code that differ only in strings that have no influence on references.
    ignores_strings: bool,
    known: Bounded<NumberedExpressions>,
}

/// The expressions that got codes.
#[derive(Default)]
struct NumberedExpressions {
    /// The expressions with the codes from [`FIRST_CODE`] on, so that a class need not parse them again.
    expressions: Vec<Expression>,
    /// Codes by the text without the strings that have no influence.
    by_outline: FxHashMap<Box<[u8]>, u32>,
}

impl ValueCodes {
    /// Returns the expression that got a code; of several the first. `None` if the code is that of a constant.
    fn expression(&self, code: u32) -> Option<&Expression> {
        let index = usize::try_from(code.checked_sub(FIRST_CODE)?).ok()?;
        self.known.expressions.get(index)
    }

    /// Returns the code of an expression that is not a constant. `value` is its text.
    fn code(&mut self, value: &[u8], expression: &Expression) -> u32 {
        // A text that was forgotten gets another code. That only makes another class.
        let code =
            u32::try_from(self.known.expressions.len()).map_or(u32::MAX, |count| FIRST_CODE.saturating_add(count));
        if self.ignores_strings
            && let Some(outline) = outline(value).filter(|_| ignores_strings(expression))
        {
            if let Some(known) = self.known.by_outline.get(outline.as_slice()) {
                return *known;
            }
            self.known.grow(outline.len());
            self.known.by_outline.insert(outline.into(), code);
        }
        self.known.grow(value.len());
        self.known.expressions.push(expression.clone());
        code
    }
}

impl AttributeWriter for ValueCodes {
    fn push_name(&mut self, _: &[u8], _: &Name, _: &mut Vec<u8>) {}

    #[inline]
    fn push_literal(&mut self, literal: &LiteralText, out: &mut Vec<u8>) -> bool {
        out.extend_from_slice(&ScalarKind::of_literal(literal).code().to_le_bytes());
        true
    }

    fn push_value(&mut self, value: &[u8], expression: &Expression, out: &mut Vec<u8>) {
        let code = match constant_code(expression) {
            Some(SCALAR) => ScalarKind::of(expression).code(),
            Some(code) => code,
            None => self.code(value, expression),
        };
        out.extend_from_slice(&code.to_le_bytes());
    }

    fn is_full(&self) -> bool {
        self.known.is_full()
    }

    fn forget(&mut self) {
        self.known.forget();
    }
}

/// Returns a text of the long form with empty strings in place of its strings. `None` if it has other quotes, comments
/// or backslashes, which could hide where a string begins.
fn outline(value: &[u8]) -> Option<Vec<u8>> {
    let mut outline = Vec::with_capacity(value.len());
    let mut rest = value;
    while let [first, behind @ ..] = rest {
        match first {
            b'\'' | b'/' | b'\\' => return None,
            b'"' => {
                outline.extend_from_slice(b"\"\"");
                rest = &behind[long_string_length(behind)?..];
            }
            _ => {
                outline.push(*first);
                rest = behind;
            }
        }
    }
    Some(outline)
}

/// Whether the strings in an expression have no influence on its references, and on whether a call is a literal. An
/// expression is none of these if a string may be parsed, select an attribute, or stand in a list or an ad.
fn ignores_strings(expression: &Expression) -> bool {
    expression.parts().all(|part| match part.kind() {
        ExpressionKind::Subscript(..) | ExpressionKind::List(_) | ExpressionKind::Ad(_) => false,
        ExpressionKind::Call(name, arguments) => {
            let is_plain = matches!(FunctionKind::of(name), Some(FunctionKind::Strict | FunctionKind::Lazy));
            is_plain && !matches!(arguments.as_ref(), [only] if only.as_literal().is_some())
        }
        _ => true,
    })
}
