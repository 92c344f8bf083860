//! The modules of a crate: what each of them defines, imports and names, without what only tests see.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use crate::tokens::{Token, tokens};

/// Text by path: the files of a package, or of a made-up one.
pub(crate) type Sources = BTreeMap<PathBuf, String>;

/// Those that stand before names and parentheses.
const KEYWORDS: &[&str] = &[
    "_", "as", "async", "await", "const", "else", "extern", "fn", "for", "if", "impl", "in", "let", "loop", "match",
    "move", "mut", "pub", "ref", "return", "unsafe", "where", "while",
];

#[derive(Debug)]
pub(crate) struct Crate {
    /// The first is the root.
    pub(crate) modules: Vec<Module>,
}

#[derive(Default, Debug)]
pub(crate) struct Module {
    /// `crate::analysis::cfg`.
    pub(crate) path: String,
    pub(crate) file: PathBuf,
    pub(crate) parent: Option<usize>,
    pub(crate) children: BTreeMap<String, usize>,
    /// Names of functions, types, constants and macros that are defined here.
    pub(crate) items: BTreeSet<String>,
    pub(crate) imports: Vec<Import>,
    /// Paths in the code, and words that may be names which a `use …::*` brought.
    pub(crate) mentions: Vec<Mention>,
}

/// One leaf of a `use`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Import {
    pub(crate) path: Vec<String>,
    /// What it is called here; none for `*`.
    pub(crate) name: Option<String>,
    /// Within a function: nobody else can import it from here.
    pub(crate) is_local: bool,
    pub(crate) line: usize,
}

#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Mention {
    pub(crate) path: Vec<String>,
    pub(crate) line: usize,
}

impl Crate {
    /// Reads the crate whose root is `root`, such as `src/lib.rs`.
    pub(crate) fn read(sources: &Sources, root: &Path) -> Crate {
        let mut modules = vec![Module { path: "crate".into(), file: root.into(), ..Module::default() }];
        // Modules in files of their own, with the directory in which the files of their children are.
        let mut pending = vec![(0, parent_of(root))];
        while let Some((module, directory)) = pending.pop() {
            let file = modules[module].file.clone();
            let tokens = tokens(sources.get(&file).unwrap_or_else(|| panic!("there is no {}", file.display())));
            let mut reader = Reader { sources, modules: &mut modules, pending: &mut pending };
            reader.read_block(module, &directory, &tokens);
        }
        Crate { modules }
    }
}

struct Reader<'r> {
    sources: &'r Sources,
    modules: &'r mut Vec<Module>,
    pending: &'r mut Vec<(usize, PathBuf)>,
}

impl Reader<'_> {
    /// Reads a file, or what is in the braces of a module.
    fn read_block(&mut self, module: usize, directory: &Path, tokens: &[Token]) {
        let text = |at: usize| tokens.get(at).map_or("", |token| token.text);
        let mut path_attribute = None;
        let mut depth = 0;
        let mut at = 0;
        while at < tokens.len() {
            match text(at) {
                "#" if text(at + 1) == "[" => {
                    let end = group_end(tokens, at + 1);
                    if is_for_tests(&tokens[at + 2..end]) {
                        at = item_end(tokens, end + 1);
                        continue;
                    }
                    if text(at + 2) == "path" {
                        path_attribute = Some(text(at + 4).trim_matches('"'));
                    }
                }
                "#" if text(at + 1) == "!" && is_for_tests(&tokens[at + 3..group_end(tokens, at + 2)]) => return,
                "{" | "(" | "[" => depth += 1,
                "}" | ")" | "]" => depth -= 1,
                // `impl Trait + use<'a>` imports nothing.
                "use" if text(at + 1) != "<" => {
                    let end = (at..tokens.len()).find(|&end| text(end) == ";").unwrap_or(tokens.len());
                    let leaves = use_leaves(&tokens[at + 1..end]).into_iter();
                    let imports = leaves.map(|leaf| Import { is_local: depth > 0, ..leaf });
                    self.modules[module].imports.extend(imports);
                    at = end;
                }
                "mod" if defines_next(tokens, at) => {
                    let name = text(at + 1);
                    let child = self.add_child(module, name);
                    if text(at + 2) == "{" {
                        let end = group_end(tokens, at + 2);
                        self.read_block(child, &directory.join(name), &tokens[at + 3..end]);
                        at = end;
                    } else {
                        self.find_file(child, directory, name, path_attribute.take());
                        at += 2;
                    }
                }
                "macro_rules" => {
                    self.modules[module].items.insert(text(at + 2).to_owned());
                    at += 2;
                }
                "fn" | "struct" | "enum" | "union" | "trait" | "type" | "const" | "static"
                    if defines_next(tokens, at) =>
                {
                    if depth == 0 {
                        self.modules[module].items.insert(text(at + 1).to_owned());
                    }
                    at += 1;
                }
                _ => {
                    let (mention, end) = mention(tokens, at);
                    self.modules[module].mentions.extend(mention);
                    at = end;
                }
            }
            at += 1;
        }
    }

    fn add_child(&mut self, parent: usize, name: &str) -> usize {
        let child = self.modules.len();
        let Module { path, file, .. } = &self.modules[parent];
        let module =
            Module { path: format!("{path}::{name}"), file: file.clone(), parent: Some(parent), ..Module::default() };
        self.modules.push(module);
        self.modules[parent].children.insert(name.to_owned(), child);
        child
    }

    fn find_file(&mut self, module: usize, directory: &Path, name: &str, attribute: Option<&str>) {
        let flat = (directory.join(format!("{name}.rs")), directory.join(name));
        let nested = (directory.join(name).join("mod.rs"), directory.join(name));
        let (file, directory) = match attribute {
            Some(path) => {
                let file = without_dots(&parent_of(&self.modules[module].file).join(path));
                let directory = parent_of(&file);
                (file, directory)
            }
            None if self.sources.contains_key(&flat.0) => flat,
            None => nested,
        };
        self.modules[module].file = file;
        self.pending.push((module, directory));
    }
}

