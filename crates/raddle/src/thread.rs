//! Replacement for [`std::thread`].
//!
//! A panic in any thread is a bug that ends the exploration, so `join` never returns an error. Spawning a thread
//! happens before its first operation, and its last operation happens before the return of `join`.

use std::any::Any;
use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::mem;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use raddle_core::program::Guard;
use raddle_runtime::{Caller, ops};

use crate::plain;

type Id = raddle_core::execution::ThreadId;

/// Result of a thread, filled when the thread finishes. `None` if the result type is plain: the answer to the
/// join then encodes the result (see [`plain`]).
type Packet<T> = Option<Arc<Mutex<Option<T>>>>;

/// Handle to a thread, like [`std::thread::Thread`].
#[derive(Clone, Debug)]
pub struct Thread {
    id: Id,
    name: Option<Arc<str>>,
}

/// Identity of a thread, like [`std::thread::ThreadId`]. It is unique within one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ThreadId(Id);

impl Thread {
    fn new(id: Id) -> Self {
        Thread { id, name: ops::name_of(id).map(Arc::from) }
    }

    /// Returns the identity of the thread.
    #[must_use]
    pub fn id(&self) -> ThreadId {
        ThreadId(self.id)
    }

    /// Returns the name of the thread. The main thread of a test is called `main`.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        if self.id.index() == 0 { Some("main") } else { self.name.as_deref() }
    }

    /// Makes the token of the thread available. Synchronizes with the [`park`] that consumes it.
    #[track_caller]
    pub fn unpark(&self) {
        ops::sync_token(self.id, Guard::Always, ops::set_to(1), Location::caller());
    }
}

/// Returns a handle to the current thread.
#[must_use]
pub fn current() -> Thread {
    Thread::new(ops::current_thread())
}

/// Blocks until the token of the current thread is available, and consumes it.
///
/// There are no spurious wake-ups, so a lost wake-up is reported as a deadlock.
#[track_caller]
pub fn park() {
    ops::sync_token(ops::current_thread(), Guard::Equal(1), ops::set_to(0), Location::caller());
}

/// Consumes the token of the current thread if it is available. Never blocks: the timeout may expire at any
/// point.
#[track_caller]
pub fn park_timeout(_timeout: Duration) {
    ops::sync_token(ops::current_thread(), Guard::Always, ops::set_to(0), Location::caller());
}

/// Does nothing: the exploration covers the interleavings in which other threads run here.
pub fn yield_now() {}

/// Does nothing: the exploration covers the interleavings in which other threads run here.
pub fn sleep(_duration: Duration) {}

/// Returns `true` if the current thread is unwinding, from a panic or because its run has ended.
#[must_use]
pub fn panicking() -> bool {
    ops::is_panicking()
}

/// Owned permission to join a thread, like [`std::thread::JoinHandle`]. Dropping it detaches the thread.
pub struct JoinHandle<T> {
    thread: Thread,
    packet: Packet<T>,
}

impl<T> JoinHandle<T> {
    /// Returns a handle to the thread.
    #[must_use]
    pub fn thread(&self) -> &Thread {
        &self.thread
    }

    /// Blocks until the thread has finished and returns its result.
    ///
    /// # Errors
    /// Never returns an error.
    #[track_caller]
    pub fn join(self) -> Result<T, Box<dyn Any + Send>> {
        Ok(join(self.thread.id, &self.packet, Location::caller()))
    }
}

/// Blocks until `thread` has finished and returns its result.
fn join<T>(thread: Id, packet: &Packet<T>, caller: Caller) -> T {
    let number = ops::join(thread, caller);
    let Some(packet) = packet else { return plain::value(number) };
    let value = packet.lock().ok().and_then(|mut packet| packet.take());
    value.expect("a joined thread has stored its result")
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}

/// Starts a thread that runs `f`.
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    spawn_named(f, None, Location::caller())
}

fn spawn_named<F, T>(f: F, name: Option<String>, caller: Caller) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let (body, packet) = store_result(f);
    if let Some(packet) = &packet {
        // The result is dropped when the run has ended, independently of the order in which its owners drop it.
        let kept = Arc::clone(packet);
        ops::keep(Box::new(move || drop(kept)));
    }
    let thread = Thread::new(ops::spawn(body, mem::needs_drop::<F>(), name, caller));
    JoinHandle { thread, packet }
}

/// Wraps `f` so that its result is available to the joiner.
fn store_result<'f, F: FnOnce() -> T + 'f, T: 'f>(f: F) -> (Box<dyn FnOnce() + 'f>, Packet<T>) {
    if plain::is_plain::<T>() {
        return (Box::new(move || ops::give(plain::number(f()))), None);
    }
    let packet = Arc::new(Mutex::new(None));
    ops::track_block(Arc::as_ptr(&packet).cast());
    let result = Arc::clone(&packet);
    let body = move || {
        let value = f();
        if let Ok(mut result) = result.lock() {
            *result = Some(value);
        }
    };
    (Box::new(body), Some(packet))
}

/// Configuration of a new thread, like [`std::thread::Builder`].
#[derive(Debug, Default)]
pub struct Builder {
    name: Option<String>,
}

