//! Ad that is being edited.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::ad::{Ad, AdShape, Dialect, Expression, Name};
use crate::eval::{FreeNames, transitive_closure};
use crate::format::LazyAd;

use super::edited_shapes::{EditedShapes, SlotName};

/// Ad that is being edited. The first change copies the expressions; each change takes O(1).
///
/// Each expression has a slot. The slots are numbered: first those of the attributes of the original ad, in its order,
/// then those of added attributes.
#[derive(Clone)]
pub(super) struct EditedAd<'u> {
    /// The ad as it was built last; `None` if an attribute changed since then.
    ad: Option<Ad>,
    /// The shape of the original ad.
    shape: Arc<AdShape>,
    /// Expressions by slot. A removed attribute leaves a `None`. Empty until the first change.
    expressions: Vec<Option<Expression>>,
    /// Changes to the names of slots, in the order in which they were made.
    changed_names: Vec<SlotName>,
    /// Slots of the names in `changed_names`. `None` for a name that the ad lost.
    changed_slots: FxHashMap<Name, Option<usize>>,
    shapes: EditedShapes,
    /// The original ad, if its values are read on demand. `ad` and `expressions` then have placeholders.
    lazy: Option<&'u LazyAd<'u>>,
    /// Whether values are read to find out whether an attribute changes.
    finds_changes: bool,
}

impl<'u> EditedAd<'u> {
    /// Begins to edit an ad. `shapes` has the results of edits of other ads.
    pub fn new(ad: &Ad, shapes: &EditedShapes) -> Self {
        EditedAd {
            ad: Some(ad.clone()),
            shape: Arc::clone(ad.shape()),
            expressions: Vec::new(),
            changed_names: Vec::new(),
            changed_slots: FxHashMap::default(),
            shapes: shapes.clone(),
            lazy: None,
            finds_changes: true,
        }
    }

    /// Begins to edit an ad whose values are read on demand. `finds_changes` tells whether they are read to find out
    /// whether an attribute changes.
    pub fn of_lazy(lazy: &'u LazyAd<'u>, shapes: &EditedShapes, finds_changes: bool) -> Self {
        EditedAd { lazy: Some(lazy), finds_changes, ..EditedAd::new(&lazy.ad, shapes) }
    }

    /// Records that the edits depend on more than the shape of the ad.
    pub fn set_depends_on_values(&self) {
        if let Some(lazy) = self.lazy {
            lazy.set_depends_on_values();
        }
    }

    /// Returns the current ad for the evaluation of an expression. It has the values of all attributes that the
    /// expression can reach. The first call after a change takes O(n) in the number of attributes, because it builds
    /// the ad.
    pub fn ad_for(&mut self, expression: &Expression, dialect: Dialect) -> Ad {
        let ad = self.ad();
        let Some(lazy) = self.lazy else { return ad };
        lazy.set_depends_on_values();
        let mentioned = FreeNames::of(expression, dialect);
        let mut reached = mentioned.names;
        let is_bounded = !mentioned.reads_anything
            && transitive_closure(&mut reached, |name, reached| {
                let Some(expression) = ad.get(name) else { return Some(()) };
                let mentioned = FreeNames::of(&lazy.value(expression), dialect);
                reached.extend(mentioned.names);
                (!mentioned.reads_anything).then_some(())
            })
            .is_some();
        let value = |one: &Expression| if is_bounded { lazy.known_value(one) } else { lazy.value(one) };
        Ad::from_shape(Arc::clone(ad.shape()), ad.expressions().iter().map(value).collect())
    }

    /// Returns the current ad, which may have placeholders.
    pub fn ad(&mut self) -> Ad {
        let EditedAd { expressions, shape, changed_names, shapes, .. } = self;
        let build =
            || Ad::from_shape(shapes.edited(shape, changed_names), expressions.iter().flatten().cloned().collect());
        self.ad.get_or_insert_with(build).clone()
    }

