//! Counts in words.

/// `1 kernel`, `2 kernels`, `3 launches`.
pub fn plural(count: u64, noun: &str) -> String {
    let ending = match count {
        1 => "",
        _ if noun.ends_with("ch") || noun.ends_with("ss") => "es",
        _ => "s",
    };
    format!("{count} {noun}{ending}")
}
