//! Captures: what streams are asked for becomes a graph.
//!
//! A capture begins in one stream; others take part from when they wait for an event of it, until it ends.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;

use rustc_hash::FxHashMap;

use super::graph::{self, Action, Graph};
use super::stream_id::{Kind, StreamId};
use crate::error::{CudaError, Result};

/// A capture.
#[derive(Debug)]
pub(crate) struct Capture {
    /// A number that no other capture has.
    pub(crate) id: u64,
    pub(crate) graph: Arc<Graph>,
    /// The stream where it began.
    origin: StreamId,
    mode: Mode,
    thread: ThreadId,
    /// The handle of the context of all its streams.
    context: usize,
    /// Whether the program gave the graph.
    is_given: bool,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    status: Status,
    /// The streams that take part.
    tails: FxHashMap<StreamId, Tail>,
}

/// Where a stream is in the graph.
#[derive(Debug, Default)]
struct Tail {
    /// The nodes that the next one waits for.
    last: Vec<usize>,
    /// The same as the program saw them last, then as many zeros, which mean usual edges.
    listed: Vec<usize>,
}

/// How far a capture is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Status {
    Active,
    /// Something was asked for that cannot be captured.
    Invalid,
    Ended,
}

/// What else threads may do during a capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    /// No thread may do anything that could wait for the captured stream.
    Global,
    /// Only the thread that captures may not.
    ThreadLocal,
    /// Anything.
    Relaxed,
}

/// The captures that have not ended.
static CAPTURES: Mutex<Vec<Arc<Capture>>> = Mutex::new(Vec::new());
/// How many they are: mostly none, and then nobody has to look.
static COUNT: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// What `cuThreadExchangeStreamCaptureMode` set.
    static THREAD_MODE: Cell<Mode> = const { Cell::new(Mode::Global) };
}

