//! Conversions of C's `printf`, such as `%-8.3f`.

/// Maximum width and precision of a conversion, in characters.
const MAX_WIDTH_CHARS: usize = 4096;

/// Supported conversion letters.
const CONVERSION_LETTERS: &str = "sdiuxXofFeEgGvVrTY";

/// Kind of value that a conversion takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConversionKind {
    /// A string.
    String,
    /// An integer.
    Integer,
    /// A real number.
    Real,
    /// Any value.
    Value,
    /// The unevaluated expression.
    Raw,
    /// A number of seconds, printed as days, hours, minutes and seconds.
    Time,
    /// A time in seconds since 1970, printed as month, day, hour and minute.
    Date,
}

/// A conversion such as `%-8.3f`.
#[derive(Clone, Debug, Default)]
#[allow(clippy::struct_excessive_bools)] // each is a flag
pub struct PrintfConversion {
    left_aligned: bool,
    plus: bool,
    space: bool,
    zero_padded: bool,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
    letter: char,
}

impl PrintfConversion {
    /// Returns the conversion of a letter with this precision, without flags and width.
    #[must_use]
    pub fn of_letter(letter: char, precision: Option<usize>) -> Self {
        PrintfConversion { precision, letter, ..PrintfConversion::default() }
    }

    /// Parses the conversion after a `%` and returns it with the length of its text in bytes; `None` if the text
    /// begins with no conversion.
    ///
    /// # Errors
    ///
    /// Fails on an unsupported letter, and on a width or precision that is too large.
    pub fn read(text: &str) -> Result<Option<(PrintfConversion, usize)>, String> {
        let mut rest = text.trim_start_matches(['-', '+', ' ', '0', '#']);
        let flags = &text[..text.len() - rest.len()];
        let width = read_number(&mut rest)?.unwrap_or(0);
        let mut precision = None;
        if let Some(behind) = rest.strip_prefix('.') {
            rest = behind;
            precision = Some(read_number(&mut rest)?.unwrap_or(0));
        }
        // Skip C's length modifiers: all integers have 64 bits here.
        rest = rest.trim_start_matches(['h', 'l', 'L', 'q', 'j', 'z']);
        let Some(letter) = rest.chars().next().filter(char::is_ascii_alphabetic) else { return Ok(None) };
        if !CONVERSION_LETTERS.contains(letter) {
            let known: Vec<String> = CONVERSION_LETTERS.chars().map(|letter| format!("%{letter}")).collect();
            let known = known.join(" ");
            return Err(format!(
                "the conversion `%{letter}` is not supported: use {known}, or `%%` for a percent sign"
            ));
        }
        let conversion = PrintfConversion {
            left_aligned: flags.contains('-'),
            plus: flags.contains('+'),
            space: flags.contains(' '),
            zero_padded: flags.contains('0'),
            alternate: flags.contains('#'),
            width,
            precision,
            letter,
        };
        Ok(Some((conversion, text.len() - rest.len() + 1)))
    }

    /// Returns the kind of value that the conversion takes.
    #[must_use]
    pub fn kind(&self) -> ConversionKind {
        match self.letter {
            's' => ConversionKind::String,
            'v' | 'V' => ConversionKind::Value,
            'r' => ConversionKind::Raw,
            'T' => ConversionKind::Time,
            'Y' => ConversionKind::Date,
            'f' | 'F' | 'e' | 'E' | 'g' | 'G' => ConversionKind::Real,
            _ => ConversionKind::Integer,
        }
    }

    /// Whether strings are printed in quotes.
    #[must_use]
    pub fn is_quoted(&self) -> bool {
        self.letter == 'V'
    }

    /// Whether the text is aligned to the left of the width.
    #[must_use]
    pub fn is_left_aligned(&self) -> bool {
        self.left_aligned
    }

    /// Returns the minimum width in characters.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Cuts a text to the precision, in characters, and pads it to the width.
    #[must_use]
    pub fn format_text(&self, text: &str) -> String {
        let cut: String = text.chars().take(self.precision.unwrap_or(usize::MAX)).collect();
        self.padded("", &cut, false)
    }

