//! What `std::thread` has.
//!
//! A panic in any thread is a finding, so `join` never returns an error.

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

/// What a thread returns, once it has; nothing if that is a plain value, which the join is answered with.
type Packet<T> = Option<Arc<Mutex<Option<T>>>>;

/// A thread: see the standard library.
#[derive(Clone, Debug)]
pub struct Thread {
    id: Id,
    name: Option<Arc<str>>,
}

/// The identity of a thread: see the standard library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ThreadId(Id);

impl Thread {
    fn new(id: Id) -> Self {
        Thread { id, name: ops::name_of(id).map(Arc::from) }
    }

    /// See the standard library.
    #[must_use]
    pub fn id(&self) -> ThreadId {
        ThreadId(self.id)
    }

    /// See the standard library.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        if self.id.index() == 0 { Some("main") } else { self.name.as_deref() }
    }

    /// See the standard library.
    #[track_caller]
    pub fn unpark(&self) {
        ops::sync_token(self.id, Guard::Always, ops::set_to(1), Location::caller());
    }
}

/// See the standard library.
#[must_use]
pub fn current() -> Thread {
    Thread::new(ops::current_thread())
}

/// See the standard library. It does not wake up without a reason.
#[track_caller]
pub fn park() {
    ops::sync_token(ops::current_thread(), Guard::Equal(1), ops::set_to(0), Location::caller());
}

/// See the standard library. The time may be up at any time.
#[track_caller]
pub fn park_timeout(_timeout: Duration) {
    ops::sync_token(ops::current_thread(), Guard::Always, ops::set_to(0), Location::caller());
}

/// See the standard library. Does nothing: other threads may always go on.
pub fn yield_now() {}

/// See the standard library. Does nothing: other threads may always go on.
pub fn sleep(_duration: Duration) {}

/// Whether the current thread is unwinding from a panic.
#[must_use]
pub fn panicking() -> bool {
    ops::is_panicking()
}

/// A thread that can be waited for: see the standard library.
pub struct JoinHandle<T> {
    thread: Thread,
    packet: Packet<T>,
}

impl<T> JoinHandle<T> {
    /// See the standard library.
    #[must_use]
    pub fn thread(&self) -> &Thread {
        &self.thread
    }

    /// See the standard library.
    ///
    /// # Errors
    /// Never.
    #[track_caller]
    pub fn join(self) -> Result<T, Box<dyn Any + Send>> {
        Ok(join(self.thread.id, &self.packet, Location::caller()))
    }
}

/// Waits for a thread and returns what it returns.
fn join<T>(thread: Id, packet: &Packet<T>, caller: Caller) -> T {
    let number = ops::join(thread, caller);
    let Some(packet) = packet else { return plain::value(number) };
    let value = packet.lock().ok().and_then(|mut packet| packet.take());
    value.expect("a thread that has been waited for has returned")
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}

/// See the standard library.
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
    let (body, packet) = returning(f);
    if let Some(packet) = &packet {
        // What a thread returns to nobody is dropped in the end, whoever comes last.
        let kept = Arc::clone(packet);
        ops::keep(Box::new(move || drop(kept)));
    }
    let thread = Thread::new(ops::spawn(body, mem::needs_drop::<F>(), name, caller));
    JoinHandle { thread, packet }
}

/// The closure, which gives what it returns to whoever joins the thread.
fn returning<'f, F: FnOnce() -> T + 'f, T: 'f>(f: F) -> (Box<dyn FnOnce() + 'f>, Packet<T>) {
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

/// How to make a thread: see the standard library.
#[derive(Debug, Default)]
pub struct Builder {
    name: Option<String>,
}

impl Builder {
    /// See the standard library.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// See the standard library.
    #[must_use]
    pub fn name(mut self, name: String) -> Self {
        self.name = Some(name);
        self
    }

    /// See the standard library. All threads have the same stack size.
    #[must_use]
    pub fn stack_size(self, _size: usize) -> Self {
        self
    }

    /// See the standard library.
    ///
    /// # Errors
    /// Never.
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        Ok(spawn_named(f, self.name, Location::caller()))
    }

    /// See the standard library.
    ///
    /// # Errors
    /// Never.
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

/// Threads that end before the scope does: see the standard library.
pub struct Scope<'scope, 'env: 'scope> {
    spawned: Mutex<Vec<Spawned>>,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// A thread of a scope.
struct Spawned {
    parent: Id,
    thread: Id,
    /// What it returns is dropped with the scope, whoever comes last.
    _packet: Option<Box<dyn Keep>>,
}

/// Something that is only kept.
trait Keep: Send {}
impl<T: Send> Keep for T {}

/// A thread of a scope that can be waited for: see the standard library.
pub struct ScopedJoinHandle<'scope, T> {
    thread: Thread,
    packet: Packet<T>,
    scope: PhantomData<&'scope ()>,
}

impl<T> ScopedJoinHandle<'_, T> {
    /// See the standard library.
    #[must_use]
    pub fn thread(&self) -> &Thread {
        &self.thread
    }

    /// See the standard library.
    ///
    /// # Errors
    /// Never.
    #[track_caller]
    pub fn join(self) -> Result<T, Box<dyn Any + Send>> {
        Ok(join(self.thread.id, &self.packet, Location::caller()))
    }
}

/// See the standard library.
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
    /// See the standard library.
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
        let (body, packet) = returning(f);
        // SAFETY: the scope waits for the thread before it ends. If the run ends before, the thread is
        // ended before the one that has the scope.
        let body = unsafe {
            mem::transmute::<Box<dyn FnOnce() + 'scope>, Box<dyn FnOnce() + 'static>>(body)
        };
        let parent = ops::current_thread();
        let thread = ops::spawn(body, mem::needs_drop::<F>(), name, caller);
        let kept = packet.as_ref().map(|packet| {
            let kept: Box<dyn Keep + 'scope> = Box::new(Arc::clone(packet));
            // SAFETY: it is dropped when `scope` returns, before `'scope` ends.
            unsafe { mem::transmute::<Box<dyn Keep + 'scope>, Box<dyn Keep>>(kept) }
        });
        ops::unrecorded(|| {
            if let Ok(mut spawned) = self.spawned.lock() {
                spawned.push(Spawned { parent, thread, _packet: kept });
            }
        });
        ScopedJoinHandle { thread: Thread::new(thread), packet, scope: PhantomData }
    }

    /// Waits for all threads of the scope: those that this thread spawned, then those that they spawned,
    /// and so on. This order does not depend on who was faster.
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
        let by_it = spawned.iter().filter(|spawned| spawned.parent == parent);
        by_it.map(|spawned| spawned.thread).collect()
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
