//! Environments in which ads are known only in part, for the options `--my`, `--target`, `--unknown`, `--closed`.

use std::sync::Arc;

use classad::ad::{Ad, Name, ScopeAd, ScopeFrame};
use classad::eval::{CURRENT_TIME, Environment, Knowledge, Reference, Unknowns};
use indexmap::IndexSet;

/// The symbol printed instead of a name if an expression may read any attribute.
pub const ANY_ATTRIBUTE: &str = "*";

/// Returns the names of what a residue (what specialization leaves of an expression) depends on: attributes, "the
/// clock", "random numbers", or more steps than the budget of the run has.
pub fn dependency_names(unknowns: &Unknowns) -> Vec<String> {
    let Unknowns { references, volatile } = unknowns;
    let is_clock = |reference: &&Reference| matches!(&*reference.path, [name] if name.is_known(CURRENT_TIME));
    let attributes = references.external.iter().filter(|reference| !is_clock(reference));
    let mut names: IndexSet<String> = attributes.map(Reference::to_string).collect();
    if references.reads_anything {
        names.insert(ANY_ATTRIBUTE.to_owned());
    }
    if volatile.clock {
        names.insert("the clock".to_owned());
    }
    if volatile.random_numbers {
        names.insert("random numbers".to_owned());
    }
    if names.is_empty() {
        // Nothing is unknown, so that a budget ended the specialization.
        names.insert("more steps than the budget has".to_owned());
    }
    names.into_iter().collect()
}

/// The options that say which attributes are unknown.
pub struct PartialKnowledge {
    /// Names of the attributes to treat as unknown. A name with the prefix `target.` or `other.` is an attribute of the
    /// other side.
    pub unknown: Vec<String>,
    /// Whether the ads are complete: an attribute that they lack is undefined, not unknown.
    pub is_complete: bool,
}

impl PartialKnowledge {
    /// Returns the ad without the attributes that are to be treated as unknown.
    pub fn known_attributes(&self, ad: &Ad, is_target: bool) -> Ad {
        let unknown_name = |name: &String| {
            let qualified = name.split_once('.').map(|(side, name)| (ScopeAd::of(&Name::new(side)), name));
            let (is_of_target, name) = match qualified {
                Some((Some(ScopeAd::Other), name)) => (true, name),
                Some((Some(ScopeAd::Own), name)) => (false, name),
                _ => (false, name.as_str()),
            };
            (is_of_target == is_target).then(|| Name::new(name))
        };
        let unknown: Vec<Name> = self.unknown.iter().filter_map(unknown_name).collect();
        if unknown.is_empty() {
            return ad.clone();
        }
        let known = ad.iter().filter(|attribute| !unknown.contains(attribute.name));
        known.map(|attribute| (attribute.name.clone(), attribute.expression.clone())).collect()
    }

    /// How completely the ads are known.
    pub fn knowledge(&self) -> Knowledge {
        if self.is_complete { Knowledge::Complete } else { Knowledge::Partial }
    }

    /// Returns the environment and the scope for specializing an expression of `ad`. The environment has both
    /// ads without the attributes that are to be treated as unknown.
    pub fn environment(&self, ad: Option<&Ad>, target: Option<&Ad>) -> (Environment, Arc<ScopeFrame>) {
        let extent = self.knowledge();
        let ad = ad.map(|ad| self.known_attributes(ad, false));
        Environment::partial(ad, target.map(|target| self.known_attributes(target, true)), extent)
    }
}

#[cfg(test)]
mod tests {
    use classad::ad::{Ad, Expression, Name, Value};
    use classad::eval::{Knowledge, Unknowns};

    use super::{PartialKnowledge, dependency_names};

    #[test]
    fn unknown_attributes_are_those_of_a_side() {
        let one = || Expression::literal(Value::Integer(1));
        let ad: Ad = ["a", "b", "c"].into_iter().map(|name| (Name::new(name), one())).collect();
        for (unknown, own, target) in [
            (&[][..], "a b c", "a b c"),
            (&["A"], "b c", "a b c"),
            (&["my.a", "target.b"], "b c", "a c"),
            (&["other.a", "c"], "a b", "b c"),
            // Neither names a side.
            (&["x.a"], "a b c", "a b c"),
        ] {
            let unknown = unknown.iter().map(|name| (*name).to_owned()).collect();
            let known = PartialKnowledge { unknown, is_complete: false };
            let names = |is_target| {
                let ad = known.known_attributes(&ad, is_target);
                ad.iter().map(|attribute| attribute.name.to_string()).collect::<Vec<_>>().join(" ")
            };
            assert_eq!((names(false).as_str(), names(true).as_str()), (own, target));
            assert!(matches!(known.knowledge(), Knowledge::Partial));
        }
        let known = PartialKnowledge { unknown: Vec::new(), is_complete: true };
        assert!(matches!(known.knowledge(), Knowledge::Complete));
    }

    #[test]
    fn what_nothing_depends_on_took_too_many_steps() {
        let (references, volatile) = Default::default();
        let mut unknowns = Unknowns { references, volatile };
        assert_eq!(dependency_names(&unknowns), ["more steps than the budget has"]);
        unknowns.volatile.random_numbers = true;
        assert_eq!(dependency_names(&unknowns), ["random numbers"]);
        unknowns.volatile.clock = true;
        unknowns.references.reads_anything = true;
        assert_eq!(dependency_names(&unknowns), ["*", "the clock", "random numbers"]);
    }
}
