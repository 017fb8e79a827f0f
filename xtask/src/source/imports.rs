//! `use` declarations as lists of single imports.

use syn::{ItemUse, UseTree};

use super::module_tree::plain_name;

/// One name or glob of a `use` declaration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Import {
    /// The path, without a final `self` or `*`.
    pub(crate) path: Vec<String>,
    /// The name that the import defines; `None` for `as _` and for a glob.
    pub(crate) name: Option<String>,
    pub(crate) is_glob: bool,
    /// The line of the last segment.
    pub(crate) line: usize,
}

/// Returns the imports of a declaration. A path from `::` leads to another crate and is left out.
pub(crate) fn imports(declaration: &ItemUse) -> Vec<Import> {
    let mut found = Vec::new();
    if declaration.leading_colon.is_none() {
        collect(&declaration.tree, &mut Vec::new(), &mut found);
    }
    found
}

fn collect(tree: &UseTree, prefix: &mut Vec<String>, found: &mut Vec<Import>) {
    match tree {
        UseTree::Path(path) => {
            prefix.push(plain_name(&path.ident));
            collect(&path.tree, prefix, found);
            prefix.pop();
        }
        UseTree::Group(group) => {
            for tree in &group.items {
                collect(tree, prefix, found);
            }
        }
        UseTree::Name(leaf) => {
            let path = extended(prefix, &leaf.ident);
            found.push(import(path.clone(), path.last().cloned(), &leaf.ident));
        }
        UseTree::Rename(leaf) => {
            let name = Some(plain_name(&leaf.rename)).filter(|name| name != "_");
            found.push(import(extended(prefix, &leaf.ident), name, &leaf.ident));
        }
        UseTree::Glob(glob) => found.push(Import {
            path: prefix.clone(),
            name: None,
            is_glob: true,
            line: glob.star_token.spans[0].start().line,
        }),
    }
}

fn import(path: Vec<String>, name: Option<String>, ident: &proc_macro2::Ident) -> Import {
    Import { path, name, is_glob: false, line: ident.span().start().line }
}

/// The path of a leaf. A `self` after other segments names them; alone it is a path.
fn extended(prefix: &[String], leaf: &proc_macro2::Ident) -> Vec<String> {
    let mut path = prefix.to_vec();
    if leaf != "self" || prefix.is_empty() {
        path.push(plain_name(leaf));
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(declaration: &str) -> Vec<String> {
        let show = |import: &Import| {
            let glob = if import.is_glob { "::*" } else { "" };
            let name = import.name.as_deref().unwrap_or("_");
            format!("{}: {}{glob} as {name}", import.line, import.path.join("::"))
        };
        imports(&syn::parse_str(declaration).unwrap()).iter().map(show).collect()
    }

    #[test]
    fn groups_are_flattened() {
        assert_eq!(
            shown("use a::{self,\n b::{C, D as E},\n f::*, G as _};"),
            ["1: a as a", "2: a::b::C as C", "2: a::b::D as E", "3: a::f::* as _", "3: a::G as _"]
        );
    }

    #[test]
    fn absolute_paths_are_left_out() {
        assert!(shown("use ::std::fmt;").is_empty());
    }
}
