//! `warpgrind run` as a user meets it. A stand-in takes the place of our CUDA library: it says which function of which
//! version was called, so that what is tested is how a program gets there, not what happens then.

use std::fmt::Write;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use program::runtime::{FUNCTIONS, Major};
use settings::{Device, Schedule, Settings};

/// A directory for one test, which removes itself, with Warpgrind installed in a path that has a space in it.
struct Scratch(PathBuf);

/// Says how it was called. `cudaRuntimeGetVersion` has one version for each version of CUDA, as in our library.
const STAND_IN: &str = r#"
#include <stdio.h>
int v11(int *v) { *v = 11; return 0; }
int v12(int *v) { *v = 12; return 0; }
int v13(int *v) { *v = 13; return 0; }
__asm__(".symver v11, cudaRuntimeGetVersion@libcudart.so.11.0");
__asm__(".symver v12, cudaRuntimeGetVersion@libcudart.so.12");
__asm__(".symver v13, cudaRuntimeGetVersion@@libcudart.so.13");
int cuInit(int flags) { return 4242; }
void *r11(void *f) { printf("registered\n"); fflush(stdout); return f; }
void *r12(void *f) { return r11(f); }
void *r13(void *f) { return r11(f); }
__asm__(".symver r11, __cudaRegisterFatBinary@libcudart.so.11.0");
__asm__(".symver r12, __cudaRegisterFatBinary@libcudart.so.12");
__asm__(".symver r13, __cudaRegisterFatBinary@@libcudart.so.13");
double many(long a, long b, long c, long d, long e, long f, long g, double x, double y, float z) {
    printf("%ld %ld %ld %ld %ld %ld %ld %g %g %g\n", a, b, c, d, e, f, g, x, y, z);
    return 1.5;
}
__asm__(".symver many, cudaMemcpy2DToArray@@libcudart.so.13");
"#;
const STAND_IN_VERSIONS: &str =
    "libcudart.so.11.0 { local: v11; v12; v13; r11; r12; r13; many; };\nlibcudart.so.12 {};\nlibcudart.so.13 {};\n";

/// Prints the version that the runtime says it has, 99 if it is the static one.
const ASKS_VERSION: &str = r#"
#include <stdio.h>
int cudaRuntimeGetVersion(int *);
int cudaCheck(void) { return 7; }
int main(void) { int v = -1; int e = cudaRuntimeGetVersion(&v); printf("%d %d %d\n", e, v, cudaCheck()); return 5; }
"#;

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("warpgrind run {name} {}", std::process::id()));
        fs::create_dir_all(path.join("bin")).expect("the temporary directory is writable");
        fs::create_dir_all(path.join("lib/warpgrind")).expect("the temporary directory is writable");
        let scratch = Self(path);
        let command = Path::new(env!("CARGO_BIN_EXE_warpgrind"));
        fs::copy(command, scratch.path("bin/warpgrind")).expect("the command was built");
        let built = command.parent().expect("it is in a directory");
        let places = [built.join("deps/libwarpgrind_start.so"), built.join("libwarpgrind_start.so")];
        let newest = places.iter().filter(|place| place.exists()).max_by_key(|place| {
            fs::metadata(place).and_then(|file| file.modified()).expect("the file system knows times")
        });
        fs::copy(newest.expect("it was built"), scratch.path("lib/warpgrind/libwarpgrind_start.so")).expect("readable");
        scratch.file("versions.map", STAND_IN_VERSIONS);
        let map = format!("-Wl,--version-script={}", scratch.path("versions.map").display());
        scratch.compile("stand_in.c", STAND_IN, "lib/warpgrind/libwarpgrind_cuda.so", &["-shared", "-fPIC", &map]);
        scratch
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        fs::write(self.path(name), text).expect("the temporary directory is writable");
        self.path(name)
    }

    fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.file(name, text);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
        path
    }

    fn compile(&self, source: &str, text: &str, program: &str, flags: &[&str]) -> PathBuf {
        let source = self.file(source, text);
        let output = Command::new("cc").arg("-w").arg(&source).arg("-o").arg(self.path(program)).args(flags).output();
        let output = output.expect("there is a C compiler");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        self.path(program)
    }

    /// A library that a program can be linked with: NVIDIA's, as far as the linker sees it.
    fn shared_runtime(&self, major: Major) -> PathBuf {
        let library = major.library();
        let map = self.file("real.map", &format!("{library} {{ global: *; }};\n"));
        let text = "int cudaRuntimeGetVersion(int *v) { return 99; }";
        let flags = [
            "-shared".to_owned(),
            "-fPIC".to_owned(),
            format!("-Wl,-soname,{library}"),
            format!("-Wl,--version-script={}", map.display()),
        ];
        self.compile("real.c", text, library, &flags.each_ref().map(String::as_str))
    }

    /// A static runtime: every function of that version, which returns 99, and a constructor that registers kernels.
    fn static_runtime(&self, major: Major) -> PathBuf {
        let mut text = String::new();
        for function in FUNCTIONS.iter().filter(|function| function.is_in(major)) {
            writeln!(text, "int {}() {{ __asm__ volatile(\".skip 16, 0x90\"); return 99; }}", function.name)
                .expect("a string");
        }
        text += "static char wrapper[16];\n__attribute__((constructor)) static void reg(void) { __cudaRegisterFatBinary(wrapper); }\n";
        self.file("runtime.c", &text)
    }

    fn warpgrind(&self) -> Command {
        let mut command = Command::new(self.path("bin/warpgrind"));
        command.arg("run").current_dir(&self.0);
        command
    }

    /// Runs a program under Warpgrind.
    fn run(&self, program: &Path) -> Output {
        self.warpgrind().arg(program).output().expect("the command starts")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).expect("the output is UTF-8")
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).expect("the output is UTF-8")
}

