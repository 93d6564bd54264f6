//! Files of ads: which form they are in, reading them ad by ad, writing them.
//!
//! A bad ad never stops the rest and never disappears: a reader yields a [`Problem`] in its place.

mod attribute_name;
mod attribute_span;
mod bracketed;
mod detect;
mod diagnostic;
mod formatter;
mod json;
mod long;
mod read_buffer;
mod source_map;
mod stream;
#[cfg(test)]
mod testing;
mod writer;
mod xml;
mod yaml;

use std::io::{self, Write};

pub use attribute_span::{Place, places};
pub use detect::{Form, detect, form_of_comments, is_compressed};
pub use diagnostic::{Position, Problem, Severity};
pub use formatter::{Layout, layout};
pub use long::{Selected, Selection, Sharing, Spellings};
pub use stream::{Block, Stream};
pub use writer::Writer;
pub use yaml::document_tree;

use crate::ad::{Ad, Dialect, Name};
use crate::syntax::{Change, complete_groups};

/// An ad of a file, and where it stands there.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The ad.
    pub ad: Ad,
    /// Which one of its file it is, bad ones counted; the first is 1.
    pub number: usize,
    /// Offset of its first byte in the text.
    pub offset: usize,
    /// Whether the ad has all of its attributes, not only those that were selected.
    pub is_whole: bool,
}

/// What a reader finds next: an ad, or why there is none.
pub type Item = Result<Entry, Problem>;

/// Reads the ads of a text, one after the other.
#[must_use]
pub fn read<'t>(text: &'t [u8], form: Form, dialect: Dialect) -> Box<dyn Iterator<Item = Item> + 't> {
    match form {
        Form::Long => Box::new(long::Reader::new(text, dialect)),
        Form::New => Box::new(bracketed::Reader::new(text, dialect)),
        Form::Json | Form::JsonLines => Box::new(json::Reader::new(text, dialect)),
        Form::Xml => Box::new(xml::Reader::new(text, dialect)),
        Form::Yaml => Box::new(yaml::Reader::new(text, dialect)),
    }
}

/// The length of the beginning of a stream that holds whole ads only; 0 if it holds none, or none can be
/// told from the beginning of the next.
#[must_use]
pub fn whole(window: &[u8], form: Form) -> usize {
    match form {
        Form::Long => long::whole(window),
        Form::New => complete_groups(window),
        Form::Json | Form::JsonLines => json::whole(window),
        Form::Xml => xml::whole(window),
        Form::Yaml => yaml::whole(window),
    }
}

/// Writes one ad in a form; [`Writer`] writes many into one document.  What the form cannot carry is
/// changed; the changes are returned, each with its attribute.
///
/// # Errors
///
/// Those of the writer.
pub fn write(out: &mut dyn Write, ad: &Ad, form: Form) -> io::Result<Vec<(Name, Change)>> {
    match form {
        Form::Long => long::write(out, ad),
        Form::New => bracketed::write(out, ad),
        Form::Json | Form::JsonLines => {
            json::write(out, ad)?;
            writeln!(out)?;
            Ok(Vec::new())
        }
        Form::Xml => {
            xml::write(out, ad)?;
            Ok(Vec::new())
        }
        Form::Yaml => yaml::write(out, ad),
    }
}
