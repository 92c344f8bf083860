//! Uniformity of small kernels, each with the one thing that it is about.

use ptx::analysis::{AddressBase, AddressPattern, AddressShape, BranchUniformity, Cfg, Class, LaneValue, LaunchFacts};
use ptx::analysis::{Given, NoWrap, Signedness, Uniformity};
use ptx::ir::{Function, Module, Reg, StmtId};
use ptx::view::View;

const UNIFORM: Class = Class::Uniform;
const VECTOR: Class = Class::Vector;

const fn affine(stride: i64) -> Class {
    Class::Affine { stride }
}

const fn grouped(lanes: u32, stride: i64) -> Class {
    Class::Grouped { lanes, stride }
}

/// An analysed kernel.
struct Kernel {
    module: Module,
    cfg: Cfg,
    uniformity: Uniformity,
}

const ROW: [u32; 3] = [256, 1, 1];

/// Analyses the body of a kernel `k` with the parameters `n` (32 bits), `a`, `b` (64 bits), and these registers:
/// predicates `%p`, 16 bits `%h`, 32 bits `%r` and `%f`, 64 bits `%rd`.
fn kernel(block: [u32; 3], body: &str) -> Kernel {
    kernel_with(&LaunchFacts::default().with_block(block), body)
}

fn kernel_with(facts: &LaunchFacts, body: &str) -> Kernel {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n\
         .extern .shared .align 16 .b8 dynamic[];\n\
         .func (.param .b32 out) callee (.param .b32 in);\n\
         .visible .entry k(.param .u32 n, .param .u64 a, .param .u64 .ptr .global .align 16 b) {{\n\
         .reg .pred %p<20>; .reg .b16 %h<20>; .reg .b32 %r<40>; .reg .f32 %f<20>; .reg .b64 %rd<40>;\n\
         .shared .align 4 .b8 tile[4096];\n\
         .local .align 8 .b8 depot[64];\n\
         {body}\n}}\n"
    );
    analyse(&text, facts)
}

fn analyse(text: &str, facts: &LaunchFacts) -> Kernel {
    let parsed = ptx::parse(text);
    assert!(parsed.diagnostics.is_empty(), "{:?}\n{text}", parsed.diagnostics);
    let module = parsed.module;
    let function = &module.functions[module.function("k").expect("the kernel is called k")];
    let cfg = Cfg::of(&module.forms, function);
    let uniformity = Uniformity::of(&module, function, &cfg, facts);
    Kernel { cfg, uniformity, module }
}

impl Kernel {
    fn function(&self) -> &Function {
        &self.module.functions[self.module.function("k").expect("the kernel is called k")]
    }

    fn reg(&self, name: &str) -> Reg {
        let function = self.function();
        let is_named = |&(reg, _): &(Reg, &_)| {
            let info = function.regs[reg];
            let group = &function.groups[info.group];
            let text = self.module.text(group.name);
            name == if group.count.is_some() { format!("{text}{}", info.number) } else { text.to_owned() }
        };
        function.regs.iter().find(is_named).unwrap_or_else(|| panic!("there is no {name}")).0
    }

    fn value(&self, name: &str) -> &LaneValue {
        self.uniformity.reg(self.reg(name)).expect("the register is used")
    }

    /// The class of a register, which must be certain.
    fn class(&self, name: &str) -> Class {
        let value = self.value(name);
        assert!(!value.needs_guard(), "{name} needs a guard: {value:?}");
        value.class()
    }

    /// The class of a register that depends on a guard.
    fn guarded_class(&self, name: &str) -> Class {
        let value = self.value(name);
        assert!(value.needs_guard(), "{name} needs no guard: {value:?}");
        value.class()
    }

    /// The n-th instruction that begins with a word.
    fn statement(&self, start: &str, nth: usize) -> StmtId {
        let function = self.function();
        let body = function.body.as_ref().expect("the kernel has a body");
        let starts =
            |id: &StmtId| self.module.forms[body.inst(*id).expect("an instruction").form].spelling().starts_with(start);
        body.insts().map(|(id, _)| id).filter(starts).nth(nth).unwrap_or_else(|| panic!("there is no {start} {nth}"))
    }

    fn pattern(&self, start: &str, nth: usize) -> AddressPattern {
        let id = self.statement(start, nth);
        let body = self.function().body.as_ref().expect("the kernel has a body");
        let view = View::of(&self.module.forms, body, id).expect("an instruction");
        AddressPattern::of(&self.uniformity, id, &view, &view.accesses()[0]).expect("it can be reached")
    }

    fn branches(&self) -> Vec<BranchUniformity> {
        self.uniformity.branches().map(|(_, branch)| branch.uniformity).collect()
    }

    fn divergent_blocks(&self) -> Vec<usize> {
        let blocks: Vec<_> = self.cfg.blocks().collect();
        (0..blocks.len()).filter(|&index| self.uniformity.is_divergent(blocks[index])).collect()
    }
}

/// `i = blockIdx.x * blockDim.x + threadIdx.x`, as the compilers for sm_75 to sm_90 write it.
const INDEX: &str = "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.s32 %r4, %r1, %r2, %r3;";

// Indices and addresses.

