//! Textures and surfaces, as kernels read and write them.

use std::sync::Arc;

use cpu::{Device, Mode, Program, Tier, Width};
use device::texture::{AddressMode, Component, Filter, Geometry, Image, Level, Object, Sampler};
use device::{FaultKind, LaunchError, LaunchRequest};

const THREADS: u32 = 32;

struct Run {
    device: Arc<Device>,
    image: u64,
}

impl Run {
    /// A device with the bytes of an image.
    fn new(bytes: &[u8]) -> Self {
        let device = Device::new(64 << 20).unwrap();
        let image = device.memory.allocate(bytes.len() as u64, 256).unwrap();
        assert!(device.memory.write(image, bytes));
        Self { device, image }
    }

    fn image(&self, geometry: Geometry, component: Component, channels: u32, size: [u32; 3], layers: u32) -> Image {
        let row = u64::from(size[0]) * component.bytes() * u64::from(channels);
        Image {
            geometry,
            component,
            channels,
            layers,
            levels: vec![Level { address: self.image, size, row_pitch: row, slice_pitch: row * u64::from(size[1]) }],
            is_linear: false,
        }
    }

    /// Runs the statements of a kernel in every mode: `%d1` is the handle, `%r1` the thread, `%f1` the same as a number,
    /// and `%r2` to `%r5` are what each thread leaves.
    fn run(&self, object: &Object, body: &str) -> Result<Vec<[u32; 4]>, LaunchError> {
        let text = format!(
            ".version 8.0\n.target sm_89\n.address_size 64\n\
             .visible .entry k(.param .u64 texture, .param .u64 out) {{\n\
             .reg .b64 %d<9>; .reg .b32 %r<20>; .reg .f32 %f<20>; .reg .b16 %h<9>; .reg .pred %p<3>;\n\
             ld.param.u64 %d1, [texture]; ld.param.u64 %d2, [out];\n\
             mov.u32 %r1, %tid.x; cvt.rn.f32.u32 %f1, %r1; mad.wide.u32 %d2, %r1, 16, %d2;\n\
             mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u32 %r4, 0; mov.u32 %r5, 0;\n\
             {body}\n\
             st.global.v4.u32 [%d2], {{%r2, %r3, %r4, %r5}};\nret; }}\n"
        );
        let program = Program::load(&self.device, ptx::parse(&text).module).unwrap();
        let out = self.device.memory.allocate(u64::from(THREADS) * 16, 16).unwrap();
        // SAFETY: images are made of the allocation that `new` filled, which is never freed.
        let handle = unsafe { self.device.textures.create(object.clone()) };
        let params = [handle.to_le_bytes(), out.to_le_bytes()].concat();
        let mut results = Vec::new();
        for (width, tier) in
            [(Width::Thread, Tier::Baseline), (Width::Warp, Tier::Baseline), (Width::Warp, Tier::Optimised)]
        {
            let mode = Mode { width, tier, ..Mode::default() };
            let block = [THREADS, 1, 1];
            let request = LaunchRequest { block, ..LaunchRequest::of("k", &params) };
            // SAFETY: the kernel only accesses the object, and the allocation that it is given.
            unsafe { program.launch(&request, &mode) }?;
            let mut bytes = vec![0; THREADS as usize * 16];
            assert!(self.device.memory.read(out, &mut bytes));
            let words: Vec<u32> =
                bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
            let rows: Vec<[u32; 4]> = words.chunks_exact(4).map(|row| row.try_into().unwrap()).collect();
            results.push(rows);
        }
        assert!(results.windows(2).all(|pair| pair[0] == pair[1]), "widths and tiers differ");
        assert!(self.device.textures.destroy(handle));
        Ok(results.remove(0))
    }

    fn floats(&self, object: &Object, body: &str) -> Vec<f32> {
        self.run(object, body).unwrap().iter().map(|row| f32::from_bits(row[0])).collect()
    }
}

fn floats(values: impl IntoIterator<Item = f32>) -> Vec<u8> {
    values.into_iter().flat_map(f32::to_le_bytes).collect()
}

#[test]
fn plane_of_floats() {
    let run = Run::new(&floats((0..32).map(|value| value as f32)));
    let image = run.image(Geometry::Plane, Component::F32, 1, [8, 4, 1], 1);
    let at = "div.rn.f32 %f2, %f1, 0f40800000; mov.f32 %f3, 0f3FC00000;\n\
              tex.2d.v4.f32.f32 {%r2, %r3, %r4, %r5}, [%d1, {%f2, %f3}];";
    // Elements at x/4, in row 1.
    let point = run.run(&Object::Texture(image.clone(), Sampler::default()), at).unwrap();
    assert_eq!(point[9], [10_f32.to_bits(), 0, 0, 1_f32.to_bits()]);
    let linear = Sampler { filter: Filter::Linear, ..Sampler::default() };
    let mixed = run.floats(&Object::Texture(image, linear), at);
    for (thread, value) in mixed.iter().enumerate() {
        assert_eq!(*value, 8.0 + (thread as f32 / 4.0 - 0.5).clamp(0.0, 7.0), "thread {thread}");
    }
}

