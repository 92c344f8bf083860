//! The launches of a program, and how many places each has that can be struck.

use anyhow::{Result, bail};
use report::Exit;

use super::ran::Ran;
use crate::output;

/// A launch, and how many places it has that can be struck.
pub(crate) struct Launch {
    pub(crate) number: u64,
    pub(crate) kernel: String,
    pub(crate) places: u64,
}

/// The launches of a program that has run without faults, in their order.
pub(crate) fn launches(golden: &Ran) -> Result<Vec<Launch>> {
    if golden.processes > 1 {
        bail!("the program uses CUDA in {} processes: trials of one process are what there is", golden.processes);
    }
    if let Exit::Signal(signal) = golden.exit {
        tell_stderr(golden);
        bail!("the program ends by signal {signal} without any fault");
    }
    if let Exit::Code(code) = golden.exit
        && code != 0
    {
        output::complain("without any fault", &format!(", the program ends with exit code {code}"));
    }
    let mut launches: Vec<Launch> = golden
        .rows("launches")
        .map(|row| Launch {
            number: row.number("launch"),
            kernel: row.text("kernel").to_owned(),
            places: row.number("places"),
        })
        .collect();
    launches.sort_by_key(|launch| launch.number);
    if launches.is_empty() {
        tell_stderr(golden);
        bail!(
            "the program has launched no kernel that faults could strike{}",
            golden.unchecked.first().map_or(String::new(), |gap| format!(": {gap}"))
        );
    }
    Ok(launches)
}

/// What the program writes is kept from the user. It may say why there are no trials.
fn tell_stderr(golden: &Ran) {
    for line in golden.last_lines_of_stderr() {
        output::complain(&line, " (from the program)");
    }
}

/// How many places each launch has, as the tool reads it. Those that are left out have none.
pub(crate) fn text_of(launches: &[Launch], is_meant: impl Fn(usize, &Launch) -> bool) -> Result<String> {
    let mut runs: Vec<(u64, u64)> = Vec::new();
    let mut next = 1;
    for (index, launch) in launches.iter().enumerate() {
        let places = if is_meant(index, launch) { launch.places } else { 0 };
        // Those that could not be looked at have none.
        let skipped = launch.number.saturating_sub(next);
        for (places, count) in [(0, skipped), (places, 1)] {
            match runs.last_mut() {
                _ if count == 0 => {}
                Some((last, more)) if *last == places => *more += count,
                _ => runs.push((places, count)),
            }
        }
        next = launch.number + 1;
    }
    let text = runs.iter().map(|(places, count)| format!("{places}x{count}")).collect::<Vec<_>>().join(",");
    if text.len() > settings::MAX_BYTES / 2 {
        bail!("the program has too many launches that differ: choose some with --kernel-name and --launch-count");
    }
    Ok(text)
}

/// Those that flags choose: with a kernel that is meant, after so many, and so many of them.
pub(super) fn chosen(
    launches: &[Launch],
    is_meant: impl Fn(&str) -> bool,
    skip: usize,
    count: Option<usize>,
) -> Vec<bool> {
    let mut matching = 0;
    let mut all = Vec::new();
    for launch in launches {
        let is_meant = is_meant(&launch.kernel);
        let is_in_range = matching >= skip && count.is_none_or(|count| matching - skip < count);
        matching += usize::from(is_meant);
        all.push(is_meant && is_in_range);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(numbers: &[(u64, u64)]) -> Vec<Launch> {
        let launch = |&(number, places)| Launch { number, kernel: format!("k{}", number % 2), places };
        numbers.iter().map(launch).collect()
    }

    #[test]
    fn launches_with_as_many_places_are_told_together() {
        let launches = some(&[(2, 5), (3, 5), (4, 7), (5, 5), (9, 1)]);
        assert_eq!(text_of(&launches, |index, _| index != 2).unwrap(), "0x1,5x2,0x1,5x1,0x3,1x1");
    }

    #[test]
    fn launches_are_chosen_by_their_kernel() {
        let launches = some(&[(1, 5), (2, 5), (3, 5), (5, 5), (7, 1)]);
        assert_eq!(chosen(&launches, |name| name == "k1", 1, Some(2)), [false, false, true, true, false]);
        assert_eq!(chosen(&launches, |_| true, 0, None), [true; 5]);
    }
}
