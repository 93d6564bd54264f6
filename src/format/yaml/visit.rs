//! What the visitors for ads and for settings share: scalars, and the stack for the parser.

/// A scalar with the type that `serde_yaml` gives it.
pub enum YamlScalar<'s> {
    Null,
    Boolean(bool),
    Integer(i64),
    /// The digits of an integer that does not fit into 64 bits.
    LargeInteger(String),
    Real(f64),
    Text(&'s str),
}

/// Defines the methods that serde calls for scalars. Each of them calls the method `scalar` of the visitor.
macro_rules! visit_scalars {
    () => {
        fn visit_none<E: Error>(self) -> Result<Self::Value, E> {
            self.scalar(YamlScalar::Null)
        }

        fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
            self.scalar(YamlScalar::Null)
        }

        fn visit_bool<E: Error>(self, is: bool) -> Result<Self::Value, E> {
            self.scalar(YamlScalar::Boolean(is))
        }

        fn visit_i64<E: Error>(self, integer: i64) -> Result<Self::Value, E> {
            self.scalar(YamlScalar::Integer(integer))
        }

        fn visit_u64<E: Error>(self, integer: u64) -> Result<Self::Value, E> {
            self.visit_u128(integer.into())
        }

        fn visit_i128<E: Error>(self, integer: i128) -> Result<Self::Value, E> {
            self.scalar(YamlScalar::LargeInteger(integer.to_string()))
        }

        fn visit_u128<E: Error>(self, integer: u128) -> Result<Self::Value, E> {
            let small = i64::try_from(integer).map(YamlScalar::Integer);
            self.scalar(small.unwrap_or_else(|_| YamlScalar::LargeInteger(integer.to_string())))
        }

        fn visit_f64<E: Error>(self, real: f64) -> Result<Self::Value, E> {
            self.scalar(YamlScalar::Real(real))
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
            self.scalar(YamlScalar::Text(text))
        }
    };
}

pub(super) use visit_scalars;

/// Calls `parse` with enough stack for the parser of `serde_yaml`, which recurses at most 128 levels deep.
pub fn with_parser_stack<T>(parse: impl FnOnce() -> T) -> T {
    const MAX_PARSER_STACK_BYTES: usize = 2 * 1024 * 1024;
    stacker::maybe_grow(MAX_PARSER_STACK_BYTES, 2 * MAX_PARSER_STACK_BYTES, parse)
}
