//! Strongly connected components: the blocks that lie on a common cycle, the functions that call each other.

use super::lists::Lists;
use crate::entity::{Id, Map, define_id};

define_id! {
    /// A strongly connected component of a graph.
    Component "component"
}

/// The strongly connected components of a graph, each before those from which it can be reached.
#[derive(Clone, Debug)]
pub struct Components<N: Id> {
    of: Map<N, Component>,
    members: Lists<Component, N>,
}

impl<N: Id> Components<N> {
    /// The components of the graph that has those edges for which `is_edge` holds. (R. Tarjan, Depth-first search and
    /// linear graph algorithms, 1972; with a stack of our own, because graphs may be a million nodes deep.)
    pub fn of(successors: &Lists<N, N>, is_edge: impl Fn(N, N) -> bool) -> Self {
        const UNSEEN: u32 = u32::MAX;
        const DONE: u32 = u32::MAX - 1;
        let count = successors.len();
        // The number of a node in the order of discovery while it is open; then `DONE`.
        let mut number = Map::<N, u32>::filled(count, UNSEEN);
        // The least number that is known to be reachable from an open node.
        let mut low = Map::<N, u32>::filled(count, 0);
        let mut of = Map::filled(count, Component::new(0));
        let mut members = Lists::new();
        let mut open = Vec::new();
        let mut path = Vec::new();
        let mut found = 0;
        for root in successors.ids() {
            if number[root] != UNSEEN {
                continue;
            }
            path.push((root, 0));
            while let Some(&mut (node, ref mut next)) = path.last_mut() {
                if *next == 0 && number[node] == UNSEEN {
                    number[node] = found;
                    low[node] = found;
                    found += 1;
                    open.push(node);
                }
                if let Some(&target) = successors[node].get(*next) {
                    *next += 1;
                    if !is_edge(node, target) || number[target] == DONE {
                        continue;
                    }
                    if number[target] == UNSEEN {
                        path.push((target, 0));
                    } else {
                        low[node] = low[node].min(number[target]);
                    }
                    continue;
                }
                path.pop();
                if let Some(&(parent, _)) = path.last() {
                    low[parent] = low[parent].min(low[node]);
                }
                if low[node] == number[node] {
                    let start = open.iter().rposition(|&other| other == node).expect("a node is open until here");
                    let component = members.push(open.drain(start..));
                    for &member in &members[component] {
                        of[member] = component;
                        number[member] = DONE;
                    }
                }
            }
        }
        Self { of, members }
    }

    /// The component of a node.
    pub fn component(&self, node: N) -> Component {
        self.of[node]
    }

    /// The nodes of a component.
    pub fn members(&self, component: Component) -> &[N] {
        &self.members[component]
    }

    /// All components: those that others lead to come first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Component> + ExactSizeIterator + use<N> {
        self.members.ids()
    }
}
