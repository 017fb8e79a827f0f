//! Atomic sections: while a thread is in one, no other thread takes a step.
//!
//! *Problem.* A lock keeps sections apart, but not what other threads do outside of sections.
//!
//! *Idea.* All sections take one lock. An access outside of sections to memory that sections access is a section of its own,
//! unless both only read. Which memory that is, the exploration learns, and starts again.
//!
//! *Why this is enough.* Consider an execution of SC in which these accesses, too, are serialised by the lock, and contract each
//! section to one step. If there was a cycle through a step, it would leave the section and enter it again through reads, writes
//! or their order in memory, so through accesses that the lock puts before or after the section as a whole. So there is a run
//! in which each section is one step.
//!
//! *Store buffers.* A section empties the buffer of its thread at its beginning and its end, like a locked instruction, and
//! other threads' stores do not reach its memory meanwhile. So an access that is a section of its own empties the buffer of
//! its thread as well, though it need not. Every execution that is found exists. Whether others may be missing is
//! decided thread by thread: a load may be such a section if the buffer is empty; a store may, if the thread empties its buffer
//! before it loads (under PSO: or stores) again. Otherwise the exploration is bounded, and says so.
//!
//! *C11 models.* Plain accesses that are not ordered before or after a section race with it. Atomic ones are sections of their
//! own, which orders more than they do, so then the exploration is bounded, too.

use raddle_core::execution::{LocationId, MemoryOrder};
use raddle_core::model::orders::StoreBuffers;
use raddle_core::outcome::FindingKind;
use raddle_core::program::OpKind;

use super::NativeProgram;
use super::bookkeeping::StoredSince;
use super::call::{Call, Step};
use super::kinds::ObjectKind;
use super::layout::{Layout, LocationKind};

/// An access, as far as sections are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Load(MemoryOrder),
    Store(MemoryOrder),
    /// It empties the store buffer.
    Update,
}

impl Access {
    /// The access of an atomic op.
    pub(super) fn of(kind: OpKind) -> Access {
        match kind {
            OpKind::Load { order, .. } => Access::Load(order),
            OpKind::Store { order: MemoryOrder::SeqCst, .. } => Access::Update,
            OpKind::Store { order, .. } => Access::Store(order),
            _ => Access::Update,
        }
    }

    fn writes(self) -> bool {
        !matches!(self, Access::Load(_))
    }

    fn is_plain(self) -> bool {
        matches!(self, Access::Load(MemoryOrder::NonAtomic) | Access::Store(MemoryOrder::NonAtomic))
    }
}

impl Layout {
    /// Notes an access of a section. Returns `true` if that is new.
    fn note_section(&mut self, address: u64, size: u64, writes: bool) -> bool {
        let (known_size, known_writes) =
            self.learned.sections.get(&address).copied().unwrap_or_default();
        let new = (size.max(known_size), writes || known_writes);
        self.learned.sections.insert(address, new) != Some(new)
    }

    /// Returns `true` if sections access some of this memory; an access that writes nothing conflicts with writes only.
    fn conflicts_with_sections(&self, address: u64, size: u64, writes: bool) -> bool {
        /// The largest access.
        const LARGEST: u64 = 64;
        let mut near = self.learned.sections.range(address.saturating_sub(LARGEST)..address + size);
        near.any(|(&start, &(size, written))| start + size > address && (writes || written))
    }
}

