//! Memo by class of ads, which is found from the texts of attributes without expression trees.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHasher};

use crate::ad::{Ad, AdShape, Dialect, Expression, ExpressionKind, Name, Type, Value};
use crate::eval::FunctionKind;
use crate::format::{AdText, AttributeTextReader, AttributeWriter};
use crate::syntax::{long_string_length, quoted_literal, simple_literal_type};

use super::ad_memo::{FIRST_CODE, SCALAR, constant_code};

/// Maximum total length of the keys of the classes and of the texts of expressions, in bytes. More make the memo forget
/// all.
const MAX_KEY_BYTES: usize = 4 << 20;

/// Maximum number of codes. More make the memo forget all before the next ad.
const MAX_CODES: u32 = 1 << 28;

/// Position of the [`ScalarKind`] in the code of a scalar, in bits. Codes are smaller.
const KIND_SHIFT: u32 = 29;

/// Length of the code of a value, in bytes.
const CODE_BYTES: usize = size_of::<u32>();

/// The bits of two codes in turn that are not those of the kind of a scalar.
const CLASS_MASK: u64 = ((1 << KIND_SHIFT) - 1) * 0x1_0000_0001;

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

/// Remembers something for each class of ads.
///
/// Ads of one class have the same names and the same expressions, but other constants. The class of an ad is found from
/// the shape and the texts of its attributes: each value has a code. Of the first ad of a class, only the values are read
/// that are not scalars.
pub struct AdTextMemo<R> {
    reader: AttributeTextReader<ValueCodes>,
    /// The generation of the numbers of names in `classes`.
    generation: usize,
    /// The classes by their hashes. Different classes with one hash are rare.
    classes: FxHashMap<u64, Vec<KnownClass<R>>>,
    /// Total length of the codes of `classes`, in bytes.
    key_bytes: usize,
    /// The codes of the values of the last ad, with the kinds of scalars.
    codes: Vec<u8>,
    /// Stands for every value that is a scalar.
    scalar: Expression,
}

/// A class of ads, and what is remembered for it.
struct KnownClass<R> {
    /// The names. They are kept so that no other shape gets the address of this one.
    shape: Arc<AdShape>,
    /// The codes of the values, as [`class_words`] returns them.
    words: Box<[u64]>,
    remembered: R,
}

/// What is remembered for the class of an ad, and the values of the ad.
pub struct TextClass<'m, R> {
    /// Length of the text of the ad, in bytes. In the long form, the blank line after the ad counts.
    pub length: usize,
    /// What is remembered.
    pub class: &'m mut R,
    text: &'m [u8],
    codes: &'m [u8],
    reader: &'m AttributeTextReader<ValueCodes>,
}

impl<R> AdTextMemo<R> {
    /// Creates an empty memo for ads of a dialect.
    #[must_use]
    pub fn new(dialect: Dialect) -> Self {
        Self::with_codes(dialect, ValueCodes::new(false))
    }

    /// Creates an empty memo for what depends only on the references of ads. In calls such as
    /// `stringListMember(Owner, "a,b")`, ads of one class may have other strings.
    #[must_use]
    pub fn for_references(dialect: Dialect) -> Self {
        Self::with_codes(dialect, ValueCodes::new(true))
    }

    fn with_codes(dialect: Dialect, codes: ValueCodes) -> Self {
        AdTextMemo {
            reader: AttributeTextReader::new(dialect, codes, [""; 3]),
            generation: 0,
            classes: FxHashMap::default(),
            key_bytes: 0,
            codes: Vec::new(),
            scalar: Expression::literal(Value::Undefined),
        }
    }

    /// Returns what is remembered for the class of the first ad of a text. `None` if the ad cannot be read attribute by
    /// attribute.
    ///
    /// Calls `make` for the first ad of a class. Its argument is an ad of the class, whose scalars are all undefined.
    pub fn class<'m>(&'m mut self, text: AdText<'m>, make: impl FnOnce(&Ad) -> R) -> Option<TextClass<'m, R>> {
        let codes = self.reader.writer();
        let is_full = self.key_bytes + codes.text_bytes > MAX_KEY_BYTES || codes.next() > MAX_CODES;
        self.reader.clear_if_large(is_full);
        self.codes.clear();
        let (length, shape) = self.reader.push_ad(text, &mut self.codes)?;
        if self.reader.generation() != self.generation {
            self.generation = self.reader.generation();
            self.classes.clear();
            self.key_bytes = 0;
        }
        let AdTextMemo { reader, classes, codes, scalar, .. } = self;
        let known = classes.entry(class_hash(&shape, codes)).or_default();
        let place = if let Some(place) = known.iter().position(|class| class.has(&shape, codes)) {
            place
        } else {
            let value = |position| match code_at(codes, position) {
                code if is_scalar(code) => Some(scalar.clone()),
                code => reader.writer().expression(code).or_else(|| reader.value(text.bytes, position)),
            };
            let expressions = (0..shape.names().len()).map(value).collect::<Option<_>>()?;
            let remembered = make(&Ad::from_shape(Arc::clone(&shape), expressions));
            let words: Box<[u64]> = class_words(codes).collect();
            self.key_bytes += size_of_val(&*words);
            known.push(KnownClass { shape, words, remembered });
            known.len() - 1
        };
        let class = &mut known[place].remembered;
        Some(TextClass { length, class, text: text.bytes, codes, reader })
    }
}

