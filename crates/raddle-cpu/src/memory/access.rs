//! Accesses on behalf of a thread: checked, classified, logged.
//!
//! The paths that are inlined into micro-operations ([`Memory::try_load`], [`Memory::try_store`]) contain no calls, so the functions of
//! micro-operations need no stack frames. What they cannot do at once they leave to the cold paths.

use super::layout::{END, PAGE};
use super::pages::SIZE;
use super::state::{READ_ONLY, State, Thread, Unmapped};
use super::tlb::{Entry, MIXED};
use super::undo::{self, Extra};
use super::{Denied, FaultKind, Memory};

impl Memory {
    /// Loads `N` bytes if the cache knows that the running thread may.
    #[inline(always)]
    pub(crate) fn try_load<const N: usize>(&self, address: u64) -> Option<[u8; N]> {
        let last = address.wrapping_add(N as u64 - 1) / PAGE;
        let entry = self.view.tlb.entry(address / PAGE);
        let offset = (address % PAGE) as usize;
        if entry.read != last && !(entry.read == last | MIXED && self.is_own::<N>(entry, offset)) {
            return None;
        }
        let start = entry.frame as usize * SIZE + offset;
        self.pages.data.get(start..start + N)?.try_into().ok()
    }

    /// Stores `N` bytes (1, 2, 4 or a multiple of 8) if the cache knows that the running thread may. Returns whether it did.
    #[inline(always)]
    pub(crate) fn try_store<const N: usize>(&mut self, address: u64, bytes: [u8; N]) -> bool {
        let last = address.wrapping_add(N as u64 - 1) / PAGE;
        let entry = *self.view.tlb.entry(address / PAGE);
        let offset = (address % PAGE) as usize;
        if entry.write != last && !(entry.write == last | MIXED && self.is_own::<N>(&entry, offset))
        {
            return false;
        }
        let start = entry.frame as usize * SIZE + offset;
        let Some(place) = self.pages.data.get_mut(start..start + N) else { return false };
        let log = &mut self.view.log;
        if address.wrapping_sub(log.stack_start) >= log.log_from {
            let words = N.div_ceil(8);
            let Some(entries) = log.entries.get_mut(log.len..log.len + words) else {
                return false;
            };
            for (index, entry) in entries.iter_mut().enumerate() {
                let part = place.get(index * 8..).unwrap_or(&[]);
                let size = N.min(8);
                *entry = undo::Entry::write(address + index as u64 * 8, size, word(&part[..size]));
            }
            log.len += words;
        }
        place.copy_from_slice(&bytes);
        true
    }

    /// Whether the running thread owns all `N` bytes at `offset` of a page with mixed states.
    #[inline(always)]
    fn is_own<const N: usize>(&self, entry: &Entry, offset: usize) -> bool {
        let start = entry.shadow as usize * SIZE + offset;
        self.pages.shadows.get(start..start + N).is_some_and(|states| {
            <&[u8; N]>::try_from(states).is_ok_and(|states| *states == [self.view.own; N])
        })
    }

    /// Makes `thread` the running one.
    pub(crate) fn run_as(&mut self, thread: Thread) {
        self.select(thread);
    }

    /// Hides the cache of the running thread, so that [`Self::try_load`] and [`Self::try_store`] always fail, or shows it again.
    pub(crate) fn hide_cache(&mut self, is_hidden: bool) {
        self.view.hide(is_hidden);
    }

    /// Checks that the running thread may read without asking.
    pub(crate) fn check_read(&self, address: u64, size: u64) -> Result<(), Denied> {
        self.check(address, size, false)
    }

    /// Checks that the running thread may write without asking.
    pub(crate) fn check_write(&self, address: u64, size: u64) -> Result<(), Denied> {
        self.check(address, size, true)
    }

    /// Loads bytes on behalf of `thread`. Nothing is loaded unless all bytes may be read without asking.
    pub fn load(&mut self, thread: Thread, address: u64, bytes: &mut [u8]) -> Result<(), Denied> {
        self.select(thread);
        if let Ok(place) = <&mut [u8; 8]>::try_from(&mut *bytes)
            && let Some(loaded) = self.try_load(address)
        {
            *place = loaded;
            return Ok(());
        }
        self.load_slow(address, bytes)
    }

    /// Stores bytes on behalf of `thread`: logged, and undone when the thread goes back. Nothing is stored unless all bytes
    /// are private to the thread.
    pub fn store(&mut self, thread: Thread, address: u64, bytes: &[u8]) -> Result<(), Denied> {
        self.select(thread);
        if let Ok(bytes) = <[u8; 8]>::try_from(bytes)
            && self.try_store(address, bytes)
        {
            return Ok(());
        }
        self.store_slow(address, bytes)
    }

    /// Loads bytes on behalf of the running thread.
    #[cold]
    #[inline(never)]
    pub(crate) fn load_slow(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), Denied> {
        self.check(address, bytes.len() as u64, false)?;
        let mut done = 0;
        while done < bytes.len() {
            let at = address + done as u64;
            let offset = (at % PAGE) as usize;
            let len = (bytes.len() - done).min(SIZE - offset);
            let contents = &self.pages.contents(at / PAGE)[offset..offset + len];
            bytes[done..done + len].copy_from_slice(contents);
            self.cache(at / PAGE, false);
            done += len;
        }
        Ok(())
    }

