//! Integer arithmetic on linear expressions. What is not linear becomes a new symbol, with what is known of it.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::code::Width;
use super::linear::{Digit, Linear, Range, Symbol, SymbolKind, Symbols};
use super::path::Path;

/// Symbols, and what was made of expressions so far.
#[derive(Debug, Default)]
pub(super) struct Arithmetic {
    pub symbols: Symbols,
    /// Digits that would have to be cut further for a division to be linear: whether of a block index, the dimension,
    /// and the weight to cut at.
    pub wanted_cuts: Vec<(bool, u8, u32)>,
    /// Quotients and remainders that have symbols of their own.
    quotients: FxHashMap<(Linear, i64), (Linear, Linear)>,
}

impl Width {
    /// The range of numbers of the type.
    pub(super) fn range(self) -> Range {
        let count = 1_i128 << self.bits;
        if self.signed { (-count / 2, count / 2 - 1) } else { (0, count - 1) }
    }

    pub(super) fn as_signed(self) -> Self {
        Self { signed: true, ..self }
    }

    pub(super) fn as_unsigned(self) -> Self {
        Self { signed: false, ..self }
    }
}

fn is_within(inner: Range, outer: Range) -> bool {
    outer.0 <= inner.0 && inner.1 <= outer.1
}

/// What 64 bits hold of a range; whatever is beyond is cut.
fn clamp(range: Range) -> (i64, i64) {
    let clamp = |value: i128| value.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
    (clamp(range.0), clamp(range.1))
}

/// Runs of ones of a number: from the first bit up to the one after the last.
fn runs(bits: u64) -> impl Iterator<Item = (u32, u32)> {
    let mut rest = bits;
    let mut at = 0;
    std::iter::from_fn(move || {
        if rest == 0 {
            return None;
        }
        let zeros = rest.trailing_zeros();
        let ones = (rest >> zeros).trailing_ones();
        let run = (at + zeros, at + zeros + ones);
        at = run.1;
        rest = if zeros + ones >= 64 { 0 } else { rest >> (zeros + ones) };
        Some(run)
    })
}

impl Arithmetic {
    /// A number that nobody knows.
    pub(super) fn fresh(&mut self, range: Range, is_uniform: bool) -> Linear {
        Linear::symbol(self.fresh_symbol(range, is_uniform))
    }

    pub(super) fn fresh_symbol(&mut self, range: Range, is_uniform: bool) -> Symbol {
        self.symbols.push(SymbolKind::Other, clamp(range), is_uniform)
    }

    /// The number of a type that is the same modulo two to the power of its width. Unsigned 64-bit numbers that may be
    /// 2⁶³ or more are not written down: then it is some number that no symbol stands for.
    pub(super) fn wrap(&mut self, path: &Path, linear: &Linear, width: Width) -> Option<Linear> {
        let is_huge = width.bits == 64 && !width.signed;
        let target = if is_huge { (0, i64::MAX.into()) } else { width.range() };
        let count = 1_i128 << width.bits;
        for is_tight in [false, true] {
            let range = if is_tight { self.tight_range(path, linear) } else { path.range(&self.symbols, linear) };
            if is_within(range, target) {
                return Some(linear.clone());
            }
            // All of it may be a multiple away.
            let away = (range.0 - target.0).div_euclid(count) * count;
            if is_within((range.0 - away, range.1 - away), target)
                && let Ok(away) = i64::try_from(-away)
                && let Some(moved) = linear.plus_constant(away)
            {
                return Some(moved);
            }
        }
        if is_huge {
            return None;
        }
        let is_uniform = self.symbols.is_uniform(linear);
        // What overflows a word many times, or has in it what nobody knows, is as good as anything; but an unknown
        // number stays the same one when it is looked at as another type.
        let range = path.range(&self.symbols, linear);
        let is_symbol = matches!(linear.terms[..], [(_, 1)]) && linear.constant == 0;
        if width.bits == 64 || range.1 - range.0 >= 3 * count || self.is_unknown(path, linear) && !is_symbol {
            return Some(self.fresh(target, is_uniform));
        }
        let half = if width.signed { 1_i64 << (width.bits - 1) } else { 0 };
        let Some(moved) = linear.plus_constant(half) else { return Some(self.fresh(target, is_uniform)) };
        let (_, rest) = self.divide(path, &moved, 1 << width.bits);
        Some(rest.plus_constant(-half).unwrap_or_else(|| self.fresh(target, is_uniform)))
    }

