//! Memory accesses: resolution of pointers, reads, writes and atomic updates.
//!
//! Memory that only one thread uses is in its local environment. Memory that several threads use concurrently is
//! shared: a read of it is a visible statement whose value is a variable. Which cells are shared is not known in the
//! first execution; each execution observes it for the next (see `fixpoint`). The only writer of a cell knows its
//! content under every model, so its reads are not visible.

use std::rc::Rc;

use raddle_core::outcome::FindingKind;

use super::{CValue, FLOATING_POINT, Result, SymbolicExecutor};
use crate::abi_type::AbiType;
use crate::address_space::{CellKey, ObjectId};
use crate::program::{BlockedForever, CellId, CellTargets, SharedCell, VisibleAction};
use crate::term::{BinaryOp, FALSE, TRUE, Term, TermNode, ValueSet};

/// The memory order of an access, as in C11.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum AccessOrder {
    Plain,
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

/// The cells that an access may address, each with the condition under which it does.
pub(super) type CellConditions = Vec<(CellKey, Term)>;

/// The maximal number of addresses that a pointer may have.
const MAX_ADDRESSES: usize = 4096;

/// The effect of an atomic update on a cell.
pub(super) struct UpdateEffect {
    /// The new value.
    pub(super) new: Term,
    /// Whether the new value is written.
    pub(super) writes: Term,
    /// The condition for which the update waits.
    pub(super) ready: Term,
}

impl UpdateEffect {
    /// An update that writes `new` without waiting.
    pub(super) fn always(new: Term) -> Self {
        UpdateEffect { new, writes: TRUE, ready: TRUE }
    }
}

