//! Waits for words of memory, and writes of them, in a stream.

use std::ffi::c_uint;
use std::ptr;

use crate::abi::driver::*;
use crate::api::allocation::{self, Owner};
use crate::api::stream::Stream;
use crate::api::stream_handle;
use crate::api::work::Work;
use crate::error::{CudaError, Result};
use crate::ffi::{export, get};
use crate::operation::{Action, Condition, Operation};

/// An operation on a word that the device knows.
///
/// # Safety
/// The word must be valid until the operation has run.
unsafe fn operation(address: u64, is_wide: bool, action: Action) -> Result<Operation> {
    // SAFETY: the caller promises that the word is valid until the operation has run.
    let operation = unsafe { Operation::new(address, is_wide, action) }.ok_or(CudaError::INVALID_VALUE)?;
    let (start, bytes) = operation.range();
    if allocation::owner(start, bytes)? == Owner::Host { Err(CudaError::INVALID_VALUE) } else { Ok(operation) }
}

fn condition(flags: c_uint) -> Result<Condition> {
    Ok(match flags & !CU_STREAM_WAIT_VALUE_FLUSH {
        CU_STREAM_WAIT_VALUE_GEQ => Condition::NotLess,
        CU_STREAM_WAIT_VALUE_EQ => Condition::Equal,
        CU_STREAM_WAIT_VALUE_AND => Condition::AnyBit,
        CU_STREAM_WAIT_VALUE_NOR => Condition::NotAllBits,
        _ => return Err(CudaError::INVALID_VALUE),
    })
}

fn push(stream: &Stream, operations: &[Operation]) -> Result<()> {
    stream.push(Work::Operate(operations.into()))
}

/// # Safety
/// `list` must be null or valid to read `count` elements, and the words that they name be valid until they were used.
unsafe fn operations(list: *const CUstreamBatchMemOpParams, count: usize) -> Result<Vec<Operation>> {
    let mut operations = Vec::new();
    for index in 0..count {
        // SAFETY: the caller promises that there are so many, with words that stay valid; the first field says which of the
        // others it is.
        unsafe {
            let params = &*ptr::from_ref(get(list)?).add(index);
            let (wait, write) = (&params.waitValue, &params.writeValue);
            operations.push(match params.operation {
                CU_STREAM_MEM_OP_WAIT_VALUE_32 => {
                    let action = Action::Wait(condition(wait.flags)?, wait.unnamed.value.into());
                    operation(wait.address, false, action)?
                }
                CU_STREAM_MEM_OP_WAIT_VALUE_64 => {
                    operation(wait.address, true, Action::Wait(condition(wait.flags)?, wait.unnamed.value64))?
                }
                CU_STREAM_MEM_OP_WRITE_VALUE_32 => {
                    operation(write.address, false, Action::Write(write.unnamed.value.into()))?
                }
                CU_STREAM_MEM_OP_WRITE_VALUE_64 => {
                    operation(write.address, true, Action::Write(write.unnamed.value64))?
                }
                // All that is before is done, for everybody.
                CU_STREAM_MEM_OP_BARRIER | CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES => continue,
                CU_STREAM_MEM_OP_ATOMIC_REDUCTION => {
                    crate::refusal::refuse("atomic operations of streams are not supported by the CPU device");
                    return Err(CudaError::NOT_SUPPORTED);
                }
                _ => return Err(CudaError::INVALID_VALUE),
            });
        }
    }
    Ok(operations)
}

