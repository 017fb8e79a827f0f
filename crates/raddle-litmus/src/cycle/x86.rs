//! A cycle as a test for x86.

use super::CycleError;
use super::edge::{Dependency, Direction, Fence, Kind};
use super::events::{Event, Events, location_name};

const REGISTERS: [&str; 7] = ["EAX", "EBX", "ECX", "EDX", "ESI", "EDI", "EBP"];

/// A thread while it is being written.
#[derive(Default)]
struct Column {
    lines: Vec<String>,
    /// How many registers it uses.
    registers: usize,
    /// The registers that it reads into, with the values that the test asks for.
    asked: Vec<(&'static str, usize)>,
    /// The register of the last read.
    last: Option<&'static str>,
    /// How many labels it has.
    labels: usize,
}

/// What comes after the head.
pub(super) fn body(events: &Events) -> Result<String, CycleError> {
    let columns: Vec<Column> =
        events.threads.iter().map(|it| Column::new(it)).collect::<Result<_, _>>()?;
    Ok(format!("{{\n}}\n{}exists\n({})\n", rows(&columns), condition(events, &columns)))
}

fn rows(columns: &[Column]) -> String {
    let height = columns.iter().map(|column| column.lines.len()).max().unwrap_or(0);
    let width = |column: &Column| column.lines.iter().map(String::len).max().unwrap_or(0).max(2);
    let row = |cells: Vec<String>| {
        let cells = cells
            .iter()
            .zip(columns)
            .map(|(cell, it)| format!("{cell:<width$}", width = width(it)));
        format!(" {} ;\n", cells.collect::<Vec<_>>().join(" | "))
    };
    let heads = row((0..columns.len()).map(|at| format!("P{at}")).collect());
    let line = |at: usize| {
        let cell = |column: &Column| column.lines.get(at).cloned().unwrap_or_default();
        row(columns.iter().map(cell).collect())
    };
    heads + &(0..height).map(line).collect::<String>()
}

fn condition(events: &Events, columns: &[Column]) -> String {
    let mut parts: Vec<(String, usize)> = events.asked().collect();
    parts.sort();
    for (thread, column) in columns.iter().enumerate() {
        parts.extend(column.asked.iter().map(|(name, value)| (format!("{thread}:{name}"), *value)));
    }
    let parts: Vec<String> = parts.iter().map(|(name, value)| format!("{name}={value}")).collect();
    parts.join(" /\\ ")
}

impl Column {
    fn new(events: &[Event]) -> Result<Self, CycleError> {
        let mut column = Column::default();
        let mut at = 0;
        while let Some(event) = events.get(at) {
            let next = events.get(at + 1);
            let update = next.filter(|next| next.before.is_some_and(|edge| edge.kind == Kind::Rmw));
            column.event(event, update)?;
            at += if update.is_some() { 2 } else { 1 };
        }
        Ok(column)
    }

    fn register(&mut self) -> Result<&'static str, CycleError> {
        let register = REGISTERS.get(self.registers).copied();
        self.registers += 1;
        let message = || format!("a thread needs more than {} registers", REGISTERS.len());
        register.ok_or_else(|| CycleError(message()))
    }

    fn push(&mut self, line: String) {
        self.lines.push(line);
    }

    /// An access, and the write of an update if it is the read of one.
    fn event(&mut self, event: &Event, update: Option<&Event>) -> Result<(), CycleError> {
        let place = location_name(event.location);
        let (place, value) = self.before(event, place)?;
        match (event.direction, update) {
            (Direction::Write, _) => self.push(format!("MOV [{place}],{value}")),
            (Direction::Read, None) => {
                let register = self.register()?;
                self.push(format!("MOV {register},[{place}]"));
                self.read(register, event.value);
            }
            (Direction::Read, Some(write)) => {
                let register = self.register()?;
                self.push(format!("MOV {register},${}", write.value));
                self.push(format!("XCHG [{place}],{register}"));
                self.read(register, event.value);
            }
        }
        Ok(())
    }

    fn read(&mut self, register: &'static str, value: usize) {
        self.asked.push((register, value));
        self.last = Some(register);
    }

    /// What is before an access: its place and its value then.
    fn before(&mut self, event: &Event, place: String) -> Result<(String, String), CycleError> {
        let value = format!("${}", event.value);
        let Some(kind) = event.before.map(|edge| edge.kind) else { return Ok((place, value)) };
        match (kind, self.last) {
            (Kind::Fenced(Fence::Full), _) => self.push("MFENCE".to_owned()),
            (Kind::Fenced(Fence::Store), _) => self.push("SFENCE".to_owned()),
            (Kind::Fenced(Fence::Load), _) => self.push("LFENCE".to_owned()),
            (Kind::Dependent(Dependency::Control), Some(last)) => {
                let label = format!("LC{:02}", self.labels);
                self.labels += 1;
                self.push(format!("CMP {last},{last}"));
                self.push(format!("JNE {label}"));
                self.push(format!("{label}:"));
            }
            (Kind::Dependent(kind), Some(last)) => {
                let zero = self.register()?;
                self.push(format!("MOV {zero},{last}"));
                self.push(format!("XOR {zero},{last}"));
                if kind == Dependency::Address {
                    return Ok((format!("{place}+{zero}"), value));
                }
                self.push(format!("ADD {zero},{value}"));
                return Ok((place, zero.to_owned()));
            }
            _ => {}
        }
        Ok((place, value))
    }
}
