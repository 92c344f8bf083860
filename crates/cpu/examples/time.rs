//! Times a kernel: `time FILE KERNEL GRID BLOCK ARGUMENT...`, where an argument is `BYTESb` for a buffer of zeros, a
//! number for an `.s32`, or one with a point for an `.f32`. Prints the processor time of compiling and running it, at
//! both widths and in both tiers.
#![allow(clippy::print_stdout, reason = "this is a command")]

use std::time::Duration;

use cpu::{Device, Mode, Program, Tier, Width};
use device::LaunchRequest;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let number = |text: &str| text.parse::<u32>().expect("a number");
    let text = std::fs::read_to_string(&args[1]).expect("the file can be read");
    let device = Device::new(1 << 30).expect("there is memory");
    let program = Program::load(&device, ptx::parse(&text).module).expect("the module can be loaded");
    let (kernel, grid, block) = (args[2].as_str(), [number(&args[3]), 1, 1], [number(&args[4]), 1, 1]);
    let mut params = Vec::new();
    for arg in &args[5..] {
        if let Some(bytes) = arg.strip_suffix('b') {
            params.resize(params.len().next_multiple_of(8), 0);
            let address = device.memory.allocate(number(bytes).into(), 256).expect("there is memory");
            params.extend_from_slice(&address.to_le_bytes());
        } else if arg.contains('.') {
            params.extend_from_slice(&arg.parse::<f32>().expect("a number").to_le_bytes());
        } else {
            params.extend_from_slice(&number(arg).to_le_bytes());
        }
    }
    for width in [Width::Thread, Width::Warp] {
        for tier in [Tier::Baseline, Tier::Optimised] {
            let mode = Mode { width, tier, ..Mode::default() };
            let start = processor_time();
            program
                .compile(&LaunchRequest { block, ..LaunchRequest::of(kernel, &[]) }, &mode)
                .expect("the kernel can be compiled");
            let compiled = processor_time();
            let request = LaunchRequest { grid, block, ..LaunchRequest::of(kernel, &params) };
            // SAFETY: who calls this command gives the kernel parameters that it can work with.
            unsafe { program.launch(&request, &mode) }.expect("the kernel runs");
            let (compiling, running) = (compiled - start, processor_time() - compiled);
            println!("{width:?} {tier:?}: compiled in {compiling:.0?}, run in {running:.0?}");
        }
    }
}

/// What all threads of this process have used.
fn processor_time() -> Duration {
    // SAFETY: the structure is plain numbers, and is written by the call.
    let usage = unsafe {
        let mut usage = std::mem::zeroed::<libc::rusage>();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    };
    let of = |time: libc::timeval| Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1000);
    of(usage.ru_utime) + of(usage.ru_stime)
}
