//! Makes sequences of calls from seeds.
//!
//! Half of the sequences make sense: something is created, used, destroyed and used again, with values that fit. In the others
//! any handle, size, flag and device address may come. All of them keep [what C callers promise](../../../../cuda/src/ffi/mod.rs):
//! a pointer to memory of the host is null or valid for as much as the function may access. A call therefore has either
//! addresses of the host, and then small sizes, or any size, and then no such addresses. Nothing waits for what never
//! happens: waits for a value have no address that is valid, and conditions of graphs are false.

use std::collections::BTreeMap;

use crate::functions::{Function, Parameter};
use crate::random::Random;
use crate::sequence::{Argument, Call, End, Memory, Sequence, Slot, Value};
use crate::types::{Field, Type, Types};

/// So many slots there are of each kind.
const SLOTS: u64 = 6;
/// Of which the first ones are of [`SET_UP`].
const SETTLED: u64 = 3;
/// Elements of arrays that have values; more are there, and zero.
const ELEMENTS: usize = 6;
/// A page of the device.
const PAGE: u64 = 2 << 20;
/// Sizes with which nothing is accessed, because no memory is as large.
const WILD: [u64; 5] = [1 << 47, (1 << 47) + 1, 1 << 63, u64::MAX, u64::MAX - 4095];

/// Nodes of graphs: the field with the parameters, and the type. The last ones are none.
const NODES: [(&str, u64); 13] = [
    ("kernel", 0),
    ("memcpy", 1),
    ("memset", 2),
    ("host", 3),
    ("graph", 4),
    ("", 5),
    ("eventWait", 6),
    ("eventRecord", 7),
    ("alloc", 10),
    ("free", 11),
    ("memOp", 12),
    ("conditional", 13),
    ("", 77),
];

/// One object at least of most kinds. In a sequence that makes sense nothing destroys them.
const SET_UP: &str = "
0 cuInit 0
0 cuDevicePrimaryCtxRetain &CUctx_st.0 0
0 cuCtxSetCurrent $CUctx_st.0
0 cuModuleLoadData &CUmod_st.0 image0
0 cuModuleGetFunction &CUfunc_st.0 $CUmod_st.0 text0
0 cuModuleGetFunction &CUfunc_st.1 $CUmod_st.0 text1
0 cuLibraryLoadData &CUlib_st.0 image0 0 0 0 0 0 0
0 cuLibraryGetKernel &CUkern_st.0 $CUlib_st.0 text0
0 cuMemAlloc_v2 &memory.0 0x40000
0 cuMemAlloc_v2 &memory.1 0x40000
0 cuMemAllocManaged &memory.2 0x10000 1
0 cuMemAddressReserve &memory.4 0x200000 0 0 0
0 cuMemHostAlloc &host.0 0x1000 0
0 cuStreamCreate &CUstream_st.0 0
0 cuStreamCreate &CUstream_st.1 1
0 cuEventCreate &CUevent_st.0 0
0 cuEventCreate &CUevent_st.1 0
0 cuEventRecord $CUevent_st.0 0
0 cuGraphCreate &CUgraph_st.0 0
0 cuGraphCreate &CUgraph_st.1 0
0 cuGraphAddEmptyNode &CUgraphNode_st.0 $CUgraph_st.0 0 0
0 cuGraphAddHostNode &CUgraphNode_st.1 $CUgraph_st.0 0 0 {0:8=function}
0 cuGraphAddKernelNode_v2 &CUgraphNode_st.2 $CUgraph_st.0 0 0 {0:8=$CUfunc_st.0 8:4=1 12:4=1 16:4=1 20:4=1 24:4=1 28:4=1 40:8={0:8=host2}}
0 cuGraphInstantiateWithFlags &CUgraphExec_st.0 $CUgraph_st.0 0
0 cuArrayCreate_v2 &CUarray_st.0 {0:8=16 8:8=16 16:4=32 20:4=1}
0 cuArray3DCreate_v2 &CUarray_st.1 {0:8=16 8:8=16 24:4=32 28:4=1 32:4=2}
0 cuMipmappedArrayCreate &CUmipmappedArray_st.0 {0:8=16 8:8=16 24:4=32 28:4=1} 2
0 cuTexObjectCreate &texture.0 {8:8=$CUarray_st.0} {} 0
0 cuSurfObjectCreate &surface.0 {8:8=$CUarray_st.1}
0 cuMemPoolCreate &CUmemPoolHandle_st.0 {0:4=1 8:4=1}
0 cuMemCreate &physical.0 0x200000 {0:4=1 8:4=1} 0
0 cuUserObjectCreate &CUuserObject_st.0 host0 function 1 1
0 cuLinkCreate_v2 0 0 0 &CUlinkState_st.0
";

