//! Which words of a command line are options, and which are their values.

use std::ffi::OsString;

use clap::Arg;

/// Returns the index in `arguments` of the command's name, which follows the global options and their values. `None` if
/// there is no command.
pub fn command_position(arguments: &[OsString], options: &[Arg]) -> Option<usize> {
    let mut at = 1;
    loop {
        let argument = arguments.get(at)?.to_string_lossy();
        if !argument.starts_with('-') {
            return Some(at);
        }
        at += 1 + usize::from(takes_next_argument(&argument, options));
    }
}

/// Whether an argument is an option whose value is the next argument, such as `--seed` before `7`.
pub fn takes_next_argument(argument: &str, options: &[Arg]) -> bool {
    let takes = |arg: &Arg| arg.get_action().takes_values() && !arg.is_require_equals_set();
    if let Some(long) = argument.strip_prefix("--") {
        let is_it = |arg: &&Arg| {
            arg.get_long() == Some(long) || arg.get_all_aliases().is_some_and(|aliases| aliases.contains(&long))
        };
        return options.iter().find(is_it).is_some_and(takes);
    }
    // In a cluster of short options, such as `-qo`, only the last option can take the next argument. In `-oNAME` the
    // value follows the letter directly, so that the next argument is not taken.
    let mut letters = argument.chars().skip(1);
    let takes_value = |letter| options.iter().find(|arg| arg.get_short() == Some(letter)).is_some_and(takes);
    letters.any(takes_value) && letters.next().is_none()
}

/// Whether an argument is a cluster of short options, such as `-qo`; the last one may have its value there, as in
/// `-ojson`. `-h` and `-V` are in no cluster: a word that begins with them is a word.
pub fn is_cluster(argument: &str, options: &[Arg]) -> bool {
    for letter in argument.chars().skip(1) {
        match options.iter().find(|arg| arg.get_short() == Some(letter)) {
            None => return false,
            Some(option) if option.get_action().takes_values() => return true,
            Some(_) => {}
        }
    }
    true
}

/// Returns the argument behind the option `text` as its value, if it is no option itself.
pub fn option_value(text: &str, next: Option<&OsString>, what: &str) -> Result<OsString, String> {
    let is_option = |next: &OsString| next.to_string_lossy().strip_prefix("--").is_some_and(starts_with_letter);
    next.filter(|next| !is_option(next)).cloned().ok_or_else(|| format!("{text} needs {what}"))
}

pub fn starts_with_letter(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
}
