//! Predicates on the type of a value (thesis A.1). None of them is strict, since undefined and error are types, too.

use crate::ad::{Type, Value};

use super::BuiltinFunction;

/// Makes the table of the predicates, and [`tested_type`].
macro_rules! predicates {
    ($($name:ident $type:ident, $doc:literal, $call:literal => $value:literal;)*) => {
        pub(super) const FUNCTIONS: &[BuiltinFunction] = &[
            $(function!($name(1, 1) Lazy "(any) -> bool",
                $doc,
                both $call => $value,
                |call| Ok(Value::Boolean(call.value(0)?.value_type() == Type::$type)))),*
        ];

        /// Returns the type that a predicate tests for; `None` for other functions.
        #[must_use]
        pub fn tested_type(function: &BuiltinFunction) -> Option<Type> {
            match function.name {
                $(stringify!($name) => Some(Type::$type),)*
                _ => None,
            }
        }
    };
}

predicates! {
    isUndefined Undefined, "whether the value is undefined", "isUndefined(x)" => "true";
    isError Error, "whether the value is an error", "isError(1 / 0)" => "true";
    isString String, "whether the value is a string", "isString(\"a\")" => "true";
    isInteger Integer, "whether the value is an integer", "isInteger(1)" => "true";
    isReal Real, "whether the value is a real", "isReal(1)" => "false";
    isBoolean Boolean, "whether the value is a boolean", "isBoolean(1 < 2)" => "true";
    isList List, "whether the value is a list", "isList({ 1 })" => "true";
    isClassAd Ad, "whether the value is an ad", "isClassAd([ a = 1 ])" => "true";
    isAbsTime AbsoluteTime, "whether the value is an absolute time", "isAbsTime(currentTime())" => "true";
    isRelTime RelativeTime, "whether the value is a relative time", "isRelTime(relTime(\"5\"))" => "true";
}
