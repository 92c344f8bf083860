//! Sequences of calls that once ended a process, in `tests/api`: they end with errors, and that they would be noticed.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

#[test]
fn what_was_found_stays_mended() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/api");
    let files: Vec<PathBuf> =
        directory.read_dir().expect("it is there").map(|entry| entry.expect("it can be read").path()).collect();
    assert!(!files.is_empty());
    let output = check(&files);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn a_crash_is_noticed() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("crash");
    // A stream calls a function where there is none, which is the program's fault.
    let calls = "0 cuInit 0\n0 cuDevicePrimaryCtxRetain &CUctx_st.0 0\n0 cuCtxSetCurrent $CUctx_st.0\n\
                 0 cuLaunchHostFunc 0 8 0\n0 cuCtxSynchronize\n";
    std::fs::write(&path, calls).expect("it can be written");
    let output = check(&[path]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(!output.status.success() && text.contains("Signal(11)"), "{text}");
}

fn check(files: &[PathBuf]) -> Output {
    let command = Path::new(env!("CARGO_BIN_EXE_api-fuzz"));
    let built = command.parent().expect("a command is in a directory");
    let places = ["deps/libwarpgrind_cuda.so", "libwarpgrind_cuda.so"].map(|name| built.join(name));
    let time = |place: &&PathBuf| std::fs::metadata(place).and_then(|file| file.modified()).ok();
    let library = places.iter().filter(|place| place.exists()).max_by_key(time).expect("this test depends on it");
    Command::new(command).arg("check").arg("--library").arg(library).args(files).output().expect("it was built")
}