    /// Whether there is a symbol in it of which nobody knows anything.
    fn is_unknown(&self, path: &Path, linear: &Linear) -> bool {
        linear.terms.iter().any(|&(symbol, _)| {
            let (least, most) = path.range_of(&self.symbols, symbol);
            i128::from(most) - i128::from(least) >= u32::MAX.into()
                && self.symbols[symbol].facts.is_empty()
                && !path.facts.iter().any(|fact| fact.linear().coefficient(symbol) != 0)
        })
    }

    /// The range with comparisons combined, where that can help.
    fn tight_range(&self, path: &Path, linear: &Linear) -> Range {
        if self.is_unknown(path, linear) {
            path.range(&self.symbols, linear)
        } else {
            path.tight_range(&self.symbols, linear)
        }
    }

    /// The same as a signed number.
    fn wrap_signed(&mut self, path: &Path, linear: &Linear, width: Width) -> Linear {
        self.wrap(path, linear, width.as_signed()).expect("signed numbers are written down")
    }

    /// The result of an operation that is exact but for what a register cannot hold.
    pub(super) fn fit(&mut self, path: &Path, linear: Option<Linear>, width: Width) -> Linear {
        let Some(linear) = linear else { return self.fresh(width.as_signed().range(), false) };
        let range = path.range(&self.symbols, &linear);
        if self.fits(range, width) || self.fits(self.tight_range(path, &linear), width) {
            return linear;
        }
        self.wrap_signed(path, &linear, width)
    }

    /// Whether numbers are written down as they are.
    fn fits(&self, range: Range, width: Width) -> bool {
        is_within(range, width.as_signed().range()) || width.bits < 64 && is_within(range, width.as_unsigned().range())
    }

    pub(super) fn multiply(&mut self, path: &Path, one: &Linear, other: &Linear, width: Width) -> Linear {
        if let Some(factor) = other.as_constant() {
            let product = one.times(factor);
            return self.fit(path, product, width);
        }
        if let Some(factor) = one.as_constant() {
            let product = other.times(factor);
            return self.fit(path, product, width);
        }
        let range = product(path.range(&self.symbols, one), path.range(&self.symbols, other));
        let is_uniform = self.symbols.is_uniform(one) && self.symbols.is_uniform(other);
        self.fresh(if self.fits(range, width) { range } else { width.as_signed().range() }, is_uniform)
    }

    /// The high half of a product of numbers of the type.
    pub(super) fn multiply_high(&mut self, path: &Path, one: &Linear, other: &Linear, width: Width) -> Linear {
        let (Some(one), Some(other)) = (self.wrap(path, one, width), self.wrap(path, other, width)) else {
            return self.fresh(width.as_signed().range(), false);
        };
        let range = product(path.range(&self.symbols, &one), path.range(&self.symbols, &other));
        let range = (range.0 >> width.bits, range.1 >> width.bits);
        if range.0 == range.1 {
            return Linear::constant(range.0 as i64);
        }
        let is_uniform = self.symbols.is_uniform(&one) && self.symbols.is_uniform(&other);
        self.fresh(range, is_uniform)
    }

