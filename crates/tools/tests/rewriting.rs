//! What tools make of PTX still is PTX, and does what they say.

use rewrite::{Instrumentation, Rewriter, Rewritten};
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

fn rewritten(tools: &[&dyn Instrumentation], text: &str) -> Rewritten {
    Rewriter::new(tools).unwrap().rewrite(ptx::parse(text).module).unwrap()
}

#[test]
fn memcheck_writes_ptx() {
    let rewritten = rewritten(&[&Memcheck], TEXT);
    let complaints = ptx::verify(&rewritten.module);
    let text = ptx::print(&rewritten.module);
    assert!(complaints.is_empty(), "{complaints:#?}\n{text}");
    let parsed = ptx::parse(&text);
    assert!(parsed.diagnostics.is_empty(), "{:#?}\n{text}", parsed.diagnostics);
    if let Ok(path) = std::env::var("PRINT") {
        std::fs::write(path, text).unwrap();
    }
}

/// What memcheck makes of functions `f` and `g`, and of a kernel that calls `f` in this way, with an undefined `%r1` and a pointer.
fn with_calls(sequence: &str) -> String {
    let text = r#"
.version 8.0
.target sm_80
.address_size 64
.func (.param .b32 result) f(.param .b64 where, .param .b32 value, .param .b32 not_used);
.func (.param .b32 result) f(.param .b64 where, .param .b32 value, .param .b32 not_used)
{
	.reg .b32 %r<9>; .reg .b64 %rd<9>;
	ld.param.b64 %rd1, [where];
	ld.param.b32 %r1, [value];
	st.b32 [%rd1], %r1;
	st.param.b32 [result], 0;
	ret;
}
.visible .entry k(.param .u64 p)
{
	.reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
	ld.param.u64 %rd1, [p];
	ld.global.b32 %r1, [%rd1];
	setp.eq.u64 %p1, %rd1, 0;
SEQUENCE
	st.global.b32 [%rd1], %r2;
	ret;
}
"#;
    let rewritten = rewritten(&[&Memcheck], &text.replace("SEQUENCE", sequence));
    assert_eq!(ptx::verify(&rewritten.module), []);
    ptx::print(&rewritten.module)
}

/// How compilers call functions.
const SEQUENCE: &str = "{
	.param .b64 where;
	st.param.b64 [where], %rd1;
	.param .b32 value;
	st.param.b32 [value], %r1;
	.param .b32 not_used;
	st.param.b32 [not_used], %r1;
	.param .b32 result;
	call.uni (result), f, (where, value, not_used);
	ld.param.b32 %r2, [result];
	}";

/// A parameter that may be undefined has its shadow with it, and where the value was loaded; no other has.
#[test]
fn memcheck_passes_shadows_of_what_may_be_undefined() {
    let text = with_calls(SEQUENCE);
    let copies: Vec<&str> = text.split(".func").filter(|function| function.contains("f$$memcheck_defined(")).collect();
    let [_declaration, definition] = copies[..] else { panic!("{text}") };
    for copy in copies {
        assert!(copy.contains(".param .align 8 .b8 value[16]"), "{copy}");
        assert!(copy.contains(".param .b64 where"), "{copy}");
        assert!(copy.contains(".param .align 8 .b8 not_used[8]"), "{copy}");
        assert!(copy.contains("(.param .b32 result)"), "{copy}");
    }
    assert!(definition.contains("[value+4]"), "{definition}");
    let kernel = text.split(".entry").find(|kernel| kernel.contains("k$$memcheck_defined(")).unwrap();
    assert!(kernel.contains(".param .align 8 .b8 value[16]"), "{kernel}");
    assert!(kernel.contains("[value+4]"), "{kernel}");
}

/// What is passed in another way than compilers pass it is not followed: for all who call the function.
#[test]
fn memcheck_leaves_other_calls_as_they_are() {
    let others = [
        "call (%r2), f, (%rd1, %r1, 0);",
        "@%p1 call (%r2), f, (%rd1, %r1, 0);",
        "{
	.param .b64 where; .param .b32 value; .param .b32 result;
	st.param.b64 [where], %rd1;
	st.param.b32 [value], %r1;
	call (result), f, (where, value, 0);
	call (result), f, (where, value, 0);
	ld.param.b32 %r2, [result];
	}",
        "{
	.param .b64 where; .param .b32 value; .param .b32 result;
	st.param.b64 [where], %rd1;
	@%p1 bra over;
	st.param.b32 [value], %r1;
over:
	call (result), f, (where, value, 0);
	ld.param.b32 %r2, [result];
	}",
    ];
    for other in others {
        for text in [with_calls(other), with_calls(&format!("{SEQUENCE}\n{other}"))] {
            assert!(text.contains("f$$memcheck_defined("));
            assert!(!text.contains("value[16]"), "{text}");
        }
    }
}

