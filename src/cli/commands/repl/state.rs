//! The state of the prompt, and the dispatch of entries.

use std::io::Write;
use std::rc::Rc;
use std::sync::Arc;

use classad::ad::{Ad, Dialect, Expression, Name, ScopeFrame, Value};
use classad::eval::{Environment, Evaluator};
use classad::format::Problem;
use classad::pool::Census;
use classad::protocol::Protocol;
use classad::syntax::{ParseOptions, SyntaxError, parse_expression};
use classad::text::closest_names;
use indexmap::IndexMap;

use super::argument::EntryPart;
use super::commands::{self, COMMANDS};
use super::entry::{ReplEntry, split_command};
use super::expression_commands;
use crate::cli::args::global::TimeOption;
use crate::cli::io::dump_time::{self, DumpTimes};
use crate::cli::io::named_ad::NamedAd;
use crate::cli::io::parties::Parties;
use crate::cli::io::source::AdSource;
use crate::cli::io::source_text::SourceText;
use crate::cli::outcome::{Failure, refuse};
use crate::cli::render::diagnostics::{self, sentence_line};
use crate::cli::render::output::out;
use crate::cli::render::progress;
use crate::cli::session::Session;

/// The state of the prompt: the ads of `:my` and `:target`, the definitions, the pool, and the entries so far.
pub struct ReplState<'s> {
    pub session: &'s mut Session,
    /// The current entry, for diagnostics.
    pub source: SourceText,
    pub my: Option<NamedAd>,
    pub target: Option<NamedAd>,
    pub definitions: IndexMap<Name, ReplDefinition>,
    pub pool: ReplPool,
    /// The entries so far, including those of earlier sessions.
    pub entries: Vec<String>,
    /// Whether `:quit` was entered.
    pub is_finished: bool,
    /// The newest times in the ads that were loaded from files.
    times: DumpTimes,
    /// Number of times that ads were loaded from files.
    loads: usize,
    /// Number of `:load` commands that are running, each in a file that the previous one loads.
    pub load_depth: usize,
    /// Whether entries are read from a prompt on a terminal.
    pub is_interactive: bool,
    /// Whether each entry is printed before its result.
    pub echo: bool,
}

/// A definition. The text is kept because the expression is parsed anew when the dialect changes.
pub struct ReplDefinition {
    pub text: String,
    pub expression: Expression,
}

/// The pool: the ads with which the ad of `:my` is matched.
pub struct ReplPool {
    /// The ads of the pool as offers. Each command sets the request.
    pub parties: Parties,
    pub census: Census,
    /// Names of the files from which the pool was loaded.
    pub files: Vec<String>,
    /// Names of the ads, for completion.
    pub ids: Rc<[String]>,
}

impl ReplPool {
    pub fn new(ads: Vec<NamedAd>, files: Vec<String>) -> Self {
        let mut census = Census::names();
        for ad in &ads {
            census.add(&ad.ad);
        }
        let ids = ads.iter().map(|ad| ad.id().to_owned()).collect();
        ReplPool { parties: Parties::new([Vec::new(), ads]), census, files, ids }
    }

    pub fn offers(&self) -> &[NamedAd] {
        &self.parties.offers
    }

    pub fn ads(&self) -> Vec<Ad> {
        self.offers().iter().map(|offer| offer.ad.clone()).collect()
    }
}

impl<'s> ReplState<'s> {
    pub fn new(session: &'s mut Session) -> Self {
        ReplState {
            session,
            source: SourceText::from_argument("command line", ""),
            my: None,
            target: None,
            definitions: IndexMap::new(),
            pool: ReplPool::new(Vec::new(), Vec::new()),
            entries: Vec::new(),
            times: DumpTimes::default(),
            loads: 0,
            is_finished: false,
            load_depth: 0,
            is_interactive: false,
            echo: false,
        }
    }

    /// Decides the time of evaluation after ads were loaded, as `match` and `explain` do: with `--now dump`, it is the
    /// newest time of all loaded ads; without `--now`, too, if they are old.
    pub fn take_time_of(&mut self, ads: &[NamedAd]) {
        let context = self.session.context();
        for ad in ads {
            self.times.add(&ad.ad, &context);
        }
        self.loads += 1;
        match self.session.options.now {
            // That no ad has a time is reported once.
            Some(TimeOption::Dump) if self.times.newest().is_some() || self.loads == 1 => {
                dump_time::set_dump_time(self.session, &self.times);
            }
            None if dump_time::is_old(self.times.ads) => dump_time::adopt_time_of_old_ads(self.session, self.times.ads),
            None if self.session.has_given_time() => self.session.return_to_clock(),
            _ => {}
        }
    }

