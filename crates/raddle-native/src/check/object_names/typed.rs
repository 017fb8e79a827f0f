//! Types of objects.

use std::sync::Arc;

use crate::load::{Module, Scalar, TypeId, Types};

/// A type of a module.
#[derive(Clone, Debug)]
pub(super) struct Typed {
    pub(super) module: Arc<Module>,
    pub(super) of: TypeId,
}

impl Typed {
    fn types(&self) -> Option<&Types> {
        self.module.types()
    }

    fn with(&self, of: TypeId) -> Typed {
        Typed { module: self.module.clone(), of }
    }

    /// The part at an offset, and its type.
    pub(super) fn part(&self, offset: u64) -> Option<(String, Typed)> {
        let (path, leaf) = self.types()?.part(self.of, offset)?;
        Some((path, self.with(leaf)))
    }

    pub(super) fn size(&self) -> Option<u64> {
        self.types()?.size_of(self.of).filter(|&size| size > 0)
    }

    pub(super) fn name(&self) -> Option<String> {
        self.types()?.type_name(self.of)
    }

    pub(super) fn scalar(&self) -> Option<Scalar> {
        self.types()?.scalar(self.of)
    }

    pub(super) fn pointee(&self) -> Option<Typed> {
        match self.scalar()? {
            Scalar::Pointer(Some(of)) => Some(self.with(of)),
            _ => None,
        }
    }
}
