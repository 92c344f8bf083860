//! Matrices that the lanes of a warp hold together.
//!
//! An element of a product is undefined where something of its row of the first factor is, or of its column of the second, or
//! the element that is added. The manual says which lane holds which row and column ("Matrix Fragments for mma"): of the shapes
//! `m16n8` and `m8n8`, the lanes with the same `lane / 4` hold a row of the first factor, and those a column of the second; of the
//! product, a lane holds two columns, `2 * (lane % 4)` and the next. Of sparse matrices and
//! of scaled ones nothing is known: what they give counts as defined. Of fragments whose layout the manual does not say, see
//! [`super::wmma`].
//!
//! `ldmatrix` and `stmatrix` move matrices of eight rows of eight halves. Each row is where one lane says; of each matrix, a lane
//! has two neighbours of a row in a register, or of a column if it is transposed. So a lane asks those whose rows these are in
//! for the addresses, and has the shadows of just what it loads or stores.

use ptx::ir::{Guard, Operand, Reg};
use ptx::special::Special;
use ptx::types::Type;
use rewrite::Definition;

use crate::memcheck::shadows::{Compute, DEFINED, is_defined};

/// All lanes.
pub(super) const WARP: Operand = Operand::Int(-1);

/// Whether a product is of a shape whose layout is known.
fn is_followed_product(spelling: &str) -> bool {
    let is_shape = spelling.contains(".m16n8k") || spelling.contains(".m8n8k");
    // Half precision in the smallest shape has a layout of its own.
    let is_old = spelling.contains(".m8n8k4.") && !spelling.contains(".f64.f64.f64.f64");
    is_shape && !is_old && !spelling.starts_with("mma.sp") && !spelling.contains("block_scale")
}

/// Whether matrices are of a kind whose layout is known, and transposed.
pub(super) fn moves(spelling: &str) -> Option<bool> {
    (spelling.contains(".m8n8.") && spelling.ends_with(".b16")).then(|| spelling.contains(".trans"))
}

/// What a lane has of the matrices that `ldmatrix` or `stmatrix` moves.
pub(super) struct Fragments {
    transposed: bool,
    guard: Option<Guard>,
    /// The halves of the address of the row that the lane says.
    own_row: [Reg; 2],
    /// The first row of each matrix in which it has something, and which element it has there.
    row: Operand,
    element: Operand,
}