    /// Runs an entry and reports its errors. A command in the last line of an unfinished entry is an entry of its own.
    ///
    /// `name` and `line` locate the entry in diagnostics.
    ///
    /// # Errors
    ///
    /// Fails if the output cannot be written, or if the entry is bad and `--fail-fast` is given.
    pub fn run_entry(&mut self, name: &str, text: &str, line: usize) -> Result<(), Failure> {
        if let Some((unfinished, command)) = split_command(text) {
            let mistakes = self.session.error_count();
            self.run_entry(name, unfinished.trim_end_matches('\n'), line)?;
            if self.session.options.fail_fast && self.session.error_count() > mistakes {
                return Ok(());
            }
            return self.run_entry(name, command, line + unfinished.matches('\n').count());
        }
        let is_at_prompt = self.is_interactive && self.load_depth == 0;
        self.session.begin_entry(if is_at_prompt { String::new() } else { format!("{name}:{line}: ") });
        progress::begin_run();
        let entry = ReplEntry::parse(text);
        // If this entry comes from a loaded file, the outer entry is the `:load`. Keep the source of the outer entry,
        // to restore it at the end.
        let outer = std::mem::replace(&mut self.source, SourceText::from_lines(name, text, line));
        let result = self.dispatch(&entry);
        // Flush the results, so that they precede messages about the next entry.
        drop(out());
        let result = match result {
            Err(Failure::Refused(Some(message))) => {
                let part = match entry {
                    ReplEntry::Command(_, argument) if !argument.is_empty() => argument,
                    _ => EntryPart::whole(text).trim(),
                };
                self.session.report_problem(&self.source, &Problem::error_at(part.range(), 0, message))
            }
            Err(Failure::Refused(None)) => {
                if self.session.context().is_interrupted() {
                    self.session.note("interrupted");
                }
                Ok(())
            }
            result => result,
        };
        self.source = outer;
        result
    }

    fn dispatch(&mut self, entry: &ReplEntry<'_>) -> Result<(), Failure> {
        match entry {
            ReplEntry::Blank => Ok(()),
            ReplEntry::Command(command, argument) if command.arguments.is_empty() && !argument.is_empty() => {
                refuse(format!(":{} has no arguments", command.name))
            }
            ReplEntry::Command(command, argument) => (command.run)(self, *argument),
            ReplEntry::UnknownCommand(entered) => {
                let name = &entered.text[1..];
                let begun: Vec<String> =
                    commands::commands_with_prefix(name).map(|command| format!(":{}", command.name)).collect();
                let near = closest_names(name, COMMANDS.iter().map(|command| command.name));
                let error = |message| Problem::error_at(entered.range(), 0, message);
                let unknown = format!("there is no command `:{name}`");
                let problem = match near.first() {
                    _ if begun.len() > 1 => error(format!("`:{name}` may be {}", begun.join(" or "))),
                    Some(near) => error(unknown).with_help(format!("did you mean :{near}?")),
                    None => error(unknown).with_help(":help lists them"),
                };
                self.session.report_problem(&self.source, &problem)
            }
            ReplEntry::Definition(definition) => expression_commands::enter_definition(self, definition),
            ReplEntry::Expression(expression) => expression_commands::evaluate_and_print(self, *expression),
        }
    }

    /// Prints text, unless `--quiet` is given.
    #[allow(clippy::unused_self)] // what commands print is the state's, wherever it goes
    pub fn print(&self, text: &str) -> Result<(), Failure> {
        Ok(writeln!(out(), "{text}")?)
    }

    /// Prints sentences, each on a line, or on several lines of a terminal.
    #[allow(clippy::unused_self)] // as for `print`
    pub fn print_sentences(&self, text: &str) -> Result<(), Failure> {
        let lines: String = text.lines().map(sentence_line).collect();
        Ok(write!(out(), "{lines}")?)
    }

    pub fn print_lines(&self, lines: impl Iterator<Item = String>) -> Result<(), Failure> {
        self.print(&lines.collect::<Vec<_>>().join("\n"))
    }

    /// Reports an error at a part of the current entry. Returns the failure for the caller to pass on.
    pub fn error_at(&mut self, part: EntryPart<'_>, message: impl Into<String>) -> Failure {
        self.error(&Problem::error_at(part.range(), 0, message))
    }

