//! Columns of the expressions that ads bind to their attributes.

use std::sync::{Arc, OnceLock};

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::ad::{Ad, AdShape, Dialect, Expression, ExpressionInterner, ExpressionKind, Name, Value};
use crate::constraint::literal_value;
use crate::eval::FreeNames;

use super::coded_expressions::{CodedExpressions, code_expressions};
use super::dictionary_column::{ABSENT, DictionaryColumn};
use super::value_key::ValueKey;

/// The expressions that many ads bind to one attribute.
pub struct ExpressionColumn {
    /// The distinct expressions, in order of first occurrence. Rows without the attribute have the entry `undefined`.
    column: DictionaryColumn<Expression>,
    free_names: OnceLock<FreeNames>,
    /// The number of each code, as [`ExpressionColumn::numbers`] returns it.
    numbers: OnceLock<Box<[f64]>>,
}

/// Largest magnitude of the integers that are exact as reals: 2^53.
const MAX_EXACT_INTEGER: u64 = 1 << 53;

/// Builds an [`ExpressionColumn`] ad by ad.
struct ExpressionColumnBuilder {
    column: DictionaryColumn<Expression>,
    literals: FxHashMap<ValueKey, u32>,
    interner: ExpressionInterner,
    codes_by_id: Vec<u32>,
    /// The expression that was added last, and its code. The next ad often binds an equal expression.
    last: Option<(Expression, u32)>,
}

/// Columns by the names of their attributes, in order of first occurrence.
pub type ExpressionColumns = IndexMap<Name, Arc<ExpressionColumn>, FxBuildHasher>;

/// Builds the columns of all attributes of some ads.
pub fn build_columns(ads: &[Ad]) -> ExpressionColumns {
    let build = |(name, codes)| (name, Arc::new(ExpressionColumnBuilder::of_codes(codes).finish()));
    code_expressions(ads).map(build).collect()
}

impl ExpressionColumnBuilder {
    fn new() -> Self {
        ExpressionColumnBuilder {
            column: DictionaryColumn::new([Expression::literal(Value::Undefined)]),
            literals: FxHashMap::default(),
            interner: ExpressionInterner::default(),
            codes_by_id: Vec::new(),
            last: None,
        }
    }

    /// Builds the column from codes in which equal expressions may have several codes.
    fn of_codes(CodedExpressions { mut codes, expressions }: CodedExpressions) -> Self {
        let mut builder = ExpressionColumnBuilder::new();
        let known: Vec<u32> =
            std::iter::once(ABSENT).chain(expressions.iter().map(|expression| builder.intern(expression))).collect();
        for code in &mut codes {
            *code = known[*code as usize];
        }
        builder.column = DictionaryColumn { codes, ..builder.column };
        builder
    }

    fn add(&mut self, row: usize, expression: &Expression) {
        let code = match &self.last {
            Some((last, code)) if last.ptr_eq(expression) || is_same_literal(last, expression) => *code,
            _ => self.intern(expression),
        };
        self.column.push_at(row, code);
        if self.last.as_ref().is_none_or(|(_, last)| *last != code) {
            self.last = Some((expression.clone(), code));
        }
    }

    fn intern(&mut self, expression: &Expression) -> u32 {
        let mut add = || self.column.add_entry(expression.clone());
        match expression.kind() {
            ExpressionKind::Literal(value) if has_key(value) => {
                *self.literals.entry(ValueKey::of(value)).or_insert_with(add)
            }
            _ => {
                let (number, is_new) = self.interner.intern(expression);
                if is_new {
                    self.codes_by_id.push(add());
                }
                self.codes_by_id[number]
            }
        }
    }

    fn finish(self) -> ExpressionColumn {
        ExpressionColumn { column: self.column, free_names: OnceLock::new(), numbers: OnceLock::new() }
    }
}

impl ExpressionColumn {
    /// Builds the column of the attribute `name`, with one row for each ad.
    #[must_use]
    pub fn of(ads: &[Ad], name: &Name) -> Self {
        let mut column = ExpressionColumnBuilder::new();
        let mut positions: FxHashMap<*const AdShape, Option<usize>> = FxHashMap::default();
        for (row, ad) in ads.iter().enumerate() {
            let shape = ad.shape();
            let position = positions.entry(Arc::as_ptr(shape)).or_insert_with(|| shape.position(name));
            if let Some(position) = position {
                column.add(row, &ad.expressions()[*position]);
            }
        }
        column.finish()
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

    /// Returns for each code the [`exact_number`] that is the value of its expression, or NaN if its expression is not
    /// such a literal. They are computed on first use.
    pub fn numbers(&self, dialect: Dialect) -> &[f64] {
        self.numbers.get_or_init(|| {
            let number = |expression| literal_value(expression, dialect).and_then(exact_number).unwrap_or(f64::NAN);
            self.column.entries.iter().map(number).collect()
        })
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

/// Returns an integer or a real as a real that compares with others as the value itself does. `None` for a large
/// integer, for NaN and for other values.
#[must_use]
pub fn exact_number(value: &Value) -> Option<f64> {
    match value {
        #[allow(clippy::cast_precision_loss)] // it is exact
        Value::Integer(integer) => (integer.unsigned_abs() <= MAX_EXACT_INTEGER).then_some(*integer as f64),
        Value::Real(real) => Some(*real).filter(|real| !real.is_nan()),
        _ => None,
    }
}

/// Whether a literal with this value can be interned by its [`ValueKey`]. Lists and ads cannot: they are interned as
/// expressions.
fn has_key(value: &Value) -> bool {
    !matches!(value, Value::List(_) | Value::Ad(_))
}

/// Whether both expressions are literals with the same integer, boolean or string. This check is faster than interning.
fn is_same_literal(left: &Expression, right: &Expression) -> bool {
    let (ExpressionKind::Literal(left), ExpressionKind::Literal(right)) = (left.kind(), right.kind()) else {
        return false;
    };
    match (left, right) {
        (Value::Integer(left), Value::Integer(right)) => left == right,
        (Value::Boolean(left), Value::Boolean(right)) => left == right,
        (Value::String(left), Value::String(right)) => left == right,
        _ => false,
    }
}
