//! Ad that is being edited.

use rustc_hash::FxHashMap;

use crate::ad::{Ad, Expression, Name};

/// Ad that is being edited. The first change copies the attributes; each change takes O(1).
#[derive(Clone, Debug)]
pub(super) struct EditedAd {
    /// The ad as it was built last; `None` if an attribute changed since then.
    ad: Option<Ad>,
    /// Attributes in order. A removed attribute leaves a `None`. Empty until the first change.
    slots: Vec<Option<(Name, Expression)>>,
    positions: FxHashMap<Name, usize>,
}

impl EditedAd {
    pub fn new(ad: &Ad) -> Self {
        EditedAd { ad: Some(ad.clone()), slots: Vec::new(), positions: FxHashMap::default() }
    }

    /// Returns the current ad. The first call after a change takes O(n) in the number of attributes, because it builds
    /// the ad.
    pub fn ad(&mut self) -> Ad {
        let slots = &self.slots;
        self.ad.get_or_insert_with(|| slots.iter().flatten().cloned().collect()).clone()
    }

    pub fn get(&self, name: &Name) -> Option<&Expression> {
        match &self.ad {
            Some(ad) => ad.get(name),
            None => self.slots[*self.positions.get(name)?].as_ref().map(|(_, expression)| expression),
        }
    }

    /// Returns the names of the attributes in byte order.
    pub fn sorted_names(&self) -> Vec<Name> {
        let mut names: Vec<Name> = match &self.ad {
            Some(ad) => ad.iter().map(|attribute| attribute.name.clone()).collect(),
            None => self.slots.iter().flatten().map(|(name, _)| name.clone()).collect(),
        };
        names.sort_unstable_by(|a, b| a.as_str().cmp(b.as_str()));
        names
    }

    /// Binds a name to an expression. An attribute that the ad has keeps its position; a new one goes to the end.
    /// Returns the previous expression.
    pub fn set(&mut self, name: Name, expression: Expression) -> Option<Expression> {
        self.make_editable();
        if let Some(place) = self.positions.get(&name) {
            let slot = self.slots[*place].as_mut()?;
            return Some(std::mem::replace(&mut slot.1, expression));
        }
        self.positions.insert(name.clone(), self.slots.len());
        self.slots.push(Some((name, expression)));
        None
    }

    /// Removes an attribute and returns its expression; `None` if the ad lacks it.
    pub fn remove(&mut self, name: &Name) -> Option<Expression> {
        self.get(name)?;
        self.make_editable();
        let place = self.positions.remove(name)?;
        self.slots[place].take().map(|(_, expression)| expression)
    }

    /// Renames an attribute, which keeps its position. Returns the expression that the new name had before.
    pub fn rename(&mut self, from: &Name, to: Name) -> Option<Expression> {
        self.make_editable();
        let place = self.positions.remove(from)?;
        let before = self.positions.insert(to.clone(), place).and_then(|other| self.slots[other].take());
        if let Some(slot) = &mut self.slots[place] {
            slot.0 = to;
        }
        before.map(|(_, expression)| expression)
    }

    /// Copies the attributes for editing and discards the built ad.
    fn make_editable(&mut self) {
        let Some(ad) = self.ad.take() else { return };
        self.slots = ad.iter().map(|attribute| Some((attribute.name.clone(), attribute.expression.clone()))).collect();
        self.positions = ad.iter().enumerate().map(|(place, attribute)| (attribute.name.clone(), place)).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::EditedAd;
    use crate::ad::{Expression, Name, Value};
    use crate::syntax::{ParseOptions, Style, parse_ad, print_ad};

    fn draft(text: &str) -> EditedAd {
        EditedAd::new(&parse_ad(text.as_bytes(), ParseOptions::default()).unwrap())
    }

    fn text(draft: &mut EditedAd) -> String {
        String::from_utf8(print_ad(&draft.ad(), Style::New)).unwrap()
    }

    #[test]
    fn attributes_keep_their_places() {
        let mut ad = draft("[ a = 1; b = 2; c = 3 ]");
        let five = Expression::literal(Value::Integer(5));
        assert!(ad.set(Name::new("B"), five.clone()).is_some());
        assert!(ad.set(Name::new("d"), five.clone()).is_none());
        assert_eq!(text(&mut ad), "[ a = 1; b = 5; c = 3; d = 5 ]");
        assert!(ad.rename(&Name::new("a"), Name::new("C")).is_some());
        assert_eq!(text(&mut ad), "[ C = 1; b = 5; d = 5 ]");
        assert!(ad.rename(&Name::new("c"), Name::new("c")).is_none());
        assert!(ad.remove(&Name::new("B")).is_some() && ad.remove(&Name::new("B")).is_none());
        assert!(ad.set(Name::new("b"), five).is_none());
        assert_eq!(text(&mut ad), "[ c = 1; d = 5; b = 5 ]");
    }

    #[test]
    fn an_ad_that_nothing_changes_is_the_same_ad() {
        let mut ad = draft("[ a = 1 ]");
        let before = ad.ad().identity();
        assert!(ad.remove(&Name::new("b")).is_none());
        assert_eq!(ad.ad().identity(), before);
    }
}