    /// Formats an integer as C does, by the letter `d`, `i`, `u`, `o`, `x` or `X`.
    #[must_use]
    pub fn format_integer(&self, number: i64) -> String {
        let (sign, digits) = match self.letter {
            'u' => ("", number.cast_unsigned().to_string()),
            'o' => ("", format!("{number:o}")),
            'x' => (if self.alternate && number != 0 { "0x" } else { "" }, format!("{number:x}")),
            'X' => (if self.alternate && number != 0 { "0X" } else { "" }, format!("{number:X}")),
            _ => (self.sign(number < 0), number.unsigned_abs().to_string()),
        };
        let least = self.precision.unwrap_or(1);
        // In C a zero with precision 0 has no digits.
        let digits = if least == 0 && number == 0 { String::new() } else { format!("{digits:0>least$}") };
        // In C the flag `#` adds a 0 before an octal number that does not begin with 0.
        let is_octal = self.letter == 'o' && self.alternate && !digits.starts_with('0');
        let digits = if is_octal { format!("0{digits}") } else { digits };
        self.padded(sign, &digits, self.precision.is_none())
    }

    /// Formats a real number as C does, by the letter `f`, `e` or `g`, or its capital.
    #[must_use]
    pub fn format_real(&self, number: f64) -> String {
        let sign = self.sign(number.is_sign_negative() && !number.is_nan());
        let magnitude = number.abs();
        let precision = self.precision.unwrap_or(6);
        let digits = match self.letter {
            _ if number.is_nan() => "nan".to_owned(),
            _ if number.is_infinite() => "inf".to_owned(),
            'f' | 'F' => format!("{magnitude:.precision$}{}", self.point(precision)),
            'e' | 'E' => self.scientific(magnitude, precision),
            _ => self.general(magnitude, precision.max(1)),
        };
        let digits = if self.letter.is_ascii_uppercase() { digits.to_uppercase() } else { digits };
        self.padded(sign, &digits, number.is_finite())
    }

    /// Returns `.` if `precision` is 0 and the flag `#` is set. Without the flag a number without decimals has no
    /// decimal point, so the text is empty.
    fn point(&self, precision: usize) -> &'static str {
        if self.alternate && precision == 0 { "." } else { "" }
    }

    /// Formats like `%e`: with an exponent of a sign and at least two digits.
    fn scientific(&self, number: f64, precision: usize) -> String {
        let text = format!("{number:.precision$e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        format!("{digits}{}e{:+03}", self.point(precision), exponent.parse::<i32>().unwrap_or(0))
    }

    /// Formats like `%g`: with an exponent for very small and very large numbers, and without trailing zeros.
    fn general(&self, number: f64, precision: usize) -> String {
        let text = self.scientific(number, precision - 1);
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let places: isize = exponent.parse().unwrap_or(0);
        let decimals = (precision - 1).checked_add_signed(-places).filter(|_| places >= -4);
        let (digits, exponent) = match decimals {
            Some(decimals) => (format!("{number:.decimals$}{}", self.point(decimals)), String::new()),
            None => (digits.to_owned(), format!("e{exponent}")),
        };
        let is_cut = digits.contains('.') && !self.alternate;
        let digits = if is_cut { digits.trim_end_matches('0').trim_end_matches('.') } else { &digits };
        format!("{digits}{exponent}")
    }

    fn sign(&self, is_negative: bool) -> &'static str {
        match (is_negative, self.plus, self.space) {
            (true, ..) => "-",
            (_, true, _) => "+",
            (_, _, true) => " ",
            _ => "",
        }
    }

    /// Pads a number or a text to the width. The flag `0` has an effect only if `with_zeros` is true.
    fn padded(&self, sign: &str, text: &str, with_zeros: bool) -> String {
        let wanting = self.width.saturating_sub(sign.len() + text.chars().count());
        match (self.left_aligned, self.zero_padded && with_zeros) {
            (true, _) => format!("{sign}{text}{:wanting$}", ""),
            (_, true) => format!("{sign}{}{text}", "0".repeat(wanting)),
            _ => format!("{:wanting$}{sign}{text}", ""),
        }
    }
}

/// Reads a decimal number and advances `text` past it. `None` if the text begins with no digit, an error if the number
/// exceeds [`MAX_WIDTH_CHARS`].
fn read_number(text: &mut &str) -> Result<Option<usize>, String> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    *text = rest;
    if digits.is_empty() {
        return Ok(None);
    }
    let count = digits.parse().ok().filter(|count| *count <= MAX_WIDTH_CHARS);
    count
        .map(Some)
        .ok_or_else(|| format!("the width or precision {digits} is too large: the maximum is {MAX_WIDTH_CHARS}"))
}

#[cfg(test)]
mod tests {
    use super::{ConversionKind, PrintfConversion};

    fn only(text: &str) -> PrintfConversion {
        let (conversion, length) = PrintfConversion::read(&text[1..]).unwrap().unwrap();
        assert_eq!(length, text.len() - 1, "{text}");
        conversion
    }

