//! Functions of the module, and calls of them: direct, by address, and recursive.

use super::body::{Body, Class};
use super::choose::Choose;
use super::facts::{Callee, CalleeKind, Facts};
use super::shape::Place;

/// Functions for a kernel: their text, and how they are called.
///
/// Warps that keep in step only call what they hardly ever do.
pub(super) fn functions(choose: &mut Choose, has_masks: bool, in_step: bool) -> (String, Vec<Callee>) {
    let mut text = String::new();
    let mut callees = Vec::new();
    if choose.percent(55) {
        return (text, callees);
    }
    let kinds = if in_step { vec![CalleeKind::Rare] } else { kinds(choose, has_masks) };
    for (number, kind) in kinds.into_iter().enumerate() {
        let name = format!("function_{number}");
        text += &function(choose, &name, kind, &callees);
        callees.push(Callee { name, kind });
    }
    let table: Vec<&str> =
        callees.iter().filter(|callee| callee.kind == CalleeKind::InTable).map(|callee| callee.name.as_str()).collect();
    if !table.is_empty() {
        text += &format!(".global .align 8 .u64 functions[{}] = {{{}}};\n", table.len(), table.join(", "));
    }
    (text, callees)
}

/// What functions there are.
fn kinds(choose: &mut Choose, has_masks: bool) -> Vec<CalleeKind> {
    let mut kinds = vec![CalleeKind::Plain];
    if choose.percent(25) {
        kinds.push(CalleeKind::Recursive);
    }
    if choose.percent(30) {
        kinds.extend([CalleeKind::InTable, CalleeKind::InTable]);
    }
    if choose.percent(15) && has_masks {
        kinds.push(CalleeKind::Collective);
    }
    if choose.percent(15) {
        kinds.push(CalleeKind::Registers);
    }
    if choose.percent(30) {
        kinds.push(CalleeKind::Rare);
    }
    kinds
}

fn function(choose: &mut Choose, name: &str, kind: CalleeKind, callees: &[Callee]) -> String {
    let mut body = Body::new(Choose::new(choose.word()), &format!("{}_L", name.replace("function_", "F")));
    body.facts = Facts {
        in_function: true,
        threads: 32,
        has_local: true,
        limit: 40,
        callees: callees.iter().filter(|callee| callee.kind == CalleeKind::Plain).cloned().collect(),
        ..Facts::default()
    };
    for (class, count) in [(Class::Pred, 3), (Class::B16, 2), (Class::B32, 4), (Class::B64, 2)] {
        body.set_pool(class, count);
    }
    if body.choose.percent(30) {
        body.set_pool(Class::F32, 2);
    }
    body.named(".b32", "%lane");
    body.named(".b64", "%frame");
    body.put("mov.u32 %lane, %laneid");
    if matches!(kind, CalleeKind::Registers | CalleeKind::Rare) {
        body.put("mov.b32 %r1, x");
        body.put("mov.b32 %r2, y");
        body.put("cvt.u64.u32 %d1, y");
    } else {
        body.put("ld.param.b32 %r1, [x]");
        match kind {
            CalleeKind::Plain | CalleeKind::InTable => {
                body.put("ld.param.b64 %d1, [y]");
                body.put("cvt.u32.u64 %r2, %d1");
            }
            _ => {
                body.put("ld.param.b32 %r2, [y]");
                body.put("cvt.u64.u32 %d1, %r2");
            }
        }
    }
    let mut place = Place { is_block: false, mask: None, depth: 2, loops: 1, may_exit: false };
    if kind == CalleeKind::Collective {
        let mask = body.named(".b32", "%members");
        body.put(format!("mov.b32 {mask}, %r2"));
        place.mask = Some(mask);
    }
    let depth = body.named(".b32", "%depth");
    body.put(format!("mov.b32 {depth}, %r2"));
    body.put("xor.b32 %r3, %r1, 0x5bd1e995");
    body.put("shf.l.wrap.b32 %r4, %r1, %r2, 9");
    body.put("not.b64 %d2, %d1");
    body.put("cvt.u16.u32 %h1, %r1");
    body.put("cvt.u16.u32 %h2, %r3");
    body.put("setp.lt.s32 %p1, %r1, %r3");
    body.put("setp.lt.s32 %p2, %r1, 0");
    body.put("setp.eq.u16 %p3, %h1, 5");
    for nth in 1..=body.pool(Class::F32) {
        body.put(format!("cvt.rn.f32.s32 %f{nth}, %r{nth}"));
    }
    body.put("mov.u64 %frame, frame");
    body.put("st.local.v4.b32 [frame], {%r1, %r2, %r3, %r4}");
    body.put("st.local.v2.b64 [frame+16], {%d1, %d2}");
    let count = body.choose.between(1, 4);
    body.statements(&place, count);
    let early = body.choose.percent(30) && place.mask.is_none();
    if early {
        give_back(&mut body, kind, "%r1");
        let condition = body.condition();
        body.put(format!("@{condition} ret"));
        let count = body.choose.between(1, 3);
        body.statements(&place, count);
    }
    if kind == CalleeKind::Recursive {
        let after = body.new_label();
        let is_over = body.temp(Class::Pred);
        body.put(format!("setp.eq.u32 {is_over}, {depth}, 0"));
        body.put(format!("@{is_over} bra {after}"));
        body.put(format!("sub.u32 {depth}, {depth}, 1"));
        body.line("\t{\n\t.param .b32 a;\n\t.param .b32 b;\n\t.param .b32 c;");
        body.put("st.param.b32 [a], %r1");
        body.put(format!("st.param.b32 [b], {depth}"));
        body.put(format!("call (c), {name}, (a, b)"));
        body.put("ld.param.b32 %r3, [c]");
        body.line("\t}");
        body.label(&after);
        body.statements(&place, 1);
    }
    let bits = body.temp(Class::B32);
    body.put(format!("mad.lo.u32 {bits}, %r3, 31, %r1"));
    if body.has(Class::F32) {
        let float = body.bits_of(Class::F32, "%f1");
        body.put(format!("xor.b32 {bits}, {bits}, {float}"));
    }
    give_back(&mut body, kind, &bits);
    body.put("ret");
    let header = match kind {
        CalleeKind::Plain | CalleeKind::InTable => {
            format!(".func (.param .b32 result) {name}(.param .b32 x, .param .b64 y)")
        }
        CalleeKind::Registers | CalleeKind::Rare => {
            format!(".func (.reg .b32 result) {name}(.reg .b32 x, .reg .b32 y)")
        }
        _ => format!(".func (.param .b32 result) {name}(.param .b32 x, .param .b32 y)"),
    };
    let declarations = body.declarations();
    let pragma = if kind == CalleeKind::Rare { "\t.pragma \"cold\";\n" } else { "" };
    format!("{header}\n{{\n{pragma}\t.local .align 16 .b8 frame[32];\n{declarations}{}\n}}\n", body.lines.join("\n"))
}