impl<R> TextClass<'_, R> {
    /// Returns the value of an attribute of the ad. `position` is its 0-based index. `None` if the value has an error,
    /// which cannot be.
    #[must_use]
    pub fn value(&self, position: usize) -> Option<Expression> {
        self.reader.value(self.text, position)
    }

    /// Returns the kind of the value of an attribute of the ad. `position` is its 0-based index.
    #[must_use]
    pub fn kind(&self, position: usize) -> ScalarKind {
        ScalarKind::of_code(code_at(self.codes, position))
    }
}

/// Returns a code of a value of the ad.
fn code_at(codes: &[u8], position: usize) -> u32 {
    codes.as_chunks().0.get(position).map_or(SCALAR, |code| u32::from_le_bytes(*code))
}

/// Whether a code is that of a scalar of any kind.
fn is_scalar(code: u32) -> bool {
    u64::from(code) & CLASS_MASK == u64::from(SCALAR)
}

/// Returns the codes of an ad without the kinds of scalars, two in each word. A single last code is in a word of its own.
fn class_words(codes: &[u8]) -> impl Iterator<Item = u64> {
    let (pairs, rest) = codes.as_chunks::<{ 2 * CODE_BYTES }>();
    let last = rest.first_chunk::<CODE_BYTES>().map(|code| u64::from(u32::from_le_bytes(*code)));
    pairs.iter().map(|pair| u64::from_le_bytes(*pair)).chain(last).map(|word| word & CLASS_MASK)
}

fn class_hash(shape: &Arc<AdShape>, codes: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    Arc::as_ptr(shape).hash(&mut hasher);
    class_words(codes).for_each(|word| hasher.write_u64(word));
    hasher.finish()
}

impl<R> KnownClass<R> {
    /// Whether an ad with this shape and these codes is in the class.
    fn has(&self, shape: &Arc<AdShape>, codes: &[u8]) -> bool {
        Arc::ptr_eq(&self.shape, shape) && class_words(codes).eq(self.words.iter().copied())
    }
}

impl ScalarKind {
    /// Maximum number of digits of a small integer.
    pub const MAX_SMALL_DIGITS: usize = 9;

    const ALL: [ScalarKind; 7] = [
        ScalarKind::Exceptional,
        ScalarKind::Boolean,
        ScalarKind::SmallInteger,
        ScalarKind::LargeInteger,
        ScalarKind::Real,
        ScalarKind::String,
        ScalarKind::Time,
    ];

    /// Returns the kind of a simple literal. `None` if the text is not one.
    fn of_literal(text: &[u8]) -> Option<Self> {
        Some(match simple_literal_type(text) {
            Some(Type::String) => ScalarKind::String,
            Some(Type::Real) => ScalarKind::Real,
            Some(Type::Boolean) => ScalarKind::Boolean,
            Some(_) if text.trim_ascii().len() <= Self::MAX_SMALL_DIGITS => ScalarKind::SmallInteger,
            Some(_) => ScalarKind::LargeInteger,
            None => quoted_literal(text).map(|_| ScalarKind::String)?,
        })
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
    /// The expressions with the codes from [`FIRST_CODE`] on, so that a class need not parse them again.
    expressions: Vec<Expression>,
    /// Codes by the text without the strings that have no influence.
    by_outline: FxHashMap<Box<[u8]>, u32>,
    /// Total length of the texts of `expressions` and `by_outline`, in bytes.
    text_bytes: usize,
}

impl ValueCodes {
    fn new(ignores_strings: bool) -> Self {
        ValueCodes { ignores_strings, expressions: Vec::new(), by_outline: FxHashMap::default(), text_bytes: 0 }
    }

    /// Returns the code that is given next.
    fn next(&self) -> u32 {
        u32::try_from(self.expressions.len()).map_or(u32::MAX, |count| FIRST_CODE.saturating_add(count))
    }

    /// Returns the expression that got a code; of several the first. `None` if the code is that of a constant.
    fn expression(&self, code: u32) -> Option<Expression> {
        let index = usize::try_from(code.checked_sub(FIRST_CODE)?).ok()?;
        self.expressions.get(index).cloned()
    }

    /// Returns the code of an expression that is not a constant. `value` is its text.
    fn code(&mut self, value: &[u8], expression: &Expression) -> u32 {
        // A text that was forgotten gets another code. That only makes another class.
        let code = self.next();
        if self.ignores_strings
            && let Some(outline) = outline(value).filter(|_| ignores_strings(expression))
        {
            if let Some(known) = self.by_outline.get(outline.as_slice()) {
                return *known;
            }
            self.text_bytes += outline.len();
            self.by_outline.insert(outline.into(), code);
        }
        self.text_bytes += value.len();
        self.expressions.push(expression.clone());
        code
    }
}

impl AttributeWriter for ValueCodes {
    fn push_name(&mut self, _: &[u8], _: &Name, _: &mut Vec<u8>) {}

