//! Textures and surfaces, by handle.

use ptx::ir::{Operand, Symbol};
use ptx::ops::{Mod, Op};
use ptx::types::{Type, TypeKind};
use ptx::view::View;

use super::function::Lowering;
use crate::abi::calls::RuntimeFunction;
use crate::abi::texture::{LodKind, Outside, Query, Reduction, ResultKind, TextureKind, TextureOp, word};
use crate::emit::Sign;
use crate::llvm::Value;
use device::texture::Geometry;

const FUNCTIONS: [RuntimeFunction; 2] = [RuntimeFunction::Texture, RuntimeFunction::TextureOfThread];

impl<'a, 'c> Lowering<'_, 'a, 'c> {
    /// False if the instruction is one that the device does not have.
    pub(crate) fn texture(&mut self, op: Op, view: &View<'a>) -> bool {
        match op {
            Op::Tex | Op::Tld4 => self.sample(op, view),
            Op::Suld | Op::Sust | Op::Sured => self.surface(op, view),
            Op::Txq | Op::Suq => self.texture_query(view),
            _ => false,
        }
    }

    fn sample(&mut self, op: Op, view: &View<'a>) -> bool {
        let form = view.form;
        let operands = view.operands();
        let [result, coordinates] = form.types() else { return false };
        let Some(geometry) = geometry(view) else { return false };
        let mut what = plain(TextureKind::Sample, geometry);
        what.by_integers = *coordinates == Type::S32;
        what.result = match *result {
            Type::F16 => ResultKind::Halves,
            Type::F16x2 => ResultKind::PackedHalves,
            _ => ResultKind::Words,
        };
        if op == Op::Tld4 {
            what.kind = TextureKind::Gather;
            let component = [Mod::R, Mod::G, Mod::B, Mod::A].into_iter().position(|word| form.has(word));
            what.component = component.unwrap_or(0) as u8;
        }
        let Some(mut inputs) = self.texture_inputs(view, 1, geometry) else { return false };
        let mut rest = 2;
        if form.has(Mod::Level) {
            what.lod = LodKind::Level;
            inputs[word::LOD] = self.texture_word(&operands[rest]);
            rest += 1;
        } else if form.has(Mod::Grad) {
            what.lod = LodKind::Gradients;
            for (first, operand) in [(word::LOD, operands[rest]), (word::LOD + 3, operands[rest + 1])] {
                for (nth, part) in self.parts(&operand).iter().take(3).enumerate() {
                    inputs[first + nth] = self.texture_word(part);
                }
            }
            rest += 2;
        }
        match operands[rest..] {
            [] => {}
            [offsets] if matches!(offsets, Operand::Vector(_)) || geometry == Geometry::Line => {
                for (nth, part) in self.parts(&offsets).iter().take(3).enumerate() {
                    inputs[word::OFFSETS + nth] = self.texture_word(part);
                }
            }
            // Comparison of depths.
            _ => return false,
        }
        let targets = self.parts(&operands[0]);
        let (count, bits) = match what.result {
            ResultKind::Words => (4, 32),
            ResultKind::Halves => (4, 16),
            ResultKind::PackedHalves => (2, 32),
        };
        // Whether memory is resident is asked by nobody yet.
        if targets.len() != count {
            return false;
        }
        let results = self.call_with_words(FUNCTIONS, what.words(), &inputs, count);
        self.write_words(&targets, &results, bits);
        true
    }

    fn surface(&mut self, op: Op, view: &View<'a>) -> bool {
        let form = view.form;
        let operands = view.operands();
        let Some(geometry) = geometry(view) else { return false };
        // Only as bytes; with formats they are rare.
        if !form.has(Mod::B) {
            return false;
        }
        let ty = form.types().last().copied().unwrap_or(Type::B32);
        let mut what = plain(
            match op {
                Op::Suld => TextureKind::Load,
                Op::Sust => TextureKind::Store,
                _ => TextureKind::Reduce,
            },
            geometry,
        );
        what.bytes = ty.bytes() as u8;
        what.elements = form.vector() as u8;
        what.is_signed = ty.kind() == TypeKind::Signed;
        what.outside = match () {
            () if form.has(Mod::Clamp) => Outside::Clamp,
            () if form.has(Mod::Zero) => Outside::Zero,
            () => Outside::Trap,
        };
        what.reduction = match () {
            () if form.has(Mod::Min) => Reduction::Min,
            () if form.has(Mod::Max) => Reduction::Max,
            () if form.has(Mod::And) => Reduction::And,
            () if form.has(Mod::Or) => Reduction::Or,
            () => Reduction::Add,
        };
        let is_load = op == Op::Suld;
        let Some(mut inputs) = self.texture_inputs(view, usize::from(is_load), geometry) else { return false };
        let parts = self.parts(&operands[usize::from(!is_load)]);
        if parts.len() != usize::from(what.elements) {
            return false;
        }
        if is_load {
            let results = self.call_with_words(FUNCTIONS, what.words(), &inputs, parts.len());
            self.write_words(&parts, &results, ty.bits());
        } else {
            let emit = self.vector();
            for (nth, part) in parts.iter().enumerate() {
                let value = self.read(part, ty.bits(), emit);
                inputs[word::DATA + nth] = emit.resize(Sign::Unsigned, value, 64);
            }
            self.call_with_words(FUNCTIONS, what.words(), &inputs, 0);
        }
        true
    }

    fn texture_query(&mut self, view: &View<'a>) -> bool {
        let operands = view.operands();
        let Some(query) = view.form.words().find_map(query) else { return false };
        let Some(handle) = self.texture_handle(&operands[1]) else { return false };
        let mut what = plain(TextureKind::Query, Geometry::Line);
        what.query = query;
        let mut inputs = vec![self.vector().int(64).zero(); word::INPUTS];
        inputs[word::HANDLE] = handle;
        if let Some(level) = operands.get(2) {
            inputs[word::LOD] = self.texture_word(level);
        }
        let results = self.call_with_words(FUNCTIONS, what.words(), &inputs, 1);
        self.write_words(&operands[..1], &results, 32);
        true
    }

    fn write_words(&mut self, targets: &[Operand], values: &[Value<'c>], bits: u32) {
        let emit = self.vector();
        for (target, &value) in targets.iter().zip(values) {
            self.write(target, emit.resize(Sign::Unsigned, value, bits), Sign::Unsigned);
        }
    }

    fn texture_word(&mut self, operand: &Operand) -> Value<'c> {
        let emit = self.vector();
        let value = match operand {
            Operand::Sink => emit.int(32).zero(),
            _ => self.read(operand, 32, emit),
        };
        emit.resize(Sign::Unsigned, value, 64)
    }

    /// The handle in a register, or in a variable: a texture that PTX knows by name is a variable of 64 bits, in which the
    /// host puts the handle of the object that is bound to it.
    fn texture_handle(&mut self, operand: &Operand) -> Option<Value<'c>> {
        let emit = self.vector();
        match *operand {
            Operand::RegAddress(reg, 0) | Operand::Reg(reg) => {
                let value = self.read_reg(reg, emit);
                Some(emit.resize(Sign::Unsigned, value, 64))
            }
            Operand::SymbolAddress(symbol, 0) | Operand::Symbol(symbol, 0) => {
                let handle = self.named_texture(symbol);
                Some(emit.broadcast(handle))
            }
            _ => None,
        }
    }

    /// The handle in the variable of a texture with a name. It is also what a register gets that is given the address of the
    /// name: nothing but a texture instruction may use that.
    pub(super) fn named_texture(&mut self, symbol: Symbol) -> Value<'c> {
        let address = self.symbol_address(symbol);
        let scalar = self.scalar();
        let pointer = scalar.int_to_ptr(address, self.unit.context().pointer());
        scalar.freeze(scalar.load(self.unit.context().int(64), pointer, 8))
    }

    /// Handle, layer and coordinates.
    fn texture_inputs(&mut self, view: &View<'a>, address: usize, geometry: Geometry) -> Option<Vec<Value<'c>>> {
        let mut inputs = vec![self.vector().int(64).zero(); word::INPUTS];
        let Operand::TupleAddress(list) = view.operands()[address] else { return None };
        // With a sampler of its own between them, it is another mode of PTX.
        let [handle, coordinates] = *self.body.operands(list) else { return None };
        inputs[word::HANDLE] = self.texture_handle(&handle)?;
        let mut parts = self.parts(&coordinates);
        if matches!(geometry, Geometry::Lines | Geometry::Planes | Geometry::Cubes) {
            let layer = (!parts.is_empty()).then(|| parts.remove(0))?;
            inputs[word::LAYER] = self.texture_word(&layer);
        }
        let axes = match geometry {
            Geometry::Line | Geometry::Lines => 1,
            Geometry::Plane | Geometry::Planes => 2,
            _ => 3,
        };
        if parts.len() < axes {
            return None;
        }
        for (nth, part) in parts[..axes].iter().enumerate() {
            inputs[word::COORDINATES + nth] = self.texture_word(part);
        }
        Some(inputs)
    }
}

