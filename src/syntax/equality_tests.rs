//! Equality of expressions by their texts.

use super::{ParseOptions, parse_expression};
use crate::ad::{numerically_equal, structurally_equal};

/// Returns by which equivalences two expressions are equal: syntactic, structural, numeric.
fn equal(left: &str, right: &str) -> String {
    let parse = |text: &str| parse_expression(text.as_bytes(), ParseOptions::default()).unwrap();
    let (left, right) = (parse(left), parse(right));
    let is_equal = [left == right, structurally_equal(&left, &right), numerically_equal(&left, &right)];
    let signs = is_equal.into_iter().zip(['s', 't', 'n']).filter(|(is_equal, _)| *is_equal);
    signs.map(|(_, sign)| sign).collect()
}

#[test]
fn what_makes_expressions_equal() {
    for (left, right, expected) in [
        ("a", "A", "stn"),
        ("a", "b", ""),
        ("a", "(a)", "tn"),
        ("((a))", "a", "tn"),
        ("(a)", "(A)", "stn"),
        ("a + (b * c)", "(a + b * c)", "tn"),
        ("(a + b) * c", "a + b * c", ""),
        ("1", "1.0", "n"),
        ("1", "2", ""),
        ("1", "2.0", ""),
        ("1", "1.5", ""),
        ("0.0", "-0.0", "n"),
        ("0.5", "-0.5", ""),
        ("1.5", "1.5", "stn"),
        ("9223372036854775807", "9223372036854775808.0", ""),
        ("-9223372036854775807", "-9223372036854775808.0", ""),
        ("9007199254740993", "9007199254740992.0", ""),
        ("1", "\"1\"", ""),
        ("\"a\"", "\"A\"", ""),
        ("\"a\"", "\"a\"", "stn"),
        ("true", "1", ""),
        ("undefined", "error", ""),
        ("relTime(5)", "relTime(5)", "stn"),
        ("'1:00'", "'1:00:00'", "stn"),
        ("'1:00'", "'1:01'", ""),
        ("a.b", "A.B", "stn"),
        ("a.b", "a.c", ""),
        ("a.b", "c.b", ""),
        (".a", ".A", "stn"),
        (".a", ".b", ""),
        (".a", "a", ""),
        ("-a", "-A", "stn"),
        ("-a", "+a", ""),
        ("-a", "-b", ""),
        ("a + b", "a - b", ""),
        ("a + b", "b + a", ""),
        ("a[1]", "a[1.0]", "n"),
        ("a[1]", "a[2]", ""),
        ("a ? b : c", "a ? b : c", "stn"),
        ("a ? b : c", "a ? c : b", ""),
        ("a ?: b", "a ?: b", "stn"),
        ("a ?: b", "a ? b : b", ""),
        ("f(a, b)", "F(A, (b))", "tn"),
        ("f(a)", "g(a)", ""),
        ("f(a)", "f(a, b)", ""),
        ("f(a, b)", "f(b, a)", ""),
        ("{ a, 1 }", "{ a, 1.0 }", "n"),
        ("{ a }", "{ a, a }", ""),
        ("{ }", "{ }", "stn"),
        ("{ }", "[ ]", ""),
        ("[ a = 1; b = 2 ]", "[ B = 2; A = 1 ]", "stn"),
        ("[ a = 1; b = 2 ]", "[ a = 1; c = 2 ]", ""),
        ("[ a = 1 ]", "[ a = 1; b = 2 ]", ""),
        ("[ a = 1; b = 2 ]", "[ a = 1 ]", ""),
        ("[ a = 1 ]", "[ a = (1.0) ]", "n"),
        ("[ a = 1 ]", "[ a = 2 ]", ""),
        ("[ a = [ b = c ] ]", "[ a = [ b = d ] ]", ""),
    ] {
        assert_eq!(equal(left, right), expected, "{left} and {right}");
        assert_eq!(equal(right, left), expected, "{right} and {left}");
    }
}
