//! Uniformity against the truth: random kernels are run thread by thread and as a warp, and every claim is compared.
//!
//! What breaks these tests: any transfer function that claims too much (drop the wrap check in `extend`, forget to free
//! a coefficient in `mul`, shift the wrong way in `shr`), a join that keeps what only one side has, a region of a branch
//! that ends too early (take the post-dominator as it is, do not go around loops), or webs that are not tainted while
//! another lane needs them (leave out the heads of parts). Each of these was tried.

#![allow(clippy::print_stdout)]

mod kernel;
mod warp;

use kernel::{Generator, Launch, PARAMS, Random, Taste};
use ptx::analysis::{Class, LaunchFacts, Uniformity};
use warp::{Counts, Program, Warp};

const SHAPES: [[u32; 3]; 16] = [
    [256, 1, 1],
    [32, 8, 1],
    [64, 2, 2],
    [16, 16, 1],
    [8, 8, 4],
    [8, 2, 4],
    [4, 4, 4],
    [2, 3, 5],
    [100, 1, 1],
    [48, 4, 1],
    [20, 5, 2],
    [33, 3, 1],
    [1, 64, 1],
    [1, 1, 40],
    [16, 3, 1],
    [24, 4, 2],
];

/// Uniform inputs: boundaries, small numbers, anything.
fn parameter(random: &mut Random) -> u64 {
    let number =
        random.pick(&[0, 1, 3, 4, 31, 32, 100, 1 << 15, 1 << 16, i32::MAX as u64, 1 << 31, u64::from(u32::MAX)]);
    match random.below(6) {
        0 => number.wrapping_neg(),
        1 => number.wrapping_sub(random.below(40) as u64),
        2 => random.next(),
        3 => i64::MIN as u64 ^ number,
        _ => number,
    }
}

fn facts_of(random: &mut Random, block: [u32; 3]) -> LaunchFacts {
    let mut facts = LaunchFacts::default().with_block(block);
    match random.below(6) {
        0 => facts.block[random.below(3)] = None,
        1 => facts = LaunchFacts::default(),
        2 => {
            facts = LaunchFacts::default();
            facts.block_x_multiple = 1 << block[0].trailing_zeros();
        }
        _ => {}
    }
    facts
}

fn check(seed: u64, taste: Taste, counts: &mut Counts) {
    let mut random = Random::new(seed);
    let kernel = Generator::new(&mut random, taste).kernel();
    let program = Program::new(&kernel);
    let block = random.pick(&SHAPES);
    let facts = facts_of(&mut random, block);
    let uniformity = Uniformity::of(&program.module, program.function(), &program.cfg, &facts);
    counts.kernels += 1;
    check_that_guards_are_needed(&program, &uniformity);
    for web in uniformity.webs() {
        let value = uniformity.value(web);
        match value.class() {
            Class::Uniform => counts.uniform += 1,
            Class::Affine { .. } => counts.affine += 1,
            Class::Grouped { .. } => counts.grouped += 1,
            Class::Vector => counts.vector += 1,
        }
        counts.guarded += usize::from(value.needs_guard());
    }
    for _ in 0..4 {
        let threads: u32 = block.iter().product();
        let params = [(); PARAMS].map(|()| parameter(&mut random));
        let ctaid = [random.pick(&[0, 1, 7, 65535, i32::MAX as u32 - 1]), random.below(65535) as u32, 0];
        let launch = Launch { block, ctaid, params };
        let warp = random.below(threads.div_ceil(32) as usize) as u32;
        Warp::new(&program, &uniformity, &facts, &launch, warp).run(&mut random, counts);
    }
}

