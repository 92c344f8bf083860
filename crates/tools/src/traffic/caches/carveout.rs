//! How a multiprocessor divides its memory into L1 and shared memory.

use gpu::{Architecture, Caches, DefaultCarveout};
use toolkit::CarveoutRequest;

use super::super::occupancy::{BlockNeeds, Occupancy};

/// What the user asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in super::super) enum Carveout {
    /// So many bytes of shared memory.
    Bytes(u32),
    /// So much of the largest shared memory, in percent.
    Percent(u32),
}

/// How much is shared memory, and who wants it so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in super::super) struct Division {
    /// Bytes of shared memory.
    pub(in super::super) shared: u32,
    pub(in super::super) by: &'static str,
}

impl Carveout {
    /// Of a flag: `64` for kilobytes, `50%` for a part of the largest. Nothing where it is empty.
    pub(in super::super) fn parse(text: &str) -> Result<Option<Self>, String> {
        let wrong = || format!("`{text}` is neither a number of kilobytes, such as 64, nor a part, such as 50%");
        if text.is_empty() {
            return Ok(None);
        }
        if let Some(percent) = text.strip_suffix('%') {
            let percent = percent.parse().ok().filter(|&percent| percent <= 100).ok_or_else(wrong)?;
            return Ok(Some(Self::Percent(percent)));
        }
        let kilobytes: u32 = text.parse().ok().filter(|&kilobytes| kilobytes <= 1 << 20).ok_or_else(wrong)?;
        Ok(Some(Self::Bytes(kilobytes << 10)))
    }
}

impl Division {
    /// For blocks of a launch: what the user asks for, or else the program, or else what is done by default. A block must fit in
    /// any case.
    pub(in super::super) fn of(
        architecture: &Architecture,
        needs: &BlockNeeds,
        user: Option<Carveout>,
        program: CarveoutRequest,
    ) -> Self {
        let caches = architecture.caches();
        let of_block = Occupancy::shared_of_block(architecture, needs);
        let at_least = |bytes: u64| smallest(caches, bytes.max(of_block));
        let percent = |percent: u32| at_least(u64::from(architecture.shared) * u64::from(percent.min(100)) / 100);
        let (shared, by) = match (user, program) {
            (Some(Carveout::Bytes(bytes)), _) => (at_least(bytes.into()), "--carveout"),
            (Some(Carveout::Percent(part)), _) => (percent(part), "--carveout"),
            (None, CarveoutRequest::Percent(part)) => (percent(part), "program"),
            (None, CarveoutRequest::PreferShared) => (percent(100), "program"),
            (None, CarveoutRequest::PreferL1) => (at_least(0), "program"),
            (None, CarveoutRequest::PreferEqual) => (at_least(u64::from(caches.unified) / 2), "program"),
            (None, CarveoutRequest::Nothing) => {
                let blocks = Occupancy::without_shared_limit(architecture, needs).blocks;
                let needed = match caches.default_carveout {
                    DefaultCarveout::Largest => u64::from(architecture.shared),
                    DefaultCarveout::Needed => of_block * u64::from(blocks),
                };
                (at_least(needed), "driver")
            }
        };
        Self { shared, by }
    }
}

/// The smallest shared memory with so many bytes, or else the largest.
fn smallest(caches: &Caches, bytes: u64) -> u32 {
    let mut all = caches.carveouts.iter().copied();
    all.find(|&shared| u64::from(shared) >= bytes).or(caches.carveouts.last().copied()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn divided(name: &str, shared: u64, user: &str, program: CarveoutRequest) -> (u32, &'static str) {
        let needs = BlockNeeds { threads: 256, shared, registers: None };
        let user = Carveout::parse(user).unwrap();
        let Division { shared, by } = Division::of(Architecture::named(name).unwrap(), &needs, user, program);
        (shared >> 10, by)
    }

    #[test]
    fn the_driver_gives_what_blocks_need() {
        let nothing = CarveoutRequest::Nothing;
        // Each block has 1 KB besides: 8 blocks of 1 KB, and of 5 KB.
        assert_eq!(divided("sm_80", 0, "", nothing), (8, "driver"));
        assert_eq!(divided("sm_80", 4 << 10, "", nothing), (64, "driver"));
        assert_eq!(divided("sm_80", 100 << 10, "", nothing), (164, "driver"));
        assert_eq!(divided("sm_75", 0, "", nothing), (32, "driver"));
        // Fermi gives 48 KB.
        assert_eq!(divided("sm_21", 0, "", nothing), (48, "driver"));
        assert_eq!(divided("sm_61", 0, "", nothing), (96, "driver"));
    }

    #[test]
    fn programs_ask_and_users_override() {
        assert_eq!(divided("sm_21", 0, "", CarveoutRequest::PreferL1), (16, "program"));
        assert_eq!(divided("sm_21", 20 << 10, "", CarveoutRequest::PreferL1), (48, "program"));
        assert_eq!(divided("sm_21", 0, "48", CarveoutRequest::PreferL1), (48, "--carveout"));
        assert_eq!(divided("sm_80", 0, "", CarveoutRequest::Percent(50)), (100, "program"));
        assert_eq!(divided("sm_80", 0, "100%", CarveoutRequest::Percent(50)), (164, "--carveout"));
        assert_eq!(divided("sm_80", 0, "0", CarveoutRequest::Nothing), (8, "--carveout"));
        assert_eq!(divided("sm_90", 0, "", CarveoutRequest::PreferEqual), (132, "program"));
    }

    #[test]
    fn what_is_no_carveout_is_refused() {
        for text in ["x", "101%", "-1", "4 KB", "9999999"] {
            assert!(Carveout::parse(text).unwrap_err().contains(text));
        }
    }
}
