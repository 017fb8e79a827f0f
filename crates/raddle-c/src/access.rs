//! Whose memory is it?
//!
//! For every access the answer is one of: the thread's own (no op, the access goes to memory), shared (ops),
//! constant, or wrong. A variable belongs to the first thread that touches it, memory of a thread's stack and
//! heap to that thread, until somebody else touches it.

use raddle_core::outcome::FindingKind;
use raddle_core::program::{End, PlaceId};

use crate::heap::{Block, Wrong};
use crate::native::Native;
use crate::slots::Part;

/// Whose memory it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// The thread's own; whether it is on its stack.
    Own {
        /// Whether it is.
        is_on_stack: bool,
    },
    /// Nobody writes it.
    Constant,
    /// Several threads use it.
    Shared,
}

/// Variables have owners in pieces of so many bytes.
const GRAIN: usize = 4;
/// Parts of stacks are shared in pieces of so many bytes.
const STACK_GRAIN: usize = 8;
/// The owner of what is shared.
const SHARED: u32 = u32::MAX;
/// Addresses below are those of members of a null pointer.
const NULL: usize = 1 << 16;

/// Who owns the program's variables: for every grain nobody (0), a thread plus 1, or [`SHARED`].
#[derive(Debug, Default)]
pub(crate) struct Owners {
    start: usize,
    owners: Vec<u32>,
}

impl Owners {
    /// Nobody owns what is between the addresses.
    pub(crate) fn new((from, to): (usize, usize)) -> Self {
        let start = from / GRAIN * GRAIN;
        Owners { start, owners: vec![0; (to - start).div_ceil(GRAIN)] }
    }

    /// The ranges that nobody has touched, as far as hooks tell.
    pub(crate) fn nobodys(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let address = |grain: usize| self.start + grain * GRAIN;
        let mut at = 0;
        self.owners.chunk_by(|a, b| a == b).filter_map(move |chunk| {
            let from = at;
            at += chunk.len();
            (chunk[0] == 0).then(|| (address(from), address(at)))
        })
    }

    fn owner(&self, address: usize) -> u32 {
        self.owners[(address - self.start) / GRAIN]
    }

    fn set(&mut self, from: usize, to: usize, owner: u32) {
        let first = (from - self.start) / GRAIN;
        let last = (to - self.start).div_ceil(GRAIN).min(self.owners.len());
        self.owners[first..last].fill(owner);
    }
}

impl Native {
    /// Forgets who owns variables, except that those are shared which are known to be.
    pub(crate) fn forget_owners(&mut self) {
        let (from, to) = self.module.globals;
        self.owners = Owners::new((from, to));
        for (from, to) in self.layout.shared_in(from, to) {
            self.owners.set(from, to, SHARED);
        }
    }

    /// Whose memory it is that the current thread is about to access. If that cannot be, or was not known,
    /// the execution ends.
    #[inline]
    pub(crate) fn classify(&mut self, address: usize, size: usize) -> Result<Class, End> {
        if self.module.is_variable(address) {
            let (_, to) = self.module.globals;
            return self.classify_variable(address, size.min(to - address));
        }
        match self.slots.find(address) {
            Some((thread, part)) if thread == self.current => {
                self.classify_own(part, address, size)
            }
            Some((_, part)) => self.classify_foreign(part, address, size),
            None if address < NULL => {
                Err(self.failure(FindingKind::Crash, "a null pointer is followed"))
            }
            None => Ok(Class::Constant),
        }
    }

    fn classify_variable(&mut self, address: usize, size: usize) -> Result<Class, End> {
        let first = (address - self.owners.start) / GRAIN;
        let last = (address + size - 1 - self.owners.start) / GRAIN;
        let me = self.current.index() as u32 + 1;
        let mut is_shared = false;
        for grain in first..=last {
            match self.owners.owners[grain] {
                owner if owner == me => {}
                SHARED => is_shared = true,
                0 => self.own_variable(self.owners.start + grain * GRAIN, address),
                _ => return Err(self.share_variable(address, size)),
            }
        }
        // An access that touches several variables, of which one is shared.
        if is_shared && (first..=last).any(|grain| self.owners.owners[grain] != SHARED) {
            return Err(self.share_variable(address, size));
        }
        Ok(if is_shared { Class::Shared } else { Class::Own { is_on_stack: false } })
    }

    /// The variables, or grains, that an access touches.
    fn extent(&self, address: usize, size: usize) -> (usize, usize) {
        let (mut from, mut to) =
            (address / GRAIN * GRAIN, (address + size).next_multiple_of(GRAIN));
        for at in [address, address + size - 1] {
            if let Some(variable) = self.module.variable(at) {
                from = from.min(variable.start);
                to = to.max(variable.start + variable.size);
            }
        }
        (from.max(self.module.globals.0), to.min(self.module.globals.1))
    }

