//! The processor that we run on.

use std::sync::OnceLock;

use llvm_sys::target_machine::{LLVMGetHostCPUFeatures, LLVMGetHostCPUName};

use super::take_message;

/// The processor that we run on, and what it can do, as LLVM names it.
pub(crate) fn host() -> &'static (String, String) {
    static HOST: OnceLock<(String, String)> = OnceLock::new();
    // SAFETY: both calls hand out strings that belong to us.
    HOST.get_or_init(|| unsafe { (take_message(LLVMGetHostCPUName()), take_message(LLVMGetHostCPUFeatures())) })
}
