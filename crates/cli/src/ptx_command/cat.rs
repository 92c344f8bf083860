//! `warpgrind ptx cat`.

use anyhow::Result;
use serde::Serialize;

use super::{Common, for_each_source};
use crate::{CommandStatus, output};

#[derive(Serialize)]
struct Printed<'a> {
    file: &'a str,
    text: &'a str,
}

pub(super) fn run(common: &Common) -> Result<CommandStatus> {
    for_each_source(&common.path, |source| {
        let text = ptx::print(&source.parsed.module);
        if common.json {
            output::print_json(&Printed { file: &source.name, text: &text })
        } else {
            output::print(&text)
        }
    })
}
