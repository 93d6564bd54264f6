//! Work of an entry on a thread of its own, so that Ctrl-C is answered at once, whatever the work is doing.

use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use classad::eval::{Context, Interrupt};
use classad::query::THREAD_STACK_BYTES;

use crate::cli::outcome::Failure;
use crate::cli::render::progress;
use crate::cli::session::Session;

/// Time between two looks at the interrupt.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The thread of the latest work. After an interrupt it may still run, until it sees its own interrupt.
static LATEST_WORK: Mutex<Option<JoinHandle<()>>> = Mutex::new(None);

/// Does work on a thread of its own and waits for the result. `label` says in the progress bar what is done. The work gets
/// the context of the session with an interrupt of its own, which stays raised after Ctrl-C.
///
/// Of several pieces of work, the later one begins when the earlier one has ended: abandoned work never piles up.
///
/// # Errors
///
/// The user interrupts the work, or there is no thread for it.
pub fn wait_for<T: Send + 'static>(
    session: &Session,
    label: &str,
    work: impl FnOnce(Context) -> T + Send + 'static,
) -> Result<T, Failure> {
    let began = Instant::now();
    let session_context = session.context();
    let interrupt = Interrupt::default();
    let context = Context { interrupt: Some(interrupt.clone()), ..session_context.clone() };
    let mut latest = LATEST_WORK.lock().unwrap_or_else(PoisonError::into_inner);
    let earlier = latest.take();
    let (sender, results) = sync_channel(1);
    let run = move || {
        // A panic was reported when it happened.
        let _ = earlier.map(JoinHandle::join);
        if !context.is_interrupted() {
            // Without a receiver the result is dropped here.
            let _ = sender.send(work(context));
        }
    };
    let thread = Builder::new().stack_size(THREAD_STACK_BYTES).spawn(run);
    *latest = Some(thread.map_err(|error| Failure::refused(format!("cannot start a thread: {error}")))?);
    drop(latest);
    loop {
        match results.recv_timeout(POLL_INTERVAL) {
            // What was computed while the interrupt came is whole, and is dropped like the rest.
            _ if session_context.is_interrupted() => {
                interrupt.raise();
                progress::clear();
                return Err(Failure::Refused(None));
            }
            Ok(result) => {
                progress::clear();
                return Ok(result);
            }
            Err(RecvTimeoutError::Timeout) => progress::report_wait(label, began.elapsed()),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Failure::refused("the evaluation ended without a result"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use classad::eval::{Context, Interrupt};

    use super::wait_for;
    use crate::cli::outcome::Failure;
    use crate::cli::program::session_of;

    /// Work that does not look at the interrupt does not keep the prompt waiting, and the next work begins after it.
    #[test]
    fn an_interrupt_is_answered_while_the_work_goes_on() {
        let mut session = session_of(&["repl"]);
        let interrupt = Interrupt::default();
        session.context_mut().interrupt = Some(interrupt.clone());
        assert!(matches!(wait_for(&session, "counting", |_| 7), Ok(7)));
        let ((begun, has_begun), (release, released), (ended, order)) = (channel(), channel::<()>(), channel());
        let first = ended.clone();
        let raise = interrupt.clone();
        let raiser = std::thread::spawn(move || has_begun.recv().map(|()| raise.raise()));
        let deaf = move |context: Context| {
            let _ = begun.send(());
            let _ = released.recv();
            let _ = first.send(context.is_interrupted());
        };
        assert!(matches!(wait_for(&session, "waiting", deaf), Err(Failure::Refused(None))));
        raiser.join().expect("it ends").expect("the work has begun");
        interrupt.lower();
        release.send(()).expect("the work still waits");
        let later = move |context: Context| ended.send(context.is_interrupted());
        assert!(wait_for(&session, "counting", later).is_ok_and(|sent| sent.is_ok()));
        // The abandoned work keeps its own interrupt.
        assert_eq!(order.iter().collect::<Vec<_>>(), [true, false]);
        let failed = wait_for(&session, "failing", |_| panic!("on purpose"));
        assert!(matches!(failed, Err(Failure::Refused(Some(_)))));
    }
}
