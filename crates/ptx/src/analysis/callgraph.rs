//! The call graph: which function may call which.

use rustc_hash::FxHashMap;

use super::bitset::BitSet;
use super::components::{Component, Components};
use super::lists::Lists;
use crate::entity::{Id, Map, define_id};
use crate::ir::{Body, Function, InitValue, Item, Label, Module, Operand, Stmt, StmtId, Symbol, Variable};
use crate::ir::{FuncId, List};
use crate::view::{Callee, View};

define_id! {
    /// A `.calltargets` list of a module.
    TargetList "targets"
}

/// The calls of a module.
///
/// A function may be declared several times and known by other names (`.alias`). Everything here speaks of one id for
/// each function: that of its definition, or of its first declaration ([`CallGraph::resolve`]).
///
/// An indirect call goes to the functions of its `.calltargets` list, or else to any function of the module whose
/// address is taken. That the address of a function of another module comes in through memory is not considered.
#[derive(Clone, Debug)]
pub struct CallGraph {
    resolved: Map<FuncId, FuncId>,
    sites: Lists<FuncId, CallSite>,
    lists: Lists<TargetList, FuncId>,
    address_taken: BitSet<FuncId>,
    /// What an indirect call without a list may call: kernels cannot be called.
    indirect_targets: Vec<FuncId>,
    external: Vec<FuncId>,
    /// Functions, and two more nodes: see [`Nodes`].
    edges: Lists<FuncId, FuncId>,
    components: Components<FuncId>,
    nodes: Nodes,
}

/// A call instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallSite {
    /// The instruction.
    pub statement: StmtId,
    /// What is known of whom it calls; see [`CallGraph::targets`].
    pub kind: CallKind,
}

/// How a call says whom it calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallKind {
    /// By name.
    Direct(FuncId),
    /// By address, with a list of possible targets.
    Listed(TargetList),
    /// By address: any function whose address is taken.
    AnyAddressTaken,
    /// By a name that is declared nowhere, or by address while the address of no function is taken.
    Unknown,
}

/// Nodes of the graph that are no functions, so that the graph stays as small as the module.
#[derive(Clone, Copy, Debug)]
struct Nodes {
    /// Has an edge to every function whose address is taken, and from every function that calls such.
    address_taken: FuncId,
    /// Stands for functions of which nothing is known.
    unknown: FuncId,
}

impl CallGraph {
    /// The calls of a module.
    pub fn of(module: &Module) -> Self {
        let mut found = Found::new(module);
        for global in module.globals.values() {
            found.take_addresses_of_initializer(global);
        }
        for (id, function) in module.functions.iter() {
            found.function(module, id, function);
        }
        found.into_graph(module)
    }

    /// The definition of a function, or its first declaration if there is none.
    pub fn resolve(&self, function: FuncId) -> FuncId {
        self.resolved[function]
    }

    /// The call instructions in the body of a function, in the order of the text; none for a declaration, whose
    /// definition [`CallGraph::resolve`] finds.
    pub fn sites(&self, function: FuncId) -> &[CallSite] {
        &self.sites[function]
    }

    /// The functions that a call may go to; none if they are not known.
    pub fn targets<'a>(&'a self, site: &'a CallSite) -> &'a [FuncId] {
        match &site.kind {
            CallKind::Direct(function) => std::slice::from_ref(function),
            CallKind::Listed(list) => &self.lists[*list],
            CallKind::AnyAddressTaken => &self.indirect_targets,
            CallKind::Unknown => &[],
        }
    }

    /// Whether the address of a function is taken: by an instruction, a list of targets, or an initial value. Kernels
    /// may be among them, for launches from the device.
    pub fn is_address_taken(&self, function: FuncId) -> bool {
        self.address_taken.contains(self.resolve(function))
    }

    /// The functions whose address is taken.
    pub fn address_taken(&self) -> impl Iterator<Item = FuncId> {
        self.address_taken.iter()
    }

    /// The functions that are called, or whose address is taken, and that the module does not define.
    pub fn external(&self) -> &[FuncId] {
        &self.external
    }

    /// Whether a function may call itself, perhaps through others.
    pub fn is_recursive(&self, function: FuncId) -> bool {
        let function = self.resolve(function);
        let component = self.components.component(function);
        self.components.members(component).len() > 1 || self.edges[function].contains(&function)
    }

