//! How true a run was to a GPU: what the tables of the tool `fidelity` come to.

use serde::Serialize;

use crate::table::Row;

/// What a run computed exactly, approximately and not at all.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Debug)]
pub(crate) struct Fidelity {
    /// Instructions of the kernels that were launched that give what a GPU gives, bit by bit.
    exact_instructions: u64,
    /// Those that need not.
    approximate_instructions: u64,
    /// Approximate ones that were executed.
    approximate_executed: u64,
    /// Functions of CUDA that were called, in the same way; hints are exact.
    exact_functions: u64,
    approximate_functions: u64,
    /// Functions that were called and are not there.
    missing_functions: u64,
    /// Whether approximate results of instructions reach branches: `yes`, `may` or `no`.
    control: &'static str,
    /// The same for addresses.
    addresses: &'static str,
    /// The same for who waits for whom.
    synchronisation: &'static str,
}

impl Fidelity {
    /// Nothing if the tool did not run, or nothing was launched or called.
    pub(crate) fn of(rows: &[Row]) -> Option<Self> {
        let rows: Vec<&Row> = rows.iter().filter(|row| row.tool == "fidelity").collect();
        if rows.is_empty() {
            return None;
        }
        let of = |table: &'static str| rows.iter().filter(move |row| row.table == table);
        let sum = |column: &str| of("kernels").fold(0_u64, |sum, row| sum.saturating_add(row.number(column)));
        let functions = |how: &[&str]| of("functions").filter(|row| how.contains(&row.text("fidelity"))).count() as u64;
        let answer = |column: &str| {
            let has = |answer: &str| of("instructions").any(|row| row.text(column) == answer);
            if has("yes") {
                "yes"
            } else if has("may") {
                "may"
            } else {
                "no"
            }
        };
        Some(Self {
            exact_instructions: sum("exact"),
            approximate_instructions: sum("approximate"),
            approximate_executed: of("instructions").count() as u64,
            exact_functions: functions(&["exact", "hint"]),
            approximate_functions: functions(&["approximate"]),
            missing_functions: functions(&["not at all"]),
            control: answer("control"),
            addresses: answer("addresses"),
            synchronisation: answer("synchronisation"),
        })
    }

    /// In two sentences.
    pub(crate) fn sentences(&self) -> [String; 2] {
        let counts = format!(
            "instructions: {} exact, {} approximate, of which {} were executed; functions: {} exact, {} approximate, {} missing",
            self.exact_instructions,
            self.approximate_instructions,
            self.approximate_executed,
            self.exact_functions,
            self.approximate_functions,
            self.missing_functions
        );
        let all =
            [("branches", self.control), ("addresses", self.addresses), ("synchronisation", self.synchronisation)];
        let those = |answer: &str| {
            let names: Vec<&str> = all.iter().filter(|(_, given)| *given == answer).map(|(name, _)| *name).collect();
            match names.split_last() {
                Some((last, [])) => (*last).to_owned(),
                Some((last, others)) => format!("{} and {last}", others.join(", ")),
                None => String::new(),
            }
        };
        let reached = match (those("yes").as_str(), those("may").as_str()) {
            ("", "") => "no approximate result reaches branches, addresses or synchronisation".to_owned(),
            (yes, "") => format!("approximate results reach {yes}"),
            ("", may) => format!("approximate results may reach {may}, through memory"),
            (yes, may) => format!("approximate results reach {yes}, and may reach {may}, through memory"),
        };
        [counts, reached]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Cell;

    fn text(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }

    fn instruction(control: &str, addresses: &str) -> Row {
        let row = Row::new("fidelity", "instructions").with("control", text(control));
        row.with("addresses", text(addresses)).with("synchronisation", text("no"))
    }

    #[test]
    fn the_worst_counts() {
        assert_eq!(Fidelity::of(&[Row::new("loads", "lines")]), None);
        let kernel =
            Row::new("fidelity", "kernels").with("exact", Cell::Number(7)).with("approximate", Cell::Number(2));
        let mut rows = vec![kernel];
        let reached = |rows: &[Row]| Fidelity::of(rows).expect("there are rows").sentences()[1].clone();
        assert_eq!(reached(&rows), "no approximate result reaches branches, addresses or synchronisation");
        rows.push(instruction("may", "no"));
        assert_eq!(reached(&rows), "approximate results may reach branches, through memory");
        rows.push(instruction("yes", "may"));
        assert_eq!(reached(&rows), "approximate results reach branches, and may reach addresses, through memory");
        rows.push(Row::new("fidelity", "functions").with("fidelity", text("not at all")));
        rows.push(Row::new("fidelity", "functions").with("fidelity", text("hint")));
        let counts = Fidelity::of(&rows).expect("there are rows").sentences()[0].clone();
        assert_eq!(
            counts,
            "instructions: 7 exact, 2 approximate, of which 2 were executed; functions: 1 exact, 0 approximate, 1 missing"
        );
    }
}
