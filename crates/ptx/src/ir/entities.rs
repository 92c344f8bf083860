//! What a module and its functions own, by number: variables, functions, registers, labels, statements.

use crate::entity::define_id;

define_id! {
    /// A variable of a module.
    Global "global"
    /// A function of a module.
    FuncId "func"
    /// A register that a function uses. Dense: declared but unused registers have no id.
    Reg "reg"
    /// A register declaration of a function.
    GroupId "group"
    /// A label of a function.
    Label "label"
    /// A variable or parameter declared in a function.
    Var "var"
    /// A statement of a function.
    StmtId "stmt"
}
