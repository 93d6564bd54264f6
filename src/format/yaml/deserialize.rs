//! Deserialization of documents into ads and expressions: the seeds and visitors of serde.

use std::cell::{Cell, RefCell};
use std::fmt;

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, IgnoredAny, MapAccess, SeqAccess, VariantAccess, Visitor,
};

use crate::ad::{Ad, Dialect, Expression, ExpressionKind, Name, Span, Value};
use crate::syntax::{ParseOptions, SyntaxError, parse_expression};

use super::EXPRESSION;
use super::visit::{YamlScalar, visit_scalars};

/// Why this module rejects a document. An error of `serde_yaml` has only a message and a position, so the details are
/// kept here.
#[derive(Clone, Debug)]
pub struct YamlRejection {
    /// The error. Its span counts from the beginning of `text`.
    pub error: Box<SyntaxError>,
    /// The text of the bad expression. `None` if something other than an expression is bad.
    pub text: Option<String>,
    /// Index of the bad expression among the expressions of its ad. `None` if something other than an expression is
    /// bad.
    pub expression_index: Option<usize>,
}

/// Least absolute value of the integers that `serde_yaml` reads as reals: 2 to the power of 127.
const MIN_LARGE_REAL: f64 = 170_141_183_460_469_231_731_687_303_715_884_105_728.0;

/// One reading of a document: its options, state and results.
#[derive(Debug, Default)]
pub struct YamlAdPass<'s> {
    pub dialect: Dialect,
    /// Indexes of the bad ads in a sequence of ads. They are skipped, because they have been reported.
    pub skipped_elements: &'s [usize],
    /// Bad expressions that have been reported, so each is read as an empty ad instead. The first number is the index
    /// of the ad in a sequence of ads, the second the index of the expression in the ad.
    pub tolerated_expressions: &'s [(Option<usize>, usize)],
    /// Number of expressions of the current ad read so far.
    pub expression_count: Cell<usize>,
    /// Why this module ended the reading; `None` if it has not.
    pub rejection: RefCell<Option<YamlRejection>>,
    /// Index of the current ad in a sequence of ads; `None` if the document is not a sequence.
    pub element: Cell<Option<usize>>,
    /// Number of bytes that the document may still give, counting what aliases repeat.
    pub bytes_left: Cell<usize>,
    /// The reals of the document that are at least `MIN_LARGE_REAL` in absolute value. Such a real may be an integer
    /// in the document. The integer must be reported, because it does not fit into 64 bits.
    pub large_reals: RefCell<Vec<f64>>,
}

/// Maximum number of bytes that aliases may add to a document. Without it, a list of a hundred thousand elements that is
/// repeated a hundred thousand times would fill the memory.
pub const MAX_REPEATED_BYTES: usize = 1 << 20;

