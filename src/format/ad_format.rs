//! Table of the file formats: one row with everything that a format can do. Each format's module has its row.

use std::io::{self, Write};

use crate::ad::{Ad, Dialect, Name};
use crate::syntax::LossyChange;

use super::{AttributeSpan, FileFormat, FormattedText, ReadResult, bracketed, json, long, xml, yaml};

/// Changes to values that a format cannot represent, each with its attribute.
pub type LossyChanges = Vec<(Name, LossyChange)>;

/// Formats a text in a dialect for a number of columns, with a line end.
type LayOut = fn(&[u8], Dialect, usize, &'static [u8]) -> FormattedText;

/// Row of a format.
pub(super) struct AdFormat {
    /// The name in messages.
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
    /// The formatter; `None` if the format has no layout of its own.
    pub lay_out: Option<LayOut>,
}

/// What stands around the ads of a document.
pub(super) struct DocumentFrame {
    pub prologue: &'static str,
    /// Stands between two ads, in the place of the line end of the first.
    pub separator: Option<&'static str>,
    pub epilogue: &'static str,
    /// A document without ads.
    pub empty: &'static str,
}

impl DocumentFrame {
    /// Nothing stands around the ads.
    pub const NONE: DocumentFrame = DocumentFrame { prologue: "", separator: None, epilogue: "", empty: "" };
}

impl FileFormat {
    /// Returns the row of the format.
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
