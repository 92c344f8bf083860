//! Calls of the program that return an error.

use std::cell::Cell;

use report::{Finding, Line, Severity};
use settings::ApiErrors;

use super::{ToolHost, stack};
use crate::error::CudaError;

/// A call that failed, and how often it did.
#[derive(Debug)]
pub(super) struct FailedCall {
    /// The number of the finding.
    finding: usize,
    count: u64,
    /// How much of it the journal has.
    said: u64,
}

/// More different ones are not reported.
const MOST: usize = 1000;

thread_local! {
    /// Whether something was found in the call that this thread is in: then the error is no news.
    static HAS_FOUND: Cell<bool> = const { Cell::new(false) };
}

/// This thread has found something.
pub(super) fn note_finding() {
    HAS_FOUND.set(true);
}

/// Answers that are no errors: work goes on, what was asked for is so already, the process ends.
const ANSWERS: [u32; 7] = [
    CudaError::NOT_READY.code(),
    CudaError::PEER_ACCESS_ALREADY_ENABLED.code(),
    CudaError::DEINITIALIZED.code(),
    CudaError::HOST_MEMORY_ALREADY_REGISTERED.code(),
    CudaError::CONTEXT_ALREADY_IN_USE.code(),
    // What we do not have is not the program's mistake.
    CudaError::NOT_SUPPORTED.code(),
    CudaError::NO_BINARY_FOR_GPU.code(),
];

/// Functions by which programs ask whether there is something.
const QUESTIONS: [&str; 6] = [
    "cuGetProcAddress",
    "cudaGetDriverEntryPoint",
    "cuModuleGetGlobal",
    "cuLibraryGetGlobal",
    "cuCtxGetDevice",
    "cudaDeviceCanAccessPeer",
];

impl ToolHost {
    /// A call begins.
    pub(crate) fn on_call(&self) {
        HAS_FOUND.set(false);
    }

    /// A call ends with an error, of which `what` is the name and the meaning.
    pub(crate) fn on_failed_call(&self, function: &'static str, error: CudaError, what: impl FnOnce() -> String) {
        let is_answer =
            ANSWERS.contains(&error.code()) || QUESTIONS.iter().any(|question| function.starts_with(question));
        if self.settings.api_errors == ApiErrors::No
            || is_answer
            || HAS_FOUND.get()
            || self.process != std::process::id()
        {
            return;
        }
        let (stack, place) = stack::capture_with_number(self.settings.callers);
        let mut state = self.services.state();
        // What could not be loaded cannot be launched either.
        if !state.not_run.is_empty() && function.contains("Launch") {
            return;
        }
        if let Some(call) = state.failed_calls.get_mut(&(function, error.code(), place)) {
            call.count += 1;
            // Seldom, because a program may try for ever.
            if call.count.is_power_of_two() {
                let again = Line::Again(call.finding, call.count - call.said);
                call.said = call.count;
                self.services.write(&again);
            }
            return;
        }
        if state.failed_calls.len() >= MOST {
            return;
        }
        drop(state);
        let frames = stack.frames();
        if self.settings.api_errors == ApiErrors::Explicit && frames.frames.first().is_some_and(is_of_library) {
            return;
        }
        let message = format!("{} returned {}", function.trim_start_matches("__"), what());
        let finding = Finding {
            help: Some("look at what each call returns; --report-api-errors no leaves these out".to_owned()),
            stack: Some(frames),
            ..Finding::new(self.first, Finding::API_ERROR, Severity::Warning, message)
        };
        let number = self.services.write_finding(finding);
        let call = FailedCall { finding: number, count: 1, said: 1 };
        self.services.state().failed_calls.insert((function, error.code(), place), call);
    }

    /// Says how often calls have failed, when the process ends.
    pub(super) fn report_failed_calls(&self) {
        let mut state = self.services.state();
        let mut lines = Vec::new();
        for call in state.failed_calls.values_mut().filter(|call| call.count > call.said) {
            lines.push(Line::Again(call.finding, call.count - call.said));
            call.said = call.count;
        }
        drop(state);
        lines.iter().for_each(|line| self.services.write(line));
    }
}

/// Whether a call was made by a library of NVIDIA's.
fn is_of_library(frame: &report::Frame) -> bool {
    const PREFIXES: [&str; 5] = ["libcu", "libnv", "libnpp", "libnccl", "libaccinj"];
    let report::Frame::Code { object, .. } = frame else { return false };
    let name = object.rsplit('/').next().unwrap_or_default();
    PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}
