//! The operands of all lanes in memory, for functions of the runtime.

use super::function::Lowering;
use crate::abi::calls::RuntimeFunction;
use crate::llvm::Value;

impl<'c> Lowering<'_, '_, 'c> {
    /// Calls a function of the runtime that works on words of 64 bits of each lane: `inputs`, and room for as many results
    /// as `outputs`. There is one function for warps and one for threads.
    pub(crate) fn call_with_words(
        &mut self,
        [of_warp, of_thread]: [RuntimeFunction; 2],
        what: [u64; 2],
        inputs: &[Value<'c>],
        outputs: usize,
    ) -> Vec<Value<'c>> {
        let (int, word, pointer) =
            (self.unit.context().int(32), self.unit.context().int(64), self.unit.context().pointer());
        let emit = self.vector();
        let scalar = self.scalar();
        let active = self.active();
        let row_bytes = 8 * u64::from(self.lanes());
        let rows = (inputs.len() + outputs) as u64;
        let room = self.alloca(word.array(rows * u64::from(self.lanes())), 64);
        let align = if self.is_scalar_device() { 8 } else { 64 };
        let row = |nth: usize| scalar.offset(room, word.constant(nth as u64 * row_bytes));
        for (nth, &input) in inputs.iter().enumerate() {
            emit.store(input, row(nth), align);
        }
        // Lanes that take no part get no results.
        for nth in 0..outputs {
            emit.store(emit.int(64).zero(), row(inputs.len() + nth), align);
        }
        let function = if self.is_scalar_device() { of_thread } else { of_warp };
        let void = self.unit.context().void();
        let function = self.unit.runtime(function, void, &[pointer, int, int, word, word, pointer]);
        let [first, second] = what.map(|number| word.constant(number));
        let args = [self.warp, int.constant(self.line().into()), self.masks.bits(active), first, second, room];
        if self.is_guarded() {
            let any = self.masks.any(active);
            self.when(any, |this| {
                this.unit.builder.call(function, &args);
            });
        } else {
            scalar.call(function, &args);
        }
        (0..outputs).map(|nth| emit.load(emit.int(64), row(inputs.len() + nth), align)).collect()
    }
}
