//! Compiled kernels on disk as a user meets them: `warpgrind cache`, `--no-cache`, and homes that are no good.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A directory for one test, which removes itself.
struct Scratch(PathBuf);

/// Runs a kernel that doubles a number, by the driver's functions.
const PROGRAM: &str = r#"
#include <dlfcn.h>
#include <stdio.h>
#define CALL(name, ...) { int (*f)() = dlsym(cuda, #name); int e = f(__VA_ARGS__); if (e) { printf(#name " %d\n", e); return 1; } }
static const char *text = ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry k(.param .u64 p) { .reg .b32 %r; .reg .b64 %d; ld.param.u64 %d, [p];"
    " ld.global.u32 %r, [%d]; add.u32 %r, %r, %r; st.global.u32 [%d], %r; ret; }";
int main(void) {
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW), *context, *module, *function;
    unsigned long address;
    int device, number = 21;
    CALL(cuInit, 0)
    CALL(cuDeviceGet, &device, 0)
    CALL(cuDevicePrimaryCtxRetain, &context, device)
    CALL(cuCtxSetCurrent, context)
    CALL(cuModuleLoadData, &module, text)
    CALL(cuModuleGetFunction, &function, module, "k")
    CALL(cuMemAlloc_v2, &address, 4UL)
    CALL(cuMemcpyHtoD_v2, address, &number, 4UL)
    void *params[] = {&address};
    int (*launch)(void *, int, int, int, int, int, int, int, void *, void **, void **) = dlsym(cuda, "cuLaunchKernel");
    if (launch(function, 1, 1, 1, 1, 1, 1, 0, 0, params, 0)) return 2;
    CALL(cuMemcpyDtoH_v2, &number, address, 4UL)
    printf("%d\n", number);
    return 0;
}"#;

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("warpgrind-cli-cache-{name}-{}", std::process::id()));
        fs::create_dir_all(path.join("bin")).expect("the temporary directory is writable");
        fs::create_dir_all(path.join("lib/warpgrind")).expect("the temporary directory is writable");
        let scratch = Self(path);
        let command = Path::new(env!("CARGO_BIN_EXE_warpgrind"));
        fs::copy(command, scratch.0.join("bin/warpgrind")).expect("the command was built");
        let built = command.parent().expect("it is in a directory");
        for library in ["libwarpgrind_start.so", "libwarpgrind_cuda.so"] {
            let places = [built.join("deps").join(library), built.join(library)];
            let newest = places.iter().filter(|place| place.exists()).max_by_key(|place| {
                fs::metadata(place).and_then(|file| file.modified()).expect("the file system knows times")
            });
            let newest = newest.expect("the library was built");
            fs::copy(newest, scratch.0.join("lib/warpgrind").join(library)).expect("writable");
        }
        scratch
    }

    fn code(&self) -> PathBuf {
        self.0.join("home/.cache/warpgrind/code")
    }

    fn entries(&self) -> u64 {
        cache::usage(&self.code()).expect("the directory is ours").entries
    }

    /// The command, with a home in the scratch directory.
    fn warpgrind(&self, args: &[&str]) -> Command {
        let mut command = Command::new(self.0.join("bin/warpgrind"));
        command.args(args).env("HOME", self.0.join("home")).env_remove("XDG_CACHE_HOME").env_remove("WARPGRIND_LOG");
        command
    }

    fn program(&self) -> String {
        let (source, program) = (self.0.join("program.c"), self.0.join("program"));
        fs::write(&source, PROGRAM).expect("the temporary directory is writable");
        let output = Command::new("cc").arg("-w").arg(&source).arg("-o").arg(&program).arg("-ldl").output();
        let output = output.expect("there is a C compiler");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        program.to_str().expect("the path is UTF-8").to_owned()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn said(output: &Output) -> (String, String, Option<i32>) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

/// Runs it, and expects that the program did its work and nothing was said.
fn assert_runs(mut command: Command) {
    let output = command.output().expect("the command starts");
    assert_eq!(said(&output), ("42\n".to_owned(), String::new(), Some(0)), "{command:?}");
}

#[test]
fn kernels_are_kept_unless_the_user_does_not_want_it() {
    let scratch = Scratch::new("kept");
    let program = scratch.program();
    assert_runs(scratch.warpgrind(&["run", "--no-cache", &program]));
    assert_runs(scratch.warpgrind(&["run", "--cache-size", "0", &program]));
    assert!(!scratch.0.join("home").exists());
    // With a seed there is one tier, whatever the time.
    assert_runs(scratch.warpgrind(&["run", "--seed", "1", &program]));
    assert_eq!(scratch.entries(), 1);
    assert_runs(scratch.warpgrind(&["run", "--seed", "1", &program]));
    assert_eq!(scratch.entries(), 1);
    // Optimised code that is there is better than quick code that is not.
    assert_runs(scratch.warpgrind(&["run", &program]));
    assert_eq!(scratch.entries(), 1);
    // What a tool inserts is part of the kernel.
    for (flag, entries) in [("--no-cache", 1), ("--seed=1", 2), ("--seed=2", 2)] {
        let output = scratch.warpgrind(&["memcheck", flag, &program]).output().expect("the command starts");
        let (text, error, code) = said(&output);
        assert_eq!((text.as_str(), code), ("42\n", Some(0)), "{error}");
        assert_eq!(scratch.entries(), entries, "{flag}");
    }
    let info = scratch.warpgrind(&["cache", "info"]).output().expect("the command starts");
    let (text, error, code) = said(&info);
    assert!(text.contains(".cache/warpgrind/code\n2 compiled kernels, ") && text.contains(" ago\n"), "{text}");
    assert_eq!((error.as_str(), code), ("", Some(0)));
}

#[test]
fn homes_that_are_no_good_are_no_failure() {
    let scratch = Scratch::new("homes");
    let program = scratch.program();
    // Where there can be no directory.
    fs::write(scratch.0.join("home"), "").expect("the temporary directory is writable");
    assert_runs(scratch.warpgrind(&["run", &program]));
    let mut verbose = scratch.warpgrind(&["run", &program]);
    let (text, error, _) = said(&verbose.env("WARPGRIND_LOG", "debug").output().expect("the command starts"));
    assert_eq!(text, "42\n");
    assert!(
        error.starts_with("warpgrind: compiled kernels are not kept on disk: ") && error.lines().count() == 1,
        "{error}"
    );
    fs::remove_file(scratch.0.join("home")).expect("it is ours");
    // Where others can get in.
    fs::create_dir_all(scratch.code()).expect("the temporary directory is writable");
    fs::set_permissions(scratch.code(), Permissions::from_mode(0o770)).expect("it is ours");
    assert_runs(scratch.warpgrind(&["run", &program]));
    assert_eq!(fs::read_dir(scratch.code()).expect("it is there").count(), 0);
    for action in ["info", "clear"] {
        let (text, error, code) = said(&scratch.warpgrind(&["cache", action]).output().expect("the command starts"));
        assert_eq!((text.as_str(), code), ("", Some(1)));
        assert!(error.contains("is open to others (mode 770); `chmod 700 "), "{error}");
    }
    // Where there is no home.
    let mut homeless = scratch.warpgrind(&["run", &program]);
    homeless.env_remove("HOME");
    assert_runs(homeless);
    let mut homeless = scratch.warpgrind(&["cache", "info"]);
    let (_, error, code) = said(&homeless.env_remove("HOME").output().expect("the command starts"));
    assert_eq!(code, Some(1));
    assert!(error.contains("neither XDG_CACHE_HOME nor HOME"), "{error}");
}

#[test]
fn info_and_clear() {
    let scratch = Scratch::new("info");
    let run = |args: &[&str]| said(&scratch.warpgrind(args).output().expect("the command starts"));
    let directory = scratch.code().display().to_string();
    assert_eq!(
        run(&["cache", "info"]),
        (format!("{directory}\n0 compiled kernels, 0 bytes\n"), String::new(), Some(0))
    );
    assert!(!scratch.code().exists(), "who only asks makes nothing");
    let cache = cache::Cache::open(&scratch.code(), cache::DEFAULT_LIMIT).expect("the directory is ours");
    cache.put(&cache::IdBuilder::new().add(b"a").finish(), &[0; 2016]);
    let (text, ..) = run(&["cache", "info", "--json"]);
    assert!(text.contains(r#""entries":1,"bytes":2048,"#) && text.contains(r#""cleared":false"#), "{text}");
    assert_eq!(run(&["cache", "clear"]).0, "removed 1 compiled kernel, 2.0 KiB\n");
    assert_eq!(scratch.entries(), 0);
    let (text, ..) = run(&["cache", "clear", "--json"]);
    assert!(text.contains(r#""entries":0"#) && text.contains(r#""cleared":true"#), "{text}");
}
