//! Streams.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use super::capture::{self, Capture, Mode, Status};
use super::graph::{Action, Graph};
use super::reach::Reach;
use super::stream_id::{Kind, StreamId};
use super::work::Work;
use crate::driver;
use crate::error::{CudaError, Result};
use crate::handle::{Handle, Handles};
use crate::process::life;
use crate::queue::{self, Entrance, Queue, Ticket, is_at_work};

/// A stream: work in order.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) handle: Handle<Stream>,
    pub(crate) id: StreamId,
    pub(crate) priority: i32,
    /// Those of its context, with itself among them.
    streams: Weak<Streams>,
    queue: Arc<Queue<Work>>,
    /// What programs set of it, by number; hints, which they may ask for again.
    pub(crate) attributes: Mutex<BTreeMap<u32, [u64; 8]>>,
    /// The last capture that it took part in.
    capture: Mutex<Option<Arc<Capture>>>,
}

/// The streams of a context, and what comes after what in them.
#[derive(Debug)]
pub(crate) struct Streams {
    /// The handle of the context.
    context: usize,
    reach: Arc<Reach>,
    members: Mutex<Members>,
}

#[derive(Debug)]
struct Members {
    legacy: Arc<Stream>,
    /// Those that somebody has, and those that nobody has any more and that still have work.
    others: Vec<Arc<Stream>>,
}

/// Streams that programs made.
pub(crate) static STREAMS: Handles<Stream> = Handles::new("a stream");

impl Streams {
    /// The streams of a new context, by its handle, whose launches may access something.
    pub(super) fn new(context: usize, reach: &Arc<Reach>) -> Arc<Self> {
        Arc::new_cyclic(|streams| Self {
            context,
            reach: Arc::clone(reach),
            members: Mutex::new(Members { legacy: Stream::new(streams, Kind::Legacy, 0), others: Vec::new() }),
        })
    }

    fn members(&self) -> MutexGuard<'_, Members> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn legacy(&self) -> Arc<Stream> {
        Arc::clone(&self.members().legacy)
    }

    /// All that have work, or may get some.
    pub(super) fn all(&self) -> Vec<Arc<Stream>> {
        let members = self.members();
        members.others.iter().chain([&members.legacy]).cloned().collect()
    }

    pub(super) fn add(self: &Arc<Self>, kind: Kind, priority: i32) -> Arc<Stream> {
        crate::order::on_stream(kind == Kind::Blocking);
        let stream = Stream::new(&Arc::downgrade(self), kind, priority);
        let mut members = self.members();
        // Of one that only we have, nobody can ask for more.
        members.others.retain(|other| {
            let last = other.last();
            let is_kept = Arc::strong_count(other) > 1 || last.as_ref().is_some_and(|ticket| !ticket.is_done());
            if let Some(ticket) = last
                && !is_kept
            {
                // Nobody else remembers that the default stream comes after it.
                ticket.tell_host();
            }
            is_kept
        });
        members.others.push(Arc::clone(&stream));
        stream
    }
}

impl Members {
    /// Work in other streams that has to end before new work in this one starts.
    fn before(&self, stream: &Stream) -> impl Iterator<Item = Arc<Ticket>> {
        let legacy = (stream.id.kind == Kind::Blocking).then_some(&self.legacy);
        let others = if stream.id.kind == Kind::Legacy { &self.others[..] } else { &[] };
        let blocking = others.iter().filter(|other| other.id.kind == Kind::Blocking);
        legacy.into_iter().chain(blocking).filter_map(|other| other.last())
    }
}

impl Stream {
    fn new(streams: &Weak<Streams>, kind: Kind, priority: i32) -> Arc<Self> {
        Arc::new(Self {
            handle: Handle::new(),
            id: StreamId::new(kind),
            priority,
            streams: streams.clone(),
            queue: Queue::new(),
            attributes: Mutex::default(),
            capture: Mutex::default(),
        })
    }

    fn streams(&self) -> Result<Arc<Streams>> {
        self.streams.upgrade().ok_or(CudaError::CONTEXT_IS_DESTROYED)
    }

    /// The handle of its context.
    pub(crate) fn context(&self) -> Result<usize> {
        Ok(self.streams()?.context)
    }

    /// The device of its context, and what launches may access there.
    pub(crate) fn reach(&self) -> Result<Arc<Reach>> {
        Ok(Arc::clone(&self.streams()?.reach))
    }

    /// The last work, if it [matters](Ticket::matters).
    pub(crate) fn last(&self) -> Option<Arc<Ticket>> {
        self.queue.last()
    }

    /// What the stream does one after another.
    pub(crate) fn queue(&self) -> &Arc<Queue<Work>> {
        &self.queue
    }

    /// The capture that it takes part in.
    pub(crate) fn current_capture(&self) -> Option<Arc<Capture>> {
        let mut capture = self.capture.lock().unwrap_or_else(PoisonError::into_inner);
        if capture.as_ref().is_some_and(|capture| capture.status() == Status::Ended) {
            *capture = None;
        }
        capture.clone()
    }

    fn set_capture(&self, capture: Arc<Capture>) {
        *self.capture.lock().unwrap_or_else(PoisonError::into_inner) = Some(capture);
    }

