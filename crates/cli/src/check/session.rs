//! The private directory in which the processes of a run write down what they find.

use std::fs::{self, DirBuilder, File};
use std::io::Read;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use report::Watch;

/// The directory. It goes when the value does.
#[derive(Debug)]
pub(crate) struct Directory {
    path: PathBuf,
    /// Nothing if the directory is kept. If this process is killed, the program's processes remove it.
    watch: Option<Watch>,
}

impl Directory {
    /// Makes one that nobody else can read, or guess the name of.
    pub(crate) fn create(keep: bool) -> Result<Self> {
        let base = std::env::temp_dir();
        let base = base.canonicalize().with_context(|| format!("the temporary directory {}", base.display()))?;
        let mut random = [0; 16];
        File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut random)).context("reading /dev/urandom")?;
        let name: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let path = base.join(format!("warpgrind-{name}"));
        DirBuilder::new().mode(0o700).create(&path).with_context(|| format!("making {}", path.display()))?;
        let watch = (!keep).then(|| Watch::begin(&path)).transpose();
        Ok(Self { watch: watch.with_context(|| format!("writing to {}", path.display()))?, path })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        if self.watch.is_some() {
            // Nobody can be told, and nothing depends on it.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}
