//! Instructions that compute registers: all forms whose results are exact.
//!
//! A pattern gives a spelling, with `<a|b>` for one of several and `{.x}` for what may be left out, and the operands:
//! `T` has the first type of the spelling, `U` the last, `W` twice the width of the first, `S` is an amount to shift by,
//! `L` a table of bits, `B` the number of a bit, and other letters are classes: `h` `r` `d` integers, `p` predicates, `!` one that may be negated,
//! `f` `g` `x` `y` `u` `v` floats. The first operand is written; `Q` is a pair of predicates.

use super::body::{Body, Class};

/// Which registers a pattern needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Family {
    Integer,
    F32,
    F64,
    F16,
    Bf16,
}

#[rustfmt::skip]
const PATTERNS: &[(Family, &str, &str)] = {
    use Family::{Bf16, F16, F32, F64, Integer};
    &[
        (Integer, "add.<u16|s16|u32|s32|u64|s64|u16x2|s16x2>", "T T T"),
        (Integer, "<add|sub>.sat.s32", "r r r"),
        (Integer, "sub.<u16|s16|u32|s32|u64|s64>", "T T T"),
        (Integer, "mul.<hi|lo>.<u16|s16|u32|s32|u64|s64>", "T T T"),
        (Integer, "mul.wide.<u16|s16|u32|s32>", "W T T"),
        (Integer, "mad.<hi|lo>.<u16|s16|u32|s32|u64|s64>", "T T T T"),
        (Integer, "mad.wide.<u16|s16|u32|s32>", "W T T W"),
        (Integer, "mad.hi.sat.s32", "r r r r"),
        (Integer, "mul24.<hi|lo>.<u32|s32>", "r r r"),
        (Integer, "mad24.<hi|lo>.<u32|s32>", "r r r r"),
        (Integer, "mad24.hi.sat.s32", "r r r r"),
        (Integer, "sad.<u16|s16|u32|s32|u64|s64>", "T T T T"),
        (Integer, "abs.<s16|s32|s64>", "T T"),
        (Integer, "neg.<s16|s32|s64>", "T T"),
        (Integer, "<min|max>.<u16|s16|u32|s32|u64|s64|u16x2|s16x2>", "T T T"),
        (Integer, "<min|max>.relu.<s16x2|s32>", "r r r"),
        (Integer, "popc.<b32|b64>", "r T"),
        (Integer, "clz.<b32|b64>", "r T"),
        (Integer, "bfind{.shiftamt}.<u32|s32|u64|s64>", "r T"),
        (Integer, "fns.b32", "r r B r"),
        (Integer, "brev.<b32|b64>", "T T"),
        (Integer, "bfe.<u32|s32|u64|s64>", "T T S S"),
        (Integer, "bfi.<b32|b64>", "T T T S S"),
        (Integer, "szext.<clamp|wrap>.<u32|s32>", "r r S"),
        (Integer, "bmsk.<clamp|wrap>.b32", "r S S"),
        (Integer, "dp4a.<u32|s32>.<u32|s32>", "r r r r"),
        (Integer, "dp2a.<lo|hi>.<u32|s32>.<u32|s32>", "r r r r"),
        (Integer, "set.<eq|ne|lt|le|gt|ge>.<u32|s32>.<u16|s16|u32|s32|u64|s64>", "T U U"),
        (Integer, "set.<eq|ne>.<and|or|xor>.<u32|s32>.<b16|b32|b64>", "T U U !"),
        (Integer, "set.<lo|ls|hi|hs>.u32.<u16|u32|u64>", "T U U"),
        (Integer, "setp.<eq|ne|lt|le|gt|ge>.<u16|s16|u32|s32|u64|s64>", "p T T"),
        (Integer, "setp.<eq|ne|lt|le|gt|ge>.<u16|s16|u32|s32|u64|s64>", "p T T"),
        (Integer, "setp.<eq|ne|lt|le|gt|ge>.<and|or|xor>.<u16|s16|u32|s32|u64|s64>", "p T T !"),
        (Integer, "setp.<eq|ne>.<b16|b32|b64>", "Q T T"),
        (Integer, "setp.<lo|ls|hi|hs>.<u16|u32|u64>", "Q T T"),
        (Integer, "selp.<b16|b32|b64|u16|s16|u32|s32|u64|s64>", "T T T !"),
        (Integer, "slct.<b16|u32|b32|s64>.s32", "T T T r"),
        (Integer, "<and|or|xor>.<b16|b32|b64>", "T T T"),
        (Integer, "not.<b16|b32|b64>", "T T"),
        (Integer, "cnot.<b16|b32|b64>", "T T"),
        (Integer, "<and|or|xor>.pred", "p ! !"),
        (Integer, "not.pred", "p !"),
        (Integer, "lop3.b32", "r r r r L"),
        (Integer, "shf.<l|r>.<clamp|wrap>.b32", "r r r S"),
        (Integer, "shl.<b16|b32|b64>", "T T S"),
        (Integer, "shr.<b16|b32|b64|u16|s16|u32|s32|u64|s64>", "T T S"),
        (Integer, "prmt.b32", "r r r r"),
        (Integer, "prmt.b32.<f4e|b4e|rc8|ecl|ecr|rc16>", "r r r r"),
        (Integer, "cvt{.sat}.<u8|s8|u16|s16|u32|s32|u64|s64>.<u8|s8|u16|s16|u32|s32|u64|s64>", "T U"),
        (Integer, "cvt.pack.sat.<u16|s16>.s32", "r r r"),
        (Integer, "cvt.pack.sat.<u8|s8>.s32.b32", "r r r r"),
        (Integer, "mov.<b16|b32|b64>", "T T"),
        (Integer, "vadd.<u32|s32>.<u32|s32>.<u32|s32>{.sat}", "r r r"),
        (Integer, "vmax4.s32.s32.s32", "r r r r"),
        (Integer, "vabsdiff4.u32.u32.u32.add", "r r r r"),

        (F32, "<add|sub|mul>{.ftz}{.sat}.f32", "f f f"),
        (F32, "<add|sub|mul>.<rn|rz|rm|rp>{.ftz}{.sat}.f32", "f f f"),
        (F32, "<fma|mad>.<rn|rz|rm|rp>{.ftz}{.sat}.f32", "f f f f"),
        (F32, "div.<rn|rz|rm|rp>{.ftz}.f32", "f f f"),
        (F32, "<rcp|sqrt>.<rn|rz|rm|rp>{.ftz}.f32", "f f"),
        (F32, "<min|max>{.ftz}{.NaN}.f32", "f f f"),
        (F32, "<abs|neg>{.ftz}.f32", "f f"),
        (F32, "testp.<finite|infinite|number|notanumber|normal|subnormal>.f32", "p f"),
        (F32, "setp.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan>{.ftz}.f32", "p f f"),
        (F32, "setp.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan>.<and|or|xor>{.ftz}.f32", "Q f f !"),
        (F32, "set.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan>{.ftz}.<u32|s32|f32>.f32", "T U U"),
        (F32, "set.<lt|gt>.<u32|s32>.f32", "T U U"),
        (F32, "set.<lt|ge>.f32.<u32|s64>", "T U U"),
        (F32, "selp.f32", "f f f !"),
        (F32, "slct{.ftz}.<b32|f32|s64>.f32", "T T T f"),
        (F32, "slct.f32.s32", "f f f r"),
        (F32, "cvt.<rn|rz|rm|rp>{.sat}.f32.<u8|s8|u16|s16|u32|s32|u64|s64>", "f U"),
        (F32, "cvt.<rni|rzi|rmi|rpi>{.ftz}{.sat}.<u8|s8|u16|s16|u32|s32|u64|s64>.f32", "T f"),
        (F32, "cvt.<rni|rzi|rmi|rpi>{.ftz}{.sat}.f32.f32", "f f"),
        (F32, "mov.f32", "f f"),
        (F32, "mov.b32", "f r"),
        (F32, "cvt.rn.satfinite.<e4m3x2|e5m2x2>.f32", "h f f"),

        (F64, "<add|sub|mul>.f64", "g g g"),
        (F64, "<add|sub|mul>.<rn|rz|rm|rp>.f64", "g g g"),
        (F64, "<fma|mad>.<rn|rz|rm|rp>.f64", "g g g g"),
        (F64, "div.<rn|rz|rm|rp>.f64", "g g g"),
        (F64, "<rcp|sqrt>.<rn|rz|rm|rp>.f64", "g g"),
        (F64, "<min|max>.f64", "g g g"),
        (F64, "<abs|neg>.f64", "g g"),
        (F64, "testp.<finite|infinite|number|notanumber|normal|subnormal>.f64", "p g"),
        (F64, "setp.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan>.f64", "p g g"),
        (F64, "set.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan>.<u32|s32|f32>.f64", "T U U"),
        (F64, "selp.f64", "g g g !"),
        (F64, "cvt.<rn|rz|rm|rp>.f64.<u8|s8|u16|s16|u32|s32|u64|s64>", "g U"),
        (F64, "cvt.<rni|rzi|rmi|rpi>{.sat}.<u8|s8|u16|s16|u32|s32|u64|s64>.f64", "T g"),
        (F64, "cvt.<rni|rzi|rmi|rpi>.f64.f64", "g g"),
        (F64, "cvt.<rn|rz|rm|rp>{.ftz}{.sat}.f32.f64", "f g"),
        (F64, "cvt{.ftz}{.sat}.f64.f32", "g f"),
        (F64, "mov.b64", "g d"),

        (F16, "<add|sub|mul>{.rn}{.ftz}{.sat}.<f16|f16x2>", "T T T"),
        (F16, "fma.rn{.ftz}{.sat}.<f16|f16x2>", "T T T T"),
        (F16, "fma.rn{.ftz}.relu.<f16|f16x2>", "T T T T"),
        (F16, "<min|max>{.ftz}{.NaN}.<f16|f16x2>", "T T T"),
        (F16, "<abs|neg>{.ftz}.<f16|f16x2>", "T T"),
        (F16, "setp.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan>{.ftz}.f16", "p x x"),
        (F16, "setp.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan>{.ftz}.f16x2", "Q u u"),
        (F16, "set.<eq|lt|ge|neu|nan>{.ftz}.<f16|u16|s32|u32>.f16", "T U U"),
        (F16, "set.<eq|lt|ge|neu|nan>{.ftz}.<f16x2|u32>.f16x2", "T U U"),
        (F16, "cvt.<rn|rz|rm|rp>{.sat}.f16.<u8|s8|u16|s16|u32|s32|u64|s64>", "x U"),
        (F16, "cvt.<rni|rzi|rmi|rpi>.<u8|s8|u16|s16|u32|s32|u64|s64>.f16", "T x"),
        (F16, "cvt.<rni|rzi|rmi|rpi>.f16.f16", "x x"),
        (F16, "cvt.<rn|rz|rm|rp>{.ftz}{.sat}.f16.f32", "x f"),
        (F16, "cvt{.ftz}{.sat}.f32.f16", "f x"),
        (F16, "cvt.<rn|rz>{.relu}.f16x2.f32", "u f f"),
        (F16, "cvt.rn.f16x2.<e4m3x2|e5m2x2>", "u h"),
        (F16, "cvt.rn.satfinite.<e4m3x2|e5m2x2>.f16x2", "h u"),
        (F16, "mov.b16", "x h"),
        (F16, "mov.b32", "u r"),

        (Bf16, "<add|sub|mul>{.rn}.<bf16|bf16x2>", "T T T"),
        (Bf16, "fma.rn{.relu}.<bf16|bf16x2>", "T T T T"),
        (Bf16, "<min|max>{.NaN}.<bf16|bf16x2>", "T T T"),
        (Bf16, "<abs|neg>.<bf16|bf16x2>", "T T"),
        (Bf16, "setp.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan>.bf16", "p y y"),
        (Bf16, "set.<eq|lt|ge|neu|nan>.<bf16|u16|u32>.bf16", "T U U"),
        (Bf16, "cvt.<rn|rz|rm|rp>.bf16.<u8|s8|u16|s16|u32|s32|u64|s64>", "y U"),
        (Bf16, "cvt.<rni|rzi|rmi|rpi>.<u8|s8|u16|s16|u32|s32|u64|s64>.bf16", "T y"),
        (Bf16, "cvt.<rn|rz>{.relu}.bf16.f32", "y f"),
        (Bf16, "cvt.f32.bf16", "f y"),
        (Bf16, "cvt.<rn|rz>{.relu}.bf16x2.f32", "v f f"),
        (Bf16, "mov.b16", "y h"),
        (Bf16, "mov.b32", "v r"),
    ]
};

