//! The module tree of a crate, read from its files.

use std::fs;
use std::path::{Path, PathBuf};

use syn::{Item, ItemMod};

use super::attributes::{has_flag, path_attribute};
use super::strip::strip_tests;

/// Index of a module in its [`ModuleTree`]; 0 is the crate root.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ModuleId(pub(crate) usize);

/// A module without its test code.
pub(crate) struct Module {
    pub(crate) name: String,
    pub(crate) parent: Option<ModuleId>,
    pub(crate) children: Vec<ModuleId>,
    /// The file, relative to the directory given to [`ModuleTree::load`] if it is inside.
    pub(crate) file: PathBuf,
    /// The items except modules.
    pub(crate) items: Vec<Item>,
    /// `true` if the macros of the module are in scope after it (`#[macro_use]`).
    pub(crate) leaks_macros: bool,
}

/// The modules of a crate, parents before children.
#[derive(Default)]
pub(crate) struct ModuleTree {
    pub(crate) modules: Vec<Module>,
}

/// Where the file of a child module is looked for.
#[derive(Debug, Clone)]
struct Place {
    file: PathBuf,
    /// The directory of `child.rs`.
    children: PathBuf,
    /// The directory that `#[path]` is relative to.
    paths: PathBuf,
}

impl Place {
    /// The place of a crate root, a `mod.rs` or a file with a `#[path]`.
    fn directory_owner(file: PathBuf) -> Self {
        let directory = file.parent().unwrap_or(Path::new("")).to_owned();
        Self { file, children: directory.clone(), paths: directory }
    }

    /// The place of `name.rs` in the directory of `parent`.
    fn plain(parent: &Place, name: &str) -> Self {
        let file = parent.children.join(format!("{name}.rs"));
        Self { file, children: parent.children.join(name), paths: parent.children.clone() }
    }

    /// The place of a module with a body inside `parent`.
    fn inline(parent: &Place, name: &str) -> Self {
        let children = parent.children.join(name);
        Self { file: parent.file.clone(), paths: children.clone(), children }
    }

    /// The place of a module without a body inside `parent`.
    fn outline(parent: &Place, module: &ItemMod) -> Result<Self, String> {
        let name = plain_name(&module.ident);
        if let Some(path) = path_attribute(&module.attrs) {
            return Ok(Self::directory_owner(parent.paths.join(path)));
        }
        let plain = Self::plain(parent, &name);
        let nested = parent.children.join(&name).join("mod.rs");
        if plain.file.is_file() {
            Ok(plain)
        } else if nested.is_file() {
            Ok(Self::directory_owner(nested))
        } else {
            let (file, plain) = (parent.file.display(), plain.file.display());
            Err(format!("{file}: no file for module {name}: neither {plain} nor {name}/mod.rs"))
        }
    }
}

impl ModuleTree {
    /// Reads the crate with this root file. Names files relative to `base`.
    pub(crate) fn load(root_file: &Path, base: &Path) -> Result<Self, String> {
        let mut loader = Loader { tree: Self::default(), base, open: Vec::new() };
        let root = Header { name: "crate".to_owned(), parent: None, declaration: None };
        loader.load_file(root, &Place::directory_owner(root_file.to_owned()))?;
        Ok(loader.tree)
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = ModuleId> + use<> {
        (0..self.modules.len()).map(ModuleId)
    }

    pub(crate) fn get(&self, id: ModuleId) -> &Module {
        &self.modules[id.0]
    }

    /// Returns the module and its ancestors, from the module up to the root.
    pub(crate) fn ancestors(&self, id: ModuleId) -> impl Iterator<Item = ModuleId> + '_ {
        std::iter::successors(Some(id), |&id| self.get(id).parent)
    }

    /// Returns `true` if `inner` is `outer` or inside it.
    pub(crate) fn is_inside(&self, inner: ModuleId, outer: ModuleId) -> bool {
        self.ancestors(inner).any(|ancestor| ancestor == outer)
    }

    /// Returns the path of a module, such as `crate::a::b`.
    pub(crate) fn path(&self, id: ModuleId) -> String {
        let mut names: Vec<&str> =
            self.ancestors(id).map(|ancestor| self.get(ancestor).name.as_str()).collect();
        names.reverse();
        names.join("::")
    }
}

/// What is known of a module before its items.
struct Header<'a> {
    name: String,
    parent: Option<ModuleId>,
    declaration: Option<&'a ItemMod>,
}

struct Loader<'a> {
    tree: ModuleTree,
    base: &'a Path,
    /// The files that are being read, to detect a file that contains itself.
    open: Vec<PathBuf>,
}

