//! Executable graphs.
//!
//! A launch puts all nodes into queues at once: each in one of a few lanes, with tickets of those in other lanes that it
//! waits for. The first lane is the stream itself, so a graph without branches is as if its nodes were put into the stream
//! one by one, and branches overlap.

use std::iter;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::graph::{Action, Graph, Kind, Step};
use super::graph_memory;
use super::stream::{Stream, enter};
use super::user_object::References;
use super::work::Work;
use crate::driver;
use crate::error::{CudaError, Result};
use crate::handle::{Handle, Handles};
use crate::queue::{Queue, Ticket};

/// A graph that can be launched.
#[derive(Debug)]
pub(crate) struct Executable {
    pub(crate) handle: Handle<Executable>,
    /// As the program gave them.
    pub(crate) flags: u64,
    /// What the program wants to be there as long as it can be launched.
    _objects: Vec<References>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    nodes: Vec<Placed>,
    /// The lanes besides the stream.
    lanes: Vec<Arc<Queue<Work>>>,
    /// The end of the last launch: a graph does not overlap with itself.
    last: Option<Arc<Ticket>>,
}

/// A node and where it runs.
#[derive(Debug)]
struct Placed {
    step: Step,
    lane: usize,
    is_enabled: bool,
}

/// Why an executable graph cannot become like another graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum UpdateError {
    /// Other nodes or other edges: the first node that differs, if there is one.
    Topology(Option<usize>),
    /// A node of another kind.
    Kind(usize),
    /// A node whose memory would be another.
    Unsupported(usize),
}

/// Executable graphs that programs made.
pub(crate) static EXECUTABLES: Handles<Executable> = Handles::new("an executable graph");

/// Memory that was not freed since the last launch is freed by the next.
pub(crate) const AUTO_FREE: u64 = 1;
/// Kernels launch it.
pub(crate) const DEVICE_LAUNCH: u64 = 4;
/// All flags that there are.
const FLAGS: u64 = 0xf;

/// As many branches run at once.
const MOST_LANES: usize = 8;

/// Makes a graph executable.
pub(crate) fn instantiate(graph: &Graph, flags: u64) -> Result<Arc<Executable>> {
    if flags & !FLAGS != 0 {
        return Err(CudaError::INVALID_VALUE);
    }
    if flags & DEVICE_LAUNCH != 0 {
        crate::refusal::refuse("graphs that kernels launch are not supported by the CPU device");
        return Err(CudaError::NOT_SUPPORTED);
    }
    let nodes = place(graph.steps()?);
    let lanes = nodes.iter().map(|node| node.lane).max().unwrap_or(0);
    if lanes > 0 {
        // Branches of a graph are like streams.
        crate::order::on_stream(false);
    }
    let state = State { nodes, lanes: (0..lanes).map(|_| Queue::new()).collect(), last: None };
    let made =
        Arc::new(Executable { handle: Handle::new(), flags, _objects: graph.objects(), state: Mutex::new(state) });
    EXECUTABLES.insert(&made.handle, Arc::clone(&made));
    Ok(made)
}

/// Gives each node a lane: that of one it waits for, if nothing else comes after that one in its lane, or a new one.
fn place(steps: Vec<Step>) -> Vec<Placed> {
    let mut nodes: Vec<Placed> = Vec::with_capacity(steps.len());
    // The last node of each lane.
    let mut tails: Vec<usize> = Vec::new();
    for (place, step) in steps.into_iter().enumerate() {
        let free = step.before.iter().map(|&from| nodes[from].lane).find(|&lane| step.before.contains(&tails[lane]));
        let lane = free.unwrap_or(if tails.len() < MOST_LANES { tails.len() } else { place % MOST_LANES });
        if lane == tails.len() {
            tails.push(place);
        } else {
            tails[lane] = place;
        }
        nodes.push(Placed { step, lane, is_enabled: true });
    }
    nodes
}

impl Executable {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs the graph in a stream.
    pub(crate) fn launch(&self, stream: &Stream) -> Result<()> {
        driver::check()?;
        if let Some(capture) = stream.capture()? {
            return capture.add(stream.id, Action::Child(self.as_graph()));
        }
        super::output::flush();
        let mut state = self.state();
        // All lanes have threads and room before the first node is put into one of them.
        let queues = iter::once(stream.queue()).chain(&state.lanes);
        let lanes = queues.map(|queue| enter(queue)).collect::<Result<Vec<_>>>()?;
        state.claim_memory(self.flags & AUTO_FREE != 0)?;
        let start = stream.enqueue(Work::Nothing, state.last.clone().into_iter().collect())?;
        let mut tickets: Vec<Arc<Ticket>> = Vec::with_capacity(state.nodes.len());
        let mut ends: Vec<Option<Arc<Ticket>>> = vec![None; state.lanes.len() + 1];
        for Placed { step, lane, is_enabled } in &state.nodes {
            // What is in the same lane comes before it anyway.
            let others = step.before.iter().filter(|&&from| state.nodes[from].lane != *lane);
            let mut after: Vec<_> = others.map(|&from| Arc::clone(&tickets[from])).collect();
            if *lane != 0 && step.before.is_empty() {
                after.push(Arc::clone(&start));
            }
            let time = Arc::new(OnceLock::new());
            let work = match &step.action {
                Action::Work(work) if *is_enabled => work.clone(),
                Action::Record(_) => Work::Record(Arc::clone(&time)),
                Action::Wait(event) => {
                    after.extend(event.last_work());
                    Work::Nothing
                }
                Action::Work(_) | Action::Child(_) | Action::Allocate(_) => Work::Nothing,
            };
            let ticket = lanes[*lane].push(work, after);
            if let Action::Record(event) = &step.action {
                event.set_recorded(Arc::clone(&ticket), time);
            }
            ends[*lane] = Some(Arc::clone(&ticket));
            tickets.push(ticket);
        }
        // The stream goes on when all lanes have come to their ends.
        let ends = ends.into_iter().skip(1).flatten().collect();
        drop(lanes);
        state.last = Some(stream.enqueue(Work::Nothing, ends)?);
        Ok(())
    }

