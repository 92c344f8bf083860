//! A launch, as tools see it.

use std::any::Any;
use std::sync::Arc;

use ptx::analysis::footprint::Footprint;
use ptx::ir::{Module, Symbol};
use ptx::types::Space;
use report::{AccessOf, Occurrence, Place, Stack, thread_name};
use rewrite::context::{Layout, Word};
use rewrite::{KernelVersion, KernelWord, LaunchShape, Refusal, Site, SiteId, Sites};

use crate::device_access::{DeviceAccess, LaunchDevice};
use crate::objects::{self, Moment, Objects};
use crate::order::WorkOrder;
use crate::proofs::Proofs;
use crate::stack::HostStack;

/// A launch that is about to take place, as the program asked for it.
#[derive(Clone, Copy, Debug)]
pub struct LaunchView<'a> {
    /// The kernel, as the compiler names it.
    pub kernel: &'a str,
    /// The module that it is in, rewritten.
    pub module: &'a Module,
    /// How it is launched.
    pub shape: LaunchShape,
    /// The parameters, laid out as the kernel declares them.
    pub params: &'a [u8],
    /// Where each parameter begins, and how many bytes it has.
    pub layout: &'a [(u64, u64)],
    /// Bytes of shared memory that the kernel declares.
    pub static_shared: u64,
    /// How the program wants L1 and shared memory divided.
    pub carveout: CarveoutRequest,
    /// Which launch of the process it is, from 1 on.
    pub number: u64,
    /// Where the program asked for it.
    pub stack: &'a HostStack,
    /// The device that it is on.
    pub device: LaunchDevice,
    /// What comes before it; nothing if no tool [wants](crate::Instance::wants_order) to know.
    pub order: Option<&'a WorkOrder>,
    /// The versions that tools made of the kernel, if it was rewritten.
    pub versions: &'a [KernelVersion],
    /// Versions that tools refuse to make of it, and why: which version of each tool they would have had.
    pub refused: &'a [(Vec<usize>, Refusal)],
    /// The sites of the module, if it was rewritten.
    pub sites: Option<&'a Sites>,
    /// What is known of launches of the kernel before they run; nothing if that cannot be asked.
    pub proofs: Option<&'a Proofs>,
}

/// How a program wants the memory of a multiprocessor divided into L1 and shared memory, for a kernel or for all.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub enum CarveoutRequest {
    /// It does not say.
    #[default]
    Nothing,
    /// So much of the largest shared memory, in percent (`cudaFuncAttributePreferredSharedMemoryCarveout`).
    Percent(u32),
    /// More shared memory (`cudaFuncCachePreferShared`).
    PreferShared,
    /// More L1 (`cudaFuncCachePreferL1`).
    PreferL1,
    /// The same of both (`cudaFuncCachePreferEqual`).
    PreferEqual,
}

/// A run of a launch that has ended.
#[derive(Clone, Copy, Debug)]
pub struct EndedLaunch<'a> {
    /// Which launch of the process it is.
    pub number: u64,
    /// The kernel, as the compiler names it.
    pub kernel: &'a str,
    /// The module that it is in, rewritten.
    pub module: &'a Module,
    /// All sites of the module.
    pub sites: &'a Sites,
}

impl LaunchView<'_> {
    /// What it touches, as far as that is known before it runs.
    pub fn footprint(&self, objects: &Objects) -> Option<Arc<Footprint>> {
        self.proofs.map(|proofs| proofs.footprint(&self.shape, self.params, self.device, objects).0)
    }

    /// A pointer among the parameters.
    pub fn pointer(&self, param: usize, offset: u32) -> Option<u64> {
        let at = usize::try_from(self.layout.get(param)?.0 + u64::from(offset)).ok()?;
        let bytes = self.params.get(at..at.checked_add(8)?)?;
        Some(u64::from_le_bytes(bytes.try_into().expect("eight bytes")))
    }
}

/// The words of one tool in the context of a launch.
#[derive(Debug)]
pub struct Words<'a> {
    tool: &'a str,
    layout: &'a Layout,
    table: &'a mut [u64],
    kept: &'a mut Vec<Kept>,
    tables: &'a mut Vec<(usize, Arc<[u64]>)>,
}