#[test]
fn line_of_bytes_as_numbers() {
    let run = Run::new(&[0, 255, 51, 102]);
    let image = run.image(Geometry::Line, Component::U8, 1, [4, 1, 1], 1);
    let sampler =
        Sampler { is_normalised: true, reads_floats: true, address: [AddressMode::Wrap; 3], ..Sampler::default() };
    let body = "mul.f32 %f2, %f1, 0f3E800000; add.f32 %f2, %f2, 0f3E000000;\n\
                tex.1d.v4.f32.f32 {%r2, %r3, %r4, %r5}, [%d1, {%f2}];";
    let values = run.floats(&Object::Texture(image, sampler), body);
    assert_eq!(values[..6], [0.0, 1.0, 0.2, 0.4, 0.0, 1.0]);
}

#[test]
fn elements_by_integers() {
    let run = Run::new(&(0..16_i16).flat_map(|value| (-value).to_le_bytes()).collect::<Vec<_>>());
    let mut image = run.image(Geometry::Line, Component::S16, 2, [8, 1, 1], 1);
    let body = "tex.1d.v4.s32.s32 {%r2, %r3, %r4, %r5}, [%d1, {%r1}];";
    let clamped = run.run(&Object::Texture(image.clone(), Sampler::default()), body).unwrap();
    assert_eq!(clamped[3], [-6_i32 as u32, -7_i32 as u32, 0, 1]);
    assert_eq!(clamped[31], clamped[7]);
    image.is_linear = true;
    let linear = run.run(&Object::Texture(image, Sampler::default()), body).unwrap();
    assert_eq!(linear[7], clamped[7]);
    assert_eq!(linear[8], [0; 4]);
}

#[test]
fn layers_volumes_and_levels() {
    let run = Run::new(&floats((0..64).map(|value| value as f32)));
    let layers = run.image(Geometry::Planes, Component::F32, 1, [4, 4, 1], 4);
    let body = "shr.u32 %r6, %r1, 3; mov.f32 %f2, 0f40200000; mov.f32 %f3, 0f3F800000; mov.f32 %f4, 0f00000000;\n\
                tex.a2d.v4.f32.f32 {%r2, %r3, %r4, %r5}, [%d1, {%r6, %f2, %f3, %f4}];";
    let values = run.floats(&Object::Texture(layers, Sampler::default()), body);
    assert_eq!([values[0], values[8], values[31]], [6.0, 22.0, 54.0]);
    let volume = run.image(Geometry::Volume, Component::F32, 1, [4, 4, 4], 1);
    let linear = Sampler { filter: Filter::Linear, ..Sampler::default() };
    let body = "mov.f32 %f2, 0f40000000; tex.3d.v4.f32.f32 {%r2, %r3, %r4, %r5}, [%d1, {%f2, %f2, %f2, %f2}];";
    // The middle: the mean of all.
    assert_eq!(run.floats(&Object::Texture(volume, linear), body)[0], 31.5);
    let mut levels = run.image(Geometry::Plane, Component::F32, 1, [4, 4, 1], 1);
    let second = Level { address: run.image + 64, size: [2, 2, 1], row_pitch: 8, slice_pitch: 16 };
    levels.levels.push(second);
    let mipmapped = Sampler { level_filter: Filter::Linear, is_normalised: true, ..Sampler::default() };
    let body = "mul.f32 %f3, %f1, 0f3F000000; mov.f32 %f2, 0f00000000;\n\
                tex.level.2d.v4.f32.f32 {%r2, %r3, %r4, %r5}, [%d1, {%f2, %f2}], %f3;";
    let object = Object::Texture(levels, mipmapped);
    assert_eq!(run.floats(&object, body)[..4], [0.0, 8.0, 16.0, 16.0]);
    let body = "txq.width.b32 %r2, [%d1]; txq.level.width.b32 %r3, [%d1], 1; txq.num_mipmap_levels.b32 %r4, [%d1];";
    assert_eq!(run.run(&object, body).unwrap()[0], [4, 2, 2, 0]);
}

