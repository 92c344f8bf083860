//! Calls.

use ptx::ir::{Operand, Symbol};
use ptx::ops::Op;
use ptx::types::Type;
use ptx::view::Callee as Named;

use super::operand::InstDecoder;
use crate::code::{Call, Callee, Code, Host, Inst, Place};
use crate::fault::Refusal;

pub(super) fn decode(decoder: &InstDecoder<'_, '_>) -> Result<Option<Inst>, Refusal> {
    if decoder.op != Op::Call {
        return Ok(None);
    }
    let module = decoder.context.module;
    let mut inst = decoder.inst(Code::Nop);
    let callee = match decoder.view.callee() {
        Some(Named::Direct(function)) => {
            let function = decoder.context.calls.resolve(function);
            match decoder.context.index.get(&function) {
                Some(&index) => Callee::Function(index),
                None => Callee::Host(host(module.text(module.functions[function].name)).ok_or_else(|| {
                    decoder.refuse(&format!(
                        "calls `{}`, which the module does not define",
                        module.text(module.functions[function].name)
                    ))
                })?),
            }
        }
        Some(Named::Indirect(reg)) => {
            inst.args.push(crate::code::Arg::Reg(decoder.slot(reg)));
            Callee::Indirect
        }
        _ => return Err(decoder.refuse("calls something that is not declared")),
    };
    let list = |name: &str| match decoder.operand(name) {
        Some(Operand::Arguments(list)) => decoder.view.body.operands(*list),
        _ => &[],
    };
    let arguments = list("()").iter().map(|operand| place(decoder, operand, false)).collect::<Result<_, _>>()?;
    let results = list("(d)").iter().map(|operand| place(decoder, operand, true)).collect::<Result<_, _>>()?;
    inst.code = Code::Call(Box::new(Call { callee, arguments, results }));
    Ok(Some(inst))
}

fn host(name: &str) -> Option<Host> {
    Some(match name {
        "vprintf" => Host::Vprintf,
        "__assertfail" => Host::Assertfail,
        "malloc" => Host::Malloc,
        "free" => Host::Free,
        _ => return None,
    })
}

fn place(decoder: &InstDecoder<'_, '_>, operand: &Operand, written: bool) -> Result<Place, Refusal> {
    match *operand {
        Operand::Symbol(Symbol::Var(var), 0) if decoder.frame.vars.contains_key(&var) => {
            let variable = &decoder.context.module.functions[decoder.function].vars[var];
            let size = variable.size().and_then(|size| u32::try_from(size).ok());
            let size = size.ok_or_else(|| decoder.refuse("passes a variable without a size"))?;
            Ok(Place::Frame { offset: decoder.frame.vars[&var], size })
        }
        _ if written => {
            let dests = decoder.dests_of(operand)?;
            Ok(Place::Register(dests.first().copied().unwrap_or(crate::code::Dest::Sink)))
        }
        _ => Ok(Place::Value(decoder.value(operand, Type::B64)?)),
    }
}