/// What a launch reads, and what is therefore kept until it has ended.
pub type Kept = Arc<dyn Any + Send + Sync>;

impl<'a> Words<'a> {
    /// Those of a tool in a table, where is kept what they point to, and the tables of which a word is to have the address.
    pub fn new(
        tool: &'a str,
        layout: &'a Layout,
        table: &'a mut [u64],
        kept: &'a mut Vec<Kept>,
        tables: &'a mut Vec<(usize, Arc<[u64]>)>,
    ) -> Self {
        Self { tool, layout, table, kept, tables }
    }

    /// Sets a word that the tool declares to the address of a table that the launch reads.
    pub fn set_table(&mut self, word: Word, table: Arc<[u64]>) {
        let offset = self.layout.offset(self.tool, word).expect("a tool declares the words that it sets");
        self.tables.push((offset as usize / 8, table));
    }

    /// Keeps something until the launch has ended.
    pub fn keep(&mut self, kept: Kept) {
        self.kept.push(kept);
    }

    /// Sets a word that the tool declares.
    pub fn set(&mut self, word: Word, value: u64) {
        let offset = self.layout.offset(self.tool, word).expect("a tool declares the words that it sets");
        self.table[offset as usize / 8] = value;
    }

    /// Sets a word of the kernel's own.
    pub fn set_kernel_word(&mut self, word: KernelWord, value: u64) {
        self.table[self.layout.kernel_words() as usize / 8 + word.0] = value;
    }
}

/// What is known of a record besides what it says.
#[derive(Clone, Debug)]
pub struct Evidence<'a> {
    /// The site.
    pub site: &'a Site,
    /// Where it is in the code.
    pub place: Place,
    /// When it happened, with the ids of the program.
    pub occurrence: Occurrence,
    /// How many times it happened at this site.
    pub count: u64,
    /// When, among the records of the launch.
    pub when: Moment,
    /// The module.
    pub module: &'a Module,
    /// How the kernel was launched.
    pub shape: LaunchShape,
    /// Where the program launched the kernel.
    pub launched: Stack,
    /// The device that it was launched on.
    pub device: LaunchDevice,
    /// All sites of the module.
    pub sites: &'a Sites,
}

impl Evidence<'_> {
    /// The access that was recorded, for findings about several: what it does is said in a word.
    pub fn access(&self, what: &str) -> AccessOf {
        let Occurrence { block, thread, launch, .. } = self.occurrence;
        AccessOf {
            what: what.to_owned(),
            by: thread_name(block, thread),
            place: Some(self.place.clone()),
            kernel: self.place.kernel.clone(),
            launch,
            block: Some(block),
            thread: Some(thread),
            barriers: None,
        }
    }

    /// Where another site of the module is in the code.
    pub fn place_of(&self, site: SiteId) -> Option<Place> {
        self.sites.place(self.module, site, &self.place.kernel)
    }
}

/// How often helpers counted something at a site (`warpgrind_count`), in all launches of its module.
#[derive(Clone, Debug)]
pub struct SiteCount<'a> {
    /// The site.
    pub site: &'a Site,
    /// Where it is in the code. The kernel is the function that it is in.
    pub place: Place,
    /// The kernel that was launched.
    pub kernel: &'a str,
    /// The module.
    pub module: &'a Module,
    /// How often.
    pub count: u64,
}

/// The variable that the pointer of a site was made from, as an object whose start the device has told.
pub fn site_variable(evidence: &Evidence<'_>, start: u64) -> Option<objects::Described> {
    let Evidence { site, module, .. } = evidence;
    let variable = match site.variable? {
        Symbol::Global(global) => &module.globals[global],
        Symbol::Var(var) => &module.functions[site.func].vars[var],
        _ => return None,
    };
    let kind = match variable.space {
        Space::Shared if variable.size().is_none() => "the dynamic shared memory",
        Space::Shared => "the shared variable",
        Space::Local => "the local memory",
        _ => "the variable",
    };
    Some(objects::Described {
        name: format!("{kind} `{}`", report::short_name(module.text(variable.name))),
        start,
        bytes: variable.size().unwrap_or(evidence.shape.dynamic_shared.into()),
        stack: None,
        permissions: objects::permissions::ALL,
        access: DeviceAccess::Every,
    })
}
