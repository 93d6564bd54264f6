//! `classad man`: manual pages, generated from the tree of commands, the help topics and the table of lint rules.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process;

use clap::{Args, Command};
use clap_mangen::Man;
use classad::text::{closest_names, suggestion};

use super::markup::{HelpBlock, parse};
use super::{Help, MANUAL_DATE, roff, topics};
use crate::cli::args::suggested_values::SuggestedValues;
use crate::cli::io::atomic_write::create_or_replace;
use crate::cli::outcome::{Failure, Status, refuse};
use crate::cli::render::output::out;
use crate::cli::session::Session;

const EXAMPLES: &str = "\
Examples:
  classad man query | head
  classad man language | head
  classad man --out target/man && ls target/man

Pages of commands are in section 1, pages of topics in section 7. --out collects topics in three pages. explain and
functions are commands and topics: `classad man explain.7` shows the topic. On a terminal, man, mandoc or groff shows
the page. In a pipe or a file, the source of the page is written.";

/// Show a manual page, or write pages to files
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ManualCommand {
    /// The command or topic; without PAGE, show classad(1)
    #[arg(value_parser = SuggestedValues(super::topics_and_commands), hide_possible_values = true)]
    page: Option<String>,
    /// Write the pages of the commands and of most topics to this folder
    #[arg(long, value_name = "DIR", conflicts_with = "page")]
    out: Option<PathBuf>,
}

/// The pages of section 7: name, subject and topics of each.
const TOPIC_PAGES: [(&str, &str, &[&str]); 3] = [
    (
        "language",
        "the language of classified advertisements",
        &["language", "words", "dialects", "formats", "functions"],
    ),
    ("gangs", "requests with several ports, policies, and claims", &["gangs", "policy", "claims"]),
    ("explain", "why a request matches nothing", &["explain"]),
];

/// A manual page.
struct ManualPage<'n> {
    /// Name without `classad-`; empty for classad(1).
    name: &'n str,
    section: u8,
    roff: String,
}

impl ManualCommand {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        let mut tree = (session.command_tree)();
        tree.build();
        let pages = pages(&tree)?;
        if let Some(folder) = &self.out {
            let write = |page: &ManualPage<'_>| {
                let path = folder.join(format!("{}.{}", roff::page_name(page.name), page.section));
                create_or_replace(&path, None, |file| file.write_all(page.roff.as_bytes())).map(drop)
            };
            let written = fs::create_dir_all(folder).and_then(|()| pages.iter().try_for_each(write));
            written.map_err(|error| Failure::unwritable(format!("into {}", folder.display()), &error))?;
            return Ok(Status::Yes);
        }
        let wanted = self.page.as_deref().unwrap_or_default();
        let (name, section) = match wanted.rsplit_once('.') {
            Some((name, section)) => (name, section.parse::<u8>().ok()),
            None => (wanted, None),
        };
        let bare = name.strip_prefix("classad").map_or(name, |rest| rest.trim_start_matches('-'));
        let is_wanted =
            |page: &&ManualPage<'_>| page.name == bare && section.is_none_or(|section| page.section == section);
        let topic = topics::find_topic(bare).filter(|_| section.is_none_or(|section| section == 7));
        let text = match (pages.iter().find(is_wanted), topic) {
            (Some(page), _) => &page.roff,
            (None, Some(topic)) => &topic_page(topic.name, topic.about(), &[topic.name]),
            (None, None) => {
                let names = pages.iter().map(|page| page.name).chain(topics::TOPICS.iter().map(|topic| topic.name));
                return refuse(format!("there is no page {wanted}{}", suggestion(&closest_names(bare, names))));
            }
        };
        if Session::is_terminal() && !is_shown_by_reader(text) {
            // Without a reader of manual pages, the plain help says the same.
            return match bare {
                "" => super::print(&super::overview()),
                word => Help { word: Some(word.to_owned()), name: None }.run(session),
            };
        }
        if !Session::is_terminal() {
            out().write_all(text.as_bytes())?;
        }
        Ok(Status::Yes)
    }
}

/// Programs that show a manual page which they get on standard input.
const READERS: [(&str, &[&str]); 3] = [("man", &["-l", "-"]), ("mandoc", &["-a"]), ("groff", &["-man", "-Tutf8"])];

