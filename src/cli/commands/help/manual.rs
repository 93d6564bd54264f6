//! `classad man`: manual pages, generated from the tree of commands, the help topics and the table of lint rules.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_mangen::Man;
use classad::text::{closest_names, suggestion};

use super::markup::{self, HelpBlock};
use super::{MANUAL_DATE, roff, topics};
use crate::cli::render::diagnostics;
use crate::cli::render::output::out;
use crate::cli::{Failure, Status, refuse};

const EXAMPLES: &str = "\
Examples:
  classad man query | head
  classad man language | head
  classad man --out target/man && ls target/man

Pages are of commands, section 1, or of topics, section 7: language, gangs, explain; `explain.7` is the topic.
`man -l <(classad man query)` shows one.";

/// Print a manual page, or write all of them
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ManualCommand {
    /// The command or topic; all of it if there is none
    page: Option<String>,
    /// Write every page into this folder instead
    #[arg(long, value_name = "DIR", conflicts_with = "page")]
    out: Option<PathBuf>,
}

/// The pages of section 7: name, subject and topics of each.
const TOPIC_PAGES: [(&str, &str, &[&str]); 3] = [
    ("language", "the language of classified advertisements", &["language", "dialects", "formats", "functions"]),
    ("gangs", "requests with several ports, policies, and claims", &["gangs", "policy", "claims"]),
    ("explain", "why a request matches nothing", &["explain"]),
];

/// A manual page in roff.
struct ManualPage {
    /// Name without `classad-`; empty for classad(1).
    name: String,
    section: u8,
    text: Vec<u8>,
}

impl ManualPage {
    fn file_name(&self) -> String {
        let dash = if self.name.is_empty() { "" } else { "-" };
        format!("classad{dash}{}.{}", self.name, self.section)
    }
}

impl ManualCommand {
    pub fn run(&self) -> Result<Status, Failure> {
        let pages = pages()?;
        if let Some(folder) = &self.out {
            write_all(&pages, folder).map_err(|error| {
                let reason = diagnostics::io_reason(&error);
                Failure::refused(format!("cannot write into {}: {reason}", folder.display()))
            })?;
            return Ok(Status::Yes);
        }
        let wanted = self.page.as_deref().unwrap_or_default();
        let (name, section) = match wanted.rsplit_once('.') {
            Some((name, section)) => (name, section.parse::<u8>().ok()),
            None => (wanted, None),
        };
        let bare = name.strip_prefix("classad").map_or(name, |rest| rest.trim_start_matches('-'));
        let found =
            pages.iter().find(|page| page.name == bare && section.is_none_or(|section| page.section == section));
        let Some(page) = found else {
            let near = closest_names(bare, pages.iter().map(|page| page.name.as_str()));
            let hint = suggestion(&near);
            return refuse(format!("there is no page {wanted}{hint}"));
        };
        out().write_all(&page.text)?;
        Ok(Status::Yes)
    }
}

fn write_all(pages: &[ManualPage], folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    pages.iter().try_for_each(|page| fs::write(folder.join(page.file_name()), &page.text))
}

/// Generates every page: classad(1), one page for each command, and the pages of section 7.
fn pages() -> io::Result<Vec<ManualPage>> {
    let mut tree = crate::cli::tree();
    tree.build();
    let mut pages = vec![ManualPage { name: String::new(), section: 1, text: main_page(&tree)? }];
    for command in tree.get_subcommands() {
        pages.push(ManualPage { name: command.get_name().to_owned(), section: 1, text: command_page(&tree, command)? });
    }
    for (name, about, topics) in TOPIC_PAGES {
        pages.push(ManualPage {
            name: name.to_owned(),
            section: 7,
            text: topic_page(name, about, topics).into_bytes(),
        });
    }
    Ok(pages)
}

fn man_builder(command: Command) -> Man {
    Man::new(command).date(MANUAL_DATE).manual("classad manual").source(concat!("classad ", env!("CARGO_PKG_VERSION")))
}

/// Writes the section of the options. Replaces the line breaks that `clap_mangen` writes within an option by one
/// vertical space (`.sp`).
fn write_options(man: &Man, into: &mut Vec<u8>) -> io::Result<()> {
    let mut text = Vec::new();
    man.render_options_section(&mut text)?;
    into.extend(String::from_utf8_lossy(&text).replace(".br\n\n.br\n", ".sp\n").into_bytes());
    Ok(())
}

