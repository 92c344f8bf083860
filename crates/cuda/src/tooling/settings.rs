//! What the command asks of the tools, through the environment.

use report::KernelFilter;

/// How tools are to be.
#[derive(Clone, Debug)]
pub(super) struct ToolSettings {
    /// Whether a launch with findings ends with an error, as it would on a GPU; else the program goes on.
    pub(super) stop_on_error: bool,
    /// Whether memory is reported that was never freed.
    pub(super) leak_check: bool,
    /// Which calls that return an error are reported.
    pub(super) api_errors: ApiErrors,
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

/// One in each line. The command has checked them.
fn filters(text: Option<String>) -> Vec<KernelFilter> {
    text.iter().flat_map(|text| text.lines()).filter_map(|line| KernelFilter::parse(line).ok()).collect()
}

/// Which calls of CUDA that return an error are reported.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ApiErrors {
    /// All.
    All,
    /// Those by which the program did something with memory that is not right.
    Memory,
    /// None.
    No,
}

impl ToolSettings {
    pub(super) fn from_environment() -> Self {
        let text = |name: &str| std::env::var(name).ok();
        let number = |name: &str| text(name).and_then(|text| text.parse::<u64>().ok());
        Self {
            stop_on_error: text("WARPGRIND_ON_ERROR").as_deref() != Some("continue"),
            leak_check: text("WARPGRIND_LEAK_CHECK").as_deref() == Some("full"),
            api_errors: match text("WARPGRIND_API_ERRORS").as_deref() {
                Some("all") => ApiErrors::All,
                Some("no") => ApiErrors::No,
                _ => ApiErrors::Memory,
            },
            only: filters(text("WARPGRIND_KERNEL_NAME")),
            except: filters(text("WARPGRIND_KERNEL_NAME_EXCLUDE")),
            skip: number("WARPGRIND_LAUNCH_SKIP").unwrap_or(0),
            count: number("WARPGRIND_LAUNCH_COUNT").unwrap_or(u64::MAX),
            callers: number("WARPGRIND_CALLERS").map_or(24, |callers| callers.min(100) as usize),
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
