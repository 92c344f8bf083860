//! Finding files.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The files with an extension among `paths` and below the directories among them, in order. A file that is named
/// itself is taken whatever it is called.
pub fn find_files(paths: &[PathBuf], extension: &str) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            search(path, extension, &mut files)?;
        } else {
            files.push(path.clone());
        }
    }
    files.sort();
    Ok(files)
}

fn search(directory: &Path, extension: &str, files: &mut Vec<PathBuf>) -> Result<()> {
    let entries = std::fs::read_dir(directory).with_context(|| format!("reading {}", directory.display()))?;
    for entry in entries {
        let path = entry?.path();
        // Links are not followed: they may form a circle.
        let kind = std::fs::symlink_metadata(&path)?.file_type();
        if kind.is_dir() {
            search(&path, extension, files)?;
        } else if kind.is_file() && path.extension().is_some_and(|found| found == extension) {
            files.push(path);
        }
    }
    Ok(())
}