impl Call<'_> {
    fn section_lock(&mut self) -> LocationId {
        let place = self.program.place();
        let kind = LocationKind::Object(ObjectKind::AtomicSection);
        self.program.layout.locate_object(kind, 0, place)
    }

    /// Begins a section, which may be part of another one.
    pub(crate) fn begin_section(&mut self) -> Step<()> {
        if self.program.thread().own.section_depth == 0 {
            let lock = self.section_lock();
            self.ask(OpKind::Lock { lock })?;
            self.program.thread_mut().own_mut().stored = StoredSince::default();
        }
        self.program.thread_mut().own_mut().section_depth += 1;
        Ok(())
    }

    /// Ends the innermost section.
    pub(crate) fn end_section(&mut self) -> Step<()> {
        let Some(depth) = self.program.thread().own.section_depth.checked_sub(1) else {
            let message = "an atomic section is ended by a thread that is in none";
            return Err(self.fail(FindingKind::Misuse, message));
        };
        self.program.thread_mut().own_mut().section_depth = depth;
        if depth == 0 {
            let lock = self.section_lock();
            self.effect(OpKind::Unlock { lock });
        }
        Ok(())
    }

    /// Returns `true` if the thread is in a section.
    pub(crate) fn is_in_section(&self) -> bool {
        self.program.thread().own.section_depth > 0
    }

    /// Performs an access to shared memory, as a section of its own if it must be one.
    #[inline]
    pub(super) fn excluded<T>(
        &mut self,
        address: u64,
        size: u64,
        access: Access,
        perform: impl FnOnce(&mut Self) -> Step<T>,
    ) -> Step<T> {
        if self.program.layout.learned.sections.is_empty() && !self.is_in_section()
            || !self.program.has_other_threads()
        {
            return perform(self);
        }
        let is_own = self.is_own_section(address, size, access)?;
        let result = match is_own {
            false => perform(self)?,
            true => {
                let lock = self.section_lock();
                self.ask(OpKind::Lock { lock })?;
                let result = perform(self)?;
                self.effect(OpKind::Unlock { lock });
                result
            }
        };
        self.note_access(access, is_own);
        Ok(result)
    }

    /// Returns `true` if an access must be a section of its own.
    fn is_own_section(&mut self, address: u64, size: u64, access: Access) -> Step<bool> {
        let is_inside = self.is_in_section();
        let may_race = self.program.settings.store_buffers.is_none() && access.is_plain();
        let layout = &mut self.program.layout;
        if is_inside {
            return match layout.note_section(address, size, access.writes()) {
                true => Err(self.again()),
                false => Ok(false),
            };
        }
        Ok(!may_race && layout.conflicts_with_sections(address, size, access.writes()))
    }

    /// Notes an access, and the bound on the exploration if other executions may be missing because of it.
    fn note_access(&mut self, access: Access, is_own_section: bool) {
        if self.is_in_section() {
            return;
        }
        let StoredSince { buffered, early } = self.program.thread().own.stored;
        let (is_missing, stored) = match (self.program.settings.store_buffers, access) {
            (Some(StoreBuffers::None), _) => return,
            (None, _) => (is_own_section, StoredSince::default()),
            (Some(_), Access::Update) => (false, StoredSince::default()),
            (Some(_), Access::Load(_)) if is_own_section => {
                (buffered || early, StoredSince::default())
            }
            (Some(_), Access::Load(_)) => (early, StoredSince { buffered, early }),
            (Some(buffers), Access::Store(_)) => {
                let is_missing =
                    buffers == StoreBuffers::PerLocation && (early || is_own_section && buffered);
                let stored = match is_own_section {
                    true => StoredSince { buffered: false, early: true },
                    false => StoredSince { buffered: true, early },
                };
                (is_missing, stored)
            }
        };
        if is_missing {
            self.note_bound(
                "accesses outside of atomic sections to memory that these access are not delayed",
            );
        }
        if stored != (StoredSince { buffered, early }) {
            self.program.thread_mut().own_mut().stored = stored;
        }
    }

    /// The thread empties its store buffer.
    pub(super) fn note_emptied(&mut self) {
        self.program.note_emptied();
    }
}

impl NativeProgram {
    /// The current thread empties its store buffer.
    pub(super) fn note_emptied(&mut self) {
        if self.thread().own.stored != StoredSince::default() {
            self.thread_mut().own_mut().stored = StoredSince::default();
        }
    }
}
