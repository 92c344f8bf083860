//! Instructions on barrier objects in shared memory.

use super::lane::Lane;
use super::mbarrier_object::{COUNT_MAX, MbarrierObject};
use crate::code::{Address, Inst, Mbarrier};
use crate::fault::FaultKind;
use crate::memory::from_bytes;

impl Lane<'_> {
    /// Changes a barrier object; nothing from `change` means that it cannot do that.
    pub(crate) fn change_mbarrier<T>(
        &mut self,
        operand: Address,
        change: impl FnOnce(&mut MbarrierObject) -> Option<T>,
    ) -> Result<T, FaultKind> {
        let address = self.address_of(operand);
        let bytes = self.store(operand.window, address, 8)?;
        let mut object = MbarrierObject::from_bits(from_bytes(bytes) as u64);
        let result = change(&mut object).ok_or(FaultKind::Mbarrier(address))?;
        bytes.copy_from_slice(&object.to_bits().to_le_bytes());
        Ok(result)
    }

    /// Returns whether others should run: a wait that was in vain.
    pub(crate) fn execute_mbarrier(&mut self, inst: &Inst, op: Mbarrier) -> Result<bool, FaultKind> {
        let operand = inst.addresses[0];
        let arg = inst.args.first().map_or(0, |&arg| self.read(arg));
        let count = arg as u32;
        let dest = inst.dests.first().copied();
        match op {
            Mbarrier::Init => self.change_mbarrier(operand, |object| {
                *object = MbarrierObject::init(count)?;
                Some(())
            })?,
            Mbarrier::Inval => self.change_mbarrier(operand, |object| {
                *object = MbarrierObject::from_bits(0);
                Some(())
            })?,
            Mbarrier::ExpectTx => self.change_mbarrier(operand, |object| object.expect_tx(count))?,
            Mbarrier::CompleteTx => self.change_mbarrier(operand, |object| object.complete_tx(count))?,
            Mbarrier::Arrive { drop, expect, no_complete } => {
                let state = self.change_mbarrier(operand, |object| {
                    let before = *object;
                    let arrivals = if expect { 1 } else { count };
                    if expect {
                        object.expect_tx(count)?;
                    }
                    object.arrive(arrivals, drop)?;
                    (!no_complete || object.phase == before.phase).then_some(before.to_bits())
                })?;
                if let Some(dest) = dest {
                    self.thread.write(dest, state.into());
                }
            }
            Mbarrier::CopyArrive { noinc } => self.change_mbarrier(operand, |object| {
                if !noinc {
                    object.pending = (object.pending < COUNT_MAX).then_some(object.pending + 1)?;
                }
                object.arrive(1, false)
            })?,
            Mbarrier::Wait { parity, is_try } => {
                let current = self.change_mbarrier(operand, |object| Some(object.phase))?;
                let waited_for = if parity { arg & 1 == 1 } else { MbarrierObject::from_bits(arg as u64).phase };
                let is_complete = current != waited_for;
                if let Some(dest) = dest {
                    self.thread.write(dest, is_complete.into());
                }
                return Ok(is_try && !is_complete);
            }
        }
        Ok(false)
    }
}
