//! Campaigns whose rows are made up: what is written is read, what is wrong is named, and reports depend on rows alone.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use campaign::{Check, Manifest, Row, Store, Stored, Summary, check, decode, encode, page};

/// A directory for one test, which removes itself.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("warpgrind-campaign-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("the temporary directory is writable");
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn manifest() -> Manifest {
    Manifest::parse(include_bytes!("manifest.json")).expect("it is a manifest")
}

fn rows(manifest: &Manifest, number: u64) -> Vec<Row> {
    let part = manifest.part(number);
    let row = |trial: u64| {
        let outcomes = ["masked", "sdc", "fault", "never-read", "hang", "sdc", "invalid"];
        let unprotected = outcomes[trial as usize % outcomes.len()];
        let is_protected = manifest.variants[part.variant] != "none";
        let outcome = if is_protected && unprotected == "sdc" && trial % 9 != 1 { "detected" } else { unprotected };
        Row {
            row: part.first_row + trial - part.first,
            kernel: manifest.strata[part.stratum].kernel.clone(),
            model: manifest.strata[part.stratum].model.clone(),
            variant: manifest.variants[part.variant].clone(),
            trial,
            launch: 1 + trial % 4,
            thread: trial * 37,
            thread_name: format!("block ({trial},0,0) thread (1,0,0)"),
            instruction: "fma.rn.f32 %f4, %f2, %f1, %f3;".to_owned(),
            bit: (!trial.is_multiple_of(3)).then_some((trial % 64) as u32),
            before: u64::MAX - trial,
            after: trial << 60,
            unprotected: unprotected.to_owned(),
            outcome: outcome.to_owned(),
            ..Row::default()
        }
    };
    (part.first..part.first + part.count).map(row).collect()
}

fn write(store: &Store, manifest: &Manifest, parts: impl Iterator<Item = u64>) {
    for number in parts {
        store.write(number, &encode(manifest, &rows(manifest, number)).unwrap()).unwrap();
    }
}

fn full(name: &str) -> (Scratch, Store, Manifest) {
    let (scratch, manifest) = (Scratch::new(name), manifest());
    let store = Store::create(&scratch.0, &manifest).unwrap();
    write(&store, &manifest, 0..manifest.parts());
    (scratch, store, manifest)
}

fn file_of(store: &Store, part: u64) -> PathBuf {
    let is_it = |stored: Stored| match stored {
        Stored::Part { number, path, .. } if number == part => Some(path),
        _ => None,
    };
    store.list().unwrap().into_iter().find_map(is_it).expect("the part was written")
}

fn checked(store: &Store, manifest: &Manifest) -> (Check, String) {
    let check = check(store, manifest).unwrap();
    let text = check.text(manifest);
    (check, text)
}

fn ranges(one: Range<u64>) -> Vec<Range<u64>> {
    std::iter::once(one).collect()
}

#[test]
fn rows_are_read_as_they_were_written() {
    let manifest = manifest();
    for number in [0, manifest.parts() - 1] {
        let rows = rows(&manifest, number);
        let bytes = encode(&manifest, &rows).unwrap();
        assert_eq!(bytes, encode(&manifest, &rows).unwrap(), "whoever writes them writes the same bytes");
        assert_eq!(decode(bytes.clone(), manifest.part).unwrap(), rows);
        assert!(decode(bytes, 3).is_err(), "it has more rows than it may have");
    }
}

#[test]
fn a_campaign_that_is_whole_is_good() {
    let (_scratch, store, manifest) = full("whole");
    let (check, text) = checked(&store, &manifest);
    assert!(check.is_good(), "{text}");
    assert_eq!(text, "400 of 400 rows are there\n");
}

#[test]
fn what_is_missing_is_named() {
    let (_scratch, store, manifest) = full("missing");
    fs::remove_file(file_of(&store, 1)).unwrap();
    fs::remove_file(file_of(&store, 2)).unwrap();
    let (check, text) = checked(&store, &manifest);
    assert_eq!(check.missing, ranges(16..48));
    let line = "missing: rows 16 to 47 (parts 1 to 2): trials 16 to 47 of single-bit in saxpy(int, float, float const*, float*), none\n";
    assert!(text.contains(line), "{text}");
}