/// Fails if the low bits of a base are not followed through products and sums: then the index might wrap, and the
/// addresses need a guard.
#[test]
fn saxpy_is_contiguous_without_guards() {
    let saxpy = format!(
        "ld.param.u32 %r9, [n]; ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; {INDEX}
         setp.ge.s32 %p1, %r4, %r9;
         @%p1 bra DONE;
         cvta.to.global.u64 %rd3, %rd1;
         mul.wide.s32 %rd4, %r4, 4;
         add.s64 %rd5, %rd3, %rd4;
         ld.global.f32 %f1, [%rd5];
         cvta.to.global.u64 %rd6, %rd2;
         add.s64 %rd7, %rd6, %rd4;
         ld.global.f32 %f2, [%rd7];
         add.f32 %f3, %f1, %f2;
         st.global.f32 [%rd7], %f3;
         DONE: ret;"
    );
    let kernel = kernel(ROW, &saxpy);
    assert_eq!(kernel.class("%r4"), affine(1));
    assert_eq!(kernel.value("%r4").no_wrap(Signedness::Signed), NoWrap::Proven);
    assert_eq!(kernel.class("%rd4"), affine(4));
    assert_eq!(kernel.class("%rd7"), affine(4));
    assert_eq!(kernel.class("%f1"), VECTOR);
    assert_eq!(kernel.class("%p1"), VECTOR);
    let pattern = kernel.pattern("ld.global", 1);
    assert_eq!((pattern.shape, pattern.alignment, pattern.offset), (AddressShape::Contiguous, 4, 0));
    assert_eq!(pattern.base, AddressBase::Reg(kernel.reg("%rd7")));
    assert!(pattern.is_certain());
    assert_eq!(kernel.pattern("st.global", 0).shape, AddressShape::Contiguous);
    assert_eq!(kernel.branches(), [BranchUniformity::Divergent]);
    assert_eq!(kernel.uniformity.guards(), []);
}

/// The same as the compiler for sm_100 writes it, with untyped registers and loads.
#[test]
fn saxpy_of_the_untyped_dialect_is_contiguous() {
    let saxpy = format!(
        "ld.param.b32 %r9, [n]; ld.param.b64 %rd1, [a]; {INDEX}
         setp.ge.s32 %p1, %r4, %r9;
         @%p1 bra DONE;
         cvta.to.global.u64 %rd3, %rd1;
         mad.wide.s32 %rd5, %r4, 4, %rd3;
         ld.global.nc.b32 %r10, [%rd5];
         add.f32 %r11, %r10, %r10;
         st.global.b32 [%rd5+4], %r11;
         DONE: ret;"
    );
    let kernel = kernel(ROW, &saxpy);
    assert_eq!(kernel.class("%rd5"), affine(4));
    assert_eq!(kernel.class("%r11"), VECTOR);
    assert_eq!(kernel.pattern("ld.global", 0).shape, AddressShape::Contiguous);
    let store = kernel.pattern("st.global", 0);
    assert_eq!((store.shape, store.offset), (AddressShape::Contiguous, 4));
}

/// Fails if `%tid.x` is taken to rise by one across the end of a row.
#[test]
fn nothing_is_known_of_threads_in_blocks_of_unknown_width() {
    let unknown = kernel_with(&LaunchFacts::default(), &format!("{INDEX} ret;"));
    assert_eq!(unknown.class("%r3"), VECTOR);
    assert_eq!(unknown.class("%r4"), VECTOR);
    assert_eq!(unknown.class("%r2"), UNIFORM);
    let rows = kernel_with(&LaunchFacts::default().with_whole_rows(), &format!("{INDEX} ret;"));
    assert_eq!(rows.class("%r3"), affine(1));
    assert_eq!(rows.class("%r4"), affine(1));
    assert_eq!(rows.value("%r4").no_wrap(Signedness::Unsigned), NoWrap::Proven);
}

const TILE: &str = "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; ld.param.u32 %r3, [n]; ld.param.u64 %rd1, [a];
    mov.u32 %r4, %ctaid.y; mov.u32 %r5, %ntid.y; mad.lo.s32 %r6, %r4, %r5, %r2;
    mov.u32 %r7, %ctaid.x; mov.u32 %r8, %ntid.x; mad.lo.s32 %r9, %r7, %r8, %r1;
    mad.lo.s32 %r10, %r6, %r3, %r9;
    mul.wide.s32 %rd2, %r10, 4; add.s64 %rd3, %rd1, %rd2; ld.global.f32 %f1, [%rd3];
    mov.u32 %r11, tile; shl.b32 %r12, %r2, 6; add.s32 %r13, %r11, %r12; shl.b32 %r14, %r1, 2; add.s32 %r15, %r13, %r14;
    st.shared.f32 [%r15], %f1; ld.shared.f32 %f2, [%r13+8]; ld.shared.f32 %f3, [%r14];";

/// Fails if the two rows that share a warp are not kept apart, or not kept at all.
#[test]
fn halves_of_warps_are_rows_in_blocks_that_are_16_wide() {
    let kernel = kernel([16, 16, 1], &format!("{TILE} ret;"));
    assert_eq!(kernel.class("%r1"), grouped(16, 1));
    assert_eq!(kernel.class("%r2"), grouped(16, 0));
    assert_eq!(kernel.class("%r6"), grouped(16, 0));
    assert_eq!(kernel.class("%r10"), grouped(16, 1));
    assert_eq!(kernel.guarded_class("%rd3"), grouped(16, 4));
    // The index in the tile is 16·y + x: both halves together are one row of 32.
    assert_eq!(kernel.pattern("st.shared", 0).shape, AddressShape::Contiguous);
    assert_eq!(kernel.pattern("ld.shared", 0).shape, AddressShape::Grouped { lanes: 16, stride: 0 });
    assert_eq!(kernel.pattern("ld.shared", 1).shape, AddressShape::Grouped { lanes: 16, stride: 4 });
    assert!(kernel.pattern("st.shared", 0).is_certain(), "shared memory is too small for addresses to wrap");
    // One element of a row for each half.
    assert_eq!(kernel.class("%f2"), grouped(16, 0));
}

/// Fails if rows that fill whole warps are treated like shorter ones.
#[test]
fn rows_are_uniform_in_blocks_that_are_32_wide() {
    let kernel = kernel([32, 8, 1], &format!("{TILE} ret;"));
    assert_eq!(kernel.class("%r1"), affine(1));
    assert_eq!(kernel.class("%r2"), UNIFORM);
    assert_eq!(kernel.class("%r6"), UNIFORM);
    assert_eq!(kernel.class("%r10"), affine(1));
    assert_eq!(kernel.pattern("ld.shared", 0).shape, AddressShape::Uniform);
    assert_eq!(kernel.class("%f2"), UNIFORM);
}

