//! Loads, stores, copies and barrier objects in memory.

use ptx::ir::Operand;
use ptx::ops::{Mod, Op};
use ptx::types::{Space, Type, TypeKind};
use smallvec::smallvec;

use super::operand::InstDecoder;
use crate::code::{Arg, Code, Inst, Mbarrier, Pure};
use crate::fault::Refusal;

pub(super) fn decode(decoder: &InstDecoder<'_, '_>) -> Result<Option<Inst>, Refusal> {
    let space = decoder.view.form.spaces().next();
    match decoder.op {
        Op::Ld | Op::Ldu => {
            let ty = decoder.last_type()?;
            let signed = ty.kind() == TypeKind::Signed;
            let mut inst = decoder.with(Code::Load { size: ty.bytes() as u8, signed }, &[])?;
            check_vector(decoder, inst.dests.len())?;
            inst.addresses.push(decoder.address("a", space)?);
            Ok(Some(inst))
        }
        Op::St => {
            let ty = decoder.last_type()?;
            let mut inst = decoder.inst(Code::Store { size: ty.bytes() as u8 });
            inst.args = decoder.values(decoder.required("b")?, ty)?;
            check_vector(decoder, inst.args.len())?;
            inst.addresses.push(decoder.address("a", space)?);
            Ok(Some(inst))
        }
        Op::StBulk => {
            let mut inst = decoder.inst(Code::StoreBulk);
            inst.args.push(decoder.arg("size", Type::U64)?);
            inst.addresses.push(decoder.address("a", space)?);
            Ok(Some(inst))
        }
        Op::CpAsync => copy_async(decoder).map(Some),
        Op::CpAsyncBulk => copy_bulk(decoder).map(Some),
        Op::ClusterlaunchcontrolTryCancel => {
            let mut inst = decoder.inst(Code::TryCancel);
            inst.addresses.push(decoder.address("a", space)?);
            inst.addresses.push(decoder.address("mbar", space)?);
            Ok(Some(inst))
        }
        // No request to cancel a block is granted, so all answers are the same.
        Op::ClusterlaunchcontrolQueryCancel => {
            let mut inst = decoder.with(Code::Nop, &[])?;
            let bits = if decoder.has(Mod::IsCanceled) { 1 } else { 32 };
            inst.code = Code::Deal { sources: smallvec![128], targets: smallvec![bits; inst.dests.len()] };
            inst.args.push(Arg::Const(0));
            Ok(Some(inst))
        }
        // Copies are complete as soon as they are started, so there is nothing to wait for.
        Op::CpAsyncCommitGroup
        | Op::CpAsyncWaitGroup
        | Op::CpAsyncWaitAll
        | Op::CpAsyncBulkCommitGroup
        | Op::CpAsyncBulkWaitGroup => Ok(Some(decoder.inst(Code::Nop))),
        Op::Fence | Op::FenceProxy | Op::Membar | Op::Prefetchu | Op::Applypriority | Op::Discard => {
            Ok(Some(decoder.inst(Code::Nop)))
        }
        Op::Prefetch if !decoder.has(Mod::Tensormap) => Ok(Some(decoder.inst(Code::Nop))),
        Op::CpAsyncBulkPrefetch => Ok(Some(decoder.inst(Code::Nop))),
        // A policy is a number that nobody looks at.
        Op::Createpolicy => {
            let mut inst = decoder.with(Code::Pure(Pure::Copy(super::operand::int(Type::B64))), &[])?;
            inst.args.push(Arg::Const(0));
            Ok(Some(inst))
        }
        _ => mbarrier(decoder, space),
    }
}

fn check_vector(decoder: &InstDecoder<'_, '_>, elements: usize) -> Result<(), Refusal> {
    if elements == decoder.view.form.vector() as usize {
        return Ok(());
    }
    Err(decoder.refuse("has a vector of another length than its type"))
}

fn copy_async(decoder: &InstDecoder<'_, '_>) -> Result<Inst, Refusal> {
    let size = u32::try_from(decoder.immediate("size")?)
        .map_err(|_| decoder.refuse("copies an impossible number of bytes"))?;
    let source_size = decoder.operand("src_size");
    // A predicate there means that the source is ignored.
    let is_predicate = match source_size {
        Some(Operand::Not(_)) => true,
        Some(Operand::Reg(reg)) => decoder.context.module.functions[decoder.function].reg_type(*reg) == Type::Pred,
        _ => false,
    };
    let mut inst = decoder.inst(Code::CopyAsync { size, has_source_size: source_size.is_some(), is_predicate });
    if source_size.is_some() {
        inst.args.push(decoder.arg("src_size", Type::U32)?);
    }
    inst.addresses.push(decoder.address("d", Some(Space::Shared))?);
    inst.addresses.push(decoder.address("a", Some(Space::Global))?);
    Ok(inst)
}

