//! Accesses to memory. Every thread has a slice of global, of shared and of local memory that nobody else touches; inputs
//! are only read; counters only see operations whose order does not matter, and one operation each.

use super::body::{Body, Class};

/// Bytes of the slices.
pub(super) const SLICE: u32 = 32;
/// Elements of 32 bits of the input.
pub(super) const INPUT: u32 = 256;
/// Elements of `.f32` of the input of floats.
pub(super) const FLOATS: u32 = 32;
/// Elements of 32 bits of the constants.
pub(super) const CONSTANTS: u32 = 16;

impl Body {
    /// One access, or a few that belong together.
    pub(super) fn memory(&mut self) {
        match self.choose.below(20) {
            0..=3 => self.load_input(),
            4 => self.load_floats(),
            5 => self.load_constant(),
            6..=9 => self.store_own(),
            10..=13 => self.load_own(),
            14 if !self.facts.in_step => self.atomic_own(),
            15 if !self.facts.in_function && !self.facts.in_step && self.facts.has_shared => self.copy_async(),
            16 => self.wide_own(),
            _ if self.facts.counters.is_empty() => self.load_own(),
            _ => self.count(),
        }
    }

    /// An offset of `size * step` bytes below `bytes`: a number, or `None` and a register.
    fn offset(&mut self, bytes: u32, size: u32) -> (u32, Option<String>) {
        let steps = bytes / size;
        if self.choose.percent(50) {
            return (self.choose.below(steps) * size, None);
        }
        let (index, from) = (self.temp(Class::B32), self.reg(Class::B32));
        self.put(format!("and.b32 {index}, {from}, {}", steps - 1));
        (0, Some(index))
    }

    /// An address of `size` bytes in a slice, with its space.
    fn own(&mut self, size: u32) -> (&'static str, String) {
        let mut spaces = vec![(3, "global")];
        if self.facts.in_function {
            spaces.clear();
        }
        if self.facts.has_shared && !self.facts.in_function {
            spaces.push((3, "shared"));
        }
        if self.facts.has_local || self.facts.in_function {
            spaces.push((3, "local"));
        }
        if self.facts.has_generic && !self.facts.in_function {
            spaces.push((4, "generic"));
        }
        let space = self.choose.weighted(&spaces);
        let (number, index) = self.offset(SLICE, size);
        let (suffix, base, is_narrow) = match space {
            "global" => (".global", "%own".to_owned(), false),
            "shared" => (self.choose.pick(&[".shared", ".shared", ".shared::cta"]), "%slice".to_owned(), true),
            "local" => (".local", if index.is_none() { "frame".to_owned() } else { "%frame".to_owned() }, false),
            _ => {
                let mut bases = vec!["%generic_own"];
                if self.facts.has_shared {
                    bases.push("%generic_slice");
                }
                if self.facts.has_local {
                    bases.push("%generic_frame");
                }
                let base = if bases.len() > 1 && self.choose.percent(50) {
                    // Lanes go to different spaces with one instruction.
                    let (first, second) = (self.choose.pick(&bases), self.choose.pick(&bases));
                    let (base, predicate) = (self.temp(Class::B64), self.reg(Class::Pred));
                    self.put(format!("selp.b64 {base}, {first}, {second}, {predicate}"));
                    base
                } else {
                    self.choose.pick(&bases).to_owned()
                };
                ("", base, false)
            }
        };
        let address = match index {
            None => format!("[{base}+{number}]"),
            Some(index) if is_narrow => {
                let address = self.temp(Class::B32);
                self.put(format!("mad.lo.u32 {address}, {index}, {size}, {base}"));
                format!("[{address}]")
            }
            Some(index) => {
                let address = self.temp(Class::B64);
                self.put(format!("mad.wide.u32 {address}, {index}, {size}, {base}"));
                format!("[{address}]")
            }
        };
        (suffix, address)
    }

    /// Types of memory with the class that holds them and their size.
    fn memory_type(&mut self) -> (&'static str, Class, u32) {
        let mut types = vec![
            ("u8", Class::B16, 1),
            ("s8", Class::B32, 1),
            ("b8", Class::B32, 1),
            ("u16", Class::B16, 2),
            ("s16", Class::B32, 2),
            ("b16", Class::B16, 2),
            ("u32", Class::B32, 4),
            ("s32", Class::B64, 4),
            ("b32", Class::B32, 4),
            ("b32", Class::B32, 4),
            ("u64", Class::B64, 8),
            ("b64", Class::B64, 8),
        ];
        if self.has(Class::F32) {
            types.push(("f32", Class::F32, 4));
        }
        if self.has(Class::F64) {
            types.push(("f64", Class::F64, 8));
        }
        self.choose.pick(&types)
    }

