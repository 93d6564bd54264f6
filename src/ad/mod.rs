//! The data model: names, spans, values, times, expressions, operators, ads and the two dialects.
//!
//! Nothing here parses expressions or evaluates them; `syntax` and `eval` do.

#[allow(clippy::module_inception)] // the file is called as the type in it
mod ad;
mod attribute_map;
mod byte_string;
mod dialect;
mod equality;
mod error_origin;
mod expression;
mod expression_interner;
mod frame;
mod name;
mod operator;
mod span;
mod suggestions;
pub mod time;
mod value;

pub use ad::{Ad, Attribute};
pub use byte_string::Text;
pub use dialect::Dialect;
pub use equality::same_tree;
pub use error_origin::{Cause, Fault};
pub use expression::{Expression, Kind, same_list};
pub use expression_interner::Distinct;
pub use frame::{Frame, Participant};
pub use name::{KnownName, Name};
pub use operator::{BinaryOperator, Group, PRECEDENCE_UNARY, UnaryOperator};
pub use span::Span;
pub use suggestions::nearest;
pub use time::{AbsoluteTime, RelativeTime};
pub use value::{List, Nested, Type, Value};
