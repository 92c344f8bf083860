//! PTX text to IR.
//!
//! Parsing never fails as a whole: what cannot be read becomes a [`Diagnostic`] and is left out, and parsing goes on
//! with the next statement. Unknown instructions and directives are no errors: they are kept as written.
//!
//! **There is no token stream.** The parser reads bytes: an opcode with its modifiers is one look-up, and the number of
//! `%r123` is computed while its name is scanned. The usual pair of a lexer generator and a parser would take those
//! tokens apart again; measured, the parser alone is several times as fast as PTX parsers built that way.
//!
//! Constant expressions are folded while reading: PTX defines them in 64 bits, so nothing is lost. `[x+0]` is not
//! `[x]`: without optimisation ptxas makes different code for the two, so a written zero is remembered.

mod constant;
mod cursor;
mod function;
mod operand;
mod scope;
mod section;
mod statement;
mod variable;

use cursor::{Cursor, Ident};
use scope::{Binding, NumberedRegs, Scopes};

use crate::diagnostic::{Diagnostic, Lines, Position};
use crate::ir::{AliasDirective, Directive, DirectiveArg, FileEntry, FuncId, Item, Module, UnknownDirective};
use crate::types::Linkage;

/// What came of a text.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// What could be read.
    pub module: Module,
    /// What could not, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

/// Only so many messages are kept: what comes after them rarely helps.
const MAX_DIAGNOSTICS: usize = 100;

/// Parses PTX.
///
/// ```
/// let parsed = ptx::parse(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }");
/// assert!(parsed.diagnostics.is_empty());
/// assert!(parsed.module.function("k").is_some());
/// ```
pub fn parse(text: &str) -> Parsed {
    let mut parser = Parser {
        cursor: Cursor::new(text),
        module: Module::new(),
        scopes: Scopes::default(),
        diagnostics: Vec::new(),
        omitted: 0,
        is_line: false,
        has_zero_offset: false,
    };
    if text.len() >= u32::MAX as usize {
        let message = "the text is 4 GiB long or longer";
        parser.diagnostics.push(Diagnostic::error(Position::NONE, 0, message).with_help("split the module"));
    } else {
        parser.module.lines = Lines::of(text.as_bytes());
        parser.module_items();
    }
    let Parser { module, mut diagnostics, omitted, .. } = parser;
    if omitted > 0 {
        let message = format!("{omitted} more errors are not shown");
        diagnostics.push(Diagnostic::error(Position::NONE, 0, message));
    }
    Parsed { module, diagnostics }
}

/// Parses bytes: like [`parse`], with a message for what is not UTF-8. NUL bytes at the end, which drivers and
/// fatbins append, are left out.
pub fn parse_bytes(bytes: &[u8]) -> (std::borrow::Cow<'_, str>, Parsed) {
    let end = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    let bytes = &bytes[..end];
    match std::str::from_utf8(bytes) {
        Ok(text) => (text.into(), parse(text)),
        Err(error) => {
            // The part before the first bad byte is shown in messages as it is.
            let text = String::from_utf8_lossy(bytes);
            let at = Position(u32::try_from(error.valid_up_to()).unwrap_or(u32::MAX - 1));
            let message = "the text is not UTF-8 from here on";
            let diagnostic = Diagnostic::error(at, 1, message).with_help("this may be a cubin or a fatbin, not PTX");
            let mut module = Module::new();
            module.lines = Lines::of(text.as_bytes());
            (text, Parsed { module, diagnostics: vec![diagnostic] })
        }
    }
}

/// A statement that cannot be read; boxed, because it is rare and results are returned everywhere.
type Error = Box<Diagnostic>;

struct Parser<'a> {
    cursor: Cursor<'a>,
    module: Module,
    scopes: Scopes,
    diagnostics: Vec<Diagnostic>,
    omitted: usize,
    /// Whether what is being read is a directive that ends with its line, not with a semicolon.
    is_line: bool,
    /// Whether the operand that was just read is an address with an offset that is zero.
    has_zero_offset: bool,
}

