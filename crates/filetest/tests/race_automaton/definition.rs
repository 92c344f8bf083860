//! Programs of a few accesses to one place, and which of them race: a definition that knows nothing of epochs, records or the
//! order in which threads run. It is that of `scripts/racecheck-oracle`, with fewer kinds of barriers.

use Operation::*;

/// Who makes an access: a thread, a lane of its warp, a thread of another warp of the block, and one of another block.
pub(crate) const PLACES: [Place; 4] = [
    Place { block: 0, thread: 3 },
    Place { block: 0, thread: 4 },
    Place { block: 0, thread: 40 },
    Place { block: 1, thread: 3 },
];

/// What it does.
pub(crate) const OPERATIONS: [Operation; 6] =
    [WeakRead, WeakWrite, VolatileRead, VolatileWrite, AtomicOfBlock, AtomicOfDevice];

/// So many accesses there are: by each of the places each of the operations.
pub(crate) const ACCESSES: usize = PLACES.len() * OPERATIONS.len();

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    pub(crate) block: u32,
    pub(crate) thread: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operation {
    WeakRead,
    WeakWrite,
    VolatileRead,
    VolatileWrite,
    AtomicOfBlock,
    AtomicOfDevice,
}

/// What all threads do between two accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Gap {
    Nothing,
    BlockBarrier,
    WarpBarrier,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Space {
    Global,
    Shared,
}

/// What is to be said of accesses: the worst counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(crate) enum Verdict {
    #[default]
    Nothing,
    Warning,
    Error,
}

/// An access, by its number below [`ACCESSES`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Access(pub(crate) u8);

impl std::fmt::Debug for Access {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Place { block, thread } = self.place();
        write!(out, "{:?} by {block}:{thread}", self.operation())
    }
}

impl Access {
    /// Those of a place, by its number.
    pub(crate) fn of_place(place: usize) -> impl Iterator<Item = Self> {
        let first = place * OPERATIONS.len();
        (first..first + OPERATIONS.len()).map(|number| Self(number as u8))
    }

    pub(crate) fn place_number(self) -> usize {
        usize::from(self.0) / OPERATIONS.len()
    }

    pub(crate) fn operation_number(self) -> usize {
        usize::from(self.0) % OPERATIONS.len()
    }

    pub(crate) fn place(self) -> Place {
        PLACES[self.place_number()]
    }

    pub(crate) fn operation(self) -> Operation {
        OPERATIONS[self.operation_number()]
    }
}

impl Place {
    /// Its block, and the warp in it.
    pub(crate) fn warp(self) -> (u32, u32) {
        (self.block, self.thread / 32)
    }
}

impl Operation {
    pub(crate) fn writes(self) -> bool {
        !matches!(self, WeakRead | VolatileRead)
    }

    pub(crate) fn is_volatile(self) -> bool {
        matches!(self, VolatileRead | VolatileWrite)
    }

    pub(crate) fn is_atomic(self) -> bool {
        matches!(self, AtomicOfBlock | AtomicOfDevice)
    }
}

/// Whether a thread knows, after some barriers, what another one or itself did before them. All threads come to all barriers.
pub(crate) fn knows(other: Place, one: Place, between: &[Gap]) -> bool {
    let mut knowing = PLACES.map(|place| place == one);
    for gap in between {
        let told = PLACES.map(|place| {
            PLACES.iter().zip(knowing).any(|(from, knows)| {
                let meet = match gap {
                    Gap::Nothing => *from == place,
                    Gap::BlockBarrier => from.block == place.block,
                    Gap::WarpBarrier => from.warp() == place.warp(),
                };
                knows && meet
            })
        });
        knowing = told;
    }
    PLACES.iter().zip(knowing).any(|(place, knows)| *place == other && knows)
}

/// What is to be said of two accesses of a program, with what all threads do between them.
pub(crate) fn verdict(space: Space, one: Access, other: Access, between: &[Gap]) -> Verdict {
    let (first, second) = (one.place(), other.place());
    let operations = [one.operation(), other.operation()];
    let same_block = first.block == second.block;
    // Each block has shared memory of its own.
    let is_same_memory = space == Space::Global || same_block;
    if !is_same_memory || !operations.iter().any(|operation| operation.writes()) || knows(second, first, between) {
        return Verdict::Nothing;
    }
    // Atomic operations whose scopes hold both threads.
    let is_wide = operations == [AtomicOfDevice; 2];
    if operations.iter().all(|operation| operation.is_atomic()) && (same_block || is_wide) {
        return Verdict::Nothing;
    }
    // Lanes of one warp, and what PTX allows, but CUDA C++ does not.
    let is_strong = operations.iter().all(|operation| operation.is_volatile() || operation.is_atomic());
    let is_volatile = is_strong && operations.iter().any(|operation| operation.is_volatile());
    if first.warp() == second.warp() || is_volatile { Verdict::Warning } else { Verdict::Error }
}
