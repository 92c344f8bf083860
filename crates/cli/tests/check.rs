//! The commands of tools as a user meets them. The programs are scripts that write down what our CUDA library would: what
//! is tested is what becomes of it, not how it is found.

mod common;

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::{Scratch, assert_contains, stderr, stdout};
use settings::{ApiErrors, Device, Settings, ToolFlag, Tools};

#[test]
fn exit_codes() {
    let scratch = Scratch::new("codes");
    // The program's own if nothing is wrong.
    assert_eq!(scratch.code(&[], "process; end"), 0);
    assert_eq!(scratch.code(&[], "process; end; exit 3"), 3);
    assert_eq!(scratch.code(&["--check-exit-code", "no"], "process; end; exit 3"), 0);
    assert_eq!(scratch.code(&[], "process; kill -SEGV $$"), 128 + 11);
    assert_eq!(scratch.code(&["--check-exit-code", "no"], "process; kill -SEGV $$"), 128 + 11);
    // Findings, whatever the program returns.
    assert_eq!(scratch.code(&[], "process; finding error 2; end"), 86);
    assert_eq!(scratch.code(&[], "process; finding error 2; end; exit 3"), 86);
    assert_eq!(scratch.code(&["--error-exitcode", "5"], "process; finding error 2; end"), 5);
    assert_eq!(scratch.code(&[], "process; finding error 2; kill -SEGV $$"), 86);
    assert_eq!(scratch.code(&[], "process; finding warning 2; end"), 0);
    assert_eq!(scratch.code(&["--fail-on", "warning"], "process; finding warning 2; end"), 86);
    // Not checked.
    assert_eq!(scratch.code(&[], "exit 0"), 87);
    assert_eq!(scratch.code(&[], "exit 3"), 87);
    assert_eq!(scratch.code(&["--require-cuda-init", "no"], "exit 3"), 3);
    let gap =
        |kind: &str| format!("process; echo '{{\"{kind}\":{{\"kernel\":\"k\",\"reason\":\"r\"}}}}' >> $journal; end");
    assert_eq!(scratch.code(&[], &gap("unchecked")), 87);
    assert_eq!(scratch.code(&[], &gap("skipped")), 0);
    assert_eq!(scratch.code(&[], "process; echo garbage >> $journal; end"), 87);
    assert_eq!(scratch.code(&["--tool", "nop"], "process; end"), 87);
}

#[test]
fn inject_says_what_a_program_said_that_launches_nothing() {
    let scratch = Scratch::new("inject");
    let inject = |script| scratch.tool("inject", &[], script).output().expect("the command starts");
    let output = inject("seq 7 >&2; echo 'no \u{1b}[31minput' >&2; exit 3");
    assert_eq!((output.status.code(), stdout(&output)), (Some(2), ""));
    let said: Vec<&str> = stderr(&output).lines().filter_map(|line| line.strip_suffix(" (from the program)")).collect();
    let last = "warpgrind: no \u{fffd}[31minput";
    assert_eq!(said, ["warpgrind: 4", "warpgrind: 5", "warpgrind: 6", "warpgrind: 7", last]);
    assert_contains(stderr(&output), "without any fault, the program ends with exit code 3\n");
    assert_contains(stderr(&output), "error: the program has launched no kernel that faults could strike");
    let output = inject("echo lost >&2; kill -SEGV $$");
    assert_contains(stderr(&output), "warpgrind: lost (from the program)\nerror: the program ends by signal 11");
}