    fn vector(&mut self, size: u32) -> u32 {
        let widest = (16 / size).min(4);
        let lanes = self.choose.pick(&[1, 1, 1, 2, 4]);
        lanes.min(widest)
    }

    fn store_own(&mut self) {
        let (ty, class, size) = self.memory_type();
        let lanes = self.vector(size);
        let mut values = Vec::new();
        for _ in 0..lanes {
            let register = self.reg(class);
            values.push(self.bits_of(class, &register));
        }
        // The bits of a float are in an integer register now.
        let ty = if class.is_float() { ["b32", "b64"][usize::from(size == 8)] } else { ty };
        let (space, address) = self.own(size * lanes);
        let how = self.choose.pick(&["", "", "", ".volatile", ".relaxed.cta"]);
        let how = if space == ".local" && how == ".relaxed.cta" { "" } else { how };
        let guard = self.guard();
        match lanes {
            1 => self.put(format!("{guard}st{how}{space}.{ty} {address}, {}", values[0])),
            _ => self.put(format!("{guard}st{how}{space}.v{lanes}.{ty} {address}, {{{}}}", values.join(", "))),
        }
    }

    fn load_own(&mut self) {
        let (ty, class, size) = self.memory_type();
        let lanes = self.vector(size).min(self.pool(class));
        let lanes = if lanes == 3 { 2 } else { lanes };
        let (space, address) = self.own(size * lanes);
        let how = self.choose.pick(&["", "", "", ".volatile", ".relaxed.gpu"]);
        let how = if space == ".local" && how == ".relaxed.gpu" { "" } else { how };
        self.load(&format!("ld{how}{space}"), ty, class, lanes, &address);
    }

    /// Writes a load of one or several registers, none of them twice.
    fn load(&mut self, op: &str, ty: &str, class: Class, lanes: u32, address: &str) {
        let guard = self.guard();
        if lanes == 1 {
            let register = self.reg(class);
            return self.put(format!("{guard}{op}.{ty} {register}, {address}"));
        }
        let first = self.choose.below(self.pool(class));
        let registers: Vec<String> =
            (0..lanes).map(|index| self.nth(class, 1 + (first + index) % self.pool(class))).collect();
        self.put(format!("{guard}{op}.v{lanes}.{ty} {{{}}}, {address}", registers.join(", ")));
    }

    /// 128 bits at once.
    fn wide_own(&mut self) {
        let (a, b) = (self.reg(Class::B64), self.reg(Class::B64));
        let (low, high) = (self.temp(Class::B64), self.temp(Class::B64));
        let (space, address) = self.own(16);
        if self.choose.percent(50) {
            return self.put(format!("st{space}.v2.b64 {address}, {{{a}, {b}}}"));
        }
        self.put(format!("ld{space}.v2.b64 {{{low}, {high}}}, {address}"));
        self.put(format!("xor.b64 {a}, {low}, {high}"));
    }

    /// An atomic operation on one's own memory: what it returns can be used.
    fn atomic_own(&mut self) {
        if self.facts.in_function {
            return self.load_own();
        }
        let (class, bits) = self.choose.pick(&[(Class::B32, 32), (Class::B64, 64)]);
        let (space, address) = match self.own(bits / 8) {
            (".local", _) => return,
            (_, address) if address.contains("frame") => return,
            place => place,
        };
        // A generic address may be one of local memory.
        if space.is_empty() && self.facts.has_local {
            return;
        }
        let (guard, d, b) = (self.guard(), self.reg(class), self.source(class));
        let how = self.choose.pick(&["", ".relaxed.cta", ".acq_rel.gpu"]);
        match self.choose.below(7) {
            0 => self.put(format!("{guard}atom{how}{space}.exch.b{bits} {d}, {address}, {b}")),
            1 => {
                let c = self.source(class);
                self.put(format!("{guard}atom{how}{space}.cas.b{bits} {d}, {address}, {b}, {c}"));
            }
            2 if bits == 32 => self.put(format!("{guard}atom{how}{space}.inc.u32 {d}, {address}, {b}")),
            3 if bits == 32 => self.put(format!("{guard}atom{how}{space}.dec.u32 {d}, {address}, {b}")),
            4 => self.put(format!("{guard}atom{how}{space}.max.s{bits} {d}, {address}, {b}")),
            5 => self.put(format!("{guard}atom{how}{space}.and.b{bits} {d}, {address}, {b}")),
            _ => self.put(format!("{guard}atom{how}{space}.add.u{bits} {d}, {address}, {b}")),
        }
    }