    fn push_simple_literal(&mut self, value: &[u8], out: &mut Vec<u8>) -> bool {
        let Some(kind) = ScalarKind::of_literal(value) else { return false };
        out.extend_from_slice(&kind.code().to_le_bytes());
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

    fn forget(&mut self) {
        *self = ValueCodes::new(self.ignores_strings);
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
    let mut pending = vec![expression];
    while let Some(expression) = pending.pop() {
        match expression.kind() {
            ExpressionKind::Subscript(..) | ExpressionKind::List(_) | ExpressionKind::Ad(_) => return false,
            ExpressionKind::Call(name, arguments) => {
                let is_plain = matches!(FunctionKind::of(name), Some(FunctionKind::Strict | FunctionKind::Lazy));
                if !is_plain || matches!(arguments.as_ref(), [only] if only.as_literal().is_some()) {
                    return false;
                }
            }
            _ => {}
        }
        expression.kind().for_each_child(|child| pending.push(child));
    }
    true
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::AdTextMemo;
    use crate::ad::{Ad, Dialect};
    use crate::eval::{Context, Environment, references_of_all};
    use crate::format::testing::attribute_block;
    use crate::format::{AdText, BlockAds, BlockItem, FileFormat, ReadCache, StreamBlock};

    /// The references of an ad, as a text.
    fn references(ad: &Ad) -> String {
        let (environment, frame) = Environment::single(ad.clone());
        let expressions = ad.iter().map(|attribute| attribute.expression);
        format!("{:?}", references_of_all(expressions, &frame, &environment, &Context::new(Dialect::Condor)))
    }

    /// The references of each ad of a text or its problem, and the number of ads for which references were made.
    fn remembered(memo: &mut AdTextMemo<String>, block: &StreamBlock) -> (Vec<String>, usize) {
        let mut cache = ReadCache::new(Dialect::Condor);
        let mut ads = BlockAds::new(block, &mut cache);
        let (mut found, mut made, mut class) = (Vec::new(), 0, String::new());
        loop {
            let take = |text: AdText| {
                let found = memo.class(text, |ad| {
                    made += 1;
                    references(ad)
                })?;
                class.clone_from(found.class);
                Some(found.length)
            };
            let Some(item) = ads.next(take) else { return (found, made) };
            found.push(match item {
                BlockItem::Taken(_) => class.clone(),
                BlockItem::Read(Ok(entry)) => references(&entry.ad),
                BlockItem::Read(Err(problem)) => format!("{problem:?}"),
            });
        }
    }

    #[test]
    fn the_class_does_not_depend_on_constants() {
        let ad = |constant: &str, list: &str, owners: &str| {
            format!("a = {constant}\nb = {list}\nc = stringListMember(TARGET.Owner, \"{owners}\") && a > 1\n\n")
        };
        let long = |text: String| StreamBlock::from_complete_text(text, FileFormat::Long);
        let same = [ad("1", "{ 1 }", "x"), ad("\"y\"", "{ 2, \"z\" }", "y,z"), ad("undefined", "{}", "")];
        let mut memo = AdTextMemo::for_references(Dialect::Condor);
        assert_eq!(remembered(&mut memo, &long(same.concat())).1, 1);
        assert_eq!(remembered(&mut memo, &long(same.concat())).1, 0);
        for other in ["1 + 2", "eval(\"x\")", "eval(\"y\")", "a[\"x\"]", "a[\"y\"]", "real(\"INF\")", "real(\"1\")"] {
            assert_eq!(
                remembered(&mut memo, &long(ad(other, "{ 1 }", "x"))).1,
                usize::from(!other.contains("INF")),
                "{other}"
            );
        }
    }

    proptest! {
        #[test]
        fn ads_of_one_class_have_the_same_references(
            blocks in prop::collection::vec(
                attribute_block(&[
                    "1", "2.50", "\"x\"", "TRUE", "undefined", "a + 1", "A+2", "{ 1, 2 }", "{ 1, a }", "[ x = b ]", "1 +",
                    "stringListMember(TARGET.b, \"x\")", "stringListMember(TARGET.b, \"y\")", "member(TARGET.b, \"x\")", "member(TARGET.b, \"y\")", "strcat(\"b\", a)", "strcat(\"b,\\\"\", a)",
                    "eval(\"a\")", "eval(\"b\")", "a[\"x\"]", "a[\"b\"]", "TARGET[\"b\"]", "real(\"INF\")", "real(\"1\")",
                    "size(\"b\")", "f(\"x\", b)", "'a\"b' + c(1, \"x\")", "strcat(a, \"x\") /* \" */", "MY.b",
                ]),
                1..4,
            ),
        ) {
            let mut memo = AdTextMemo::for_references(Dialect::Condor);
            for block in &blocks {
                let expected = block.ads(Dialect::Condor).map(|item| match item {
                    Ok(entry) => references(&entry.ad),
                    Err(problem) => format!("{problem:?}"),
                });
                prop_assert_eq!(remembered(&mut memo, block).0, expected.collect::<Vec<_>>());
            }
        }
    }
}
