//! Memo by class of ads, which is found from the texts of attributes without expression trees.

use rustc_hash::FxHashMap;

use crate::ad::{Ad, Dialect, Expression, ExpressionKind, Name};
use crate::eval::FunctionKind;
use crate::format::{AdText, AttributeTextReader, AttributeWriter};
use crate::syntax::{is_simple_literal, long_string_length, quoted_literal};

use super::ad_memo::{FIRST_CODE, SCALAR, constant_code};

/// Maximum total length of the keys of the classes and of the texts of expressions, in bytes. More make the memo forget
/// all.
const MAX_KEY_BYTES: usize = 4 << 20;

/// Maximum number of codes. More make the memo forget all before the next ad.
const MAX_CODES: u32 = 1 << 30;

/// Length of the code of a value in the key of a class, in bytes.
const CODE_BYTES: usize = size_of::<u32>();

/// Remembers something that depends on the references of ads for each class of ads.
///
/// Ads of one class have the same names and the same expressions, but other constants and other strings in calls such
/// as
/// `stringListMember(Owner, "a,b")`. The class of an ad is found from the texts of its attributes. Its key has the
/// code of each value and the name. Of the first ad of a class, only the values are read that are not scalars.
pub struct AdTextMemo<R> {
    reader: AttributeTextReader<ValueCodes>,
    /// The generation of the numbers of names in `classes`.
    generation: usize,
    classes: FxHashMap<Box<[u8]>, R>,
    /// Total length of the keys of `classes`, in bytes.
    key_bytes: usize,
    /// The key of the last ad.
    key: Vec<u8>,
    /// Stands for every value that is a scalar.
    scalar: Expression,
}

impl<R> AdTextMemo<R> {
    /// Creates an empty memo for ads of a dialect.
    #[must_use]
    pub fn new(dialect: Dialect) -> Self {
        AdTextMemo {
            reader: AttributeTextReader::new(dialect, ValueCodes::new(), [""; 3]),
            generation: 0,
            classes: FxHashMap::default(),
            key_bytes: 0,
            key: Vec::new(),
            scalar: Expression::literal(false),
        }
    }

    /// Returns what is remembered for the class of the first ad of a text, and the length of the ad, with the blank
    /// line behind it in the long form. `None` if the ad cannot be read attribute by attribute.
    ///
    /// Calls `make` for the first ad of a class. Its argument is an ad of the class, whose scalars are all `false`.
    pub fn class(&mut self, text: AdText, make: impl FnOnce(&Ad) -> R) -> Option<(usize, &R)> {
        let codes = self.reader.writer();
        let is_full = self.key_bytes + codes.outline_bytes > MAX_KEY_BYTES || codes.next > MAX_CODES;
        self.reader.clear_if_large(is_full);
        self.key.clear();
        let (length, shape) = self.reader.push_ad(text, &mut self.key)?;
        if self.reader.generation() != self.generation {
            self.generation = self.reader.generation();
            self.classes.clear();
            self.key_bytes = 0;
        }
        let names = self.reader.names();
        for number in names {
            self.key.extend_from_slice(&u32::try_from(*number).ok()?.to_le_bytes());
        }
        if !self.classes.contains_key(self.key.as_slice()) {
            let is_scalar = |position: usize| self.key[position * CODE_BYTES..].starts_with(&SCALAR.to_le_bytes());
            let value = |position| {
                if is_scalar(position) {
                    return Some(self.scalar.clone());
                }
                self.reader.value(text.bytes, position)
            };
            let expressions = (0..names.len()).map(value).collect::<Option<_>>()?;
            let remembered = make(&Ad::from_shape(shape, expressions));
            self.key_bytes += self.key.len();
            self.classes.insert(self.key.as_slice().into(), remembered);
        }
        Some((length, self.classes.get(self.key.as_slice())?))
    }
}

/// Writes the code of the value of each attribute: that of its kind for a constant, else a code of its own. Expressions
/// that differ only in strings that have no influence on references share a code.
struct ValueCodes {
    /// The code that is given next.
    next: u32,
    /// Codes by the text without the strings that have no influence.
    by_outline: FxHashMap<Box<[u8]>, u32>,
    /// Total length of the texts of `by_outline`, in bytes.
    outline_bytes: usize,
}

impl ValueCodes {
    fn new() -> Self {
        ValueCodes { next: FIRST_CODE, by_outline: FxHashMap::default(), outline_bytes: 0 }
    }

    /// Returns the code of an expression that is not a constant. `value` is its text.
    fn code(&mut self, value: &[u8], expression: &Expression) -> u32 {
        // A text that was forgotten gets another code. That only makes another class.
        let code = self.next;
        self.next += 1;
        let Some(outline) = outline(value).filter(|_| ignores_strings(expression)) else { return code };
        if let Some(known) = self.by_outline.get(outline.as_slice()) {
            return *known;
        }
        self.outline_bytes += outline.len();
        self.by_outline.insert(outline.into(), code);
        code
    }
}

impl AttributeWriter for ValueCodes {
    fn push_name(&mut self, _: &[u8], _: &Name, _: &mut Vec<u8>) {}

    fn push_simple_literal(&mut self, value: &[u8], out: &mut Vec<u8>) -> bool {
        let is_simple = is_simple_literal(value) || quoted_literal(value).is_some();
        if is_simple {
            out.extend_from_slice(&SCALAR.to_le_bytes());
        }
        is_simple
    }

    fn push_value(&mut self, value: &[u8], expression: &Expression, out: &mut Vec<u8>) {
        let code = constant_code(expression).unwrap_or_else(|| self.code(value, expression));
        out.extend_from_slice(&code.to_le_bytes());
    }

    fn forget(&mut self) {
        *self = ValueCodes::new();
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
                let (length, references) = memo.class(text, |ad| {
                    made += 1;
                    references(ad)
                })?;
                class.clone_from(references);
                Some(length)
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
        let mut memo = AdTextMemo::new(Dialect::Condor);
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
            let mut memo = AdTextMemo::new(Dialect::Condor);
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
