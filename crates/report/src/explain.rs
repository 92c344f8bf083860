//! What the codes of findings mean.

/// What a code means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Explanation {
    /// The tool: `memcheck`; nothing if any tool may find it.
    pub tool: Option<&'static str>,
    /// The code: `out-of-bounds`.
    pub code: &'static str,
    /// What it is, in a few words.
    pub title: &'static str,
    /// What it is, what to do, and an example.
    pub text: &'static str,
}

impl Explanation {
    /// `memcheck::out-of-bounds`, or the code alone if any tool may find it.
    pub fn name(&self) -> String {
        self.tool.map_or_else(|| self.code.to_owned(), |tool| format!("{tool}::{}", self.code))
    }

    fn is_of(&self, tool: &str) -> bool {
        self.tool.is_none_or(|known| known == tool)
    }
}

/// The explanations of a code, `memcheck::out-of-bounds`, `memcheck[out-of-bounds]` or `out-of-bounds`, which several
/// tools may have. If there is none, those with the nearest names.
pub fn explain<'a>(all: &'a [Explanation], name: &str) -> Result<Vec<&'a Explanation>, Vec<&'a Explanation>> {
    let name = name.trim().trim_end_matches(']').replace('[', "::").to_lowercase();
    let (tool, code) = match name.split_once("::") {
        Some((tool, code)) => (Some(tool), code),
        None => (None, name.as_str()),
    };
    let found: Vec<&Explanation> =
        all.iter().filter(|known| known.code == code && tool.is_none_or(|tool| known.is_of(tool))).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let mut near: Vec<(usize, &Explanation)> = all
        .iter()
        .map(|known| (distance(code, known.code), known))
        .filter(|(distance, known)| {
            *distance * 3 <= known.code.len() || (!code.is_empty() && known.code.contains(code))
        })
        .collect();
    near.sort_by_key(|(distance, known)| (*distance, known.tool, known.code));
    Err(near.into_iter().map(|(_, known)| known).collect())
}

/// How many letters must be changed, added or left out to make one of the other (Levenshtein).
pub fn distance(left: &str, right: &str) -> usize {
    // A name that is much longer is not near, and takes long to compare.
    if left.len() > 100 {
        return left.len();
    }
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, letter) in left.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], index + 1);
        for (column, other) in right.bytes().enumerate() {
            let substituted = diagonal + usize::from(letter != other);
            diagonal = row[column + 1];
            row[column + 1] = substituted.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_found_and_near_ones_named() {
        let entry = |tool, code| Explanation { tool, code, title: "", text: "" };
        let all = [
            entry(Some("memcheck"), "out-of-bounds"),
            entry(Some("memcheck"), "use-after-free"),
            entry(Some("racecheck"), "race"),
            entry(None, "device-fault"),
        ];
        for name in ["out-of-bounds", "memcheck::out-of-bounds", "memcheck[out-of-bounds]", " Memcheck::Out-Of-Bounds"]
        {
            assert_eq!(explain(&all, name), Ok(vec![&all[0]]), "{name}");
        }
        assert_eq!(explain(&all, "device-fault"), Ok(vec![&all[3]]));
        assert_eq!(explain(&all, "trace::device-fault"), Ok(vec![&all[3]]));
        assert_eq!([all[0].name(), all[3].name()], ["memcheck::out-of-bounds", "device-fault"]);
        assert_eq!(explain(&all, "out-of-bound"), Err(vec![&all[0]]));
        assert_eq!(explain(&all, "free"), Err(vec![&all[1]]));
        assert_eq!(explain(&all, "racecheck::out-of-bounds"), Err(vec![&all[0]]));
        assert_eq!(explain(&all, "quite-different"), Err(vec![]));
        assert_eq!(explain(&all, ""), Err(vec![]));
    }
}