pub(crate) struct Generator<'a> {
    types: &'a Types,
    functions: &'a [Function],
    random: Random,
    /// Whether the sequence makes sense.
    is_sane: bool,
    live: BTreeMap<String, Vec<usize>>,
    /// The calls of [`SET_UP`].
    settled: Vec<Call>,
    calls: Vec<Call>,
    thread: usize,
    /// A slot that is preferred: the object that is created, used and destroyed.
    focus: Option<Slot>,
    call: Shape,
}

/// What holds for all arguments of a call.
#[derive(Clone, Copy, Default)]
struct Shape {
    is_sane: bool,
    /// Whether addresses of the host may be given, and sizes are small.
    is_limited: bool,
    /// Whether all pointers are null, and counts may be anything.
    is_null: bool,
    is_runtime: bool,
    /// Whether it takes addresses of the host and of the device alike.
    is_unified: bool,
    has_arrays: bool,
    waits: bool,
    /// Whether sizes are multiples of pages of the device.
    has_pages: bool,
    is_about_host_memory: bool,
    /// A number that was made for an enumeration: it often says which field of a union counts.
    tag: u64,
}

/// Makes the sequence of a seed.
pub(crate) fn generate(types: &Types, functions: &[Function], seed: u64, threads: usize, calls: usize) -> Sequence {
    let mut random = Random::new(seed);
    let is_sane = random.once_in(2);
    let end = *random.choose(&End::ALL);
    let mut generator = Generator {
        types,
        functions,
        random,
        is_sane,
        live: BTreeMap::new(),
        settled: Vec::new(),
        calls: Vec::new(),
        thread: 0,
        focus: None,
        call: Shape::default(),
    };
    generator.set_up();
    while generator.calls.len() < calls {
        generator.thread = generator.random.below(threads as u64) as usize;
        if generator.random.once_in(100) {
            generator.make_current();
        }
        if generator.random.below(8) < if is_sane { 7 } else { 2 } {
            generator.life_of_an_object();
        } else {
            let function = generator.random.choose(functions);
            generator.add(function);
        }
    }
    Sequence { threads, end, calls: generator.calls }
}

impl<'a> Generator<'a> {
    /// What most calls need.
    fn set_up(&mut self) {
        let sequence: Sequence = SET_UP.parse().expect("it is right");
        for argument in sequence.calls.iter().flat_map(|call| &call.arguments) {
            if let Argument::Word(Value::SlotAddress(slot)) = argument {
                self.live.entry(slot.kind.clone()).or_default().push(slot.index);
            }
        }
        self.settled = sequence.calls.clone();
        self.calls = sequence.calls;
    }

    fn make_current(&mut self) {
        let context = Slot { kind: "CUctx_st".to_owned(), index: 0 };
        for (function, argument) in [
            ("cuDevicePrimaryCtxRetain", Value::SlotAddress(context.clone())),
            ("cuCtxSetCurrent", Value::Slot(context, 0)),
        ] {
            let mut arguments = vec![Argument::Word(argument)];
            if function == "cuDevicePrimaryCtxRetain" {
                arguments.push(Argument::Word(Value::Number(0)));
            }
            self.calls.push(Call { thread: self.thread, function: function.to_owned(), arguments });
        }
    }

