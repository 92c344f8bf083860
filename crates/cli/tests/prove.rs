//! `warpgrind prove` as a user meets it: what it prints, and with which exit code.

use std::io::Write;
use std::process::{Command, Output, Stdio};

/// Copies `in` to `out`, as far as there is a thread for each element, with a source line.
const COPY: &str = "\
.version 8.0
.target sm_80
.address_size 64
.visible .entry _Z4copyPKfPfi(.param .u64 in, .param .u64 out, .param .u32 n)
{
	.reg .pred %p<2>;
	.reg .f32 %f<2>;
	.reg .b32 %r<6>;
	.reg .b64 %rd<6>;
	.loc 1 7 3
	ld.param.u64 %rd1, [in];
	ld.param.u64 %rd2, [out];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %tid.x;
	mov.u32 %r3, %ctaid.x;
	mov.u32 %r4, %ntid.x;
	mad.lo.s32 %r5, %r3, %r4, %r2;
	setp.ge.s32 %p1, %r5, %r1;
	@%p1 bra END;
	mul.wide.s32 %rd3, %r5, 4;
	add.s64 %rd4, %rd1, %rd3;
	add.s64 %rd5, %rd2, %rd3;
	ld.global.f32 %f1, [%rd4];
	.loc 1 8 3
	st.global.f32 [%rd5], %f1;
END:
	ret;
}
.file 1 \"copy.cu\"
";

fn prove(text: &str, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpgrind"));
    command.arg("prove").args(args).arg("-").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the command starts");
    let mut stdin = child.stdin.take().expect("it has a standard input");
    // A command that refuses its arguments does not read.
    let _ = stdin.write_all(text.as_bytes());
    drop(stdin);
    child.wait_with_output().expect("the command ends")
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).expect("UTF-8")
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).expect("UTF-8")
}

#[test]
fn a_launch_that_is_proved() {
    let output = prove(
        COPY,
        &["--kernel", "copy", "--grid", "4", "--block", "256", "--args", "in:f32[1000],out:f32[1000],n:s32=1000"],
    );
    assert_eq!(
        stdout(&output),
        "copy(float const*, float*, int), grid 4x1x1, block 256x1x1, objects of 4000, 4000 bytes\n  \
         in bounds: proved, whatever memory holds\n  race-free: proved, whatever memory holds\n"
    );
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn what_is_not_proved_has_a_source_line_and_an_exit_code() {
    let launch = ["--grid", "4", "--block", "256", "--args", "in:f32[1000],out:f32[999],n:s32=1000"];
    let output = prove(COPY, &launch);
    assert!(
        stdout(&output).contains("`st.global.f32 [%rd5], %f1` (copy.cu:8) may access 4 bytes outside of `out`"),
        "{}",
        stdout(&output)
    );
    assert_eq!(output.status.code(), Some(1));
    let required = |what: &str| prove(COPY, &[&launch[..], &["--require", what]].concat()).status.code();
    assert_eq!((required("races"), required("bounds"), required("all")), (Some(0), Some(1), Some(1)));
}

#[test]
fn one_buffer_for_two_parameters() {
    let output = prove(COPY, &["--block", "256", "--args", "in:f32[256],in,n:s32=256"]);
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
}

#[test]
fn json_has_the_reasons() {
    let output = prove(COPY, &["--json", "--block", "4", "--args", "in:f32[4],out:f32[3],n:s32=4"]);
    let line: serde_json::Value = serde_json::from_str(stdout(&output)).expect("one line of JSON");
    assert_eq!(line["type"], "proof");
    assert_eq!((&line["bounds"], &line["races"]), (&false.into(), &true.into()));
    assert_eq!(line["reasons"][0]["question"], "bounds");
    assert_eq!((&line["reasons"][0]["file"], &line["reasons"][0]["line"]), (&"copy.cu".into(), &8.into()));
}

#[test]
fn wrong_use_says_what_is_expected() {
    let wrong = [
        (vec!["--kernel", "paste"], "there is no kernel `paste`; there are: copy("),
        (vec!["--args", "in:f32[4]"], "the kernel has 3 parameters, and --args has 1"),
        (
            vec!["--args", "in:f32[4],out:f32[4],n:s64=4"],
            "parameter 2 of the kernel has 4 bytes, and the argument has 8",
        ),
        (vec!["--args", "in:f33[4],out,n:s32=4"], "`f33` is none of the types"),
        (vec!["--block", "2000", "--args", "in:f32[4],in,n:s32=4"], "a block of 2000 threads cannot be launched"),
    ];
    for (args, message) in wrong {
        let output = prove(COPY, &args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains(message), "{args:?}: {}", stderr(&output));
    }
}

#[test]
fn what_cannot_be_read_is_not_proved() {
    let output = prove(&COPY.replace("ld.global.f32 %f1, [%rd4];", "ld.global.f32 %f1, [%rd4"), &["--args", ""]);
    assert_eq!(output.status.code(), Some(87), "{}", stderr(&output));
}
