//! What NVIDIA's assembler says of a module, if there is one: `WARPGRIND_STAND_IN_PTXAS` is its path.

use std::collections::HashMap;
use std::io::Write;
use std::process::{Command, Stdio};

use ptx::ir::Module;

/// What a kernel uses.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Facts {
    pub(crate) registers: u32,
    pub(crate) shared: Option<u32>,
}

impl Facts {
    /// The most threads of a block: a multiprocessor has 65,536 registers, and gives them to warps in pieces of 256.
    pub(crate) fn max_threads(self) -> u32 {
        let of_warp = (self.registers * 32).next_multiple_of(256).max(1);
        (65536 / of_warp * 32).min(1024)
    }
}

/// What the driver assembles for: the GPU that it has, or what only a later one of its kind takes (`sm_90a`).
fn arch(target: &str) -> String {
    let capability =
        std::env::var("WARPGRIND_STAND_IN_CAPABILITY").ok().and_then(|text| text.parse().ok()).unwrap_or(90);
    let number = target.trim_start_matches("sm_");
    match number.parse::<u32>() {
        Ok(number) if number <= capability => format!("sm_{capability}"),
        _ => target.to_owned(),
    }
}

/// Assembles a module: what each kernel uses, or what is wrong.
pub(crate) fn facts(text: &str, module: &Module) -> Result<HashMap<String, Facts>, String> {
    let Some(ptxas) = std::env::var_os("WARPGRIND_STAND_IN_PTXAS") else { return Ok(HashMap::new()) };
    let arch = arch(module.target.first().map_or("", |&name| module.text(name)));
    let mut child = Command::new(ptxas)
        .args(["-v", "-arch", &arch, "-o", "/dev/null", "/dev/stdin"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("the assembler cannot be started: {error}"))?;
    let mut stdin = child.stdin.take().expect("it is piped");
    let written = text.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(written.as_bytes()));
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    let _ = writer.join();
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(said.into_owned());
    }
    Ok(read(&said))
}

/// `ptxas info : Compiling entry function 'k' for 'sm_80'`, then `Used 10 registers, …, 8 bytes smem`.
fn read(said: &str) -> HashMap<String, Facts> {
    let mut facts = HashMap::new();
    let mut kernel = String::new();
    for line in said.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            kernel = rest.split('\'').next().unwrap_or_default().to_owned();
        } else if let Some((_, rest)) = line.split_once("Used ") {
            let number = |part: &str| part.split_whitespace().next().and_then(|word| word.parse().ok());
            let find = |unit: &str| rest.split(", ").find(|part| part.contains(unit)).and_then(number);
            let registers = find("registers").unwrap_or(0);
            facts.insert(kernel.clone(), Facts { registers, shared: Some(find("bytes smem").unwrap_or(0)) });
        }
    }
    facts
}
