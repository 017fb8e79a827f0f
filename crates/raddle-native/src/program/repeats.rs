//! Questions that a thread asks again in the same state.
//!
//! *Problem.* A thread that waits in a loop asks the same question again and again. At -O0 its stack and registers are full of
//! temporaries of earlier rounds, so no two rounds seem to end in the same state.
//!
//! *Idea.* A state consists of what the thread may still read: `raddle_cpu::Liveness` says which registers, flags and bytes of
//! the stack are dead. Two states with the same instruction, the same stack pointer and the same live bytes behave alike.
//! Return addresses are live, so equal states have the same frames, and the same bytes are dead in both. What modelled functions
//! keep for the thread (values of keys, random numbers, the time that it last read) belongs to the state.

use std::rc::Rc;

use raddle_core::program::{End, HistoryId, HistoryStep, LocalHistories, Op, OpKind};
use raddle_cpu::memory::Comparison;
use raddle_cpu::{Calls, Dead, Function, HostArguments, KnownCallee, Liveness};
use rustc_hash::FxHashMap;

use super::NativeProgram;
use super::bookkeeping::Bookkeeping;
use super::thread::{Active, Activity, GuestThread, Point};
use crate::load::Module;
use crate::process::snapshots::ThreadState;

/// Functions that return more than once.
const RETURN_TWICE: [&str; 6] =
    ["setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp", "getcontext", "vfork"];

/// The analysis of the program's own functions. Library code is undecided. Addresses of variables are followed to `callees`.
pub(super) fn liveness(
    program: Option<&Module>,
    calls: Calls,
    callees: Option<&[(u64, KnownCallee)]>,
) -> Liveness {
    let Some(program) = program else { return Liveness::default() };
    let symbols = program.symbols();
    let returns_twice = symbols.undefined().iter().any(|name| RETURN_TWICE.contains(&&**name));
    let landing_pads = program.functions_with_landing_pads();
    let has_landing_pads = |address| landing_pads.as_ref().is_none_or(|it| it.contains(&address));
    // Code that was compiled with optimisation may compute addresses from others than that of the variable.
    let keeps_bounds = callees.is_some() && calls == Calls::SystemV;
    let mut locals = if keeps_bounds { program.locals() } else { FxHashMap::default() };
    let functions = program.functions().into_iter().map(|range| Function {
        calls,
        has_hidden_edges: returns_twice || has_landing_pads(range.start - program.base),
        variables: locals.remove(&range.start).unwrap_or_default(),
        range,
    });
    Liveness::new(functions, callees.map(<[_]>::to_vec))
}

/// With how many earlier states a state is compared, at most. A loop that counts its rounds never repeats a state, and would be
/// compared with all its rounds.
const MOST_COMPARED: usize = 64;
/// After this many questions without an effect a state is compared with the last similar one only, except after 2^n: a loop with so
/// many rounds mostly counts them.
const MANY_QUESTIONS: usize = 1_000;

impl NativeProgram {
    /// How the history of the current thread ends if the thread was in the same state at an earlier question and has only read and
    /// chosen since. If it has chosen, the rounds since then can be left out: what follows was explored without them. If not, it
    /// waits for another thread.
    pub(super) fn repeated(&mut self, question: Op) -> Option<End> {
        let thread = self.threads[self.current.index()].as_ref()?;
        let cpu = self.process.cpu(thread.guest)?;
        let active = thread.active.as_ref()?;
        let candidates = thread.points.get(thread.reads_since..)?;
        let is_similar = |point: &Point| {
            point.question == question
                && cpu.is_at_instruction(&point.snapshot.cpu)
                && point.active == *active
                && (Rc::ptr_eq(&point.own, &thread.own) || point.own.remembers_same(&thread.own))
        };
        let mut similar =
            (0..candidates.len()).rev().filter(|&index| is_similar(&candidates[index])).peekable();
        similar.peek()?;
        let memory = self.process.memory();
        let dead = self.liveness.dead(memory, cpu, arguments(&self.table, &active.activity));
        let is_here =
            |index: &usize| self.process.is_at(thread.guest, &candidates[*index].snapshot, &dead);
        let questions = candidates.len();
        let compares_all = questions < MANY_QUESTIONS || questions.is_power_of_two();
        let most = if compares_all { MOST_COMPARED } else { 1 };
        let index = similar.take(most).find(is_here)?;
        let is_choice = |point: &Point| matches!(point.question.kind, OpKind::Choose { .. });
        let has_chosen = candidates[index..].iter().any(is_choice);
        Some(if has_chosen { End::Assume } else { End::Repeats(candidates[index].node) })
    }

    /// Returns `true` if a thread is in the same state at the questions at the ends of two of its histories.
    pub(super) fn is_same_question(
        &mut self,
        histories: &LocalHistories,
        one: HistoryId,
        other: HistoryId,
    ) -> bool {
        let is_question = |node| matches!(histories.end(node), End::Question(_));
        let Some(before) = common_ancestor(histories, one, other) else { return false };
        if !is_question(one) || !is_question(other) {
            return false;
        }
        let is_same = match before == one {
            true => self.is_back_at(histories, one, other),
            false => self.comes_to_same(histories, before, one, other),
        };
        is_same.unwrap_or_else(|_| {
            self.forget_place();
            false
        })
    }