#[test]
fn a_report_goes_to_standard_error() {
    let scratch = Scratch::new("report");
    let output = scratch.run(&[], "echo out; echo err >&2; process; finding error 2; finding error 3; end");
    assert_eq!(stdout(&output), "out\n");
    let expected = "\
err
error: out-of-bounds write of 4 bytes                    memcheck[out-of-bounds]
 --> vecadd.cu:2:5 in vecadd  (st.global.f32 [%rd1], %f1;  PTX line 41)
  |
2 |     c[i] = 1;
  |     ^^^^ block (0,0,0) thread (3,0,0), and 4 more times
  |
note: repeat with --seed 17

error: out-of-bounds write of 4 bytes                    memcheck[out-of-bounds]
 --> vecadd.cu:3:5 in vecadd  (st.global.f32 [%rd1], %f1;  PTX line 41)
  |
3 |     b[i] = 2;
  |     ^^^^ block (0,0,0) thread (3,0,0), and 4 more times
  |
note: repeat with --seed 17

memcheck: 2 errors in 1 kernel and 2 launches of 1 process
";
    assert_eq!(stderr(&output), expected);
    let output = scratch.run(&[], "exit 4");
    let expected = "warning: the program did not use CUDA, so nothing was checked\n\nmemcheck: 0 errors in 0 kernels and 0 launches of 0 processes\n";
    assert_eq!(stderr(&output), expected);
    let output = scratch.run(&[], "process; kill -ABRT $$");
    assert_contains(
        stderr(&output),
        "note: the program was ended by SIGABRT; what it had still to do was not checked\n",
    );
    let output = scratch.run(&["--print-limit", "1"], "process; finding error 2; finding error 3; end");
    assert_contains(stderr(&output), "note: 1 more finding; --print-limit");
    let output = scratch.run(&["--color", "always"], "process; finding error 2; end");
    assert_contains(stderr(&output), "\x1b[");
}

#[test]
fn the_session_is_private_and_goes() {
    let scratch = Scratch::new("session");
    let script = "process; end; echo $session; stat -c %a $session";
    let output = scratch.run(&[], script);
    let (path, mode) = stdout(&output).split_once('\n').expect("two lines");
    assert_eq!(mode, "700\n");
    assert!(!Path::new(path).exists());
    let output = scratch.run(&["--keep-session"], script);
    let (path, _) = stdout(&output).split_once('\n').expect("two lines");
    assert!(Path::new(path).exists());
    assert_contains(stderr(&output), path);
}

#[test]
fn gpus_that_cannot_be_shown_are_refused() {
    let scratch = Scratch::new("gpus");
    let many = vec!["t4"; 17].join(",");
    for (flags, message) in [
        (&["--gpu", "a100,gtx"][..], "there are v100, t4, a100"),
        (&["--gpu", &many], "`--gpu` names 17 GPUs, and 16 are the most"),
        (&["--device", "gpu", "--gpu", "a100,t4"], "`--gpu` is for the CPU device"),
    ] {
        let output = scratch.run(flags, "process; end");
        assert_contains(stderr(&output), message);
        assert_eq!(output.status.code(), Some(2));
    }
}

#[test]
fn the_library_is_told_what_is_wanted() {
    let scratch = Scratch::new("environment");
    let flags = [
        "--tool=nop,memcheck",
        "--kernel-name=scale",
        "--kernel-name=regex=^a.*b$",
        "--kernel-name-exclude=kne=x",
        "--launch-skip=3",
        "--launch-count=4",
        "--leak-check=full",
        "--report-api-errors=all",
        "--on-error=continue",
        "--num-callers-host=7",
        "--undef-value-errors=no",
        "--target-processes=application-only",
        "--seed=5",
        "--gpu=a100,T4",
    ];
    let library = fs::canonicalize(scratch.0.join("lib/warpgrind/libwarpgrind_cuda.so")).expect("it is there");
    // Those of a run that the command is started in do not count.
    let outer = Settings { tools: Tools { launch_skip: 99, ..Tools::default() }, ..Settings::default() };
    let set = |flags: &[&str]| {
        let mut command = scratch.memcheck(flags, "process; end; echo \"$WARPGRIND_SETTINGS\"");
        let output = command.env(settings::VARIABLE, outer.encode()).output().expect("it starts");
        let mut settings = Settings::decode(stdout(&output).trim_end().as_bytes()).expect("settings");
        assert_eq!(settings.library.take().as_ref(), Some(&library));
        assert!(settings.tools.session.take().is_some());
        settings
    };
    let of_memcheck = |name: &str, value: &str| ToolFlag {
        tool: "memcheck".to_owned(),
        name: name.to_owned(),
        value: value.to_owned(),
    };
    let expected = Settings {
        trace_children: false,
        device: Device { seed: Some(5), gpus: vec!["a100".to_owned(), "t4".to_owned()], ..Device::default() },
        tools: Tools {
            flags: vec![of_memcheck("undef-value-errors", "no"), of_memcheck("track-origins", "no")],
            names: vec!["memcheck".to_owned(), "nop".to_owned()],
            kernel_names: vec!["scale".to_owned(), "regex=^a.*b$".to_owned()],
            excluded_kernel_names: vec!["kne=x".to_owned()],
            launch_skip: 3,
            launch_count: Some(4),
            leak_check: true,
            api_errors: ApiErrors::All,
            stop_on_error: false,
            host_callers: 7,
            session: None,
        },
        ..Settings::default()
    };
    assert_eq!(set(&flags), expected);
    let flags = vec![of_memcheck("undef-value-errors", "yes"), of_memcheck("track-origins", "no")];
    let tools = Tools { names: vec!["memcheck".to_owned()], host_callers: 12, flags, ..Tools::default() };
    assert_eq!(set(&[]), Settings { tools, ..Settings::default() });
    assert_eq!(set(&["--num-callers-host=0"]).tools.host_callers, 100);
}

