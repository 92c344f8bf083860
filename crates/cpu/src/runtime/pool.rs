//! OS threads that help with launches: started when they are first needed, and kept.
//!
//! To wake a thread takes longer than many a launch. A thread that waits therefore looks for a while before it sleeps: a
//! helper whether there is work again, as where a program launches one small kernel after another, and who offered work
//! whether the last helper has ended.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a thread looks before it sleeps: a few times what it takes to wake one.
const LOOK: Duration = Duration::from_micros(100);

/// Threads that wait for work. They end with the process.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    /// How many jobs were offered.
    offers: AtomicU64,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    jobs: VecDeque<Arc<Job>>,
    threads: usize,
    /// Threads that sleep until there are jobs.
    asleep: usize,
    is_closed: bool,
}

/// Work that several threads do together.
struct Job {
    work: *const (dyn Fn(usize) + Sync),
    places: Mutex<Places>,
    ended: Condvar,
}

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Job").field("places", &self.places).finish_non_exhaustive()
    }
}

#[derive(Debug)]
struct Places {
    /// Helpers that may still join.
    free: usize,
    /// Helpers at work.
    busy: usize,
}

// SAFETY: the work is `Sync`, and `Pool::run` keeps it alive as long as helpers can reach it.
unsafe impl Send for Job {}
// SAFETY: as above.
unsafe impl Sync for Job {}

impl Pool {
    /// Does work on this thread, as number 0, and on up to so many helpers, each with the number from 1 that it has in all
    /// jobs. Returns when all have ended. Helpers that are busy elsewhere are not waited for: they join if they become free
    /// meanwhile.
    pub(crate) fn run(&self, helpers: usize, work: &(dyn Fn(usize) + Sync)) {
        if helpers == 0 {
            return work(0);
        }
        // SAFETY: only the lifetime changes. `withdraw` waits, also when `work` panics, until no helper can reach it.
        let work_for_helpers =
            unsafe { std::mem::transmute::<&(dyn Fn(usize) + Sync), &'static (dyn Fn(usize) + Sync)>(work) };
        let job = Arc::new(Job {
            work: work_for_helpers,
            places: Mutex::new(Places { free: helpers, busy: 0 }),
            ended: Condvar::new(),
        });
        self.offer(&job, helpers);
        let _withdrawn = Withdraw { pool: self, job: &job };
        work(0);
    }

    fn offer(&self, job: &Arc<Job>, helpers: usize) {
        let mut state = self.shared.state();
        state.jobs.push_back(Arc::clone(job));
        while state.threads < helpers {
            let shared = Arc::clone(&self.shared);
            let number = state.threads + 1;
            // Without more threads, those that are there do all the work.
            let named = std::thread::Builder::new().name("warpgrind-blocks".to_owned());
            if named
                .spawn(move || {
                    let _quiet = valgrind::quiet();
                    shared.serve(number);
                })
                .is_err()
            {
                break;
            }
            state.threads = number;
        }
        self.shared.offers.fetch_add(1, Ordering::Relaxed);
        if state.asleep > 0 {
            drop(state);
            self.shared.changed.notify_all();
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.state().is_closed = true;
        self.shared.changed.notify_all();
    }
}

/// Takes a job back, however the thread that offered it leaves.
struct Withdraw<'p> {
    pool: &'p Pool,
    job: &'p Arc<Job>,
}

impl Drop for Withdraw<'_> {
    fn drop(&mut self) {
        self.pool.shared.state().jobs.retain(|job| !Arc::ptr_eq(job, self.job));
        self.job.places().free = 0;
        if !look_for(|| self.job.places().busy == 0) {
            let mut places = self.job.places();
            while places.busy > 0 {
                places = self.job.ended.wait(places).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }
}

impl Job {
    fn places(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a place, if one is free.
    fn join(&self) -> bool {
        let mut places = self.places();
        let is_free = places.free > 0;
        if is_free {
            places.free -= 1;
            places.busy += 1;
        }
        is_free
    }

    fn leave(&self) {
        self.places().busy -= 1;
        self.ended.notify_all();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a helper does.
    fn serve(&self, number: usize) {
        super::signals::leave_signals_to_the_program();
        while let Some(job) = self.take() {
            // SAFETY: the helper has a place, and `Pool::run` does not return before it is left.
            let work = unsafe { &*job.work };
            work(number);
            job.leave();
        }
    }

    /// Waits for a job with a free place; nothing when the pool is gone.
    fn take(&self) -> Option<Arc<Job>> {
        let mut state = self.state();
        loop {
            if state.is_closed {
                return None;
            }
            let found = state.jobs.iter().find(|job| job.join()).map(Arc::clone);
            if let Some(found) = found {
                return Some(found);
            }
            state.jobs.retain(|job| job.places().free > 0);
            let offers = self.offers.load(Ordering::Relaxed);
            drop(state);
            look_for(|| self.offers.load(Ordering::Relaxed) != offers);
            state = self.state();
            while self.offers.load(Ordering::Relaxed) == offers && !state.is_closed {
                state.asleep += 1;
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.asleep -= 1;
            }
        }
    }
}

/// Whether something comes to be while this thread looks.
fn look_for(is_there: impl Fn() -> bool) -> bool {
    let started = Instant::now();
    loop {
        if is_there() {
            return true;
        }
        if started.elapsed() > LOOK {
            return false;
        }
        for _ in 0..8 {
            std::hint::spin_loop();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::Pool;

    #[test]
    fn all_work_is_done_before_it_returns() {
        let pool = Pool::default();
        for round in 0..1000 {
            let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let items = round % 7;
            pool.run(3, &|_| {
                while next.fetch_add(1, Ordering::Relaxed) < items {
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
            assert_eq!(done.load(Ordering::Relaxed), items);
        }
    }

    #[test]
    fn several_threads_share_helpers() {
        let pool = Pool::default();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        let seen = AtomicUsize::new(0);
                        pool.run(2, &|number| {
                            assert!(number <= 2);
                            seen.fetch_add(1, Ordering::Relaxed);
                        });
                        assert!((1..=3).contains(&seen.load(Ordering::Relaxed)));
                    }
                });
            }
        });
    }
}
