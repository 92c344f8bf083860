//! The commands of tools with scripts as programs, which write down what our CUDA library would.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output};

/// A directory for one test, which removes itself, with Warpgrind installed in it.
pub(crate) struct Scratch(pub(crate) PathBuf);

/// Functions for scripts: `process`, `finding SEVERITY LINE`, `end`.
const PRELUDE: &str = r#"#!/bin/sh
session=${WARPGRIND_SETTINGS##* session=}
export session="${session%% *}"
journal="$session/$$-1.journal"
process() { head -c 24 /dev/zero > "$session/$$-1.records"; echo '{"process":{"id":'$$',"program":"./app","tools":["memcheck"],"seed":17,"repeat":"--seed 17"}}' >> "$journal"; }
finding() {
    echo '{"finding":{"tool":"memcheck","code":"out-of-bounds","severity":"'$1'","message":"out-of-bounds write of 4 bytes",
"place":{"kernel":"_Z6vecaddPf","instruction":"st.global.f32 [%rd1], %f1;","instruction_line":41,
"lines":[{"file":"vecadd.cu","line":'$2',"column":5,"function":null}]},
"first":{"block":[0,0,0],"thread":[3,0,0],"grid_size":[1,1,1],"block_size":[32,1,1],"launch":1,"address":null},
"count":5,"notes":[],"help":null,"stack":null}}' | tr -d '\n' >> "$journal"
    echo >> "$journal"
}
end() { echo '{"coverage":{"kernels":1,"launches":2,"unchecked_launches":0,"lost":0}}
"end"' >> "$journal"; }
"#;

impl Scratch {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("warpgrind-check-{name}-{}", std::process::id()));
        for directory in ["bin", "lib/warpgrind", "tmp"] {
            fs::create_dir_all(path.join(directory)).expect("the temporary directory is writable");
        }
        let scratch = Self(path);
        fs::copy(env!("CARGO_BIN_EXE_warpgrind"), scratch.0.join("bin/warpgrind")).expect("the command was built");
        // Scripts do not use CUDA, so nothing needs to get in front of it.
        let source = scratch.file("stand_in.c", "unsigned la_version(unsigned version) { return version; }");
        let library = scratch.0.join("lib/warpgrind/libwarpgrind_start.so");
        let made = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(source).status();
        assert!(made.expect("there is a C compiler").success());
        fs::copy(&library, scratch.0.join("lib/warpgrind/libwarpgrind_cuda.so")).expect("writable");
        scratch.file("vecadd.cu", "\n    c[i] = 1;\n    b[i] = 2;\n");
        scratch
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        fs::write(self.0.join(name), text).expect("the temporary directory is writable");
        self.0.join(name)
    }

    /// `warpgrind memcheck` with a script as the program.
    pub(crate) fn memcheck(&self, flags: &[&str], script: &str) -> Command {
        self.tool("memcheck", flags, script)
    }

    /// The command of a tool with a script as the program.
    pub(crate) fn tool(&self, tool: &str, flags: &[&str], script: &str) -> Command {
        let path = self.file("app", &format!("{PRELUDE}{script}\n"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
        let mut command = Command::new(self.0.join("bin/warpgrind"));
        command.arg(tool).args(flags).arg("./app").current_dir(&self.0).env("TMPDIR", self.0.join("tmp"));
        command
    }

    pub(crate) fn run(&self, flags: &[&str], script: &str) -> Output {
        self.memcheck(flags, script).output().expect("the command starts")
    }

    /// The exit code, after a look at what must hold of every run.
    #[track_caller]
    pub(crate) fn code(&self, flags: &[&str], script: &str) -> i32 {
        let output = self.run(flags, script);
        let left: Vec<_> = fs::read_dir(self.0.join("tmp")).expect("it is there").collect();
        assert!(left.is_empty(), "{left:?}");
        output.status.code().expect("the command is not killed")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).expect("the output is UTF-8")
}

pub(crate) fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).expect("the output is UTF-8")
}

#[track_caller]
pub(crate) fn assert_contains(text: &str, part: &str) {
    assert!(text.contains(part), "`{part}` is not in:\n{text}");
}
