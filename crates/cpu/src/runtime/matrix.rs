//! Matrices that are spread over the registers of a warp: collecting them, multiplying them, dealing them out.
//!
//! PTX leaves the order and the precision of sums open. Here the accumulator is a single (or a double, or an integer),
//! products are added in the order of `k` with one fused multiply-add each, rounding to the nearest, and a half as
//! result is rounded once at the end.
//!
//! The fragments of `mma` are laid out as the manual says. Those of `wmma` are opaque: they are the elements in row-major
//! order, dealt out to lane 0 first, from the beginning again where the registers hold more than the matrix.

use crate::abi::matrix::{Element, MatrixKind, MatrixOp};
use crate::narrow_float::{half_to_single, single_to_half, small};
use device::FaultKind;

/// The operands of the lanes: words of 64 bits, first what is read, then what is written. An instruction that accesses
/// memory reads the address first, and a fragment its stride second.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operands {
    /// Where each lane's words start; null for lanes that take no part.
    lanes: [*mut u64; 32],
    /// From one word of a lane to its next, in words.
    stride: usize,
}

impl Operands {
    /// Those of a warp: the first word of each operand is that of lane 0, and so on.
    ///
    /// # Safety
    /// There are all words of the instruction, of 32 lanes, and nobody else accesses them as long as this is used.
    pub(crate) unsafe fn of_warp(lanes: u32, words: *mut u64) -> Self {
        let start = |lane| if lanes >> lane & 1 != 0 { words.wrapping_add(lane) } else { std::ptr::null_mut() };
        Self { lanes: std::array::from_fn(start), stride: 32 }
    }

    /// Those of threads that run on their own; null for lanes that take no part.
    ///
    /// # Safety
    /// Each thread has all words of the instruction, and nobody else accesses them as long as this is used.
    pub(crate) unsafe fn of_threads(lanes: [*mut u64; 32]) -> Self {
        Self { lanes, stride: 1 }
    }

    pub(crate) fn read(&self, lane: usize, word: usize) -> u64 {
        if self.lanes[lane].is_null() {
            return 0;
        }
        // SAFETY: who made this promised all words of the instruction, and nothing else is asked for.
        unsafe { *self.lanes[lane].add(word * self.stride) }
    }

    pub(crate) fn write(&self, lane: usize, word: usize, value: u64) {
        if !self.lanes[lane].is_null() {
            // SAFETY: as for `read`.
            unsafe { *self.lanes[lane].add(word * self.stride) = value };
        }
    }

    pub(crate) fn members(&self) -> impl Iterator<Item = usize> {
        let lanes = self.lanes;
        (0..32).filter(move |&lane| !lanes[lane].is_null())
    }
}

/// Executes a matrix instruction.
///
/// # Safety
/// The operands have the words that the instruction needs; addresses are those of memory that the program may access, or
/// the access faults as one of the program's own does.
pub(crate) unsafe fn execute(words: [u64; 2], operands: &Operands) -> Result<(), FaultKind> {
    let op = MatrixOp::of(words);
    match op.kind {
        MatrixKind::Mma | MatrixKind::WmmaMma => multiply(&op, operands, &std::array::from_fn::<_, 32, _>(|lane| lane)),
        MatrixKind::QuadPairs => (0..4).try_for_each(|pair| {
            let lanes: [usize; 8] = std::array::from_fn(|nth| 4 * pair + nth % 4 + nth / 4 * 16);
            multiply(&op, operands, &lanes)
        }),
        MatrixKind::Movmatrix => {
            let rows = rows_of_registers(operands, 0, 1, false);
            deal_rows(&rows, operands, 1, 1, true);
            Ok(())
        }
        // SAFETY: the caller's promise.
        MatrixKind::Ldmatrix => unsafe { load_rows(&op, operands) },
        // SAFETY: as above.
        MatrixKind::Stmatrix => unsafe { store_rows(&op, operands) },
        // SAFETY: as above.
        MatrixKind::LoadFragment | MatrixKind::StoreFragment => unsafe { move_fragment(&op, operands) },
    }
}