    /// Quotient, rounded down, and remainder of a division by a positive number.
    pub(super) fn divide(&mut self, path: &Path, linear: &Linear, divisor: i64) -> (Linear, Linear) {
        if divisor == 1 {
            return (linear.clone(), Linear::constant(0));
        }
        // What is a multiple of the divisor divides exactly; the rest must not reach it.
        let mut quotient = Linear::constant(linear.constant.div_euclid(divisor));
        let mut rest = Linear::constant(linear.constant.rem_euclid(divisor));
        for &(symbol, coefficient) in &linear.terms {
            let (whole, part) = (coefficient / divisor, coefficient % divisor);
            if whole != 0 {
                quotient.terms.push((symbol, whole));
            }
            if part != 0 {
                rest.terms.push((symbol, part));
            }
        }
        let mut range = path.range(&self.symbols, &rest);
        if range.0.div_euclid(divisor.into()) != range.1.div_euclid(divisor.into()) {
            range = self.tight_range(path, &rest);
        }
        let more = range.0.div_euclid(divisor.into());
        if more == range.1.div_euclid(divisor.into())
            && let Ok(more) = i64::try_from(more)
            && let Some(quotient) = quotient.plus_constant(more)
            && let Some(rest) = more.checked_mul(-divisor).and_then(|less| rest.plus_constant(less))
        {
            return (quotient, rest);
        }
        self.want_cuts(&rest, divisor);
        self.named_quotient(linear, divisor)
    }

    /// Asks for digits that end where a division cuts.
    fn want_cuts(&mut self, rest: &Linear, divisor: i64) {
        for &(symbol, coefficient) in &rest.terms {
            let info = &self.symbols[symbol];
            let (is_block, Digit { dimension, weight }) = match info.kind {
                SymbolKind::Thread(digit) => (false, digit),
                SymbolKind::Block(digit) => (true, digit),
                SymbolKind::Other => continue,
            };
            let magnitude = coefficient.abs();
            if divisor % magnitude == 0
                && let Ok(cut) = u32::try_from(divisor / magnitude)
                && cut > 1
                && i64::from(cut) <= info.most
                && let Some(weight) = weight.checked_mul(cut)
                && !self.wanted_cuts.contains(&(is_block, dimension, weight))
            {
                self.wanted_cuts.push((is_block, dimension, weight));
            }
        }
    }

    /// Symbols for quotient and remainder, with what defines them. They are the same wherever the same is divided, so
    /// their ranges do not depend on the path.
    fn named_quotient(&mut self, linear: &Linear, divisor: i64) -> (Linear, Linear) {
        let key = (linear.clone(), divisor);
        if let Some(known) = self.quotients.get(&key) {
            return known.clone();
        }
        let range = Path::default().range(&self.symbols, linear);
        let is_uniform = self.symbols.is_uniform(linear);
        let divided = (range.0.div_euclid(divisor.into()), range.1.div_euclid(divisor.into()));
        let quotient = self.fresh(divided, is_uniform);
        let rest_symbol = self.fresh_symbol((0, i128::from(divisor) - 1), is_uniform);
        let rest = Linear::symbol(rest_symbol);
        // linear = quotient × divisor + rest
        if let Some(sum) = quotient.times(divisor).and_then(|product| product.plus(&rest, 1))
            && let (Some(one), Some(other)) = (linear.plus(&sum, -1), sum.plus(linear, -1))
        {
            let quotient_symbol = quotient.terms[0].0;
            if let (Some(enough), Some(not_more)) = (
                quotient.times(-divisor).and_then(|negated| negated.plus(linear, 1)),
                quotient
                    .times(divisor)
                    .and_then(|product| product.plus(linear, -1))
                    .and_then(|it| it.plus_constant(divisor - 1)),
            ) {
                self.symbols.add_fact(quotient_symbol, enough);
                self.symbols.add_fact(quotient_symbol, not_more);
            }
            self.symbols.add_fact(rest_symbol, one);
            self.symbols.add_fact(rest_symbol, other);
        }
        self.quotients.insert(key, (quotient.clone(), rest.clone()));
        (quotient, rest)
    }

