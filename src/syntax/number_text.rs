//! Texts of numbers, appended to a buffer.

use std::io::Write;

/// Appends the digits of an integer to `text`.
pub fn push_integer(integer: i64, text: &mut Vec<u8>) {
    // The longest integer has 19 digits.
    let mut digits = [0; 19];
    let (mut rest, mut start) = (integer.unsigned_abs(), digits.len());
    loop {
        start -= 1;
        digits[start] = b'0' + (rest % 10).to_le_bytes()[0];
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if integer < 0 {
        text.push(b'-');
    }
    text.extend_from_slice(&digits[start..]);
}

/// Appends a finite real to `text`, with the fewest digits that parse back exactly.
pub fn push_real(real: f64, text: &mut Vec<u8>) {
    // Writing to memory cannot fail.
    let _ = write!(text, "{real:?}");
}

#[cfg(test)]
mod tests {
    use super::push_integer;

    #[test]
    fn digits_of_integers() {
        let powers = (0..63).flat_map(|bits| [(1_i64 << bits) - 1, 1 << bits, -(1 << bits)]);
        for integer in powers.chain([0, 9, 10, -10, i64::MIN, i64::MAX]) {
            let mut text = b"x".to_vec();
            push_integer(integer, &mut text);
            assert_eq!(String::from_utf8(text).unwrap(), format!("x{integer}"));
        }
    }
}
