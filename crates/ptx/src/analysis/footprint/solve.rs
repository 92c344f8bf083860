//! A small solver of linear inequalities over bounded integers: narrows ranges, and tries halves of what is left.

use smallvec::SmallVec;

use super::path::gcd;
use super::work::Work;

/// `least ≤ sum of coefficient × variable ≤ most`
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Row {
    pub terms: SmallVec<[(u32, i64); 6]>,
    pub least: i128,
    pub most: i128,
}

/// Variables with ranges, rows, and variables of which one must not be zero.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct System {
    pub ranges: Vec<(i64, i64)>,
    pub rows: Vec<Row>,
    /// Nothing if it does not matter.
    pub not_all_zero: Option<Vec<u32>>,
}

/// Whether a system has a solution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Solution {
    /// It has none.
    None,
    /// It has this one.
    Found(Vec<i64>),
    /// The work was not enough to tell.
    NotSettled,
}

/// Systems that are tried for one question.
const MOST_NODES: u32 = 300;
/// How often all rows are looked at to narrow ranges.
const PASSES: u32 = 8;

impl System {
    pub(super) fn solve(self, work: &Work) -> Solution {
        let mut open = vec![self.ranges];
        let (rows, not_all_zero) = (self.rows, self.not_all_zero);
        let mut nodes = 0;
        while let Some(mut ranges) = open.pop() {
            nodes += 1;
            if nodes > MOST_NODES || work.is_over() {
                return Solution::NotSettled;
            }
            if !narrow(&rows, &mut ranges, work) {
                continue;
            }
            if let Some(variables) = &not_all_zero
                && variables.iter().all(|&variable| ranges[variable as usize] == (0, 0))
            {
                continue;
            }
            match undecided(&rows, &ranges) {
                None => {
                    // Rows hold for all values that are left.
                    let mut solution: Vec<i64> = ranges.iter().map(|range| range.0).collect();
                    if let Some(variables) = &not_all_zero
                        && variables.iter().all(|&variable| solution[variable as usize] == 0)
                    {
                        let free = variables.iter().find(|&&variable| ranges[variable as usize].1 > 0);
                        if let Some(&free) = free {
                            solution[free as usize] = ranges[free as usize].1;
                        }
                    }
                    return Solution::Found(solution);
                }
                Some(variable) => {
                    let (least, most) = ranges[variable as usize];
                    let middle = ((i128::from(least) + i128::from(most)).div_euclid(2)) as i64;
                    let mut upper = ranges.clone();
                    upper[variable as usize] = (middle + 1, most);
                    ranges[variable as usize] = (least, middle);
                    open.push(upper);
                    open.push(ranges);
                }
            }
        }
        Solution::None
    }
}

/// Narrows ranges as rows demand; false if one is empty.
fn narrow(rows: &[Row], ranges: &mut [(i64, i64)], work: &Work) -> bool {
    for _ in 0..PASSES {
        work.add(1 + rows.len() as u64);
        let mut changed = false;
        for row in rows {
            let (mut low, mut high) = (0_i128, 0_i128);
            let (mut fixed, mut divisor) = (0_i128, 0_u64);
            for &(variable, coefficient) in &row.terms {
                let (least, most) = ranges[variable as usize];
                let (one, other) = products(coefficient, least, most);
                low += one;
                high += other;
                if least == most {
                    fixed += one;
                } else {
                    divisor = if divisor == 0 {
                        coefficient.unsigned_abs()
                    } else {
                        gcd(divisor, coefficient.unsigned_abs())
                    };
                }
            }
            // The sum is the fixed part plus a multiple of the divisor.
            let (mut row_least, mut row_most) = (row.least.max(low), row.most.min(high));
            if divisor > 1 {
                let divisor = i128::from(divisor);
                row_least = fixed + (row_least - fixed + divisor - 1).div_euclid(divisor) * divisor;
                row_most = fixed + (row_most - fixed).div_euclid(divisor) * divisor;
            }
            if row_least > row_most {
                return false;
            }
            if row_least <= low && high <= row_most {
                continue;
            }
            for &(variable, coefficient) in &row.terms {
                let (least, most) = ranges[variable as usize];
                if least == most {
                    continue;
                }
                let (one, other) = products(coefficient, least, most);
                // coefficient × variable is at least `from` and at most `to`, whatever the others are.
                let (from, to) = (row_least - (high - other), row_most - (low - one));
                let magnitude = i128::from(coefficient);
                let (mut new_least, mut new_most) = if coefficient > 0 {
                    (-((-from).div_euclid(magnitude)), to.div_euclid(magnitude))
                } else {
                    (-(to.div_euclid(-magnitude)), (-from).div_euclid(-magnitude))
                };
                new_least = new_least.max(least.into());
                new_most = new_most.min(most.into());
                if new_least > new_most {
                    return false;
                }
                if (new_least, new_most) != (least.into(), most.into()) {
                    ranges[variable as usize] = (new_least as i64, new_most as i64);
                    let (now, then) = products(coefficient, new_least as i64, new_most as i64);
                    low += now - one;
                    high += then - other;
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
    }
    true
}

fn products(coefficient: i64, least: i64, most: i64) -> (i128, i128) {
    let (one, other) = (i128::from(coefficient) * i128::from(least), i128::from(coefficient) * i128::from(most));
    (one.min(other), one.max(other))
}

/// A variable to try halves of: one with the largest coefficient of the first row that does not hold for all that is
/// left.
fn undecided(rows: &[Row], ranges: &[(i64, i64)]) -> Option<u32> {
    for row in rows {
        let (mut low, mut high) = (0_i128, 0_i128);
        for &(variable, coefficient) in &row.terms {
            let (least, most) = ranges[variable as usize];
            let (one, other) = products(coefficient, least, most);
            low += one;
            high += other;
        }
        if low < row.least || row.most < high {
            let open = row.terms.iter().filter(|term| {
                let (least, most) = ranges[term.0 as usize];
                least != most
            });
            return open.max_by_key(|term| term.1.unsigned_abs()).map(|term| term.0);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(terms: &[(u32, i64)], least: i128, most: i128) -> Row {
        Row { terms: terms.iter().copied().collect(), least, most }
    }

    #[test]
    fn digits_that_do_not_reach_the_next_weight_are_apart() {
        // 1024 a + 4 b is within 3 of zero only for a = b = 0.
        let system = System {
            ranges: vec![(-5000, 5000), (-255, 255)],
            rows: vec![row(&[(0, 1024), (1, 4)], -3, 3)],
            not_all_zero: Some(vec![0, 1]),
        };
        assert_eq!(system.solve(&Work::default()), Solution::None);
    }

    #[test]
    fn digits_that_reach_the_next_weight_meet() {
        let system = System {
            ranges: vec![(-5000, 5000), (-256, 256)],
            rows: vec![row(&[(0, 1024), (1, 4)], -3, 3)],
            not_all_zero: Some(vec![0, 1]),
        };
        let Solution::Found(found) = system.solve(&Work::default()) else { panic!("there is a solution") };
        assert_eq!(1024 * found[0] + 4 * found[1], 0);
        assert_ne!(found, [0, 0]);
    }

    #[test]
    fn a_multiple_does_not_hit_what_is_between() {
        let system = System {
            ranges: vec![(-50, 50), (-50, 50)],
            rows: vec![row(&[(0, 6), (1, 10)], 3, 3)],
            not_all_zero: None,
        };
        assert_eq!(system.solve(&Work::default()), Solution::None);
    }
}