/// The path that begins at `at`, or a word that may have been imported; and the last of the tokens that were looked at.
fn mention(tokens: &[Token], mut at: usize) -> (Option<Mention>, usize) {
    let line = tokens[at].line;
    if !tokens[at].is_word() || follows_dot_or_path(tokens, at) {
        return (None, at);
    }
    let mut path = vec![tokens[at].text.to_owned()];
    while let [separator, name, ..] = &tokens[at + 1..]
        && separator.text == "::"
        && name.is_word()
    {
        path.push(name.text.to_owned());
        at += 2;
    }
    let is_called = tokens.get(at + 1).is_some_and(|next| matches!(next.text, "(" | "!"));
    let may_be_imported = (is_called || path[0].starts_with(char::is_uppercase)) && !KEYWORDS.contains(&&*path[0]);
    ((path.len() > 1 || may_be_imported).then_some(Mention { path, line }), at)
}

/// Whether the keyword at `at` is followed by the name of what it defines, which `*const T` is not.
fn defines_next(tokens: &[Token], at: usize) -> bool {
    let is_type_or_borrow = at > 0 && matches!(tokens[at - 1].text, "*" | "raw");
    !is_type_or_borrow && tokens.get(at + 1).is_some_and(|name| name.is_word() && !KEYWORDS.contains(&name.text))
}

/// The leaves of a tree such as `a::{self, b as c, d::*}`.
fn use_leaves(tokens: &[Token]) -> Vec<Import> {
    let mut leaves = Vec::new();
    // What stood before each open brace.
    let mut prefixes: Vec<Vec<String>> = Vec::new();
    let mut path: Vec<String> = Vec::new();
    let mut leaf: Option<Import> = None;
    let mut tokens = tokens.iter();
    while let Some(token) = tokens.next() {
        match token.text {
            // `$crate` is the crate.
            "$" => {}
            "{" => prefixes.push(path.clone()),
            "," | "}" => {
                leaves.extend(leaf.take());
                if token.text == "}" {
                    prefixes.pop();
                }
                path = prefixes.last().cloned().unwrap_or_default();
            }
            "as" => {
                if let (Some(leaf), Some(alias)) = (&mut leaf, tokens.next()) {
                    leaf.name = Some(alias.text.to_owned());
                }
            }
            // A path that begins with it is of another crate, which has no names that begin with a sign.
            "::" if path.is_empty() => path.push("::".into()),
            "::" => leaf = None,
            "*" => leaf = Some(Import { path: path.clone(), name: None, is_local: false, line: token.line }),
            "self" if !path.is_empty() => leaf = Some(named(&path, token.line)),
            word => {
                path.push(word.to_owned());
                leaf = Some(named(&path, token.line));
            }
        }
    }
    leaves.extend(leaf);
    leaves
}

fn named(path: &[String], line: usize) -> Import {
    Import { path: path.to_vec(), name: path.last().cloned(), is_local: false, line }
}

/// `#[cfg(test)]`, `#[cfg(all(test, …))]`, `#[test]`.
fn is_for_tests(attribute: &[Token]) -> bool {
    let words: Vec<_> = attribute.iter().map(|token| token.text).collect();
    matches!(words[..], ["test"] | ["cfg", "(", "test", ")"] | ["cfg", "(", "all", "(", "test", ..])
}

