//! What a program says of itself, in its first lines that begin with `//@`.

use anyhow::{Context, Result, bail};

/// How a program is built and run, and what must come of it.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    /// `variants: static shared …`: the ways in which it is built; these two if nothing is said.
    pub(crate) variants: Vec<Variant>,
    /// `build: …`: options of the compiler.
    pub(crate) build: Vec<String>,
    /// `with: FILE …`: other sources of the program, beside it.
    pub(crate) with: Vec<String>,
    /// `library: FILE …`: sources that become shared objects; their paths are the first arguments of the program.
    pub(crate) libraries: Vec<String>,
    /// `run: …`: options of `warpgrind run`.
    pub(crate) run: Vec<String>,
    /// `args: …`: arguments of the program.
    pub(crate) args: Vec<String>,
    /// `env: NAME=VALUE …`.
    pub(crate) env: Vec<(String, String)>,
    /// `exit: N`: the exit code, 0 if nothing is said.
    pub(crate) exit: i32,
    /// `stdout: LINE`: all lines that it prints; without, one of them is `PASS`.
    pub(crate) stdout: Option<Vec<String>>,
    /// `stderr: PART`: parts of lines on standard error; without, there is nothing.
    pub(crate) stderr: Vec<String>,
    /// `seeds: N`: it is run with `--seed 0` to `--seed N-1`, each twice, which must give the same output.
    pub(crate) seeds: u64,
    /// `outcomes: N`: so many different outputs, at least, must come of these; then it need not print `PASS`.
    pub(crate) outcomes: usize,
    /// `bugs: WHICH`: it does on purpose what tools report.
    pub(crate) has_bugs: bool,
    /// `tools: NAME …`: under which tools it is run, too; all of them if nothing is said. `no` is the name of none.
    pub(crate) tools: Option<Vec<String>>,
}

/// A way in which a program is built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Variant {
    /// By nvcc with the runtime in the program.
    Static,
    /// By nvcc with `libcudart.so`.
    Shared,
    /// For an architecture, `sm_90`.
    Architecture(&'static str),
    /// Modules that are linked when they are loaded.
    Relocatable,
    /// Without optimisation, with information for debuggers.
    Debug,
    /// With lines of the source.
    Lines,
    /// With a default stream for each thread.
    PerThreadDefaultStream,
    /// By clang, with the headers and the shared runtime of CUDA 12.
    Clang,
    /// The same with CUDA 11, the last that has texture references in the runtime.
    Clang11,
}

impl Variant {
    const ALL: [Self; 13] = [
        Self::Static,
        Self::Shared,
        Self::Architecture("sm_75"),
        Self::Architecture("sm_90"),
        Self::Architecture("sm_90a"),
        Self::Architecture("sm_100"),
        Self::Architecture("sm_120"),
        Self::Relocatable,
        Self::Debug,
        Self::Lines,
        Self::PerThreadDefaultStream,
        Self::Clang,
        Self::Clang11,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Static => "static",
            Self::Shared => "shared",
            Self::Architecture(name) => name,
            Self::Relocatable => "rdc",
            Self::Debug => "G",
            Self::Lines => "lineinfo",
            Self::PerThreadDefaultStream => "ptds",
            Self::Clang => "clang",
            Self::Clang11 => "clang-11",
        }
    }

    /// The version of CUDA whose headers clang takes, if it is the compiler.
    pub(crate) fn clang_cuda(self) -> Option<&'static str> {
        match self {
            Self::Clang => Some("12"),
            Self::Clang11 => Some("11"),
            _ => None,
        }
    }

    pub(crate) fn parse(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|variant| variant.name() == name).with_context(|| format!("no variant is `{name}`"))
    }
}

impl Header {
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let mut header = Self {
            variants: Vec::new(),
            build: Vec::new(),
            with: Vec::new(),
            libraries: Vec::new(),
            run: Vec::new(),
            args: Vec::new(),
            env: Vec::new(),
            exit: 0,
            stdout: None,
            stderr: Vec::new(),
            seeds: 0,
            outcomes: 0,
            has_bugs: false,
            tools: None,
        };
        for line in text.lines().filter_map(|line| line.strip_prefix("//@ ")) {
            let (key, value) = line.split_once(':').with_context(|| format!("`{line}` has no colon"))?;
            let value = value.strip_prefix(' ').unwrap_or(value);
            let mut words = value.split_whitespace().map(str::to_owned);
            match key {
                "variants" => {
                    header.variants = value.split_whitespace().map(Variant::parse).collect::<Result<_>>()?;
                }
                "build" => header.build.extend(words),
                "with" => header.with.extend(words),
                "library" => header.libraries.extend(words),
                "run" => header.run.extend(words),
                "args" => header.args.extend(words),
                "env" => {
                    let pair = |word: String| {
                        let (name, value) = word.split_once('=')?;
                        Some((name.to_owned(), value.to_owned()))
                    };
                    let all: Option<Vec<_>> = words.by_ref().map(pair).collect();
                    header.env.extend(all.with_context(|| format!("`{value}` is not NAME=VALUE"))?);
                }
                "exit" => header.exit = value.parse().with_context(|| format!("`{value}` is not an exit code"))?,
                "stdout" => header.stdout.get_or_insert_default().push(value.to_owned()),
                "stderr" => header.stderr.push(value.to_owned()),
                "seeds" => header.seeds = value.parse().with_context(|| format!("`{value}` is not a number"))?,
                "outcomes" => header.outcomes = value.parse().with_context(|| format!("`{value}` is not a number"))?,
                "bugs" => header.has_bugs = true,
                "tools" => header.tools = Some(words.collect()),
                _ => bail!("`{key}` is not known"),
            }
        }
        if header.variants.is_empty() {
            header.variants = vec![Variant::Static, Variant::Shared];
        }
        Ok(header)
    }

    /// Whether it must do under a tool what it does without. What is expected to go wrong is the business of other tests.
    pub(crate) fn is_right_under(&self, tool: &str) -> bool {
        let is_right = self.exit == 0 && self.stderr.is_empty() && !self.has_bugs;
        is_right && self.tools.as_ref().is_none_or(|tools| tools.iter().any(|other| other == tool))
    }
}