#[test]
fn every_tool_writes_ptx() {
    for tool in tools::TOOLS {
        let rewritten = rewritten(&[tool.instrumentation()], TEXT);
        assert_eq!(ptx::verify(&rewritten.module), [], "{}", tool.name());
    }
}

/// Ids are hidden wherever an operand can stand: bare, in braces, and in the arguments of a call; also in functions.
#[test]
fn doubled_hides_copies_in_all_operands() {
    let text = r#"
.version 8.0
.target sm_80
.address_size 64
.func take(.reg .b32 %number) { .reg .b32 %r; add.u32 %r, %number, %ntid.z; ret; }
.visible .entry k(.param .u64 p)
.reqntid 8, 4, 2
{
	.reg .b32 %r<9>; .reg .b64 %rd<9>;
	ld.param.u64 %rd1, [p];
	mov.b64 %rd2, {%ntid.z, %nwarpid};
	add.u32 %r1, %ntid.z, %nwarpid;
	call take, (%ntid.z);
	st.global.u32 [%rd1], %r1;
	ret;
}
"#;
    let rewritten = rewritten(&[&Doubled, &Memcheck], text);
    assert_eq!(ptx::verify(&rewritten.module), []);
    let text = ptx::print(&rewritten.module);
    let body = |name: &str| {
        let function = &text[text.find(name).unwrap_or_else(|| panic!("there is no {name} in\n{text}"))..];
        function[..function.find("\n}").unwrap()].to_owned()
    };
    // What is left is read once, to compute what the program sees.
    for (name, specials) in
        [(".entry k$$doubled$memcheck(", &["%ntid.z", "%nwarpid"][..]), ("take$$doubled$memcheck(", &["%ntid.z"])]
    {
        let function = body(name);
        for special in specials {
            let lines: Vec<&str> = function.lines().filter(|line| line.contains(special)).collect();
            assert!(
                matches!(lines[..], [line] if line.contains("mov.u32")),
                "{special} is seen: {lines:#?}\n{function}"
            );
        }
    }
    assert!(body(".entry k$$doubled$memcheck(").contains(".reqntid 8, 4, 4"), "{text}");
    assert!(
        body(".entry k(").contains("call take, (%ntid.z)") || body(".entry k(").contains("%ntid.z"),
        "the original stays"
    );
}

/// Of two tools that change the program, one is too many.
#[test]
fn two_tools_that_change_the_program_are_refused() {
    let error = Rewriter::new(&[&Doubled, tools::tool("twice").unwrap().instrumentation()]).unwrap_err().to_string();
    assert!(error.starts_with("doubled and twice both change how kernels run"), "{error}");
}

/// A kernel that a tool refuses leaves the others of its module checked.
#[test]
fn a_refusal_is_of_one_kernel() {
    let text = r#"
.version 8.0
.target sm_80
.address_size 64
.visible .entry whole(.param .u64 p) { .reg .b64 %d; ld.param.u64 %d, [p]; st.global.u32 [%d], 1; ret; }
.visible .entry vector(.param .u64 p) { .reg .b16 %r<4>; mov.v4.u16 {%r0, %r1, %r2, %r3}, %ntid; ret; }
"#;
    let rewritten = rewritten(&[&Doubled], text);
    assert_eq!(rewritten.kernels["whole"].versions.len(), 1);
    let refused = &rewritten.kernels["vector"];
    assert!(refused.versions.is_empty());
    assert_eq!(refused.refusal.as_ref().map(|refusal| refusal.code), Some("vector-id"));
    assert_eq!(refused.original.symbol, "vector");
}

/// Functions that are called through pointers are there once, with checks in them: who calls them has a context.
#[test]
fn functions_behind_pointers_are_checked_in_place() {
    let text = r#"
.version 8.0
.target sm_80
.address_size 64
.visible .func store(.param .b64 at) { .reg .b64 %d; ld.param.u64 %d, [at]; st.global.u32 [%d], 1; ret; }
.global .align 8 .u64 table[1] = {store};
.visible .entry k(.param .u64 p)
{
	.reg .b64 %d<3>;
	ld.param.u64 %d1, [p];
	ld.global.u64 %d2, [table];
	{ .param .b64 a; st.param.b64 [a], %d1; prototype_0 : .callprototype _ (.param .b64 _); call %d2, (a), prototype_0; }
	ret;
}
.visible .entry plain(.param .u64 p) { .reg .b64 %d; ld.param.u64 %d, [p]; st.global.u32 [%d], 1; ret; }
"#;
    let rewritten = rewritten(&[&Memcheck], text);
    assert_eq!(ptx::verify(&rewritten.module), []);
    let through_pointers = &rewritten.kernels["k"];
    assert_eq!(
        (through_pointers.original.symbol.as_str(), through_pointers.original.context),
        ("k$$original", Some(1))
    );
    assert!(through_pointers.versions[0].context.is_some());
    assert_eq!(rewritten.kernels["plain"].original.context, None);
    assert!(ptx::print(&rewritten.module).matches("warpgrind_memcheck").count() > 2, "the function is checked");
}
