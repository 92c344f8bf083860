//! Containers in object files of the host, where nvcc puts them.
//!
//! The files are ELF with 64 bits, little-endian; the section `.nv_fatbin` has code that is complete,
//! `__nv_relfatbin` code that is still to be linked. An archive (`ar`) holds many such files.

use crate::program_image::ELF;

/// The sections that hold containers.
const SECTIONS: [&[u8]; 2] = [b".nv_fatbin", b"__nv_relfatbin"];

const ARCHIVE: &[u8] = b"!<arch>\n";
/// Before each file in an archive: its name, four numbers, its size in decimal digits from byte 48, and two bytes.
const MEMBER_HEADER_BYTES: usize = 60;

/// The containers in an object file or archive; nothing if it is damaged or something else.
pub(crate) fn containers(bytes: &[u8]) -> Option<Vec<&[u8]>> {
    let mut all = Vec::new();
    let Some(mut rest) = bytes.strip_prefix(ARCHIVE) else {
        add_containers(bytes, &mut all)?;
        return Some(all);
    };
    while rest.len() > MEMBER_HEADER_BYTES {
        let (header, after) = rest.split_at(MEMBER_HEADER_BYTES);
        let size: usize = std::str::from_utf8(&header[48..58]).ok()?.trim_end().parse().ok()?;
        let member = after.get(..size)?;
        // The index and the table of long names are members, too.
        if member.starts_with(ELF) {
            add_containers(member, &mut all)?;
        }
        rest = after.get(size.next_multiple_of(2)..).unwrap_or_default();
    }
    Some(all)
}

fn add_containers<'a>(file: &'a [u8], all: &mut Vec<&'a [u8]>) -> Option<()> {
    if !file.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let table = number(file, 0x28, 8)?;
    let (entry_bytes, count, names) = (number(file, 0x3a, 2)?, number(file, 0x3c, 2)?, number(file, 0x3e, 2)?);
    let header = |index: usize| {
        let start = table.checked_add(index.checked_mul(entry_bytes)?)?;
        file.get(start..start.checked_add(entry_bytes)?)
    };
    let content = |header: &[u8]| {
        let (start, size) = (number(header, 0x18, 8)?, number(header, 0x20, 8)?);
        file.get(start..start.checked_add(size)?)
    };
    let names = content(header(names)?)?;
    for index in 0..count {
        let header = header(index)?;
        let name = names.get(number(header, 0, 4)?..)?.split(|&byte| byte == 0).next()?;
        if SECTIONS.contains(&name) {
            all.extend(fatbin::containers(content(header)?).map_while(Result::ok));
        }
    }
    Some(())
}

/// A number of so many bytes.
fn number(bytes: &[u8], at: usize, length: usize) -> Option<usize> {
    let bytes = bytes.get(at..at.checked_add(length)?)?;
    let value = bytes.iter().rev().fold(0_u64, |value, &byte| value << 8 | u64::from(byte));
    usize::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An object file with one section besides the table of names.
    fn object(name: &[u8], content: &[u8]) -> Vec<u8> {
        let mut file = vec![0; 64];
        file[..6].copy_from_slice(b"\x7fELF\x02\x01");
        let names = file.len();
        file.push(0);
        file.extend(name);
        file.push(0);
        let start = file.len();
        file.extend(content);
        let table = file.len();
        file[0x28..0x30].copy_from_slice(&(table as u64).to_le_bytes());
        for (index, value) in [64_u16, 2, 0].into_iter().enumerate() {
            file[0x3a + 2 * index..][..2].copy_from_slice(&value.to_le_bytes());
        }
        for (name, start, size) in [(0_u32, names, name.len() + 2), (1, start, content.len())] {
            let mut header = [0; 64];
            header[..4].copy_from_slice(&name.to_le_bytes());
            header[0x18..0x20].copy_from_slice(&(start as u64).to_le_bytes());
            header[0x20..0x28].copy_from_slice(&(size as u64).to_le_bytes());
            file.extend(header);
        }
        file
    }

    #[test]
    fn containers_are_found_in_objects_and_archives() {
        let container = [&fatbin::MAGIC.to_le_bytes()[..], &[1, 0, 16, 0], &8_u64.to_le_bytes(), &[7; 8]].concat();
        let file = object(b"__nv_relfatbin", &[&container[..], &[0; 8], &container].concat());
        assert_eq!(containers(&file), Some(vec![&container[..], &container]));
        assert_eq!(containers(&object(b".text", &container)), Some(vec![]));

        let member = |content: &[u8]| {
            let mut member = format!("{:48}{:<10}`\n", "a.o/", content.len()).into_bytes();
            member.extend(content);
            member.resize(member.len().next_multiple_of(2), b'\n');
            member
        };
        let archive = [ARCHIVE, &member(b"odd"), &member(&file)].concat();
        assert_eq!(containers(&archive), Some(vec![&container[..], &container]));
    }

    #[test]
    fn damaged_files_are_refused() {
        let file = object(b".nv_fatbin", b"x");
        for length in 0..file.len() {
            assert_eq!(containers(&file[..length]), None, "cut at {length}");
        }
        assert_eq!(containers(b"PTX"), None);
    }
}
