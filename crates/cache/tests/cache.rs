//! The cache as a friend and as an enemy meets it.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use cache::{Cache, DEFAULT_LIMIT, Id, IdBuilder, Refusal};

/// A directory for one test, which removes itself.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("warpgrind cache {name} {}", std::process::id()));
        fs::create_dir_all(&path).expect("the temporary directory is writable");
        Self(path)
    }

    /// Where the cache is.
    fn code(&self) -> PathBuf {
        self.0.join("warpgrind/code")
    }

    fn open(&self) -> Cache {
        Cache::open(&self.code(), DEFAULT_LIMIT).expect("the directory is ours")
    }

    /// The files of entries.
    fn entries(&self) -> Vec<PathBuf> {
        let files = fs::read_dir(self.code()).expect("the cache is there");
        let paths = files.map(|file| file.expect("the directory can be read").path());
        let mut entries: Vec<PathBuf> =
            paths.filter(|path| path.file_name().is_some_and(|name| name.len() == 64)).collect();
        entries.sort();
        entries
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn id(text: &str) -> Id {
    IdBuilder::new().add(text.as_bytes()).finish()
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).expect("the file is there").mode() & 0o7777
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[test]
fn what_is_put_in_comes_out_in_private() {
    let scratch = Scratch::new("private");
    let cache = scratch.open();
    assert_eq!(cache.get(&id("a")), None);
    cache.put(&id("a"), b"contents");
    cache.put(&id("empty"), b"");
    let again = scratch.open();
    assert!(again.has(&id("a")) && !again.has(&id("b")));
    assert_eq!(again.get(&id("a")).as_deref(), Some(&b"contents"[..]));
    assert_eq!(again.get(&id("empty")).as_deref(), Some(&b""[..]));
    assert_eq!(again.get(&id("b")), None);
    assert_eq!(mode(&scratch.code()), 0o700);
    for file in fs::read_dir(scratch.code()).expect("the cache is there") {
        assert_eq!(mode(&file.expect("the directory can be read").path()), 0o600);
    }
    again.remove(&id("a"));
    assert_eq!(cache.get(&id("a")), None);
}

#[test]
fn where_one_thing_ends_makes_a_difference() {
    let of = |parts: &[&[u8]]| {
        let mut id = IdBuilder::new();
        for part in parts {
            id.add(part);
        }
        id.finish()
    };
    assert_ne!(of(&[b"ab", b"c"]), of(&[b"a", b"bc"]));
    assert_ne!(of(&[b"ab"]), of(&[b"ab", b""]));
}

#[test]
fn a_changed_entry_is_a_miss_and_goes() {
    let scratch = Scratch::new("changed");
    let cache = scratch.open();
    let contents: Vec<u8> = (0..2000_u32).map(|number| number as u8).collect();
    cache.put(&id("a"), &contents);
    let [file] = &scratch.entries()[..] else { panic!("there is one entry") };
    let good = fs::read(file).expect("we can read it");
    let try_bytes = |bytes: &[u8], what: &str| {
        fs::write(file, bytes).expect("we can write it");
        fs::set_permissions(file, Permissions::from_mode(0o600)).expect("it is ours");
        assert_eq!(cache.get(&id("a")), None, "{what}");
        assert!(!file.exists(), "{what}");
    };
    // All that authenticates, and a sample of what is authenticated.
    for byte in (0..80).chain((80..good.len()).step_by(97)) {
        for bit in [0, 7] {
            let mut bad = good.clone();
            bad[byte] ^= 1 << bit;
            try_bytes(&bad, &format!("bit {bit} of byte {byte}"));
        }
    }
    for length in (0..40).chain((40..good.len()).step_by(211)).chain([good.len() - 1]) {
        try_bytes(&good[..length], &format!("{length} bytes"));
    }
    try_bytes(&[&good[..], b"x"].concat(), "longer");
    fs::write(file, &good).expect("we can write it");
    fs::set_permissions(file, Permissions::from_mode(0o600)).expect("it is ours");
    assert_eq!(cache.get(&id("a")), Some(contents));
}

#[test]
fn random_bytes_are_never_an_entry() {
    let scratch = Scratch::new("random");
    let cache = scratch.open();
    cache.put(&id("a"), b"contents");
    let [file] = &scratch.entries()[..] else { panic!("there is one entry") };
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for round in 0..500 {
        let mut bytes = vec![0; (state >> 20) as usize % 300];
        for byte in &mut bytes {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            *byte = (state >> 56) as u8;
        }
        state = state.wrapping_add(round);
        fs::write(file, &bytes).expect("we can write it");
        fs::set_permissions(file, Permissions::from_mode(0o600)).expect("it is ours");
        assert_eq!(cache.get(&id("a")), None);
    }
}

#[test]
fn an_entry_is_good_under_its_name_only() {
    let scratch = Scratch::new("renamed");
    let cache = scratch.open();
    cache.put(&id("a"), b"of a");
    let of_a = scratch.entries();
    cache.put(&id("b"), b"of b");
    let of_b = scratch.entries().into_iter().find(|file| !of_a.contains(file)).expect("there are two");
    fs::copy(&of_a[0], &of_b).expect("we can write it");
    assert_eq!(cache.get(&id("b")), None);
    assert_eq!(cache.get(&id("a")).as_deref(), Some(&b"of a"[..]));
}

#[test]
fn an_entry_of_another_key_is_a_miss() {
    let (ours, theirs) = (Scratch::new("our key"), Scratch::new("their key"));
    let cache = ours.open();
    theirs.open().put(&id("a"), b"of theirs");
    let from = &theirs.entries()[0];
    let to = ours.code().join(from.file_name().expect("it has a name"));
    fs::copy(from, &to).expect("we can write it");
    assert_eq!(cache.get(&id("a")), None);
    // With their key it is right.
    fs::copy(from, &to).expect("we can write it");
    fs::copy(theirs.code().join("key"), ours.code().join("key")).expect("we can write it");
    assert_eq!(ours.open().get(&id("a")).as_deref(), Some(&b"of theirs"[..]));
}

#[test]
fn a_key_that_is_not_right_is_replaced() {
    let scratch = Scratch::new("bad key");
    let key = scratch.code().join("key");
    scratch.open().put(&id("a"), b"contents");
    type Spoil = fn(&Path);
    let spoils: [(&str, Spoil); 4] = [
        ("short", |key| fs::write(key, b"short").expect("we can write it")),
        ("long", |key| fs::write(key, [7; 33]).expect("we can write it")),
        ("readable", |key| fs::set_permissions(key, Permissions::from_mode(0o644)).expect("it is ours")),
        ("a link", |key| {
            fs::rename(key, key.with_extension("old")).expect("it is ours");
            symlink(key.with_extension("old"), key).expect("links can be made");
        }),
    ];
    for (what, spoil) in spoils {
        scratch.open().put(&id("a"), b"contents");
        assert!(scratch.open().get(&id("a")).is_some());
        spoil(&key);
        assert_eq!(scratch.open().get(&id("a")), None, "{what}");
        assert_eq!((mode(&key), fs::symlink_metadata(&key).unwrap().len()), (0o600, 32), "{what}");
    }
}

#[test]
fn files_that_others_could_have_written_are_misses() {
    let scratch = Scratch::new("open file");
    let cache = scratch.open();
    cache.put(&id("a"), b"contents");
    let [file] = &scratch.entries()[..] else { panic!("there is one entry") };
    fs::set_permissions(file, Permissions::from_mode(0o620)).expect("it is ours");
    assert_eq!(cache.get(&id("a")), None);
    assert!(!file.exists());

    cache.put(&id("a"), b"contents");
    let elsewhere = scratch.0.join("elsewhere");
    fs::rename(file, &elsewhere).expect("it is ours");
    symlink(&elsewhere, file).expect("links can be made");
    assert_eq!(cache.get(&id("a")), None);
    assert!(fs::symlink_metadata(file).is_err() && elsewhere.exists(), "the link goes, not what it names");

    // Nobody waits for a pipe.
    let made = Command::new("mkfifo").arg("-m").arg("600").arg(file).status().expect("there is a mkfifo");
    assert!(made.success());
    assert_eq!(cache.get(&id("a")), None);

    if is_root() {
        cache.put(&id("a"), b"contents");
        chown(file, Some(65534), None).expect("root can give files away");
        assert_eq!(cache.get(&id("a")), None);
        assert!(!file.exists());
    }
}

#[test]
fn directories_that_others_can_get_into_are_refused() {
    let scratch = Scratch::new("open directory");
    drop(scratch.open());
    let refused = || Cache::open(&scratch.code(), DEFAULT_LIMIT).expect_err("it is not safe");
    for (path, bits, closed) in [
        (scratch.code(), 0o770, 0o700),
        (scratch.code(), 0o705, 0o700),
        (scratch.0.join("warpgrind"), 0o775, 0o755),
        (scratch.0.join("warpgrind"), 0o777, 0o755),
    ] {
        fs::set_permissions(&path, Permissions::from_mode(bits)).expect("it is ours");
        match refused() {
            Refusal::Open { path: named, closed: told, .. } => assert_eq!((named, told), (path.clone(), closed)),
            other => panic!("{other}"),
        }
        assert!(matches!(cache::usage(&scratch.code()), Err(Refusal::Open { .. })));
        assert!(matches!(cache::clear(&scratch.code()), Err(Refusal::Open { .. })));
        fs::set_permissions(&path, Permissions::from_mode(closed)).expect("it is ours");
        drop(scratch.open());
    }
    if is_root() {
        for path in [scratch.code(), scratch.0.join("warpgrind")] {
            chown(&path, Some(65534), None).expect("root can give files away");
            assert!(matches!(refused(), Refusal::Foreign { owner: 65534, .. }));
            chown(&path, Some(0), None).expect("root can take files back");
        }
    }
}

#[test]
fn directories_that_are_links_are_refused() {
    let scratch = Scratch::new("link");
    drop(scratch.open());
    for path in [scratch.code(), scratch.0.join("warpgrind")] {
        let elsewhere = scratch.0.join("elsewhere");
        fs::rename(&path, &elsewhere).expect("it is ours");
        symlink(&elsewhere, &path).expect("links can be made");
        let refusal = Cache::open(&scratch.code(), DEFAULT_LIMIT).expect_err("it is a link");
        assert!(matches!(refusal, Refusal::Unusable { .. }), "{refusal}");
        fs::remove_file(&path).expect("it is ours");
        fs::rename(&elsewhere, &path).expect("it is ours");
    }
    // What is above is the user's affair.
    let linked = scratch.0.with_extension("linked");
    symlink(&scratch.0, &linked).expect("links can be made");
    assert!(Cache::open(&linked.join("warpgrind/code"), DEFAULT_LIMIT).is_ok());
    fs::remove_file(&linked).expect("it is ours");
}

#[test]
fn a_home_that_cannot_be_written_to_is_no_failure() {
    let scratch = Scratch::new("read-only");
    // Nobody can make a directory in a file, not even root.
    fs::write(scratch.0.join("file"), "").expect("we can write it");
    let refusal = Cache::open(&scratch.0.join("file/warpgrind/code"), DEFAULT_LIMIT).expect_err("it is a file");
    assert!(matches!(refusal, Refusal::Unusable { .. }), "{refusal}");
    let refusal = Cache::open(Path::new("/proc/warpgrind/code"), DEFAULT_LIMIT).expect_err("nobody can write there");
    assert!(matches!(refusal, Refusal::Unusable { .. } | Refusal::Missing { .. }), "{refusal}");

    // What was written before can still be read.
    let cache = scratch.open();
    cache.put(&id("a"), b"contents");
    if !is_root() {
        fs::set_permissions(scratch.code(), Permissions::from_mode(0o500)).expect("it is ours");
        let cache = scratch.open();
        assert_eq!(cache.get(&id("a")).as_deref(), Some(&b"contents"[..]));
        cache.put(&id("b"), b"contents");
        assert_eq!(cache.get(&id("b")), None);
        fs::set_permissions(scratch.code(), Permissions::from_mode(0o700)).expect("it is ours");
    }
}

#[test]
fn places_of_the_user() {
    let with = |pairs: &[(&str, &str)]| {
        let pairs: Vec<(String, String)> =
            pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        cache::directory(move |name| Some(pairs.iter().find(|(other, _)| other == name)?.1.clone().into()))
    };
    let path = |text: &str| PathBuf::from(text);
    assert_eq!(with(&[("HOME", "/h")]).unwrap(), path("/h/.cache/warpgrind/code"));
    assert_eq!(with(&[("HOME", "/h"), ("XDG_CACHE_HOME", "/x")]).unwrap(), path("/x/warpgrind/code"));
    assert_eq!(with(&[("HOME", "/h"), ("XDG_CACHE_HOME", "x")]).unwrap(), path("/h/.cache/warpgrind/code"));
    assert_eq!(with(&[("HOME", "/h"), ("XDG_CACHE_HOME", "")]).unwrap(), path("/h/.cache/warpgrind/code"));
    for none in [&[][..], &[("HOME", "")], &[("HOME", "h")]] {
        assert!(matches!(with(none), Err(Refusal::NoHome)));
    }
}

#[test]
fn the_least_recently_used_entries_go_first() {
    let scratch = Scratch::new("eviction");
    let cache = Cache::open(&scratch.code(), 100_000).expect("the directory is ours");
    for number in 0..9 {
        cache.put(&id(&number.to_string()), &[number; 10_000]);
        // As if an hour lay between them.
        for file in scratch.entries() {
            let file = fs::File::options().write(true).open(file).expect("it is ours");
            let before = file.metadata().and_then(|file| file.modified()).expect("files have times");
            file.set_modified(before - Duration::from_secs(3600)).expect("it is ours");
        }
    }
    // Used again, the oldest one is the newest.
    assert!(cache.get(&id("0")).is_some());
    cache.put(&id("9"), &[9; 10_000]);
    cache.put(&id("10"), &[10; 10_000]);
    let left: Vec<u8> = (0..=10).filter(|number| cache.has(&id(&number.to_string()))).collect();
    assert!(left.contains(&0) && left.contains(&9) && left.contains(&10) && !left.contains(&1), "{left:?}");
    let usage = cache::usage(&scratch.code()).expect("the directory is ours");
    assert!(usage.bytes <= 100_000, "{usage:?}");
    assert_eq!(usage.entries, left.len() as u64);
    // One entry does not drive out the others.
    cache.put(&id("large"), &[0; 30_000]);
    assert!(!cache.has(&id("large")));
}

#[test]
fn what_was_never_finished_goes_after_some_time() {
    let scratch = Scratch::new("unfinished");
    let cache = scratch.open();
    let (old, new) = (scratch.code().join("new-0"), scratch.code().join("new-1"));
    for path in [&old, &new] {
        fs::write(path, "half").expect("we can write it");
    }
    let file = fs::File::options().write(true).open(&old).expect("it is ours");
    file.set_modified(SystemTime::now() - Duration::from_secs(7200)).expect("it is ours");
    cache.put(&id("a"), b"contents");
    assert!(!old.exists() && new.exists());
}

#[test]
fn clearing_leaves_nothing_of_ours() {
    let scratch = Scratch::new("clear");
    assert_eq!(cache::usage(&scratch.code()).expect("nothing is no failure"), cache::Usage::default());
    assert_eq!(cache::clear(&scratch.code()).expect("nothing is no failure"), cache::Usage::default());
    assert!(!scratch.code().exists());
    let cache = scratch.open();
    cache.put(&id("a"), b"contents");
    cache.put(&id("b"), b"contents");
    fs::write(scratch.code().join("note"), "of somebody").expect("we can write it");
    let usage = cache::usage(&scratch.code()).expect("the directory is ours");
    assert_eq!((usage.entries, usage.bytes), (2, 2 * (8 + 32)));
    assert!(usage.oldest_use.is_some());
    assert_eq!(cache::clear(&scratch.code()).expect("the directory is ours"), usage);
    let left: Vec<_> = fs::read_dir(scratch.code()).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(left, ["note"]);
    // Who has it open goes on; who comes later has another key.
    cache.put(&id("a"), b"contents");
    assert_eq!(scratch.open().get(&id("a")), None);
}

/// Does nothing by itself: `processes_at_once` starts it several times.
#[test]
fn one_of_several_processes() {
    let Some(path) = std::env::var_os("CACHE_OF_SEVERAL_PROCESSES") else { return };
    let cache = Cache::open(Path::new(&path), 200_000).expect("the directory is ours");
    for round in 0..400_u32 {
        let name = (round % 40).to_string();
        let contents = name.repeat(4000);
        match cache.get(&id(&name)) {
            Some(found) => assert_eq!(found, contents.as_bytes()),
            None => cache.put(&id(&name), contents.as_bytes()),
        }
    }
}

#[test]
fn processes_at_once() {
    let scratch = Scratch::new("several");
    let start = || {
        Command::new(std::env::current_exe().expect("we are a program"))
            .args(["--exact", "one_of_several_processes"])
            .env("CACHE_OF_SEVERAL_PROCESSES", scratch.code())
            .stdout(std::process::Stdio::null())
            .spawn()
            .expect("we can start ourselves")
    };
    let processes: Vec<_> = (0..4).map(|_| start()).collect();
    for mut process in processes {
        assert!(process.wait().expect("it ends").success());
    }
    let usage = cache::usage(&scratch.code()).expect("the directory is ours");
    assert!((1..=40).contains(&usage.entries) && usage.bytes < 400_000, "{usage:?}");
    let names = fs::read_dir(scratch.code()).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    assert_eq!(names.filter(|name| name.starts_with("new-")).count(), 0);
}
