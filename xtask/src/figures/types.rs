//! The type definitions of a module.

use syn::visit::{self, Visit};
use syn::{ItemEnum, ItemStruct, ItemTrait, ItemType, ItemUnion};

use crate::source::Module;

/// Returns the names of the types that a module defines, one for each definition.
pub(crate) fn type_names(module: &Module) -> Vec<String> {
    let mut collector = Collector::default();
    for item in &module.items {
        collector.visit_item(item);
    }
    collector.found
}

#[derive(Default)]
struct Collector {
    found: Vec<String>,
}

impl<'ast> Visit<'ast> for Collector {
    fn visit_item_struct(&mut self, node: &'ast ItemStruct) {
        self.found.push(node.ident.to_string());
        visit::visit_item_struct(self, node);
    }

    fn visit_item_enum(&mut self, node: &'ast ItemEnum) {
        self.found.push(node.ident.to_string());
        visit::visit_item_enum(self, node);
    }

    fn visit_item_union(&mut self, node: &'ast ItemUnion) {
        self.found.push(node.ident.to_string());
        visit::visit_item_union(self, node);
    }

    fn visit_item_trait(&mut self, node: &'ast ItemTrait) {
        self.found.push(node.ident.to_string());
        visit::visit_item_trait(self, node);
    }

    fn visit_item_type(&mut self, node: &'ast ItemType) {
        self.found.push(node.ident.to_string());
        visit::visit_item_type(self, node);
    }
}

#[cfg(test)]
mod tests {
    use crate::test_crate;

    #[test]
    fn all_kinds_of_types_are_counted() {
        let text = "struct A; enum B {} union C { x: u8 } trait D { type X; } type E = A;
            impl D for A { type X = A; } fn f() { struct G; } #[cfg(test)] struct H;";
        let tree = test_crate::load(&[("lib.rs", text)]).unwrap();
        assert_eq!(super::type_names(&tree.modules[0]), ["A", "B", "C", "D", "E", "G"]);
    }
}
