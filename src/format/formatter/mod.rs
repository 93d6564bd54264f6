//! Formatter of `classad fmt`: prints the tokens and comments of ads in their order, with normalized white space.
//!
//! The formatter works on the source text. So parentheses and spellings (`64M`, `0xff`, `=?=`, quoted names, escapes)
//! stay as written. [`trivia`] lexes an ad into tokens and the comments between them. [`builder`] makes a [`tree`] of
//! the places where lines can be broken. [`printer`] breaks the lines that are too long.

mod bracketed;
mod builder;
mod line_formatter;
mod long;
mod printer;
mod tree;
mod trivia;

use crate::ad::Dialect;

pub use long::{FormattedBlock, FormattedBlockJoiner, LongFormatter};

use bracketed::format_bracketed;
use long::format_long;

use super::document::document_problem;
use super::long::{JDL_REFUSAL, Statements};
use super::{FileFormat, Problem, Severity, detect, is_compressed};

/// A formatted text, with the problems found in it.
#[derive(Clone, Debug)]
pub struct FormattedText {
    /// The formatted text. Ads that do not parse are copied unchanged.
    pub text: Vec<u8>,
    /// The problems of the ads that do not parse, and warnings. Byte ranges count in the text before formatting.
    pub problems: Vec<Problem>,
}

impl FormattedText {
    /// Whether every ad of the text parsed, possibly with warnings.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.problems.iter().all(|problem| problem.severity == Severity::Warning)
    }
}

/// Formats bracketed ads or the long form. Formatting preserves the meaning of the ads, and formatting the result again
/// changes nothing.
///
/// A bracketed ad gets one line per attribute. An expression that does not fit into `width` columns is broken at its
/// operators of lowest precedence, and at the commas and semicolons of lists, calls and nested ads. The long form does
/// not allow line breaks, so its lines are kept.
///
/// Comments stay beside the items that they describe. Several blank lines become one. Line ends become `\r\n` if the
/// whole text has only `\r\n`, otherwise `\n`. A missing last line end is added. A byte order mark is dropped, because
/// HTCondor takes it for a part of the first name.
///
/// # Errors
///
/// A format other than the bracketed and the long form, compressed data, and UTF-16.
pub fn format_ads(text: &[u8], form: FileFormat, dialect: Dialect, width: usize) -> Result<FormattedText, Problem> {
    let refusal = |message: &str| Problem::error_at(0..text.len().min(1), 0, message);
    let line_end: &[u8] = if has_only_crlf_line_ends(text) { b"\r\n" } else { b"\n" };
    if is_compressed(text) {
        return Err(refusal("this file is compressed: only text can be formatted").with_help("unpack it first"));
    }
    if detect::is_utf16(text) {
        return Err(refusal("this is UTF-16").with_help(detect::UTF16_HELP));
    }
    if form == FileFormat::Long && Statements::of_beginning(text).are_jdl() {
        return Err(refusal(JDL_REFUSAL[0]).with_help(JDL_REFUSAL[1]));
    }
    match form {
        FileFormat::Long => Ok(format_long(text, dialect, line_end)),
        FileFormat::Bracketed => {
            let mut formatted = format_bracketed(text, dialect, width, line_end);
            formatted.problems.extend(document_problem(text, form));
            Ok(formatted)
        }
        _ => {
            let message = format!("this file is in {form}: only bracketed ads and the long form can be formatted");
            Err(refusal(&message).with_help("`classad convert --to new FILE` writes it as bracketed ads"))
        }
    }
}

/// Whether a text has at least one line end and every line end is `\r\n`.
fn has_only_crlf_line_ends(text: &[u8]) -> bool {
    let mut ends = memchr::memchr_iter(b'\n', text).peekable();
    ends.peek().is_some() && ends.all(|at| at > 0 && text[at - 1] == b'\r')
}

#[cfg(test)]
mod tests {
    use super::format_ads;
    use crate::ad::Dialect;
    use crate::format::FileFormat;

    /// Returns the text formatted for 40 columns.
    fn laid(text: &str, form: FileFormat) -> String {
        String::from_utf8(format_ads(text.as_bytes(), form, Dialect::Classad, 40).unwrap().text).unwrap()
    }

