//! JSON as HTCondor writes it: an object for each ad; expressions without a JSON value are strings `"\/Expr(...)\/"`.
//!
//! No JSON library is used here, because ads in JSON need source positions, unlimited nesting depth, and every
//! deviation from strict JSON that HTCondor accepts.

mod grammar;
mod spans;
mod string;
mod token;
mod value;
mod writer;

pub use grammar::JsonGrammar;

use super::ad_format::{AdFormat, DocumentFrame};
use super::nested_reader::{RecoveringReader, complete_prefix_length};

/// Iterator over the ads of a text.
pub type JsonReader<'t> = RecoveringReader<'t, JsonGrammar>;

/// Functions and properties of JSON Lines.
pub const LINES_FORMAT: AdFormat = AdFormat {
    name: "JSON Lines",
    is_htcondor_format: true,
    read: |text, dialect| Box::new(JsonReader::new(text, dialect)),
    complete_prefix_length: |text| complete_prefix_length::<JsonGrammar>(text),
    write: writer::write,
    frame: DocumentFrame::NONE,
    attribute_spans: |text, offset, _| spans::attribute_spans(text, offset),
    lay_out: None,
};

/// Functions and properties of JSON. A document is an array.
pub const FORMAT: AdFormat = AdFormat {
    name: "JSON",
    frame: DocumentFrame { prologue: "[\n", separator: Some(",\n"), epilogue: "\n]\n", empty: "[]\n" },
    ..LINES_FORMAT
};

/// Returns the expression in a decoded string of the form `/Expr(a + 1)/`, ignoring case; `None` for other strings.
///
/// HTCondor writes a backslash before each of the two slashes, which distinguishes an expression from a string with the
/// same characters. But other programs that rewrite the file drop these backslashes, so they are not required.
fn expression_inside(text: &[u8]) -> Option<&[u8]> {
    let (head, rest) = text.split_at_checked(OPEN.len())?;
    rest.strip_suffix(CLOSE).filter(|_| head.eq_ignore_ascii_case(OPEN))
}

const OPEN: &[u8] = b"/Expr(";
const CLOSE: &[u8] = b")/";