/// A bulk copy from global to shared memory that completes on a barrier object, or back.
fn copy_bulk(decoder: &InstDecoder<'_, '_>) -> Result<Inst, Refusal> {
    let form = decoder.view.form;
    let is_refused = form.words().any(|word| {
        matches!(word, Mod::MulticastCluster | Mod::MulticastCluster16b | Mod::MulticastCluster32b | Mod::Relaxed)
    });
    let mut spaces = form.spaces();
    let (Some(target), Some(source), false) = (spaces.next(), spaces.next(), is_refused) else {
        return Err(decoder.refuse("is not supported by the interpreter"));
    };
    let mut inst = decoder.inst(Code::CopyBulk);
    inst.args.push(decoder.arg("size", Type::U32)?);
    for (name, ty, otherwise) in [("b", Type::U32, 0), ("c", Type::U32, 0), ("bytes", Type::B16, 0xffff)] {
        let value = decoder.operand(name).map(|operand| decoder.value(operand, ty)).transpose()?;
        inst.args.push(value.unwrap_or(Arg::Const(otherwise)));
    }
    inst.addresses.push(decoder.address("d", Some(target))?);
    inst.addresses.push(decoder.address("a", Some(source))?);
    if decoder.operand("mbar").is_some() {
        inst.addresses.push(decoder.address("mbar", Some(Space::Shared))?);
    }
    Ok(inst)
}

fn mbarrier(decoder: &InstDecoder<'_, '_>, space: Option<Space>) -> Result<Option<Inst>, Refusal> {
    let unsupported = [Mod::MulticastCluster32b, Mod::PhaseTypePrimary, Mod::PhaseTypeConditional, Mod::LayoutV1];
    let object = |code: Mbarrier, address: &str| -> Result<Inst, Refusal> {
        if unsupported.into_iter().any(|word| decoder.has(word)) {
            return Err(decoder.refuse("is not supported by the interpreter"));
        }
        let mut inst = decoder.with(Code::Mbarrier(code), &[])?;
        inst.addresses.push(decoder.address(address, space)?);
        Ok(inst)
    };
    let inst = match decoder.op {
        Op::MbarrierInit | Op::MbarrierExpectTx | Op::MbarrierCompleteTx => {
            let code = match decoder.op {
                Op::MbarrierInit => Mbarrier::Init,
                Op::MbarrierExpectTx => Mbarrier::ExpectTx,
                _ => Mbarrier::CompleteTx,
            };
            let mut inst = object(code, "a")?;
            inst.args.push(decoder.arg("b", Type::U32)?);
            inst
        }
        Op::MbarrierInval => object(Mbarrier::Inval, "a")?,
        Op::MbarrierArrive | Op::MbarrierArriveDrop => {
            let arrive = Mbarrier::Arrive {
                drop: decoder.op == Op::MbarrierArriveDrop,
                expect: decoder.has(Mod::ExpectTx),
                no_complete: decoder.has(Mod::NoComplete),
            };
            let mut inst = object(arrive, "a")?;
            let count = decoder.operand("b").map(|operand| decoder.value(operand, Type::U32)).transpose()?;
            inst.args.push(count.unwrap_or(Arg::Const(1)));
            inst
        }
        Op::MbarrierTestWait | Op::MbarrierTryWait => {
            let parity = decoder.has(Mod::Parity);
            let mut inst = object(Mbarrier::Wait { parity, is_try: decoder.op == Op::MbarrierTryWait }, "a")?;
            inst.args.push(decoder.arg("b", if parity { Type::U32 } else { Type::B64 })?);
            inst
        }
        Op::MbarrierPendingCount if !decoder.has(Mod::LayoutV1) => {
            return decoder.with(Code::Pure(Pure::MbarrierPendingCount), &[("a", Type::B64)]).map(Some);
        }
        Op::CpAsyncMbarrierArrive => object(Mbarrier::CopyArrive { noinc: decoder.has(Mod::Noinc) }, "mbar")?,
        _ => return Ok(None),
    };
    Ok(Some(inst))
}