/// The program ran to its end, said this, and nothing was said besides.
#[track_caller]
fn assert_said(output: &Output, expected: &str) {
    assert_eq!((stdout(output), stderr(output)), (expected, ""));
}

#[test]
fn a_shared_runtime_is_ours_wherever_it_is() {
    let scratch = Scratch::new("shared");
    for major in Major::ALL {
        let runtime = scratch.shared_runtime(major);
        let run_path = format!("-Wl,--disable-new-dtags,-rpath,{}", scratch.0.display());
        let runtime = runtime.to_str().expect("UTF-8");
        let program = scratch.compile("app.c", ASKS_VERSION, "app", &[runtime, &run_path]);
        let alone = Command::new(&program).output().expect("it starts");
        assert_said(&alone, "99 -1 7\n");
        let output = scratch.run(&program);
        assert_said(&output, &format!("0 {} 7\n", major.number()));
        assert_eq!(output.status.code(), Some(5));
    }
}

#[test]
fn libraries_loaded_by_name_and_by_path_are_ours() {
    let scratch = Scratch::new("dlopen");
    let text = r#"
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        void *library = dlopen(argv[i], RTLD_NOW);
        int (*init)(int) = library ? dlsym(library, "cuInit") : 0;
        printf("%s %d\n", argv[i], init ? init(0) : -1);
    }
}"#;
    let program = scratch.compile("app.c", text, "app", &[]);
    let names =
        ["/no/such/directory/libcuda.so.1", "libcuda.so.1", "libcuda.so", "libcudart.so.12", "/x/libcudart.so.13"];
    let output = scratch.warpgrind().arg(&program).args(names).output().expect("it starts");
    let expected: String = names.iter().map(|name| format!("{name} 4242\n")).collect();
    assert_said(&output, &expected);
}

/// The loader checks versions of symbols by the names of libraries, and forgets those of a library that it already has.
#[test]
fn driver_and_runtime_may_come_in_any_order() {
    let scratch = Scratch::new("order");
    let mut flags = vec!["-Wl,--no-as-needed".to_owned()];
    let driver = scratch.compile(
        "cuda.c",
        "int cuInit(int f) { return 1; }",
        "libcuda.so.1",
        &["-shared", "-Wl,-soname,libcuda.so.1"],
    );
    flags.push(driver.display().to_string());
    for major in Major::ALL {
        flags.push(scratch.shared_runtime(major).display().to_string());
    }
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let program = scratch.compile("app.c", ASKS_VERSION, "app", &flags);
    assert_said(&scratch.run(&program), "0 11 7\n");
}

