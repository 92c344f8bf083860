//! The functions that are called: all that are implemented, of the driver and the runtime, from the tables that our libraries
//! are made from.

use std::path::Path;

use crate::types::{Type, Types};

#[allow(dead_code, reason = "build.rs of `cuda` uses the rest")]
#[path = "../../../../cuda/build/table.rs"]
mod table;

/// A function.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) parameters: Vec<Parameter>,
}

#[derive(Debug)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) of: Type,
}

/// All functions that return an error code. Of the runtime those of the newest version, which `dlsym` finds.
pub(crate) fn functions(types: &Types) -> Vec<Function> {
    let implemented = table::implemented(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../cuda/src/ffi"));
    let driver = table::driver_functions(include_str!("../../../../cuda/api/driver.txt"));
    let driver = driver.into_iter().map(|function| (function.symbol, Some(function.signature)));
    let runtime = table::runtime_functions(include_str!("../../../../cuda/api/runtime.txt"));
    let runtime = runtime.into_iter().filter(|function| function.name == function.symbol);
    let runtime = runtime.map(|function| (function.name, function.signature));
    let all = driver.chain(runtime).filter(|(name, _)| implemented.contains_key(name));
    all.filter_map(|(name, signature)| {
        let signature = signature?;
        let (result, parameters) = signature.strip_suffix(')')?.split_once('(')?;
        let parameters = parameters.split(", ").filter(|parameter| !["", "void"].contains(parameter));
        ["CUresult", "cudaError_t"].contains(&result).then(|| Function {
            name,
            parameters: parameters.map(|parameter| self::parameter(types, parameter)).collect(),
        })
    })
    .collect()
}

fn parameter(types: &Types, text: &str) -> Parameter {
    let start = text.rfind([' ', '*']).map_or(0, |before| before + 1);
    Parameter { name: text[start..].to_owned(), of: types.of_c(text[..start].trim()) }
}