    /// Division as PTX has it, which rounds towards zero.
    pub(super) fn divide_towards_zero(
        &mut self,
        path: &Path,
        linear: &Linear,
        divisor: &Linear,
        width: Width,
    ) -> (Linear, Linear) {
        let unknown = width.as_signed().range();
        let (Some(linear), Some(divisor)) = (self.wrap(path, linear, width), self.wrap(path, divisor, width)) else {
            return (self.fresh(unknown, false), self.fresh(unknown, false));
        };
        let range = self.tight_range(path, &linear);
        match divisor.as_constant() {
            Some(divisor) if divisor > 0 && range.0 >= 0 => return self.divide(path, &linear, divisor),
            Some(divisor) if divisor > 0 => {
                let is_uniform = self.symbols.is_uniform(&linear);
                if let Some(constant) = linear.as_constant() {
                    return (Linear::constant(constant / divisor), Linear::constant(constant % divisor));
                }
                let quotient =
                    self.fresh((range.0 / i128::from(divisor), range.1.max(0) / i128::from(divisor)), is_uniform);
                let rest = self.fresh((1 - i128::from(divisor), i128::from(divisor) - 1), is_uniform);
                return (quotient, rest);
            }
            _ => {}
        }
        (self.fresh(unknown, false), self.fresh(unknown, false))
    }

    /// The bits of a number from one place up to another, as a number.
    fn field(&mut self, path: &Path, linear: &Linear, (first, end): (u32, u32)) -> Linear {
        let shifted = self.divide(path, linear, 1 << first).0;
        self.divide(path, &shifted, 1 << (end - first)).1
    }

    /// `and`, `or` or `xor` with a constant, as `replace` makes of each run of ones: from the field that is there, and
    /// the largest that fits, what is there afterwards. A run up to the last bit is a signed number, whose largest is -1.
    fn with_mask(
        &mut self,
        path: &Path,
        linear: &Linear,
        mask: i64,
        width: Width,
        replace: fn(&Linear, i64) -> Option<Linear>,
    ) -> Linear {
        let signed = self.wrap_signed(path, linear, width);
        let bits = mask as u64 & (u64::MAX >> (64 - width.bits));
        let mut result = Some(signed.clone());
        for (first, end) in runs(bits) {
            if first >= 62 || (end < width.bits && end >= 62) {
                return self.fresh(width.as_signed().range(), false);
            }
            let (field, largest) = if end == width.bits {
                (self.divide(path, &signed, 1 << first).0, -1)
            } else {
                (self.field(path, &signed, (first, end)), (1 << (end - first)) - 1)
            };
            result = result
                .and_then(|result| result.plus(&field, -(1 << first))?.plus(&replace(&field, largest)?, 1 << first));
        }
        self.fit(path, result, width)
    }

    pub(super) fn and(&mut self, path: &Path, one: &Linear, other: &Linear, width: Width) -> Linear {
        if let Some(mask) = other.as_constant().or(one.as_constant()) {
            let linear = if other.as_constant().is_some() { one } else { other };
            // What the mask has not goes away.
            return self.with_mask(path, linear, !mask, width, |_, _| Some(Linear::constant(0)));
        }
        let (low, high) = (path.range(&self.symbols, one), path.range(&self.symbols, other));
        let range = match (low.0 >= 0, high.0 >= 0) {
            (true, true) => (0, low.1.min(high.1)),
            (true, false) => (0, low.1),
            (false, true) => (0, high.1),
            (false, false) => width.as_signed().range(),
        };
        let is_uniform = self.symbols.is_uniform(one) && self.symbols.is_uniform(other);
        self.fresh(range, is_uniform)
    }

    pub(super) fn or(&mut self, path: &Path, one: &Linear, other: &Linear, width: Width) -> Linear {
        if let Some(mask) = other.as_constant().or(one.as_constant()) {
            let linear = if other.as_constant().is_some() { one } else { other };
            return self.with_mask(path, linear, mask, width, |_, largest| Some(Linear::constant(largest)));
        }
        self.disjoint_sum(path, one, other, width)
    }