fn captures() -> Vec<Arc<Capture>> {
    if COUNT.load(Ordering::Acquire) == 0 {
        return Vec::new();
    }
    CAPTURES.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// The capture of a number, if it has not ended.
pub(crate) fn find(id: u64) -> Option<Arc<Capture>> {
    captures().into_iter().find(|capture| capture.id == id)
}

/// Sets what this thread may do during captures; gives what it was.
pub(crate) fn exchange_thread_mode(mode: Mode) -> Mode {
    THREAD_MODE.replace(mode)
}

/// Refuses what could wait for a stream that is captured, such as the allocation of memory: a GPU may have to wait for all
/// streams. The captures that are in the way become invalid, as the manual says.
pub(crate) fn refuse_unsafe_call() -> Result<()> {
    let own = std::thread::current().id();
    let is_in_the_way = |capture: &Arc<Capture>| match THREAD_MODE.get() {
        Mode::Relaxed => false,
        _ if capture.thread == own => capture.mode != Mode::Relaxed,
        Mode::ThreadLocal => false,
        Mode::Global => capture.mode == Mode::Global,
    };
    refuse(is_in_the_way, CudaError::STREAM_CAPTURE_UNSUPPORTED)
}

/// Refuses to wait for a context while one of its streams is captured.
pub(crate) fn refuse_in(context: usize) -> Result<()> {
    refuse(|capture| capture.context == context, CudaError::STREAM_CAPTURE_UNSUPPORTED)
}

/// Refuses the legacy stream while a stream is captured that it would wait for.
pub(crate) fn refuse_legacy(context: usize) -> Result<()> {
    refuse(|capture| capture.holds_up_legacy(context), CudaError::STREAM_CAPTURE_IMPLICIT)
}

/// Whether a stream is captured that the legacy stream would wait for.
pub(crate) fn holds_up_legacy(context: usize) -> bool {
    captures().iter().any(|capture| capture.holds_up_legacy(context))
}

fn refuse(is_in_the_way: impl Fn(&Arc<Capture>) -> bool, error: CudaError) -> Result<()> {
    let mut result = Ok(());
    for capture in captures().iter().filter(|capture| is_in_the_way(capture)) {
        capture.invalidate();
        result = Err(error);
    }
    result
}

impl Capture {
    /// Begins a capture in a stream of a context: into a new graph, or after some nodes of a graph of the program.
    pub(super) fn begin(
        stream: StreamId,
        context: usize,
        mode: Mode,
        into: Option<(Arc<Graph>, Vec<usize>)>,
    ) -> Arc<Self> {
        static NEXT_ID: AtomicU64 = AtomicU64::new(1);
        let is_given = into.is_some();
        let (graph, last) = into.unwrap_or_else(|| (Graph::create(), Vec::new()));
        let capture = Arc::new(Self {
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            graph,
            origin: stream,
            mode,
            thread: std::thread::current().id(),
            context,
            is_given,
            state: Mutex::new(State {
                status: Status::Active,
                tails: FxHashMap::from_iter([(stream, Tail { last, listed: Vec::new() })]),
            }),
        });
        CAPTURES.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&capture));
        COUNT.fetch_add(1, Ordering::Release);
        capture
    }

    /// Ends it in the stream where it began; gives the graph.
    pub(super) fn end(&self, stream: StreamId) -> Result<Arc<Graph>> {
        if self.origin != stream {
            return Err(CudaError::STREAM_CAPTURE_UNMATCHED);
        }
        if self.mode != Mode::Relaxed && self.thread != std::thread::current().id() {
            return Err(CudaError::STREAM_CAPTURE_WRONG_THREAD);
        }
        let result = self.finish();
        if result.is_err() && !self.is_given {
            let _ = graph::destroy(self.graph.handle.number());
        }
        result.map(|()| Arc::clone(&self.graph))
    }

    /// Gives it up if it began in this stream, because the stream goes away. Captures that the stream only took part in
    /// keep what it was asked for, and end as if it were still there.
    pub(super) fn abandon(&self, stream: StreamId) {
        if self.origin == stream {
            self.invalidate();
            let _ = self.finish();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn holds_up_legacy(&self, context: usize) -> bool {
        self.context == context && self.state().tails.keys().any(|stream| stream.kind == Kind::Blocking)
    }

    pub(crate) fn status(&self) -> Status {
        self.state().status
    }

    /// Nothing more is captured, and no graph comes of it.
    pub(crate) fn invalidate(&self) {
        let mut state = self.state();
        if state.status == Status::Active {
            state.status = Status::Invalid;
        }
    }

    /// Ends it; an error if no graph comes of it.
    fn finish(&self) -> Result<()> {
        CAPTURES.lock().unwrap_or_else(PoisonError::into_inner).retain(|other| {
            let is_other = other.id != self.id;
            if !is_other {
                COUNT.fetch_sub(1, Ordering::Release);
            }
            is_other
        });
        let mut state = self.state();
        let status = std::mem::replace(&mut state.status, Status::Ended);
        if status != Status::Active {
            return Err(CudaError::STREAM_CAPTURE_INVALIDATED);
        }
        let last = &state.tails[&self.origin].last;
        let is_joined = state.tails.values().all(|tail| self.graph.reaches(last, &tail.last));
        if is_joined { Ok(()) } else { Err(CudaError::STREAM_CAPTURE_UNJOINED) }
    }

    fn with_tail<T>(&self, stream: StreamId, use_tail: impl FnOnce(&mut Tail) -> Result<T>) -> Result<T> {
        let mut state = self.state();
        if state.status != Status::Active {
            return Err(CudaError::STREAM_CAPTURE_INVALIDATED);
        }
        use_tail(state.tails.get_mut(&stream).ok_or(CudaError::ILLEGAL_STATE)?)
    }

    /// What a stream was asked for becomes a node.
    pub(crate) fn add(&self, stream: StreamId, action: Action) -> Result<()> {
        self.with_tail(stream, |tail| {
            let node = self.graph.add(action, &tail.last)?;
            tail.last = vec![node];
            Ok(())
        })
    }

    /// The nodes that the next one of a stream waits for.
    pub(crate) fn last(&self, stream: StreamId) -> Result<Vec<usize>> {
        self.with_tail(stream, |tail| Ok(tail.last.clone()))
    }

    /// The same for programs: where the handles are in memory until the next call, and how many. As many words of zero
    /// follow them.
    pub(crate) fn list_last(&self, stream: StreamId) -> Result<(*const usize, usize)> {
        self.with_tail(stream, |tail| {
            tail.listed.clone_from(&tail.last);
            tail.listed.resize(2 * tail.last.len(), 0);
            Ok((tail.listed.as_ptr(), tail.last.len()))
        })
    }

    /// The next node of a stream waits for other nodes, too. The stream takes part from now on.
    pub(super) fn join(&self, stream: StreamId, nodes: &[usize]) -> Result<()> {
        if stream.kind == Kind::Legacy {
            self.invalidate();
            return Err(CudaError::STREAM_CAPTURE_IMPLICIT);
        }
        let mut state = self.state();
        if state.status != Status::Active {
            return Err(CudaError::STREAM_CAPTURE_INVALIDATED);
        }
        let tail = state.tails.entry(stream).or_default();
        for &node in nodes {
            if !tail.last.contains(&node) {
                tail.last.push(node);
            }
        }
        Ok(())
    }

    /// The next node of a stream waits for these nodes only.
    pub(crate) fn set_last(&self, stream: StreamId, nodes: Vec<usize>) -> Result<()> {
        self.graph.check(&nodes)?;
        self.with_tail(stream, |tail| {
            tail.last = nodes;
            Ok(())
        })
    }

    /// The next node of a stream waits for these nodes, too.
    pub(crate) fn add_last(&self, stream: StreamId, nodes: &[usize]) -> Result<()> {
        self.graph.check(nodes)?;
        self.join(stream, nodes)
    }
}
