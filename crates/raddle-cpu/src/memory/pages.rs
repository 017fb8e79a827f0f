//! The page table: frames with contents, and states of bytes.
//!
//! A page has a frame once it is written; until then it reads as zeros (frame 0). As long as all of its bytes have one state the
//! page stores that state only; otherwise it has a shadow frame with a state per byte. Frames are numbered slots of one
//! vector each, so nothing is reserved beyond what is used, and a frame is found by an index that safe code checks once.
//!
//! Every thread may have its own copy of some pages. Those of other threads than the main one have a key of their own in the table.

use super::layout::PAGE;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Bytes per page as an index.
pub(crate) const SIZE: usize = PAGE as usize;

/// A page: its contents and states.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Page {
    /// Frame with the contents; 0 if the page was never written.
    pub(crate) frame: u32,
    /// Frame with a state per byte; 0 if all bytes have `state`.
    pub(crate) shadow: u32,
    /// The state of all bytes if `shadow` is 0.
    pub(crate) state: u8,
}

/// All pages that differ from the default of their region.
#[derive(Clone, Debug)]
pub(crate) struct Pages {
    /// Contents by frame. Frame 0 is all zeros and never written.
    pub(crate) data: Vec<u8>,
    /// States by shadow frame. Frame 0 is not used.
    pub(crate) shadows: Vec<u8>,
    free_shadows: Vec<u32>,
    /// Pages by number, or by number and thread.
    table: FxHashMap<u64, Page>,
    /// Numbers of the pages of which every thread has its own, ascending.
    copied: Vec<Range<u64>>,
    /// Index of the thread whose pages are seen.
    thread: usize,
}

/// Bits of a page number.
const NUMBER_BITS: u32 = 36;

impl Default for Pages {
    fn default() -> Self {
        Pages {
            data: vec![0; SIZE],
            shadows: vec![0; SIZE],
            free_shadows: Vec::new(),
            table: FxHashMap::default(),
            copied: Vec::new(),
            thread: 0,
        }
    }
}

/// Pages of which every thread has its own.
impl Pages {
    /// From now on the pages of this thread are seen.
    pub(crate) fn select(&mut self, thread: usize) {
        self.thread = thread;
    }

    /// Lets every thread have its own copies of these pages, which must not be used yet by other threads than the main one.
    pub(crate) fn set_copied(&mut self, mut numbers: Vec<Range<u64>>) {
        numbers.sort_by_key(|range| range.start);
        self.copied = numbers;
    }

    /// The numbers of the pages of which every thread has its own.
    pub(crate) fn copied(&self) -> impl Iterator<Item = u64> + use<> {
        self.copied.clone().into_iter().flatten()
    }

    /// The key of a page of the thread whose pages are seen.
    fn key(&self, number: u64) -> u64 {
        if self.thread == 0 {
            return number;
        }
        let index = self.copied.partition_point(|range| range.end <= number);
        match self.copied.get(index) {
            Some(range) if range.contains(&number) => number | (self.thread as u64) << NUMBER_BITS,
            _ => number,
        }
    }
}

impl Pages {
    /// The page of this number, if it differs from the default of its region.
    pub(crate) fn get(&self, number: u64) -> Option<Page> {
        self.table.get(&self.key(number)).copied()
    }

    /// The contents of the page of this number.
    pub(crate) fn contents(&self, number: u64) -> &[u8] {
        let start = self.get(number).map_or(0, |page| page.frame as usize * SIZE);
        &self.data[start..start + SIZE]
    }

    /// The contents of a page for writing. Creates its frame; `default` is the state of a page without an entry.
    pub(crate) fn contents_mut(&mut self, number: u64, default: u8) -> &mut [u8] {
        let start = self.frame(number, default) as usize * SIZE;
        &mut self.data[start..start + SIZE]
    }

    /// The frame of a page for writing, created if there is none.
    pub(crate) fn frame(&mut self, number: u64, default: u8) -> u32 {
        let key = self.key(number);
        let page = self.table.entry(key).or_insert(Page { frame: 0, shadow: 0, state: default });
        if page.frame == 0 {
            page.frame = add_frame(&mut self.data);
        }
        page.frame
    }

    /// Sets the states of the bytes `from..to` of a page.
    pub(crate) fn set_states(
        &mut self,
        number: u64,
        from: usize,
        to: usize,
        code: u8,
        default: u8,
    ) {
        let key = self.key(number);
        let page = self.table.entry(key).or_insert(Page { frame: 0, shadow: 0, state: default });
        if from == 0 && to == SIZE {
            page.state = code;
            if page.shadow != 0 {
                self.free_shadows.push(std::mem::take(&mut page.shadow));
            }
            return;
        }
        if page.shadow == 0 {
            if page.state == code {
                return;
            }
            page.shadow = self.free_shadows.pop().unwrap_or_else(|| add_frame(&mut self.shadows));
            let start = page.shadow as usize * SIZE;
            self.shadows[start..start + SIZE].fill(page.state);
        }
        let start = page.shadow as usize * SIZE;
        self.shadows[start + from..start + to].fill(code);
    }

    /// The pages of a range that have an entry.
    pub(crate) fn touched(&self, numbers: Range<u64>) -> Vec<u64> {
        if numbers.end - numbers.start > self.table.len() as u64 {
            let keys = self.table.keys().map(|key| (*key, key & ((1 << NUMBER_BITS) - 1)));
            let seen =
                keys.filter(|(key, number)| numbers.contains(number) && self.key(*number) == *key);
            return seen.map(|(_, number)| number).collect();
        }
        numbers.filter(|number| self.table.contains_key(&self.key(*number))).collect()
    }

    /// The state of a byte of a page that has an entry.
    pub(crate) fn state(&self, page: Page, offset: usize) -> u8 {
        if page.shadow == 0 {
            page.state
        } else {
            self.shadows[page.shadow as usize * SIZE + offset]
        }
    }
}

impl Pages {
    /// The state of byte `from` of a page, and how many of the bytes `from..to` have it in a row.
    pub(crate) fn run(&self, page: Page, from: usize, to: usize) -> (u8, usize) {
        if page.shadow == 0 {
            return (page.state, to - from);
        }
        let start = page.shadow as usize * SIZE;
        let states = &self.shadows[start + from..start + to];
        (states[0], states.iter().take_while(|state| **state == states[0]).count())
    }
}

fn add_frame(frames: &mut Vec<u8>) -> u32 {
    let index = frames.len() / SIZE;
    if frames.len() == frames.capacity() {
        // Grow by a quarter: the process may be limited to little more than what it uses.
        frames.reserve_exact((frames.len() / 4).max(64 * SIZE));
    }
    frames.resize(frames.len() + SIZE, 0);
    index as u32
}
