//! Random programs: a function `main` that calls two others with all kinds of parameters, loops and scopes.

use std::fmt::Write;

/// A stream of decisions. When it ends, the simplest one is taken, so that shorter streams are simpler programs.
pub(crate) struct Choices<'a> {
    rest: std::slice::Iter<'a, u32>,
    labels: u32,
}

impl<'a> Choices<'a> {
    pub(crate) fn new(stream: &'a [u32]) -> Self {
        Self { rest: stream.iter(), labels: 0 }
    }

    fn pick(&mut self, below: u32) -> u32 {
        self.rest.next().map_or(0, |choice| choice % below)
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("$L{}", self.labels)
    }
}

/// How a parameter is declared, and in which pieces it can be accessed: offset, type, number of elements.
struct Kind {
    declaration: &'static str,
    suffix: &'static str,
    pieces: &'static [&'static [(u32, &'static str, u32)]],
    in_register: Option<&'static str>,
}

const KINDS: [Kind; 6] = [
    Kind {
        declaration: ".param .b32",
        suffix: "",
        pieces: &[&[(0, "b32", 1)], &[(0, "u32", 1)]],
        in_register: Some("b32"),
    },
    Kind { declaration: ".param .b64", suffix: "", pieces: &[&[(0, "b64", 1)]], in_register: None },
    Kind {
        declaration: ".param .b8",
        suffix: "",
        pieces: &[&[(0, "u8", 1)], &[(0, "s8", 1)], &[(0, "b8", 1)]],
        in_register: None,
    },
    Kind { declaration: ".param .b16", suffix: "", pieces: &[&[(0, "u16", 1)], &[(0, "s16", 1)]], in_register: None },
    Kind {
        declaration: ".param .align 8 .b8",
        suffix: "[16]",
        pieces: &[
            &[(0, "b32", 1), (4, "b32", 1), (8, "b64", 1)],
            &[(0, "b32", 2), (8, "b64", 1)],
            &[(0, "b64", 2)],
            &[(0, "u16", 4), (8, "s8", 1), (12, "b32", 1)],
        ],
        in_register: None,
    },
    Kind { declaration: ".reg .b32", suffix: "", pieces: &[], in_register: Some("b32") },
];

struct Signature {
    name: &'static str,
    result: &'static Kind,
    params: Vec<&'static Kind>,
}

/// The text of a program.
pub(crate) fn program(choices: &mut Choices<'_>) -> String {
    let mut out = ".version 8.5\n.target sm_80\n.address_size 64\n".to_owned();
    let mut signatures: Vec<Signature> = Vec::new();
    for name in ["f", "g"] {
        let params = (0..choices.pick(4)).map(|_| &KINDS[choices.pick(6) as usize]).collect();
        let signature = Signature { name, result: &KINDS[choices.pick(5) as usize], params };
        function(&mut out, choices, &signature, &signatures);
        signatures.push(signature);
    }
    let main = Signature { name: "main", result: &KINDS[1], params: vec![&KINDS[1]] };
    function(&mut out, choices, &main, &signatures);
    out
}

fn function(out: &mut String, choices: &mut Choices<'_>, signature: &Signature, callees: &[Signature]) {
    let Signature { name, result, params } = signature;
    let declare = |kind: &Kind, name: &str| format!("{} {name}{}", kind.declaration, kind.suffix);
    let list: Vec<String> =
        params.iter().enumerate().map(|(index, kind)| declare(kind, &format!("{name}_{index}"))).collect();
    let _ = writeln!(out, ".func ({}) {name}({})\n{{", declare(result, &format!("{name}_result")), list.join(", "));
    let _ = writeln!(out, ".reg .pred %p<3>; .reg .b16 %rs<3>; .reg .b32 %r<6>; .reg .b64 %rd<5>;");
    let has_static = choices.pick(3) == 2;
    if has_static {
        let _ = writeln!(out, ".shared .b32 total;");
    }
    for index in 0..6 {
        let _ = writeln!(out, "mov.b32 %r{index}, {};", index + 1);
    }
    for index in 0..5 {
        let _ = writeln!(out, "mov.b64 %rd{index}, {};", index + 10);
    }
    let _ = writeln!(out, "mov.b16 %rs1, 3; mov.b16 %rs2, 4; setp.eq.u32 %p1, %r1, 1; setp.eq.u32 %p2, %r1, 0;");
    // The result is defined on every way out.
    access(out, choices, result, &format!("{name}_result"), "st", "");
    for (index, kind) in params.iter().enumerate() {
        let param = format!("{name}_{index}");
        if kind.pieces.is_empty() {
            let _ = writeln!(out, "add.u32 %r1, %r1, {param};");
        } else {
            access(out, choices, kind, &param, "ld", "");
            if choices.pick(4) == 3 && name != &"main" {
                let _ = writeln!(out, "mov.b64 %rd4, {param}; ld.local.u8 %r5, [%rd4]; mov.b64 %rd4, 0;");
            }
        }
    }
    if has_static {
        let _ = writeln!(out, "ld.shared.b32 %r2, [total]; add.u32 %r2, %r2, %r1; st.shared.b32 [total], %r2;");
    }
    statements(out, choices, callees, 3);
    mix(out);
    access(out, choices, result, &format!("{name}_result"), "st", "");
    let _ = writeln!(out, "{};\n}}", if choices.pick(2) == 1 { "ret.uni" } else { "ret" });
}

/// Folds all registers into those that results are stored from.
fn mix(out: &mut String) {
    for index in 0..6 {
        let _ = writeln!(out, "cvt.u64.u32 %rd0, %r{index}; mul.lo.u64 %rd1, %rd1, 31; add.u64 %rd1, %rd1, %rd0;");
    }
    let _ = writeln!(
        out,
        "xor.b64 %rd1, %rd1, %rd2; add.u64 %rd1, %rd1, %rd3; cvt.u64.u16 %rd0, %rs1; add.u64 %rd1, %rd1, %rd0;"
    );
    let _ = writeln!(out, "cvt.u32.u64 %r1, %rd1; cvt.u16.u64 %rs1, %rd1;");
}

/// Loads or stores all pieces of a parameter.
fn access(out: &mut String, choices: &mut Choices<'_>, kind: &Kind, param: &str, op: &str, guard: &str) {
    if kind.pieces.is_empty() {
        let _ = writeln!(out, "{guard}mov.b32 {param}, %r1;");
        return;
    }
    for &(offset, ty, count) in kind.pieces[choices.pick(kind.pieces.len() as u32) as usize] {
        // Narrow types also go from and to wider registers.
        let regs: &[&str] = match (ty, choices.pick(2)) {
            ("b64", _) => &["%rd1", "%rd2"],
            ("b32" | "u32", _) => &["%r1", "%r2"],
            (_, 0) => &["%rs1", "%rs2", "%rs1", "%rs2"],
            _ => &["%r3", "%r4", "%r3", "%r4"],
        };
        let data = match (count, op) {
            (1, _) => regs[0].to_owned(),
            (2, "ld") => format!("{{{}, _}}", regs[1]),
            (2, _) => format!("{{{}, {}}}", regs[0], regs[1]),
            (count, _) => format!("{{{}}}", regs[..count as usize].join(", ")),
        };
        let vector = if count == 1 { String::new() } else { format!(".v{count}") };
        let address = if offset == 0 { format!("[{param}]") } else { format!("[{param}+{offset}]") };
        let _ = match op {
            "ld" => writeln!(out, "ld.param{vector}.{ty} {data}, {address};"),
            _ => writeln!(out, "st.param{vector}.{ty} {address}, {data};"),
        };
    }
}

fn statements(out: &mut String, choices: &mut Choices<'_>, callees: &[Signature], depth: u32) {
    for _ in 0..choices.pick(5) {
        let reg = choices.pick(4) + 1;
        let _ = match choices.pick(if depth == 0 { 4 } else { 8 }) {
            0 => writeln!(out, "add.u32 %r{reg}, %r{}, %r{};", choices.pick(6), choices.pick(6)),
            1 => writeln!(out, "mul.lo.u64 %rd{reg}, %rd{reg}, {};", choices.pick(9)),
            2 => writeln!(out, "setp.lt.u32 %p{}, %r{reg}, {};", reg % 2 + 1, choices.pick(100)),
            3 => writeln!(out, "@%p{} sub.u32 %r{reg}, %r{reg}, {};", reg % 2 + 1, choices.pick(9)),
            4 => {
                let label = choices.label();
                let _ = writeln!(out, "@{}%p1 bra {label};", if reg == 1 { "!" } else { "" });
                statements(out, choices, callees, depth - 1);
                if choices.pick(4) == 3 {
                    let _ = writeln!(out, "@%p2 ret;");
                }
                writeln!(out, "{label}:")
            }
            5 => {
                let label = choices.label();
                let counter = format!("counter_{}", label.trim_start_matches('$'));
                let _ = writeln!(out, "{{\n.reg .b32 {counter}; mov.b32 {counter}, 0;\n{label}:");
                statements(out, choices, callees, depth - 1);
                let _ =
                    writeln!(out, "add.u32 {counter}, {counter}, 1; setp.lt.u32 %p1, {counter}, {};", choices.pick(3));
                writeln!(out, "@%p1 bra {label};\n}}")
            }
            6 => {
                let _ = writeln!(out, "{{\n.reg .b32 t; mov.b32 t, %r{reg};");
                statements(out, choices, callees, depth - 1);
                writeln!(out, "xor.b32 %r1, %r1, t;\n}}")
            }
            _ => {
                if !callees.is_empty() {
                    let callee = choices.pick(callees.len() as u32) as usize;
                    call(out, choices, &callees[callee]);
                }
                Ok(())
            }
        };
    }
}

fn call(out: &mut String, choices: &mut Choices<'_>, callee: &Signature) {
    let mut arguments = Vec::new();
    let _ = writeln!(out, "{{");
    // Loads and stores of `.param` variables cannot be guarded, so a guarded call passes registers alone.
    let all_in_registers = callee.params.iter().chain([&callee.result]).all(|kind| kind.in_register.is_some());
    let is_guarded = all_in_registers && choices.pick(2) == 1;
    let mut stores = String::new();
    for (index, kind) in callee.params.iter().enumerate() {
        let in_register = kind.in_register.is_some() && (is_guarded || kind.pieces.is_empty() || choices.pick(2) == 1);
        if in_register {
            arguments.push(if choices.pick(3) == 2 { "77".to_owned() } else { format!("%r{}", choices.pick(6)) });
        } else {
            let _ = writeln!(out, "{} param{index}{};", kind.declaration, kind.suffix);
            access(&mut stores, choices, kind, &format!("param{index}"), "st", "");
            arguments.push(format!("param{index}"));
        }
    }
    let in_register = callee.result.in_register.is_some() && (is_guarded || choices.pick(2) == 1);
    if !in_register {
        let _ = writeln!(out, "{} retval{};", callee.result.declaration, callee.result.suffix);
    }
    out.push_str(&stores);
    let result = if in_register { "%r3" } else { "retval" };
    let guard = if is_guarded { "@!%p2 " } else { "" };
    let _ = writeln!(out, "{guard}call ({result}), {}, ({});", callee.name, arguments.join(", "));
    if !in_register {
        access(out, choices, callee.result, "retval", "ld", "");
    }
    let _ = writeln!(out, "}}");
}
