//! Functions of the C library that a program calls without a declaration, as tasks of SV-COMP do.
//!
//! Compilers know the types of these functions. Raddle compiles without built-in functions, so that all calls stay calls; then an
//! undeclared `malloc` would return an `int`. So these functions are declared before the first line of the file, with their
//! built-in types: `__typeof__(__builtin_malloc) malloc;`.
//!
//! *Rejected.* Declarations for every file: a program may declare `malloc` with a type of its own, as those for 32 bits do.

use std::path::Path;

/// Functions whose results or parameters are not of type `int`.
const FUNCTIONS: [&str; 22] = [
    "malloc",
    "calloc",
    "realloc",
    "free",
    "aligned_alloc",
    "posix_memalign",
    "memcpy",
    "memmove",
    "memset",
    "memcmp",
    "memchr",
    "strlen",
    "strcpy",
    "strncpy",
    "strcat",
    "strcmp",
    "strncmp",
    "strchr",
    "strrchr",
    "strstr",
    "strdup",
    "strndup",
];

/// The flag that names calls without a declaration on the standard error.
pub(super) const WARNING: &str = "-Wimplicit-function-declaration";

/// Returns `true` if a file contains the name of a function and does not include its header: most files do.
pub(super) fn may_be_undeclared(file: &Path) -> bool {
    let Ok(text) = std::fs::read(file) else { return false };
    let contains = |word: &str| text.windows(word.len()).any(|window| window == word.as_bytes());
    let has_headers = contains("<stdlib.h>") && contains("<string.h>");
    !has_headers && FUNCTIONS.iter().any(|name| contains(name))
}

/// The functions that warnings name.
pub(super) fn named(warnings: &str) -> Vec<&'static str> {
    let warns =
        |name: &&&str| warnings.contains(&format!("implicit declaration of function '{name}'"));
    FUNCTIONS.iter().filter(warns).copied().collect()
}

/// The text of a file with declarations of functions, and the flags to compile it from the standard input; `None` if there is nothing to declare.
pub(super) fn completed(file: &Path, functions: &[&str]) -> Option<(Vec<String>, String)> {
    let source = std::fs::read(file).ok().filter(|_| !functions.is_empty())?;
    let source = String::from_utf8_lossy(&source);
    let declare = |name: &&str| format!("__typeof__(__builtin_{name}) {name};");
    let declarations: String = functions.iter().map(declare).collect();
    let name = file.display().to_string().replace('\\', "\\\\").replace('"', "\\\"");
    let is_preprocessed = file.extension().is_some_and(|extension| extension == "i");
    let language = if is_preprocessed { "cpp-output" } else { "c" };
    let directory = file.parent().unwrap_or(Path::new(".")).display().to_string();
    let flags = ["-iquote", &directory, "-x", language, "-"].map(String::from).to_vec();
    Some((flags, format!("{declarations}\n# 1 \"{name}\"\n{source}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_name_functions() {
        let warnings = "a.c:1:2: warning: implicit declaration of function 'malloc' [-W]\n\
                        a.c:2:2: warning: implicit declaration of function 'my_free' [-W]\n";
        assert_eq!(named(warnings), ["malloc"]);
    }

    #[test]
    fn declarations_precede_the_first_line() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("a.i");
        std::fs::write(&path, "int x;\n").expect("written");
        let (flags, text) = completed(&path, &["malloc"]).expect("declared");
        assert_eq!(flags[2..], ["-x", "cpp-output", "-"]);
        let line = format!("# 1 \"{}\"\nint x;\n", path.display());
        assert_eq!(text, format!("__typeof__(__builtin_malloc) malloc;\n{line}"));
        assert_eq!(completed(&path, &[]), None);
    }
}
