//! C's `printf` for one value.

use crate::ad::Value;
use crate::syntax::{ConversionKind, PrintfConversion};

/// Formats a value as C's `printf` does, with one conversion and text around it. `None` if the format is invalid or
/// not for this type of value.
pub(super) fn printf(format: &str, value: &Value) -> Option<String> {
    let (before, rest) = format.split_once('%')?;
    let (conversion, length) = PrintfConversion::read(rest).ok()??;
    let behind = Some(&rest[length..]).filter(|behind| !behind.contains('%'))?;
    let field = match (value, conversion.kind()) {
        (Value::Integer(integer), ConversionKind::Integer) => conversion.format_integer(*integer),
        (Value::Real(real), ConversionKind::Real) => conversion.format_real(*real),
        (Value::String(text), ConversionKind::String) => conversion.format_text(&text.to_str()),
        _ => return None,
    };
    Some(format!("{before}{field}{behind}"))
}

#[cfg(test)]
mod tests {
    use super::printf;
    use crate::ad::Value;

    #[test]
    fn as_c_prints() {
        use Value::{Integer, Real};
        for (format, value, expected) in [
            ("%d", Integer(2), "2"),
            ("%5d|", Integer(-7), "   -7|"),
            ("%-5d|", Integer(7), "7    |"),
            ("%05d", Integer(-7), "-0007"),
            ("%+i", Integer(7), "+7"),
            ("%.3d", Integer(7), "007"),
            ("%lld", Integer(i64::MIN), "-9223372036854775808"),
            ("0x%x", Integer(255), "0xff"),
            ("%.2f", Real(2.5), "2.50"),
            ("%e", Real(2.5), "2.500000e+00"),
            ("%.3E", Real(-1e-10), "-1.000E-10"),
            ("%g", Real(3.0), "3"),
            ("%g", Real(1e10), "1e+10"),
            ("%#g", Real(1.0), "1.00000"),
            ("%g", Real(0.0001), "0.0001"),
            ("%08.3f", Real(-1.5), "-001.500"),
            ("%5s|", Value::string("ab"), "   ab|"),
            ("%-5.1s|", Value::string("ab"), "a    |"),
        ] {
            assert_eq!(printf(format, &value).as_deref(), Some(expected), "{format}");
        }
        for (format, value) in [
            ("%s", Integer(1)),
            ("%d", Real(1.0)),
            ("%d", Value::string("1")),
            ("5", Integer(1)),
            ("%d%d", Integer(1)),
            ("%", Integer(1)),
            ("%999999999999d", Integer(1)),
            ("%.", Real(1.0)),
        ] {
            assert_eq!(printf(format, &value), None, "{format}");
        }
        for (real, expected) in [
            (6.0, "6"),
            (1.0 / 3.0, "0.3333333333333333"),
            (0.1 + 0.2, "0.3"),
            (1e300, "1E+300"),
            (-0.0, "-0"),
            (12_345_678.9, "12345678.9"),
        ] {
            assert_eq!(printf("%.16G", &Real(real)).unwrap(), expected);
        }
    }
}
