//! A sequence of calls: data that can be written, read, shortened, and made again.
//!
//! As text it is a file that people can read and change:
//!
//! ```text
//! threads 2
//! end return
//! 0 cuInit 0x0
//! 0 cuMemAlloc_v2 &memory.0 0x1000
//! 1 cuMemcpyHtoD_v2 $memory.0+16 host0 0x40
//! 1 cuMemcpy2D_v2 {16:4=0x2 56:8=$memory.1}
//! ```
//!
//! A call has its thread, its function, and its arguments. `$memory.0` is what a call wrote to `&memory.0`, zero before;
//! `host0` is memory of the host; `{…}` is the address of a struct with these fields (`offset:bytes=value`), zero
//! elsewhere, and `<24 …>` such a struct itself, of 24 bytes.

use std::fmt::{self, Write};
use std::str::FromStr;

use anyhow::{Context, Result, anyhow, bail, ensure};

/// Calls, and who makes them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Sequence {
    /// How many threads there are.
    pub(crate) threads: usize,
    pub(crate) end: End,
    pub(crate) calls: Vec<Call>,
}

/// How the process ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// All threads have ended, and `main` returns.
    Return,
    /// The first thread calls `exit` when it is done, whatever the others do.
    Exit,
    /// The same with `_exit`.
    AtOnce,
    /// The first thread forks when it is done, and the child makes the calls of that thread again.
    Fork,
}

impl End {
    pub(crate) const ALL: [Self; 4] = [Self::Return, Self::Exit, Self::AtOnce, Self::Fork];

    fn name(self) -> &'static str {
        match self {
            Self::Return => "return",
            Self::Exit => "exit",
            Self::AtOnce => "_exit",
            Self::Fork => "fork",
        }
    }
}

/// A call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Call {
    pub(crate) thread: usize,
    pub(crate) function: String,
    pub(crate) arguments: Vec<Argument>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Argument {
    Word(Value),
    Struct(Memory),
}

/// Memory of so many bytes: what is not zero, by its offset and size.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Memory {
    pub(crate) bytes: usize,
    pub(crate) fields: Vec<(usize, usize, Value)>,
}

/// What is passed, or is in a field.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Value {
    Number(u64),
    /// What a call has written there, and so much more.
    Slot(Slot, u64),
    /// Where a call writes.
    SlotAddress(Slot),
    /// An address of the host: of which buffer, and which byte.
    Host(usize, usize),
    /// One of the texts.
    Text(usize),
    /// One of the images of modules.
    Image(usize),
    /// A function of the host that does nothing.
    Function,
    /// The address of memory that is valid during the call.
    Pointer(Memory),
}

/// A place for what calls give.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Slot {
    pub(crate) kind: String,
    pub(crate) index: usize,
}

impl fmt::Display for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "threads {}\nend {}", self.threads, self.end.name())?;
        self.calls.iter().try_for_each(|call| writeln!(f, "{call}"))
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.thread, self.function)?;
        for argument in &self.arguments {
            match argument {
                Argument::Word(value) => write!(f, " {value}")?,
                Argument::Struct(memory) => write!(f, " <{}{}>", memory.bytes, fields(memory, true))?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let offset = |offset: u64| if offset == 0 { String::new() } else { format!("+{offset}") };
        match self {
            Self::Number(number) => write!(f, "{number:#x}"),
            Self::Slot(slot, by) => write!(f, "${}.{}{}", slot.kind, slot.index, offset(*by)),
            Self::SlotAddress(slot) => write!(f, "&{}.{}", slot.kind, slot.index),
            Self::Host(buffer, by) => write!(f, "host{buffer}{}", offset(*by as u64)),
            Self::Text(index) => write!(f, "text{index}"),
            Self::Image(index) => write!(f, "image{index}"),
            Self::Function => f.write_str("function"),
            Self::Pointer(memory) => write!(f, "{{{}}}", fields(memory, false)),
        }
    }
}

fn fields(memory: &Memory, follows: bool) -> String {
    let mut text = String::new();
    for (offset, bytes, value) in &memory.fields {
        let separator = if follows || !text.is_empty() { " " } else { "" };
        write!(text, "{separator}{offset}:{bytes}={value}").expect("writing to a string");
    }
    text
}

