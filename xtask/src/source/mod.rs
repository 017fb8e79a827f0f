//! A syntactic view of a crate: its modules, what they define, and which paths they write.
//!
//! [`ModuleTree`] reads the files of a crate and drops test code. [`Resolver`] finds the modules
//! that define what a path names, through imports, re-exports and globs.
//!
//! # Limits
//!
//! There is no macro expansion and no type checking:
//!
//! - Method calls, field accesses and trait implementations name no path. They are not seen.
//! - Arguments of macros and bodies of `macro_rules!` are scanned for paths. A path in such a body
//!   counts for the module that defines the macro. Any identifier among the arguments of a macro in
//!   item position may be an item that the macro defines. Modules declared by a macro are not read.
//! - Attributes are ignored: paths in derives, in `#[serde(with = "...")]` and in doc links.
//! - All `cfg` alternatives count, except code that needs `cfg(test)` or has `#[test]`.
//! - Local variables are not tracked: one with the name of a function that a glob imports counts as
//!   a use of that function.
//! - Imports inside a function are visible in the whole module.
//! - Paths through another crate back into this one are not followed.

mod attributes;
mod imports;
mod macro_paths;
mod module_tree;
mod names;
mod references;
mod resolver;
mod strip;

pub(crate) use attributes::is_documented;
pub(crate) use module_tree::{Module, ModuleId, ModuleTree};
pub(crate) use references::references;
pub(crate) use resolver::{Resolution, Resolver};