    /// Begins a capture: into a new graph, or after some nodes of a graph of the program.
    pub(crate) fn begin_capture(&self, mode: Mode, into: Option<(Arc<Graph>, Vec<usize>)>) -> Result<()> {
        if self.id.kind == Kind::Legacy {
            return Err(CudaError::STREAM_CAPTURE_UNSUPPORTED);
        }
        if self.current_capture().is_some() {
            return Err(CudaError::ILLEGAL_STATE);
        }
        self.set_capture(Capture::begin(self.id, self.context()?, mode, into));
        Ok(())
    }

    /// Ends the capture that began here; gives the graph.
    pub(crate) fn end_capture(&self) -> Result<Arc<Graph>> {
        self.current_capture().ok_or(CudaError::ILLEGAL_STATE)?.end(self.id)
    }

    /// The program has it no more: a capture that began here is given up.
    pub(super) fn leave(&self) {
        if let Some(capture) = self.current_capture() {
            capture.abandon(self.id);
        }
    }

    /// Takes part in a capture from now on; the next node waits for these nodes, too.
    pub(crate) fn join_capture(&self, capture: Arc<Capture>, nodes: &[usize]) -> Result<()> {
        capture.join(self.id, nodes)?;
        self.set_capture(capture);
        Ok(())
    }

    /// The capture that takes what the stream is asked for. An error if other captures are in the way.
    pub(crate) fn capture(&self) -> Result<Option<Arc<Capture>>> {
        if self.id.kind == Kind::Legacy {
            capture::refuse_legacy(self.context()?)?;
        }
        Ok(self.current_capture())
    }

    /// Refuses what cannot be captured.
    pub(crate) fn refuse_capture(&self) -> Result<()> {
        match self.capture()? {
            Some(capture) => {
                capture.invalidate();
                Err(CudaError::STREAM_CAPTURE_UNSUPPORTED)
            }
            None => Ok(()),
        }
    }

    /// Does work after what it was asked for so far. If it is captured, the work becomes a node of a graph instead.
    pub(crate) fn push(&self, work: Work) -> Result<()> {
        match self.capture()? {
            Some(capture) => capture.add(self.id, Action::Work(work)),
            None if matches!(work, Work::Launch(_)) && crate::tooling::runs_on_caller() => self.run_on_caller(work),
            None => self.enqueue(work, Vec::new()).map(drop),
        }
    }

    /// Does work on this thread, after all that all streams were asked for so far. If that takes long, which it may do until the
    /// program goes on, the work is put into the queue.
    fn run_on_caller(&self, work: Work) -> Result<()> {
        const PATIENCE: Duration = Duration::from_secs(2);
        if is_at_work() || !life::settle(Instant::now() + PATIENCE) {
            return self.enqueue(work, Vec::new()).map(drop);
        }
        let before: Vec<_> = self.streams()?.members().before(self).collect();
        match queue::run_on_caller(|| self.queue.run_if_idle(work, &before)) {
            Ok(()) => Ok(()),
            Err(work) => self.enqueue(work, Vec::new()).map(drop),
        }
    }

    /// Puts work into the queue, which also waits for other work.
    pub(crate) fn enqueue(&self, work: Work, mut after: Vec<Arc<Ticket>>) -> Result<Arc<Ticket>> {
        let entrance = enter(&self.queue)?;
        let streams = self.streams()?;
        // One thread at a time decides what comes after what: so there are no circles.
        let members = streams.members();
        after.extend(members.before(self));
        Ok(entrance.push(work, after))
    }

    /// Does work and waits for its end.
    pub(crate) fn run(&self, work: Work) -> Result<()> {
        self.refuse_capture()?;
        let before: Vec<_> = self.streams()?.members().before(self).collect();
        // Mostly nothing else is going on, and no other thread is needed.
        if let Err(work) = self.queue.run_if_idle(work, &before) {
            self.enqueue(work, Vec::new())?.wait();
        }
        Ok(())
    }

    /// Waits until all is done that was asked for so far.
    pub(crate) fn synchronize(&self) -> Result<()> {
        self.refuse_capture()?;
        let before: Vec<_> = self.streams()?.members().before(self).collect();
        for ticket in before.iter().chain(&self.last()) {
            ticket.wait();
        }
        driver::check()
    }

    /// Whether all is done that was asked for so far.
    pub(crate) fn query(&self) -> Result<()> {
        driver::check()?;
        self.refuse_capture()?;
        let streams = self.streams()?;
        let is_done = streams.members().before(self).chain(self.last()).all(|ticket| ticket.query());
        if is_done { Ok(()) } else { Err(CudaError::NOT_READY) }
    }
}

/// Gets work into a queue.
pub(super) fn enter(queue: &Queue<Work>) -> Result<Entrance<'_, Work>> {
    queue.enter().map_err(|error| {
        crate::refusal::refuse(&format!(
            "no thread can be started for a stream ({error}): raise the limits of threads (`ulimit -u`) and of memory \
             (`ulimit -v`), or use fewer streams at a time"
        ));
        CudaError::OPERATING_SYSTEM
    })
}

/// Forgets a stream; what it was asked for is still done.
pub(crate) fn destroy(number: usize) -> Result<()> {
    STREAMS.destroy(number)?.leave();
    Ok(())
}