#[test]
fn a_static_runtime_is_redirected_before_constructors() {
    let scratch = Scratch::new("static");
    for major in Major::ALL {
        let runtime = scratch.static_runtime(major);
        let runtime = runtime.to_str().expect("UTF-8");
        for flags in [&[runtime][..], &[runtime, "-no-pie"], &[runtime, "-fcf-protection=full"]] {
            let program = scratch.compile("app.c", ASKS_VERSION, "app", flags);
            assert_said(&Command::new(&program).output().expect("it starts"), "99 -1 7\n");
            let output = scratch.run(&program);
            assert_said(&output, &format!("registered\n0 {} 7\n", major.number()));
        }
    }
}

#[test]
fn a_static_runtime_in_a_loaded_library_is_redirected() {
    let scratch = Scratch::new("static library");
    let runtime = scratch.static_runtime(Major::V12);
    let text =
        "int cudaRuntimeGetVersion(int *);\nint version(void) { int v = -1; cudaRuntimeGetVersion(&v); return v; }";
    let flags = ["-shared", "-fPIC", "-Wl,-Bsymbolic", runtime.to_str().expect("UTF-8")];
    scratch.compile("plugin.c", text, "plugin.so", &flags);
    let text = r#"
#include <dlfcn.h>
#include <stdio.h>
int main(void) {
    for (int i = 0; i < 3; i++) {
        void *library = dlopen("./plugin.so", RTLD_NOW | RTLD_LOCAL);
        int (*version)(void) = dlsym(library, "version");
        printf("%d\n", version());
        fflush(stdout);
        dlclose(library);
    }
}"#;
    let program = scratch.compile("app.c", text, "app", &[]);
    let output = scratch.run(&program);
    assert_said(&output, &"registered\n12\n".repeat(3));
}

#[test]
fn arguments_survive_the_first_call() {
    let scratch = Scratch::new("arguments");
    let runtime = scratch.static_runtime(Major::V13);
    let text = r#"
#include <stdio.h>
double cudaMemcpy2DToArray(long, long, long, long, long, long, long, double, double, float);
int main(void) { for (int i = 0; i < 2; i++) printf("%g\n", cudaMemcpy2DToArray(1, 2, 3, 4, 5, 6, 7, 0.5, 0.25, 8)); }"#;
    let program = scratch.compile("app.c", text, "app", &[runtime.to_str().expect("UTF-8")]);
    assert_said(&scratch.run(&program), &format!("registered\n{}", "1 2 3 4 5 6 7 0.5 0.25 8\n1.5\n".repeat(2)));
}

#[test]
fn memory_is_never_writable_and_executable() {
    let scratch = Scratch::new("permissions");
    let runtime = scratch.static_runtime(Major::V13);
    let text = r#"
#include <stdio.h>
#include <string.h>
int main(void) {
    char line[4096]; int bad = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps)) bad += strstr(line, "rwx") != 0;
    printf("%d\n", bad);
}"#;
    let program = scratch.compile("app.c", text, "app", &[runtime.to_str().expect("UTF-8")]);
    assert_said(&scratch.run(&program), "registered\n0\n");
}

#[test]
fn a_stripped_static_runtime_is_named() {
    let scratch = Scratch::new("stripped");
    let text = "__attribute__((section(\".nv_fatbin\"))) int fatbin[8] = {1}; int main(void) { return 0; }";
    let program = scratch.compile("app.c", text, "app", &["-s"]);
    let output = scratch.run(&program);
    assert!(
        stderr(&output).contains("link with `-cudart shared` (NVCC_APPEND_FLAGS='-cudart shared' make)"),
        "{}",
        stderr(&output)
    );
    assert_eq!(stderr(&output).lines().count(), 1);
}

/// Processes without CUDA stay small: our CUDA library brings LLVM along.
#[test]
fn programs_without_cuda_do_not_load_it() {
    let scratch = Scratch::new("small");
    let output = scratch.warpgrind().args(["cat", "/proc/self/maps"]).output().expect("it starts");
    assert!(stdout(&output).contains("libwarpgrind_start.so"));
    assert!(!stdout(&output).contains("libwarpgrind_cuda.so"));
}

