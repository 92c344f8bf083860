//! Whether two PTX texts are the same program, as NVIDIA's assembler sees it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use object::{Object, ObjectSection, ObjectSymbol};

/// Sections in which ptxas embeds the PTX text itself, or the command line.
///
/// With line information, `.nv_debug_ptx_txt` is the text and `.nv_debug_line_sass` maps machine code to its lines;
/// `.note.nv.tkinfo` records the command, which under `-g` has the name of the file.
const NOT_COMPARED: &[&str] = &["nv_debug_ptx_txt", "nv_debug_line_sass", "note.nv.tkinfo"];

/// The genuine assembler.
#[derive(Clone, Debug)]
pub struct Ptxas {
    path: PathBuf,
}

/// What ptxas made of a text.
#[derive(Debug)]
pub enum Assembled {
    /// The cubin.
    Cubin(Vec<u8>),
    /// It does not take the text; its first words about it.
    Refused(String),
}

impl Ptxas {
    /// `ptxas` at a path.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The one that `WARPGRIND_PTXAS` names, or the first on the `PATH`.
    pub fn find() -> Option<Self> {
        if let Some(path) = std::env::var_os("WARPGRIND_PTXAS") {
            return Some(Self::new(path));
        }
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path).map(|dir| dir.join("ptxas")).find(|path| path.is_file()).map(Self::new)
    }

    /// Assembles the text for the target that it names. `scratch` is a directory for this call alone.
    pub fn assemble(&self, text: &str, module: &ptx::ir::Module, scratch: &Path) -> Result<Assembled> {
        let input = scratch.join("input.ptx");
        let output = scratch.join("output.cubin");
        std::fs::write(&input, text).with_context(|| format!("writing {}", input.display()))?;
        let _ = std::fs::remove_file(&output);
        let architecture = module.architecture().unwrap_or("sm_75");
        let is_debug = module.target.iter().any(|&word| module.text(word) == "debug");
        let mut command = Command::new(&self.path);
        // The same names in both calls: some sections record them.
        command.current_dir(scratch).args(["-arch", architecture, "-o", "output.cubin", "input.ptx"]);
        if needs_linking(module) {
            command.arg("-c");
        }
        if is_debug {
            command.arg("-g");
        } else if !module.files.is_empty() {
            command.arg("-lineinfo");
        }
        let result = command.output().with_context(|| format!("running {}", self.path.display()))?;
        if !result.status.success() {
            let stderr = String::from_utf8_lossy(&result.stderr);
            return Ok(Assembled::Refused(stderr.lines().next().unwrap_or("no message").to_owned()));
        }
        Ok(Assembled::Cubin(std::fs::read(&output).context("reading the cubin")?))
    }
}

/// Whether the module calls or names something that another module defines.
fn needs_linking(module: &ptx::ir::Module) -> bool {
    use ptx::types::Linkage;
    // The system calls of the CUDA runtime are known to ptxas.
    const SYSTEM_CALLS: &[&str] = &["vprintf", "malloc", "free", "__assertfail"];
    module.functions.values().any(|function| {
        let name = module.text(function.name);
        function.body.is_none()
            && !SYSTEM_CALLS.contains(&name)
            && module.function(name).is_none_or(|id| module.functions[id].body.is_none())
    }) || module
        .globals
        .values()
        .any(|variable| variable.linkage == Some(Linkage::Extern) && variable.space != ptx::types::Space::Shared)
}

/// Says in what two cubins differ; nothing if they do not.
pub fn difference(left: &[u8], right: &[u8]) -> Result<Option<String>> {
    if left == right {
        return Ok(None);
    }
    let (left, right) = (sections(left)?, sections(right)?);
    for (name, content) in &left {
        match right.get(name) {
            None => return Ok(Some(format!("section {} is missing", name.0))),
            Some(other) if other != content => return Ok(Some(format!("section {} differs", name.0))),
            Some(_) => {}
        }
    }
    Ok(right.keys().find(|name| !left.contains_key(name)).map(|name| format!("section {} is new", name.0)))
}

/// Contents by name; the number tells sections of the same name apart.
fn sections(cubin: &[u8]) -> Result<BTreeMap<(String, usize), Vec<u8>>> {
    let file = object::File::parse(cubin).context("reading a cubin")?;
    let is_relocatable = file.kind() == object::ObjectKind::Relocatable;
    let mut sections = BTreeMap::new();
    for section in file.sections() {
        let name = section.name().context("reading the name of a section")?;
        if NOT_COMPARED.iter().any(|skipped| name.contains(skipped)) {
            continue;
        }
        let nth = (0..).find(|&nth| !sections.contains_key(&(name.to_owned(), nth))).expect("there is a free number");
        let mut content = if is_reserved_memory(name) {
            section.size().to_le_bytes().to_vec()
        } else {
            section.data().context("reading a section")?.to_owned()
        };
        if is_relocatable {
            content = match name {
                ".strtab" | ".shstrtab" => stable_names(&content),
                ".symtab" => symbols(&file)?,
                _ => content,
            };
        } else {
            content.extend_from_slice(&section.size().to_le_bytes());
        }
        sections.insert((name.to_owned(), nth), content);
    }
    if sections.is_empty() {
        bail!("a cubin without sections");
    }
    Ok(sections)
}

/// Whether a section only reserves memory of the device: nothing of it is in the file, although its type is not the one
/// by which ELF says so.
fn is_reserved_memory(name: &str) -> bool {
    name.starts_with(".nv.shared.") || name.starts_with(".nv.local.") || name == ".nv.global"
}

/// A string table in which names do not depend on how the text was laid out.
fn stable_names(table: &[u8]) -> Vec<u8> {
    let mut names: Vec<String> =
        table.split(|&byte| byte == 0).map(|name| stable_name(&String::from_utf8_lossy(name)).to_owned()).collect();
    names.sort();
    names.dedup();
    names.join("\0").into_bytes()
}

/// The symbols with their stable names.
fn symbols(file: &object::File<'_>) -> Result<Vec<u8>> {
    let mut text = String::new();
    for symbol in file.symbols() {
        let name = stable_name(symbol.name().context("reading the name of a symbol")?);
        let section = symbol.section_index();
        text += &format!(
            "{name} {:#x} {} {:?} {:?} {section:?}\n",
            symbol.address(),
            symbol.size(),
            symbol.kind(),
            symbol.scope()
        );
    }
    Ok(text.into_bytes())
}

/// In relocatable cubins, ptxas makes some names unique with a number that depends on the layout of the text: the
/// section with the text by a checksum, variables of functions (`$___ZZ4kerneliE5table__333`) by a count of tokens.
fn stable_name(name: &str) -> &str {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    if stem.ends_with("nv_debug_ptx_txt.") || (name.starts_with('$') && stem.ends_with("__")) { stem } else { name }
}
