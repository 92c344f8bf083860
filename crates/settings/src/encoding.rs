//! Settings as the value of an environment variable: the version, then `key=value` for each setting, with a space between
//! them. A list has its key once for each element; of other keys the last one counts. In a value, spaces, `%` and all
//! bytes that are not printable ASCII are `%` and two hexadecimal digits, so that a path survives whatever is in it.
//!
//! ```text
//! WARPGRIND_SETTINGS=v1 library=/opt/my%20tools/libwarpgrind_cuda.so trace-children=yes seed=17 tool=memcheck …
//! ```
//!
//! A flag that only one tool knows has the key `TOOL.FLAG`: no other key has a dot.

use std::ffi::OsString;
use std::fmt;
use std::fmt::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::{ApiErrors, Device, Schedule, Settings, ToolFlag, Tools};

/// The environment variable.
pub const VARIABLE: &str = "WARPGRIND_SETTINGS";

/// Longer values are not read. Linux hands no longer string to a program (`MAX_ARG_STRLEN`).
pub const MAX_BYTES: usize = 128 << 10;

/// What a value begins with. It changes when a value of a former version could be misunderstood.
const VERSION: &str = "v1";

/// Why settings cannot be read. What is cited is cut short, and has no control characters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Error {
    /// The value is longer than [`MAX_BYTES`].
    TooLong {
        /// How long it is.
        bytes: usize,
    },
    /// The value is of another version of Warpgrind, or of somebody else.
    Version {
        /// What it begins with.
        found: String,
    },
    /// Something is not a key with a value.
    NoKey {
        /// What it is.
        found: String,
    },
    /// There is no such setting.
    UnknownKey {
        /// The key.
        key: String,
    },
    /// A setting has a value that it cannot have.
    Value {
        /// The setting.
        key: String,
        /// Its value.
        found: String,
        /// What the value must be.
        expected: &'static str,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { bytes } => write!(f, "{VARIABLE} has {bytes} bytes, and {MAX_BYTES} are allowed"),
            Self::Version { found } => {
                write!(f, "{VARIABLE} begins with `{found}`, and this version of Warpgrind reads `{VERSION}`")
            }
            Self::NoKey { found } => write!(f, "`{found}` in {VARIABLE} is not a key with a value"),
            Self::UnknownKey { key } => write!(f, "there is no setting `{key}`, which is in {VARIABLE}"),
            Self::Value { key, found, expected } => write!(f, "`{key}` in {VARIABLE} is `{found}`, not {expected}"),
        }
    }
}

impl std::error::Error for Error {}

impl Settings {
    /// The settings of the run that this process belongs to, if it belongs to one.
    pub fn from_environment() -> Result<Option<Self>, Error> {
        std::env::var_os(VARIABLE).map(|value| Self::decode(value.as_bytes())).transpose()
    }

    /// The value of the environment variable: printable ASCII.
    pub fn encode(&self) -> String {
        // Without `..`, so that no setting is forgotten.
        let Self { library, trace_children, device, tools } = self;
        let Device {
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
        } = device;
        let Tools {
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
        } = tools;
        let mut text = VERSION.to_owned();
        put(&mut text, "library", library.as_deref().map(bytes_of));
        put(&mut text, "trace-children", [word(*trace_children)]);
        put(&mut text, "driver", driver.as_deref().map(bytes_of));
        put(&mut text, "gpu", gpus);
        put(&mut text, "device-memory", memory.map(|bytes| bytes.to_string()));
        put(&mut text, "launch-timeout", launch_timeout.map(|seconds| seconds.to_string()));
        put(&mut text, "compute-capability", compute_capability.map(|capability| capability.to_string()));
        put(&mut text, "threads", threads.map(|threads| threads.to_string()));
        put(&mut text, "cpu", cpu);
        put(&mut text, "schedule", schedule.map(word));
        put(&mut text, "preempt", preempt.then_some(word(true)));
        put(&mut text, "seed", seed.map(|seed| seed.to_string()));
        put(&mut text, "width", width.map(|width| width.to_string()));
        put(&mut text, "instruction-budget", instruction_budget.map(|budget| budget.to_string()));
        put(&mut text, "cache-size", cache_size.map(|bytes| bytes.to_string()));
        put(&mut text, "tool", names);
        put(&mut text, "session", session.as_deref().map(bytes_of));
        put(&mut text, "kernel-name", kernel_names);
        put(&mut text, "kernel-name-exclude", excluded_kernel_names);
        put(&mut text, "launch-skip", [launch_skip.to_string()]);
        put(&mut text, "launch-count", launch_count.map(|count| count.to_string()));
        put(&mut text, "leak-check", [word(*leak_check)]);
        put(&mut text, "report-api-errors", [word(*api_errors)]);
        put(&mut text, "stop-on-error", [word(*stop_on_error)]);
        put(&mut text, "host-callers", [host_callers.to_string()]);
        for ToolFlag { tool, name, value } in flags {
            put(&mut text, &format!("{tool}.{name}"), [value]);
        }
        text
    }

