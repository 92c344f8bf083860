//! What a user meets before the first run: help, completions, manual pages, and colours.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn warpgrind(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_warpgrind")).args(args).output().expect("the command starts")
}

fn stdout(args: &[&str]) -> String {
    let output = warpgrind(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("it is UTF-8")
}

#[test]
fn help_has_groups_and_examples() {
    let all = stdout(&["--help"]);
    let titles: Vec<&str> = all.lines().filter(|line| line.ends_with(':') && !line.starts_with(' ')).collect();
    assert!(titles.contains(&"Find bugs:") && titles.contains(&"Examples:") && titles.contains(&"Options:"), "{all}");
    assert!(all.contains("\n  memcheck     accesses"), "{all}");
    assert!(!all.contains("  nop "), "{all}");
    let tool = stdout(&["memcheck", "--help"]);
    for title in
        ["Arguments:", "Options:", "What is checked:", "The report:", "How the program runs:", "The tool:", "Examples:"]
    {
        assert!(tool.contains(&format!("\n{title}\n")), "{title} in {tool}");
    }
    for text in [all, tool] {
        assert!(!text.contains('\x1b'), "{text}");
    }
}

/// A shell that is there takes the script, and offers flags of a tool.
#[test]
fn completions() {
    let bash = stdout(&["completions", "bash"]);
    let script = format!(
        "{bash}\nCOMP_WORDS=(warpgrind memcheck --leak-c)\nCOMP_CWORD=2\n_warpgrind warpgrind --leak-c memcheck\necho \"${{COMPREPLY[@]}}\"\n"
    );
    let mut shell = Command::new("bash").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("there is bash");
    shell.stdin.take().expect("it is piped").write_all(script.as_bytes()).expect("it reads");
    let output = shell.wait_with_output().expect("it ends");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "--leak-check\n");
    assert!(stdout(&["completions", "zsh"]).starts_with("#compdef warpgrind"));
    assert!(stdout(&["completions", "fish"]).contains("complete -c warpgrind"));
    assert_eq!(warpgrind(&["completions", "tcsh"]).status.code(), Some(2));
}

#[test]
fn manual_pages() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("man-{}", std::process::id()));
    assert_eq!(stdout(&["man", directory.to_str().expect("it is UTF-8")]), "");
    let page = |name: &str| fs::read_to_string(directory.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(page("warpgrind.1").contains("warpgrind\\-memcheck(1)"));
    assert!(page("warpgrind-memcheck.1").contains("\\-\\-leak\\-check"));
    assert!(!directory.join("warpgrind-nop.1").exists());
    let _ = fs::remove_dir_all(&directory);
    assert_eq!(warpgrind(&["man", "/proc/none"]).status.code(), Some(2));
}

/// `script` gives a command a terminal, and `variables` are all that speak of colours: `CI` does too, since servers show
/// them whatever their terminal is called.
fn on_a_terminal(command: &str, variables: &[(&str, &str)]) -> Option<String> {
    let mut script = Command::new("script");
    script.args(["-qec", command, "/dev/null"]).env("TERM", "xterm-256color");
    for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CI"] {
        script.env_remove(variable);
    }
    let output = script.envs(variables.iter().copied()).output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn colours_only_where_they_are_wanted() {
    let command = env!("CARGO_BIN_EXE_warpgrind");
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("colours.ptx");
    fs::write(&file, ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() { wrong; }\n").expect("writable");
    for words in [format!("{command} --help"), format!("{command} ptx verify {}", file.display())] {
        let Some(text) = on_a_terminal(&words, &[]) else { return };
        assert!(text.contains("\x1b["), "{text:?}");
        for variables in [[("NO_COLOR", "1")], [("TERM", "dumb")]] {
            let text = on_a_terminal(&words, &variables).expect("it ran before");
            assert!(!text.contains("\x1b["), "{variables:?}: {text:?}");
        }
    }
}
