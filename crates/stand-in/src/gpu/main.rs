//! The GPU of the stand-in: the CPU device in a process of its own, whose addresses the program's process does not have.
//!
//! The driver connects once for each stream, and once for everything else; what comes through one connection is done in
//! order. When the first connection ends, so does the process.
//!
//! Unsafe: it maps memory and launches kernels on it. Only tests run it.
#![allow(unsafe_code, reason = "it maps memory and launches kernels")]

#[path = "../wire.rs"]
mod wire;

mod assembler;
mod memory;
mod texture;

use std::collections::HashMap;
use std::os::fd::FromRawFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use cpu::{Device, Mode, Program};
use device::{FaultKind, LaunchError, LaunchRequest};

use crate::assembler::Facts;
use crate::memory::Memory;
use crate::wire::{Ask, Message};

/// Numbers of `CUresult`.
mod result {
    pub(crate) const INVALID_VALUE: u64 = 1;
    pub(crate) const OUT_OF_MEMORY: u64 = 2;
    pub(crate) const INVALID_PTX: u64 = 218;
    pub(crate) const NOT_FOUND: u64 = 500;
    pub(crate) const ILLEGAL_ADDRESS: u64 = 700;
    pub(crate) const OUT_OF_RESOURCES: u64 = 701;
    pub(crate) const TIMEOUT: u64 = 702;
    pub(crate) const ASSERT: u64 = 710;
    pub(crate) const MISALIGNED: u64 = 716;
    pub(crate) const LAUNCH_FAILED: u64 = 719;
    pub(crate) const NOT_SUPPORTED: u64 = 801;
}

struct Gpu {
    memory: Memory,
    /// Made when it is needed: the driver chooses its addresses first.
    device: OnceLock<Arc<Device>>,
    modules: Mutex<HashMap<u64, Arc<Module>>>,
    next: AtomicU64,
    launches: AtomicU64,
    /// The launch in the middle of which it dies.
    dies_at: Option<u64>,
}

struct Module {
    program: Program,
    facts: HashMap<String, Facts>,
}

impl Ask {
    const ALL: [Self; 14] = [
        Self::Reserve,
        Self::Map,
        Self::Unmap,
        Self::Allow,
        Self::Write,
        Self::Read,
        Self::Copy,
        Self::Fill,
        Self::Load,
        Self::Unload,
        Self::Facts,
        Self::Launch,
        Self::Texture,
        Self::Forget,
    ];

    fn of(number: u64) -> Option<Self> {
        Self::ALL.into_iter().find(|ask| *ask as u64 == number)
    }
}

fn main() {
    // SAFETY: the driver has made standard input a socket that listens.
    let listener = unsafe { UnixListener::from_raw_fd(0) };
    let dies_at = std::env::var("WARPGRIND_STAND_IN_DIES_AT_LAUNCH").ok().and_then(|text| text.parse().ok());
    let gpu = Arc::new(Gpu {
        memory: Memory::default(),
        device: OnceLock::new(),
        modules: Mutex::default(),
        next: AtomicU64::new(1),
        launches: AtomicU64::new(0),
        dies_at,
    });
    for (number, stream) in listener.incoming().enumerate() {
        let Ok(stream) = stream else { return };
        let gpu = Arc::clone(&gpu);
        std::thread::spawn(move || {
            gpu.serve(stream);
            if number == 0 {
                std::process::exit(0);
            }
        });
    }
}

impl Gpu {
    fn serve(&self, mut stream: UnixStream) {
        while let Ok(question) = Message::read(&mut stream) {
            let answer = match self.answer(&question) {
                Ok(answer) => answer,
                Err(code) => Message::new(&[code], &[]),
            };
            if answer.write(&mut stream).is_err() {
                return;
            }
        }
    }

    fn answer(&self, question: &Message) -> Result<Message, u64> {
        let [ask, a, b, c, d, ..] = question.numbers;
        let done = |result: Result<(), u64>| result.map(|()| Message::default());
        match Ask::of(ask).ok_or(result::INVALID_VALUE)? {
            Ask::Reserve => done(self.memory.reserve(a, b)),
            Ask::Map => done(self.memory.map(a, b, c, d)),
            Ask::Unmap => done(self.memory.unmap(a, b)),
            Ask::Allow => done(self.memory.allow(a, b)),
            Ask::Write => done(self.memory.write(a, &question.bytes)),
            Ask::Read => self.memory.read(a, b).map(|bytes| Message { bytes, ..Message::default() }),
            Ask::Copy => done(self.memory.copy(a, b, c)),
            Ask::Fill => done(self.memory.fill(a, &c.to_le_bytes()[..b.min(4) as usize], d)),
            Ask::Load => self.load(&question.bytes),
            Ask::Unload => {
                self.modules.lock().unwrap_or_else(PoisonError::into_inner).remove(&a);
                Ok(Message::default())
            }
            Ask::Facts => self.facts(a, &question.bytes),
            Ask::Launch => self.launch(question),
            Ask::Texture => {
                let object = texture::object(question).ok_or(result::INVALID_VALUE)?;
                // SAFETY: what kernels read there is memory of this process, or ends the launch.
                let handle = unsafe { self.device().textures.create(object) };
                Ok(Message::new(&[0, handle], &[]))
            }
            Ask::Forget => done(self.device().textures.destroy(a).then_some(()).ok_or(result::INVALID_VALUE)),
        }
    }