#[test]
fn a_part_that_is_truncated_is_named_and_its_rows_are_missing() {
    let (_scratch, store, manifest) = full("truncated");
    let path = file_of(&store, 3);
    let bytes = fs::read(&path).unwrap();
    for length in [0, 1, bytes.len() / 2, bytes.len() - 1] {
        fs::write(&path, &bytes[..length]).unwrap();
        let (check, text) = checked(&store, &manifest);
        assert_eq!((check.missing, check.damaged.len()), (ranges(48..64), 1), "{text}");
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        assert!(text.contains(&format!("damaged: {name}: it is not what was written")), "{text}");
    }
    // A changed byte that the format does not notice.
    let mut changed = bytes.clone();
    changed[100] ^= 1;
    fs::write(&path, changed).unwrap();
    assert_eq!(checked(&store, &manifest).0.damaged.len(), 1);
    let mut seen = Vec::new();
    let finished = store.finished(0..manifest.parts(), |path| seen.push(path.to_owned())).unwrap();
    assert!(seen == [path] && !finished.contains_key(&3) && finished.len() as u64 == manifest.parts() - 1);
}

#[test]
fn rows_that_are_there_twice_are_named_with_their_files() {
    let (scratch, store, manifest) = full("doubled");
    fs::copy(file_of(&store, 5), scratch.0.join("parts/copy.parquet")).unwrap();
    let (check, text) = checked(&store, &manifest);
    assert!(!check.is_good() && check.disagreeing.is_empty());
    assert_eq!(check.doubled[0].0, 80..96);
    assert!(text.contains("in part-00000005-") && text.contains(".parquet and copy.parquet"), "{text}");
    assert_eq!(Summary::of(&store, &manifest).unwrap().rows, 400, "rows are counted once");
}

#[test]
fn writers_that_disagree_are_named() {
    let (_scratch, store, manifest) = full("disagreeing");
    let mut others = rows(&manifest, 4);
    others[3].outcome = "detected".to_owned();
    store.write(4, &encode(&manifest, &others).unwrap()).unwrap();
    let (check, text) = checked(&store, &manifest);
    assert_eq!((check.doubled[0].0.clone(), check.disagreeing[0].0.clone()), (64..80, 67..68), "{text}");
    assert!(text.contains("disagreeing: rows 67 to 67"), "{text}");
    assert_eq!(Summary::of(&store, &manifest).unwrap().disagreeing, 1);
}

#[test]
fn two_writers_of_one_shard_that_agree_are_told_and_do_no_harm() {
    let (_scratch, store, manifest) = full("again");
    write(&store, &manifest, 2..5);
    let (check, text) = checked(&store, &manifest);
    assert!(check.is_good() && check.again[0].1 == [2, 3, 4], "{text}");
    assert!(text.contains("note: two writers of one shard"), "{text}");
}

#[test]
fn what_is_not_of_the_campaign_is_named() {
    let (scratch, store, manifest) = full("others");
    let mut other = manifest.clone();
    other.seed += 1;
    fs::write(scratch.0.join("parts/other.parquet"), encode(&other, &rows(&other, 0)).unwrap()).unwrap();
    fs::write(scratch.0.join("parts/text.parquet"), "no Parquet").unwrap();
    fs::write(scratch.0.join("parts/.part-00000001-host-1"), "half").unwrap();
    let mut mixed = rows(&manifest, 0);
    mixed.extend(rows(&manifest, 1));
    mixed.truncate(manifest.part as usize);
    mixed[0].row = 399;
    fs::write(scratch.0.join("parts/mixed.parquet"), encode(&manifest, &mixed).unwrap()).unwrap();
    let mut wrong = rows(&manifest, 0);
    wrong[5].kernel = "other".to_owned();
    fs::write(scratch.0.join("parts/wrong.parquet"), encode(&manifest, &wrong).unwrap()).unwrap();
    let (check, text) = checked(&store, &manifest);
    let names: Vec<_> = check.damaged.iter().map(|(path, _)| path.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["mixed.parquet", "other.parquet", "text.parquet", "wrong.parquet"], "{text}");
    assert!(check.missing.is_empty() && check.doubled.is_empty() && check.unfinished.len() == 1, "{text}");
    assert!(Store::create(&scratch.0, &other).is_err(), "a directory has one campaign");
}

