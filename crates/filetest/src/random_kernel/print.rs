//! What a kernel prints: one thread of it, so that the order of lines is known.

use super::body::{Body, Class};

/// The function, the format `%d %llx\n`, and room for what is printed.
pub(super) const DECLARATIONS: &str = "\
.extern .func (.param .b32 r) vprintf(.param .b64 format, .param .b64 arguments);
.global .align 1 .b8 format[9] = {37, 100, 32, 37, 108, 108, 120, 10, 0};
";

impl Body {
    /// The first thread of the first block, if it is still there, prints two registers.
    pub(super) fn print(&mut self) {
        let (is_first, after, sum) = (self.temp(Class::Pred), self.new_label(), self.temp(Class::B32));
        let (format, arguments) = (self.temp(Class::B64), self.temp(Class::B64));
        self.put(format!("or.b32 {sum}, %thread, %block"));
        self.put(format!("setp.ne.u32 {is_first}, {sum}, 0"));
        self.put(format!("@{is_first} bra {after}"));
        let (r, d) = (self.reg(Class::B32), self.reg(Class::B64));
        self.line("\t{\n\t.local .align 8 .b8 printed[16];");
        self.put(format!("st.local.b32 [printed], {r}"));
        self.put(format!("st.local.b64 [printed+8], {d}"));
        self.put(format!("mov.u64 {arguments}, printed"));
        self.put(format!("cvta.local.u64 {arguments}, {arguments}"));
        self.put(format!("mov.u64 {format}, format"));
        self.put(format!("cvta.global.u64 {format}, {format}"));
        self.line("\t.param .b64 a;\n\t.param .b64 b;\n\t.param .b32 c;");
        self.put(format!("st.param.b64 [a], {format}"));
        self.put(format!("st.param.b64 [b], {arguments}"));
        self.put("call.uni (c), vprintf, (a, b)");
        self.put(format!("ld.param.b32 {sum}, [c]"));
        self.line("\t}");
        self.label(&after);
    }
}