impl YamlAdPass<'_> {
    /// Returns the number of bytes that a document may give. An escape such as `\L` gives more bytes than it has.
    pub fn max_bytes(text: &[u8]) -> usize {
        2 * text.len() + MAX_REPEATED_BYTES
    }

    /// Counts a node with a text of `length` bytes. Rejects the document if aliases repeat too much.
    fn count_node(&self, length: usize) -> Result<(), YamlRejection> {
        let left = self.bytes_left.get().checked_sub(length + 1).ok_or_else(|| {
            let message = format!("aliases repeat more than {MAX_REPEATED_BYTES} bytes");
            // No ad and no expression alone is to blame.
            self.element.set(None);
            YamlRejection::new(message, "write the values out instead of using aliases")
        })?;
        self.bytes_left.set(left);
        Ok(())
    }

    /// Stores the reason in `rejection` and returns an error. The error ends the reading.
    fn reject<E: Error>(&self, rejection: YamlRejection) -> E {
        let message = rejection.error.message.clone();
        *self.rejection.borrow_mut() = Some(rejection);
        E::custom(message)
    }

    /// Parses the text of an expression. Returns an empty ad if the expression is one of `tolerated_expressions`.
    fn parse_expression(&self, text: &str) -> Result<Expression, YamlRejection> {
        let number = self.expression_count.replace(self.expression_count.get() + 1);
        if self.tolerated_expressions.contains(&(self.element.get(), number)) {
            return Ok(Expression::new(ExpressionKind::Ad(Ad::default()), Span::default()));
        }
        parse_expression(text.as_bytes(), ParseOptions::new(self.dialect)).map_err(|error| YamlRejection {
            error: Box::new(error),
            text: Some(text.to_owned()),
            expression_index: Some(number),
        })
    }

    /// Converts text to a name. Rejects an empty name, a byte of value 0, and a name that the dialect reserves.
    fn read_name(&self, text: &str) -> Result<Name, YamlRejection> {
        let name = Name::new(text);
        if text.is_empty() {
            let help = "each value of a mapping has a name: `name: value`";
            return Err(YamlRejection::new("a name cannot be empty", help));
        }
        reject_nul(text)?;
        if self.dialect == Dialect::Classad && name.is_reserved() {
            let message = format!("`{name}` is a reserved word, not an attribute name");
            return Err(YamlRejection::new(message, "HTCondor allows it: --dialect condor"));
        }
        Ok(name)
    }

    /// Returns the value of a scalar. If the value is a very large real, adds it to `large_reals`.
    fn value(&self, scalar: YamlScalar) -> Result<Value, YamlRejection> {
        Ok(match scalar {
            YamlScalar::Null => Value::Undefined,
            YamlScalar::Boolean(is) => Value::Boolean(is),
            YamlScalar::Integer(integer) => Value::Integer(integer),
            YamlScalar::LargeInteger(integer) => {
                let message = format!("`{integer}` does not fit into a signed 64-bit integer");
                return Err(YamlRejection::new(message, &format!("write {integer}.0 for a real")));
            }
            YamlScalar::Real(real) => {
                if real.is_finite() && real.abs() >= MIN_LARGE_REAL {
                    self.large_reals.borrow_mut().push(real);
                }
                Value::Real(real)
            }
            YamlScalar::Text(text) => {
                reject_nul(text)?;
                Value::string(text)
            }
        })
    }
}

impl YamlRejection {
    fn new(message: impl Into<String>, help: &str) -> Self {
        let error = SyntaxError::new(Span::default(), message).with_help(help);
        YamlRejection { error: Box::new(error), text: None, expression_index: None }
    }

    fn no_ad() -> Self {
        YamlRejection::new("this is not an ad", "an ad is a mapping of names to values")
    }
}

fn reject_nul(text: &str) -> Result<(), YamlRejection> {
    if text.contains('\0') {
        return Err(YamlRejection::new("an ad cannot contain a byte of value 0", "leave the `\\0` out"));
    }
    Ok(())
}

/// Visitor of a document, which is an ad or a sequence of ads. Returns the ads, with `None` for each skipped ad.
#[derive(Clone, Copy)]
pub struct YamlDocumentVisitor<'r, 's>(pub &'r YamlAdPass<'s>);

impl<'r, 's> YamlDocumentVisitor<'r, 's> {
    fn ad_seed(self) -> YamlValueSeed<'r, 's> {
        YamlValueSeed { pass: self.0, must_be_ad: true }
    }
}

/// Returns the ad if an expression is an ad; `None` for other expressions.
fn ad_of(expression: &Expression) -> Option<Ad> {
    match expression.kind() {
        ExpressionKind::Ad(ad) => Some(ad.clone()),
        _ => None,
    }
}

impl<'de> Visitor<'de> for YamlDocumentVisitor<'_, '_> {
    type Value = Vec<Option<Ad>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mapping of names to values, or a sequence of such mappings")
    }

    fn visit_none<E: Error>(self) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }

    fn visit_map<A: MapAccess<'de>>(self, mapping: A) -> Result<Self::Value, A::Error> {
        self.ad_seed().visit_map(mapping).map(|ad| vec![ad_of(&ad)])
    }

    fn visit_enum<A: EnumAccess<'de>>(self, tagged: A) -> Result<Self::Value, A::Error> {
        self.ad_seed().visit_enum(tagged).map(|ad| vec![ad_of(&ad)])
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Self::Value, A::Error> {
        let mut ads = Vec::new();
        loop {
            self.0.element.set(Some(ads.len()));
            self.0.expression_count.set(0);
            if self.0.skipped_elements.contains(&ads.len()) {
                let Some(IgnoredAny) = sequence.next_element()? else { return Ok(ads) };
                ads.push(None);
            } else {
                let Some(ad) = sequence.next_element_seed(self.ad_seed())? else { return Ok(ads) };
                ads.push(ad_of(&ad));
            }
        }
    }
}

