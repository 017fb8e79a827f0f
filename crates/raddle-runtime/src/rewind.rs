//! A thread is taken back to its start, and nothing else runs again.
//!
//! Often the histories that are asked for, one after the other, differ in one thread only. To end the run for
//! that costs much: everything is cleaned up by unwinding, and the main thread has to make all threads
//! again. But the thread that ran last can be made to forget: its fiber is abandoned where it stands, and the
//! closure that it consists of, whose bytes were copied before it started, is there again.
//!
//! Nothing of what the thread did may then be left, and nothing that it owned may be gone. So it must only have
//! loaded, stored and updated atomic variables, without pointers, and without objects of its own; all that it
//! has allocated since must be freed, and nothing else. Threads write nothing without an op, or joins carry
//! histories (`around`), and then this is not done. The numbers of owners of an `Arc` are put back; a clone
//! that is still somewhere is a reason not to do it.
//!
//! What the thread owns may also be something outside of the run, such as a `std::sync::Arc` that the test's
//! closure captures; that would be dropped twice. So if its closure has to be dropped, no word in it or in
//! any block may look like the address of something unknown.
//!
//! What is not seen: a thread that moves what the run has made into static memory of its own. The documentation
//! of the crate `raddle` forbids that.
//!
//! Cost: a copy of the closure for each start, and a look at all blocks if it owns something. Rejected: to
//! copy stacks as well and go back to any question. A coroutine does not let us set where it stands.

use std::sync::OnceLock;

use raddle_core::execution::{MemoryOrder, ThreadId};
use raddle_core::program::{Answer, End, Op, OpKind};

use crate::native::Native;
use crate::state::{Context, State};

/// A thread that has started, and the run as it was before.
pub(crate) struct Start {
    thread: ThreadId,
    /// Whether the thread has only done what can be taken back.
    pure: bool,
    /// How many histories had been executed.
    live: usize,
    body: *mut dyn FnOnce(),
    bytes: Vec<u8>,
    /// How many blocks there were, and how many had been freed.
    blocks: (usize, usize),
    /// How many objects had been made in, or dropped from, memory of a thread, and how many kept.
    objects: (u64, usize),
    /// The numbers of owners of everything that is shared.
    owners: Vec<[usize; 2]>,
}

impl<F> Native<F> {
    /// Notes the run as it is before the thread starts, if it can be taken back to there.
    pub(crate) fn note_start(&mut self, thread: ThreadId, body: &mut Box<dyn FnOnce()>) {
        let state = &mut *self.context.state.borrow_mut();
        if state.settings.joins_carry
            || !is_self_contained(&self.context, state, thread, bytes_of(&**body))
        {
            self.starts.clear();
            return;
        }
        self.starts.push(Start {
            thread,
            pure: true,
            live: self.live.len(),
            bytes: bytes_of(&**body).to_vec(),
            body: &raw mut **body,
            blocks: self.context.heap.lengths(),
            objects: (state.objects, state.kept.len()),
            owners: state.counted.iter().map(|&at| owners_at(at)).collect(),
        });
    }

    /// Notes what the thread has done. If it is not the one that started last, no thread can be taken back.
    pub(crate) fn note_step(&mut self, thread: ThreadId, asked: Option<(&Op, Answer)>, end: &End) {
        let state = &mut *self.context.state.borrow_mut();
        match self.starts.last_mut() {
            Some(start) if start.thread == thread => {
                // What is no plain value is moved to where the joiner looks for it.
                let moves = *end == End::Finished && state.thread(thread).given.is_none();
                start.pure &= !moves
                    && asked.is_none_or(|(question, answer)| is_pure_question(question, answer))
                    && state.segment.iter().all(is_pure)
                    && !matches!(end, End::Failed(_))
                    && state.thread(thread).panics == 0;
            }
            _ => self.starts.clear(),
        }
    }

    /// Takes the thread that started last back to its start, if that is possible.
    pub(crate) fn rewind(&mut self) -> bool {
        let Some(start) =
            self.starts.pop_if(|start| start.pure && leaves_nothing(&self.context, start))
        else {
            return false;
        };
        let Some(mut running) = self.threads.pop() else { return false };
        debug_assert_eq!(running.thread, start.thread, "it started last");
        running.fiber.abandon(&mut self.stacks);
        running.spin.clear();
        self.spare.push(running.spin);
        self.live.truncate(start.live);
        self.context.heap.rewind(start.blocks, start.thread.index() as u32);
        let state = &mut *self.context.state.borrow_mut();
        for (&at, &owners) in state.counted.iter().zip(&start.owners) {
            // SAFETY: the block is there until the run ends, and begins with these two numbers.
            unsafe { (at as *mut [usize; 2]).write(owners) };
        }
        // SAFETY: the closure was consumed, or given up with the fiber. Its memory has not been given back,
        // and it is filled with the bytes that it had; what they own is still there, as was seen above.
        let body = unsafe {
            std::ptr::copy_nonoverlapping(
                start.bytes.as_ptr(),
                start.body.cast(),
                start.bytes.len(),
            );
            Box::from_raw(start.body)
        };
        state.thread(start.thread).start_again(body);
        self.executions += 1;
        true
    }
}

