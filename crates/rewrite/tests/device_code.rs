//! What tools bring to the device: numbers by name, and mistakes that are reported.

use rewrite::context::{COUNTERS, RECORDS_PER_SITE, Word};
use rewrite::{Access, Cursor, DeviceCode, Instrumentation, Rewriter};

const PROGRAM: &str = ".version 8.0\n.target sm_80\n.address_size 64\n\
    .visible .entry k(.param .u64 p) { .reg .b64 %a; ld.param.u64 %a, [p]; st.global.u32 [%a], 1; ret; }";

/// Calls a helper at every access.
#[derive(Debug)]
struct Caller {
    helper: &'static str,
    code: &'static str,
}

impl Instrumentation for Caller {
    fn name(&self) -> &'static str {
        "caller"
    }

    fn device_code(&self) -> Option<DeviceCode> {
        Some(DeviceCode { text: self.code, constants: &[("LIMIT", 7), ("MASK", 1 << 40)] })
    }

    fn words(&self) -> &'static [Word] {
        &[Word("FIRST"), Word("SECOND")]
    }

    fn access(&self, at: &mut Cursor<'_, '_>, _access: &Access) {
        at.call(None, self.helper, &[], &[]);
    }
}

/// The text of the program with the tool in it, or what is wrong.
fn rewritten(helper: &'static str, code: &'static str) -> Result<String, String> {
    let tool = Caller { helper, code };
    let rewriter = Rewriter::new(&[&tool]).map_err(|error| error.to_string())?;
    let rewritten = rewriter.rewrite(ptx::parse(PROGRAM).module).map_err(|error| error.to_string())?;
    assert_eq!(ptx::verify(&rewritten.module), []);
    Ok(ptx::print(&rewritten.module))
}

macro_rules! code {
    ($body:literal) => {
        concat!(
            ".version 6.0\n.target sm_50\n.address_size 64\n",
            ".extern .shared .align 8 .b64 warpgrind_context;\n",
            ".weak .func look()\n{\n.reg .b64 %d<3>;\n",
            $body,
            "\nret;\n}\n"
        )
    };
}

#[test]
fn constants_stand_by_their_names() {
    let text = rewritten(
        "look",
        code!(
            "add.u64 %d1, %d1, $LIMIT; and.b64 %d1, %d1, $MASK;
             ld.shared.b64 %d2, [warpgrind_context]; ld.global.b64 %d2, [%d2+$SECOND];
             ld.global.b64 %d2, [%d2+$COUNTERS];
             bra $L_1; $L_1:"
        ),
    )
    .unwrap();
    for wanted in ["%d1, %d1, 7;", "%d1, %d1, 0x10000000000;", "[%d2+56]", &format!("[%d2+{COUNTERS}]"), "$L_1:"] {
        assert!(text.contains(wanted), "there is no `{wanted}` in\n{text}");
    }
}

#[test]
fn records_of_a_site_are_limited_by_the_constant() {
    let text = rewritten("look", code!("")).unwrap();
    let limit = format!("%count, {RECORDS_PER_SITE};");
    assert!(text.contains(&limit), "there is no `{limit}` in\n{text}");
}

#[test]
fn device_code_that_does_not_parse_is_reported() {
    let error = rewritten("look", code!("add.u64 %d1, %d1")).unwrap_err();
    assert!(error.starts_with("the tool caller is broken: line 9 of its device code: "), "{error}");
}

#[test]
fn device_code_with_names_that_nobody_declares_is_reported() {
    for (body, name) in [
        (code!("call warpgrind_recrod;"), "warpgrind_recrod"),
        (code!("add.u64 %d1, %d1, $LIMITS;"), "$LIMITS"),
        (code!("mov.b64 %e1, %d1;"), "%e1"),
    ] {
        let error = rewritten("look", body).unwrap_err();
        assert!(error.starts_with("the tool caller is broken: line 8 of its device code: "), "{error}");
        assert!(error.contains(name), "{error}");
    }
}

#[test]
fn calls_of_helpers_that_nobody_brings_are_reported() {
    let error = rewritten("loko", code!("")).unwrap_err();
    assert_eq!(error, "the tool caller is broken: it calls `loko`, and no device code has a function of that name");
}
