//! Reading PTX files, directories of them, and standard input.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use ptx::Parsed;

/// A text with its name in messages.
pub(crate) struct Source {
    /// The path, or `standard input`.
    pub(crate) name: String,
    /// The text; what is not UTF-8 is replaced.
    pub(crate) text: String,
    /// What came of it.
    pub(crate) parsed: Parsed,
}

/// The files to read: `-` for standard input, a file whatever it is called, or all `.ptx` files below a directory.
pub(crate) fn find(path: &Path) -> Result<Vec<PathBuf>> {
    if path.as_os_str() == "-" {
        return Ok(vec![path.to_owned()]);
    }
    let kind = std::fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?;
    if !kind.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    search(path, &mut files)?;
    files.sort();
    if files.is_empty() {
        bail!("there is no .ptx file below {}; name the file itself if it is called otherwise", path.display());
    }
    Ok(files)
}

/// Links to directories are not followed: they may form a circle.
fn search(directory: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let entries = std::fs::read_dir(directory).with_context(|| format!("cannot read {}", directory.display()))?;
    for entry in entries {
        let entry = entry.with_context(|| format!("cannot read {}", directory.display()))?;
        let path = entry.path();
        if entry.file_type().with_context(|| format!("cannot read {}", path.display()))?.is_dir() {
            search(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "ptx") {
            files.push(path);
        }
    }
    Ok(())
}

/// Reads and parses a file.
pub(crate) fn read(path: &Path) -> Result<Source> {
    let mut bytes = Vec::new();
    let name = if path.as_os_str() == "-" {
        std::io::stdin().lock().read_to_end(&mut bytes).context("cannot read standard input")?;
        "standard input".to_owned()
    } else {
        bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        path.display().to_string()
    };
    let (text, parsed) = ptx::parse_bytes(&bytes);
    Ok(Source { name, text: text.into_owned(), parsed })
}
