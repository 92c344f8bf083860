//! Builds programs with NVIDIA's compiler, or clang, and keeps what was built beside the compiler, in the cache.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::header::{Header, Variant};

/// The compilers, and where their results go.
#[derive(Debug)]
pub(crate) struct Toolchain {
    /// The directory that has `bin`, `include` and `lib`.
    cuda: PathBuf,
    cache: PathBuf,
}

/// A program that was built.
#[derive(Debug)]
pub(crate) struct Built {
    pub(crate) program: PathBuf,
    /// Shared objects that it loads by itself.
    pub(crate) libraries: Vec<PathBuf>,
}

/// What device code is for, where a program does not say.
const ARCHITECTURE: &str = "sm_80";

/// What programs say that include them.
const OUR_HEADERS: &[u8] = b"#include <warpgrind/";

impl Toolchain {
    /// Installs the compiler, if it is not there yet.
    pub(crate) fn find() -> Result<Self> {
        let programs = script("cuda-toolchain", "--print-bin")?;
        let cuda = programs.parent().context("it is in a directory")?.to_owned();
        // Each test asks anew, so the other path is not asked for, but found: `CACHE/cuda-HASH` is above.
        let is_it = |path: &&Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("cuda-"));
        let toolchain = cuda.ancestors().find(is_it).context("its directory has another name")?;
        let cache = toolchain.parent().context("it is in a directory")?.join("programs");
        fs::create_dir_all(&cache)?;
        Ok(Self { cuda, cache })
    }

    /// Where the compiler is.
    pub(crate) fn programs(&self) -> PathBuf {
        self.cuda.join("bin")
    }

    /// NVIDIA's assembler.
    pub(crate) fn ptxas(&self) -> PathBuf {
        self.programs().join("ptxas")
    }

    /// Headers that do not come with the compiler.
    pub(crate) fn other_headers() -> Result<PathBuf> {
        Ok(script("cuda-runtimes", "--print-dir")?.join("13/include"))
    }

    pub(crate) fn build(&self, source: &Path, header: &Header, variant: Variant) -> Result<Built> {
        let directory = source.parent().context("a source is in a directory")?;
        let mut objects = vec![self.object(source, header, variant, &[])?];
        for other in &header.with {
            objects.push(self.object(&directory.join(other), header, variant, &[])?);
        }
        let libraries = header.libraries.iter().map(|library| {
            let object = self.object(&directory.join(library), header, variant, &["-Xcompiler", "-fPIC"])?;
            self.link(&[object], header, variant, "so")
        });
        let libraries = libraries.collect::<Result<_>>()?;
        Ok(Built { program: self.link(&objects, header, variant, "program")?, libraries })
    }

    /// Compiles a source.
    fn object(&self, source: &Path, header: &Header, variant: Variant, more: &[&str]) -> Result<PathBuf> {
        let mut options: Vec<String> =
            header.build.iter().filter(|option| !option.starts_with("-l")).cloned().collect();
        options.extend(compile_options(variant).into_iter().map(str::to_owned));
        if variant.clang_cuda().is_none() {
            options.extend(more.iter().copied().map(str::to_owned));
        }
        let mut hasher = DefaultHasher::new();
        (&options, variant.clang_cuda(), &self.cuda, source.file_name()).hash(&mut hasher);
        let text = fs::read(source).with_context(|| format!("reading {}", source.display()))?;
        text.hash(&mut hasher);
        for shared in shared_headers(source)? {
            fs::read(shared)?.hash(&mut hasher);
        }
        let uses_our_headers = text.windows(OUR_HEADERS.len()).any(|part| part == OUR_HEADERS);
        if uses_our_headers {
            let headers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include/warpgrind");
            for header in ["tx.cuh", "transactional.cuh"] {
                fs::read(headers.join(header))?.hash(&mut hasher);
            }
        }
        let name = source.file_stem().and_then(|name| name.to_str()).context("sources have plain names")?;
        self.kept(&format!("{name}-{:016x}.o", hasher.finish()), |object| {
            let mut command = self.compiler(variant)?;
            // The name as it is in the source's directory: it is part of what assertions say.
            command.current_dir(source.parent().context("a source is in a directory")?);
            // So that line information is the same in all checkouts.
            command.env("PWD", "/proc/self/cwd");
            if uses_our_headers {
                command.arg("-I").arg(include_directory(source)?);
            }
            command.args(["-c", "-o"]).arg(object).args(&options).arg(source.file_name().context("a file")?);
            Ok(command)
        })
    }

    /// Links objects to a program or a shared object.
    fn link(&self, objects: &[PathBuf], header: &Header, variant: Variant, kind: &str) -> Result<PathBuf> {
        let mut options: Vec<&str> = header.build.iter().map(String::as_str).collect();
        match variant {
            Variant::Clang | Variant::Clang11 => options.extend(["-lcudart", "-lpthread", "-ldl"]),
            Variant::Shared => options.extend(["-cudart", "shared"]),
            _ => options.extend(["-cudart", "static"]),
        }
        // What clang compiled needs nothing of its own to be linked.
        let clang_tree = variant.clang_cuda().map(|major| self.clang_tree(major)).transpose()?;
        match clang_tree {
            Some(_) => options.retain(|option| option.starts_with("-l")),
            None => options.extend(compile_options(variant)),
        }
        let mut hasher = DefaultHasher::new();
        (objects, &options, kind, &clang_tree).hash(&mut hasher);
        let name = objects[0].file_stem().and_then(|name| name.to_str()).context("objects have plain names")?;
        let name = name.rsplit_once('-').map_or(name, |(name, _)| name);
        let stub = self.driver_stub()?;
        self.kept(&format!("{name}-{:016x}.{kind}", hasher.finish()), |linked| {
            let mut command = match clang_tree {
                Some(_) => Command::new("c++"),
                None => self.compiler(variant)?,
            };
            command.arg("-o").arg(linked).args(objects).args(&options);
            let runtime = clang_tree.as_ref().unwrap_or(&self.cuda);
            command.arg("-L").arg(&stub).arg("-L").arg(runtime.join("lib"));
            if kind == "so" {
                command.arg("-shared");
            }
            Ok(command)
        })
    }

    fn compiler(&self, variant: Variant) -> Result<Command> {
        let Some(major) = variant.clang_cuda() else {
            return Ok(Command::new(self.cuda.join("bin/nvcc")));
        };
        let tree = self.clang_tree(major)?;
        let mut command = Command::new("clang++-19");
        command.args(["-x", "cuda", "-Wno-unknown-cuda-version"]).arg(format!("--cuda-path={}", tree.display()));
        command.arg("-I").arg(tree.join("missing")).arg("-I").arg(self.cuda.join("include/cccl"));
        Ok(command)
    }

    /// CUDA as clang looks for it: the headers of version 12 or 11, because clang 19 does not understand those of 13; a header
    /// of cuRAND, which clang includes always and nothing here needs; and a `fatbinary` with the options that clang gives.
    fn clang_tree(&self, major: &str) -> Result<PathBuf> {
        const FATBINARY: &str = r#"#!/bin/sh
for option; do
    shift
    case $option in
        --image=profile=compute_*) option="--image3=kind=ptx,sm=${option#--image=profile=compute_}" ;;
        --image=profile=sm_*) option="--image3=kind=elf,sm=${option#--image=profile=sm_}" ;;
    esac
    set -- "$@" "$option"