    /// Reports a syntax error in a part of the current entry. Returns the failure for the caller to pass on.
    pub fn syntax_error(&mut self, part: EntryPart<'_>, error: SyntaxError) -> Failure {
        self.error(&Problem::from_syntax(error, part.offset, 0))
    }

    fn error(&mut self, problem: &Problem) -> Failure {
        self.session.report_problem(&self.source, problem).err().unwrap_or(Failure::Refused(None))
    }

    pub fn rules(&self) -> ParseOptions {
        ParseOptions::new(self.session.dialect())
    }

    pub fn protocol(&self) -> Protocol {
        Protocol::new(self.session.dialect())
    }

    /// Parses the argument of a command as an expression. Reports a syntax error.
    pub fn parse_argument(&mut self, argument: EntryPart<'_>) -> Result<Expression, Failure> {
        if argument.is_empty() {
            return refuse("an expression is missing");
        }
        parse_expression(argument.text.as_bytes(), self.rules()).map_err(|error| self.syntax_error(argument, error))
    }

    /// Returns the ad of `:my` with the definitions added. `None` if there are neither an ad nor definitions.
    pub fn own_ad(&self) -> Option<Ad> {
        if self.my.is_none() && self.definitions.is_empty() {
            return None;
        }
        let ad = self.my.as_ref().map(|my| my.ad.clone()).unwrap_or_default();
        Some(self.definitions.iter().fold(ad, |ad, (name, defined)| ad.with(name.clone(), defined.expression.clone())))
    }

    /// Returns the ad of `:my` with the definitions added, as a request. Fails if there are neither an ad nor
    /// definitions.
    pub fn request(&self) -> Result<NamedAd, Failure> {
        let message = "MY is not set; `:my FILE` or `:my [ ... ]` sets it";
        let ad = self.own_ad().ok_or_else(|| Failure::refused(message))?;
        let id = self.my.as_ref().map_or("MY", NamedAd::id);
        Ok(NamedAd::unnamed(ad).with_name(id.to_owned()))
    }

    /// Returns the ad of `:target`. Fails if there is none.
    pub fn other_side(&self) -> Result<NamedAd, Failure> {
        let message = "TARGET is not set; `:target FILE` or `:target [ ... ]` sets it";
        self.target.clone().ok_or_else(|| Failure::refused(message))
    }

    /// Fails with `message` if no pool is loaded.
    pub fn require_pool(&self, message: &str) -> Result<(), Failure> {
        if self.pool.files.is_empty() { refuse(message) } else { Ok(()) }
    }

    /// Returns the environment in which expressions are evaluated: the ads of `:my` and `:target`.
    pub fn environment(&self) -> (Environment, Arc<ScopeFrame>) {
        Environment::known(self.own_ad(), self.target.as_ref().map(|target| target.ad.clone()))
    }

    /// Evaluates an expression. Reports an exceeded budget with a mark under `argument`.
    pub fn evaluate(&mut self, expression: &Expression, argument: EntryPart<'_>) -> Result<Value, Failure> {
        let (environment, frame) = self.environment();
        let value = Evaluator::new(&environment, &self.session.context()).evaluate(expression, &frame);
        value.map_err(|abort| {
            let Some(setting) = abort.setting() else { return Failure::Refused(None) };
            let help = format!(":set {setting} raises the limit");
            self.session.mark_budget();
            let problem = Problem::error_at(argument.range(), 0, abort.to_string()).with_help(help);
            diagnostics::print_problem(&self.session.options, &self.source, &problem);
            Failure::Refused(None)
        })
    }

    /// Changes to HTCondor's dialect if the form of a source is HTCondor's. Does nothing if `--dialect` or `:dialect`
    /// has set the dialect.
    pub fn decide_dialect(&mut self, sources: &[AdSource]) {
        let before = self.session.dialect();
        self.session.decide_dialect(sources);
        let dialect = self.session.dialect();
        if dialect != before {
            self.reparse_definitions();
            if self.load_depth > 0 || !self.entries.is_empty() {
                self.session.note(&format!("the dialect is now {dialect}, the dialect of these ads"));
            }
        }
    }

    /// Changes the dialect. Definitions are parsed anew; ads stay as they are.
    pub fn set_dialect(&mut self, dialect: Dialect) {
        self.session.options.dialect = Some(dialect);
        self.session.context_mut().dialect = dialect;
        self.reparse_definitions();
    }

    fn reparse_definitions(&mut self) {
        let rules = self.rules();
        for defined in self.definitions.values_mut() {
            if let Ok(expression) = parse_expression(defined.text.as_bytes(), rules) {
                defined.expression = expression;
            }
        }
    }
}
