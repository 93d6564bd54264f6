//! Files and pipes of ads.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};

use classad::ad::{Ad, BinaryOperator, Dialect, Expression, Kind, Name, Span};
use classad::eval::Context;
use classad::format::{Entry, Form, Problem, Stream};
use classad::pool::Census;
use classad::protocol::{Advertisement, PortFault, Standing, identity};
use classad::syntax::{Rules, parse_expression, read_name};

use super::source::{Source, Text};
use crate::cli::Failure;
use crate::cli::args::condor_options;
use crate::cli::render::diagnostics;
use crate::cli::session::Session;

/// An ad that was read, and where it stands.
pub struct Found {
    pub ad: Ad,
    /// Which one of its source it is; the first is 1.
    pub number: usize,
    /// Where it begins.
    pub place: Place,
}

impl Found {
    /// The ad and its number, when its text need not be kept.
    pub fn without_place(self) -> Entry {
        Entry { ad: self.ad, number: self.number, offset: self.place.offset, is_whole: true }
    }
}

/// A place in a source.
#[derive(Clone)]
pub struct Place {
    pub text: Text,
    pub offset: usize,
}

/// An ad and what it is called.
#[derive(Clone)]
pub struct Identified {
    pub ad: Ad,
    /// What it is called, if that is not its identity as an advertisement.
    given: Option<Box<str>>,
    /// How it stands as an advertisement, and what it says of itself as one, if it was read only in part.
    standing: Option<Standing>,
    advertisement: Option<Ad>,
    /// Which one of its source it is, and where it begins; nowhere on the command line.
    number: usize,
    place: Option<Box<Place>>,
}

impl Identified {
    /// An ad that stands in no source.
    pub fn unnamed(ad: Ad) -> Self {
        Identified { ad, given: None, standing: None, advertisement: None, number: 0, place: None }
    }

    /// The same under a name.
    pub fn called(self, id: String) -> Self {
        Identified { given: Some(id.into()), ..self }
    }

    /// What it is called.
    pub fn id(&self) -> &str {
        let own = || str::from_utf8(self.standing.as_ref()?.identity.as_ref()?.as_bytes()).ok();
        self.given.as_deref().or_else(own).unwrap_or_default()
    }

    /// An ad of which only a part was read, and apart from that how it stands as an advertisement, and what it says of
    /// itself as one if anybody is to be told.  It is called by its identity; what has none in UTF-8 is yet to be called.
    pub fn selected(ad: Ad, standing: Standing, advertisement: Option<Ad>, number: usize) -> Self {
        Identified { ad, given: None, standing: Some(standing), advertisement, number, place: None }
    }

    /// Whether it was read only in part, and is one ad with all that are alike in it.
    pub fn is_selected(&self) -> bool {
        self.standing.is_some()
    }

    /// How it stands as an advertisement.
    pub fn standing(&self, context: &Context) -> Cow<'_, Standing> {
        let of_whole = || Cow::Owned(Advertisement::new(&self.ad, context).standing());
        self.standing.as_ref().map_or_else(of_whole, Cow::Borrowed)
    }

    /// The ad that has the attributes of an advertisement.
    pub fn advertisement(&self) -> &Ad {
        self.advertisement.as_ref().unwrap_or(&self.ad)
    }

    /// Another ad in its place.
    pub fn with(self, ad: Ad) -> Self {
        Identified { ad, ..self }
    }

    /// Reports that the ports of this ad cannot be used.
    pub fn bad_ports(&self, session: &mut Session, fault: &PortFault) -> Result<(), Failure> {
        let Some(Place { text, offset }) = self.place.as_deref() else { return Ok(()) };
        // Only a bracketed ad is one text, in which the fault has its place.
        let range = match text.block.form {
            Form::New => offset + fault.span.range().start..offset + fault.span.range().end,
            _ => *offset..offset + 1,
        };
        session.problem(text, &Problem::at(range, self.number, fault.reason.clone()))
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
    let form = session.options.from.map(Form::from);
    for path in paths {
        let name = if path == "-" { "standard input" } else { path };
        let reader: io::Result<Box<dyn Read>> = match path.as_str() {
            "-" => Ok(Box::new(io::stdin())),
            path => File::open(path).map(|file| Box::new(file) as Box<dyn Read>),
        };
        match reader.and_then(|reader| Stream::new(reader, form)) {
            Ok(stream) => {
                let source = Source::new(name, stream);
                // A file with nothing in it is most likely a failed download.
                if path != "-" && !source.has_content() {
                    let text = Text::of_argument(name, "");
                    session.problem(&text, &Problem::at(0..0, 0, "there is no ad in this file"))?;
                }
                sources.push(source);
            }
            Err(error) => {
                unreadable(session, name, &error);
                if session.options.fail_fast {
                    return Err(Failure::Refused(None));
                }
            }
        }
    }
    Ok(sources)
}

