//! Deserializes documents into ads and expressions: the serde seeds and visitors.

use std::cell::{Cell, RefCell};
use std::fmt;

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, IgnoredAny, MapAccess, SeqAccess, VariantAccess, Visitor,
};

use crate::ad::{Ad, Dialect, Expression, ExpressionKind, Name, Span, Value};
use crate::syntax::{ParseOptions, SyntaxError, parse_expression};

use super::EXPRESSION;

/// Our own reason to reject a node. An error of `serde_yaml` carries only a message and the place, so the details are
/// kept here.
#[derive(Clone, Debug)]
pub struct YamlRejection {
    /// The error; its span refers to `text`.
    pub error: SyntaxError,
    /// The text of the bad expression; `None` if the node is not an expression.
    pub text: Option<String>,
    /// Index of the bad expression among the expressions of its ad.
    pub expression_index: Option<usize>,
}

/// Least absolute value, 2 to the power of 127, of integers that `serde_yaml` reads as reals.
const MIN_LARGE_REAL: f64 = 170_141_183_460_469_231_731_687_303_715_884_105_728.0;

/// Options, state and results of one reading of a document.
#[derive(Debug)]
pub struct YamlAdPass<'s> {
    pub dialect: Dialect,
    /// Indexes of elements of a sequence of ads that are skipped.
    pub skipped_elements: &'s [usize],
    /// Bad expressions that have been reported, by element and index in their ad; they are read as a dummy.
    pub tolerated_expressions: &'s [(Option<usize>, usize)],
    /// Number of expressions of the current ad read so far.
    pub expression_count: Cell<usize>,
    /// Why we ended the reading; `None` if we did not.
    pub rejection: RefCell<Option<YamlRejection>>,
    /// Index of the current element in a sequence of ads.
    pub element: Cell<Option<usize>>,
    /// Reals so large that they may be integers in the text.
    pub large_reals: RefCell<Vec<f64>>,
}

impl YamlAdPass<'_> {
    /// Rejects the current node.
    fn reject_with_help<E: Error>(&self, message: impl Into<String>, help: &str) -> E {
        let error = SyntaxError::new(Span::default(), message).with_help(help);
        self.reject(YamlRejection { error, text: None, expression_index: None })
    }

    fn reject<E: Error>(&self, objection: YamlRejection) -> E {
        let message = objection.error.message.clone();
        *self.rejection.borrow_mut() = Some(objection);
        E::custom(message)
    }

    /// Parses the text of an expression.
    fn parse<E: Error>(&self, text: &str) -> Result<Expression, E> {
        let number = self.expression_count.replace(self.expression_count.get() + 1);
        if self.tolerated_expressions.contains(&(self.element.get(), number)) {
            return Ok(Expression::new(ExpressionKind::Ad(Ad::default()), Span::default()));
        }
        parse_expression(text.as_bytes(), ParseOptions::new(self.dialect)).map_err(|error| {
            self.reject(YamlRejection { error, text: Some(text.to_owned()), expression_index: Some(number) })
        })
    }
}

/// Seed for a document: an ad, or a sequence of ads. Skipped ads are `None`.
#[derive(Clone, Copy)]
pub struct YamlDocumentSeed<'r, 's>(pub &'r YamlAdPass<'s>);

/// Seed for a value.
#[derive(Clone, Copy)]
struct YamlValueSeed<'r, 's>(&'r YamlAdPass<'s>);

/// Seed for an attribute name.
#[derive(Clone, Copy)]
struct YamlNameSeed<'r, 's>(&'r YamlAdPass<'s>);

/// Seed for the text of an expression.
#[derive(Clone, Copy)]
struct YamlExpressionSeed<'r, 's>(&'r YamlAdPass<'s>);