/// A guard must be able to fail as far as the analysis knows the base, and something must depend on it.
fn check_that_guards_are_needed(program: &Program<'_>, uniformity: &Uniformity) {
    for guard in uniformity.guards() {
        let value =
            uniformity.value(uniformity.read(guard.statement, guard.reg).expect("guards are about what is read"));
        let (known, low) = value.low_bits_of_base();
        let bits = kernel::mask(value.bits());
        let keep = if known == 64 { 0 } else { u64::MAX << known };
        let (least, greatest) = value.range();
        let (signed_least, signed_greatest) = value.signed_range();
        // The least and greatest numbers, and all ones below each bit.
        let mut candidates = vec![least, greatest, signed_least as u64, signed_greatest as u64];
        candidates.extend(
            (0..64).map(|bit| (1_u64 << bit) - 1).flat_map(|ones| {
                [ones, !ones, ones + 1, least | ones, greatest & !ones, greatest | ones, least & !ones]
            }),
        );
        let can_fail = candidates.into_iter().any(|base| {
            let base = (base & keep | low) & bits;
            [0, 1_u64 << (known % 64)].iter().any(|&step| {
                let base = base.wrapping_sub(step) & bits;
                (least..=greatest).contains(&base) && base & !keep == low && !guard.check.holds(base)
            })
        });
        assert!(can_fail, "{guard:?} of {value:?}\n{}", program.kernel.text());
    }
    let depends = |web| uniformity.value(web).needs_guard();
    assert_eq!(uniformity.webs().any(depends), !uniformity.guards().is_empty(), "{}", program.kernel.text());
}

/// `UNIFORMITY_SEED` repeats one kernel; `UNIFORMITY_FACTOR` multiplies their number.
fn check_many(seeds: std::ops::Range<u64>, taste: Taste) -> Counts {
    let mut counts = Counts::default();
    let number = |name| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("it is a number"));
    let seeds = match number("UNIFORMITY_SEED") {
        Some(seed) => seed..seed + 1,
        None => {
            let factor = number("UNIFORMITY_FACTOR").unwrap_or(1);
            seeds.start * factor..seeds.end * factor
        }
    };
    for seed in seeds {
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut counts = Counts::default();
            check(seed, taste, &mut counts);
            counts
        }));
        match result {
            Ok(more) => counts.add(&more),
            Err(panic) => {
                println!("repeat with UNIFORMITY_SEED={seed}");
                std::panic::resume_unwind(panic);
            }
        }
    }
    println!("{counts:?}");
    counts
}

/// Fails if a transfer function is wrong. Straight code has no joins, so that all comes from arithmetic.
#[test]
fn arithmetic() {
    let counts = check_many(0..3000, Taste { blocks: (2, 3), back: 0, anywhere: 0, guarded: 3, chained: 80 });
    assert!(counts.affine > 5000 && counts.guarded > 150 && counts.grouped > 5000, "{counts:?}");
}

const BRANCHES: Taste = Taste { blocks: (4, 12), back: 0, anywhere: 0, guarded: 12, chained: 30 };

/// Fails if values that meet after a branch, or that are kept while other lanes write, are claimed to be regular.
#[test]
fn branches() {
    let counts = check_many(10_000..12_000, BRANCHES);
    assert!(counts.uniform > 1000 && counts.uniform_branches > 1000 && counts.divergent_branches > 1000, "{counts:?}");
}

/// Kernels that an analysis of the past got wrong.
#[test]
fn found_before() {
    check(109_556, BRANCHES, &mut Counts::default());
}

/// Fails if a loop that lanes leave in different iterations, or continue early, is not seen as such.
#[test]
fn loops() {
    let counts = check_many(20_000..22_000, Taste { blocks: (4, 14), back: 35, anywhere: 0, guarded: 8, chained: 30 });
    assert!(counts.uniform_branches > 1000 && counts.divergent_branches > 1000, "{counts:?}");
}

/// Fails if anything is claimed in loops with several entries that depends on an order of iterations.
#[test]
fn any_graph() {
    let counts = check_many(30_000..31_500, Taste { blocks: (4, 16), back: 20, anywhere: 50, guarded: 5, chained: 20 });
    assert!(counts.uniform_branches > 1000 && counts.divergent_branches > 1000, "{counts:?}");
}

impl Counts {
    fn add(&mut self, more: &Self) {
        self.kernels += more.kernels;
        self.uniform += more.uniform;
        self.affine += more.affine;
        self.grouped += more.grouped;
        self.vector += more.vector;
        self.guarded += more.guarded;
        self.proven += more.proven;
        self.uniform_branches += more.uniform_branches;
        self.divergent_branches += more.divergent_branches;
        self.reads += more.reads;
        self.broken_guards += more.broken_guards;
        self.addresses += more.addresses;
    }
}
