//! What tools bring to the device: PTX in which numbers that Rust knows, too, stand by their names.

use std::fmt::Write;

use ptx::diagnostic::Severity;
use ptx::ir::Module;

use crate::context::{self, Layout};
use crate::error::RewriteError;

/// Functions and variables of a tool on the device, as PTX. All of them are `.weak`.
///
/// `$NAME` in the text stands for a constant: one of the tool, the offset of one of its [words](crate::context::Word), or one
/// of the [launch context](crate::context) such as `$COUNTERS`. Other names that begin with `$` are names of PTX, as compilers give to labels.
#[derive(Clone, Copy, Debug)]
pub struct DeviceCode {
    /// The text.
    pub text: &'static str,
    /// Names and values of the tool's own constants.
    pub constants: &'static [(&'static str, u64)],
}

impl DeviceCode {
    /// What every rewritten module contains, whatever tools there are.
    pub(crate) const RUNTIME: Self = Self { text: include_str!("runtime.ptx"), constants: &[] };

    /// The module. It is the tool's mistake, which the error names, if it is not right.
    pub(crate) fn parse(&self, tool: &'static str, layout: &Layout) -> Result<Module, RewriteError> {
        let parsed = ptx::parse(&self.with_numbers(tool, layout));
        let mut diagnostics = parsed.diagnostics;
        diagnostics.extend(ptx::verify(&parsed.module));
        match diagnostics.into_iter().find(|diagnostic| diagnostic.severity == Severity::Error) {
            None => Ok(parsed.module),
            Some(error) => {
                let line = parsed.module.lines.line(error.at);
                Err(RewriteError::DeviceCode { tool, line, message: error.message })
            }
        }
    }

    /// The text with the values of constants. What does not fit in 32 bits is a mask or an address: in hexadecimal.
    fn with_numbers(&self, tool: &str, layout: &Layout) -> String {
        let value = |name: &str| {
            let mut constants = self.constants.iter().chain(context::CONSTANTS);
            let constant = constants.find(|(constant, _)| *constant == name).map(|(_, value)| *value);
            constant.or_else(|| layout.named(tool, name).map(u64::from))
        };
        let mut parts = self.text.split('$');
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let is_in_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let (name, rest) = part.split_at(part.find(|c| !is_in_name(c)).unwrap_or(part.len()));
            match value(name) {
                None => write!(text, "${name}"),
                Some(value) if u32::try_from(value).is_ok() => write!(text, "{value}"),
                Some(value) => write!(text, "{value:#x}"),
            }
            .expect("writing to a string");
            text += rest;
        }
        text
    }
}