#[test]
fn files() {
    let scratch = Scratch::new("files");
    let flags = ["--format", "json", "--log-file", "%q{KIND}-%p.jsonl", "--summary", "summary.json"];
    let script = "process; finding error 2; end; echo $$";
    let output = scratch.memcheck(&flags, script).env("KIND", "log").output().expect("it starts");
    let name = format!("log-{}.jsonl", stdout(&output).trim());
    assert_contains(stderr(&output), &name);
    let lines = fs::read_to_string(scratch.0.join(&name)).expect("it was written");
    let summary = fs::read_to_string(scratch.0.join("summary.json")).expect("it was written");
    assert_eq!(lines.lines().count(), 2);
    assert_eq!(lines.lines().last(), summary.lines().last());
    let value: serde_json::Value = serde_json::from_str(&summary).expect("it is JSON");
    assert_eq!((&value["verdict"], &value["exit_code"]), (&"findings".into(), &0.into()));
    assert_eq!(value["codes"]["memcheck::out-of-bounds"]["count"], 5);
    // A program that a signal ended is not said to be clean.
    scratch.run(&["--summary", "killed.json"], "process; kill -KILL $$");
    let summary = fs::read_to_string(scratch.0.join("killed.json")).expect("it was written");
    let value: serde_json::Value = serde_json::from_str(&summary).expect("it is JSON");
    assert_eq!((&value["verdict"], &value["signal"]), (&"ended-by-signal".into(), &9.into()));
    // A file that cannot be written does not cost the report.
    let output = scratch.run(&["--log-file", "no/such/directory"], "process; finding error 2; end");
    assert_contains(stderr(&output), "error: writing no/such/directory");
    assert_contains(stderr(&output), "memcheck: 1 error");
    assert_eq!(output.status.code(), Some(86));
}

#[test]
fn a_process_that_a_signal_ended_is_named() {
    let scratch = Scratch::new("ended");
    let output = scratch.run(&[], "process; echo '{\"signal\":11}' >> \"$journal\"");
    assert_eq!(output.status.code(), Some(87), "{}", stderr(&output));
    assert_contains(stderr(&output), "(./app) was ended by SIGSEGV; what it had still to do was not checked");
    assert_eq!(scratch.code(&[], "process; finding error 2; echo '{\"signal\":11}' >> \"$journal\""), 86);
}

#[test]
fn suppressions() {
    let scratch = Scratch::new("suppressions");
    let script = "process; finding error 2; end";
    let output = scratch.run(&["--gen-suppressions"], script);
    let from = stderr(&output).find("[[suppression]]").expect("there is one");
    let to = stderr(&output).find("memcheck: 1 error").expect("the last line");
    scratch.file("made.toml", &stderr(&output)[from..to]);
    scratch.file("unused.toml", "\n[[suppression]]\nname = \"old\"\ntool = \"memcheck\"\ncode = \"leak\"\n");
    let output = scratch.run(&["--suppressions", "made.toml", "--suppressions", "unused.toml"], script);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_contains(stderr(&output), "old (unused.toml:2)");
    assert_contains(stderr(&output), "memcheck: 0 errors, 1 suppressed");
    scratch.file("wrong.toml", "[[suppression]]\ntool = \"memcheck\"\ncode = leak\n");
    let output = scratch.run(&["--suppressions", "wrong.toml"], "echo ran");
    assert_contains(stderr(&output), "error: wrong.toml:3: ");
    assert_eq!((stdout(&output), output.status.code()), ("", Some(87)));
}

