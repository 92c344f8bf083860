//! Images: what programs hand over as code.

use std::sync::Arc;

use super::module::{self, Module};
use super::{context, device, ptx_text};
use crate::error::{CudaError, Result};
use crate::program_image::{ELF, Image};

/// Loads an image on the device of this thread.
pub(crate) fn load(image: Image<'_>) -> Result<Arc<Module>> {
    module::load_parsed(read(image)?)
}

/// Reads an image, for the device of this thread.
pub(crate) fn read(image: Image<'_>) -> Result<ptx::ir::Module> {
    match image {
        Image::Ptx(bytes) => module::read_for_device(text_of(bytes)?),
        Image::Fatbin(bytes) => ptx_text::read(&ptx_of(bytes)?),
        Image::Fatbins(containers) => {
            let texts: Vec<String> = containers.iter().map(|bytes| ptx_of(bytes)).collect::<Result<_>>()?;
            module::read_linked(&texts)
        }
        Image::MachineCode => Err(refuse_machine_code()),
    }
}

const NO_PTX: &str = "the program hands over machine code of a GPU without its PTX, which the CPU device cannot run: compile \
                      with PTX, for example -gencode arch=compute_80,code=compute_80, or CMAKE_CUDA_ARCHITECTURES=80-virtual";

/// Says that there is no PTX.
pub(crate) fn refuse_machine_code() -> CudaError {
    crate::refusal::refuse(NO_PTX);
    CudaError::NO_BINARY_FOR_GPU
}

/// Whatever a file starts with.
pub(crate) fn of_file(bytes: &[u8]) -> Image<'_> {
    if bytes.starts_with(ELF) {
        Image::MachineCode
    } else if bytes.starts_with(&fatbin::MAGIC.to_le_bytes()) {
        Image::Fatbin(bytes)
    } else {
        Image::Ptx(bytes)
    }
}

/// A text, up to a zero if there is one.
pub(crate) fn text_of(bytes: &[u8]) -> Result<&str> {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    std::str::from_utf8(&bytes[..end]).map_err(|_| {
        crate::refusal::refuse("a module of the program is no PTX: it is not text");
        CudaError::INVALID_PTX
    })
}

/// The PTX of a container that suits the device best.
pub(crate) fn ptx_of(container: &[u8]) -> Result<String> {
    let unreadable = |error: fatbin::Error| {
        crate::refusal::refuse(&format!("a fatbin of the program cannot be read: {error}"));
        CudaError::INVALID_IMAGE
    };
    let entries = fatbin::read(container).map_err(unreadable)?;
    let texts = entries.iter().filter(|entry| entry.kind == fatbin::Kind::Ptx);
    let capability = device::capability(context::current_device());
    // The latest that the device is said to have; else the earliest, and the device has what it needs.
    let best = texts
        .clone()
        .filter(|entry| entry.arch <= capability)
        .max_by_key(|entry| entry.arch)
        .or_else(|| texts.min_by_key(|entry| entry.arch));
    let Some(best) = best else { return Err(refuse_machine_code()) };
    device::need_capability(best.arch);
    let bytes = best.text().map_err(unreadable)?;
    text_of(&bytes).map(str::to_owned)
}

/// The least compute capability that an image has PTX for, as ten times the number; nothing if it has none. Of several
/// containers all are needed.
pub(crate) fn least_capability(image: Image<'_>) -> Option<u32> {
    let least = |container: &[u8]| {
        let entries = fatbin::read(container).ok()?;
        entries.iter().filter(|entry| entry.kind == fatbin::Kind::Ptx).map(|entry| entry.arch).min()
    };
    match image {
        Image::Fatbin(container) => least(container),
        Image::Fatbins(containers) => containers.iter().filter_map(|container| least(container)).max(),
        Image::Ptx(_) | Image::MachineCode => None,
    }
}
