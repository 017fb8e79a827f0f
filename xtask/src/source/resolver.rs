//! Resolution of paths to the modules that define what they name.
//!
//! A simplified form of the compiler's algorithm: explicit names shadow globs, and imports are
//! followed to the definition. All names are taken to be visible: the code compiles. A path that
//! leaves the crate resolves to nothing. A name that is not found in a module of this crate is taken
//! for an item that a macro generates there.

use std::collections::{BTreeSet, HashSet};

use super::module_tree::{ModuleId, ModuleTree};
use super::names::{Meaning, Names, Space, names};
use super::references::Reference;

/// The modules that a path leads to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Resolution {
    /// The modules that define the last segment, or the module that it names.
    pub(crate) defining: BTreeSet<ModuleId>,
    /// The modules that segments of the path name, whether or not they define the item.
    pub(crate) named: BTreeSet<ModuleId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Definition {
    Module(ModuleId),
    /// An item of the module, or a part of one (a variant, an associated item).
    Item(ModuleId),
}

type Definitions = BTreeSet<Definition>;

/// Resolves the paths of one crate.
pub(crate) struct Resolver<'a> {
    tree: &'a ModuleTree,
    names: Vec<Names>,
}

/// A search for a name in a module.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Query {
    module: ModuleId,
    name: String,
    space: Space,
}

/// The queries in progress. A query that depends on itself contributes nothing.
type Active = HashSet<Query>;

impl<'a> Resolver<'a> {
    pub(crate) fn new(tree: &'a ModuleTree) -> Self {
        Self { tree, names: names(tree) }
    }

    /// Resolves a path that module `from` writes.
    pub(crate) fn resolve(&self, from: ModuleId, reference: &Reference) -> Resolution {
        let mut resolution = Resolution::default();
        let definitions =
            self.follow(from, &reference.path, reference.space, &mut Active::new(), |step| {
                resolution.named.extend(step.iter().filter_map(|definition| match definition {
                    Definition::Module(module) => Some(*module),
                    Definition::Item(_) => None,
                }));
            });
        let module = |definition: &Definition| match *definition {
            Definition::Module(module) | Definition::Item(module) => module,
        };
        resolution.defining = definitions.iter().flatten().map(module).collect();
        resolution
    }

    /// Follows a path. Calls `on_step` with the definitions of each prefix. Returns `None` if the
    /// first segment is unknown.
    fn follow(
        &self,
        from: ModuleId,
        path: &[String],
        space: Space,
        active: &mut Active,
        mut on_step: impl FnMut(&Definitions),
    ) -> Option<Definitions> {
        let (mut definitions, rest) = self.start(from, path, space, active)?;
        on_step(&definitions);
        for (at, name) in rest.iter().enumerate() {
            let space = if at + 1 == rest.len() { space } else { Space::Type };
            let step = |definition: &Definition| self.member(*definition, name, space, active);
            definitions = definitions.iter().flat_map(step).collect();
            on_step(&definitions);
        }
        Some(definitions)
    }

    /// Resolves the first segments: all of `crate`, `self` and `super`, or one name.
    fn start<'p>(
        &self,
        from: ModuleId,
        path: &'p [String],
        space: Space,
        active: &mut Active,
    ) -> Option<(Definitions, &'p [String])> {
        let (first, mut rest) = path.split_first()?;
        let mut module = match first.as_str() {
            "crate" => ModuleId(0),
            "self" => from,
            "super" => self.tree.get(from).parent?,
            name => {
                let space = if rest.is_empty() { space } else { Space::Type };
                return Some((self.lexical(from, name, space, active)?, rest));
            }
        };
        while let Some(("super", after)) = rest.split_first().map(|(s, after)| (s.as_str(), after))
        {
            module = self.tree.get(module).parent?;
            rest = after;
        }
        Some((Definitions::from([Definition::Module(module)]), rest))
    }

    /// Looks a name up in a module; a macro also in its ancestors, where it may be in textual scope.
    fn lexical(
        &self,
        from: ModuleId,
        name: &str,
        space: Space,
        active: &mut Active,
    ) -> Option<Definitions> {
        let query = |module, space| Query { module, name: name.to_owned(), space };
        let found = self.look_up(&query(from, space), active);
        if found.is_some() || !matches!(space, Space::Macro | Space::Any) {
            return found;
        }
        let mut ancestors = self.tree.ancestors(from).skip(1);
        ancestors.find_map(|module| self.look_up(&query(module, Space::Macro), active))
    }

    fn member(
        &self,
        definition: Definition,
        name: &str,
        space: Space,
        active: &mut Active,
    ) -> Definitions {
        let Definition::Module(module) = definition else {
            return Definitions::from([definition]);
        };
        let query = |space| Query { module, name: name.to_owned(), space };
        match self.look_up(&query(space), active) {
            Some(definitions) => definitions,
            None if self.look_up(&query(Space::Any), active).is_some() => Definitions::new(),
            None => Definitions::from([Definition::Item(module)]),
        }
    }

    /// Returns the definitions of a name: none if it belongs to another crate, `None` if the module
    /// has no such name.
    fn look_up(&self, query: &Query, active: &mut Active) -> Option<Definitions> {
        if !active.insert(query.clone()) {
            return Some(Definitions::new());
        }
        let found = self
            .explicit(query, active)
            .or_else(|| self.through_globs(query, active))
            .or_else(|| self.generated(query));
        active.remove(query);
        found
    }

    fn explicit(&self, query: &Query, active: &mut Active) -> Option<Definitions> {
        let candidates = self.names[query.module.0].explicit.get(&query.name)?;
        let mut candidates =
            candidates.iter().filter(|meaning| meaning.is_in(query.space)).peekable();
        candidates.peek()?;
        Some(candidates.flat_map(|meaning| self.meaning(query, meaning, active)).collect())
    }

    fn meaning(&self, query: &Query, meaning: &Meaning, active: &mut Active) -> Definitions {
        match meaning {
            Meaning::Item(module, _) => Definitions::from([Definition::Item(*module)]),
            Meaning::Module(module) => Definitions::from([Definition::Module(*module)]),
            Meaning::Import(path) => {
                self.follow(query.module, path, query.space, active, |_| ()).unwrap_or_default()
            }
        }
    }

    fn through_globs(&self, query: &Query, active: &mut Active) -> Option<Definitions> {
        let mut found = Definitions::new();
        for path in &self.names[query.module.0].globs {
            found.extend(self.through_glob(query, path, active));
        }
        Some(found).filter(|found| !found.is_empty())
    }

    fn through_glob(&self, query: &Query, path: &[String], active: &mut Active) -> Definitions {
        let sources = self.follow(query.module, path, Space::Type, active, |_| ());
        let mut found = Definitions::new();
        for source in sources.into_iter().flatten() {
            if let Definition::Module(module) = source {
                let inner = Query { module, ..query.clone() };
                found.extend(self.look_up(&inner, active).into_iter().flatten());
            }
        }
        found
    }

    fn generated(&self, query: &Query) -> Option<Definitions> {
        let is_generated = self.names[query.module.0].generated.contains(&query.name);
        is_generated.then(|| Definitions::from([Definition::Item(query.module)]))
    }
}