    /// Returns `true` if a thread is in the same state at the questions at the ends of two histories, which both extend `before`.
    fn comes_to_same(
        &mut self,
        histories: &LocalHistories,
        before: HistoryId,
        one: HistoryId,
        other: HistoryId,
    ) -> Result<bool, End> {
        let dead = self.dead_at_end(histories, other)?;
        let differs = self.differs_from(one, &dead);
        self.dead_at = Some((other, dead));
        if differs {
            return Ok(false);
        }
        self.go_to(histories, one)?;
        let Some((state, active, own)) = self.state_since(before) else {
            self.forget_place();
            return Ok(false);
        };
        self.go_to(histories, other)?;
        self.forget_place();
        let Some((_, dead)) = &self.dead_at else { return Ok(false) };
        let Some(thread) = &self.threads[self.current.index()] else { return Ok(false) };
        if thread.active.as_ref() != Some(&active) || thread.own != own {
            return Ok(false);
        }
        let comparison = self.process.compare(thread.guest, &state, dead);
        if let Comparison::DifferAt(address) = comparison {
            self.differences.add(self.current, address);
        }
        Ok(comparison == Comparison::Same)
    }

    /// As [`NativeProgram::is_same_question`], if the history `other` extends the history `one`. Then nothing runs that has run
    /// before: a loop that counts its rounds is compared with many of them.
    fn is_back_at(
        &mut self,
        histories: &LocalHistories,
        one: HistoryId,
        other: HistoryId,
    ) -> Result<bool, End> {
        let dead = self.dead_at_end(histories, other)?;
        let is_same = self.is_at_point(one, &dead);
        self.dead_at = Some((other, dead));
        Ok(is_same)
    }

    /// Lets the current thread go to a snapshot before it runs on.
    fn forget_place(&mut self) {
        if let Some(Some(thread)) = self.threads.get_mut(self.current.index()) {
            thread.at = None;
        }
    }

    /// Lets a thread stand at the end of a history. Returns what is dead there, which is no longer remembered.
    fn dead_at_end(&mut self, histories: &LocalHistories, node: HistoryId) -> Result<Dead, End> {
        if !self.stands_at(histories, node) {
            self.go_to(histories, node)?;
        }
        Ok(match self.dead_at.take() {
            Some((known, dead)) if known == node => dead,
            _ => self.dead(),
        })
    }

    /// Returns `true` if the current thread is in the state in which it was at the end of an earlier history on its path.
    fn is_at_point(&self, node: HistoryId, dead: &Dead) -> bool {
        let Some(thread) = &self.threads[self.current.index()] else { return false };
        let Ok(index) = thread.points.binary_search_by_key(&node, |point| point.node) else {
            return false;
        };
        let point = &thread.points[index];
        thread.active.as_ref() == Some(&point.active)
            && (Rc::ptr_eq(&thread.own, &point.own) || thread.own == point.own)
            && self.process.is_at(thread.guest, &point.snapshot, dead)
    }

    /// Returns `true` if the thread of a history stands at its end, and was the last one to run. It is the current one then.
    fn stands_at(&mut self, histories: &LocalHistories, node: HistoryId) -> bool {
        let id = histories.thread(node);
        let Some(Some(thread)) = self.threads.get(id.index()) else { return false };
        let stands = thread.at == Some(node) && self.process.memory().is_selected(thread.guest);
        if stands {
            self.current = id;
        }
        stands
    }

    /// The state of the current thread in terms of the question at the end of an earlier history.
    fn state_since(&mut self, node: HistoryId) -> Option<(ThreadState, Active, Rc<Bookkeeping>)> {
        let thread = self.threads[self.current.index()].as_ref()?;
        let index = thread.points.binary_search_by_key(&node, |point| point.node).ok()?;
        let (guest, since) = (thread.guest, thread.points[index].snapshot.clone());
        let (active, own) = (thread.active.clone()?, Rc::clone(&thread.own));
        Some((self.process.state_since(guest, &since)?, active, own))
    }

    /// Overwrites what the current thread will not read again.
    pub(super) fn poison(&mut self) {
        let Some(thread) = &self.threads[self.current.index()] else { return };
        let arguments = arguments_of(&self.table, thread);
        self.process.poison_thread(thread.guest, &mut self.liveness, arguments);
    }

    /// What the current thread will not read again.
    pub(super) fn dead(&mut self) -> Dead {
        let Some(thread) = &self.threads[self.current.index()] else { return Dead::default() };
        let Some(cpu) = self.process.cpu(thread.guest) else { return Dead::default() };
        let arguments = arguments_of(&self.table, thread);
        self.liveness.dead(self.process.memory(), cpu, arguments)
    }
}

/// The last history with which both histories begin.
fn common_ancestor(
    histories: &LocalHistories,
    mut one: HistoryId,
    mut other: HistoryId,
) -> Option<HistoryId> {
    while one != other {
        let later = if one.0 > other.0 { &mut one } else { &mut other };
        let HistoryStep::After(before, _) = histories.step(*later) else { return None };
        *later = before;
    }
    Some(one)
}

fn arguments_of(table: &super::Table, thread: &GuestThread) -> HostArguments {
    let activity = thread.active.as_ref().map(|active| &active.activity);
    activity.map_or(HostArguments::Any, |activity| arguments(table, activity))
}

/// The registers in which an activity may get arguments.
fn arguments(table: &super::Table, activity: &Activity) -> HostArguments {
    match activity {
        Activity::Function(function) => {
            table.arguments.get(function).copied().unwrap_or(HostArguments::Any)
        }
        _ => HostArguments::Any,
    }
}
