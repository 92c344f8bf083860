//! The types in `src/abi` are those of the headers: the compiler's sizes, offsets and values go into a file of assertions
//! in C++, which is compiled with the headers of the CUDA version that they are from.

use std::fmt::Write;
use std::mem::offset_of;
use std::path::Path;
use std::process::Command;

#[path = "../src/abi/mod.rs"]
mod abi;

struct Struct {
    name: &'static str,
    size: usize,
    fields: &'static [Field],
}

struct Field {
    name: &'static str,
    offset: usize,
    size: usize,
}

include!(concat!(env!("OUT_DIR"), "/layouts.rs"));

/// Gone since, and therefore without a version in the name.
const ONLY_IN_11: &[&str] = &[
    "cudaCSV",
    "cudaExternalSemaphoreSignalParams_v1",
    "cudaExternalSemaphoreWaitParams_v1",
    "cudaKeyValuePair",
    "cudaLaunchParams",
    "cudaTextureDesc_v2",
    "surfaceReference",
    "textureReference",
];

#[test]
#[ignore = "needs scripts/cuda-runtimes"]
fn driver_types_are_those_of_the_header() {
    let mut assertions = String::from("#define __CUDA_API_VERSION_INTERNAL\n#include <cuda.h>\n");
    assert_constants(&mut assertions, driver::CONSTANTS.iter().copied());
    let errors = abi::errors::ERRORS.iter();
    assert_constants(
        &mut assertions,
        errors.filter_map(|error| Some((error.driver?.to_str().expect("a name"), i64::from(error.code)))),
    );
    assert_layouts(&mut assertions, driver::STRUCTS, 13);
    compile(13, &assertions);
}

#[test]
#[ignore = "needs scripts/cuda-runtimes"]
fn runtime_types_are_those_of_the_header() {
    let mut assertions = String::from("#include <cuda_runtime_api.h>\n");
    assert_constants(&mut assertions, constants_of(13));
    let errors = abi::errors::ERRORS.iter();
    assert_constants(
        &mut assertions,
        errors.filter_map(|error| Some((error.runtime?.to_str().expect("a name"), i64::from(error.code)))),
    );
    assert_layouts(&mut assertions, runtime::STRUCTS, 13);
    compile(13, &assertions);
}

#[test]
#[ignore = "needs scripts/cuda-runtimes"]
fn older_runtime_types_are_those_of_the_older_headers() {
    for major in [11, 12] {
        let mut assertions = String::from("#include <cuda_runtime_api.h>\n");
        if major == 11 {
            assert_constants(&mut assertions, constants_of(major));
        }
        assert_layouts(&mut assertions, runtime::STRUCTS, major);
        compile(major, &assertions);
    }
}

#[test]
#[ignore = "needs scripts/cuda-runtimes"]
#[should_panic(expected = "cudaExtent.depth")]
fn a_field_at_another_place_is_noticed() {
    let mut assertions = String::from("#include <cuda_runtime_api.h>\n");
    let moved = Struct { name: "cudaExtent", size: 24, fields: &[Field { name: "depth", offset: 8, size: 8 }] };
    assert_layouts(&mut assertions, &[moved], 13);
    compile(13, &assertions);
}

/// The version that has a type, and what it is called there.
fn origin(name: &str) -> (u32, String) {
    if name.starts_with("CUstreamMemOp") {
        return (13, format!("CUstreamBatchMemOpParams::{name}"));
    }
    if ONLY_IN_11
        .iter()
        .any(|only| name.strip_prefix(only).is_some_and(|rest| rest.is_empty() || rest.starts_with('_')))
    {
        return (11, name.to_owned());
    }
    // `cudaResourceDesc12` and `cudaResourceDesc12_res`, but not `uint3`.
    for major in [11, 12, 13] {
        let digits = major.to_string();
        if let Some((before, after)) = name.split_once(&digits)
            && (after.is_empty() || after.starts_with('_'))
        {
            return (major, format!("{before}{after}"));
        }
    }
    (13, name.to_owned())
}

fn constants_of(major: u32) -> impl Iterator<Item = (&'static str, i64)> {
    runtime::CONSTANTS.iter().copied().filter(move |(name, _)| ONLY_IN_11.contains(name) == (major == 11))
}

fn assert_constants(assertions: &mut String, constants: impl Iterator<Item = (&'static str, i64)>) {
    for (name, value) in constants {
        // C may see the highest bit as a sign.
        writeln!(assertions, "static_assert((unsigned int){name} == {}, \"{name}\");", value as u32).expect("a string");
    }
}

/// A type in C, and where it lies in that type if C has no name for it.
struct InC {
    name: String,
    offset: usize,
    is_unnamed: bool,
}

fn assert_layouts(assertions: &mut String, structs: &[Struct], major: u32) {
    for Struct { name, size, fields } in structs.iter().filter(|one| origin(one.name).0 == major) {
        let in_c = in_c(structs, name);
        if !in_c.is_unnamed {
            writeln!(assertions, "static_assert(sizeof({}) == {size}, \"{name}\");", in_c.name).expect("a string");
        }
        for Field { name: field, offset, size } in fields.iter().filter(|field| !is_unnamed(field.name)) {
            let offset = in_c.offset + offset;
            writeln!(
                assertions,
                "static_assert(__builtin_offsetof({0}, {field}) == {offset} && sizeof((({0} *)0)->{field}) == {size}, \"{name}.{field}\");",
                in_c.name
            )
            .expect("a string");
        }
    }
}

/// Types within types are called after both, `cudaResourceDesc_res`; those in fields without a name, `…_unnamed`.
fn in_c(structs: &[Struct], name: &str) -> InC {
    let parent = structs.iter().find_map(|parent| {
        let field = name.strip_prefix(parent.name)?.strip_prefix('_')?;
        Some((parent.name, parent.fields.iter().find(|candidate| candidate.name == field)?))
    });
    let Some((parent, field)) = parent else { return InC { name: origin(name).1, offset: 0, is_unnamed: false } };
    let parent = in_c(structs, parent);
    if is_unnamed(field.name) {
        InC { name: parent.name, offset: parent.offset + field.offset, is_unnamed: true }
    } else {
        InC { name: format!("__typeof__((({} *)0)->{})", parent.name, field.name), offset: 0, is_unnamed: false }
    }
}

fn is_unnamed(field: &str) -> bool {
    field.starts_with("unnamed")
}

/// Compiles a text with the headers of a version.
fn compile(major: u32, text: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let found = Command::new(root.join("scripts/cuda-runtimes")).arg("--print-dir").output().expect("the script runs");
    assert!(found.status.success(), "{}", String::from_utf8_lossy(&found.stderr));
    let directory = String::from_utf8(found.stdout).expect("a path");
    let include = Path::new(directory.trim_end()).join(major.to_string()).join("include");
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("abi-{major}-{}.cpp", text.len()));
    std::fs::write(&file, text).expect("the file can be written");
    let compiler = Command::new("c++")
        .args(["-std=c++17", "-fsyntax-only", "-w", "-I"])
        .args([&include, &file])
        .output()
        .expect("there is a C++ compiler");
    assert!(compiler.status.success(), "CUDA {major}:\n{}", String::from_utf8_lossy(&compiler.stderr));
}
