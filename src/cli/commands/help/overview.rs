//! The overview that `classad`, `classad --help` and `classad help` print: commands in groups, examples, four options.

use super::topics::topic_names;

/// The commands in groups. A test requires that each command is in exactly one group.
pub const COMMAND_GROUPS: [(&str, &[&str]); 5] = [
    ("Ask", &["query", "explain", "census", "diff", "join", "refs", "collect"]),
    ("Match", &["match", "negotiate", "gangmatch", "autocluster", "claim"]),
    ("Write", &["check", "fmt", "test", "transform", "route", "convert", "sample", "split", "anonymize"]),
    ("Language", &["eval", "repl", "specialize", "functions", "parse"]),
    ("Other", &["parts", "scatter", "merge", "workload", "completions", "man", "demo", "help"]),
];

/// Maximum number of columns of a line.
const MAX_COLUMNS: usize = 80;

/// Returns the overview.
pub fn overview() -> String {
    let groups =
        COMMAND_GROUPS.iter().map(|(group, commands)| format!("{:11}{}\n", format!("{group}:"), commands.join(", ")));
    let groups: String = groups.collect();
    let topics: Vec<&str> = topic_names().collect();
    let topics = textwrap::fill(&format!("Topics: {}.", topics.join(", ")), MAX_COLUMNS);
    format!(
        "\
Ask, match and check ClassAds, the language of HTCondor's jobs and machines

Usage: classad COMMAND [OPTIONS] [FILES]

{groups}
Examples:
  classad query 'Memory > 8000' slots.long --af Name,Memory
  classad explain jobs.long --pool slots.long --unmatched
  classad match jobs.long --pool slots.long
  classad check jobs.long

Options of every command (`classad help options` lists all of them):
  --from FORM        format of the input, if it is not detected
  --dialect DIALECT  `condor`, as in HTCondor, or `classad`, as in the papers
  -q, --quiet        print nothing on standard output
  --color WHEN       auto, always or never

`classad help commands` describes the commands, `classad help WORD` explains a
command, a topic or a word such as slot.
{topics}
Exit status: 0 found, or no findings; 1 nothing found, or findings; 2 wrong
usage or bad input; 3 a limit was exceeded. See `classad help exit-codes`.
Source code and bug reports: {repository}
",
        repository = env!("CARGO_PKG_REPOSITORY")
    )
}

#[cfg(test)]
mod tests {
    use super::{COMMAND_GROUPS, MAX_COLUMNS, overview};

    #[test]
    fn each_command_is_in_one_group() {
        let mut grouped: Vec<&str> = COMMAND_GROUPS.iter().flat_map(|(_, commands)| commands.iter().copied()).collect();
        grouped.sort_unstable();
        let tree = crate::cli::program::tree();
        let mut commands: Vec<&str> = tree.get_subcommands().map(clap::Command::get_name).collect();
        commands.sort_unstable();
        assert_eq!(grouped, commands);
    }

    #[test]
    fn the_overview_is_short() {
        let text = overview();
        assert!(text.lines().count() <= 32, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= MAX_COLUMNS + 1), "{text}");
    }
}
