//! What an edit refuses, and why.

use std::fmt;

/// An edit that cannot be made. The module still means what it did, though a function may have become flat.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EditError {
    /// There are no statements to edit.
    NoBody {
        /// The function that is only declared.
        function: String,
    },
    /// Another function or variable of the module has the name.
    NameTaken {
        /// The name.
        name: String,
    },
    /// A statement that the parser kept as text would have to be renamed.
    Unreadable {
        /// The statement.
        text: String,
    },
    /// The statements of a region are not in the order of the function, or not all in the function.
    RegionOutOfOrder,
    /// The callee is in a register.
    IndirectCall,
    /// The callee is declared nowhere.
    UnknownCallee {
        /// Its name.
        function: String,
    },
    /// The callee is a kernel.
    KernelCalled {
        /// Its name.
        function: String,
    },
    /// The callee may call itself.
    Recursive {
        /// Its name.
        function: String,
    },
    /// The callee takes any number of arguments.
    Variadic {
        /// Its name.
        function: String,
    },
    /// The callee is marked `.noreturn`.
    NoReturn {
        /// Its name.
        function: String,
    },
    /// The callee changes the stack pointer, which its return would restore.
    StackAllocation {
        /// Its name.
        function: String,
    },
    /// The call has more or fewer arguments or results than the callee.
    ArgumentCount {
        /// The callee.
        function: String,
        /// How many it declares.
        declared: usize,
        /// How many the call has.
        given: usize,
    },
    /// An argument or result differs in size from the parameter.
    ArgumentSize {
        /// The callee.
        function: String,
        /// The parameter.
        parameter: String,
    },
    /// A `.param` variable of the caller serves several calls, so that its accesses cannot be told apart.
    SharedArgument {
        /// The variable.
        argument: String,
    },
    /// A `.param` variable is used in another way than loads, stores and taking the address of a parameter.
    ParameterUse {
        /// The variable.
        parameter: String,
        /// The instruction that uses it.
        instruction: String,
    },
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoBody { function } => write!(f, "`{function}` is declared but has no body in this module"),
            Self::NameTaken { name } => write!(f, "the name `{name}` is already in use in this module"),
            Self::Unreadable { text } => write!(f, "`{text}` is not understood, so its operands cannot be renamed"),
            Self::RegionOutOfOrder => {
                f.write_str("the statements of the region are not all in the function, in its order")
            }
            Self::IndirectCall => f.write_str("an indirect call cannot be inlined"),
            Self::UnknownCallee { function } => write!(f, "`{function}` cannot be inlined: it is not declared"),
            Self::KernelCalled { function } => write!(f, "`{function}` cannot be inlined: it is a kernel"),
            Self::Recursive { function } => write!(f, "`{function}` cannot be inlined: it may call itself"),
            Self::Variadic { function } => {
                write!(f, "`{function}` cannot be inlined: it takes any number of arguments")
            }
            Self::NoReturn { function } => write!(f, "`{function}` cannot be inlined: it never returns"),
            Self::StackAllocation { function } => {
                write!(f, "`{function}` cannot be inlined: it allocates on the stack")
            }
            Self::ArgumentCount { function, declared, given } => {
                write!(
                    f,
                    "`{function}` cannot be inlined: it declares {declared} arguments or results, and {given} are given"
                )
            }
            Self::ArgumentSize { function, parameter } => {
                write!(f, "`{function}` cannot be inlined: what is passed for `{parameter}` differs in size")
            }
            Self::SharedArgument { argument } => {
                write!(f, "the call cannot be inlined: `{argument}` is passed to other calls too")
            }
            Self::ParameterUse { parameter, instruction } => {
                write!(
                    f,
                    "the call cannot be inlined: `{instruction}` uses `{parameter}` as more than a place for a value"
                )
            }
        }
    }
}

impl std::error::Error for EditError {}
