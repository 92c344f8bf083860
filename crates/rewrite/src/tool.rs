//! What a tool is.

use std::fmt::Debug;

use ptx::ir::Module;

use crate::cursor::Cursor;
use crate::device_code::DeviceCode;
use crate::error::RewriteError;
use crate::event::{Access, Sync};
use crate::plan::LaunchPlan;

/// A tool: it rewrites what kernels do. Every hook does nothing unless a tool says otherwise.
///
/// For each function, [`Tool::access`] and [`Tool::sync`] are called in the order of the text, for the instructions that
/// the module had before any tool changed it.
pub trait Tool: Debug + Send + std::marker::Sync {
    /// The name, a word: `memcheck`.
    fn name(&self) -> &'static str;

    /// Functions and variables that the tool needs on the device.
    fn device_code(&self) -> Option<DeviceCode> {
        None
    }

    /// Changes a module before any instruction of it is looked at: kernels that are copied, variables that grow.
    fn module(&self, _module: &mut Module) -> Result<(), RewriteError> {
        Ok(())
    }

    /// An access to memory, which is about to happen.
    fn access(&self, _at: &mut Cursor<'_, '_>, _access: &Access) {}

    /// A barrier, a fence, or a synchronisation of lanes, which is about to happen.
    fn sync(&self, _at: &mut Cursor<'_, '_>, _sync: &Sync) {}

    /// A kernel is about to be launched.
    fn launch(&self, _plan: &mut LaunchPlan) {}
}