fn plain(kind: TextureKind, geometry: Geometry) -> TextureOp {
    TextureOp {
        kind,
        geometry,
        result: ResultKind::Words,
        lod: LodKind::Base,
        outside: Outside::Trap,
        reduction: Reduction::Add,
        query: Query::Width,
        by_integers: false,
        is_signed: false,
        component: 0,
        bytes: 4,
        elements: 1,
    }
}

fn geometry(view: &View<'_>) -> Option<Geometry> {
    view.form.words().find_map(|word| match word {
        Mod::Dim1 => Some(Geometry::Line),
        Mod::Dim2 => Some(Geometry::Plane),
        Mod::Dim3 => Some(Geometry::Volume),
        Mod::DimA1 => Some(Geometry::Lines),
        Mod::DimA2 => Some(Geometry::Planes),
        Mod::Cube => Some(Geometry::Cube),
        Mod::Acube => Some(Geometry::Cubes),
        _ => None,
    })
}

fn query(word: Mod) -> Option<Query> {
    Some(match word {
        Mod::Width => Query::Width,
        Mod::Height => Query::Height,
        Mod::Depth => Query::Depth,
        Mod::ArraySize => Query::ArraySize,
        Mod::NumMipmapLevels => Query::Levels,
        Mod::NumSamples => Query::Samples,
        Mod::ChannelDataType => Query::DataType,
        Mod::ChannelOrder => Query::Order,
        Mod::NormalizedCoords => Query::IsNormalised,
        Mod::FilterMode => Query::FilterMode,
        Mod::AddrMode0 => Query::AddressMode0,
        Mod::AddrMode1 => Query::AddressMode1,
        Mod::AddrMode2 => Query::AddressMode2,
        _ => return None,
    })
}
