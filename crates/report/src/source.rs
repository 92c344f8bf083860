//! Lines of the user's source files.
//!
//! Which file it is, the program says; so only regular files are read that are below the directories that the user has
//! named, or have the name of source code once all links are followed. Files of the compiler and of the system are no
//! sources of the user: a bug is in who called them.

use std::collections::HashMap;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use crate::regular_file::open_regular;

/// Larger files are not shown.
const LARGEST_FILE: u64 = 16 << 20;
/// When so much was read, no further files are.
const MOST_BYTES: u64 = 256 << 20;
/// Longer lines are not shown.
const LONGEST_LINE: usize = 1000;
/// Paths with more parts are not looked for part by part.
const MOST_PARTS: usize = 64;
/// What names of files with source code end in, from which kernels are made.
const KINDS_OF_SOURCE: &[&str] =
    &["c", "cc", "cl", "cpp", "cu", "cuh", "cxx", "h", "hh", "hpp", "hxx", "inc", "inl", "ipp", "jl", "py", "rs"];
/// Below these there is what others wrote.
const OF_THE_SYSTEM: &[&str] = &["/usr/include", "/usr/lib", "/usr/local/include", "/usr/local/lib"];
/// What compilers are told to call the directory in which they run, so that what they make does not depend on it: Bazel does.
const WHERE_IT_WAS_BUILT: &str = "/proc/self/cwd";

/// Source files below some directories.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    roots: Vec<PathBuf>,
    /// The top of the project, if it is not the first of the roots.
    top: Option<PathBuf>,
    files: HashMap<String, Option<SourceFile>>,
    bytes: u64,
}

/// A file, and where its lines end: a report may ask for thousands of them.
#[derive(Clone, Debug)]
struct SourceFile {
    text: String,
    /// The offset of each newline, and the end of the file if its last line has none.
    ends: Vec<usize>,
}

impl SourceFile {
    fn new(text: String) -> Self {
        let mut ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
        if !text.is_empty() && !text.ends_with('\n') {
            ends.push(text.len());
        }
        Self { text, ends }
    }

    fn line(&self, line: u32) -> Option<&str> {
        let index = (line as usize).checked_sub(1)?;
        let start = match index {
            0 => 0,
            _ => self.ends.get(index - 1)? + 1,
        };
        let line = &self.text[start..*self.ends.get(index)?];
        Some(line.strip_suffix('\r').unwrap_or(line))
    }
}

impl Sources {
    /// Files below these directories come before others. Those that do not exist have no files.
    pub fn below(roots: impl IntoIterator<Item = PathBuf>) -> Self {
        Self { roots: roots.into_iter().filter_map(|root| root.canonicalize().ok()).collect(), ..Self::default() }
    }

    /// The same files, for readers that name them from the top of the project.
    #[must_use]
    pub fn of_project(mut self, top: &Path) -> Self {
        self.top = top.canonicalize().ok();
        self
    }

    /// A line, from 1 on, without what ends it.
    pub(crate) fn line(&mut self, file: &str, line: u32) -> Option<&str> {
        if !self.files.contains_key(file) {
            let text = self.read(file);
            self.bytes += text.as_ref().map_or(0, |text| text.len() as u64);
            self.files.insert(file.to_owned(), text.map(SourceFile::new));
        }
        let line = self.files.get(file)?.as_ref()?.line(line)?;
        (line.len() <= LONGEST_LINE).then_some(line)
    }

    /// The name of a file as the user would write it in the first of the directories.
    pub(crate) fn shown(&self, file: &str) -> String {
        let below_root = || Path::new(file).strip_prefix(self.roots.first()?).ok();
        let below = below_where_it_was_built(file).or_else(below_root);
        below.and_then(Path::to_str).filter(|below| !below.is_empty()).unwrap_or(file).to_owned()
    }

    /// The path of a file from the top of the project, wherever it was compiled; or what the compiler calls it, if it is not
    /// there.
    pub(crate) fn path_in_project(&self, file: &str) -> String {
        let below = || {
            let path = self.find(file)?;
            let below = path.strip_prefix(self.top.as_ref().or(self.roots.first())?).ok()?.to_str()?;
            (!below.is_empty()).then(|| below.to_owned())
        };
        below().unwrap_or_else(|| self.shown(file))
    }

