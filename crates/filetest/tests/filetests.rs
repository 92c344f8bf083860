//! Runs every test file below `tests/`; its path is its name, so `cargo test verify/` runs a part of them.

use std::path::{Path, PathBuf};

use libtest_mimic::{Arguments, Failed, Trial};

fn main() {
    let args = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").canonicalize().expect("the tests exist");
    let files = filetest::files::find_files(&[root.join("ptx")], "ptx").expect("the tests can be read");
    assert!(!files.is_empty(), "there are no test files below {}", root.display());
    let trials = files.into_iter().map(|path| trial(&root, path)).collect();
    libtest_mimic::run(&args, trials).exit();
}

fn trial(root: &Path, path: PathBuf) -> Trial {
    let name = path.strip_prefix(root).expect("the file is below the root").with_extension("");
    Trial::test(name.display().to_string(), move || {
        filetest::commands::run(&path).map_err(|error| Failed::from(format!("{error:#}")))
    })
}
