//! The order of work: what is in one queue runs one after another, and may wait for work in others.
//!
//! Each queue has a thread of its own from the first work on. So streams overlap, and a kernel that waits for the host or
//! for another stream holds up nothing but its own.
//!
//! A job may run on elsewhere when its call has returned, as launches on a GPU do. If nobody waits for it but what comes next
//! in its queue, that begins, and they are waited for together.

use std::cell::Cell;
use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use toolkit::WorkOrder;

use crate::device_memory;
use crate::order;
use crate::process::{handlers, life};

/// What a queue runs.
pub(crate) trait Job: Sized + Send + 'static {
    /// Does it. What comes before it is told if a tool wants to know. Whether it still runs after that, which it may if
    /// `may_run_on`.
    fn run(&self, order: Option<&WorkOrder>, may_run_on: bool) -> bool;

    /// Whether it may begin while the job before it still runs: it comes after that one wherever they run.
    fn may_follow(&self) -> bool {
        false
    }

    /// Waits for jobs that run on: all those of this thread, in their order.
    fn wait(_jobs: &[&Self]) {}
}

/// So many jobs of a queue run on at most.
const MOST_RUNNING_ON: usize = 64;

/// So long threads look again and again for what they wait for before they sleep, if kernels run elsewhere: to be woken takes
/// as long as a short launch. On the CPU device, kernels need the processor.
const LOOKS: Duration = Duration::from_micros(50);

fn looks() -> bool {
    device_memory::remote().is_some()
}

/// Looks for something until it is there, or for so long.
fn look_for(is_there: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_there() && began.elapsed() < LOOKS {
        std::hint::spin_loop();
    }
}

/// Whether some work has ended.
#[derive(Debug, Default)]
pub(crate) struct Ticket {
    /// Set while `sleepers` is locked.
    is_done: AtomicBool,
    /// How many threads sleep until it is.
    sleepers: Mutex<u32>,
    done: Condvar,
    /// What comes before the work, if a tool wants to know.
    order: Option<Arc<WorkOrder>>,
}

impl Ticket {
    fn new(order: Option<Arc<WorkOrder>>) -> Arc<Self> {
        Arc::new(Self { order, ..Self::default() })
    }

    /// The work, and what comes before it, if a tool wants to know.
    pub(crate) fn order(&self) -> Option<&WorkOrder> {
        self.order.as_deref()
    }

    /// Whether what comes after the work has to be told: it has not ended, or somebody wants to know the order.
    pub(crate) fn matters(&self) -> bool {
        self.order.is_some() || !self.is_done()
    }

    /// Whether the work has ended, which the program learns, and relies on.
    pub(crate) fn query(&self) -> bool {
        let is_done = self.is_done();
        if is_done {
            self.tell_host();
        }
        is_done
    }

    /// The host knows that the work has ended.
    pub(crate) fn tell_host(&self) {
        if let Some(order) = &self.order
            && !is_at_work()
        {
            order::on_host_wait(order);
        }
    }

    pub(crate) fn is_done(&self) -> bool {
        self.is_done.load(Ordering::Acquire)
    }

    /// The host waits for the end of the work.
    pub(crate) fn wait(&self) {
        self.wait_in_queue();
        self.tell_host();
    }

    /// Another queue waits for the end of the work, of which the host learns nothing.
    fn wait_in_queue(&self) {
        if looks() {
            look_for(|| self.is_done());
        }
        let mut sleepers = self.sleepers();
        *sleepers += 1;
        let wakes = self.done.wait_while(sleepers, |_| !self.is_done());
        *wakes.unwrap_or_else(PoisonError::into_inner) -= 1;
    }

    /// Waits for the end of the work until some time; whether it has ended.
    pub(crate) fn wait_until(&self, deadline: Instant) -> bool {
        let mut sleepers = self.sleepers();
        *sleepers += 1;
        let time = deadline.saturating_duration_since(Instant::now());
        let wakes = self.done.wait_timeout_while(sleepers, time, |_| !self.is_done());
        *wakes.unwrap_or_else(PoisonError::into_inner).0 -= 1;
        self.is_done()
    }

    fn sleepers(&self) -> MutexGuard<'_, u32> {
        self.sleepers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn finish(&self) {
        let sleepers = self.sleepers();
        self.is_done.store(true, Ordering::Release);
        let has_sleepers = *sleepers > 0;
        drop(sleepers);
        if has_sleepers {
            self.done.notify_all();
        }
    }
}