    /// Reads the value of the environment variable, which anybody may have written.
    pub fn decode(value: &[u8]) -> Result<Self, Error> {
        if value.len() > MAX_BYTES {
            return Err(Error::TooLong { bytes: value.len() });
        }
        let mut words = value.split(|&byte| byte == b' ');
        let version = words.next().unwrap_or_default();
        if version != VERSION.as_bytes() {
            return Err(Error::Version { found: cited(version) });
        }
        let mut settings = Self::default();
        for word in words {
            settings.set(word)?;
        }
        Ok(settings)
    }

    /// Takes one `key=value`.
    fn set(&mut self, word: &[u8]) -> Result<(), Error> {
        let Some(at) = word.iter().position(|&byte| byte == b'=') else {
            return Err(Error::NoKey { found: cited(word) });
        };
        let value = Value { key: &word[..at], escaped: &word[at + 1..] };
        let (device, tools) = (&mut self.device, &mut self.tools);
        match value.key {
            b"library" => self.library = Some(value.path()?),
            b"trace-children" => self.trace_children = value.word()?,
            b"driver" => device.driver = Some(value.path()?),
            b"gpu" => device.gpus.push(value.text()?),
            b"device-memory" => device.memory = Some(value.number()?),
            b"launch-timeout" => device.launch_timeout = Some(value.number()?),
            b"compute-capability" => device.compute_capability = Some(value.number()?),
            b"threads" => device.threads = Some(value.number()?),
            b"cpu" => device.cpu = Some(value.text()?),
            b"schedule" => device.schedule = Some(value.word()?),
            b"preempt" => device.preempt = value.word()?,
            b"seed" => device.seed = Some(value.number()?),
            b"width" => device.width = Some(value.number()?),
            b"instruction-budget" => device.instruction_budget = Some(value.number()?),
            b"cache-size" => device.cache_size = Some(value.number()?),
            b"tool" => tools.names.push(value.text()?),
            b"session" => tools.session = Some(value.path()?),
            b"kernel-name" => tools.kernel_names.push(value.text()?),
            b"kernel-name-exclude" => tools.excluded_kernel_names.push(value.text()?),
            b"launch-skip" => tools.launch_skip = value.number()?,
            b"launch-count" => tools.launch_count = Some(value.number()?),
            b"leak-check" => tools.leak_check = value.word()?,
            b"report-api-errors" => tools.api_errors = value.word()?,
            b"stop-on-error" => tools.stop_on_error = value.word()?,
            b"host-callers" => tools.host_callers = value.number()?,
            key => match tool_flag(key) {
                Some((tool, name)) => tools.flags.push(ToolFlag { tool, name, value: value.text()? }),
                None => return Err(Error::UnknownKey { key: cited(key) }),
            },
        }
        Ok(())
    }
}

