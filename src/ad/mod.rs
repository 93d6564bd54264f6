//! The data model: names, spans, values, times, expressions, operators, ads and the two dialects.
//!
//! Nothing here parses expressions or evaluates them; `syntax` and `eval` do.

#[allow(clippy::module_inception)] // the file is called as the type in it
mod ad;
mod ad_extension;
mod ad_shape;
mod bounded;
mod by_identity;
mod byte_string;
mod dialect;
mod equality;
mod error_origin;
mod expression;
mod expression_children;
mod expression_interner;
mod frame;
mod name;
mod operator;
mod rewriting;
mod scope_ad;
mod shape_table;
mod span;
pub mod time;
mod truth;
mod value;

pub use crate::text::closest_names;
pub use ad::{Ad, Attribute};
pub use ad_extension::AdExtension;
pub use ad_shape::AdShape;
pub use bounded::Bounded;
pub use by_identity::{ByIdentity, Identity};
pub use byte_string::ByteString;
pub use dialect::Dialect;
pub use equality::{numerically_equal, structurally_equal};
pub use error_origin::{ErrorCause, ErrorOrigin};
pub use expression::{Expression, ExpressionKind};
pub use expression_interner::ExpressionInterner;
pub use frame::{Participant, ScopeFrame};
pub use name::{KnownName, Name};
pub use operator::{BinaryOperator, OperatorGroup, PRECEDENCE_CONDITIONAL, PRECEDENCE_UNARY, UnaryOperator};
pub use rewriting::{Replacement, rename_attribute, replace_kinds, rewrite_expression};
pub use scope_ad::ScopeAd;
pub use shape_table::{NameKey, ShapeTable};
pub use span::Span;
pub use time::{AbsoluteTime, RelativeTime};
pub use truth::Truth;
pub use value::{AdValue, ListValue, Type, Value};
