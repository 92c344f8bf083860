//! What the tests of single tools share.

use ptx::diagnostic::{Diagnostic, Severity};
use rewrite::{Rewriter, Rewritten};

/// What a tool makes of a module, which must be right PTX.
pub(crate) fn rewritten(tool: &str, text: &str) -> Rewritten {
    let tool = tools::tool(tool).unwrap().instrumentation();
    let parsed = ptx::parse(text);
    let rewritten = Rewriter::new(&[tool]).unwrap().rewrite(parsed.module).unwrap();
    let is_error = |complaint: &Diagnostic| complaint.severity == Severity::Error;
    let complaints: Vec<Diagnostic> = ptx::verify(&rewritten.module).into_iter().filter(is_error).collect();
    assert!(complaints.is_empty(), "{complaints:#?}\n{text}");
    rewritten
}

/// A kernel with some declarations before it and some instructions in it.
pub(crate) fn kernel(before: &str, body: &str) -> String {
    format!(
        ".version 8.6\n.target sm_90a\n.address_size 64\n{before}\n.visible .entry k(.param .u64 p, .param .u64 surface)\n{{\n\
         .reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<9>; .reg .v2 .b32 %v;\n\
         ld.param.u64 %d1, [p];\n{body}\nst.global.u32 [%d1], %r1;\nret;\n}}\n"
    )
}
