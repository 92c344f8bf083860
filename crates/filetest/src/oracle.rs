//! What must hold of every text and every module, whoever made them: shared by the fuzz targets and the tests.

use ptx::analysis::{BarrierRegions, CallGraph, Cfg, DefUse, DominatorTree, Liveness, Loops, Reaching, RegionInputs};
use ptx::diagnostic::Severity;
use ptx::ir::Module;
use ptx::link::{Input, LinkError, Linked, is_provided, link};

/// Parses any bytes: messages can be rendered, and what was read can be printed and read again.
pub fn check_text(bytes: &[u8]) {
    let (text, parsed) = ptx::parse_bytes(bytes);
    for diagnostic in &parsed.diagnostics {
        let rendered = diagnostic.render("fuzz.ptx", &text, &parsed.module.lines, false);
        assert!(!rendered.is_empty(), "a message without words");
    }
    let complaints = ptx::verify(&parsed.module);
    for diagnostic in complaints.iter().take(10) {
        diagnostic.render("fuzz.ptx", &text, &parsed.module.lines, false);
    }
    check_printing(&parsed.module);
    check_linking(&parsed.module);
    check_analyses(&parsed.module);
}

/// Printing, parsing and printing again gives the same text, without messages.
pub fn check_printing(module: &Module) {
    let printed = ptx::print(module);
    let again = ptx::parse(&printed);
    if let Some(diagnostic) = again.diagnostics.first() {
        panic!("{}", diagnostic.render("printed.ptx", &printed, &again.module.lines, false));
    }
    let reprinted = ptx::print(&again.module);
    assert!(printed == reprinted, "printed:\n{printed}\nprinted again:\n{reprinted}");
}

/// A module can be linked, alone and with itself, or there are errors; what is wrong with what comes out was wrong before.
pub fn check_linking(module: &Module) {
    let is_right = |module: &Module| ptx::verify(module).iter().all(|complaint| complaint.severity != Severity::Error);
    let [first, second] = ["first", "second"].map(|name| Input { name, module });
    for inputs in [&[first][..], &[first, second]] {
        match link(inputs, is_provided) {
            Ok(Linked { module: linked, .. }) => {
                check_printing(&linked);
                assert!(is_right(&linked) || !is_right(module), "linking breaks it:\n{}", ptx::print(&linked));
            }
            Err(errors) => {
                let is_said = |error: &LinkError| !error.to_string().is_empty();
                assert!(!errors.is_empty() && errors.iter().all(is_said), "an error without words");
            }
        }
    }
}

/// All analyses come to an end.
pub fn check_analyses(module: &Module) {
    let calls = CallGraph::of(module);
    let with_barriers = ptx::analysis::functions_with_barriers(module, &calls);
    for (id, function) in module.functions.iter() {
        let cfg = Cfg::of(&module.forms, function);
        let def_use = DefUse::of(&module.forms, function);
        let dominators = DominatorTree::dominators(cfg.graph());
        let _ = DominatorTree::post_dominators(cfg.graph());
        let _ = Loops::of(cfg.graph(), &dominators);
        let liveness = Liveness::of(&cfg, &def_use);
        let _ = Reaching::of(&cfg, &def_use, &dominators, &liveness);
        let inputs = RegionInputs {
            cfg: &cfg,
            def_use: &def_use,
            liveness: &liveness,
            calls: &calls,
            with_barriers: &with_barriers,
        };
        let _ = BarrierRegions::of(module, id, inputs);
    }
    let _ = ptx::stats::ModuleStats::of(module, None);
}

/// Takes any bytes apart as fatbins: no text is longer than its container says.
pub fn check_fatbin(bytes: &[u8]) {
    for container in fatbin::containers(bytes).flatten() {
        for entry in fatbin::read(container).into_iter().flatten() {
            let Ok(text) = entry.text() else { continue };
            assert!(text.len() <= entry.text_bytes(), "{} bytes of {}", text.len(), entry.text_bytes());
            assert!(entry.text_bytes() as u64 <= fatbin::MAX_TEXT_BYTES.max(container.len() as u64));
        }
    }
}

/// Kernels with more instructions than this are not compiled: they take the time of a thousand others.
const MOST_INSTRUCTIONS: usize = 400;

/// What the verifier has no complaint about can be compiled, or is refused by name. The first byte chooses how; the rest is
/// a text, or choices for a module from the opcode table.
pub fn check_compiles(bytes: &[u8]) {
    let Some((&how, rest)) = bytes.split_first() else { return };
    let module = if rest.starts_with(b".") || rest.starts_with(b"//") {
        ptx::parse_bytes(rest).1
    } else {
        ptx::parse(&crate::generate::module(&mut crate::generate::Choices::new(rest)))
    };
    if !module.diagnostics.is_empty() || !ptx::verify(&module.module).is_empty() {
        return;
    }
    let module = module.module;
    let names: Vec<String> = module
        .functions
        .values()
        .filter(|function| function.is_entry())
        .filter(|function| function.body.as_ref().is_some_and(|body| body.iter().count() <= MOST_INSTRUCTIONS))
        .map(|function| module.text(function.name).to_owned())
        .collect();
    let text = ptx::print(&module);
    let Ok(program) = cpu::Program::load(device(), module) else { return };
    let mode = cpu::Mode {
        width: if how & 1 == 0 { cpu::Width::Warp } else { cpu::Width::Thread },
        tier: if how & 2 == 0 { cpu::Tier::Baseline } else { cpu::Tier::Optimised },
        preempt: how & 4 != 0,
        count: how & 8 != 0,
        ..cpu::Mode::default()
    };
    let block = [[64, 1, 1], [7, 3, 1], [16, 4, 1], [8, 8, 1]][usize::from(how >> 4 & 3)];
    for name in names {
        let request = device::LaunchRequest { block, ..device::LaunchRequest::of(&name, &[]) };
        if let Err(device::LaunchError::Internal(message)) = program.compile(&request, &mode) {
            panic!("{message}\n{text}");
        }
    }
}

/// A device that modules are loaded on, to be compiled.
fn device() -> &'static std::sync::Arc<cpu::Device> {
    static DEVICE: std::sync::OnceLock<std::sync::Arc<cpu::Device>> = std::sync::OnceLock::new();
    DEVICE.get_or_init(|| cpu::Device::new(64 << 20).expect("64 MiB of addresses can be had"))
}

/// Makes a module from the opcode table: it parses without messages and has no unknown instruction.
pub fn check_generated(bytes: &[u8]) {
    let text = crate::generate::module(&mut crate::generate::Choices::new(bytes));
    let parsed = ptx::parse(&text);
    if let Some(diagnostic) = parsed.diagnostics.first() {
        panic!("{}", diagnostic.render("generated.ptx", &text, &parsed.module.lines, false));
    }
    let unknown = ptx::stats::ModuleStats::of(&parsed.module, None).functions[0].unknown.clone();
    assert!(unknown.is_empty(), "the table makes what it does not know: {unknown:?}");
    ptx::verify(&parsed.module);
    check_printing(&parsed.module);
    check_linking(&parsed.module);
    check_analyses(&parsed.module);
}
