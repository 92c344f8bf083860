//! The versions that memcheck makes of a kernel: what a launch leaves to be checked decides which of them runs.

/// A version of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Version {
    /// Whether accesses are checked.
    pub(super) bounds: Bounds,
    /// Whose undefined values are followed.
    pub(super) follows: Follows,
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

impl Version {
    /// All of them. Kernels without shared and local memory do not have the last two.
    const ALL: [(Self, &'static str); 6] = [
        (Self { bounds: Bounds::Checked, follows: Follows::Nothing }, ""),
        (Self { bounds: Bounds::Proved, follows: Follows::Nothing }, "proved"),
        (Self { bounds: Bounds::Checked, follows: Follows::All }, "defined"),
        (Self { bounds: Bounds::Proved, follows: Follows::All }, "defined_proved"),
        (Self { bounds: Bounds::Checked, follows: Follows::Shared }, "shared"),
        (Self { bounds: Bounds::Proved, follows: Follows::Shared }, "shared_proved"),
    ];

    /// What those are called that are made of a kernel.
    pub(super) fn names(uses_own_memory: bool) -> Vec<&'static str> {
        let is_made = |version: &Self| uses_own_memory || version.follows != Follows::Shared;
        Self::ALL.iter().filter(|(version, _)| is_made(version)).map(|(_, name)| *name).collect()
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
        self == Self { bounds: Bounds::Proved, follows: Follows::Nothing }
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
            }
        }
        assert!(!Version::names(false).contains(&"shared"));
    }
}