export! {
    fn cuStreamWaitValue32, cuStreamWaitValue32_ptsz(
        default;
        stream: CUstream,
        addr: CUdeviceptr,
        value: cuuint32_t,
        flags: c_uint,
    ) {
        let action = Action::Wait(condition(flags)?, value.into());
        // SAFETY: the caller promises that the word is valid until the operation has run.
        push(&*stream_handle::resolve(stream as usize, default)?, &[unsafe { operation(addr, false, action) }?])
    }

    fn cuStreamWriteValue32, cuStreamWriteValue32_ptsz(
        default;
        stream: CUstream,
        addr: CUdeviceptr,
        value: cuuint32_t,
        flags: c_uint,
    ) {
        let _ = flags;
        let action = Action::Write(value.into());
        // SAFETY: the caller promises that the word is valid until the operation has run.
        push(&*stream_handle::resolve(stream as usize, default)?, &[unsafe { operation(addr, false, action) }?])
    }

    fn cuStreamWaitValue32_v2, cuStreamWaitValue32_v2_ptsz(
        default;
        stream: CUstream,
        addr: CUdeviceptr,
        value: cuuint32_t,
        flags: c_uint,
    ) {
        let action = Action::Wait(condition(flags)?, value.into());
        // SAFETY: the caller promises that the word is valid until the operation has run.
        push(&*stream_handle::resolve(stream as usize, default)?, &[unsafe { operation(addr, false, action) }?])
    }

    fn cuStreamWriteValue32_v2, cuStreamWriteValue32_v2_ptsz(
        default;
        stream: CUstream,
        addr: CUdeviceptr,
        value: cuuint32_t,
        flags: c_uint,
    ) {
        let _ = flags;
        let action = Action::Write(value.into());
        // SAFETY: the caller promises that the word is valid until the operation has run.
        push(&*stream_handle::resolve(stream as usize, default)?, &[unsafe { operation(addr, false, action) }?])
    }

    fn cuStreamWaitValue64, cuStreamWaitValue64_ptsz(
        default;
        stream: CUstream,
        addr: CUdeviceptr,
        value: cuuint64_t,
        flags: c_uint,
    ) {
        let action = Action::Wait(condition(flags)?, value);
        // SAFETY: the caller promises that the word is valid until the operation has run.
        push(&*stream_handle::resolve(stream as usize, default)?, &[unsafe { operation(addr, true, action) }?])
    }

    fn cuStreamWriteValue64, cuStreamWriteValue64_ptsz(
        default;
        stream: CUstream,
        addr: CUdeviceptr,
        value: cuuint64_t,
        flags: c_uint,
    ) {
        let _ = flags;
        let action = Action::Write(value);
        // SAFETY: the caller promises that the word is valid until the operation has run.
        push(&*stream_handle::resolve(stream as usize, default)?, &[unsafe { operation(addr, true, action) }?])
    }

    fn cuStreamWaitValue64_v2, cuStreamWaitValue64_v2_ptsz(
        default;
        stream: CUstream,
        addr: CUdeviceptr,
        value: cuuint64_t,
        flags: c_uint,
    ) {
        let action = Action::Wait(condition(flags)?, value);
        // SAFETY: the caller promises that the word is valid until the operation has run.
        push(&*stream_handle::resolve(stream as usize, default)?, &[unsafe { operation(addr, true, action) }?])
    }

    fn cuStreamWriteValue64_v2, cuStreamWriteValue64_v2_ptsz(
        default;
        stream: CUstream,
        addr: CUdeviceptr,
        value: cuuint64_t,
        flags: c_uint,
    ) {
        let _ = flags;
        let action = Action::Write(value);
        // SAFETY: the caller promises that the word is valid until the operation has run.
        push(&*stream_handle::resolve(stream as usize, default)?, &[unsafe { operation(addr, true, action) }?])
    }

    fn cuStreamBatchMemOp, cuStreamBatchMemOp_ptsz(
        default;
        stream: CUstream,
        count: c_uint,
        paramArray: *mut CUstreamBatchMemOpParams,
        flags: c_uint,
    ) {
        let _ = flags;
        let stream = stream_handle::resolve(stream as usize, default)?;
        // SAFETY: the caller promises that `paramArray` is null or valid to read `count` elements.
        push(&stream, &unsafe { operations(paramArray, count as usize) }?)
    }

    fn cuStreamBatchMemOp_v2, cuStreamBatchMemOp_v2_ptsz(
        default;
        stream: CUstream,
        count: c_uint,
        paramArray: *mut CUstreamBatchMemOpParams,
        flags: c_uint,
    ) {
        let _ = flags;
        let stream = stream_handle::resolve(stream as usize, default)?;
        // SAFETY: the caller promises that `paramArray` is null or valid to read `count` elements.
        push(&stream, &unsafe { operations(paramArray, count as usize) }?)
    }
}
