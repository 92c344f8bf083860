//! What findings mean, at length: the text of `warpgrind explain`.

/// What a kind of finding means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Explanation {
    /// The tool.
    pub tool: &'static str,
    /// The kind.
    pub code: &'static str,
    /// In a line.
    pub title: &'static str,
    /// At length.
    pub text: &'static str,
}

/// All kinds of findings.
pub const EXPLANATIONS: &[Explanation] = crate::memcheck::EXPLANATIONS;
