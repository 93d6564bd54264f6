//! Files and pipes of ads.

use std::io::{self, Read};
use std::path::Path;

use classad::ad::{Ad, Dialect, Expression, Name};
use classad::constraint::{PortFault, identity};
use classad::format::{self, Form, Problem};
use classad::syntax::{Rules, parse_expression, read_name};

use super::session::Session;
use super::source::Source;
use super::{Failure, report};

/// An ad and what it is called.
pub struct Identified {
    pub ad: Ad,
    pub id: String,
    /// Which ad of its source it is, and where it begins there.
    number: usize,
    offset: usize,
    /// Which source of its batch it is from.
    source: usize,
}

impl Identified {
    /// An ad that stands in no source.
    pub fn unnamed(ad: Ad) -> Self {
        Identified { ad, id: String::new(), number: 0, offset: 0, source: 0 }
    }

    /// Another ad in its place.
    pub fn with(self, ad: Ad) -> Self {
        Identified { ad, ..self }
    }
}

/// The ads of some sources.
pub struct Batch {
    sources: Vec<Source>,
    pub ads: Vec<Identified>,
}

impl Batch {
    /// Reports that the ports of an ad cannot be used.
    pub fn bad_ports(&self, session: &mut Session, index: usize, fault: &PortFault) -> Result<(), Failure> {
        let ad = &self.ads[index];
        let source = &self.sources[ad.source];
        // Only a bracketed ad is one text, in which the fault has its place.
        let range = match source.form {
            Form::New => ad.offset + fault.span.range().start..ad.offset + fault.span.range().end,
            _ => ad.offset..ad.offset + 1,
        };
        session.problem(source, &Problem::at(range, ad.number, fault.reason.clone()))
    }
}

/// Opens files, or standard input if there are none; `-` is standard input, too.  What cannot be
/// opened is reported, the rest is read.
pub fn open(session: &mut Session, paths: &[String]) -> Result<Vec<Source>, Failure> {
    let stdin = ["-".to_owned()];
    let paths = if paths.is_empty() { &stdin } else { paths };
    let mut sources = Vec::new();
    if paths.iter().filter(|path| *path == "-").count() > 1 {
        return Err(Failure::Refused(Some("standard input can be read only once".to_owned())));
    }
    for path in paths {
        let (name, bytes) = match path.as_str() {
            "-" => {
                let mut bytes = Vec::new();
                ("standard input".to_owned(), io::stdin().read_to_end(&mut bytes).map(|_| bytes))
            }
            path => (path.to_owned(), std::fs::read(path)),
        };
        match bytes.and_then(format::unpack) {
            Ok(bytes) => sources.push(source(session, name, bytes, path != "-")?),
            Err(error) => {
                let reason = if Path::new(path).is_dir() {
                    "it is a directory, not a file of ads".to_owned()
                } else {
                    report::io_reason(&error)
                };
                session.trouble(&format!("cannot read {name}: {reason}"));
                if session.options.fail_fast {
                    return Err(Failure::Refused(None));
                }
            }
        }
    }
    Ok(sources)
}

/// A source with its form; a file with nothing in it is most likely a failed download.
fn source(session: &mut Session, name: String, bytes: Vec<u8>, is_file: bool) -> Result<Source, Failure> {
    let detected = format::detect(&bytes);
    let form = session.options.from.map(Form::from).or(detected).unwrap_or(Form::New);
    let source = Source { name, bytes, form };
    if detected.is_none() && is_file {
        let problem = Problem::at(0..0, 0, "there is no ad in this file");
        session.problem(&source, &problem)?;
    }
    Ok(source)
}

/// Reads the ads of sources and finds out what they are called.
pub fn identified(session: &mut Session, sources: Vec<Source>, id: Option<&Expression>) -> Result<Batch, Failure> {
    let mut ads = Vec::new();
    for (index, source) in sources.iter().enumerate() {
        each_ad(session, source, |session, entry| {
            ads.push(Identified { source: index, ..identify(session, source, entry, id) });
            Ok(true)
        })?;
    }
    Ok(Batch { sources, ads })
}