/// Where the bracket that is opened at `open` is closed.
fn group_end(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.text {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    panic!("a bracket of line {} is not closed", tokens[open].line)
}

/// Behind the item that begins at `at`: behind its semicolon or braces, or at the bracket that encloses it.
fn item_end(tokens: &[Token], mut at: usize) -> usize {
    while let Some(token) = tokens.get(at) {
        match token.text {
            ";" => return at + 1,
            "{" => return group_end(tokens, at) + 1,
            "(" | "[" => at = group_end(tokens, at),
            "}" | ")" | "]" => return at,
            _ => {}
        }
        at += 1;
    }
    at
}

/// Fields, methods, and the names behind `<T as Trait>::`, but not what follows `..`.
fn follows_dot_or_path(tokens: &[Token], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).map_or("", |at| tokens[at].text);
    before(1) == "::" || (before(1) == "." && before(2) != ".")
}

fn parent_of(file: &Path) -> PathBuf {
    file.parent().expect("a file is in a directory").to_owned()
}

fn without_dots(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => _ = result.pop(),
            Component::CurDir => {}
            other => result.push(other),
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(files: &[(&str, &str)]) -> Crate {
        let sources = files.iter().map(|&(path, text)| (path.into(), text.into())).collect();
        Crate::read(&sources, Path::new("src/lib.rs"))
    }

    /// The leaves as `path=name`.
    fn leaves(tree: &str) -> Vec<String> {
        let leaves = use_leaves(&tokens(tree)).into_iter();
        leaves.map(|leaf| format!("{}={}", leaf.path.join("/"), leaf.name.as_deref().unwrap_or("*"))).collect()
    }

    fn mentions(source: &str) -> Vec<String> {
        let read = read(&[("src/lib.rs", source)]);
        read.modules[0].mentions.iter().map(|mention| mention.path.join("::")).collect()
    }

    #[test]
    fn trees_of_imports_are_taken_apart() {
        assert_eq!(leaves("crate::a::b"), ["crate/a/b=b"]);
        assert_eq!(
            leaves("a::{self, b as c, d::{e, f::*}, g}, h"),
            ["a=a", "a/b=c", "a/d/e=e", "a/d/f=*", "a/g=g", "h=h"]
        );
        assert_eq!(leaves("super::{super::a, *}"), ["super/super/a=a", "super=*"]);
        assert_eq!(leaves("self::a as _"), ["self/a=_"]);
        assert_eq!(leaves("$crate::a"), ["crate/a=a"]);
        assert_eq!(leaves("::a::b"), ["::/a/b=b"]);
    }

    #[test]
    fn modules_are_found_in_files_and_braces() {
        let found = read(&[
            ("src/lib.rs", "mod a; pub(crate) mod b; mod c { mod d; } #[path = \"e/../f.rs\"] mod g;"),
            ("src/a.rs", "mod h;"),
            ("src/a/h.rs", ""),
            ("src/b/mod.rs", "mod i;"),
            ("src/b/i.rs", ""),
            ("src/c/d.rs", ""),
            ("src/f.rs", ""),
        ]);
        let mut paths: Vec<_> = found.modules.iter().map(|module| module.path.as_str()).collect();
        paths.sort_unstable();
        let expected = ["", "::a", "::a::h", "::b", "::b::i", "::c", "::c::d", "::g"];
        assert_eq!(paths, expected.map(|path| format!("crate{path}")));
    }

    #[test]
    fn what_only_tests_see_is_not_read() {
        let found = read(&[(
            "src/lib.rs",
            "#[cfg(test)] mod a; #[cfg(test)] use b::{c, d}; #[cfg(all(test, unix))] #[inline] fn e() { f::g() } \
             #[cfg(not(test))] mod h {} #[cfg(test)] mod i { use j; } struct K;",
        )]);
        let root = &found.modules[0];
        assert_eq!(root.children.keys().collect::<Vec<_>>(), ["h"]);
        assert_eq!(root.items.iter().collect::<Vec<_>>(), ["K"]);
        assert!(root.imports.is_empty(), "{:?}", root.imports);
        assert!(root.mentions.iter().all(|mention| mention.path.len() == 1), "{:?}", root.mentions);
    }

    #[test]
    fn definitions_of_the_module_alone_are_items() {
        let found = read(&[(
            "src/lib.rs",
            "pub const fn a() { fn b() {} } static mut C: u8 = 0; type D = fn(u8); macro_rules! e { () => {} } \
             impl D { const F: u8 = 0; fn g() {} } const _: () = ();",
        )]);
        assert_eq!(found.modules[0].items.iter().collect::<Vec<_>>(), ["D", "a", "e"]);
    }

    #[test]
    fn paths_are_found_in_code_and_macros() {
        let found = mentions("fn f() { x.a::<b::c>(crate::d::e(), ..self::g::h); }");
        assert_eq!(found, ["b::c", "crate::d::e", "self::g::h"]);
        assert_eq!(mentions("fn f(a: *const crate::b::C, d: *const E) {}"), ["crate::b::C", "E"]);
        assert_eq!(mentions("macro_rules! m { () => { $crate::a::b() } }"), ["crate::a::b"]);
        assert_eq!(mentions("fn f<'a>() -> impl A + use<'a> { g(h.i(), j, k!()) }"), ["A", "g", "k"]);
    }
}
