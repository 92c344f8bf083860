//! The versions that memcheck makes of a kernel: what a launch leaves to be checked decides which of them runs.

/// A version of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Version {
    /// Whether accesses are checked.
    pub(super) bounds: Bounds,
    /// Whose undefined values are followed.
    pub(super) follows: Follows,
    /// Where the shadow of shared memory is that says so.
    pub(super) shared_shadow: ShadowPlace,
}

/// Whether the accesses of a version are checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Bounds {
    Checked,
    /// All of them are known to be in bounds before the launch.
    Proved,
}

/// Which memory a version looks at when it loads from it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Follows {
    /// None: nothing that the launch loads can be undefined.
    Nothing,
    /// That of the block, and local memory. What the launch loads from global memory is defined, and stays so: it writes
    /// other objects.
    Shared,
    /// Shared, local and global memory.
    All,
}

/// Where the shadow of shared memory is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ShadowPlace {
    /// At one distance from it for all blocks, which have theirs at different addresses.
    Plane,
    /// In the block, which has twice the shared memory: on a device whose blocks all have theirs at the same addresses.
    Block,
}

const fn version(bounds: Bounds, follows: Follows) -> Version {
    Version { bounds, follows, shared_shadow: ShadowPlace::Plane }
}

const fn in_block(bounds: Bounds, follows: Follows) -> Version {
    Version { bounds, follows, shared_shadow: ShadowPlace::Block }
}

impl Version {
    /// All of them. Kernels without shared and local memory have only the first ones.
    const ALL: [(Self, &'static str); 10] = [
        (version(Bounds::Checked, Follows::Nothing), ""),
        (version(Bounds::Proved, Follows::Nothing), "proved"),
        (version(Bounds::Checked, Follows::All), "defined"),
        (version(Bounds::Proved, Follows::All), "defined_proved"),
        (version(Bounds::Checked, Follows::Shared), "shared"),
        (version(Bounds::Proved, Follows::Shared), "shared_proved"),
        (in_block(Bounds::Checked, Follows::All), "defined_in_block"),
        (in_block(Bounds::Proved, Follows::All), "defined_in_block_proved"),
        (in_block(Bounds::Checked, Follows::Shared), "shared_in_block"),
        (in_block(Bounds::Proved, Follows::Shared), "shared_in_block_proved"),
    ];
    /// How many a kernel without shared and local memory has.
    const WITHOUT_OWN_MEMORY: usize = 4;

    /// What those are called that are made of a kernel.
    pub(super) fn names(uses_own_memory: bool) -> Vec<&'static str> {
        let count = if uses_own_memory { Self::ALL.len() } else { Self::WITHOUT_OWN_MEMORY };
        Self::ALL[..count].iter().map(|(_, name)| *name).collect()
    }

    /// The version with a number.
    pub(super) fn of(number: usize) -> Self {
        Self::ALL[number].0
    }

    /// Its number.
    pub(super) fn number(self) -> usize {
        Self::ALL.iter().position(|(version, _)| *version == self).expect("all versions are in the table")
    }

    /// Whether it is the kernel as the program has it.
    pub(super) fn is_plain(self) -> bool {
        self == version(Bounds::Proved, Follows::Nothing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_names() {
        for uses_own_memory in [false, true] {
            let names = Version::names(uses_own_memory);
            for (number, name) in names.iter().enumerate() {
                let version = Version::of(number);
                assert_eq!(version.number(), number);
                assert_eq!(name.ends_with("proved"), version.bounds == Bounds::Proved);
                assert_eq!(name.starts_with("shared"), version.follows == Follows::Shared);
                assert_eq!(name.contains("_in_block"), version.shared_shadow == ShadowPlace::Block);
            }
        }
        let is_of_own_memory = |name: &&str| name.starts_with("shared") || name.contains("_in_block");
        assert!(!Version::names(false).iter().any(is_of_own_memory));
    }
}
