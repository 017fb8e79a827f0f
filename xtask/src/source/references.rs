//! The paths that a module writes.

use syn::visit::{self, Visit};
use syn::{Attribute, ExprPath, ItemMacro, ItemUse, Macro, Path, QSelf, TypePath, Visibility};

use super::imports::{Import, imports};
use super::macro_paths::{MacroPath, macro_paths};
use super::module_tree::{Module, plain_name};
use super::names::Space;

/// A path in the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reference {
    pub(crate) path: Vec<String>,
    pub(crate) is_glob: bool,
    /// The namespace of the last segment.
    pub(crate) space: Space,
    pub(crate) line: usize,
}

impl Reference {
    /// The path as it is written, without generic arguments; groups of imports are flattened.
    pub(crate) fn text(&self) -> String {
        let glob = if self.is_glob { "::*" } else { "" };
        format!("{}{glob}", self.path.join("::"))
    }
}

/// Returns the paths that the items of a module write, without its child modules.
pub(crate) fn references(module: &Module) -> Vec<Reference> {
    let mut collector = Collector::default();
    for item in &module.items {
        collector.visit_item(item);
    }
    collector.found
}

#[derive(Default)]
struct Collector {
    found: Vec<Reference>,
}

impl Collector {
    fn add_path(&mut self, path: &Path, qself: Option<&QSelf>, space: Space) {
        let is_associated = qself.is_some_and(|qself| qself.position == 0);
        if is_associated || path.leading_colon.is_some() {
            return;
        }
        let Some(first) = path.segments.first() else { return };
        self.found.push(Reference {
            path: path.segments.iter().map(|segment| plain_name(&segment.ident)).collect(),
            is_glob: false,
            space,
            line: first.ident.span().start().line,
        });
    }

    fn add_import(&mut self, import: Import) {
        let Import { path, is_glob, line, .. } = import;
        self.found.push(Reference { path, is_glob, space: Space::Any, line });
    }

    fn add_macro_path(&mut self, path: MacroPath) {
        let MacroPath { segments, line } = path;
        let space = space_in_macro(&segments);
        self.found.push(Reference { path: segments, is_glob: false, space, line });
    }
}

/// A single lower-case name in a macro is a value: a local variable must not be taken for a module.
fn space_in_macro(segments: &[String]) -> Space {
    match segments {
        [name] if name.starts_with(char::is_lowercase) => Space::Value,
        _ => Space::Any,
    }
}

impl<'ast> Visit<'ast> for Collector {
    fn visit_item_use(&mut self, node: &'ast ItemUse) {
        imports(node).into_iter().for_each(|import| self.add_import(import));
    }

    fn visit_expr_path(&mut self, node: &'ast ExprPath) {
        self.add_path(&node.path, node.qself.as_ref(), Space::Value);
        if let Some(qself) = &node.qself {
            self.visit_qself(qself);
        }
        visit::visit_path(self, &node.path);
    }

    fn visit_type_path(&mut self, node: &'ast TypePath) {
        self.add_path(&node.path, node.qself.as_ref(), Space::Type);
        if let Some(qself) = &node.qself {
            self.visit_qself(qself);
        }
        visit::visit_path(self, &node.path);
    }

    fn visit_path(&mut self, node: &'ast Path) {
        self.add_path(node, None, Space::Type);
        visit::visit_path(self, node);
    }

    fn visit_macro(&mut self, node: &'ast Macro) {
        self.add_path(&node.path, None, Space::Macro);
        macro_paths(&node.tokens).into_iter().for_each(|path| self.add_macro_path(path));
    }

    fn visit_item_macro(&mut self, node: &'ast ItemMacro) {
        if node.ident.is_some() {
            macro_paths(&node.mac.tokens).into_iter().for_each(|path| self.add_macro_path(path));
        } else {
            self.visit_macro(&node.mac);
        }
    }

    fn visit_attribute(&mut self, _: &'ast Attribute) {}

    fn visit_visibility(&mut self, _: &'ast Visibility) {}
}

#[cfg(test)]
mod tests {
    use crate::test_crate;

    fn shown(text: &str) -> Vec<String> {
        let tree = test_crate::load(&[("lib.rs", text)]).unwrap();
        let show = |reference: &super::Reference| {
            format!("{}: {} {:?}", reference.line, reference.text(), reference.space)
        };
        super::references(&tree.modules[0]).iter().map(show).collect()
    }

    #[test]
    fn paths_of_types_and_values_are_found() {
        assert_eq!(
            shown(
                "fn f(x: a::B<c::D>) -> impl e::F {\n g::h::<i::J>(); <K as l::M>::n(); <K>::o() }"
            ),
            [
                "1: a::B Type",
                "1: c::D Type",
                "1: e::F Type",
                "2: g::h Value",
                "2: i::J Type",
                "2: l::M::n Value",
                "2: K Type",
                "2: K Type",
            ]
        );
    }

    #[test]
    fn imports_and_macros_are_found() {
        assert_eq!(
            shown("use a::{b,\nC::*};\nfn f() { d::e!(x, g::h()); use i::J; }"),
            [
                "1: a::b Any",
                "2: a::C::* Any",
                "3: d::e Macro",
                "3: x Value",
                "3: g::h Any",
                "3: i::J Any"
            ]
        );
    }

    #[test]
    fn visibilities_attributes_and_absolute_paths_are_not_references() {
        assert!(shown("#[a::b] #[cfg(c)] pub(in crate::x) static S: ::d::E = ::f::G;").is_empty());
    }
}
