//! `warpgrind ptx` as a user meets it: what it prints, where, and with which exit code.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const KERNEL: &str = "\
.version 8.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 data, .param .u32 count)
{
	.reg .pred %p<2>;
	.reg .b32 %r<4>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [data];
	ld.param.u32 %r1, [count];
	mov.u32 %r2, %tid.x;
	setp.ge.u32 %p1, %r2, %r1;
	@%p1 bra $L_end;
	mul.wide.u32 %rd2, %r2, 4;
	add.s64 %rd3, %rd1, %rd2;
	ld.global.u32 %r3, [%rd3];
	st.global.u32 [%rd3], %r3;
$L_end:
	ret;
}
";

fn run(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_warpgrind")).arg("ptx").args(args).output().expect("the command starts")
}

/// A directory for one test, which removes itself.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("warpgrind-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("the temporary directory is writable");
        Self(path)
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, text).expect("the temporary directory is writable");
        path.to_str().expect("the path is UTF-8").to_owned()
    }

    fn path(&self) -> &Path {
        &self.0
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

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).expect("the output is UTF-8")
}

#[test]
fn a_clean_file_verifies() {
    let scratch = Scratch::new("clean");
    let output = run(&["verify", &scratch.file("a.ptx", KERNEL)]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stdout(&output), "1 file, 0 errors, 0 warnings\n");
    assert_eq!(stderr(&output), "");
}

#[test]
fn an_error_is_shown_with_its_place_and_exits_with_1() {
    let scratch = Scratch::new("error");
    let file = scratch.file("a.ptx", &KERNEL.replace("%rd1, %rd2;", "%rd1, %r2;"));
    let output = run(&["verify", &file]);
    assert_eq!(output.status.code(), Some(1));
    let message = stderr(&output);
    assert!(message.contains("error: `%r2` is a register of type `.b32`, but `.s64` is expected here"), "{message}");
    assert!(message.contains("a.ptx:15:22"), "{message}");
    let json = run(&["verify", "--json", &file]);
    assert!(stdout(&json).contains("\"line\":15,\"column\":22,\"severity\":\"error\""), "{}", stdout(&json));
    assert_eq!(json.status.code(), Some(1));
}

#[test]
fn unknown_instructions_are_warnings() {
    let scratch = Scratch::new("unknown");
    let output = run(&["verify", &scratch.file("a.ptx", &KERNEL.replace("ret;", "frobnicate.f99 %r1, {$ ;\nret;"))]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("warning: unknown instruction `frobnicate.f99`"), "{}", stderr(&output));
}

