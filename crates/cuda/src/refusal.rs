//! What the program asks for and Warpgrind cannot do: the user is told, and no report calls the run clean.

use crate::tooling;

/// Something was asked for that is not done.
pub(crate) fn refuse(sentence: &str) {
    crate::log::say(sentence);
    not_checked("", sentence);
}

/// A kernel was to be launched that does not run.
pub(crate) fn refuse_kernel(kernel: &str, reason: &str) {
    crate::log::say(&format!("kernel `{}`: {reason}", report::demangled(kernel)));
    not_checked(kernel, &reason.replace('\n', "; "));
}

/// A kernel does not run, for a reason that the user was told.
pub(crate) fn not_checked(kernel: &str, reason: &str) {
    if let Some(tool_host) = tooling::get() {
        tool_host.could_not_run(kernel, reason);
    }
}
