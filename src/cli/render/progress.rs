//! The progress bar of long runs: one line on standard error, if that is a terminal.
//!
//! The bar appears once a run has taken a second. It is cleared when the work is done or something else is printed.

use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::cli::args::global::GlobalOptions;

/// Minimum duration of a run before the progress bar appears.
const MIN_RUN_TIME: Duration = Duration::from_secs(1);

/// Minimum time between two updates of the progress bar.
const MIN_UPDATE_INTERVAL: Duration = Duration::from_millis(100);

/// Whether progress may be shown.
static IS_ALLOWED: AtomicBool = AtomicBool::new(false);

/// The state of the progress bar; `None` if progress is not shown.
static WORK: Mutex<Option<ProgressState>> = Mutex::new(None);

struct ProgressState {
    /// When the run began.
    run_began: Instant,
    /// When the bar was last updated.
    last_update: Instant,
    /// Text in front of the bar, which says what is in progress, such as the name of the file being read.
    label: String,
    /// Number of bytes or steps of the work in progress; `None` if it is not known.
    total: Option<u64>,
    bar: Option<ProgressBar>,
}

/// Enables the progress bar if standard error is a terminal and `--quiet` is not given.
pub fn enable(options: &GlobalOptions) {
    if !may_show(options.quiet, std::env::var("TERM").ok().as_deref(), io::stderr().is_terminal()) {
        return;
    }
    let now = Instant::now();
    *lock_state() =
        Some(ProgressState { run_began: now, last_update: now, label: String::new(), total: None, bar: None });
    IS_ALLOWED.store(true, Ordering::Relaxed);
}

/// Whether a run shows progress. `terminal` is the kind of the terminal, as `TERM` has it.
fn may_show(is_quiet: bool, terminal: Option<&str>, is_terminal: bool) -> bool {
    !is_quiet && is_terminal && terminal.is_some_and(|kind| !kind.is_empty() && kind != "dumb")
}

/// Reports the number of bytes read of a file; `all` is the size of the file, if known.
pub fn report_bytes(name: &str, bytes: u64, all: Option<u64>) {
    advance_bar(|| format!("reading {name}"), ["{bytes}", "{total_bytes}"], bytes, all);
}

/// Reports the number of steps done; `all` is their total, if known.
pub fn report_step(what: &str, done: usize, all: Option<usize>) {
    advance_bar(|| what.to_owned(), ["{human_pos}", "{human_len}"], done as u64, all.map(|all| all as u64));
}

/// Reports for how long work has gone on whose steps cannot be counted.
pub fn report_wait(what: &str, elapsed: Duration) {
    advance_bar(|| format!("{what}; Ctrl-C stops it"), ["{human_pos} s", ""], elapsed.as_secs(), None);
}

/// Begins the next run of a program that does several: the progress bar may appear again.
pub fn begin_run() {
    if let Some(work) = lock_state().as_mut() {
        work.run_began = Instant::now();
        IS_ALLOWED.store(true, Ordering::Relaxed);
    }
}

/// Clears the progress bar from the terminal, because the work has ended or another line is about to be printed.
pub fn clear() {
    if IS_ALLOWED.load(Ordering::Relaxed) {
        lock_state().iter_mut().for_each(ProgressState::clear_bar);
    }
}

/// Ends the progress bar for the rest of the run if results are printed on a terminal, as the bar would mix with them.
pub fn end_for_results() {
    if IS_ALLOWED.load(Ordering::Relaxed) && io::stdout().is_terminal() {
        clear();
        IS_ALLOWED.store(false, Ordering::Relaxed);
    }
}

fn lock_state() -> MutexGuard<'static, Option<ProgressState>> {
    WORK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Updates the bar. Does nothing in the first `MIN_RUN_TIME` of the run, or within `MIN_UPDATE_INTERVAL` after an
