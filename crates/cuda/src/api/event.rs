//! Events.

use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use super::capture::{self, Capture, Status};
use super::graph::Action;
use super::queue::Ticket;
use super::stream::Stream;
use super::work::Work;
use crate::error::{CudaError, Result};
use crate::handle::{Handle, Handles};

/// An event: a place in a stream.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) handle: Handle<Event>,
    has_time: bool,
    place: Mutex<Option<Place>>,
}

/// Where an event was put last.
#[derive(Clone, Debug)]
enum Place {
    /// Into a stream.
    Recorded(Record),
    /// Into a graph that was captured, after some nodes.
    Captured(Weak<Capture>, Vec<usize>),
}

#[derive(Clone, Debug)]
struct Record {
    ticket: Arc<Ticket>,
    time: Arc<OnceLock<Instant>>,
}

/// Events that programs made.
pub(crate) static EVENTS: Handles<Event> = Handles::new();

/// Makes an event.
pub(crate) fn create(has_time: bool) -> Result<Arc<Event>> {
    super::context::require()?;
    let event = Arc::new(Event { handle: Handle::new(), has_time, place: Mutex::default() });
    EVENTS.insert(&event.handle, Arc::clone(&event));
    Ok(event)
}

impl Event {
    fn place(&self) -> Option<Place> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_place(&self, place: Place) {
        *self.place.lock().unwrap_or_else(PoisonError::into_inner) = Some(place);
    }

    /// Where it was put into a stream. An error if it was captured since: then it never happens.
    fn last(&self) -> Result<Option<Record>> {
        match self.place() {
            Some(Place::Recorded(record)) => Ok(Some(record)),
            Some(Place::Captured(..)) => Err(CudaError::CAPTURED_EVENT),
            None => Ok(None),
        }
    }

    /// The work that it waits for, if that has not ended.
    pub(crate) fn pending(&self) -> Option<Arc<Ticket>> {
        self.last().ok().flatten().map(|record| record.ticket).filter(|ticket| !ticket.is_done())
    }

    /// The event happens at the end of some work, which notes the time.
    pub(crate) fn set_recorded(&self, ticket: Arc<Ticket>, time: Arc<OnceLock<Instant>>) {
        self.set_place(Place::Recorded(Record { ticket, time }));
    }

    /// The event happens when all is done that the stream was asked for so far. In a stream that is captured it marks a
    /// place in the graph; with `becomes_node` it is a node of the graph, and happens in launches.
    pub(crate) fn record(self: &Arc<Self>, stream: &Stream, becomes_node: bool) -> Result<()> {
        match stream.capture()? {
            Some(capture) if becomes_node => capture.add(stream, Action::Record(Arc::clone(self))),
            Some(capture) => {
                self.set_place(Place::Captured(Arc::downgrade(&capture), capture.last(stream)?));
                Ok(())
            }
            None => {
                let time = Arc::new(OnceLock::new());
                let ticket = stream.enqueue(Work::Record(Arc::clone(&time)), Vec::new())?;
                self.set_recorded(ticket, time);
                Ok(())
            }
        }
    }

    /// Waits for the event. One that was never recorded has happened.
    pub(crate) fn synchronize(&self) -> Result<()> {
        let last = self.last()?;
        capture::refuse_unsafe_call()?;
        if let Some(record) = last {
            record.ticket.wait();
        }
        crate::driver::check()
    }

    /// Whether the event has happened.
    pub(crate) fn query(&self) -> Result<()> {
        crate::driver::check()?;
        let last = self.last()?;
        capture::refuse_unsafe_call()?;
        match last {
            Some(record) if !record.ticket.is_done() => Err(CudaError::NOT_READY),
            _ => Ok(()),
        }
    }

    /// What the stream does next waits for the event. An event of a capture takes the stream into it; with
    /// `becomes_node` the wait is a node of the graph, for an event of the time of a launch.
    pub(crate) fn hold_up(self: &Arc<Self>, stream: &Stream, becomes_node: bool) -> Result<()> {
        let own = stream.capture()?;
        match (own, self.place()) {
            (Some(capture), _) if becomes_node => capture.add(stream, Action::Wait(Arc::clone(self))),
            (_, None) => Ok(()),
            (own, Some(Place::Captured(capture, nodes))) => {
                let capture = capture.upgrade().filter(|capture| capture.status() != Status::Ended);
                match (own, capture) {
                    (Some(own), Some(other)) if own.id != other.id => {
                        own.invalidate();
                        other.invalidate();
                        Err(CudaError::STREAM_CAPTURE_MERGE)
                    }
                    (_, Some(capture)) => capture.join(stream, &nodes),
                    (Some(own), None) => {
                        own.invalidate();
                        Err(CudaError::STREAM_CAPTURE_ISOLATION)
                    }
                    (None, None) => Err(CudaError::CAPTURED_EVENT),
                }
            }
            (Some(capture), Some(Place::Recorded(_))) => {
                capture.invalidate();
                Err(CudaError::STREAM_CAPTURE_ISOLATION)
            }
            (None, Some(Place::Recorded(record))) => {
                if !record.ticket.is_done() {
                    stream.enqueue(Work::Nothing, vec![record.ticket])?;
                }
                Ok(())
            }
        }
    }

    /// Milliseconds from this event to another.
    pub(crate) fn elapsed(&self, end: &Self) -> Result<f32> {
        let time = |event: &Self| {
            let record = event.last()?.filter(|_| event.has_time).ok_or(CudaError::INVALID_HANDLE)?;
            if !record.ticket.is_done() {
                return Err(CudaError::NOT_READY);
            }
            record.time.get().copied().ok_or(CudaError::NOT_READY)
        };
        let (start, end) = (time(self)?, time(end)?);
        let milliseconds = |duration: Duration| (duration.as_secs_f64() * 1000.0) as f32;
        Ok(match end.checked_duration_since(start) {
            Some(duration) => milliseconds(duration),
            None => -milliseconds(start - end),
        })
    }
}