    fn read(&self, file: &str) -> Option<String> {
        let path = self.find(file)?;
        let input = open_regular(&path).ok()?;
        let size = input.metadata().ok()?.len();
        if size > LARGEST_FILE || size + self.bytes > MOST_BYTES {
            return None;
        }
        let mut bytes = Vec::new();
        input.take(LARGEST_FILE).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Where the file is. A program that was built elsewhere has the paths of that place; so if there is no such file,
    /// the end of its path is looked for: `/build/app/src/main.cu` may be `src/main.cu` here.
    fn find(&self, file: &str) -> Option<PathBuf> {
        let here;
        let path = match below_where_it_was_built(file) {
            Some(below) => {
                here = self.roots.first()?.join(below);
                here.as_path()
            }
            None => Path::new(file),
        };
        let is_below = |path: &Path| self.roots.iter().any(|root| path.starts_with(root));
        if path.is_absolute()
            && let Ok(found) = path.canonicalize()
        {
            return (is_below(&found) || is_source_of_a_user(&found)).then_some(found);
        }
        let inside = |candidate: PathBuf| candidate.canonicalize().ok().filter(|found| is_below(found));
        let parts: Vec<Component<'_>> =
            path.components().filter(|part| !matches!(part, Component::RootDir | Component::CurDir)).collect();
        if parts.len() > MOST_PARTS {
            return None;
        }
        let ends = (0..parts.len()).map(|from| parts[from..].iter().collect::<PathBuf>());
        ends.flat_map(|end| self.roots.iter().map(move |root| root.join(&end))).find_map(inside)
    }
}

/// The rest of a path in the directory in which it was built, if it is one that says so.
fn below_where_it_was_built(file: &str) -> Option<&Path> {
    Path::new(file).strip_prefix(WHERE_IT_WAS_BUILT).ok()
}

/// Whether a file, all of whose links were followed, is source code, and not of the compiler or the system.
fn is_source_of_a_user(file: &Path) -> bool {
    let kind = file.extension().and_then(|kind| kind.to_str());
    let is_source = kind.is_some_and(|kind| KINDS_OF_SOURCE.contains(&kind));
    let is_installed = file
        .components()
        .any(|part| ["site-packages", "dist-packages"].contains(&&*part.as_os_str().to_string_lossy()));
    let is_of_the_compiler = || file.ancestors().skip(1).any(|directory| directory.join("cuda_runtime.h").exists());
    is_source
        && !is_installed
        && !OF_THE_SYSTEM.iter().any(|directory| file.starts_with(directory))
        && !is_of_the_compiler()
}

/// The part of a line that begins at a column, from 1 on, and is the thing that is accessed: `c[i]`, `p->x`, `f(a)`. The
/// whole line for column 0.
pub(crate) fn expression_at(line: &str, column: u32) -> std::ops::Range<usize> {
    let text = line.trim_end();
    let whole = text.len() - text.trim_start().len()..text.len();
    let Some(start) = (column as usize).checked_sub(1) else { return whole };
    // Some compilers know only the line, and say that it is the first column.
    if start >= text.len() || !text.is_char_boundary(start) || start < whole.start {
        return whole;
    }
    let bytes = text.as_bytes();
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
    let mut end = start;
    loop {
        let word = bytes[end..].iter().take_while(|&&byte| is_word(byte)).count();
        end += word;
        if end == start {
            // An operator, such as the `*` of `*p`; or something that we do not know.
            let after = bytes[end..].iter().take_while(|&&byte| matches!(byte, b'*' | b'&' | b'+' | b'-')).count();
            end += after + bytes[end + after..].iter().take_while(|&&byte| is_word(byte)).count();
            break;
        }
        match bytes.get(end) {
            Some(b'[' | b'(') => match closing(&bytes[end..]) {
                Some(length) => end += length,
                None => break,
            },
            Some(b'.') if bytes.get(end + 1).is_some_and(|&byte| is_word(byte)) => end += 1,
            Some(b'-') if bytes[end..].starts_with(b"->") => end += 2,
            _ => break,
        }
    }
    if end == start {
        end += text[start..].chars().next().map_or(0, char::len_utf8);
    }
    start..end
}

/// How many bytes there are to the bracket that closes the first one.
fn closing(bytes: &[u8]) -> Option<usize> {
    let mut depth = 0;
    for (index, byte) in bytes.iter().enumerate() {
        match byte {
            b'[' | b'(' => depth += 1,
            b']' | b')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(index + 1);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions() {
        let at = |line: &'static str, column: u32| &line[expression_at(line, column)];
        assert_eq!(at("    c[i] = a[i] + b[i];", 5), "c[i]");
        assert_eq!(at("    c[f(i)].x->y[2] = 1;", 5), "c[f(i)].x->y[2]");
        assert_eq!(at("    *p = 3;", 5), "*p");
        assert_eq!(at("    x = 3;", 0), "x = 3;");
        assert_eq!(at("    x = 3;", 99), "x = 3;");
        assert_eq!(at("    = 3;", 5), "=");
        assert_eq!(at("a[i", 1), "a");
        assert_eq!(at("größe[3] = 1", 1), "größe[3]");
        assert_eq!(at("ö", 2), "ö");
        assert_eq!(at("", 1), "");
    }

    #[test]
    fn lines_are_those_of_the_text() {
        for text in ["", "a", "a\n", "a\nb", "\n\nc\r\n", "\r\n", "a\n\n"] {
            let file = SourceFile::new(text.to_owned());
            let expected: Vec<&str> = text.lines().collect();
            let lines: Vec<&str> = (1..).map_while(|line| file.line(line)).collect();
            assert_eq!(lines, expected, "{text:?}");
            assert_eq!(file.line(0), None);
        }
    }

    #[test]
    fn only_files_below_the_roots_and_sources_are_read() {
        let directory = std::env::temp_dir().join(format!("warpgrind-sources-{}", std::process::id()));
        let root = directory.join("project");
        std::fs::create_dir_all(root.join("src")).expect("writable");
        std::fs::write(root.join("src/a.cu"), "one\ntwo\n").expect("writable");
        std::fs::write(directory.join("secret"), "secret\n").expect("writable");
        std::os::unix::fs::symlink(directory.join("secret"), root.join("link.cu")).expect("writable");
        std::os::unix::fs::symlink(directory.join("secret"), directory.join("link.cu")).expect("writable");
        std::fs::write(directory.join("elsewhere.cu"), "one\ntwo\n").expect("writable");
        for library in ["toolkit/include/thrust", "site-packages"] {
            std::fs::create_dir_all(directory.join(library)).expect("writable");
            std::fs::write(directory.join(library).join("library.h"), "one\ntwo\n").expect("writable");
        }
        std::fs::write(directory.join("toolkit/include/cuda_runtime.h"), "").expect("writable");
        let mut sources = Sources::below([root.clone()]);
        let elsewhere = directory.join("elsewhere.cu").display().to_string();
        let absolute = root.join("src/a.cu").display().to_string();
        for file in [
            "src/a.cu",
            "./src/a.cu",
            absolute.as_str(),
            "/build/elsewhere/src/a.cu",
            "/proc/self/cwd/src/a.cu",
            "/proc/self/cwd/../elsewhere.cu",
            "/other/a.cu/../src/a.cu",
            elsewhere.as_str(),
        ] {
            assert_eq!(sources.line(file, 2), Some("two"), "{file}");
        }
        assert_eq!(sources.shown(&absolute), "src/a.cu");
        assert_eq!(sources.shown("/proc/self/cwd/src/a.cu"), "src/a.cu");
        assert_eq!(sources.path_in_project("/build/elsewhere/src/a.cu"), "src/a.cu");
        assert_eq!(sources.path_in_project("/nowhere/b.cu"), "/nowhere/b.cu");
        assert_eq!(sources.clone().of_project(&directory).path_in_project("src/a.cu"), "project/src/a.cu");
        assert_eq!(sources.line("src/a.cu", 3), None);
        assert_eq!(sources.line("src/a.cu", 0), None);
        let outside = ["secret", "link.cu", "toolkit/include/thrust/library.h", "site-packages/library.h"];
        for file in outside.map(|file| directory.join(file).display().to_string()) {
            assert_eq!(sources.line(&file, 1), None, "{file}");
        }
        for file in [
            "link.cu",
            "../secret",
            "/etc/passwd",
            "/dev/zero",
            "",
            "src",
            "/proc/self/environ",
            "/proc/self/cwd/../secret",
        ] {
            assert_eq!(sources.line(file, 1), None, "{file}");
        }
        let _ = std::fs::remove_dir_all(&directory);
    }
}