impl SymbolicExecutor<'_> {
    /// The cells of this size that a pointer may address. Adds checks that it addresses nothing else, and that the
    /// objects are alive.
    pub(super) fn resolve(&mut self, pointer: Term, size: u64) -> Result<CellConditions> {
        let mut cells: CellConditions = vec![];
        let addresses = self.possible_addresses(pointer, size)?;
        for address in addresses {
            let Some((object, offset)) = self.space.object_at(address) else { continue };
            if offset + size > self.space.objects[object].size {
                continue;
            }
            let condition = self.terms.is(pointer, address);
            if condition != FALSE {
                cells.push(((object, offset), condition));
            }
        }
        let valid = self.terms.any(cells.iter().map(|&(_, condition)| condition));
        let invalid = self.terms.not(valid);
        let is_null = self.terms.is(pointer, 0);
        let null = self.terms.and(invalid, is_null);
        self.fails_if(null, FindingKind::Crash, "a null pointer is dereferenced");
        self.fails_if(invalid, FindingKind::Crash, "an access to invalid memory");
        self.check_scopes(&mut cells);
        if self.is_dead() {
            return Ok(vec![]);
        }
        self.check_not_dead(&cells)?;
        for &(cell, _) in &cells {
            if !self.space.record_scalar(cell, size) {
                let name = &self.space.objects[cell.0].name;
                return self.unsupported(format!(
                    "accesses of different sizes to the same memory are not supported (in {name})"
                ));
            }
        }
        Ok(cells)
    }

    /// All addresses that a pointer may have. If they are not known, all elements of the objects that it is derived
    /// from.
    fn possible_addresses(&mut self, pointer: Term, size: u64) -> Result<Vec<u64>> {
        if let Some(few) = self.terms.values(pointer).few() {
            return Ok(few.to_vec());
        }
        let mut objects = vec![];
        self.provenance(pointer, &mut objects);
        objects.sort_unstable();
        objects.dedup();
        let mut all = vec![];
        for object in objects {
            let object = &self.space.objects[object];
            let offsets = (0..(object.size + 1).saturating_sub(size)).step_by(size as usize);
            let overlaps_no_other_scalar = |offset: &u64| {
                let before = object.scalars.range(..=offset).next_back();
                before.is_none_or(|(&at, &length)| {
                    at == *offset && length == size || at + length <= *offset
                })
            };
            let offsets = offsets.filter(overlaps_no_other_scalar);
            all.extend(offsets.map(|offset| object.base + offset));
        }
        if all.is_empty() {
            return self.unsupported(
                "this pointer may have any value: only pointers derived from objects are supported",
            );
        }
        if all.len() > MAX_ADDRESSES {
            return self.unsupported(format!(
                "this pointer may have {} values: at most {MAX_ADDRESSES} are supported",
                all.len()
            ));
        }
        Ok(all)
    }

    /// Adds the objects that a pointer is derived from.
    fn provenance(&mut self, term: Term, objects: &mut Vec<ObjectId>) {
        if let Some(few) = self.terms.values(term).few() {
            objects.extend(
                few.iter().filter_map(|&value| self.space.object_at(value)).map(|(id, _)| id),
            );
            return;
        }
        match self.terms.node(term) {
            TermNode::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::And, a, b)
            | TermNode::Ite(_, a, b) => {
                self.provenance(a, objects);
                self.provenance(b, objects);
            }
            _ => {}
        }
    }

    /// Records that the current thread uses the cells, to find out which cells are shared.
    fn record_use(&mut self, cells: &CellConditions, writes: bool) {
        self.symbolic_threads[self.thread].clock += 1;
        let now = self.symbolic_threads[self.thread].clock;
        for &(cell, _) in cells {
            let uses = self.uses.entry(cell).or_default().entry(self.thread).or_default();
            uses.read = Some(now);
            if writes {
                uses.write = Some(now);
            }
        }
    }

    /// Returns `true` if an access is a visible statement. If only some of the cells are shared, all are in the next
    /// execution.
    fn is_visible(&mut self, cells: &CellConditions) -> bool {
        if self.threads.len() == 1 {
            return false;
        }
        let is_shared = |(cell, _): &(CellKey, Term)| self.assumed.shared.contains(cell);
        let shared = cells.iter().filter(|cell| is_shared(cell)).count();
        if shared > 0 && shared < cells.len() {
            self.observed.shared.extend(cells.iter().map(|&(cell, _)| cell));
        }
        shared > 0
    }

    /// Returns `true` if no other thread writes these cells.
    fn is_only_writer(&self, cells: &CellConditions) -> bool {
        let own = 1 << self.thread;
        let writers = &self.assumed.writers;
        cells.iter().all(|(cell, _)| writers.get(cell).is_none_or(|&threads| threads == own))
    }

    /// Records that the current thread writes shared cells, and which value.
    fn record_write(&mut self, cells: &CellConditions, value: Term) {
        for (cell, _) in cells {
            *self.observed.writers.entry(*cell).or_default() |= 1 << self.thread;
        }
        self.local_write(cells, value);
    }

    /// The content of a cell in local memory.
    fn local_cell(&mut self, cell: CellKey, width: u8) -> Term {
        match self.state.env.get(&cell) {
            Some(&term) => term,
            None => self.initial_content(cell, width),
        }
    }

    fn local_read(&mut self, cells: &CellConditions, width: u8) -> Term {
        let mut value: Option<Term> = None;
        for &(cell, condition) in cells {
            let here = self.local_cell(cell, width);
            value = Some(value.map_or(here, |rest| self.terms.ite(condition, here, rest)));
        }
        value.unwrap_or_else(|| self.terms.constant(0, width))
    }

    fn local_write(&mut self, cells: &CellConditions, value: Term) {
        for &(cell, condition) in cells {
            let before = self.local_cell(cell, self.terms.width(value));
            let value = self.terms.ite(condition, value, before);
            Rc::make_mut(&mut self.state.env).insert(cell, value);
        }
    }

    /// The index of a shared cell, which is created at the first access.
    fn cell_id(&mut self, cell: CellKey, width: u8) -> CellId {
        if let Some(&id) = self.cell_ids.get(&cell) {
            return id;
        }
        let known = self.initial_env.as_ref().and_then(|env| env.get(&cell).copied());
        let initial = known.unwrap_or_else(|| self.initial_content(cell, width));
        self.record_stored(cell, initial);
        let object = &self.space.objects[cell.0];
        let name = match object.size == u64::from(width / 8) {
            true => object.name.clone(),
            false => format!("{}+{}", object.name, cell.1),
        };
        self.cells.push(SharedCell { name, initial });
        self.cell_ids.insert(cell, self.cells.len() - 1);
        self.cells.len() - 1
    }

    fn targets(&mut self, cells: &CellConditions, width: u8) -> CellTargets {
        cells.iter().map(|&(cell, condition)| (self.cell_id(cell, width), condition)).collect()
    }

    fn record_stored(&mut self, cell: CellKey, value: Term) {
        let values = self.terms.values(value);
        let known = self.observed.stored.entry(cell).or_insert_with(ValueSet::none);
        *known = known.union(&values);
    }

    /// A new variable for the value that is read from these cells: one of the values that are ever stored there.
    fn read_variable(&mut self, cells: &CellConditions, width: u8) -> Term {
        let mut values = ValueSet::none();
        for (cell, _) in cells {
            values = match self.assumed.stored.get(cell) {
                Some(stored) => values.union(stored),
                None => {
                    let initial = self.cells[self.cell_ids[cell]].initial;
                    values.union(&self.terms.values(initial))
                }
            };
        }
        match self.options.bits {
            Some(bits) if bits < width && values.few().is_none() => {
                let narrow = self.terms.var(bits);
                self.terms.sext(narrow, width)
            }
            _ => self.terms.var_of(width, values),
        }
    }

    /// Cuts off executions in which a value needs more bits than the option `bits`.
    fn restrict_to_bits(&mut self, value: Term) {
        let (Some(bits), width) = (self.options.bits, self.terms.width(value)) else { return };
        if bits >= width || self.terms.values(value).few().is_some() {
            return;
        }
        let narrow = self.terms.truncate(value, bits);
        let extended = self.terms.sext(narrow, width);
        let fits = self.terms.eq(value, extended);
        if fits != TRUE {
            let before = self.state.guard;
            let too_large = self.terms.not(fits);
            self.assume(too_large);
            if !self.is_dead() {
                self.cut_off(format!("a value needs more than {bits} bits: raise --bits"));
            }
            self.state.guard = before;
            self.assume(fits);
        }
    }

    /// Blocks forever unless the condition, which no other thread can change, is true.
    fn block_unless(&mut self, ready: Term) {
        let not = self.terms.not(ready);
        let guard = self.terms.and(self.state.guard, not);
        if guard != FALSE {
            let (after, place) = (self.statement_count(), self.place());
            let blocked = BlockedForever { after, guard, place };
            self.threads[self.thread].blocked_forever.push(blocked);
        }
        self.assume(ready);
    }

    /// Reads a scalar.
    pub(super) fn read(&mut self, pointer: Term, width: u8) -> Result<Term> {
        let cells = self.resolve(pointer, u64::from(width / 8))?;
        if self.is_dead() {
            return Ok(self.terms.constant(0, width));
        }
        self.record_use(&cells, false);
        if !self.is_visible(&cells) || self.is_only_writer(&cells) {
            return Ok(self.local_read(&cells, width));
        }
        let at = self.targets(&cells, width);
        let out = self.read_variable(&cells, width);
        self.push_statement(VisibleAction::Read { at, out });
        Ok(out)
    }

    /// Writes a scalar.
    pub(super) fn write(&mut self, pointer: Term, value: Term, order: AccessOrder) -> Result<()> {
        let width = self.terms.width(value);
        let cells = self.resolve(pointer, u64::from(width / 8))?;
        if self.is_dead() {
            return Ok(());
        }
        self.record_use(&cells, true);
        if !self.is_visible(&cells) {
            // No other thread observes the write, but other threads observe that it flushes the store buffer.
            self.fence(order);
            self.local_write(&cells, value);
            return Ok(());
        }
        self.restrict_to_bits(value);
        for &(cell, _) in &cells {
            self.record_stored(cell, value);
        }
        let at = self.targets(&cells, width);
        self.record_write(&cells, value);
        if order == AccessOrder::SeqCst {
            let out = None;
            self.push_statement(VisibleAction::Update {
                at,
                out,
                new: value,
                writes: TRUE,
                ready: TRUE,
            });
        } else {
            let releases = matches!(order, AccessOrder::Release | AccessOrder::AcqRel);
            self.push_statement(VisibleAction::Write { at, value, releases });
        }
        Ok(())
    }

    /// Atomically updates a scalar, with empty store buffers. `effect` computes the update from the old value, which is
    /// returned.
    pub(super) fn read_modify_write(
        &mut self,
        pointer: Term,
        width: u8,
        effect: impl FnOnce(&mut Self, Term) -> Result<UpdateEffect>,
    ) -> Result<Term> {
        let cells = self.resolve(pointer, u64::from(width / 8))?;
        if self.is_dead() {
            return Ok(self.terms.constant(0, width));
        }
        self.record_use(&cells, true);
        if !self.is_visible(&cells) {
            self.fence(AccessOrder::SeqCst);
            let old = self.local_read(&cells, width);
            let UpdateEffect { new, writes, ready } = effect(self, old)?;
            let value = self.terms.ite(writes, new, old);
            self.block_unless(ready);
            self.local_write(&cells, value);
            return Ok(old);
        }
        let at = self.targets(&cells, width);
        let is_own = self.is_only_writer(&cells);
        let out =
            if is_own { self.local_read(&cells, width) } else { self.read_variable(&cells, width) };
        let UpdateEffect { new, writes, ready } = effect(self, out)?;
        self.restrict_to_bits(new);
        let stored = self.terms.ite(writes, new, out);
        self.record_write(&cells, stored);
        for &(cell, _) in &cells {
            self.record_stored(cell, stored);
        }
        self.push_statement(VisibleAction::Update { at, out: Some(out), new, writes, ready });
        self.assume(ready);
        Ok(out)
    }

    /// Adds the scalars of a type, with their offsets relative to `at`.
    pub(super) fn scalars(
        &self,
        ty: &AbiType,
        at: u64,
        out: &mut Vec<(u64, AbiType)>,
    ) -> Result<()> {
        match ty.unqualified() {
            AbiType::Array(of, length) => {
                let size = self.size(of)?;
                for i in 0..length.unwrap_or(0) {
                    self.scalars(of, at + i * size, out)?;
                }
            }
            AbiType::Record(number) => {
                let record = &self.records[*number];
                let Some(fields) = &record.fields else {
                    return self.unsupported(format!("struct {} is not defined", record.name));
                };
                for field in fields {
                    self.scalars(&field.ty, at + field.offset, out)?;
                }
            }
            AbiType::Float => return self.unsupported(FLOATING_POINT),
            _ => out.push((at, ty.clone())),
        }
        Ok(())
    }

    /// Reads a value of any type.
    pub(super) fn load(&mut self, pointer: Term, ty: &AbiType) -> Result<CValue> {
        if let Some(width) = ty.width() {
            return self.read(pointer, width).map(CValue::Scalar);
        }
        if !matches!(ty.unqualified(), AbiType::Record(_)) {
            return self.unsupported("values of this type are not supported");
        }
        let mut scalars = vec![];
        self.scalars(ty, 0, &mut scalars)?;
        let mut parts = vec![];
        self.is_copying = true;
        for (offset, ty) in scalars {
            let at = self.offset(pointer, offset);
            let width = ty.width().unwrap_or(8);
            parts.push(self.read(at, width)?);
        }
        self.is_copying = false;
        Ok(CValue::Record(parts))
    }

    /// Writes a value of any type.
    pub(super) fn store(&mut self, pointer: Term, ty: &AbiType, value: CValue) -> Result<()> {
        let order = if ty.is_atomic() { AccessOrder::SeqCst } else { AccessOrder::Plain };
        match value {
            CValue::Scalar(term) => self.write(pointer, term, order),
            CValue::Record(parts) => {
                let mut scalars = vec![];
                self.scalars(ty, 0, &mut scalars)?;
                self.is_copying = true;
                for ((offset, _), part) in scalars.into_iter().zip(parts) {
                    let at = self.offset(pointer, offset);
                    self.write(at, part, order)?;
                }
                self.is_copying = false;
                Ok(())
            }
        }
    }

    /// The pointer plus a number of bytes.
    pub(super) fn offset(&mut self, pointer: Term, by: u64) -> Term {
        let by = self.terms.constant(by, 64);
        self.terms.binary(BinaryOp::Add, pointer, by)
    }

    /// The address of an object.
    pub(super) fn address(&mut self, object: ObjectId) -> Term {
        self.terms.constant(self.space.objects[object].base, 64)
    }
}