thread_local! {
    static IS_AT_WORK: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is running work of a queue.
pub(crate) fn is_at_work() -> bool {
    IS_AT_WORK.get()
}

thread_local! {
    static IS_CALLER: Cell<bool> = const { Cell::new(false) };
}

/// Does work of the program on the program's own thread, which all other work has ended for.
pub(crate) fn run_on_caller<T>(run: impl FnOnce() -> T) -> T {
    let was_caller = IS_CALLER.replace(true);
    let result = handlers::without(run);
    IS_CALLER.set(was_caller);
    result
}

/// Whether this thread is one of the program's, and nothing else is going on but what it asks for.
pub(crate) fn is_caller() -> bool {
    IS_CALLER.get()
}

/// Does work of a queue on this thread.
fn at_work<T>(run: impl FnOnce() -> T) -> T {
    let was_at_work = IS_AT_WORK.replace(true);
    let result = run();
    IS_AT_WORK.set(was_at_work);
    result
}

/// As much work waits in a queue before who asks for more has to wait, as on a GPU.
const MOST_WAITING: usize = 1024;

/// Work that runs in order. What was put in is done, also when nobody has the queue any more.
#[derive(Debug)]
pub(crate) struct Queue<J> {
    shared: Arc<Shared<J>>,
}

/// A queue whose thread runs.
#[derive(Debug)]
pub(crate) struct Entrance<'a, J> {
    shared: &'a Shared<J>,
}

/// What a queue and its thread have in common.
#[derive(Debug)]
struct Shared<J> {
    /// Its number among all queues.
    number: u64,
    /// How much work was put in.
    pushed: AtomicU64,
    state: Mutex<State<J>>,
    changed: Condvar,
}

#[derive(Debug)]
struct State<J> {
    waiting: VecDeque<Item<J>>,
    /// Whether something of this queue runs, on its thread or on that of the program.
    is_busy: bool,
    /// Which process has its thread, of those that were forked one from another.
    thread_of: Option<u32>,
    /// How many threads sleep until something changes.
    sleepers: u32,
    /// Nobody has the queue any more: the thread ends after what waits.
    is_closed: bool,
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
        let (waiting, last) = (VecDeque::new(), None);
        let state = State { waiting, is_busy: false, thread_of: None, sleepers: 0, is_closed: false, last };
        static NUMBERS: AtomicU64 = AtomicU64::new(0);
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        let (pushed, changed) = (AtomicU64::new(0), Condvar::new());
        Arc::new(Self { shared: Arc::new(Shared { number, pushed, state: Mutex::new(state), changed }) })
    }

    /// The last work, if it [matters](Ticket::matters).
    pub(crate) fn last(&self) -> Option<Arc<Ticket>> {
        let mut state = self.shared.state();
        if state.last.as_ref().is_some_and(|ticket| !ticket.matters()) {
            state.last = None;
        }
        state.last.clone()
    }

    /// Starts the thread, and waits until there is room for more work. An error if there can be no thread.
    ///
    /// Nobody may hold a lock here that others need to make room. Work does not wait for room: it may be what makes it.
    pub(crate) fn enter(&self) -> io::Result<Entrance<'_, J>> {
        let mut state = self.shared.state();
        // A process that was forked has none of these threads: it was idle.
        let process = life::forks();
        if state.thread_of != Some(process) {
            let shared = Arc::clone(&self.shared);
            std::thread::Builder::new().name("warpgrind-stream".to_owned()).spawn(move || {
                let _quiet = valgrind::quiet();
                shared.serve();
            })?;
            state.thread_of = Some(process);
        }
        if !is_at_work() {
            while state.waiting.len() >= MOST_WAITING {
                state = self.shared.sleep(state);
            }
        }
        Ok(Entrance { shared: &self.shared })
    }

    /// Runs work on this thread if nothing is before it. Else gives it back.
    pub(crate) fn run_if_idle(&self, job: J, after: &[Arc<Ticket>]) -> Result<(), J> {
        let mut state = self.shared.state();
        if state.is_busy || !state.waiting.is_empty() || after.iter().any(|ticket| !ticket.is_done()) {
            return Err(job);
        }
        let ticket = self.shared.place(&mut state, after);
        state.is_busy = true;
        drop(state);
        at_work(|| {
            job.run(ticket.order(), false);
            drop(job);
        });
        self.shared.end(std::slice::from_ref(&ticket));
        ticket.tell_host();
        Ok(())
    }
}

impl<J> Drop for Queue<J> {
    fn drop(&mut self) {
        self.shared.state().is_closed = true;
        self.shared.changed.notify_all();
    }
}

