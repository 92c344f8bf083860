//! What tests of the driver share.

use std::path::{Path, PathBuf};

/// The driver: the library that the test was built with, by cargo.
pub(crate) fn driver() -> PathBuf {
    let gpu = Path::new(env!("CARGO_BIN_EXE_warpgrind-stand-in-gpu"));
    let built = gpu.parent().expect("a program is in a directory");
    let name = "libwarpgrind_stand_in.so";
    let places = [built.join("deps").join(name), built.join(name)];
    places.into_iter().find(|place| place.exists()).expect("the library was built")
}
