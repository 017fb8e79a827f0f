//! Threads. A thread is executed symbolically at the point of its creation.

use lang_c::ast::Expression;
use lang_c::span::{Node as Ast, Span};
use raddle_core::outcome::FindingKind;

use super::access::{AccessOrder, UpdateEffect};
use super::{
    CValue, CallFrame, PathState, Result, SymbolicExecutor, SymbolicThread, TOO_FEW_ARGUMENTS,
};
use crate::abi_type::{AbiType, ULONG};
use crate::address_space::{MemoryObject, ObjectId, ObjectKey};
use crate::program::{ThreadCreation, UnrolledThread, VisibleAction};
use crate::term::{FALSE, TRUE, Term};

/// The maximal number of threads, with the main thread. Sets of threads are bit sets of this size.
const MAX_THREADS: usize = u32::BITS as usize;

/// How a thread is released. The number is the content of its [`ObjectKey::JoinState`].
#[derive(Clone, Copy, PartialEq, Eq)]
enum Release {
    Joined = 1,
    Detached = 2,
}

impl Release {
    fn participle(self) -> &'static str {
        match self {
            Release::Joined => "joined",
            Release::Detached => "detached",
        }
    }
}

impl<'a> SymbolicExecutor<'a> {
    /// `pthread_create`: executes the new thread.
    pub(super) fn create_thread(
        &mut self,
        list: &'a [Ast<Expression>],
        span: Span,
    ) -> Result<(CValue, AbiType)> {
        if self.type_only {
            return Ok(self.zero_int());
        }
        let [id, _, _, _] = list else { return self.unsupported(TOO_FEW_ARGUMENTS) };
        let (id_at, _) = self.scalar(id)?;
        let (function, _) = self.scalar(&list[2])?;
        let attributes = self.argument(list, 1, &ULONG)?;
        let argument = self.eval(&list[3])?;
        self.here = span;
        self.fence(AccessOrder::SeqCst);
        let number = self.threads.len();
        if number >= MAX_THREADS {
            let max_created = MAX_THREADS - 1;
            return self
                .unsupported(format!("at most {max_created} created threads are supported"));
        }
        if self.initial_env.is_none() {
            self.initial_env = Some(self.state.env.clone());
        }
        let value = self.terms.constant(number as u64 + 1, 64);
        self.write(id_at, value, AccessOrder::Plain)?;
        let created = self.symbolic_threads.iter().skip(1);
        let siblings = created.filter(|thread| thread.parent == self.thread).count();
        let name = format!("{}/{siblings}", self.threads[self.thread].name);
        let creation = ThreadCreation {
            parent: self.thread,
            after: self.statement_count(),
            guard: self.state.guard,
        };
        self.threads.push(UnrolledThread {
            name,
            creation: Some(creation),
            statements: vec![],
            blocked_forever: vec![],
            end: FALSE,
            left: FALSE,
        });
        let created_at = self.symbolic_threads[self.thread].clock + 1;
        self.symbolic_threads.push(SymbolicThread {
            clock: 0,
            parent: self.thread,
            created_at,
            result: None,
        });
        let child = PathState { guard: TRUE, env: self.state.env.clone() };
        let parent = std::mem::replace(&mut self.state, child);
        let frames = std::mem::take(&mut self.frames);
        let thread = std::mem::replace(&mut self.thread, number);
        self.frames.push(CallFrame::default());
        let (result, _) = self.call_pointer(function, &vec![argument])?;
        self.end_thread(result)?;
        self.thread = thread;
        self.frames = frames;
        self.state = parent;
        self.here = span;
        self.detach_if_requested(number, attributes)?;
        Ok(self.zero_int())
    }

    /// Detaches a new thread if its attributes request it.
    fn detach_if_requested(&mut self, thread: usize, attributes: Term) -> Result<()> {
        let given = self.terms.truth(attributes);
        let read = |exec: &mut Self| exec.read(attributes, 32);
        let (state, _) = self.branch(given, read, |_| Ok(FALSE))?;
        let Some(state) = state else { return Ok(()) };
        let is_set = self.terms.truth(state);
        let detaches = self.terms.and(given, is_set);
        let release = |exec: &mut Self| exec.mark_released(thread, Release::Detached);
        self.branch(detaches, release, |_| Ok(())).map(|_| ())
    }