impl<J> Entrance<'_, J> {
    /// Puts work in, which starts when all before it in the queue and all in `after` has ended.
    pub(crate) fn push(&self, job: J, after: Vec<Arc<Ticket>>) -> Arc<Ticket> {
        let mut state = self.shared.state();
        let ticket = self.shared.place(&mut state, &after);
        state.waiting.push_back(Item { job, after, ticket: Arc::clone(&ticket) });
        self.shared.pushed.fetch_add(1, Ordering::Relaxed);
        self.shared.wake(state);
        ticket
    }
}

impl<J> Shared<J> {
    fn state(&self) -> MutexGuard<'_, State<J>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A ticket for work that comes next.
    fn place(&self, state: &mut State<J>, after: &[Arc<Ticket>]) -> Arc<Ticket> {
        let before = state.last.iter().chain(after).filter_map(|ticket| ticket.order.as_deref());
        let ticket = Ticket::new(order::place(self.number, before));
        state.last = Some(Arc::clone(&ticket));
        ticket
    }

    /// What was begun has ended, and its jobs are dropped.
    fn end(&self, tickets: &[Arc<Ticket>]) {
        let mut state = self.state();
        state.is_busy = false;
        // While the queue is locked: who finds it idle finds its work done.
        tickets.iter().for_each(|ticket| ticket.finish());
        self.wake(state);
    }

    /// Sleeps until something changes.
    fn sleep<'s>(&self, mut state: MutexGuard<'s, State<J>>) -> MutexGuard<'s, State<J>> {
        state.sleepers += 1;
        let mut state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        state.sleepers -= 1;
        state
    }

    /// Something has changed.
    fn wake(&self, state: MutexGuard<'_, State<J>>) {
        let has_sleepers = state.sleepers > 0;
        drop(state);
        if has_sleepers {
            self.changed.notify_all();
        }
    }

    /// The next item, when nothing else of the queue runs; nothing if there will be none.
    fn take(&self) -> Option<Item<J>> {
        let mut state = self.state();
        let mut looks = looks();
        loop {
            if !state.is_busy
                && let Some(item) = state.waiting.pop_front()
            {
                state.is_busy = true;
                return Some(item);
            }
            if state.is_closed && state.waiting.is_empty() {
                return None;
            }
            if looks {
                let before = self.pushed.load(Ordering::Relaxed);
                drop(state);
                look_for(|| self.pushed.load(Ordering::Relaxed) != before);
                (state, looks) = (self.state(), false);
            } else {
                state = self.sleep(state);
            }
        }
    }
}

impl<J: Job> Shared<J> {
    /// The thread of a queue. It ends when nobody has the queue any more and all is done.
    fn serve(&self) {
        crate::devices::cpu_device::leave_signals_to_the_program();
        let mut running = Vec::new();
        loop {
            if let Some(item) = self.take_next(&running) {
                self.begin(item, &mut running);
            } else if !running.is_empty() {
                self.finish(&mut running, None);
            } else if let Some(item) = self.take() {
                for ticket in &item.after {
                    ticket.wait_in_queue();
                }
                self.begin(item, &mut running);
            } else {
                break;
            }
        }
    }

    /// The next item, if it may begin while others run on: nobody but the queue may wait for the last of these, because it ends
    /// for them when all have ended.
    fn take_next(&self, running: &[Item<J>]) -> Option<Item<J>> {
        let last = running.last().filter(|_| running.len() < MOST_RUNNING_ON)?;
        let mut state = self.state();
        let next = state.waiting.front()?;
        let may_begin = next.job.may_follow() && next.after.iter().all(|ticket| ticket.is_done());
        if may_begin && Arc::strong_count(&last.ticket) == 1 { state.waiting.pop_front() } else { None }
    }

    /// Runs a job. If it ends, so have those before it.
    fn begin(&self, item: Item<J>, running: &mut Vec<Item<J>>) {
        match at_work(|| item.job.run(item.ticket.order(), true)) {
            true => running.push(item),
            false => self.finish(running, Some(item)),
        }
    }