/// Writes the title, name, synopsis and description of a page.
fn write_page_head(man: &Man, into: &mut Vec<u8>) -> io::Result<()> {
    man.render_title(into)?;
    into.extend(roff::LAYOUT.as_bytes());
    man.render_name_section(into)?;
    man.render_synopsis_section(into)?;
    man.render_description_section(into)
}

/// Generates classad(1).
fn main_page(tree: &Command) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let man = man_builder(tree.clone());
    write_page_head(&man, &mut text)?;
    man.render_subcommands_section(&mut text)?;
    write_options(&man, &mut text)?;
    let term = |name: &str, about: &str| (name.to_owned(), about.to_owned());
    let heading = |heading: &str| HelpBlock::Heading(heading.to_owned());
    let mut blocks = vec![
        heading("Environment"),
        HelpBlock::Terms(vec![
            term("CLASSAD_DIALECT", "the dialect, where `--dialect` does not say it"),
            term("NO_COLOR, CLICOLOR_FORCE", "no colour, colour also into a pipe; `--color` goes before"),
            term("CLASSAD_HISTORY", "the file in which `classad repl` keeps what was entered; nowhere if it is empty"),
            term("COLUMNS", "how wide tables and problems are"),
        ]),
        heading("Files"),
        HelpBlock::Terms(vec![term(
            "$XDG_CONFIG_HOME/classad.yaml",
            "defaults of the options of every command, by their names, as in `dialect: condor`; without \
             `XDG_CONFIG_HOME` it is in `~/.config`",
        )]),
        heading("Exit status"),
    ];
    blocks.extend(topics::find_topic("exit-codes").map(topics::HelpTopic::blocks).unwrap_or_default());
    text.extend(roff::render(&blocks).into_bytes());
    let commands = tree.get_subcommands().map(|command| (format!("classad-{}", command.get_name()), 1));
    let seventh = TOPIC_PAGES.iter().map(|(name, ..)| (format!("classad-{name}"), 7));
    text.extend(roff::see_also(&commands.chain(seventh).collect::<Vec<_>>()).into_bytes());
    Ok(text)
}

/// Generates the page of a command. Global options are left to classad(1).
fn command_page(tree: &Command, command: &Command) -> io::Result<Vec<u8>> {
    let mut own = command.clone();
    for arg in tree.get_arguments().filter(|arg| arg.is_global_set()) {
        own = own.mut_arg(arg.get_id(), |arg| arg.hide(true));
    }
    let mut text = Vec::new();
    let man = man_builder(own);
    write_page_head(&man, &mut text)?;
    write_options(&man, &mut text)?;
    let more = "The options of every command and the exit status are described in `classad`(1).";
    let mut blocks = vec![HelpBlock::Terms(Vec::new()), HelpBlock::Paragraph(more.to_owned())];
    blocks.extend(markup::parse_after_help(&command.get_after_help().map(ToString::to_string).unwrap_or_default()));
    if command.get_name() == "check" {
        blocks.push(HelpBlock::Heading("Rules".to_owned()));
        blocks.push(HelpBlock::Terms(topics::named_table("rules")));
    }
    text.extend(roff::render(&blocks).into_bytes());
    let mut others = vec![("classad".to_owned(), 1)];
    let about = |name: &str| TOPIC_PAGES.iter().any(|(seventh, ..)| *seventh == name);
    let seventh = match command.get_name() {
        name if about(name) => name,
        "claim" | "gangmatch" | "match" | "negotiate" => "gangs",
        _ => "language",
    };
    others.push((format!("classad-{seventh}"), 7));
    text.extend(roff::see_also(&others).into_bytes());
    Ok(text)
}

/// Generates a page of section 7.
fn topic_page(name: &str, about: &str, topics: &[&str]) -> String {
    let mut text = roff::page_head(&format!("classad-{name}"), 7, about);
    for (index, topic) in topics.iter().filter_map(|topic| topics::find_topic(topic)).enumerate() {
        let mut blocks = topic.blocks();
        if index > 0 {
            blocks.insert(0, HelpBlock::Heading(topic.name.to_owned()));
        }
        text.push_str(&roff::render(&blocks));
    }
    let others =
        TOPIC_PAGES.iter().filter(|(other, ..)| *other != name).map(|(other, ..)| (format!("classad-{other}"), 7));
    text.push_str(&roff::see_also(&std::iter::once(("classad".to_owned(), 1)).chain(others).collect::<Vec<_>>()));
    text
}
