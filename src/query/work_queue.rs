//! Work on several threads. The results come in the order of the work.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, Scope};

/// Stack size of a thread, in bytes. It is the usual size for a main thread, so that a worker can recurse as deeply.
pub const THREAD_STACK_BYTES: usize = 8 << 20;

/// Maximum number of results per thread that [`do_in_order`] computes before the results in front of them are taken. The
/// number bounds the memory, and lets threads work while results are printed.
const MAX_PENDING_RESULTS_PER_THREAD: usize = 64;

/// Pieces of work, and what takes their results in order.
pub(super) trait OrderedWork<J, R, E> {
    /// What is kept of a piece until its result is taken.
    type Kept;

    /// Returns the next piece. `None` if there is no more.
    fn next(&mut self) -> Option<(J, Self::Kept)>;

    /// Takes the result of a piece; `None` if the thread that worked on it has panicked. Returns false if no further
    /// results are wanted.
    fn take(&mut self, kept: Self::Kept, result: Option<R>) -> Result<bool, E>;
}

/// The pieces of work that no thread works on yet. When it is closed, its threads end.
pub(super) struct WorkQueue<J, R> {
    state: Mutex<WorkQueueState<J, R>>,
    /// Notified when a piece was added, and at the end.
    changed: Condvar,
}

struct WorkQueueState<J, R> {
    waiting: VecDeque<WorkAssignment<J, R>>,
    is_closed: bool,
}

/// A piece of work, and what takes the result. It is closed without one if the thread that works on the piece panics.
struct WorkAssignment<J, R> {
    piece: J,
    finished: Sender<R>,
}

/// A piece whose result has not been taken: the result, and what is kept of the piece.
type PendingResult<R, K> = (Receiver<R>, K);

impl<J: Send, R: Send> WorkQueue<J, R> {
    pub(super) fn new() -> Self {
        let state = WorkQueueState { waiting: VecDeque::new(), is_closed: false };
        WorkQueue { state: Mutex::new(state), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, WorkQueueState<J, R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes the oldest piece; waits for one if there is none. `None` at the end.
    fn take(&self) -> Option<WorkAssignment<J, R>> {
        let must_wait = |state: &mut WorkQueueState<J, R>| state.waiting.is_empty() && !state.is_closed;
        let waited = self.changed.wait_while(self.lock(), must_wait);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        if state.is_closed { None } else { state.waiting.pop_front() }
    }

    /// Starts a thread that works on pieces until the queue is closed. `make` makes what does the work, in the thread.
    /// Returns false if the system refuses.
    pub(super) fn start_thread<'s, W: FnMut(J) -> R>(
        &'s self,
        scope: &'s Scope<'s, '_>,
        make: impl FnOnce() -> W + Send + 's,
    ) -> bool {
        let run = move || {
            let mut work = make();
            while let Some(assignment) = self.take() {
                assignment.fulfil(&mut work);
            }
        };
        Builder::new().stack_size(THREAD_STACK_BYTES).spawn_scoped(scope, run).is_ok()
    }

    /// Has all pieces of `ordered` worked on, by this thread and by those of the queue. While the next result is not
    /// ready, this thread works on a piece like the others, with `work`. At most `max_pending` results are not taken yet.
    /// Returns false if no further results are wanted.
    pub(super) fn run<W: OrderedWork<J, R, E>, E>(
        &self,
        max_pending: usize,
        ordered: &mut W,
        work: &mut dyn FnMut(J) -> R,
    ) -> Result<bool, E> {
        let mut pending: VecDeque<PendingResult<R, W::Kept>> = VecDeque::new();
        let mut has_ended = false;
        loop {
            while !has_ended && pending.len() < max_pending {
                let Some((piece, kept)) = ordered.next() else {
                    has_ended = true;
                    break;
                };
                let (finished, result) = channel();
                self.lock().waiting.push_back(WorkAssignment { piece, finished });
                self.changed.notify_one();
                pending.push_back((result, kept));
            }
            let Some((result, kept)) = pending.pop_front() else { return Ok(true) };
            let result = match result.try_recv() {
                Err(TryRecvError::Empty) => {
                    let assignment = self.lock().waiting.pop_front();
                    if let Some(assignment) = assignment {
                        assignment.fulfil(work);
                        pending.push_front((result, kept));
                        continue;
                    }
                    result.recv().ok()
                }
                result => result.ok(),
            };
            if !ordered.take(kept, result)? {
                return Ok(false);
            }
        }
    }
}

impl<J, R> WorkAssignment<J, R> {
    fn fulfil(self, work: &mut dyn FnMut(J) -> R) {
        // No result is wanted any more if nobody receives it.
        let _ = self.finished.send(work(self.piece));
    }
}

/// Closes the queue when it is dropped, so that its threads end.
pub(super) struct CloseOnDrop<'q, J: Send, R: Send>(pub(super) &'q WorkQueue<J, R>);