impl Compute<'_, '_, '_> {
    /// What this lane has of the matrices, one row of which is at an address that it says.
    pub(super) fn fragments(&mut self, own_row: Reg, transposed: bool, guard: Option<Guard>) -> Fragments {
        let lane = self.at.special(Special::Laneid);
        let quarter = self.inst("shr.u32", 32, &[lane.into(), 2.into()]);
        let in_quarter = self.and(32, lane.into(), 3.into());
        let (row, element) = match transposed {
            false => (quarter, in_quarter),
            true => (self.inst("shl.b32", 32, &[in_quarter, 1.into()]), quarter),
        };
        let halves = [(); 2].map(|()| self.at.reg(Type::B32));
        let mut builder = self.at.before();
        let pair = builder.vector(&halves.map(Operand::Reg));
        builder.inst("mov.b64", &[pair, own_row.into()]);
        Fragments { transposed, guard, own_row: halves, row, element }
    }

    /// The addresses of what it has of one of the matrices: of a word, or of two halves if it is transposed.
    pub(super) fn fragment(&mut self, fragments: &Fragments, nth: u32) -> Vec<Reg> {
        let &Fragments { transposed, guard, own_row, row, element } = fragments;
        let (parts, bytes) = if transposed { (2, 2) } else { (1, 4) };
        let addresses = (0..parts).map(|part| {
            let row = self.inst("add.u32", 32, &[row, i64::from(8 * nth + part).into()]);
            let of_row = own_row.map(|half| {
                let asked = self.at.reg(Type::B32);
                let operands = [asked.into(), half.into(), row, Operand::Int(31), WARP];
                self.at.before().inst_if(guard, "shfl.sync.idx.b32", &operands);
                asked
            });
            let [start, address] = [(); 2].map(|()| self.at.reg(Type::B64));
            let mut builder = self.at.before();
            let pair = builder.vector(&of_row.map(Operand::Reg));
            builder.inst("mov.b64", &[start.into(), pair]);
            builder.inst("mad.wide.u32", &[address.into(), element, Operand::Int(bytes), start.into()]);
            address
        });
        addresses.collect()
    }

    pub(super) fn elements_of(&mut self, operand: Operand) -> Vec<Operand> {
        match operand {
            Operand::Vector(list) => self.at.editor().body().operands(list).to_vec(),
            operand => vec![operand],
        }
    }

    /// Which lanes have something undefined in some of their registers.
    fn lanes(&mut self, regs: impl Iterator<Item = Operand>, guard: Option<Guard>) -> Operand {
        let any = self.any_of(regs.filter_map(|operand| operand.as_reg()));
        if is_defined(any) {
            return DEFINED;
        }
        let (is_any, lanes) = (self.is_any(32, any), self.at.reg(Type::B32));
        self.at.before().inst_if(guard, "vote.sync.ballot.b32", &[lanes.into(), is_any.into(), WARP]);
        lanes.into()
    }

    /// 32 bits of which some is one where one of four lanes from a number on is among some.
    fn among(&mut self, lanes: Operand, first: Operand) -> Operand {
        if is_defined(lanes) {
            return DEFINED;
        }
        let shifted = self.inst("shr.u32", 32, &[lanes, first]);
        self.and(32, shifted, 15.into())
    }

    /// A product of matrices.
    pub(super) fn multiplied(
        &mut self,
        spelling: &str,
        operands: &[Operand],
        definition: &Definition,
    ) -> Vec<(Reg, Operand)> {
        let defined = || definition.regs.iter().map(|reg| (*reg, DEFINED)).collect();
        let [d, a, b, c, ..] = *operands else { return defined() };
        if !is_followed_product(spelling) {
            return defined();
        }
        let [results, first, second, added] = [d, a, b, c].map(|operand| self.elements_of(operand));
        let has_two_rows = spelling.contains(".m16n8k");
        let guard = definition.guard;
        let rows: Vec<Operand> = match has_two_rows {
            true => (0..2).map(|row| self.lanes(first.iter().copied().skip(row).step_by(2), guard)).collect(),
            false => vec![self.lanes(first.iter().copied(), guard)],
        };
        let columns = self.lanes(second.into_iter(), guard);
        let lane = self.at.special(Special::Laneid);
        let row_first = self.and(32, lane.into(), 28.into());
        let rows: Vec<Operand> = rows.into_iter().map(|lanes| self.among(lanes, row_first)).collect();
        let in_four = self.and(32, lane.into(), 3.into());
        let column_first = self.inst("shl.b32", 32, &[in_four, 3.into()]);
        let column_second = self.inst("add.u32", 32, &[column_first, 4.into()]);
        let columns = [column_first, column_second].map(|first| self.among(columns, first));
        let per_row = results.len() / rows.len().max(1);
        let mut shadows = Vec::new();
        for (nth, &result) in results.iter().enumerate() {
            let Operand::Reg(reg) = result else { continue };
            let bits = self.bits(reg);
            let of_added = match added.get(nth) {
                Some(&Operand::Reg(addend)) => {
                    let (bits, shadow) = (self.bits(addend), self.of_reg(addend));
                    self.any32(bits, shadow)
                }
                _ => DEFINED,
            };
            let row = rows[(nth / per_row.max(1)).min(rows.len() - 1)];
            let row = self.or(32, row, of_added);
            let shadow = match per_row {
                // Two halves in a register.
                1 => {
                    let [low, high] = columns.map(|column| {
                        let any = self.or(32, row, column);
                        self.all_if_any(32, any, 32)
                    });
                    let low = if is_defined(low) { low } else { self.and(32, low, 0xffff.into()) };
                    let high = if is_defined(high) { high } else { self.and(32, high, Operand::Hex(0xffff_0000)) };
                    self.or(32, low, high)
                }
                _ => {
                    let any = self.or(32, row, columns[nth % 2]);
                    self.all_if_any(32, any, bits)
                }
            };
            shadows.push((reg, shadow));
        }
        shadows
    }
}