    /// Returns the current ad, which may have placeholders, and ends the editing.
    pub fn into_ad(self) -> Ad {
        let EditedAd { ad, expressions, shape, changed_names, shapes, .. } = self;
        let build =
            || Ad::from_shape(shapes.edited(&shape, &changed_names), expressions.into_iter().flatten().collect());
        ad.unwrap_or_else(build)
    }

    /// Returns the expression of an attribute.
    pub fn get(&self, name: &Name) -> Option<Expression> {
        self.set_depends_on_values();
        let expression = self.get_unread(name)?;
        Some(self.lazy.map_or_else(|| expression.clone(), |lazy| lazy.value(expression)))
    }

    /// Whether two expressions of the ad differ. Without `finds_changes`, they may be equal if the value of one of them
    /// was not read.
    pub fn may_differ(&self, one: &Expression, other: &Expression) -> bool {
        match self.lazy {
            _ if one.ptr_eq(other) => false,
            Some(lazy) if self.finds_changes => lazy.value(one) != lazy.value(other),
            Some(lazy) if lazy.is_placeholder(one) || lazy.is_placeholder(other) => true,
            _ => one != other,
        }
    }

    /// Returns the expression of an attribute, or a placeholder if the value is read on demand.
    pub fn get_unread(&self, name: &Name) -> Option<&Expression> {
        match &self.ad {
            Some(ad) => ad.get(name),
            None => self.expressions[self.slot(name)?].as_ref(),
        }
    }

    /// Returns the names of the attributes in byte order.
    pub fn sorted_names(&self) -> Vec<Name> {
        let mut names: Vec<Name> = self.shapes.edited(&self.shape, &self.changed_names).names().to_vec();
        names.sort_unstable_by(|a, b| a.as_str().cmp(b.as_str()));
        names
    }

    /// Binds a name to an expression. An attribute that the ad has keeps its position; a new one goes to the end.
    /// Returns the previous expression.
    pub fn set(&mut self, name: Name, expression: Expression) -> Option<Expression> {
        self.make_editable();
        if let Some(slot) = self.slot(&name) {
            return self.expressions[slot].replace(expression);
        }
        self.rename_slot(self.expressions.len(), name);
        self.expressions.push(Some(expression));
        None
    }

    /// Removes an attribute and returns its expression; `None` if the ad lacks it.
    pub fn remove(&mut self, name: &Name) -> Option<Expression> {
        let slot = self.slot(name)?;
        self.make_editable();
        self.changed_names.push(SlotName { slot, name: None });
        self.changed_slots.insert(name.clone(), None);
        self.expressions[slot].take()
    }

    /// Renames an attribute, which keeps its position. Returns the expression that the new name had before.
    pub fn rename(&mut self, from: &Name, to: Name) -> Option<Expression> {
        let slot = self.slot(from)?;
        self.make_editable();
        self.changed_slots.insert(from.clone(), None);
        let before = self.remove(&to);
        self.rename_slot(slot, to);
        before
    }

    /// Returns the slot of a name; `None` if the ad lacks the attribute.
    fn slot(&self, name: &Name) -> Option<usize> {
        self.changed_slots.get(name).copied().unwrap_or_else(|| self.shape.position(name))
    }

    fn rename_slot(&mut self, slot: usize, name: Name) {
        self.changed_slots.insert(name.clone(), Some(slot));
        self.changed_names.push(SlotName { slot, name: Some(name) });
    }

    /// Copies the expressions for editing and discards the built ad.
    fn make_editable(&mut self) {
        if let Some(ad) = self.ad.take()
            && self.expressions.is_empty()
        {
            // A rule mostly adds an attribute or two.
            self.expressions.reserve_exact(ad.len() + 2);
            self.expressions.extend(ad.expressions().iter().cloned().map(Some));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::EditedAd;
    use crate::ad::{Expression, Name, Value};
    use crate::syntax::{ParseOptions, Style, parse_ad, print_ad};
    use crate::transform::edited_shapes::EditedShapes;

    fn draft(text: &str) -> EditedAd<'_> {
        EditedAd::new(&parse_ad(text.as_bytes(), ParseOptions::default()).unwrap(), &EditedShapes::default())
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