    #[test]
    fn bracketed_ads() {
        for (text, expected) in [
            // White space is normalized, and superfluous semicolons are dropped.
            ("[]", "[ ]\n"),
            ("[;;a=1;;b =  2]", "[\n  a = 1;\n  b = 2;\n]\n"),
            ("[a=[];b={};c={ [x=1;] }]", "[\n  a = [ ];\n  b = { };\n  c = { [ x = 1 ] };\n]\n"),
            ("[a=f ( 1,2 ) . b [ 0 ]]", "[\n  a = f(1, 2).b[0];\n]\n"),
            ("[a=! - -x; b=- 5; c=-5; d=1 .b]", "[\n  a = !--x;\n  b = - 5;\n  c = -5;\n  d = 1 .b;\n]\n"),
            ("[a=x?y : z; b=x ? : y; c=.x]", "[\n  a = x ? y : z;\n  b = x ?: y;\n  c = .x;\n]\n"),
            // Numbers, operators, quoted names and keywords stay as written.
            ("[A=64M*0xff =?= 'b c'.'d'; a=TRUE]", "[\n  A = 64M * 0xff =?= 'b c'.'d';\n  a = TRUE;\n]\n"),
            // A text can contain several ads, also as elements of a list.
            ("[a=1][b=2]\n\n\n[c=3]", "[\n  a = 1;\n]\n[\n  b = 2;\n]\n\n[\n  c = 3;\n]\n"),
            ("{[a=1],\n\n[b=2]}", "{\n  [\n    a = 1;\n  ],\n\n  [\n    b = 2;\n  ]\n}\n"),
            // If the first item of a list begins a line in the source, every item gets its own line.
            ("[a={\n1,2}; b={1,\n2}]", "[\n  a = {\n    1,\n    2\n  };\n  b = { 1, 2 };\n]\n"),
        ] {
            assert_eq!(laid(text, FileFormat::Bracketed), expected, "{text}");
        }
    }

    #[test]
    fn what_is_too_wide_is_broken_where_it_binds_least() {
        for (value, lines) in [
            (
                "Memory >= 1000 && Disk >= 1000 || Cpus > 1",
                &["", "  Memory >= 1000 && Disk >= 1000", "  || Cpus > 1;"][..],
            ),
            (
                "alpha + beta * gamma * delta * epsilon * zeta + eta",
                &["", "  alpha", "  + beta", "    * gamma", "    * delta", "    * epsilon", "    * zeta", "  + eta;"],
            ),
            (
                "Rank >= 10 && !untrusted ? 1000000 : Rank > 0 ? 1000 : 0",
                &["", "  Rank >= 10 && !untrusted", "    ? 1000000", "  : Rank > 0", "    ? 1000", "  : 0;"],
            ),
            (
                "ifThenElse(Memory >= 1000, \"a, b && c\", undefined)",
                &[" ifThenElse(", "  Memory >= 1000,", "  \"a, b && c\",", "  undefined", ");"],
            ),
            (
                "first && (second_condition || third_condition)",
                &["", "  first", "  && (", "    second_condition", "    || third_condition", "  );"],
            ),
            (
                "[ Name = \"something long\"; Value = 1000000 ]",
                &[" [", "  Name = \"something long\";", "  Value = 1000000;", "];"],
            ),
            ("\"adjacent strings \" \"are one string\"", &["", "  \"adjacent strings \"", "  \"are one string\";"]),
            (
                "list_of_things[index_of_the_thing + 1].name",
                &[" list_of_things[", "  index_of_the_thing + 1", "].name;"],
            ),
        ] {
            let expected = lines.join("\n  ");
            assert_eq!(
                laid(&format!("[a={value}]"), FileFormat::Bracketed),
                format!("[\n  a ={expected}\n]\n"),
                "{value}"
            );
        }
    }

    #[test]
    fn comments_and_blank_lines_stay() {
        for (text, expected) in [
            ("// a\n\n\n// b\n[ // c\n\n a=1 // d\n ]// e", "// a\n\n// b\n[ // c\n\n  a = 1; // d\n] // e\n"),
            ("[\n\n a=1;\n\n\n // b\n c=2\n\n // d\n\n]", "[\n  a = 1;\n\n  // b\n  c = 2;\n\n  // d\n]\n"),
            ("[a= /* b */ 1/* c */;]", "[\n  a = /* b */ 1; /* c */\n]\n"),
            ("[a= // b\n1]", "[\n  a = // b\n    1;\n]\n"),
            // A comment stays behind the item that it describes, whether the comma stands before or behind the comment.
            ("[a={1 // b\n, 2, // c\n 3}]", "[\n  a = {\n    1, // b\n    2, // c\n    3\n  };\n]\n"),
            ("[a=b && // c\n d || // e\n f]", "[\n  a =\n    b // c\n      && d // e\n    || f;\n]\n"),
            ("[a=b ?\n// c\nd : e]", "[\n  a =\n    b\n      // c\n      ? d\n    : e;\n]\n"),
            ("[a=f(/* b */ 1, /* c */\n2)]", "[\n  a = f(\n    /* b */ 1, /* c */\n    2\n  );\n]\n"),
            // All lines of a comment are moved by the same number of columns.
            ("[\n    /* b\n     * c\n   d */\n a=1]", "[\n  /* b\n   * c\n  d */\n  a = 1;\n]\n"),
            ("// only\n\n\n", "// only\n"),
            ("", ""),
        ] {
            assert_eq!(laid(text, FileFormat::Bracketed), expected, "{text}");
        }
    }

