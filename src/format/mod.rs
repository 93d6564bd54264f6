//! Files of ads: detecting their format, reading them ad by ad, writing them.
//!
//! A bad ad never stops the reading and is never dropped silently: the reader yields a [`Problem`] in its place.

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

/// An ad read from a file, with its number and offset there.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The ad.
    pub ad: Ad,
    /// 1-based number of the ad in its file; bad ads are counted, too.
    pub number: usize,
    /// Byte offset of the ad in the text.
    pub offset: usize,
    /// Whether the ad has all its attributes. `false` if a projection read only some of them.
    pub is_whole: bool,
}

/// An ad, or the problem that a reader found in its place.
pub type Item = Result<Entry, Problem>;

/// Returns an iterator that reads the ads of a text one by one.
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

/// Returns the length in bytes of the longest prefix of `window` that contains only complete ads.
///
/// Returns 0 if no ad is complete yet, or if its end cannot be told from the beginning of the next ad.
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

/// Writes one ad in a format; [`Writer`] writes several into one document.
///
/// Returns the changes that were made because the format cannot represent the ad exactly, each with its attribute.
///
/// # Errors
///
/// I/O errors of `out`.
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
