//! Paths among the tokens of macros, which have no syntax of their own.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream, TokenTree};

use super::module_tree::plain_name;

/// A path written inside a macro.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MacroPath {
    /// The segments; the first is `crate` for `$crate`.
    pub(crate) segments: Vec<String>,
    /// The line of the first segment.
    pub(crate) line: usize,
}

/// Returns the maximal sequences `a::b::c` in `tokens`, in groups too.
///
/// Field and method names, fragments (`$name`) and paths from `::` are left out.
pub(crate) fn macro_paths(tokens: &TokenStream) -> Vec<MacroPath> {
    let mut found = Vec::new();
    scan(tokens, &mut found);
    found
}

/// Returns all identifiers in `tokens`.
pub(crate) fn identifiers(tokens: &TokenStream) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for token in tokens.clone() {
        match token {
            TokenTree::Ident(ident) => {
                found.insert(plain_name(&ident));
            }
            TokenTree::Group(group) => found.extend(identifiers(&group.stream())),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
    found
}

fn scan(tokens: &TokenStream, found: &mut Vec<MacroPath>) {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at] {
            TokenTree::Group(group) => scan(&group.stream(), found),
            TokenTree::Ident(first) => {
                let (path, end) = path_at(&tokens, at, first);
                if may_start_path(&tokens[..at], first) {
                    found.push(path);
                }
                at = end;
                continue;
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
        at += 1;
    }
}

/// Reads the path that starts at `at`; returns it and the index after it.
fn path_at(tokens: &[TokenTree], at: usize, first: &Ident) -> (MacroPath, usize) {
    let mut segments = vec![plain_name(first)];
    let mut end = at + 1;
    while let [TokenTree::Punct(a), TokenTree::Punct(b), TokenTree::Ident(next), ..] =
        &tokens[end..]
    {
        if a.as_char() != ':' || b.as_char() != ':' {
            break;
        }
        segments.push(plain_name(next));
        end += 3;
    }
    (MacroPath { segments, line: first.span().start().line }, end)
}

/// Returns `false` if the tokens before an identifier make it a field, a fragment or absolute.
fn may_start_path(before: &[TokenTree], ident: &Ident) -> bool {
    let char_at = |back: usize| match before.len().checked_sub(back).map(|at| &before[at]) {
        Some(TokenTree::Punct(punct)) => Some(punct.as_char()),
        _ => None,
    };
    match char_at(1) {
        Some('$') => ident == "crate",
        Some('.') => char_at(2) == Some('.'),
        Some(':') => char_at(2) != Some(':'),
        Some('\'') => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(text: &str) -> Vec<String> {
        let tokens: TokenStream = text.parse().unwrap();
        macro_paths(&tokens).iter().map(|path| path.segments.join("::")).collect()
    }

    #[test]
    fn paths_are_maximal() {
        assert_eq!(paths("a::b::c(d, [e::F { g }])"), ["a::b::c", "d", "e::F", "g"]);
        assert_eq!(paths("a::<b::C>::d"), ["a", "b::C"]);
    }

    #[test]
    fn fields_fragments_and_absolute_paths_are_left_out() {
        assert_eq!(paths("a.b.c() ::std::x $name $ty::new x..y"), ["a", "x", "y"]);
        assert_eq!(paths("$crate::a::b x: y 'a"), ["crate::a::b", "x", "y"]);
    }

    #[test]
    fn identifiers_of_groups_are_included() {
        let tokens: TokenStream = "a (b [c 1] ) ::d".parse().unwrap();
        assert_eq!(identifiers(&tokens).into_iter().collect::<Vec<_>>(), ["a", "b", "c", "d"]);
    }
}