#[test]
fn reports_depend_on_rows_alone() {
    let (_scratch, store, manifest) = full("whole-report");
    let whole = Summary::of(&store, &manifest).unwrap();
    let sharded = Scratch::new("sharded-report");
    let other = Store::create(&sharded.0, &manifest).unwrap();
    for number in (1..=8).rev() {
        write(&other, &manifest, manifest.shard(number, 8));
    }
    let sharded = Summary::of(&other, &manifest).unwrap();
    assert_eq!(whole.json(), sharded.json());
    assert_eq!(whole.cells.len(), 4);
    let protected = &whole.cells[1];
    let outcomes: u64 = protected.outcomes.values().sum();
    assert_eq!(
        (protected.trials, protected.trials + protected.invalid, protected.effective),
        (outcomes, 100, Some(29))
    );
    assert!(protected.escaped < protected.effective && protected.coverage_at_least.unwrap() > 0.5);
    assert_eq!(whole.cells[0].effective, None);
}

/// Names of kernels come from programs.
#[test]
fn nothing_gets_out_of_the_page() {
    let scratch = Scratch::new("page");
    let mut manifest = manifest();
    manifest.strata[0].kernel = "</code><script>alert(\"1\")</script>\u{1b}[31m".to_owned();
    let store = Store::create(&scratch.0, &manifest).unwrap();
    write(&store, &manifest, 0..manifest.parts());
    let summary = Summary::of(&store, &manifest).unwrap();
    let page = page(&summary);
    assert!(!page.contains("<script") && !page.contains('\u{1b}') && !page.contains("src="), "{page}");
    assert!(!summary.text().contains('\u{1b}'));
    assert_eq!(page.matches("<svg").count(), page.matches("</svg>").count());
}

#[test]
fn what_a_writer_left_behind_is_removed_when_it_has_ended() {
    let (scratch, store, _) = full("left-behind");
    let mine = scratch.0.join(format!("parts/.part-00000001-{}-{}", host(), std::process::id()));
    let ended = scratch.0.join(format!("parts/.part-00000001-{}-4194305", host()));
    let other = scratch.0.join("parts/.part-00000001-elsewhere-4194305");
    for path in [&mine, &ended, &other] {
        fs::write(path, "half").unwrap();
    }
    store.remove_left_behind().unwrap();
    assert!(mine.exists() && !ended.exists() && other.exists());
}

fn host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    name.trim()
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() || letter == '.' { letter } else { '_' })
        .collect()
}

#[test]
fn launchers_quote_what_they_are_given() {
    let manifest = manifest();
    let container = campaign::Container { image: "image: \"x\"", claim: "claim" };
    let (command, path, out) = ("/opt/it's here/warpgrind", "/data/$(m).json", "/data/a b");
    for launcher in [campaign::Launcher::Slurm, campaign::Launcher::Parallel] {
        let text = launcher.file(&manifest, command, path, out, 7, &container);
        assert!(text.contains("'/opt/it'\\''s here/warpgrind' campaign run --manifest '/data/$(m).json'"), "{text}");
        assert!(text.contains("--out '/data/a b'") && text.contains('7'), "{text}");
    }
    let text = campaign::Launcher::Kubernetes.file(&manifest, command, path, out, 7, &container);
    assert!(text.contains("image: \"image: \\\"x\\\"\"\n") && text.contains("completions: 7\n"), "{text}");
    assert!(Path::new(out).is_absolute() && text.contains("mountPath: \"/data\"\n"), "{text}");
}