/// update. `units` are indicatif's placeholders for the amounts of finished work and of all work.
fn advance_bar(what: impl FnOnce() -> String, units: [&str; 2], done: u64, all: Option<u64>) {
    if !IS_ALLOWED.load(Ordering::Relaxed) {
        return;
    }
    if let Some(work) = lock_state().as_mut() {
        work.advance(Instant::now(), what, units, (done, all));
    }
}

impl ProgressState {
    /// Updates the bar, unless it is too early at the time `now`.
    fn advance(
        &mut self,
        now: Instant,
        what: impl FnOnce() -> String,
        units: [&str; 2],
        (done, all): (u64, Option<u64>),
    ) {
        if now.duration_since(self.run_began) < MIN_RUN_TIME
            || now.duration_since(self.last_update) < MIN_UPDATE_INTERVAL
        {
            return;
        }
        self.last_update = now;
        let what = what();
        if what != self.label || all != self.total {
            self.clear_bar();
            (self.label, self.total) = (what, all);
        }
        let bar = self.bar.get_or_insert_with(|| new_bar(&self.label, units, all));
        bar.set_position(done);
        bar.tick();
    }

    fn clear_bar(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

/// Makes a progress bar with the text `what` in front. `all` is the total of the work; `None` makes a plain counter.
fn new_bar(what: &str, [done, total]: [&str; 2], all: Option<u64>) -> ProgressBar {
    let template = match all {
        Some(_) => format!("{{msg}} [{{bar:20}}] {done}/{total}"),
        None => format!("{{msg}} {done}"),
    };
    let style = ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = ProgressBar::with_draw_target(all, ProgressDrawTarget::stderr()).with_style(style.progress_chars("=> "));
    bar.with_message(super::diagnostics::single_line(what))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::{Duration, IS_ALLOWED, Instant, ProgressState, enable, may_show};
    use crate::cli::program::session_of;

    #[test]
    fn progress_is_for_terminals_that_can_move_back() {
        for (is_quiet, terminal, is_terminal, expected) in [
            (false, Some("xterm"), true, true),
            (true, Some("xterm"), true, false),
            (false, Some("xterm"), false, false),
            (false, Some("dumb"), true, false),
            (false, Some(""), true, false),
            (false, None, true, false),
        ] {
            assert_eq!(may_show(is_quiet, terminal, is_terminal), expected, "{is_quiet} {terminal:?} {is_terminal}");
        }
        enable(&session_of(&["repl", "--quiet"]).options);
        assert!(!IS_ALLOWED.load(Ordering::Relaxed), "a quiet run shows none");
    }

    #[test]
    fn a_bar_appears_after_a_while_and_follows_the_work() {
        let began = Instant::now();
        let mut state =
            ProgressState { run_began: began, last_update: began, label: String::new(), total: None, bar: None };
        for (milliseconds, what, done, all, expected) in [
            (999, "reading", 1, Some(9), None),
            (1000, "reading", 2, Some(9), Some((2, Some(9), "reading"))),
            (1099, "reading", 3, Some(9), Some((2, Some(9), "reading"))),
            (1100, "reading", 4, Some(9), Some((4, Some(9), "reading"))),
            (1150, "matching", 5, None, Some((4, Some(9), "reading"))),
            // Other work has a bar of its own.
            (1200, "match\ting", 5, None, Some((5, None, "match\u{2409}ing"))),
            (1300, "match\ting", 6, Some(7), Some((6, Some(7), "match\u{2409}ing"))),
        ] {
            let now = began + Duration::from_millis(milliseconds);
            state.advance(now, || what.to_owned(), ["{pos}", "{len}"], (done, all));
            let shown = state.bar.as_ref().map(|bar| (bar.position(), bar.length(), bar.message()));
            let expected = expected.map(|(done, all, what)| (done, all, what.to_owned()));
            assert_eq!(shown, expected, "{milliseconds}");
        }
        let bar = state.bar.clone().unwrap();
        state.clear_bar();
        assert!(state.bar.is_none() && bar.is_finished());
    }
}
