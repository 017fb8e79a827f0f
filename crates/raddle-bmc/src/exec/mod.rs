//! Symbolic execution of one thread after the other.
//!
//! A thread is executed once, along all paths together: at a branch the two sides are executed one after the other under
//! their conditions, and where they meet, what differs becomes a choice. What a visible statement reads is a variable.
//! So a thread is turned into a list of guarded visible statements, in the order of its unrolled text, and the
//! local code between them into terms.
//!
//! Lazy sequentialization as published (Inverso, Tomasco, Fischer, La Torre, Parlato, CAV 2014) repeats the whole thread
//! in every round, and leaves it to the back end to find out which local code is the same. Here local code is there once
//! and only visible statements are repeated (`sequence`).
//!
//! Control flow is in `stmt`, `switch`, `repeat` and `waits`, expressions are in `expr`, `place` and `operator`; `access`
//! is memory, `call` functions, `builtin` those that are not in C, with `atomic` and `thread`, and `declare` and `init` are
//! types, declarations and initializers.

mod access;
mod atomic;
mod builtin;
mod call;
mod declare;
mod expr;
mod init;
mod operator;
mod place;
mod repeat;
mod stmt;
mod switch;
mod thread;
mod waits;

use std::rc::Rc;

use lang_c::ast::{ExternalDeclaration, FunctionDefinition};
use lang_c::span::Span;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::options::Options;
use crate::parse::Source;
use crate::program::{Action, Cell, CellId, Check, Event, Input, Program, Thread};
use crate::refuse::Refusal;
use crate::space::{CellKey, ObjectId, ObjectKey, Space};
use crate::term::{FALSE, TRUE, Term, TermStore, ValueSet};
use crate::types::{Record, Type};

pub(crate) type Result<T> = std::result::Result<T, Refusal>;

/// What memory may hold that nobody has written.
const GARBAGE: u64 = 0xa5a5_a5a5_a5a5_a5a5;

/// What local memory holds.
type Env = Rc<FxHashMap<CellKey, Term>>;

/// Where a thread is.
#[derive(Clone)]
struct State {
    /// When it is there.
    guard: Term,
    env: Env,
}

/// A value: a scalar, or the scalars of a structure.
#[derive(Clone, Debug)]
enum Value {
    Scalar(Term),
    Record(Vec<Term>),
}

#[derive(Clone)]
enum Symbol {
    Typedef(Type),
    Variable(ObjectId, Type),
    /// Every thread has its own.
    ThreadLocal(Type),
    Constant(i64),
    Function(Type),
}

#[derive(Default)]
struct Scope {
    names: FxHashMap<String, Symbol>,
    tags: FxHashMap<String, usize>,
    /// Objects that end with the scope.
    objects: Vec<ObjectId>,
}

/// What `break` and `continue` mean.
#[derive(Default)]
struct Target {
    breaks: Vec<State>,
    continues: Vec<State>,
    is_loop: bool,
}

/// A `switch` whose body is executed.
struct Switch {
    value: Term,
    from: State,
    cases: Vec<(u64, u64)>,
}

/// A function that is executed.
#[derive(Default)]
struct Frame {
    name: String,
    returns: Vec<(State, Option<Value>)>,
    result: Option<Type>,
    gotos: FxHashMap<String, Vec<State>>,
    targets: Vec<Target>,
    switches: Vec<Switch>,
    scopes: Vec<Scope>,
    /// The last object of every declaration: a jump past it goes on with that.
    declared: FxHashMap<usize, ObjectId>,
    guard: Option<Term>,
    /// Variables of blocks that have ended.
    ended: Vec<ObjectId>,
    /// Where it was called.
    from: Option<Span>,
}

/// How a thread uses a cell: when it last read it, and when it last wrote it.
#[derive(Clone, Copy, Default)]
struct Use {
    read: Option<usize>,
    write: Option<usize>,
}

/// What only the executor knows of a thread.
struct Body {
    /// Accesses so far.
    clock: usize,
    parent: usize,
    /// The parent's clock when it was created.
    created_at: usize,
    result: Option<Value>,
}

/// An execution.
pub(crate) struct Exec<'a> {
    source: &'a Source,
    options: &'a Options,
    space: &'a mut Space,
    terms: TermStore,
    state: State,
    functions: FxHashMap<String, &'a FunctionDefinition>,
    records: Vec<Record>,
    globals: Scope,
    /// Global variables that every thread has, with what they start with.
    locals: FxHashMap<String, (Type, Option<&'a lang_c::ast::Initializer>)>,
    initialised: FxHashSet<ObjectId>,
    frames: Vec<Frame>,
    /// The thread that is executed.
    thread: usize,
    threads: Vec<Thread>,
    bodies: Vec<Body>,
    made: FxHashMap<(usize, usize), usize>,
    mallocs: usize,
    defaults: FxHashMap<CellKey, Term>,
    cells: Vec<Cell>,
    cell_ids: FxHashMap<CellKey, CellId>,
    initial: Option<Env>,
    uses: FxHashMap<CellKey, FxHashMap<usize, Use>>,
    stored: FxHashMap<CellKey, ValueSet>,
    new_shared: FxHashSet<CellKey>,
    freed: FxHashSet<ObjectId>,
    /// Variables whose block has ended.
    gone: FxHashSet<ObjectId>,
    /// When weak exchanges have failed for no reason.
    spurious: Vec<Term>,
    writers: FxHashMap<CellKey, u32>,
    checks: Vec<Check>,
    cuts: Vec<Check>,
    inputs: Vec<Input>,
    here: Span,
    /// Whether only the type of an expression is wanted: functions are not executed.
    only_type: bool,
    /// Whether what is accessed is a part of a structure that is copied.
    copies: bool,
}

