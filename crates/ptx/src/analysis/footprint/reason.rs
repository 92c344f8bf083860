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

/// An object that is accessed.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Accessed {
    /// A variable of the kernel or the module, or its parameters, or dynamic shared memory.
    Variable(String),
    /// The n-th object of the launch.
    Object(usize),
}

/// What is wrong with an instruction, or not known of it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Cause {
    /// The access goes through a pointer that may point anywhere.
    UnknownPointer,
    /// The access may be outside of its object.
    Outside {
        /// The object.
        object: Accessed,
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
        object: Accessed,
        /// Bytes of the access.
        bytes: u32,
    },
    /// Two threads may access the same bytes.
    Conflict {
        /// The object.
        object: Accessed,
        /// Whether the threads are of different blocks.
        is_between_blocks: bool,
    },
    /// Whether two threads access the same bytes was not settled.
    NotSettled {
        /// The object.
        object: Accessed,
    },
    /// Perhaps not all threads of the block come to a barrier.
    Barrier,
    /// The instruction, or the kernel, is not understood.
    NotUnderstood(&'static str),
}

impl Reason {
    /// The reason in words, in which `name` says how objects of the launch are called.
    pub fn in_words(&self, name: impl Fn(usize) -> String) -> String {
        let site = &self.site;
        let other = self.other.as_ref().filter(|other| *other != site);
        let pair = other.map_or_else(|| site.to_string(), |other| format!("{site} and {other}"));
        let called = |object: &Accessed| match object {
            Accessed::Variable(name) => name.clone(),
            Accessed::Object(place) => name(*place),
        };
        match &self.cause {
            Cause::UnknownPointer => format!("{site} goes through a pointer that may point anywhere"),
            Cause::Outside { object, size, range: (least, most), bytes } => {
                let object = called(object);
                let start = format!("{site} may access {bytes} bytes outside of {object}, which has {size} bytes");
                // More than any index of 32 bits can make is as good as anything.
                if *least <= i128::from(i32::MIN) || *most >= i128::from(i32::MAX) {
                    format!("{start}: the offset depends on data, or on something that is not understood")
                } else {
                    format!("{start}: at offsets from {least} to {most}")
                }
            }
            Cause::Misaligned { object, bytes } => {
                let object = called(object);
                format!("{site} may access {bytes} bytes of {object} at an address that is no multiple of {bytes}")
            }
            Cause::Conflict { object, is_between_blocks } => {
                let who = if *is_between_blocks { "threads of two blocks" } else { "two threads of a block" };
                format!("{pair} may access the same bytes of {} in {who}, and nothing orders them", called(object))
            }
            Cause::NotSettled { object } => {
                let object = called(object);
                format!("whether {pair} access the same bytes of {object} in two threads takes too long to find out")
            }
            Cause::Barrier => format!("{site} may not be reached by all threads of the block"),
            Cause::NotUnderstood(what) => format!("{site} {what}"),
        }
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.in_words(|place| format!("object {place}")))
    }
}
