//! Emits the sequentialized program in C, for any bounded model checker.
//!
//! Each thread becomes a function: a sequence of blocks, one per visible statement. A nondeterministic input decides
//! how far a thread runs in a turn. Each block first computes the terms that its statement needs. Shared memory is an
//! array, or, under TSO and PSO, the lists of eTSO-SMA and PSO-SMA (see `memory/etso.rs`). Inputs, assumptions and
//! errors follow the conventions of SV-COMP (`__VERIFIER_nondet_ulong`, `__VERIFIER_assume`, `reach_error`), so
//! `raddle bmc` accepts the emitted program, too.
//!
//! Every value is an `unsigned long` whose bits beyond its width are 0.

use std::fmt::Write;

use raddle_core::model::orders::StoreBuffers;
use rustc_hash::FxHashSet;

use crate::options::BmcOptions;
use crate::program::{Check, UnrolledProgram, VisibleAction};
use crate::term::{BinaryOp, Term, TermNode, mask};

/// Declarations at the beginning of every emitted program.
const PRELUDE: &str = "\
extern unsigned long __VERIFIER_nondet_ulong(void);
extern void __VERIFIER_assume(int);
extern void reach_error(void);
typedef unsigned long word;
#define ASSUME(condition) __VERIFIER_assume((condition) != 0)
#define ANY() __VERIFIER_nondet_ulong()
";

/// Shared memory without store buffers.
const DIRECT: &str = "\
static word memory[CELLS];
static word sma_read(int v, int t) { return memory[v]; }
static void sma_write(int v, int t, word value) { memory[v] = value; }
static void sma_fence(int t) {}
static void sma_store_fence(int t) {}
static word sma_fetch(int v, int t) { return memory[v]; }
static void sma_put(int v, int t, word value) { memory[v] = value; }
static void sma_init(int v, word value) { memory[v] = value; }
static int sma_drained(int t) { return 1; }
";

/// Shared memory as lists of writes with time stamps.
const LISTS: &str = "\
static word clock, value[CELLS][N + 1], tstamp[CELLS][N + 1], prev[CELLS][N + 1], next[CELLS][N + 1];
static word last_value[CELLS][THREADS], last_tstamp[CELLS][THREADS], max_tstamp[THREADS], floor_tstamp[THREADS];
static void sma_init(int v, word initial) {
    for (int i = 0; i <= N; i++) {
        value[v][i] = initial;
        tstamp[v][i] = i < N ? 0 : K + 1;
        next[v][i] = (i + 1) % (N + 1);
        prev[v][i] = (i + N) % (N + 1);
    }
}
static void clock_update(void) {
    word later = ANY();
    ASSUME(clock <= later && later <= K);
    clock = later;
}
static word sma_fetch(int v, int t) {
    word node = ANY();
    ASSUME(node < N && tstamp[v][node] <= clock && tstamp[v][next[v][node]] > clock);
    return value[v][node];
}
static word sma_read(int v, int t) {
    clock_update();
    if (last_tstamp[v][t] > clock)
        return last_value[v][t];
    return sma_fetch(v, t);
}
static void insert(int v, int t, word val, word ts) {
    word node = next[v][N];
    ASSUME(tstamp[v][next[v][node]] <= clock);
    next[v][N] = next[v][node];
    prev[v][next[v][N]] = N;
    word succ = ANY();
    ASSUME(succ <= N && tstamp[v][succ] > clock);
    word pred = prev[v][succ];
    ASSUME(ts >= clock && ts >= floor_tstamp[t] && ts >= (PSO ? last_tstamp[v][t] : max_tstamp[t]));
    ASSUME(ts >= tstamp[v][pred] && ts < tstamp[v][succ]);
    value[v][node] = val;
    tstamp[v][node] = ts;
    next[v][pred] = node;
    prev[v][node] = pred;
    next[v][node] = succ;
    prev[v][succ] = node;
    last_value[v][t] = val;
    last_tstamp[v][t] = ts;
    if (ts > max_tstamp[t])
        max_tstamp[t] = ts;
}
static void sma_write(int v, int t, word val) {
    clock_update();
    word ts = ANY();
    ASSUME(ts <= K);
    insert(v, t, val, ts);
}
static void sma_fence(int t) {
    clock_update();
    ASSUME(max_tstamp[t] <= clock);
}
static void sma_store_fence(int t) { floor_tstamp[t] = max_tstamp[t]; }
static void sma_put(int v, int t, word val) { insert(v, t, val, clock); }
static int sma_drained(int t) {
    clock_update();
    return max_tstamp[t] <= clock;
}
";

