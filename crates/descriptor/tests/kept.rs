//! What happens to a descriptor that the program closes, and whose number it uses again.

use std::fs::{self, File, OpenOptions};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::path::PathBuf;

use descriptor::Kept;

fn temporary(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("warpgrind-kept-{}-{name}", std::process::id()))
}

fn file(name: &str) -> (PathBuf, File) {
    let path = temporary(name);
    let file = OpenOptions::new().create(true).truncate(true).write(true).open(&path);
    (path, file.expect("the directory of temporary files can be written to"))
}

/// Puts another file behind the number of a descriptor, as a program does that closes all and opens its own.
fn take_over(descriptor: BorrowedFd<'_>, other: &File) {
    use std::os::fd::{FromRawFd, IntoRawFd, OwnedFd};
    // SAFETY: the number is in use, and stays so: it is another file's from now on, and is not closed here.
    let mut number = unsafe { OwnedFd::from_raw_fd(descriptor.as_raw_fd()) };
    rustix::io::dup2(other, &mut number).expect("both are open");
    let _ = number.into_raw_fd();
}

#[test]
fn numbers_are_far_from_those_of_the_program() {
    let (path, own) = file("far");
    let own = Kept::new(own).expect("it is open");
    assert!(own.get().expect("nobody closed it").as_raw_fd() >= 200);
    fs::remove_file(path).expect("it is there");
}

#[test]
fn nothing_is_written_to_a_file_of_the_program() {
    let ((own_path, own), (path, other)) = (file("own"), file("other"));
    let mut kept = Kept::new(own).expect("it is open");
    kept.write_all(b"one").expect("it is ours");
    take_over(kept.get().expect("it is ours"), &other);
    assert!(kept.write_all(b"two").is_err());
    assert_eq!(fs::read(&path).expect("it is there"), b"");

    assert!(kept.replace(File::open(&path).expect("it is there")).is_err(), "that is another file");
    let again = OpenOptions::new().append(true).open(&own_path).expect("it is there");
    kept.replace(again).expect("that is the same");
    kept.write_all(b"two").expect("it is ours again");
    assert_eq!(fs::read(&own_path).expect("it is there"), b"onetwo");
    assert_eq!(fs::read(&path).expect("it is there"), b"");
    fs::remove_file(path).expect("it is there");
    fs::remove_file(own_path).expect("it is there");
}

#[test]
fn a_file_of_the_program_is_not_closed() {
    let ((own_path, own), (path, other)) = (file("dropped"), file("open"));
    let kept = Kept::new(own).expect("it is open");
    let number = kept.get().expect("it is ours").as_raw_fd();
    take_over(kept.get().expect("it is ours"), &other);
    drop(kept);
    // SAFETY: the number is that of `other`, which nobody has closed, or the check below fails.
    let theirs = unsafe { BorrowedFd::borrow_raw(number) };
    let inode = |descriptor: BorrowedFd<'_>| rustix::fs::fstat(descriptor).map(|status| status.st_ino);
    assert_eq!(inode(theirs), inode(other.as_fd()));
    fs::remove_file(path).expect("it is there");
    fs::remove_file(own_path).expect("it is there");
}
