//! The table of commands, for `:help`, completion, hints and `classad repl --help`.

use super::argument::CommandArgument;
use super::state::ReplState;
use super::{ads, explain_commands, expression_commands, help, pool_commands, settings};
use crate::cli::Failure;

/// A command of the prompt.
pub struct ReplCommand {
    /// Name, without the colon.
    pub name: &'static str,
    /// Synopsis of the argument.
    pub arguments: &'static str,
    /// Description in one line.
    pub doc: &'static str,
    /// Example of the command, which a test runs.
    pub example: &'static str,
    /// Kind of the argument, for completion and continuation lines.
    pub argument_kind: ArgumentKind,
    /// Function that runs the command.
    pub run: fn(&mut ReplState<'_>, &CommandArgument<'_>) -> Result<(), Failure>,
}

/// The kind of a command's argument.
#[derive(Clone, Copy)]
pub enum ArgumentKind {
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
    Words(CompletionTopic),
}

/// A set of words that completion offers.
#[derive(Clone, Copy)]
pub enum CompletionTopic {
    Dialects,
    Settings,
    /// Names of the ads of the pool, and `target`.
    PoolAds,
    /// Names of commands and functions.
    Help,
}

/// All commands, in the order of `:help`.
pub static COMMANDS: [ReplCommand; 17] = [
    ReplCommand {
        name: "my",
        arguments: "[AD|FILE [WHICH]|ID|none]",
        doc: "The ad in which expressions stand, and which is matched: as text, of a file, of the pool",
        example: ":my samples/pool/jobs.long 3",
        argument_kind: ArgumentKind::Ad,
        run: ads::my,
    },
    ReplCommand {
        name: "target",
        arguments: "[AD|FILE [WHICH]|ID|none]",
        doc: "The ad on the other side",
        example: ":target [ Memory = 4096 ]",
        argument_kind: ArgumentKind::Ad,
        run: ads::target,
    },
    ReplCommand {
        name: "pool",
        arguments: "[FILE...|EXPR]",
        doc: "Load the ads that can be matched; or in how many of them an expression is true, false, ...",
        example: ":pool Cpus >= 8",
        argument_kind: ArgumentKind::Pool,
        run: pool_commands::pool,
    },
    ReplCommand {
        name: "let",
        arguments: "[NAME = EXPR|NAME|-NAME]",
        doc: "Define an attribute of the ad in which expressions stand, as `NAME = EXPR` does; show or drop it",
        example: ":let spare = 2 * 1024",
        argument_kind: ArgumentKind::Definition,
        run: expression_commands::define,
    },
    ReplCommand {
        name: "type",
        arguments: "EXPR",
        doc: "The type of an expression's value",
        example: ":type 1 + 2.5",
        argument_kind: ArgumentKind::Expression,
        run: expression_commands::type_of,
    },
    ReplCommand {
        name: "trace",
        arguments: "EXPR",
        doc: "The value of every part of an expression, as a tree",
        example: ":trace 1 + 2 > 2 && undefined",
        argument_kind: ArgumentKind::Expression,
        run: expression_commands::trace,
    },
    ReplCommand {
        name: "specialize",
        arguments: "[EXPR]",
        doc: "What is left of an expression, or of the constraint, when only this side is known",
        example: ":specialize 3 + 4 < 5 || other.Memory > 2 * 1024",
        argument_kind: ArgumentKind::Expression,
        run: expression_commands::specialize_argument,
    },
    ReplCommand {
        name: "refs",
        arguments: "[EXPR]",
        doc: "What an expression, or the whole ad, refers to",
        example: ":refs other.Memory > spare",
        argument_kind: ArgumentKind::Expression,
        run: expression_commands::refs,
    },
    ReplCommand {
        name: "match",
        arguments: "[N|target]",
        doc: "The ads of the pool that match, the best N first; or whether the other side does",
        example: ":match 3",
        argument_kind: ArgumentKind::Words(CompletionTopic::PoolAds),
        run: pool_commands::match_pool,
    },
    ReplCommand {
        name: "gang",
        arguments: "[N]",
        doc: "The best N gangs that fill the ports; or what keeps them from being filled",
        example: ":gang",
        argument_kind: ArgumentKind::Nothing,
        run: explain_commands::gang,
    },
    ReplCommand {
        name: "explain",
        arguments: "[-v|-vv] [ID|target]",
        doc: "Why it matches nothing in the pool, or not that one ad; with more evidence",
        example: ":explain -v",
        argument_kind: ArgumentKind::Words(CompletionTopic::PoolAds),
        run: explain_commands::explain,
    },
    ReplCommand {
        name: "dialect",
        arguments: "[classad|condor]",
        doc: "Whose language: the papers' or HTCondor's",
        example: ":dialect",
        argument_kind: ArgumentKind::Words(CompletionTopic::Dialects),
        run: settings::dialect,
    },
    ReplCommand {
        name: "load",
        arguments: "FILE...",
        doc: "Enter the lines of files, as if they were typed",
        example: ":load samples/repl/idle.repl",
        argument_kind: ArgumentKind::Files,
        run: super::load,
    },
    ReplCommand {
        name: "set",
        arguments: "[NAME [VALUE]]",
        doc: "Show or change a setting",
        example: ":set max-steps 1000000",
        argument_kind: ArgumentKind::Words(CompletionTopic::Settings),
        run: settings::set,
    },
    ReplCommand {
        name: "history",
        arguments: "[N]",
        doc: "The last entries",
        example: ":history 5",
        argument_kind: ArgumentKind::Nothing,
        run: help::history,
    },
    ReplCommand {
        name: "help",
        arguments: "[COMMAND|FUNCTION]",
        doc: "What there is, or more about it",
        example: ":help substr",
        argument_kind: ArgumentKind::Words(CompletionTopic::Help),
        run: help::help,
    },
    ReplCommand {
        name: "quit",
        arguments: "",
        doc: "Leave; so does Ctrl-D",
        example: ":quit",
        argument_kind: ArgumentKind::Nothing,
        run: help::quit,
    },
];

/// Returns the command that `name` names or abbreviates. `None` if there is no such command, or if `name` abbreviates
/// several.
pub fn find_command(name: &str) -> Option<&'static ReplCommand> {
    let mut beginning = commands_with_prefix(name);
    match (beginning.next(), beginning.next()) {
        (Some(only), None) => Some(only),
        _ => COMMANDS.iter().find(|command| command.name.eq_ignore_ascii_case(name)),
    }
}

/// Returns the commands that `name` abbreviates; the empty text abbreviates none.
pub fn commands_with_prefix(name: &str) -> impl Iterator<Item = &'static ReplCommand> {
    let begins = |command: &&ReplCommand| {
        let beginning = command.name.get(..name.len());
        !name.is_empty() && beginning.is_some_and(|beginning| beginning.eq_ignore_ascii_case(name))
    };
    COMMANDS.iter().filter(begins)
}

#[cfg(test)]
mod tests {
    use super::{COMMANDS, find_command};

    #[test]
    fn commands_are_found_by_what_only_they_begin_with() {
        for command in &COMMANDS {
            assert_eq!(find_command(command.name).map(|found| found.name), Some(command.name));
            assert!(command.example.starts_with(&format!(":{}", command.name)), "{}", command.name);
        }
        assert_eq!(find_command("EXP").map(|found| found.name), Some("explain"));
        for ambiguous in ["", "t", "h", "nothing"] {
            assert!(find_command(ambiguous).is_none(), "{ambiguous:?}");
        }
    }
}