impl Element {
    fn is_integer(self) -> bool {
        matches!(self, Self::U4 | Self::S4 | Self::U8 | Self::S8 | Self::S32)
    }

    fn single(self, bits: u64) -> f32 {
        match self {
            Self::F16 => half_to_single(bits as u16),
            Self::Bf16 => f32::from_bits((bits as u32) << 16),
            Self::Tf32 => f32::from_bits(bits as u32 & !0x1fff),
            Self::E5m2 => small(bits, 5, 2, true),
            // Of all bits of the exponent, only with all of the fraction.
            Self::E4m3 if bits & 0x7f == 0x7f => f32::NAN,
            Self::E4m3 => small(bits, 4, 3, false),
            _ => f32::from_bits(bits as u32),
        }
    }

    fn integer(self, bits: u64) -> i64 {
        let bits = bits as i64;
        match self {
            Self::U4 | Self::U8 => bits,
            Self::S4 => bits << 60 >> 60,
            Self::S8 => bits << 56 >> 56,
            _ => bits << 32 >> 32,
        }
    }
}

/// A matrix of elements, as bits.
struct Matrix {
    columns: usize,
    elements: Vec<u64>,
}

/// Which of the matrices of a multiplication.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    A,
    B,
    Accumulator,
}

impl MatrixOp {
    /// How many elements each lane has of a matrix of so many.
    fn per_lane(&self, element: Element, registers: u8, elements: u32) -> u32 {
        match self.kind {
            MatrixKind::Mma => (elements / 32).max(1),
            MatrixKind::QuadPairs => elements / 8,
            _ => u32::from(registers) * element.per_register(),
        }
    }

    /// Row and column of an element of a lane.
    fn place(&self, role: Role, element: Element, per_lane: u32, lane: u32, index: u32) -> (u32, u32) {
        let [m, n, k] = self.shape.map(u32::from);
        if self.kind == MatrixKind::QuadPairs {
            // Along rows of the first factor and columns of the second a lane holds all, across them four of each.
            let along = (lane, index);
            let across = (index + lane / 4 * 4, lane % 4);
            return match role {
                Role::A => {
                    if self.flag {
                        along
                    } else {
                        across
                    }
                }
                Role::B => {
                    let (column, row) = if self.second_flag { across } else { along };
                    (row, column)
                }
                Role::Accumulator if element == Element::F16 => along,
                Role::Accumulator => ((lane & 1) + (index & 2) + lane / 4 * 4, (index & 4) + (lane & 2) + (index & 1)),
            };
        }
        if self.kind != MatrixKind::Mma {
            let (rows, columns) = match (self.kind, role) {
                (MatrixKind::WmmaMma, Role::A) => (m, k),
                (MatrixKind::WmmaMma, Role::B) => (k, n),
                _ => (m, n),
            };
            let place = (lane * per_lane + index) % (rows * columns);
            return (place / columns, place % columns);
        }
        let per_register = element.per_register();
        let (register, index_within) = (index / per_register, index % per_register);
        let (group, member) = (lane / 4, lane % 4);
        match role {
            Role::A if m == 16 => {
                (group + register % 2 * 8, member * per_register + index_within + register / 2 * 4 * per_register)
            }
            Role::A => (group, member * per_register + index_within + register * 4 * per_register),
            Role::B => (member * per_register + index_within + register * 4 * per_register, group),
            // Two neighbours, then two that are eight rows below.
            Role::Accumulator => (group + index / 2 * 8, member * 2 + index % 2),
        }
    }
}

fn register_and_shift(element: Element, index: u32) -> (usize, u32) {
    let per_register = element.per_register();
    ((index / per_register) as usize, index % per_register * element.bits())
}

