//! Random small programs: as PTX text for the analyses, and as plain data on which everything is decided by walking
//! from instruction to instruction.

use std::collections::BTreeSet;

use proptest::prelude::*;
use ptx::analysis::functions_with_barriers;
use ptx::analysis::{BarrierRegions, CallGraph, Cfg, DefUse, DominatorTree, Liveness, Reaching, RegionInputs};
use ptx::ir::{Body, FuncId, Function, Module, Reg, StmtId};

/// A register by its name; `carry` is the carry flag.
pub(crate) type Name = &'static str;

pub(crate) const REGISTERS: [Name; 4] = ["%r0", "%r1", "%r2", "%r3"];
pub(crate) const PREDICATES: [Name; 2] = ["%p0", "%p1"];
pub(crate) const POINTER: Name = "%rd0";
pub(crate) const CARRY: Name = "carry";
pub(crate) const LOCALS: [Name; 2] = ["buffer0", "buffer1"];

/// An instruction and what the manual says of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    pub(crate) text: String,
    pub(crate) reads: BTreeSet<Name>,
    pub(crate) writes: BTreeSet<Name>,
    /// Whether the writes may not happen.
    pub(crate) is_uncertain: bool,
    /// Blocks to which it may jump.
    pub(crate) targets: Vec<usize>,
    pub(crate) may_leave: bool,
    pub(crate) never_goes_on: bool,
    pub(crate) mark: Option<Mark>,
    /// The local variable that it names.
    pub(crate) local: Option<(Name, Use)>,
    pub(crate) reads_local_indirectly: bool,
}

/// What matters to barrier regions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mark {
    Wait,
    Arrival,
    Cluster,
    WaitingCall,
}

/// What an instruction does with a local variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Use {
    Read,
    Write,
    TakeAddress,
}

/// A kernel: blocks with a label each.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) lines: Vec<Line>,
    /// The first line of each block.
    starts: Vec<usize>,
}

/// Kernels of up to 7 blocks.
pub(crate) fn programs() -> impl Strategy<Value = Program> {
    (1_usize..=7)
        .prop_flat_map(|blocks| {
            let block = (prop::collection::vec(guarded(plain_lines()), 0..4), prop::option::of(jumps(blocks)));
            prop::collection::vec(block, blocks)
        })
        .prop_map(|blocks| {
            let mut program = Program { lines: Vec::new(), starts: Vec::new() };
            for (lines, jump) in blocks {
                program.starts.push(program.lines.len());
                program.lines.extend(lines.into_iter().chain(jump));
            }
            program
        })
}

fn line(text: String, writes: &[Name], reads: &[Name]) -> Line {
    let (writes, reads) = (writes.iter().copied().collect(), reads.iter().copied().collect());
    Line { text, reads, writes, ..Line::default() }
}

fn plain_lines() -> impl Strategy<Value = Line> {
    let any_of = || (0_usize..4, 0_usize..4, 0_usize..4, 0_usize..2, 0_usize..2);
    (0..24_u32, any_of()).prop_map(|(kind, (d, a, b, p, variable))| {
        let [d, a, b] = [d, a, b].map(|index| REGISTERS[index]);
        let (p, q) = (PREDICATES[p], PREDICATES[1 - p]);
        let local = LOCALS[variable];
        match kind {
            0 | 1 => line(format!("mov.u32 {d}, 7"), &[d], &[]),
            2 | 3 => line(format!("add.u32 {d}, {a}, {b}"), &[d], &[a, b]),
            4 => line(format!("setp.lt.u32 {p}, {a}, {b}"), &[p], &[a, b]),
            5 => line(format!("setp.lt.u32 {p}|{q}, {a}, 3"), &[p, q], &[a]),
            6 => line(format!("selp.b32 {d}, {a}, {b}, {p}"), &[d], &[a, b, p]),
            7 => line(format!("add.cc.u32 {d}, {a}, 1"), &[d, CARRY], &[a]),
            8 => line(format!("addc.u32 {d}, {a}, 1"), &[d], &[a, CARRY]),
            9 => line(format!("addc.cc.u32 {d}, {a}, 1"), &[d, CARRY], &[a, CARRY]),
            10 => line(format!("mov.b64 {{{a}, _}}, {POINTER}"), &[a], &[POINTER]),
            11 => line(format!("mov.b64 {POINTER}, {{{a}, {b}}}"), &[POINTER], &[a, b]),
            // The table does not have it: it may write its first operand.
            12 => Line {
                is_uncertain: true,
                reads_local_indirectly: true,
                ..line(format!("frobnicate.u32 {d}, {a}"), &[d], &[d, a])
            },
            13 | 14 => Line { mark: Some(Mark::Wait), ..line("bar.sync 0".into(), &[], &[]) },
            15 => Line { mark: Some(Mark::Wait), ..line(format!("bar.red.popc.u32 {d}, 0, {p}"), &[d], &[p]) },
            16 => Line { mark: Some(Mark::Arrival), ..line("bar.arrive 0, 64".into(), &[], &[]) },
            17 => Line { mark: Some(Mark::Cluster), ..line("barrier.cluster.arrive".into(), &[], &[]) },
            18 => Line {
                mark: Some(Mark::WaitingCall),
                reads_local_indirectly: true,
                ..line("call waits_below".into(), &[], &[])
            },
            19 => Line { reads_local_indirectly: true, ..line("call harmless".into(), &[], &[]) },
            20 => Line { local: Some((local, Use::Read)), ..line(format!("ld.local.u32 {d}, [{local}+4]"), &[d], &[]) },
            21 => Line { local: Some((local, Use::Write)), ..line(format!("st.local.u32 [{local}], {a}"), &[], &[a]) },
            22 => Line {
                local: Some((local, Use::TakeAddress)),
                ..line(format!("mov.u64 {POINTER}, {local}"), &[POINTER], &[])
            },
            _ => Line { reads_local_indirectly: true, ..line(format!("ld.u32 {d}, [{POINTER}]"), &[d], &[POINTER]) },
        }
    })
}

