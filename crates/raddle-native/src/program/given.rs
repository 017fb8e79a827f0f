//! Memory that threads get from their creator: what their argument points to.
//!
//! *Problem.* `std::thread` passes a block with what its function has captured; a program in C passes a structure of its own
//! for each thread. So threads that do the same have different arguments.
//!
//! *Idea.* The block of the argument, and the shared blocks that the creator has allocated since it started the thread
//! before, belong to the thread. A block of one thread corresponds to that of the same size and the same position from the
//! end in the list of another one. Blocks that no other thread uses (a vector of handles that grows) are not shared, and what the
//! creator has allocated before it started the first thread has no counterpart. All of this is a guess: explorers compare what the
//! creator writes there, and what the threads do with it.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, BuildHasherDefault};

use raddle_core::execution::{LocationId, ThreadId};
use raddle_core::program::ThreadExchange;
use rustc_hash::{FxHashMap, FxHasher};

use super::NativeProgram;
use super::heap::heap_owner;
use super::names::Start;

/// What a block is for its thread: its size, and how many blocks of that size come later in the list; `None` for the block of
/// the argument.
type Role = (u64, Option<usize>);

/// The blocks that threads of groups have got, if all of the group have a block with that role.
#[derive(Debug, Default)]
pub(super) struct GivenMemory {
    /// By start: size, thread and role.
    blocks: BTreeMap<u64, (u64, ThreadId, Role)>,
    by_role: FxHashMap<(ThreadId, Role), u64>,
}

impl GivenMemory {
    /// The shared blocks of the threads of these groups.
    pub(super) fn new(program: &NativeProgram, groups: &[Vec<ThreadId>]) -> Self {
        let mut given = GivenMemory::default();
        let is_shared = |(start, size): (u64, u64)| program.layout.is_shared(start, size.max(1));
        for group in groups {
            given.add(program, group, is_shared);
        }
        given
    }

    /// The blocks of two threads, whether they are shared or not.
    pub(super) fn of_pair(program: &NativeProgram, first: ThreadId, second: ThreadId) -> Self {
        let mut given = GivenMemory::default();
        given.add(program, &[first, second], |_| true);
        given
    }

    fn add(
        &mut self,
        program: &NativeProgram,
        group: &[ThreadId],
        counts: impl Fn((u64, u64)) -> bool,
    ) {
        let roles = |&thread: &ThreadId| program.roles(thread, group, &counts);
        let of_threads: Vec<BTreeMap<Role, u64>> = group.iter().map(roles).collect();
        for (&thread, roles) in group.iter().zip(&of_threads) {
            for (&role, &start) in roles {
                if of_threads.iter().all(|roles| roles.contains_key(&role)) {
                    self.blocks.insert(start, (role.0, thread, role));
                    self.by_role.insert((thread, role), start);
                }
            }
        }
    }

    /// The block at an address: its start, its thread and its role.
    fn at(&self, address: u64) -> Option<(u64, ThreadId, Role)> {
        let (&start, &(size, thread, role)) = self.blocks.range(..=address).next_back()?;
        (address - start <= size).then_some((start, thread, role))
    }

    /// The thread that has got the block at an address.
    pub(super) fn receiver(&self, address: u64) -> Option<ThreadId> {
        self.at(address).map(|(_, thread, _)| thread)
    }

    /// The blocks of a thread: their starts and ends.
    pub(super) fn blocks_of(&self, thread: ThreadId) -> impl Iterator<Item = (u64, u64)> {
        let blocks = self.blocks.iter().filter(move |&(_, &(_, of, _))| of == thread);
        blocks.map(|(&start, &(size, ..))| (start, start + size))
    }

    /// The address that corresponds to an address in a block.
    pub(super) fn exchanged(&self, threads: ThreadExchange, address: u64) -> Option<u64> {
        let (start, thread, role) = self.at(address)?;
        let other = self.by_role.get(&(threads.of(thread), role))?;
        Some(other + (address - start))
    }
}

impl NativeProgram {
    /// Threads with the same function, library data and kind of block as argument have the same shape.
    pub(super) fn shape_of_thread(&self, thread: ThreadId) -> Option<u64> {
        let start = self.names.start(thread)?;
        let (block, size) = self.argument_block(start)?;
        let Start { function, argument, library, .. } = start;
        let hasher = BuildHasherDefault::<FxHasher>::default();
        let shape = (function, library, size, argument - block);
        self.settings.symmetry.then(|| hasher.hash_one(shape))
    }

    /// The block of the parent that the argument of a thread is in: its start and size.
    fn argument_block(&self, start: Start) -> Option<(u64, u64)> {
        let Start { parent, argument, .. } = start;
        let is_parents = heap_owner(argument) == Some(parent.index());
        self.heap_regions.block_at(argument).filter(|_| is_parents)
    }

    /// The number of the list of blocks that the current thread has allocated for the thread that it spawns now.
    pub(super) fn blocks_for_thread(&mut self, argument: u64) -> u32 {
        if heap_owner(argument) != Some(self.current.index()) || !self.settings.symmetry {
            return 0;
        }
        let own = &self.thread().own;
        let blocks = own.heap.blocks_since(own.blocks_at_spawn);
        self.names.list(blocks)
    }

    /// The blocks that a thread of a group has got, by role. Of the list of its creator only some count.
    fn roles(
        &self,
        thread: ThreadId,
        group: &[ThreadId],
        counts: impl Fn((u64, u64)) -> bool,
    ) -> BTreeMap<Role, u64> {
        let mut roles = BTreeMap::new();
        let Some(start) = self.names.start(thread) else { return roles };
        let Some((argument, size)) = self.argument_block(start) else { return roles };
        let starts = group.iter().filter_map(|&thread| self.names.start(thread));
        let arguments: Vec<u64> =
            starts.filter_map(|start| Some(self.argument_block(start)?.0)).collect();
        if arguments.iter().filter(|&&it| it == argument).count() > 1 {
            return roles;
        }
        roles.insert((size, None), argument);
        let mut later: FxHashMap<u64, usize> = FxHashMap::default();
        let list = self.names.blocks(start).iter().rev();
        for &(start, size) in list.filter(|&&block| counts(block) && !arguments.contains(&block.0))
        {
            let count = later.entry(size).or_default();
            roles.insert((size, Some(*count)), start);
            *count += 1;
        }
        roles
    }

    /// The thread that has got the block of a location.
    pub(super) fn receiver_of(&self, location: LocationId) -> Option<ThreadId> {
        let location = self.layout.all.get(location.index())?;
        location.kind.is_memory().then(|| self.given.receiver(location.address)).flatten()
    }
}