#[test]
fn exit_codes_and_signals_are_those_of_the_program() {
    let scratch = Scratch::new("exit");
    let code = |args: &[&str]| scratch.warpgrind().args(args).output().expect("it starts").status;
    assert_eq!(code(&["sh", "-c", "exit 3"]).code(), Some(3));
    assert_eq!(code(&["--", "sh", "-c", "exit 4"]).code(), Some(4));
    assert_eq!(code(&["sh", "-c", "kill -TERM $$"]).signal(), Some(15));
    // A signal to the command is a signal to the program.
    let text = "#!/bin/sh\ntrap 'echo got it; exit 9' USR1\necho $$\nwhile :; do sleep 0.01; done\n";
    let script = scratch.script("wait.sh", text);
    let child = scratch.warpgrind().arg(&script).stdout(std::process::Stdio::piped()).spawn().expect("it starts");
    let pid = child.id().to_string();
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert!(Command::new("kill").args(["-USR1", &pid]).status().expect("kill").success());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(stdout(&output), format!("{pid}\ngot it\n"));
    assert_eq!(output.status.code(), Some(9));
}

#[test]
fn what_cannot_be_run_is_explained() {
    let scratch = Scratch::new("refused");
    let refused = |program: &str, code: i32, part: &str| {
        let output = scratch.warpgrind().arg(program).output().expect("it starts");
        assert!(stderr(&output).contains(part), "{}", stderr(&output));
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
    };
    refused("./missing", 127, "there is no ./missing");
    refused("no-such-program", 127, "there is no program `no-such-program` in PATH");
    scratch.script("here", "#!/bin/sh\n");
    refused("here", 127, "write ./here");
    scratch.file("plain", "text");
    refused("./plain", 126, "chmod +x ./plain");
    refused("/", 126, "is a directory");
    let mut elf = [0; 64];
    elf[..20].copy_from_slice(b"\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x03\0");
    fs::write(scratch.script("bits32", ""), elf).expect("writable");
    refused("./bits32", 126, "32 bits");
    elf[4] = 2;
    elf[18] = 183;
    fs::write(scratch.path("bits32"), elf).expect("writable");
    refused("./bits32", 126, "another processor");
    scratch.compile(
        "app.c",
        "__attribute__((section(\".nv_fatbin\"))) int f[8] = {1}; int main(void) {}",
        "static",
        &["-static"],
    );
    refused("./static", 126, "without -static");
    fs::remove_file(scratch.path("lib/warpgrind/libwarpgrind_cuda.so")).expect("it was there");
    refused("true", 126, "libwarpgrind_cuda.so are neither in");
}

#[test]
fn flags_are_checked_and_handed_on() {
    let scratch = Scratch::new("flags");
    let flags = ["--device-memory=2G", "--launch-timeout=5", "--compute-capability=9.0", "--threads=1", "--seed=17"];
    let output =
        scratch.warpgrind().args(flags).args(["sh", "-c", "env | grep ^WARPGRIND_"]).output().expect("it starts");
    let library = scratch.path("lib/warpgrind/libwarpgrind_cuda.so").canonicalize().expect("it is there");
    let device = Device {
        memory: Some(2 << 30),
        launch_timeout: Some(5),
        compute_capability: Some(90),
        threads: Some(1),
        seed: Some(17),
        ..Device::default()
    };
    let settings = Settings { library: Some(library), device, ..Settings::default() };
    assert_said(&output, &format!("WARPGRIND_SETTINGS={}\n", settings.encode()));
    let flags = ["--schedule=pct", "--preempt", "--width=1", "--instruction-budget=5000"];
    let output =
        scratch.warpgrind().args(flags).args(["sh", "-c", "env | grep ^WARPGRIND_"]).output().expect("it starts");
    let device = Device {
        schedule: Some(Schedule::Pct),
        preempt: true,
        width: Some(1),
        instruction_budget: Some(5000),
        ..Device::default()
    };
    assert_said(&output, &format!("WARPGRIND_SETTINGS={}\n", Settings { device, ..settings }.encode()));
    for (wrong, words) in [
        (&["--preempt"][..], "add `--schedule random` or `--schedule pct`"),
        (&["--preempt", "--schedule=in-order", "--seed=1"], "add `--schedule random` or `--schedule pct`"),
        (&["--seed=1", "--threads=2"], "`--seed` runs kernels on one thread, and `--threads 2` on 2"),
        (&["--schedule=random", "--threads=4"], "`--schedule random` runs kernels on one thread"),
        (&["--schedule=pct", "--seed=1", "--threads=4"], "`--schedule pct` runs kernels on one thread"),
        (&["--width=16"], "invalid value '16'"),
        (&["--instruction-budget=0"], "invalid value '0'"),
    ] {
        let output = scratch.warpgrind().args(wrong).arg("true").output().expect("it starts");
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
        assert!(stderr(&output).contains(words), "{wrong:?}: {}", stderr(&output));
    }
    for wrong in ["--device-memory=x", "--launch-timeout=0", "--compute-capability=9", "--threads=0", "--device=tpu"] {
        let output = scratch.warpgrind().args([wrong, "true"]).output().expect("it starts");
        assert_eq!(output.status.code(), Some(2), "{wrong}");
    }
}