done
exec "$(dirname "$0")/fatbinary-of-nvcc" "$@"
"#;
        let runtime = script("cuda-runtimes", "--print-dir")?.join(major);
        let mut hasher = DefaultHasher::new();
        (FATBINARY, &self.cuda, &runtime).hash(&mut hasher);
        let tree = self.cache.join(format!("clang-{:016x}", hasher.finish()));
        if tree.exists() {
            return Ok(tree);
        }
        let unfinished = tree.with_extension(std::process::id().to_string());
        fs::create_dir_all(unfinished.join("bin"))?;
        fs::create_dir_all(unfinished.join("missing"))?;
        fs::write(unfinished.join("missing/curand_mtgp32_kernel.h"), "")?;
        fs::write(unfinished.join("bin/fatbinary"), FATBINARY)?;
        fs::set_permissions(unfinished.join("bin/fatbinary"), fs::Permissions::from_mode(0o755))?;
        let links = [
            (self.cuda.join("bin/fatbinary"), "bin/fatbinary-of-nvcc"),
            (self.cuda.join("bin/ptxas"), "bin/ptxas"),
            (self.cuda.join("nvvm"), "nvvm"),
            (runtime.join("include"), "include"),
            (runtime.join("lib"), "lib"),
        ];
        for (target, link) in links {
            symlink(target, unfinished.join(link))?;
        }
        // Another process may have been faster, which is as good.
        if fs::rename(&unfinished, &tree).is_err() {
            fs::remove_dir_all(&unfinished)?;
        }
        Ok(tree)
    }

    /// A directory with a `libcuda.so` to link with, which has every function of the driver and does nothing: NVIDIA's
    /// comes with the driver only.
    fn driver_stub(&self) -> Result<PathBuf> {
        let table = include_str!("../../../cuda/api/driver.txt");
        let symbols = table.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split(" | ").next());
        let text: String = symbols.map(|symbol| format!("void {symbol}(void) {{}}\n")).collect();
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let directory = self.cache.join(format!("driver-{:016x}", hasher.finish()));
        fs::create_dir_all(&directory)?;
        let name = directory.strip_prefix(&self.cache)?.join("libcuda.so");
        self.kept(name.to_str().context("a plain name")?, |library| {
            let source = library.with_extension("c");
            fs::write(&source, &text)?;
            let mut command = Command::new("cc");
            command.args(["-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-o"]).arg(library).arg(source);
            Ok(command)
        })?;
        Ok(directory)
    }

    /// What a command makes, made once. Tests run in many processes, so it is made under another name, by one of them.
    fn kept(&self, name: &str, command: impl FnOnce(&Path) -> Result<Command>) -> Result<PathBuf> {
        let path = self.cache.join(name);
        if path.exists() {
            return Ok(path);
        }
        let lock_path = self.cache.join(format!("{name}.lock"));
        let lock = File::create(&lock_path)?;
        lock.lock()?;
        if path.exists() {
            return Ok(path);
        }
        let unfinished = path.with_extension(format!("{}.unfinished", std::process::id()));
        let mut command = command(&unfinished)?;
        let output = command.output().with_context(|| format!("starting {:?}", command.get_program()))?;
        if !output.status.success() {
            bail!(
                "{command:?}:\n{}{}",
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            );
        }
        fs::rename(&unfinished, &path)?;
        let _ = fs::remove_file(lock_path);
        Ok(path)
    }
}

