//! What things are: names, spans, values, times, expressions, operators, ads and the two dialects.
//!
//! Nothing here reads text or computes a value; the floors above do.

mod attributes;
mod dialect;
mod distinct;
mod expression;
mod fault;
mod frame;
mod name;
mod near;
mod operator;
mod record;
mod same;
mod span;
mod text;
pub mod time;
mod value;

pub use dialect::Dialect;
pub use distinct::Distinct;
pub use expression::{Expression, Kind, same_list};
pub use fault::{Cause, Fault};
pub use frame::{Frame, Participant};
pub use name::{KnownName, Name};
pub use near::nearest;
pub use operator::{BinaryOperator, Group, PRECEDENCE_UNARY, UnaryOperator};
pub use record::{Ad, Attribute};
pub use same::same_tree;
pub use span::Span;
pub use text::Text;
pub use time::{AbsoluteTime, RelativeTime};
pub use value::{List, Nested, Type, Value};
