//! The programs, as scripts of any size.

use std::fmt::Write;

use raddle_testkit::script::Script;

/// A program with its name and its size.
pub(crate) struct Program {
    pub(crate) name: String,
    text: String,
    pub(crate) script: Script,
}

impl Program {
    pub(crate) fn parse(name: String, text: String) -> Self {
        let script = Script::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
        Program { name, text, script }
    }

    /// With another thread that stores to a location of its own.
    pub(crate) fn padded(&self, stores: usize) -> Self {
        let text =
            format!("own = 0\n{}thread own {{ repeat {stores} {{ store own 1 }} }}\n", self.text);
        Program::parse(format!("{}+{stores}", self.name), text)
    }

    /// Without accesses that only one thread can notice.
    pub(crate) fn without_private(self) -> Self {
        Program { script: self.script.without_private(), ..self }
    }

    /// With sequentially consistent loads, stores and updates.
    pub(crate) fn sequentially_consistent(&self) -> Self {
        let strong = |statement: &str| match statement.trim() {
            it if it.contains("{") || it.ends_with(" sc") => statement.to_string(),
            it if it.starts_with("store ") || it.contains("= load ") || it.contains("= add ") => {
                let end = statement.trim_end_matches([' ', '}']);
                format!("{end} sc{}", &statement[end.len()..])
            }
            _ => statement.to_string(),
        };
        let text = self.text.replace("{ ", "{\n").replace(" }", "\n}").replace("; ", "\n");
        let text: Vec<String> = text.lines().map(strong).collect();
        Program::parse(self.name.clone(), text.join("\n"))
    }
}

pub(crate) fn program(
    name: String,
    memory: &str,
    threads: impl IntoIterator<Item = String>,
) -> Program {
    let mut text = format!("{memory}\n");
    for (number, thread) in threads.into_iter().enumerate() {
        writeln!(text, "thread t{number} {{ {thread} }}").expect("a string");
    }
    Program::parse(name, text)
}

pub(crate) fn array(name: &str, len: usize) -> String {
    format!("{name} = [{}]", vec!["0"; len].join(", "))
}

/// Every thread increments a variable, not atomically.
pub(crate) fn inc(threads: usize) -> Program {
    program(
        format!("inc({threads})"),
        "x = 0",
        (0..threads).map(|_| "r = load x; store x r + 1".into()),
    )
}

/// One writer and many readers.
pub(crate) fn readers(readers: usize) -> Program {
    let reader = (0..readers).map(|_| "r = load x".into());
    program(
        format!("readers({readers})"),
        "x = 0",
        std::iter::once("store x 1".into()).chain(reader),
    )
}

/// Each thread increments a cell after reading the one before; one looks for the last zero.
pub(crate) fn lastzero(threads: usize) -> Program {
    let search = format!(
        "i = {threads}; repeat {} {{ r = load a[i]; if r == 0 {{ break }}; i = i - 1 }}",
        threads + 1
    );
    let others =
        (1..=threads).map(|cell| format!("r = load a[{}]; store a[{cell}] r + 1", cell - 1));
    program(
        format!("lastzero({threads})"),
        &array("a", threads + 1),
        std::iter::once(search).chain(others),
    )
}

/// Every thread increments a variable atomically.
pub(crate) fn faa(threads: usize) -> Program {
    program(format!("faa({threads})"), "x = 0", (0..threads).map(|_| "r = add x 1".into()))
}

/// Two threads compute Fibonacci numbers together.
pub(crate) fn fib_bench(rounds: usize) -> Program {
    let thread = |own: &str, other: &str| {
        format!("repeat {rounds} {{ r = load {own}; s = load {other}; store {own} r + s }}")
    };
    program(format!("fib_bench({rounds})"), "x = 0; y = 0", [thread("x", "y"), thread("y", "x")])
}

/// Peterson's algorithm, without waiting, for some rounds.
pub(crate) fn peterson(rounds: usize, fence: bool) -> Program {
    let fence_text = if fence { "fence sc;" } else { "" };
    let thread = |me: usize, other: usize| {
        let enter = format!("store flag[{me}] 1; store turn {other}; {fence_text}");
        let wait = format!(
            "r = load flag[{other}]; if r != 0 {{ s = load turn; if s == {other} {{ out = 1; break }} }}"
        );
        let work = format!("c = load n; store n c + 1; store flag[{me}] 0");
        format!("repeat {rounds} {{ {enter} {wait}; {work} }}")
    };
    let name = format!("peterson({rounds}){}", if fence { "+f" } else { "" });
    program(name, "flag = [0, 0]; turn = 0; n = 0", [thread(0, 1), thread(1, 0)])
}

