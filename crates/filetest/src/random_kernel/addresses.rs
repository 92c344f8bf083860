//! Random kernels that compute addresses from indices in many ways: affine, by bits, by division, in loops, under guards,
//! between barriers, in functions that they call. They may race and leave their buffers: what is proved of them is compared with what they do.

use super::RandomKernel;
use super::choose::Choose;

/// The kernel of a seed.
pub fn generate_addresses(seed: u64) -> RandomKernel {
    let mut choose = Choose::new(seed ^ 0xadd7_e55e);
    let block = choose.pick(&[
        [32, 1, 1],
        [8, 1, 1],
        [16, 1, 1],
        [24, 1, 1],
        [64, 1, 1],
        [33, 1, 1],
        [8, 4, 1],
        [4, 8, 1],
        [16, 2, 1],
        [5, 3, 1],
        [4, 2, 2],
    ]);
    let grid = choose.pick(&[[1, 1, 1], [2, 1, 1], [4, 1, 1], [3, 1, 1], [2, 2, 1], [5, 1, 1]]);
    let threads: u32 = block.iter().product();
    let all = threads * grid.iter().product::<u32>();
    let element = choose.pick(&[4, 4, 4, 1, 2, 8]);
    // Now and then both parameters are one buffer.
    let is_one = choose.percent(8);
    let mut sizes = [
        all * element * choose.pick(&[1, 1, 2, 4]) + choose.pick(&[0, 0, 0, 4, 16]),
        choose.pick(&[all, all, threads, 256, 1024]) * 4,
    ];
    if is_one {
        sizes[1] = sizes[0];
    }
    let shared = threads * choose.pick(&[4, 4, 8, 16]) + choose.pick(&[0, 0, 16]);
    let n = choose.pick(&[all, all, threads, all - 1, 7, 32, 100]);
    let m = choose.pick(&[1, 2, 3, 4, 8, 16, 32]);
    let mut kernel = Kernel {
        choose,
        lines: Vec::new(),
        registers: 0,
        predicates: 0,
        wide: 0,
        labels: 0,
        pool: ["%tx", "%ty", "%cx", "%gid", "%lin", "%n", "%m", "%v0", "%v1", "%v2", "%lane"]
            .map(str::to_owned)
            .to_vec(),
        sizes,
        shared,
        threads,
        element,
        work: 1,
        functions: String::new(),
        function_count: 0,
        accessing_count: 0,
    };
    let count = kernel.choose.between(2, 9);
    kernel.statements(count, Place { is_uniform: true, depth: 0 });
    let body = kernel.lines.join("\n");
    let functions = &kernel.functions;
    let (registers, predicates, wide) = (kernel.registers, kernel.predicates, kernel.wide);
    let [gx, gy, gz] = grid;
    let [bx, by, bz] = block;
    let [first, second] = sizes;
    let other = if is_one { "a".to_owned() } else { format!("b:b8[{second}]=random({})", seed.wrapping_add(1)) };
    let text = format!(
        "//@ test: run
.version 8.0
.target sm_80
.address_size 64
{functions}.visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n, .param .u32 m)
{{
    .reg .pred %p<{predicates}>; .reg .b32 %r<{registers}>; .reg .b64 %rd<{wide}>;
    .reg .b32 %tx, %ty, %tz, %cx, %cy, %gid, %lin, %n, %m, %lane, %v<3>; .reg .b64 %a, %b, %next; .reg .b16 %h<2>;
    .shared .align 16 .b8 s[{shared}];
    ld.param.u64 %a, [a];
    ld.param.u64 %b, [b];
    ld.param.u32 %n, [n];
    ld.param.u32 %m, [m];
    cvta.to.global.u64 %a, %a;
    cvta.to.global.u64 %b, %b;
    mov.u32 %tx, %tid.x;
    mov.u32 %ty, %tid.y;
    mov.u32 %tz, %tid.z;
    mov.u32 %cx, %ctaid.x;
    mov.u32 %cy, %ctaid.y;
    mad.lo.s32 %lin, %ty, {bx}, %tx;
    mad.lo.s32 %lin, %tz, {}, %lin;
    mad.lo.s32 %gid, %cy, {gx}, %cx;
    mad.lo.s32 %gid, %gid, {threads}, %lin;
    mov.u32 %lane, %laneid;
    mad.wide.u32 %next, %gid, {element}, %a;
    mov.u32 %v0, 0;
    mov.u32 %v1, %lin;
    mov.u32 %v2, {m};
{body}
    ret;
}}
//@ run k: grid={gx}x{gy}x{gz} block={bx}x{by}x{bz} args=a:b8[{first}]=random({seed}),{other},n:u32={n},m:u32={m}
",
        bx * by,
    );
    RandomKernel {
        text,
        grid,
        block,
        dynamic_shared: 0,
        buffers: vec![("a", first), ("b", second)],
        instructions: kernel.lines.len(),
    }
}

