//! The state of the prompt, and the dispatch of entries.

use std::rc::Rc;
use std::sync::Arc;

use classad::ad::{Ad, Expression, Frame, Name, nearest};
use classad::eval::{Environment, Evaluator, Halt};
use classad::format::Problem;
use classad::pool::Census;
use classad::protocol::Protocol;
use classad::syntax::{Rules, parse_expression};
use classad::{ad::Dialect, ad::Value};
use indexmap::IndexMap;

use super::argument::Argument;
use super::commands::{self, COMMANDS};
use super::entry::Entry;
use super::expression_commands;
use crate::cli::Failure;
use crate::cli::args::partial_scope;
use crate::cli::io::input::Identified;
use crate::cli::io::parties::Parties;
use crate::cli::io::source::{Source, Text};
use crate::cli::render::diagnostics;
use crate::cli::render::output::out;
use crate::cli::session::Session;

/// The state of the prompt: the two sides, definitions, the pool, and what has been entered.
pub struct Desk<'s> {
    pub session: &'s mut Session,
    pub my: Option<Identified>,
    pub target: Option<Identified>,
    pub definitions: IndexMap<Name, Defined>,
    pub pool: Pool,
    /// The entries so far, including those of earlier sessions.
    pub entries: Vec<String>,
    /// Whether `:quit` was entered.
    pub has_left: bool,
    /// Number of nested files that are being loaded.
    pub loading: usize,
    /// Whether entries are read from a prompt on a terminal.
    pub is_asked: bool,
    /// Whether each entry is printed before its result.
    pub echo: bool,
}

/// A definition. The text is kept because the expression is parsed anew when the dialect changes.
pub struct Defined {
    pub text: String,
    pub expression: Expression,
}

/// The ads to match with.
pub struct Pool {
    /// The ads of the pool as offers. The request is set by each command.
    pub parties: Parties,
    pub census: Census,
    /// Names of the files that were loaded.
    pub files: Vec<String>,
    /// Names of the ads, for completion.
    pub ids: Rc<[String]>,
}

impl Pool {
    pub fn new(ads: Vec<Identified>, files: Vec<String>) -> Self {
        let mut census = Census::names();
        for ad in &ads {
            census.add(&ad.ad);
        }
        let ids = ads.iter().map(|ad| ad.id().to_owned()).collect();
        Pool { parties: Parties::new([Vec::new(), ads]), census, files, ids }
    }

    pub fn offers(&self) -> &[Identified] {
        &self.parties.offers
    }

    pub fn ads(&self) -> Vec<Ad> {
        self.offers().iter().map(|offer| offer.ad.clone()).collect()
    }
}

impl<'s> Desk<'s> {
    pub fn new(session: &'s mut Session) -> Self {
        Desk {
            session,
            my: None,
            target: None,
            definitions: IndexMap::new(),
            pool: Pool::new(Vec::new(), Vec::new()),
            entries: Vec::new(),
            has_left: false,
            loading: 0,
            is_asked: false,
            echo: false,
        }
    }

    /// Runs an entry and reports its errors.
    ///
    /// `name` and `line` locate the entry in diagnostics; `place` is the prefix of messages.
    ///
    /// # Errors
    ///
    /// The output cannot be written, or the entry is bad and `--fail-fast` is given.
    pub fn answer(&mut self, name: &str, text: &str, line: usize, place: String) -> Result<(), Failure> {
        self.session.turn(place);
        let source = Text::of_lines(name, text, line);
        let result = self.enter(&source, text);
        // Flush the results, so that they precede messages about the next entry.
        drop(out());
        match result {
            Err(Failure::Refused(Some(message))) => {
                let range = match Entry::of(text) {
                    Entry::Command(_, argument) if !argument.is_empty() => argument,
                    _ => super::entry::trimmed(text, 0..text.len()),
                };
                self.session.problem(&source, &Problem::at(range, 0, message))
            }
            Err(Failure::Refused(None)) if self.session.context().is_interrupted() => {
                self.session.note("interrupted");
                Ok(())
            }
            Err(Failure::Refused(None)) | Ok(()) => Ok(()),
            Err(failure) => Err(failure),
        }
    }