struct Emitter<'a> {
    program: &'a UnrolledProgram,
    text: String,
    /// The thread whose function is emitted.
    thread: usize,
    /// Terms that the function computes before the current position.
    computed: FxHashSet<Term>,
    /// Term variables that occur, by index.
    variables: FxHashSet<u32>,
    /// C variables for terms, by thread, that must be declared.
    declared: FxHashSet<(usize, Term)>,
}

/// The sequentialized program, in C.
pub(crate) fn emit(program: &UnrolledProgram, options: &BmcOptions) -> String {
    let mut emitter = Emitter {
        program,
        text: String::new(),
        thread: 0,
        computed: FxHashSet::default(),
        variables: FxHashSet::default(),
        declared: FxHashSet::default(),
    };
    for thread in 0..program.threads.len() {
        emitter.thread_function(thread);
    }
    emitter.main_function(options.rounds);
    let (functions, declarations) =
        (std::mem::take(&mut emitter.text), emitter.declarations(options));
    declarations + &functions
}

impl Emitter<'_> {
    /// The prelude, shared memory and all variables.
    fn declarations(&self, options: &BmcOptions) -> String {
        let (threads, cells) = (self.program.threads.len(), self.program.cells.len().max(1));
        let mut text = format!(
            "// {}, sequentialized: {} rounds, {}\n{PRELUDE}#define CELLS {cells}\n#define THREADS {threads}\n",
            options.file.display(),
            options.rounds,
            options.model.name()
        );
        if options.store_buffers() == StoreBuffers::None {
            text += DIRECT;
        } else {
            let is_pso = options.store_buffers() == StoreBuffers::PerLocation;
            let (nodes, max_time, pso) = (options.nodes.max(2), options.max_time, u8::from(is_pso));
            let _ =
                write!(text, "#define N {nodes}\n#define K {max_time}\n#define PSO {pso}\n{LISTS}");
        }
        let _ = writeln!(text, "static int pc[THREADS], created[THREADS], ended[THREADS];");
        let mut variables: Vec<u32> = self.variables.iter().copied().collect();
        variables.sort_unstable();
        for variable in variables {
            let _ = writeln!(text, "static word v{variable};");
        }
        let mut declared: Vec<(usize, Term)> = self.declared.iter().copied().collect();
        declared.sort_unstable();
        for (thread, term) in declared {
            let _ = writeln!(text, "static word t{thread}_{};", term.0);
        }
        text
    }

    /// Emits assignments for a term and its subterms, unless they are computed already.
    fn compute(&mut self, term: Term) {
        let mut open = vec![(term, false)];
        while let Some((term, has_operands)) = open.pop() {
            if self.computed.contains(&term) {
                continue;
            }
            let operands: Vec<Term> = self.program.terms.node(term).operands().collect();
            if operands.is_empty() {
                if let TermNode::Var(index) = self.program.terms.node(term) {
                    self.variables.insert(index);
                }
                self.computed.insert(term);
            } else if has_operands {
                self.computed.insert(term);
                self.declared.insert((self.thread, term));
                let (thread, value) = (self.thread, self.expression(term));
                let _ = writeln!(self.text, "        t{thread}_{} = {value};", term.0);
            } else {
                open.push((term, true));
                open.extend(operands.into_iter().map(|operand| (operand, false)));
            }
        }
    }

    /// The C expression for a term that is computed already: a literal or a variable.
    fn name(&self, term: Term) -> String {
        match self.program.terms.node(term) {
            TermNode::Const(value) => format!("{value}ul"),
            TermNode::Var(index) => format!("v{index}"),
            _ => format!("t{}_{}", self.thread, term.0),
        }
    }

    /// The C expression that computes a term from its operands.
    fn expression(&self, term: Term) -> String {
        let terms = &self.program.terms;
        let ones = mask(terms.width(term));
        let signed = |term: Term| {
            let shift = 64 - terms.width(term);
            format!("((long)({} << {shift}) >> {shift})", self.name(term))
        };
        let text = match terms.node(term) {
            TermNode::Const(_) | TermNode::Var(_) => return self.name(term),
            TermNode::Not(a) => format!("~{}", self.name(a)),
            TermNode::Ite(c, a, b) => {
                format!("{} ? {} : {}", self.name(c), self.name(a), self.name(b))
            }
            TermNode::Zext(a) => self.name(a),
            TermNode::Sext(a) => format!("(word){}", signed(a)),
            TermNode::Extract(a, low) => format!("{} >> {low}", self.name(a)),
            TermNode::Binary(op, a, b) => {
                let (x, y) = (self.name(a), self.name(b));
                let width = terms.width(a);
                match op {
                    BinaryOp::And => format!("{x} & {y}"),
                    BinaryOp::Xor => format!("{x} ^ {y}"),
                    BinaryOp::Add => format!("{x} + {y}"),
                    BinaryOp::Sub => format!("{x} - {y}"),
                    BinaryOp::Mul => format!("{x} * {y}"),
                    BinaryOp::Udiv => format!("{y} ? {x} / ({y} ? {y} : 1) : ~0ul"),
                    BinaryOp::Urem => format!("{y} ? {x} % ({y} ? {y} : 1) : {x}"),
                    BinaryOp::Shl => format!("{y} < {width} ? {x} << ({y} & 63) : 0"),
                    BinaryOp::Lshr => format!("{y} < {width} ? {x} >> ({y} & 63) : 0"),
                    BinaryOp::Ashr => {
                        let longest = width - 1;
                        format!("(word)({} >> ({y} < {width} ? {y} : {longest}))", signed(a))
                    }
                    BinaryOp::Eq => format!("{x} == {y}"),
                    BinaryOp::Ult => format!("{x} < {y}"),
                    BinaryOp::Slt => format!("{} < {}", signed(a), signed(b)),
                }
            }
        };
        format!("({text}) & {ones}ul")
    }

    fn thread_function(&mut self, thread: usize) {
        self.thread = thread;
        self.computed.clear();
        let program = self.program;
        let body = &program.threads[thread];
        let _ = writeln!(self.text, "static void thread{thread}(int stop) {{ // {}", body.name);
        let _ = writeln!(
            self.text,
            "    if (created[{thread}] == 1) {{\n        created[{thread}] = 2;"
        );
        self.after_statements(0);
        self.text += "    }\n";
        for (index, statement) in body.statements.iter().enumerate() {
            let _ = writeln!(
                self.text,
                "    if (pc[{thread}] <= {index} && {index} < stop) {{ // {}",
                statement.place
            );
            self.compute(statement.guard);
            statement.action.terms().into_iter().for_each(|term| self.compute(term));
            let guard = self.name(statement.guard);
            let _ = writeln!(self.text, "        if ({guard}) {{");
            self.action(&statement.action);
            self.text += "        }\n";
            self.after_statements(index + 1);
            self.text += "    }\n";
        }
        let _ = writeln!(self.text, "    pc[{thread}] = stop;\n}}");
    }

    /// Emits the checks and thread creations after the first `count` statements, and the end of the thread if these are
    /// all.
    fn after_statements(&mut self, count: usize) {
        let (program, thread) = (self.program, self.thread);
        let is_here = |check: &&Check| check.thread == thread && check.after == count;
        for check in program.checks.iter().filter(is_here) {
            self.compute(check.fails);
            let (fails, message) = (self.name(check.fails), check.message.replace("*/", "* /"));
            let _ = writeln!(
                self.text,
                "        if ({fails}) reach_error(); /* {}: {message} */",
                check.place
            );
        }
        for (child, body) in program.threads.iter().enumerate() {
            if let Some(creation) = body.creation
                && (creation.parent, creation.after) == (thread, count)
            {
                self.compute(creation.guard);
                let guard = self.name(creation.guard);
                let _ = writeln!(self.text, "        if ({guard}) created[{child}] = 1;");
            }
        }
        let body = &program.threads[thread];
        if count == body.statements.len() {
            self.compute(body.end);
            let _ = writeln!(self.text, "        ended[{thread}] = {};", self.name(body.end));
        }
    }

    fn action(&mut self, action: &VisibleAction) {
        let thread = self.thread;
        match action {
            VisibleAction::Read { at, out } => {
                for &(cell, condition) in at {
                    self.assign_read(condition, *out, &format!("sma_read({cell}, {thread})"));
                }
            }
            VisibleAction::Write { at, value, releases } => {
                if *releases {
                    let _ = writeln!(self.text, "            sma_store_fence({thread});");
                }
                for &(cell, condition) in at {
                    let (condition, value) = (self.name(condition), self.name(*value));
                    let _ = writeln!(
                        self.text,
                        "            if ({condition}) sma_write({cell}, {thread}, {value});"
                    );
                }
            }
            VisibleAction::Update { at, out, new, writes, ready } => {
                let _ = writeln!(self.text, "            sma_fence({thread});");
                if let Some(out) = *out {
                    for &(cell, condition) in at {
                        self.assign_read(condition, out, &format!("sma_fetch({cell}, {thread})"));
                    }
                    // These terms were computed before the read.
                    [new, writes, ready].into_iter().for_each(|&term| self.recompute(term, out));
                }
                let _ = writeln!(self.text, "            ASSUME({});", self.name(*ready));
                for &(cell, condition) in at {
                    let (condition, writes) = (self.name(condition), self.name(*writes));
                    let new = self.name(*new);
                    let _ = writeln!(
                        self.text,
                        "            if ({condition} && {writes}) sma_put({cell}, {thread}, {new});"
                    );
                }
            }
            VisibleAction::Fence => {
                let _ = writeln!(self.text, "            sma_fence({thread});");
            }
            VisibleAction::StoreFence => {
                let _ = writeln!(self.text, "            sma_store_fence({thread});");
            }
            VisibleAction::Join(threads) => {
                for &(joined, condition) in threads {
                    let condition = self.name(condition);
                    let _ = writeln!(
                        self.text,
                        "            if ({condition}) ASSUME(ended[{joined}] && sma_drained({joined}));"
                    );
                }
            }
        }
    }

    /// Emits the assignment of the value that is read to its variable. If `out` is a sign-extended variable, assumes
    /// that the value fits.
    fn assign_read(&mut self, condition: Term, out: Term, read: &str) {
        let inner = match self.program.terms.node(out) {
            TermNode::Sext(inner) => inner,
            _ => out,
        };
        let TermNode::Var(index) = self.program.terms.node(inner) else { return };
        self.variables.insert(index);
        let condition = self.name(condition);
        match inner == out {
            true => {
                let _ = writeln!(self.text, "            if ({condition}) v{index} = {read};");
            }
            false => {
                let (narrow, wide) =
                    (mask(self.program.terms.width(inner)), mask(self.program.terms.width(out)));
                let shift = 64 - self.program.terms.width(inner);
                let _ = writeln!(
                    self.text,
                    "            if ({condition}) {{ word all = {read}; v{index} = all & {narrow}ul; \
                     ASSUME(all == ((word)((long)(v{index} << {shift}) >> {shift}) & {wide}ul)); }}"
                );
            }
        }
    }

    /// Emits the assignments for all subterms of `term` that depend on `changed` once more, operands first.
    fn recompute(&mut self, term: Term, changed: Term) {
        let (mut order, mut open, mut seen) = (vec![], vec![(term, false)], FxHashSet::default());
        while let Some((term, has_operands)) = open.pop() {
            if has_operands {
                order.push(term);
            } else if seen.insert(term) {
                open.push((term, true));
                open.extend(self.program.terms.node(term).operands().map(|term| (term, false)));
            }
        }
        let mut depends: FxHashSet<Term> = FxHashSet::from_iter([changed]);
        if let TermNode::Sext(inner) = self.program.terms.node(changed) {
            depends.insert(inner);
        }
        for term in order {
            let mut operands = self.program.terms.node(term).operands();
            if operands.any(|operand| depends.contains(&operand)) {
                depends.insert(term);
                let (thread, value) = (self.thread, self.expression(term));
                self.declared.insert((thread, term));
                let _ = writeln!(self.text, "            t{thread}_{} = {value};", term.0);
            }
        }
    }

    fn main_function(&mut self, rounds: usize) {
        let program = self.program;
        self.thread = 0;
        self.computed.clear();
        let thread_functions = std::mem::take(&mut self.text);
        for (index, cell) in program.cells.iter().enumerate() {
            self.compute(cell.initial);
            let value = self.name(cell.initial);
            let _ = writeln!(self.text, "    sma_init({index}, {value}); // {}", cell.name);
        }
        let initialization = std::mem::replace(&mut self.text, thread_functions);
        self.text += "int main(void) {\n";
        let statements = program.threads.iter().flat_map(|thread| &thread.statements);
        let read: FxHashSet<Term> =
            statements.filter_map(|statement| statement.action.out()).collect();
        let mut variables: Vec<u32> = self.variables.iter().copied().collect();
        variables.sort_unstable();
        for index in variables {
            let (term, values) = program.terms.variable(index);
            if !read.contains(&term) {
                let possible = mask(program.terms.width(term)) & !values.zeros();
                let _ = writeln!(self.text, "    v{index} = ANY() & {possible}ul;");
            }
        }
        let _ = writeln!(self.text, "{initialization}    created[0] = 1;");
        let turn = |text: &mut String, thread: usize, indent: &str| {
            let count = program.threads[thread].statements.len();
            let _ = writeln!(
                text,
                "{indent}stop = ANY();\n\
                 {indent}ASSUME(pc[{thread}] <= stop && stop <= {count} && (created[{thread}] || stop == 0));\n\
                 {indent}thread{thread}(stop);"
            );
        };
        let _ = writeln!(
            self.text,
            "    word stop;\n    for (int round = 0; round < {rounds}; round++) {{"
        );
        for thread in 0..program.threads.len() {
            turn(&mut self.text, thread, "        ");
        }
        self.text += "    }\n";
        turn(&mut self.text, 0, "    ");
        self.text += "    return 0;\n}\n";
    }
}
