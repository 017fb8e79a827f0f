//! Symbolic execution of all threads, one after the other, with merging of paths.
//!
//! A thread is executed once, along all paths together: at a branch both sides are executed under their conditions, and
//! where they meet, local memory that differs becomes an `ite` term. The value that a visible statement reads is a new
//! variable. So a thread becomes a list of guarded visible statements, in the order of its unrolled text, and its local
//! code becomes terms.
//!
//! Lazy sequentialization as published (Inverso, Tomasco, Fischer, La Torre, Parlato, CAV 2014) repeats the whole
//! thread in every round and relies on the back end to recognise equal local code. Here local code is executed once,
//! and only visible statements are repeated (see `sequentialize`).
//!
//! | modules | |
//! |---|---|
//! | `stmt`, `switch`, `loops`, `spin` | control flow |
//! | `expr`, `lvalue`, `operator` | expressions |
//! | `access`, `lifetime` | memory accesses; freed blocks and ended scopes |
//! | `call` | functions of the program |
//! | `builtin`, `atomic`, `thread` | functions that the executor implements |
//! | `declare`, `init` | types, declarations, initializers |

mod access;
mod atomic;
mod builtin;
mod call;
mod declare;
mod expr;
mod init;
mod lifetime;
mod loops;
mod lvalue;
mod operator;
mod spin;
mod stmt;
mod switch;
mod thread;

use std::rc::Rc;

use lang_c::ast::{ExternalDeclaration, FunctionDefinition};
use lang_c::span::Span;
use raddle_core::outcome::FindingKind;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::abi_type::{AbiType, RecordLayout};
use crate::address_space::{AddressSpace, CellKey, ObjectId, ObjectKey, span_key};
use crate::error::BmcError;
use crate::facts::MemoryFacts;
use crate::options::BmcOptions;
use crate::parse::ParsedSource;
use crate::program::{
    CellId, Check, NondetInput, SharedCell, UnrolledProgram, UnrolledThread, VisibleAction,
    VisibleStatement,
};
use crate::term::{FALSE, TRUE, Term, TermStore};

/// The result of executing a construct, which may be unsupported.
pub(crate) type Result<T> = std::result::Result<T, BmcError>;

const FLOATING_POINT: &str = "floating-point values are not supported";

const TOO_FEW_ARGUMENTS: &str = "the call has too few arguments";

/// A possible content of uninitialised memory, besides 0. It is not an address.
const GARBAGE: u64 = 0xa5a5_a5a5_a5a5_a5a5;

/// The contents of local memory. Cells that are missing have their initial content.
type Env = Rc<FxHashMap<CellKey, Term>>;

/// The state of a thread at a point of its control flow, merged over all paths that reach the point.
#[derive(Clone)]
struct PathState {
    /// The condition under which an execution reaches the point. `FALSE`: the point is dead.
    guard: Term,
    env: Env,
}

/// The value of an expression: a scalar, or the scalars of a structure in the order of their offsets.
#[derive(Clone, Debug)]
enum CValue {
    Scalar(Term),
    Record(Vec<Term>),
}

/// The meaning of an identifier.
#[derive(Clone)]
enum CSymbol {
    Typedef(AbiType),
    Variable(ObjectId, AbiType),
    /// A thread-local variable: every thread has an object of its own.
    ThreadLocal(AbiType),
    Constant(i64),
    Function(AbiType),
}

/// A scope of identifiers.
#[derive(Default)]
struct BlockScope {
    names: FxHashMap<String, CSymbol>,
    /// Structures and unions, by tag.
    tags: FxHashMap<String, usize>,
    /// Automatic variables of the scope.
    objects: Vec<ObjectId>,
}

/// A statement that `break` or `continue` may leave, with the states that do.
#[derive(Default)]
struct JumpTarget {
    breaks: Vec<PathState>,
    continues: Vec<PathState>,
    is_loop: bool,
}

/// A `switch` whose body is being executed.
struct OpenSwitch {
    value: Term,
    /// The state before the body. Its guard excludes the cases that were entered already.
    entry: PathState,
    /// All case labels, as inclusive ranges.
    cases: Vec<(u64, u64)>,
}