fn bytes_of<T: ?Sized>(object: &T) -> &[u8] {
    let from = std::ptr::from_ref(object).cast();
    // SAFETY: this is the memory of the object. Bytes that are not initialised are only copied.
    unsafe { std::slice::from_raw_parts(from, size_of_val(object)) }
}

fn owners_at(address: usize) -> [usize; 2] {
    // SAFETY: the address is that of an `Arc` of the run, which begins with two numbers.
    unsafe { (address as *const [usize; 2]).read() }
}

/// Whether an effect can be taken back.
fn is_pure(effect: &Op) -> bool {
    match effect.kind {
        OpKind::Init { .. } | OpKind::Fence { .. } | OpKind::StoreFence => true,
        OpKind::Store { order, carries, .. } => order != MemoryOrder::NonAtomic && !carries,
        _ => false,
    }
}

/// Whether a question, with its answer, can be taken back.
fn is_pure_question(question: &Op, answer: Answer) -> bool {
    let is_atomic = match question.kind {
        OpKind::Load { order, .. } => order != MemoryOrder::NonAtomic,
        OpKind::Rmw { .. } | OpKind::CompareExchange { .. } => !question.carries(),
        OpKind::Choose { .. } => true,
        _ => false,
    };
    is_atomic && matches!(answer, Answer::Value(_) | Answer::Spurious(_) | Answer::Choice(_))
}

/// Whether all is as it was before the thread started, but for what is put back.
fn leaves_nothing(context: &Context, start: &Start) -> bool {
    let state = &*context.state.borrow();
    let is_not_more = |(&at, before): (&usize, &[usize; 2])| {
        let now = owners_at(at);
        now[0] <= before[0] && now[1] <= before[1]
    };
    (state.objects, state.kept.len()) == start.objects
        && context.heap.leaves_nothing(start.blocks, start.body.cast::<u8>().addr())
        && state.counted.iter().zip(&start.owners).all(is_not_more)
}

/// Whether what the thread owns, if anything, is all in the run.
fn is_self_contained(context: &Context, state: &mut State, thread: ThreadId, body: &[u8]) -> bool {
    let it = state.thread(thread);
    if !it.owns {
        return true;
    }
    if let Some(known) = it.is_self_contained {
        return known;
    }
    let mut blocks = vec![];
    context.heap.for_each(|from, length| blocks.push((from, length)));
    let contained = has_no_stranger(context, state, body)
        && blocks.into_iter().all(|(from, length)| {
            // SAFETY: nothing is freed before the run ends, and blocks are initialised.
            let block = unsafe { std::slice::from_raw_parts(from as *const u8, length) };
            has_no_stranger(context, state, block)
        });
    state.thread(thread).is_self_contained = Some(contained);
    contained
}

/// Whether no word of the memory looks like an address outside of the run.
fn has_no_stranger(context: &Context, state: &State, memory: &[u8]) -> bool {
    let from = memory.as_ptr().addr();
    memory.chunks_exact(8).enumerate().all(|(at, bytes)| {
        let word = usize::from_ne_bytes(bytes.try_into().unwrap_or_default());
        // There is no memory below and above.
        let is_number = !(1 << 16..1 << 47).contains(&word);
        is_number || state.is_tag(from + at * 8) || is_known_address(context, state, word)
    })
}

fn is_known_address(context: &Context, state: &State, word: usize) -> bool {
    context.heap.find(word).is_some()
        || state.is_on_stack(word)
        || objects().iter().any(|&(from, to)| (from..to).contains(&word))
}

/// The program and the libraries that are loaded: code, constants and static memory.
fn objects() -> &'static [(usize, usize)] {
    static OBJECTS: OnceLock<Vec<(usize, usize)>> = OnceLock::new();
    OBJECTS.get_or_init(|| {
        let mut objects = vec![];
        // SAFETY: the callback has the right signature, and the list lives as long as the call.
        unsafe { libc::dl_iterate_phdr(Some(add_object), (&raw mut objects).cast()) };
        objects
    })
}

unsafe extern "C" fn add_object(
    info: *mut libc::dl_phdr_info,
    _size: usize,
    objects: *mut libc::c_void,
) -> libc::c_int {
    // SAFETY: the system hands in a valid description, and the list is what `objects` passes.
    unsafe {
        let objects = &mut *objects.cast::<Vec<(usize, usize)>>();
        for at in 0..usize::from((*info).dlpi_phnum) {
            let header = &*(*info).dlpi_phdr.add(at);
            if header.p_type == libc::PT_LOAD {
                let from = (*info).dlpi_addr as usize + header.p_vaddr as usize;
                objects.push((from, from + header.p_memsz as usize));
            }
        }
    }
    0
}
