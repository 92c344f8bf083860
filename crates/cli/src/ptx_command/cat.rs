//! `warpgrind ptx cat`.

use anyhow::Result;
use serde::Serialize;

use super::{Common, for_each_source};
use crate::{Verdict, output};

#[derive(Serialize)]
struct Printed<'a> {
    file: &'a str,
    text: &'a str,
}

pub(super) fn run(common: &Common) -> Result<Verdict> {
    for_each_source(&common.path, |source| {
        let text = ptx::print(&source.parsed.module);
        if common.json {
            output::print_json(&Printed { file: &source.name, text: &text })
        } else {
            output::print(&text)
        }
    })
}
