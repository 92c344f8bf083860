//! Graphs: work and what it waits for, kept to be run again and again.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::event::Event;
use super::graph_memory::GraphMemory;
use super::user_object::{References, UserObject};
use super::work::Work;
use crate::error::{CudaError, Result};
use crate::handle::{Handle, Handles};

/// A graph.
#[derive(Debug)]
pub(crate) struct Graph {
    pub(crate) handle: Handle<Graph>,
    /// By their handles, so in the order in which they were added.
    nodes: Mutex<BTreeMap<usize, Content>>,
    /// What the program wants to be there as long as the graph.
    objects: Mutex<Vec<References>>,
}

/// What programs hold of a node.
#[derive(Debug)]
pub(crate) struct Node {
    handle: Handle<Node>,
    graph: Weak<Graph>,
}

#[derive(Clone, Debug)]
struct Content {
    action: Action,
    /// The handles of the nodes that it waits for.
    before: Vec<usize>,
    /// The handle of the node that it was copied from.
    original: Option<usize>,
}

/// What a node does.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// What streams do too.
    Work(Work),
    /// Runs a graph that only this node has.
    Child(Arc<Graph>),
    /// The event happens.
    Record(Arc<Event>),
    /// Waits for the event as it is when the graph is launched.
    Wait(Arc<Event>),
    /// From here on the memory can be used.
    Allocate(Arc<GraphMemory>),
}

/// Kinds of nodes, with CUDA's numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Kernel = 0,
    Copy = 1,
    Fill = 2,
    Host = 3,
    Child = 4,
    Empty = 5,
    Wait = 6,
    Record = 7,
    Allocate = 10,
    Free = 11,
    Operations = 12,
}

/// A node with the places of those that it waits for, in an order in which all can run.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) node: usize,
    pub(crate) action: Action,
    pub(crate) before: Vec<usize>,
}

/// Graphs that programs know.
pub(crate) static GRAPHS: Handles<Graph> = Handles::new("a graph");
/// Their nodes.
static NODES: Handles<Node> = Handles::new("a node of a graph");

impl Action {
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::Work(work) => match work {
                Work::Launch(_) => Kind::Kernel,
                Work::Copy(_) => Kind::Copy,
                Work::Fill(_) => Kind::Fill,
                Work::Call(_) => Kind::Host,
                Work::Operate(_) => Kind::Operations,
                Work::Free(..) => Kind::Free,
                Work::Record(_) => Kind::Record,
                Work::Nothing => Kind::Empty,
            },
            Self::Child(_) => Kind::Child,
            Self::Record(_) => Kind::Record,
            Self::Wait(_) => Kind::Wait,
            Self::Allocate(_) => Kind::Allocate,
        }
    }

    /// The same for another graph: a graph in it is copied.
    fn duplicate(&self) -> Self {
        match self {
            Self::Child(graph) => Self::Child(graph.duplicate()),
            other => other.clone(),
        }
    }
}

/// The graph that a node is in.
pub(crate) fn graph_of(node: usize) -> Result<Arc<Graph>> {
    NODES.get(node)?.graph.upgrade().ok_or(CudaError::INVALID_HANDLE)
}

/// What a node does.
pub(crate) fn action_of(node: usize) -> Result<Action> {
    graph_of(node)?.with(node, |content| content.action.clone())
}

/// Changes what a node does, to something of the same kind.
pub(crate) fn set_action(node: usize, action: Action) -> Result<()> {
    graph_of(node)?.with(node, |content| {
        if content.action.kind() != action.kind() {
            return Err(CudaError::INVALID_VALUE);
        }
        content.action = action;
        Ok(())
    })?
}

/// Forgets a graph.
pub(crate) fn destroy(graph: usize) -> Result<()> {
    GRAPHS.destroy(graph).map(drop)
}

fn check(nodes: &BTreeMap<usize, Content>, list: &[usize]) -> Result<()> {
    let is_repeated = |index: usize| list[..index].contains(&list[index]);
    let is_wrong = list.iter().any(|node| !nodes.contains_key(node)) || (0..list.len()).any(is_repeated);
    if is_wrong { Err(CudaError::INVALID_VALUE) } else { Ok(()) }
}

