//! The run that this process belongs to, as the command describes it in the environment.

use std::ffi::CString;
use std::os::unix::ffi::OsStringExt;
use std::sync::OnceLock;

use settings::Settings;

use crate::{identity, message};

/// What we have to know of a run.
pub(crate) struct Run {
    /// The path of `libwarpgrind_cuda.so`.
    pub(crate) library: CString,
    /// Whether programs that the program starts belong to the run, too.
    pub(crate) traces_children: bool,
}

/// The run that this process belongs to. The first call, which is made when we are loaded, reads the environment; later
/// ones allocate no memory, and do not depend on what the program makes of its environment.
pub(crate) fn get() -> Option<&'static Run> {
    static RUN: OnceLock<Option<Run>> = OnceLock::new();
    RUN.get_or_init(read).as_ref()
}

fn read() -> Option<Run> {
    match Settings::decode(identity::variable(c"WARPGRIND_SETTINGS")?.to_bytes()) {
        Ok(settings) => {
            let library = CString::new(settings.library?.into_os_string().into_vec()).ok()?;
            Some(Run { library, traces_children: settings.trace_children })
        }
        Err(error) => {
            // Both copies of ours read it, and one says it.
            if !identity::is_in_program() {
                message::say(&[error.to_string().as_bytes(), b", so the program runs without Warpgrind"]);
            }
            None
        }
    }
}