/// What the next execution must know.
pub(crate) struct Learned {
    pub(crate) shared: FxHashSet<CellKey>,
    pub(crate) stored: FxHashMap<CellKey, ValueSet>,
    pub(crate) freed: FxHashSet<ObjectId>,
    /// The threads that write a shared cell, as bits.
    pub(crate) writers: FxHashMap<CellKey, u32>,
}

/// Executes a program. What was learned is told even if something was refused.
pub(crate) fn execute(
    source: &Source,
    options: &Options,
    space: &mut Space,
) -> (Learned, Result<Program>) {
    let mut exec = Exec::new(source, options, space);
    let result = exec.run();
    let (stored, freed) = (std::mem::take(&mut exec.stored), std::mem::take(&mut exec.freed));
    let writers = std::mem::take(&mut exec.writers);
    let learned = Learned { shared: exec.conflicts(), stored, freed, writers };
    let program = result.map(|()| exec.program());
    (learned, program)
}

impl<'a> Exec<'a> {
    fn new(source: &'a Source, options: &'a Options, space: &'a mut Space) -> Self {
        Exec {
            source,
            options,
            space,
            terms: TermStore::default(),
            state: State { guard: TRUE, env: Env::default() },
            functions: FxHashMap::default(),
            records: vec![],
            globals: Scope::default(),
            locals: FxHashMap::default(),
            initialised: FxHashSet::default(),
            frames: vec![],
            thread: 0,
            threads: vec![],
            bodies: vec![],
            made: FxHashMap::default(),
            mallocs: 0,
            defaults: FxHashMap::default(),
            cells: vec![],
            cell_ids: FxHashMap::default(),
            initial: None,
            uses: FxHashMap::default(),
            stored: FxHashMap::default(),
            new_shared: FxHashSet::default(),
            freed: FxHashSet::default(),
            gone: FxHashSet::default(),
            spurious: vec![],
            writers: FxHashMap::default(),
            checks: vec![],
            cuts: vec![],
            inputs: vec![],
            here: Span::none(),
            only_type: false,
            copies: false,
        }
    }

    fn run(&mut self) -> Result<()> {
        self.threads.push(Thread {
            name: String::from("main"),
            created: None,
            events: vec![],
            stuck: vec![],
            end: TRUE,
        });
        self.bodies.push(Body { clock: 0, parent: 0, created_at: 0, result: None });
        self.frames.push(Frame::default());
        let source = self.source;
        for declaration in &source.unit.0 {
            self.here = declaration.span;
            match &declaration.node {
                ExternalDeclaration::Declaration(declaration) => {
                    self.declare_global(declaration)?;
                }
                ExternalDeclaration::StaticAssert(_) => {}
                ExternalDeclaration::FunctionDefinition(function) => {
                    self.define_function(function)?;
                }
            }
        }
        self.frames.pop();
        let Some(&main) = self.functions.get("main") else {
            return Err(Refusal::new("the program", "there is no function main"));
        };
        let arguments = self.main_arguments(main)?;
        self.call(main, arguments)?;
        self.threads[0].end = self.state.guard;
        Ok(())
    }

    fn program(self) -> Program {
        let Exec { terms, cells, threads, checks, cuts, inputs, .. } = self;
        Program { terms, cells, threads, checks, cuts, inputs }
    }

    /// Cells that threads access at the same time, and one of them writes.
    fn conflicts(&self) -> FxHashSet<CellKey> {
        let mut shared = self.new_shared.clone();
        for (&cell, uses) in &self.uses {
            let mut uses: Vec<(usize, Use)> = uses.iter().map(|(&t, &u)| (t, u)).collect();
            uses.sort_unstable_by_key(|&(thread, _)| thread);
            let pairs =
                uses.iter().enumerate().flat_map(|(i, a)| uses[..i].iter().map(move |b| (b, a)));
            if pairs.into_iter().any(|(a, b)| self.conflict(*a, *b)) {
                shared.insert(cell);
            }
        }
        shared
    }