    fn enter(&mut self, source: &Text, text: &str) -> Result<(), Failure> {
        match Entry::of(text) {
            Entry::Nothing => Ok(()),
            Entry::Command(command, argument) => {
                let argument = Argument::of(source, text, argument);
                if matches!(command.takes, commands::Takes::Nothing)
                    && command.arguments.is_empty()
                    && !argument.is_empty()
                {
                    return Err(argument.refuse(self.session, format!("nothing stands behind :{}", command.name)));
                }
                (command.run)(self, &argument)
            }
            Entry::NoCommand(range) => {
                let name = &text[range.start + 1..range.end];
                let several: Vec<String> =
                    commands::beginning_with(name).map(|command| format!(":{}", command.name)).collect();
                let near = nearest(name, COMMANDS.iter().map(|command| command.name));
                let (message, help) = match (several.as_slice(), near.first()) {
                    ([_, _, ..], _) => (format!("`:{name}` may be {}", several.join(" or ")), String::new()),
                    (_, Some(near)) => (format!("there is no command `:{name}`"), format!("did you mean :{near}?")),
                    (_, None) => (format!("there is no command `:{name}`"), ":help lists them".to_owned()),
                };
                let problem = Problem::at(range, 0, message);
                let problem = if help.is_empty() { problem } else { problem.with_help(help) };
                self.session.problem(source, &problem)
            }
            Entry::Definition(definition) => expression_commands::assign(self, source, text, &definition),
            Entry::Expression(range) => expression_commands::value(self, &Argument::of(source, text, range)),
        }
    }

    pub fn rules(&self) -> Rules {
        Rules::new(self.session.dialect())
    }

    pub fn protocol(&self) -> Protocol {
        Protocol::new(self.session.dialect())
    }

    /// Parses the argument as an expression.
    pub fn expression(&mut self, argument: &Argument<'_>) -> Result<Expression, Failure> {
        if argument.is_empty() {
            return Err(Failure::Refused(Some("an expression is missing".to_owned())));
        }
        parse_expression(argument.text.as_bytes(), self.rules())
            .map_err(|error| argument.problem(self.session, &Problem::from_syntax(error, argument.offset, 0)))
    }

    /// Returns the own side: the ad of `:my` with the definitions added. `None` if there is neither.
    pub fn this_side(&self) -> Option<Ad> {
        if self.my.is_none() && self.definitions.is_empty() {
            return None;
        }
        let ad = self.my.as_ref().map(|my| my.ad.clone()).unwrap_or_default();
        Some(self.definitions.iter().fold(ad, |ad, (name, defined)| ad.with(name.clone(), defined.expression.clone())))
    }

    /// Returns the own side as a request.
    pub fn request(&self) -> Result<Identified, Failure> {
        let message = "there is nothing to match: `:my FILE` or `:my [ ... ]` gives an ad";
        let ad = self.this_side().ok_or_else(|| Failure::Refused(Some(message.to_owned())))?;
        let id = self.my.as_ref().map_or("my", Identified::id);
        Ok(Identified::unnamed(ad).called(id.to_owned()))
    }

    /// Returns the environment in which expressions are evaluated.
    pub fn meeting(&self) -> (Environment, Arc<Frame>) {
        partial_scope::meeting(self.this_side(), self.target.as_ref().map(|target| &target.ad))
    }

    /// Evaluates an expression; an exceeded budget is reported under `argument`.
    pub fn evaluate(&mut self, expression: &Expression, argument: &Argument<'_>) -> Result<Value, Failure> {
        let (environment, frame) = self.meeting();
        let value = Evaluator::new(&environment, &self.session.context()).evaluate(expression, &frame);
        value.map_err(|halt| {
            let help = match halt {
                Halt::TooDeep(_) => ":set max-depth raises the limit",
                Halt::TooLong(_) => ":set max-steps raises the limit",
                Halt::Interrupted | Halt::Unknown => return Failure::Refused(None),
            };
            self.session.spent();
            let problem = Problem::at(argument.range(), 0, halt.to_string()).with_help(help);
            diagnostics::problem(&self.session.options, argument.source, &problem);
            Failure::Refused(None)
        })
    }

    /// Changes to HTCondor's dialect if one of these sources is in a form of HTCondor's, unless `--dialect` or
    /// `:dialect` has set one.
    pub fn decide_dialect(&mut self, sources: &[Source]) {
        let before = self.session.dialect();
        self.session.decide_dialect(sources);
        let dialect = self.session.dialect();
        if dialect != before {
            self.redefine();
            if self.loading > 0 || !self.entries.is_empty() {
                self.session.note(&format!("the dialect is {dialect} from here on, as that of these ads is"));
            }
        }
    }

    /// Changes the dialect. Definitions are parsed anew; ads stay as they are.
    pub fn set_dialect(&mut self, dialect: Dialect) {
        self.session.options.dialect = Some(dialect);
        self.session.context_mut().dialect = dialect;
        self.redefine();
    }

    fn redefine(&mut self) {
        let rules = self.rules();
        for defined in self.definitions.values_mut() {
            if let Ok(expression) = parse_expression(defined.text.as_bytes(), rules) {
                defined.expression = expression;
            }
        }
    }
}