    /// The same as a graph, for a stream that is captured.
    fn as_graph(&self) -> Arc<Graph> {
        let graph = Graph::create();
        let mut nodes = Vec::new();
        for Placed { step, is_enabled, .. } in &self.state().nodes {
            let before: Vec<usize> = step.before.iter().map(|&from| nodes[from]).collect();
            // What is in a graph in it has a step of its own.
            let is_empty = !is_enabled || matches!(step.action, Action::Child(_));
            let action = if is_empty { Action::Work(Work::Nothing) } else { step.action.clone() };
            nodes.push(graph.add(action, &before).expect("the nodes before were added before"));
        }
        graph
    }

    fn with_node<T>(&self, node: usize, use_node: impl FnOnce(&mut Placed) -> Result<T>) -> Result<T> {
        let mut state = self.state();
        use_node(state.nodes.iter_mut().find(|placed| placed.step.node == node).ok_or(CudaError::INVALID_VALUE)?)
    }

    /// Changes what a node does in launches from now on, to something of the same kind.
    pub(crate) fn set_action(&self, node: usize, action: Action) -> Result<()> {
        self.with_node(node, |placed| {
            if placed.step.action.kind() != action.kind() {
                return Err(CudaError::INVALID_VALUE);
            }
            placed.step.action = action;
            Ok(())
        })
    }

    /// Changes the nodes of the graph in a node to those of a graph of the same form.
    pub(crate) fn set_child(&self, node: usize, graph: &Graph) -> Result<()> {
        let Action::Child(own) = self.with_node(node, |placed| Ok(placed.step.action.clone()))? else {
            return Err(CudaError::INVALID_VALUE);
        };
        let (old, new) = (own.steps()?, graph.steps()?);
        compare(&old, &new).map_err(|_| CudaError::INVALID_VALUE)?;
        for (old, new) in old.iter().zip(new) {
            if new.action.kind() != Kind::Child {
                self.set_action(old.node, new.action)?;
            }
        }
        Ok(())
    }

    /// Whether a kernel, copy or fill is done in launches.
    pub(crate) fn is_enabled(&self, node: usize) -> Result<bool> {
        self.with_node(node, |placed| Ok(placed.is_enabled))
    }

    /// Sets whether a kernel, copy or fill is done in launches from now on.
    pub(crate) fn set_enabled(&self, node: usize, is_enabled: bool) -> Result<()> {
        self.with_node(node, |placed| {
            if !matches!(placed.step.action.kind(), Kind::Kernel | Kind::Copy | Kind::Fill) {
                return Err(CudaError::INVALID_VALUE);
            }
            placed.is_enabled = is_enabled;
            Ok(())
        })
    }

    /// Makes all nodes do what those of another graph of the same form do.
    pub(crate) fn update(&self, graph: &Graph) -> Result<(), UpdateError> {
        let mut state = self.state();
        let new = graph.steps().map_err(|_| UpdateError::Topology(None))?;
        let old: Vec<Step> = state.nodes.iter().map(|placed| placed.step.clone()).collect();
        compare(&old, &new)?;
        for (placed, new) in state.nodes.iter_mut().zip(new) {
            // A graph in it stays that of the node: its nodes are steps of their own.
            if new.action.kind() != Kind::Child {
                placed.step.action = new.action;
            }
        }
        Ok(())
    }
}

/// Whether two graphs have the same form.
fn compare(old: &[Step], new: &[Step]) -> Result<(), UpdateError> {
    if old.len() != new.len() {
        return Err(UpdateError::Topology(None));
    }
    for (old, new) in old.iter().zip(new) {
        if old.action.kind() != new.action.kind() {
            return Err(UpdateError::Kind(new.node));
        }
        if old.before != new.before {
            return Err(UpdateError::Topology(Some(new.node)));
        }
        if let (Action::Allocate(own), Action::Allocate(other)) = (&old.action, &new.action)
            && own.address() != other.address()
        {
            return Err(UpdateError::Unsupported(new.node));
        }
    }
    Ok(())
}

impl State {
    /// Takes the memory that the graph allocates; an error if some is still there from the last launch.
    fn claim_memory(&self, frees: bool) -> Result<()> {
        for placed in &self.nodes {
            match &placed.step.action {
                Action::Allocate(memory) if !memory.claim() && !frees => return Err(CudaError::INVALID_VALUE),
                Action::Work(Work::Free(address, _)) => graph_memory::release(*address),
                _ => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lanes(edges: &[&[usize]]) -> Vec<usize> {
        let step = |before: &&[usize]| Step { node: 0, action: Action::Work(Work::Nothing), before: before.to_vec() };
        place(edges.iter().map(step).collect()).iter().map(|placed| placed.lane).collect()
    }

    #[test]
    fn branches_have_lanes_of_their_own() {
        assert_eq!(lanes(&[&[], &[0], &[1]]), [0, 0, 0]);
        assert_eq!(lanes(&[&[], &[0], &[0], &[1, 2]]), [0, 0, 1, 0]);
        assert_eq!(lanes(&[&[], &[], &[1], &[0]]), [0, 1, 1, 0]);
    }
}
