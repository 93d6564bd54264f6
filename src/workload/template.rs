//! Templates and builders of generated ads. They take names and parsed expression texts from a cache.
//!
//! The cache has no bench row: making a pool takes 1.5 times as many instructions without it.

use crate::ad::{Ad, Bounded, Dialect, Expression, Name, Value};
use crate::format::{FileFormat, read};
use crate::syntax::{ParseOptions, parse_expression};
use rustc_hash::FxHashMap;

/// Template for the ads of one kind: the attributes that all of them share, and a cache of names and parsed texts.
#[derive(Default)]
pub struct AdTemplate {
    common: Vec<(Name, Expression)>,
    names: FxHashMap<&'static str, Name>,
    texts: Bounded<FxHashMap<String, Expression>>,
}

impl AdTemplate {
    /// Creates a template with the attributes of `common`, which is an ad in the long form.
    pub fn new(common: &str) -> Self {
        let ads = read(common.as_bytes(), FileFormat::Long, Dialect::Condor).flatten();
        let common = ads.map(|entry| entry.ad).next().unwrap_or_default();
        let pairs = common.iter().map(|attribute| (attribute.name.clone(), attribute.expression.clone()));
        AdTemplate { common: pairs.collect(), ..AdTemplate::default() }
    }

    /// Starts a new ad with the attributes that all ads of the template share.
    pub fn start(&mut self) -> TemplateAd<'_> {
        TemplateAd { attributes: self.common.clone(), template: self }
    }

    fn name(&mut self, name: &'static str) -> Name {
        self.names.entry(name).or_insert_with(|| Name::new(name)).clone()
    }

    /// Returns the expression that a text denotes, from the cache if possible. A text that does not parse gives an
    /// error value.
    fn expression(&mut self, text: &str) -> Expression {
        if let Some(expression) = self.texts.get(text) {
            return expression.clone();
        }
        self.texts.make_room(text.len());
        let expression = parse_expression(text.as_bytes(), ParseOptions::new(Dialect::Condor));
        let expression =
            expression.unwrap_or_else(|error| Expression::literal(Value::error(error.span, error.message)));
        self.texts.insert(text.to_owned(), expression.clone());
        expression
    }
}

/// Builder of an ad from the attributes of a template and attributes added one by one.
pub struct TemplateAd<'m> {
    template: &'m mut AdTemplate,
    attributes: Vec<(Name, Expression)>,
}

impl TemplateAd<'_> {
    /// Adds an attribute with a literal.
    pub fn put(&mut self, name: &'static str, literal: impl Into<Value>) -> &mut Self {
        self.put_expression(name, Expression::literal(literal))
    }

    /// Adds an attribute with a literal; adds nothing if the literal is `None`.
    pub fn put_some(&mut self, name: &'static str, literal: Option<impl Into<Value>>) -> &mut Self {
        match literal {
            Some(literal) => self.put(name, literal),
            None => self,
        }
    }

    /// Adds an attribute with an expression, given as text.
    pub fn put_text(&mut self, name: &'static str, text: &str) -> &mut Self {
        let expression = self.template.expression(text);
        self.put_expression(name, expression)
    }

    /// Adds an attribute with an expression.
    pub fn put_expression(&mut self, name: &'static str, expression: Expression) -> &mut Self {
        let name = self.template.name(name);
        self.attributes.push((name, expression));
        self
    }

    /// Returns the ad; the builder has no attributes left.
    pub fn finish(&mut self) -> Ad {
        self.attributes.drain(..).collect()
    }
}