// Wrapping.

/// Fails if an index with an unknown base is extended without a guard, if a guard is demanded where none is needed, or
/// if its bounds are off by one.
#[test]
fn indices_with_unknown_bases_need_a_guard_to_be_extended() {
    let kernel = kernel(
        ROW,
        "mov.u32 %r1, %tid.x; ld.param.u32 %r2, [n]; add.s32 %r3, %r1, %r2;
         cvt.s64.s32 %rd1, %r3; cvt.u64.u32 %rd2, %r3; add.s32 %r4, %r1, 5; cvt.s64.s32 %rd3, %r4;
         sub.s32 %r5, %r4, %r1; neg.s32 %r6, %r3; mul.wide.s32 %rd4, %r6, 8; ret;",
    );
    assert_eq!(kernel.class("%r3"), affine(1));
    assert_eq!(kernel.value("%r3").no_wrap(Signedness::Signed), NoWrap::NeedsGuard);
    assert_eq!(kernel.guarded_class("%rd1"), affine(1));
    assert_eq!(kernel.guarded_class("%rd2"), affine(1));
    assert_eq!(kernel.class("%rd3"), affine(1), "threads are less than 1024, so that five more do not wrap");
    assert_eq!(kernel.class("%r5"), UNIFORM);
    assert_eq!(kernel.guarded_class("%rd4"), affine(-8));
    let [signed, unsigned, negative] = kernel.uniformity.guards() else { panic!("{:?}", kernel.uniformity.guards()) };
    assert_eq!((signed.statement, signed.reg), (kernel.statement("cvt.s64", 0), kernel.reg("%r3")));
    assert!(signed.check.holds(0x7fff_ffff - 31) && !signed.check.holds(0x7fff_ffff - 30));
    assert!(signed.check.holds(0xffff_fff0), "from -16 to 15 nothing wraps that is signed");
    assert_eq!((unsigned.statement, unsigned.reg), (kernel.statement("cvt.u64", 0), kernel.reg("%r3")));
    assert!(unsigned.check.holds(0x7fff_ffff) && unsigned.check.holds(0xffff_ffff - 31));
    assert!(!unsigned.check.holds(0xffff_ffff - 30));
    assert_eq!((negative.statement, negative.reg), (kernel.statement("mul.wide", 0), kernel.reg("%r6")));
    assert!(negative.check.holds(0x8000_0000 + 31) && !negative.check.holds(0x8000_0000 + 30));
}

/// Fails if the mark is lost on the way to the address, or sticks to what does not depend on it.
#[test]
fn guards_are_remembered() {
    let kernel = kernel(
        ROW,
        "mov.u32 %r1, %tid.x; ld.param.u32 %r2, [n]; ld.param.u64 %rd9, [a]; add.s32 %r3, %r1, %r2;
         cvt.s64.s32 %rd1, %r3; shl.b64 %rd2, %rd1, 2; add.s64 %rd3, %rd9, %rd2; ld.global.f32 %f1, [%rd3];
         cvt.u32.u64 %r4, %rd3; setp.lt.s64 %p1, %rd1, 0; sub.s64 %rd4, %rd3, %rd3; cvt.s64.s32 %rd5, %r2;
         @%p1 bra DONE; mov.u32 %r5, 1; DONE: ret;",
    );
    assert_eq!(kernel.guarded_class("%rd3"), affine(4));
    let pattern = kernel.pattern("ld.global", 0);
    assert_eq!((pattern.shape, pattern.needs_guard, pattern.wrap_check), (AddressShape::Contiguous, true, None));
    assert_eq!(kernel.guarded_class("%r4"), affine(4));
    assert_eq!(kernel.class("%rd5"), UNIFORM);
    assert_eq!(kernel.class("%p1"), VECTOR, "control flow does not depend on guards");
    assert_eq!(kernel.branches(), [BranchUniformity::Divergent]);
}

/// Fails if lanes are said to go the same way because of something that only holds if a guard does.
#[test]
fn control_flow_does_not_depend_on_guards() {
    let kernel = kernel(
        ROW,
        "mov.u32 %r1, %tid.x; ld.param.u32 %r2, [n]; add.s32 %r3, %r1, %r2; cvt.u64.u32 %rd1, %r3; cvt.s64.s32 %rd2, %r3;
         sub.s64 %rd3, %rd1, %rd2; cvt.u32.u64 %r4, %rd3; isspacep.global %p1, %rd3; @%p1 bra DONE;
         table: .branchtargets DONE, OTHER; brx.idx %r4, table; OTHER: shfl.sync.idx.b32 %r5, %r1, %r4, 31, -1; DONE: ret;",
    );
    assert_eq!(kernel.guarded_class("%rd3"), UNIFORM, "if neither wraps");
    assert_eq!(kernel.branches(), [BranchUniformity::Divergent; 2]);
    assert_eq!(kernel.class("%r5"), VECTOR);
}

/// Fails if ranges are not used to prove that nothing wraps.
#[test]
fn a_known_grid_proves_that_indices_do_not_wrap() {
    let body = "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.s32 %r4, %r1, %r2, %r3;
        cvt.s64.s32 %rd1, %r4; ret;";
    // A width of 100 leaves nothing but two low bits of the base.
    let facts = LaunchFacts::default().with_block([100, 1, 1]);
    assert_eq!(kernel_with(&facts, body).guarded_class("%rd1"), affine(1));
    let facts = LaunchFacts { grid: [Some(1000), None, None], ..facts };
    assert_eq!(kernel_with(&facts, body).class("%rd1"), affine(1));
}

