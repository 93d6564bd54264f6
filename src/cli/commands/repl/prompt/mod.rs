//! The interactive prompt, on top of rustyline.

mod complete;
mod highlight;
mod hint;
mod history;

use std::borrow::Cow;

use classad::eval::Interrupt;
use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::config::{Builder, ColorMode, CompletionType};
use rustyline::error::ReadlineError;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::{Hinter, HistoryHinter};
use rustyline::history::DefaultHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Editor, Helper};

use super::entry::is_entry_incomplete;
use super::state::ReplState;
use crate::cli::outcome::Failure;
use crate::cli::render::diagnostics;

use complete::{CompletionNames, WordCompletions};
use hint::InlineHint;

/// The prompt before an entry.
pub const PROMPT: &str = "classad> ";

/// Maximum number of entries kept in the history.
const MAX_HISTORY_ENTRIES: usize = 5000;

/// Reads entries from the terminal and runs them until the user leaves.
pub fn run_prompt(state: &mut ReplState<'_>) -> Result<(), Failure> {
    let interrupt = Interrupt::default();
    state.session.context_mut().interrupt = Some(interrupt.clone());
    let raised = interrupt.clone();
    if ctrlc::set_handler(move || raised.raise()).is_err() {
        state.session.warning("Ctrl-C cannot be caught: it ends the session");
    }
    // An error does not end an interactive session, because the user can correct the entry.
    state.session.options.fail_fast = false;
    let is_colored = diagnostics::colors_stdout(&state.session.options);
    let mut editor = new_editor(is_colored).map_err(terminal_failure)?;
    let history = history::history_path();
    if let Some(path) = &history {
        // Before the first session there is no file: ignore the error.
        let _ = editor.load_history(path);
        state.entries = editor.history().iter().cloned().collect();
    }
    let (version, dialect) = (env!("CARGO_PKG_VERSION"), state.session.dialect());
    state.print_sentences(&format!("classad {version}, dialect {dialect}; :help lists the commands, Ctrl-D leaves"))?;
    while !state.is_finished {
        // Clear earlier interrupts: only a Ctrl-C from here on stops the next entry.
        interrupt.lower();
        let (files, history_hinter) = (FilenameCompleter::new(), HistoryHinter::new());
        let names = CompletionNames::from_state(state);
        editor.set_helper(Some(LineHelper { names, files, history_hinter, is_colored }));
        match editor.readline(PROMPT) {
            Ok(text) if text.trim().is_empty() => {}
            Ok(text) => {
                if editor.add_history_entry(text.as_str()).map_err(terminal_failure)?
                    && let Some(path) = &history
                {
                    // Save each entry at once, in case the terminal is closed. Ignore errors: the history is optional.
                    let _ = editor.append_history(path);
                }
                // Keep pasted text as one entry of the history, and run the entries in it.
                state.entries.push(text.clone());
                super::run_lines(state, "entry", text.as_bytes())?;
            }
            Err(ReadlineError::Interrupted | ReadlineError::Signal(_)) => {}
            Err(ReadlineError::Eof) => break,
            Err(ReadlineError::Io(error)) => return Err(Failure::Output(error)),
            Err(error) => return Err(terminal_failure(error)),
        }
    }
    Ok(())
}

#[allow(clippy::needless_pass_by_value)] // for map_err
fn terminal_failure(error: ReadlineError) -> Failure {
    Failure::refused(format!("the terminal cannot be used: {error}"))
}

fn new_editor(is_colored: bool) -> rustyline::Result<Editor<LineHelper, DefaultHistory>> {
    let config = Builder::new()
        .max_history_size(MAX_HISTORY_ENTRIES)?
        .history_ignore_space(true)
        .completion_type(CompletionType::List)
        .color_mode(if is_colored { ColorMode::Forced } else { ColorMode::Disabled });
    Editor::with_config(config.build())
}

/// What rustyline calls while a line is edited: completion, hints, highlighting, continuation lines.
struct LineHelper {
    names: CompletionNames,
    files: FilenameCompleter,
    history_hinter: HistoryHinter,
    is_colored: bool,
}

impl Helper for LineHelper {}

impl Validator for LineHelper {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(if is_entry_incomplete(context.input(), self.names.dialect) {
            ValidationResult::Incomplete
        } else {
            ValidationResult::Valid(None)
        })
    }
}

