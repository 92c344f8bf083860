//! What protects kernels: a tool, or a variant of it.

use anyhow::{Result, bail};
use settings::ToolFlag;

use super::TOOL;

/// A tool that protects kernels, such as `rmt`, or a variant of it, such as `rmt:pair`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Protection {
    pub(super) tool: &'static str,
    variant: Option<String>,
}

impl Protection {
    /// `TOOL` or `TOOL:VARIANT`.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let (name, variant) = text.split_once(':').map_or((text, None), |(name, variant)| (name, Some(variant)));
        if name == "stm" {
            bail!(
                "stm is no tool that could be switched on, but a header that programs are built with: leave it out, and try the \
                 program that uses it"
            );
        }
        let Some(tool) = tools::tool(name).filter(|tool| tool.name() != TOOL) else {
            bail!("there is no tool `{name}` that could protect kernels: `--with rmt` is one")
        };
        if let Some(variant) = variant {
            let flag = tool.flags().iter().find(|flag| flag.name == "variant").and_then(|flag| flag.value);
            let Some(flag) = flag else { bail!("{name} has no variants: write `--with {name}`") };
            (flag.check)(variant).map_err(anyhow::Error::msg)?;
        }
        Ok(Self { tool: tool.name(), variant: variant.map(str::to_owned) })
    }

    pub(super) fn flag(&self) -> Option<ToolFlag> {
        let value = self.variant.clone()?;
        Some(ToolFlag { tool: self.tool.to_owned(), name: "variant".to_owned(), value })
    }
}
