//! What the device cannot run.

/// A kernel that the device cannot run, and why. One for each instruction, in the order of the text.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Unsupported {
    /// An instruction that the device does not have.
    #[error("line {line}: `{instruction}` is not supported by the CPU device")]
    Instruction {
        /// Its line in the PTX.
        line: u32,
        /// As written.
        instruction: String,
    },
    /// An instruction that cannot be confined to memory of the device.
    #[error(
        "line {line}: `{instruction}` cannot be confined to memory of the device: launch the kernel without confinement"
    )]
    Unconfined {
        /// Its line in the PTX.
        line: u32,
        /// As written.
        instruction: String,
    },
    /// A function that is declared but nowhere defined.
    #[error("line {line}: the function `{name}` is called but not defined")]
    Undefined {
        /// The line of the call.
        line: u32,
        /// Its name.
        name: String,
    },
    /// A call of CUDA's runtime on the device, by which kernels launch kernels.
    #[error(
        "line {line}: it launches kernels itself (dynamic parallelism), which the CPU device does not support: launch them from \
         the host to check them here"
    )]
    DeviceLaunch {
        /// The line of the call.
        line: u32,
    },
    /// Something that is too large.
    #[error("{what} of {bytes} bytes is more than the {limit} bytes that the device has")]
    TooLarge {
        /// What is too large.
        what: String,
        /// How large it is.
        bytes: u64,
        /// How large it may be.
        limit: u64,
    },
}

/// Why a kernel that is built for an architecture is refused, and what may help.
pub(crate) fn refusal(reasons: &[Unsupported], architecture: Option<u32>) -> String {
    const LAST_KNOWN: u32 = 90;
    let lines = reasons.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    let newer = architecture.filter(|&number| number > LAST_KNOWN);
    match newer.filter(|_| reasons.iter().any(Unsupported::may_depend_on_architecture)) {
        None => lines,
        Some(number) => format!(
            "{lines}\nit is built for sm_{number}: built for an older one it may do without (`-gencode \
             arch=compute_{LAST_KNOWN},code=compute_{LAST_KNOWN}`)"
        ),
    }
}

impl Unsupported {
    /// Whether the kernel may do without it if it is built for an older architecture: libraries choose newer instructions for
    /// newer ones.
    fn may_depend_on_architecture(&self) -> bool {
        matches!(self, Self::Instruction { .. })
    }

    /// A call of a function that is not defined.
    pub(crate) fn call_of(name: &str, line: u32) -> Self {
        // What cudadevrt calls, and what it defines itself, where it is not linked.
        const DEVICE_RUNTIME: [&str; 5] = [
            "__cuda_syscall_cnp",
            "__cudaCDP2LaunchDevice",
            "__cudaCDP2GetParameterBuffer",
            "cudaLaunchDevice",
            "cudaGetParameterBuffer",
        ];
        if DEVICE_RUNTIME.iter().any(|start| name.starts_with(start)) {
            Self::DeviceLaunch { line }
        } else {
            Self::Undefined { line, name: name.to_owned() }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_architecture_is_a_cure_for_instructions_alone() {
        let launch = Unsupported::call_of("cudaGetParameterBufferV2", 7);
        // Before it is linked.
        assert_eq!(Unsupported::call_of("__cudaCDP2LaunchDeviceV2", 7), launch);
        let instruction = Unsupported::Instruction { line: 9, instruction: "tcgen05.alloc".to_owned() };
        let launches = refusal(std::slice::from_ref(&launch), Some(100));
        assert!(launches.ends_with("launch them from the host to check them here"), "{launches}");
        let both = refusal(&[launch, instruction.clone()], Some(100));
        assert!(both.starts_with(&launches) && both.contains("built for sm_100: built for an older one"), "{both}");
        assert_eq!(refusal(std::slice::from_ref(&instruction), Some(90)), instruction.to_string());
        assert_eq!(refusal(&[instruction], None).lines().count(), 1);
    }
}