/// A run in a group of its own, which has written its first line to standard output.
fn started(mut command: Command) -> Child {
    use std::io::Read;
    let mut child = command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut letter = [0];
    child.stdout.as_mut().expect("it is piped").read_exact(&mut letter).expect("the script says that it is ready");
    child
}

fn kill(signal: &str, target: &str) {
    assert!(Command::new("kill").args([signal, "--", target]).status().expect("kill").success());
}

#[test]
fn signals_to_the_command_reach_the_program() {
    let scratch = Scratch::new("handed-on");
    for (signal, name) in [("-TERM", "TERM"), ("-USR1", "USR1"), ("-INT", "INT"), ("-HUP", "HUP")] {
        let script =
            format!("process; trap 'finding error 2; end; exit 7' {name}; echo ready; while :; do sleep 0.01; done");
        let child = started(scratch.memcheck(&[], &script));
        kill(signal, &child.id().to_string());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(86), "{name}: {}", stderr(&output));
        assert_contains(stderr(&output), "memcheck: 1 error");
    }
}

/// As Ctrl-C does.
#[test]
fn signals_to_the_group_end_the_program_and_give_the_report() {
    let scratch = Scratch::new("group");
    let wait = "echo ready; while :; do sleep 0.01; done";
    let child = started(scratch.memcheck(&[], &format!("process; finding error 2; {wait}")));
    kill("-INT", &format!("-{}", child.id()));
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(86), "{}", stderr(&output));
    assert_contains(stderr(&output), "note: the program was ended by SIGINT");
    assert_contains(stderr(&output), "memcheck: 1 error");
    let child = started(scratch.memcheck(&[], &format!("process; end; {wait}")));
    kill("-INT", &format!("-{}", child.id()));
    assert_eq!(child.wait_with_output().expect("it ends").status.code(), Some(128 + 2));
}

#[test]
fn what_is_ignored_stays_ignored() {
    let scratch = Scratch::new("ignored");
    let script = "process; end; grep SigIgn /proc/self/status";
    let command = scratch.memcheck(&[], script);
    let ignoring = |program: &Path| {
        let mut shell = Command::new("sh");
        let text = "trap '' HUP USR1; exec \"$@\"";
        shell.args(["-c", text, "sh"]).arg(program).current_dir(&scratch.0).env("TMPDIR", scratch.0.join("tmp"));
        shell
    };
    let mut with = ignoring(Path::new(command.get_program()));
    let with = with.args(command.get_args()).output().expect("it starts");
    let settings =
        Settings { tools: Tools { session: Some(scratch.0.join("tmp")), ..Tools::default() }, ..Settings::default() };
    let mut without = ignoring(Path::new("./app"));
    let without = without.env(settings::VARIABLE, settings.encode()).output().expect("it starts");
    assert_eq!(stdout(&with), stdout(&without));
    assert_contains(stdout(&with), "201");
}

#[test]
fn processes_that_are_left_behind_are_waited_for() {
    let scratch = Scratch::new("behind");
    let script = "process; (sleep 0.4; finding error 2; end) > /dev/null 2>&1 &\nsleep 0.1; echo $$";
    assert_eq!(scratch.code(&[], script), 86);
    // But not for ever. The shell has ended; the one that writes is another process, which says so.
    let script = "sh -c 'journal=$session/$$-1.journal; head -c 24 /dev/zero > $session/$$-1.records; echo \"{\\\"process\\\":{\\\"id\\\":$$,\\\"program\\\":\\\"./child\\\",\\\"tools\\\":[\\\"memcheck\\\"],\\\"seed\\\":null,\\\"repeat\\\":null}}\" > $journal; sleep 30; :' > /dev/null 2>&1 &\nsleep 0.3; process; end";
    let since = Instant::now();
    let output = scratch.run(&["--wait", "1"], script);
    assert!(since.elapsed() < Duration::from_secs(20));
    assert_contains(stderr(&output), "(./child) is still running; what it finds later is not here");
    assert_eq!(output.status.code(), Some(87));
    // One that does not use CUDA is no matter.
    let since = Instant::now();
    assert_eq!(scratch.code(&[], "process; end; sleep 30 > /dev/null 2>&1 &"), 0);
    assert!(since.elapsed() < Duration::from_secs(20));
}