impl<J: Send, R: Send> Drop for CloseOnDrop<'_, J, R> {
    fn drop(&mut self) {
        self.0.lock().is_closed = true;
        self.0.changed.notify_all();
    }
}

/// Numbered pieces of work.
struct NumberedWork<W, T> {
    next: usize,
    count: usize,
    work: W,
    take: T,
}

impl<R, E, W: Fn(usize) -> R, T: FnMut(usize, R) -> Result<(), E>> OrderedWork<usize, R, E> for NumberedWork<W, T> {
    type Kept = usize;

    fn next(&mut self) -> Option<(usize, usize)> {
        let index = self.next;
        self.next += 1;
        (index < self.count).then_some((index, index))
    }

    fn take(&mut self, index: usize, result: Option<R>) -> Result<bool, E> {
        let result = result.unwrap_or_else(|| (self.work)(index));
        (self.take)(index, result).map(|()| true)
    }
}

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
    let (queue, work) = (WorkQueue::new(), &work);
    std::thread::scope(|scope| {
        let _close = CloseOnDrop(&queue);
        // This thread is one of them.
        let _ = (1..threads).all(|_| queue.start_thread(scope, move || work));
        let mut numbered = NumberedWork { next: 0, count, work, take };
        queue.run(MAX_PENDING_RESULTS_PER_THREAD * threads, &mut numbered, &mut |index| work(index)).map(drop)
    })
}

#[cfg(test)]
mod tests {
    use super::{OrderedWork, WorkQueue, do_in_order};

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

    /// Hands out the numbers below a bound, and keeps the results that come.
    struct Numbers(std::ops::Range<usize>, Vec<(usize, Option<usize>)>);

    impl OrderedWork<usize, usize, ()> for Numbers {
        type Kept = usize;

        fn next(&mut self) -> Option<(usize, usize)> {
            self.0.next().map(|number| (number, number))
        }

        fn take(&mut self, kept: usize, result: Option<usize>) -> Result<bool, ()> {
            self.1.push((kept, result));
            Ok(kept < 5)
        }
    }

    #[test]
    fn a_queue_without_threads_does_its_work_itself() {
        for (count, max_pending, wanted) in [(0, 1, 0), (1, 1, 1), (5, 1, 5), (5, 3, 5), (5, 9, 5), (9, 3, 6)] {
            let mut numbers = Numbers(0..count, Vec::new());
            let mut done = Vec::new();
            let mut work = |number| {
                done.push(number);
                10 * number
            };
            let goes_on = WorkQueue::new().run(max_pending, &mut numbers, &mut work);
            assert_eq!(goes_on, Ok(count == wanted), "{count}");
            assert_eq!(numbers.1, (0..wanted).map(|number| (number, Some(10 * number))).collect::<Vec<_>>());
            assert!(done.len() >= wanted && done.is_sorted(), "{done:?}");
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