fn jumps(blocks: usize) -> impl Strategy<Value = Line> {
    let leave = prop::sample::select(vec!["ret", "exit", "trap"]);
    let leave = leave.prop_map(|text| Line { may_leave: true, never_goes_on: true, ..line(text.into(), &[], &[]) });
    let branch = (0..blocks).prop_map(|target| Line {
        targets: vec![target],
        never_goes_on: true,
        ..line(format!("bra L{target}"), &[], &[])
    });
    let index = (0_usize..4).prop_map(|index| REGISTERS[index]);
    let switch = (index, prop::collection::vec(0..blocks, 1..4)).prop_map(|(index, targets)| {
        let table: Vec<String> = targets.iter().map(|target| format!("L{target}")).collect();
        let text = format!("{{ table: .branchtargets {}; brx.idx {index}, table", table.join(", "));
        Line { targets, never_goes_on: true, ..line(text, &[], &[index]) }
    });
    prop_oneof![guarded(leave), guarded(branch), guarded_switch(switch)]
}

/// The line, or the line with a guard.
fn guarded(lines: impl Strategy<Value = Line>) -> impl Strategy<Value = Line> {
    (lines, prop::option::weighted(0.4, (0_usize..2, any::<bool>()))).prop_map(|(line, guard)| match guard {
        Some((index, negated)) => with_guard(line, PREDICATES[index], negated),
        None => line,
    })
}

fn with_guard(mut line: Line, predicate: Name, negated: bool) -> Line {
    line.text = format!("@{}{predicate} {}", if negated { "!" } else { "" }, line.text);
    line.reads.insert(predicate);
    line.is_uncertain = true;
    line.never_goes_on = false;
    line
}

/// The table of targets stands before the guard.
fn guarded_switch(lines: impl Strategy<Value = Line>) -> impl Strategy<Value = Line> {
    (lines, prop::option::weighted(0.3, 0_usize..2)).prop_map(|(line, guard)| {
        let (table, switch) = line.text.split_once("; ").expect("made with a semicolon");
        let (table, switch) = (table.to_string(), switch.to_string());
        let line = Line { text: switch, ..line };
        let line = guard.map_or(line.clone(), |index| with_guard(line, PREDICATES[index], false));
        Line { text: format!("{table}; {}; }}", line.text), ..line }
    })
}

impl Program {
    /// The same with a `ret` after it, so that control leaves nowhere else.
    pub(crate) fn with_ret(mut self) -> Self {
        self.lines.push(Line { may_leave: true, never_goes_on: true, ..line("ret".into(), &[], &[]) });
        self
    }

    pub(crate) fn text(&self) -> String {
        let mut text = String::from(
            ".version 8.0\n.target sm_90\n.address_size 64\n\
             .func harmless() { ret; }\n\
             .func waits() { bar.sync 0; ret; }\n\
             .func waits_below() { call waits; ret; }\n\
             .visible .entry kernel() {\n\
             .reg .b32 %r<4>; .reg .pred %p<2>; .reg .b64 %rd<1>;\n\
             .local .align 4 .b8 buffer0[16]; .local .align 4 .b8 buffer1[16];\n",
        );
        let mut starts = self.starts.iter().copied().enumerate().peekable();
        for (index, line) in self.lines.iter().enumerate() {
            while let Some((block, _)) = starts.next_if(|&(_, start)| start == index) {
                text.push_str(&format!("L{block}:\n"));
            }
            text.push_str(&format!("  {};\n", line.text));
        }
        for (block, _) in starts {
            text.push_str(&format!("L{block}:\n"));
        }
        text.push_str("}\n");
        text
    }