    /// Whether two threads may use a cell at the same time; the first one is the older one.
    fn conflict(&self, (p, a): (usize, Use), (t, b): (usize, Use)) -> bool {
        let begin = self.begin(p, t);
        let late = |at: Option<usize>| at.is_some_and(|at| begin.is_none_or(|begin| at >= begin));
        late(a.write) || b.write.is_some() && late(a.read)
    }

    /// When the clock of the first thread began to run beside the second.
    fn begin(&self, ancestor: usize, mut thread: usize) -> Option<usize> {
        while thread != 0 {
            let body = &self.bodies[thread];
            if body.parent == ancestor {
                return Some(body.created_at);
            }
            thread = body.parent;
        }
        None
    }

    fn refuse<T>(&self, what: impl Into<String>) -> Result<T> {
        Err(Refusal::new(self.place(), what))
    }

    /// Where the program is; in a function of our headers, where that was called.
    fn place(&self) -> String {
        let mut here = self.here;
        for from in self.frames.iter().rev().filter_map(|frame| frame.from) {
            if !self.source.is_header(here) {
                break;
            }
            here = from;
        }
        self.source.place(here)
    }

    fn is_dead(&self) -> bool {
        self.state.guard == FALSE
    }

    /// From here on only where this is true.
    fn assume(&mut self, condition: Term) {
        self.state.guard = self.terms.and(self.state.guard, condition);
    }

    fn event(&mut self, action: Action) {
        let (guard, place, is_part) = (self.state.guard, self.place(), self.copies);
        let event = Event { guard, action, place, is_part };
        self.threads[self.thread].events.push(event);
    }

    fn after(&self) -> usize {
        self.threads[self.thread].events.len()
    }

    /// Something goes wrong if this is true.
    fn fails_if(&mut self, condition: Term, kind: &'static str, message: impl Into<String>) {
        let fails = self.terms.and(self.state.guard, condition);
        if fails != FALSE {
            let check = self.check(fails, kind, message.into());
            self.checks.push(check);
        }
        let goes_on = self.terms.not(condition);
        self.assume(goes_on);
    }

    /// A bound ends the execution here.
    fn cut(&mut self, message: impl Into<String>) {
        let check = self.check(self.state.guard, "bound", message.into());
        self.cuts.push(check);
        self.state.guard = FALSE;
    }

    fn check(&self, fails: Term, kind: &'static str, message: String) -> Check {
        let (thread, after, place) = (self.thread, self.after(), self.place());
        Check { thread, after, fails, kind, message, place }
    }

    /// One of two states, the first one if the condition is true.
    fn merge(&mut self, condition: Term, a: State, b: State) -> State {
        if a.guard == FALSE {
            return b;
        }
        if b.guard == FALSE {
            return a;
        }
        let guard = self.terms.or(a.guard, b.guard);
        let env = self.merge_env(condition, a.env, &b.env);
        State { guard, env }
    }

    fn merge_env(&mut self, condition: Term, mut a: Env, b: &Env) -> Env {
        if Rc::ptr_eq(&a, b) {
            return a;
        }
        let mut changed: Vec<(CellKey, Term)> = vec![];
        for (&cell, &other) in b.iter() {
            match a.get(&cell) {
                Some(&term) if term == other => {}
                Some(&term) => changed.push((cell, self.terms.ite(condition, term, other))),
                None => {
                    let term = self.default(cell, self.terms.width(other));
                    changed.push((cell, self.terms.ite(condition, term, other)));
                }
            }
        }
        for (&cell, &term) in a.iter().filter(|(cell, _)| !b.contains_key(*cell)) {
            let other = self.default(cell, self.terms.width(term));
            changed.push((cell, self.terms.ite(condition, term, other)));
        }
        if !changed.is_empty() {
            Rc::make_mut(&mut a).extend(changed);
        }
        a
    }

    /// One of several states, whichever is true.
    fn merge_all(&mut self, states: Vec<State>) -> State {
        let dead = State { guard: FALSE, env: self.state.env.clone() };
        let mut states = states.into_iter().rev();
        let Some(last) = states.next() else { return dead };
        states.fold(last, |rest, state| self.merge(state.guard, state, rest))
    }

    /// What memory holds that nobody has written: zero, or something that is no pointer either.
    fn default(&mut self, cell: CellKey, width: u8) -> Term {
        let zero = self.terms.constant(0, width);
        if self.space.objects[cell.0].zeroed {
            return zero;
        }
        if let Some(&term) = self.defaults.get(&cell) {
            return term;
        }
        let (either, other) = (self.terms.var(1), self.terms.constant(GARBAGE, width));
        let term = self.terms.ite(either, zero, other);
        self.defaults.insert(cell, term);
        term
    }

    /// A new object of this thread, made here.
    fn make(&mut self, name: &str, size: u64, zeroed: bool) -> ObjectId {
        let spot = crate::space::spot(self.here);
        let count = self.made.entry((self.thread, spot)).or_default();
        *count += 1;
        let key = ObjectKey::Made(self.thread, spot, *count);
        let object = self.space.object(key, name, size, zeroed);
        self.gone.remove(&object);
        object
    }
}
