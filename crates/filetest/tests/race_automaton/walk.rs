//! All programs of a number of accesses, executed in all orders that their barriers allow.

use std::collections::{BTreeMap, HashMap};

use crate::definition::{ACCESSES, Access, Gap, PLACES, Verdict, knows, verdict};
use crate::kernel::Setting;
use crate::transitions::{Question, Records, Transitions, Ways};

/// Where the records of two blocks are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Cells {
    /// Both access the same memory, at any time.
    Same,
    /// Each has memory of its own.
    Apart,
    /// Shared memory in which one block comes after the other has ended.
    OneAfterTheOther,
}

/// What was executed, and what came of it.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) programs: u64,
    /// By the verdict that is wanted, and the one that is found.
    pub(crate) executions: BTreeMap<(Verdict, Verdict), u64>,
}

/// A program that was executed, and the accesses in the order in which they were made, each by its number in the program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Execution<'a> {
    pub(crate) gaps: &'a [Gap],
    pub(crate) made: &'a [(usize, Access)],
    pub(crate) wanted: Verdict,
    pub(crate) found: Verdict,
}

/// What is known of the accesses to a place with some records: the number of the records after it, shifted by the verdict.
type Row = [u32; ACCESSES];
const VERDICTS: u32 = 2;
/// Nothing is known.
const UNKNOWN: u32 = u32::MAX;

/// The automaton of a cell, as far as it is known.
pub(crate) struct Automaton {
    setting: Setting,
    transitions: Transitions,
    states: Vec<Records>,
    numbers: HashMap<Records, u32>,
    /// Of each state, in each part of the kernel.
    rows: Vec<Option<Box<Row>>>,
}

impl Automaton {
    pub(crate) fn new(setting: Setting, ways: Ways) -> Self {
        let transitions = Transitions::new(setting, ways);
        let mut automaton =
            Self { setting, transitions, states: Vec::new(), numbers: HashMap::new(), rows: Vec::new() };
        // Nothing was recorded.
        automaton.number([0; 2]);
        automaton
    }

    fn number(&mut self, records: Records) -> u32 {
        *self.numbers.entry(records).or_insert_with(|| {
            self.states.push(records);
            self.rows.resize_with(self.states.len() * self.setting.barriers.parts(), || None);
            self.states.len() as u32 - 1
        })
    }

    fn index(&self, state: u32, part: usize) -> usize {
        state as usize * self.setting.barriers.parts() + part
    }

    /// How many states and transitions are known.
    pub(crate) fn size(&self) -> (usize, usize) {
        let known = self.rows.iter().flatten().flat_map(|row| row.iter()).filter(|&&known| known != UNKNOWN);
        (self.states.len(), known.count())
    }

    /// Asks for what is not known: accesses of rows.
    fn learn(&mut self, mut missing: Vec<(usize, Access)>) {
        missing.sort_unstable();
        missing.dedup();
        let parts = self.setting.barriers.parts();
        let question = |&(row, access): &(usize, Access)| Question {
            records: self.states[row / parts],
            part: row % parts,
            access,
        };
        let questions: Vec<Question> = missing.iter().map(question).collect();
        let answers = self.transitions.ask(&questions);
        for ((row, access), answer) in missing.into_iter().zip(answers) {
            let known = self.number(answer.records) << VERDICTS | answer.verdict as u32;
            self.rows[row].get_or_insert_with(|| Box::new([UNKNOWN; ACCESSES]))[usize::from(access.0)] = known;
        }
    }