/// Where a statement is.
#[derive(Clone, Copy)]
struct Place {
    /// Whether all threads of the block that have not ended come here.
    is_uniform: bool,
    depth: u32,
}

struct Kernel {
    choose: Choose,
    lines: Vec<String>,
    registers: u32,
    predicates: u32,
    wide: u32,
    labels: u32,
    /// Registers that hold numbers.
    pool: Vec<String>,
    sizes: [u32; 2],
    shared: u32,
    threads: u32,
    element: u32,
    /// How often what is written now runs, at most.
    work: u32,
    /// The functions before the kernel, and how many of them compute something, and how many access memory.
    functions: String,
    function_count: u32,
    accessing_count: u32,
}

impl Kernel {
    fn put(&mut self, line: impl AsRef<str>) {
        self.lines.push(format!("    {};", line.as_ref()));
    }

    fn label(&mut self, label: &str) {
        self.lines.push(format!("{label}:"));
    }

    fn new_label(&mut self) -> String {
        self.labels += 1;
        format!("L{}", self.labels)
    }

    fn register(&mut self) -> String {
        self.registers += 1;
        format!("%r{}", self.registers - 1)
    }

    fn predicate(&mut self) -> String {
        self.predicates += 1;
        format!("%p{}", self.predicates - 1)
    }

    fn wide(&mut self) -> String {
        self.wide += 1;
        format!("%rd{}", self.wide - 1)
    }

    /// A register that holds a number: often an index, or a recent one.
    fn source(&mut self) -> String {
        let len = self.pool.len() as u32;
        let place = match self.choose.below(4) {
            0 => self.choose.below(5),
            1 => len - 1 - self.choose.below(3.min(len)),
            _ => self.choose.below(len),
        };
        self.pool[place as usize].clone()
    }

    fn number(&mut self) -> i64 {
        let numbers = [0, 1, 2, 3, 4, 7, 8, 12, 15, 16, 31, 32, 33, 63, 64, 100, 255, -1, -2, -16, 0x7fff_ffff, 0x5555];
        self.choose.weighted(&numbers.map(|number| (if (0..=64).contains(&number) { 4 } else { 1 }, number)))
    }

    /// A register or a number.
    fn operand(&mut self) -> String {
        if self.choose.percent(50) { self.number().to_string() } else { self.source() }
    }

