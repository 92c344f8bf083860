//! The flags that choose launches.

use report::KernelFilter;

use super::places::{Launch, chosen};

/// Which launches faults strike.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Where faults strike")]
pub(crate) struct LaunchFlags {
    /// Strike only kernels whose name has this part; `kne=NAME` is the whole name, `regex=EXPR` a regular expression. Several
    /// may be given.
    #[arg(long, value_name = "NAME", value_parser = KernelFilter::parse)]
    kernel_name: Vec<KernelFilter>,
    /// Leave the first launches of these kernels out.
    #[arg(long, value_name = "N", default_value_t = 0)]
    launch_skip: usize,
    /// Strike only so many launches of these kernels.
    #[arg(long, value_name = "N")]
    launch_count: Option<usize>,
}

impl LaunchFlags {
    /// Whether each launch is meant.
    pub(crate) fn chosen(&self, launches: &[Launch]) -> Vec<bool> {
        let is_meant =
            |name: &str| self.kernel_name.is_empty() || self.kernel_name.iter().any(|filter| filter.matches(name));
        chosen(launches, is_meant, self.launch_skip, self.launch_count)
    }
}
