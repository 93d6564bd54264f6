//! Columns of the expressions that ads bind to their attributes.

use std::sync::{Arc, OnceLock};

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::ad::{Ad, Dialect, Expression, ExpressionInterner, ExpressionKind, Name, Value};
use crate::eval::FreeNames;

use super::code::code;
use super::coded_expressions::{CodedExpressions, code_expressions};
use super::dictionary_column::{ABSENT, DictionaryColumn};
use super::value_key::ValueKey;

/// The expressions that many ads bind to one attribute.
pub struct ExpressionColumn {
    /// The distinct expressions, in order of first occurrence. Rows without the attribute have the entry `undefined`.
    column: DictionaryColumn<Expression>,
    free_names: OnceLock<FreeNames>,
}

/// Columns by the names of their attributes, in order of first occurrence.
pub type ExpressionColumns = IndexMap<Name, Arc<ExpressionColumn>, FxBuildHasher>;

/// Builds the columns of all attributes of some ads.
pub fn build_columns(ads: &[Ad]) -> ExpressionColumns {
    code_expressions(ads).map(|(name, codes)| (name, Arc::new(codes.into()))).collect()
}

impl From<CodedExpressions> for ExpressionColumn {
    /// Gives equal expressions, which may have several codes, one.
    fn from(CodedExpressions { mut codes, expressions }: CodedExpressions) -> Self {
        let mut entries = vec![Expression::literal(Value::Undefined)];
        let mut literals: FxHashMap<ValueKey, u32> = FxHashMap::default();
        let (mut others, mut codes_of_others) = (ExpressionInterner::default(), Vec::new());
        let mut known = vec![ABSENT];
        for expression in expressions {
            let next = code(entries.len());
            let own = match expression.kind() {
                ExpressionKind::Literal(value) if has_key(value) => {
                    *literals.entry(ValueKey::of(value)).or_insert(next)
                }
                _ => {
                    let (number, is_new) = others.intern(&expression);
                    codes_of_others.extend(is_new.then_some(next));
                    codes_of_others[number]
                }
            };
            if own == next {
                entries.push(expression);
            }
            known.push(own);
        }
        for code in &mut codes {
            *code = known[*code as usize];
        }
        ExpressionColumn { column: DictionaryColumn { codes, entries }, free_names: OnceLock::new() }
    }
}

impl ExpressionColumn {
    /// Builds the column of the attribute `name`, with one row for each ad.
    #[must_use]
    pub fn of(ads: &[Ad], name: &Name) -> Self {
        CodedExpressions::of_attribute(ads, name).into()
    }

    /// Returns the code of a row. Two rows have the same code if they bind equal expressions or both lack the
    /// attribute, and only then.
    #[must_use]
    pub fn code(&self, row: usize) -> u32 {
        self.column.code(row)
    }

    /// Returns the expression of a row; `None` if the row lacks the attribute.
    #[must_use]
    pub fn expression(&self, row: usize) -> Option<&Expression> {
        let code = self.code(row);
        (code != ABSENT).then(|| &self.column.entries[code as usize])
    }

    /// Number of codes, including the code of rows without the attribute.
    #[must_use]
    pub fn code_count(&self) -> usize {
        self.column.entries.len()
    }

    /// Returns the distinct expressions, in order of first occurrence.
    pub fn expressions(&self) -> &[Expression] {
        &self.column.entries[1..]
    }

    /// Whether a row has the attribute.
    #[must_use]
    pub fn has(&self, row: usize) -> bool {
        self.code(row) != ABSENT
    }

    /// Returns the free names of all expressions of the column except literals. They are computed on first use.
    pub fn free_names(&self, dialect: Dialect) -> &FreeNames {
        self.free_names.get_or_init(|| {
            let mut mentions = FreeNames::default();
            let others =
                self.expressions().iter().filter(|expression| !matches!(expression.kind(), ExpressionKind::Literal(_)));
            others.for_each(|expression| mentions.add(expression, dialect));
            mentions
        })
    }
}

/// Whether a literal with this value can be interned by its [`ValueKey`]. Lists and ads cannot: they are interned as
/// expressions.
fn has_key(value: &Value) -> bool {
    !matches!(value, Value::List(_) | Value::Ad(_))
}