impl<'a> Parser<'a> {
    fn module_items(&mut self) {
        self.cursor.skip_space();
        while !self.cursor.is_at_end() {
            let start = self.cursor.position();
            if let Err(error) = self.module_item() {
                self.report(*error);
                self.recover(start);
            }
            self.is_line = false;
            self.cursor.skip_space();
        }
    }

    /// Goes to where the next item of the module may begin.
    fn recover(&mut self, start: Position) {
        if std::mem::take(&mut self.is_line) {
            self.cursor.skip_line();
            return;
        }
        self.cursor.skip_statement();
        if self.cursor.peek() == b'{' {
            let at = self.cursor.position();
            if !self.cursor.skip_braces() {
                self.report(Diagnostic::error(at, 1, "this `{` is never closed"));
            }
        }
        // Whatever happens, do not stay in place.
        if self.cursor.position() == start {
            self.cursor.advance_char();
        }
    }

    fn module_item(&mut self) -> Result<(), Error> {
        if self.cursor.eat(b';') {
            return Ok(());
        }
        let start = self.cursor.position();
        let word = self.directive_word("a directive such as `.visible` or `.entry`")?;
        self.is_line = matches!(word.text, "version" | "target" | "address_size" | "file");
        match word.text {
            "version" => {
                let at = self.cursor.position();
                let text = self.cursor.number_text_or_empty();
                let version = text.split_once('.').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
                self.module.version =
                    Some(version.ok_or_else(|| self.error_since(at, "expected a version such as `9.0`"))?);
            }
            "target" => loop {
                let name = self.ident("an architecture such as `sm_90`")?;
                let name = self.module.names.intern(name.text);
                self.module.target.push(name);
                self.cursor.skip_space();
                if !self.cursor.eat(b',') {
                    break;
                }
            },
            "address_size" => self.module.address_size = Some(self.unsigned32("an address size")?),
            "file" => self.file()?,
            "section" => self.section()?,
            "alias" => {
                let alias = self.function_name()?;
                self.expect(b',', "`,`")?;
                let target = self.function_name()?;
                self.module.items.push(Item::Alias(AliasDirective { alias, target }));
                self.expect(b';', "`;`")?;
            }
            "pragma" => {
                let directive = self.directive_args(word)?;
                self.module.items.push(Item::Directive(directive));
            }
            "visible" | "extern" | "weak" | "common" | "entry" | "func" => self.linked_item(word, start)?,
            "global" | "const" | "shared" | "local" | "param" | "tex" | "reg" => self.global_variables(word, None)?,
            _ => {
                // Unknown, so that its end can only be guessed: a semicolon on this line, or the end of the line.
                let text = self.cursor.unknown_directive(start);
                let text = self.module.names.intern(&text);
                self.module.items.push(Item::Unknown(UnknownDirective { text, at: start }));
            }
        }
        Ok(())
    }

    /// A function or variable, with its linkage.
    fn linked_item(&mut self, word: Ident<'a>, start: Position) -> Result<(), Error> {
        let linkage = Linkage::parse(word.text);
        let word = match linkage {
            Some(_) => self.directive_word("`.entry`, `.func`, or the state space of a variable")?,
            None => word,
        };
        match word.text {
            "entry" | "func" => self.function(linkage, word.text == "entry", start),
            _ => self.global_variables(word, linkage),
        }
    }

    fn file(&mut self) -> Result<(), Error> {
        let index = self.unsigned32("a file number")?;
        self.cursor.skip_space();
        let path = self.string()?;
        let stamp = if self.cursor.eat(b',') {
            let time = self.integer()? as u64;
            self.cursor.skip_space();
            self.expect(b',', "`,` and the size of the file")?;
            Some((time, self.integer()? as u64))
        } else {
            None
        };
        self.module.items.push(Item::File(self.module.files.len()));
        self.module.files.push(FileEntry { index, path, stamp });
        Ok(())
    }

