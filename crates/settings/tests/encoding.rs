//! What is written is read back, and what nobody wrote is refused with a sentence.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use settings::{ApiErrors, Device, Error, MAX_BYTES, Schedule, Settings, ToolFlag, Tools};

/// Paths of any bytes that a path can have.
fn path() -> impl Strategy<Value = PathBuf> {
    vec(1_u8.., 0..40).prop_map(|bytes| PathBuf::from(OsString::from_vec(bytes)))
}

fn text() -> impl Strategy<Value = String> {
    "[^\0]{0,20}"
}

fn device() -> impl Strategy<Value = Device> {
    let numbers = (
        option::of(any::<u64>()),
        option::of(any::<u64>()),
        option::of(any::<u32>()),
        option::of(any::<u32>()),
        option::of(any::<u64>()),
        option::of(any::<u64>()),
    );
    let schedule = prop_oneof![Just(Schedule::InOrder), Just(Schedule::Random), Just(Schedule::Pct)];
    let scheduling = (option::of(schedule), any::<bool>(), option::of(any::<u32>()), option::of(any::<u64>()));
    (numbers, (option::of(path()), vec(text(), 0..3), option::of(text())), scheduling).prop_map(
        |(
            (memory, launch_timeout, compute_capability, threads, seed, cache_size),
            (driver, gpus, cpu),
            (schedule, preempt, width, instruction_budget),
        )| Device {
            driver,
            gpus,
            memory,
            launch_timeout,
            compute_capability,
            threads,
            cpu,
            schedule,
            preempt,
            seed,
            width,
            instruction_budget,
            cache_size,
        },
    )
}

fn tools() -> impl Strategy<Value = Tools> {
    let names = (vec(text(), 0..4), option::of(path()), vec(text(), 0..4), vec(text(), 0..4));
    let numbers = (any::<u64>(), option::of(any::<u64>()), any::<u64>());
    let api_errors = prop_oneof![Just(ApiErrors::All), Just(ApiErrors::Explicit), Just(ApiErrors::No)];
    let flag = ("[a-z0-9-]{1,8}", "[a-z0-9-]{1,8}", text());
    let flags = vec(flag.prop_map(|(tool, name, value)| ToolFlag { tool, name, value }), 0..4);
    (names, numbers, any::<bool>(), api_errors, any::<bool>(), flags).prop_map(
        |(
            (names, session, kernel_names, excluded_kernel_names),
            (launch_skip, launch_count, host_callers),
            leak_check,
            api_errors,
            stop_on_error,
            flags,
        )| Tools {
            names,
            session,
            kernel_names,
            excluded_kernel_names,
            launch_skip,
            launch_count,
            leak_check,
            api_errors,
            stop_on_error,
            host_callers,
            flags,
        },
    )
}

fn settings() -> impl Strategy<Value = Settings> {
    (option::of(path()), any::<bool>(), device(), tools())
        .prop_map(|(library, trace_children, device, tools)| Settings { library, trace_children, device, tools })
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(settings in settings()) {
        let text = settings.encode();
        prop_assert!(text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()), "{text}");
        prop_assert_eq!(Settings::decode(text.as_bytes()), Ok(settings));
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in vec(any::<u8>(), 0..200)) {
        refused_or_stable(&bytes)?;
    }

    #[test]
    fn damaged_settings_are_read_or_refused(
        settings in settings(),
        damage in vec((any::<prop::sample::Index>(), any::<u8>(), any::<bool>()), 1..6),
    ) {
        let mut bytes = settings.encode().into_bytes();
        for (at, byte, is_inserted) in damage {
            let at = at.index(bytes.len());
            if is_inserted { bytes.insert(at, byte) } else { bytes[at] = byte }
        }
        refused_or_stable(&bytes)?;
    }
}

/// What is read means the same when it is written again; what is not is answered with a short sentence for a terminal.
fn refused_or_stable(bytes: &[u8]) -> Result<(), TestCaseError> {
    match Settings::decode(bytes) {
        Ok(settings) => prop_assert_eq!(Settings::decode(settings.encode().as_bytes()), Ok(settings)),
        Err(error) => {
            let sentence = error.to_string();
            prop_assert!(sentence.len() < 700 && !sentence.chars().any(char::is_control), "{sentence:?}");
        }
    }
    Ok(())
}

#[test]
fn the_encoding() {
    let settings = Settings {
        library: Some(PathBuf::from(OsString::from_vec(b"/a b/100%/\xff.so".to_vec()))),
        device: Device { seed: Some(5), ..Device::default() },
        tools: Tools {
            names: vec!["memcheck".to_owned(), "nop".to_owned()],
            kernel_names: vec!["regex=^ä.*b$".to_owned()],
            ..Tools::default()
        },
        ..Settings::default()
    };
    assert_eq!(
        settings.encode(),
        "v1 library=/a%20b/100%25/%ff.so trace-children=yes seed=5 tool=memcheck tool=nop \
         kernel-name=regex=^%c3%a4.*b$ launch-skip=0 leak-check=no report-api-errors=explicit stop-on-error=yes \
         host-callers=24"
    );
    assert_eq!(Settings::decode(b"v1"), Ok(Settings::default()));
}

#[test]
fn what_is_wrong_is_said() {
    let said = |text: &str| Settings::decode(text.as_bytes()).expect_err(text).to_string();
    for (text, sentence) in [
        ("", "WARPGRIND_SETTINGS begins with ``, and this version of Warpgrind reads `v1`"),
        ("v2 x=1", "WARPGRIND_SETTINGS begins with `v2`, and this version of Warpgrind reads `v1`"),
        ("v1 colour=red", "there is no setting `colour`, which is in WARPGRIND_SETTINGS"),
        ("v1 memcheck.\x1b=1", "there is no setting `memcheck.\\x1b`, which is in WARPGRIND_SETTINGS"),
        ("v1 seed", "`seed` in WARPGRIND_SETTINGS is not a key with a value"),
        ("v1 seed=1 ", "`` in WARPGRIND_SETTINGS is not a key with a value"),
        ("v1 seed=-1", "`seed` in WARPGRIND_SETTINGS is `-1`, not a number"),
        ("v1 seed=18446744073709551616", "`seed` in WARPGRIND_SETTINGS is `18446744073709551616`, not a number"),
        ("v1 leak-check=full", "`leak-check` in WARPGRIND_SETTINGS is `full`, not `yes` or `no`"),
        ("v1 library=/%00", "`library` in WARPGRIND_SETTINGS is `/%00`, not text without zero bytes"),
        ("v1 cpu=%ff", "`cpu` in WARPGRIND_SETTINGS is `%ff`, not UTF-8"),
        ("v1 cpu=%f", "`cpu` in WARPGRIND_SETTINGS is `%f`, not text with two hexadecimal digits after each `%`"),
    ] {
        assert_eq!(said(text), sentence);
    }
    let long = format!("v1 cpu={}", "x".repeat(MAX_BYTES));
    assert_eq!(Settings::decode(long.as_bytes()), Err(Error::TooLong { bytes: long.len() }));
    assert!(Settings::decode(&long.as_bytes()[..MAX_BYTES]).is_ok());
}
