//! Version, target and address size.

use super::{Input, LinkError};

/// What a text begins with.
pub(super) struct Header {
    pub(super) version: Option<(u32, u32)>,
    pub(super) target: Vec<String>,
    pub(super) address_size: Option<u32>,
}

/// The highest version and architecture, and all options.
pub(super) fn merge(inputs: &[Input<'_>]) -> Result<Header, Vec<LinkError>> {
    let version = inputs.iter().filter_map(|input| input.module.version).max();
    let sizes = || inputs.iter().filter_map(|input| Some((input.name, input.module.address_size?)));
    let named = |(name, size): (&str, u32)| (name.to_owned(), size);
    let first_size = sizes().next();
    if let Some(first) = first_size
        && let Some(second) = sizes().find(|(_, size)| *size != first.1)
    {
        return Err(vec![LinkError::AddressSizes { first: named(first), second: named(second) }]);
    }
    let is_independent = |input: &&Input<'_>| words(input).any(|word| word == "texmode_independent");
    if let Some(independent) = inputs.iter().find(is_independent)
        && let Some(unified) = inputs.iter().find(|input| !is_independent(input))
    {
        return Err(vec![LinkError::TextureModes {
            independent: independent.name.to_owned(),
            unified: unified.name.to_owned(),
        }]);
    }
    let architecture =
        inputs.iter().flat_map(words).filter(|word| word.starts_with("sm_")).max_by_key(|word| rank(word));
    let mut target: Vec<String> = architecture.map(str::to_owned).into_iter().collect();
    for word in inputs.iter().flat_map(words).filter(|word| !word.starts_with("sm_")) {
        // What it demands is dropped, see `sections`.
        let is_dropped = word == "debug" && inputs.len() > 1;
        if !is_dropped && !target.iter().any(|known| known == word) {
            target.push(word.to_owned());
        }
    }
    Ok(Header { version, target, address_size: first_size.map(|(_, size)| size) })
}

fn words<'a>(input: &'a Input<'_>) -> impl Iterator<Item = &'a str> {
    input.module.target.iter().map(|&word| input.module.text(word))
}

/// `sm_90` is less than `sm_90f` and `sm_90a`, which are less than `sm_100`.
fn rank(architecture: &str) -> (u32, u32) {
    let digits = architecture.trim_start_matches("sm_").trim_end_matches(|c: char| !c.is_ascii_digit());
    let suffix = match architecture.bytes().last() {
        Some(b'a') => 2,
        Some(b'f') => 1,
        _ => 0,
    };
    (digits.parse().unwrap_or(0), suffix)
}
