//! A program that was built.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use raddle_core::model::Model;
use raddle_core::model::orders::OrderSemantics;
use raddle_cpu::Calls;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Error;
use crate::load::Elf;
use crate::program::Guide;

/// Whether the memory orders of atomic accesses are known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MemoryOrders {
    /// All code was compiled with hooks that tell the order of each atomic access.
    Known,
    /// The code of this file has none: a relaxed, an acquiring and a plain load are the same instruction.
    Unknown {
        /// The file.
        file: String,
    },
}

/// A program that is ready to be loaded: an executable in memory. Copies are cheap. It can be serialized for another process.
#[derive(Clone, Debug)]
pub struct Object {
    pub(crate) file: Elf,
    pub(super) orders: MemoryOrders,
    /// All code was compiled here.
    pub(super) is_ours: bool,
    /// The first line of the output of `--version`; empty if nothing was compiled or linked.
    pub(super) compiler: Arc<str>,
    pub(crate) guide: Option<Arc<Guide>>,
}

impl Object {
    /// The same program, of which only executions are explored that a guide permits.
    #[must_use]
    pub fn led_by(self, guide: Guide) -> Self {
        Object { guide: Some(Arc::new(guide)), ..self }
    }

    /// Whether memory orders are known, which the C11-style models need.
    #[must_use]
    pub fn memory_orders(&self) -> &MemoryOrders {
        &self.orders
    }

    /// Identifies the linked program and the compiler: changes whenever a source file, a header, a flag or the compiler
    /// changes the executable.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let mut hasher = DefaultHasher::new();
        self.file.data.hash(&mut hasher);
        let hash = hasher.finish();
        let name = if self.compiler.is_empty() { "not compiled" } else { &self.compiler };
        format!("{name}, program {hash:016x} of {} bytes", self.file.data.len())
    }

    /// What the compiler calls itself; empty if nothing was compiled or linked.
    #[must_use]
    pub fn compiler(&self) -> &str {
        &self.compiler
    }

    /// What is known about calls: only our own compilation says that they follow the ABI.
    pub(crate) fn calls(&self) -> Calls {
        if self.is_ours { Calls::SystemV } else { Calls::Unknown }
    }

    /// Refuses a model for which memory orders would have to be known.
    pub(crate) fn supports(&self, model: Model) -> Result<(), Error> {
        match (&self.orders, model.orders()) {
            (MemoryOrders::Unknown { file }, OrderSemantics::C11(_)) => {
                Err(Error::NoMemoryOrders { file: file.clone(), model })
            }
            _ => Ok(()),
        }
    }
}

/// An [`Object`] as it is serialized. The executable is parsed again when it is read.
#[derive(Serialize, Deserialize)]
struct SerializedObject<'a> {
    name: Cow<'a, str>,
    executable: Cow<'a, [u8]>,
    orders: Cow<'a, MemoryOrders>,
    is_ours: bool,
    compiler: Cow<'a, str>,
    guide: Option<Cow<'a, Guide>>,
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let object = SerializedObject {
            name: Cow::Borrowed(&self.file.name),
            executable: Cow::Borrowed(&self.file.data),
            orders: Cow::Borrowed(&self.orders),
            is_ours: self.is_ours,
            compiler: Cow::Borrowed(&self.compiler),
            guide: self.guide.as_deref().map(Cow::Borrowed),
        };
        object.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let object = SerializedObject::deserialize(deserializer)?;
        let data = Arc::new(object.executable.into_owned());
        let file = Elf::parse(object.name.into(), &data).map_err(D::Error::custom)?;
        let (orders, compiler) = (object.orders.into_owned(), object.compiler.into());
        let guide = object.guide.map(|guide| Arc::new(guide.into_owned()));
        Ok(Object { file, orders, is_ours: object.is_ours, compiler, guide })
    }
}