    /// Creates an object, uses it, destroys it and uses it again.
    fn life_of_an_object(&mut self) {
        let creators: Vec<(&'a Function, &str)> =
            self.functions.iter().filter_map(|function| Some((function, created(function)?))).collect();
        // Functions that look up are many, and make nothing of their own.
        let makers = ["Create", "Alloc", "Load", "Add", "Instantiate", "Capture", "Clone", "Malloc", "Reserve"];
        let makers: Vec<_> = creators
            .iter()
            .filter(|(function, _)| makers.iter().any(|part| function.name.contains(part)))
            .copied()
            .collect();
        let (creator, kind) = *self.random.choose(if self.random.clone().once_in(4) { &creators } else { &makers });
        let index = (SETTLED + self.random.below(SLOTS - SETTLED)) as usize;
        let slot = Slot { kind: kind.to_owned(), index };
        self.focus = Some(slot.clone());
        match self.template(&slot).filter(|_| self.random.clone().below(3) < 2) {
            Some(call) => {
                self.live.entry(slot.kind.clone()).or_default().push(slot.index);
                self.calls.push(call);
            }
            None => self.add(creator),
        }
        self.random.next();
        let users: Vec<&Function> = self.functions.iter().filter(|function| uses(function, kind)).collect();
        let (destroyers, users): (Vec<&Function>, Vec<&Function>) =
            users.into_iter().partition(|function| destroys(function));
        for _ in 0..1 + self.random.below(6) {
            if !users.is_empty() {
                self.add_one_of(&users);
            }
        }
        if !destroyers.is_empty() && !self.random.once_in(4) {
            self.add_one_of(&destroyers);
            if !users.is_empty() && self.random.once_in(2) {
                self.add_one_of(&users);
            }
            if self.random.once_in(8) {
                self.add_one_of(&destroyers);
            }
        }
        self.focus = None;
    }

    /// A call that creates an object in a slot as one was created at the beginning.
    fn template(&mut self, slot: &Slot) -> Option<Call> {
        let is_template = |call: &&Call| {
            call.arguments
                .iter()
                .any(|argument| matches!(argument, Argument::Word(Value::SlotAddress(out)) if out.kind == slot.kind))
        };
        let templates: Vec<Call> = self.settled.iter().filter(is_template).cloned().collect();
        if templates.is_empty() {
            return None;
        }
        let mut call = self.random.choose(&templates).clone();
        call.thread = self.thread;
        for argument in &mut call.arguments {
            if let Argument::Word(Value::SlotAddress(out)) = argument {
                *out = slot.clone();
            }
        }
        Some(call)
    }

    fn add_one_of(&mut self, functions: &[&Function]) {
        let function = *self.random.choose(functions);
        self.add(function);
    }

    /// Adds a call of a function.
    fn add(&mut self, function: &Function) {
        self.random.next();
        let name = function.name.as_str();
        let ends_all = ["Reset", "CtxDestroy", "PrimaryCtxRelease", "CtxDetach"].iter().any(|part| name.contains(part));
        if ends_all && !name.contains("Persisting") && !self.random.once_in(40) {
            return;
        }
        let is_sane = if self.is_sane { !self.random.once_in(10) } else { self.random.once_in(3) };
        self.call = Shape {
            is_sane,
            is_limited: is_sane || self.random.once_in(2),
            is_null: !is_sane && self.random.once_in(20),
            is_runtime: name.trim_start_matches('_').starts_with("cuda"),
            is_unified: is_unified(name),
            has_arrays: function.parameters.iter().any(is_array),
            waits: name.contains("WaitValue"),
            has_pages: ["Map", "Unmap", "SetAccess", "Address", "Create"]
                .iter()
                .any(|part| name.strip_prefix("cuMem").is_some_and(|rest| rest.starts_with(part))),
            is_about_host_memory: ["Host", "Free", "Pointer"].iter().any(|part| name.contains(part)),
            tag: 0,
        };
        let arguments = function.parameters.iter().map(|parameter| self.argument(name, parameter)).collect();
        if destroys(function)
            && let Some(slot) = &self.focus
        {
            self.live.entry(slot.kind.clone()).or_default().retain(|index| *index != slot.index);
        }
        self.calls.push(Call { thread: self.thread, function: name.to_owned(), arguments });
    }

    fn argument(&mut self, function: &str, parameter: &Parameter) -> Argument {
        if let Type::Struct(of) = &parameter.of {
            let mut memory = Memory { bytes: self.types.size_and_alignment(&parameter.of).0, fields: Vec::new() };
            self.fill_struct(&mut memory, 0, of, &parameter.name, 0);
            return Argument::Struct(memory);
        }
        Argument::Word(self.value(function, &parameter.of, &parameter.name, 0))
    }

    fn value(&mut self, function: &str, of: &Type, name: &str, depth: usize) -> Value {
        match of {
            Type::Void | Type::Char | Type::Array(..) | Type::Struct(_) => Value::Number(0),
            Type::Number(bytes, constants) => Value::Number(self.number(*bytes, constants, name)),
            Type::Handle(kind) => self.handle(kind),
            Type::Function if !self.call.is_sane && self.random.once_in(6) => Value::Number(0),
            Type::Function => Value::Function,
            Type::Pointer { .. } if self.call.is_null || !self.call.is_sane && self.random.once_in(12) => {
                Value::Number(0)
            }
            Type::Pointer { is_const, to } => self.pointer(function, *is_const, to, name, depth),
        }
    }

    fn number(&mut self, bytes: usize, constants: &str, name: &str) -> u64 {
        let mask = if bytes == 8 { u64::MAX } else { (1 << (8 * bytes)) - 1 };
        let is_sane = self.call.is_sane || !self.random.once_in(3);
        let lower = name.to_lowercase();
        let has = |part: &str| lower.contains(part);
        if name == "defaultLaunchValue" {
            return 0;
        }
        if name == "operation" {
            // Neither of the waits.
            return *self.random.choose(&[2, 3, 5, 6, 0, 77]);
        }
        // Of devices there are constants that stand for none.
        if !constants.is_empty() && constants != "CUdevice" {
            let constants = self.types.constants(constants);
            let value = if is_sane { *self.random.choose(constants) } else { self.any_number() } & mask;
            // The width of waits for a value is in their flags.
            self.call.tag = value;
            return value;
        }
        let is_count =
            (has("num") || has("nb") || has("count") && !has("byte")) && (lower != "count" || self.call.has_arrays);
        if is_count {
            return if self.call.is_null {
                self.any_number() & mask
            } else {
                self.random.below(if is_sane { 2 } else { ELEMENTS as u64 })
            };
        }
        let value = if has("griddim") || has("blockdim") || has("clusterdim") {
            self.dimension(&lower)
        } else if has("shared") || has("smem") {
            if is_sane { *self.random.choose(&[0, 0, 0, 256]) } else { self.size("") }
        } else if has("flag") {
            if is_sane { self.random.below(3) / 2 * (1 << self.random.below(4)) } else { self.any_number() }
        } else if bytes == 4 && (has("dev") || has("ordinal") || lower == "id") {
            if is_sane { 0 } else { self.any_number() }
        } else if has("elementsize") {
            if is_sane { 1 << self.random.below(3) } else { self.random.below(40) }
        } else if bytes == 8
            || has("width")
            || has("height")
            || has("depth")
            || has("len")
            || has("size")
            || has("pitch")
        {
            self.size(&lower)
        } else if is_sane {
            self.random.below(4)
        } else {
            self.any_number()
        };
        value & mask
    }

    /// Of a grid, a block or a cluster: few threads, or more than there can be.
    fn dimension(&mut self, name: &str) -> u64 {
        if self.call.is_sane || !self.random.once_in(4) {
            return 1 + self.random.below(if name.contains("block") && name.ends_with('x') { 64 } else { 3 });
        }
        let far = if name.contains("griddim") { [0, 1 << 31, 0xffff_ffff] } else { [0, 1025, 0xffff_ffff] };
        *self.random.choose(&far)
    }

    fn size(&mut self, name: &str) -> u64 {
        if self.call.has_pages && self.random.below(8) < 6 {
            return if name.contains("size") { PAGE } else { 0 };
        }
        let has = |part: &str| name.contains(part);
        if self.call.is_limited {
            let most = if has("height") || has("depth") || has("ysize") || name.ends_with('y') || name.ends_with('z') {
                *self.random.choose(&[1, 1, 4, 8])
            } else if has("pitch") {
                return *self.random.choose(&[0, 64, 256, 512]);
            } else if has("width") || has("xsize") || name.ends_with("xinbytes") || has("offset") {
                *self.random.choose(&[4, 64, 256])
            } else {
                *self.random.choose(&[1, 4, 16, 64, 256, 4096, 4096])
            };
            return if self.random.once_in(2) { most } else { self.random.below(most + 1) };
        }
        match self.random.below(8) {
            0 => *self.random.choose(&WILD),
            1 => *self.random.choose(&[1 << 20, (1 << 22) + 1, 1 << 21]),
            2 => self.random.below(4096),
            _ => *self.random.choose(&[0, 1, 3, 4, 16, 256, 257, 4096, 65536]),
        }
    }

    fn any_number(&mut self) -> u64 {
        match self.random.below(5) {
            0 | 1 => self.random.below(32),
            2 => 1 << self.random.below(32),
            3 => u64::MAX - self.random.below(3),
            _ => self.random.next(),
        }
    }

    fn handle(&mut self, kind: &str) -> Value {
        if self.call.waits && kind == "memory" {
            return Value::Number(*self.random.choose(&[0, 4, 0xdead_beef_0000_0000]));
        }
        if kind == "CUstream_st" && self.random.below(10) < 3 {
            return Value::Number(self.random.below(3));
        }
        let is_sane = self.call.is_sane || !self.random.once_in(3);
        if let Some(focus) = self.focus.clone().filter(|focus| focus.kind == kind)
            && !self.random.once_in(8)
        {
            return Value::Slot(focus, 0);
        }
        if is_sane {
            let live = self.live.get(kind).filter(|live| !live.is_empty());
            let index = match live {
                Some(live) => *self.random.choose(live),
                None => self.random.below(SLOTS) as usize,
            };
            let offset = if kind == "memory" && self.random.once_in(4) { 4 * self.random.below(64) } else { 0 };
            return Value::Slot(Slot { kind: kind.to_owned(), index }, offset);
        }
        let any = Slot { kind: kind.to_owned(), index: self.random.below(SLOTS) as usize };
        if kind == "memory" {
            return match self.random.below(6) {
                0 if self.call.is_limited => self.host(),
                1 if !self.call.is_unified => Value::Number(self.any_number()),
                2 => Value::Number(0),
                _ => {
                    let by = self.random.below(300) * self.random.below(100);
                    Value::Slot(any, by)
                }
            };
        }
        match self.random.below(6) {
            0 => Value::Number(0),
            1 => Value::Number(self.random.below(16)),
            2 => Value::Number(self.random.next()),
            3 => {
                let kinds: Vec<String> = self.live.keys().cloned().collect();
                let kind = self.random.choose(&kinds).clone();
                Value::Slot(Slot { kind, index: any.index }, 0)
            }
            _ => Value::Slot(any, 0),
        }
    }

    fn host(&mut self) -> Value {
        let offset = if self.random.once_in(4) { self.random.below(64) as usize } else { 0 };
        Value::Host(self.random.below(4) as usize, offset)
    }

    fn pointer(&mut self, function: &str, is_const: bool, to: &Type, name: &str, depth: usize) -> Value {
        let memory = |fields| Value::Pointer(Memory { bytes: 0, fields });
        match to {
            Type::Char if is_const => {
                let last = if self.call.is_sane { 4 } else { 12 };
                Value::Text(self.random.below(last) as usize)
            }
            Type::Char if self.call.is_limited => memory(Vec::new()),
            Type::Char => Value::Number(0),
            Type::Void => self.untyped(function, is_const, name),
            Type::Pointer { .. } => self.pointers(function, is_const, to, name),
            Type::Function => Value::Number(0),
            Type::Handle(kind) if !is_const && !is_plural(name) => {
                let kind = match () {
                    () if function.contains("HostGetDevicePointer") => "host",
                    // It may be memory of the host.
                    () if function.contains("GetAddressRange") => "other",
                    () => kind.as_str(),
                };
                Value::SlotAddress(self.fresh(kind))
            }
            Type::Number(bytes, _) if !is_const && !is_plural(name) => {
                let number = self.value(function, to, name, depth);
                memory(vec![(0, *bytes, number)])
            }
            Type::Struct(of) => {
                if depth > 2 {
                    return Value::Number(0);
                }
                let size = self.types.size_and_alignment(to).0;
                let mut filled = Memory::default();
                for element in 0..(512 / size.max(1)).clamp(1, 3) {
                    self.fill_struct(&mut filled, element * size, of, name, depth + 1);
                }
                Value::Pointer(filled)
            }
            Type::Handle(_) | Type::Number(..) | Type::Array(..) => {
                let size = self.types.size_and_alignment(to).0;
                let elements =
                    (0..ELEMENTS).map(|index| (index * size, size.min(8), self.value(function, to, name, depth)));
                memory(elements.collect())
            }
        }
    }

    /// A pointer to anything: the function and the name say what.
    fn untyped(&mut self, function: &str, is_const: bool, name: &str) -> Value {
        let lower = name.to_lowercase();
        let has = |part: &str| lower.contains(part);
        if lower == "code" || lower == "image" || lower == "fatcubin" || function.contains("LinkAddData") {
            if function.contains("LinkAddData") && !self.call.is_limited {
                return Value::Number(0);
            }
            let last = if self.call.is_sane { 1 } else { 9 };
            return Value::Image(self.random.below(last) as usize);
        }
        if is_const && (has("func") || has("symbol") || has("entry")) {
            let kind = self.random.choose(&["CUkern_st", "CUfunc_st"]);
            return if self.call.is_sane { self.handle(kind) } else { Value::Number(self.random.next()) };
        }
        if has("value") || has("_out") || lower == "stream" || function.contains("GetAttribute") {
            // A size may say how much is written.
            if has("data") && !self.call.is_limited {
                return Value::Number(0);
            }
            let number = self.size("");
            return Value::Pointer(Memory { bytes: 0, fields: vec![(0, 8, Value::Number(number))] });
        }
        if has("userdata") || function.contains("UserObject") {
            return self.host();
        }
        if self.call.is_about_host_memory && self.random.once_in(2) {
            let index = self.random.below(SLOTS) as usize;
            return Value::Slot(Slot { kind: "host".to_owned(), index }, 0);
        }
        let is_host = if self.call.is_runtime { self.random.once_in(2) } else { true };
        match (is_host, self.call.is_limited) {
            (true, true) => self.host(),
            (true, false) => Value::Number(0),
            // A slot may have no address in it: nothing is added to that.
            (false, _) => {
                let index = self.random.below(SLOTS) as usize;
                Value::Slot(Slot { kind: "memory".to_owned(), index }, 0)
            }
        }
    }

    /// A pointer to pointers.
    fn pointers(&mut self, function: &str, is_const: bool, to: &Type, name: &str) -> Value {
        let list = |value: &mut dyn FnMut() -> Value| {
            Value::Pointer(Memory { bytes: 0, fields: (0..8).map(|index| (8 * index, 8, value())).collect() })
        };
        let lower = name.to_lowercase();
        if lower == "kernelparams" || lower == "args" {
            // The first parameter of kernels is an address.
            let address = self.handle("memory");
            let address = Value::Pointer(Memory { bytes: 0, fields: vec![(0, 8, address)] });
            let mut first = Some(address);
            return list(&mut || first.take().unwrap_or(Value::Host(2, 0)));
        }
        if lower == "extra" {
            if self.call.is_sane || !self.random.once_in(12) {
                return Value::Number(0);
            }
            let size = Memory { bytes: 0, fields: vec![(0, 8, Value::Number(self.random.below(64)))] };
            let fields = vec![
                (0, 8, Value::Number(1)),
                (8, 8, Value::Host(2, 0)),
                (16, 8, Value::Number(2)),
                (24, 8, Value::Pointer(size)),
            ];
            return Value::Pointer(Memory { bytes: 0, fields });
        }
        if lower.contains("values") {
            return list(&mut || Value::Host(3, 0));
        }
        if function.contains("GetAttributes") {
            if !self.call.is_limited {
                return Value::Number(0);
            }
            return list(&mut || Value::Pointer(Memory::default()));
        }
        if is_plural(name) && matches!(to, Type::Pointer { to, .. } if **to == Type::Void) {
            return list(&mut || self.untyped(function, false, name));
        }
        let is_memory = !is_const && matches!(to, Type::Pointer { is_const: false, to } if **to == Type::Void);
        let is_code = ["ProcAddress", "EntryPoint", "ExportTable", "Link"].iter().any(|part| function.contains(part));
        let kind = match () {
            () if !is_memory || is_code => "other",
            () if function.contains("Host") => "host",
            () => "memory",
        };
        Value::SlotAddress(self.fresh(kind))
    }

    /// A slot for something new.
    fn fresh(&mut self, kind: &str) -> Slot {
        let focus = self.focus.clone().filter(|focus| focus.kind == kind);
        let first = if self.is_sane { SETTLED } else { 0 };
        let slot = focus.unwrap_or_else(|| Slot {
            kind: kind.to_owned(),
            index: (first + self.random.below(SLOTS - first)) as usize,
        });
        let live = self.live.entry(kind.to_owned()).or_default();
        if !live.contains(&slot.index) {
            live.push(slot.index);
        }
        slot
    }

    fn fill_struct(&mut self, memory: &mut Memory, start: usize, of: &str, outer: &str, depth: usize) {
        let fields = self.types.fields(of);
        if of.ends_with("raphNodeParams") {
            return self.fill_node(memory, start, &fields, depth);
        }
        if self.types.is_union(of) {
            let tag = self.call.tag + self.random.below(2);
            let index = if tag < fields.len() as u64 && !self.random.once_in(3) {
                tag
            } else {
                self.random.below(fields.len() as u64)
            };
            let field = &fields[index as usize];
            return self.fill(memory, start + field.offset, &field.of, &field.name, depth);
        }
        for field in fields {
            // `gridDim.x`
            let name = if field.name.len() == 1 { format!("{outer}{}", field.name) } else { field.name };
            self.fill(memory, start + field.offset, &field.of, &name, depth);
        }
    }

    /// The parameters of a node of a graph. Its type says which field of a union counts, and in some there are addresses of
    /// the host.
    fn fill_node(&mut self, memory: &mut Memory, start: usize, fields: &[Field], depth: usize) {
        let (kind, number) = *self.random.choose(&NODES);
        for field in fields {
            match &field.of {
                Type::Number(bytes, _) if field.name == "type" => {
                    memory.fields.push((start + field.offset, *bytes, Value::Number(number)));
                }
                Type::Struct(of) if self.types.is_union(of) => {
                    if let Some(inner) = self.types.fields(of).into_iter().find(|inner| inner.name == kind) {
                        self.fill(memory, start + field.offset + inner.offset, &inner.of, &inner.name, depth);
                    }
                }
                _ => {}
            }
        }
    }

    fn fill(&mut self, memory: &mut Memory, offset: usize, of: &Type, name: &str, depth: usize) {
        let is_unused = name.contains("reserved") || name.contains("pad");
        match of {
            _ if is_unused && (self.call.is_sane || !self.random.once_in(50)) => {}
            Type::Struct(inner) => self.fill_struct(memory, offset, inner, name, depth),
            Type::Array(element, count) if **element != Type::Char => {
                let size = self.types.size_and_alignment(element).0;
                for index in 0..(*count).min(4) {
                    self.fill(memory, offset + index * size, element, name, depth);
                }
            }
            Type::Array(..) | Type::Void | Type::Char => {}
            of => {
                let bytes = self.types.size_and_alignment(of).0;
                // Copies by structs take addresses of both; fields for the host are called so.
                let value = self.value("", of, name, depth);
                if value != Value::Number(0) {
                    memory.fields.push((offset, bytes, value));
                }
            }
        }
    }
}

/// What a function creates.
fn created(function: &Function) -> Option<&str> {
    if function.name.contains("HostGetDevicePointer") {
        return None;
    }
    function.parameters.iter().find_map(|parameter| match &parameter.of {
        Type::Pointer { is_const: false, to } if !is_plural(&parameter.name) => match &**to {
            Type::Handle(kind) => Some(kind.as_str()),
            _ => None,
        },
        _ => None,
    })
}

fn uses(function: &Function, kind: &str) -> bool {
    function.parameters.iter().any(|parameter| matches!(&parameter.of, Type::Handle(of) if of == kind))
}

fn destroys(function: &Function) -> bool {
    ["Destroy", "Free", "Unload", "Release"].iter().any(|part| function.name.contains(part))
}

/// Whether a parameter points to several values.
fn is_array(parameter: &Parameter) -> bool {
    matches!(&parameter.of, Type::Pointer { to, .. } if !matches!(**to, Type::Void | Type::Char))
}

fn is_plural(name: &str) -> bool {
    (name.ends_with('s') && !name.ends_with("ss") && !name.ends_with("Status"))
        || ["from", "to", "paramArray", "paramsArray", "descList", "edgeData", "dependencyData"].contains(&name)
}

/// Whether a function takes addresses of the host and of the device alike: what is not of the device is the host's.
fn is_unified(name: &str) -> bool {
    ["cuMemcpy", "cuGraph", "cuMemBatch"].iter().any(|part| name.starts_with(part)) || name.contains("cuda")
}
