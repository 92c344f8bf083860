//! Recording events in streams, and waiting for them, on the host and in streams.

use std::sync::{Arc, OnceLock};

use super::event::{Event, Place};
use super::graph::Action;
use super::stream::Stream;
use super::work::Work;
use super::{capture, context};
use crate::driver;
use crate::error::{CudaError, Result};

/// Makes an event.
pub(crate) fn create(has_time: bool) -> Result<Arc<Event>> {
    Ok(Event::create(has_time, context::require()?.device()))
}

/// The event happens when all is done that the stream was asked for so far. In a stream that is captured it marks a
/// place in the graph; with `becomes_node` it is a node of the graph, and happens in launches.
pub(crate) fn record(event: &Arc<Event>, stream: &Stream, becomes_node: bool) -> Result<()> {
    if event.device != stream.reach()?.device {
        return Err(CudaError::INVALID_HANDLE);
    }
    match stream.capture()? {
        Some(capture) if becomes_node => capture.add(stream.id, Action::Record(Arc::clone(event))),
        Some(capture) => {
            event.set_captured(capture.id, capture.last(stream.id)?);
            Ok(())
        }
        None => {
            let time = Arc::new(OnceLock::new());
            let ticket = stream.enqueue(Work::Record(Arc::clone(&time)), Vec::new())?;
            event.set_recorded(ticket, time);
            Ok(())
        }
    }
}

/// Waits for the event. One that was never recorded has happened.
pub(crate) fn synchronize(event: &Event) -> Result<()> {
    let last = event.last()?;
    capture::refuse_unsafe_call()?;
    if let Some(record) = last {
        record.ticket.wait();
    }
    driver::check()
}

/// Whether the event has happened.
pub(crate) fn query(event: &Event) -> Result<()> {
    driver::check()?;
    let last = event.last()?;
    capture::refuse_unsafe_call()?;
    match last {
        Some(record) if !record.ticket.query() => Err(CudaError::NOT_READY),
        _ => Ok(()),
    }
}

/// What the stream does next waits for the event. An event of a capture takes the stream into it; with
/// `becomes_node` the wait is a node of the graph, for an event of the time of a launch.
pub(crate) fn hold_up(event: &Arc<Event>, stream: &Stream, becomes_node: bool) -> Result<()> {
    let own = stream.capture()?;
    match (own, event.place()) {
        (Some(capture), _) if becomes_node => capture.add(stream.id, Action::Wait(Arc::clone(event))),
        (_, None) => Ok(()),
        (own, Some(Place::Captured(capture, nodes))) => match (own, capture::find(capture)) {
            (Some(own), Some(other)) if own.id != other.id => {
                own.invalidate();
                other.invalidate();
                Err(CudaError::STREAM_CAPTURE_MERGE)
            }
            (_, Some(capture)) => stream.join_capture(capture, &nodes),
            (Some(own), None) => {
                own.invalidate();
                Err(CudaError::STREAM_CAPTURE_ISOLATION)
            }
            (None, None) => Err(CudaError::CAPTURED_EVENT),
        },
        (Some(capture), Some(Place::Recorded(_))) => {
            capture.invalidate();
            Err(CudaError::STREAM_CAPTURE_ISOLATION)
        }
        (None, Some(Place::Recorded(record))) => {
            if record.ticket.matters() {
                stream.enqueue(Work::Nothing, vec![record.ticket])?;
            }
            Ok(())
        }
    }
}
