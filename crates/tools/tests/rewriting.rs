//! What tools make of PTX still is PTX, and does what they say.

use rewrite::Rewriter;
use tools::Doubled;
use tools::memcheck::Memcheck;

const TEXT: &str = r#"
.version 8.0
.target sm_80
.address_size 64
.global .align 4 .b8 table[64];
.shared .align 4 .b8 tile[128];
.extern .shared .align 16 .b8 dynamic[];
.visible .entry k(.param .u64 p, .param .u64 q)
{
	.reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>;
	ld.param.u64 %rd1, [p];
	cvta.to.global.u64 %rd2, %rd1;
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd3, %r1, 4;
	add.s64 %rd4, %rd2, %rd3;
	setp.lt.u32 %p1, %r1, 5;
	@%p1 ld.global.f32 %f1, [%rd4+4];
	st.global.f32 [%rd4+4], %f1;
	ld.global.u64 %rd5, [%rd2];
	ld.v4.f32 {%f2, %f3, %f4, %f5}, [%rd5];
	atom.global.add.u32 %r2, [%rd5], %r2;
	mov.u32 %r3, tile;
	add.u32 %r3, %r3, %r1;
	st.shared.u32 [%r3], %r1;
	mov.u32 %r4, dynamic;
	add.u32 %r4, %r4, %r1;
	ld.shared.u8 %r5, [%r4];
	ld.global.u32 %r6, [table+60];
	ld.global.u32 %r6, [table+64];
	@!%p1 ld.global.u64 %rd5, [%rd5];
	ret;
}
"#;

#[test]
fn memcheck_writes_ptx() {
    let rewritten = Rewriter::new(&[&Memcheck]).rewrite(ptx::parse(TEXT).module).unwrap();
    let complaints = ptx::verify(&rewritten.module);
    let text = ptx::print(&rewritten.module);
    assert!(complaints.is_empty(), "{complaints:#?}\n{text}");
    let parsed = ptx::parse(&text);
    assert!(parsed.diagnostics.is_empty(), "{:#?}\n{text}", parsed.diagnostics);
    if let Ok(path) = std::env::var("PRINT") {
        std::fs::write(path, text).unwrap();
    }
}

#[test]
fn every_tool_writes_ptx() {
    for tool in tools::TOOLS {
        let rewritten = Rewriter::new(&[*tool]).rewrite(ptx::parse(TEXT).module).unwrap();
        assert_eq!(ptx::verify(&rewritten.module), [], "{}", tool.name());
    }
}

/// Block numbers are hidden wherever an operand can stand: bare, in braces, and in the arguments of a call.
#[test]
fn doubled_hides_copies_in_all_operands() {
    let text = r#"
.version 8.0
.target sm_80
.address_size 64
.func take(.reg .b32 %number) { ret; }
.visible .entry k(.param .u64 p)
{
	.reg .b32 %r<9>; .reg .b64 %rd<9>;
	ld.param.u64 %rd1, [p];
	mov.b64 %rd2, {%ctaid.x, %nctaid.x};
	add.u32 %r1, %ctaid.x, %nctaid.x;
	call take, (%ctaid.x);
	ret;
}
"#;
    let rewritten = Rewriter::new(&[&Doubled]).rewrite(ptx::parse(text).module).unwrap();
    assert_eq!(ptx::verify(&rewritten.module), []);
    let text = ptx::print(&rewritten.module);
    // What is left is read once, to compute the number that both copies see. The runtime's own are not the kernel's.
    let kernel = &text[text.find(".entry k").unwrap()..];
    let kernel = &kernel[..kernel.find("\n}").unwrap()];
    for special in ["%ctaid.x", "%nctaid.x"] {
        let lines: Vec<&str> = kernel.lines().filter(|line| line.contains(special)).collect();
        assert!(matches!(lines[..], [line] if line.contains("mov.u32")), "{special} is seen: {lines:#?}\n{kernel}");
    }
}