    /// The lines that may run next; their number stands for leaving.
    pub(crate) fn successors(&self, index: usize) -> BTreeSet<usize> {
        let Some(line) = self.lines.get(index) else { return BTreeSet::new() };
        let mut next: BTreeSet<usize> = line.targets.iter().map(|&target| self.starts[target]).collect();
        if line.may_leave {
            next.insert(self.lines.len());
        }
        if !line.never_goes_on {
            next.insert(index + 1);
        }
        next
    }

    /// All lines that can be reached from those of `from` along lines for which `passes` holds, `from` included.
    pub(crate) fn reached(
        &self,
        from: impl IntoIterator<Item = usize>,
        passes: impl Fn(usize) -> bool,
    ) -> BTreeSet<usize> {
        let mut stack: Vec<usize> = from.into_iter().collect();
        let mut reached: BTreeSet<usize> = stack.iter().copied().collect();
        while let Some(index) = stack.pop() {
            if index < self.lines.len() && passes(index) {
                stack.extend(self.successors(index).into_iter().filter(|&next| reached.insert(next)));
            }
        }
        reached
    }

    pub(crate) fn kills(&self, index: usize, name: Name) -> bool {
        !self.lines[index].is_uncertain && self.lines[index].writes.contains(name)
    }

    /// Whether some path from before a line reads the register before it surely writes it.
    pub(crate) fn is_live_before(&self, index: usize, name: Name) -> bool {
        let until_killed = self.reached([index], |index| !self.kills(index, name));
        until_killed.into_iter().any(|index| self.lines.get(index).is_some_and(|line| line.reads.contains(name)))
    }

    pub(crate) fn is_live_after(&self, index: usize, name: Name) -> bool {
        self.successors(index).into_iter().any(|next| self.is_live_before(next, name))
    }
}

pub(crate) fn all_names() -> impl Iterator<Item = Name> {
    REGISTERS.into_iter().chain(PREDICATES).chain([POINTER, CARRY])
}

/// A program that was parsed and analysed.
pub(crate) struct Analysed {
    pub(crate) module: Module,
    pub(crate) kernel: FuncId,
    pub(crate) cfg: Cfg,
    pub(crate) def_use: DefUse,
    pub(crate) liveness: Liveness,
    pub(crate) reaching: Reaching,
    pub(crate) regions: BarrierRegions,
    /// The statement of each line.
    pub(crate) statements: Vec<StmtId>,
}

impl Analysed {
    pub(crate) fn of(program: &Program) -> Self {
        let text = program.text();
        let parsed = ptx::parse(&text);
        assert!(parsed.diagnostics.is_empty(), "{text}\n{:?}", parsed.diagnostics);
        let module = parsed.module;
        let kernel = module.function("kernel").expect("the text has it");
        let function = &module.functions[kernel];
        let cfg = Cfg::of(&module.forms, function);
        let def_use = DefUse::of(&module.forms, function);
        let dominators = DominatorTree::dominators(cfg.graph());
        let liveness = Liveness::of(&cfg, &def_use);
        let reaching = Reaching::of(&cfg, &def_use, &dominators, &liveness);
        let calls = CallGraph::of(&module);
        let with_barriers = functions_with_barriers(&module, &calls);
        let inputs = RegionInputs {
            cfg: &cfg,
            def_use: &def_use,
            liveness: &liveness,
            calls: &calls,
            with_barriers: &with_barriers,
        };
        let regions = BarrierRegions::of(&module, kernel, inputs);
        let statements: Vec<_> = function.body.as_ref().expect("it has a body").insts().map(|(id, _)| id).collect();
        assert_eq!(statements.len(), program.lines.len(), "{text}");
        Self { module, kernel, cfg, def_use, liveness, reaching, regions, statements }
    }

    pub(crate) fn function(&self) -> &Function {
        &self.module.functions[self.kernel]
    }

    pub(crate) fn body(&self) -> &Body {
        self.function().body.as_ref().expect("the kernel has a body")
    }

    /// The name of a register.
    pub(crate) fn name(&self, reg: Reg) -> Name {
        if reg == self.def_use.carry() {
            return CARRY;
        }
        let info = self.function().regs[reg];
        let name = format!("{}{}", self.module.text(self.function().groups[info.group].name), info.number);
        all_names().find(|&known| known == name).expect("the text declares no others")
    }

    /// The line of a statement, if it is an instruction.
    pub(crate) fn line(&self, statement: StmtId) -> Option<usize> {
        self.statements.iter().position(|&id| id == statement)
    }
}
