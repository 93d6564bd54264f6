//! Ads: names bound to expressions.

use std::fmt;
use std::sync::Arc;

use super::attribute_map::Attributes;
use super::equality::{Likeness, all_same};
use super::{Expression, Name};

/// A classified advertisement: distinct names bound to expressions, in the order in which they were
/// first written (thesis §2.3).  Immutable and cheap to clone; build one with [`Ad::from_iter`].
#[derive(Clone, Default)]
pub struct Ad(Arc<Attributes>);

/// One attribute of an ad.
#[derive(Clone, Copy, Debug)]
pub struct Attribute<'a> {
    /// Its name, as first written.
    pub name: &'a Name,
    /// What is bound to it.
    pub expression: &'a Expression,
}

impl Ad {
    /// The expression bound to a name.
    #[must_use]
    pub fn get(&self, name: &Name) -> Option<&Expression> {
        self.0.get(name).map(|(_, expression)| expression)
    }

    /// The attribute of a name, with its name as it is written in this ad.
    #[must_use]
    pub fn attribute(&self, name: &Name) -> Option<Attribute<'_>> {
        self.0.get(name).map(|(name, expression)| Attribute { name, expression })
    }

    /// The expression bound to the name spelt like this, in any case.
    #[must_use]
    pub fn get_str(&self, name: &str) -> Option<&Expression> {
        self.get(&Name::new(name))
    }

    /// Number of attributes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it has no attributes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.len() == 0
    }

    /// The attributes, in the order in which they were written.
    pub fn iter(&self) -> impl Iterator<Item = Attribute<'_>> {
        self.0.iter().map(|(name, expression)| Attribute { name, expression })
    }

    /// This ad with one more attribute, or another expression for one that it has.
    #[must_use]
    pub fn with(&self, name: Name, expression: Expression) -> Ad {
        let mut attributes = Attributes::clone(&self.0);
        attributes.bind(name, expression);
        Ad(Arc::new(attributes))
    }

    /// A number that no other living ad has.
    #[must_use]
    pub fn identity(&self) -> usize {
        Arc::as_ptr(&self.0) as usize
    }

    /// Moves the expressions out, if nothing else holds this ad.
    pub(super) fn take_expressions(&mut self, into: &mut Vec<Expression>) {
        if let Some(attributes) = Arc::get_mut(&mut self.0) {
            attributes.take_expressions(into);
        }
    }
}

impl FromIterator<(Name, Expression)> for Ad {
    /// Of several expressions for one name the last counts; the first spelling and place are kept.
    fn from_iter<I: IntoIterator<Item = (Name, Expression)>>(attributes: I) -> Self {
        let attributes = attributes.into_iter();
        let mut bound = Attributes::with_capacity(attributes.size_hint().0);
        attributes.for_each(|(name, expression)| bound.bind(name, expression));
        Ad(Arc::new(bound))
    }
}

impl PartialEq for Ad {
    /// Equal when the same names are bound, in any order, to expressions written alike.
    fn eq(&self, other: &Self) -> bool {
        if Arc::ptr_eq(&self.0, &other.0) {
            return true;
        }
        let pairs: Option<Vec<_>> = self.0.iter().map(|(name, mine)| Some((mine, other.get(name)?))).collect();
        self.len() == other.len() && pairs.is_some_and(|pairs| all_same(pairs, Likeness::Writing))
    }
}

impl fmt::Debug for Ad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter().map(|attribute| (attribute.name, "..."))).finish()
    }
}