    /// Adds to memory that all threads share.
    fn count(&mut self) {
        let counters = self.facts.counters.clone();
        let counter = self.choose.pick(&counters);
        let ty = counter.operation.split('.').nth(1).expect("an operation and a type");
        let class = Class::of_type(ty).expect("a type");
        let value = match class {
            Class::F32 | Class::F64 => {
                let (small, value, from) = (self.temp(Class::B32), self.temp(class), self.reg(Class::B32));
                self.put(format!("and.b32 {small}, {from}, 15"));
                self.put(format!("cvt.rn.{ty}.u32 {value}, {small}"));
                value
            }
            _ => self.source(class),
        };
        let how = self.choose.pick(&["", "", ".relaxed.gpu"]);
        let guard = self.guard();
        let (space, address) = if counter.is_shared {
            (".shared", format!("[memory+{}]", counter.offset))
        } else {
            let is_generic = self.facts.has_generic && self.choose.percent(30);
            (if is_generic { "" } else { ".global" }, format!("[%counters+{}]", counter.offset))
        };
        if self.choose.percent(50) {
            self.put(format!("{guard}red{how}{space}.{} {address}, {value}", counter.operation));
        } else {
            // What it returns depends on who came before.
            let unused = self.temp(class);
            self.put(format!("{guard}atom{how}{space}.{} {unused}, {address}, {value}", counter.operation));
        }
    }

    /// The address of an element of some input: the same for all threads, one for each, or anywhere.
    fn input_address(&mut self, base: &str, elements: u32, size: u32) -> String {
        let (address, index) = (self.temp(Class::B64), self.temp(Class::B32));
        match self.choose.below(3) {
            0 => return format!("[{base}+{}]", self.choose.below(elements) * size),
            1 if !self.facts.in_function && elements > self.facts.threads => {
                let offset = self.choose.below(elements - self.facts.threads + 1) * size;
                self.put(format!("mad.wide.u32 {address}, %thread, {size}, {base}"));
                return format!("[{address}+{offset}]");
            }
            _ => {
                let from = self.reg(Class::B32);
                self.put(format!("and.b32 {index}, {from}, {}", elements - 1));
                self.put(format!("mad.wide.u32 {address}, {index}, {size}, {base}"));
            }
        }
        format!("[{address}]")
    }

    fn load_input(&mut self) {
        if self.facts.in_function {
            return self.load_constant();
        }
        let (ty, class, size) = self.memory_type();
        let lanes = self.vector(size).min(self.pool(class));
        let lanes = if lanes == 3 { 2 } else { lanes };
        let bytes = size * lanes;
        let address = self.input_address("%input", INPUT * 4 / bytes, bytes);
        let how = self.choose.pick(&[
            ".global",
            ".global",
            ".global.nc",
            ".global.ca",
            ".relaxed.sys.global",
            ".volatile.global",
        ]);
        self.load(&format!("ld{how}"), ty, class, lanes, &address);
    }

    fn load_floats(&mut self) {
        if self.facts.in_function || !self.has(Class::F32) {
            return self.load_input();
        }
        let address = self.input_address("%floats", FLOATS, 4);
        self.load("ld.global", "f32", Class::F32, 1, &address);
    }

    fn load_constant(&mut self) {
        let d = self.reg(Class::B32);
        if self.choose.percent(50) {
            let offset = self.choose.below(CONSTANTS) * 4;
            return self.put(format!("ld.const.b32 {d}, [constants+{offset}]"));
        }
        let base = self.temp(Class::B64);
        self.put(format!("mov.u64 {base}, constants"));
        let index = self.temp(Class::B32);
        let from = self.reg(Class::B32);
        self.put(format!("and.b32 {index}, {from}, {}", CONSTANTS - 1));
        self.put(format!("mad.wide.u32 {base}, {index}, 4, {base}"));
        self.put(format!("ld.const.b32 {d}, [{base}]"));
    }

    /// Copies from the input to one's own slice.
    fn copy_async(&mut self) {
        let size = self.choose.pick(&[4, 8, 16]);
        let to = self.choose.below(SLICE / size) * size;
        let address = self.input_address("%input", INPUT * 4 / size, size);
        self.put(format!("cp.async.ca.shared.global [%slice+{to}], {address}, {size}"));
        if self.choose.percent(50) {
            self.put("cp.async.commit_group");
            self.put("cp.async.wait_group 0");
        } else {
            self.put("cp.async.wait_all");
        }
    }
}
