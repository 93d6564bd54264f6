//! The table of commands, for `:help`, completion, hints and `classad repl --help`.

use super::argument::EntryPart;
use super::state::ReplState;
use super::{ads, explain_commands, expression_commands, help, pool_commands, settings};
use crate::cli::outcome::Failure;

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
    pub run: CommandFunction,
}

/// Runs a command with its argument.
pub type CommandFunction = fn(&mut ReplState<'_>, EntryPart<'_>) -> Result<(), Failure>;

/// The kind of a command's argument.
#[derive(Clone, Copy, PartialEq, Eq)]
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
    Dialect,
    Setting,
    /// The name of an ad of the pool, or `target`.
    PoolAd,
    /// The name of a command or function.
    Help,
}

/// Defines the commands. A row is name, synopsis and kind of the argument, function, description and example.
macro_rules! commands {
    ($($name:literal $arguments:literal $kind:ident $run:path, $doc:literal, $example:literal;)*) => {
        /// All commands, in the order of `:help`.
        pub static COMMANDS: &[ReplCommand] = &[$(ReplCommand {
            name: $name,
            arguments: $arguments,
            doc: $doc,
            example: $example,
            argument_kind: ArgumentKind::$kind,
            run: $run,
        },)*];
    };
}

commands! {
    "my" "[AD|FILE [ID]|ID|none]" Ad ads::my,
        "Show, set or remove MY, the ad in which expressions are evaluated; ID is the name or the number of an ad \
        in FILE or, without FILE, in the pool",
        ":my samples/pool/jobs.long 3";
    "target" "[AD|FILE [ID]|ID|none]" Ad ads::target,
        "Show, set or remove TARGET, the other ad of a match; ID is the name or the number of an ad in FILE or, without \
        FILE, in the pool",
        ":target [ Memory = 4096 ]";
    "pool" "[FILE...|EXPR]" Pool pool_commands::pool,
        "Load the pool from files, or count the ads of the pool for which EXPR is true, false, undefined or an error",
        ":pool Cpus >= 8";
    "let" "[NAME = EXPR|NAME|-NAME]" Definition expression_commands::define,
        "Set, show or remove an attribute that is added to MY; `NAME = EXPR` also sets one",
        ":let spare = 2 * 1024";
    "type" "EXPR" Expression expression_commands::type_of,
        "Print the type of the value of an expression",
        ":type 1 + 2.5";
    "trace" "EXPR" Expression expression_commands::trace,
        "Print an expression as a tree, with the value of each part",
        ":trace 1 + 2 > 2 && undefined";
    "specialize" "[EXPR]" Expression expression_commands::specialize_argument,
        "Evaluate the parts of EXPR that depend only on MY and TARGET; without EXPR, those of the constraint of MY",
        ":specialize 3 + 4 < 5 || other.Memory > 2 * 1024";
    "refs" "[EXPR]" Expression expression_commands::refs,
        "List the names that an expression reads; without EXPR, those that MY reads",
        ":refs other.Memory > spare";
    "match" "[N|target]" PoolAd pool_commands::match_pool,
        "List the N best matches in the pool (default: 10), or say whether TARGET matches",
        ":match 3";
    "gang" "[N]" Nothing explain_commands::gang,
        "Print the N best gangs for the ports of MY (default: 1), or why there is none",
        ":gang";
    "explain" "[-v|-vv] [ID|target]" PoolAd explain_commands::explain,
        "Explain why MY does not match the pool or one ad; -v and -vv show more",
        ":explain -v";
    "dialect" "[classad|condor]" Dialect settings::dialect,
        "Show or set the dialect: `condor` for HTCondor, `classad` for the papers",
        ":dialect";
    "load" "FILE..." Files super::load,
        "Run the lines of files, as if you had typed them",
        ":load samples/repl/idle.repl";
    "set" "[NAME [VALUE]]" Setting settings::set,
        "Show or change a setting",
        ":set max-steps 1000000";
    "history" "[N]" Nothing help::history,
        "List the last N entries, or all; on a terminal, also those of earlier sessions",
        ":history 5";
    "help" "[COMMAND|FUNCTION]" Help help::help,
        "List the commands, or explain a command or a function",
        ":help substr";
    "quit" "" Nothing help::quit,
        "Leave; so does Ctrl-D on an empty line",
        ":quit";
}

/// Returns the command with the full name `name`, or else the only command that `name` abbreviates. `None` if there is
/// neither.
pub fn find_command(name: &str) -> Option<&'static ReplCommand> {
    let mut beginning = commands_with_prefix(name);
    match (beginning.next(), beginning.next()) {
        (Some(only), None) => Some(only),
        _ => COMMANDS.iter().find(|command| command.name.eq_ignore_ascii_case(name)),
    }
}

/// Returns the commands that `name` abbreviates; the empty text abbreviates none.
pub fn commands_with_prefix(name: &str) -> impl Iterator<Item = &'static ReplCommand> {
    COMMANDS.iter().filter(move |command| !name.is_empty() && begins_with(command.name, name))
}

/// Whether `text` begins with `beginning`, ignoring the case of ASCII letters.
pub fn begins_with(text: &str, beginning: &str) -> bool {
    text.get(..beginning.len()).is_some_and(|start| start.eq_ignore_ascii_case(beginning))
}

#[cfg(test)]
mod tests {
    use super::{COMMANDS, find_command};

    #[test]
    fn commands_are_found_by_what_only_they_begin_with() {
        for command in COMMANDS {
            assert_eq!(find_command(command.name).map(|found| found.name), Some(command.name));
            assert!(command.example.starts_with(&format!(":{}", command.name)), "{}", command.name);
        }
        assert_eq!(find_command("EXP").map(|found| found.name), Some("explain"));
        for ambiguous in ["", "t", "h", "nothing"] {
            assert!(find_command(ambiguous).is_none(), "{ambiguous:?}");
        }
    }
}