#[test]
fn modules_are_linked_or_it_is_said_why_not() {
    let scratch = Scratch::new("link");
    let header = ".version 8.0\n.target sm_80\n.address_size 64\n";
    let text = format!("{header}.extern .func f();\n.visible .entry k() {{ call.uni f; ret; }}");
    let caller = scratch.file("caller.ptx", &text);
    let callee = scratch.file("callee.ptx", &format!("{header}.visible .func f() {{ ret; }}"));
    let output = run(&["link", &caller, &callee]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let linked = scratch.file("linked.ptx", stdout(&output));
    assert_eq!(run(&["verify", &linked]).status.code(), Some(0));
    assert!(!stdout(&output).contains(".extern"), "{}", stdout(&output));

    let missing = run(&["link", &caller]);
    assert_eq!(missing.status.code(), Some(1));
    assert!(stderr(&missing).contains("error: `f` is not defined in any module, but `k` in "), "{}", stderr(&missing));
    assert_eq!(run(&["link"]).status.code(), Some(2));
}

#[test]
fn a_directory_is_searched_and_must_hold_something() {
    let scratch = Scratch::new("directory");
    std::fs::create_dir_all(scratch.path().join("sub")).expect("the temporary directory is writable");
    let directory = scratch.path().to_str().expect("the path is UTF-8");
    let empty = run(&["verify", directory]);
    assert_eq!(empty.status.code(), Some(2));
    assert!(stderr(&empty).contains("there is no .ptx file below"), "{}", stderr(&empty));
    scratch.file("a.ptx", KERNEL);
    scratch.file("sub/b.ptx", KERNEL);
    scratch.file("sub/notes.txt", "not PTX");
    let output = run(&["verify", directory]);
    assert_eq!(stdout(&output), "2 files, 0 errors, 0 warnings\n");
}

#[test]
fn what_cannot_be_read_exits_with_2() {
    let missing = run(&["cat", "/nowhere/at/all.ptx"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(stderr(&missing).starts_with("error: cannot read /nowhere/at/all.ptx"), "{}", stderr(&missing));
    let usage = run(&["frobnicate"]);
    assert_eq!(usage.status.code(), Some(2));
}

#[test]
fn binary_files_get_a_message() {
    let scratch = Scratch::new("binary");
    let path = scratch.path().join("a.cubin");
    std::fs::write(&path, b"\x7fELF\x02\x01\xff\xff").expect("the temporary directory is writable");
    let output = run(&["verify", path.to_str().expect("the path is UTF-8")]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("this may be a cubin or a fatbin"), "{}", stderr(&output));
}

#[test]
fn cat_prints_what_can_be_parsed_again() {
    let scratch = Scratch::new("cat");
    let first = run(&["cat", &scratch.file("a.ptx", KERNEL)]);
    let second = run(&["cat", &scratch.file("b.ptx", stdout(&first))]);
    assert!(stdout(&first).contains("ld.global.u32 \t%r3, [%rd3];"));
    assert_eq!(stdout(&first), stdout(&second));
}

#[test]
fn effects_of_each_instruction() {
    let scratch = Scratch::new("effects");
    let file = scratch.file("a.ptx", KERNEL);
    let text = run(&["effects", &file]);
    assert!(
        stdout(&text).contains(
            "  ld.global.u32 %r3, [%rd3];\n    Load; writes %r3; reads %rd3; reads 4 bytes of global memory at operand 1"
        ),
        "{}",
        stdout(&text)
    );
    let json = run(&["effects", "--json", &file]);
    let line = stdout(&json).lines().find(|line| line.contains("st.global")).expect("the store is listed");
    assert!(line.contains("\"kind\":\"write\",\"space\":\"global\",\"bytes\":4"), "{line}");
    assert!(line.contains("\"reads\":[\"%rd3\",\"%r3\"]"), "{line}");
}

#[test]
fn stats_depend_on_the_size_of_blocks() {
    let scratch = Scratch::new("stats");
    let file = scratch.file("a.ptx", KERNEL);
    let unknown = run(&["stats", "--json", &file]);
    let known = run(&["stats", "--json", "--block", "256", &file]);
    assert!(stdout(&unknown).contains("\"contiguous\":0"), "{}", stdout(&unknown));
    assert!(stdout(&known).contains("\"contiguous\":2"), "{}", stdout(&known));
    assert!(stdout(&known).contains("\"divergent\":1"), "{}", stdout(&known));
    assert!(stdout(&known).contains("\"cyclomatic_complexity\":2"), "{}", stdout(&known));
    let wrong = run(&["stats", "--block", "2048", &file]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(stderr(&wrong).contains("a block has between 1 and 1024 threads"), "{}", stderr(&wrong));
}

#[test]
fn control_flow_is_drawn() {
    let scratch = Scratch::new("cfg");
    let file = scratch.file("a.ptx", KERNEL);
    let svg = run(&["cfg", &file]);
    assert!(stdout(&svg).starts_with("<svg ") && stdout(&svg).ends_with("</svg>\n"), "{}", stdout(&svg));
    assert_eq!(stdout(&svg).matches("<rect ").count(), 3);
    let dot = run(&["cfg", "--format", "dot", &file]);
    assert!(stdout(&dot).contains("b0 -> b2;"), "{}", stdout(&dot));
    let missing = run(&["cfg", "--function", "nothing", &file]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(stderr(&missing).contains("there is no function `nothing` with a body"), "{}", stderr(&missing));
}

#[test]
fn several_functions_need_a_place_to_go() {
    let scratch = Scratch::new("several");
    let both = format!("{KERNEL}.visible .entry other() {{ ret; }}\n");
    let file = scratch.file("a.ptx", &both);
    let output = run(&["cfg", &file]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("choose one with --function NAME"), "{}", stderr(&output));
    let directory = scratch.path().join("drawings");
    let written = run(&["cfg", &file, "--output", directory.to_str().expect("the path is UTF-8")]);
    assert_eq!(written.status.code(), Some(0), "{}", stderr(&written));
    assert!(directory.join("scale.svg").is_file() && directory.join("other.svg").is_file());
}

/// Names from the program reach neither the terminal nor a picture as they are.
#[test]
fn hostile_names_are_escaped() {
    let scratch = Scratch::new("hostile");
    let text = KERNEL.replace(".file", "").replace("mov.u32 %r2, %tid.x;", "mov.u32 %r2, \u{1b}[31m\u{202e};");
    let output = run(&["verify", &scratch.file("a.ptx", &text)]);
    assert!(!stderr(&output).contains('\u{1b}') && !stderr(&output).contains('\u{202e}'), "{:?}", stderr(&output));
}

#[test]
fn standard_input_and_a_closed_pipe() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_warpgrind"))
        .args(["ptx", "cat", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command starts");
    drop(child.stdout.take());
    use std::io::Write;
    child.stdin.take().expect("it is piped").write_all(KERNEL.as_bytes()).expect("the command reads");
    let status = child.wait().expect("the command ends");
    assert_eq!(status.code(), Some(0), "a reader that went away is no error");
}
