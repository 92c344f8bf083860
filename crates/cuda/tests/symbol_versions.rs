//! Programs that were linked with one of NVIDIA's runtimes find every function of it in our library, under its version;
//! and functions of one name and several versions are several.

use std::fmt::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

#[allow(dead_code, reason = "build.rs uses the rest")]
#[path = "../build/table.rs"]
mod table;

#[test]
#[ignore = "needs scripts/cuda-runtimes"]
fn every_function_is_found_under_its_version() {
    let functions = table::runtime_functions(include_str!("../api/runtime.txt"));
    for major in [11, 12, 13] {
        let symbols: Vec<&str> = functions
            .iter()
            .filter(|function| function.majors.contains(&major))
            .map(|function| function.symbol.as_str())
            .collect();
        // Names that the compiler has no declaration of, so that it takes any.
        let mut program = String::from("#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <stdio.h>\n");
        for symbol in &symbols {
            writeln!(program, "extern void {symbol}(void);").expect("a string");
        }
        writeln!(program, "static void (*const functions[])(void) = {{ {} }};", symbols.join(", ")).expect("a string");
        program.push_str(
            "int main(void) {\n\
             \x20   unsigned found = 0;\n\
             \x20   for (unsigned i = 0; i < sizeof functions / sizeof *functions; i++) found += functions[i] != 0;\n\
             \x20   void *old = dlvsym(RTLD_DEFAULT, \"cudaMemAdvise\", \"libcudart.so.12\");\n\
             \x20   void *new = dlvsym(RTLD_DEFAULT, \"cudaMemAdvise\", \"libcudart.so.13\");\n\
             \x20   int is_newest = dlsym(RTLD_DEFAULT, \"cudaMemAdvise\") == new;\n\
             \x20   printf(\"%u %d %d\\n\", found, old != new, is_newest);\n\
             }\n",
        );

        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("symbol-versions-{major}"));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a directory can be made");
        std::fs::write(folder.join("program.c"), program).expect("a file can be written");
        let real = runtimes().join(major.to_string()).join("lib");
        let compiler = Command::new("cc")
            .current_dir(&folder)
            .args([
                "-o",
                "program",
                "program.c",
                "-lcudart",
                "-ldl",
                "-Wl,--unresolved-symbols=ignore-in-shared-libs",
                "-L",
            ])
            .arg(&real)
            .output()
            .expect("there is a C compiler");
        assert!(compiler.status.success(), "{}", String::from_utf8_lossy(&compiler.stderr));

        symlink(library(), folder.join(table::version_node(major))).expect("a link can be made");
        let run = Command::new(folder.join("program"))
            .env("LD_LIBRARY_PATH", &folder)
            .env("LD_BIND_NOW", "1")
            .output()
            .expect("the program can be started");
        assert_eq!(String::from_utf8_lossy(&run.stderr), "", "CUDA {major}");
        assert_eq!(String::from_utf8_lossy(&run.stdout), format!("{} 1 1\n", symbols.len()), "CUDA {major}");
    }
}

/// Our library, which cargo has built beside this test.
fn library() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    test.with_file_name("libwarpgrind_cuda.so")
}

/// Headers and libraries of NVIDIA's runtimes.
fn runtimes() -> PathBuf {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/cuda-runtimes");
    let found = Command::new(script).arg("--print-dir").output().expect("the script runs");
    assert!(found.status.success(), "{}", String::from_utf8_lossy(&found.stderr));
    PathBuf::from(String::from_utf8(found.stdout).expect("a path").trim_end())
}