#[test]
fn what_cannot_be_run_is_explained() {
    let scratch = Scratch::new("refused");
    let refused = |program: &str| {
        let mut command = Command::new(scratch.0.join("bin/warpgrind"));
        let output = command.args(["memcheck", program]).current_dir(&scratch.0).output().expect("it starts");
        (output.status.code(), stderr(&output).to_owned())
    };
    let (code, text) = refused("./missing");
    assert_eq!(code, Some(127));
    assert_contains(&text, "there is no ./missing");
    let (code, text) = refused("./vecadd.cu");
    assert_eq!(code, Some(126));
    assert_contains(&text, "chmod +x");
}

#[test]
fn tools_are_commands() {
    let help = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_warpgrind")).args(args).output().expect("it starts");
        stdout(&output).to_owned()
    };
    let all = help(&["--help"]);
    assert_contains(&all, "memcheck");
    assert!(!all.contains("nop"), "{all}");
    for flag in ["--error-exitcode", "--suppressions", "--kernel-name", "--device-memory", "--seed"] {
        assert_contains(&help(&["memcheck", "--help"]), flag);
    }
}

#[test]
fn nvtx_tells_our_library_unless_the_user_has_another() {
    let scratch = Scratch::new("nvtx");
    let ours = fs::canonicalize(scratch.0.join("lib/warpgrind/libwarpgrind_cuda.so")).expect("it is there");
    let script = "process; end; echo \"$NVTX_INJECTION64_PATH\"";
    let seen = |command: &mut Command| {
        let output = command.output().expect("it starts");
        (stdout(&output).trim().to_owned(), stderr(&output).to_owned())
    };
    let (path, said) = seen(scratch.memcheck(&[], script).env_remove("NVTX_INJECTION64_PATH"));
    assert_eq!(fs::canonicalize(path).expect("it is a path"), ours);
    assert!(!said.contains("NVTX"), "{said}");
    let (path, _) = seen(scratch.memcheck(&["--nvtx", "no"], script).env_remove("NVTX_INJECTION64_PATH"));
    assert_eq!(path, "");
    let (path, said) = seen(scratch.memcheck(&[], script).env("NVTX_INJECTION64_PATH", "/own/profiler.so"));
    assert_eq!(path, "/own/profiler.so");
    assert_contains(&said, "NVTX_INJECTION64_PATH is set (/own/profiler.so), so heaps");
    // That of another run is not the user's.
    let mut nested = scratch.memcheck(&[], script);
    let outer = Settings { library: Some("/outer/libwarpgrind_cuda.so".into()), ..Settings::default() };
    nested.env("NVTX_INJECTION64_PATH", "/outer/libwarpgrind_cuda.so").env(settings::VARIABLE, outer.encode());
    let (path, _) = seen(&mut nested);
    assert_eq!(fs::canonicalize(path).expect("it is a path"), ours);
}

#[test]
fn codes_are_explained() {
    let explain = |code: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_warpgrind")).args(["explain", code]).output().expect("it starts");
        (output.status.code(), stdout(&output).to_owned(), stderr(&output).to_owned())
    };
    let (code, text, _) = explain("memcheck::out-of-bounds");
    assert_eq!(code, Some(0));
    assert!(text.starts_with("memcheck::out-of-bounds: "), "{text}");
    let (code, text, _) = explain("twice[not-repeatable]");
    assert_eq!(code, Some(0));
    assert!(text.starts_with("twice::not-repeatable: "), "{text}");
    let (code, _, text) = explain("out-of-bound");
    assert_eq!(code, Some(1));
    assert_contains(&text, "did you mean:\n  memcheck::out-of-bounds: ");
    let (code, _, text) = explain("x\x1b[31m");
    assert_eq!(code, Some(1));
    assert_contains(&text, "no tool has a code `x\\u{1b}[31m`; these are known:\n");
}

#[test]
fn tools_of_others_are_not_mistaken_for_commands_of_ours() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpgrind"));
    let output = command.args(["synccheck", "./app"]).output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("there is no synccheck yet") && !text.contains("similar"), "{text}");
    assert_eq!(output.status.code(), Some(2));
}
