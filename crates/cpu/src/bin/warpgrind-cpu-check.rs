//! Says what of a PTX module the CPU device cannot run. PTX comes on standard input; each line of the output is the name
//! of a kernel, a tab, and a reason.
//!
//! `warpgrind doctor` asks this program, so that the command itself starts without LLVM, and survives if LLVM does not.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "this is a command")]

use std::io::{Read, Write};

fn main() -> std::io::Result<()> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_to_end(&mut bytes)?;
    let (_, parsed) = ptx::parse_bytes(&bytes);
    let calls = ptx::analysis::CallGraph::of(&parsed.module);
    let mut stdout = std::io::stdout().lock();
    for (id, function) in parsed.module.functions.iter().filter(|(_, function)| function.is_entry()) {
        let name = ptx::diagnostic::printable(parsed.module.text(function.name));
        for reason in cpu::unsupported(&parsed.module, &calls, id, &cpu::Options::default()) {
            writeln!(stdout, "{name}\t{}", ptx::diagnostic::printable(&reason.to_string()))?;
        }
    }
    Ok(())
}
