//! Which addresses of a range are given out.

use std::collections::BTreeMap;

/// A range of addresses.
#[derive(Debug)]
pub(crate) struct Regions {
    /// Free addresses: the first of each piece, and how many. Neighbours are joined.
    free: BTreeMap<u64, u64>,
    live: BTreeMap<u64, u64>,
    free_bytes: u64,
}

/// Addresses and sizes are multiples of this.
const UNIT: u64 = 256;

impl Regions {
    pub(crate) fn new(start: u64, bytes: u64) -> Self {
        Self { free: BTreeMap::from([(start, bytes)]), live: BTreeMap::new(), free_bytes: bytes }
    }

    pub(crate) fn free_bytes(&self) -> u64 {
        self.free_bytes
    }

    /// The first free addresses that are enough.
    pub(crate) fn take(&mut self, bytes: u64, align: u64) -> Option<u64> {
        let length = bytes.max(1).checked_next_multiple_of(UNIT)?;
        let align = align.max(UNIT);
        let fits = |(&start, &free): (&u64, &u64)| {
            let at = start.checked_next_multiple_of(align)?;
            (at.checked_add(length)? <= start + free).then_some((start, free, at))
        };
        let (start, free, at) = self.free.iter().find_map(fits)?;
        self.free.remove(&start);
        if at > start {
            self.free.insert(start, at - start);
        }
        if at + length < start + free {
            self.free.insert(at + length, start + free - at - length);
        }
        self.live.insert(at, length);
        self.free_bytes -= length;
        Some(at)
    }

    /// Takes addresses back; how many they were.
    pub(crate) fn give_back(&mut self, address: u64) -> Option<u64> {
        let length = self.live.remove(&address)?;
        self.free_bytes += length;
        let (mut start, mut bytes) = (address, length);
        if let Some((&before, &length)) = self.free.range(..address).next_back()
            && before + length == address
        {
            self.free.remove(&before);
            (start, bytes) = (before, bytes + length);
        }
        if let Some(after) = self.free.remove(&(start + bytes)) {
            bytes += after;
        }
        self.free.insert(start, bytes);
        Some(length)
    }

    /// What an address is in.
    pub(crate) fn find(&self, address: u64) -> Option<(u64, u64)> {
        let (&start, &length) = self.live.range(..=address).next_back()?;
        (address - start < length).then_some((start, length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_given_out_once_and_joined_again() {
        let mut regions = Regions::new(4096, 4096);
        let one = regions.take(1, 1).unwrap();
        let two = regions.take(1000, 1024).unwrap();
        assert_eq!((one, two, regions.free_bytes()), (4096, 5120, 4096 - 256 - 1024));
        assert_eq!(regions.find(5121), Some((5120, 1024)));
        assert_eq!(regions.find(4352), None);
        assert_eq!(regions.take(4096, 1), None);
        assert_eq!(regions.give_back(one), Some(256));
        assert_eq!(regions.give_back(one), None);
        assert_eq!(regions.give_back(two), Some(1024));
        assert_eq!(regions.take(4096, 1), Some(4096));
        assert_eq!(regions.take(u64::MAX, 1), None);
    }
}
