//! Why something is not proved, in words.

use super::linear::Range;
use super::site::Site;

/// Why something is not proved.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Reason {
    /// The instruction.
    pub site: Site,
    /// The other one, of a pair of accesses.
    pub other: Option<Site>,
    /// What is wrong with it.
    pub cause: Cause,
}

/// What is wrong with an instruction, or not known of it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Cause {
    /// The access goes through a pointer that may point anywhere.
    UnknownPointer,
    /// The access may be outside of its object.
    Outside {
        /// The object.
        object: String,
        /// Its size in bytes.
        size: u64,
        /// The least and the greatest offset that is not excluded.
        range: Range,
        /// Bytes of the access.
        bytes: u32,
    },
    /// The access may be misaligned.
    Misaligned {
        /// The object.
        object: String,
        /// Bytes of the access.
        bytes: u32,
    },
    /// Two threads may access the same bytes.
    Conflict {
        /// The object.
        object: String,
        /// Whether the threads are of different blocks.
        is_between_blocks: bool,
    },
    /// Whether two threads access the same bytes was not settled.
    NotSettled {
        /// The object.
        object: String,
    },
    /// Perhaps not all threads of the block come to a barrier.
    Barrier,
    /// The instruction, or the kernel, is not understood.
    NotUnderstood(&'static str),
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let site = &self.site;
        match (&self.cause, &self.other) {
            (Cause::UnknownPointer, _) => write!(f, "{site} goes through a pointer that may point anywhere"),
            (Cause::Outside { object, size, range, bytes }, _) => {
                write!(f, "{site} may access {bytes} bytes outside of {object}, which has {size}: ")?;
                match range {
                    (least, most) if *least < i128::from(i32::MIN) || *most > i128::from(u32::MAX) => {
                        write!(f, "the offset depends on data or is not understood")
                    }
                    (least, most) => write!(f, "at offsets from {least} to {most}"),
                }
            }
            (Cause::Misaligned { object, bytes }, _) => {
                write!(f, "{site} may access {bytes} bytes of {object} at an offset that is no multiple of {bytes}")
            }
            (Cause::Conflict { object, is_between_blocks }, other) => {
                let who = if *is_between_blocks { "threads of two blocks" } else { "two threads of a block" };
                match other {
                    Some(other) if other != site => {
                        write!(f, "{site} and {other} may access the same bytes of {object} in {who}, in no order")
                    }
                    _ => write!(f, "{site} may access the same bytes of {object} in {who}, in no order"),
                }
            }
            (Cause::NotSettled { object }, other) => {
                write!(f, "whether {site}")?;
                if let Some(other) = other.as_ref().filter(|other| *other != site) {
                    write!(f, " and {other}")?;
                }
                write!(f, " access the same bytes of {object} in two threads takes too long to find out")
            }
            (Cause::Barrier, _) => write!(f, "{site} may not be reached by all threads of the block"),
            (Cause::NotUnderstood(what), _) => write!(f, "{site} {what}"),
        }
    }
}
