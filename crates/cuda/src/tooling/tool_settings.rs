//! How tools are to be: what the command asks for, in the form in which launches ask for it.

use report::KernelFilter;
use settings::Tools;
use toolkit::Options;

/// How tools are to be.
#[derive(Clone, Debug)]
pub(super) struct ToolSettings {
    /// Whether a launch with findings ends with an error, as it would on a GPU; else the program goes on.
    pub(super) stop_on_error: bool,
    /// Which calls that return an error are reported.
    pub(super) api_errors: settings::ApiErrors,
    /// Only these kernels are checked; all if there are none.
    pub(super) only: Vec<KernelFilter>,
    /// These kernels are not checked.
    pub(super) except: Vec<KernelFilter>,
    /// So many launches are not checked.
    pub(super) skip: u64,
    /// After these, so many are.
    pub(super) count: u64,
    /// Calls that are kept of a stack of the host.
    pub(super) callers: usize,
}

impl ToolSettings {
    /// From what the command asks for.
    pub(super) fn new(asked: &Tools) -> Self {
        Self {
            stop_on_error: asked.stop_on_error,
            api_errors: asked.api_errors,
            only: filters(&asked.kernel_names),
            except: filters(&asked.excluded_kernel_names),
            skip: asked.launch_skip,
            count: asked.launch_count.unwrap_or(u64::MAX),
            callers: asked.host_callers.min(Tools::MOST_HOST_CALLERS) as usize,
        }
    }

    /// What is asked of a tool.
    pub(super) fn options(&self, asked: &Tools, tool: &str) -> Options {
        let own = asked.flags.iter().filter(|flag| flag.tool == tool);
        Options {
            flags: own.map(|flag| (flag.name.clone(), flag.value.clone())).collect(),
            leak_check: asked.leak_check,
            api_errors: asked.api_errors,
            stop_on_error: asked.stop_on_error,
        }
    }

    /// Whether a launch is to be checked.
    pub(super) fn wants(&self, kernel: &str, launch: u64) -> bool {
        let matches = |filter: &KernelFilter| filter.matches(kernel);
        (self.only.is_empty() || self.only.iter().any(matches))
            && !self.except.iter().any(matches)
            && launch > self.skip
            && launch - self.skip <= self.count
    }
}

/// The command has checked them.
fn filters(patterns: &[String]) -> Vec<KernelFilter> {
    patterns.iter().filter_map(|pattern| KernelFilter::parse(pattern).ok()).collect()
}