impl Body {
    /// One instruction, or a few that belong together.
    pub(super) fn arithmetic(&mut self) {
        match self.choose.below(40) {
            0 => self.carry_chain(),
            1 | 2 => self.division(),
            3 | 4 => self.bits_of_float(),
            5 => self.sign_of_float(),
            6 => self.pack(),
            7 => self.special_register(),
            _ => self.pattern(),
        }
    }

    fn pattern(&mut self) {
        let (spelling, operands) = loop {
            let (family, spelling, operands) = PATTERNS[self.choose.below(PATTERNS.len() as u32) as usize];
            let is_there = match family {
                Family::Integer => true,
                Family::F32 => self.has(Class::F32),
                Family::F64 => self.has(Class::F64),
                Family::F16 => self.has(Class::F16),
                Family::Bf16 => self.has(Class::Bf16),
            };
            if is_there {
                break (spelling, operands);
            }
        };
        let spelling = self.spell(spelling);
        let types: Vec<Class> = spelling.split('.').skip(1).filter_map(Class::of_type).collect();
        let guard = self.guard();
        let mut words = Vec::new();
        for (index, letter) in operands.split(' ').enumerate() {
            words.push(self.operand(letter, index == 0, &types));
        }
        self.put(format!("{guard}{spelling} {}", words.join(", ")));
    }

