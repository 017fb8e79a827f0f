//! The names that each module defines or imports.

use std::collections::{BTreeSet, HashMap};

use syn::visit::{self, Visit};
use syn::{Ident, Item, ItemMacro, ItemUse};

use super::attributes::has_flag;
use super::imports::{Import, imports};
use super::macro_paths::identifiers;
use super::module_tree::{Module, ModuleId, ModuleTree, plain_name};

/// A namespace of the language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Space {
    Type,
    Value,
    Macro,
    /// All namespaces: what an import searches.
    Any,
}

/// What a name stands for.
#[derive(Debug, Clone)]
pub(crate) enum Meaning {
    /// An item that this module defines, in one of these namespaces.
    Item(ModuleId, &'static [Space]),
    Module(ModuleId),
    /// The path of an import, relative to the module of the name.
    Import(Vec<String>),
}

impl Meaning {
    /// Returns `true` if the name may be in the namespace.
    pub(crate) fn is_in(&self, space: Space) -> bool {
        match self {
            Self::Item(_, spaces) => space == Space::Any || spaces.contains(&space),
            Self::Module(_) => matches!(space, Space::Any | Space::Type),
            Self::Import(_) => true,
        }
    }
}

/// The names of one module.
#[derive(Debug, Default)]
pub(crate) struct Names {
    pub(crate) explicit: HashMap<String, Vec<Meaning>>,
    /// The paths of glob imports.
    pub(crate) globs: Vec<Vec<String>>,
    /// The identifiers in item macros. Any of them may be the name of a generated item.
    pub(crate) generated: BTreeSet<String>,
}

impl Names {
    fn add(&mut self, name: String, meaning: Meaning) {
        self.explicit.entry(name).or_default().push(meaning);
    }

    fn add_import(&mut self, import: Import) {
        if import.is_glob {
            self.globs.push(import.path);
        } else if let Some(name) = import.name {
            self.add(name, Meaning::Import(import.path));
        }
    }
}

/// Returns the names of all modules, indexed by [`ModuleId`].
pub(crate) fn names(tree: &ModuleTree) -> Vec<Names> {
    let mut all: Vec<Names> = tree.ids().map(|id| module_names(tree, id)).collect();
    for id in tree.ids() {
        for (name, is_exported) in macro_definitions(tree.get(id)) {
            for scope in macro_scopes(tree, id, is_exported) {
                all[scope.0].add(name.clone(), Meaning::Item(id, &[Space::Macro]));
            }
        }
    }
    all
}

fn module_names(tree: &ModuleTree, id: ModuleId) -> Names {
    let mut names = Names::default();
    for &child in &tree.get(id).children {
        let module = tree.get(child);
        names.add(module.name.clone(), Meaning::Module(child));
    }
    for item in &tree.get(id).items {
        add_item(&mut names, id, item);
        Imports { names: &mut names }.visit_item(item);
    }
    names
}

fn add_item(names: &mut Names, id: ModuleId, item: &Item) {
    if let Some((ident, spaces)) = definition(item) {
        names.add(plain_name(ident), Meaning::Item(id, spaces));
    }
    match item {
        Item::Macro(invocation) if invocation.ident.is_none() => {
            names.generated.extend(identifiers(&invocation.mac.tokens));
        }
        Item::ForeignMod(block) => {
            for item in &block.items {
                if let syn::ForeignItem::Fn(function) = item {
                    let name = plain_name(&function.sig.ident);
                    names.add(name, Meaning::Item(id, &[Space::Value]));
                }
            }
        }
        _ => {}
    }
}

/// The name and the namespaces of a definition.
fn definition(item: &Item) -> Option<(&Ident, &'static [Space])> {
    Some(match item {
        Item::Const(item) => (&item.ident, &[Space::Value]),
        Item::Static(item) => (&item.ident, &[Space::Value]),
        Item::Fn(item) => (&item.sig.ident, &[Space::Value]),
        Item::Struct(item) => (&item.ident, &[Space::Type, Space::Value]),
        Item::Enum(item) => (&item.ident, &[Space::Type]),
        Item::Union(item) => (&item.ident, &[Space::Type]),
        Item::Trait(item) => (&item.ident, &[Space::Type]),
        Item::Type(item) => (&item.ident, &[Space::Type]),
        _ => return None,
    })
}

/// Collects imports, including those inside functions.
struct Imports<'a> {
    names: &'a mut Names,
}

impl<'ast> Visit<'ast> for Imports<'_> {
    fn visit_item_use(&mut self, node: &'ast ItemUse) {
        for import in imports(node) {
            self.names.add_import(import);
        }
        visit::visit_item_use(self, node);
    }
}

/// The `macro_rules!` of a module, each with `true` if it is exported.
fn macro_definitions(module: &Module) -> impl Iterator<Item = (String, bool)> + '_ {
    module.items.iter().filter_map(|item| match item {
        Item::Macro(ItemMacro { ident: Some(ident), attrs, .. }) => {
            Some((plain_name(ident), has_flag(attrs, "macro_export")))
        }
        _ => None,
    })
}

/// The modules that a macro of module `id` is in scope of, without their descendants.
fn macro_scopes(tree: &ModuleTree, id: ModuleId, is_exported: bool) -> Vec<ModuleId> {
    let mut scopes = vec![id];
    for outer in tree.ancestors(id) {
        match tree.get(outer).parent {
            Some(parent) if tree.get(outer).leaks_macros => scopes.push(parent),
            _ => break,
        }
    }
    if is_exported && !scopes.contains(&ModuleId(0)) {
        scopes.push(ModuleId(0));
    }
    scopes
}
