//! Mappings of the process, as the system lists them in `/proc/self/maps`, and between other lines in `/proc/self/smaps`.

use std::ops::Range;

/// A mapping: `START-END PERMISSIONS OFFSET DEVICE INODE   NAME`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Mapping<'a> {
    pub(crate) addresses: Range<u64>,
    /// `r`, `w`, `x` and, if processes share it, `s` instead of `p`; `-` for what it has not.
    permissions: &'a str,
    /// 0 if it is of no file.
    inode: &'a str,
    /// The path of its file, or what the system calls it; empty if it has no name.
    pub(crate) name: &'a str,
}

impl<'a> Mapping<'a> {
    /// The mapping that a line is about; nothing for other lines.
    pub(crate) fn of(line: &'a str) -> Option<Self> {
        let mut fields = line.splitn(6, ' ');
        let (start, end) = fields.next()?.split_once('-')?;
        let [start, end] = [start, end].map(|number| u64::from_str_radix(number, 16).ok());
        let permissions = fields.next()?;
        let inode = fields.nth(2)?;
        let name = fields.next().unwrap_or_default().trim_start();
        Some(Self { addresses: start?..end?, permissions, inode, name })
    }

    /// All mappings of a list.
    pub(crate) fn all(list: &'a str) -> impl Iterator<Item = Self> {
        list.lines().filter_map(Self::of)
    }

    pub(crate) fn is_readable(&self) -> bool {
        self.permissions.contains('r')
    }

    pub(crate) fn is_writable(&self) -> bool {
        self.permissions.contains('w')
    }

    pub(crate) fn is_executable(&self) -> bool {
        self.permissions.contains('x')
    }

    /// Whether other processes see what is written there.
    pub(crate) fn is_shared(&self) -> bool {
        self.permissions.contains('s')
    }

    pub(crate) fn is_of_file(&self) -> bool {
        self.inode != "0"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_mappings_or_something_else() {
        let list = "7f0000001000-7f0000003000 r-xp 00001000 08:01 17                         /lib/a b-c.so (deleted)\n\
                    Rss:                   4 kB\nVmFlags: rd ex mr-mw\n\
                    7f0000003000-7f0000004000 rw-s 00000000 00:00 0 \n\
                    ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n";
        let all: Vec<_> = Mapping::all(list).collect();
        let [library, shared, page] = &all[..] else { panic!("{all:?}") };
        assert_eq!(
            (library.addresses.clone(), library.name),
            (0x7f00_0000_1000..0x7f00_0000_3000, "/lib/a b-c.so (deleted)")
        );
        assert!(library.is_readable() && library.is_executable() && !library.is_writable() && library.is_of_file());
        assert!(shared.is_shared() && shared.is_writable() && !shared.is_of_file() && shared.name.is_empty());
        assert!(!page.is_readable() && !page.is_shared() && page.name == "[vsyscall]");
    }
}