    /// Executes all programs of so many accesses, and shows each of these whose verdict is another than what is wanted.
    pub(crate) fn walk(
        &mut self,
        cells: Cells,
        accesses: usize,
        counts: &mut Counts,
        differs: &mut dyn FnMut(&Execution<'_>),
    ) {
        let kinds = self.setting.barriers.gaps();
        for number in 0..kinds.len().pow(accesses as u32 - 1) {
            let gap = |at: usize| kinds[number / kinds.len().pow(at as u32) % kinds.len()];
            let gaps: Vec<Gap> = (0..accesses - 1).map(gap).collect();
            counts.programs += (ACCESSES as u64).pow(accesses as u32);
            let plan = Plan::new(self.setting, cells, gaps);
            for depth in 0..accesses {
                let mut missing = Vec::new();
                Walk { automaton: self, plan: &plan, depth, made: Vec::new() }.visit(
                    Node::default(),
                    &mut |node, made| {
                        for (at, access) in plan.next(made) {
                            let row = self.index(node.states[plan.cell(access)], plan.parts[at]);
                            let known = self.rows[row].as_ref().map_or(UNKNOWN, |row| row[usize::from(access.0)]);
                            missing.extend((known == UNKNOWN).then_some((row, access)));
                        }
                        if missing.len() > 1 << 20 {
                            missing.sort_unstable();
                            missing.dedup();
                        }
                    },
                );
                self.learn(missing);
            }
            let mut executions = [[0_u64; 3]; 3];
            Walk { automaton: self, plan: &plan, depth: accesses, made: Vec::new() }.visit(
                Node::default(),
                &mut |node, made| {
                    executions[node.wanted as usize][node.found as usize] += 1;
                    if node.wanted != node.found {
                        differs(&Execution { gaps: &plan.gaps, made, wanted: node.wanted, found: node.found });
                    }
                },
            );
            const VERDICTS: [Verdict; 3] = [Verdict::Nothing, Verdict::Warning, Verdict::Error];
            for (wanted, executions) in VERDICTS.into_iter().zip(executions) {
                for (found, count) in VERDICTS.into_iter().zip(executions).filter(|(_, count)| *count > 0) {
                    *counts.executions.entry((wanted, found)).or_default() += count;
                }
            }
        }
    }
}

/// What is the same for all programs with some barriers.
struct Plan {
    cells: Cells,
    gaps: Vec<Gap>,
    /// In which part of the kernel each access is.
    parts: Vec<usize>,
    /// What is wanted for an access and a later one.
    wanted: Vec<Vec<[[Verdict; ACCESSES]; ACCESSES]>>,
    /// Whether an access by a thread comes before a later one by another.
    ordered: Vec<Vec<[[bool; PLACES.len()]; PLACES.len()]>>,
}

impl Plan {
    fn new(Setting { space, barriers, .. }: Setting, cells: Cells, gaps: Vec<Gap>) -> Self {
        let positions = 0..=gaps.len();
        let between = |one: usize, other: usize| gaps.get(one..other).unwrap_or_default();
        let wanted = |one: usize, other: usize| {
            let verdict = |before: usize, after: usize| {
                verdict(space, Access(before as u8), Access(after as u8), between(one, other))
            };
            std::array::from_fn(|before| std::array::from_fn(|after| verdict(before, after)))
        };
        let ordered = |one: usize, other: usize| {
            PLACES.map(|before| PLACES.map(|after| one < other && knows(after, before, between(one, other))))
        };
        Self {
            cells,
            parts: positions.clone().map(|at| barriers.part(&gaps[..at])).collect(),
            wanted: positions.clone().map(|one| positions.clone().map(|other| wanted(one, other)).collect()).collect(),
            ordered: positions
                .clone()
                .map(|one| positions.clone().map(|other| ordered(one, other)).collect())
                .collect(),
            gaps,
        }
    }

    /// The accesses that can be made after others, each with its number in the program.
    fn next(&self, made: &[(usize, Access)]) -> impl Iterator<Item = (usize, Access)> {
        let places = (0..PLACES.len()).flat_map(|place| (0..self.parts.len()).map(move |at| (at, place)));
        let can_follow = places.filter(|&(at, place)| self.can_follow(made, at, place));
        can_follow.flat_map(|(at, place)| Access::of_place(place).map(move |access| (at, access)))
    }

    /// Whether an access by a place can be made after others, in the order of the programs and of its barriers.
    fn can_follow(&self, made: &[(usize, Access)], at: usize, place: usize) -> bool {
        let is_too_late =
            |&(other, before): &(usize, Access)| other == at || self.ordered[at][other][place][before.place_number()];
        if made.iter().any(is_too_late) {
            return false;
        }
        // Who began is the only one, until the other block begins.
        let block = |access: Access| access.place().block;
        self.cells != Cells::OneAfterTheOther
            || made.last().is_none_or(|&(_, last)| {
                block(last) == PLACES[place].block || made.iter().all(|&(_, before)| block(before) == block(last))
            })
    }

    /// Whose memory an access is to.
    fn cell(&self, access: Access) -> usize {
        match self.cells {
            Cells::Apart => access.place().block as usize,
            Cells::Same | Cells::OneAfterTheOther => 0,
        }
    }
}

/// Where a walk is.
#[derive(Clone, Copy, Default)]
struct Node {
    /// Of the memory of each block.
    states: [u32; 2],
    wanted: Verdict,
    found: Verdict,
}

/// Who looks at a walk: where it is, and the accesses that were made.
type Seen<'a> = dyn FnMut(&Node, &[(usize, Access)]) + 'a;

struct Walk<'a> {
    automaton: &'a Automaton,
    plan: &'a Plan,
    /// After how many accesses it ends.
    depth: usize,
    made: Vec<(usize, Access)>,
}

impl Walk<'_> {
    fn visit(&mut self, node: Node, seen: &mut Seen<'_>) {
        if self.made.len() == self.depth {
            seen(&node, &self.made);
            return;
        }
        let plan = self.plan;
        let made = self.made.clone();
        for (at, access) in plan.next(&made) {
            let cell = plan.cell(access);
            let row = self.automaton.rows[self.automaton.index(node.states[cell], plan.parts[at])].as_ref();
            let known = row.expect("rows are asked for before")[usize::from(access.0)];
            let mut next = node;
            next.states[cell] = known >> VERDICTS;
            next.found = next.found.max(match known & ((1 << VERDICTS) - 1) {
                0 => Verdict::Nothing,
                1 => Verdict::Warning,
                _ => Verdict::Error,
            });
            for &(other, before) in &made {
                let (one, first, two, second) =
                    if other < at { (other, before, at, access) } else { (at, access, other, before) };
                next.wanted = next.wanted.max(plan.wanted[one][two][usize::from(first.0)][usize::from(second.0)]);
            }
            self.made.push((at, access));
            self.visit(next, seen);
            self.made.pop();
        }
    }
}