fn mask(bits: u32) -> u64 {
    if bits == 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// A matrix from the registers of some lanes, which start at a word.
fn collect(
    op: &MatrixOp,
    operands: &Operands,
    lanes: &[usize],
    first: usize,
    role: Role,
    size: (usize, usize),
) -> Matrix {
    let nth = match role {
        Role::A => 1,
        Role::B => 2,
        Role::Accumulator => 3,
    };
    let element = op.elements[nth];
    let (rows, columns) = size;
    let mut matrix = Matrix { columns, elements: vec![0; rows * columns] };
    let per_lane = op.per_lane(element, op.registers[nth], (rows * columns) as u32);
    for (number, &lane) in lanes.iter().enumerate() {
        for index in 0..per_lane {
            let (register, shift) = register_and_shift(element, index);
            let bits = operands.read(lane, first + register) >> shift & mask(element.bits());
            let (row, column) = op.place(role, element, per_lane, number as u32, index);
            matrix.elements[row as usize * columns + column as usize] = bits;
        }
    }
    matrix
}

/// `d = a * b + c`, by some lanes.
fn multiply(op: &MatrixOp, operands: &Operands, lanes: &[usize]) -> Result<(), FaultKind> {
    let [m, n, k] = op.shape.map(usize::from);
    let [d_registers, a_registers, b_registers, c_registers] = op.registers.map(usize::from);
    let a = collect(op, operands, lanes, 0, Role::A, (m, k));
    let b = collect(op, operands, lanes, a_registers, Role::B, (k, n));
    let c = collect(op, operands, lanes, a_registers + b_registers, Role::Accumulator, (m, n));
    let mut d = vec![0; m * n];
    let mut column_of_b = vec![0; k];
    for column in 0..n {
        for (step, element) in column_of_b.iter_mut().enumerate() {
            *element = b.elements[step * b.columns + column];
        }
        for row in 0..m {
            let row_of_a = &a.elements[row * k..(row + 1) * k];
            d[row * n + column] = dot(op, row_of_a, &column_of_b, c.elements[row * n + column])?;
        }
    }
    let first = a_registers + b_registers + c_registers;
    let element = op.elements[0];
    let per_lane = op.per_lane(element, op.registers[0], (m * n) as u32);
    for (number, &lane) in lanes.iter().enumerate() {
        let mut words = [0_u64; 32];
        for index in 0..per_lane {
            let (row, column) = op.place(Role::Accumulator, element, per_lane, number as u32, index);
            let (register, shift) = register_and_shift(element, index);
            words[register] |= d[row as usize * n + column as usize] << shift;
        }
        for (register, &word) in words[..d_registers].iter().enumerate() {
            operands.write(lane, first + register, word);
        }
    }
    Ok(())
}

/// `c + Σ a·b`
fn dot(op: &MatrixOp, a: &[u64], b: &[u64], c: u64) -> Result<u64, FaultKind> {
    let [d_type, a_type, b_type, c_type] = op.elements;
    let factors = a.iter().zip(b).map(|(&a, &b)| (a, b));
    if a_type.is_integer() {
        let sum = factors.fold(c_type.integer(c), |sum, (a, b)| sum + a_type.integer(a) * b_type.integer(b));
        let sum = if op.saturates { sum.clamp(i32::MIN.into(), i32::MAX.into()) } else { sum };
        return Ok(u64::from(sum as u32));
    }
    match a_type {
        Element::B1 => {
            let ones = factors.filter(|(a, b)| (if op.xor { a ^ b } else { a & b }) != 0).count();
            Ok(u64::from((c as u32).wrapping_add(ones as u32)))
        }
        Element::F64 => {
            let mut sum = f64::from_bits(c);
            for (a, b) in factors {
                sum = fused(f64::from_bits(a), f64::from_bits(b), sum, op.rounding)?;
            }
            Ok(if sum.is_nan() { 0x7ff8 << 48 } else { sum.to_bits() })
        }
        _ => {
            let sum = factors.fold(c_type.single(c), |sum, (a, b)| a_type.single(a).mul_add(b_type.single(b), sum));
            Ok(match d_type {
                Element::F16 => single_to_half(sum).into(),
                _ if sum.is_nan() => 0x7fff_ffff,
                _ => sum.to_bits().into(),
            })
        }
    }
}

/// `a * b + c`, rounded once.
fn fused(a: f64, b: f64, c: f64, rounding: u8) -> Result<f64, FaultKind> {
    if rounding == 0 {
        return Ok(a.mul_add(b, c));
    }
    if !std::arch::is_x86_feature_detected!("fma") {
        let what = "rounding of doubles without fused multiplication in the processor".to_owned();
        return Err(FaultKind::Unsupported { what });
    }
    // All exceptions masked, as always.
    let (mode, usual) = (0x1f80_u32 | u32::from(rounding) << 13, 0x1f80_u32);
    let mut sum = c;
    // SAFETY: the processor has the instruction, and the rounding mode is as before afterwards.
    unsafe {
        std::arch::asm!(
            "ldmxcsr [{mode}]",
            "vfmadd231sd {sum}, {a}, {b}",
            "ldmxcsr [{usual}]",
            mode = in(reg) &raw const mode,
            usual = in(reg) &raw const usual,
            sum = inout(xmm_reg) sum,
            a = in(xmm_reg) a,
            b = in(xmm_reg) b,
            options(nostack),
        );
    }
    Ok(sum)
}

/// The lane, and the shift in its register, that has an element of a matrix of 8 times 8 halves.
fn lane_and_shift(row: usize, column: usize, transposed: bool) -> (usize, u32) {
    let (row, column) = if transposed { (column, row) } else { (row, column) };
    (4 * row + column / 2, column as u32 % 2 * 16)
}

/// Gives each lane its elements of the rows of so many matrices.
fn deal_rows(rows: &[[u16; 8]], operands: &Operands, first: usize, count: usize, transposed: bool) {
    for matrix in 0..count {
        let mut registers = [0_u64; 32];
        for (row, elements) in rows[8 * matrix..8 * matrix + 8].iter().enumerate() {
            for (column, &element) in elements.iter().enumerate() {
                let (lane, shift) = lane_and_shift(row, column, transposed);
                registers[lane] |= u64::from(element) << shift;
            }
        }
        for lane in operands.members() {
            operands.write(lane, first + matrix, registers[lane]);
        }
    }
}

/// The rows of so many matrices, from the lanes' registers.
fn rows_of_registers(operands: &Operands, first: usize, count: usize, transposed: bool) -> Vec<[u16; 8]> {
    (0..8 * count)
        .map(|row| {
            std::array::from_fn(|column| {
                let (lane, shift) = lane_and_shift(row % 8, column, transposed);
                (operands.read(lane, first + row / 8) >> shift) as u16
            })
        })
        .collect()
}

fn check_alignment(address: u64, bytes: u32) -> Result<(), FaultKind> {
    if address.is_multiple_of(bytes.into()) { Ok(()) } else { Err(FaultKind::Misaligned { address, bytes }) }
}

/// # Safety
/// As for [`execute`].
unsafe fn load_rows(op: &MatrixOp, operands: &Operands) -> Result<(), FaultKind> {
    let count = usize::from(op.shape[0]);
    let mut rows = vec![[0_u16; 8]; 8 * count];
    for lane in operands.members().filter(|&lane| lane < 8 * count) {
        let address = operands.read(lane, 0);
        check_alignment(address, 16)?;
        // SAFETY: the caller's promise; the address is aligned.
        rows[lane] = unsafe { (address as *const [u16; 8]).read_volatile() };
    }
    deal_rows(&rows, operands, 1, count, op.flag);
    Ok(())
}

/// # Safety
/// As for [`execute`].
unsafe fn store_rows(op: &MatrixOp, operands: &Operands) -> Result<(), FaultKind> {
    let count = usize::from(op.shape[0]);
    let rows = rows_of_registers(operands, 1, count, op.flag);
    for lane in operands.members().filter(|&lane| lane < 8 * count) {
        let address = operands.read(lane, 0);
        check_alignment(address, 16)?;
        // SAFETY: the caller's promise; the address is aligned.
        unsafe { (address as *mut [u16; 8]).write_volatile(rows[lane]) };
    }
    Ok(())
}

/// Loads or stores a fragment, each lane its part.
///
/// # Safety
/// As for [`execute`].
unsafe fn move_fragment(op: &MatrixOp, operands: &Operands) -> Result<(), FaultKind> {
    let element = op.elements[0];
    let registers = usize::from(op.registers[0]);
    let per_lane = op.per_lane(element, op.registers[0], 0);
    let bits = element.bits();
    let bytes = bits.div_ceil(8);
    let is_load = op.kind == MatrixKind::LoadFragment;
    for lane in operands.members() {
        let base = operands.read(lane, 0);
        let stride = u64::from(operands.read(lane, 1) as u32);
        let mut words = [0_u64; 32];
        for index in 0..per_lane {
            let (row, column) = op.place(Role::Accumulator, element, per_lane, lane as u32, index);
            let (row, column) = (u64::from(row), u64::from(column));
            let place = if op.flag { row * stride + column } else { column * stride + row };
            let bit = place.wrapping_mul(bits.into());
            let address = base.wrapping_add(bit / 8);
            check_alignment(address, bytes)?;
            let (register, shift) = register_and_shift(element, index);
            // SAFETY: the caller's promise; the address is aligned.
            unsafe {
                if is_load {
                    let value = read(address, bytes) >> (bit % 8) & mask(bits);
                    words[register] |= value << shift;
                } else {
                    write(address, bytes, operands.read(lane, 2 + register) >> shift);
                }
            }
        }
        if is_load {
            for (register, &word) in words[..registers].iter().enumerate() {
                operands.write(lane, 2 + register, word);
            }
        }
    }
    Ok(())
}

/// # Safety
/// The address is aligned, and that of memory which may be read, or the read faults.
unsafe fn read(address: u64, bytes: u32) -> u64 {
    // SAFETY: the caller's promise.
    unsafe {
        match bytes {
            1 => (address as *const u8).read_volatile().into(),
            2 => (address as *const u16).read_volatile().into(),
            4 => (address as *const u32).read_volatile().into(),
            _ => (address as *const u64).read_volatile(),
        }
    }
}

/// # Safety
/// The address is aligned, and that of memory which may be written, or the write faults.
unsafe fn write(address: u64, bytes: u32, value: u64) {
    // SAFETY: the caller's promise.
    unsafe {
        match bytes {
            1 => (address as *mut u8).write_volatile(value as u8),
            2 => (address as *mut u16).write_volatile(value as u16),
            4 => (address as *mut u32).write_volatile(value as u32),
            _ => (address as *mut u64).write_volatile(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instruction_survives_compiled_code() {
        let op = MatrixOp {
            kind: MatrixKind::WmmaMma,
            elements: [Element::S32, Element::B1, Element::U8, Element::F16],
            shape: [16, 8, 256],
            registers: [4, 8, 2, 1],
            flag: true,
            second_flag: false,
            saturates: false,
            xor: true,
            rounding: 3,
        };
        assert_eq!(MatrixOp::of(op.words()), op);
    }

    #[test]
    fn halves_are_rounded_to_the_nearest() {
        for bits in 0..0x7c01_u64 {
            assert_eq!(u64::from(single_to_half(Element::F16.single(bits))), bits);
            assert_eq!(u64::from(single_to_half(Element::F16.single(bits | 0x8000))), bits | 0x8000);
        }
        assert_eq!(single_to_half(65519.0), 0x7bff);
        assert_eq!(single_to_half(65520.0), 0x7c00);
        assert_eq!(single_to_half(f32::MAX), 0x7c00);
        assert_eq!(single_to_half(2_f32.powi(-25)), 0);
        assert_eq!(single_to_half(2_f32.powi(-25) * 1.001), 1);
    }

    #[test]
    fn doubles_are_rounded_as_asked() {
        if std::arch::is_x86_feature_detected!("fma") {
            let tiny = 2_f64.powi(-80);
            assert_eq!(fused(1.0, tiny, 1.0, 2).unwrap(), 1.0 + f64::EPSILON);
            assert_eq!(fused(1.0, tiny, 1.0, 1).unwrap(), 1.0);
            assert_eq!(fused(1.0, -tiny, 1.0, 3).unwrap(), 1.0 - f64::EPSILON / 2.0);
        }
    }
}