/// Fails if addresses of 32 bits are taken to be extended without wrapping.
#[test]
fn addresses_of_32_bits_are_checked_where_they_may_wrap() {
    let kernel = kernel(
        ROW,
        "mov.u32 %r1, %tid.x; ld.param.u32 %r2, [n]; shl.b32 %r3, %r1, 2; add.s32 %r4, %r2, %r3; mov.u32 %r5, dynamic;
         add.s32 %r6, %r5, %r3; ld.shared.f32 %f1, [%r4+8]; ld.shared.f32 %f2, [%r6+8]; ld.shared.v4.f32
         {%f3, %f4, %f5, %f6}, [%r6]; ld.shared.f32 %f7, [tile+12]; ret;",
    );
    let unknown = kernel.pattern("ld.shared.f32", 0);
    assert_eq!(unknown.shape, AddressShape::Contiguous);
    let check = unknown.wrap_check.expect("the base may be near the end");
    assert!(check.holds(0xffff_ffff - 124) && !check.holds(0xffff_ffff - 123));
    let known = kernel.pattern("ld.shared.f32", 1);
    assert_eq!((known.shape, known.wrap_check, known.alignment), (AddressShape::Contiguous, None, 4));
    assert_eq!(kernel.pattern("ld.shared.v4", 0).shape, AddressShape::Strided { stride: 4 });
    let named = kernel.pattern("ld.shared.f32", 2);
    assert_eq!((named.shape, named.offset, named.alignment), (AddressShape::Uniform, 12, 4));
    assert!(matches!(named.base, AddressBase::Symbol(_)));
}

// Shifts and masks.

/// Fails if the address of a shadow byte is not regular: subtract, shift, add is what every check computes.
#[test]
fn shadow_addresses_are_regular() {
    let kernel = kernel(
        ROW,
        &format!(
            "ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; {INDEX} mul.wide.s32 %rd3, %r4, 4; add.s64 %rd4, %rd1, %rd3;
             sub.s64 %rd5, %rd4, %rd2; shr.u64 %rd6, %rd5, 2; add.s64 %rd7, %rd6, %rd2; ld.global.u8 %h1, [%rd7];
             and.b64 %rd8, %rd4, -4; and.b64 %rd9, %rd4, 3; shr.u64 %rd10, %rd4, 5; ret;"
        ),
    );
    assert_eq!(kernel.class("%rd5"), affine(4));
    assert_eq!(kernel.guarded_class("%rd6"), affine(1));
    assert_eq!(kernel.pattern("ld.global", 0).shape, AddressShape::Contiguous);
    // What is below the stride is the same for all lanes, whatever the base is.
    assert_eq!(kernel.class("%rd8"), affine(4));
    assert_eq!(kernel.class("%rd9"), UNIFORM);
    // A line of 32 bytes has 8 lanes only if the base is aligned, which nobody knows.
    assert_eq!(kernel.value("%rd10").class(), VECTOR);
    let [guard] = kernel.uniformity.guards() else { panic!("{:?}", kernel.uniformity.guards()) };
    assert_eq!((guard.statement, guard.reg), (kernel.statement("shr", 0), kernel.reg("%rd5")));
    assert!(guard.check.holds(1 << 63) && !guard.check.holds(u64::MAX - 123) && guard.check.holds(u64::MAX - 124));
}

/// Fails if parts of a thread's number are not recognised as what they are.
#[test]
fn parts_of_a_thread_number() {
    let kernel = kernel(
        ROW,
        "mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 31; shr.u32 %r3, %r1, 5; and.b32 %r4, %r1, 3; shr.u32 %r5, %r1, 2;
         bfe.u32 %r6, %r1, 2, 3; xor.b32 %r7, %r1, 1; or.b32 %r8, %r1, 32; shl.b32 %r9, %r3, 5; or.b32 %r10, %r9, %r2;
         rem.u32 %r11, %r1, 16; div.u32 %r12, %r1, 16; and.b32 %r13, %r1, -32; not.b32 %r14, %r1; bfi.b32 %r15, %r1, 0, 8, 5;
         mad.lo.s32 %r16, %r5, 5, %r4; shr.s32 %r17, %r1, 31; mul.lo.s32 %r18, %r1, %r1; cvt.u16.u32 %h1, %r1;
         mul.wide.u16 %r19, %h1, 12; ret;",
    );
    assert_eq!(kernel.class("%r2"), affine(1));
    assert_eq!(kernel.class("%r3"), UNIFORM);
    assert_eq!(kernel.class("%r4"), grouped(4, 1));
    assert_eq!(kernel.class("%r5"), grouped(4, 0));
    assert_eq!(kernel.class("%r6"), grouped(4, 0));
    assert_eq!(kernel.class("%r7"), grouped(2, -1));
    assert!(kernel.value("%r7").has_one_base());
    assert_eq!(kernel.value("%r7").offset(6), 6);
    assert_eq!(kernel.value("%r7").offset(7), 5);
    assert_eq!(kernel.class("%r10"), affine(1), "(tid / 32) * 32 | tid % 32");
    assert_eq!(kernel.class("%r11"), grouped(16, 1));
    assert_eq!(kernel.class("%r12"), grouped(16, 0));
    assert_eq!(kernel.class("%r13"), UNIFORM);
    assert_eq!(kernel.class("%r14"), affine(-1));
    assert_eq!(kernel.class("%r15"), affine(256));
    assert_eq!(kernel.class("%r16"), grouped(4, 1), "five words for every four lanes, against bank conflicts");
    assert!(kernel.value("%r16").has_one_base());
    assert_eq!(kernel.value("%r17").constant(), Some(0));
    assert_eq!(kernel.class("%r18"), VECTOR);
    assert_eq!(kernel.class("%r19"), affine(12));
    assert_eq!(kernel.uniformity.guards(), []);
}

