//! Running a decoded program.

mod access;
mod atomic;
mod barrier;
mod call;
mod collective;
mod exchange;
mod host;
mod lane;
mod matrix;
mod mbarrier;
mod mbarrier_object;
mod operand;
mod pure;
mod schedule;
mod special;
mod thread;

pub(crate) use schedule::run;
pub(crate) use thread::Grid;
