//! `cat`: what is printed after parsing. Comments go, and the layout is ours.

use anyhow::Result;

use crate::testfile::TestFile;

pub(super) fn run(file: &TestFile) -> Result<String> {
    let module = super::parse_clean(file)?;
    let printed = ptx::print(&module);
    let again = ptx::print(&ptx::parse(&printed).module);
    anyhow::ensure!(printed == again, "printing, parsing and printing again gives another text:\n{again}");
    Ok(printed)
}
