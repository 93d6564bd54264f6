//! Environments of expressions whose ads are known in part: `--my`, `--target`, `--unknown`, `--closed`.

use std::sync::Arc;

use classad::ad::{Ad, Frame, Name};
use classad::eval::{Environment, Extent, Reference, References};
use indexmap::IndexSet;

/// The symbol printed for a reference that may read any attribute.
pub const EVERYTHING: &str = "*";

/// Returns the names that a residue depends on, for the output; if it depends on none, "the clock or chance".
pub fn names_of(unknowns: &References) -> Vec<String> {
    let mut names: IndexSet<String> = unknowns.external.iter().map(Reference::to_string).collect();
    if unknowns.everything {
        names.insert(EVERYTHING.to_owned());
    }
    if names.is_empty() {
        // A residue that reads no unknown attribute can only depend on these.
        names.insert("the clock or chance".to_owned());
    }
    names.into_iter().collect()
}

/// Returns the environment of an ad and its partner, where both are optional and known completely.
pub fn meeting(ad: Option<Ad>, target: Option<&Ad>) -> (Environment, Arc<Frame>) {
    match (ad, target) {
        (ad, Some(target)) => {
            let (environment, [frame, _]) = Environment::pair(ad.unwrap_or_default(), target.clone());
            (environment, frame)
        }
        (Some(ad), None) => Environment::alone(ad),
        (None, None) => Environment::nowhere(),
    }
}

/// The options that say which attributes are unknown.
pub struct PartlyKnown {
    /// Names of the attributes to treat as unknown. Those of the other side have the prefix `target.` or `other.`.
    pub unknown: Vec<String>,
    /// Whether the ads are complete: an attribute that they lack is undefined, not unknown.
    pub closed: bool,
}

impl PartlyKnown {
    /// Returns the ad without the attributes that are to be treated as unknown.
    fn known_part(&self, ad: &Ad, is_target: bool) -> Ad {
        let unknown: Vec<Name> = self
            .unknown
            .iter()
            .filter_map(|name| match name.split_once('.') {
                Some((side, name)) if is_one_of(side, ["target", "other"]) => is_target.then(|| Name::new(name)),
                Some((side, name)) if is_one_of(side, ["my", "self"]) => (!is_target).then(|| Name::new(name)),
                _ => (!is_target).then(|| Name::new(name)),
            })
            .collect();
        let known = ad.iter().filter(|attribute| !unknown.contains(attribute.name));
        known.map(|attribute| (attribute.name.clone(), attribute.expression.clone())).collect()
    }

    /// Returns the environment in which an expression of `ad` is specialized.
    pub fn environment(&self, ad: Option<&Ad>, target: Option<&Ad>) -> (Environment, Arc<Frame>) {
        let extent = if self.closed { Extent::Closed } else { Extent::Open };
        let ad = ad.map(|ad| self.known_part(ad, false));
        match (ad, target) {
            (ad, Some(target)) => {
                let known = self.known_part(target, true);
                let (mut environment, [frame, _]) = Environment::pair(ad.unwrap_or_default(), known);
                for participant in [0, 1] {
                    if let Some(member) = environment.member_mut(participant) {
                        member.extent = extent;
                    }
                }
                (environment, frame)
            }
            (Some(ad), None) => Environment::unmet(ad, extent),
            (None, None) if self.closed => Environment::unmet(Ad::default(), extent),
            (None, None) => Environment::unplaced(),
        }
    }
}

fn is_one_of(word: &str, words: [&str; 2]) -> bool {
    words.iter().any(|known| word.eq_ignore_ascii_case(known))
}