/// Gives a page to the first reader of manual pages that there is. Returns whether one has shown the page.
fn is_shown_by_reader(roff: &str) -> bool {
    let shows = |(program, arguments): &(&str, &[&str])| -> io::Result<bool> {
        let mut reader = process::Command::new(program).args(*arguments).stdin(process::Stdio::piped()).spawn()?;
        // Who leaves the reader early closes the pipe.
        let written = reader.stdin.take().map_or(Ok(()), |mut page| page.write_all(roff.as_bytes()));
        let status = reader.wait()?;
        Ok(status.success() || written.is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe))
    };
    READERS.iter().any(|reader| shows(reader).unwrap_or(false))
}

/// Generates every page: classad(1), one page for each command, and the pages of section 7.
fn pages(tree: &Command) -> io::Result<Vec<ManualPage<'_>>> {
    let mut pages = vec![ManualPage { name: "", section: 1, roff: main_page(tree)? }];
    for command in tree.get_subcommands() {
        pages.push(ManualPage { name: command.get_name(), section: 1, roff: command_page(tree, command)? });
    }
    let seventh = TOPIC_PAGES.iter();
    pages.extend(seventh.map(|(name, about, topics)| ManualPage {
        name,
        section: 7,
        roff: topic_page(name, about, topics),
    }));
    Ok(pages)
}

/// Generates the sections that clap knows: title, name, synopsis, description and options. `with_commands` adds the
/// commands.
fn clap_sections(command: Command, with_commands: bool) -> io::Result<String> {
    let source = concat!("classad ", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command).date(MANUAL_DATE).manual("classad manual").source(source);
    let mut text = Vec::new();
    man.render_title(&mut text)?;
    text.extend(roff::LAYOUT.as_bytes());
    man.render_name_section(&mut text)?;
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    if with_commands {
        man.render_subcommands_section(&mut text)?;
    }
    man.render_options_section(&mut text)?;
    // `clap_mangen` breaks the line twice within an option, where one vertical space is meant.
    Ok(String::from_utf8_lossy(&text).replace(".br\n\n.br\n", ".sp\n"))
}

/// Generates classad(1).
fn main_page(tree: &Command) -> io::Result<String> {
    let exit_codes = topics::find_topic("exit-codes").map_or("", |topic| topic.text);
    let more = format!("## Environment\n<!-- environment -->\n## Files\n<!-- files -->\n## Exit status\n{exit_codes}");
    let commands = tree.get_subcommands().map(|command| (command.get_name(), 1));
    let others = roff::see_also(commands.chain(TOPIC_PAGES.map(|(name, ..)| (name, 7))));
    Ok(clap_sections(tree.clone(), true)? + &roff::render(&parse(&more)) + &others)
}

/// Generates the page of a command. Global options are left to classad(1).
fn command_page(tree: &Command, command: &Command) -> io::Result<String> {
    let mut own = command.clone();
    for arg in tree.get_arguments().filter(|arg| arg.is_global_set()) {
        own = own.mut_arg(arg.get_id(), |arg| arg.hide(true));
    }
    let name = command.get_name();
    let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let rules = if name == "check" { "## Rules\n<!-- rules -->" } else { "" };
    let more = "The options that all commands have, and the exit status, are described in `classad`(1).";
    let mut blocks = parse(&format!("{more}\n\n{examples}\n\n{rules}"));
    let is_note = |pair: &[HelpBlock]| matches!(pair, [HelpBlock::Literal(_), HelpBlock::Paragraph(_)]);
    if let Some(last_example) = blocks.windows(2).position(is_note) {
        blocks.insert(last_example + 1, HelpBlock::Heading("Notes".to_owned()));
    }
    let topic = match name {
        "claim" | "gangmatch" | "match" | "negotiate" => "gangs",
        name if TOPIC_PAGES.iter().any(|(topic, ..)| *topic == name) => name,
        _ => "language",
    };
    Ok(clap_sections(own, false)? + &roff::render(&blocks) + &roff::see_also([("", 1), (topic, 7)]))
}

/// Generates a page of section 7 from the texts of its topics.
fn topic_page(name: &str, about: &str, topics: &[&str]) -> String {
    let mut text = String::new();
    for (index, topic) in topics.iter().filter_map(|topic| topics::find_topic(topic)).enumerate() {
        if index > 0 {
            text.extend(["\n## ", topic.name, "\n"]);
        }
        text.push_str(topic.text);
    }
    let others = TOPIC_PAGES.iter().map(|(other, ..)| (*other, 7)).filter(|(other, _)| *other != name);
    let others = roff::see_also([("", 1)].into_iter().chain(others));
    roff::page_head(name, about) + &roff::render(&parse(&text)) + &others
}
