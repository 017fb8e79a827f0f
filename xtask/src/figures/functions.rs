//! The functions of a module.

use syn::visit::{self, Visit};
use syn::{Attribute, Block, ImplItemFn, ItemFn, ItemTrait, Signature, TraitItemFn, Visibility};

use crate::source::{Module, is_documented};

/// A function, a method or a required method of a trait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Function {
    pub(crate) name: String,
    /// Lines from `fn` to the closing brace; `None` without a body.
    pub(crate) lines: Option<usize>,
    pub(crate) is_public: bool,
    pub(crate) is_documented: bool,
}

/// Returns the functions of a module, nested ones too, without those of child modules.
pub(crate) fn functions(module: &Module) -> Vec<Function> {
    let mut collector = Collector::default();
    for item in &module.items {
        collector.visit_item(item);
    }
    collector.found
}

#[derive(Default)]
struct Collector {
    found: Vec<Function>,
    /// `true` inside a `pub trait`.
    in_public_trait: bool,
}

impl Collector {
    fn add(&mut self, signature: &Signature, body: Option<&Block>, attributes: &[Attribute]) {
        let first = signature.fn_token.span.start().line;
        let lines = body.map(|body| body.brace_token.span.close().end().line - first + 1);
        self.found.push(Function {
            name: signature.ident.to_string(),
            lines,
            is_public: false,
            is_documented: is_documented(attributes),
        });
    }

    fn set_visibility(&mut self, is_public: bool) {
        if let Some(function) = self.found.last_mut() {
            function.is_public = is_public;
        }
    }
}

impl<'ast> Visit<'ast> for Collector {
    fn visit_item_fn(&mut self, node: &'ast ItemFn) {
        self.add(&node.sig, Some(&node.block), &node.attrs);
        self.set_visibility(matches!(node.vis, Visibility::Public(_)));
        visit::visit_item_fn(self, node);
    }

    fn visit_impl_item_fn(&mut self, node: &'ast ImplItemFn) {
        self.add(&node.sig, Some(&node.block), &node.attrs);
        self.set_visibility(matches!(node.vis, Visibility::Public(_)));
        visit::visit_impl_item_fn(self, node);
    }

    fn visit_trait_item_fn(&mut self, node: &'ast TraitItemFn) {
        self.add(&node.sig, node.default.as_ref(), &node.attrs);
        self.set_visibility(self.in_public_trait);
        visit::visit_trait_item_fn(self, node);
    }

    fn visit_item_trait(&mut self, node: &'ast ItemTrait) {
        let outer = self.in_public_trait;
        self.in_public_trait = matches!(node.vis, Visibility::Public(_));
        visit::visit_item_trait(self, node);
        self.in_public_trait = outer;
    }
}

#[cfg(test)]
mod tests {
    use crate::test_crate;

    fn shown(text: &str) -> Vec<String> {
        let tree = test_crate::load(&[("lib.rs", text)]).unwrap();
        let show = |function: &super::Function| {
            let lines = function.lines.map_or("-".to_owned(), |lines| lines.to_string());
            let public = if function.is_public { " pub" } else { "" };
            let doc = if function.is_documented { " doc" } else { "" };
            format!("{} {lines}{public}{doc}", function.name)
        };
        super::functions(&tree.modules[0]).iter().map(show).collect()
    }

    #[test]
    fn length_is_without_documentation_and_attributes() {
        let text = "/// One.\n/// Two.\n#[inline]\npub fn f(\n    x: u8,\n) {\n    // Comment.\n}\nfn g() {}";
        assert_eq!(shown(text), ["f 5 pub doc", "g 1"]);
    }

    #[test]
    fn methods_and_nested_functions_are_counted() {
        let text = "impl A { pub(crate) fn f() { fn g() {} } }
            pub trait T { /** One. */ fn h(); fn i() {} } trait U { fn j(); }";
        assert_eq!(shown(text), ["f 1", "g 1", "h - pub doc", "i 1 pub", "j -"]);
    }

    #[test]
    fn functions_of_tests_are_not_counted() {
        let text = "#[test] fn f() {} impl A { #[cfg(test)] fn g() {} }";
        assert!(shown(text).is_empty());
    }
}
