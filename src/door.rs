//! The door of the library: what most programs need, under short names. All of it speaks HTCondor's dialect; the papers'
//! dialect, and everything else, is in the floors.

use std::collections::VecDeque;
use std::fmt;
use std::fs::File;
use std::io;
use std::path::Path;
use std::str::FromStr;

use crate::ad::{Ad, Dialect, Expression, Name, Value};
use crate::eval::{Abort, Context, Environment, Evaluator};
use crate::explain::{AdReference, Explainer, SummaryWriter};
use crate::format::{FileFormat, Problem, ReadCache, Severity, Stream, detect, read_document};
use crate::matching::{Accelerations, Candidate, Matchmaker, Query};
use crate::protocol::{Protocol, display_name};
use crate::syntax::{ParseOptions, SyntaxError, parse_expression};

const DIALECT: Dialect = Dialect::Condor;

/// What the door's functions fail with.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// An expression that is none.
    Syntax(SyntaxError),
    /// An ad that cannot be read, with its place in the text.
    Ad(Problem),
    /// A file that cannot be read.
    File(io::Error),
    /// An evaluation that exceeds a limit.
    Evaluation(Abort),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Syntax(error) => error.fmt(f),
            Error::Ad(Problem { ad_number: 0, message, .. }) => f.write_str(message),
            Error::Ad(Problem { ad_number, message, .. }) => write!(f, "{message} (ad {ad_number})"),
            Error::File(error) => error.fmt(f),
            Error::Evaluation(abort) => abort.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<SyntaxError> for Error {
    fn from(error: SyntaxError) -> Self {
        Error::Syntax(error)
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Error::File(error)
    }
}

impl From<Abort> for Error {
    fn from(abort: Abort) -> Self {
        Error::Evaluation(abort)
    }
}

impl Ad {
    /// Reads an ad from a text in any form that [`read_file`] reads.
    ///
    /// # Errors
    ///
    /// When the text does not hold exactly one ad, or the ad has an error.
    pub fn parse(text: impl AsRef<[u8]>) -> Result<Ad, Error> {
        let text = text.as_ref();
        let mut entries = Vec::new();
        for item in read_document(text, detect(text).unwrap_or(FileFormat::Long), DIALECT) {
            match item {
                Ok(entry) => entries.push(entry.ad),
                Err(problem) if problem.severity == Severity::Error => return Err(Error::Ad(problem)),
                Err(_) => {}
            }
        }
        let count = entries.len();
        let only = entries.pop().filter(|_| count == 1);
        only.ok_or_else(|| Error::Ad(Problem::error_at(0..text.len(), 0, format!("expected one ad, not {count}"))))
    }

    /// Evaluates an attribute of the ad. `undefined` if the ad has no such attribute.
    ///
    /// # Errors
    ///
    /// When the evaluation exceeds a limit of [`Context`].
    pub fn evaluate(&self, attribute: &str) -> Result<Value, Error> {
        let (environment, frame) = Environment::single(self.clone());
        Ok(Evaluator::new(&environment, &Context::new(DIALECT)).attribute(&frame, &Name::new(attribute))?)
    }
}

impl FromStr for Ad {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Ad::parse(text)
    }
}

impl FromStr for Expression {
    type Err = SyntaxError;

    fn from_str(text: &str) -> Result<Self, SyntaxError> {
        parse_expression(text.as_bytes(), ParseOptions::new(DIALECT))
    }
}

/// The ads for which an expression is true.
impl FromStr for Query {
    type Err = SyntaxError;

    fn from_str(constraint: &str) -> Result<Self, SyntaxError> {
        Ok(Query::new(constraint.parse()?, Context::new(DIALECT)))
    }
}

/// Opens a file of ads in any form: the long form of `condor_q -long`, JSON, XML, bracketed ads, YAML, event logs and
/// histories, also compressed. Memory does not grow with the file.
///
/// # Errors
///
/// When the file cannot be opened, or is of no such form.
pub fn read_file(path: impl AsRef<Path>) -> Result<AdFile, Error> {
    let stream = Stream::new(Box::new(File::open(path)?), None)?;
    Ok(AdFile { stream, cache: ReadCache::new(DIALECT), read: VecDeque::new() })
}

/// A file of ads: an iterator over them. A bad ad is an error; those behind it follow.
pub struct AdFile {
    stream: Stream,
    cache: ReadCache,
    /// What was read of the last block and not returned yet.
    read: VecDeque<Result<Ad, Error>>,
}

impl Iterator for AdFile {
    type Item = Result<Ad, Error>;

