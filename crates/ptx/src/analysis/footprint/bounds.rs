//! Are all accesses inside their objects, and aligned?

use super::execute::Execution;
use super::linear::Linear;
use super::path::Fact;
use super::reason::{Cause, Reason};
use super::record::Record;
use super::solve::{Row, Solution, System};

impl Execution<'_> {
    /// Why an access may be outside of its object or misaligned; nothing if it is not.
    pub(super) fn out_of_bounds(&self, record: &Record) -> Option<Reason> {
        let site = self.code.sites[record.site].clone();
        let because = |cause| Some(Reason { site: site.clone(), other: None, cause });
        let Some((object, offset)) = &record.address else {
            return because(Cause::UnknownPointer);
        };
        let data = &self.objects[*object];
        let bytes = i128::from(record.access.bytes);
        let last = i128::from(data.size) - bytes;
        let range = record.path.range(&self.arithmetic.symbols, offset);
        if (range.0 < 0 || range.1 > last) && !self.is_inside(record, offset, last) {
            let range = record.path.tight_range(&self.arithmetic.symbols, offset);
            return because(Cause::Outside {
                object: data.name.clone(),
                size: data.size,
                range,
                bytes: record.access.bytes,
            });
        }
        let unit = i64::from(record.access.bytes);
        let is_aligned = unit.count_ones() == 1
            && data.align.is_multiple_of(unit as u64)
            && offset.constant % unit == 0
            && offset.terms.iter().all(|term| term.1 % unit == 0);
        if !is_aligned {
            return because(Cause::Misaligned { object: data.name.clone(), bytes: record.access.bytes });
        }
        None
    }

    fn is_inside(&self, record: &Record, offset: &Linear, last: i128) -> bool {
        let range = record.path.tight_range(&self.arithmetic.symbols, offset);
        // What data decides is not worth a search.
        if range.1 - range.0 > 1 << 32 {
            return false;
        }
        (range.0 >= 0 || self.cannot_be(record, offset, (i64::MIN.into(), -1)))
            && (range.1 <= last || self.cannot_be(record, offset, (last + 1, i64::MAX.into())))
    }

    /// Whether no thread that comes to the access has an offset in the range.
    fn cannot_be(&self, record: &Record, offset: &Linear, range: (i128, i128)) -> bool {
        let symbols = &self.arithmetic.symbols;
        let mut system = System::default();
        let mut known = Vec::new();
        let mut variables = |system: &mut System, linear: &Linear| {
            let terms = linear.terms.iter().map(|&(symbol, coefficient)| {
                let place = known.iter().position(|&other| other == symbol).unwrap_or_else(|| {
                    known.push(symbol);
                    system.ranges.push(record.path.range_of(symbols, symbol));
                    known.len() - 1
                });
                (place as u32, coefficient)
            });
            terms.collect()
        };
        let terms = variables(&mut system, offset);
        let constant = i128::from(offset.constant);
        system.rows.push(Row { terms, least: range.0 - constant, most: range.1 - constant });
        let mut facts: smallvec::SmallVec<[_; 16]> = record
            .path
            .facts
            .iter()
            .filter_map(|fact| if let Fact::AtLeastZero(linear) = fact { Some(linear) } else { None })
            .collect();
        super::path::definitions(symbols, offset, &mut facts);
        for place in 0..facts.len() {
            super::path::definitions(symbols, facts[place], &mut facts);
        }
        for fact in facts {
            let terms = variables(&mut system, fact);
            system.rows.push(Row { terms, least: -i128::from(fact.constant), most: i128::MAX / 4 });
        }
        system.solve(symbols.work()) == Solution::None
    }
}
