//! A thread's cache of pages that it may access without asking.
//!
//! An entry is looked up with the page of the *first* byte and compared with the page of the *last* byte of an access, so that one
//! comparison also rejects accesses that cross pages. A page whose bytes have different states has the bit [`MIXED`]
//! in its tags: the access then compares the states of its bytes, all at once.

/// Set in the tags of pages whose bytes have different states.
pub(crate) const MIXED: u64 = 1 << 63;
const ENTRIES: usize = 256;
/// No page has this number.
const NONE: u64 = u64::MAX >> 1;

/// A cached page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// Page number if the thread may read, [`MIXED`] if it depends on the bytes.
    pub(crate) read: u64,
    /// The same for writing. The page then has a frame, and the undo log needs nothing but single writes.
    pub(crate) write: u64,
    /// Frame of the contents.
    pub(crate) frame: u32,
    /// Frame of the states if the page is mixed.
    pub(crate) shadow: u32,
}

impl Entry {
    /// An entry that fits no access.
    pub(crate) const EMPTY: Entry = Entry { read: NONE, write: NONE, frame: 0, shadow: 0 };

    /// An entry that fits no write.
    pub(crate) fn without_write(self) -> Entry {
        Entry { write: NONE, ..self }
    }
}

/// A direct-mapped cache of pages.
#[derive(Clone, Debug)]
pub(crate) struct Tlb(Box<[Entry; ENTRIES]>);

impl Default for Tlb {
    fn default() -> Self {
        Tlb(Box::new([Entry::EMPTY; ENTRIES]))
    }
}

impl Tlb {
    /// The only entry in which `page` can be.
    #[inline(always)]
    pub(crate) fn entry(&self, page: u64) -> &Entry {
        &self.0[page as usize % ENTRIES]
    }

    pub(crate) fn set(&mut self, page: u64, entry: Entry) {
        self.0[page as usize % ENTRIES] = entry;
    }

    /// Forgets all pages.
    pub(crate) fn clear(&mut self) {
        *self.0 = [Entry::EMPTY; ENTRIES];
    }

    /// Forgets which pages may be written.
    pub(crate) fn forget_writes(&mut self) {
        for entry in self.0.iter_mut() {
            *entry = entry.without_write();
        }
    }
}