impl Loader<'_> {
    fn load_file(&mut self, header: Header<'_>, place: &Place) -> Result<(), String> {
        let shown = place.file.display();
        if self.open.contains(&place.file) {
            return Err(format!("{shown}: the file is a module inside itself"));
        }
        let text = fs::read_to_string(&place.file)
            .map_err(|error| format!("{shown}: cannot be read: {error}"))?;
        let mut file = syn::parse_file(&text).map_err(|error| {
            let start = error.span().start();
            format!("{shown}:{}:{}: {error}", start.line, start.column + 1)
        })?;
        strip_tests(&mut file);
        self.open.push(place.file.clone());
        self.load_module(header, file.items, place)?;
        self.open.pop();
        Ok(())
    }

    fn load_module(
        &mut self,
        header: Header<'_>,
        items: Vec<Item>,
        place: &Place,
    ) -> Result<(), String> {
        let id = ModuleId(self.tree.modules.len());
        let (inner, items) = split_modules(items);
        if let Some(parent) = header.parent {
            self.tree.modules[parent.0].children.push(id);
        }
        self.tree.modules.push(Module {
            name: header.name,
            parent: header.parent,
            children: Vec::new(),
            file: place.file.strip_prefix(self.base).unwrap_or(&place.file).to_owned(),
            items,
            leaks_macros: header.declaration.is_some_and(|d| has_flag(&d.attrs, "macro_use")),
        });
        inner.into_iter().try_for_each(|child| self.load_child(id, child, place))
    }

    fn load_child(
        &mut self,
        parent: ModuleId,
        mut child: ItemMod,
        place: &Place,
    ) -> Result<(), String> {
        let name = plain_name(&child.ident);
        let content = child.content.take();
        let header = Header { name: name.clone(), parent: Some(parent), declaration: Some(&child) };
        match content {
            Some((_, items)) => self.load_module(header, items, &Place::inline(place, &name)),
            None => self.load_file(header, &Place::outline(place, &child)?),
        }
    }
}

fn split_modules(items: Vec<Item>) -> (Vec<ItemMod>, Vec<Item>) {
    let mut modules = Vec::new();
    let mut others = Vec::new();
    for item in items {
        match item {
            Item::Mod(module) => modules.push(module),
            other => others.push(other),
        }
    }
    (modules, others)
}

/// The name without `r#`.
pub(crate) fn plain_name(ident: &proc_macro2::Ident) -> String {
    let name = ident.to_string();
    name.strip_prefix("r#").map(str::to_owned).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use crate::test_crate;

    fn paths_and_files(files: &[(&str, &str)]) -> Vec<(String, String)> {
        let tree = test_crate::load(files).unwrap();
        let file = |id| tree.get(id).file.display().to_string();
        tree.ids().map(|id| (tree.path(id), file(id))).collect()
    }

    fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        expected.iter().map(|&(path, file)| (path.to_owned(), file.to_owned())).collect()
    }

    #[test]
    fn files_are_found_as_the_compiler_finds_them() {
        let files = [
            ("lib.rs", "mod a; mod b; mod c { mod d; } #[path = \"x/y.rs\"] mod e;"),
            ("a.rs", "mod f;"),
            ("a/f.rs", ""),
            ("b/mod.rs", "mod g;"),
            ("b/g.rs", ""),
            ("c/d.rs", ""),
            ("x/y.rs", "mod z;"),
            ("x/z.rs", ""),
        ];
        let expected = [
            ("crate", "lib.rs"),
            ("crate::a", "a.rs"),
            ("crate::a::f", "a/f.rs"),
            ("crate::b", "b/mod.rs"),
            ("crate::b::g", "b/g.rs"),
            ("crate::c", "lib.rs"),
            ("crate::c::d", "c/d.rs"),
            ("crate::e", "x/y.rs"),
            ("crate::e::z", "x/z.rs"),
        ];
        assert_eq!(paths_and_files(&files), pairs(&expected));
    }

    #[test]
    fn files_of_tests_are_not_read() {
        let found = paths_and_files(&[("lib.rs", "#[cfg(test)] mod tests;")]);
        assert_eq!(found, pairs(&[("crate", "lib.rs")]));
    }

    fn error(files: &[(&str, &str)]) -> String {
        let dir = test_crate::write(files);
        let loaded = super::ModuleTree::load(&dir.path().join("lib.rs"), dir.path());
        let error = loaded.err().unwrap();
        error.replace(&dir.path().display().to_string(), "DIR")
    }

    #[test]
    fn missing_files_are_errors() {
        assert!(error(&[]).starts_with("DIR/lib.rs: cannot be read: "));
        assert_eq!(
            error(&[("lib.rs", "mod a;")]),
            "DIR/lib.rs: no file for module a: neither DIR/a.rs nor a/mod.rs"
        );
    }

    #[test]
    fn syntax_errors_have_a_position() {
        assert_eq!(error(&[("lib.rs", "\nfn 1() {}")]), "DIR/lib.rs:2:4: expected identifier");
    }

    #[test]
    fn file_inside_itself_is_an_error() {
        assert_eq!(
            error(&[("lib.rs", "#[path = \"lib.rs\"] mod a;")]),
            "DIR/lib.rs: the file is a module inside itself"
        );
    }
}
