//! All functions of CUDA's driver and runtime: what `build.rs` makes of the lists in `api/`.
//!
//! Those in `ffi` are checked against the headers' signatures, the others say that they are not supported. Functions of the
//! driver are exported by `no_mangle`; those of the runtime here, under the names of their versions.

/// What `cuGetProcAddress` says about a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lookup {
    /// The function's address.
    Found(*const ()),
    /// The driver has it, but only in versions later than the one asked for.
    Later,
    /// There is no function of this name.
    Unknown,
}

/// Finds a function of the driver, as it was in a version of CUDA (12040 is 12.4). With `per_thread` it is the one for
/// which stream 0 is the calling thread's stream, if there are two.
pub(crate) fn driver_function(name: &str, version: u32, per_thread: bool) -> Lookup {
    let start = lookup::DRIVER.partition_point(|function| function.name < name);
    let versions = || lookup::DRIVER[start..].iter().take_while(|function| function.name == name);
    if versions().next().is_none() {
        return Lookup::Unknown;
    }
    versions()
        .filter(|function| function.version <= version && (per_thread || !function.per_thread))
        .max_by_key(|function| (function.per_thread, function.version))
        .map_or(Lookup::Later, |function| Lookup::Found(function.address.0))
}

/// The address of a function.
struct Address(*const ());

// SAFETY: the address of a function is a number like any other.
unsafe impl Sync for Address {}

struct DriverFunction {
    name: &'static str,
    version: u32,
    per_thread: bool,
    address: Address,
}

mod lookup {
    use super::{Address, DriverFunction};

    include!(concat!(env!("OUT_DIR"), "/lookup.rs"));
}

#[allow(unused_imports, reason = "which types occur depends on what is implemented")]
mod signatures {
    use std::ffi::{c_char, c_int, c_uchar, c_uint, c_ulonglong, c_ushort, c_void};

    use crate::abi::driver::*;
    use crate::abi::runtime::*;

    include!(concat!(env!("OUT_DIR"), "/signatures.rs"));
}

#[allow(non_snake_case, reason = "names are those of the headers")]
mod unsupported {
    include!(concat!(env!("OUT_DIR"), "/unsupported.rs"));
}

include!(concat!(env!("OUT_DIR"), "/versions.rs"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_order() {
        assert!(lookup::DRIVER.is_sorted_by_key(|function| (function.name, function.version, function.per_thread)));
    }

    #[test]
    fn the_newest_version_that_the_program_knows_is_found() {
        let get = |version, per_thread| driver_function("cuMemcpyHtoD", version, per_thread);
        assert_eq!(get(1000, false), Lookup::Later);
        assert_ne!(get(2000, false), get(3020, false));
        assert_eq!(get(3020, false), get(12000, false));
        assert_eq!(get(3020, false), get(3020, true));
        assert_ne!(get(12000, false), get(12000, true));
        assert_eq!(driver_function("cuMemcpyHtoD_v2", 12000, false), Lookup::Unknown);
    }

    #[test]
    fn a_function_of_another_name_is_found_under_the_old_one() {
        let new = driver_function("cuGraphInstantiateWithFlags", 13000, false);
        assert_eq!(driver_function("cuGraphInstantiate", 13000, false), new);
        assert_ne!(driver_function("cuGraphInstantiate", 11040, false), new);
    }
}
