//! The progress bar of long runs: one line on standard error, if that is a terminal.
//!
//! It appears once a run has taken a second, and is cleared when the work is done or something else is printed.

use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::cli::args::global::Options;

/// No progress bar before the run has taken this long.
const PATIENCE: Duration = Duration::from_secs(1);

/// Minimum time between two updates.
const RENEWAL: Duration = Duration::from_millis(100);

/// Whether progress may be shown.
static IS_ALLOWED: AtomicBool = AtomicBool::new(false);

/// The state of the progress bar; `None` if progress is not shown.
static WORK: Mutex<Option<Work>> = Mutex::new(None);

struct Work {
    /// Start of the run, and time of the last update.
    since: Instant,
    shown: Instant,
    /// Label of the current work, and its number of bytes or steps, if that is known.
    what: String,
    all: Option<u64>,
    bar: Option<ProgressBar>,
}

/// Enables the progress bar if standard error is a terminal and `--quiet` is not given.
pub fn allow(options: &Options) {
    let is_smart = std::env::var("TERM").is_ok_and(|term| !term.is_empty() && term != "dumb");
    if options.quiet || !is_smart || !io::stderr().is_terminal() {
        return;
    }
    let now = Instant::now();
    *work() = Some(Work { since: now, shown: now, what: String::new(), all: None, bar: None });
    IS_ALLOWED.store(true, Ordering::Relaxed);
}

/// Reports the number of bytes read of a file; `all` is its size, if known.
pub fn read(name: &str, bytes: u64, all: Option<u64>) {
    tell(|| format!("reading {name}"), Unit::Bytes, bytes, all);
}

/// Reports the number of steps done; `all` is their total, if known.
pub fn step(what: &str, done: usize, all: Option<usize>) {
    tell(|| what.to_owned(), Unit::Steps, done as u64, all.map(|all| all as u64));
}

/// Clears the progress bar, because the work has ended or another line is about to be printed.
pub fn end() {
    if IS_ALLOWED.load(Ordering::Relaxed) {
        work().as_mut().into_iter().for_each(Work::end_bar);
    }
}

/// Ends progress reports once results are printed on a terminal.
pub fn make_way_for_results() {
    if IS_ALLOWED.load(Ordering::Relaxed) && io::stdout().is_terminal() {
        end();
        IS_ALLOWED.store(false, Ordering::Relaxed);
    }
}

fn work() -> MutexGuard<'static, Option<Work>> {
    WORK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The unit of the numbers.
#[derive(Clone, Copy)]
enum Unit {
    Bytes,
    Steps,
}

fn tell(what: impl FnOnce() -> String, unit: Unit, done: u64, all: Option<u64>) {
    if IS_ALLOWED.load(Ordering::Relaxed)
        && let Some(work) = &mut *work()
    {
        work.advance(what, unit, done, all);
    }
}

impl Work {
    fn advance(&mut self, what: impl FnOnce() -> String, unit: Unit, done: u64, all: Option<u64>) {
        let now = Instant::now();
        if now.duration_since(self.since) < PATIENCE || now.duration_since(self.shown) < RENEWAL {
            return;
        }
        self.shown = now;
        let what = what();
        if what != self.what || all != self.all {
            self.end_bar();
            (self.what, self.all) = (what, all);
        }
        let bar = self.bar.get_or_insert_with(|| bar(&self.what, unit, all));
        bar.set_position(done);
        bar.tick();
    }

    fn end_bar(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

/// Makes the progress bar of some work.
fn bar(what: &str, unit: Unit, all: Option<u64>) -> ProgressBar {
    let template = match (unit, all) {
        (Unit::Bytes, Some(_)) => "{msg} [{bar:20}] {bytes}/{total_bytes}",
        (Unit::Bytes, None) => "{msg} {bytes}",
        (Unit::Steps, Some(_)) => "{msg} [{bar:20}] {human_pos}/{human_len}",
        (Unit::Steps, None) => "{msg} {human_pos}",
    };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = ProgressBar::with_draw_target(all, ProgressDrawTarget::stderr()).with_style(style.progress_chars("=> "));
    bar.with_message(super::diagnostics::line(what))
}
