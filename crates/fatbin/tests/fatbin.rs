//! Containers that nvcc wrote, and what damage does to them. `data/scale.cu` says how they were made.

use fatbin::{Compression, Error, Kind, MAX_TEXT_BYTES};

const ZSTD: &[u8] = include_bytes!("data/zstd.fatbin");
const LZ4: &[u8] = include_bytes!("data/lz4.fatbin");
const PLAIN: &[u8] = include_bytes!("data/plain.fatbin");
const RELOCATABLE: &[u8] = include_bytes!("data/relocatable.fatbin");
const SPECIFIC: &[u8] = include_bytes!("data/specific.fatbin");
const CONCATENATED: &[u8] = include_bytes!("data/concatenated.fatbin");
const ALL: [&[u8]; 6] = [ZSTD, LZ4, PLAIN, RELOCATABLE, SPECIFIC, CONCATENATED];

/// Where the entry of PTX begins in `ZSTD`.
const PTX_ENTRY: usize = 3192;

fn ptx(bytes: &[u8]) -> Vec<String> {
    let entries = fatbin::read(bytes).expect("nvcc writes containers that can be read");
    let texts = entries.iter().filter(|entry| entry.kind == Kind::Ptx);
    texts
        .map(|entry| String::from_utf8(entry.text().expect("the text is whole").into_owned()).expect("UTF-8"))
        .collect()
}

fn targets(bytes: &[u8]) -> Vec<String> {
    fatbin::read(bytes).expect("nvcc writes containers that can be read").iter().map(|entry| entry.target()).collect()
}

/// A copy of `ZSTD` with one field of the PTX entry changed.
fn with_field(offset: usize, value: &[u8]) -> Vec<u8> {
    let mut bytes = ZSTD.to_vec();
    bytes[PTX_ENTRY + offset..][..value.len()].copy_from_slice(value);
    bytes
}

#[test]
fn every_way_of_compressing_gives_the_same_text() {
    let [zstd, lz4, plain] = [ZSTD, LZ4, PLAIN].map(ptx);
    assert_eq!(zstd.len(), 1);
    assert!(zstd[0].trim_start().starts_with(".version 9.4\n.target sm_75\n"), "{}", zstd[0]);
    assert!(zstd[0].contains(".visible .entry _Z5scalePfi("));
    assert!(zstd[0].trim_end().ends_with('}'), "no zeros at the end");
    assert_eq!(zstd, lz4);
    assert_eq!(zstd, plain);
    let compression = |bytes| fatbin::read(bytes).expect("readable")[1].compression;
    assert_eq!([ZSTD, LZ4, PLAIN].map(compression), [Compression::Zstd, Compression::Lz4, Compression::None]);
}

#[test]
fn entries_say_what_they_are() {
    let entries = fatbin::read(RELOCATABLE).expect("readable");
    assert_eq!(entries.iter().map(|entry| entry.kind).collect::<Vec<_>>(), [Kind::Elf, Kind::Ptx]);
    assert_eq!(entries[1].arch, 80);
    assert_eq!(entries[1].version, (9, 4));
    assert_eq!(entries[1].options, b"--compile-only  ");
    assert!(entries[0].text().expect("the machine code is whole").starts_with(b"\x7fELF"));
    assert_eq!(targets(RELOCATABLE), ["sm_80", "compute_80"]);
    assert_eq!(targets(SPECIFIC), ["compute_90a", "compute_100f", "compute_90"]);
}

#[test]
fn texts_compressed_as_one_are_told_apart() {
    assert_eq!(targets(CONCATENATED), ["compute_80", "compute_90", "sm_80", "sm_90"]);
    let texts = ptx(CONCATENATED);
    assert!(texts[0].contains(".target sm_80\n"));
    assert!(texts[1].contains(".target sm_90\n"));
    for entry in fatbin::read(CONCATENATED).expect("readable").iter().filter(|entry| entry.kind == Kind::Elf) {
        assert!(entry.text().expect("the machine code is whole").starts_with(b"\x7fELF"));
    }
}