    /// The expected texts are those of C's `printf`.
    #[test]
    fn numbers_are_printed_as_in_c() {
        for (format, number, printed) in [
            ("%d", 2048, "2048"),
            ("%05d", -7, "-0007"),
            ("%-6d", 42, "42    "),
            ("%+d", 7, "+7"),
            ("% d", 7, " 7"),
            ("%.3d", 7, "007"),
            ("%5.3d", 7, "  007"),
            ("%05.3d", 7, "  007"),
            ("%.0d", 0, ""),
            ("%x", 2048, "800"),
            ("%#x", 255, "0xff"),
            ("%X", -1, "FFFFFFFFFFFFFFFF"),
            ("%o", 8, "10"),
            ("%#o", 8, "010"),
            ("%#o", 0, "0"),
            ("%#.0o", 0, "0"),
            ("%#.3o", 8, "010"),
            ("%#5o", 8, "  010"),
            ("%#05o", 8, "00010"),
            ("%u", -1, "18446744073709551615"),
            ("%lld", i64::MIN, "-9223372036854775808"),
        ] {
            assert_eq!(only(format).format_integer(number), printed, "{format} of {number}");
        }
        for (format, number, printed) in [
            ("%f", 2048.0, "2048.000000"),
            ("%.2f", 1.005, "1.00"),
            ("%8.3f", 1.5, "   1.500"),
            ("%08.3f", -1.5, "-001.500"),
            ("%.0f", 2.5, "2"),
            ("%e", 1.5, "1.500000e+00"),
            ("%.1E", 12345.0, "1.2E+04"),
            ("%e", 0.0, "0.000000e+00"),
            ("%e", 1e-300, "1.000000e-300"),
            ("%g", 1.5, "1.5"),
            ("%g", 100.25, "100.25"),
            ("%g", 1e10, "1e+10"),
            ("%g", 123_456.0, "123456"),
            ("%g", 1_234_567.0, "1.23457e+06"),
            ("%g", 0.0001, "0.0001"),
            ("%g", 0.000_01, "1e-05"),
            ("%g", 999_999.5, "1e+06"),
            ("%#g", 1.0, "1.00000"),
            ("%.0g", 15.0, "2e+01"),
            ("%05f", f64::INFINITY, "  inf"),
            ("%F", f64::NAN, "NAN"),
        ] {
            assert_eq!(only(format).format_real(number), printed, "{format} of {number}");
        }
    }

    #[test]
    fn texts_are_padded_and_cut() {
        for (format, printed) in [("%s", "alice"), ("%8s", "   alice"), ("%-8s", "alice   "), ("%.3s", "ali")] {
            assert_eq!(only(format).format_text("alice"), printed, "{format}");
        }
    }