/// Two threads with private work and a few shared accesses.
pub(crate) fn two50(private: usize, shared: usize) -> Program {
    let thread = |me: usize| {
        let mut text = String::new();
        for round in 0..shared {
            for work in 0..private {
                let cell = 2 + 2 * me + work % 2;
                write!(text, "r = load a[{cell}]; store a[{cell}] r + 1; ").expect("a string");
            }
            write!(text, "store a[{me}] {}; s = load a[{}]; ", round + 1, 1 - me)
                .expect("a string");
        }
        text
    };
    program(format!("two50({private},{shared})"), &array("a", 6), [thread(0), thread(1)])
}

/// Every thread increments a variable under a lock, some times.
pub(crate) fn locks(threads: usize, rounds: usize) -> Program {
    let thread = format!("repeat {rounds} {{ lock m; r = load x; store x r + 1; unlock m }}");
    program(format!("locks({threads},{rounds})"), "lock m; x = 0", vec![thread; threads])
}

/// Every thread writes its own variable and reads the next one's, some times.
pub(crate) fn ring(threads: usize, rounds: usize) -> Program {
    let thread = |me: usize| {
        let next = (me + 1) % threads;
        (1..=rounds).map(|round| format!("store a[{me}] {round}; r = load a[{next}]; ")).collect()
    };
    program(format!("ring({threads},{rounds})"), &array("a", threads), (0..threads).map(thread))
}

/// Some writers of one variable, and readers that read it twice.
pub(crate) fn wr2(writers: usize, readers: usize) -> Program {
    let write = (1..=writers).map(|value| format!("store x {value}"));
    let read = (0..readers).map(|_| "r = load x; s = load x".into());
    program(format!("wr2({writers},{readers})"), "x = 0", write.chain(read))
}

/// A spin lock with a bounded number of attempts.
pub(crate) fn casloop(threads: usize, tries: usize) -> Program {
    let critical = "s = load c; store c s + 1; store x 0; break";
    let thread = format!("repeat {tries} {{ r = cas x 0 1 sc; if r == 0 {{ {critical} }} }}");
    program(format!("casloop({threads},{tries})"), "x = 0; c = 0", vec![thread; threads])
}

/// The generator of the prototype's random programs.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % bound
    }
}

/// Random accesses, of which `updates` in ten are updates.
pub(crate) fn random(
    threads: usize,
    len: usize,
    variables: u64,
    updates: u64,
    seed: u64,
) -> Program {
    let mut numbers = Numbers(seed * 7777 + 5);
    for _ in 0..20 {
        numbers.below(2);
    }
    let mut access = || {
        let cell = numbers.below(variables);
        let kind = numbers.below(10);
        if kind < updates {
            if numbers.below(2) == 0 {
                format!("r0 = add a[{cell}] 1 sc")
            } else {
                let (expected, desired) = (numbers.below(3), numbers.below(3));
                format!("r0 = cas a[{cell}] {expected} {desired} sc")
            }
        } else if kind < updates + (10 - updates) / 2 {
            format!("r{} = load a[{cell}]", numbers.below(2))
        } else {
            format!("store a[{cell}] r{} + 1", numbers.below(2))
        }
    };
    let mut text = vec![];
    for _ in 0..threads {
        text.push((0..len).map(|_| access()).collect::<Vec<_>>().join("; "));
    }
    let name = format!("rand({threads}x{len},{variables}v,r{updates},s{seed})");
    program(name, &array("a", variables as usize), text)
}

/// All programs of the prototype, in its order.
pub(crate) fn all() -> Vec<Program> {
    let mut programs: Vec<Program> = (4..=7).map(inc).collect();
    programs.extend([readers(8), readers(15)]);
    programs.extend([8, 12, 14, 15].map(lastzero));
    programs.extend([faa(6), faa(8), fib_bench(3), fib_bench(4), fib_bench(5)]);
    programs.extend([peterson(2, false), peterson(2, true), peterson(3, true)]);
    programs.extend([two50(2, 4), two50(2, 5), locks(3, 2), locks(4, 2), ring(3, 3), ring(4, 3)]);
    programs.extend([wr2(3, 3), wr2(4, 4), casloop(3, 2), casloop(4, 2)]);
    programs.extend([random(2, 24, 3, 0, 1), random(3, 16, 4, 0, 2), random(4, 12, 4, 0, 3)]);
    programs.extend([random(4, 12, 4, 2, 4), random(8, 6, 4, 1, 5), random(8, 7, 2, 0, 6)]);
    programs.push(random(6, 9, 8, 1, 7));
    programs
}

/// The program of figure 13 of Bui et al., OOPSLA 2021: RF-SMC must keep many schedules.
pub(crate) fn figure13(pairs: usize) -> Program {
    let each = |statement: &dyn Fn(usize) -> String| -> String {
        (0..pairs).map(statement).collect::<Vec<_>>().join("; ")
    };
    let writes = each(&|cell| format!("store a[{cell}] 1"));
    let reads = each(&|cell| format!("store a[{cell}] 2; r = load a[{cell}]"));
    let memory = format!("y = 0; {}", array("a", pairs));
    let threads = ["store y 1; r = load y".into(), writes, format!("{reads}; store y 2")];
    program(format!("figure13({pairs})"), &memory, threads)
}
