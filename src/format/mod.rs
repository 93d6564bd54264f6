//! Files of ads: which form they are in, reading them ad by ad, writing them.
//!
//! A bad ad never stops the rest and never disappears: a reader yields a [`Problem`] in its place.

mod detect;
mod json;
mod layout;
mod long;
mod new;
mod problem;
mod yaml;

use std::io::{self, Read, Write};

pub use detect::{Form, detect};
pub use layout::{Layout, layout};
pub use problem::{Position, Problem, Severity};

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
        Form::Yaml => Box::new(yaml::Reader::new(text, dialect)),
        other => {
            let message = format!("this looks like {other}, which this version does not read");
            let help = "HTCondor's long form (condor_status -long) and bracketed ads are read";
            Box::new(std::iter::once(Err(Problem::at(0..text.len().min(1), 1, message).with_help(help))))
        }
    }
}

/// Writes one ad in a form.  What the form cannot carry is changed; the changes are returned, each with
/// its attribute.
///
/// # Errors
///
/// Those of the writer, and [`io::ErrorKind::Unsupported`] for a form that cannot be written.
pub fn write(out: &mut dyn Write, ad: &Ad, form: Form) -> io::Result<Vec<(Name, Change)>> {
    match form {
        Form::Long => long::write(out, ad),
        Form::New => new::write(out, ad),
        Form::Json => json::write(out, ad),
        Form::Yaml => yaml::write(out, ad),
        other => Err(io::Error::new(io::ErrorKind::Unsupported, format!("this version does not write {other}"))),
    }
}
