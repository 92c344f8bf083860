//! The opcode table against itself: every row makes instructions that are known, read and write what the row says, and
//! survive printing.

use filetest::generate::{Choices, instruction, module, random_bytes};
use ptx::ir::{Operand, Reg};
use ptx::ops::{OperandShape, rows};
use ptx::view::View;

const PROLOGUE: &str = "\
.version 9.0
.target sm_100a
.address_size 64
.global .align 16 .b8 array[256];
.extern .func (.param .b32 r) callee(.param .b32 a);
.extern .func plain;
.visible .entry kernel(.param .b64 pointer)
{
.reg .pred %p<9>;
.reg .b16 %h<9>;
.reg .b32 %r<9>;
.reg .b64 %d<9>;
.reg .b128 %q<9>;
.shared .align 16 .b8 tile[1024];
start:
finish:
";

/// Fails for a row that no instruction can match, whose operands are read or written against their role, or whose
/// access names no address.
#[test]
fn every_row_makes_instructions_that_mean_what_it_says() {
    for (number, row) in rows().iter().enumerate() {
        for seed in 0..24 {
            let bytes = random_bytes(number as u64 * 1000 + seed, 200);
            let text = instruction(row, &mut Choices::new(&bytes));
            let source = format!("{PROLOGUE}{text}\nret;\n}}\n");
            let parsed = ptx::parse(&source);
            assert!(parsed.diagnostics.is_empty(), "{text}: {:?}", parsed.diagnostics);
            let module = &parsed.module;
            let function = &module.functions[module.function("kernel").expect("the kernel was parsed")];
            let body = function.body.as_ref().expect("the kernel has a body");
            let (id, inst) = body.insts().next().expect("the instruction was parsed");
            let view = View::of(&module.forms, body, id).expect("it is an instruction");
            assert!(view.form.is_known(), "`{text}` of the row of {} is unknown", row.op);
            let matched = view.matched_operands().unwrap_or_else(|| panic!("{}: `{text}` does not fit", row.op));
            // Where several rows take the text, any of them may be found, but not another instruction.
            assert_eq!(view.op(), Some(row.op), "`{text}` is taken for another instruction");
            let (reads, writes) = (view.reads(), view.writes());
            for (operand, spec) in matched {
                let is_address = matches!(spec.shape, OperandShape::Address(_));
                for reg in registers(body, operand) {
                    assert_eq!(writes.contains(&reg), is_written_somewhere(view, reg), "{text}");
                    assert!(
                        reads.contains(&reg) || spec.written || inst.guard.is_some(),
                        "{text}: {reg:?} is not read"
                    );
                    assert!(!spec.written || is_address || writes.contains(&reg), "{text}: {reg:?} is not written");
                }
            }
            for access in view.accesses() {
                assert!(view.operands()[access.address].is_address(), "{text}: {access:?}");
            }
        }
    }
}

/// Generated modules parse without messages and survive printing and all analyses.
#[test]
fn generated_modules_are_understood() {
    for seed in 0..300 {
        filetest::oracle::check_generated(&random_bytes(seed, 1500));
    }
}

/// The generator must not get stuck in a corner: many different opcodes come up.
#[test]
fn generated_modules_are_varied() {
    let text: String = (0..40).map(|seed| module(&mut Choices::new(&random_bytes(seed, 1500)))).collect();
    let used = ptx::ops::Op::ALL.iter().filter(|op| text.contains(op.first_word())).count();
    assert!(used > ptx::ops::Op::ALL.len() / 2, "only {used} opcodes came up");
}

fn is_written_somewhere(view: View<'_>, reg: Reg) -> bool {
    let matched = view.matched_operands().expect("the caller checked it");
    matched
        .iter()
        .any(|(operand, spec)| spec.written && !operand.is_address() && registers(view.body, operand).contains(&reg))
}

fn registers(body: &ptx::ir::Body, operand: &Operand) -> Vec<Reg> {
    match *operand {
        Operand::Reg(reg)
        | Operand::Not(reg)
        | Operand::Neg(reg)
        | Operand::Part(reg, _)
        | Operand::RegAddress(reg, _) => {
            vec![reg]
        }
        Operand::Pair(first, second) => first.reg().into_iter().chain(second.reg()).collect(),
        Operand::VectorPair(list, second) => {
            let mut regs = registers(body, &Operand::Vector(list));
            regs.extend(second.reg());
            regs
        }
        Operand::Vector(list) | Operand::TupleAddress(list) | Operand::Arguments(list) => {
            body.operands(list).iter().flat_map(|operand| registers(body, operand)).collect()
        }
        _ => Vec::new(),
    }
}
