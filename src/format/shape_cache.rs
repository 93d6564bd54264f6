//! Cache of the shapes of one source's ads, so that ads with the same names in the same order share one shape.
//!
//! Bench row `parse --count machines.long`: 1.15 times as many instructions without the cache.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::ad::{AdShape, Bounded, Name};

/// Shapes by the numbers of their names.  The caller numbers the names, and a number always stands for the same name.
#[derive(Default)]
pub struct ShapeCache {
    /// The shape that was returned last, because most ads have the shape of the ad before.  `None` before the first ad.
    last: Option<NumberedShape>,
    shapes: Bounded<FxHashMap<Box<[usize]>, Arc<AdShape>>>,
}

/// The numbers of the names of an ad, and the shape with these names.
struct NumberedShape {
    numbers: Box<[usize]>,
    shape: Arc<AdShape>,
}

impl ShapeCache {
    /// Returns the shape with the names that have these numbers, in this order.  `None` if a name occurs twice, so that
    /// the ad cannot share its shape.
    pub fn shape(&mut self, numbers: &[usize], name: impl Fn(usize) -> Name) -> Option<Arc<AdShape>> {
        if let Some(last) = self.last.as_ref().filter(|last| *last.numbers == *numbers) {
            return Some(Arc::clone(&last.shape));
        }
        let known = self.shapes.get(numbers).cloned();
        let shape = if let Some(known) = known {
            known
        } else {
            let shape: AdShape = numbers.iter().map(|number| name(*number)).collect();
            if shape.names().len() < numbers.len() {
                return None;
            }
            let shape = Arc::new(shape);
            self.shapes.make_room(numbers.len() * (size_of::<usize>() + size_of::<Name>()));
            self.shapes.insert(numbers.into(), Arc::clone(&shape));
            shape
        };
        self.last = Some(NumberedShape { numbers: numbers.into(), shape: Arc::clone(&shape) });
        Some(shape)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::ShapeCache;
    use crate::ad::Name;

    #[test]
    fn names_in_the_same_order_have_one_shape() {
        let names = ["a", "b", "A"];
        let mut cache = ShapeCache::default();
        let mut shape = |numbers: &[usize]| cache.shape(numbers, |number| Name::new(names[number]));
        let one = shape(&[0, 1]).unwrap();
        let other = shape(&[1, 0]).unwrap();
        assert!(other.names().iter().map(Name::as_str).eq(["b", "a"]));
        for (numbers, expected) in [([0, 1], &one), ([0, 1], &one), ([1, 0], &other), ([0, 1], &one)] {
            assert!(Arc::ptr_eq(&shape(&numbers).unwrap(), expected), "{numbers:?}");
        }
        assert!(shape(&[0, 2]).is_none(), "`a` and `A` are one name");
    }
}