    fn operand(&mut self, letter: &str, is_written: bool, types: &[Class]) -> String {
        let class = match letter {
            "T" => types[0],
            "U" => types[types.len() - 1],
            "W" => types[0].wide(),
            "h" => Class::B16,
            "r" => Class::B32,
            "d" => Class::B64,
            "p" => Class::Pred,
            "f" => Class::F32,
            "g" => Class::F64,
            "x" => Class::F16,
            "y" => Class::Bf16,
            "u" => Class::F16x2,
            "v" => Class::Bf16x2,
            "S" => {
                return if self.choose.percent(60) { self.choose.below(40).to_string() } else { self.reg(Class::B32) };
            }
            "L" => return self.choose.below(256).to_string(),
            "B" => return self.choose.below(32).to_string(),
            "!" => {
                let negation = self.choose.pick(&["", "", "!"]);
                return format!("{negation}{}", self.reg(Class::Pred));
            }
            "Q" => {
                // The two halves of a pair must differ, or it is not said which of them stays.
                let first = 1 + self.choose.below(self.pool(Class::Pred));
                let second = 1 + first % self.pool(Class::Pred);
                return format!("{}|{}", self.nth(Class::Pred, first), self.nth(Class::Pred, second));
            }
            other => unreachable!("`{other}` is no operand of a pattern"),
        };
        if is_written { self.reg(class) } else { self.source(class) }
    }

