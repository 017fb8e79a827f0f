//! Short names of functions.

/// The name of a function without its parameters, its result type, and what compilers add.
pub(super) fn short(demangled: &str) -> String {
    let name = without_clone(demangled);
    let name = without_hash(name);
    let name = without_parameters(name);
    without_result(name).to_owned()
}

/// The last segment of the path of a function, without the arguments of templates; `None` if the function has no name, as a lambda.
pub(super) fn last_segment(short: &str) -> Option<String> {
    if short.contains("{lambda") || short.contains("{{closure}}") || short.contains("{closure") {
        return None;
    }
    let mut name = String::new();
    let mut depth = 0;
    for character in short.chars() {
        match character {
            '<' | '(' => depth += 1,
            '>' | ')' => depth -= 1,
            character if depth == 0 => name.push(character),
            _ => {}
        }
    }
    let last = name.rsplit("::").next().unwrap_or_default().trim();
    let is_name = last.starts_with(|first: char| first.is_alphabetic() || first == '_');
    (is_name && !last.starts_with("operator")).then(|| last.to_owned())
}

/// Removes ` [clone .part.0]` and ` (.isra.0)`.
fn without_clone(name: &str) -> &str {
    let name = name.split(" [clone ").next().unwrap_or(name);
    name.split(" (.").next().unwrap_or(name)
}

/// Removes the hash at the end of a Rust path.
fn without_hash(name: &str) -> &str {
    let is_hash =
        |end: &str| end.len() == 17 && end[1..].bytes().all(|byte| byte.is_ascii_hexdigit());
    match name.rsplit_once("::") {
        Some((path, end)) if end.starts_with('h') && is_hash(end) => path,
        _ => name,
    }
}

/// Removes the parameters of a C++ function, and the qualifiers behind them.
fn without_parameters(name: &str) -> &str {
    let mut end = name.trim_end();
    for qualifier in [" noexcept", "&&", "&", " volatile", " const"] {
        end = end.strip_suffix(qualifier).unwrap_or(end).trim_end();
    }
    if !end.ends_with(')') {
        return name;
    }
    let mut depth = 0;
    for (at, character) in end.char_indices().rev() {
        depth += match character {
            ')' => 1,
            '(' => -1,
            _ => 0,
        };
        if depth == 0 {
            let is_operator = end[..at].ends_with("operator");
            return if is_operator || at == 0 { name } else { &end[..at] };
        }
    }
    name
}

/// Removes the type of the result, which demangled templates have.
fn without_result(name: &str) -> &str {
    let mut depth = 0;
    for (at, character) in name.char_indices().rev() {
        match character {
            '>' | ')' | '}' | ']' => depth += 1,
            '<' | '(' | '{' | '[' => depth -= 1,
            // A lambda in a member function that is const has a name with a space.
            ' ' if depth == 0
                && !name[..at].ends_with("operator")
                && !name[at + 1..].starts_with("const::") =>
            {
                return &name[at + 1..];
            }
            _ => {}
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_results_and_hashes_are_left_out() {
        let names = [
            ("worker", "worker"),
            ("Stack<int>::pop(int&)", "Stack<int>::pop"),
            ("void run<int, 3ul>(int (*)(char), long)", "run<int, 3ul>"),
            ("main::{lambda()#1}::operator()() const", "main::{lambda()#1}::operator()"),
            ("Ring::operator bool() const", "Ring::operator bool"),
            (
                "main::{lambda()#1}::operator()() const::{lambda(int)#1}::operator()(int) const",
                "main::{lambda()#1}::operator()() const::{lambda(int)#1}::operator()",
            ),
            ("push(Node*) [clone .part.0]", "push"),
            ("queue::push::h0123456789abcdef", "queue::push"),
            (
                "<queue::Ring<T> as core::ops::drop::Drop>::drop",
                "<queue::Ring<T> as core::ops::drop::Drop>::drop",
            ),
            ("queue::tests::one::{{closure}}", "queue::tests::one::{{closure}}"),
        ];
        for (demangled, expected) in names {
            assert_eq!(short(demangled), expected);
        }
    }

    #[test]
    fn the_last_segment_names_a_function() {
        let last = |name| last_segment(name);
        assert_eq!(last("Stack<int>::pop").as_deref(), Some("pop"));
        assert_eq!(last("run<int, 3ul>").as_deref(), Some("run"));
        assert_eq!(last("main::{lambda()#1}::operator()"), None);
        assert_eq!(last("queue::tests::one::{{closure}}"), None);
        assert_eq!(last("Job::operator()"), None);
    }
}
