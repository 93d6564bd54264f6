//! Files of ads: which form they are in, reading them ad by ad, writing them.
//!
//! A bad ad never stops the rest and never disappears: a reader yields a [`Problem`] in its place.

mod decoded;
mod detect;
mod json;
mod long;
mod name;
mod new;
mod problem;
mod writer;
mod xml;

use std::io::{self, Read, Write};

pub use detect::{Form, detect};
pub use problem::{Position, Problem, Severity};
pub use writer::Writer;

use crate::ad::{Ad, Dialect, Name};
use crate::syntax::Change;

/// An ad of a file, and where it stands there.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The ad.
    pub ad: Ad,
    /// Which one of its file it is, bad ones counted; the first is 1.
    pub number: usize,
    /// Offset of its first byte in the text.
    pub offset: usize,
}

/// What a reader finds next: an ad, or why there is none.
pub type Item = Result<Entry, Problem>;

/// The text inside gzip; any other text as it is.
///
/// # Errors
///
/// Compressed data that is broken.
pub fn unpack(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    if !bytes.starts_with(detect::GZIP) {
        return Ok(bytes);
    }
    let mut text = Vec::new();
    flate2::read::MultiGzDecoder::new(bytes.as_slice()).read_to_end(&mut text)?;
    Ok(text)
}

/// Reads the ads of a text, one after the other; a problem alone for a form that cannot be read.
#[must_use]
pub fn read<'t>(text: &'t [u8], form: Form, dialect: Dialect) -> Box<dyn Iterator<Item = Item> + 't> {
    match form {
        Form::Long => Box::new(long::Reader::new(text, dialect)),
        Form::New => Box::new(new::Reader::new(text, dialect)),
        Form::Json | Form::JsonLines => Box::new(json::Reader::new(text, dialect)),
        Form::Xml => Box::new(xml::Reader::new(text, dialect)),
        other => {
            let message = format!("this looks like {other}, which this version does not read");
            let help = "HTCondor's long form (condor_status -long), bracketed ads, JSON and XML are read";
            Box::new(std::iter::once(Err(Problem::at(0..text.len().min(1), 1, message).with_help(help))))
        }
    }
}

/// The length of the longest beginning of a text that holds whole ads only, though the text may end
/// anywhere; `None` for a form of which this cannot be told.  A reader that begins behind finds the ads
/// that a reader of all finds there.
#[must_use]
pub fn whole(text: &[u8], form: Form) -> Option<usize> {
    match form {
        Form::Json | Form::JsonLines => Some(json::whole(text)),
        Form::Xml => Some(xml::whole(text)),
        _ => None,
    }
}

/// Writes one ad in a form; [`Writer`] writes many into one document.  What the form cannot carry is changed; the changes are returned, each with
/// its attribute.
///
/// # Errors
///
/// Those of the writer, and [`io::ErrorKind::Unsupported`] for a form that cannot be written.
pub fn write(out: &mut dyn Write, ad: &Ad, form: Form) -> io::Result<Vec<(Name, Change)>> {
    match form {
        Form::Long => long::write(out, ad),
        Form::New => new::write(out, ad),
        Form::Json | Form::JsonLines => {
            json::write(out, ad)?;
            writeln!(out)?;
            Ok(Vec::new())
        }
        Form::Xml => {
            xml::write(out, ad)?;
            Ok(Vec::new())
        }
        other => Err(io::Error::new(io::ErrorKind::Unsupported, format!("this version does not write {other}"))),
    }
}