    /// Computes a number from others.
    fn compute(&mut self) -> String {
        let target = self.register();
        let (a, b, c) = (self.source(), self.operand(), self.operand());
        let small = self.choose.pick(&[0, 1, 1, 2, 2, 3, 4, 5, 8, 16, 31, 32]);
        let positive = self.choose.pick(&[1, 2, 3, 4, 5, 7, 8, 12, 16, 32, 64]);
        let mask = self.choose.pick(&[1, 3, 4, 7, 8, 15, 24, 31, 0x55, 63, -2, -4, -32, 255]);
        let stride = self.choose.pick(&[1, 2, 3, 4, 5, 8, 16, 32, 64, -1, -4]);
        match self.choose.below(34) {
            0..=3 => self.put(format!("add.s32 {target}, {a}, {b}")),
            4 | 5 => self.put(format!("sub.s32 {target}, {a}, {b}")),
            6..=8 => self.put(format!("mul.lo.s32 {target}, {a}, {stride}")),
            9 => self.put(format!("mad.lo.s32 {target}, {a}, {stride}, {c}")),
            10 => self.put(format!("shl.b32 {target}, {a}, {small}")),
            11 | 12 => self.put(format!("shr.u32 {target}, {a}, {small}")),
            13 => self.put(format!("shr.s32 {target}, {a}, {small}")),
            14 | 15 => self.put(format!("and.b32 {target}, {a}, {mask}")),
            16 | 17 => self.put(format!("xor.b32 {target}, {a}, {mask}")),
            18 => self.put(format!("or.b32 {target}, {a}, {mask}")),
            19 => {
                let op = self.choose.pick(&["or", "xor", "and"]);
                self.put(format!("{op}.b32 {target}, {a}, {b}"));
            }
            20 | 21 => {
                let op = self.choose.pick(&["div.u32", "div.s32", "rem.u32", "rem.s32"]);
                self.put(format!("{op} {target}, {a}, {positive}"));
            }
            22 => {
                let op = self.choose.pick(&["min", "max"]);
                let ty = self.choose.pick(&["s32", "u32"]);
                self.put(format!("{op}.{ty} {target}, {a}, {b}"));
            }
            23 => {
                let (first, count) = (self.choose.below(8), self.choose.between(1, 8));
                self.put(format!("bfe.u32 {target}, {a}, {first}, {count}"));
            }
            24 => {
                let (first, count) = (self.choose.below(8), self.choose.between(1, 8));
                self.put(format!("bfi.b32 {target}, {a}, {b}, {first}, {count}"));
            }
            25 => {
                let p = self.condition();
                self.put(format!("selp.b32 {target}, {b}, {c}, {p}"));
            }
            26 => {
                let op = self.choose.pick(&["not.b32", "neg.s32", "abs.s32"]);
                self.put(format!("{op} {target}, {a}"));
            }
            27 => {
                let p = self.condition();
                self.put(format!("mov.b32 {target}, {c}"));
                self.put(format!("@{p} add.s32 {target}, {a}, {b}"));
            }
            28 => {
                let (wide, ty) = (self.wide(), self.choose.pick(&["u32", "s32"]));
                self.put(format!("mul.wide.{ty} {wide}, {a}, {stride}"));
                if self.choose.percent(40) {
                    self.put(format!("shr.{} {wide}, {wide}, {small}", if ty == "u32" { "u64" } else { "s64" }));
                }
                self.put(format!("cvt.u32.u64 {target}, {wide}"));
            }
            29 => {
                let ty = self.choose.pick(&["u16", "s16"]);
                self.put(format!("cvt.u16.u32 %h0, {a}"));
                if self.choose.percent(50) {
                    self.put(format!("mul.wide.{ty} {target}, %h0, {positive}"));
                } else {
                    let op = self.choose.pick(&["add", "sub", "mul.lo"]);
                    self.put(format!("{op}.{ty} %h1, %h0, {positive}"));
                    self.put(format!("cvt.{}32.{ty} {target}, %h1", &ty[..1]));
                }
            }
            32 | 33 => {
                let name = match self.function_count {
                    count @ 1.. if self.choose.percent(50) => format!("f{}", self.choose.below(count)),
                    _ => self.function(),
                };
                self.put("{ .param .b32 x; .param .b32 y; .param .b32 z");
                self.put(format!("st.param.b32 [x], {a}"));
                self.put(format!("st.param.b32 [y], {b}"));
                self.put(format!("call.uni (z), {name}, (x, y)"));
                self.put(format!("ld.param.b32 {target}, [z]"));
                self.lines.push("    }".to_owned());
            }
            _ => {
                // What memory holds, within bounds that are proved or not.
                let (index, wide) = (self.register(), self.wide());
                let ty = self.choose.pick(&["u8", "s8", "u32", "u16"]);
                let size = match ty {
                    "u32" => 4,
                    "u16" => 2,
                    _ => 1,
                };
                self.put(format!("rem.u32 {index}, {a}, {}", self.sizes[1] / size));
                self.put(format!("mad.wide.u32 {wide}, {index}, {size}, %b"));
                self.put(format!("ld.global.{ty} {target}, [{wide}]"));
            }
        }
        self.pool.push(target.clone());
        target
    }

