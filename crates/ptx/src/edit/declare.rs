//! Variables and functions of the module that were not there before.

use super::error::EditError;
use super::names::before_number;
use crate::diagnostic::Position;
use crate::entity::Map;
use crate::ir::{Body, FuncId, Function, FunctionKind, Global, Item, Module, Param, Variable};
use crate::name::Name;
use crate::types::{Linkage, Space, Type};

/// What a function takes and gives: `.func (.param .b32 r) name(.param .b64 a, .param .align 8 .b8 b[16])`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signature<'a> {
    /// The name.
    pub name: &'a str,
    /// `.visible`, `.extern`, `.weak`, or nothing for a function of this module alone.
    pub linkage: Option<Linkage>,
    /// The types of the results.
    pub returns: &'a [ParamType],
    /// The types of the parameters.
    pub params: &'a [ParamType],
}

/// The type of a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ParamType {
    /// `.param .b32 a`
    Scalar(Type),
    /// `.param .align 8 .b8 a[16]`
    Bytes {
        /// Number of bytes.
        len: u64,
        /// Their alignment.
        align: u32,
    },
}

impl From<Type> for ParamType {
    fn from(ty: Type) -> Self {
        Self::Scalar(ty)
    }
}

impl ParamType {
    fn variable(self, name: Name) -> Variable {
        match self {
            Self::Scalar(ty) => Variable::scalar(name, Space::Param, ty),
            Self::Bytes { len, align } => Variable::bytes(name, Space::Param, len, align),
        }
    }

    /// Whether a parameter can be passed what has this type.
    fn fits(self, function: &Function, param: Param) -> bool {
        match (self, param) {
            (Self::Scalar(ty), Param::Reg(group)) => function.groups[group].ty.bits() == ty.bits(),
            (_, Param::Var(var)) => {
                let (variable, other) = (&function.vars[var], self.variable(function.name));
                variable.size() == other.size() && variable.alignment() == other.alignment()
            }
            (Self::Bytes { .. }, Param::Reg(_)) => false,
        }
    }
}

impl Module {
    /// A name that nothing in the module has, in whatever function: `base`, or `base_1`, `base_2` and so on.
    pub fn fresh_name(&mut self, base: &str) -> Name {
        let mut candidate = base.to_owned();
        let mut number = 0;
        while !self.is_unused(&candidate) {
            number += 1;
            candidate = format!("{base}_{number}");
        }
        self.names.intern(&candidate)
    }

    pub(crate) fn is_unused(&self, name: &str) -> bool {
        let is_register = || {
            let prefix = before_number(name).and_then(|prefix| self.names.find(prefix));
            let groups = || self.functions.values().flat_map(|function| function.groups.values());
            prefix.is_some_and(|prefix| groups().any(|group| group.name == prefix && group.count.is_some()))
        };
        self.names.find(name).is_none() && !is_register()
    }

    /// Declares a variable before all functions, so that all of them can use it. Its name is its own, or one like it
    /// that nothing in the module has.
    pub fn add_variable(&mut self, base: &str, mut variable: Variable) -> Global {
        variable.name = self.fresh_name(base);
        let index = self.first_function_item();
        self.insert_variable(index, variable)
    }

    /// The variable of this name, made by `make` and declared before all functions if there is none.
    pub fn variable_named(&mut self, name: &str, make: impl FnOnce(Name) -> Variable) -> Result<Global, EditError> {
        let interned = self.names.intern(name);
        if let Some((global, _)) = self.globals.iter().find(|(_, variable)| variable.name == interned) {
            return Ok(global);
        }
        if self.functions.values().any(|function| function.name == interned) {
            return Err(EditError::NameTaken { name: name.to_owned() });
        }
        let index = self.first_function_item();
        Ok(self.insert_variable(index, make(interned)))
    }

    /// The shared memory whose size is given at launch: `.extern .shared .align 16 .b8 memory[];`. All such variables
    /// begin at the same address, so one that is there is used, with the larger of the alignments.
    pub fn dynamic_shared(&mut self, align: u32) -> Global {
        let is_dynamic = |variable: &Variable| {
            variable.space == Space::Shared
                && variable.linkage == Some(Linkage::Extern)
                && variable.dimensions.first() == Some(&None)
        };
        let found = self.globals.iter().find(|(_, variable)| is_dynamic(variable)).map(|(global, _)| global);
        let Some(global) = found else {
            let mut variable = Variable::bytes(self.names.intern("_"), Space::Shared, 0, align);
            variable.dimensions = vec![None];
            variable.linkage = Some(Linkage::Extern);
            return self.add_variable("dynamic_shared", variable);
        };
        let variable = &mut self.globals[global];
        if variable.alignment() < align {
            variable.align = Some(align);
        }
        global
    }

