//! The objects of a launch: variables of the kernel, and what parameters point into.

use std::rc::Rc;

use super::code::{Code, Width, dynamic_shared};
use super::launch::Launch;
use super::linear::Linear;
use super::reason::Accessed;
use super::value::{ObjectId, Value};
use crate::entity::Map;
use crate::types::Space;

/// An object.
#[derive(Clone, Debug)]
pub(super) struct ObjectData {
    pub name: Accessed,
    pub space: Space,
    pub size: u64,
    /// A power of two that divides the address.
    pub align: u64,
    /// The address, if the launch says it.
    pub start: Option<u64>,
}

/// All objects of a launch.
#[derive(Clone, Debug)]
pub(super) struct Objects {
    list: Map<ObjectId, ObjectData>,
    /// Of each object of the launch.
    of_launch: Vec<ObjectId>,
    /// Variables that the launch has an object for.
    replaced: Vec<(ObjectId, ObjectId)>,
}

impl Objects {
    pub(super) fn of(code: &Code, launch: &Launch<'_>) -> Self {
        let mut list = Map::new();
        for (id, info) in code.variables.iter() {
            let size = if id == dynamic_shared() { launch.dynamic_shared.into() } else { info.size.unwrap_or(0) };
            let name = Accessed::Variable(info.name.clone());
            list.push(ObjectData { name, space: info.space, size, align: info.align, start: None });
        }
        let mut replaced = Vec::new();
        let mut of_launch = Vec::new();
        for (place, object) in launch.objects.iter().enumerate() {
            let id = list.push(ObjectData {
                name: Accessed::Object(place),
                space: Space::Global,
                size: object.size,
                align: 1 << object.start.trailing_zeros().min(12),
                start: Some(object.start),
            });
            of_launch.push(id);
            let variable = code
                .variables
                .iter()
                .find(|(_, info)| info.is_module_variable && object.variable == Some(info.name.as_str()));
            if let Some((variable, info)) = variable {
                list[id].space = info.space;
                replaced.push((variable, id));
            }
        }
        Self { list, of_launch, replaced }
    }

    /// The object that a variable is.
    pub(super) fn resolve(&self, object: ObjectId) -> ObjectId {
        self.replaced.iter().find(|pair| pair.0 == object).map_or(object, |pair| pair.1)
    }

    /// What a parameter holds, at an offset among the parameters.
    pub(super) fn parameter(&self, launch: &Launch<'_>, offset: i64, width: Width) -> Value {
        let size = width.bits as usize / 8;
        let bytes = usize::try_from(offset).ok().and_then(|start| launch.params.get(start..start.checked_add(size)?));
        let Some(bytes) = bytes else { return Value::Unknown };
        let bits = bytes.iter().rev().fold(0_u64, |bits, &byte| bits << 8 | u64::from(byte));
        if size == 8
            && let Some(place) = launch.object_at(bits)
        {
            let distance = bits - launch.objects[place].start;
            if let Ok(distance) = i64::try_from(distance) {
                return Value::Pointer(self.of_launch[place], Rc::new(Linear::constant(distance)));
            }
        }
        let unused = 64 - width.bits;
        let number = if width.signed { (bits << unused) as i64 >> unused } else { bits as i64 };
        Value::constant(number)
    }

    /// Whether two objects may share bytes.
    pub(super) fn may_alias(&self, one: ObjectId, other: ObjectId) -> bool {
        let (one, other) = (&self.list[one], &self.list[other]);
        match (one.start, other.start) {
            (Some(start), Some(also)) => {
                start < also.saturating_add(other.size) && also < start.saturating_add(one.size)
            }
            _ => false,
        }
    }
}

impl std::ops::Index<ObjectId> for Objects {
    type Output = ObjectData;
    fn index(&self, id: ObjectId) -> &ObjectData {
        &self.list[id]
    }
}
