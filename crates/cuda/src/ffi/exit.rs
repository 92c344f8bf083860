//! What is done when the process ends in an orderly way.

/// Called by the loader when the library is unloaded, after the destructors of the program: what these free was freed.
#[used]
#[unsafe(link_section = ".fini_array")]
static AT_EXIT: extern "C" fn() = {
    extern "C" fn at_exit() {
        let _restore = crate::process::device_access::allow();
        // Nobody is left who could be told.
        let _ = std::panic::catch_unwind(crate::tooling::finish);
    }
    at_exit
};