/// A function that is being executed.
#[derive(Default)]
struct CallFrame {
    name: String,
    /// The states that return, with the returned values.
    returns: Vec<(PathState, Option<CValue>)>,
    result_type: Option<AbiType>,
    /// The states that wait at a `goto` for their label.
    gotos: FxHashMap<String, Vec<PathState>>,
    targets: Vec<JumpTarget>,
    switches: Vec<OpenSwitch>,
    scopes: Vec<BlockScope>,
    /// The last object of every declaration, by [`span_key`]. Jumps past the declaration use it.
    last_objects: FxHashMap<usize, ObjectId>,
    /// The guard at the call. `None` for the frame of globals and the bottom frame of a thread.
    entry_guard: Option<Term>,
    /// Variables whose scopes have ended.
    ended_objects: Vec<ObjectId>,
    called_from: Option<Span>,
}

/// The clock values of the last read and the last write of a cell by a thread. A write counts as a read, too.
#[derive(Clone, Copy, Default)]
struct CellUse {
    read: Option<usize>,
    write: Option<usize>,
}

/// Data of a thread that only the executor needs. Its visible statements are in [`UnrolledThread`].
struct SymbolicThread {
    /// The number of accesses so far.
    clock: usize,
    parent: usize,
    /// The clock of the parent at the creation.
    created_at: usize,
    /// The result for `pthread_join`.
    result: Option<CValue>,
}

/// Executes a program symbolically.
pub(crate) struct SymbolicExecutor<'a> {
    source: &'a ParsedSource,
    options: &'a BmcOptions,
    space: &'a mut AddressSpace,
    /// Facts that this execution assumes.
    assumed: &'a MemoryFacts,
    /// Facts that this execution observes.
    observed: MemoryFacts,
    terms: TermStore,
    /// The state at the current point of the current thread.
    state: PathState,
    functions: FxHashMap<String, &'a FunctionDefinition>,
    records: Vec<RecordLayout>,
    globals: BlockScope,
    /// Global thread-local variables, with their initializers.
    thread_locals: FxHashMap<String, (AbiType, Option<&'a lang_c::ast::Initializer>)>,
    /// Static variables whose initializers were executed.
    initialised: FxHashSet<ObjectId>,
    /// The call stack of the current thread.
    frames: Vec<CallFrame>,
    /// The current thread.
    thread: usize,
    threads: Vec<UnrolledThread>,
    symbolic_threads: Vec<SymbolicThread>,
    /// How many objects a thread has created at a position in the source.
    instance_counts: FxHashMap<(usize, usize), usize>,
    /// The number of heap blocks.
    mallocs: usize,
    /// The initial contents of cells that are not in objects with zeros.
    initial_contents: FxHashMap<CellKey, Term>,
    cells: Vec<SharedCell>,
    cell_ids: FxHashMap<CellKey, CellId>,
    /// Local memory of `main` when the first thread is created.
    initial_env: Option<Env>,
    /// How each thread uses each cell.
    uses: FxHashMap<CellKey, FxHashMap<usize, CellUse>>,
    /// Variables whose scopes have ended.
    ended_objects: FxHashSet<ObjectId>,
    /// For each weak compare-exchange, the condition under which it fails spuriously.
    spurious_failures: Vec<Term>,
    checks: Vec<Check>,
    cuts: Vec<Check>,
    inputs: Vec<NondetInput>,
    /// The position of the current expression or statement.
    here: Span,
    /// Whether only the type of an expression is wanted. Functions are not executed then.
    type_only: bool,
    /// Whether the current access copies a part of a structure.
    is_copying: bool,
}

/// Executes a program symbolically under assumptions about memory. Returns the facts that the execution observed, even
/// if the program is not supported.
pub(crate) fn execute(
    source: &ParsedSource,
    options: &BmcOptions,
    space: &mut AddressSpace,
    assumed: &MemoryFacts,
) -> (MemoryFacts, Result<UnrolledProgram>) {
    let mut exec = SymbolicExecutor::new(source, options, space, assumed);
    let result = exec.run();
    exec.add_shared_cells();
    let observed = std::mem::take(&mut exec.observed);
    (observed, result.map(|()| exec.into_program()))
}