    /// Ends a thread that has returned or called `pthread_exit`.
    fn end_thread(&mut self, result: CValue) -> Result<()> {
        let mut value = Some(result);
        let exits = self.frames.first_mut().map(|frame| std::mem::take(&mut frame.returns));
        let exits = exits.unwrap_or_default();
        let any_exit = !exits.is_empty();
        for (state, exit) in exits {
            value = self.select_value(state.guard, exit, value);
            let here = self.state.clone();
            self.state = self.merge(state.guard, state, here);
        }
        // Functions that returned have ended their variables already. `pthread_exit` leaves functions without
        // returning.
        let is_alive =
            |object: &MemoryObject| any_exit || matches!(object.key, ObjectKey::ThreadLocal(..));
        let own: Vec<ObjectId> = (0..self.space.objects.len())
            .filter(|&id| self.space.owner(id) == Some(self.thread))
            .filter(|&id| is_alive(&self.space.objects[id]))
            .collect();
        self.end_variables(&own)?;
        self.symbolic_threads[self.thread].result = value;
        self.threads[self.thread].end = self.state.guard;
        Ok(())
    }

    /// `pthread_join`
    pub(super) fn join_thread(
        &mut self,
        list: &'a [Ast<Expression>],
        span: Span,
    ) -> Result<(CValue, AbiType)> {
        let id = self.argument(list, 0, &ULONG)?;
        let result_at = self.argument(list, 1, &ULONG)?;
        self.here = span;
        let threads = self.resolve_threads(id, Release::Joined)?;
        if self.is_dead() {
            return Ok(self.zero_int());
        }
        self.push_statement(VisibleAction::Join(threads.clone()));
        let wants_result = self.terms.truth(result_at);
        self.branch(wants_result, |exec| exec.store_join_result(&threads, result_at), |_| Ok(()))?;
        Ok(self.zero_int())
    }

    /// `pthread_detach`
    pub(super) fn detach_thread(
        &mut self,
        list: &'a [Ast<Expression>],
        span: Span,
    ) -> Result<(CValue, AbiType)> {
        let id = self.argument(list, 0, &ULONG)?;
        self.here = span;
        self.resolve_threads(id, Release::Detached)?;
        Ok(self.zero_int())
    }

    /// The threads that an id may denote, each with the condition under which it does. Marks them as released, and adds
    /// checks that the id denotes a thread that was not released before.
    fn resolve_threads(&mut self, id: Term, release: Release) -> Result<Vec<(usize, Term)>> {
        let participle = release.participle();
        let values = self.terms.values(id);
        let Some(few) = values.few() else {
            return self.unsupported(format!(
                "the id of the {participle} thread may have any value: only ids of known threads are supported"
            ));
        };
        let mut threads = vec![];
        for &value in few {
            let number = (value as usize).wrapping_sub(1);
            let condition = self.terms.is(id, value);
            if number == 0 && condition != FALSE {
                return self.unsupported(format!(
                    "the main thread is {participle}, which is not supported"
                ));
            }
            if number < self.threads.len() && condition != FALSE {
                threads.push((number, condition));
            }
        }
        let any = self.terms.any(threads.iter().map(|&(_, condition)| condition));
        let none = self.terms.not(any);
        self.fails_if(
            none,
            FindingKind::Misuse,
            format!("the {participle} id is not the id of a thread"),
        );
        for &(thread, condition) in &threads {
            self.branch(condition, |exec| exec.mark_released(thread, release), |_| Ok(()))?;
        }
        Ok(threads)
    }

    /// Marks a thread as joined or detached. Adds checks that it was neither before.
    fn mark_released(&mut self, thread: usize, release: Release) -> Result<()> {
        let object_name = format!("state of {}", self.threads[thread].name);
        let object = self.space.object(ObjectKey::JoinState(thread), &object_name, 4, true);
        let (at, new) = (self.address(object), self.terms.constant(release as u64, 32));
        let old = self.read_modify_write(at, 32, |_, _| Ok(UpdateEffect::always(new)))?;
        for before in [Release::Joined, Release::Detached] {
            let message = match before == release {
                true => format!("a thread is {} twice", release.participle()),
                false => {
                    format!("a {} thread is {}", before.participle(), release.participle())
                }
            };
            let fails = self.terms.is(old, before as u64);
            self.fails_if(fails, FindingKind::Misuse, message);
        }
        Ok(())
    }

    /// Writes the result of the joined thread to `at`.
    fn store_join_result(&mut self, threads: &[(usize, Term)], at: Term) -> Result<()> {
        let mut value = self.terms.constant(0, 64);
        for &(thread, condition) in threads {
            if let Some(CValue::Scalar(result)) = self.symbolic_threads[thread].result {
                let result = self.terms.resize(result, 64, false);
                value = self.terms.ite(condition, result, value);
            }
        }
        self.write(at, value, AccessOrder::Plain)
    }
}
