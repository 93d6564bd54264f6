//! Codes of the expressions that many ads bind to their attributes, found in one pass over the ads.

use std::sync::Arc;

use crate::ad::{Ad, ByIdentity, Expression, Name, ShapeTable};

/// The code of an ad without the attribute.
pub const NO_EXPRESSION: u32 = 0;

/// The expressions that some ads bind to one attribute, as codes.
#[derive(Default)]
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
    expressions: ByIdentity<Expression, u32>,
    /// Identity and code of the expression that was added last. The next ad often binds the same one.
    last: (usize, u32),
}

impl CodedExpressions {
    /// Finds the codes of one attribute of some ads.
    #[must_use]
    pub fn of_attribute(ads: &[Ad], name: &Name) -> Self {
        let (mut last_shape, mut position) = (std::ptr::null(), None);
        CodedExpressions::of(ads.iter().map(|ad| {
            let shape = Arc::as_ptr(ad.shape());
            if shape != last_shape {
                (last_shape, position) = (shape, ad.shape().position(name));
            }
            position.map(|position| &ad.expressions()[position])
        }))
    }

    /// Finds the codes of the expression of each ad; `None` means that the ad lacks the attribute.
    pub fn of<'a>(expressions: impl IntoIterator<Item = Option<&'a Expression>>) -> Self {
        let mut coder = ExpressionCoder::default();
        for (row, expression) in expressions.into_iter().enumerate() {
            if let Some(expression) = expression {
                coder.add(row, expression);
            }
        }
        coder.into()
    }
}

/// Finds the codes of all attributes of some ads, by the names of the attributes in order of first occurrence. Iterates
/// over each ad once, which is faster than looking up every name in every ad.
pub fn code_expressions(ads: &[Ad]) -> impl Iterator<Item = (Name, CodedExpressions)> {
    let mut coders: ShapeTable<Name, ExpressionCoder> = ShapeTable::default();
    let (mut last_shape, mut columns) = (0, Arc::from([]));
    for (row, ad) in ads.iter().enumerate() {
        let shape = Arc::as_ptr(ad.shape()) as usize;
        if shape != last_shape {
            columns = coders.numbers(ad.shape(), |_| ExpressionCoder::default());
            last_shape = shape;
        }
        for (column, expression) in columns.iter().zip(ad.expressions()) {
            coders[*column].add(row, expression);
        }
    }
    coders.into_iter().map(|(name, coder)| (name, coder.into()))
}

impl From<ExpressionCoder> for CodedExpressions {
    fn from(ExpressionCoder { codes, expressions, .. }: ExpressionCoder) -> Self {
        CodedExpressions { codes, expressions: expressions.into_iter().map(|(expression, _)| expression).collect() }
    }
}

impl ExpressionCoder {
    fn add(&mut self, row: usize, expression: &Expression) {
        let identity = expression.identity();
        if self.last.0 != identity {
            let next = u32::try_from(self.expressions.len() + 1).unwrap_or(u32::MAX);
            self.last = (identity, *self.expressions.get_or_insert_with(expression, || next));
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
