//! Answers for launches that were asked about before.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::launch::Launch;
use super::{Footprint, Kernel};

/// A kernel with the answers for its launches so far. Launches that differ only in what does not matter, such as
/// where objects are, or a parameter that is a floating-point number, have one answer.
#[derive(Clone, Debug)]
pub struct Footprints {
    kernel: Kernel,
    answers: FxHashMap<Key, Arc<Footprint>>,
    most: usize,
}

/// What decides the answer for a launch of a kernel.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Key {
    extents: [u32; 7],
    /// Parameters that are loaded as integers, with pointers replaced by object and offset.
    params: Vec<u8>,
    /// Size of each object, what its address is a multiple of, and where it is as far as it overlaps others.
    objects: Vec<(u64, u32, Option<u64>, Option<String>)>,
}

impl Footprints {
    /// No answers yet; at most so many are kept.
    pub fn new(kernel: Kernel, most: usize) -> Self {
        Self { kernel, answers: FxHashMap::default(), most: most.max(1) }
    }

    /// What a launch touches, perhaps found out before.
    pub fn footprint(&mut self, launch: &Launch<'_>) -> Arc<Footprint> {
        let key = self.key(launch);
        if let Some(answer) = self.answers.get(&key) {
            return Arc::clone(answer);
        }
        let answer = Arc::new(self.kernel.footprint(launch));
        if self.answers.len() >= self.most {
            // A program with that many shapes has no use for old ones.
            self.answers.clear();
        }
        self.answers.insert(key, Arc::clone(&answer));
        answer
    }

    fn key(&self, launch: &Launch<'_>) -> Key {
        let mut params = Vec::new();
        for range in &self.kernel.code.relevant {
            let end = (range.end as usize).min(launch.params.len());
            let bytes = &launch.params[(range.start as usize).min(end)..end];
            let pointer = <[u8; 8]>::try_from(bytes).ok().map(u64::from_le_bytes);
            match pointer.and_then(|address| Some((launch.object_at(address)?, address))) {
                Some((place, address)) => {
                    params.push(1);
                    params.extend((place as u32).to_le_bytes());
                    params.extend((address - launch.objects[place].start).to_le_bytes());
                }
                None => {
                    params.push(0);
                    params.extend(bytes);
                }
            }
        }
        let overlaps = |place: usize| {
            let object = launch.objects[place];
            launch.objects.iter().enumerate().any(|(other, also)| {
                other != place
                    && object.start < also.start.saturating_add(also.size)
                    && also.start < object.start.saturating_add(object.size)
            })
        };
        let objects = launch.objects.iter().enumerate().map(|(place, object)| {
            let start = overlaps(place).then_some(object.start);
            (object.size, object.start.trailing_zeros().min(12), start, object.variable.map(str::to_owned))
        });
        let ([x, y, z], [u, v, w]) = (launch.grid, launch.block);
        Key { extents: [x, y, z, u, v, w, launch.dynamic_shared], params, objects: objects.collect() }
    }
}
