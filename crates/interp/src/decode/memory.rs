//! Loads, stores, copies and barrier objects in memory.

use ptx::ir::Operand;
use ptx::ops::{Mod, Op};
use ptx::types::{Space, Type, TypeKind};

use super::operand::Site;
use crate::code::{Arg, Code, Inst, Mbarrier, Pure};
use crate::fault::Refusal;

pub(super) fn decode(site: &Site<'_, '_>) -> Result<Option<Inst>, Refusal> {
    let space = site.view.form.spaces().next();
    match site.op {
        Op::Ld | Op::Ldu => {
            let ty = site.last_type()?;
            let signed = ty.kind() == TypeKind::Signed;
            let mut inst = site.with(Code::Load { size: ty.bytes() as u8, signed }, &[])?;
            check_vector(site, inst.dests.len())?;
            inst.addresses.push(site.address("a", space)?);
            Ok(Some(inst))
        }
        Op::St => {
            let ty = site.last_type()?;
            let mut inst = site.inst(Code::Store { size: ty.bytes() as u8 });
            inst.args = site.values(site.required("b")?, ty)?;
            check_vector(site, inst.args.len())?;
            inst.addresses.push(site.address("a", space)?);
            Ok(Some(inst))
        }
        Op::StBulk => {
            let mut inst = site.inst(Code::StoreBulk);
            inst.args.push(site.arg("size", Type::U64)?);
            inst.addresses.push(site.address("a", space)?);
            Ok(Some(inst))
        }
        Op::CpAsync => copy_async(site).map(Some),
        Op::CpAsyncBulk => copy_bulk(site).map(Some),
        // Copies are complete as soon as they are started, so there is nothing to wait for.
        Op::CpAsyncCommitGroup
        | Op::CpAsyncWaitGroup
        | Op::CpAsyncWaitAll
        | Op::CpAsyncBulkCommitGroup
        | Op::CpAsyncBulkWaitGroup => Ok(Some(site.inst(Code::Nop))),
        Op::Fence | Op::FenceProxy | Op::Membar | Op::Prefetchu | Op::Applypriority | Op::Discard => {
            Ok(Some(site.inst(Code::Nop)))
        }
        Op::Prefetch if !site.has(Mod::Tensormap) => Ok(Some(site.inst(Code::Nop))),
        Op::CpAsyncBulkPrefetch => Ok(Some(site.inst(Code::Nop))),
        // A policy is a number that nobody looks at.
        Op::Createpolicy => {
            let mut inst = site.with(Code::Pure(Pure::Copy(super::operand::int(Type::B64))), &[])?;
            inst.args.push(Arg::Const(0));
            Ok(Some(inst))
        }
        _ => mbarrier(site, space),
    }
}

fn check_vector(site: &Site<'_, '_>, elements: usize) -> Result<(), Refusal> {
    if elements == site.view.form.vector() as usize {
        return Ok(());
    }
    Err(site.refuse("has a vector of another length than its type"))
}

fn copy_async(site: &Site<'_, '_>) -> Result<Inst, Refusal> {
    let size =
        u32::try_from(site.immediate("size")?).map_err(|_| site.refuse("copies an impossible number of bytes"))?;
    let source_size = site.operand("src_size");
    // A predicate there means that the source is ignored.
    let is_predicate = match source_size {
        Some(Operand::Not(_)) => true,
        Some(Operand::Reg(reg)) => site.context.module.functions[site.function].reg_type(*reg) == Type::Pred,
        _ => false,
    };
    let mut inst = site.inst(Code::CopyAsync { size, has_source_size: source_size.is_some(), is_predicate });
    if source_size.is_some() {
        inst.args.push(site.arg("src_size", Type::U32)?);
    }
    inst.addresses.push(site.address("d", Some(Space::Shared))?);
    inst.addresses.push(site.address("a", Some(Space::Global))?);
    Ok(inst)
}

/// A plain bulk copy from global to shared memory that completes on a barrier object, or back.
fn copy_bulk(site: &Site<'_, '_>) -> Result<Inst, Refusal> {
    let form = site.view.form;
    let is_plain = !form.words().any(|word| {
        matches!(
            word,
            Mod::MulticastCluster
                | Mod::MulticastCluster16b
                | Mod::MulticastCluster32b
                | Mod::IgnoreOob
                | Mod::CpMask
                | Mod::Relaxed
        )
    });
    let mut spaces = form.spaces();
    let (Some(target), Some(source), true) = (spaces.next(), spaces.next(), is_plain) else {
        return Err(site.refuse("is not supported by the interpreter"));
    };
    let mut inst = site.inst(Code::CopyBulk);
    inst.args.push(site.arg("size", Type::U32)?);
    inst.addresses.push(site.address("d", Some(target))?);
    inst.addresses.push(site.address("a", Some(source))?);
    if site.operand("mbar").is_some() {
        inst.addresses.push(site.address("mbar", Some(Space::Shared))?);
    }
    Ok(inst)
}

fn mbarrier(site: &Site<'_, '_>, space: Option<Space>) -> Result<Option<Inst>, Refusal> {
    let unsupported = [Mod::MulticastCluster32b, Mod::PhaseTypePrimary, Mod::PhaseTypeConditional, Mod::LayoutV1];
    let object = |code: Mbarrier, address: &str| -> Result<Inst, Refusal> {
        if unsupported.into_iter().any(|word| site.has(word)) {
            return Err(site.refuse("is not supported by the interpreter"));
        }
        let mut inst = site.with(Code::Mbarrier(code), &[])?;
        inst.addresses.push(site.address(address, space)?);
        Ok(inst)
    };
    let inst = match site.op {
        Op::MbarrierInit | Op::MbarrierExpectTx | Op::MbarrierCompleteTx => {
            let code = match site.op {
                Op::MbarrierInit => Mbarrier::Init,
                Op::MbarrierExpectTx => Mbarrier::ExpectTx,
                _ => Mbarrier::CompleteTx,
            };
            let mut inst = object(code, "a")?;
            inst.args.push(site.arg("b", Type::U32)?);
            inst
        }
        Op::MbarrierInval => object(Mbarrier::Inval, "a")?,
        Op::MbarrierArrive | Op::MbarrierArriveDrop => {
            let arrive = Mbarrier::Arrive {
                drop: site.op == Op::MbarrierArriveDrop,
                expect: site.has(Mod::ExpectTx),
                no_complete: site.has(Mod::NoComplete),
            };
            let mut inst = object(arrive, "a")?;
            let count = site.operand("b").map(|operand| site.value(operand, Type::U32)).transpose()?;
            inst.args.push(count.unwrap_or(Arg::Const(1)));
            inst
        }
        Op::MbarrierTestWait | Op::MbarrierTryWait => {
            let parity = site.has(Mod::Parity);
            let mut inst = object(Mbarrier::Wait { parity, is_try: site.op == Op::MbarrierTryWait }, "a")?;
            inst.args.push(site.arg("b", if parity { Type::U32 } else { Type::B64 })?);
            inst
        }
        Op::MbarrierPendingCount if !site.has(Mod::LayoutV1) => {
            return site.with(Code::Pure(Pure::MbarrierPendingCount), &[("a", Type::B64)]).map(Some);
        }
        Op::CpAsyncMbarrierArrive => object(Mbarrier::CopyArrive { noinc: site.has(Mod::Noinc) }, "mbar")?,
        _ => return Ok(None),
    };
    Ok(Some(inst))
}