    fn next(&mut self) -> Option<Result<Ad, Error>> {
        while self.read.is_empty() {
            match self.stream.next_block() {
                Ok(Some(block)) => {
                    for item in block.ads_cached(&mut self.cache) {
                        match item {
                            Ok(entry) => self.read.push_back(Ok(entry.ad)),
                            Err(problem) if problem.severity == Severity::Error => {
                                self.read.push_back(Err(Error::Ad(problem)));
                            }
                            Err(_) => {}
                        }
                    }
                    self.stream.recycle(block);
                }
                Ok(None) => return None,
                Err(error) => return Some(Err(Error::File(error))),
            }
        }
        self.read.pop_front()
    }
}

/// Finds the offers that match requests: the `Requirements` of both sides are true.
pub struct Match {
    matchmaker: Matchmaker,
}

impl Match {
    /// Prepares offers, such as the slots of a pool.
    #[must_use]
    pub fn among(offers: &[Ad]) -> Self {
        let (protocol, context) = (Protocol::new(DIALECT), Context::new(DIALECT));
        Match { matchmaker: Matchmaker::new(offers, protocol, context, Accelerations::ALL) }
    }

    /// Returns the offers that match a request, those that it ranks highest first.
    pub fn candidates(&mut self, request: &Ad) -> Vec<Candidate> {
        self.matchmaker.candidates(request).to_vec()
    }
}

/// Explains why requests match offers or none.
pub struct Explain {
    explainer: Explainer,
    /// The name of each offer.
    names: Vec<String>,
}

impl Explain {
    /// Prepares offers, such as the slots of a pool.
    #[must_use]
    pub fn with(offers: &[Ad]) -> Self {
        let context = Context::new(DIALECT);
        let name = |(number, ad)| display_name(ad, None, &context).unwrap_or_else(|| format!("slot {number}"));
        let names = (1..).zip(offers).map(name).collect();
        Explain { explainer: Explainer::new(offers, Protocol::new(DIALECT), context), names }
    }

    /// Returns one sentence about a request, such as `it matches none of 2 slots: no slot has Memory >= 96; the largest
    /// is 64`.
    #[must_use]
    pub fn sentence(&self, request: &Ad) -> String {
        let wording = SummaryWriter {
            subject: "it",
            is_plural: false,
            nouns: ["slot", "slots"],
            names: &|ad: AdReference| match ad {
                AdReference::Offer { offer, .. } => self.names[offer].clone(),
                AdReference::Request(number) => format!("request {}", number + 1),
            },
            dialect: DIALECT,
            max_clause_chars: 120,
            brevity: 0,
        };
        wording.summary(&self.explainer.explain(request))
    }
}

#[cfg(test)]
mod tests {
    use super::read_file;
    use crate::ad::{Ad, Expression};
    use crate::syntax::{Style, print_ad};

    fn shown(ad: &Ad) -> String {
        String::from_utf8(print_ad(ad, Style::New)).unwrap()
    }

    /// A text that is read as one ad holds one, and no error.
    #[test]
    fn a_text_is_one_ad() {
        for (text, expected) in [
            ("a = 1\nb = a + 1\n", "[ a = 1; b = a + 1 ]"),
            ("[ a = 1 ]", "[ a = 1 ]"),
            ("{\"a\": 1}", "[ a = 1 ]"),
            ("[ a = 1 ] [ a = 2 ]", "expected one ad, not 2"),
            ("", "expected one ad, not 0"),
        ] {
            let found = Ad::parse(text).map_or_else(|error| error.to_string(), |ad| shown(&ad));
            assert_eq!(found, expected, "{text}");
        }
        let error = Ad::parse("a = 1 +\n").expect_err("it has no value").to_string();
        assert!(error.ends_with(" (ad 1)"), "{error}");
        assert!("1 +".parse::<Expression>().is_err() && "1 + 1".parse::<Expression>().is_ok());
        assert_eq!("a = 1".parse::<Ad>().expect("it is one").evaluate("A").expect("it ends").to_string(), "1");
    }

    /// What is bad in a file is told in its place.
    #[test]
    fn a_file_has_ads_and_errors_in_their_order() {
        let path = std::env::temp_dir().join(format!("classad-door-{}", std::process::id()));
        std::fs::write(&path, "a = 1\n\na = 2 +\n\na = 3\n").unwrap();
        let ads = read_file(&path).map(Iterator::collect::<Vec<_>>);
        std::fs::remove_file(&path).unwrap();
        let told = ads.unwrap().into_iter().map(|ad| ad.map_or_else(|_| "error".to_owned(), |ad| shown(&ad)));
        assert_eq!(told.collect::<Vec<_>>(), ["[ a = 1 ]", "error", "[ a = 3 ]"]);
        assert!(read_file(&path).is_err());
    }
}
