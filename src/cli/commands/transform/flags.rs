//! Flags of `transform` that change ads. Their order on the command line matters, so they are parsed by hand.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};
use classad::ad::{Expression, Name};
use classad::format::{Form, Severity};
use classad::transform::{Action, Keyword, Operand, Rule, Statement, Target, Transform, parse_rules, read_target};

use crate::cli::Failure;
use crate::cli::io::input;
use crate::cli::io::source::Text;
use crate::cli::render::diagnostics;
use crate::cli::session::Session;

/// A flag: name, placeholder of its value, and help text.
struct Flag {
    name: &'static str,
    value: &'static str,
    help: &'static str,
}

const RULES: &str = "rules";

const FLAGS: [Flag; 7] = [
    Flag { name: "set", value: "NAME=EXPR", help: "Set an attribute" },
    Flag { name: "default", value: "NAME=EXPR", help: "Set an attribute that the ad does not have" },
    Flag { name: "eval-set", value: "NAME=EXPR", help: "Set an attribute to the value of an expression in the ad" },
    Flag { name: "copy", value: "OLD=NEW", help: "Give attributes a second name" },
    Flag { name: "rename", value: "OLD=NEW", help: "Give attributes another name" },
    Flag { name: "delete", value: "NAME", help: "Delete attributes" },
    Flag { name: RULES, value: "FILE", help: "Apply a file of HTCondor's transform rules" },
];

/// The flags and their values, in the order of the command line.
pub struct Steps(Vec<(&'static str, String)>);

impl Args for Steps {
    fn augment_args(command: Command) -> Command {
        command.args(FLAGS.iter().map(|flag| {
            let help = format!("{}; flags and rules are applied in the order given", flag.help);
            let help = if flag.name == "set" { help } else { flag.help.to_owned() };
            Arg::new(flag.name)
                .long(flag.name)
                .value_name(flag.value)
                .help(help)
                .action(ArgAction::Append)
                .allow_hyphen_values(flag.name != RULES)
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Steps {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut steps = Vec::new();
        for flag in &FLAGS {
            let places = matches.indices_of(flag.name).into_iter().flatten();
            let values = matches.get_many::<String>(flag.name).into_iter().flatten();
            steps.extend(places.zip(values).map(|(place, value)| (place, flag.name, value.clone())));
        }
        steps.sort_by_key(|(place, ..)| *place);
        Ok(Steps(steps.into_iter().map(|(_, name, value)| (name, value)).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Origin of a rule.
pub enum Origin {
    /// A flag with its value, as written.
    Flag(String),
    /// A file of rules: its index into [`Pipeline::sources`], and the name of the rule if it has one.
    File(usize, Option<String>),
}

impl Origin {
    /// Returns the index of the file of rules; `None` for a flag.
    pub fn file(&self) -> Option<usize> {
        match self {
            Origin::Flag(_) => None,
            Origin::File(file, _) => Some(*file),
        }
    }

    /// Describes the origin: the flag, or the rule's name, file, line and keyword.
    pub fn describe(&self, sources: &[Text], statement: Option<&Statement>) -> String {
        match self {
            Origin::Flag(text) => text.clone(),
            Origin::File(file, name) => {
                let name = name.as_ref().map_or(String::new(), |name| format!("{name}, "));
                let file = &sources[*file].name;
                let place = statement.map_or(String::new(), |statement| {
                    let keyword = statement.action.keyword().map_or("", Keyword::as_str);
                    format!(":{}: {keyword}", statement.line)
                });
                format!("{name}{file}{place}")
            }
        }
    }
}

/// Rules with their origins.
pub struct Pipeline {
    pub transform: Transform,
    /// Origin of each rule of `transform`, by index.
    pub origins: Vec<Origin>,
    /// The files of rules.
    pub sources: Vec<Text>,
}

impl Steps {
    /// Reads the files of rules.
    pub fn open(&self) -> Result<Vec<Text>, Failure> {
        let mut sources = Vec::new();
        for (_, path) in self.0.iter().filter(|(name, _)| *name == RULES) {
            let bytes = std::fs::read(path).map_err(|error| {
                Failure::Refused(Some(format!("cannot read {path}: {}", diagnostics::io_reason(&error))))
            })?;
            // Rules are written for HTCondor: like the long form they imply its dialect.
            sources.push(Text::of_file(path, bytes, Form::Long));
        }
        Ok(sources)
    }

    /// Builds the rules from the flags and from the files in `sources`. Reports all errors in rules here, before any ad
    /// is changed.
    pub fn pipeline(
        &self,
        session: &mut Session,
        sources: Vec<Text>,
        only: Option<Expression>,
    ) -> Result<Pipeline, Failure> {
        let mut pipeline =
            Pipeline { transform: Transform { rules: Vec::new(), only }, origins: Vec::new(), sources: Vec::new() };
        let mut files = sources.into_iter();
        let mut wrong = false;
        for (flag, value) in &self.0 {
            if *flag != RULES {
                let action = action(session, flag, value)?;
                pipeline.transform.rules.push(Rule::of(action));
                pipeline.origins.push(Origin::Flag(format!("--{flag} {value}")));
                continue;
            }
            let Some(source) = files.next() else { continue };
            let (rules, problems) = parse_rules(&source.block.text, session.dialect());
            for problem in &problems {
                diagnostics::problem(&session.options, &source, problem);
                wrong |= problem.severity == Severity::Error;
            }
            let file = pipeline.sources.len();
            pipeline.origins.extend(rules.iter().map(|rule| Origin::File(file, rule.name.clone())));
            pipeline.transform.rules.extend(rules);
            pipeline.sources.push(source);
        }
        if wrong { Err(Failure::Refused(None)) } else { Ok(pipeline) }
    }
}

/// Parses the value of a flag into its action.
fn action(session: &mut Session, flag: &str, value: &str) -> Result<Action, Failure> {
    let refuse = |reason: &str| Failure::Refused(Some(format!("--{flag} {value}: {reason}")));
    let (target, rest) = read_target(value, session.dialect()).map_err(|reason| refuse(&reason))?;
    if flag == "delete" {
        return if rest.is_empty() { Ok(Action::Delete(target)) } else { Err(refuse("it takes a name alone")) };
    }
    let Some(text) = rest.trim_start().strip_prefix('=').map(str::trim) else {
        return Err(refuse("a `=` is missing behind the name"));
    };
    if matches!(flag, "copy" | "rename") {
        if !matches!(target, Target::Pattern(_)) && !is_new_name(text) {
            return Err(refuse(&format!("`{text}` is no name of an attribute")));
        }
        let text = text.to_owned();
        return Ok(if flag == "copy" { Action::Copy(target, text) } else { Action::Rename(target, text) });
    }
    let Target::Name(name) = target else {
        return Err(refuse("only --copy, --rename and --delete take a regular expression"));
    };
    let operand = Operand::of(text, input::expression(session, &format!("--{flag} {name}"), text)?);
    Ok(match flag {
        "set" => Action::Set(name, operand),
        "default" => Action::Default(name, operand),
        _ => Action::EvaluateSet(name, operand),
    })
}

/// Whether the text is a name that needs no quotes.
fn is_new_name(text: &str) -> bool {
    Name::new(text).is_plain()
}
