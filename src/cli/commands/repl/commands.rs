//! The table of commands, for `:help`, completion, hints and `classad repl --help`.

use super::argument::Argument;
use super::state::Desk;
use super::{ads, explain_commands, expression_commands, help, pool_commands, settings};
use crate::cli::Failure;

/// A command of the prompt.
pub struct Command {
    /// Name, without the colon.
    pub name: &'static str,
    /// Synopsis of its argument.
    pub arguments: &'static str,
    /// Description in one line.
    pub doc: &'static str,
    /// Example of its use; a test runs it.
    pub example: &'static str,
    /// Kind of argument, for completion and continuation lines.
    pub takes: Takes,
    /// Function that runs it.
    pub run: fn(&mut Desk<'_>, &Argument<'_>) -> Result<(), Failure>,
}

/// The kind of a command's argument.
#[derive(Clone, Copy)]
pub enum Takes {
    Nothing,
    Expression,
    /// A bracketed ad, a file, or the name of an ad of the pool.
    Ad,
    /// Files or an expression.
    Pool,
    /// `name = expression`
    Definition,
    Files,
    /// Words of a topic.
    Words(Topic),
}

/// A set of words that completion offers.
#[derive(Clone, Copy)]
pub enum Topic {
    Dialects,
    Settings,
    /// Names of the ads of the pool, and `target`.
    Others,
    /// Names of commands and functions.
    Help,
}

/// All commands, in the order of `:help`.
pub static COMMANDS: [Command; 17] = [
    Command {
        name: "my",
        arguments: "[AD|FILE [WHICH]|ID|none]",
        doc: "The ad in which expressions stand, and which is matched: as text, of a file, of the pool",
        example: ":my samples/pool/jobs.long 3",
        takes: Takes::Ad,
        run: ads::my,
    },
    Command {
        name: "target",
        arguments: "[AD|FILE [WHICH]|ID|none]",
        doc: "The ad on the other side",
        example: ":target [ Memory = 4096 ]",
        takes: Takes::Ad,
        run: ads::target,
    },
    Command {
        name: "pool",
        arguments: "[FILE...|EXPR]",
        doc: "Load the ads that can be matched; or in how many of them an expression is true, false, ...",
        example: ":pool Cpus >= 8",
        takes: Takes::Pool,
        run: pool_commands::pool,
    },
    Command {
        name: "let",
        arguments: "[NAME = EXPR|NAME|-NAME]",
        doc: "Define an attribute of the ad in which expressions stand, as `NAME = EXPR` does; show or drop it",
        example: ":let spare = 2 * 1024",
        takes: Takes::Definition,
        run: expression_commands::define,
    },
    Command {
        name: "type",
        arguments: "EXPR",
        doc: "The type of an expression's value",
        example: ":type 1 + 2.5",
        takes: Takes::Expression,
        run: expression_commands::type_of,
    },
    Command {
        name: "trace",
        arguments: "EXPR",
        doc: "The value of every part of an expression, as a tree",
        example: ":trace 1 + 2 > 2 && undefined",
        takes: Takes::Expression,
        run: expression_commands::trace,
    },
    Command {
        name: "specialize",
        arguments: "[EXPR]",
        doc: "What is left of an expression, or of the constraint, when only this side is known",
        example: ":specialize 3 + 4 < 5 || other.Memory > 2 * 1024",
        takes: Takes::Expression,
        run: expression_commands::specialized,
    },
    Command {
        name: "refs",
        arguments: "[EXPR]",
        doc: "What an expression, or the whole ad, refers to",
        example: ":refs other.Memory > spare",
        takes: Takes::Expression,
        run: expression_commands::refs,
    },
    Command {
        name: "match",
        arguments: "[N|target]",
        doc: "The ads of the pool that match, the best N first; or whether the other side does",
        example: ":match 3",
        takes: Takes::Words(Topic::Others),
        run: pool_commands::matching,
    },
    Command {
        name: "gang",
        arguments: "[N]",
        doc: "The best N gangs that fill the ports; or what keeps them from being filled",
        example: ":gang",
        takes: Takes::Nothing,
        run: explain_commands::gang,
    },
    Command {
        name: "explain",
        arguments: "[-v|-vv] [ID|target]",
        doc: "Why it matches nothing in the pool, or not that one ad; with more evidence",
        example: ":explain -v",
        takes: Takes::Words(Topic::Others),
        run: explain_commands::explain,
    },
    Command {
        name: "dialect",
        arguments: "[classad|condor]",
        doc: "Whose language: the papers' or HTCondor's",
        example: ":dialect",
        takes: Takes::Words(Topic::Dialects),
        run: settings::dialect,
    },
    Command {
        name: "load",
        arguments: "FILE...",
        doc: "Enter the lines of files, as if they were typed",
        example: ":load samples/repl/idle.repl",
        takes: Takes::Files,
        run: super::load,
    },
    Command {
        name: "set",
        arguments: "[NAME [VALUE]]",
        doc: "Show or change a setting",
        example: ":set max-steps 1000000",
        takes: Takes::Words(Topic::Settings),
        run: settings::set,
    },
    Command {
        name: "history",
        arguments: "[N]",
        doc: "The last entries",
        example: ":history 5",
        takes: Takes::Nothing,
        run: help::history,
    },
    Command {
        name: "help",
        arguments: "[COMMAND|FUNCTION]",
        doc: "What there is, or more about it",
        example: ":help substr",
        takes: Takes::Words(Topic::Help),
        run: help::help,
    },
    Command {
        name: "quit",
        arguments: "",
        doc: "Leave; so does Ctrl-D",
        example: ":quit",
        takes: Takes::Nothing,
        run: help::quit,
    },
];

/// Returns the command of this name, or the only one of which it is an abbreviation; `None` if there are several.
pub fn find(name: &str) -> Option<&'static Command> {
    let mut beginning = beginning_with(name);
    match (beginning.next(), beginning.next()) {
        (Some(only), None) => Some(only),
        _ => COMMANDS.iter().find(|command| command.name.eq_ignore_ascii_case(name)),
    }
}

/// Returns the commands of which this is an abbreviation; the empty text abbreviates none.
pub fn beginning_with(name: &str) -> impl Iterator<Item = &'static Command> {
    let begins = |command: &&Command| {
        let beginning = command.name.get(..name.len());
        !name.is_empty() && beginning.is_some_and(|beginning| beginning.eq_ignore_ascii_case(name))
    };
    COMMANDS.iter().filter(begins)
}

#[cfg(test)]
mod tests {
    use super::{COMMANDS, find};

    #[test]
    fn commands_are_found_by_what_only_they_begin_with() {
        for command in &COMMANDS {
            assert_eq!(find(command.name).map(|found| found.name), Some(command.name));
            assert!(command.example.starts_with(&format!(":{}", command.name)), "{}", command.name);
        }
        assert_eq!(find("EXP").map(|found| found.name), Some("explain"));
        for ambiguous in ["", "t", "h", "nothing"] {
            assert!(find(ambiguous).is_none(), "{ambiguous:?}");
        }
    }
}