    /// All functions, those that call each other together, and each such set after those that it calls.
    pub fn bottom_up(&self) -> impl DoubleEndedIterator<Item = Vec<FuncId>> {
        let functions = |component| -> Vec<FuncId> {
            let members = self.components.members(component).iter().copied();
            members.filter(|&node| self.is_function(node)).collect()
        };
        self.components.iter().map(functions).filter(|functions| !functions.is_empty())
    }

    /// The functions that a function or kernel may call, directly or through others, and itself.
    pub fn reachable_from(&self, function: FuncId) -> BitSet<FuncId> {
        let mut reached = BitSet::new(self.edges.len());
        let mut stack = vec![self.resolve(function)];
        reached.extend(stack.iter().copied());
        while let Some(node) = stack.pop() {
            stack.extend(self.edges[node].iter().filter(|&&next| reached.insert(next)));
        }
        reached.remove(self.nodes.address_taken);
        reached.remove(self.nodes.unknown);
        reached
    }

    /// Whether a function or kernel may call something of which nothing is known: [`CallKind::Unknown`].
    pub fn may_call_unknown(&self, function: FuncId) -> bool {
        self.callers_of(|function| function.is_none()).contains(self.resolve(function))
    }

    /// The functions for which something holds, or that may call such a function, directly or through others. `holds`
    /// is asked once for each function, and without one for those of which nothing is known.
    pub fn callers_of(&self, holds: impl Fn(Option<FuncId>) -> bool) -> BitSet<FuncId> {
        let mut found = BitSet::<Component>::new(self.edges.len());
        let mut functions = BitSet::new(self.resolved.len());
        // Called components come first.
        for component in self.components.iter() {
            let members = self.components.members(component);
            let holds = |&node: &FuncId| {
                let itself = match node {
                    _ if self.is_function(node) => holds(Some(node)),
                    _ => node == self.nodes.unknown && holds(None),
                };
                itself || self.edges[node].iter().any(|&next| found.contains(self.components.component(next)))
            };
            if members.iter().any(holds) {
                found.insert(component);
                functions.extend(members.iter().copied().filter(|&node| self.is_function(node)));
            }
        }
        functions
    }

    /// Whether a node is a function, and its own definition.
    fn is_function(&self, node: FuncId) -> bool {
        self.resolved.get(node) == Some(&node)
    }
}

/// What a walk through the module finds.
struct Found {
    resolved: Map<FuncId, FuncId>,
    sites: Vec<(FuncId, CallSite)>,
    lists: Lists<TargetList, FuncId>,
    address_taken: BitSet<FuncId>,
}

impl Found {
    fn new(module: &Module) -> Self {
        let mut first = FxHashMap::default();
        for (id, function) in module.functions.iter() {
            let known = first.entry(function.name).or_insert(id);
            if module.functions[*known].body.is_none() && function.body.is_some() {
                *known = id;
            }
        }
        let by_name = |id: FuncId| first[&module.functions[id].name];
        let mut alias = FxHashMap::default();
        for item in &module.items {
            if let Item::Alias(directive) = item {
                alias.insert(by_name(directive.alias), by_name(directive.target));
            }
        }
        // An alias stands for a function with a body. Aliases of aliases are not PTX; a ring of them must end too.
        let follow = |id| std::iter::successors(Some(id), |id| alias.get(id).copied()).take(8).last().unwrap_or(id);
        Self {
            resolved: module.functions.ids().map(|id| follow(by_name(id))).collect(),
            sites: Vec::new(),
            lists: Lists::new(),
            address_taken: BitSet::new(module.functions.len()),
        }
    }