    fn function_name(&mut self) -> Result<FuncId, Error> {
        let name = self.ident("the name of a function")?;
        self.cursor.skip_space();
        match self.module.names.find(name.text).map(|name| self.scopes.get(name)) {
            Some(Binding::Func(func)) => Ok(func),
            _ => Err(self.error_at(name, format!("`{}` is not a function that was declared before", name.text))),
        }
    }

    /// Arguments of a directive up to its semicolon.
    fn directive_args(&mut self, word: Ident<'a>) -> Result<Directive, Error> {
        let directive = self.directive_list(word)?;
        self.expect(b';', "`,` or `;`")?;
        Ok(directive)
    }

    /// Arguments of a directive, between commas.
    fn directive_list(&mut self, word: Ident<'a>) -> Result<Directive, Error> {
        let name = self.module.names.intern(word.text);
        let mut args = Vec::new();
        loop {
            let arg = match self.cursor.peek() {
                b'"' => DirectiveArg::Text(self.string()?),
                b'0'..=b'9' | b'-' => DirectiveArg::Int(self.integer()?),
                _ if self.cursor.at_ident() => {
                    let word = self.cursor.spelling();
                    DirectiveArg::Word(self.module.names.intern(word))
                }
                _ if args.is_empty() => break,
                _ => return Err(self.expected("a number, a string or a name")),
            };
            args.push(arg);
            self.cursor.skip_space();
            if !self.cursor.eat(b',') {
                break;
            }
        }
        Ok(Directive { name, args, at: word.at })
    }

    /// `.word`, and the space after it.
    fn directive_word(&mut self, expected: &'static str) -> Result<Ident<'a>, Error> {
        if self.cursor.peek() != b'.' {
            return Err(self.expected(expected));
        }
        self.cursor.advance();
        let word = self.ident(expected)?;
        self.cursor.skip_space();
        Ok(word)
    }

    /// An identifier, without the space after it.
    fn ident(&mut self, expected: &'static str) -> Result<Ident<'a>, Error> {
        self.cursor.ident().ok_or_else(|| self.expected(expected))
    }

    /// A string, interned as written between its quotes, and the space after it.
    fn string(&mut self) -> Result<crate::name::Name, Error> {
        if self.cursor.peek() != b'"' {
            return Err(self.expected("a string"));
        }
        match self.cursor.string() {
            Some(text) => {
                let name = self.module.names.intern(text);
                self.cursor.skip_space();
                Ok(name)
            }
            None => Err(self.error_here("this string does not end on its line")),
        }
    }

    /// Takes a byte and the space after it.
    fn expect(&mut self, byte: u8, expected: &'static str) -> Result<(), Error> {
        if self.cursor.eat(byte) { Ok(()) } else { Err(self.expected(expected)) }
    }

    /// An error about the next thing in the text.
    #[cold]
    fn expected(&self, expected: &str) -> Error {
        let (found, len) = self.cursor.next_for_message();
        let found = if self.cursor.is_at_end() { found.to_owned() } else { format!("`{found}`") };
        Diagnostic::error(self.cursor.position(), len, format!("expected {expected}, found {found}")).into()
    }

    #[cold]
    fn error_here(&self, message: impl Into<String>) -> Error {
        let (_, len) = self.cursor.next_for_message();
        Diagnostic::error(self.cursor.position(), len, message).into()
    }

    #[cold]
    fn error_since(&self, at: Position, message: impl Into<String>) -> Error {
        let len = self.cursor.text_since(at).trim_end().len().max(1) as u32;
        Diagnostic::error(at, len, message).into()
    }

    #[cold]
    fn error_at(&self, ident: Ident<'_>, message: impl Into<String>) -> Error {
        Diagnostic::error(ident.at, ident.text.len() as u32, message).into()
    }

    #[cold]
    fn report(&mut self, diagnostic: Diagnostic) {
        if self.diagnostics.len() < MAX_DIAGNOSTICS {
            self.diagnostics.push(diagnostic);
        } else {
            self.omitted += 1;
        }
    }
}