/// Where a program finds the headers of Warpgrind, from its own directory: reports show that path.
fn include_directory(source: &Path) -> Result<PathBuf> {
    let up = source.ancestors().skip(2).take_while(|directory| !directory.ends_with("tests")).count() + 1;
    let has_tests = source.ancestors().any(|directory| directory.ends_with("tests"));
    ensure!(has_tests, "programs are in a folder of tests");
    Ok(std::iter::repeat_n("..", up + 1).collect::<PathBuf>().join("include"))
}

/// What one of our scripts prints: a path.
fn script(name: &str, what: &str) -> Result<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts").join(name);
    let output = Command::new(path).arg(what).output().with_context(|| format!("starting scripts/{name}"))?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(PathBuf::from(String::from_utf8(output.stdout)?.trim_end()))
}

fn compile_options(variant: Variant) -> Vec<&'static str> {
    match variant {
        Variant::Static | Variant::Shared => vec!["-arch", ARCHITECTURE],
        Variant::Architecture(name) => vec!["-arch", name],
        Variant::Relocatable => vec!["-arch", ARCHITECTURE, "-rdc=true"],
        Variant::Debug => vec!["-arch", ARCHITECTURE, "-G", "-g"],
        Variant::Lines => vec!["-arch", ARCHITECTURE, "-lineinfo"],
        Variant::PerThreadDefaultStream => vec!["-arch", ARCHITECTURE, "--default-stream", "per-thread"],
        Variant::Clang | Variant::Clang11 => vec!["--cuda-gpu-arch=sm_80", "-O2", "-std=c++17"],
    }
}

/// Headers that programs share: those directly in `tests/cuda`, or in `tests/memcheck` for the programs of all tools, and those
/// beside the program.
fn shared_headers(source: &Path) -> Result<Vec<PathBuf>> {
    let is_cuda = source.ancestors().any(|path| path.ends_with("tests/cuda"));
    let tests = source.ancestors().find(|path| path.ends_with("tests")).context("programs are in a folder of tests")?;
    let root = tests.join(if is_cuda { "cuda" } else { "memcheck" });
    let mut headers = Vec::new();
    for directory in [root.as_path(), source.parent().context("a program is in a directory")?] {
        for file in fs::read_dir(directory)? {
            headers.push(file?.path());
        }
    }
    headers.retain(|path| path.extension().is_some_and(|extension| extension == "h"));
    headers.sort();
    headers.dedup();
    Ok(headers)
}

/// A library that cargo built: in `deps` because this test depends on it, beside the command if it was asked for.
pub(crate) fn newest(command: &Path, name: &str) -> Result<PathBuf> {
    let built = command.parent().context("a command is in a directory")?;
    let places = [built.join("deps").join(name), built.join(name)];
    let time = |place: &PathBuf| fs::metadata(place).and_then(|file| file.modified()).ok();
    let newest = places.into_iter().filter(|place| place.exists()).max_by_key(time);
    newest.with_context(|| format!("{name} was not built"))
}
