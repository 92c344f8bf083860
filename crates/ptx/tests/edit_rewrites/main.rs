//! Edits of small texts, with the text that comes of them.

mod clone;
mod declare;
mod inline;
mod insert;
mod modify;
mod split;
mod support;
