//! Standard input and output that were closed when the program began, and the signal of the largest file.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

static IS_STDIN_CLOSED: AtomicBool = AtomicBool::new(false);
static IS_STDOUT_CLOSED: AtomicBool = AtomicBool::new(false);

/// Notes which streams are closed. This runs before `main`, because the standard library opens `/dev/null` in their
/// place.
#[cfg(unix)]
#[ctor::ctor]
fn note_closed_streams() {
    use rustix::io::fcntl_getfd;
    IS_STDIN_CLOSED.store(fcntl_getfd(rustix::stdio::stdin()).is_err(), Ordering::Relaxed);
    IS_STDOUT_CLOSED.store(fcntl_getfd(rustix::stdio::stdout()).is_err(), Ordering::Relaxed);
}

/// Makes writing beyond the largest size of a file (`ulimit -f`) an error. By default the signal SIGXFSZ ends the program.
/// Threads that are started later inherit this.
pub fn block_size_signal() {
    #[cfg(unix)]
    // A failure leaves the default.
    let _ = nix::sys::signal::SigSet::from(nix::sys::signal::Signal::SIGXFSZ).thread_block();
}

/// Returns standard input. Fails if it is closed.
pub fn stdin() -> io::Result<io::Stdin> {
    if IS_STDIN_CLOSED.load(Ordering::Relaxed) { Err(io::Error::other("it is closed")) } else { Ok(io::stdin()) }
}

/// Fails if standard output is closed.
pub fn check_stdout() -> io::Result<()> {
    let is_closed = IS_STDOUT_CLOSED.load(Ordering::Relaxed);
    if is_closed { Err(io::Error::other("standard output is closed")) } else { Ok(()) }
}

/// Whether something is written to standard input, or it is a file: it is neither a terminal, nor nothing, nor closed.
pub fn is_stdin_input() -> bool {
    #[cfg(unix)]
    {
        use rustix::fs::{FileType, fstat};
        let kind = fstat(rustix::stdio::stdin()).map(|stat| FileType::from_raw_mode(stat.st_mode));
        !IS_STDIN_CLOSED.load(Ordering::Relaxed)
            && matches!(kind, Ok(FileType::Fifo | FileType::Socket | FileType::RegularFile))
    }
    #[cfg(not(unix))]
    !io::IsTerminal::is_terminal(&io::stdin())
}