    pub(super) fn xor(&mut self, path: &Path, one: &Linear, other: &Linear, width: Width) -> Linear {
        if let Some(mask) = other.as_constant().or(one.as_constant()) {
            let linear = if other.as_constant().is_some() { one } else { other };
            return self
                .with_mask(path, linear, mask, width, |field, largest| Linear::constant(largest).plus(field, -1));
        }
        self.disjoint_sum(path, one, other, width)
    }

    /// The sum, if no bit is one in both; else some number.
    fn disjoint_sum(&mut self, path: &Path, one: &Linear, other: &Linear, width: Width) -> Linear {
        let ranges = (path.range(&self.symbols, one), path.range(&self.symbols, other));
        for (high, low, range) in [(one, other, ranges.1), (other, one, ranges.0)] {
            if range.0 < 0 || range.1 >= 1 << 62 {
                continue;
            }
            let unit = (range.1 as u64 + 1).next_power_of_two() as i64;
            if high.constant % unit == 0 && high.terms.iter().all(|term| term.1 % unit == 0) {
                return self.fit(path, high.plus(low, 1), width);
            }
        }
        let is_uniform = self.symbols.is_uniform(one) && self.symbols.is_uniform(other);
        let range = if ranges.0.0 >= 0 && ranges.1.0 >= 0 {
            let most = ranges.0.1.max(ranges.1.1) as u128;
            (0, (most + 1).next_power_of_two() as i128 - 1)
        } else {
            width.as_signed().range()
        };
        self.fresh(range, is_uniform)
    }

    /// The smaller of two numbers; the larger for the negated ones.
    pub(super) fn minimum(&mut self, path: &Path, one: &Linear, other: &Linear) -> Linear {
        let Some(difference) = one.plus(other, -1) else {
            return self.fresh((i64::MIN.into(), i64::MAX.into()), false);
        };
        let range = path.range(&self.symbols, &difference);
        if range.1 <= 0 {
            return one.clone();
        }
        if range.0 >= 0 {
            return other.clone();
        }
        let (low, high) = (path.range(&self.symbols, one), path.range(&self.symbols, other));
        let is_uniform = self.symbols.is_uniform(one) && self.symbols.is_uniform(other);
        let symbol = self.fresh_symbol((low.0.min(high.0), low.1.min(high.1)), is_uniform);
        for larger in [one, other] {
            if let Some(fact) = larger.plus(&Linear::symbol(symbol), -1) {
                self.symbols.add_fact(symbol, fact);
            }
        }
        Linear::symbol(symbol)
    }

    /// One of two numbers. Where they are a fixed distance apart, what is not known is which.
    pub(super) fn either(
        &mut self,
        one: (&Rc<Linear>, &Path),
        other: (&Rc<Linear>, &Path),
        is_uniform: bool,
    ) -> Rc<Linear> {
        if one.0 == other.0 {
            return Rc::clone(one.0);
        }
        let range = |(linear, path): (&Rc<Linear>, &Path)| self.tight_range(path, linear);
        let (low, high) = (range(one), range(other));
        let difference = one.0.plus(other.0, -1).and_then(|difference| difference.as_constant());
        let is_uniform = is_uniform && self.symbols.is_uniform(one.0) && self.symbols.is_uniform(other.0);
        if let Some(difference) = difference {
            let choice = self.fresh((0, 1), is_uniform);
            if let Some(sum) = other.0.plus(&choice, difference) {
                return Rc::new(sum);
            }
        }
        Rc::new(self.fresh((low.0.min(high.0), low.1.max(high.1)), is_uniform))
    }
}

fn product(one: Range, other: Range) -> Range {
    let products = [one.0, one.1].map(|left| [left.saturating_mul(other.0), left.saturating_mul(other.1)]).concat();
    let least = products.iter().copied().min().expect("four products");
    let most = products.iter().copied().max().expect("four products");
    (least, most)
}