#[test]
fn settings_that_cannot_be_read_are_said_once() {
    let scratch = Scratch::new("unreadable");
    let runtime = scratch.static_runtime(Major::V13);
    scratch.compile("app.c", ASKS_VERSION, "app", &[runtime.to_str().expect("UTF-8")]);
    let script = "WARPGRIND_SETTINGS='v1 colour=red' ./app";
    let output = scratch.warpgrind().args(["sh", "-c", script]).output().expect("it starts");
    assert_eq!(stdout(&output), "99 -1 7\n");
    let said = "warpgrind: there is no setting `colour`, which is in WARPGRIND_SETTINGS, so the program runs without \
                Warpgrind\n";
    assert_eq!(stderr(&output), said);
}

#[test]
fn the_users_own_preloaded_library_is_kept() {
    let scratch = Scratch::new("preload");
    let library = scratch.compile("own.c", "int getpid(void) { return 77; }", "own.so", &["-shared", "-fPIC"]);
    // The loader splits the list at spaces, so that the library needs a path without them.
    let plain = std::env::temp_dir().join(format!("warpgrind-own-{}.so", std::process::id()));
    fs::copy(&library, &plain).expect("writable");
    let text =
        "#include <stdio.h>\n#include <stdlib.h>\nint getpid(void); int main(void) { printf(\"%d\\n\", getpid()); }";
    scratch.compile("app.c", text, "app", &[]);
    let mut command = scratch.warpgrind();
    let output = command.env("LD_PRELOAD", &plain).args(["sh", "-c", "./app; exec ./app"]).output().expect("it starts");
    fs::remove_file(&plain).expect("it was there");
    assert_said(&output, "77\n77\n");
}

/// Starts the program in its first argument in the way that is named by its second.
const STARTS: &str = r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
int main(int argc, char **argv) {
    char *path = argv[1], *how = argv[2], *args[] = {argv[1], "x", 0}, *clean[] = {"A=1", 0};
    char **environment = argc > 3 ? clean : environ;
    pid_t child = 0;
    if (!strcmp(how, "posix_spawn")) posix_spawn(&child, path, 0, 0, args, environment);
    else if (!strcmp(how, "posix_spawnp")) posix_spawnp(&child, path, 0, 0, args, environment);
    else if (!strcmp(how, "system")) return system(path);
    else if ((child = strcmp(how, "vfork") ? fork() : vfork()) == 0) {
        if (!strcmp(how, "execve") || !strcmp(how, "vfork")) execve(path, args, environment);
        if (!strcmp(how, "execv")) execv(path, args);
        if (!strcmp(how, "execvp")) execvp(path, args);
        if (!strcmp(how, "execvpe")) execvpe(path, args, environment);
        if (!strcmp(how, "execl")) execl(path, path, "1", "2", "3", "4", "5", "6", "7", NULL);
        if (!strcmp(how, "execlp")) execlp(path, path, "x", NULL);
        if (!strcmp(how, "execle")) execle(path, path, "1", "2", "3", "4", "5", "6", NULL, environment);
        if (!strcmp(how, "fexecve")) fexecve(open(path, O_RDONLY | O_CLOEXEC), args, environment);
        _exit(111);
    }
    int status;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}"#;

const WAYS: [&str; 11] = [
    "execve",
    "execv",
    "execvp",
    "execvpe",
    "execl",
    "execlp",
    "execle",
    "fexecve",
    "posix_spawn",
    "posix_spawnp",
    "vfork",
];