    /// Stores bytes on behalf of the running thread.
    #[cold]
    #[inline(never)]
    pub(crate) fn store_slow(&mut self, address: u64, bytes: &[u8]) -> Result<(), Denied> {
        self.check(address, bytes.len() as u64, true)?;
        let mut done = 0;
        while done < bytes.len() {
            let at = address + done as u64;
            let offset = (at % PAGE) as usize;
            let len = (bytes.len() - done).min(SIZE - offset);
            self.store_in_page(at, &bytes[done..done + len]);
            done += len;
        }
        Ok(())
    }

    fn store_in_page(&mut self, address: u64, bytes: &[u8]) {
        let (number, offset) = (address / PAGE, (address % PAGE) as usize);
        let default = self.default_state(number);
        if self.view.log.make_room() {
            self.view.cache().forget_writes();
        }
        if self.view.log.must_copy(number) {
            let is_written = self.pages.get(number).is_some_and(|page| page.frame != 0);
            let contents = if is_written { self.pages.contents(number) } else { &[] }.into();
            self.view.log.push_extra(Extra::Page(number, contents));
        }
        let is_logged = self.view.log.log_from != u64::MAX;
        let place = &mut self.pages.contents_mut(number, default)[offset..offset + bytes.len()];
        if is_logged {
            for (index, part) in place.chunks(8).enumerate() {
                let at = address + index as u64 * 8;
                let log = &mut self.view.log;
                if at.wrapping_sub(log.stack_start) >= log.log_from {
                    log.push(undo::Entry::write(at, part.len(), word(part)));
                }
            }
        }
        place.copy_from_slice(bytes);
        self.cache(number, true);
    }

    /// Enters a page in the cache of the running thread; for writing only if it has a frame and no copy is due.
    fn cache(&mut self, number: u64, is_written: bool) {
        let own = self.view.own;
        let page = self.pages.get(number);
        let state = page.map_or_else(|| self.default_state(number), |page| page.state);
        let (frame, shadow) = page.map_or((0, 0), |page| (page.frame, page.shadow));
        let tag = if shadow != 0 { number | MIXED } else { number };
        if shadow == 0 && state != own && state != READ_ONLY {
            return;
        }
        let mut entry = Entry { read: tag, write: tag, frame, shadow };
        let may_write = shadow != 0 || state == own;
        if frame == 0 || !may_write || (self.view.log.is_copying() && !is_written) {
            entry = entry.without_write();
        }
        if is_written {
            // Other threads may have cached that the page reads as zeros.
            self.forget(number);
        }
        self.view.cache().set(number, entry);
    }

    /// Whether the running thread may make an access without asking.
    fn check(&self, address: u64, size: u64, write: bool) -> Result<(), Denied> {
        let mut seen = Seen::default();
        let end = address.checked_add(size).filter(|end| *end <= END);
        let Some(end) = end else {
            return Err(self.unmapped(Unmapped::Nothing, address, size, write));
        };
        let mut at = address;
        while at < end {
            let (code, next) = self.run(at, end);
            match State::decode(code) {
                State::Unmapped(reason) => return Err(self.unmapped(reason, at, size, write)),
                State::ReadOnly if write => {
                    return Err(Denied::Fault(self.fault(FaultKind::ReadOnly, at, size, true)));
                }
                state => seen.add(at, state, code == self.view.own),
            }
            at = next;
        }
        seen.verdict()
    }

    /// Writes back what a logged write replaced.
    pub(super) fn restore_word(&mut self, address: u64, size: usize, old: u64) {
        let (number, offset) = (address / PAGE, (address % PAGE) as usize);
        let entry = *self.view.cache().entry(number);
        let frame = if entry.write & !MIXED == number {
            entry.frame
        } else {
            let default = self.default_state(number);
            self.pages.frame(number, default)
        };
        let start = frame as usize * SIZE + offset;
        if let (Some(place), Some(bytes)) =
            (self.pages.data.get_mut(start..start + size), old.to_le_bytes().get(..size))
        {
            place.copy_from_slice(bytes);
        }
    }

    /// Whether all bytes are read-only: their contents are constants of translated code.
    pub fn is_constant(&self, address: u64, size: u64) -> bool {
        (0..size).all(|index| {
            let at = address.wrapping_add(index);
            at < END && self.state_code(at) == READ_ONLY
        })
    }
}

/// The states that an access has touched so far.
#[derive(Default)]
struct Seen {
    shared: bool,
    own: Option<(u64, State)>,
    foreign: Option<(u64, State)>,
}

impl Seen {
    fn add(&mut self, address: u64, state: State, is_own: bool) {
        match state {
            State::Private(_) if is_own => self.own = self.own.or(Some((address, state))),
            State::Private(_) => self.foreign = self.foreign.or(Some((address, state))),
            State::Shared => self.shared = true,
            State::ReadOnly | State::Unmapped(_) => {}
        }
    }

    fn verdict(self) -> Result<(), Denied> {
        match self {
            Seen { foreign: Some((address, state)), .. }
            | Seen { shared: true, own: Some((address, state)), .. } => {
                Err(Denied::Owned(address, state))
            }
            Seen { shared: true, .. } => Err(Denied::Shared),
            _ => Ok(()),
        }
    }
}

/// Up to eight bytes as a little-endian number.
#[inline(always)]
fn word(bytes: &[u8]) -> u64 {
    match *bytes {
        [a] => a.into(),
        [a, b] => u16::from_le_bytes([a, b]).into(),
        [a, b, c, d] => u32::from_le_bytes([a, b, c, d]).into(),
        [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)),
    }
}