impl Completer for LineHelper {
    type Candidate = Pair;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let WordCompletions { start, mut words, files } = self.names.complete_word(&line[..at]);
        if words.is_empty() && files {
            return self.files.complete_path(line, at);
        }
        if files && let Ok((from, files)) = self.files.complete_path(line, at) {
            words.extend(files.into_iter().filter(|_| from == start));
        }
        Ok((start, words))
    }
}

impl Hinter for LineHelper {
    type Hint = InlineHint;

    /// Returns no hint if the output has no colour, because the hint would look like entered text.
    fn hint(&self, line: &str, at: usize, context: &Context<'_>) -> Option<InlineHint> {
        if at < line.len() || !self.is_colored {
            return None;
        }
        if line.contains('\n') && is_entry_incomplete(line, self.names.dialect) {
            let text = "   (the entry continues: a bracket, a quote or an operator is open; Ctrl-C drops the entry)";
            return Some(InlineHint { text: text.to_owned(), is_entry: false });
        }
        let earlier = || Some(InlineHint { text: self.history_hinter.hint(line, at, context)?, is_entry: true });
        hint::signature_hint(line).or_else(earlier).or_else(|| hint::arguments_hint(line))
    }
}

impl Highlighter for LineHelper {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        Cow::Owned(highlight::highlighted(line))
    }

    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _: bool) -> Cow<'b, str> {
        Cow::Owned(format!("\x1b[1m{prompt}\x1b[0m"))
    }

    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        Cow::Owned(format!("\x1b[2m{hint}\x1b[0m"))
    }

    fn highlight_char(&self, _: &str, _: usize, kind: CmdKind) -> bool {
        kind != CmdKind::MoveCursor
    }
}

#[cfg(test)]
mod tests {
    use classad::ad::Dialect;
    use rustyline::Context;
    use rustyline::completion::{Completer, FilenameCompleter};
    use rustyline::hint::{Hinter, HistoryHinter};
    use rustyline::history::{DefaultHistory, History};

    use super::LineHelper;
    use super::complete::CompletionNames;

    #[test]
    fn hints_stand_behind_the_end_of_an_entry() {
        let names = CompletionNames {
            dialect: Dialect::Condor,
            mine: Vec::new(),
            theirs: Vec::new(),
            pool_names: Vec::new(),
            ids: [].into(),
        };
        let (files, history_hinter) = (FilenameCompleter::new(), HistoryHinter::new());
        let mut helper = LineHelper { names, files, history_hinter, is_colored: true };
        let mut history = DefaultHistory::new();
        assert!(history.add("Memory + 1").unwrap());
        let context = Context::new(&history);
        let hint = |helper: &LineHelper, line: &str, at: usize| helper.hint(line, at, &context).map(|hint| hint.text);
        for (line, at, expected) in [
            ("Memo", 4, Some("ry + 1")),
            ("Memo", 3, None),
            ("Other", 5, None),
            (
                "{1,\n2",
                6,
                Some("   (the entry continues: a bracket, a quote or an operator is open; Ctrl-C drops the entry)"),
            ),
            ("{1,\n2}", 7, None),
            ("{1,", 3, None),
        ] {
            assert_eq!(hint(&helper, line, at).as_deref(), expected, "{line}");
        }
        // Without colour a hint would look like entered text.
        helper.is_colored = false;
        assert_eq!(hint(&helper, "Memo", 4), None);
    }

    #[test]
    fn words_and_files_are_completed() {
        let names = CompletionNames {
            dialect: Dialect::Condor,
            mine: Vec::new(),
            theirs: Vec::new(),
            pool_names: vec!["Cpus".to_owned()],
            ids: ["slot1@a".to_owned(), "src@a".to_owned()].into(),
        };
        let (files, history_hinter) = (FilenameCompleter::new(), HistoryHinter::new());
        let (helper, history) = (LineHelper { names, files, history_hinter, is_colored: false }, DefaultHistory::new());
        for (line, at, start, expected) in [
            (":load samples/rep", 17, 6, &["samples/repl/"][..]),
            (":my slo", 7, 4, &["slot1@a"]),
            (":my sr", 6, 4, &["src@a", "src/"]),
            (":pool Cp", 8, 6, &["Cpus"]),
            (":type Cp", 8, 6, &["Cpus"]),
            (":type src", 9, 6, &[]),
            // What stands behind the cursor does not count.
            ("Cpx", 2, 0, &["Cpus"]),
        ] {
            let (from, found) = helper.complete(line, at, &Context::new(&history)).unwrap();
            let found: Vec<&str> = found.iter().map(|pair| pair.replacement.as_str()).collect();
            assert_eq!((from, found.as_slice()), (start, expected), "{line}");
        }
    }
}
