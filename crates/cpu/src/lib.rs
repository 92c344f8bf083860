//! The CPU device.
#![allow(dead_code)]
mod emit;
mod llvm;
mod lower;
mod options;
mod runtime;