impl Graph {
    /// A new graph without nodes.
    pub(crate) fn create() -> Arc<Self> {
        let graph = Arc::new(Self { handle: Handle::new(), nodes: Mutex::default(), objects: Mutex::default() });
        GRAPHS.insert(&graph.handle, Arc::clone(&graph));
        graph
    }

    fn nodes(&self) -> MutexGuard<'_, BTreeMap<usize, Content>> {
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, node: usize, use_content: impl FnOnce(&mut Content) -> T) -> Result<T> {
        self.nodes().get_mut(&node).map(use_content).ok_or(CudaError::INVALID_VALUE)
    }

    /// Adds a node that waits for others of this graph.
    pub(crate) fn add(self: &Arc<Self>, action: Action, before: &[usize]) -> Result<usize> {
        self.insert(action, before, None)
    }

    /// An error unless all these nodes are in the graph, each once.
    pub(crate) fn check(&self, list: &[usize]) -> Result<()> {
        check(&self.nodes(), list)
    }

    fn insert(self: &Arc<Self>, action: Action, before: &[usize], original: Option<usize>) -> Result<usize> {
        let mut nodes = self.nodes();
        check(&nodes, before)?;
        let node = Arc::new(Node { handle: Handle::new(), graph: Arc::downgrade(self) });
        let number = node.handle.number();
        nodes.insert(number, Content { action, before: before.to_vec(), original });
        drop(nodes);
        NODES.insert(&node.handle, Arc::clone(&node));
        Ok(number)
    }

    /// Removes a node, and others do not wait for it any more.
    pub(crate) fn remove(&self, node: usize) -> Result<()> {
        let mut nodes = self.nodes();
        nodes.remove(&node).ok_or(CudaError::INVALID_VALUE)?;
        for content in nodes.values_mut() {
            content.before.retain(|&other| other != node);
        }
        drop(nodes);
        NODES.remove(node).map(drop)
    }

    /// Makes nodes wait for others: pairs of the one before and the one after. Either all or none.
    pub(crate) fn connect(&self, edges: &[(usize, usize)]) -> Result<()> {
        self.change_edges(edges, |before, from| {
            let is_new = !before.contains(&from);
            before.push(from);
            is_new
        })
    }

    /// Lets nodes wait for others no longer. Either all or none.
    pub(crate) fn disconnect(&self, edges: &[(usize, usize)]) -> Result<()> {
        self.change_edges(edges, |before, from| {
            let length = before.len();
            before.retain(|&node| node != from);
            before.len() != length
        })
    }

    fn change_edges(&self, edges: &[(usize, usize)], change: impl Fn(&mut Vec<usize>, usize) -> bool) -> Result<()> {
        let mut nodes = self.nodes();
        let mut changed = nodes.clone();
        for &(from, to) in edges {
            if !nodes.contains_key(&from) || from == to {
                return Err(CudaError::INVALID_VALUE);
            }
            let content = changed.get_mut(&to).ok_or(CudaError::INVALID_VALUE)?;
            if !change(&mut content.before, from) {
                return Err(CudaError::INVALID_VALUE);
            }
        }
        *nodes = changed;
        Ok(())
    }

    /// All nodes, in the order in which they were added.
    pub(crate) fn list(&self) -> Vec<usize> {
        self.nodes().keys().copied().collect()
    }

    /// The nodes that wait for none.
    pub(crate) fn roots(&self) -> Vec<usize> {
        self.nodes().iter().filter(|(_, content)| content.before.is_empty()).map(|(&node, _)| node).collect()
    }

    /// Pairs of the one before and the one after.
    pub(crate) fn edges(&self) -> Vec<(usize, usize)> {
        let nodes = self.nodes();
        nodes.iter().flat_map(|(&to, content)| content.before.iter().map(move |&from| (from, to))).collect()
    }

    /// The nodes that a node waits for.
    pub(crate) fn before(&self, node: usize) -> Result<Vec<usize>> {
        self.with(node, |content| content.before.clone())
    }

    /// The nodes that wait for a node.
    pub(crate) fn after(&self, node: usize) -> Vec<usize> {
        self.edges().into_iter().filter(|&(from, _)| from == node).map(|(_, to)| to).collect()
    }

    /// The node that was copied from another.
    pub(crate) fn copy_of(&self, original: usize) -> Result<usize> {
        let nodes = self.nodes();
        let found = nodes.iter().find(|(_, content)| content.original == Some(original));
        found.map(|(&node, _)| node).ok_or(CudaError::INVALID_VALUE)
    }

    /// A copy with nodes of its own.
    pub(crate) fn duplicate(&self) -> Arc<Self> {
        let copy = Self::create();
        let mut copies = BTreeMap::new();
        let nodes = self.nodes();
        for (&node, content) in nodes.iter() {
            let added = copy.insert(content.action.duplicate(), &[], Some(node));
            copies.insert(node, added.expect("a node that waits for none can be added"));
        }
        let edge = |from, to| (copies[from], copies[to]);
        let edges: Vec<_> =
            nodes.iter().flat_map(|(to, content)| content.before.iter().map(move |from| edge(from, to))).collect();
        copy.connect(&edges).expect("what was an edge can be one again");
        *copy.objects.lock().unwrap_or_else(PoisonError::into_inner) = self.objects();
        copy
    }

    /// Whether some nodes and all before them are everything that is before other nodes, or are these.
    pub(crate) fn reaches(&self, from: &[usize], targets: &[usize]) -> bool {
        let nodes = self.nodes();
        let (mut seen, mut waiting) = (BTreeSet::new(), from.to_vec());
        while let Some(node) = waiting.pop() {
            if seen.insert(node) {
                waiting.extend(nodes.get(&node).into_iter().flat_map(|content| &content.before));
            }
        }
        targets.iter().all(|target| seen.contains(target))
    }

    /// All nodes in an order in which they can run, those of graphs in it too. An error if there is none.
    pub(crate) fn steps(&self) -> Result<Vec<Step>> {
        let mut steps = Vec::new();
        self.flatten(&[], &mut steps)?;
        Ok(steps)
    }

    /// Adds the nodes to a list, after those at the places `first`; gives the places of those that none waits for.
    fn flatten(&self, first: &[usize], steps: &mut Vec<Step>) -> Result<Vec<usize>> {
        let nodes = self.nodes();
        let mut missing: BTreeMap<usize, usize> =
            nodes.iter().map(|(&node, content)| (node, content.before.len())).collect();
        let mut ready: BTreeSet<usize> =
            missing.iter().filter(|&(_, &missing)| missing == 0).map(|(&node, _)| node).collect();
        let mut after: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (&node, content) in nodes.iter() {
            for &from in &content.before {
                after.entry(from).or_default().push(node);
            }
        }
        let mut places = BTreeMap::new();
        let mut ends = Vec::new();
        while let Some(node) = ready.pop_first() {
            let content = &nodes[&node];
            let mut before: Vec<usize> = content.before.iter().map(|from| places[from]).collect();
            if before.is_empty() {
                before.extend(first);
            }
            if let Action::Child(graph) = &content.action {
                // The node stands for the end of the graph in it.
                let inner = graph.flatten(&before, steps)?;
                if !inner.is_empty() {
                    before = inner;
                }
            }
            places.insert(node, steps.len());
            steps.push(Step { node, action: content.action.clone(), before });
            let next = after.remove(&node).unwrap_or_default();
            if next.is_empty() {
                ends.push(places[&node]);
            }
            for to in next {
                let left = missing.get_mut(&to).expect("edges are between nodes of the graph");
                *left -= 1;
                if *left == 0 {
                    ready.insert(to);
                }
            }
        }
        if places.len() == nodes.len() { Ok(ends) } else { Err(CudaError::INVALID_VALUE) }
    }

    /// What the program wants to be there as long as the graph: references for somebody else.
    pub(crate) fn objects(&self) -> Vec<References> {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Keeps an object: takes references that the program has.
    pub(crate) fn keep(&self, references: References) {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner).push(references);
    }

    /// Gives so many references of an object up.
    pub(crate) fn give_up(&self, object: &Arc<UserObject>, mut count: u64) -> Result<()> {
        let mut objects = self.objects.lock().unwrap_or_else(PoisonError::into_inner);
        let mine = |references: &References| Arc::ptr_eq(&references.object, object);
        if objects.iter().filter(|references| mine(references)).map(|references| references.count).sum::<u64>() < count
        {
            return Err(CudaError::INVALID_VALUE);
        }
        for references in objects.iter_mut().filter(|references| mine(references)) {
            let given = references.count.min(count);
            references.count -= given;
            count -= given;
            references.object.release(given);
        }
        objects.retain(|references| references.count != 0);
        Ok(())
    }

    /// The graph in the language of Graphviz.
    pub(crate) fn dot(&self) -> String {
        let mut text = "digraph graph_of_cuda {\n".to_owned();
        let nodes = self.nodes();
        let places: BTreeMap<usize, usize> = nodes.keys().enumerate().map(|(place, &node)| (node, place)).collect();
        for (node, content) in nodes.iter() {
            let place = places[node];
            let label = match &content.action {
                Action::Work(Work::Launch(launch)) => {
                    format!("{}\\n{:?} x {:?}", launch.kernel().name, launch.shape().grid, launch.shape().block)
                }
                other => format!("{:?}", other.kind()),
            };
            writeln!(text, "    node{place} [label=\"{place}: {label}\"];").expect("a string");
            for from in &content.before {
                writeln!(text, "    node{} -> node{place};", places[from]).expect("a string");
            }
        }
        text.push_str("}\n");
        text
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        let nodes = std::mem::take(&mut *self.nodes());
        for (node, content) in nodes {
            let _ = NODES.remove(node);
            if let Action::Child(graph) = content.action {
                // Only this node had it.
                let _ = GRAPHS.remove(graph.handle.number());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn empty() -> Action {
        Action::Work(Work::Nothing)
    }

    #[test]
    fn nodes_come_after_what_they_wait_for() {
        let graph = Graph::create();
        let a = graph.add(empty(), &[]).unwrap();
        let b = graph.add(empty(), &[]).unwrap();
        let c = graph.add(empty(), &[b]).unwrap();
        graph.connect(&[(c, a)]).unwrap();
        let order: Vec<usize> = graph.steps().unwrap().iter().map(|step| step.node).collect();
        assert_eq!(order, [b, c, a]);
        assert_eq!(graph.roots(), [b]);
        assert_eq!(graph.after(b), [c]);
    }

    #[test]
    fn a_circle_has_no_order() {
        let graph = Graph::create();
        let a = graph.add(empty(), &[]).unwrap();
        let b = graph.add(empty(), &[a]).unwrap();
        graph.connect(&[(b, a)]).unwrap();
        assert!(graph.steps().is_err());
        graph.disconnect(&[(b, a)]).unwrap();
        assert!(graph.steps().is_ok());
    }

    #[test]
    fn an_edge_is_there_once() {
        let graph = Graph::create();
        let a = graph.add(empty(), &[]).unwrap();
        let b = graph.add(empty(), &[a]).unwrap();
        assert!(graph.connect(&[(a, b)]).is_err());
        assert!(graph.disconnect(&[(b, a)]).is_err());
        assert!(graph.add(empty(), &[a, a]).is_err());
        assert_eq!(graph.edges(), [(a, b)]);
    }

    #[test]
    fn what_waits_for_a_graph_in_a_graph_waits_for_its_end() {
        let inner = Graph::create();
        let x = inner.add(empty(), &[]).unwrap();
        let y = inner.add(empty(), &[x]).unwrap();
        let outer = Graph::create();
        let a = outer.add(empty(), &[]).unwrap();
        let child = outer.add(Action::Child(Arc::clone(&inner)), &[a]).unwrap();
        let b = outer.add(empty(), &[child]).unwrap();
        let steps = outer.steps().unwrap();
        let order: Vec<usize> = steps.iter().map(|step| step.node).collect();
        assert_eq!(order, [a, x, y, child, b]);
        let before: Vec<&[usize]> = steps.iter().map(|step| &step.before[..]).collect();
        assert_eq!(before, [&[][..], &[0], &[1], &[2], &[3]]);
    }

    #[test]
    fn a_copy_has_the_same_edges() {
        let graph = Graph::create();
        let a = graph.add(empty(), &[]).unwrap();
        let b = graph.add(empty(), &[a]).unwrap();
        let copy = graph.duplicate();
        assert_eq!(copy.edges(), [(copy.copy_of(a).unwrap(), copy.copy_of(b).unwrap())]);
    }
}
