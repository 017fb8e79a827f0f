//! A queue (Michael and Scott). Nodes are freed with it.
//!
//! Bug: a node is linked by a store in place of a compare-exchange.

use crate::sync::atomic::{AtomicPtr, Ordering::*};
use crate::sync::UnsafeCell;
use std::ptr::null_mut;

struct Node {
    value: UnsafeCell<u32>,
    next: AtomicPtr<Node>,
}

impl Node {
    fn alloc(value: u32) -> *mut Node {
        let (value, next) = (UnsafeCell::new(value), AtomicPtr::new(null_mut()));
        Box::into_raw(Box::new(Node { value, next }))
    }
}

pub(crate) struct Queue<const BROKEN: bool> {
    first: *mut Node,
    head: AtomicPtr<Node>,
    tail: AtomicPtr<Node>,
}

unsafe impl<const BROKEN: bool> Send for Queue<BROKEN> {}
unsafe impl<const BROKEN: bool> Sync for Queue<BROKEN> {}

impl<const BROKEN: bool> Queue<BROKEN> {
    pub(crate) fn new() -> Self {
        let first = Node::alloc(0);
        Queue { first, head: AtomicPtr::new(first), tail: AtomicPtr::new(first) }
    }

    fn link(&self, tail: &Node, node: *mut Node) -> bool {
        if BROKEN {
            let is_last = tail.next.load(Acquire).is_null();
            if is_last {
                tail.next.store(node, Release);
            }
            return is_last;
        }
        tail.next.compare_exchange(null_mut(), node, Release, Relaxed).is_ok()
    }

    pub(crate) fn push(&self, value: u32) {
        let node = Node::alloc(value);
        loop {
            let tail = self.tail.load(Acquire);
            if self.link(unsafe { &*tail }, node) {
                let _ = self.tail.compare_exchange(tail, node, Release, Relaxed);
                return;
            }
            let next = unsafe { &*tail }.next.load(Acquire);
            let _ = self.tail.compare_exchange(tail, next, Release, Relaxed);
        }
    }

    pub(crate) fn pop(&self) -> Option<u32> {
        loop {
            let head = self.head.load(Acquire);
            let next = unsafe { &*head }.next.load(Acquire);
            if next.is_null() {
                return None;
            }
            if self.head.compare_exchange(head, next, AcqRel, Relaxed).is_ok() {
                return Some(unsafe { &*next }.value.with(|value| unsafe { *value }));
            }
        }
    }
}

impl<const BROKEN: bool> Drop for Queue<BROKEN> {
    fn drop(&mut self) {
        let mut node = self.first;
        while !node.is_null() {
            let node_ = unsafe { Box::from_raw(node) };
            node = node_.next.load(Acquire);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::{model, thread, Arc};

    fn two_push_one_pops<const BROKEN: bool>() {
        model(|| {
            let queue = Arc::new(Queue::<BROKEN>::new());
            let threads = [1, 2].map(|value| {
                let queue = queue.clone();
                thread::spawn(move || queue.push(value))
            });
            let popped = queue.pop();
            threads.map(|thread| thread.join().unwrap());
            let rest: u32 = std::iter::from_fn(|| queue.pop()).sum();
            assert_eq!(popped.unwrap_or(0) + rest, 3);
        });
    }

    #[test]
    fn right() {
        two_push_one_pops::<false>();
    }

    #[test]
    fn broken() {
        two_push_one_pops::<true>();
    }
}
