//! What the plan of a launch and the instance of the tool share: trials, what threads are told, and what they tell.

use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use report::Place;
use toolkit::{Host, SharedWords};

use super::arm::Arms;
use super::model::{Model, Stratum};
use super::random::Numbers;
use super::register_file::RegisterFile;

/// A trial, as far as it is known before its launch.
#[derive(Clone, Debug)]
pub(super) struct Trial {
    pub(super) number: u64,
    /// Its launch, and which place of it is struck.
    pub(super) launch: u64,
    pub(super) place: u64,
    /// What it is made from besides.
    pub(super) numbers: Numbers,
}

/// What all trials have in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct Campaign {
    pub(super) model: Model,
    /// Whether what corrupts something strikes the protected kernel, too.
    pub(super) is_protected: bool,
    /// Whether what does not corrupt anything does so, too.
    pub(super) always: bool,
    /// Whether the program goes on with what the fault left behind.
    pub(super) stays: bool,
    /// How long the rest of the program may take in a process that is forked for each fault that changes something; nothing if
    /// none is.
    pub(super) follows: Option<Duration>,
    pub(super) patience: u64,
    /// Whether it is known what faults do to the kernel as it is: only what other tools make of it is struck.
    pub(super) is_alone_known: bool,
}

/// What the launch that is under way has, and its plan.
#[derive(Debug, Default)]
pub(super) struct Shared {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
pub(super) struct State {
    /// What the next run is told. Later runs of the launch are told nothing, unless it stays.
    pub(super) armed: Option<Armed>,
    /// Where the threads of the next run count.
    pub(super) counts: Option<Arc<dyn SharedWords>>,
    pub(super) stratum: u64,
    /// What was struck first.
    pub(super) struck: Option<Struck>,
    /// Whether this process was forked for a fault: later launches have none.
    pub(super) is_child: bool,
    /// Whether it is known that the process cannot be forked.
    pub(super) cannot_fork: bool,
}

/// What armed threads, or all, are told.
#[derive(Clone, Debug)]
pub(super) enum Armed {
    /// Threads from a number on, so many.
    Threads { first: u64, count: u64, arms: Arc<Arms> },
    /// Lanes.
    Lanes(LaneFault),
}

/// A fault that stays: which lanes have it, and what it does to results of which units.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct LaneFault {
    /// Lanes whose number is this in these bits.
    pub(super) lane: u32,
    pub(super) bits_of_lane: u32,
    pub(super) unit: u32,
    pub(super) keeps: u64,
    pub(super) toggles: u64,
}

/// What was struck.
#[derive(Clone, Debug)]
pub(super) struct Struck {
    pub(super) place: Place,
    pub(super) block: [u32; 3],
    pub(super) thread: [u32; 3],
    pub(super) site: u32,
    pub(super) func: u32,
    pub(super) bit: u32,
    pub(super) before: u64,
    pub(super) after: u64,
    /// The registers of the thread there, if they are asked for.
    pub(super) registers: Option<RegisterFile>,
}

impl Shared {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next run is told this.
    pub(super) fn arm(&self, armed: Armed) {
        let mut state = self.state();
        (state.armed, state.struck) = (Some(armed), None);
    }

    /// The next run is told nothing.
    pub(super) fn disarm(&self) {
        let mut state = self.state();
        (state.armed, state.counts) = (None, None);
    }

    /// What was struck.
    pub(super) fn struck(&self) -> Option<Struck> {
        self.state().struck.take()
    }

    /// The threads of the next run count in memory that has room for so many.
    pub(super) fn count(&self, host: &dyn Host, stratum: Stratum, threads: u64) -> io::Result<Arc<dyn SharedWords>> {
        let counts = host.words(threads as usize * 2)?;
        let mut state = self.state();
        (state.counts, state.stratum) = (Some(Arc::clone(&counts)), stratum.number() as u64);
        Ok(counts)
    }
}

/// What a thread counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Counted {
    pub(super) places: u32,
    pub(super) instructions: u32,
    /// Which thread of the program it is.
    pub(super) program_thread: u32,
    /// How many threads its block has.
    pub(super) block: u32,
}

/// What all threads counted.
pub(super) fn counted(counts: &dyn SharedWords) -> impl Iterator<Item = Counted> {
    counts.words().chunks(2).map(|words| {
        let [first, second] = [0, 1].map(|word| words[word].load(Ordering::Relaxed));
        Counted {
            places: first as u32,
            program_thread: (first >> 32) as u32,
            instructions: second as u32,
            block: (second >> 32) as u32,
        }
    })
}