    /// A function that computes something of two numbers, sometimes by calling the one before it; its name.
    fn function(&mut self) -> String {
        let (name, before) = (format!("f{}", self.function_count), self.function_count.checked_sub(1));
        self.function_count += 1;
        let (stride, number) = (self.choose.pick(&[1, 2, 4, 8, -1]), self.number());
        let op = self.choose.pick(&["add.s32", "sub.s32", "xor.b32", "and.b32", "min.u32", "mul.lo.s32"]);
        let mut body = match self.choose.below(3) {
            0 => format!("mad.lo.s32 %r2, %r0, {stride}, %r1;"),
            1 => format!("{op} %r2, %r0, %r1;"),
            _ => format!(
                "setp.lt.s32 %p0, %r0, {number}; @%p0 bra SMALL; {op} %r2, %r0, {stride}; bra END; SMALL: mov.b32 %r2, %r1; END:"
            ),
        };
        if self.choose.percent(20) {
            body.insert_str(0, &format!("mov.b32 %r2, %r1; setp.eq.s32 %p0, %r0, {number}; @%p0 bra RETURN;\n    "));
        }
        if let Some(before) = before.filter(|_| self.choose.percent(30)) {
            body += &format!(
                "\n    {{ .param .b32 x; .param .b32 y; .param .b32 z; st.param.b32 [x], %r2; st.param.b32 [y], %r0;
    call.uni (z), f{before}, (x, y); ld.param.b32 %r2, [z]; }}"
            );
        }
        self.functions += &format!(
            ".func (.param .b32 c) {name}(.param .b32 a, .param .b32 b)
{{
    .reg .pred %p<1>; .reg .b32 %r<3>;
    ld.param.b32 %r0, [a];
    ld.param.b32 %r1, [b];
    {body}
RETURN:
    st.param.b32 [c], %r2;
    ret;
}}
"
        );
        name
    }

    /// A function that loads or stores an element of a buffer, and may wait at a barrier before; its name.
    fn accessing_function(&mut self, access: &str, waits: bool) -> String {
        let name = format!("g{}", self.accessing_count);
        self.accessing_count += 1;
        self.functions += &format!(
            ".func {name}(.param .b64 buffer, .param .b32 index)
{{
    .reg .b32 %r<2>; .reg .b64 %rd<2>;
    ld.param.b64 %rd0, [buffer];
    ld.param.b32 %r0, [index];
    mad.wide.s32 %rd1, %r0, 4, %rd0;
    {}{access};
    ret;
}}
",
            if waits { "bar.sync 0;\n    " } else { "" }
        );
        name
    }

    /// A call of a function that accesses memory.
    fn call_access(&mut self, place: Place) {
        let is_shared = self.choose.percent(40);
        let access = match (is_shared, self.choose.percent(60)) {
            (true, true) => "st.u32 [%rd1], %r0",
            (true, false) => "ld.u32 %r1, [%rd1]",
            (false, true) => "st.global.u32 [%rd1], %r0",
            (false, false) => "ld.global.u32 %r1, [%rd1]",
        };
        let waits = place.is_uniform && self.choose.percent(30);
        let name = self.accessing_function(access, waits);
        let (buffer, bytes) = match self.choose.below(3) {
            _ if is_shared => {
                let wide = self.wide();
                self.put(format!("mov.u64 {wide}, s"));
                self.put(format!("cvta.shared.u64 {wide}, {wide}"));
                (wide, self.shared)
            }
            0 => ("%b".to_owned(), self.sizes[1]),
            _ => ("%a".to_owned(), self.sizes[0]),
        };
        let mut index = if self.choose.percent(50) { self.compute() } else { "%gid".to_owned() };
        if self.choose.percent(70) {
            let bounded = self.register();
            self.put(format!("rem.u32 {bounded}, {index}, {}", (bytes / 4).max(1)));
            index = bounded;
        }
        self.put(format!("{{ .param .b64 x; .param .b32 y; st.param.b64 [x], {buffer}; st.param.b32 [y], {index}"));
        self.put(format!("call.uni {name}, (x, y)"));
        self.lines.push("    }".to_owned());
    }

    /// A predicate.
    fn condition(&mut self) -> String {
        let p = self.predicate();
        let (a, b) = (self.source(), self.operand());
        let comparison = self.choose.pick(&["eq", "ne", "lt", "le", "gt", "ge"]);
        let ty = self.choose.pick(&["s32", "u32"]);
        self.put(format!("setp.{comparison}.{ty} {p}, {a}, {b}"));
        if self.choose.percent(20) {
            let (q, c, d) = (self.predicate(), self.source(), self.operand());
            let op = self.choose.pick(&["and", "or", "xor"]);
            self.put(format!("setp.{comparison}.{op}.{ty} {q}, {c}, {d}, {p}"));
            return q;
        }
        p
    }

    /// A predicate that is the same in all threads of a block.
    fn uniform_condition(&mut self) -> String {
        let (p, a) = (self.predicate(), self.choose.pick(&["%cx", "%n", "%m", "%cy"]));
        let (number, comparison) = (self.choose.below(8), self.choose.pick(&["eq", "ne", "lt", "gt"]));
        self.put(format!("setp.{comparison}.u32 {p}, {a}, {number}"));
        p
    }

    fn statements(&mut self, count: u32, place: Place) {
        for _ in 0..count {
            self.statement(place);
        }
    }

    fn statement(&mut self, place: Place) {
        let deep = place.depth >= 3 || self.work > 300;
        match self.choose.below(100) {
            0..4 => self.call_access(place),
            4..45 => self.access(),
            45..62 => {
                let value = self.compute();
                if self.choose.percent(40) {
                    let variable = self.choose.pick(&["%v0", "%v1", "%v2"]);
                    self.put(format!("mov.b32 {variable}, {value}"));
                }
            }
            62..74 if place.is_uniform => self.put("bar.sync 0"),
            74 if place.is_uniform => {
                let (count, p) = (self.register(), self.condition());
                self.put(format!("bar.red.popc.u32 {count}, 0, {p}"));
                self.pool.push(count);
            }
            75..86 if !deep => self.branch(place),
            86..97 if !deep => self.repeat(place),
            97..99 if place.depth == 0 => {
                let p = self.condition();
                self.put(format!("@{p} ret"));
            }
            _ => self.access(),
        }
    }

    fn branch(&mut self, place: Place) {
        let is_uniform = place.is_uniform && self.choose.percent(25);
        let p = if is_uniform { self.uniform_condition() } else { self.condition() };
        let (other, join) = (self.new_label(), self.new_label());
        let inside = Place { is_uniform, depth: place.depth + 1 };
        let has_else = self.choose.percent(45);
        self.put(format!("@!{p} bra {}", if has_else { &other } else { &join }));
        let pool = self.pool.len();
        let count = self.choose.between(1, 3);
        self.statements(count, inside);
        if has_else {
            self.put(format!("bra {join}"));
            self.label(&other);
            self.pool.truncate(pool);
            let count = self.choose.between(1, 3);
            self.statements(count, inside);
        }
        self.label(&join);
        if self.choose.percent(70) {
            self.pool.truncate(pool);
        }
    }

    fn repeat(&mut self, place: Place) {
        let (head, end) = (self.new_label(), self.new_label());
        let (counter, p) = (self.register(), self.predicate());
        let kind = self.choose.below(7);
        let step = self.choose.pick(&[1, 1, 2, 3, 4]);
        let trips = self.choose.pick(&[1, 2, 3, 4, 5, 8, 16, 40]);
        let start = self.choose.pick(&["0", "%lin", "%tx", "%gid", "%cx"]);
        let bound = self.choose.pick(&["%n", "%m"]);
        let is_top_tested = self.choose.percent(50);
        // The first value, what changes it, and the comparison under which it goes on.
        let (first, change, goes_on, is_uniform) = match kind {
            0 | 1 => {
                let change = format!("add.s32 {counter}, {counter}, {step}");
                ("0".to_owned(), change, format!("setp.lt.s32 {p}, {counter}, {}", step * trips), true)
            }
            2 => {
                let by = self.choose.pick(&[self.threads, self.threads, 16, 7]);
                let change = format!("add.s32 {counter}, {counter}, {by}");
                (start.to_owned(), change, format!("setp.lt.s32 {p}, {counter}, {bound}"), matches!(start, "0" | "%cx"))
            }
            3 => {
                let change = format!("sub.s32 {counter}, {counter}, {step}");
                ((step * trips).to_string(), change, format!("setp.ne.s32 {p}, {counter}, 0"), true)
            }
            4 => {
                let change = format!("shr.u32 {counter}, {counter}, 1");
                (
                    self.choose.pick(&["16", "%m", "5"]).to_owned(),
                    change,
                    format!("setp.gt.u32 {p}, {counter}, 0"),
                    true,
                )
            }
            5 => {
                let limit = self.register();
                let value = self.source();
                self.put(format!("and.b32 {limit}, {value}, 7"));
                let change = format!("add.u32 {counter}, {counter}, 1");
                ("0".to_owned(), change, format!("setp.lt.u32 {p}, {counter}, {limit}"), false)
            }
            _ => {
                let change = format!("add.s32 {counter}, {counter}, 1");
                (start.to_owned(), change, format!("setp.ge.s32 {p}, {bound}, {counter}"), matches!(start, "0" | "%cx"))
            }
        };
        let before = self.work;
        self.work = self.work.saturating_mul(40);
        let inside = Place { is_uniform: place.is_uniform && is_uniform, depth: place.depth + 1 };
        let pool = self.pool.len();
        self.put(format!("mov.b32 {counter}, {first}"));
        self.pool.push(counter.clone());
        self.label(&head);
        if is_top_tested {
            self.put(goes_on.clone());
            self.put(format!("@!{p} bra {end}"));
        }
        if self.choose.percent(30) {
            // Something that is carried around besides.
            let carried = self.choose.pick(&["%v0", "%v1", "%v2"]);
            let by = self.choose.pick(&["4", "1", "%m", "%lin", "-8"]);
            self.put(format!("add.s32 {carried}, {carried}, {by}"));
        }
        let count = self.choose.between(1, 3);
        self.statements(count, inside);
        if self.choose.percent(12) && !inside.is_uniform {
            let leaves = self.condition();
            self.put(format!("@{leaves} bra {end}"));
        }
        self.put(change);
        if is_top_tested {
            self.put(format!("bra {head}"));
        } else {
            self.put(goes_on);
            self.put(format!("@{p} bra {head}"));
        }
        self.label(&end);
        self.pool.truncate(pool);
        self.work = before;
    }

    /// A load, a store or an atomic operation.
    fn access(&mut self) {
        if self.choose.percent(8) {
            // Through a pointer that moves on.
            let (value, target, by) = (self.source(), self.register(), self.choose.pick(&[0, 4, -4, 16, 64, 128]));
            let ty = if self.element >= 4 { "u32" } else { "u8" };
            match self.choose.below(2) {
                0 => self.put(format!("st.global.{ty} [%next], {value}")),
                _ => self.put(format!("ld.global.{ty} {target}, [%next]")),
            }
            self.put(format!("add.s64 %next, %next, {by}"));
            return;
        }
        let is_shared = self.choose.percent(50);
        let (buffer, bytes) = match self.choose.below(5) {
            _ if is_shared => ("s", self.shared),
            0 => ("%b", self.sizes[1]),
            _ => ("%a", self.sizes[0]),
        };
        let own = if is_shared { 4 } else { self.element };
        let size = self.choose.weighted(&[(8, own), (2, 1), (2, 4), (1, 2), (1, 8), (1, 16)]);
        let elements = bytes / size;
        if elements == 0 {
            return;
        }
        let mut index = match self.choose.below(10) {
            0..=3 => if is_shared { "%lin" } else { "%gid" }.to_owned(),
            4 => self.source(),
            _ => {
                let chain = self.choose.between(1, 4);
                (0..chain).map(|_| self.compute()).last().expect("at least one")
            }
        };
        if self.choose.percent(20) {
            let (moved, by) = (self.register(), self.choose.pick(&[1, -1, 2, 4, 16]));
            self.put(format!("add.s32 {moved}, {index}, {by}"));
            index = moved;
        }
        let (mut guard, mut after) = (String::new(), None);
        match self.choose.below(10) {
            0..=2 => {}
            3 | 4 => {
                let bounded = self.register();
                self.put(format!("rem.u32 {bounded}, {index}, {elements}"));
                index = bounded;
            }
            5 => {
                let bounded = self.register();
                let mask = (elements + 1).next_power_of_two() / 2 - 1;
                self.put(format!("and.b32 {bounded}, {index}, {mask}"));
                index = bounded;
            }
            6..=8 => {
                let p = self.predicate();
                let bound = self.choose.pick(&[elements, elements, elements - 1, elements + 1]);
                self.put(format!("setp.lt.u32 {p}, {index}, {bound}"));
                if self.choose.percent(50) {
                    guard = format!("@{p} ");
                } else {
                    let label = self.new_label();
                    self.put(format!("@!{p} bra {label}"));
                    after = Some(label);
                }
            }
            _ => {
                let p = self.predicate();
                self.put(format!("setp.lt.s32 {p}, {index}, {elements}"));
                guard = format!("@{p} ");
            }
        }
        let offset = if self.choose.percent(10) { self.choose.pick(&["+4", "+-4", "+16"]) } else { "" };
        let (address, space) = if is_shared {
            let (base, address) = (self.register(), self.register());
            self.put(format!("mov.u32 {base}, s"));
            self.put(format!("mad.lo.s32 {address}, {index}, {size}, {base}"));
            (address, "shared")
        } else {
            let (wide, address) = (self.wide(), self.wide());
            let ty = self.choose.pick(&["s32", "s32", "u32"]);
            self.put(format!("mul.wide.{ty} {wide}, {index}, {size}"));
            self.put(format!("add.s64 {address}, {buffer}, {wide}"));
            (address, "global")
        };
        let value = self.source();
        let target = self.register();
        let (ty, vector) = match size {
            1 => ("u8", ""),
            2 => ("u16", ""),
            4 => ("u32", ""),
            8 => ("u32", ".v2"),
            _ => ("u32", ".v4"),
        };
        let other = self.register();
        let list = |value: &str| match size {
            8 => format!("{{{value}, {other}}}"),
            16 => format!("{{{value}, {other}, {other}, {other}}}"),
            _ => value.to_owned(),
        };
        let list_of_targets = match size {
            8 | 16 => {
                let more: Vec<String> = (1..size / 4).map(|_| self.register()).collect();
                format!("{{{target}, {}}}", more.join(", "))
            }
            _ => target.clone(),
        };
        match self.choose.below(20) {
            0..=8 => self.put(format!("{guard}st.{space}{vector}.{ty} [{address}{offset}], {}", list(&value))),
            9 | 10 if size == 4 => {
                let scope = self.choose.pick(&["", "", ".cta", ".gpu"]);
                let kind = self.choose.below(3);
                match kind {
                    0 => self.put(format!("{guard}atom{scope}.{space}.add.u32 {target}, [{address}{offset}], {value}")),
                    1 => self.put(format!("{guard}red{scope}.{space}.add.u32 [{address}{offset}], {value}")),
                    _ => self.put(format!("{guard}st.volatile.{space}.u32 [{address}{offset}], {value}")),
                }
            }
            _ => {
                self.put(format!("{guard}ld.{space}{vector}.{ty} {list_of_targets}, [{address}{offset}]"));
                if guard.is_empty() && after.is_none() && self.choose.percent(50) {
                    self.pool.push(target);
                }
            }
        }
        if let Some(label) = after {
            self.label(&label);
        }
    }
}
