//! The [`Ad`]: an ordered, immutable map from names to expressions.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, LazyLock};

use super::ad_shape::AdShape;
use super::equality::{Equivalence, all_equal};
use super::{Dialect, Expression, Name, Value};

/// A classified advertisement: distinct names bound to expressions, in the order in which they were
/// first written (thesis 2.3).  Immutable; cloning is O(1).  Build one with [`Ad::from_iter`].
#[derive(Clone)]
pub struct Ad(Arc<AdContents>);

#[derive(Clone)]
struct AdContents {
    shape: Arc<AdShape>,
    /// The expressions, in the order of the shape's names.
    expressions: Vec<Expression>,
}

/// The values of `MyType` that HTCondor gives to ads (its `condor_adtypes.h`).
const HTCONDOR_TYPES: [&str; 35] = [
    "Accounting",
    "Authentication",
    "CkptFile",
    "CkptServer",
    "Cluster",
    "ClusterPvt",
    "Collector",
    "Command",
    "CredD",
    "DaemonMaster",
    "Database",
    "Defrag",
    "Gateway",
    "Generic",
    "Grid",
    "HAD",
    "Job",
    "JobSet",
    "Job_Router",
    "LeaseManager",
    "License",
    "Machine",
    "MachinePrivate",
    "Negotiator",
    "Owner",
    "PlacementD",
    "Project",
    "Query",
    "Replication",
    "Reply",
    "Scheduler",
    "StartD",
    "Storage",
    "Submitter",
    "TTProcess",
];

static NO_NAMES: LazyLock<Arc<AdShape>> = LazyLock::new(Arc::default);

/// One attribute of an ad.
#[derive(Clone, Copy, Debug)]
pub struct Attribute<'a> {
    /// The name, in its first spelling.
    pub name: &'a Name,
    /// The expression bound to the name.
    pub expression: &'a Expression,
}

impl Ad {
    /// Creates an ad of a shape.  `expressions` has one expression for each name of the shape, in the same order.
    pub(crate) fn from_shape(shape: Arc<AdShape>, expressions: Vec<Expression>) -> Ad {
        debug_assert_eq!(shape.names().len(), expressions.len());
        Ad(Arc::new(AdContents { shape, expressions }))
    }

    /// Returns the names of the ad with their positions.  Ads that were read from one source mostly share a shape.  An ad
    /// whose text has an attribute twice shares its shape with no other.
    #[must_use]
    pub fn shape(&self) -> &Arc<AdShape> {
        &self.0.shape
    }

    /// Returns the expressions in the order of the shape's names.
    pub fn expressions(&self) -> &[Expression] {
        &self.0.expressions
    }

    /// Returns the expression bound to a name; `None` if the ad lacks the attribute.
    #[must_use]
    pub fn get(&self, name: &Name) -> Option<&Expression> {
        self.0.shape.position(name).map(|position| &self.0.expressions[position])
    }