    /// Waits for the jobs that run on. They and one that has ended are dropped before anybody learns that they have.
    fn finish(&self, running: &mut Vec<Item<J>>, ended: Option<Item<J>>) {
        let tickets: Vec<_> = at_work(|| {
            if !running.is_empty() {
                J::wait(&running.iter().map(|item| &item.job).collect::<Vec<_>>());
            }
            running.drain(..).chain(ended).map(|item| item.ticket).collect()
        });
        self.end(&tickets);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;

    /// Counts, after the ticket.
    struct Count(Arc<AtomicUsize>);

    impl Job for Count {
        fn run(&self, _: Option<&WorkOrder>, _: bool) -> bool {
            self.0.fetch_add(1, Ordering::Relaxed);
            false
        }
    }

    #[test]
    fn work_is_done_although_nobody_has_the_queue_any_more() {
        let count = Arc::new(AtomicUsize::new(0));
        for _ in 0..200 {
            let queue = Queue::new();
            let entrance = queue.enter().expect("there are threads");
            let tickets: Vec<_> = (0..5).map(|_| entrance.push(Count(Arc::clone(&count)), Vec::new())).collect();
            drop(queue);
            for ticket in tickets {
                assert!(ticket.wait_until(Instant::now() + Duration::from_secs(20)), "it is never done");
            }
        }
        assert_eq!(count.load(Ordering::Relaxed), 1000);
    }

    #[test]
    fn who_asks_for_too_much_waits() {
        let count = Arc::new(AtomicUsize::new(0));
        let gate = Arc::new(Ticket::default());
        let queue = Queue::new();
        queue.enter().expect("there are threads").push(Count(Arc::clone(&count)), vec![Arc::clone(&gate)]);
        let opener = std::thread::spawn({
            let gate = Arc::clone(&gate);
            move || {
                std::thread::sleep(Duration::from_millis(100));
                gate.finish();
            }
        });
        for _ in 0..2 * MOST_WAITING {
            queue.enter().expect("there are threads").push(Count(Arc::clone(&count)), Vec::new());
        }
        assert!(gate.is_done(), "there is room for everything");
        opener.join().expect("it only sleeps");
        queue.last().inspect(|ticket| ticket.wait());
        assert_eq!(count.load(Ordering::Relaxed), 2 * MOST_WAITING + 1);
    }

    /// Runs on until it is waited for, or ends at once.
    struct Launch {
        number: usize,
        is_long: bool,
        log: Arc<Mutex<Vec<String>>>,
    }

    impl Launch {
        fn say(&self, what: &str) {
            self.log.lock().expect("nobody panics").push(format!("{what} {}", self.number));
        }
    }

    impl Job for Launch {
        fn run(&self, _: Option<&WorkOrder>, may_run_on: bool) -> bool {
            self.say("begin");
            self.is_long && may_run_on
        }

        fn may_follow(&self) -> bool {
            self.is_long
        }

        fn wait(jobs: &[&Self]) {
            jobs.iter().for_each(|job| job.say("wait for"));
        }
    }

    impl Drop for Launch {
        fn drop(&mut self) {
            self.say("end");
        }
    }

    /// What happens to launches that were put in before the queue begins, if somebody waits for one of them.
    fn logged(are_long: &[bool], wanted: Option<usize>) -> String {
        let (log, gate) = (Arc::default(), Arc::new(Ticket::default()));
        let queue = Queue::new();
        let mut kept = None;
        for (number, &is_long) in are_long.iter().enumerate() {
            let after = if number == 0 { vec![Arc::clone(&gate)] } else { Vec::new() };
            let entrance = queue.enter().expect("there are threads");
            let ticket = entrance.push(Launch { number, is_long, log: Arc::clone(&log) }, after);
            kept = kept.or(Some(ticket).filter(|_| wanted == Some(number)));
        }
        gate.finish();
        queue.last().inspect(|ticket| ticket.wait());
        log.lock().expect("nobody panics").join(", ")
    }

    #[test]
    fn launches_that_run_on_are_waited_for_together() {
        assert_eq!(
            logged(&[true; 3], None),
            "begin 0, begin 1, begin 2, wait for 0, wait for 1, wait for 2, end 0, end 1, end 2"
        );
    }

    #[test]
    fn other_work_begins_when_launches_have_ended() {
        assert_eq!(
            logged(&[true, true, false, true], None),
            "begin 0, begin 1, wait for 0, wait for 1, end 0, end 1, begin 2, end 2, begin 3, wait for 3, end 3"
        );
    }

    #[test]
    fn what_somebody_waits_for_ends_before_more_begins() {
        assert_eq!(
            logged(&[true; 3], Some(1)),
            "begin 0, begin 1, wait for 0, wait for 1, end 0, end 1, begin 2, wait for 2, end 2"
        );
    }

    #[test]
    fn no_more_launches_run_on_than_there_may() {
        let log = logged(&[true; MOST_RUNNING_ON + 1], None);
        let begun = log.split(", wait for 0").next().expect("there is a first").matches("begin").count();
        assert_eq!(begun, MOST_RUNNING_ON);
    }
}
