//! Matrices that are spread over the lanes of a warp: collecting them, multiplying them, dealing them out.

use super::lane::Lane;
use crate::arith::int::mask;
use crate::code::{Fragment, Inst, Layout, Mma};
use crate::fault::FaultKind;
use crate::memory::{Window, from_bytes};

/// A matrix of elements, as bits.
#[derive(Clone, Debug)]
pub(crate) struct Matrix {
    rows: u32,
    columns: u32,
    elements: Vec<u64>,
}

impl Matrix {
    fn zero(rows: u32, columns: u32) -> Self {
        Self { rows, columns, elements: vec![0; (rows * columns) as usize] }
    }

    fn index(&self, (row, column): (u16, u16)) -> usize {
        let (row, column) = (u32::from(row), u32::from(column));
        assert!(row < self.rows && column < self.columns, "an element outside of its matrix");
        (row * self.columns + column) as usize
    }

    /// Puts a lane's registers where its layout says.
    fn collect(&mut self, layout: &Layout, lane: u32, registers: &[u128]) {
        for element in 0..layout.per_lane {
            let place = layout.place[(lane * layout.per_lane + element) as usize];
            let index = self.index(place);
            self.elements[index] = bits_of(layout, registers, element);
        }
    }

    /// A lane's registers.
    fn deal(&self, layout: &Layout, lane: u32) -> Vec<u128> {
        let mut registers = vec![0; layout.registers as usize];
        for element in 0..layout.per_lane {
            let place = layout.place[(lane * layout.per_lane + element) as usize];
            put_bits(layout, &mut registers, element, self.elements[self.index(place)]);
        }
        registers
    }
}

/// Register and shift of an element of a lane.
fn slot(layout: &Layout, element: u32) -> (usize, u32) {
    let bits = layout.element.bits();
    let per_register = bits.max(32) / bits;
    ((element / per_register) as usize, element % per_register * bits)
}

fn bits_of(layout: &Layout, registers: &[u128], element: u32) -> u64 {
    let (register, shift) = slot(layout, element);
    (registers[register] >> shift & mask(layout.element.bits())) as u64
}

fn put_bits(layout: &Layout, registers: &mut [u128], element: u32, bits: u64) {
    let (register, shift) = slot(layout, element);
    registers[register] |= u128::from(bits) << shift;
}

/// `d = a * b + c`: from the args of each lane to its results.
pub(crate) fn multiply(mma: &Mma, args: &[Vec<u128>]) -> Vec<Vec<u128>> {
    let mut results = vec![Vec::new(); args.len()];
    for group in &mma.groups {
        let members: Vec<Vec<u128>> = group.iter().map(|&lane| args[usize::from(lane)].clone()).collect();
        for (&lane, result) in group.iter().zip(multiply_group(mma, &members)) {
            results[usize::from(lane)] = result;
        }
    }
    results
}

fn multiply_group(mma: &Mma, args: &[Vec<u128>]) -> Vec<Vec<u128>> {
    let [m, n, k] = mma.shape;
    let (mut a, mut b, mut c) = (Matrix::zero(m, k), Matrix::zero(k, n), Matrix::zero(m, n));
    let a_end = mma.a.registers as usize;
    let b_end = a_end + mma.b.registers as usize;
    for (lane, registers) in (0..).zip(args) {
        a.collect(&mma.a, lane, &registers[..a_end]);
        b.collect(&mma.b, lane, &registers[a_end..b_end]);
        c.collect(&mma.c, lane, &registers[b_end..]);
    }
    let mut d = Matrix::zero(m, n);
    for row in 0..m {
        for column in 0..n {
            let factors =
                (0..k).map(|step| (a.elements[(row * k + step) as usize], b.elements[(step * n + column) as usize]));
            let place = (row * n + column) as usize;
            d.elements[place] = mma.dot.apply(factors, c.elements[place]);
        }
    }
    (0..args.len() as u32).map(|lane| d.deal(&mma.d, lane)).collect()
}

/// A row of eight halves per lane address to registers, or back: element `(row, column)` of matrix `n` is in register
/// `n` of lane `4 * row + column / 2`.
pub(crate) fn matrix_lane(row: u32, column: u32, transpose: bool) -> (u32, u32) {
    let (row, column) = if transpose { (column, row) } else { (row, column) };
    (4 * row + column / 2, column % 2 * 16)
}

