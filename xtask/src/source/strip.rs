//! Removes test code from a parsed file, so that no later pass needs to skip it.

use syn::punctuated::Punctuated;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Block, ExprMatch, ExprStruct, FieldsNamed, File, ItemEnum, ItemImpl, ItemMod, ItemTrait,
    PatStruct,
};

use super::attributes::{Attributed, is_test_only};

/// Removes all code that is compiled only for tests.
pub(crate) fn strip_tests(file: &mut File) {
    if is_test_only(&file.attrs) {
        file.items.clear();
    }
    Strip.visit_file_mut(file);
}

struct Strip;

fn is_kept(node: &impl Attributed) -> bool {
    !is_test_only(node.attributes())
}

fn retain<T: Attributed, P: Default>(nodes: &mut Punctuated<T, P>) {
    let all = std::mem::take(nodes);
    *nodes = all.into_iter().filter(is_kept).collect();
}

impl VisitMut for Strip {
    fn visit_file_mut(&mut self, node: &mut File) {
        node.items.retain(is_kept);
        visit_mut::visit_file_mut(self, node);
    }

    fn visit_item_mod_mut(&mut self, node: &mut ItemMod) {
        if let Some((_, items)) = &mut node.content {
            items.retain(is_kept);
        }
        visit_mut::visit_item_mod_mut(self, node);
    }

    fn visit_item_impl_mut(&mut self, node: &mut ItemImpl) {
        node.items.retain(is_kept);
        visit_mut::visit_item_impl_mut(self, node);
    }

    fn visit_item_trait_mut(&mut self, node: &mut ItemTrait) {
        node.items.retain(is_kept);
        visit_mut::visit_item_trait_mut(self, node);
    }

    fn visit_block_mut(&mut self, node: &mut Block) {
        node.stmts.retain(is_kept);
        visit_mut::visit_block_mut(self, node);
    }

    fn visit_expr_match_mut(&mut self, node: &mut ExprMatch) {
        node.arms.retain(is_kept);
        visit_mut::visit_expr_match_mut(self, node);
    }

    fn visit_fields_named_mut(&mut self, node: &mut FieldsNamed) {
        retain(&mut node.named);
        visit_mut::visit_fields_named_mut(self, node);
    }

    fn visit_item_enum_mut(&mut self, node: &mut ItemEnum) {
        retain(&mut node.variants);
        visit_mut::visit_item_enum_mut(self, node);
    }

    fn visit_expr_struct_mut(&mut self, node: &mut ExprStruct) {
        retain(&mut node.fields);
        visit_mut::visit_expr_struct_mut(self, node);
    }

    fn visit_pat_struct_mut(&mut self, node: &mut PatStruct) {
        retain(&mut node.fields);
        visit_mut::visit_pat_struct_mut(self, node);
    }
}

#[cfg(test)]
mod tests {
    use quote::ToTokens;

    use super::*;

    fn assert_stripped(with_tests: &str, without: &str) {
        let mut file = syn::parse_file(with_tests).unwrap();
        strip_tests(&mut file);
        let expected = syn::parse_file(without).unwrap();
        assert_eq!(text(&file), text(&expected));
    }

    /// The tokens of a file without commas: only trailing commas may differ.
    fn text(file: &File) -> String {
        file.to_token_stream().to_string().replace([',', ' '], "")
    }

    #[test]
    fn items_are_removed_at_every_level() {
        assert_stripped(
            "#[cfg(test)] mod t; mod a { #[cfg(test)] use x; fn f() { #[cfg(test)] fn g() {} } }
             impl A { #[cfg(test)] fn f() {} fn g() {} } trait T { #[cfg(test)] fn f(); }",
            "mod a { fn f() {} } impl A { fn g() {} } trait T {}",
        );
    }

    #[test]
    fn parts_of_types_and_expressions_are_removed() {
        assert_stripped(
            "enum E { A, #[cfg(test)] B } struct S { #[cfg(test)] a: A, b: B }
             fn f() { match x { #[cfg(test)] 1 => {} _ => {} } S { #[cfg(test)] a: 1, b: 2 };
             #[cfg(test)] g(); let S { #[cfg(test)] a, b } = s; }",
            "enum E { A, } struct S { b: B }
             fn f() { match x { _ => {} } S { b: 2 }; let S { b } = s; }",
        );
    }

    #[test]
    fn file_for_tests_is_emptied() {
        assert_stripped("#![cfg(test)] fn f() {}", "#![cfg(test)]");
    }
}