    fn function(&mut self, module: &Module, id: FuncId, function: &Function) {
        for variable in function.vars.values() {
            self.take_addresses_of_initializer(variable);
        }
        let Some(body) = &function.body else { return };
        // A list may stand after the calls that use it.
        let mut lists = FxHashMap::default();
        for statement in body.iter() {
            if let Stmt::CallTargets(label, list) = body.stmt(statement) {
                lists.insert(*label, self.target_list(body, *list));
            }
        }
        for (statement, inst) in body.insts() {
            let view = View::of(&module.forms, body, statement).expect("the statement is an instruction");
            let operands = body.operands(inst.operands);
            let Some(callee) = view.callee() else {
                self.take_addresses(body, operands);
                continue;
            };
            let kind = match callee {
                Callee::Direct(function) => CallKind::Direct(self.resolved[function]),
                Callee::Indirect(_) => match operands.iter().find_map(|operand| lists.get(&label_of(operand)?)) {
                    Some(&list) => CallKind::Listed(list),
                    None => CallKind::AnyAddressTaken,
                },
                Callee::Unknown => CallKind::Unknown,
            };
            self.sites.push((id, CallSite { statement, kind }));
            for operand in operands {
                if let Operand::Arguments(list) = operand {
                    self.take_addresses(body, body.operands(*list));
                }
            }
        }
    }

    fn target_list(&mut self, body: &Body, list: List) -> TargetList {
        self.take_addresses(body, body.operands(list));
        let resolved = &self.resolved;
        self.lists.push(body.operands(list).iter().filter_map(|operand| match operand {
            Operand::Symbol(Symbol::Func(function), _) => Some(resolved[*function]),
            _ => None,
        }))
    }

    fn take_addresses(&mut self, body: &Body, operands: &[Operand]) {
        for operand in operands {
            match *operand {
                Operand::Symbol(Symbol::Func(function), _)
                | Operand::SymbolAddress(Symbol::Func(function), _)
                | Operand::Element(Symbol::Func(function), _) => {
                    self.address_taken.insert(self.resolved[function]);
                }
                Operand::Vector(list)
                | Operand::VectorPair(list, _)
                | Operand::TupleAddress(list)
                | Operand::Arguments(list) => {
                    self.take_addresses(body, body.operands(list));
                }
                _ => {}
            }
        }
    }

    fn take_addresses_of_initializer(&mut self, variable: &Variable) {
        for value in variable.init.iter().flat_map(|init| &init.values) {
            if let InitValue::Address { symbol: Symbol::Func(function), .. } = value {
                self.address_taken.insert(self.resolved[*function]);
            }
        }
    }

    fn into_graph(self, module: &Module) -> CallGraph {
        let Self { resolved, mut sites, lists, address_taken } = self;
        let functions = module.functions.len();
        let nodes = Nodes { address_taken: FuncId::new(functions), unknown: FuncId::new(functions + 1) };
        let indirect_targets: Vec<FuncId> =
            address_taken.iter().filter(|&id| !module.functions[id].is_entry()).collect();
        let mut edges: Vec<_> = indirect_targets.iter().map(|&target| (nodes.address_taken, target)).collect();
        let mut is_used = address_taken.clone();
        // A list belongs to one function, and counts once however many calls name it.
        let mut listed = BitSet::new(lists.len());
        for (caller, site) in &mut sites {
            if site.kind == CallKind::AnyAddressTaken && indirect_targets.is_empty() {
                site.kind = CallKind::Unknown;
            }
            match site.kind {
                CallKind::Direct(callee) => {
                    is_used.insert(callee);
                    edges.push((*caller, callee));
                }
                CallKind::Listed(list) if listed.insert(list) => {
                    edges.extend(lists[list].iter().map(|&callee| (*caller, callee)));
                }
                CallKind::Listed(_) => {}
                CallKind::AnyAddressTaken => edges.push((*caller, nodes.address_taken)),
                CallKind::Unknown => edges.push((*caller, nodes.unknown)),
            }
        }
        // A function that calls another a thousand times has one edge to it.
        edges.sort_unstable();
        edges.dedup();
        let edges = Lists::from_pairs(functions + 2, &edges);
        CallGraph {
            components: Components::of(&edges, |_, _| true),
            sites: Lists::from_pairs(functions, &sites),
            external: is_used.iter().filter(|&id| module.functions[id].body.is_none()).collect(),
            resolved,
            lists,
            address_taken,
            indirect_targets,
            edges,
            nodes,
        }
    }
}

fn label_of(operand: &Operand) -> Option<Label> {
    match operand {
        Operand::Symbol(Symbol::Label(label), _) => Some(*label),
        _ => None,
    }
}