/// Opens requests and offers, in one dialect.
pub fn sides(session: &mut Session, requests: &[String], offers: &[String]) -> Result<[Vec<Source>; 2], Failure> {
    let stdin = |paths: &[String]| paths.is_empty() || paths.iter().any(|path| path == "-");
    if stdin(requests) && stdin(offers) {
        return Err(Failure::Refused(Some("standard input can be read only once".to_owned())));
    }
    let requests = open(session, requests)?;
    let offers = open(session, offers)?;
    session.decide_dialect(requests.iter().chain(&offers));
    Ok([requests, offers])
}

/// Reports that a source cannot be read, or not on to its end.
pub fn unreadable(session: &mut Session, name: &str, error: &io::Error) {
    session.trouble(&format!("cannot read {name}: {}", diagnostics::io_reason(error)));
}

/// Reports that a source cannot be read on to its end.
pub fn broken_off(session: &mut Session, source: &Source, error: &io::Error) {
    unreadable(session, &format!("{} to its end", source.name), error);
}

/// Reads the ads of sources and finds out what they are called.
pub fn identified(
    session: &mut Session,
    mut sources: Vec<Source>,
    id: Option<&Expression>,
) -> Result<Vec<Identified>, Failure> {
    let mut ads = Vec::new();
    for source in &mut sources {
        each_ad(session, source, |session, found| {
            ads.push(identify(session, found, id));
            Ok(true)
        })?;
    }
    Ok(ads)
}

/// What an ad of a source is called; by its place if it has no name.
pub fn identify(session: &Session, found: Found, id: Option<&Expression>) -> Identified {
    let name = identity(&found.ad, id, &session.context());
    let by_place = identify_by_place(found);
    match name {
        Some(name) => by_place.called(name),
        None => by_place,
    }
}

/// An ad that is called by its place, whatever its name.
pub fn identify_by_place(found: Found) -> Identified {
    let Found { ad, number, place } = found;
    let id = format!("{}:{number}", place.text.name);
    Identified { number, place: Some(Box::new(place)), ..Identified::unnamed(ad).called(id) }
}

/// Does something for each ad of a source, as long as it says `true`; bad ads are reported.
pub fn each_ad(
    session: &mut Session,
    source: &mut Source,
    mut visit: impl FnMut(&mut Session, Found) -> Result<bool, Failure>,
) -> Result<(), Failure> {
    loop {
        let text = match source.next_text() {
            Ok(Some(text)) => text,
            Ok(None) => return Ok(()),
            Err(error) => {
                broken_off(session, source, &error);
                return Ok(());
            }
        };
        for item in text.block.ads(session.dialect()) {
            match item {
                Ok(Entry { ad, number, offset, .. }) => {
                    session.go_on()?;
                    source.ads = source.ads.max(number);
                    let place = Place { text: text.clone(), offset };
                    if !visit(session, Found { ad, number, place })? {
                        return Ok(());
                    }
                }
                Err(problem) => {
                    source.ads = source.ads.max(problem.ad);
                    session.problem(&text, &problem)?;
                }
            }
        }
    }
}

