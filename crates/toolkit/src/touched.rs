//! What a kernel may read or write, as far as its text says.

use ptx::analysis::{CallGraph, PointerValue, Provenance, Root};
use ptx::ir::{FuncId, Module, Origin, Param};
use ptx::ops::Effect;
use ptx::types::Space;
use ptx::view::{AccessKind, AccessSpace, MemAccess, Order, View};

/// The memory of the device that some accesses of a kernel may touch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Touched {
    /// What these point into, and nothing else.
    Only(Vec<Accessed>),
    /// Anything.
    Anything,
}

/// Something that a kernel accesses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Accessed {
    /// The object that a parameter points into.
    Param {
        /// The parameter, counted from 0.
        param: usize,
        /// Where in it the pointer is.
        offset: u32,
    },
    /// A variable of the module, by its name.
    Variable(String),
}

impl Touched {
    /// What a kernel of a module may write.
    pub fn written(module: &Module, kernel: FuncId) -> Self {
        let is_write = |_, access: &MemAccess| access.kind != AccessKind::Read;
        Self::by(module, kernel, Effect::SurfaceStore, is_write)
    }

    /// What a kernel of a module may write, but for what a tool inserted, which has memory of its own.
    pub fn written_by_others(module: &Module, kernel: FuncId, tool: &str) -> Self {
        let is_write =
            |origin, access: &MemAccess| access.kind != AccessKind::Read && !module.is_inserted_by(tool, origin);
        Self::by(module, kernel, Effect::SurfaceStore, is_write)
    }

    /// What a kernel of a module may read, apart from textures.
    pub fn read(module: &Module, kernel: FuncId) -> Self {
        Self::by(module, kernel, Effect::SurfaceStore, |_, access| access.kind != AccessKind::Write)
    }

    /// What a kernel of a module may read by loads that other threads are not expected to interfere with.
    pub fn read_weakly(module: &Module, kernel: FuncId) -> Self {
        let is_weak_read = |_, access: &MemAccess| access.kind == AccessKind::Read && access.order == Order::Weak;
        Self::by(module, kernel, Effect::TextureLoad, is_weak_read)
    }

    /// What the accesses touch that are asked for. An instruction with the effect may touch anything.
    fn by(module: &Module, kernel: FuncId, unknown: Effect, is_asked: impl Fn(Origin, &MemAccess) -> bool) -> Self {
        let calls = CallGraph::of(module);
        if calls.may_call_unknown(kernel) {
            return Self::Anything;
        }
        let mut touched = Vec::new();
        for func in calls.reachable_from(kernel).iter() {
            let Some(body) = &module.functions[func].body else {
                // Those that the device has itself write what their arguments point to, which is local.
                continue;
            };
            let function = &module.functions[func];
            let provenance = Provenance::of(module, function);
            for id in body.iter() {
                let Some(view) = View::of(&module.forms, body, id) else { continue };
                if view.op().is_none() || view.effect() == Some(unknown) {
                    return Self::Anything;
                }
                for access in view.accesses().into_iter().filter(|access| is_asked(body.origin(id), access)) {
                    let is_own = matches!(
                        access.space,
                        AccessSpace::State(Space::Shared | Space::Local | Space::Param | Space::Const)
                            | AccessSpace::TensorMemory
                    );
                    if is_own {
                        continue;
                    }
                    match place(module, func, kernel, &provenance.address(&view.operands()[access.address])) {
                        Some(Some(place)) if !touched.contains(&place) => touched.push(place),
                        Some(_) => {}
                        None => return Self::Anything,
                    }
                }
            }
        }
        Self::Only(touched)
    }
}

/// What a pointer points into; nothing in that if it is memory of the thread or block, and nothing at all if it is not known.
pub(crate) fn place(module: &Module, func: FuncId, kernel: FuncId, pointer: &PointerValue) -> Option<Option<Accessed>> {
    let PointerValue::Pointer { root, .. } = pointer else { return None };
    match *root {
        Root::Param { var, offset, .. } if func == kernel => {
            let params = &module.functions[func].params;
            let param = params.iter().position(|param| *param == Param::Var(var))?;
            Some(Some(Accessed::Param { param, offset: u32::try_from(offset).ok()? }))
        }
        Root::Param { .. } => None,
        Root::Global(global) => {
            let variable = &module.globals[global];
            let is_own = matches!(variable.space, Space::Shared | Space::Local);
            Some((!is_own).then(|| Accessed::Variable(module.text(variable.name).to_owned())))
        }
        Root::Var(_) => Some(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(body: &str) -> Touched {
        let text = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.global .align 4 .b8 table[64];\n\
             .visible .entry k(.param .u64 p, .param .u64 q)\n{{\n.reg .b64 %d<9>; .reg .b32 %r<9>;\n\
             .shared .align 4 .b8 tile[64];\n{body}\nret;\n}}\n"
        );
        let parsed = ptx::parse(&text);
        assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
        Touched::written(&parsed.module, parsed.module.function("k").unwrap())
    }

    #[test]
    fn objects_of_parameters_and_variables() {
        let q = Accessed::Param { param: 1, offset: 0 };
        let loads = "ld.param.u64 %d1, [p]; ld.param.u64 %d2, [q]; ld.global.u32 %r1, [%d1];";
        assert_eq!(of(&format!("{loads} st.global.u32 [%d2+4], %r1;")), Touched::Only(vec![q.clone()]));
        assert_eq!(
            of(&format!(
                "{loads} red.global.add.u32 [%d2], %r1; st.global.u32 [table], %r1; st.shared.u32 [tile], %r1;"
            )),
            Touched::Only(vec![q, Accessed::Variable("table".to_owned())])
        );
        assert_eq!(of(loads), Touched::Only(Vec::new()));
    }

    #[test]
    fn a_pointer_from_memory_may_point_anywhere() {
        let text = "ld.param.u64 %d1, [p]; ld.global.u64 %d2, [%d1]; st.global.u32 [%d2], %r1;";
        assert_eq!(of(text), Touched::Anything);
    }
}