#[test]
fn children_are_followed_however_they_are_started() {
    let scratch = Scratch::new("children");
    let starts = scratch.compile("starts.c", STARTS, "starts", &[]);
    let runtime = scratch.static_runtime(Major::V13);
    let app = scratch.compile("app.c", ASKS_VERSION, "app", &[runtime.to_str().expect("UTF-8")]);
    for how in WAYS {
        let output = scratch.warpgrind().args([&starts, &app]).arg(how).output().expect("it starts");
        assert_said(&output, "registered\n0 13 7\n");
        assert_eq!(output.status.code(), Some(5), "{how}");
    }
    // Also with an environment that the parent has made from nothing.
    for how in ["execve", "vfork", "execvpe", "execle", "fexecve", "posix_spawn", "posix_spawnp"] {
        let output = scratch.warpgrind().args([&starts, &app]).args([how, "clean"]).output().expect("it starts");
        assert_said(&output, "registered\n0 13 7\n");
    }
}

#[test]
fn children_are_left_alone_if_asked() {
    let scratch = Scratch::new("no children");
    let starts = scratch.compile("starts.c", STARTS, "starts", &[]);
    let runtime = scratch.static_runtime(Major::V13);
    let app = scratch.compile("app.c", ASKS_VERSION, "my_app", &[runtime.to_str().expect("UTF-8")]);
    let run = |program: &Path, how: &str| {
        let mut command = scratch.warpgrind();
        command.arg("--trace-children=no").arg(program).args(["./my_app", how]).output().expect("it starts")
    };
    for how in WAYS.into_iter().chain(["system"]) {
        assert_said(&run(&starts, how), "99 -1 7\n");
    }
    assert_said(&run(&app, ""), "registered\n0 13 7\n");
}

/// A program that prints the variables of the loader, as far as it has any, and can be of any kind.
const PRINTS_LOADER_VARIABLES: &str = r#"
#include <stdio.h>
#include <string.h>
extern char **environ;
int main(void) { for (char **e = environ; *e; e++) if (!strncmp(*e, "LD_AUDIT", 8) || !strncmp(*e, "LD_PRELOAD", 10) || !strncmp(*e, "WARPGRIND_", 10)) puts(*e); }"#;

#[test]
fn cupy_compiles_to_ptx_unless_the_user_says_otherwise() {
    let scratch = Scratch::new("cupy");
    scratch.script("app", "#!/bin/sh\necho \"$CUPY_COMPILE_WITH_PTX\"\n");
    for (set, seen) in [(None, "1\n"), (Some("0"), "0\n")] {
        let mut command = scratch.warpgrind();
        command.env_remove("CUPY_COMPILE_WITH_PTX").envs(set.map(|value| ("CUPY_COMPILE_WITH_PTX", value)));
        assert_said(&command.arg("./app").output().expect("it starts"), seen);
    }
}

#[test]
fn a_musl_program_runs_without_us() {
    let scratch = Scratch::new("musl");
    // A program for glibc that says that musl's loader loads it; a link of that name leads to glibc's.
    let loader = scratch.path("ld-musl-x86_64.so.1");
    std::os::unix::fs::symlink("/lib64/ld-linux-x86-64.so.2", &loader).expect("writable");
    let flag = format!("-Wl,--dynamic-linker={}", loader.display());
    let starts = scratch.compile("starts.c", STARTS, "starts", &[]);
    scratch.compile("app.c", PRINTS_LOADER_VARIABLES, "musl", &[&flag]);
    scratch.script("script", "#!./musl\n");
    for how in WAYS {
        // The system cannot hand a script that is closed on exec to its interpreter.
        for program in if how == "fexecve" { &["./musl"][..] } else { &["./musl", "./script"] } {
            let mut command = scratch.warpgrind();
            let output = command
                .env("LD_AUDIT", "/own audit.so")
                .arg(&starts)
                .args([*program, how])
                .output()
                .expect("it starts");
            assert_eq!(stdout(&output), "LD_AUDIT=/own audit.so\n", "{how}");
            let said: Vec<&str> = stderr(&output).lines().filter(|line| line.starts_with("warpgrind: ")).collect();
            assert_eq!(said.len(), 1, "{how}: {}", stderr(&output));
            assert!(how == "fexecve" || said[0].contains(&format!("{program} is linked with musl")), "{}", said[0]);
        }
    }
}