fn literal(value: Value) -> Expression {
    Expression::literal(value)
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

    fn visit_none<E: Error>(self) -> Result<Expression, E> {
        Ok(literal(Value::Undefined))
    }

    fn visit_unit<E: Error>(self) -> Result<Expression, E> {
        Ok(literal(Value::Undefined))
    }

    fn visit_bool<E: Error>(self, is: bool) -> Result<Expression, E> {
        Ok(literal(Value::Boolean(is)))
    }

    fn visit_i64<E: Error>(self, integer: i64) -> Result<Expression, E> {
        Ok(literal(Value::Integer(integer)))
    }

    fn visit_u64<E: Error>(self, integer: u64) -> Result<Expression, E> {
        match i64::try_from(integer) {
            Ok(integer) => self.visit_i64(integer),
            Err(_) => self.visit_u128(u128::from(integer)),
        }
    }

    fn visit_i128<E: Error>(self, integer: i128) -> Result<Expression, E> {
        Err(self.0.reject_with_help(too_large(integer), &format!("write {integer}.0 for a real")))
    }

    fn visit_u128<E: Error>(self, integer: u128) -> Result<Expression, E> {
        Err(self.0.reject_with_help(too_large(integer), &format!("write {integer}.0 for a real")))
    }

    fn visit_f64<E: Error>(self, real: f64) -> Result<Expression, E> {
        if real.is_finite() && real.abs() >= MIN_LARGE_REAL {
            self.0.large_reals.borrow_mut().push(real);
        }
        Ok(literal(Value::Real(real)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Expression, E> {
        if text.contains('\0') {
            return Err(self.0.reject_with_help("a byte of value 0 cannot stand in an ad", "leave the `\\0` out"));
        }
        Ok(literal(Value::string(text)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Expression, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = sequence.next_element_seed(self)? {
            elements.push(element);
        }
        Ok(Expression::new(ExpressionKind::List(elements.into()), Span::default()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut mapping: A) -> Result<Expression, A::Error> {
        let mut attributes = Vec::new();
        while let Some(name) = mapping.next_key_seed(YamlNameSeed(self.0))? {
            attributes.push((name, mapping.next_value_seed(self)?));
        }
        Ok(Expression::new(ExpressionKind::Ad(attributes.into_iter().collect()), Span::default()))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, tagged: A) -> Result<Expression, A::Error> {
        let (tag, content): (String, _) = tagged.variant()?;
        if tag == EXPRESSION {
            return content.newtype_variant_seed(YamlExpressionSeed(self.0));
        }
        let message = format!("there is no tag `!{tag}`");
        Err(self.0.reject_with_help(message, "`!expr` is the only one: it stands before the text of an expression"))
    }
}

fn too_large(integer: impl fmt::Display) -> String {
    format!("`{integer}` does not fit into 64 bits")
}

impl<'de> DeserializeSeed<'de> for YamlExpressionSeed<'_, '_> {
    type Value = Expression;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Expression, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for YamlExpressionSeed<'_, '_> {
    type Value = Expression;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the text of an expression")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Expression, E> {
        self.0.parse(text)
    }
}

impl<'de> DeserializeSeed<'de> for YamlNameSeed<'_, '_> {
    type Value = Name;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Name, D::Error> {
        // `1` and `true` are names like any other, whatever their type in YAML.
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for YamlNameSeed<'_, '_> {
    type Value = Name;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Name, E> {
        let name = Name::new(text);
        if text.is_empty() {
            return Err(self
                .0
                .reject_with_help("a name cannot be empty", "each value of a mapping has a name: `name: value`"));
        }
        if text.contains('\0') {
            return Err(self.0.reject_with_help("a byte of value 0 cannot stand in an ad", "leave the `\\0` out"));
        }
        if self.0.dialect == Dialect::Classad && name.is_reserved() {
            let message = format!("`{name}` is reserved and cannot name an attribute");
            return Err(self.0.reject_with_help(message, "HTCondor allows it: --dialect condor"));
        }
        Ok(name)
    }
}

impl<'de> DeserializeSeed<'de> for YamlDocumentSeed<'_, '_> {
    type Value = Vec<Option<Ad>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for YamlDocumentSeed<'_, '_> {
    type Value = Vec<Option<Ad>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mapping of names to values, or a sequence of such")
    }

    fn visit_none<E: Error>(self) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }

    fn visit_map<A: MapAccess<'de>>(self, mapping: A) -> Result<Self::Value, A::Error> {
        YamlAdSeed(self.0).visit_map(mapping).map(|ad| vec![Some(ad)])
    }

    fn visit_enum<A: EnumAccess<'de>>(self, tagged: A) -> Result<Self::Value, A::Error> {
        YamlAdSeed(self.0).visit_enum(tagged).map(|ad| vec![Some(ad)])
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
                let Some(ad) = sequence.next_element_seed(YamlAdSeed(self.0))? else { return Ok(ads) };
                ads.push(Some(ad));
            }
        }
    }
}

/// Seed for a node that must be an ad.
#[derive(Clone, Copy)]
struct YamlAdSeed<'r, 's>(&'r YamlAdPass<'s>);

impl<'de> DeserializeSeed<'de> for YamlAdSeed<'_, '_> {
    type Value = Ad;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Ad, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for YamlAdSeed<'_, '_> {
    type Value = Ad;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mapping of names to values")
    }

    fn visit_unit<E: Error>(self) -> Result<Ad, E> {
        Err(self.no_ad())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Ad, E> {
        Err(self.no_ad())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Ad, E> {
        Err(self.no_ad())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Ad, E> {
        Err(self.no_ad())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Ad, E> {
        Err(self.no_ad())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Ad, E> {
        Err(self.no_ad())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<Ad, A::Error> {
        Err(self.no_ad())
    }

    fn visit_map<A: MapAccess<'de>>(self, mapping: A) -> Result<Ad, A::Error> {
        self.ad(&YamlValueSeed(self.0).visit_map(mapping)?)
    }

    fn visit_enum<A: EnumAccess<'de>>(self, tagged: A) -> Result<Ad, A::Error> {
        self.ad(&YamlValueSeed(self.0).visit_enum(tagged)?)
    }
}

impl YamlAdSeed<'_, '_> {
    /// Returns the ad of an ad expression.
    fn ad<E: Error>(self, expression: &Expression) -> Result<Ad, E> {
        match expression.kind() {
            ExpressionKind::Ad(ad) => Ok(ad.clone()),
            _ => Err(self.no_ad()),
        }
    }

    fn no_ad<E: Error>(self) -> E {
        self.0.reject_with_help("this is no ad", "an ad is a mapping of names to values")
    }
}
