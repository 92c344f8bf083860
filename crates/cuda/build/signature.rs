//! C signatures in Rust.

/// The type of pointers to functions of a C signature such as `CUresult(CUdeviceptr *dptr, size_t bytesize)`.
pub(crate) fn function_type(signature: &str) -> String {
    let (result, parameters) = parts(signature);
    let parameters: Vec<String> =
        parameters.split(", ").filter(|parameter| *parameter != "void").map(parameter_type).collect();
    let result = match result {
        "void" => String::new(),
        result => format!(" -> {}", rust_type(result)),
    };
    format!("unsafe extern \"C\" fn({}){result}", parameters.join(", "))
}

/// What a function returns, in C.
pub(crate) fn result(signature: &str) -> &str {
    parts(signature).0
}

fn parts(signature: &str) -> (&str, &str) {
    signature
        .strip_suffix(')')
        .and_then(|rest| rest.split_once('('))
        .unwrap_or_else(|| panic!("not a signature: {signature}"))
}

/// The type of a parameter, which is written with its name.
fn parameter_type(parameter: &str) -> String {
    let name = parameter.rfind([' ', '*']).map(|before| before + 1).unwrap_or_else(|| panic!("no name: {parameter}"));
    rust_type(&parameter[..name])
}

/// A type such as `const void *const *`: what stands before the first star, then one pointer for each star.
fn rust_type(text: &str) -> String {
    let mut levels = text.split('*').map(str::trim);
    let pointee = levels.next().expect("there is always a first part");
    let (mut constant, base) = match pointee.strip_prefix("const ") {
        Some(base) => (true, base),
        None => (false, pointee),
    };
    let mut result = base_type(base).to_owned();
    for qualifier in levels {
        result = format!("*{} {result}", if constant { "const" } else { "mut" });
        constant = qualifier == "const";
    }
    result
}

fn base_type(name: &str) -> &str {
    match name {
        "char" => "c_char",
        "double" => "f64",
        "float" => "f32",
        "int" => "c_int",
        "size_t" => "usize",
        "unsigned char" => "c_uchar",
        "unsigned int" => "c_uint",
        "unsigned long long" => "c_ulonglong",
        "unsigned short" => "c_ushort",
        "void" => "c_void",
        name => name,
    }
}
