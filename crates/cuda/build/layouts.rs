//! Lists the structs and constants of `src/abi`, for the test that compares them with the headers.

use std::fmt::Write;

/// Tables of the structs (with sizes and offsets, as the compiler has them) and constants of a source file.
pub(crate) fn tables(module: &str, text: &str) -> String {
    let (mut structs, mut constants) = (String::new(), String::new());
    let mut current = None;
    for line in text.lines() {
        if let Some(name) = struct_name(line) {
            write!(structs, "    Struct {{ name: \"{name}\", size: size_of::<{name}>(), fields: &[").expect("a string");
            current = Some(name);
        } else if let Some(name) = current {
            match line.strip_prefix("    pub ").and_then(|field| field.strip_suffix(',')?.split_once(": ")) {
                Some((field, of)) => write!(
                    structs,
                    "\n        Field {{ name: \"{}\", offset: offset_of!({name}, {field}), size: size_of::<{of}>() }},",
                    field.trim_start_matches("r#")
                )
                .expect("a string"),
                None => {
                    structs.push_str("\n    ] },\n");
                    current = None;
                }
            }
        } else if let Some((name, of)) = line.strip_prefix("pub const ").and_then(|rest| rest.split_once(": ")) {
            // Pointers have no number.
            if !of.contains("ptr::") {
                writeln!(constants, "    (\"{name}\", {name} as i64),").expect("a string");
            }
        }
    }
    format!(
        "mod {module} {{\nuse std::ffi::*;\n\nuse super::*;\nuse super::abi::{module}::*;\npub(super) static STRUCTS: &[Struct] = &[\n{structs}];\npub(super) static CONSTANTS: &[(&str, i64)] = &[\n{constants}];\n}}\n"
    )
}

fn struct_name(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("pub struct ").or_else(|| line.strip_prefix("pub union "))?;
    rest.strip_suffix(" {")
}
