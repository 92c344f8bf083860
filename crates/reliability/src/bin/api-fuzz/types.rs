//! The types of CUDA, as `crates/cuda/src/abi` declares them: what there is behind a name, and where the fields of structs are.
//!
//! The sources are read, so that a new struct or constant is known without a word here.

use std::collections::HashMap;

/// A type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Type {
    Void,
    Char,
    /// A number of so many bytes; what the type is called, if constants have that type.
    Number(usize, String),
    /// What is created and destroyed: a name for all handles that mean the same.
    Handle(String),
    Function,
    Pointer {
        is_const: bool,
        to: Box<Type>,
    },
    Array(Box<Type>, usize),
    Struct(String),
}

/// A field of a struct.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) offset: usize,
    pub(crate) of: Type,
}

/// All types.
#[derive(Default, Debug)]
pub(crate) struct Types {
    aliases: HashMap<String, String>,
    structs: HashMap<String, Layout>,
    constants: HashMap<String, Vec<u64>>,
}

#[derive(Default, Debug)]
struct Layout {
    is_union: bool,
    fields: Vec<(String, String)>,
}

/// Handles that are numbers in C.
const NUMBERS: [(&str, &str); 8] = [
    ("CUdeviceptr_v2", "memory"),
    ("CUtexObject_v1", "texture"),
    ("cudaTextureObject_t", "texture"),
    ("CUsurfObject_v1", "surface"),
    ("cudaSurfaceObject_t", "surface"),
    ("CUmemGenericAllocationHandle_v1", "physical"),
    ("CUgraphConditionalHandle", "condition"),
    ("cudaGraphConditionalHandle", "condition"),
];

impl Types {
    /// Reads the declarations.
    pub(crate) fn read() -> Self {
        let mut types = Self::default();
        for text in [
            include_str!("../../../../cuda/src/abi/driver.rs"),
            include_str!("../../../../cuda/src/abi/driver_constants.rs"),
            include_str!("../../../../cuda/src/abi/runtime.rs"),
            include_str!("../../../../cuda/src/abi/runtime_constants.rs"),
        ] {
            types.declarations(text);
        }
        types
    }

