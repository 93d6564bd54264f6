//! Ads: names bound to expressions.

use std::fmt;
use std::hash::BuildHasherDefault;
use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::FxHasher;

use super::same::{Likeness, all_same};
use super::{Expression, KnownName, Name};

type Attributes = IndexMap<Name, Expression, BuildHasherDefault<FxHasher>>;

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
        self.0.get(name)
    }

    /// The attribute of a name, with its name as it is written in this ad.
    #[must_use]
    pub fn attribute(&self, name: &Name) -> Option<Attribute<'_>> {
        self.0.get_key_value(name).map(|(name, expression)| Attribute { name, expression })
    }

    /// The expression bound to the name spelt like this, in any case.
    #[must_use]
    pub fn get_str(&self, name: &str) -> Option<&Expression> {
        self.0.get(&Name::new(name))
    }

    /// The expression bound to a name that is known before any ad is read.
    #[must_use]
    pub fn get_known(&self, name: &KnownName) -> Option<&Expression> {
        self.0.get(name)
    }

    /// Number of attributes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it has no attributes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The attributes, in the order in which they were written.
    pub fn iter(&self) -> impl Iterator<Item = Attribute<'_>> {
        self.0.iter().map(|(name, expression)| Attribute { name, expression })
    }

    /// This ad with one more attribute, or another expression for one that it has.
    #[must_use]
    pub fn with(&self, name: Name, expression: Expression) -> Ad {
        let mut attributes = Attributes::clone(&self.0);
        attributes.insert(name, expression);
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
            into.extend(attributes.drain(..).map(|(_, expression)| expression));
        }
    }
}

impl FromIterator<(Name, Expression)> for Ad {
    /// Of several expressions for one name the last counts; the first spelling and place are kept.
    fn from_iter<I: IntoIterator<Item = (Name, Expression)>>(attributes: I) -> Self {
        Ad(Arc::new(attributes.into_iter().collect()))
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
        f.debug_map().entries(self.0.keys().map(|name| (name, "..."))).finish()
    }
}
