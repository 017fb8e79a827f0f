//! Threads: they are executed where they are created.

use lang_c::ast::Expression;
use lang_c::span::{Node as Ast, Span};

use super::access::Order;
use super::{Body, Exec, Frame, Result, State, Value};
use crate::program::{Action, Thread};
use crate::space::{Object, ObjectId, ObjectKey};
use crate::term::{FALSE, TRUE, Term};
use crate::types::{Type, ULONG};

/// Somebody joins the thread.
const JOINED: u64 = 1;
/// Nobody may.
const DETACHED: u64 = 2;

fn name(how: u64) -> &'static str {
    if how == JOINED { "joined" } else { "detached" }
}

impl<'a> Exec<'a> {
    /// Executes a new thread.
    pub(super) fn create(
        &mut self,
        list: &'a [Ast<Expression>],
        span: Span,
    ) -> Result<(Value, Type)> {
        if self.only_type {
            return Ok(self.none());
        }
        let [id, _, _, _] = list else { return self.refuse("too few arguments") };
        let (id_at, _) = self.scalar(id)?;
        let (function, _) = self.scalar(&list[2])?;
        let attributes = self.value(list, 1, &ULONG)?;
        let argument = self.eval(&list[3])?;
        self.here = span;
        self.fence(Order::SeqCst);
        let number = self.threads.len();
        if number >= 32 {
            return self.refuse("more than 31 threads are created");
        }
        if self.initial.is_none() {
            self.initial = Some(self.state.env.clone());
        }
        let value = self.terms.constant(number as u64 + 1, 64);
        self.write(id_at, value, Order::Plain)?;
        let siblings = self.bodies.iter().skip(1).filter(|body| body.parent == self.thread).count();
        let name = format!("{}/{siblings}", self.threads[self.thread].name);
        let created = Some((self.thread, self.after(), self.state.guard));
        self.threads.push(Thread { name, created, events: vec![], stuck: vec![], end: FALSE });
        let created_at = self.bodies[self.thread].clock + 1;
        self.bodies.push(Body { clock: 0, parent: self.thread, created_at, result: None });
        let child = State { guard: TRUE, env: self.state.env.clone() };
        let parent = std::mem::replace(&mut self.state, child);
        let frames = std::mem::take(&mut self.frames);
        let thread = std::mem::replace(&mut self.thread, number);
        self.frames.push(Frame::default());
        let (result, _) = self.call_pointer(function, &vec![argument])?;
        self.end_thread(result)?;
        self.thread = thread;
        self.frames = frames;
        self.state = parent;
        self.here = span;
        self.detach_at_once(number, attributes)?;
        Ok(self.none())
    }

    /// Detaches a thread if its attributes say so.
    fn detach_at_once(&mut self, thread: usize, attributes: Term) -> Result<()> {
        let given = self.terms.truth(attributes);
        let read = |exec: &mut Self| exec.read(attributes, 32);
        let (state, _) = self.branch(given, read, |_| Ok(FALSE))?;
        let Some(state) = state else { return Ok(()) };
        let asked = self.terms.truth(state);
        let wanted = self.terms.and(given, asked);
        self.branch(wanted, |exec| exec.let_go(thread, DETACHED), |_| Ok(())).map(|_| ())
    }

    /// The end of a thread, wherever it came to it.
    fn end_thread(&mut self, result: Value) -> Result<()> {
        let mut value = Some(result);
        let exits = self.frames.first_mut().map(|frame| std::mem::take(&mut frame.returns));
        let exits = exits.unwrap_or_default();
        let any_exit = !exits.is_empty();
        for (state, exit) in exits {
            value = self.choose(state.guard, exit, value);
            let here = self.state.clone();
            self.state = self.merge(state.guard, state, here);
        }
        // Those of functions have ended with them, but where the thread was left from within.
        let is_left = |object: &Object| any_exit || matches!(object.key, ObjectKey::Local(..));
        let own: Vec<ObjectId> = (0..self.space.objects.len())
            .filter(|&id| self.space.owner(id) == Some(self.thread))
            .filter(|&id| is_left(&self.space.objects[id]))
            .collect();
        self.end_variables(&own)?;
        self.bodies[self.thread].result = value;
        self.threads[self.thread].end = self.state.guard;
        Ok(())
    }

    pub(super) fn join(
        &mut self,
        list: &'a [Ast<Expression>],
        span: Span,
    ) -> Result<(Value, Type)> {
        let id = self.value(list, 0, &ULONG)?;
        let result_at = self.value(list, 1, &ULONG)?;
        self.here = span;
        let threads = self.identified(id, JOINED)?;
        if self.is_dead() {
            return Ok(self.none());
        }
        self.event(Action::Join(threads.clone()));
        let wanted = self.terms.truth(result_at);
        self.branch(wanted, |exec| exec.joined(&threads, result_at), |_| Ok(()))?;
        Ok(self.none())
    }

    /// `pthread_detach`
    pub(super) fn detach(
        &mut self,
        list: &'a [Ast<Expression>],
        span: Span,
    ) -> Result<(Value, Type)> {
        let id = self.value(list, 0, &ULONG)?;
        self.here = span;
        self.identified(id, DETACHED)?;
        Ok(self.none())
    }

    /// The threads that may be joined or detached, and when. It is an error if it is none, or not for the first time.
    fn identified(&mut self, id: Term, how: u64) -> Result<Vec<(usize, Term)>> {
        let values = self.terms.values(id);
        let Some(few) = values.few() else {
            return self.refuse(format!("it is not known which thread is {}", name(how)));
        };
        let mut threads = vec![];
        for &value in few {
            let number = (value as usize).wrapping_sub(1);
            let condition = self.terms.is(id, value);
            if number == 0 && condition != FALSE {
                return self.refuse(format!("the main thread is {}", name(how)));
            }
            if number < self.threads.len() && condition != FALSE {
                threads.push((number, condition));
            }
        }
        let any = self.terms.any(threads.iter().map(|&(_, condition)| condition));
        let none = self.terms.not(any);
        self.fails_if(none, "misuse", format!("what is {} is no thread", name(how)));
        for &(thread, condition) in &threads {
            self.branch(condition, |exec| exec.let_go(thread, how), |_| Ok(()))?;
        }
        Ok(threads)
    }

    /// Somebody joins a thread, or detaches it. Only one may do that, once.
    fn let_go(&mut self, thread: usize, how: u64) -> Result<()> {
        let named = format!("state of {}", self.threads[thread].name);
        let object = self.space.object(ObjectKey::LetGo(thread), &named, 4, true);
        let (at, new) = (self.address(object), self.terms.constant(how, 32));
        let old = self.update(at, 32, |_, _| Ok((new, TRUE, TRUE)))?;
        for before in [JOINED, DETACHED] {
            let message = match before == how {
                true => format!("a thread is {} twice", name(how)),
                false => format!("a thread is {} that was {}", name(how), name(before)),
            };
            let wrong = self.terms.is(old, before);
            self.fails_if(wrong, "misuse", message);
        }
        Ok(())
    }

    fn joined(&mut self, threads: &[(usize, Term)], at: Term) -> Result<()> {
        let mut value = self.terms.constant(0, 64);
        for &(thread, condition) in threads {
            if let Some(Value::Scalar(result)) = self.bodies[thread].result {
                let result = self.terms.resize(result, 64, false);
                value = self.terms.ite(condition, result, value);
            }
        }
        self.write(at, value, Order::Plain)
    }
}
