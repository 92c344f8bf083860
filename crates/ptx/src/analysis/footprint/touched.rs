//! Which bytes of which objects a launch may access.

use super::Touched;
use super::execute::Execution;
use crate::types::Space;
use crate::view::{AccessKind, Scope};

impl Execution<'_> {
    /// What is accessed of memory that outlives a block, in one range for each object and kind of access. Constants are left
    /// out, which no kernel writes.
    pub(super) fn touched(&self) -> Option<Vec<Touched>> {
        if !self.refusals.is_empty() {
            return None;
        }
        let mut all: Vec<Touched> = Vec::new();
        for record in &self.records {
            if matches!(record.access.space, Some(Space::Shared | Space::Local | Space::Param | Space::Const)) {
                continue;
            }
            let (object, offset) = record.address.as_ref()?;
            let data = &self.objects[*object];
            if matches!(data.space, Space::Shared | Space::Local | Space::Param | Space::Const) {
                continue;
            }
            let range = record.path.tight_range(&self.arithmetic.symbols, offset);
            let size = i128::from(data.size);
            let touched = Touched {
                object: data.name.clone(),
                first: range.0.clamp(0, size) as u64,
                end: range.1.saturating_add(record.access.bytes.into()).clamp(0, size) as u64,
                is_written: record.access.kind != AccessKind::Read,
                is_strong: matches!(record.access.strong, Some(Scope::Device | Scope::System)),
            };
            let same = |other: &&mut Touched| {
                other.object == touched.object
                    && other.is_written == touched.is_written
                    && other.is_strong == touched.is_strong
            };
            match all.iter_mut().find(same) {
                Some(known) => {
                    known.first = known.first.min(touched.first);
                    known.end = known.end.max(touched.end);
                }
                None => all.push(touched),
            }
        }
        Some(all)
    }
}
