//! `warpgrind doctor` as a user meets it: what it says, what it advises, and with which exit code.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::{Command, Output};

use program::runtime::{FUNCTIONS, Major};

/// PTX and machine code of the kernel `_Z5scalePfi`, by nvcc.
const SCALE: &[u8] = include_bytes!("../../fatbin/tests/data/zstd.fatbin");
/// Where the machine code ends and the PTX begins in it.
const PTX_ENTRY: usize = 3192;

/// A directory for one test, which removes itself.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("warpgrind-doctor-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("the temporary directory is writable");
        Self(path)
    }

    fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).expect("the temporary directory is writable");
        path.to_str().expect("the path is UTF-8").to_owned()
    }

    /// A program with these fatbins in it.
    fn compile(&self, fatbins: &[u8], text: &str, program: &str, flags: &[&str]) -> String {
        let fatbins = self.file(&format!("{program}.fatbin"), fatbins);
        let section = format!("__asm__(\".section .nv_fatbin, \\\"a\\\"\\n.incbin \\\"{fatbins}\\\"\\n.text\\n\");\n");
        let source = self.file(&format!("{program}.c"), section + text);
        let path = self.0.join(program);
        let output = Command::new("cc").arg("-w").arg(&source).arg("-o").arg(&path).args(flags).output();
        let output = output.expect("there is a C compiler");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        path.to_str().expect("the path is UTF-8").to_owned()
    }

    fn doctor(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_warpgrind"));
        command.arg("doctor").args(args).output().expect("the command starts")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).expect("the output is UTF-8")
}

/// All of this is said, with this exit code.
#[track_caller]
fn assert_says(output: &Output, code: i32, parts: &[&str]) {
    for part in parts {
        assert!(stdout(output).contains(part), "`{part}` is not in\n{}", stdout(output));
    }
    assert_eq!(output.status.code(), Some(code), "{}\n{}", stdout(output), String::from_utf8_lossy(&output.stderr));
}

/// All functions of a runtime, and `main`.
fn static_runtime(major: Major) -> String {
    let mut text = "int main() { return 0; }\n".to_owned();
    for function in FUNCTIONS.iter().filter(|function| function.is_in(major)) {
        writeln!(text, "int {}() {{ return 99; }}", function.name).expect("a string");
    }
    text
}

/// The container with its machine code only.
fn machine_code() -> Vec<u8> {
    let mut container = SCALE[..PTX_ENTRY].to_vec();
    container[8..16].copy_from_slice(&(PTX_ENTRY as u64 - 16).to_le_bytes());
    container
}

