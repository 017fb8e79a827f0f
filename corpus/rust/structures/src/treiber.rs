//! A stack (Treiber). Nodes are freed with it.
//!
//! Bug: a push does not release what it has written.

use crate::sync::atomic::{AtomicPtr, Ordering::*};
use crate::sync::UnsafeCell;
use std::ptr::null_mut;

struct Node {
    value: UnsafeCell<u32>,
    next: *mut Node,
    /// The node that was allocated before.
    older: *mut Node,
}

pub(crate) struct Stack<const BROKEN: bool> {
    head: AtomicPtr<Node>,
    /// All nodes.
    newest: AtomicPtr<Node>,
}

unsafe impl<const BROKEN: bool> Send for Stack<BROKEN> {}
unsafe impl<const BROKEN: bool> Sync for Stack<BROKEN> {}

impl<const BROKEN: bool> Stack<BROKEN> {
    pub(crate) fn new() -> Self {
        Stack { head: AtomicPtr::new(null_mut()), newest: AtomicPtr::new(null_mut()) }
    }

    pub(crate) fn push(&self, value: u32) {
        let node = Box::into_raw(Box::new(Node {
            value: UnsafeCell::new(value),
            next: null_mut(),
            older: null_mut(),
        }));
        let order = if BROKEN { Relaxed } else { Release };
        let mut head = self.head.load(Relaxed);
        loop {
            unsafe { (*node).next = head };
            match self.head.compare_exchange(head, node, order, Relaxed) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    pub(crate) fn pop(&self) -> Option<u32> {
        let mut head = self.head.load(Acquire);
        loop {
            if head.is_null() {
                return None;
            }
            let next = unsafe { (*head).next };
            match self.head.compare_exchange(head, next, Acquire, Acquire) {
                Ok(_) => break,
                Err(now) => head = now,
            }
        }
        let value = unsafe { (*head).value.with(|value| *value) };
        self.retire(head);
        Some(value)
    }

    fn retire(&self, node: *mut Node) {
        let mut newest = self.newest.load(Relaxed);
        loop {
            unsafe { (*node).older = newest };
            match self.newest.compare_exchange(newest, node, Release, Relaxed) {
                Ok(_) => return,
                Err(now) => newest = now,
            }
        }
    }
}

impl<const BROKEN: bool> Drop for Stack<BROKEN> {
    fn drop(&mut self) {
        while self.pop().is_some() {}
        let mut node = self.newest.load(Acquire);
        while !node.is_null() {
            let node_ = unsafe { Box::from_raw(node) };
            node = node_.older;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::{model, thread, Arc};

    fn two_push_one_pops<const BROKEN: bool>() {
        model(|| {
            let stack = Arc::new(Stack::<BROKEN>::new());
            let threads = [1, 2].map(|value| {
                let stack = stack.clone();
                thread::spawn(move || stack.push(value))
            });
            let popped = stack.pop();
            threads.map(|thread| thread.join().unwrap());
            let rest: u32 = std::iter::from_fn(|| stack.pop()).sum();
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