impl FromStr for Sequence {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut sequence = Self { threads: 1, end: End::Return, calls: Vec::new() };
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            let read = |sequence: &mut Self| -> Result<()> {
                if let Some(threads) = line.strip_prefix("threads ") {
                    sequence.threads = threads.parse()?;
                } else if let Some(name) = line.strip_prefix("end ") {
                    let end = End::ALL.into_iter().find(|end| end.name() == name);
                    sequence.end = end.ok_or_else(|| anyhow!("no way to end is called `{name}`"))?;
                } else if !line.is_empty() && !line.starts_with('#') {
                    sequence.calls.push(Reader { rest: line }.call()?);
                }
                Ok(())
            };
            read(&mut sequence).with_context(|| format!("line {}", index + 1))?;
        }
        let most = sequence.calls.iter().map(|call| call.thread).max().unwrap_or(0);
        ensure!(most < sequence.threads, "thread {most} makes calls, but there are {} threads", sequence.threads);
        Ok(sequence)
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn call(&mut self) -> Result<Call> {
        let thread = self.number()? as usize;
        self.spaces();
        let function = self.word().to_owned();
        ensure!(!function.is_empty(), "no function");
        let mut arguments = Vec::new();
        loop {
            self.spaces();
            if self.rest.is_empty() {
                return Ok(Call { thread, function, arguments });
            }
            arguments.push(if self.take("<") {
                let bytes = self.number()? as usize;
                Argument::Struct(Memory { bytes, fields: self.fields(">")? })
            } else {
                Argument::Word(self.value()?)
            });
        }
    }

    fn value(&mut self) -> Result<Value> {
        if self.take("{") {
            return Ok(Value::Pointer(Memory { bytes: 0, fields: self.fields("}")? }));
        }
        if self.take("$") {
            let slot = self.slot()?;
            return Ok(Value::Slot(slot, self.offset()?));
        }
        if self.take("&") {
            return Ok(Value::SlotAddress(self.slot()?));
        }
        if self.take("host") {
            let buffer = self.number()? as usize;
            return Ok(Value::Host(buffer, self.offset()? as usize));
        }
        if self.take("text") {
            return Ok(Value::Text(self.number()? as usize));
        }
        if self.take("image") {
            return Ok(Value::Image(self.number()? as usize));
        }
        if self.take("function") {
            return Ok(Value::Function);
        }
        Ok(Value::Number(self.number()?))
    }

    fn fields(&mut self, end: &str) -> Result<Vec<(usize, usize, Value)>> {
        let mut fields = Vec::new();
        loop {
            self.spaces();
            if self.take(end) {
                return Ok(fields);
            }
            let offset = self.number()? as usize;
            ensure!(self.take(":"), "`:` expected at `{}`", self.rest);
            let bytes = self.number()? as usize;
            ensure!(self.take("="), "`=` expected at `{}`", self.rest);
            ensure!([1, 2, 4, 8].contains(&bytes), "a field of {bytes} bytes");
            fields.push((offset, bytes, self.value()?));
        }
    }

    fn slot(&mut self) -> Result<Slot> {
        let kind = self.word().to_owned();
        ensure!(self.take("."), "`.` expected at `{}`", self.rest);
        Ok(Slot { kind, index: self.number()? as usize })
    }

    fn offset(&mut self) -> Result<u64> {
        if self.take("+") { self.number() } else { Ok(0) }
    }

    fn number(&mut self) -> Result<u64> {
        let word = self.word();
        let number = match word.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => word.parse().ok(),
        };
        match number {
            Some(number) => Ok(number),
            None => bail!("a number expected at `{word}{}`", self.rest),
        }
    }

    fn word(&mut self) -> &'a str {
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn take(&mut self, text: &str) -> bool {
        let taken = self.rest.strip_prefix(text);
        self.rest = taken.unwrap_or(self.rest);
        taken.is_some()
    }

    fn spaces(&mut self) {
        self.rest = self.rest.trim_start();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_back() {
        let text = "threads 2\nend _exit\n0 cuInit 0x0\n1 cuX $memory.0+16 &CUstream_st.1 host0+4 text3 image0 function\n\
                    1 cuY {16:4=0x2 56:8={0:8=$memory.1}} <12 0:4=0x1 8:4=0xffffffff> {}\n";
        let sequence: Sequence = text.parse().expect("it is right");
        assert_eq!(sequence.to_string(), text);
        assert!("threads 1\n1 cuInit 0x0".parse::<Sequence>().is_err());
        assert!("0 cuX {1:3=0}".parse::<Sequence>().is_err());
    }
}
