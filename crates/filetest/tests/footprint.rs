//! What is proved of launches holds in the interpreter. `footprint-random` does the same for many more kernels.

use filetest::footprint::{check, mutants};
use filetest::random_kernel::{generate_addresses, generate_comparisons};
use filetest::scenario::Scenario;
use ptx::analysis::footprint::Verdict;

#[test]
fn nothing_wrong_is_claimed_of_random_kernels() {
    let (mut in_bounds, mut race_free) = (0, 0);
    for seed in 0..400 {
        let kernel = generate_addresses(seed);
        let parsed = ptx::parse(&kernel.text);
        let checked = check(&parsed.module, &Scenario::parse(&kernel.text).unwrap(), seed).unwrap();
        assert_eq!(checked.wrong_claim(), None, "seed {seed}\n{}", kernel.text);
        in_bounds += u32::from(checked.footprint.bounds.is_proved());
        race_free += u32::from(checked.footprint.races.is_proved());
    }
    // There must be something to be wrong about.
    assert!(in_bounds > 100 && race_free > 50, "{in_bounds} in bounds, {race_free} race-free");
}

#[test]
fn kernels_race_only_if_they_meet_their_condition() {
    let (mut conditional, mut met) = (0, 0);
    for seed in 0..400 {
        let kernel = generate_comparisons(seed);
        let parsed = ptx::parse(&kernel.text);
        let checked = check(&parsed.module, &Scenario::parse(&kernel.text).unwrap(), seed).unwrap();
        assert_eq!(checked.wrong_claim(), None, "seed {seed}\n{}", kernel.text);
        conditional += u32::from(checked.footprint.condition.is_some());
        met += u32::from(checked.observed.met_condition);
    }
    assert!(conditional > 40 && met > 10, "{conditional} on a condition, {met} of which meet it");
}

#[test]
fn random_kernels_are_ptx_without_mistakes() {
    let kernels = (0..200).flat_map(|seed| [(seed, generate_addresses(seed)), (seed, generate_comparisons(seed))]);
    for (seed, kernel) in kernels {
        let parsed = ptx::parse(&kernel.text);
        assert!(parsed.diagnostics.is_empty(), "seed {seed}: {:?}", parsed.diagnostics);
        let found = ptx::verify(&parsed.module);
        assert!(found.is_empty(), "seed {seed}: {found:?}\n{}", kernel.text);
    }
}

/// Threads exchange values with their neighbours in shared memory, and write them to `a`.
const EXCHANGE: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 a)
{
    .reg .b32 %r<9>; .reg .b64 %rd<4>;
    .shared .align 4 .b8 s[128];
    ld.param.u64 %rd1, [a];
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, s;
    add.s32 %r4, %r3, %r2;
    st.shared.u32 [%r4], %r1;
    bar.sync 0;
    xor.b32 %r5, %r2, 64;
    add.s32 %r6, %r3, %r5;
    ld.shared.u32 %r7, [%r6];
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r7;
    ret;
}
//@ run k: block=32 args=a:u32[32]
";

#[test]
fn a_wrong_claim_is_seen() {
    let module = ptx::parse(EXCHANGE).module;
    let scenario = Scenario::parse(EXCHANGE).unwrap();
    let kernel = module.function("k").unwrap();
    let right = check(&module, &scenario, 0).unwrap();
    assert!(right.footprint.bounds.is_proved() && right.footprint.races.is_proved(), "{:?}", right.footprint);
    assert_eq!(right.wrong_claim(), None);
    // Without the barrier, and with each of three accesses an element further.
    let broken = mutants(&module, kernel);
    assert_eq!(broken.len(), 4);
    for mutant in broken {
        let mut checked = check(&mutant.module, &scenario, 0).unwrap();
        assert_eq!(checked.wrong_claim(), None);
        assert!(!(checked.footprint.bounds.is_proved() && checked.footprint.races.is_proved()), "{:?}", mutant.mistake);
        checked.footprint.bounds = Verdict::Proved;
        checked.footprint.races = Verdict::Proved;
        assert!(checked.wrong_claim().is_some(), "{:?} in line {}", mutant.mistake, mutant.line);
    }
}
