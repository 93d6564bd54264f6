//! Slots: where the names of programs are in the ads of a shape.

use std::cell::Cell;
use std::sync::{Arc, LazyLock};

use rustc_hash::FxHashMap;

use crate::ad::{AdShape, Expression, Name, ScopeAd};

use super::super::scope::CURRENT_TIME;
use super::CompiledAd;

/// Number of a name that programs look up.
pub(super) type NameNumber = u32;

/// Names that programs look up, numbered from 0.
#[derive(Default)]
pub(super) struct NameTable {
    numbers: FxHashMap<Name, NameNumber>,
    names: Vec<Name>,
}

impl NameTable {
    /// Returns the number of a name, which may be new.
    pub(super) fn number(&mut self, name: &Name) -> NameNumber {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        // The names of all programs fit into the memory, so their number fits into 32 bits.
        let number = NameNumber::try_from(self.names.len()).unwrap_or(NameNumber::MAX);
        self.numbers.insert(name.clone(), number);
        self.names.push(name.clone());
        number
    }

    fn len(&self) -> usize {
        self.names.len()
    }
}

/// Names to which the language itself gives a meaning, which an attribute of the same name may hide.
static SCOPE_NAMES: LazyLock<Vec<Name>> = LazyLock::new(|| {
    let ads = [ScopeAd::Own, ScopeAd::Parent, ScopeAd::Root, ScopeAd::Other];
    ads.into_iter().flat_map(ScopeAd::names).chain([CURRENT_TIME.as_str()]).map(Name::new).collect()
});

/// Whether the language itself gives the name a meaning.
pub(super) fn is_scope_name(name: &Name) -> bool {
    SCOPE_NAMES.contains(name)
}

/// Position of an attribute that has not been looked up yet.
const UNRESOLVED: u32 = u32::MAX;

/// Position of an attribute that the shape lacks.
const ABSENT: u32 = u32::MAX - 1;

/// Positions of the names of programs in one shape.
struct ShapeSlots {
    /// Keeps the shape's address from being used again.
    shape: Arc<AdShape>,
    /// Whether no attribute has a name that denotes an ad or the time.
    is_plain: bool,
    /// Position of each name, by its number. May be shorter than the table of names.
    positions: Vec<Cell<u32>>,
}

/// Number of a known shape.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ShapeNumber(usize);

/// Shapes of the ads in which programs run.
#[derive(Default)]
pub(super) struct SlotTable {
    by_address: FxHashMap<usize, usize>,
    shapes: Vec<ShapeSlots>,
}

impl SlotTable {
    /// Prepares the lookup of all names of the table in the ads of a shape. Returns the number of the shape, which may be
    /// new; `None` if an attribute has a name to which the language itself gives a meaning. `guess` is the number of a
    /// shape that was used before.
    #[inline]
    pub(super) fn prepare(
        &mut self,
        shape: &Arc<AdShape>,
        guess: ShapeNumber,
        names: &NameTable,
    ) -> Option<ShapeNumber> {
        let number = match self.shapes.get(guess.0) {
            Some(slots) if Arc::ptr_eq(&slots.shape, shape) => guess,
            _ => self.look_up(shape),
        };
        let slots = &mut self.shapes[number.0];
        if slots.positions.len() < names.len() {
            slots.positions.resize(names.len(), Cell::new(UNRESOLVED));
        }
        slots.is_plain.then_some(number)
    }

    #[inline(never)]
    fn look_up(&mut self, shape: &Arc<AdShape>) -> ShapeNumber {
        let number = *self.by_address.entry(Arc::as_ptr(shape) as usize).or_insert_with(|| {
            let is_plain = !SCOPE_NAMES.iter().any(|name| shape.position(name).is_some());
            self.shapes.push(ShapeSlots { shape: Arc::clone(shape), is_plain, positions: Vec::new() });
            self.shapes.len() - 1
        });
        ShapeNumber(number)
    }

    /// Returns the view of an ad of a shape. Precondition: [`SlotTable::prepare`] was called for the shape.
    #[inline]
    pub(super) fn view<'a>(&'a self, number: ShapeNumber, ad: CompiledAd<'a>, names: &'a NameTable) -> AdView<'a> {
        AdView { slots: &self.shapes[number.0], expressions: ad.expressions, names }
    }

    /// Returns the numbers of the shapes of two ads, if both are known and prepared. `guesses` has numbers of shapes
    /// that were prepared before.
    #[inline]
    pub(super) fn known(
        &self,
        [own, partner]: [CompiledAd<'_>; 2],
        [own_guess, partner_guess]: [ShapeNumber; 2],
        names: &NameTable,
    ) -> Option<[ShapeNumber; 2]> {
        let known = |ad: CompiledAd<'_>, guess: ShapeNumber| {
            if Arc::ptr_eq(&self.shapes[guess.0].shape, ad.shape) {
                return Some(guess);
            }
            let number = *self.by_address.get(&(Arc::as_ptr(ad.shape) as usize))?;
            let slots = &self.shapes[number];
            (slots.is_plain && slots.positions.len() == names.len()).then_some(ShapeNumber(number))
        };
        let own_shape = known(own, own_guess)?;
        let is_same = Arc::ptr_eq(own.shape, partner.shape);
        Some([own_shape, if is_same { own_shape } else { known(partner, partner_guess)? }])
    }

    /// Number of known shapes.
    pub(super) fn len(&self) -> usize {
        self.shapes.len()
    }
}

/// Ad in which a program runs, with the slots of its shape.
#[derive(Clone, Copy)]
pub(super) struct AdView<'a> {
    slots: &'a ShapeSlots,
    expressions: &'a [Expression],
    names: &'a NameTable,
}

impl<'a> AdView<'a> {
    /// Returns the expression bound to a name; `None` if the ad lacks the attribute.
    #[inline]
    pub(super) fn get(&self, name: NameNumber) -> Option<&'a Expression> {
        let position = self.slots.positions.get(name as usize)?.get();
        if let Some(expression) = self.expressions.get(position as usize) {
            return Some(expression);
        }
        if position == ABSENT { None } else { self.resolve(name) }
    }

    #[cold]
    #[inline(never)]
    fn resolve(&self, name: NameNumber) -> Option<&'a Expression> {
        let position = self.slots.shape.position(&self.names.names[name as usize]);
        let position = position.and_then(|position| u32::try_from(position).ok()).unwrap_or(ABSENT);
        self.slots.positions[name as usize].set(position);
        self.expressions.get(position as usize)
    }
}