/// Fails if a comparison that all 32 lanes answer alike is not seen as such, or one that they do not is.
#[test]
fn comparisons_with_multiples_of_32_are_uniform() {
    let kernel = kernel(
        ROW,
        &format!(
            "{INDEX} setp.lt.u32 %p1, %r3, 64; setp.gt.u32 %p2, %r3, 31; setp.lt.u32 %p3, %r3, 40; setp.le.u32 %p4, %r3, 64;
             setp.eq.s32 %p5, %r3, 32; setp.lt.u32 %p6, %r3, 256; setp.lt.s32 %p7, %r4, 0; ld.param.u32 %r5, [n];
             setp.lt.s32 %p8, %r4, %r5; shl.b32 %r6, %r5, 5; setp.lt.s32 %p9, %r4, %r6; add.s32 %r7, %r4, %r5;
             setp.eq.s32 %p10, %r4, %r7; setp.hi.u32 %p11, %r3, 63; ret;"
        ),
    );
    for (name, class) in [
        ("%p1", UNIFORM),
        ("%p2", UNIFORM),
        ("%p3", VECTOR),
        ("%p4", VECTOR),
        ("%p5", VECTOR),
        ("%p6", UNIFORM),
        ("%p7", UNIFORM),
        ("%p8", VECTOR),
        ("%p9", UNIFORM),
        ("%p10", UNIFORM),
        ("%p11", UNIFORM),
    ] {
        assert_eq!(kernel.class(name), class, "{name}");
    }
}

// Control flow.

/// Fails if a counter is not uniform because it is written twice, or because other lanes have left the kernel.
#[test]
fn counters_of_loops_are_uniform() {
    let kernel = kernel(
        ROW,
        &format!(
            "{INDEX} ld.param.u32 %r9, [n]; ld.param.u64 %rd1, [a]; setp.ge.s32 %p1, %r4, %r9; @%p1 bra DONE;
             mov.u32 %r10, 0; mov.u64 %rd2, %rd1; mul.wide.s32 %rd3, %r4, 4; add.s64 %rd4, %rd1, %rd3;
             AGAIN: ld.global.f32 %f1, [%rd2]; ld.global.f32 %f2, [%rd4]; add.s32 %r10, %r10, 1; add.s64 %rd2, %rd2, 4;
             add.s64 %rd4, %rd4, 1024; setp.lt.s32 %p2, %r10, %r9; @%p2 bra AGAIN;
             DONE: ret;"
        ),
    );
    assert_eq!(kernel.class("%r10"), UNIFORM);
    assert_eq!(kernel.class("%rd2"), UNIFORM);
    assert_eq!(kernel.class("%rd4"), affine(4));
    assert_eq!(kernel.class("%f1"), UNIFORM);
    assert_eq!(kernel.pattern("ld.global", 1).shape, AddressShape::Contiguous);
    assert_eq!(kernel.branches(), [BranchUniformity::Divergent, BranchUniformity::Uniform]);
    assert_eq!(kernel.divergent_blocks(), [1, 2], "all but the first and the last");
}

/// Fails if values of different iterations are mixed up after a loop that lanes leave one by one, or if a counter that
/// nobody reads there is blamed for it.
#[test]
fn values_differ_behind_a_loop_that_lanes_leave_one_by_one() {
    let kernel = kernel(
        ROW,
        "mov.u32 %r1, %tid.x; mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u32 %r8, 7;
         AGAIN: add.s32 %r2, %r2, 1; add.s32 %r3, %r3, 2; mul.lo.s32 %r4, %r2, 3; mul.lo.s32 %r5, %r3, 5;
         setp.lt.s32 %p1, %r2, %r1; @%p1 bra AGAIN;
         add.s32 %r6, %r3, 1; add.s32 %r7, %r4, 1; add.s32 %r9, %r8, 1; ret;",
    );
    assert_eq!(kernel.branches(), [BranchUniformity::Divergent]);
    assert_eq!(kernel.class("%r2"), UNIFORM, "it is not read after the loop");
    assert_eq!(kernel.class("%r3"), VECTOR);
    assert_eq!(kernel.class("%r4"), VECTOR, "it is written once, but in every iteration");
    assert_eq!(kernel.class("%r5"), VECTOR, "it depends on one that is");
    assert_eq!(kernel.class("%r6"), VECTOR);
    assert_eq!(kernel.class("%r7"), VECTOR);
    assert_eq!(kernel.class("%r9"), UNIFORM, "it has nothing to do with the loop");
}

/// Fails if lanes that meet after different ways are taken to bring the same.
#[test]
fn values_differ_behind_a_divergent_branch() {
    let kernel = kernel(
        ROW,
        "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 5; mov.u32 %r2, 1; mov.u32 %r4, 9; @%p1 bra THEN;
         mov.u32 %r3, 2; mov.u32 %r5, 3; add.s32 %r6, %r5, 1; bra.uni JOIN;
         THEN: mov.u32 %r3, 3; mov.u32 %r2, 4;
         JOIN: add.s32 %r7, %r3, 1; add.s32 %r8, %r2, 1; add.s32 %r9, %r4, 1; ret;",
    );
    assert_eq!(kernel.class("%r3"), VECTOR);
    assert_eq!(kernel.class("%r2"), VECTOR);
    assert_eq!(kernel.class("%r7"), VECTOR);
    assert_eq!(kernel.class("%r5"), UNIFORM);
    assert_eq!(kernel.class("%r6"), UNIFORM);
    assert_eq!(kernel.class("%r9"), UNIFORM);
    assert_eq!(kernel.divergent_blocks(), [1, 2]);
}

/// The same with a uniform branch, where nothing differs. Fails if any branch is taken to be divergent.
#[test]
fn values_are_uniform_behind_a_uniform_branch() {
    let kernel = kernel(
        ROW,
        "ld.param.u32 %r1, [n]; setp.lt.u32 %p1, %r1, 5; mov.u32 %r4, %tid.x; @%p1 bra THEN;
         mov.u32 %r3, 2; shl.b32 %r5, %r4, 2; bra.uni JOIN;
         THEN: mov.u32 %r3, 3; mad.lo.s32 %r5, %r4, 4, %r1;
         JOIN: add.s32 %r7, %r3, 1; ret;",
    );
    assert_eq!(kernel.class("%r3"), UNIFORM);
    assert_eq!(kernel.class("%r5"), affine(4));
    assert_eq!(kernel.branches(), [BranchUniformity::Uniform]);
    assert_eq!(kernel.divergent_blocks(), [0; 0]);
}