/// Opens one file, if it is given.
pub fn one_source(session: &mut Session, path: Option<&String>) -> Result<Option<Source>, Failure> {
    let Some(path) = path else { return Ok(None) };
    let mut sources = open(session, std::slice::from_ref(path))?;
    sources.pop().map(Some).ok_or(Failure::Refused(None))
}

/// The first ad of a source.
pub fn first_ad(session: &mut Session, source: Option<Source>) -> Result<Option<Ad>, Failure> {
    let Some(mut source) = source else { return Ok(None) };
    let mut first = None;
    each_ad(session, &mut source, |_, found| {
        first = Some(found.ad);
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

/// A name that an option must have.
pub fn wanted_name(session: &Session, option: &str, text: &str) -> Result<Name, Failure> {
    attribute_name(session, text)?.ok_or_else(|| Failure::Refused(Some(format!("{option} wants a name, not `{text}`"))))
}

/// Attributes that were asked for by name.  A name that no ad has is most likely misspelt.
pub struct Asked {
    missing: Vec<Name>,
    known: Census,
}

impl Asked {
    pub fn new(names: &[Name]) -> Self {
        Asked { missing: names.to_vec(), known: Census::names() }
    }

    /// Looks whether an ad has what is still missing.
    pub fn look_into(&mut self, ad: &Ad) {
        if !self.missing.is_empty() {
            self.missing.retain(|name| ad.get(name).is_none());
            self.known.add(ad);
        }
    }

    /// Tells what no ad had, if there were any.
    pub fn tell(&self, session: &Session) {
        for name in self.missing.iter().filter(|_| self.known.ads() > 0) {
            no_ad_has(session, &self.known, name);
        }
    }
}

/// Tells that no ad has an attribute, and what else may have been meant.
pub fn no_ad_has(session: &Session, known: &Census, name: &Name) {
    let near = known.nearest(name.as_str());
    let hint = if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(", ")) };
    session.note(&format!("no ad has the attribute {name}{hint}"));
}

/// Reads an expression of the command line.
pub fn expression(session: &mut Session, what: &str, text: &str) -> Result<Expression, Failure> {
    parse_expression(text.as_bytes(), Rules::new(session.dialect())).map_err(|error| {
        let source = Text::of_argument(what, text);
        diagnostics::problem(&session.options, &source, &Problem::from_syntax(error, 0, 0));
        Failure::Refused(None)
    })
}

/// Reads constraints of the command line, all of which have to be true; none if there are none.
pub fn constraint(session: &mut Session, texts: &[String]) -> Result<Option<Expression>, Failure> {
    let mut all: Option<Expression> = None;
    for text in texts {
        let next = expression(session, "constraint", text)?;
        all = Some(match all {
            None => next,
            Some(before) => Expression::new(Kind::Binary(BinaryOperator::And, before, next), Span::default()),
        });
    }
    Ok(all)
}

/// Refuses an expression that is most likely a misspelt option of this command.
pub fn not_an_option(command: &str, text: &str, single_dash_too: bool) -> Result<(), Failure> {
    let word = |rest: &str| rest.len() > 1 && rest.starts_with(|c: char| c.is_ascii_alphabetic());
    let option = text.strip_prefix("--").map_or(single_dash_too && text.strip_prefix('-').is_some_and(word), word);
    if option && !std::env::args().any(|argument| argument == "--") {
        let fault = condor_options::no_option(text, command, &crate::cli::tree());
        return Err(Failure::Refused(Some(format!("{fault}; an expression that begins so can follow `--`"))));
    }
    Ok(())
}

/// Reads an expression of the command line, if it is given.
pub fn optional(session: &mut Session, what: &str, text: Option<&str>) -> Result<Option<Expression>, Failure> {
    text.map(|text| expression(session, what, text)).transpose()
}
