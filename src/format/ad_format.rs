//! File formats. Each format's module defines an [`AdFormat`] with the reader, the writer and the formatter of the
//! format.

use std::io::{self, Write};

use crate::ad::{Ad, Dialect, Name};
use crate::syntax::LossyChange;

use super::{AttributeSpan, FileFormat, FormattedText, ReadResult, bracketed, json, long, xml, yaml};

/// Changes that a writer made to values that the format cannot represent, each with the name of the attribute.
pub type LossyChanges = Vec<(Name, LossyChange)>;

/// Formatter: takes a text, the dialect, the maximum number of columns of a line, and the line end to write.
type LayOut = fn(&[u8], Dialect, usize, &'static [u8]) -> FormattedText;

/// Functions and properties of one file format.
pub(super) struct AdFormat {
    /// Name of the format in messages.
    pub name: &'static str,
    /// Whether HTCondor itself reads and writes the format.
    pub is_htcondor_format: bool,
    /// Returns an iterator that reads the ads of a text.
    pub read: for<'t> fn(&'t [u8], Dialect) -> Box<dyn Iterator<Item = ReadResult> + 't>,
    /// Returns the length in bytes of the longest prefix of a text that contains only complete ads.
    pub complete_prefix_length: fn(&[u8]) -> usize,
    /// Writes one ad with a line end, and returns the changes to values that the format cannot represent.
    pub write: fn(&mut dyn Write, &Ad) -> io::Result<LossyChanges>,
    pub frame: DocumentFrame,
    /// Returns the places of the attributes of the ad that begins at an offset.
    pub attribute_spans: fn(&[u8], usize, Dialect) -> Vec<AttributeSpan>,
    /// Formatter of `classad fmt`; `None` if `classad fmt` does not support the format.
    pub lay_out: Option<LayOut>,
}

/// Texts before, between and behind the ads of a document.
pub(super) struct DocumentFrame {
    pub prologue: &'static str,
    /// Text between two ads. With a separator, ads are written without their line ends. `None` if ads follow one
    /// another directly.
    pub separator: Option<&'static str>,
    pub epilogue: &'static str,
    /// Text of the complete document if there are no ads.
    pub empty: &'static str,
}

impl DocumentFrame {
    /// Nothing stands around the ads.
    pub const NONE: DocumentFrame = DocumentFrame { prologue: "", separator: None, epilogue: "", empty: "" };
}

impl FileFormat {
    /// Returns the functions and properties of the format.
    pub(super) fn ad_format(self) -> &'static AdFormat {
        match self {
            FileFormat::Long => &long::FORMAT,
            FileFormat::Bracketed => &bracketed::FORMAT,
            FileFormat::Json => &json::FORMAT,
            FileFormat::JsonLines => &json::LINES_FORMAT,
            FileFormat::Xml => &xml::FORMAT,
            FileFormat::Yaml => &yaml::FORMAT,
        }
    }
}