#[test]
fn four_elements_at_once() {
    let run = Run::new(&floats((0..16).map(|value| value as f32)));
    let image = run.image(Geometry::Plane, Component::F32, 1, [4, 4, 1], 1);
    let body = "mov.f32 %f2, 0f40000000; tld4.r.2d.v4.f32.f32 {%r2, %r3, %r4, %r5}, [%d1, {%f2, %f2}];";
    let values = run.run(&Object::Texture(image, Sampler::default()), body).unwrap();
    assert_eq!(values[0].map(f32::from_bits), [9.0, 10.0, 6.0, 5.0]);
}

#[test]
fn surfaces_are_read_and_written() {
    let run = Run::new(&[0; 256]);
    let surface = Object::Surface(run.image(Geometry::Plane, Component::U32, 1, [8, 4, 1], 1));
    let body = "and.b32 %r6, %r1, 7; shl.b32 %r6, %r6, 2; shr.u32 %r7, %r1, 3; add.u32 %r8, %r1, 100;\n\
                sust.b.2d.b32.trap [%d1, {%r6, %r7}], %r8;\n\
                bar.sync 0;\n\
                xor.b32 %r6, %r6, 28;\n\
                suld.b.2d.b32.trap %r2, [%d1, {%r6, %r7}];\n\
                add.u32 %r6, %r6, 32; suld.b.2d.b32.zero %r3, [%d1, {%r6, %r7}];\n\
                suld.b.2d.b32.clamp %r4, [%d1, {%r6, %r7}];\n\
                suq.width.b32 %r5, [%d1];";
    let values = run.run(&surface, body).unwrap();
    assert_eq!(values[10], [100 + 13, 0, 100 + 15, 8]);
    let outside = "sust.b.2d.b32.trap [%d1, {%r2, 4}], %r1;";
    let Err(LaunchError::Fault(fault)) = run.run(&surface, outside) else { panic!("it is outside") };
    assert!(matches!(fault.kind, FaultKind::IllegalAddress { .. }));
    let body = "mov.u32 %r6, 4; mov.u32 %r7, 0; setp.eq.u32 %p1, %r1, 0;\n\
                @%p1 sust.b.2d.b32.trap [%d1, {%r6, %r7}], 0; bar.sync 0;\n\
                sured.b.add.2d.u32.trap [%d1, {%r6, %r7}], %r1; bar.sync 0;\n\
                suld.b.2d.b32.trap %r2, [%d1, {%r6, %r7}];";
    assert_eq!(run.run(&surface, body).unwrap()[5][0], (0..THREADS).sum::<u32>());
}

#[test]
fn texture_by_name() {
    let run = Run::new(&floats((0..8).map(|value| value as f32)));
    let image = run.image(Geometry::Line, Component::F32, 1, [8, 1, 1], 1);
    // SAFETY: as in `Run::run`.
    let handle = unsafe { run.device.textures.create(Object::Texture(image, Sampler::default())) };
    let text = ".version 8.0\n.target sm_89\n.address_size 64\n.global .texref image;\n\
                .visible .entry k(.param .u64 out) {\n\
                .reg .b64 %d<3>; .reg .b32 %r<9>; ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x;\n\
                tex.1d.v4.f32.s32 {%r2, %r3, %r4, %r5}, [image, {%r1}];\n\
                mad.wide.u32 %d1, %r1, 4, %d1; st.global.u32 [%d1], %r2; ret; }\n\
                .visible .entry by_address(.param .u64 out) {\n\
                .reg .b64 %d<3>; .reg .b32 %r<9>; ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mov.u64 %d2, image;\n\
                tex.1d.v4.f32.s32 {%r2, %r3, %r4, %r5}, [%d2, {%r1}];\n\
                mad.wide.u32 %d1, %r1, 4, %d1; st.global.u32 [%d1], %r2; ret; }\n";
    let program = Program::load(&run.device, ptx::parse(text).module).unwrap();
    let (address, bytes) = program.variable("image").unwrap();
    assert_eq!(bytes, 8);
    assert!(run.device.memory.write(address, &handle.to_le_bytes()));
    let mode = Mode::default();
    for kernel in ["k", "by_address"] {
        let out = run.device.memory.allocate(32, 16).unwrap();
        let params = out.to_le_bytes();
        let request = LaunchRequest { block: [8, 1, 1], ..LaunchRequest::of(kernel, &params) };
        // SAFETY: as in `Run::run`.
        unsafe { program.launch(&request, &mode) }.unwrap();
        let mut found = vec![0; 32];
        assert!(run.device.memory.read(out, &mut found));
        assert_eq!(found, floats((0..8).map(|value| value as f32)), "{kernel}");
    }
}