    /// The expected texts are those of C's `printf`.
    #[test]
    fn flags_widths_and_precisions_are_those_of_c() {
        for (format, number, printed) in [
            ("%i", 0, "0"),
            ("%+d", 0, "+0"),
            ("%+d", -1, "-1"),
            ("% d", -1, "-1"),
            ("%+ d", 5, "+5"),
            ("%-5d", 0, "0    "),
            ("%05d", 12345, "12345"),
            ("%06d", 12345, "012345"),
            ("%5d", -7, "   -7"),
            ("%-05d", 7, "7    "),
            ("%.0d", 5, "5"),
            ("%.1d", 0, "0"),
            ("%+.0d", 0, "+"),
            ("%5.0d", 0, "     "),
            ("%x", 0, "0"),
            ("%#x", 0, "0"),
            ("%#X", 255, "0XFF"),
            ("%#6x", 255, "  0xff"),
            ("%#06x", 255, "0x00ff"),
            ("%-#6x", 255, "0xff  "),
            ("%.4x", 255, "00ff"),
            ("%o", 0, "0"),
            ("%#o", 7, "07"),
            ("%.2o", 8, "10"),
            ("%#.1o", 0, "0"),
            ("%+u", 5, "5"),
            ("%5u", 0, "    0"),
        ] {
            assert_eq!(only(format).format_integer(number), printed, "{format} of {number}");
        }
        for (format, number, printed) in [
            ("%.0e", 1.5, "2e+00"),
            ("%.0e", 2.5, "2e+00"),
            ("%#.0e", 1.5, "2.e+00"),
            ("%#.0f", 1.5, "2."),
            ("%#.1f", 1.5, "1.5"),
            ("%.0g", 0.0, "0"),
            ("%g", 0.0, "0"),
            ("%#g", 0.0, "0.00000"),
            ("%g", -0.0, "-0"),
            ("%+g", 1.0, "+1"),
            ("% g", 1.0, " 1"),
            ("%-8g", 1.5, "1.5     "),
            ("%08g", -1.5, "-00001.5"),
            ("%.1g", 0.05, "0.05"),
            ("%.3g", 1234.0, "1.23e+03"),
            ("%.4g", 1234.0, "1234"),
            ("%.4g", 12345.0, "1.234e+04"),
            ("%.17g", 0.1, "0.10000000000000001"),
            ("%g", 0.000_123_45, "0.00012345"),
            ("%g", 0.000_012_345, "1.2345e-05"),
            ("%g", 99_999.95, "99999.9"),
            ("%g", 999_999.4, "999999"),
            ("%g", 1e100, "1e+100"),
            ("%G", 1e-10, "1E-10"),
            ("%E", 0.0, "0.000000E+00"),
            ("%.2e", 9.999, "1.00e+01"),
            ("%f", 1e15, "1000000000000000.000000"),
            ("%.10f", 0.1, "0.1000000000"),
            ("%+f", -1.0, "-1.000000"),
            ("%010.2f", 3.25159, "0000003.25"),
            ("%-10.2f", 3.25159, "3.25      "),
            ("%+08.1f", 0.05, "+00000.1"),
            ("%e", 1e9, "1.000000e+09"),
            ("%e", 1e10, "1.000000e+10"),
            ("%e", 1e-5, "1.000000e-05"),
            ("%g", 1e5, "100000"),
            ("%g", 1e6, "1e+06"),
            ("%#.3g", 1.0, "1.00"),
            ("%#.3g", 100.0, "100."),
            ("%#.3g", 1000.0, "1.00e+03"),
            ("%.2g", 99.5, "1e+02"),
            ("%.0g", 0.000_01, "1e-05"),
            ("%f", f64::INFINITY, "inf"),
            ("%F", f64::NEG_INFINITY, "-INF"),
            ("%+f", f64::INFINITY, "+inf"),
            ("%8e", f64::INFINITY, "     inf"),
            ("%-8g", f64::INFINITY, "inf     "),
            ("%08g", f64::NEG_INFINITY, "    -inf"),
        ] {
            assert_eq!(only(format).format_real(number), printed, "{format} of {number}");
        }
    }

    #[test]
    fn what_is_no_conversion_is_told() {
        use ConversionKind::{Date, Integer, Raw, Real, String, Time, Value};
        for (letters, kind) in
            [("s", String), ("diuoxX", Integer), ("fFeEgG", Real), ("vV", Value), ("r", Raw), ("T", Time), ("Y", Date)]
        {
            for letter in letters.chars() {
                let conversion = only(&format!("%{letter}"));
                assert_eq!((conversion.kind(), conversion.is_quoted()), (kind, letter == 'V'), "{letter}");
            }
        }
        let unknown = "the conversion `%c` is not supported: use %s %d %i %u %x %X %o %f %F %e %E %g %G %v %V %r %T %Y, or \
                       `%%` for a percent sign";
        let large = "the width or precision 4097 is too large: the maximum is 4096";
        for (text, expected) in [
            ("", Ok(None)),
            ("%", Ok(None)),
            ("5", Ok(None)),
            ("-+ 0#5.3", Ok(None)),
            ("4096d", Ok(Some((4096, false, 5)))),
            ("-4095d x", Ok(Some((4095, true, 6)))),
            (".4096f", Ok(Some((0, false, 6)))),
            ("5.f", Ok(Some((5, false, 3)))),
            ("hhd", Ok(Some((0, false, 3)))),
            ("lLqjzd", Ok(Some((0, false, 6)))),
            ("c", Err(unknown)),
            ("4097d", Err(large)),
            ("1.4097d", Err(large)),
        ] {
            let read = PrintfConversion::read(text);
            let read = read.map(|read| read.map(|(read, length)| (read.width(), read.is_left_aligned(), length)));
            assert_eq!(read, expected.map_err(str::to_owned), "{text}");
        }
        let endless = "99999999999999999999";
        let message = format!("the width or precision {endless} is too large: the maximum is 4096");
        assert_eq!(PrintfConversion::read(&format!("{endless}d")).unwrap_err(), message);
        assert_eq!(only("%.0s").format_text("ab"), "");
        assert_eq!(only("%4.2s").format_text("\u{e9}bc"), "  \u{e9}b");
        assert_eq!(only("%04s").format_text("ab"), "  ab");
    }
}
