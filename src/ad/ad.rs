//! The [`Ad`]: an ordered, immutable map from names to expressions.

use std::fmt;
use std::sync::Arc;

use super::attribute_map::AttributeMap;
use super::equality::{Equivalence, all_equal};
use super::{Expression, Name};

/// A classified advertisement: distinct names bound to expressions, in the order in which they were
/// first written (thesis 2.3).  Immutable; cloning is O(1).  Build one with [`Ad::from_iter`].
#[derive(Clone, Default)]
pub struct Ad(Arc<AttributeMap>);

/// One attribute of an ad.
#[derive(Clone, Copy, Debug)]
pub struct Attribute<'a> {
    /// The name, in its first spelling.
    pub name: &'a Name,
    /// The expression bound to the name.
    pub expression: &'a Expression,
}

impl Ad {
    /// Returns the expression bound to a name; `None` if the ad lacks the attribute.
    #[must_use]
    pub fn get(&self, name: &Name) -> Option<&Expression> {
        self.0.get(name).map(|(_, expression)| expression)
    }

    /// Returns the attribute called `name`, ignoring case; `None` if the ad lacks the attribute.  [`Attribute::name`]
    /// is spelt as in this ad.
    #[must_use]
    pub fn attribute(&self, name: &Name) -> Option<Attribute<'_>> {
        self.0.get(name).map(|(name, expression)| Attribute { name, expression })
    }

    /// Returns the expression bound to the name `name`, ignoring case; `None` if the ad lacks the attribute.
    #[must_use]
    pub fn get_str(&self, name: &str) -> Option<&Expression> {
        self.get(&Name::new(name))
    }

    /// Number of attributes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the ad has no attributes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.len() == 0
    }

    /// Iterates over the attributes in the order in which they were first written.
    pub fn iter(&self) -> impl Iterator<Item = Attribute<'_>> {
        self.0.iter().map(|(name, expression)| Attribute { name, expression })
    }

    /// Returns a copy of this ad with `name` bound to `expression`, which replaces any expression bound before.
    #[must_use]
    pub fn with(&self, name: Name, expression: Expression) -> Ad {
        let mut attributes = AttributeMap::clone(&self.0);
        attributes.bind(name, expression);
        Ad(Arc::new(attributes))
    }

    /// Returns the memory address of the attributes.  Clones of an ad share its attributes, so they have the same
    /// address.  Ads that were created separately have different addresses while both exist.
    #[must_use]
    pub fn identity(&self) -> usize {
        Arc::as_ptr(&self.0) as usize
    }

    /// Moves the expressions into `into`, so that they can be dropped without recursion.  Does nothing if the ad has
    /// clones, which still need the expressions.
    pub(super) fn take_expressions(&mut self, into: &mut Vec<Expression>) {
        if let Some(attributes) = Arc::get_mut(&mut self.0) {
            attributes.take_expressions(into);
        }
    }
}

impl FromIterator<(Name, Expression)> for Ad {
    /// Collects attributes.  A name bound repeatedly keeps its first spelling and position and takes the last
    /// expression.
    fn from_iter<I: IntoIterator<Item = (Name, Expression)>>(attributes: I) -> Self {
        let attributes = attributes.into_iter();
        let mut bound = AttributeMap::with_capacity(attributes.size_hint().0);
        attributes.for_each(|(name, expression)| bound.bind(name, expression));
        Ad(Arc::new(bound))
    }
}

impl PartialEq for Ad {
    /// Equal if both ads bind the same names, in any order, to equal expressions.
    fn eq(&self, other: &Self) -> bool {
        if Arc::ptr_eq(&self.0, &other.0) {
            return true;
        }
        let pairs: Option<Vec<_>> = self.0.iter().map(|(name, mine)| Some((mine, other.get(name)?))).collect();
        self.len() == other.len() && pairs.is_some_and(|pairs| all_equal(pairs, Equivalence::Syntactic))
    }
}

impl fmt::Debug for Ad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter().map(|attribute| (attribute.name, "..."))).finish()
    }
}