/// Fails if only joins are looked at: the register is dead after the branch, but while some lanes write it, others
/// still need what it was.
#[test]
fn a_register_that_others_still_need_cannot_be_shared() {
    let kernel = kernel(
        ROW,
        "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 5; ld.param.u64 %rd1, [a]; mov.u32 %r2, 1;
         ld.param.u32 %r3, [n]; setp.lt.u32 %p2, %r3, 5; @%p1 bra THEN;
         @%p2 mov.u32 %r2, 2; st.global.u32 [%rd1], %r2; bra.uni JOIN;
         THEN: st.global.u32 [%rd1+4], %r2;
         JOIN: ret;",
    );
    assert_eq!(kernel.class("%r2"), VECTOR);
}

/// Fails if registers are not split into webs: temporaries of inserted code are used again and again.
#[test]
fn one_register_has_many_lives() {
    let kernel = kernel(
        ROW,
        "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 5;
         shl.b32 %r2, %r1, 2; add.s32 %r3, %r2, 1; shl.b32 %r2, %r1, 3; add.s32 %r4, %r2, 1;
         @%p1 bra THEN;
         mov.u32 %r2, 7; add.s32 %r5, %r2, 1; bra.uni JOIN;
         THEN: mov.u32 %r2, 8; add.s32 %r6, %r2, 1;
         JOIN: ret;",
    );
    assert_eq!(kernel.class("%r2"), VECTOR, "all lives together");
    assert_eq!(kernel.class("%r3"), affine(4));
    assert_eq!(kernel.class("%r4"), affine(8));
    assert_eq!(kernel.class("%r5"), UNIFORM);
    assert_eq!(kernel.class("%r6"), UNIFORM);
    let statement = kernel.statement("shl", 1);
    let web = kernel.uniformity.written(statement, kernel.reg("%r2")).expect("it writes the register");
    assert_eq!(kernel.uniformity.value(web).class(), affine(8));
}

/// Fails if a guarded write is taken to happen in all lanes, or never.
#[test]
fn guarded_writes_mix_old_and_new() {
    let kernel = kernel(
        ROW,
        "mov.u32 %r1, %tid.x; ld.param.u32 %r2, [n]; setp.lt.u32 %p1, %r1, 5; setp.lt.u32 %p2, %r2, 5;
         mov.u32 %r3, 1; @%p1 mov.u32 %r3, 2; mov.u32 %r4, 1; @%p2 mov.u32 %r4, 2; mov.u32 %r5, %r1; @!%p2 add.s32 %r5, %r1, 4;
         add.s32 %r6, %r3, 1; add.s32 %r7, %r4, 1; add.s32 %r8, %r5, 1; ret;",
    );
    assert_eq!(kernel.class("%r6"), VECTOR);
    assert_eq!(kernel.class("%r7"), UNIFORM);
    assert_eq!(kernel.class("%r8"), affine(1));
}

/// Fails if the point where lanes meet again is taken from the post-dominators alone: some lanes come to `MEET` in this
/// iteration, others in the next one.
#[test]
fn lanes_that_come_in_different_iterations_do_not_meet() {
    let kernel = kernel(
        ROW,
        "mov.u32 %r1, %tid.x; mov.u32 %r2, 0; mov.u32 %r3, 0; ld.param.u32 %r9, [n]; ld.param.u64 %rd1, [a];
         HEAD: add.s32 %r2, %r2, 1; st.global.u32 [%rd1], %r3; and.b32 %r4, %r2, 1; setp.eq.s32 %p1, %r4, 0; @%p1 bra MEET;
         setp.lt.s32 %p2, %r1, %r2; @%p2 bra MEET;
         bra HEAD;
         MEET: mov.u32 %r3, 5; setp.gt.s32 %p3, %r2, %r9; @%p3 bra DONE;
         bra HEAD;
         DONE: ret;",
    );
    // Lanes that came to MEET hold 5 while the others hold 0, until all are at HEAD again.
    assert_eq!(kernel.class("%r3"), VECTOR);
}

/// Fails if `.uni` is believed, or lost.
#[test]
fn stated_uniformity_is_reported_and_not_believed() {
    let kernel = kernel(
        ROW,
        "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 5; mov.u32 %r2, 1; @%p1 bra.uni JOIN; mov.u32 %r2, 2; JOIN: add.s32 %r3, %r2, 1; ret;",
    );
    assert_eq!(kernel.branches(), [BranchUniformity::Stated]);
    assert_eq!(kernel.class("%r3"), VECTOR);
}

/// Fails if a branch in a block of 16 rows is taken to part the lanes of one half.
#[test]
fn a_branch_on_the_row_parts_only_the_halves() {
    let kernel = kernel(
        [16, 16, 1],
        "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, 1; setp.lt.u32 %p1, %r2, 5; @%p1 bra JOIN; mov.u32 %r3, 2;
         JOIN: add.s32 %r4, %r3, %r1; ret;",
    );
    assert_eq!(kernel.class("%p1"), grouped(16, 0));
    assert_eq!(kernel.branches(), [BranchUniformity::Divergent]);
    assert_eq!(kernel.class("%r3"), grouped(16, 0));
    assert_eq!(kernel.class("%r4"), grouped(16, 1));
}

// Memory, lanes and calls.

