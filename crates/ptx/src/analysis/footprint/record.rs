//! What an access was found to touch.

use std::rc::Rc;

use super::code::Access;
use super::linear::Linear;
use super::path::Path;
use super::value::ObjectId;

/// An access of all threads that come to it.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub site: usize,
    /// The object and the offset in it; nothing if it may be anywhere.
    pub address: Option<(ObjectId, Rc<Linear>)>,
    pub access: Access,
    /// How many barriers the thread has passed.
    pub interval: Rc<Linear>,
    pub path: Rc<Path>,
    /// Whether all threads of which the path holds make it.
    pub is_certain: bool,
}
