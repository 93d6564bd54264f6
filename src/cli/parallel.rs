//! Runs tasks on several threads. The results come in the order of the tasks.

use std::collections::BTreeMap;
use std::sync::mpsc::channel;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;

/// Stack size of a thread, in bytes. It is the usual size for a main thread, so that a worker can recurse as deeply.
pub const THREAD_STACK_BYTES: usize = 8 << 20;

/// Maximum number of results per thread that are computed before the results in front of them are taken. The number
/// bounds the memory, and lets threads work while results are printed.
const MAX_PENDING_RESULTS_PER_THREAD: usize = 64;

/// The state that the threads share.
struct WorkSchedule {
    state: Mutex<WorkScheduleState>,
    /// Notified when a result was taken, and at the end.
    changed: Condvar,
    max_pending: usize,
    count: usize,
}

struct WorkScheduleState {
    /// The next piece of work.
    next: usize,
    /// Number of results taken.
    taken: usize,
    is_stopped: bool,
}

/// Stops the schedule when it is dropped: the threads end when no more results are taken.
struct StopOnDrop<'s>(&'s WorkSchedule);

/// Stops the schedule if the thread panics: the other threads must not wait until its result is taken.
struct StopOnPanic<'s>(&'s WorkSchedule);

/// Does `count` pieces of work on several threads. Passes the results to `take` on this thread, in the order of the
/// work.
///
/// # Errors
///
/// Returns the first error of `take`. No further result is taken then.
pub fn do_in_order<R: Send, E>(
    threads: usize,
    count: usize,
    work: impl Fn(usize) -> R + Sync,
    mut take: impl FnMut(usize, R) -> Result<(), E>,
) -> Result<(), E> {
    let threads = threads.min(count);
    if threads < 2 {
        return (0..count).try_for_each(|index| take(index, work(index)));
    }
    let schedule = WorkSchedule {
        state: Mutex::new(WorkScheduleState { next: 0, taken: 0, is_stopped: false }),
        changed: Condvar::new(),
        max_pending: MAX_PENDING_RESULTS_PER_THREAD * threads,
        count,
    };
    std::thread::scope(|scope| {
        let _stop = StopOnDrop(&schedule);
        let (done, results) = channel();
        let mut is_any_started = false;
        for _ in 0..threads {
            let (done, schedule, work) = (done.clone(), &schedule, &work);
            let run = move || {
                let _stop = StopOnPanic(schedule);
                while let Some(index) = schedule.next() {
                    if done.send((index, work(index))).is_err() {
                        break;
                    }
                }
            };
            is_any_started |= Builder::new().stack_size(THREAD_STACK_BYTES).spawn_scoped(scope, run).is_ok();
        }
        drop(done);
        if !is_any_started {
            return (0..count).try_for_each(|index| take(index, work(index)));
        }
        let (mut pending, mut next) = (BTreeMap::new(), 0);
        for (index, result) in results {
            pending.insert(index, result);
            while let Some(result) = pending.remove(&next) {
                take(next, result)?;
                next += 1;
                schedule.lock().taken = next;
                schedule.changed.notify_all();
            }
        }
        Ok(())
    })
}

impl WorkSchedule {
    fn lock(&self) -> MutexGuard<'_, WorkScheduleState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stop(&self) {
        self.lock().is_stopped = true;
        self.changed.notify_all();
    }

    /// Returns the next piece of work, once few enough results are pending. `None` if there is no more work.
    fn next(&self) -> Option<usize> {
        let must_wait =
            |state: &mut WorkScheduleState| !state.is_stopped && state.next >= state.taken + self.max_pending;
        let waited = self.changed.wait_while(self.lock(), must_wait);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        if state.is_stopped || state.next >= self.count {
            return None;
        }
        state.next += 1;
        Some(state.next - 1)
    }
}

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::do_in_order;

    #[test]
    fn results_come_in_order() {
        for threads in [1, 2, 7] {
            for count in [0, 1, 5, 2000] {
                let mut found = Vec::new();
                let work = |index: usize| (0..(index * 7919) % 500).fold(index, |sum, add| sum ^ add.rotate_left(3));
                let take = |index, result| {
                    found.push((index, result));
                    Ok::<(), ()>(())
                };
                do_in_order(threads, count, work, take).unwrap();
                assert_eq!(found, (0..count).map(|index| (index, work(index))).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn an_error_ends_the_work() {
        for threads in [1, 3] {
            let mut taken = 0;
            let take = |index, ()| {
                taken += 1;
                if index == 10 { Err(index) } else { Ok(()) }
            };
            assert_eq!(do_in_order(threads, 100_000, |_| (), take), Err(10));
            assert_eq!(taken, 11);
        }
    }

    #[test]
    fn a_panic_reaches_the_caller() {
        let run = || do_in_order(2, 1000, |index| assert_ne!(index, 300), |_, ()| Ok::<(), ()>(()));
        assert!(std::panic::catch_unwind(run).is_err());
    }
}
