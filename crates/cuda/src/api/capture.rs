//! Captures: what streams are asked for becomes a graph.
//!
//! A capture begins in one stream; others take part from when they wait for an event of it, until it ends.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::ThreadId;

use rustc_hash::FxHashMap;

use super::context::Context;
use super::graph::{self, Action, Graph};
use super::stream::{self, Stream};
use crate::error::{CudaError, Result};

/// A capture.
#[derive(Debug)]
pub(crate) struct Capture {
    /// A number that no other capture has.
    pub(crate) id: u64,
    pub(crate) graph: Arc<Graph>,
    /// The stream where it began.
    origin: u64,
    mode: Mode,
    thread: ThreadId,
    context: Weak<Context>,
    /// Whether the program gave the graph.
    is_given: bool,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    status: Status,
    /// The streams that take part, by their numbers.
    tails: FxHashMap<u64, Tail>,
}

/// Where a stream is in the graph.
#[derive(Debug)]
struct Tail {
    kind: stream::Kind,
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

/// Begins a capture in a stream: into a new graph, or after some nodes of a graph of the program.
pub(crate) fn begin(stream: &Stream, mode: Mode, into: Option<(Arc<Graph>, Vec<usize>)>) -> Result<()> {
    if stream.kind == stream::Kind::Legacy {
        return Err(CudaError::STREAM_CAPTURE_UNSUPPORTED);
    }
    if stream.current_capture().is_some() {
        return Err(CudaError::ILLEGAL_STATE);
    }
    static NEXT_ID: AtomicU64 = AtomicU64::new(1);
    let is_given = into.is_some();
    let (graph, last) = into.unwrap_or_else(|| (Graph::create(), Vec::new()));
    let capture = Arc::new(Capture {
        id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
        graph,
        origin: stream.id,
        mode,
        thread: std::thread::current().id(),
        context: Arc::downgrade(&stream.context()?),
        is_given,
        state: Mutex::new(State {
            status: Status::Active,
            tails: FxHashMap::from_iter([(stream.id, Tail { kind: stream.kind, last, listed: Vec::new() })]),
        }),
    });
    stream.set_capture(&capture);
    CAPTURES.lock().unwrap_or_else(PoisonError::into_inner).push(capture);
    COUNT.fetch_add(1, Ordering::Release);
    Ok(())
}

/// Ends the capture that began in a stream; gives the graph.
pub(crate) fn end(stream: &Stream) -> Result<Arc<Graph>> {
    let capture = stream.current_capture().ok_or(CudaError::ILLEGAL_STATE)?;
    if capture.origin != stream.id {
        return Err(CudaError::STREAM_CAPTURE_UNMATCHED);
    }
    if capture.mode != Mode::Relaxed && capture.thread != std::thread::current().id() {
        return Err(CudaError::STREAM_CAPTURE_WRONG_THREAD);
    }
    let result = capture.finish();
    if result.is_err() && !capture.is_given {
        let _ = graph::destroy(capture.graph.handle.number());
    }
    result.map(|()| Arc::clone(&capture.graph))
}

/// Gives up the capture that began in a stream, because the stream goes away. Captures that it only took part in keep what
/// it was asked for, and end as if it were still there.
pub(crate) fn abandon(stream: &Stream) {
    if let Some(capture) = stream.current_capture()
        && capture.origin == stream.id
    {
        capture.invalidate();
        let _ = capture.finish();
    }
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
pub(crate) fn refuse_in(context: &Arc<Context>) -> Result<()> {
    refuse(|capture| capture.is_in(context), CudaError::STREAM_CAPTURE_UNSUPPORTED)
}

/// Refuses the legacy stream while a stream is captured that it would wait for.
pub(crate) fn refuse_legacy(context: &Arc<Context>) -> Result<()> {
    refuse(|capture| capture.holds_up_legacy(context), CudaError::STREAM_CAPTURE_IMPLICIT)
}

/// Whether a stream is captured that the legacy stream would wait for.
pub(crate) fn holds_up_legacy(context: &Arc<Context>) -> bool {
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
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_in(&self, context: &Arc<Context>) -> bool {
        Weak::as_ptr(&self.context) == Arc::as_ptr(context)
    }

    fn holds_up_legacy(&self, context: &Arc<Context>) -> bool {
        self.is_in(context) && self.state().tails.values().any(|tail| tail.kind == stream::Kind::Blocking)
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

    fn with_tail<T>(&self, stream: &Stream, use_tail: impl FnOnce(&mut Tail) -> Result<T>) -> Result<T> {
        let mut state = self.state();
        if state.status != Status::Active {
            return Err(CudaError::STREAM_CAPTURE_INVALIDATED);
        }
        use_tail(state.tails.get_mut(&stream.id).ok_or(CudaError::ILLEGAL_STATE)?)
    }

    /// What a stream was asked for becomes a node.
    pub(crate) fn add(&self, stream: &Stream, action: Action) -> Result<()> {
        self.with_tail(stream, |tail| {
            let node = self.graph.add(action, &tail.last)?;
            tail.last = vec![node];
            Ok(())
        })
    }

    /// The nodes that the next one of a stream waits for.
    pub(crate) fn last(&self, stream: &Stream) -> Result<Vec<usize>> {
        self.with_tail(stream, |tail| Ok(tail.last.clone()))
    }

    /// The same for programs: where the handles are in memory until the next call, and how many. As many words of zero
    /// follow them.
    pub(crate) fn list_last(&self, stream: &Stream) -> Result<(*const usize, usize)> {
        self.with_tail(stream, |tail| {
            tail.listed.clone_from(&tail.last);
            tail.listed.resize(2 * tail.last.len(), 0);
            Ok((tail.listed.as_ptr(), tail.last.len()))
        })
    }

    /// The next node of a stream waits for other nodes, too. The stream takes part from now on.
    pub(crate) fn join(self: &Arc<Self>, stream: &Stream, nodes: &[usize]) -> Result<()> {
        if stream.kind == stream::Kind::Legacy {
            self.invalidate();
            return Err(CudaError::STREAM_CAPTURE_IMPLICIT);
        }
        let mut state = self.state();
        if state.status != Status::Active {
            return Err(CudaError::STREAM_CAPTURE_INVALIDATED);
        }
        let tail =
            state.tails.entry(stream.id).or_insert(Tail { kind: stream.kind, last: Vec::new(), listed: Vec::new() });
        for &node in nodes {
            if !tail.last.contains(&node) {
                tail.last.push(node);
            }
        }
        drop(state);
        stream.set_capture(self);
        Ok(())
    }

    /// The next node of a stream waits for these nodes only.
    pub(crate) fn set_last(&self, stream: &Stream, nodes: Vec<usize>) -> Result<()> {
        self.graph.check(&nodes)?;
        self.with_tail(stream, |tail| {
            tail.last = nodes;
            Ok(())
        })
    }

    /// The next node of a stream waits for these nodes, too.
    pub(crate) fn add_last(self: &Arc<Self>, stream: &Stream, nodes: &[usize]) -> Result<()> {
        self.graph.check(nodes)?;
        self.join(stream, nodes)
    }
}