impl<'a> SymbolicExecutor<'a> {
    fn new(
        source: &'a ParsedSource,
        options: &'a BmcOptions,
        space: &'a mut AddressSpace,
        assumed: &'a MemoryFacts,
    ) -> Self {
        SymbolicExecutor {
            source,
            options,
            space,
            assumed,
            observed: MemoryFacts::default(),
            terms: TermStore::default(),
            state: PathState { guard: TRUE, env: Env::default() },
            functions: FxHashMap::default(),
            records: vec![],
            globals: BlockScope::default(),
            thread_locals: FxHashMap::default(),
            initialised: FxHashSet::default(),
            frames: vec![],
            thread: 0,
            threads: vec![],
            symbolic_threads: vec![],
            instance_counts: FxHashMap::default(),
            mallocs: 0,
            initial_contents: FxHashMap::default(),
            cells: vec![],
            cell_ids: FxHashMap::default(),
            initial_env: None,
            uses: FxHashMap::default(),
            ended_objects: FxHashSet::default(),
            spurious_failures: vec![],
            checks: vec![],
            cuts: vec![],
            inputs: vec![],
            here: Span::none(),
            type_only: false,
            is_copying: false,
        }
    }

    /// Executes the declarations, then `main` and all threads that it creates.
    fn run(&mut self) -> Result<()> {
        self.threads.push(UnrolledThread {
            name: String::from("main"),
            creation: None,
            statements: vec![],
            blocked_forever: vec![],
            end: TRUE,
            left: FALSE,
        });
        self.symbolic_threads.push(SymbolicThread {
            clock: 0,
            parent: 0,
            created_at: 0,
            result: None,
        });
        self.frames.push(CallFrame::default());
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
            let file = self.options.file.display();
            return Err(BmcError::new(file, "the program has no function `main`"));
        };
        let arguments = self.main_arguments(main)?;
        self.call(main, arguments)?;
        self.threads[0].end = self.state.guard;
        Ok(())
    }

    fn into_program(self) -> UnrolledProgram {
        let SymbolicExecutor { terms, cells, threads, checks, cuts, inputs, .. } = self;
        UnrolledProgram { terms, cells, threads, checks, cuts, inputs }
    }

    /// Adds to the observed facts all cells that two threads may access concurrently, at least one of them writing.
    fn add_shared_cells(&mut self) {
        let mut shared = std::mem::take(&mut self.observed.shared);
        for (&cell, uses) in &self.uses {
            let mut uses: Vec<(usize, CellUse)> = uses.iter().map(|(&t, &u)| (t, u)).collect();
            uses.sort_unstable_by_key(|&(thread, _)| thread);
            let pairs =
                uses.iter().enumerate().flat_map(|(i, a)| uses[..i].iter().map(move |b| (b, a)));
            if pairs.into_iter().any(|(a, b)| self.may_conflict(*a, *b)) {
                shared.insert(cell);
            }
        }
        self.observed.shared = shared;
    }

    /// Returns `true` if two threads may access a cell concurrently, at least one of them writing. The first thread has
    /// the smaller number, so the second is not its ancestor.
    fn may_conflict(&self, (p, a): (usize, CellUse), (t, b): (usize, CellUse)) -> bool {
        let start = self.concurrent_from(p, t);
        let is_concurrent =
            |at: Option<usize>| at.is_some_and(|at| start.is_none_or(|start| at >= start));
        is_concurrent(a.write) || b.write.is_some() && is_concurrent(a.read)
    }

    /// The clock value of `ancestor` from which on it runs concurrently with `thread`. `None` if it is not an ancestor:
    /// then the threads run concurrently from the beginning.
    fn concurrent_from(&self, ancestor: usize, mut thread: usize) -> Option<usize> {
        while thread != 0 {
            let symbolic = &self.symbolic_threads[thread];
            if symbolic.parent == ancestor {
                return Some(symbolic.created_at);
            }
            thread = symbolic.parent;
        }
        None
    }

    /// The error that the program uses an unsupported construct at the current position.
    fn unsupported<T>(&self, message: impl Into<String>) -> Result<T> {
        Err(BmcError::new(self.place(), message))
    }

    /// The current position, `file:line`. In a function of the headers in `include` it is the position of the call.
    fn place(&self) -> String {
        let mut here = self.here;
        for from in self.frames.iter().rev().filter_map(|frame| frame.called_from) {
            if !self.source.is_header(here) {
                break;
            }
            here = from;
        }
        self.source.place(here)
    }

    /// Returns `true` if no execution reaches the current point.
    fn is_dead(&self) -> bool {
        self.state.guard == FALSE
    }

    /// Restricts the current path to executions in which the condition is true.
    fn assume(&mut self, condition: Term) {
        self.state.guard = self.terms.and(self.state.guard, condition);
    }

    fn push_statement(&mut self, action: VisibleAction) {
        let (guard, place, is_part) = (self.state.guard, self.place(), self.is_copying);
        let statement = VisibleStatement { guard, action, place, is_part };
        self.threads[self.thread].statements.push(statement);
    }

    /// The number of visible statements of the current thread so far.
    fn statement_count(&self) -> usize {
        self.threads[self.thread].statements.len()
    }

    /// Adds a check that fails if the condition is true. Execution continues if it is false.
    fn fails_if(&mut self, condition: Term, kind: FindingKind, message: impl Into<String>) {
        let fails = self.terms.and(self.state.guard, condition);
        if fails != FALSE {
            let check = self.new_check(fails, Some(kind), message.into());
            self.checks.push(check);
        }
        let continues = self.terms.not(condition);
        self.assume(continues);
    }

    /// Cuts the execution off at a bound.
    fn cut_off(&mut self, message: impl Into<String>) {
        let check = self.new_check(self.state.guard, None, message.into());
        self.cuts.push(check);
        self.state.guard = FALSE;
    }

    fn new_check(&self, fails: Term, kind: Option<FindingKind>, message: String) -> Check {
        let (thread, after, place) = (self.thread, self.statement_count(), self.place());
        Check { thread, after, fails, kind, message, place }
    }

    /// Merges two states: local memory is that of `a` if the condition is true.
    fn merge(&mut self, condition: Term, a: PathState, b: PathState) -> PathState {
        if a.guard == FALSE {
            return b;
        }
        if b.guard == FALSE {
            return a;
        }
        let guard = self.terms.or(a.guard, b.guard);
        let env = self.merge_env(condition, a.env, &b.env);
        PathState { guard, env }
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
                    let term = self.initial_content(cell, self.terms.width(other));
                    changed.push((cell, self.terms.ite(condition, term, other)));
                }
            }
        }
        for (&cell, &term) in a.iter().filter(|(cell, _)| !b.contains_key(*cell)) {
            let other = self.initial_content(cell, self.terms.width(term));
            changed.push((cell, self.terms.ite(condition, term, other)));
        }
        if !changed.is_empty() {
            Rc::make_mut(&mut a).extend(changed);
        }
        a
    }

    /// Merges states with disjoint guards.
    fn merge_all(&mut self, states: Vec<PathState>) -> PathState {
        let dead = PathState { guard: FALSE, env: self.state.env.clone() };
        let mut states = states.into_iter().rev();
        let Some(last) = states.next() else { return dead };
        states.fold(last, |rest, state| self.merge(state.guard, state, rest))
    }

    /// The content of a cell that was never written: zero or, if undefined, either zero or a value that is not an
    /// address.
    fn initial_content(&mut self, cell: CellKey, width: u8) -> Term {
        let zero = self.terms.constant(0, width);
        if self.space.objects[cell.0].zeroed {
            return zero;
        }
        if let Some(&term) = self.initial_contents.get(&cell) {
            return term;
        }
        let (is_zero, garbage) = (self.terms.var(1), self.terms.constant(GARBAGE, width));
        let term = self.terms.ite(is_zero, zero, garbage);
        self.initial_contents.insert(cell, term);
        term
    }

    /// A new object of the current thread, created at the current position.
    fn new_object(&mut self, name: &str, size: u64, zeroed: bool) -> ObjectId {
        let position = span_key(self.here);
        let count = self.instance_counts.entry((self.thread, position)).or_default();
        *count += 1;
        let key = ObjectKey::Instance(self.thread, position, *count);
        let object = self.space.object(key, name, size, zeroed);
        self.ended_objects.remove(&object);
        object
    }
}
