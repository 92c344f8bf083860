//! What `--help` says beyond the flags: commands in groups, and examples.

use std::fmt::Write;

use clap::Command;

/// The commands, by what somebody wants to do, with what they do in a few words.
const GROUPS: &[(&str, &[(&str, &str)])] = &[
    (
        "Find bugs",
        &[
            ("memcheck", "accesses out of bounds and after free, undefined values, wrong frees, leaks"),
            ("racecheck", "races in shared and global memory"),
        ],
    ),
    ("See what kernels cost", &[("traffic", "sectors, bank conflicts and divergent branches, line by line")]),
    ("Prove that nothing can go wrong", &[("prove", "launches that are in bounds and free of races")]),
    (
        "Get right results in spite of faults and races",
        &[
            ("rmt", "compute every kernel twice, and find results that differ"),
            ("repair", "the result of threads that run one after another"),
            ("stm", "make transactions of code that is marked"),
            ("inject", "strike kernels with faults, and see what comes of them"),
            ("campaign", "a million such trials, in shards, on Slurm or Kubernetes"),
            ("health", "does this machine compute right"),
        ],
    ),
    (
        "Run programs",
        &[
            ("run", "run a program on the CPU device, unchanged"),
            ("fidelity", "what was computed exactly, as a GPU does, and what approximately"),
            ("doctor", "can a program run, and if not, what to do"),
            ("cache", "compiled kernels that are kept on disk"),
        ],
    ),
    (
        "Look things up",
        &[
            ("explain", "what the code of a finding means, and what to do"),
            ("ptx", "print, verify, describe, draw and count PTX"),
            ("config", "where the headers for programs are"),
        ],
    ),
    ("Set up the shell", &[("completions", "a script that completes commands and flags"), ("man", "manual pages")]),
];

/// Without the commands, which come in groups.
const TEMPLATE: &str = "{about}\n\n{usage-heading} {usage}{after-help}\n\nOptions:\n{options}";

/// The command line with its commands in groups, and examples for each.
pub(crate) fn add(command: Command) -> Command {
    let header = *command.get_styles().get_header();
    let literal = *command.get_styles().get_literal();
    let mut text = String::new();
    for (title, names) in GROUPS {
        let _ = writeln!(text, "{header}{title}:{header:#}");
        for (name, words) in *names {
            let _ = writeln!(text, "  {literal}{name:<12}{literal:#} {words}");
        }
        text.push('\n');
    }
    let _ = write!(
        text,
        "{header}Examples:{header:#}\n  \
         warpgrind doctor ./app                    can it run, and if not, what to do\n  \
         warpgrind memcheck ./app --its --args     find memory errors\n  \
         warpgrind memcheck --html report.html ctest\n  \
         warpgrind COMMAND --help                  all flags of a command"
    );
    let names: Vec<String> = command.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    let command = names.into_iter().fold(command, |command, name| {
        let examples = examples(&name);
        if examples.is_empty() {
            return command;
        }
        let text = format!("{header}Examples:{header:#}\n{}", examples.join("\n"));
        command.mut_subcommand(name, |command| command.after_help(text))
    });
    command.help_template(TEMPLATE).after_help(text)
}

/// How a command is used.
fn examples(name: &str) -> Vec<String> {
    let own: &[&str] = match name {
        "memcheck" => &["memcheck --leak-check full ./app"],
        "racecheck" => &["racecheck --schedule random --preempt --seed 3 ./app"],
        "traffic" => &["traffic --arch sm_80,sm_90 ./app", "traffic --caches --carveout 64 ./app"],
        "rmt" => &["rmt --recover ./app"],
        "repair" => &["repair --detect ./app"],
        "inject" => &[
            "inject --trials 1000 ./app",
            "inject --with rmt --trials 1000 ./app",
            "inject --trial 17 ./app             one trial, told in detail",
        ],
        "prove" => &[
            "prove ./app",
            "prove --kernel saxpy --grid 4 --block 256 --args 'n:s32=1000,a:f32=2,x:f32[1000],y:f32[1000]' saxpy.ptx",
        ],
        "run" => &["run ./app --its --args", "run --device-memory 4G --threads 8 python train.py"],
        "doctor" => &["doctor ./app"],
        "fidelity" => &["fidelity ./app", "memcheck --fidelity ./app"],
        "explain" => &["explain memcheck::out-of-bounds", "explain                             all codes"],
        "completions" => &[
            "completions bash > ~/.local/share/bash-completion/completions/warpgrind",
            "completions zsh > ~/.zfunc/_warpgrind",
            "completions fish > ~/.config/fish/completions/warpgrind.fish",
        ],
        "man" => &["man ~/.local/share/man/man1"],
        _ => &[],
    };
    let has_report = ["memcheck", "racecheck", "traffic", "rmt", "repair", "stm"].contains(&name);
    let common = ["--html report.html ./app --its --args", "--ci --sarif report.sarif --junit report.xml ctest"];
    let common = common.iter().filter(|_| has_report).map(|flags| format!("{name} {flags}"));
    own.iter().map(|&words| words.to_owned()).chain(common).map(|words| format!("  warpgrind {words}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_a_group() {
        let command = crate::command();
        let all = command.get_subcommands().filter(|command| !command.is_hide_set()).map(Command::get_name);
        let mut all: Vec<&str> = all.collect();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).map(|(name, _)| *name).collect();
        all.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(all, grouped);
    }

    #[test]
    fn examples_are_right() {
        let command = crate::command();
        for name in command.get_subcommands().map(Command::get_name) {
            for example in examples(name) {
                // What follows several spaces says what it does.
                let example = example.trim_start().split("   ").next().unwrap_or_default();
                let example = example.split(" > ").next().unwrap_or_default();
                let words = example.split(' ').map(|word| word.trim_matches('\''));
                let parsed = command.clone().try_get_matches_from(words);
                assert!(parsed.is_ok(), "{example}: {}", parsed.expect_err("just seen"));
            }
        }
    }
}