    /// Chooses among the alternatives of a spelling.
    fn spell(&mut self, pattern: &str) -> String {
        let mut text = String::new();
        let mut rest = pattern;
        while let Some(at) = rest.find(['<', '{']) {
            text += &rest[..at];
            let close = if rest[at..].starts_with('<') { '>' } else { '}' };
            let end = at + rest[at..].find(close).expect("brackets are closed");
            let inside = &rest[at + 1..end];
            if close == '>' {
                let all: Vec<&str> = inside.split('|').collect();
                text += self.choose.pick(&all);
            } else if self.choose.percent(40) {
                text += inside;
            }
            rest = &rest[end + 1..];
        }
        text + rest
    }

    /// Additions, subtractions or products of several words.
    fn carry_chain(&mut self) {
        let ty = self.choose.pick(&["u32", "s32", "u64", "s64"]);
        let class = Class::of_type(ty).expect("a type");
        let kind = self.choose.below(3);
        let steps = self.choose.between(2, 4);
        for step in 0..steps {
            let (is_first, is_last) = (step == 0, step + 1 == steps);
            let carry = if is_last { "" } else { ".cc" };
            let (d, a, b) = (self.reg(class), self.source(class), self.source(class));
            match kind {
                0 => self.put(format!("{}{carry}.{ty} {d}, {a}, {b}", if is_first { "add" } else { "addc" })),
                1 => self.put(format!("{}{carry}.{ty} {d}, {a}, {b}", if is_first { "sub" } else { "subc" })),
                _ => {
                    let (half, c) = (self.choose.pick(&["lo", "hi"]), self.source(class));
                    let op = if is_first { "mad" } else { "madc" };
                    self.put(format!("{op}.{half}{carry}.{ty} {d}, {a}, {b}, {c}"));
                }
            }
        }
    }

