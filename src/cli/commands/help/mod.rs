//! `classad help`: the help of commands, and topics.

mod glossary;
mod markup;
mod overview;
mod roff;
mod schemas;
mod terminal;
mod topics;

pub mod manual;

use std::io::Write;

use clap::builder::{PossibleValue, Resettable, StyledStr};
use clap::{Args, Command};
use classad::text::{closest_names, suggestion};

use crate::cli::args::suggested_values::SuggestedValues;
use crate::cli::outcome::{Failure, Status, refuse};
use crate::cli::render::diagnostics;
use crate::cli::render::output::out;
use crate::cli::session::Session;

use overview::COMMAND_GROUPS;
pub use overview::overview;
use schemas::{SCHEMAS, schema_text};
use topics::{TOPICS, topic_names};

/// Date in the title line of each manual page.
const MANUAL_DATE: &str = "2026-11-21";

const EXAMPLES: &str = "\
Examples:
  classad help formats
  classad help query
  classad help options
  classad help schema check";

/// The words that ask for a list.
const LISTS: [&str; 4] = ["commands", "options", "topics", "schema"];

/// Print the help of a command or a topic
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Help {
    /// A command, a topic, a word such as `slot`, or one of the lists `commands`, `options`, `topics` and `schema`
    #[arg(value_parser = SuggestedValues(words_to_explain), hide_possible_values = true)]
    word: Option<String>,
    /// After `schema`: the output whose JSON Schema is printed
    #[arg(value_parser = SuggestedValues(schema_names), hide_possible_values = true)]
    name: Option<String>,
}

/// Returns the names of the schemas, each with what it describes.
fn schema_names() -> Vec<PossibleValue> {
    SCHEMAS.iter().map(|schema| PossibleValue::new(schema.name).help(schema.about())).collect()
}

/// Returns the lists, the topics and the commands.
fn words_to_explain() -> Vec<PossibleValue> {
    let lists = LISTS.map(PossibleValue::new);
    lists.into_iter().chain(topics_and_commands()).collect()
}

/// Returns the topics, each with what it is about, and the commands.
fn topics_and_commands() -> Vec<PossibleValue> {
    let topics = TOPICS.iter().map(|topic| PossibleValue::new(topic.name).help(topic.about()));
    let names = COMMAND_GROUPS.iter().flat_map(|(_, commands)| commands.iter().copied());
    let commands = names.filter(|name| topics::find_topic(name).is_none()).map(PossibleValue::new);
    topics.chain(commands).collect()
}

/// The parts of the help of a command. The examples come before the options.
const COMMAND_TEMPLATE: &str = "{about-with-newline}\n{usage-heading} {usage}\n\n{before-help}{all-args}{after-help}";

/// Puts the examples of all commands before the options, and wraps them and the texts below the options for the terminal,
/// so that clap has no line to break.
pub fn wrapped(tree: Command) -> Command {
    // As clap takes it: texts for no terminal are wide.
    let has_width = Session::is_terminal() || std::env::var_os("COLUMNS").is_some();
    let width = if has_width { diagnostics::terminal_width() } else { terminal::MAX_TEXT_WIDTH };
    tree.mut_subcommands(|command| match command.get_after_help().map(ToString::to_string) {
        Some(text) => {
            let (examples, notes) = terminal::split_examples(&text);
            let wrap = |text: &str| match text {
                "" => Resettable::Reset,
                text => Resettable::Value(StyledStr::from(terminal::wrap_after_help(text, width))),
            };
            command.before_help(wrap(examples)).after_help(wrap(notes)).help_template(COMMAND_TEMPLATE)
        }
        None => command,
    })
}

/// Returns the names and subjects of the help topics.
fn topic_list() -> String {
    let width = TOPICS.iter().map(|topic| topic.name.len()).max().unwrap_or(0);
    let lines = TOPICS.iter().map(|topic| format!("  {:width$}  {}\n", topic.name, topic.about()));
    lines.collect()
}

/// Returns the list that a word asks for: commands, options or topics, each with a line of text. `None` for another
/// word.
fn list_of(word: &str, tree: &Command) -> Option<String> {
    let of_template = |template: &str| {
        let tree = tree.clone().override_help(Resettable::<StyledStr>::Reset);
        tree.help_template(template.to_owned()).render_help().to_string()
    };
    match word {
        "commands" => Some(of_template("{subcommands}\n")),
        "options" => Some(of_template("{options}\n")),
        "topics" => Some(topic_list()),
        _ => None,
    }
}

impl Help {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        let mut tree = (session.command_tree)();
        tree.build();
        let Some(word) = &self.word else {
            return print(&overview());
        };
        if word == "schema" {
            return match schema_text(self.name.as_deref()) {
                Ok(text) => print(&text),
                Err(reason) => refuse(reason),
            };
        }
        if let Some(name) = &self.name {
            return refuse(format!("give one word, not {name} too: only `schema` takes a name"));
        }
        if let Some(list) = list_of(word, &tree) {
            return print(&list);
        }
        let mut tree = wrapped(tree);
        let width = diagnostics::terminal_width();
        let topic = topics::find_topic(word).map(|topic| terminal::render(&markup::parse(topic.text), width));
        let command = tree.find_subcommand_mut(word).map(|command| command.render_long_help().to_string());
        let texts: Vec<String> = topic.into_iter().chain(command).collect();
        if texts.is_empty() {
            if let Some(row) = glossary::find_word(word) {
                return print(&terminal::render(&[markup::HelpBlock::Terms(vec![row])], width));
            }
            let topics: Vec<&str> = topic_names().collect();
            let commands = tree.get_subcommands().map(Command::get_name);
            let near = closest_names(word, commands.chain(topics.iter().copied()).chain(LISTS));
            let mentions = || TOPICS.iter().filter(|topic| topic.mentions(word)).map(|topic| topic.name);
            let hint = if !near.is_empty() {
                suggestion(&near)
            } else if mentions().next().is_some() {
                format!("; these topics mention it: {}", mentions().collect::<Vec<_>>().join(", "))
            } else {
                format!("; topics are {}, and `classad help` lists the commands", topics.join(", "))
            };
            return refuse(format!("there is no command and no topic {word}{hint}"));
        }
        print(&texts.join("\n"))
    }
}

fn print(text: &str) -> Result<Status, Failure> {
    out().write_all(text.as_bytes())?;
    Ok(Status::Yes)
}
