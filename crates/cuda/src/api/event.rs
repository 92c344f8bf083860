//! Events.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::error::{CudaError, Result};
use crate::handle::{Handle, Handles};
use crate::queue::Ticket;

/// An event: a place in a stream.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) handle: Handle<Event>,
    has_time: bool,
    /// The number of the device that it was made on, in whose streams it is recorded.
    pub(super) device: usize,
    place: Mutex<Option<Place>>,
}

/// Where an event was put last.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// Into a stream.
    Recorded(Record),
    /// Into a graph that was captured, by the number of the capture, after some nodes.
    Captured(u64, Vec<usize>),
}

/// The work at whose end an event happens, and when that was.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) ticket: Arc<Ticket>,
    time: Arc<OnceLock<Instant>>,
}

/// Events that programs made.
pub(crate) static EVENTS: Handles<Event> = Handles::new("an event");

impl Event {
    /// Makes an event.
    pub(super) fn create(has_time: bool, device: usize) -> Arc<Self> {
        let event = Arc::new(Self { handle: Handle::new(), has_time, device, place: Mutex::default() });
        EVENTS.insert(&event.handle, Arc::clone(&event));
        event
    }

    pub(super) fn place(&self) -> Option<Place> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_place(&self, place: Place) {
        *self.place.lock().unwrap_or_else(PoisonError::into_inner) = Some(place);
    }

    /// Where it was put into a stream. An error if it was captured since: then it never happens.
    pub(super) fn last(&self) -> Result<Option<Record>> {
        match self.place() {
            Some(Place::Recorded(record)) => Ok(Some(record)),
            Some(Place::Captured(..)) => Err(CudaError::CAPTURED_EVENT),
            None => Ok(None),
        }
    }

    /// The work that it waits for, if that [matters](Ticket::matters).
    pub(crate) fn last_work(&self) -> Option<Arc<Ticket>> {
        self.last().ok().flatten().map(|record| record.ticket).filter(|ticket| ticket.matters())
    }

    /// The event happens at the end of some work, which notes the time.
    pub(crate) fn set_recorded(&self, ticket: Arc<Ticket>, time: Arc<OnceLock<Instant>>) {
        self.set_place(Place::Recorded(Record { ticket, time }));
    }

    /// The event marks a place in a graph that is captured, after some nodes.
    pub(super) fn set_captured(&self, capture: u64, nodes: Vec<usize>) {
        self.set_place(Place::Captured(capture, nodes));
    }

    /// Milliseconds from this event to another.
    pub(crate) fn elapsed(&self, end: &Self) -> Result<f32> {
        if self.device != end.device {
            return Err(CudaError::INVALID_HANDLE);
        }
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
