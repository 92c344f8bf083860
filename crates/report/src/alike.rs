//! Findings that would look the same as text: in an unrolled loop, or in each kernel that a template made.

use std::collections::HashMap;

use crate::demangle::short_name;
use crate::escape::escaped;
use crate::finding::{Finding, Note, Place};
use crate::report::Found;

/// More places are counted, and not named.
const MOST_NAMED: usize = 4;

/// Each finding with those after it that have the same message at the same lines, and are about the same memory.
pub(crate) fn folded(findings: &[Found]) -> Vec<(&Found, Vec<&Found>)> {
    let mut groups: Vec<(&Found, Vec<&Found>)> = Vec::new();
    let mut by_look: HashMap<String, usize> = HashMap::new();
    for found in findings {
        let look = look(&found.finding);
        match look.as_ref().and_then(|look| by_look.get(look)) {
            Some(&group) => groups[group].1.push(found),
            None => {
                by_look.extend(look.map(|look| (look, groups.len())));
                groups.push((found, Vec::new()));
            }
        }
    }
    groups
}

/// What a reader sees of a finding of a line, without what differs between instructions; nothing if it has no line.
fn look(finding: &Finding) -> Option<String> {
    let lines = |place: &Place| -> Vec<(String, u32)> {
        place.lines.iter().map(|line| (line.file.clone(), line.line)).collect()
    };
    let place = finding.place.as_ref().filter(|place| !place.lines.is_empty())?;
    let stacks: Vec<_> = finding.notes.iter().map(|note: &Note| &note.stack).collect();
    let object = finding.object.as_ref().map(|object| (&object.name, object.bytes));
    let accesses: Vec<_> = finding.accesses.iter().map(|access| access.place.as_ref().map(lines)).collect();
    let Finding { tool, code, severity, message, help, .. } = finding;
    let look = (tool, code, severity, message, help, lines(place), stacks, object, accesses);
    Some(serde_json::to_string(&look).expect("strings and numbers can be written"))
}

/// `2 more like it at this line: PTX line 50, scale<double> PTX line 41`.
pub(crate) fn sentence(finding: &Finding, others: &[&Found]) -> String {
    let kernel = finding.place.as_ref().map(|place| &place.kernel);
    let named = others.iter().take(MOST_NAMED).filter_map(|found| found.finding.place.as_ref()).map(|place| {
        let name = if Some(&place.kernel) == kernel { String::new() } else { short_name(&place.kernel) + " " };
        escaped(&format!("{name}PTX line {}", place.instruction_line))
    });
    let mut words = named.collect::<Vec<_>>().join(", ");
    if others.len() > MOST_NAMED {
        words += &format!(" and {} more", others.len() - MOST_NAMED);
    }
    format!("{} more like it at this line: {words}", others.len())
}
