//! Prints what LLVM gets for a kernel: `llvm FILE KERNEL [BLOCK] [one|warp] [opt] [preempt]`, with blocks such as `16x16`.
#![allow(clippy::print_stdout, reason = "this is a command")]

use cpu::{Device, Mode, Program, Schedule, Tier, Width};

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&args[1]).expect("the file can be read");
    let device = Device::new(64 << 20).expect("there is memory");
    let program = Program::load(&device, ptx::parse(&text).module).expect("the module can be loaded");
    let mut block = [1; 3];
    let sizes = args.get(3).map_or("32", String::as_str).split('x');
    for (size, text) in block.iter_mut().zip(sizes) {
        *size = text.parse().expect("the sizes of the block are numbers");
    }
    let width = if args.iter().any(|arg| arg == "one") { Width::Thread } else { Width::Warp };
    let preempt = args.iter().any(|arg| arg == "preempt");
    let mode = Mode {
        width,
        tier: Tier::Optimised,
        schedule: if preempt { Schedule::Random } else { Schedule::InOrder },
        preempt,
        ..Mode::default()
    };
    let optimised = args.iter().any(|arg| arg == "opt");
    match program.llvm_text(&args[2], block, &mode, optimised) {
        Ok(text) => println!("{text}"),
        Err(error) => println!("{error}"),
    }
}
