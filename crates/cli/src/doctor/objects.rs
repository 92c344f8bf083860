//! The libraries that a program needs, found as the loader finds them but without running anything.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use program::Elf;
use program::elf::Dynamic;

/// A program and what it needs.
pub(super) struct Objects {
    /// The program first.
    pub(super) found: Vec<PathBuf>,
    /// Names of what is not there.
    pub(super) missing: Vec<String>,
}

/// More libraries than any program has.
const MAX_OBJECTS: usize = 2000;

/// A program or library and all that it needs; CUDA's own libraries, in whose place ours are, are left out.
pub(super) fn of(program: &Path) -> Result<Objects> {
    let system = system_directories();
    let mut objects = Objects { found: vec![program.to_owned()], missing: Vec::new() };
    let mut seen = BTreeSet::new();
    let mut next = 0;
    // What is found is looked at in turn, and what it needs is put at the end.
    while next < objects.found.len() && next < MAX_OBJECTS {
        let path = objects.found[next].clone();
        next += 1;
        let dynamic = match dynamic(&path) {
            Ok(dynamic) => dynamic,
            Err(error) if next == 1 => return Err(error),
            Err(_) => continue,
        };
        for name in &dynamic.needed {
            let is_ours = name.starts_with("libcuda.so") || name.starts_with("libcudart.so");
            if is_ours || !seen.insert(name.clone()) {
                continue;
            }
            match find(name, &path, &dynamic, &system) {
                Some(found) => objects.found.push(found),
                None => objects.missing.push(name.clone()),
            }
        }
    }
    Ok(objects)
}

fn dynamic(path: &Path) -> Result<Dynamic> {
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let elf = Elf::read(&file).with_context(|| format!("cannot read {}", path.display()))?;
    elf.dynamic().with_context(|| format!("cannot read {}", path.display()))
}

/// In the directories that the object names, that `LD_LIBRARY_PATH` names, and that the system has.
fn find(name: &str, needed_by: &Path, dynamic: &Dynamic, system: &[PathBuf]) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(|path| path.is_file());
    }
    let origin = needed_by.parent().unwrap_or(Path::new("/")).to_string_lossy().into_owned();
    let origin = if origin.is_empty() { ".".to_owned() } else { origin };
    let run_paths = dynamic
        .run_paths
        .iter()
        .map(|path| PathBuf::from(path.replace("${ORIGIN}", &origin).replace("$ORIGIN", &origin)));
    let environment = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let environment: Vec<PathBuf> =
        std::env::split_paths(&environment).filter(|path| !path.as_os_str().is_empty()).collect();
    let directories = run_paths.chain(environment).chain(system.iter().cloned());
    directories.map(|directory| directory.join(name)).find(|path| path.is_file())
}

/// What `/etc/ld.so.conf` names, and what the loader looks through in any case.
fn system_directories() -> Vec<PathBuf> {
    let mut files = vec![PathBuf::from("/etc/ld.so.conf")];
    if let Ok(entries) = fs::read_dir("/etc/ld.so.conf.d") {
        let mut more: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        more.sort();
        files.extend(more);
    }
    let texts = files.iter().filter_map(|path| fs::read_to_string(path).ok());
    let mut directories: Vec<PathBuf> = texts
        .flat_map(|text| {
            text.lines().map(str::trim).filter(|line| line.starts_with('/')).map(PathBuf::from).collect::<Vec<_>>()
        })
        .collect();
    directories.extend(
        ["/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"]
            .map(PathBuf::from),
    );
    directories
}