    /// Returns the attribute called `name`, ignoring case; `None` if the ad lacks the attribute.  [`Attribute::name`]
    /// is spelt as in this ad.
    #[must_use]
    pub fn attribute(&self, name: &Name) -> Option<Attribute<'_>> {
        self.0.shape.position(name).map(|position| Attribute {
            name: &self.0.shape.names()[position],
            expression: &self.0.expressions[position],
        })
    }

    /// Returns the expression bound to the name `name`, ignoring case; `None` if the ad lacks the attribute.
    #[must_use]
    pub fn get_str(&self, name: &str) -> Option<&Expression> {
        self.get(&Name::new(name))
    }

    /// Number of attributes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.expressions.len()
    }

    /// Whether the ad has no attributes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.expressions.is_empty()
    }

    /// Iterates over the attributes in the order in which they were first written.
    pub fn iter(&self) -> impl Iterator<Item = Attribute<'_>> {
        let names = self.0.shape.names().iter();
        names.zip(&self.0.expressions).map(|(name, expression)| Attribute { name, expression })
    }

    /// Returns a copy of this ad with `name` bound to `expression`, which replaces any expression bound before.
    #[must_use]
    pub fn with(&self, name: Name, expression: Expression) -> Ad {
        let AdContents { mut shape, mut expressions } = AdContents::clone(&self.0);
        if let Some(position) = shape.position(&name) {
            expressions[position] = expression;
        } else {
            Arc::make_mut(&mut shape).insert(name);
            expressions.push(expression);
        }
        Ad::from_shape(shape, expressions)
    }

    /// Whether an attribute of the ad is not printed unless it is asked for: a [private](Name::is_private) one, if the ad
    /// is in HTCondor's dialect or of one of HTCondor's types. A ticket of the papers is no secret.
    #[must_use]
    pub fn hides(&self, name: &Name, dialect: Dialect) -> bool {
        name.is_private() && (dialect.is_condor() || self.is_of_htcondor())
    }

    /// Whether `MyType` is a type that HTCondor gives to ads.
    fn is_of_htcondor(&self) -> bool {
        match self.get_str("MyType").and_then(Expression::as_literal) {
            Some(Value::String(kind)) => {
                HTCONDOR_TYPES.iter().any(|known| kind.as_bytes().eq_ignore_ascii_case(known.as_bytes()))
            }
            _ => false,
        }
    }

    /// Returns the ad as it is printed in a dialect: without the attributes that it [hides](Ad::hides). Those of nested
    /// ads stay, as in HTCondor.
    #[must_use]
    pub fn printed(&self, dialect: Dialect) -> Cow<'_, Ad> {
        if !self.0.shape.names().iter().any(Name::is_private) || !(dialect.is_condor() || self.is_of_htcondor()) {
            return Cow::Borrowed(self);
        }
        Cow::Owned(self.public())
    }

    /// Returns the ad without its [private](Name::is_private) attributes.
    #[must_use]
    pub fn public(&self) -> Ad {
        if !self.0.shape.names().iter().any(Name::is_private) {
            return self.clone();
        }
        let public = self.iter().filter(|attribute| !attribute.name.is_private());
        public.map(|Attribute { name, expression }| (name.clone(), expression.clone())).collect()
    }

    /// Exchanges the expressions at some positions for the given ones.  O(1) for each if the ad has no clones, else the
    /// attributes are copied first.
    pub(crate) fn exchange(&mut self, values: &mut [(usize, Expression)]) {
        let contents = Arc::make_mut(&mut self.0);
        for (position, value) in values {
            std::mem::swap(&mut contents.expressions[*position], value);
        }
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
            into.append(&mut attributes.expressions);
        }
    }
}

impl Default for Ad {
    /// Returns the ad without attributes.
    fn default() -> Self {
        Ad::from_shape(Arc::clone(&NO_NAMES), Vec::new())
    }
}

impl FromIterator<(Name, Expression)> for Ad {
    /// Collects attributes.  A name bound repeatedly keeps its first spelling and position and takes the last
    /// expression.
    fn from_iter<I: IntoIterator<Item = (Name, Expression)>>(attributes: I) -> Self {
        let attributes = attributes.into_iter();
        let count = attributes.size_hint().0;
        let (mut shape, mut expressions) = (AdShape::with_capacity(count), Vec::with_capacity(count));
        for (name, expression) in attributes {
            let position = shape.insert(name);
            if position < expressions.len() {
                expressions[position] = expression;
            } else {
                expressions.push(expression);
            }
        }
        Ad::from_shape(Arc::new(shape), expressions)
    }
}

impl PartialEq for Ad {
    /// Equal if both ads bind the same names, in any order, to equal expressions.
    fn eq(&self, other: &Self) -> bool {
        if Arc::ptr_eq(&self.0, &other.0) {
            return true;
        }
        let pairs: Option<Vec<_>> =
            self.iter().map(|attribute| Some((attribute.expression, other.get(attribute.name)?))).collect();
        self.len() == other.len() && pairs.is_some_and(|pairs| all_equal(pairs, Equivalence::Syntactic))
    }
}

impl fmt::Debug for Ad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter().map(|attribute| (attribute.name, "..."))).finish()
    }
}

#[cfg(test)]
mod tests {
    use crate::ad::{Ad, Dialect, Expression, Name};

    #[test]
    fn an_ad_hides_its_secrets_by_its_type_and_its_dialect() {
        for (of_type, dialect, hides) in [
            (("MyType", "Machine"), Dialect::Classad, true),
            (("mytype", "job"), Dialect::Classad, true),
            (("Type", "Machine"), Dialect::Classad, false),
            (("MyType", "Ticket"), Dialect::Classad, false),
            (("MyType", "Ticket"), Dialect::Condor, true),
            (("Other", "Job"), Dialect::Condor, true),
        ] {
            let attributes = [of_type, ("ClaimId", "1")];
            let ad: Ad =
                attributes.map(|(name, text)| (Name::new(name), Expression::literal(text))).into_iter().collect();
            let name = Name::new("claimID");
            assert_eq!(ad.hides(&name, dialect), hides, "{of_type:?}");
            assert_eq!(ad.printed(dialect).get(&name).is_none(), hides, "{of_type:?}");
            assert!(!ad.hides(&Name::new("MyType"), dialect) && ad.public().get(&name).is_none());
        }
    }
}
