//! Cycles as tests for x86.

use super::CycleError;
use super::edge::{AccessDirection, CycleFence, Dependency, EdgeKind};
use super::events::{CycleAccess, CycleAccesses, location_name};

const REGISTERS: [&str; 7] = ["EAX", "EBX", "ECX", "EDX", "ESI", "EDI", "EBP"];

/// Writer of a thread.
#[derive(Default)]
struct X86ColumnWriter {
    lines: Vec<String>,
    /// Number of registers in use.
    registers: usize,
    /// Registers of the reads, with their values in the condition.
    read_values: Vec<(&'static str, usize)>,
    /// Register of the last read.
    last: Option<&'static str>,
    /// Number of labels.
    labels: usize,
}

/// Returns the text after the head.
pub(super) fn body(events: &CycleAccesses) -> Result<String, CycleError> {
    let columns: Vec<X86ColumnWriter> =
        events.threads.iter().map(|it| X86ColumnWriter::new(it)).collect::<Result<_, _>>()?;
    Ok(format!("{{\n}}\n{}exists\n({})\n", rows(&columns), condition(events, &columns)))
}

fn rows(columns: &[X86ColumnWriter]) -> String {
    let height = columns.iter().map(|column| column.lines.len()).max().unwrap_or(0);
    let width =
        |column: &X86ColumnWriter| column.lines.iter().map(String::len).max().unwrap_or(0).max(2);
    let row = |cells: Vec<String>| {
        let cells = cells
            .iter()
            .zip(columns)
            .map(|(cell, it)| format!("{cell:<width$}", width = width(it)));
        format!(" {} ;\n", cells.collect::<Vec<_>>().join(" | "))
    };
    let heads = row((0..columns.len()).map(|at| format!("P{at}")).collect());
    let line = |at: usize| {
        let cell = |column: &X86ColumnWriter| column.lines.get(at).cloned().unwrap_or_default();
        row(columns.iter().map(cell).collect())
    };
    heads + &(0..height).map(line).collect::<String>()
}

fn condition(events: &CycleAccesses, columns: &[X86ColumnWriter]) -> String {
    let mut parts: Vec<(String, usize)> = events.final_values().collect();
    parts.sort();
    for (thread, column) in columns.iter().enumerate() {
        parts.extend(
            column.read_values.iter().map(|(name, value)| (format!("{thread}:{name}"), *value)),
        );
    }
    let parts: Vec<String> = parts.iter().map(|(name, value)| format!("{name}={value}")).collect();
    parts.join(" /\\ ")
}

impl X86ColumnWriter {
    fn new(events: &[CycleAccess]) -> Result<Self, CycleError> {
        let mut column = X86ColumnWriter::default();
        let mut at = 0;
        while let Some(event) = events.get(at) {
            let next = events.get(at + 1);
            let update =
                next.filter(|next| next.before.is_some_and(|edge| edge.kind == EdgeKind::Rmw));
            column.event(event, update)?;
            at += if update.is_some() { 2 } else { 1 };
        }
        Ok(column)
    }

    fn register(&mut self) -> Result<&'static str, CycleError> {
        let register = REGISTERS.get(self.registers).copied();
        self.registers += 1;
        let message = || {
            format!(
                "a thread needs more than {} registers: expected fewer reads and dependencies",
                REGISTERS.len()
            )
        };
        register.ok_or_else(|| CycleError(message()))
    }

    fn push(&mut self, line: String) {
        self.lines.push(line);
    }

    /// Writes an access. `update` is the write of a read-modify-write, if the access is its read.
    fn event(
        &mut self,
        event: &CycleAccess,
        update: Option<&CycleAccess>,
    ) -> Result<(), CycleError> {
        let place = location_name(event.location);
        let (place, value) = self.write_relation(event, place)?;
        match (event.direction, update) {
            (AccessDirection::Write, _) => self.push(format!("MOV [{place}],{value}")),
            (AccessDirection::Read, None) => {
                let register = self.register()?;
                self.push(format!("MOV {register},[{place}]"));
                self.read(register, event.value);
            }
            (AccessDirection::Read, Some(write)) => {
                let register = self.register()?;
                self.push(format!("MOV {register},${}", write.value));
                self.push(format!("XCHG [{place}],{register}"));
                self.read(register, event.value);
            }
        }
        Ok(())
    }

    fn read(&mut self, register: &'static str, value: usize) {
        self.read_values.push((register, value));
        self.last = Some(register);
    }

    /// Writes the fence or the dependency before an access. Returns the texts of its location and its value.
    fn write_relation(
        &mut self,
        event: &CycleAccess,
        place: String,
    ) -> Result<(String, String), CycleError> {
        let value = format!("${}", event.value);
        let Some(kind) = event.before.map(|edge| edge.kind) else { return Ok((place, value)) };
        match (kind, self.last) {
            (EdgeKind::Fenced(CycleFence::Full), _) => self.push("MFENCE".to_owned()),
            (EdgeKind::Fenced(CycleFence::Store), _) => self.push("SFENCE".to_owned()),
            (EdgeKind::Fenced(CycleFence::Load), _) => self.push("LFENCE".to_owned()),
            (EdgeKind::Dependent(Dependency::Control), Some(last)) => {
                let label = format!("LC{:02}", self.labels);
                self.labels += 1;
                self.push(format!("CMP {last},{last}"));
                self.push(format!("JNE {label}"));
                self.push(format!("{label}:"));
            }
            (EdgeKind::Dependent(kind), Some(last)) => {
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
