//! What tells a submit file from ads in the long form.

use super::detect::blank_length;

/// Commands of submit files that are not names of attributes.
const SUBMIT_COMMANDS: [&str; 34] = [
    "accounting_group",
    "accounting_group_user",
    "batch_name",
    "concurrency_limits",
    "container_image",
    "docker_image",
    "executable",
    "getenv",
    "grid_resource",
    "initialdir",
    "job_lease_duration",
    "leave_in_queue",
    "machine_count",
    "max_retries",
    "on_exit_hold",
    "on_exit_remove",
    "periodic_hold",
    "periodic_release",
    "periodic_remove",
    "queue",
    "request_cpus",
    "request_disk",
    "request_gpus",
    "request_memory",
    "retry_until",
    "should_transfer_files",
    "stream_error",
    "stream_output",
    "transfer_executable",
    "transfer_input_files",
    "transfer_output_files",
    "transfer_output_remaps",
    "universe",
    "when_to_transfer_output",
];

/// Commands that are also common names of attributes. Their values tell: those of attributes are literals.
const COMMANDS_WITH_PLAIN_NAMES: [&str; 3] = ["executable", "getenv", "universe"];

/// Commands of submit files that ads may have as attributes, too.
const COMMON_COMMANDS: [&str; 14] = [
    "arguments",
    "description",
    "environment",
    "error",
    "hold",
    "input",
    "log",
    "notification",
    "notify_user",
    "output",
    "priority",
    "rank",
    "requirements",
    "include",
];

/// Returns a command of submit files with this spelling, ignoring case, that is no name of an attribute.
pub(super) fn submit_command(word: &[u8]) -> Option<&'static str> {
    SUBMIT_COMMANDS.iter().copied().find(|command| word.eq_ignore_ascii_case(command.as_bytes()))
}

/// What the beginning of a text shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SubmitSigns {
    /// Nothing of a submit file.
    None,
    /// A command of submit files that an ad may have as an attribute.
    Possible,
    /// A command or a statement that only submit files have.
    Certain,
}

/// Number of bytes at the beginning of a text that are searched.
pub(super) const SEARCHED_BYTES: usize = 1 << 14;

impl SubmitSigns {
    /// Searches the beginning of a text.
    pub fn of_beginning(text: &[u8]) -> Self {
        let text = &text[..text.len().min(SEARCHED_BYTES)];
        let rest = &text[blank_length(text)..];
        let mut signs = SubmitSigns::None;
        let mut is_continued = false;
        for (index, line) in rest.split(|byte| *byte == b'\n').enumerate() {
            let line = line.trim_ascii();
            let begins = !std::mem::replace(&mut is_continued, line.ends_with(b"\\"));
            let length = line.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"_.+".contains(byte)).count();
            let (word, behind) = (&line[..length], line[length..].trim_ascii_start());
            if !begins || word.is_empty() {
                continue;
            }
            let is_assignment = behind.starts_with(b"=") && !behind.starts_with(b"==");
            let is_custom = word.len() > 1 && word[0] == b'+' && !word[1].is_ascii_digit();
            let is_queue = word.eq_ignore_ascii_case(b"queue");
            let is_command = !is_queue
                && submit_command(word).is_some_and(|command| {
                    !COMMANDS_WITH_PLAIN_NAMES.contains(&command) || !is_literal(behind.get(1..).unwrap_or_default())
                });
            if is_assignment && (is_custom || is_command)
                || is_queue
                    && (behind.is_empty()
                        || length < line.len() && line[length].is_ascii_whitespace() && !is_assignment)
            {
                return SubmitSigns::Certain;
            }
            let mut common = COMMON_COMMANDS.iter().chain(&COMMANDS_WITH_PLAIN_NAMES);
            if index == 0 && common.any(|command| word.eq_ignore_ascii_case(command.as_bytes())) {
                signs = SubmitSigns::Possible;
            }
        }
        signs
    }
}

/// Whether a value begins as a literal of the language does.
fn is_literal(value: &[u8]) -> bool {
    let value = value.trim_ascii();
    let is_word = [&b"true"[..], b"false", b"undefined", b"error"].iter().any(|word| value.eq_ignore_ascii_case(word));
    is_word || matches!(value, [b'0'..=b'9' | b'"' | b'-' | b'+', ..] | [b'.', b'0'..=b'9', ..])
}

#[cfg(test)]
mod tests {
    use super::SubmitSigns;

    #[test]
    fn signs() {
        use SubmitSigns::{Certain, None, Possible};
        for (text, expected) in [
            ("executable = a\nqueue\n", Certain),
            ("# c\n\nFOO = 1\nqueue 3\n", Certain),
            ("log = a\n", Possible),
            ("log = a\nQueue x in (a b)\n", Certain),
            ("+Flag = true\n", Certain),
            ("request_memory=2GB\n", Certain),
            ("Queue = 3\n", None),
            ("Requirements = true\n", Possible),
            ("MyType = \"Job\"\nRank = 0.0\n", None),
            ("a = 1 \\\nqueue\n", None),
            ("Cmd = \"queue\"\n", None),
            ("1 + 2\n", None),
            ("queues\n", None),
            ("Owner = \"a\"\nUniverse = 5\nExecutable = \"/bin/a\"\ngetenv = true\n", None),
            ("universe = vanilla\n", Certain),
            ("executable = /bin/a\n", Certain),
            ("executable = ./a\n", Certain),
            ("universe = 5\nlog = a\n", Possible),
        ] {
            assert_eq!(SubmitSigns::of_beginning(text.as_bytes()), expected, "{text}");
        }
    }
}