    #[test]
    fn the_long_form_keeps_its_lines() {
        let long = format!("a = {}1\n", "1 + ".repeat(100));
        for (text, expected) in [
            ("a=1\n\n\n\nb  =2", "a = 1\n\nb = 2\n"),
            ("\n# c \n  a=1\n // d\nb= {1,[c=2;]}", "# c\na = 1\n// d\nb = { 1, [ c = 2 ] }\n"),
            ("a=\"C:\\dir\\\"  \n", "a=\"C:\\dir\\\"  \n"),
            ("a=\"C:\\dir\\\"\n", "a = \"C:\\dir\\\"\n"),
            ("a=1   junk  here\nb=2//c\nc=3 /*d*/", "a = 1 junk  here\nb = 2 //c\nc = 3 /*d*/\n"),
            ("'q =' =1\n1 b=TRUE", "'q =' = 1\n1 b = TRUE\n"),
            (&long, &long),
        ] {
            assert_eq!(laid(text, FileFormat::Long), expected, "{text}");
        }
    }

    #[test]
    fn what_does_not_parse_is_left_as_it_is() {
        for (text, form, expected, problems) in [
            ("[a=1]\n[ b= (]\n[c=1]", FileFormat::Bracketed, "[\n  a = 1;\n]\n[ b= (]\n[\n  c = 1;\n]\n", 1),
            ("[a=1]\n[ b=\"x ]\n[c=1]", FileFormat::Bracketed, "[\n  a = 1;\n]\n[ b=\"x ]\n[\n  c = 1;\n]\n", 1),
            ("[a=1]\n x  y\n[c=1]", FileFormat::Bracketed, "[\n  a = 1;\n]\n x  y\n[\n  c = 1;\n]\n", 1),
            ("a=1\n\nb=(\n  c=1 \n#d\n\n\ne=1", FileFormat::Long, "a = 1\n\nb=(\n  c=1 \n#d\n\ne = 1\n", 1),
            ("a=1\n\nb=(", FileFormat::Long, "a = 1\n\nb=(", 1),
        ] {
            let layout = format_ads(text.as_bytes(), form, Dialect::Classad, 80).unwrap();
            assert_eq!(String::from_utf8_lossy(&layout.text), expected, "{text}");
            assert!(layout.problems.len() == problems && !layout.is_valid(), "{text}");
        }
        assert!(format_ads(b"{}", FileFormat::Json, Dialect::Classad, 80).is_err());
    }

    #[test]
    fn line_ends() {
        for (text, form, expected) in [
            ("[ // a\r\n a=\"b\r\nc\"]", FileFormat::Bracketed, "[ // a\r\n  a = \"b\r\nc\";\r\n]\r\n"),
            ("[ // a\r\n a=\"b\nc\"]", FileFormat::Bracketed, "[ // a\n  a = \"b\nc\";\n]\n"),
            ("/* a\r\n b */ [ ]\r\n", FileFormat::Bracketed, "/* a\r\n b */ [ ]\r\n"),
            ("\u{feff}[ ]", FileFormat::Bracketed, "[ ]\n"),
            ("\u{feff}a=1\r\n\r\nb=2\r\n", FileFormat::Long, "a = 1\r\n\r\nb = 2\r\n"),
            ("a=1\r\nb=2\n", FileFormat::Long, "a = 1\nb = 2\n"),
        ] {
            assert_eq!(laid(text, form), expected, "{text:?}");
        }
    }

    #[test]
    fn no_depth_harms() {
        for (open, close) in [("(", ")"), ("{", "}"), ("[a=", "]"), ("-", ""), ("a?:", ""), ("a?b:", ""), ("a?", ":1")]
        {
            let text = format!("[ a = {}1{} ]", open.repeat(30_000), close.repeat(30_000));
            let laid = laid(&text, FileFormat::Bracketed);
            assert!(laid.len() > 30_000 && laid.len() < 6_000_000, "{open}: {}", laid.len());
        }
        for chain in ["1 + ", "a && b || ", "/* a */ ", "/*\n*/", "1 + // a\n"] {
            let laid = laid(&format!("[ a = {}1 ]", chain.repeat(30_000)), FileFormat::Bracketed);
            assert!(laid.len() < 6_000_000, "{chain}: {}", laid.len());
        }
    }
}