    /// A quotient or a remainder. By zero, and of the smallest number by minus one, the result is anybody's guess.
    fn division(&mut self) {
        let ty = self.choose.pick(&["u16", "s16", "u32", "s32", "u64", "s64"]);
        let class = Class::of_type(ty).expect("a type");
        let op = self.choose.pick(&["div", "rem"]);
        let (bits, divisor) = (&ty[1..], self.temp(class));
        let (d, a, b) = (self.reg(class), self.source(class), self.reg(class));
        self.put(format!("and.b{bits} {divisor}, {b}, -3"));
        self.put(format!("or.b{bits} {divisor}, {divisor}, 1"));
        let guard = self.guard();
        self.put(format!("{guard}{op}.{ty} {d}, {a}, {divisor}"));
    }

    /// Moves a float to an integer register.
    fn bits_of_float(&mut self) {
        let floats: Vec<Class> =
            super::body::CLASSES.into_iter().filter(|&class| class.is_float() && self.has(class)).collect();
        if floats.is_empty() {
            return self.pattern();
        }
        let class = self.choose.pick(&floats);
        let float = self.reg(class);
        let bits = self.bits_of(class, &float);
        let (target, width) = match class {
            Class::F64 => (Class::B64, 64),
            Class::F16 | Class::Bf16 => (Class::B16, 16),
            _ => (Class::B32, 32),
        };
        let d = self.reg(target);
        self.put(format!("mov.b{width} {d}, {bits}"));
    }

    /// Operations that look at the sign of what may be a NaN: it is made an ordinary one before.
    fn sign_of_float(&mut self) {
        if !self.has(Class::F32) {
            return self.pattern();
        }
        let canonical = |body: &mut Self| {
            let float = body.reg(Class::F32);
            let (bits, float_again) = (body.bits_of(Class::F32, &float), body.temp(Class::F32));
            body.put(format!("mov.b32 {float_again}, {bits}"));
            float_again
        };
        let (a, b) = (canonical(self), canonical(self));
        let d = self.reg(Class::F32);
        let op = self.choose.pick(&["copysign.f32", "min.xorsign.abs.f32", "max.ftz.xorsign.abs.f32"]);
        self.put(format!("{op} {d}, {a}, {b}"));
    }

    /// Packs and unpacks registers.
    fn pack(&mut self) {
        let (narrow, wide, bits) = self.choose.pick(&[
            (Class::B16, Class::B32, 32),
            (Class::B32, Class::B64, 64),
            (Class::B16, Class::B64, 64),
        ]);
        let parts = if (narrow, wide) == (Class::B16, Class::B64) { 4 } else { 2 };
        let whole = self.reg(wide);
        let is_packing = self.choose.percent(50);
        let mut elements = Vec::new();
        for index in 0..parts {
            // No register is written twice.
            elements.push(if is_packing && narrow == Class::B32 && self.choose.percent(20) {
                self.special()
            } else if is_packing {
                self.reg(narrow)
            } else if index < self.pool(narrow) {
                self.nth(narrow, 1 + index)
            } else {
                "_".to_owned()
            });
        }
        let elements = elements.join(", ");
        if is_packing {
            self.put(format!("mov.b{bits} {whole}, {{{elements}}}"));
        } else {
            self.put(format!("mov.b{bits} {{{elements}}}, {whole}"));
        }
    }

    fn special_register(&mut self) {
        let (guard, special, d) = (self.guard(), self.special(), self.reg(Class::B32));
        self.put(format!("{guard}mov.u32 {d}, {special}"));
    }

    /// A special register that all engines have the same in.
    fn special(&mut self) -> String {
        let name = self.choose.pick(&[
            "tid.x",
            "tid.y",
            "tid.z",
            "ntid.x",
            "ntid.y",
            "ctaid.x",
            "nctaid.x",
            "laneid",
            "lanemask_lt",
            "lanemask_ge",
            "lanemask_eq",
        ]);
        format!("%{name}")
    }
}
