//! Matrices that are spread over the lanes of a warp.
//!
//! The operands of all lanes are written to memory, the runtime computes, and the results are read back. At width 1,
//! the runtime brings the threads of the warp together first.

use ptx::ir::Operand;
use ptx::ops::{Mod, Op};
use ptx::types::Type;
use ptx::view::{AccessSpace, View};

use super::arithmetic::rounding_of;
use super::function::Lowering;
use crate::abi::calls::RuntimeFunction;
use crate::abi::matrix::{Element, MatrixKind, MatrixOp};
use crate::emit::{Rounding, Sign};
use crate::llvm::Value;

/// Whether an instruction works on matrices that the lanes of a warp hold together.
pub(crate) fn is_matrix(op: Op) -> bool {
    matches!(
        op,
        Op::Mma
            | Op::WmmaMma
            | Op::WmmaLoadA
            | Op::WmmaLoadB
            | Op::WmmaLoadC
            | Op::WmmaStoreD
            | Op::Ldmatrix
            | Op::Stmatrix
            | Op::Movmatrix
    )
}

const FUNCTIONS: [RuntimeFunction; 2] = [RuntimeFunction::Matrix, RuntimeFunction::MatrixOfThread];

impl<'a, 'c> Lowering<'_, 'a, 'c> {
    /// False if the instruction is one that the device does not have.
    pub(crate) fn matrix(&mut self, op: Op, view: &View<'a>) -> bool {
        let operands = view.operands();
        match op {
            Op::Mma | Op::WmmaMma => {
                let Some(what) = self.multiplication(op, view) else { return false };
                let bits = |nth: usize| what.elements[nth].bits().max(32);
                let sources = operands.iter().enumerate().skip(1);
                let inputs: Vec<_> = sources.flat_map(|(nth, operand)| self.read_words(operand, bits(nth))).collect();
                self.call_matrix(what, &inputs, &self.parts(&operands[0]), bits(0));
            }
            Op::Movmatrix => {
                let inputs = self.read_words(&operands[1], 32);
                let what = plain(MatrixKind::Movmatrix, Element::F16, [1, 0, 0], 1);
                self.call_matrix(what, &inputs, &operands[..1], 32);
            }
            Op::Ldmatrix | Op::Stmatrix => return self.small_matrices(op, view),
            _ => return self.fragment(op, view),
        }
        true
    }

    /// The operands of a list; an operand that is none by itself.
    pub(crate) fn parts(&self, operand: &Operand) -> Vec<Operand> {
        match *operand {
            Operand::Vector(list) => self.body.operands(list).to_vec(),
            other => vec![other],
        }
    }

    /// Registers as numbers of 64 bits.
    fn read_words(&mut self, operand: &Operand, bits: u32) -> Vec<Value<'c>> {
        let emit = self.vector();
        let parts = self.parts(operand);
        parts
            .iter()
            .map(|part| {
                let value = self.read(part, bits, emit);
                emit.resize(Sign::Unsigned, value, 64)
            })
            .collect()
    }

    /// The addresses of the lanes, as numbers.
    fn read_addresses(&mut self, view: &View<'a>) -> Option<Value<'c>> {
        let accesses = view.accesses();
        let access = accesses.first()?;
        let space = match access.space {
            AccessSpace::State(space) => Some(space),
            AccessSpace::Generic => None,
            _ => return None,
        };
        let address = self.address(&view.operands()[access.address], space)?;
        Some(self.addresses(&address))
    }

    fn multiplication(&self, op: Op, view: &View<'a>) -> Option<MatrixOp> {
        let form = view.form;
        let operands = view.operands();
        let shape = form.shape()?;
        let [m, n, _] = shape;
        let types = match *form.types() {
            // Those of d and c; the factors are halves.
            [d, c] if op == Op::WmmaMma => [d, Type::F16, Type::F16, c],
            [d, a, b, c] => [d, a, b, c],
            _ => return None,
        };
        let unsupported = [Mod::Sp, Mod::SpOrderedMetadata, Mod::BlockScale, Mod::KindF8f6f4];
        if unsupported.into_iter().any(|word| form.has(word)) || operands.len() != 4 {
            return None;
        }
        let layouts: Vec<Mod> = form.words().filter(|word| matches!(word, Mod::Row | Mod::Col)).collect();
        // The shape of Volta has layouts of its own.
        let is_volta = op == Op::Mma && types[1] == Type::F16 && m == 8;
        if op == Op::Mma && (n != 8 || !is_volta && layouts != [Mod::Row, Mod::Col]) {
            return None;
        }
        let [d, a, b, c] = types.map(element);
        let elements = [d?, a?, b?, c?];
        let registers: [usize; 4] = std::array::from_fn(|nth| self.parts(&operands[nth]).len());
        let what = MatrixOp {
            kind: match op {
                Op::Mma if is_volta => MatrixKind::QuadPairs,
                Op::Mma => MatrixKind::Mma,
                _ => MatrixKind::WmmaMma,
            },
            elements,
            shape,
            registers: registers.map(|count| count as u8),
            flag: layouts.first() == Some(&Mod::Row),
            second_flag: layouts.get(1) == Some(&Mod::Row),
            saturates: form.has(Mod::Satfinite),
            xor: form.has(Mod::Xor),
            rounding: match rounding_of(form) {
                None | Some(Rounding::Nearest) => 0,
                Some(Rounding::Down) => 1,
                Some(Rounding::Up) => 2,
                Some(Rounding::TowardZero) => 3,
            },
        };
        has_right_registers(&what).then_some(what)
    }

    /// `ldmatrix` and `stmatrix`.
    fn small_matrices(&mut self, op: Op, view: &View<'a>) -> bool {
        let form = view.form;
        let operands = view.operands();
        if form.shape() != Some([8, 8, 0]) {
            return false;
        }
        let count = match () {
            () if form.has(Mod::X4) => 4,
            () if form.has(Mod::X2) => 2,
            () => 1,
        };
        let is_load = op == Op::Ldmatrix;
        let registers = &operands[usize::from(!is_load)];
        if self.parts(registers).len() != usize::from(count) {
            return false;
        }
        let Some(addresses) = self.read_addresses(view) else { return false };
        let mut inputs = vec![addresses];
        let kind = if is_load { MatrixKind::Ldmatrix } else { MatrixKind::Stmatrix };
        let mut what = plain(kind, Element::F16, [count, 0, 0], count as u8);
        what.flag = form.has(Mod::Trans);
        let outputs = if is_load {
            self.parts(registers)
        } else {
            inputs.extend(self.read_words(registers, 32));
            Vec::new()
        };
        self.call_matrix(what, &inputs, &outputs, 32);
        true
    }

    /// `wmma.load` and `wmma.store`.
    fn fragment(&mut self, op: Op, view: &View<'a>) -> bool {
        let form = view.form;
        let operands = view.operands();
        let Some([m, n, k]) = form.shape() else { return false };
        let (rows, columns) = match op {
            Op::WmmaLoadA => (m, k),
            Op::WmmaLoadB => (k, n),
            _ => (m, n),
        };
        let Some(element) = form.types().last().copied().and_then(element) else { return false };
        let is_load = op != Op::WmmaStoreD;
        let registers = &operands[usize::from(!is_load)];
        let count = self.parts(registers).len();
        let mut what = plain(
            if is_load { MatrixKind::LoadFragment } else { MatrixKind::StoreFragment },
            element,
            [rows, columns, 0],
            count as u8,
        );
        what.flag = form.has(Mod::Row);
        let held = count as u32 * element.per_register() * 32;
        let elements = u32::from(rows) * u32::from(columns);
        if held < elements || !held.is_multiple_of(elements) {
            return false;
        }
        let Some(addresses) = self.read_addresses(view) else { return false };
        let emit = self.vector();
        let stride = match operands.get(2) {
            Some(stride) => {
                let stride = self.read(stride, 32, emit);
                emit.resize(Sign::Unsigned, stride, 64)
            }
            None => emit.int(64).constant(u64::from(if what.flag { columns } else { rows })),
        };
        let bits = element.bits().max(32);
        let mut inputs = vec![addresses, stride];
        let outputs = if is_load {
            self.parts(registers)
        } else {
            inputs.extend(self.read_words(registers, bits));
            Vec::new()
        };
        self.call_matrix(what, &inputs, &outputs, bits);
        true
    }

    /// Has the runtime execute an instruction, and writes the results.
    fn call_matrix(&mut self, what: MatrixOp, inputs: &[Value<'c>], outputs: &[Operand], bits: u32) {
        let active = self.active();
        self.deoptimize_if_lanes_are_missing(active, None);
        let results = self.call_with_words(FUNCTIONS, what.words(), inputs, outputs.len());
        let emit = self.vector();
        for (output, result) in outputs.iter().zip(results) {
            self.write(output, emit.resize(Sign::Unsigned, result, bits), Sign::Unsigned);
        }
    }
}

/// An instruction on one matrix.
fn plain(kind: MatrixKind, element: Element, shape: [u16; 3], registers: u8) -> MatrixOp {
    MatrixOp {
        kind,
        elements: [element; 4],
        shape,
        registers: [registers; 4],
        flag: false,
        second_flag: false,
        saturates: false,
        xor: false,
        rounding: 0,
    }
}

fn element(ty: Type) -> Option<Element> {
    Some(match ty {
        Type::F16 => Element::F16,
        Type::Bf16 => Element::Bf16,
        Type::Tf32 => Element::Tf32,
        Type::F32 => Element::F32,
        Type::F64 => Element::F64,
        Type::E4m3 => Element::E4m3,
        Type::E5m2 => Element::E5m2,
        Type::U4 => Element::U4,
        Type::S4 => Element::S4,
        Type::U8 => Element::U8,
        Type::S8 => Element::S8,
        Type::S32 => Element::S32,
        Type::B1 => Element::B1,
        _ => return None,
    })
}

/// Whether the registers hold the matrices.
fn has_right_registers(what: &MatrixOp) -> bool {
    let [m, n, k] = what.shape.map(u32::from);
    let sizes = [m * n, m * k, k * n, m * n];
    (0..4).all(|nth| {
        let (element, registers) = (what.elements[nth], u32::from(what.registers[nth]));
        match what.kind {
            MatrixKind::Mma => (sizes[nth] / 32).max(1).div_ceil(element.per_register()) == registers,
            MatrixKind::QuadPairs => (sizes[nth] / 8).div_ceil(element.per_register()) == registers,
            _ => {
                let held = registers * element.per_register() * 32;
                held >= sizes[nth] && held.is_multiple_of(sizes[nth])
            }
        }
    })
}
