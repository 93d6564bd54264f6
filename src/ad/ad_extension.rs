//! Ads with further attributes: many ads get the same ones.

use std::sync::Arc;

use super::{Ad, AdShape, ByIdentity, Expression, Name};

/// Attributes that are added to many ads. Ads that share a shape share the extended one, too, so that each ad is copied once,
/// however many attributes it gets.
pub struct AdExtension {
    attributes: Vec<(Name, Expression)>,
    /// The extended shape of each shape.
    shapes: ByIdentity<Arc<AdShape>, ExtendedShape>,
}

/// A shape with further names.
struct ExtendedShape {
    shape: Arc<AdShape>,
    /// The positions of the attributes that are added, in their order.
    places: Vec<usize>,
}

impl AdExtension {
    /// Prepares the addition of these attributes. Of equal names the last counts.
    #[must_use]
    pub fn new(attributes: Vec<(Name, Expression)>) -> Self {
        AdExtension { attributes, shapes: ByIdentity::default() }
    }

    /// Returns a copy of an ad with the attributes, which replace those of the same names.
    pub fn extend(&mut self, ad: &Ad) -> Ad {
        let attributes = &self.attributes;
        let ExtendedShape { shape, places } = self.shapes.get_or_insert_with(ad.shape(), || {
            let mut shape = AdShape::clone(ad.shape());
            let places = attributes.iter().map(|(name, _)| shape.insert(name.clone())).collect();
            ExtendedShape { shape: Arc::new(shape), places }
        });
        let mut expressions = Vec::with_capacity(shape.names().len());
        expressions.extend_from_slice(ad.expressions());
        for ((_, expression), place) in self.attributes.iter().zip(places.iter()) {
            match expressions.get_mut(*place) {
                Some(before) => *before = expression.clone(),
                None => expressions.push(expression.clone()),
            }
        }
        Ad::from_shape(shape.clone(), expressions)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::AdExtension;
    use crate::ad::{Ad, Expression, Name, Value};

    #[test]
    fn an_extended_ad_is_that_of_single_additions() {
        let literal = |number| Expression::literal(Value::Integer(number));
        let ad = |names: &[&str]| -> Ad { names.iter().map(|name| (Name::new(name), literal(1))).collect() };
        let ads = [ad(&["a", "B"]), ad(&["a", "B"]), ad(&[]), ad(&["x", "y", "c"])];
        for names in [&[][..], &["c"], &["b", "c", "A"], &["d", "d", "C"]] {
            let attributes: Vec<(Name, Expression)> =
                (10..).zip(names).map(|(number, name)| (Name::new(name), literal(number))).collect();
            let mut extension = AdExtension::new(attributes.clone());
            for ad in &ads {
                let expected =
                    attributes.iter().fold(ad.clone(), |ad, (name, value)| ad.with(name.clone(), value.clone()));
                let (found, again) = (extension.extend(ad), extension.extend(ad));
                let text = |ad: &Ad| -> Vec<String> {
                    ad.iter().map(|attribute| format!("{} = {}", attribute.name, attribute.expression)).collect()
                };
                assert_eq!(text(&found), text(&expected), "{names:?}");
                assert!(found.shape().names() == again.shape().names());
                assert!(Arc::ptr_eq(found.shape(), again.shape()), "{names:?}");
            }
        }
    }
}
