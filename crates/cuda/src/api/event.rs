//! Events.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

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
    record: Mutex<Option<Record>>,
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
    let event = Arc::new(Event { handle: Handle::new(), has_time, record: Mutex::default() });
    EVENTS.insert(&event.handle, Arc::clone(&event));
    Ok(event)
}

impl Event {
    fn last(&self) -> Option<Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The event happens when all is done that the stream was asked for so far.
    pub(crate) fn record(&self, stream: &Stream) -> Result<()> {
        let time = Arc::new(OnceLock::new());
        let ticket = stream.push(Work::Record(Arc::clone(&time)))?;
        *self.record.lock().unwrap_or_else(PoisonError::into_inner) = Some(Record { ticket, time });
        Ok(())
    }

    /// Waits for the event. One that was never recorded has happened.
    pub(crate) fn synchronize(&self) -> Result<()> {
        if let Some(record) = self.last() {
            record.ticket.wait();
        }
        crate::driver::check()
    }

    /// Whether the event has happened.
    pub(crate) fn query(&self) -> Result<()> {
        crate::driver::check()?;
        match self.last() {
            Some(record) if !record.ticket.is_done() => Err(CudaError::NOT_READY),
            _ => Ok(()),
        }
    }

    /// What the stream does next waits for the event.
    pub(crate) fn hold_up(&self, stream: &Stream) -> Result<()> {
        if let Some(record) = self.last().filter(|record| !record.ticket.is_done()) {
            stream.push_after(Work::Nothing, vec![record.ticket])?;
        }
        Ok(())
    }

    /// Milliseconds from this event to another.
    pub(crate) fn elapsed(&self, end: &Self) -> Result<f32> {
        let time = |event: &Self| {
            let record = event.last().filter(|_| event.has_time).ok_or(CudaError::INVALID_HANDLE)?;
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