/// The tool and the flag of a key: both are words with dashes.
fn tool_flag(key: &[u8]) -> Option<(String, String)> {
    let (tool, name) = str::from_utf8(key).ok()?.split_once('.')?;
    let is_word = |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    };
    (is_word(tool) && is_word(name)).then(|| (tool.to_owned(), name.to_owned()))
}

/// What is one of a few words.
trait Words: Copy + PartialEq + 'static {
    const WORDS: &[(&str, Self)];
    const EXPECTED: &str;
}

impl Words for bool {
    const WORDS: &[(&str, Self)] = &[("yes", true), ("no", false)];
    const EXPECTED: &str = "`yes` or `no`";
}

impl Words for Schedule {
    const WORDS: &[(&str, Self)] = &[("in-order", Self::InOrder), ("random", Self::Random), ("pct", Self::Pct)];
    const EXPECTED: &str = "`in-order`, `random` or `pct`";
}

impl Words for ApiErrors {
    const WORDS: &[(&str, Self)] = &[("all", Self::All), ("explicit", Self::Explicit), ("no", Self::No)];
    const EXPECTED: &str = "`all`, `explicit` or `no`";
}

fn word<W: Words>(value: W) -> &'static str {
    W::WORDS.iter().find(|(_, known)| *known == value).expect("each value has a word").0
}

fn bytes_of(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

/// Adds a setting with each of these values.
fn put(text: &mut String, key: &str, values: impl IntoIterator<Item = impl AsRef<[u8]>>) {
    for value in values {
        text.push(' ');
        text.push_str(key);
        text.push('=');
        for &byte in value.as_ref() {
            if byte.is_ascii_graphic() && byte != b'%' {
                text.push(char::from(byte));
            } else {
                write!(text, "%{byte:02x}").expect("a string takes everything");
            }
        }
    }
}

/// A setting that is being read.
struct Value<'a> {
    key: &'a [u8],
    escaped: &'a [u8],
}

impl Value<'_> {
    fn bytes(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::with_capacity(self.escaped.len());
        let mut rest = self.escaped;
        while let Some((&byte, after)) = rest.split_first() {
            let (byte, after) = if byte == b'%' {
                escaped_byte(after).ok_or_else(|| self.error("text with two hexadecimal digits after each `%`"))?
            } else {
                (byte, after)
            };
            bytes.push(byte);
            rest = after;
        }
        // Neither a path nor a name has one, and C strings end there.
        if bytes.contains(&0) { Err(self.error("text without zero bytes")) } else { Ok(bytes) }
    }

    fn path(&self) -> Result<PathBuf, Error> {
        Ok(PathBuf::from(OsString::from_vec(self.bytes()?)))
    }

    fn text(&self) -> Result<String, Error> {
        String::from_utf8(self.bytes()?).map_err(|_| self.error("UTF-8"))
    }

    fn number<N: FromStr>(&self) -> Result<N, Error> {
        str::from_utf8(self.escaped).ok().and_then(|text| text.parse().ok()).ok_or_else(|| self.error("a number"))
    }

    fn word<W: Words>(&self) -> Result<W, Error> {
        let known = W::WORDS.iter().find(|(word, _)| word.as_bytes() == self.escaped);
        known.map(|(_, value)| *value).ok_or_else(|| self.error(W::EXPECTED))
    }

    fn error(&self, expected: &'static str) -> Error {
        Error::Value { key: cited(self.key), found: cited(self.escaped), expected }
    }
}

/// The byte that two hexadecimal digits stand for, and what is after them.
fn escaped_byte(text: &[u8]) -> Option<(u8, &[u8])> {
    let (&[high, low], after) = text.split_first_chunk()?;
    let digit = |digit: u8| char::from(digit).to_digit(16);
    Some(((digit(high)? << 4 | digit(low)?) as u8, after))
}

/// As much of what was found as a sentence can have.
fn cited(found: &[u8]) -> String {
    const MOST: usize = 60;
    let more = if found.len() > MOST { "…" } else { "" };
    format!("{}{more}", found[..found.len().min(MOST)].escape_ascii())
}