    fn declarations(&mut self, text: &str) {
        let mut current = None;
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("pub type ") {
                let (name, of) = rest.split_once(" =").unwrap_or((rest, ""));
                self.aliases.insert(name.to_owned(), of.trim().trim_end_matches(';').to_owned());
            } else if let Some(rest) = line.strip_prefix("pub struct ").or_else(|| line.strip_prefix("pub union ")) {
                let name = rest.trim_end_matches(" {").to_owned();
                let layout = Layout { is_union: line.starts_with("pub union "), fields: Vec::new() };
                self.structs.insert(name.clone(), layout);
                current = Some(name);
            } else if let Some(rest) = line.strip_prefix("pub const ")
                && let Some((_, rest)) = rest.split_once(": ")
                && let Some((of, value)) = rest.split_once(" = ")
                && let Some(value) = number(value.trim_end_matches(';'))
            {
                self.constants.entry(of.to_owned()).or_default().push(value);
            } else if let Some(name) = &current {
                match line.strip_prefix("    pub ").and_then(|field| field.strip_suffix(',')?.split_once(": ")) {
                    Some((field, of)) => {
                        let fields = &mut self.structs.get_mut(name).expect("it was inserted").fields;
                        fields.push((field.trim_start_matches("r#").to_owned(), of.to_owned()));
                    }
                    None if line.starts_with('}') => current = None,
                    None => {}
                }
            }
        }
    }

    /// The type of a parameter, written in C, without its name.
    pub(crate) fn of_c(&self, text: &str) -> Type {
        let mut levels = text.split('*').map(str::trim);
        let pointee = levels.next().unwrap_or_default();
        let (mut is_const, base) = match pointee.strip_prefix("const ") {
            Some(base) => (true, base),
            None => (false, pointee),
        };
        let mut levels = levels.peekable();
        let mut result = match base {
            // A handle may be written as what it points to.
            "CUstream_st" if levels.peek().is_some() => {
                levels.next();
                Type::Handle("CUstream_st".to_owned())
            }
            "unsigned int" => Type::Number(4, String::new()),
            "unsigned short" => Type::Number(2, String::new()),
            "unsigned char" => Type::Number(1, String::new()),
            "unsigned long long" | "size_t" => Type::Number(8, String::new()),
            base => self.named(base),
        };
        for qualifier in levels {
            result = Type::Pointer { is_const, to: Box::new(result) };
            is_const = qualifier == "const";
        }
        result
    }

    /// The type of a field, written in Rust.
    fn of_rust(&self, text: &str) -> Type {
        for (prefix, is_const) in [("*mut ", false), ("*const ", true)] {
            if let Some(to) = text.strip_prefix(prefix) {
                return match self.of_rust(to) {
                    // Nothing is declared under the name: a handle.
                    Type::Handle(kind) if !to.contains('*') && self.is_opaque(to) => Type::Handle(kind),
                    to => Type::Pointer { is_const, to: Box::new(to) },
                };
            }
        }
        if let Some((element, count)) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')?.split_once("; "))
        {
            let count = number(count).unwrap_or(1) as usize;
            return Type::Array(Box::new(self.of_rust(element)), count);
        }
        if text.starts_with("Option<") || text.is_empty() {
            return Type::Function;
        }
        self.named(text)
    }

    fn is_opaque(&self, name: &str) -> bool {
        !self.structs.contains_key(name) && !self.aliases.contains_key(name) && plain(name).is_none()
    }

    fn named(&self, name: &str) -> Type {
        if let Some(of) = plain(name) {
            return of;
        }
        if let Some((_, kind)) = NUMBERS.iter().find(|(number, _)| *number == name) {
            return Type::Handle((*kind).to_owned());
        }
        if self.structs.contains_key(name) {
            return Type::Struct(name.to_owned());
        }
        if let Some(alias) = self.aliases.get(name) {
            return match self.of_rust(alias) {
                Type::Number(bytes, _) if self.constants.contains_key(name) => Type::Number(bytes, name.to_owned()),
                of => of,
            };
        }
        // The driver and the runtime have names of their own for these.
        let kind = match name {
            "cudaArray" => "CUarray_st",
            "cudaMipmappedArray" => "CUmipmappedArray_st",
            name => name,
        };
        Type::Handle(kind.to_owned())
    }

    /// Bytes that a value takes, and a multiple of what its address is.
    pub(crate) fn size_and_alignment(&self, of: &Type) -> (usize, usize) {
        match of {
            Type::Void | Type::Char => (1, 1),
            Type::Number(bytes, _) => (*bytes, *bytes),
            Type::Handle(_) | Type::Function | Type::Pointer { .. } => (8, 8),
            Type::Array(element, count) => {
                let (size, alignment) = self.size_and_alignment(element);
                (size * count, alignment)
            }
            Type::Struct(name) => {
                let (mut size, mut alignment) = (0, 1);
                for field in self.fields(name) {
                    let (bytes, multiple) = self.size_and_alignment(&field.of);
                    size = size.max(field.offset + bytes);
                    alignment = alignment.max(multiple);
                }
                (size.next_multiple_of(alignment), alignment)
            }
        }
    }

    /// The fields of a struct or a union, as C places them.
    pub(crate) fn fields(&self, name: &str) -> Vec<Field> {
        let layout = &self.structs[name];
        let mut offset: usize = 0;
        let mut fields = Vec::new();
        for (field, of) in &layout.fields {
            let of = self.of_rust(of);
            let (size, alignment) = self.size_and_alignment(&of);
            let start = if layout.is_union { 0 } else { offset.next_multiple_of(alignment) };
            fields.push(Field { name: field.clone(), offset: start, of });
            offset = start + size;
        }
        fields
    }

    pub(crate) fn is_union(&self, name: &str) -> bool {
        self.structs[name].is_union
    }

    /// What constants of a type there are.
    pub(crate) fn constants(&self, name: &str) -> &[u64] {
        self.constants.get(name).map_or(&[], Vec::as_slice)
    }
}

fn plain(name: &str) -> Option<Type> {
    let number = |bytes| Some(Type::Number(bytes, String::new()));
    match name {
        "void" | "c_void" => Some(Type::Void),
        "char" | "c_char" => Some(Type::Char),
        "u8" | "c_uchar" => number(1),
        "u16" | "c_ushort" => number(2),
        "int" | "float" | "u32" | "f32" | "c_int" | "c_uint" => number(4),
        "usize" | "u64" | "f64" | "c_longlong" | "c_ulonglong" => number(8),
        _ => None,
    }
}

fn number(text: &str) -> Option<u64> {
    let text = text.trim().replace('_', "");
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse::<i64>().ok().map(i64::cast_unsigned).or_else(|| text.parse().ok()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structs_are_as_in_c() {
        let types = Types::read();
        let size = |name: &str| types.size_and_alignment(&Type::Struct(name.to_owned())).0;
        assert_eq!(size("CUDA_MEMCPY2D"), 128);
        assert_eq!(size("CUDA_MEMCPY3D"), 200);
        assert_eq!(size("CUlaunchConfig"), 56);
        assert_eq!(size("dim3"), 12);
        let launch = types.fields("CUlaunchConfig");
        let attributes = launch.iter().find(|field| field.name == "attrs").expect("it is there");
        assert_eq!(attributes.offset, 40);
        assert!(
            matches!(&attributes.of, Type::Pointer { to, .. } if **to == Type::Struct("CUlaunchAttribute".to_owned()))
        );
    }

    #[test]
    fn names_of_one_thing_are_one_type() {
        let types = Types::read();
        assert_eq!(types.of_c("CUstream"), types.of_c("cudaStream_t"));
        assert_eq!(types.of_c("CUarray"), types.of_c("cudaArray_t"));
        assert_eq!(types.of_c("CUdeviceptr"), Type::Handle("memory".to_owned()));
        assert_eq!(types.of_c("CUhostFn"), Type::Function);
        assert_eq!(types.of_c("CUlimit"), Type::Number(4, "CUlimit".to_owned()));
        assert!(types.constants("CUlimit").contains(&1));
    }
}
