//! Launches by their shape, and those that streams leave unordered.

use std::collections::{BTreeMap, VecDeque};

use ptx::analysis::footprint::{Accessed, Footprint, Reason, Verdict};
use report::demangled;
use toolkit::{Clock, LaunchView, WorkId, WorkOrder};

/// What is told apart among launches.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Shape {
    pub(super) kernel: String,
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
    pub(super) dynamic_shared: u32,
    /// The sizes of the objects that it may access, in bytes.
    pub(super) objects: String,
}

/// Launches of one shape with the same answers.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) launches: u64,
    pub(super) bounds: bool,
    pub(super) races: bool,
    pub(super) reasons: Vec<Why>,
}

/// Why something is not proved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Why {
    /// `bounds` or `races`.
    pub(super) question: &'static str,
    /// One sentence.
    pub(super) text: String,
    pub(super) instruction: String,
    pub(super) ptx_line: u32,
    pub(super) source: Option<(String, u32)>,
}

/// All launches of a process so far.
#[derive(Debug, Default)]
pub(super) struct Launches {
    shapes: BTreeMap<(Shape, bool, bool), usize>,
    groups: Vec<Group>,
    /// The last ones, to be compared with those that come.
    last: VecDeque<Begun>,
    /// Those that are not among them any more.
    forgotten: Vec<WorkId>,
}

/// A launch that has begun.
#[derive(Debug)]
struct Begun {
    id: WorkId,
    kernel: String,
    group: usize,
    touched: Option<Vec<Touched>>,
}

/// Bytes that a launch may access.
#[derive(Clone, Copy, Debug)]
struct Touched {
    start: u64,
    end: u64,
    is_written: bool,
    is_strong: bool,
}

/// More shapes are not told apart.
const MOST_SHAPES: usize = 4096;
/// A launch is compared with so many before it.
const MOST_LAUNCHES: usize = 256;
/// Reasons that are given for one question.
const MOST_REASONS: usize = 8;

impl Launches {
    /// A launch begins.
    pub(super) fn add(&mut self, launch: &LaunchView<'_>, footprint: &Footprint, objects: &[[u64; 2]]) {
        let group = self.group(launch, footprint, objects);
        self.groups[group].launches += 1;
        let begun = |order: &WorkOrder| Begun {
            id: order.id,
            kernel: demangled(launch.kernel),
            group,
            touched: touched(footprint, objects),
        };
        let Some(order) = launch.order else { return };
        self.compare(begun(order), &order.before);
    }

    pub(super) fn groups(&self) -> impl Iterator<Item = (&Shape, &Group)> {
        self.shapes.iter().map(|((shape, ..), group)| (shape, &self.groups[*group]))
    }

    fn group(&mut self, launch: &LaunchView<'_>, footprint: &Footprint, objects: &[[u64; 2]]) -> usize {
        let sizes: Vec<String> = objects.iter().map(|object| object[1].to_string()).collect();
        let mut shape = Shape {
            kernel: launch.kernel.to_owned(),
            grid: launch.shape.grid,
            block: launch.shape.block,
            dynamic_shared: launch.shape.dynamic_shared,
            objects: sizes.join(" "),
        };
        if self.shapes.len() >= MOST_SHAPES {
            // The sizes are left out, so that what is not proved is not lost.
            shape = Shape { grid: [0; 3], block: [0; 3], dynamic_shared: 0, objects: String::new(), ..shape };
        }
        let (bounds, races) = (footprint.bounds.is_proved(), footprint.races.is_proved());
        *self.shapes.entry((shape, bounds, races)).or_insert_with(|| {
            let name = |_: usize| "an object".to_owned();
            let why = |question: &'static str, verdict: &Verdict| {
                verdict.reasons().iter().map(|reason| Why::of(question, reason, name)).collect::<Vec<_>>()
            };
            let mut reasons = why("bounds", &footprint.bounds);
            reasons.extend(why("races", &footprint.races));
            self.groups.push(Group { launches: 0, bounds, races, reasons });
            self.groups.len() - 1
        })
    }

    /// Holds a launch against those that may run at the same time.
    fn compare(&mut self, begun: Begun, before: &Clock) {
        let mut conflicts = Vec::new();
        for other in self.last.iter().filter(|other| !before.contains(other.id)) {
            let text = match (&begun.touched, &other.touched) {
                (Some(one), Some(other)) if !conflict(one, other) => continue,
                (Some(_), Some(_)) => "and one of them writes bytes that the other accesses",
                _ => "and it is not known what they access",
            };
            conflicts.push((other.group, begun.kernel.clone(), text));
            conflicts.push((begun.group, other.kernel.clone(), text));
        }
        if self.forgotten.iter().any(|&other| !before.contains(other)) {
            let text = "and it is not known any more what they access";
            conflicts.push((begun.group, "many launches".to_owned(), text));
        }
        for (group, other, text) in conflicts {
            let text = format!("it may run at the same time as {other}, {text}");
            self.groups[group].is_not_race_free(text);
        }
        self.last.push_back(begun);
        if self.last.len() > MOST_LAUNCHES
            && let Some(old) = self.last.pop_front()
        {
            match self.forgotten.iter_mut().find(|other| other.queue == old.id.queue) {
                Some(other) => other.number = other.number.max(old.id.number),
                None => self.forgotten.push(old.id),
            }
        }
    }
}

impl Group {
    fn is_not_race_free(&mut self, text: String) {
        self.races = false;
        let why = Why { question: "races", text, instruction: String::new(), ptx_line: 0, source: None };
        let known = self.reasons.iter().filter(|reason| reason.question == why.question);
        if known.count() < MOST_REASONS && !self.reasons.contains(&why) {
            self.reasons.push(why);
        }
    }
}

impl Why {
    fn of(question: &'static str, reason: &Reason, name: impl Fn(usize) -> String) -> Self {
        Self {
            question,
            text: reason.in_words(name),
            instruction: reason.site.instruction.clone(),
            ptx_line: reason.site.line,
            source: reason.site.source.clone(),
        }
    }
}

/// The bytes that a launch may access, by their addresses.
fn touched(footprint: &Footprint, objects: &[[u64; 2]]) -> Option<Vec<Touched>> {
    let absolute = |touched: &ptx::analysis::footprint::Touched| match &touched.object {
        Accessed::Object(place) => objects.get(*place).map(|&[start, _]| Touched {
            start: start + touched.first,
            end: start + touched.end,
            is_written: touched.is_written,
            is_strong: touched.is_strong,
        }),
        Accessed::Variable(_) => None,
    };
    footprint.touched.as_ref()?.iter().map(absolute).collect()
}

fn conflict(one: &[Touched], other: &[Touched]) -> bool {
    let pairs = one.iter().flat_map(|one| other.iter().map(move |other| (one, other)));
    pairs.into_iter().any(|(one, other)| {
        (one.is_written || other.is_written)
            && !(one.is_strong && other.is_strong)
            && one.start < other.end
            && other.start < one.end
    })
}