/// A container with one text of PTX, as it is.
fn container(ptx: &str) -> Vec<u8> {
    let mut entry = [0; 64];
    entry[..8].copy_from_slice(&[1, 0, 1, 1, 64, 0, 0, 0]);
    entry[8..16].copy_from_slice(&(ptx.len() as u64).to_le_bytes());
    entry[28] = 80;
    let mut bytes = vec![0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0];
    bytes.extend_from_slice(&(64 + ptx.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&entry);
    bytes.extend_from_slice(ptx.as_bytes());
    bytes
}

#[test]
fn a_static_runtime_with_ptx_can_run() {
    let scratch = Scratch::new("static");
    for major in Major::ALL {
        let program = scratch.compile(SCALE, &static_runtime(major), "app", &[]);
        let output = scratch.doctor(&[&program]);
        let version = format!("CUDA runtime {}, linked into it, with symbols", major.number());
        let parts = [
            &version,
            "1 kernel with PTX for compute_75:\n    scale(float*, int)\n",
            "machine code for sm_75",
            "nothing is wrong",
        ];
        assert_says(&output, 0, &parts);
    }
}

#[test]
fn a_shared_runtime_is_told_with_its_version() {
    let scratch = Scratch::new("shared");
    let runtime = scratch.compile(&[], "", "libcudart.so.12", &["-shared", "-Wl,-soname,libcudart.so.12"]);
    let program = scratch.compile(SCALE, "int main() {}", "app", &["-Wl,--no-as-needed", &runtime]);
    assert_says(&scratch.doctor(&[&program]), 0, &["CUDA runtime 12, a shared library"]);
}

#[test]
fn a_stripped_runtime_is_told_with_its_cure() {
    let scratch = Scratch::new("stripped");
    let program = scratch.compile(SCALE, &static_runtime(Major::V13), "app", &["-s"]);
    let cure = "cure: link with `-cudart shared` (`NVCC_APPEND_FLAGS='-cudart shared' make`)";
    assert_says(&scratch.doctor(&[&program]), 1, &["without symbols", cure]);
}

#[test]
fn kernels_without_ptx_are_told_with_their_cure() {
    let scratch = Scratch::new("machine-code");
    let program = scratch.compile(&machine_code(), &static_runtime(Major::V13), "app", &[]);
    let parts = [
        "the kernel scale(float*, int) of",
        "-gencode arch=compute_80,code=compute_80",
        "CMAKE_CUDA_ARCHITECTURES=80-virtual",
    ];
    assert_says(&scratch.doctor(&[&program]), 1, &parts);
    // `nvcc -rdc=true` puts PTX and machine code of a kernel into different containers.
    let both = [machine_code(), SCALE.to_vec()].concat();
    let program = scratch.compile(&both, &static_runtime(Major::V13), "app", &[]);
    assert_says(&scratch.doctor(&[&program]), 0, &[]);
}

#[test]
fn kernels_of_libraries_are_looked_at() {
    let scratch = Scratch::new("libraries");
    let inner = scratch.compile(&machine_code(), "", "libinner.so", &["-shared"]);
    let outer = scratch.compile(
        &[],
        "",
        "libouter.so",
        &["-shared", "-Wl,--no-as-needed,-rpath,$ORIGIN", &inner, "-Wl,-soname,libouter.so"],
    );
    let run_path = format!("-Wl,--no-as-needed,-rpath,{}", scratch.0.display());
    let program = scratch.compile(SCALE, &static_runtime(Major::V13), "app", &[&run_path, &outer]);
    assert_says(&scratch.doctor(&[&program]), 1, &["libinner.so has no PTX"]);
}

#[test]
fn libraries_that_are_machine_code_only_are_known_by_name() {
    let scratch = Scratch::new("vendor");
    let library = scratch.compile(&machine_code(), "", "libcublas.so.13", &["-shared", "-Wl,-soname,libcublas.so.13"]);
    let program = scratch.compile(SCALE, &static_runtime(Major::V13), "app", &["-Wl,--no-as-needed", &library]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpgrind"));
    let output = command.args(["doctor", &program]).env("LD_LIBRARY_PATH", &scratch.0).output().expect("it starts");
    assert_says(&output, 1, &["libcublas.so.13 has its kernels as machine code only"]);
    // Who uses it cannot link it anew, although it has a runtime of its own.
    let stripped = scratch.compile(
        &machine_code(),
        &static_runtime(Major::V13),
        "libcufft.so.12",
        &["-shared", "-s", "-Wl,-soname,libcufft.so.12"],
    );
    let output = scratch.doctor(&[&stripped]);
    assert_says(&output, 1, &["libcufft.so.12 has its kernels as machine code only"]);
    assert!(!stdout(&output).contains("-cudart shared"), "{}", stdout(&output));
    // Also if it is not on this machine.
    std::fs::remove_file(library).expect("it was there");
    let parts = [
        "libcublas.so.13, which it needs, is not on this machine",
        "libcublas.so.13 has its kernels as machine code only",
    ];
    assert_says(&scratch.doctor(&[&program]), 1, &parts);
}

#[test]
fn arguments_of_the_program_may_follow() {
    let scratch = Scratch::new("arguments");
    let program = scratch.compile(SCALE, &static_runtime(Major::V13), "app", &[]);
    assert_says(&scratch.doctor(&[&program, "script.py", "--json"]), 0, &["scale(float*, int)"]);
}

#[test]
fn instructions_that_are_not_there_are_named() {
    let scratch = Scratch::new("refused");
    let ptx = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry future()\n{\n\t.reg .b32 %r<2>;\n\tfrobnicate.b32 %r1, %r1;\n\tret;\n}\n";
    let program = scratch.compile(&container(ptx), &static_runtime(Major::V13), "app", &[]);
    assert_says(&scratch.doctor(&[&program]), 1, &["the kernel future cannot run", "frobnicate.b32"]);
    let program = scratch.compile(
        &container(&ptx.replace("frobnicate.b32 %r1, %r1", "mov.b32 %r1, 0")),
        &static_runtime(Major::V13),
        "app",
        &[],
    );
    assert_says(&scratch.doctor(&[&program]), 0, &["future"]);
}

#[test]
fn json_has_everything() {
    let scratch = Scratch::new("json");
    let program = scratch.compile(&machine_code(), &static_runtime(Major::V11), "app", &[]);
    let output = scratch.doctor(&["--json", &program]);
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    assert_eq!(value["can_run"], false);
    assert_eq!(value["objects"][0]["runtime"], "static");
    assert_eq!(value["objects"][0]["runtime_version"], 11);
    assert_eq!(value["objects"][0]["containers"][0]["machine_code_kernels"][0], "_Z5scalePfi");
    assert_eq!(value["problems"].as_array().map(Vec::len), Some(1));
}

#[test]
fn what_is_no_program_for_cuda_is_told() {
    let scratch = Scratch::new("kinds");
    assert_says(&scratch.doctor(&["true"]), 0, &["neither kernels nor a CUDA runtime"]);
    let script = scratch.file("script", "#!/bin/sh\n");
    assert_says(&scratch.doctor(&[&script]), 1, &["is a script"]);
    let program = scratch.compile(SCALE, "int main() {}", "static", &["-static"]);
    assert_says(&scratch.doctor(&[&program]), 1, &["link it without -static"]);
    assert_eq!(scratch.doctor(&["./no-such-program"]).status.code(), Some(2));
    let damaged = scratch.compile(&SCALE[..2000], &static_runtime(Major::V13), "damaged", &[]);
    assert_says(&scratch.doctor(&[&damaged]), 1, &["cannot be read: the fatbin ends within"]);
}

/// The fields that docs/report-format.md has for an object.
fn documented(object: &str) -> Vec<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/report-format.md");
    let text = std::fs::read_to_string(path).expect("the document is there");
    let (_, section) = text.split_once(&format!("\n## {object}\n")).expect("the object is described");
    let rows = section.lines().take_while(|line| !line.starts_with("## "));
    let mut fields: Vec<String> =
        rows.filter_map(|line| Some(line.strip_prefix("| `")?.split_once('`')?.0.to_owned())).collect();
    fields.sort();
    fields
}

/// The JSON is as docs/report-format.md says.
fn assert_is_documented(output: &Output) {
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    let fields = |value: &serde_json::Value| {
        let mut fields: Vec<String> = value.as_object().expect("an object").keys().cloned().collect();
        fields.sort();
        fields
    };
    assert_eq!(fields(&value), documented("gpu"));
    let problems = value["problems"].as_array().expect("a list");
    problems.iter().for_each(|problem| assert_eq!(fields(problem), documented("problem")));
    assert_eq!(value["can_run"], problems.is_empty());
    let is_known = |field: &str| !value[field].is_null();
    assert!(
        problems.is_empty() == ["gpu", "compute_capability", "memory", "multiprocessors"].into_iter().all(is_known)
    );
}

/// `warpgrind doctor --device gpu` over the driver that the tests have, in some mood.
fn gpu_doctor(mood: &[(&str, &str)]) -> Output {
    gpu_doctor_with(&[], mood)
}

/// The same with more flags.
fn gpu_doctor_with(flags: &[&str], mood: &[(&str, &str)]) -> Output {
    let command = PathBuf::from(env!("CARGO_BIN_EXE_warpgrind"));
    let built = command.parent().expect("a command is in a directory");
    let name = "libwarpgrind_stand_in.so";
    let places = [built.join("deps").join(name), built.join(name)];
    let driver = places.into_iter().find(|place| place.exists()).expect("the driver was built");
    Command::new(&command)
        .args(["doctor", "--device", "gpu", "--driver"])
        .arg(driver)
        .args(flags)
        .env("WARPGRIND_STAND_IN_GPU", command.with_file_name("warpgrind-stand-in-gpu"))
        .envs(mood.iter().copied())
        .output()
        .expect("the command starts")
}

#[test]
fn a_gpu_and_what_may_be_wrong_with_it() {
    assert_says(
        &gpu_doctor(&[("WARPGRIND_STAND_IN_VERSION", "11080")]),
        1,
        &["problem: the driver is for CUDA 11.8, and Warpgrind needs one for 12.2 or later (R535)", "cure: update it"],
    );
    assert_is_documented(&gpu_doctor_with(&["--json"], &[("WARPGRIND_STAND_IN_VERSION", "11080")]));
    assert_says(
        &gpu_doctor(&[("WARPGRIND_STAND_IN_WITHOUT", "cuMemCreate")]),
        1,
        &["has no cuMemCreate", "it must be one of CUDA 12.2 (R535) or later, so update it"],
    );
    // The GPU of the tests is a program of its own, which is not built with every selection of packages.
    if PathBuf::from(env!("CARGO_BIN_EXE_warpgrind")).with_file_name("warpgrind-stand-in-gpu").exists() {
        assert_says(
            &gpu_doctor(&[]),
            0,
            &["driver for CUDA 13.0", "Stand-in, compute capability 9.0", "can run kernels"],
        );
        assert_is_documented(&gpu_doctor_with(&["--json"], &[]));
        assert_says(&gpu_doctor(&[("WARPGRIND_STAND_IN_DEVICES", "0")]), 1, &["the driver finds no GPU", "nvidia-smi"]);
        assert_says(&gpu_doctor(&[("WARPGRIND_STAND_IN_HOST_NUMA", "0")]), 1, &["cannot map memory of the host"]);
        assert_says(&gpu_doctor(&[("WARPGRIND_STAND_IN_CAPABILITY", "61")]), 1, &["less than 7.0"]);
    }
}

#[test]
fn no_driver() {
    let scratch = Scratch::new("no-driver");
    let text = scratch.file("libcuda.so.1", "this is no library");
    assert_says(&scratch.doctor(&["--device", "gpu", "--driver", &text]), 1, &["cannot be loaded", "with --driver"]);
    let nowhere = scratch.0.join("nowhere").display().to_string();
    assert_says(&scratch.doctor(&["--device", "gpu", "--driver", &nowhere]), 1, &["cannot read the driver"]);
}