#[test]
fn a_program_of_32_bits_runs_without_us() {
    let scratch = Scratch::new("bits32");
    let starts = scratch.compile("starts.c", STARTS, "starts", &[]);
    // mov $1, %eax; mov $42, %ebx; int $0x80: exits with 42. One segment, loaded at 0x10000, holds the whole file.
    let mut elf = b"\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x03\0\x01\0\0\0\x54\0\x01\0\x34\0\0\0\0\0\0\0\0\0\0\0\x34\0\x20\0\x01\0\0\0\0\0\0\0".to_vec();
    for word in [1_u32, 0, 0x10000, 0x10000, 96, 96, 5, 0x1000] {
        elf.extend_from_slice(&word.to_le_bytes());
    }
    elf.extend_from_slice(b"\xb8\x01\0\0\0\xbb\x2a\0\0\0\xcd\x80");
    fs::write(scratch.script("bits32", ""), elf).expect("writable");
    let output = scratch.warpgrind().arg(&starts).args(["./bits32", "execve"]).output().expect("it starts");
    assert!(stderr(&output).contains("./bits32 is a program of 32 bits"), "{}", stderr(&output));
    // 111 where the system cannot run programs of 32 bits.
    assert!(matches!(output.status.code(), Some(42 | 111)), "{:?}", output.status);
}

#[test]
fn a_static_program_is_named_if_it_has_kernels_and_hands_the_run_on() {
    let scratch = Scratch::new("static child");
    let text =
        format!("#ifdef KERNELS\n__attribute__((section(\".nv_fatbin\"))) int fatbin[8] = {{1}};\n#endif\n{STARTS}");
    scratch.compile("static.c", &text, "static", &["-static"]);
    scratch.compile("static.c", &text, "static_with_kernels", &["-static", "-DKERNELS"]);
    let shared = scratch.shared_runtime(Major::V12);
    scratch.compile("app.c", ASKS_VERSION, "app", &[shared.to_str().expect("UTF-8")]);
    scratch.script("with", "#!/bin/sh\nexec ./static_with_kernels ./app execve\n");
    scratch.script("without", "#!/bin/sh\nexec ./static ./app execve\n");
    assert_said(&scratch.run(Path::new("./without")), "0 12 7\n");
    let output = scratch.run(Path::new("./with"));
    assert_eq!(stdout(&output), "0 12 7\n");
    assert!(stderr(&output).contains("./static_with_kernels is linked statically"), "{}", stderr(&output));
}

#[test]
fn large_environments_and_many_arguments_pass() {
    let scratch = Scratch::new("large");
    let starts = scratch.compile("starts.c", STARTS, "starts", &[]);
    let text = "#include <stdio.h>\n#include <string.h>\nextern char **environ;\nint main(void) { int n = 0; for (char **e = environ; *e; e++) n += !strncmp(*e, \"V\", 1); printf(\"%d\\n\", n); }";
    let loader = scratch.path("ld-musl-x86_64.so.1");
    std::os::unix::fs::symlink("/lib64/ld-linux-x86-64.so.2", &loader).expect("writable");
    scratch.compile("app.c", text, "app", &[&format!("-Wl,--dynamic-linker={}", loader.display())]);
    let mut command = scratch.warpgrind();
    for index in 0..5000 {
        command.env(format!("V{index}"), "x");
    }
    let output = command.arg(&starts).args(["./app", "vfork"]).output().expect("it starts");
    assert_eq!(stdout(&output), "5000\n");
}

#[test]
fn programs_with_sanitizers_start() {
    let scratch = Scratch::new("sanitizers");
    let shared = scratch.shared_runtime(Major::V12);
    for sanitizer in ["address", "thread"] {
        let flags = [shared.to_str().expect("UTF-8"), &format!("-fsanitize={sanitizer}")];
        let program = scratch.compile("app.c", ASKS_VERSION, sanitizer, &flags);
        assert_said(&scratch.run(&program), "0 12 7\n");
    }
}

#[test]
fn the_name_of_the_program_is_what_was_written() {
    let scratch = Scratch::new("name");
    let output = scratch.warpgrind().args(["sh", "-c", "echo $0"]).output().expect("it starts");
    assert_said(&output, "sh\n");
}