/// What an ad of a source is called; by its place if it has no name.
pub fn identify(session: &Session, source: &Source, entry: format::Entry, id: Option<&Expression>) -> Identified {
    let name = identity(&entry.ad, id, &session.context());
    Identified {
        id: name.unwrap_or_else(|| format!("{}:{}", source.name, entry.number)),
        ad: entry.ad,
        number: entry.number,
        offset: entry.offset,
        source: 0,
    }
}

/// Does something for each ad of a source, as long as it says `true`; bad ads are reported.
pub fn each_ad(
    session: &mut Session,
    source: &Source,
    mut visit: impl FnMut(&mut Session, format::Entry) -> Result<bool, Failure>,
) -> Result<(), Failure> {
    for item in format::read(&source.bytes, source.form, session.dialect()) {
        match item {
            Ok(entry) => {
                if !visit(session, entry)? {
                    break;
                }
            }
            Err(problem) => session.problem(source, &problem)?,
        }
    }
    Ok(())
}

/// Opens one file, if it is given.
pub fn one_source(session: &mut Session, path: Option<&String>) -> Result<Option<Source>, Failure> {
    let Some(path) = path else { return Ok(None) };
    let mut sources = open(session, std::slice::from_ref(path))?;
    sources.pop().map(Some).ok_or(Failure::Refused(None))
}

/// The first ad of a source.
pub fn first_ad(session: &mut Session, source: Option<Source>) -> Result<Option<Ad>, Failure> {
    let Some(source) = source else { return Ok(None) };
    let mut first = None;
    each_ad(session, &source, |_, entry| {
        first = Some(entry.ad);
        Ok(false)
    })?;
    first.map(Some).ok_or_else(|| Failure::Refused(Some(format!("there is no ad in {}", source.name))))
}

/// An ad with the attributes that the command line defines: `NAME=EXPR`.
pub fn define(session: &mut Session, mut ad: Ad, definitions: &[String]) -> Result<Ad, Failure> {
    for definition in definitions {
        let wanted = || Failure::Refused(Some(format!("-D wants NAME=EXPR, not {definition}")));
        let (name, text) = definition.split_once('=').ok_or_else(wanted)?;
        let expression = expression(session, name.trim(), text)?;
        ad = ad.with(attribute_name(session, name)?.ok_or_else(wanted)?, expression);
    }
    Ok(ad)
}

/// A name of the command line, in quotes or not; none if there is none.
pub fn attribute_name(session: &Session, text: &str) -> Result<Option<Name>, Failure> {
    let name = read_name(text.trim(), session.dialect()).map(|name| Name::new(&name));
    match name.filter(|name| !name.as_str().is_empty()) {
        Some(name) if session.dialect() == Dialect::Classad && name.is_reserved() => {
            Err(Failure::Refused(Some(format!("`{name}` is reserved and cannot name an attribute"))))
        }
        name => Ok(name),
    }
}

/// Reads an expression of the command line.
pub fn expression(session: &mut Session, what: &str, text: &str) -> Result<Expression, Failure> {
    parse_expression(text.as_bytes(), Rules::new(session.dialect())).map_err(|error| {
        let source = Source::of_text(what, text);
        report::problem(&session.options, &source, &Problem::from_syntax(error, 0, 0));
        Failure::Refused(None)
    })
}

/// Refuses an expression that is most likely a misspelt option.
pub fn not_an_option(text: &str, single_dash_too: bool) -> Result<(), Failure> {
    let word = |rest: &str| rest.len() > 1 && rest.starts_with(|c: char| c.is_ascii_alphabetic());
    let option = text.strip_prefix("--").map_or(single_dash_too && text.strip_prefix('-').is_some_and(word), word);
    if option && !std::env::args().any(|argument| argument == "--") {
        let message = format!("there is no option {text}; an expression that begins so can follow `--`");
        return Err(Failure::Refused(Some(message)));
    }
    Ok(())
}

/// Reads an expression of the command line, if it is given.
pub fn optional(session: &mut Session, what: &str, text: Option<&str>) -> Result<Option<Expression>, Failure> {
    text.map(|text| expression(session, what, text)).transpose()
}