/// The rows at the addresses of the lanes, as the registers of each lane.
pub(crate) fn registers_from_rows(rows: &[[u8; 16]], transpose: bool) -> Vec<Vec<u128>> {
    let count = rows.len() / 8;
    let mut registers = vec![vec![0; count]; 32];
    for (index, bytes) in rows.iter().enumerate() {
        for column in 0..8 {
            let half = from_bytes(&bytes[2 * column..2 * column + 2]);
            let (lane, shift) = matrix_lane(index as u32 % 8, column as u32, transpose);
            registers[lane as usize][index / 8] |= half << shift;
        }
    }
    registers
}

/// The other way around.
pub(crate) fn rows_from_registers(registers: &[Vec<u128>], count: usize, transpose: bool) -> Vec<[u8; 16]> {
    let mut rows = vec![[0; 16]; 8 * count];
    for (index, bytes) in rows.iter_mut().enumerate() {
        for column in 0..8 {
            let (lane, shift) = matrix_lane(index as u32 % 8, column as u32, transpose);
            let half = (registers[lane as usize][index / 8] >> shift) as u16;
            bytes[2 * column..2 * column + 2].copy_from_slice(&half.to_le_bytes());
        }
    }
    rows
}

impl Lane<'_> {
    /// Where an element of a fragment is in memory: byte and bit.
    fn element_place(&self, inst: &Inst, fragment: &Fragment, (row, column): (u16, u16)) -> (Window, u64, u32) {
        let operand = inst.addresses[0];
        let (row, column) = (u64::from(row), u64::from(column));
        let default = if fragment.row_major { fragment.columns } else { fragment.rows };
        let stride = match (fragment.has_stride, inst.args.last()) {
            (true, Some(&arg)) => u64::from(self.read(arg) as u32),
            _ => default.into(),
        };
        let index = if fragment.row_major { row * stride + column } else { column * stride + row };
        let bit = index * u64::from(fragment.layout.element.bits());
        (operand.window, self.address_of(operand) + bit / 8, (bit % 8) as u32)
    }

    pub(crate) fn load_fragment(&mut self, inst: &Inst, fragment: &Fragment) -> Result<(), FaultKind> {
        let layout = &fragment.layout;
        let bits = layout.element.bits();
        let lane = self.thread.lane();
        let mut registers = vec![0; layout.registers as usize];
        for element in 0..layout.per_lane {
            let place = layout.place[(lane * layout.per_lane + element) as usize];
            let (window, address, bit) = self.element_place(inst, fragment, place);
            let value = from_bytes(self.load(window, address, bits.div_ceil(8))?) >> bit & mask(bits);
            put_bits(layout, &mut registers, element, value as u64);
        }
        for (&dest, value) in inst.dests.iter().zip(registers) {
            self.thread.write(dest, value);
        }
        Ok(())
    }

    pub(crate) fn store_fragment(&mut self, inst: &Inst, fragment: &Fragment) -> Result<(), FaultKind> {
        let layout = &fragment.layout;
        let lane = self.thread.lane();
        let registers: Vec<u128> = inst.args.iter().map(|&arg| self.read(arg)).collect();
        for element in 0..layout.per_lane {
            let place = layout.place[(lane * layout.per_lane + element) as usize];
            // Accumulators have at least 16 bits.
            let (window, address, _) = self.element_place(inst, fragment, place);
            let size = layout.element.bits() / 8;
            let value = bits_of(layout, &registers, element);
            self.store(window, address, size)?.copy_from_slice(&value.to_le_bytes()[..size as usize]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_registers_are_each_others_inverse() {
        let rows: Vec<[u8; 16]> = (0..16).map(|row| std::array::from_fn(|column| (row * 16 + column) as u8)).collect();
        for transpose in [false, true] {
            let registers = registers_from_rows(&rows, transpose);
            assert_eq!(rows_from_registers(&registers, 2, transpose), rows);
        }
        let registers = registers_from_rows(&rows, false);
        // Lane 5 has row 1, columns 2 and 3 of each matrix.
        assert_eq!(registers[5][0], 0x1716_1514);
        assert_eq!(registers[5][1], 0x9796_9594);
    }
}
