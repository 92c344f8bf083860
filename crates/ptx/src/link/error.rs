//! Why modules cannot be linked.

use std::fmt;

use crate::import::Difference;

/// Something that is wrong with modules as parts of one program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LinkError {
    /// Two definitions of one name, neither of them weak.
    DefinedTwice {
        /// The name.
        symbol: String,
        /// The input with the definition that came first.
        first: String,
        /// The input with the other one; perhaps the same.
        second: String,
    },
    /// A kernel, or something that it uses, names what nobody defines.
    Undefined {
        /// The name.
        symbol: String,
        /// The function or variable that names it.
        user: String,
        /// The input which that is in.
        input: String,
    },
    /// Two inputs declare one name in ways that cannot be the same.
    Disagreement {
        /// The name.
        symbol: String,
        /// In what they differ, in the order of the inputs.
        difference: Difference,
        /// One of the inputs.
        first: String,
        /// The other one.
        second: String,
    },
    /// Addresses have 32 bits in one input and 64 in another.
    AddressSizes {
        /// One of the inputs, and its size.
        first: (String, u32),
        /// The other one.
        second: (String, u32),
    },
    /// One input has its own samplers (`texmode_independent`), another has not.
    TextureModes {
        /// The input with samplers.
        independent: String,
        /// The one without.
        unified: String,
    },
    /// Initial values of variables name each other in a circle, which no order of a text can express.
    Circular {
        /// One of the variables.
        variable: String,
        /// The input that it is in.
        input: String,
    },
    /// A local symbol must get another name, and a statement that names it was kept as text.
    Unreadable {
        /// The symbol.
        symbol: String,
        /// The statement.
        text: String,
        /// The input that they are in.
        input: String,
    },
    /// The texts are too long together.
    TooLarge,
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DefinedTwice { symbol, first, second } if first == second => {
                write!(f, "`{symbol}` is defined twice in {first}")
            }
            Self::DefinedTwice { symbol, first, second } => {
                write!(f, "`{symbol}` is defined in {first} and again in {second}")
            }
            Self::Undefined { symbol, user, input } => {
                write!(f, "`{symbol}` is not defined in any module, but `{user}` in {input} uses it")
            }
            Self::Disagreement { symbol, difference, first, second } => {
                write!(f, "`{symbol}` is declared differently in {first} and in {second}: {difference}")
            }
            Self::AddressSizes { first, second } => {
                write!(f, "addresses have {} bits in {} and {} bits in {}", first.1, first.0, second.1, second.0)
            }
            Self::TextureModes { independent, unified } => {
                write!(f, "{independent} is compiled for `texmode_independent`, {unified} is not")
            }
            Self::Circular { variable, input } => {
                write!(
                    f,
                    "the initial value of `{variable}` in {input} leads back to `{variable}` through other variables"
                )
            }
            Self::Unreadable { symbol, text, input } => {
                write!(
                    f,
                    "`{symbol}` in {input} needs another name, because another module has one like it; but `{text}` \
                     names it and is not understood"
                )
            }
            Self::TooLarge => write!(f, "the modules have more than {} bytes of text together", super::MAX_TEXT_BYTES),
        }
    }
}

impl std::error::Error for LinkError {}
