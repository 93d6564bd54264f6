//! Codes of the expressions that many ads bind to their attributes, found in one pass over the ads.

use std::sync::Arc;

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::ad::{Ad, AdShape, Bounded, ByIdentity, Expression, Name};

/// The code of an ad without the attribute.
pub const NO_EXPRESSION: u32 = 0;

/// The expressions that some ads bind to one attribute, as codes.
pub struct CodedExpressions {
    /// Code of each ad: 0 if it lacks the attribute, else 1 more than an index into `expressions`. Ads after the last
    /// code lack the attribute.
    pub codes: Vec<u32>,
    /// The expressions, in order of first occurrence. Each node in memory is listed once, so that equal expressions may
    /// occur several times.
    pub expressions: Vec<Expression>,
}

/// Finds the codes of one attribute, ad by ad.
#[derive(Default)]
struct ExpressionCoder {
    codes: Vec<u32>,
    expressions: Vec<Expression>,
    by_identity: FxHashMap<usize, u32>,
    /// Identity and code of the expression that was added last. The next ad often binds the same one.
    last: (usize, u32),
}

/// Finds the codes of all attributes of some ads, by the names of the attributes in order of first occurrence. Iterates
/// over each ad once, which is faster than looking up every name in every ad.
pub fn code_expressions(ads: &[Ad]) -> impl Iterator<Item = (Name, CodedExpressions)> {
    let mut names: IndexSet<Name, FxBuildHasher> = IndexSet::default();
    let mut coders: Vec<ExpressionCoder> = Vec::new();
    // The columns of the names of each shape.
    let mut by_shape: Bounded<ByIdentity<Arc<AdShape>, Arc<[usize]>>> = Bounded::default();
    let (mut last_shape, mut columns) = (0, Arc::from([]));
    for (row, ad) in ads.iter().enumerate() {
        let shape = Arc::as_ptr(ad.shape()) as usize;
        if shape != last_shape {
            let find = || ad.shape().names().iter().map(|name| column_of(&mut names, name)).collect();
            let bytes = ad.len() * size_of::<usize>();
            columns = Arc::clone(by_shape.get_or_insert_with(ad.shape(), bytes, find));
            last_shape = shape;
            coders.resize_with(names.len(), ExpressionCoder::default);
        }
        for (column, expression) in columns.iter().zip(ad.expressions()) {
            coders[*column].add(row, expression);
        }
    }
    let finished = coders.into_iter().map(|ExpressionCoder { codes, expressions, .. }| (codes, expressions));
    names.into_iter().zip(finished.map(|(codes, expressions)| CodedExpressions { codes, expressions }))
}

/// Returns the index of a name, which is inserted if it is new.
fn column_of(names: &mut IndexSet<Name, FxBuildHasher>, name: &Name) -> usize {
    names.get_index_of(name).unwrap_or_else(|| names.insert_full(name.clone()).0)
}

impl ExpressionCoder {
    fn add(&mut self, row: usize, expression: &Expression) {
        let identity = expression.identity();
        if self.last.0 != identity {
            let ExpressionCoder { by_identity, expressions, .. } = self;
            let code = by_identity.entry(identity).or_insert_with(|| {
                expressions.push(expression.clone());
                u32::try_from(expressions.len()).unwrap_or(u32::MAX)
            });
            self.last = (identity, *code);
        }
        if self.codes.len() < row {
            self.codes.resize(row, NO_EXPRESSION);
        }
        self.codes.push(self.last.1);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{NO_EXPRESSION, code_expressions};
    use crate::ad::{Ad, Expression, Name};

    proptest! {
        #[test]
        fn codes_stand_for_the_expressions_of_the_ads(
            rows in proptest::collection::vec(proptest::collection::vec((0..5_usize, 0..4_usize), 0..6), 0..20),
        ) {
            let names = ["a", "b", "C", "c", "d"].map(Name::new);
            let values = [0, 1, 1, 2].map(Expression::literal);
            let ads: Vec<Ad> = rows
                .iter()
                .map(|row| row.iter().map(|(name, value)| (names[*name].clone(), values[*value].clone())).collect())
                .collect();
            // Every other ad shares the shape of an ad before.
            let ads: Vec<Ad> = ads.iter().flat_map(|ad| [ad.clone(), ad.clone()]).collect();
            let found: Vec<_> = code_expressions(&ads).collect();
            let mut expected: Vec<Name> = Vec::new();
            for attribute in ads.iter().flat_map(Ad::iter).filter(|attribute| !expected.contains(attribute.name)).collect::<Vec<_>>() {
                if !expected.contains(attribute.name) {
                    expected.push(attribute.name.clone());
                }
            }
            prop_assert!(found.iter().map(|(name, _)| name).eq(&expected));
            for (name, column) in &found {
                for (row, ad) in ads.iter().enumerate() {
                    let code = column.codes.get(row).copied().unwrap_or(NO_EXPRESSION);
                    let own = (code != NO_EXPRESSION).then(|| column.expressions[code as usize - 1].identity());
                    prop_assert_eq!(own, ad.get(name).map(Expression::identity));
                }
            }
        }
    }
}
