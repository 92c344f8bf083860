//! Versions of kernels: what a module has of each kernel after it was rewritten.

use std::any::Any;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::cursor::State;
use crate::error::Refusal;

/// What a module has of a kernel.
#[derive(Debug)]
pub struct KernelVersions {
    /// The kernel as the program has it, to be launched where no version is.
    pub original: Original,
    /// The versions that tools made of it, one for each choice of theirs; none if one of them refused.
    pub versions: Vec<KernelVersion>,
    /// Choices that a tool refuses, and why.
    pub refused: Vec<(Vec<usize>, Refusal)>,
    /// Why there are no versions.
    pub refusal: Option<Refusal>,
}

/// A kernel as the program has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Original {
    /// The name by which it is launched.
    pub symbol: String,
    /// Which parameter is the address of the launch context: the last. Only kernels that call functions through pointers
    /// have it: those functions are there once, with the checks of tools in them.
    pub context: Option<usize>,
}

/// A version of a kernel.
#[derive(Debug, Default)]
pub struct KernelVersion {
    /// The name by which it is launched.
    pub symbol: String,
    /// Which version of each tool it has, in the order of the tools.
    pub choice: Vec<usize>,
    /// Which parameter is the address of the launch context: the last. Nothing if no tool needs it.
    pub context: Option<usize>,
    /// How many words of its own it has in the launch context.
    pub kernel_words: usize,
    /// How many sites the kernel itself has, without the functions that it calls.
    pub sites: usize,
    /// Whether it is the original: no tool has anything to insert.
    pub is_plain: bool,
    /// What tools kept of the kernel, and then of the functions that it calls.
    pub(crate) states: Vec<Arc<States>>,
}

/// What each tool kept of a function.
pub(crate) type States = FxHashMap<&'static str, Box<dyn State>>;

impl KernelVersion {
    /// The original, as what some tools choose.
    pub(crate) fn plain(original: &Original, choice: Vec<usize>) -> Self {
        let Original { symbol, context } = original.clone();
        Self { symbol, choice, context, is_plain: true, ..Self::default() }
    }

    /// Whether it is the original, and a tool has others for which it might have been left.
    pub fn is_chosen_plain(&self) -> bool {
        self.is_plain && self.choice.iter().any(|&version| version > 0)
    }

    /// What a tool kept of the kernel while it rewrote it.
    pub fn state<S: State>(&self, tool: &str) -> Option<&S> {
        self.states.first().and_then(|states| of_tool(states, tool))
    }

    /// What it kept of the kernel, and of the functions that it calls, but not of those that it calls through pointers.
    pub fn states<'a, S: State>(&'a self, tool: &'a str) -> impl Iterator<Item = &'a S> {
        self.states.iter().filter_map(move |states| of_tool(states, tool))
    }
}

fn of_tool<'a, S: State>(states: &'a States, tool: &str) -> Option<&'a S> {
    let state: &dyn Any = &**states.get(tool)?;
    state.downcast_ref()
}

impl KernelVersions {
    /// The version of a choice.
    pub fn version(&self, choice: &[usize]) -> Option<&KernelVersion> {
        self.versions.iter().find(|version| version.choice == choice)
    }

    /// Why there is no version of a choice, if a tool refuses it.
    pub fn refusal_of(&self, choice: &[usize]) -> Option<&Refusal> {
        let of_choice = self.refused.iter().find(|(refused, _)| refused == choice).map(|(_, refusal)| refusal);
        self.refusal.as_ref().or(of_choice)
    }
}
