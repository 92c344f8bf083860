//! The tools, each of which is a command.

/// A tool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tool {
    /// The command, and what the library knows it by.
    pub(crate) name: &'static str,
    /// What it does, in one sentence.
    pub(crate) about: &'static str,
    /// Whether users are told of it.
    pub(crate) is_hidden: bool,
}

/// All of them. A tool that is added here has its command, with all flags of the others.
pub(crate) const TOOLS: &[Tool] = &[
    Tool {
        name: "memcheck",
        about: "Runs a CUDA program and finds memory errors: out of bounds, use after free, misaligned, leaks",
        is_hidden: false,
    },
    Tool {
        name: "nop",
        about: "Runs a CUDA program as a tool would, and finds nothing: for measuring",
        is_hidden: true,
    },
    Tool {
        name: "trace",
        about: "Runs a CUDA program and counts its accesses to memory: for tests of tools",
        is_hidden: true,
    },
    Tool {
        name: "twice",
        about: "Runs every kernel of a CUDA program twice and compares the results: for tests of tools",
        is_hidden: true,
    },
    Tool {
        name: "doubled",
        about: "Runs every block of a CUDA program twice at the same time: for tests of tools",
        is_hidden: true,
    },
];

/// A tool by its name.
pub(crate) fn named(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

#[cfg(test)]
mod tests {
    #[test]
    fn all_tools_have_a_command() {
        let names = |tools: &mut dyn Iterator<Item = &'static str>| tools.collect::<std::collections::BTreeSet<_>>();
        let commands = names(&mut super::TOOLS.iter().map(|tool| tool.name));
        assert_eq!(commands, names(&mut tools::TOOLS.iter().map(|tool| tool.name())));
    }
}