#[test]
fn a_section_has_containers_behind_each_other() {
    let mut section = vec![0; 8];
    for container in [ZSTD, LZ4] {
        section.extend_from_slice(container);
        section.extend_from_slice(&[0; 24]);
    }
    let found: Result<Vec<_>, _> = fatbin::containers(&section).collect();
    assert_eq!(found, Ok(vec![ZSTD, LZ4]));

    section.extend_from_slice(b"not a container of any kind");
    let found: Vec<_> = fatbin::containers(&section).collect();
    assert!(matches!(found[..], [Ok(_), Ok(_), Err(Error::Magic { .. })]), "{found:?}");
}

#[test]
fn the_header_tells_how_much_to_read() {
    let header = *ZSTD.first_chunk().expect("long enough");
    assert_eq!(fatbin::size_of_container(&header), Ok(ZSTD.len()));
    let mut wrapping = header;
    wrapping[8..].copy_from_slice(&(u64::MAX - 8).to_le_bytes());
    assert!(matches!(fatbin::size_of_container(&wrapping), Err(Error::TooLarge { .. })));
}

#[test]
fn sizes_that_wrap_or_leave_the_container_are_refused() {
    for size in [u64::MAX, u64::MAX - 79, 1 << 32, 353] {
        let found = fatbin::read(&with_field(8, &size.to_le_bytes())).map(|_| ());
        assert!(matches!(found, Err(Error::Truncated { what: "an entry", .. })), "{size}: {found:?}");
    }
    for size in [0_u32, 63] {
        let found = fatbin::read(&with_field(4, &size.to_le_bytes())).map(|_| ());
        assert!(matches!(found, Err(Error::Damaged { .. })), "{size}: {found:?}");
    }
    let found = fatbin::read(&with_field(16, &353_u32.to_le_bytes())).map(|_| ());
    assert!(matches!(found, Err(Error::Damaged { .. })), "{found:?}");
}

#[test]
fn bombs_are_refused_before_memory_is_allocated() {
    let found = fatbin::read(&with_field(56, &(MAX_TEXT_BYTES + 1).to_le_bytes())).map(|_| ());
    assert!(matches!(found, Err(Error::TooLarge { .. })), "{found:?}");
    let found = fatbin::read(&with_field(56, &(8_u64 << 20).to_le_bytes())).map(|_| ());
    assert!(matches!(found, Err(Error::TooLarge { .. })), "347 bytes cannot become 8 MiB: {found:?}");
}

#[test]
fn texts_must_have_the_size_that_the_container_gives() {
    for size in [0_u64, 635, 637] {
        let bytes = with_field(56, &size.to_le_bytes());
        let entries = fatbin::read(&bytes).expect("only the text is wrong");
        assert!(matches!(entries[1].text(), Err(Error::Decompression { .. })), "{size}");
    }
}

#[test]
fn overlapping_texts_are_refused() {
    // The list of texts begins 72 bytes into the entry; the second header of 80 bytes says where the second text begins.
    let mut bytes = CONCATENATED.to_vec();
    bytes[16 + 72 + 80 + 4..][..4].copy_from_slice(&600_u32.to_le_bytes());
    let found = fatbin::read(&bytes).map(|_| ());
    assert!(matches!(found, Err(Error::Damaged { what: "the place of a text", .. })), "{found:?}");
}

#[test]
fn whatever_is_damaged_ends_in_a_result() {
    let read_all = |bytes: &[u8]| {
        for container in fatbin::containers(bytes).flatten() {
            for entry in fatbin::read(container).into_iter().flatten() {
                if let Ok(text) = entry.text() {
                    assert!(text.len() <= entry.text_bytes());
                }
            }
        }
    };
    for bytes in ALL {
        for end in 0..bytes.len() {
            assert!(fatbin::read(&bytes[..end]).is_err(), "cut at {end}");
        }
        let mut bytes = bytes.to_vec();
        for at in 0..bytes.len() {
            for changed in [0x00, 0xff, bytes[at] ^ 0x01, bytes[at] ^ 0x80] {
                let kept = std::mem::replace(&mut bytes[at], changed);
                read_all(&bytes);
                bytes[at] = kept;
            }
        }
    }
}
