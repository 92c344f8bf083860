//! Campaigns: many trials, each a pure function of a manifest and a number, run anywhere in any order.
//!
//! - [`Manifest`]: what is tried, with content hashes of all that its outcome depends on. It cuts the trials into [`Part`]s, and
//!   these into shards.
//! - [`Row`]: a trial and what came of it. [`encode`] and [`decode`] make Parquet of the rows of a part, the same bytes whoever
//!   does it.
//! - [`Store`]: the directory in which shards leave their parts. [`check()`] says what is missing, doubled, or disagrees.
//! - [`Summary`]: the rows counted by kernel, model and variant, with [`bounds`]; as text, as JSON, and as a page.
//! - [`Launcher`]: files for the schedulers that run the shards.
//!
//! ```
//! # let text = include_str!("../tests/manifest.json");
//! let manifest = campaign::Manifest::parse(text.as_bytes())?;
//! // The shards of a campaign are all its parts, each once.
//! let parts: Vec<u64> = (1..=3).flat_map(|number| manifest.shard(number, 3)).collect();
//! assert!(parts.into_iter().eq(0..manifest.parts()));
//! # Ok::<(), campaign::ManifestError>(())
//! ```
//!
//! It runs no trials: the command does. Manifests and parts may come from anywhere, so reading them is bounded.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod bounds;
mod chart;
mod check;
mod hash;
mod launcher;
mod manifest;
mod page;
mod parquet_file;
mod row;
mod store;
mod summary;

pub use check::{Check, check};
pub use hash::{hash_bytes, hash_file};
pub use launcher::{Container, Launcher};
pub use manifest::{Build, Golden, Input, Manifest, ManifestError, Part, Program, Stratum};
pub use page::page;
pub use parquet_file::{Columns, PartError, decode, decode_columns, encode};
pub use row::Row;
pub use store::{Store, StoreError, Stored, Written};
pub use summary::{Cell, Summary};