impl Builder {
    /// Creates a configuration without a name.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the name that [`Thread::name`] returns.
    #[must_use]
    pub fn name(mut self, name: String) -> Self {
        self.name = Some(name);
        self
    }

    /// Does nothing: all threads have the same stack size.
    #[must_use]
    pub fn stack_size(self, _size: usize) -> Self {
        self
    }

    /// Starts a thread that runs `f`.
    ///
    /// # Errors
    /// Never returns an error.
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        Ok(spawn_named(f, self.name, Location::caller()))
    }

    /// Starts a thread of `scope` that runs `f`.
    ///
    /// # Errors
    /// Never returns an error.
    #[track_caller]
    pub fn spawn_scoped<'scope, 'env, F, T>(
        self,
        scope: &'scope Scope<'scope, 'env>,
        f: F,
    ) -> io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        Ok(scope.spawn_named(f, self.name, Location::caller()))
    }
}

/// Scope for threads that borrow local variables, like [`std::thread::Scope`].
pub struct Scope<'scope, 'env: 'scope> {
    spawned: Mutex<Vec<Spawned>>,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// Record of a thread that was spawned in a scope.
struct Spawned {
    parent: Id,
    thread: Id,
    /// Delays the drop of the result until the scope ends, independently of when the handle is dropped.
    _packet: Option<Box<dyn Retained>>,
}

/// Type-erased owner whose only purpose is to delay a drop.
trait Retained: Send {}
impl<T: Send> Retained for T {}

/// Owned permission to join a scoped thread, like [`std::thread::ScopedJoinHandle`].
pub struct ScopedJoinHandle<'scope, T> {
    thread: Thread,
    packet: Packet<T>,
    scope: PhantomData<&'scope ()>,
}

impl<T> ScopedJoinHandle<'_, T> {
    /// Returns a handle to the thread.
    #[must_use]
    pub fn thread(&self) -> &Thread {
        &self.thread
    }

    /// Blocks until the thread has finished and returns its result.
    ///
    /// # Errors
    /// Never returns an error.
    #[track_caller]
    pub fn join(self) -> Result<T, Box<dyn Any + Send>> {
        Ok(join(self.thread.id, &self.packet, Location::caller()))
    }
}

/// Calls `f` with a scope for threads that may borrow local variables, then joins all threads of the scope.
#[track_caller]
pub fn scope<'env, F, T>(f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    let scope = Scope { spawned: Mutex::new(Vec::new()), scope: PhantomData, env: PhantomData };
    ops::track(&raw const scope.spawned);
    let result = catch_unwind(AssertUnwindSafe(|| f(&scope)));
    scope.join_all(Location::caller());
    match result {
        Ok(value) => value,
        Err(panic) => resume_unwind(panic),
    }
}

impl<'scope> Scope<'scope, '_> {
    /// Starts a thread of this scope that runs `f`.
    #[track_caller]
    pub fn spawn<F, T>(&'scope self, f: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        self.spawn_named(f, None, Location::caller())
    }

    fn spawn_named<F, T>(
        &'scope self,
        f: F,
        name: Option<String>,
        caller: Caller,
    ) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let (body, packet) = store_result(f);
        // SAFETY: the scope joins the thread before it ends. If the run ends earlier, the spawned thread
        // is unwound before the thread that owns the scope.
        let body = unsafe {
            mem::transmute::<Box<dyn FnOnce() + 'scope>, Box<dyn FnOnce() + 'static>>(body)
        };
        let parent = ops::current_thread();
        let thread = ops::spawn(body, mem::needs_drop::<F>(), name, caller);
        let kept = packet.as_ref().map(|packet| {
            let kept: Box<dyn Retained + 'scope> = Box::new(Arc::clone(packet));
            // SAFETY: the box is dropped when `scope` returns, before `'scope` ends.
            unsafe { mem::transmute::<Box<dyn Retained + 'scope>, Box<dyn Retained>>(kept) }
        });
        ops::unrecorded(|| {
            if let Ok(mut spawned) = self.spawned.lock() {
                spawned.push(Spawned { parent, thread, _packet: kept });
            }
        });
        ScopedJoinHandle { thread: Thread::new(thread), packet, scope: PhantomData }
    }

    /// Joins all threads of the scope in breadth-first order of the spawn tree. This order is the same in all
    /// interleavings, unlike the order in `spawned`.
    fn join_all(&self, caller: Caller) {
        if !ops::is_running() {
            return;
        }
        let mut parents = vec![ops::current_thread()];
        while !parents.is_empty() {
            let parent = parents.remove(0);
            for thread in self.spawned_by(parent) {
                ops::join(thread, caller);
                parents.push(thread);
            }
        }
    }

    fn spawned_by(&self, parent: Id) -> Vec<Id> {
        let Ok(spawned) = self.spawned.lock() else { return vec![] };
        let children = spawned.iter().filter(|spawned| spawned.parent == parent);
        children.map(|spawned| spawned.thread).collect()
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for ScopedJoinHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedJoinHandle").finish_non_exhaustive()
    }
}
