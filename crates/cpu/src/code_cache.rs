//! Kernels that were compiled before, on disk.
//!
//! Object files have no addresses in them: what a kernel needs of the process, its variables and our runtime, are symbols
//! that linking resolves. So what one process has compiled another one can link, wherever its memory is.
//!
//! An entry is found without lowering anything, by what lowering starts from: the text of all functions that the kernel
//! can reach, with the lines that messages and reports speak of, the variables, the options, the processor, LLVM, and our
//! own build.
//!
//! The name of an entry is a hash of what lowering starts from, not of what comes out, so that a hit skips lowering,
//! too. Our own build and LLVM's are known by the build ids that the linker wrote.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use cache::{Cache, Id, IdBuilder, Refusal};
use ptx::entity::Id as _;
use ptx::ir::FuncId;

use crate::codegen::{Compiled, Source};
use crate::identity::build_with;
use crate::linked_module::LinkedModule;
use crate::llvm::host;
use crate::lower::{KernelSummary, Sizes, Traits};

/// Compiled code of the user on disk. It is looked for when it is first needed.
#[derive(Debug)]
pub struct CodeCache {
    limit: u64,
    tell: fn(&str),
    opened: OnceLock<Option<Cache>>,
    hits: AtomicU64,
}

impl CodeCache {
    /// How many bytes are kept if nobody says otherwise.
    pub const DEFAULT_LIMIT: u64 = cache::DEFAULT_LIMIT;

    /// The cache of the user, with so many bytes at most. If there can be none, somebody is told why, once.
    pub fn of_user(limit: u64, tell: fn(&str)) -> Self {
        Self { limit, tell, opened: OnceLock::new(), hits: AtomicU64::new(0) }
    }

    /// A cache that is open.
    pub fn of(cache: Cache) -> Self {
        Self { limit: 0, tell: |_| {}, opened: OnceLock::from(Some(cache)), hits: AtomicU64::new(0) }
    }

    /// How many kernels were not compiled because they were here.
    pub fn hits(&self) -> u64 {
        self.hits.load(Ordering::Relaxed)
    }

    fn cache(&self) -> Option<&Cache> {
        let open = || {
            if is_secure() {
                return Err(Refusal::OtherRights);
            }
            Cache::open(&cache::directory_of_user()?, self.limit)
        };
        self.opened.get_or_init(|| open().inspect_err(|error| (self.tell)(&error.to_string())).ok()).as_ref()
    }

    /// The name under which a kernel is kept. Nothing if there is no cache, or if we do not know who we are.
    pub(crate) fn id(&self, source: &Source) -> Option<Id> {
        self.cache()?;
        id_of(source)
    }

    /// Whether a kernel may be there.
    pub(crate) fn has(&self, id: &Id) -> bool {
        self.cache().is_some_and(|cache| cache.has(id))
    }

    /// A kernel that was kept.
    pub(crate) fn get(&self, id: &Id) -> Option<Compiled> {
        let compiled = Compiled::from_bytes(&self.cache()?.get(id)?)?;
        self.hits.fetch_add(1, Ordering::Relaxed);
        Some(compiled)
    }

    /// Keeps a kernel.
    pub(crate) fn put(&self, id: &Id, compiled: &Compiled) {
        if let Some(cache) = self.cache() {
            cache.put(id, &compiled.to_bytes());
        }
    }

    /// Forgets a kernel that could not be linked.
    pub(crate) fn remove(&self, id: &Id) {
        if let Some(cache) = self.cache() {
            cache.remove(id);
        }
    }
}

/// Whether the process has rights that its user does not have.
fn is_secure() -> bool {
    // SAFETY: reads what the kernel passed to the process.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// Everything that decides what machine code comes out.
fn id_of(source: &Source) -> Option<Id> {
    let Source { module, kernel, options } = source;
    let mut id = IdBuilder::new();
    id.add(b"kernel, 1");
    id.add(&build_of_ours()?).add(&build_of_llvm()?);
    let (cpu, features) = host();
    id.add(cpu.as_bytes()).add(features.as_bytes());
    id.add(format!("{options:?}").as_bytes());
    add_module(&mut id, module, *kernel);
    Some(id.finish())
}

fn build_of_ours() -> Option<Vec<u8>> {
    static BUILD: OnceLock<Option<Vec<u8>>> = OnceLock::new();
    BUILD.get_or_init(|| build_with(id_of as *const () as usize)).clone()
}

/// LLVM may be a library of its own, which is replaced without us.
fn build_of_llvm() -> Option<Vec<u8>> {
    static BUILD: OnceLock<Option<Vec<u8>>> = OnceLock::new();
    BUILD.get_or_init(|| build_with(llvm_sys::core::LLVMContextCreate as *const () as usize)).clone()
}

/// What of a module lowering looks at for a kernel. Numbers of functions and variables are in symbols and in addresses of
/// functions, so they count as well.
fn add_module(id: &mut IdBuilder, module: &LinkedModule, kernel: FuncId) {
    let number = |id: &mut IdBuilder, number: usize| {
        id.add(&(number as u64).to_le_bytes());
    };
    let graph = module.calls();
    let mut functions: Vec<FuncId> = graph.reachable_from(kernel).iter().collect();
    // An indirect call may go to any of these.
    functions.extend(graph.address_taken().flat_map(|func| graph.reachable_from(func).iter().collect::<Vec<_>>()));
    functions.sort();
    functions.dedup();
    number(id, kernel.index());
    for (func, function) in module.functions.iter() {
        // Calls may name a declaration; what it stands for is all that counts.
        number(id, graph.resolve(func).index());
        if functions.binary_search(&func).is_err() {
            continue;
        }
        id.add(ptx::print_function(module, function).as_bytes());
        let Some(body) = &function.body else { continue };
        let lines = body.iter().map(|statement| module.lines.line(body.position(statement)));
        id.add(&lines.flat_map(u32::to_le_bytes).collect::<Vec<_>>());
    }
    for variable in module.globals.values() {
        id.add(ptx::print_variable(module, variable).as_bytes());
    }
}

impl Compiled {
    /// Seven numbers and the object file.
    fn to_bytes(&self) -> Vec<u8> {
        let Self { object, stack, summary: KernelSummary { sizes, traits }, microseconds } = self;
        let Traits { has_region_loops, spins } = *traits;
        let sizes = [sizes.dynamic_shared, sizes.local, sizes.params];
        let numbers = [&[*stack, *microseconds], &sizes[..], &[has_region_loops.into(), spins.into()]].concat();
        let mut bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        bytes.extend_from_slice(object);
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (numbers, object) = bytes.split_at_checked(56)?;
        let number = |index: usize| {
            let bytes = numbers[8 * index..8 * index + 8].try_into().expect("there are seven numbers of eight bytes");
            u64::from_le_bytes(bytes)
        };
        let sizes = Sizes { dynamic_shared: number(2), local: number(3), params: number(4) };
        let summary =
            KernelSummary { sizes, traits: Traits { has_region_loops: number(5) != 0, spins: number(6) != 0 } };
        Some(Self { object: object.to_vec(), stack: number(0), summary, microseconds: number(1) })
    }
}