    /// The function of this name, declared before all functions with bodies if it is not there.
    ///
    /// Refused if the name is taken by something that takes or gives other types.
    pub fn declare_function(&mut self, signature: &Signature<'_>) -> Result<FuncId, EditError> {
        if let Some(func) = self.function(signature.name) {
            let function = &self.functions[func];
            let fit = |params: &[Param], types: &[ParamType]| {
                params.len() == types.len() && params.iter().zip(types).all(|(&param, ty)| ty.fits(function, param))
            };
            let is_same = !function.is_entry()
                && fit(&function.returns, signature.returns)
                && fit(&function.params, signature.params);
            return if is_same { Ok(func) } else { Err(EditError::NameTaken { name: signature.name.to_owned() }) };
        }
        self.insert_function(signature, None)
    }

    /// A new function with an empty body, before all functions with bodies, so that all of them can call it. Open it
    /// with [`Editor::new`](super::Editor::new).
    pub fn add_function(&mut self, signature: &Signature<'_>) -> Result<FuncId, EditError> {
        match self.function(signature.name) {
            Some(_) => Err(EditError::NameTaken { name: signature.name.to_owned() }),
            None => self.insert_function(signature, Some(Body::new())),
        }
    }

    /// The function with a body that calls of this function go to, which may be a declaration or an alias of it.
    pub fn definition_of(&self, func: FuncId) -> Option<FuncId> {
        let with_body = |func: FuncId| {
            let name = self.functions[func].name;
            let is_it = |(_, function): &(FuncId, &Function)| function.name == name && function.body.is_some();
            self.functions.iter().find(is_it).map(|(func, _)| func)
        };
        let alias_target = || {
            self.items.iter().find_map(|item| match item {
                Item::Alias(alias) if self.functions[alias.alias].name == self.functions[func].name => {
                    Some(alias.target)
                }
                _ => None,
            })
        };
        if self.functions[func].body.is_some() {
            Some(func)
        } else {
            with_body(func).or_else(|| with_body(alias_target()?))
        }
    }

    pub(super) fn is_name_taken(&self, name: Name) -> bool {
        self.functions.values().any(|function| function.name == name)
            || self.globals.values().any(|variable| variable.name == name)
    }

    pub(super) fn item_of(&self, func: FuncId) -> usize {
        let is_it = |item: &Item| *item == Item::Function(func);
        self.items.iter().position(is_it).expect("every function is an item of its module")
    }

    pub(super) fn insert_variable(&mut self, item: usize, variable: Variable) -> Global {
        let global = self.globals.push(variable);
        self.items.insert(item, Item::Variable(global));
        global
    }

    fn first_function_item(&self) -> usize {
        self.items.iter().position(|item| matches!(item, Item::Function(_))).unwrap_or(self.items.len())
    }

    fn insert_function(&mut self, signature: &Signature<'_>, body: Option<Body>) -> Result<FuncId, EditError> {
        let name = self.names.intern(signature.name);
        if self.is_name_taken(name) {
            return Err(EditError::NameTaken { name: signature.name.to_owned() });
        }
        let mut vars = Map::new();
        let mut params = |kind: &str, types: &[ParamType]| -> Vec<Param> {
            let named = types.iter().enumerate().map(|(index, ty)| {
                let name = self.names.intern(&format!("{}_{kind}_{index}", signature.name));
                Param::Var(vars.push(ty.variable(name)))
            });
            named.collect()
        };
        let (returns, params) = (params("result", signature.returns), params("param", signature.params));
        let func = self.functions.push(Function {
            kind: FunctionKind::Func,
            name,
            linkage: signature.linkage,
            attributes: Vec::new(),
            returns,
            params,
            directives: Vec::new(),
            vars,
            groups: Map::new(),
            regs: Map::new(),
            labels: Map::new(),
            body,
            at: Position::NONE,
        });
        let has_body = |item: &Item| matches!(item, Item::Function(func) if self.functions[*func].body.is_some());
        let others = self.items.iter().position(has_body).unwrap_or(self.items.len());
        self.items.insert(others, Item::Function(func));
        Ok(func)
    }
}

impl Function {
    /// A declaration of this function: the same without a body, and without what only the body needs.
    pub fn declaration(&self) -> Self {
        let (mut vars, mut groups) = (Map::new(), Map::new());
        let mut copy = |param: &Param| match *param {
            Param::Var(var) => Param::Var(vars.push(self.vars[var].clone())),
            Param::Reg(group) => Param::Reg(groups.push(self.groups[group])),
        };
        let returns = self.returns.iter().map(&mut copy).collect();
        let params = self.params.iter().map(&mut copy).collect();
        Self {
            kind: self.kind,
            name: self.name,
            linkage: self.linkage,
            attributes: self.attributes.clone(),
            returns,
            params,
            directives: self.directives.clone(),
            vars,
            groups,
            regs: Map::new(),
            labels: Map::new(),
            body: None,
            at: self.at,
        }
    }
}