/// Seed of serde for an ad, or for a value in an ad.
#[derive(Clone, Copy)]
struct YamlValueSeed<'r, 's> {
    pass: &'r YamlAdPass<'s>,
    /// Whether only an ad is accepted, and every other value is rejected.
    must_be_ad: bool,
}

impl YamlValueSeed<'_, '_> {
    fn scalar<E: Error>(self, scalar: YamlScalar) -> Result<Expression, E> {
        let length = if let YamlScalar::Text(text) = scalar { text.len() } else { 0 };
        let read = if self.must_be_ad { Err(YamlRejection::no_ad()) } else { self.pass.value(scalar) };
        let counted = read.and_then(|value| self.pass.count_node(length).map(|()| value));
        counted.map(Expression::literal).map_err(|rejection| self.pass.reject(rejection))
    }
}

impl<'de> DeserializeSeed<'de> for YamlValueSeed<'_, '_> {
    type Value = Expression;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Expression, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for YamlValueSeed<'_, '_> {
    type Value = Expression;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value, a list, an ad or an expression")
    }

    visit_scalars!();

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Expression, A::Error> {
        if self.must_be_ad {
            return Err(self.pass.reject(YamlRejection::no_ad()));
        }
        self.pass.count_node(0).map_err(|rejection| self.pass.reject(rejection))?;
        let mut elements = Vec::new();
        while let Some(element) = sequence.next_element_seed(self)? {
            elements.push(element);
        }
        Ok(Expression::new(ExpressionKind::List(elements.into()), Span::default()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut mapping: A) -> Result<Expression, A::Error> {
        let name = || YamlTextSeed { pass: self.pass, expected: "a name", read: YamlAdPass::read_name };
        let value = YamlValueSeed { must_be_ad: false, ..self };
        self.pass.count_node(0).map_err(|rejection| self.pass.reject(rejection))?;
        let mut attributes = Vec::new();
        while let Some(name) = mapping.next_key_seed(name())? {
            attributes.push((name, mapping.next_value_seed(value)?));
        }
        Ok(Expression::new(ExpressionKind::Ad(attributes.into_iter().collect()), Span::default()))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, tagged: A) -> Result<Expression, A::Error> {
        let (tag, content): (String, _) = tagged.variant()?;
        if tag != EXPRESSION {
            let help = "the only tag is `!expr`, before the text of an expression";
            return Err(self.pass.reject(YamlRejection::new(format!("there is no tag `!{tag}`"), help)));
        }
        let (expected, read) = ("the text of an expression", YamlAdPass::parse_expression);
        let expression = content.newtype_variant_seed(YamlTextSeed { pass: self.pass, expected, read })?;
        if self.must_be_ad && ad_of(&expression).is_none() {
            return Err(self.pass.reject(YamlRejection::no_ad()));
        }
        Ok(expression)
    }
}

/// Seed of serde for a scalar that is read as text. The type of the scalar in YAML does not matter, so `1` and `true`
/// can be names.
struct YamlTextSeed<'r, 's, T> {
    pass: &'r YamlAdPass<'s>,
    /// What is expected in place of a wrong node, for messages: "a name", for example.
    expected: &'static str,
    read: fn(&YamlAdPass<'s>, &str) -> Result<T, YamlRejection>,
}

impl<'de, T> DeserializeSeed<'de> for YamlTextSeed<'_, '_, T> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<T> Visitor<'_> for YamlTextSeed<'_, '_, T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        let counted = self.pass.count_node(text.len()).and_then(|()| (self.read)(self.pass, text));
        counted.map_err(|rejection| self.pass.reject(rejection))
    }
}