fn give_back(body: &mut Body, kind: CalleeKind, register: &str) {
    if matches!(kind, CalleeKind::Registers | CalleeKind::Rare) {
        body.put(format!("mov.b32 result, {register}"));
    } else {
        body.put(format!("st.param.b32 [result], {register}"));
    }
}

impl Body {
    /// Calls a function.
    pub(super) fn call(&mut self, place: &Place) {
        let callees: Vec<&Callee> = self.facts.callees.iter().collect();
        let callee = self.choose.pick(&callees).clone();
        let (d, x) = (self.reg(Class::B32), self.reg(Class::B32));
        if callee.kind == CalleeKind::Registers {
            let y = self.reg(Class::B32);
            return self.put(format!("call ({d}), {}, ({x}, {y})", callee.name));
        }
        if callee.kind == CalleeKind::Rare {
            return self.check(&callee.name);
        }
        let second = match callee.kind {
            CalleeKind::Plain | CalleeKind::InTable => "b64",
            _ => "b32",
        };
        let y = match callee.kind {
            CalleeKind::Plain | CalleeKind::InTable => self.reg(Class::B64),
            CalleeKind::Recursive => {
                let (depth, from) = (self.temp(Class::B32), self.reg(Class::B32));
                self.put(format!("and.b32 {depth}, {from}, 3"));
                depth
            }
            _ => match &place.mask {
                Some(mask) => mask.clone(),
                None => return self.arithmetic(),
            },
        };
        // Those who do not call do not look at what it returns either.
        let is_guarded = matches!(callee.kind, CalleeKind::Plain) && self.choose.percent(20);
        let guard = if is_guarded { format!("@{} ", self.condition()) } else { String::new() };
        let address = (callee.kind == CalleeKind::InTable && self.choose.percent(80)).then(|| {
            let (address, index, from) = (self.temp(Class::B64), self.temp(Class::B32), self.reg(Class::B32));
            self.put(format!("and.b32 {index}, {from}, 1"));
            self.put(format!("mov.u64 {address}, functions"));
            self.put(format!("mad.wide.u32 {address}, {index}, 8, {address}"));
            self.put(format!("ld.global.u64 {address}, [{address}]"));
            address
        });
        self.line(format!("\t{{\n\t.param .b32 a;\n\t.param .{second} b;\n\t.param .b32 c;"));
        self.put(format!("st.param.b32 [a], {x}"));
        self.put(format!("st.param.{second} [b], {y}"));
        match address {
            Some(address) => {
                let prototype = self.new_label();
                self.line(format!("{prototype}: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _);"));
                self.put(format!("call (c), {address}, (a, b), {prototype}"));
            }
            None => self.put(format!("{guard}call (c), {}, (a, b)", callee.name)),
        }
        self.put(format!("{guard}ld.param.b32 {d}, [c]"));
        self.line("\t}");
    }

    /// Compares, and calls a function where that holds, which mostly is nowhere.
    fn check(&mut self, function: &str) {
        let (d, y) = (self.reg(Class::B32), self.reg(Class::B32));
        let number = match self.choose.below(3) {
            0 => "%lane".to_owned(),
            _ => self.reg(Class::B32),
        };
        let limit = self.choose.pick(&[20_u32, 1000, 0x7fff_ffff, 0xffff_fff0, 0xffff_fff0]);
        let (bad, good) = (self.temp(Class::Pred), self.reg(Class::Pred));
        if self.choose.percent(30) {
            let condition = self.condition();
            self.put(format!("setp.gt.and.u32 {bad}|{good}, {number}, {limit}, {condition}"));
        } else {
            self.put(format!("setp.gt.u32 {bad}|{good}, {number}, {limit}"));
        }
        self.put(format!("@{bad} call ({d}), {function}, ({number}, {y})"));
    }
}
