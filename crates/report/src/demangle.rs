//! Names of functions as people read them.

use std::fmt;

use cpp_demangle::{DemangleOptions, DemangleWrite, ParseOptions, Symbol};

/// Longer names are left as they are.
const LONGEST_NAME: usize = 16 << 10;
/// A short name may stand for a very long one; then it is left as it is.
const LONGEST_DEMANGLED: usize = 64 << 10;
/// How deep names may be nested.
const DEEPEST: u32 = 96;

/// The whole name with the types of the parameters: `void scale<float>(float*, int)`.
pub fn demangled(name: &str) -> String {
    with(name, DemangleOptions::new()).unwrap_or_else(|| name.to_owned())
}

/// The name alone: `scale<float>`.
pub fn short_name(name: &str) -> String {
    with(name, DemangleOptions::new().no_params().no_return_type()).unwrap_or_else(|| name.to_owned())
}

fn with(name: &str, options: DemangleOptions) -> Option<String> {
    if !(name.starts_with("_Z") || name.starts_with("__Z")) || name.len() > LONGEST_NAME {
        return None;
    }
    let limits = ParseOptions::default().recursion_limit(DEEPEST);
    let symbol = Symbol::new_with_options(name, &limits).ok()?;
    let mut text = Bounded(String::new());
    symbol.structured_demangle(&mut text, &options.recursion_limit(DEEPEST)).ok()?;
    Some(without_tags(&without_files(&text.0)))
}

/// Without what Numba adds to the names of its kernels: `scale[abi:v1][abi:cw51cXTLSUwv1sDUaKthoaNgo]`.
fn without_tags(name: &str) -> String {
    let mut parts = name.split("[abi:");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(']') {
            Some((_, rest)) => text.push_str(rest),
            None => {
                text.push_str("[abi:");
                text.push_str(part);
            }
        }
    }
    text
}

/// Without the namespaces that nvcc makes of files for what is `static`: `_INTERNAL_3d925858_4_a_cu_2b61aaee::f`.
fn without_files(name: &str) -> String {
    let mut parts = name.split("_INTERNAL_");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once("::") {
            Some((file, rest)) if file.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_') => {
                text.push_str(rest);
            }
            _ => {
                text.push_str("_INTERNAL_");
                text.push_str(part);
            }
        }
    }
    text
}

/// A text that does not grow beyond its limit.
struct Bounded(String);

impl DemangleWrite for Bounded {
    fn write_string(&mut self, part: &str) -> fmt::Result {
        if self.0.len() + part.len() > LONGEST_DEMANGLED {
            return Err(fmt::Error);
        }
        self.0.push_str(part);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_cpp() {
        assert_eq!(demangled("_Z6vecaddPKfS0_Pfi"), "vecadd(float const*, float const*, float*, int)");
        assert_eq!(short_name("_Z6vecaddPKfS0_Pfi"), "vecadd");
        assert_eq!(short_name("_Z5scaleIfEvPT_i"), "scale<float>");
        assert_eq!(short_name("_ZN4math3sumIdLi4EEEvPT_"), "math::sum<double, 4>");
        assert_eq!(short_name("_ZN8__main__5scaleB2v1B4cw51Ef"), "__main__::scale");
        assert_eq!(short_name("main"), "main");
        assert_eq!(short_name("_Znonsense"), "_Znonsense");
    }

    #[test]
    fn short_names_of_long_ones_stay_short() {
        // Each parameter is a pair of the one before, so that the whole name doubles with each.
        let mut name = "_Z1f1PIiiE".to_owned();
        for index in 0..40_u32 {
            let digits = std::char::from_digit(index % 36, 36).expect("below 36").to_ascii_uppercase();
            name += &if index < 36 { format!("1PIS{digits}_S{digits}_E") } else { "i".to_owned() };
        }
        assert!(demangled(&name).len() <= LONGEST_DEMANGLED);
        let deep = format!("_Z1f{}i", "P".repeat(10_000));
        assert_eq!(demangled(&deep), deep);
    }
}
