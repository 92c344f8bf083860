//! `effects`: what the opcode table says of each instruction. The module must verify.

use anyhow::{Result, bail};

use crate::testfile::TestFile;

pub(super) fn run(file: &TestFile) -> Result<String> {
    let module = super::parse_clean(file)?;
    if let Some(diagnostic) = ptx::verify(&module).first() {
        bail!("{}", diagnostic.render("input", &file.input, &module.lines, false));
    }
    Ok(ptx::describe::effects(&module))
}