/// Fails if memory of which each thread has its own is taken to be shared.
#[test]
fn loads_from_one_address_are_uniform_unless_the_memory_is_private() {
    let kernel = kernel(
        ROW,
        "ld.param.u64 %rd1, [a]; ld.global.u32 %r1, [%rd1]; ld.volatile.global.u32 %r2, [%rd1]; ld.u32 %r3, [%rd1];
         ld.shared.u32 %r4, [tile]; mov.u64 %rd2, depot; ld.local.u32 %r5, [%rd2]; ld.local.u32 %r6, [depot];
         cvta.local.u64 %rd3, %rd2; ld.u32 %r7, [%rd3]; atom.global.add.u32 %r8, [%rd1], 1; ld.global.u8 %r9, [%rd1];
         mov.u64 %rd4, n; ld.param.u32 %r10, [%rd4]; ld.param.u64 %rd5, [b];
         { .param .b32 x; .param .b32 y; st.param.b32 [x], %r1; call.uni (y), callee, (x); ld.param.b32 %r11, [y]; }
         ret;",
    );
    for (name, class) in [
        ("%r1", UNIFORM),
        ("%r2", UNIFORM),
        ("%r3", UNIFORM),
        ("%r4", UNIFORM),
        ("%r5", VECTOR),
        ("%r6", VECTOR),
        ("%rd2", UNIFORM),
        ("%rd3", VECTOR),
        ("%r7", VECTOR),
        ("%r8", VECTOR),
        ("%r10", UNIFORM),
        ("%r11", VECTOR),
    ] {
        assert_eq!(kernel.class(name), class, "{name}");
    }
    assert_eq!(kernel.value("%r9").range(), (0, 255));
    assert_eq!(kernel.value("%rd5").multiple_of(), 16, "the parameter says so");
    assert_eq!(kernel.pattern("ld.local", 0).shape, AddressShape::Uniform, "the same place in each thread's memory");
}

/// Fails if what lanes exchange is taken to be uniform where tiles of a warp, or lanes of it, get different things.
#[test]
fn collectives() {
    let kernel = kernel(
        ROW,
        "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 5; ld.param.u32 %r9, [n]; mov.u32 %r10, %laneid;
         vote.sync.ballot.b32 %r2, %p1, -1; vote.sync.any.pred %p2, %p1, -1; vote.sync.ballot.b32 %r3, %p1, %r1;
         shfl.sync.idx.b32 %r4, %r1, 0, 31, -1; shfl.sync.idx.b32 %r5, %r1, %r9, 31, -1; shfl.sync.idx.b32 %r6, %r1, %r1, 31, -1;
         shfl.sync.idx.b32 %r7, %r1, 0, 4127, -1; shfl.sync.down.b32 %r8, %r1, 1, 31, -1; match.any.sync.b32 %r11, %r1, -1;
         match.all.sync.b32 %r12|%p3, %r1, -1; redux.sync.add.s32 %r13, %r1, -1; activemask.b32 %r14;
         mov.u32 %r15, %lanemask_lt; mov.u64 %rd1, %clock64; mov.u32 %r16, %warpid; bar.red.popc.u32 %r17, 0, %p1;
         bar.red.and.pred %p4, 0, %p1; ret;",
    );
    for (name, class) in [
        ("%r2", UNIFORM),
        ("%p2", UNIFORM),
        ("%r3", VECTOR),
        ("%r4", UNIFORM),
        ("%r5", UNIFORM),
        ("%r6", VECTOR),
        ("%r7", grouped(16, 0)),
        ("%r8", VECTOR),
        ("%r10", affine(1)),
        ("%r11", VECTOR),
        ("%r12", UNIFORM),
        ("%p3", UNIFORM),
        ("%r13", UNIFORM),
        ("%r14", UNIFORM),
        ("%r15", VECTOR),
        ("%rd1", VECTOR),
        ("%r16", UNIFORM),
        ("%r17", UNIFORM),
        ("%p4", UNIFORM),
    ] {
        assert_eq!(kernel.class(name), class, "{name}");
    }
}

/// Fails if the arguments of a function are taken to be those of a kernel.
#[test]
fn arguments_of_functions_are_anything() {
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n\
        .func (.reg .b32 %out) k (.reg .b32 %in, .param .b32 x) {\n\
        .reg .b32 %r<4>; ld.param.b32 %r1, [x]; add.s32 %r2, %in, 1; mov.u32 %r3, %tid.x; mov.b32 %out, %r3; ret; }";
    let kernel = analyse(text, &LaunchFacts::default().with_block(ROW));
    assert_eq!(kernel.class("%r1"), VECTOR);
    assert_eq!(kernel.class("%r2"), VECTOR);
    assert_eq!(kernel.class("%in"), VECTOR);
    assert_eq!(kernel.class("%out"), affine(1));
}

/// Fails if anything is claimed of a function that nobody can read.
#[test]
fn nothing_is_claimed_where_a_statement_is_unreadable() {
    let kernel = kernel(ROW, "mov.u32 %r1, 1; add.s32 %r2, %r1, 1; ret;");
    assert_eq!(kernel.class("%r2"), UNIFORM);
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { .reg .b32 %r<4>;\n\
        mov.u32 %r1, 1; frobnicate.all $$ %r1 <=> %r2; add.s32 %r2, %r1, 1; ret; }";
    let module = ptx::parse(text).module;
    let function = &module.functions[module.function("k").expect("the kernel is called k")];
    let cfg = Cfg::of(&module.forms, function);
    let uniformity = Uniformity::of(&module, function, &cfg, &LaunchFacts::default());
    for web in uniformity.webs() {
        assert_eq!(uniformity.value(web).class(), VECTOR);
    }
    assert_eq!(uniformity.divergent_blocks().count(), cfg.len());
}

/// Fails if a number is forgotten that is the same on all ways, or if one of two numbers is taken for both.
#[test]
fn a_constant_is_one_whichever_way_it_came() {
    let body = "ld.global.u32 %r1, [%rd1]; mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u32 %r4, 0; setp.gt.u32 %p1, %r1, 7; mov.u32 %r5, 3;\n\
        @%p1 mov.u32 %r5, 3; mov.u32 %r6, 3; @%p1 mov.u32 %r6, 4; @%p1 bra there;\n\
        ld.global.u32 %r2, [%rd1]; mov.u32 %r3, 1; and.b32 %r4, %r2, 0;\n\
        there: add.u32 %r7, %r2, %r3; add.u32 %r7, %r7, %r4; ret;";
    let kernel = kernel(ROW, body);
    let constant = |reg: &str| kernel.value(reg).constant();
    assert_eq!(constant("%r4"), Some(0));
    assert_eq!(constant("%r5"), Some(3));
    assert_eq!([constant("%r2"), constant("%r3"), constant("%r6")], [None; 3]);
    assert_eq!(["%r2", "%r3", "%r6"].map(|reg| kernel.class(reg)), [VECTOR; 3]);
}

