//! Questions about attributes.

use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ImplItem, Item, Lit, Meta, Stmt, Token, TraitItem};

/// Returns `true` if the code with these attributes is compiled only for tests.
pub(crate) fn is_test_only(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let path = attribute.path();
        path.is_ident("test")
            || (path.is_ident("cfg")
                && attribute.parse_args::<Meta>().is_ok_and(|predicate| needs_test(&predicate)))
    })
}

/// Returns `true` if the predicate of a `cfg` holds only in test builds.
fn needs_test(predicate: &Meta) -> bool {
    match predicate {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) => {
            let parsed = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
            let Ok(inner) = parsed else { return false };
            (list.path.is_ident("all") && inner.iter().any(needs_test))
                || (list.path.is_ident("any") && !inner.is_empty() && inner.iter().all(needs_test))
        }
        Meta::NameValue(_) => false,
    }
}

/// Returns `true` if there is a doc comment.
pub(crate) fn is_documented(attributes: &[Attribute]) -> bool {
    attributes.iter().any(
        |attribute| matches!(&attribute.meta, Meta::NameValue(meta) if meta.path.is_ident("doc")),
    )
}

/// Returns `true` if there is an attribute of this name.
pub(crate) fn has_flag(attributes: &[Attribute], name: &str) -> bool {
    attributes.iter().any(|attribute| attribute.path().is_ident(name))
}

/// Returns the file of `#[path = "..."]`.
pub(crate) fn path_attribute(attributes: &[Attribute]) -> Option<String> {
    attributes.iter().find_map(|attribute| match &attribute.meta {
        Meta::NameValue(meta) if meta.path.is_ident("path") => match &meta.value {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(text) => Some(text.value()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    })
}

/// A syntax node with attributes that tests may be excluded by.
pub(crate) trait Attributed {
    fn attributes(&self) -> &[Attribute];
}

/// Implements [`Attributed`] for enums of nodes with a field `attrs`. Other variants have none.
macro_rules! attributed {
    ($($node:ident { $($variant:ident)* })*) => {$(
        impl Attributed for $node {
            fn attributes(&self) -> &[Attribute] {
                match self {
                    $($node::$variant(node) => &node.attrs,)*
                    _ => &[],
                }
            }
        }
    )*};
}

attributed! {
    Item {
        Const Enum ExternCrate Fn ForeignMod Impl Macro Mod Static Struct Trait TraitAlias Type
        Union Use
    }
    ImplItem { Const Fn Type Macro }
    TraitItem { Const Fn Type Macro }
    Expr {
        Assign Binary Block Break Call Continue ForLoop If Loop Macro Match MethodCall Path Return
        Try Unsafe While
    }
}

impl Attributed for Stmt {
    fn attributes(&self) -> &[Attribute] {
        match self {
            Stmt::Local(local) => &local.attrs,
            Stmt::Item(item) => item.attributes(),
            Stmt::Expr(expression, _) => expression.attributes(),
            Stmt::Macro(statement) => &statement.attrs,
        }
    }
}

/// Implements [`Attributed`] for nodes with a field `attrs`.
macro_rules! has_attrs {
    ($($node:ident)*) => {$(
        impl Attributed for syn::$node {
            fn attributes(&self) -> &[Attribute] {
                &self.attrs
            }
        }
    )*};
}

has_attrs! { Arm Field FieldPat FieldValue Variant }

#[cfg(test)]
mod tests {
    use super::*;

    fn test_only(item: &str) -> bool {
        is_test_only(syn::parse_str::<Item>(item).unwrap().attributes())
    }

    #[test]
    fn cfg_that_needs_test_is_test_only() {
        assert!(test_only("#[cfg(test)] mod tests {}"));
        assert!(test_only("#[cfg(all(unix, test))] fn f() {}"));
        assert!(test_only("#[cfg(any(test, all(test, unix)))] use a::b;"));
        assert!(test_only("#[test] fn f() {}"));
    }

    #[test]
    fn other_cfg_is_not_test_only() {
        assert!(!test_only("#[cfg(not(test))] fn f() {}"));
        assert!(!test_only("#[cfg(any(test, unix))] fn f() {}"));
        assert!(!test_only("#[cfg(any())] fn f() {}"));
        assert!(!test_only("#[cfg(feature = \"test\")] fn f() {}"));
        assert!(!test_only("#[cfg(all(=))] fn f() {}"));
    }

    #[test]
    fn hidden_item_is_not_documented() {
        let documented = |item| is_documented(syn::parse_str::<Item>(item).unwrap().attributes());
        assert!(documented("/// Text.\nfn f() {}"));
        assert!(!documented("#[doc(hidden)] fn f() {}"));
    }

    #[test]
    fn path_attribute_is_its_text() {
        let item = syn::parse_str::<Item>("#[path = \"x/y.rs\"] mod a;").unwrap();
        assert_eq!(path_attribute(item.attributes()).as_deref(), Some("x/y.rs"));
    }
}
