//! `analyses`: blocks with their dominators, loops and live registers, in words.

use anyhow::Result;

use crate::testfile::TestFile;

pub(super) fn run(file: &TestFile) -> Result<String> {
    let module = super::parse_clean(file)?;
    Ok(ptx::describe::analyses(&module))
}