/// Fails if lanes in which a register was not written are taken to have the constant of the others.
#[test]
fn a_constant_is_not_that_of_lanes_that_came_no_way() {
    let body = "mov.u32 %r1, %tid.x; setp.gt.u32 %p1, %r1, 7; @%p1 mov.u32 %r2, 3; @!%p1 bra there; mov.u32 %r3, 3; there:\n\
        add.u32 %r4, %r2, %r3; ret;";
    let kernel = kernel(ROW, body);
    assert_eq!(["%r2", "%r3"].map(|reg| kernel.class(reg)), [VECTOR; 2]);
}

/// Fails if `.maxntid` is taken for the shape of a block, or `.reqntid` is not.
#[test]
fn directives_tell_the_shape_of_blocks() {
    let facts = |directive: &str| {
        let text =
            format!(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{directive}\n{{ ret; }}");
        let module = ptx::parse(&text).module;
        LaunchFacts::of(&module.names, &module.functions[module.function("k").expect("the kernel is called k")])
    };
    assert_eq!(facts(".reqntid 128").block, [Some(128), Some(1), Some(1)]);
    assert_eq!(facts(".reqntid 16, 8").block, [Some(16), Some(8), Some(1)]);
    let most = facts(".maxntid 64, 2, 1");
    assert_eq!((most.block, most.max_threads), ([None; 3], 128));
    assert_eq!(facts("").max_threads, 1024);
}

/// Fails if a carry is lost: it depends on all lanes even where the sum does not.
#[test]
fn carries_depend_on_the_operands() {
    let kernel = kernel(
        ROW,
        "mov.u32 %r1, %tid.x; neg.s32 %r2, %r1; add.cc.u32 %r3, %r1, %r2; addc.u32 %r4, 0, 0; add.cc.u32 %r5, 1, 2;
         addc.u32 %r6, 0, 0; ret;",
    );
    assert_eq!(kernel.class("%r3"), UNIFORM);
    assert_eq!(kernel.class("%r4"), VECTOR);
    assert_eq!(kernel.class("%r6"), UNIFORM);
}

/// Fails if halves of 64-bit registers lose their form.
#[test]
fn registers_are_packed_and_unpacked() {
    let kernel = kernel(
        ROW,
        &format!("{INDEX} mul.wide.u32 %rd1, %r4, 4; mov.b64 {{%r5, %r6}}, %rd1; mov.b64 %rd2, {{%r4, %r1}}; ret;"),
    );
    assert_eq!(kernel.class("%r5"), affine(4));
    assert_eq!(kernel.class("%r6"), UNIFORM, "the low bits do not carry");
    assert_eq!(kernel.class("%rd2"), affine(1));
}

/// Fails if a comparison is decided that is not, or the other way round, or if what is never executed counts.
#[test]
fn comparisons_that_ranges_decide() {
    let k = kernel(
        [16, 16, 1],
        "mov.u32 %r1, %tid.y; mov.u32 %r2, %tid.x; shl.b32 %r3, %r1, 6; mad.lo.u32 %r4, %r2, 4, %r3;\n\
         setp.gt.u32 %p1|%p2, %r4, 1020; setp.gt.u32 %p3, %r4, 1019; setp.lt.s32 %p4, %r1, 16; setp.eq.u32 %p5, %r1, 16;\n\
         setp.gt.and.u32 %p6, %r4, 1020, %p3;\n\
         selp.b32 %r5, 7, 8, %p2; @%p1 ld.param.u32 %r5, [n]; setp.ne.u32 %p7, %r5, 7;\n\
         @%p7 ld.param.u32 %r6, [n]; @!%p7 mov.u32 %r6, 3;\n\
         st.shared.u32 [tile], %r6; ret;",
    );
    let constant = |name| k.value(name).constant();
    assert_eq!((constant("%p1"), constant("%p2")), (Some(0), Some(1)));
    assert_eq!((constant("%p3"), constant("%p4"), constant("%p5")), (None, Some(1), Some(0)));
    assert_eq!(constant("%p6"), None, "the other condition is not looked at");
    assert_eq!((constant("%r5"), constant("%p7"), constant("%r6")), (Some(7), Some(0), Some(3)));
    let wider = kernel([16, 17, 1], "mov.u32 %r1, %tid.y; setp.lt.s32 %p1, %r1, 16; selp.b32 %r2, 1, 0, %p1; ret;");
    assert_eq!(wider.value("%p1").constant(), None);
}

/// Fails if addresses that somebody has decided on are not taken over.
#[test]
fn known_addresses_of_variables() {
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { .reg .b32 %r<4>; .reg .pred %p<3>;\n\
         .shared .align 4 .b8 tile[256]; mov.u32 %r1, tile; mov.u32 %r2, %tid.x; add.u32 %r3, %r1, %r2;\n\
         sub.u32 %r3, %r3, %r1; setp.gt.u32 %p1, %r3, 255; ret; }";
    let module = ptx::parse(text).module;
    let function = &module.functions[module.function("k").expect("the kernel is called k")];
    let cfg = Cfg::of(&module.forms, function);
    let facts = LaunchFacts::default().with_block([256, 1, 1]);
    let is_decided = |uniformity: &Uniformity| {
        let predicate = uniformity.webs().find(|&web| uniformity.value(web).bits() == 1);
        uniformity.value(predicate.expect("there is one")).constant()
    };
    assert_eq!(is_decided(&Uniformity::of(&module, function, &cfg, &facts)), None);
    let known =
        Uniformity::given(&module, function, &cfg, Given { addresses: &|_| Some(1024), ..Given::launch(&facts) });
    assert_eq!(is_decided(&known), Some(0));
}
