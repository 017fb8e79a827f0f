//! Host functions: addresses whose execution stops the guest, so that the host acts in place of guest code.
//!
//! A function of a library is chosen by *address*: libraries call their own functions by internal names, and all of them lead to
//! the same code. Of an indirect function (ifunc) the implementation that its resolver chooses becomes the host function when the
//! program starts. In a static executable resolvers run later; there the resolver becomes the host function and answers
//! with the address that stands for the implementation. Symbols that no object defines are host
//! functions too; a call of one that the host does not implement is refused by name.

use raddle_cpu::memory::layout;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Identifies a host function of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HostFunction(pub(crate) u32);

/// What happens when the guest reaches the address of a host function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The dynamic linker passes control to the program.
    Entry,
    /// A guest function that the host called returns.
    Return,
    /// The host acts in place of the function of this name.
    Function(Arc<str>),
    /// The guest asks for the implementation of an indirect function, which is at this address.
    Resolver(u64),
    /// The guest continues at this address.
    Jump(u64),
    /// A function that no object defines and the host does not implement.
    Missing(Arc<str>),
}

/// All host functions of a process.
#[derive(Clone, Debug)]
pub(crate) struct HostFunctions {
    roles: Vec<Role>,
    functions: FxHashMap<Arc<str>, HostFunction>,
}

impl HostFunctions {
    pub(crate) const ENTRY: HostFunction = HostFunction(0);
    pub(crate) const RETURN: HostFunction = HostFunction(1);

    /// Host functions for these names.
    pub(crate) fn new(names: &[String]) -> HostFunctions {
        let mut hosts = HostFunctions {
            roles: vec![Role::Entry, Role::Return],
            functions: FxHashMap::default(),
        };
        for name in names {
            let name: Arc<str> = name.as_str().into();
            let id = hosts.add(Role::Function(name.clone()));
            hosts.functions.insert(name, id);
        }
        hosts
    }

    pub(crate) fn add(&mut self, role: Role) -> HostFunction {
        self.roles.push(role);
        HostFunction(self.roles.len() as u32 - 1)
    }

    /// The host function that acts in place of the function `name`.
    pub(crate) fn by_name(&self, name: &str) -> Option<HostFunction> {
        self.functions.get(name).copied()
    }

    /// The host function for a symbol that no object defines.
    pub(crate) fn for_missing(&mut self, name: &Arc<str>) -> HostFunction {
        match self.by_name(name) {
            Some(id) => id,
            None => self.add(Role::Missing(name.clone())),
        }
    }

    /// The names for which there are host functions.
    pub(crate) fn names(&self) -> impl Iterator<Item = (&Arc<str>, HostFunction)> {
        self.functions.iter().map(|(name, id)| (name, *id))
    }

    pub(crate) fn role(&self, id: u32) -> Option<&Role> {
        self.roles.get(id as usize)
    }
}

impl HostFunction {
    /// Whether it acts in place of a function, and does not mark the end of guest code.
    pub(crate) fn is_named(self) -> bool {
        self > HostFunctions::RETURN
    }

    /// The address that stands for the function.
    pub fn address(self) -> u64 {
        layout::host_function(self.0)
    }
}