    fn load(&self, text: &[u8]) -> Result<Message, u64> {
        let refused = |why: &str| Ok(Message::new(&[result::INVALID_PTX], why.as_bytes()));
        let Ok(text) = std::str::from_utf8(text) else { return refused("it is no text") };
        let parsed = ptx::parse(text);
        if !parsed.diagnostics.is_empty() {
            return refused("it cannot be parsed");
        }
        if let Some(wrong) = ptx::verify(&parsed.module).first() {
            return refused(&format!("{wrong:?}"));
        }
        let facts = match assembler::facts(text, &parsed.module) {
            Ok(facts) => facts,
            Err(why) => return refused(&why),
        };
        let program = match Program::load(self.device(), parsed.module) {
            Ok(program) => program,
            Err(error) => return refused(&error.to_string()),
        };
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let module = Arc::new(Module { program, facts });
        self.modules.lock().unwrap_or_else(PoisonError::into_inner).insert(number, module);
        Ok(Message::new(&[0, number], &[]))
    }

    fn device(&self) -> &Arc<Device> {
        self.device.get_or_init(|| Device::new(256 << 20).expect("there is room for the device's own"))
    }

    fn module(&self, number: u64) -> Result<Arc<Module>, u64> {
        let modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        modules.get(&number).cloned().ok_or(result::INVALID_VALUE)
    }

    fn facts(&self, module: u64, name: &[u8]) -> Result<Message, u64> {
        let (module, name) = (self.module(module)?, String::from_utf8_lossy(name));
        let known = module.program.kernel_facts(&name).ok_or(result::NOT_FOUND)?;
        let facts = module.facts.get(&*name).copied().unwrap_or_default();
        let shared = facts.shared.map_or(known.shared, u64::from);
        Ok(Message::new(&[0, facts.registers.into(), facts.max_threads().into(), shared, known.local], &[]))
    }

    fn launch(&self, question: &Message) -> Result<Message, u64> {
        let [_, module, gx, gy, gz, bx, by, bz, shared, is_cooperative, name, _] = question.numbers;
        let module = self.module(module)?;
        let (name, params) = question.bytes.split_at_checked(name as usize).ok_or(result::INVALID_VALUE)?;
        let name = String::from_utf8_lossy(name);
        let threads = bx.saturating_mul(by).saturating_mul(bz);
        let facts = module.facts.get(&*name).copied().unwrap_or_default();
        if threads > facts.max_threads().into() {
            return Err(result::OUT_OF_RESOURCES);
        }
        let output = Arc::<device::Output>::default();
        let request = LaunchRequest {
            grid: [gx, gy, gz].map(|size| size as u32),
            block: [bx, by, bz].map(|size| size as u32),
            dynamic_shared: shared as u32,
            is_cooperative: is_cooperative != 0,
            output: Some(Arc::clone(&output)),
            ..LaunchRequest::of(&name, params)
        };
        if Some(self.launches.fetch_add(1, Ordering::Relaxed) + 1) == self.dies_at {
            let half = device::Blocks::Range(0, request.blocks.count(request.grid) / 2);
            // SAFETY: as below.
            let _ = unsafe { module.program.launch(&LaunchRequest { blocks: half, ..request }, &Mode::default()) };
            std::process::abort();
        }
        // SAFETY: the memory of this process is there for kernels; what a kernel does to it is the fate of a GPU.
        let result = unsafe { module.program.launch(&request, &Mode::default()) };
        let code = result.err().map_or(0, |error| code(&error));
        Ok(Message::new(&[code], &output.take()))
    }
}

/// The driver's number for what went wrong.
#[allow(clippy::print_stderr, reason = "the driver prints what fails")]
fn code(error: &LaunchError) -> u64 {
    match error {
        LaunchError::NoKernel(_) => result::NOT_FOUND,
        LaunchError::Invalid(_) => result::INVALID_VALUE,
        LaunchError::Unsupported(_) | LaunchError::Internal(_) => {
            eprintln!("stand-in: {error}");
            result::NOT_SUPPORTED
        }
        LaunchError::Fault(fault) => match &fault.kind {
            FaultKind::IllegalAddress { .. } => result::ILLEGAL_ADDRESS,
            FaultKind::Misaligned { .. } => result::MISALIGNED,
            FaultKind::Assertion { message, place } => {
                let ([bx, by, bz], [tx, ty, tz]) = (fault.block, fault.thread);
                eprintln!("{place}: block: [{bx},{by},{bz}], thread: [{tx},{ty},{tz}] Assertion `{message}` failed.");
                result::ASSERT
            }
            FaultKind::Deadlock { .. } | FaultKind::Timeout { .. } => result::TIMEOUT,
            FaultKind::OutOfMemory { .. } => result::OUT_OF_MEMORY,
            _ => result::LAUNCH_FAILED,
        },
    }
}
