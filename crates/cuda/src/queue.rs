//! The order of work: what is in one queue runs one after another, and may wait for work in others.
//!
//! Each queue has a thread of its own from the first work on. So streams overlap, and a kernel that waits for the host or
//! for another stream holds up nothing but its own.

use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

/// What a queue runs.
pub(crate) trait Job: Send + 'static {
    fn run(&self);
}

/// Whether some work has ended.
#[derive(Debug, Default)]
pub(crate) struct Ticket {
    is_done: Mutex<bool>,
    done: Condvar,
}

impl Ticket {
    pub(crate) fn is_done(&self) -> bool {
        *self.is_done.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the end of the work.
    pub(crate) fn wait(&self) {
        let mut is_done = self.is_done.lock().unwrap_or_else(PoisonError::into_inner);
        while !*is_done {
            is_done = self.done.wait(is_done).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits for the end of the work until some time; whether it has ended.
    pub(crate) fn wait_until(&self, deadline: Instant) -> bool {
        let is_done = self.is_done.lock().unwrap_or_else(PoisonError::into_inner);
        let time = deadline.saturating_duration_since(Instant::now());
        *self.done.wait_timeout_while(is_done, time, |is_done| !*is_done).unwrap_or_else(PoisonError::into_inner).0
    }

    fn finish(&self) {
        *self.is_done.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.done.notify_all();
    }
}

thread_local! {
    static IS_AT_WORK: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is running work of a queue.
pub(crate) fn is_at_work() -> bool {
    IS_AT_WORK.get()
}

/// Runs a job and drops it, before anybody learns that it has ended.
fn run_job(job: impl Job) {
    let was_at_work = IS_AT_WORK.replace(true);
    job.run();
    IS_AT_WORK.set(was_at_work);
}

/// Work that runs in order.
#[derive(Debug)]
pub(crate) struct Queue<J> {
    state: Mutex<State<J>>,
    changed: Condvar,
}

#[derive(Debug)]
struct State<J> {
    waiting: VecDeque<Item<J>>,
    /// Whether something of this queue runs, on its thread or on that of the program.
    is_busy: bool,
    has_thread: bool,
    /// The work that was put in last.
    last: Option<Arc<Ticket>>,
}

#[derive(Debug)]
struct Item<J> {
    job: J,
    after: Vec<Arc<Ticket>>,
    ticket: Arc<Ticket>,
}

impl<J: Job> Queue<J> {
    pub(crate) fn new() -> Arc<Self> {
        let state = State { waiting: VecDeque::new(), is_busy: false, has_thread: false, last: None };
        Arc::new(Self { state: Mutex::new(state), changed: Condvar::new() })
    }

    fn state(&self) -> MutexGuard<'_, State<J>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The last work, if it has not ended.
    pub(crate) fn pending(&self) -> Option<Arc<Ticket>> {
        let mut state = self.state();
        if state.last.as_ref().is_some_and(|ticket| ticket.is_done()) {
            state.last = None;
        }
        state.last.clone()
    }

    /// Puts work in, which starts when all before it in the queue and all in `after` has ended.
    pub(crate) fn push(self: &Arc<Self>, job: J, after: Vec<Arc<Ticket>>) -> Arc<Ticket> {
        let ticket = Arc::new(Ticket::default());
        let mut state = self.state();
        state.last = Some(Arc::clone(&ticket));
        state.waiting.push_back(Item { job, after, ticket: Arc::clone(&ticket) });
        if !state.has_thread {
            state.has_thread = true;
            let queue = Arc::downgrade(self);
            let spawned = std::thread::Builder::new().name("warpgrind-stream".to_owned()).spawn(move || serve(queue));
            if spawned.is_err() {
                // Without another thread it runs on this one.
                state.has_thread = false;
                drop(state);
                self.drain();
                return ticket;
            }
        }
        drop(state);
        self.changed.notify_all();
        ticket
    }

    /// Runs work on this thread if nothing is before it. Else gives it back.
    pub(crate) fn run_if_idle(&self, job: J, after: &[Arc<Ticket>]) -> Result<(), J> {
        let mut state = self.state();
        if state.is_busy || !state.waiting.is_empty() || after.iter().any(|ticket| !ticket.is_done()) {
            return Err(job);
        }
        let ticket = Arc::new(Ticket::default());
        state.is_busy = true;
        state.last = Some(Arc::clone(&ticket));
        drop(state);
        run_job(job);
        self.end(&ticket);
        Ok(())
    }

    fn end(&self, ticket: &Ticket) {
        self.state().is_busy = false;
        ticket.finish();
        self.changed.notify_all();
    }

    /// Runs what waits, on this thread.
    fn drain(&self) {
        while let Some(item) = self.take(false) {
            self.run(item);
        }
    }

    fn run(&self, item: Item<J>) {
        for ticket in &item.after {
            ticket.wait();
        }
        run_job(item.job);
        self.end(&item.ticket);
    }

    /// The next item, when nothing else of the queue runs. Without waiting, or for a while: nothing if there is none.
    fn take(&self, waits: bool) -> Option<Item<J>> {
        let mut state = self.state();
        if waits && (state.is_busy || state.waiting.is_empty()) {
            // Looks up now and then, whether anybody still has the queue.
            let time = std::time::Duration::from_millis(500);
            state = self.changed.wait_timeout(state, time).unwrap_or_else(PoisonError::into_inner).0;
        }
        if state.is_busy {
            return None;
        }
        let item = state.waiting.pop_front()?;
        state.is_busy = true;
        Some(item)
    }
}

/// The thread of a queue: ends when nobody has the queue any more.
fn serve<J: Job>(queue: Weak<Queue<J>>) {
    crate::devices::cpu_device::leave_signals_to_the_program();
    while let Some(queue) = queue.upgrade() {
        while let Some(item) = queue.take(true) {
            queue.run(item);
        }
    }
}
