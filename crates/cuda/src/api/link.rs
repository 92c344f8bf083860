//! Linking modules that a program hands over one by one (`CUlinkState`).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{image, object, ptx_text};
use crate::error::{CudaError, Result};
use crate::handle::{Handle, Handles};

/// What a program is linking.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) handle: Handle<Link>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    modules: Vec<(String, ptx::ir::Module)>,
    /// What came of it: PTX that ends with zero. It stays where it is until the program is done with it.
    image: Option<Arc<[u8]>>,
}

/// What programs are linking.
pub(crate) static LINKS: Handles<Link> = Handles::new("a linker");

/// What a program hands over to be linked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum InputKind {
    Ptx,
    Fatbin,
    /// An object file of the host with a container in it, or an archive of such files.
    Object,
    MachineCode,
}

impl Link {
    /// Begins.
    pub(crate) fn create() -> Arc<Self> {
        let link = Arc::new(Self { handle: Handle::new(), state: Mutex::default() });
        LINKS.insert(&link.handle, Arc::clone(&link));
        link
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds code. The name is for messages.
    pub(crate) fn add(&self, kind: InputKind, bytes: &[u8], name: Option<&str>) -> Result<()> {
        let texts = match kind {
            InputKind::Ptx => vec![image::text_of(bytes)?.to_owned()],
            InputKind::Fatbin => vec![image::ptx_of(bytes)?],
            InputKind::Object => {
                let containers = object::containers(bytes).ok_or(CudaError::INVALID_IMAGE)?;
                if containers.is_empty() {
                    return Err(image::refuse_machine_code());
                }
                containers.into_iter().map(image::ptx_of).collect::<Result<_>>()?
            }
            InputKind::MachineCode => return Err(image::refuse_machine_code()),
        };
        let modules = texts.iter().map(|text| ptx_text::read(text)).collect::<Result<Vec<_>>>()?;
        let mut state = self.state();
        for module in modules {
            let number = state.modules.len() + 1;
            let name = name.filter(|name| !name.is_empty()).map_or_else(|| format!("module {number}"), str::to_owned);
            state.modules.push((name, module));
        }
        Ok(())
    }

    /// Links all that was added. What comes out is PTX, which ends with zero.
    pub(crate) fn complete(&self) -> Result<Arc<[u8]>> {
        let mut state = self.state();
        if let Some(image) = &state.image {
            return Ok(Arc::clone(image));
        }
        let mut text = ptx::print(&ptx_text::link(&state.modules)?).into_bytes();
        text.push(0);
        Ok(Arc::clone(state.image.insert(text.into())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALLER: &str = ".version 8.0\n.target sm_80\n.address_size 64\n.extern .func f();\n\
                          .visible .entry k() { call.uni f; ret; }\0";
    const CALLEE: &str = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .func f() { ret; }";

    #[test]
    fn what_is_linked_is_ptx_that_ends_with_zero() {
        let link = Link::create();
        link.add(InputKind::Ptx, CALLER.as_bytes(), Some("caller.ptx")).unwrap();
        assert_eq!(link.complete().err(), Some(CudaError::SHARED_OBJECT_SYMBOL_NOT_FOUND));
        link.add(InputKind::Ptx, CALLEE.as_bytes(), None).unwrap();
        let image = link.complete().unwrap();
        let text = std::str::from_utf8(&image).unwrap().strip_suffix('\0').unwrap();
        assert!(ptx_text::read(text).unwrap().function("f").is_some());
        assert_eq!(link.complete().unwrap().as_ptr(), image.as_ptr());
    }

    #[test]
    fn what_is_no_ptx_is_refused() {
        let link = Link::create();
        assert_eq!(link.add(InputKind::MachineCode, b"\x7fELF", None), Err(CudaError::NO_BINARY_FOR_GPU));
        assert_eq!(link.add(InputKind::Ptx, b".entry", None), Err(CudaError::INVALID_PTX));
        assert_eq!(link.add(InputKind::Fatbin, b"fatbin?", None), Err(CudaError::INVALID_IMAGE));
        assert_eq!(link.add(InputKind::Object, b"object?", None), Err(CudaError::INVALID_IMAGE));
        link.add(InputKind::Ptx, CALLEE.as_bytes(), None).unwrap();
        link.add(InputKind::Ptx, CALLEE.as_bytes(), None).unwrap();
        assert_eq!(link.complete().err(), Some(CudaError::INVALID_PTX));
    }
}