    fn own_variable(&mut self, grain: usize, address: usize) {
        let (from, to) = self.extent(grain.max(address), 1);
        let me = self.current.index() as u32 + 1;
        let (first, last) = self.module.globals;
        let mut at = from / GRAIN * GRAIN;
        while at < to {
            // Neighbours in the same grain may have owners already, or share it. Otherwise they come along.
            let is_nobodys = |&at: &usize| self.owners.owner(at) == 0;
            let end = at + GRAIN * (at..to).step_by(GRAIN).take_while(is_nobodys).count();
            if at < end {
                self.owners.set(at, end, me);
                self.thread_mut().owned.push((at.max(first), end.min(last)));
            }
            at = end + GRAIN;
        }
    }

    fn share_variable(&mut self, address: usize, size: usize) -> End {
        let (from, to) = self.extent(address, size);
        let (from, to) = (from / GRAIN * GRAIN, to.next_multiple_of(GRAIN));
        self.layout.share(from, to);
        self.again()
    }

    fn classify_own(&mut self, part: Part, address: usize, size: usize) -> Result<Class, End> {
        if let Part::Heap { is_zeroed } = part
            && let Err(wrong) = self.thread().heap.block(is_zeroed, address, size)
        {
            return Err(self.wrong_access(wrong));
        }
        if self.layout.is_shared(address, size) {
            return Ok(Class::Shared);
        }
        Ok(Class::Own { is_on_stack: part == Part::Stack })
    }

    fn classify_foreign(&mut self, part: Part, address: usize, size: usize) -> Result<Class, End> {
        let (from, to) = match part {
            Part::Stack | Part::Locals => {
                let from = address / STACK_GRAIN * STACK_GRAIN;
                (from, (address + size).next_multiple_of(STACK_GRAIN))
            }
            Part::Heap { .. } => match self.known_block(address) {
                Some((start, length)) if address + size <= start + length => {
                    (start, start + length)
                }
                block => {
                    let made = PlaceId::default();
                    let block = block.map(|(start, size)| Block { start, size, made, freed: None });
                    return Err(self.wrong_access(Wrong::Outside(block)));
                }
            },
        };
        let is_shared = |at: usize| self.layout.is_shared(at, 1);
        if (from..to).step_by(STACK_GRAIN).all(is_shared) {
            return Ok(Class::Shared);
        }
        self.share_slot(from, to);
        Err(self.again())
    }

    /// Shares a block, or some grains of a stack, each on its own.
    fn share_slot(&mut self, from: usize, to: usize) {
        if self.known_blocks.contains_key(&from) {
            self.layout.share(from, to);
            return;
        }
        for at in (from..to).step_by(STACK_GRAIN) {
            self.layout.share(at, at + STACK_GRAIN);
        }
    }

    /// Shares memory that is the thread's own.
    pub(crate) fn share_own(&mut self, address: usize, size: usize) {
        match self.slots.find(address) {
            None => {
                self.share_variable(address, size);
            }
            Some((_, Part::Heap { is_zeroed })) => {
                if let Ok(block) = self.thread().heap.block(is_zeroed, address, size) {
                    self.layout.share(block.start, block.start + block.size);
                }
            }
            Some((_, Part::Stack | Part::Locals)) => {
                let from = address / STACK_GRAIN * STACK_GRAIN;
                self.share_slot(from, (address + size).next_multiple_of(STACK_GRAIN));
            }
        }
    }

    /// The block of another thread at an address, or the nearest below: where it starts, and how large it is.
    fn known_block(&self, address: usize) -> Option<(usize, usize)> {
        let (&start, &size) = self.known_blocks.range(..=address).next_back()?;
        (self.slots.find(start)? == self.slots.find(address)?).then_some((start, size))
    }

    pub(crate) fn wrong_access(&mut self, wrong: Wrong) -> End {
        match wrong {
            Wrong::Freed(Block { freed, .. }) => {
                let place = self.places.place(freed.unwrap_or(0));
                let at = self.places.name(place);
                let message = format!("memory is used after it was freed at {at}");
                self.failure(FindingKind::UseAfterFree, &message)
            }
            Wrong::Outside(Some(Block { start, size, .. })) => {
                let address = self.thread().frame.arguments[0];
                let offset = address.wrapping_sub(start + size);
                let message = format!(
                    "an access beyond a block of memory: the block has {size} bytes, and the access \
                     is {offset} bytes behind its end"
                );
                self.failure(FindingKind::HeapOverflow, &message)
            }
            Wrong::Outside(None) => self
                .failure(FindingKind::HeapOverflow, "an access to the heap outside of any block"),
        }
    }
}
