//! Predicates on the type of a value (thesis A.1). None of them is strict, since undefined and error are types, too.

use crate::ad::{Type, Value};

use super::BuiltinFunction;

macro_rules! predicate {
    ($name:ident $type:ident, $doc:literal, $call:literal => $value:literal) => {
        function!($name(1, 1) Lazy "(any) -> bool",
            $doc,
            both $call => $value,
            |call| Ok(Value::Boolean(call.value(0)?.value_type() == Type::$type)))
    };
}

pub(super) const FUNCTIONS: &[BuiltinFunction] = &[
    predicate!(isUndefined Undefined, "whether the value is undefined", "isUndefined(x)" => "true"),
    predicate!(isError Error, "whether the value is an error", "isError(1 / 0)" => "true"),
    predicate!(isString String, "whether the value is a string", "isString(\"a\")" => "true"),
    predicate!(isInteger Integer, "whether the value is an integer", "isInteger(1)" => "true"),
    predicate!(isReal Real, "whether the value is a real", "isReal(1)" => "false"),
    predicate!(isBoolean Boolean, "whether the value is a boolean", "isBoolean(1 < 2)" => "true"),
    predicate!(isList List, "whether the value is a list", "isList({ 1 })" => "true"),
    predicate!(isClassAd Ad, "whether the value is an ad", "isClassAd([ a = 1 ])" => "true"),
    predicate!(isAbsTime AbsoluteTime, "whether the value is an absolute time",
        "isAbsTime(currentTime())" => "true"),
    predicate!(isRelTime RelativeTime, "whether the value is a relative time",
        "isRelTime(relTime(\"5\"))" => "true"),
];
