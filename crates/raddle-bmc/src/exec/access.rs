//! Memory: where a pointer points, and what is read and written there.
//!
//! What only one thread uses is kept in its environment. What several use at the same time is shared: a read of it is a
//! visible statement, and its value a variable. Which cells these are is not known in the first execution, and learned
//! from one to the next. If only one thread writes a cell, it knows what is there, under every model, and reads nothing.

use std::rc::Rc;

use super::{Exec, Result, Value};
use crate::program::{Action, Cell, CellId, Targets};
use crate::space::{CellKey, ObjectId, ObjectKey};
use crate::term::{BinaryOp, FALSE, TRUE, Term, TermNode, ValueSet};
use crate::types::Type;

/// How strong an access is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Order {
    Plain,
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

/// Where an access goes: cells, and when.
type Cells = Vec<(CellKey, Term)>;

/// More cells are not told apart.
const MANY: usize = 4096;

impl Exec<'_> {
    /// The cells of this size that a pointer may point to. It is an error if it points anywhere else.
    pub(super) fn resolve(&mut self, pointer: Term, size: u64) -> Result<Cells> {
        let mut cells: Cells = vec![];
        let addresses = self.addresses(pointer, size)?;
        for address in addresses {
            let Some((object, offset)) = self.space.at(address) else { continue };
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
        self.fails_if(null, "crash", "a null pointer is followed");
        self.fails_if(invalid, "crash", "an access to invalid memory");
        self.still_there(&mut cells);
        if self.is_dead() {
            return Ok(vec![]);
        }
        self.alive(&cells)?;
        for &(cell, _) in &cells {
            if !self.space.note(cell, size) {
                let name = &self.space.objects[cell.0].name;
                return self
                    .refuse(format!("accesses of different sizes to the same memory, in {name}"));
            }
        }
        Ok(cells)
    }

    /// It is an error to access a variable whose block has ended. This thread, and those that have created it, are where
    /// they are; whether the function of another thread has ended is only known when it is executed.
    fn still_there(&mut self, cells: &mut Cells) {
        for ((object, at), condition) in std::mem::take(cells) {
            if let Some(owner) = self.space.owner(object) {
                let is_before = owner == self.thread || self.begin(owner, self.thread).is_some();
                if is_before && self.gone.contains(&object) {
                    let message = "a variable is used whose block has ended";
                    self.fails_if(condition, "use-after-return", message);
                    continue;
                }
                if owner != self.thread {
                    self.freed.insert(object);
                }
            }
            cells.push(((object, at), condition));
        }
    }

    /// These variables end with their function: those that other threads use must not be used any more.
    pub(super) fn end_variables(&mut self, objects: &[ObjectId]) -> Result<()> {
        for &object in objects {
            if self.space.freed.contains(&object) && !self.is_dead() {
                let (flag, one) = (self.freed_flag(object), self.terms.constant(1, 8));
                self.write(flag, one, Order::Plain)?;
            }
        }
        Ok(())
    }

    /// It is an error to access a block that was freed. If it is freed between this test and the access, then it might
    /// as well have been before the test.
    fn alive(&mut self, cells: &Cells) -> Result<()> {
        for &((object, _), condition) in cells {
            if !self.space.freed.contains(&object) {
                continue;
            }
            let flag = self.freed_flag(object);
            let freed = self.read(flag, 8)?;
            let freed = self.terms.truth(freed);
            let dead = self.terms.and(condition, freed);
            match self.space.objects[object].is_block {
                true => self.fails_if(dead, "use-after-free", "memory is used that was freed"),
                false => {
                    let message = "a variable is used whose block has ended";
                    self.fails_if(dead, "use-after-return", message);
                }
            }
        }
        Ok(())
    }

    /// Where it is told whether a block was freed.
    fn freed_flag(&mut self, object: ObjectId) -> Term {
        let name = format!("freed({})", self.space.objects[object].name);
        let flag = self.space.object(ObjectKey::Freed(object), &name, 1, true);
        self.address(flag)
    }

    /// Frees a block.
    pub(super) fn free(&mut self, pointer: Term) -> Result<()> {
        let values = self.terms.values(pointer);
        let Some(few) = values.few().map(<[u64]>::to_vec) else {
            return self.refuse("it is not known which memory is freed");
        };
        let mut valid = self.terms.is(pointer, 0);
        for value in few {
            let Some((object, 0)) = self.space.at(value) else { continue };
            let condition = self.terms.is(pointer, value);
            if condition == FALSE || !self.space.objects[object].is_block {
                continue;
            }
            valid = self.terms.or(valid, condition);
            self.freed.insert(object);
            let flag = self.freed_flag(object);
            self.branch(condition, |exec| exec.free_block(flag), |_| Ok(()))?;
        }
        let invalid = self.terms.not(valid);
        self.fails_if(invalid, "misuse", "what is freed was not allocated");
        Ok(())
    }

    fn free_block(&mut self, flag: Term) -> Result<()> {
        let freed = self.read(flag, 8)?;
        let freed = self.terms.truth(freed);
        self.fails_if(freed, "double-free", "memory is freed that was freed");
        let one = self.terms.constant(1, 8);
        self.write(flag, one, Order::Plain)
    }

    /// The addresses that a pointer may have.
    fn addresses(&mut self, pointer: Term, size: u64) -> Result<Vec<u64>> {
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
            let typed = |offset: &u64| {
                let before = object.scalars.range(..=offset).next_back();
                before.is_none_or(|(&at, &length)| {
                    at == *offset && length == size || at + length <= *offset
                })
            };
            all.extend(offsets.filter(typed).map(|offset| object.base + offset));
        }
        if all.is_empty() {
            return self.refuse("it is not known where a pointer points to");
        }
        if all.len() > MANY {
            return self.refuse("a pointer may point to too many places");
        }
        Ok(all)
    }

    /// The objects of which a pointer is made.
    fn provenance(&mut self, term: Term, objects: &mut Vec<ObjectId>) {
        if let Some(few) = self.terms.values(term).few() {
            objects.extend(few.iter().filter_map(|&value| self.space.at(value)).map(|(id, _)| id));
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

    fn note_use(&mut self, cells: &Cells, writes: bool) {
        self.bodies[self.thread].clock += 1;
        let now = self.bodies[self.thread].clock;
        for &(cell, _) in cells {
            let uses = self.uses.entry(cell).or_default().entry(self.thread).or_default();
            uses.read = Some(now);
            if writes {
                uses.write = Some(now);
            }
        }
    }

    /// Whether an access is a visible statement. If some of the cells are shared and others not, all are next time.
    fn is_visible(&mut self, cells: &Cells) -> bool {
        if self.threads.len() == 1 {
            return false;
        }
        let is_shared = |(cell, _): &(CellKey, Term)| self.space.shared.contains(cell);
        let shared = cells.iter().filter(|cell| is_shared(cell)).count();
        if shared > 0 && shared < cells.len() {
            self.new_shared.extend(cells.iter().map(|&(cell, _)| cell));
        }
        shared > 0
    }

    /// Whether nobody but this thread writes these cells.
    fn is_own(&self, cells: &Cells) -> bool {
        let own = 1 << self.thread;
        cells
            .iter()
            .all(|(cell, _)| self.space.writers.get(cell).is_none_or(|&threads| threads == own))
    }

    /// The thread writes these cells, and remembers what.
    fn note_written(&mut self, cells: &Cells, value: Term) {
        for (cell, _) in cells {
            *self.writers.entry(*cell).or_default() |= 1 << self.thread;
        }
        self.local_write(cells, value);
    }

    fn local(&mut self, cell: CellKey, width: u8) -> Term {
        match self.state.env.get(&cell) {
            Some(&term) => term,
            None => self.default(cell, width),
        }
    }

    fn local_read(&mut self, cells: &Cells, width: u8) -> Term {
        let mut value: Option<Term> = None;
        for &(cell, condition) in cells {
            let here = self.local(cell, width);
            value = Some(value.map_or(here, |rest| self.terms.ite(condition, here, rest)));
        }
        value.unwrap_or_else(|| self.terms.constant(0, width))
    }

    fn local_write(&mut self, cells: &Cells, value: Term) {
        for &(cell, condition) in cells {
            let before = self.local(cell, self.terms.width(value));
            let value = self.terms.ite(condition, value, before);
            Rc::make_mut(&mut self.state.env).insert(cell, value);
        }
    }

    /// The number of a shared cell.
    fn cell_id(&mut self, cell: CellKey, width: u8) -> CellId {
        if let Some(&id) = self.cell_ids.get(&cell) {
            return id;
        }
        let known = self.initial.as_ref().and_then(|env| env.get(&cell).copied());
        let initial = known.unwrap_or_else(|| self.default(cell, width));
        self.note_stored(cell, initial);
        let object = &self.space.objects[cell.0];
        let name = match object.size == u64::from(width / 8) {
            true => object.name.clone(),
            false => format!("{}+{}", object.name, cell.1),
        };
        self.cells.push(Cell { name, initial });
        self.cell_ids.insert(cell, self.cells.len() - 1);
        self.cells.len() - 1
    }

    fn targets(&mut self, cells: &Cells, width: u8) -> Targets {
        cells.iter().map(|&(cell, condition)| (self.cell_id(cell, width), condition)).collect()
    }

    fn note_stored(&mut self, cell: CellKey, value: Term) {
        let values = self.terms.values(value);
        let known = self.stored.entry(cell).or_insert_with(ValueSet::none);
        *known = known.union(&values);
    }

    /// A variable for what is read from these cells.
    fn observed(&mut self, cells: &Cells, width: u8) -> Term {
        let mut values = ValueSet::none();
        for (cell, _) in cells {
            values = match self.space.stored.get(cell) {
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

    /// Cuts off executions in which a number does not fit into the bits that are modelled.
    pub(super) fn fit(&mut self, value: Term) {
        let (Some(bits), width) = (self.options.bits, self.terms.width(value)) else { return };
        if bits >= width || self.terms.values(value).few().is_some() {
            return;
        }
        let narrow = self.terms.truncate(value, bits);
        let again = self.terms.sext(narrow, width);
        let fits = self.terms.eq(value, again);
        if fits != TRUE {
            let before = self.state.guard;
            let too_large = self.terms.not(fits);
            self.assume(too_large);
            if !self.is_dead() {
                self.cut("a number needs more bits than --bits says");
            }
            self.state.guard = before;
            self.assume(fits);
        }
    }

    /// Nobody else can change what this waits for.
    fn wait_for_ever_unless(&mut self, ready: Term) {
        let not = self.terms.not(ready);
        let stuck = self.terms.and(self.state.guard, not);
        if stuck != FALSE {
            let (after, place) = (self.after(), self.place());
            self.threads[self.thread].stuck.push((after, stuck, place));
        }
        self.assume(ready);
    }

    /// Reads a scalar.
    pub(super) fn read(&mut self, pointer: Term, width: u8) -> Result<Term> {
        let cells = self.resolve(pointer, u64::from(width / 8))?;
        if self.is_dead() {
            return Ok(self.terms.constant(0, width));
        }
        self.note_use(&cells, false);
        if !self.is_visible(&cells) || self.is_own(&cells) {
            return Ok(self.local_read(&cells, width));
        }
        let at = self.targets(&cells, width);
        let out = self.observed(&cells, width);
        self.event(Action::Read { at, out });
        Ok(out)
    }

    /// Writes a scalar.
    pub(super) fn write(&mut self, pointer: Term, value: Term, order: Order) -> Result<()> {
        let width = self.terms.width(value);
        let cells = self.resolve(pointer, u64::from(width / 8))?;
        if self.is_dead() {
            return Ok(());
        }
        self.note_use(&cells, true);
        if !self.is_visible(&cells) {
            // Nobody else sees the write, but what it does to the store buffer.
            self.fence(order);
            self.local_write(&cells, value);
            return Ok(());
        }
        self.fit(value);
        for &(cell, _) in &cells {
            self.note_stored(cell, value);
        }
        let at = self.targets(&cells, width);
        self.note_written(&cells, value);
        if order == Order::SeqCst {
            let out = None;
            self.event(Action::Update { at, out, new: value, writes: TRUE, ready: TRUE });
        } else {
            let releases = matches!(order, Order::Release | Order::AcqRel);
            self.event(Action::Write { at, value, releases });
        }
        Ok(())
    }

    /// Reads a scalar, waits until it is `ready`, and writes if `writes`, all at once. The function says what is
    /// written, when, and what it waits for.
    pub(super) fn update(
        &mut self,
        pointer: Term,
        width: u8,
        f: impl FnOnce(&mut Self, Term) -> Result<(Term, Term, Term)>,
    ) -> Result<Term> {
        let cells = self.resolve(pointer, u64::from(width / 8))?;
        if self.is_dead() {
            return Ok(self.terms.constant(0, width));
        }
        self.note_use(&cells, true);
        if !self.is_visible(&cells) {
            self.fence(Order::SeqCst);
            let old = self.local_read(&cells, width);
            let (new, writes, ready) = f(self, old)?;
            let value = self.terms.ite(writes, new, old);
            self.wait_for_ever_unless(ready);
            self.local_write(&cells, value);
            return Ok(old);
        }
        let at = self.targets(&cells, width);
        let is_own = self.is_own(&cells);
        let out =
            if is_own { self.local_read(&cells, width) } else { self.observed(&cells, width) };
        let (new, writes, ready) = f(self, out)?;
        self.fit(new);
        let stored = self.terms.ite(writes, new, out);
        self.note_written(&cells, stored);
        for &(cell, _) in &cells {
            self.note_stored(cell, stored);
        }
        self.event(Action::Update { at, out: Some(out), new, writes, ready });
        self.assume(ready);
        Ok(out)
    }

    /// The scalars of a type: where they are, and what.
    pub(super) fn scalars(&self, ty: &Type, at: u64, out: &mut Vec<(u64, Type)>) -> Result<()> {
        match ty.plain() {
            Type::Array(of, length) => {
                let size = self.size(of)?;
                for i in 0..length.unwrap_or(0) {
                    self.scalars(of, at + i * size, out)?;
                }
            }
            Type::Record(number) => {
                let Some(fields) = &self.records[*number].fields else {
                    return self.refuse("a structure that is not defined");
                };
                for field in fields {
                    self.scalars(&field.ty, at + field.offset, out)?;
                }
            }
            Type::Float => return self.refuse("floating point"),
            _ => out.push((at, ty.clone())),
        }
        Ok(())
    }

    /// Reads a value of any type.
    pub(super) fn load(&mut self, pointer: Term, ty: &Type) -> Result<Value> {
        if let Some(width) = ty.width() {
            return self.read(pointer, width).map(Value::Scalar);
        }
        if !matches!(ty.plain(), Type::Record(_)) {
            return self.refuse("a value of this type");
        }
        let mut scalars = vec![];
        self.scalars(ty, 0, &mut scalars)?;
        let mut parts = vec![];
        self.copies = true;
        for (offset, ty) in scalars {
            let at = self.offset(pointer, offset);
            let width = ty.width().unwrap_or(8);
            parts.push(self.read(at, width)?);
        }
        self.copies = false;
        Ok(Value::Record(parts))
    }

    /// Writes a value of any type.
    pub(super) fn store(&mut self, pointer: Term, ty: &Type, value: Value) -> Result<()> {
        let order = if ty.is_atomic() { Order::SeqCst } else { Order::Plain };
        match value {
            Value::Scalar(term) => self.write(pointer, term, order),
            Value::Record(parts) => {
                let mut scalars = vec![];
                self.scalars(ty, 0, &mut scalars)?;
                self.copies = true;
                for ((offset, _), part) in scalars.into_iter().zip(parts) {
                    let at = self.offset(pointer, offset);
                    self.write(at, part, order)?;
                }
                self.copies = false;
                Ok(())
            }
        }
    }

    /// A pointer so many bytes further.
    pub(super) fn offset(&mut self, pointer: Term, by: u64) -> Term {
        let by = self.terms.constant(by, 64);
        self.terms.binary(BinaryOp::Add, pointer, by)
    }

    /// The address of an object.
    pub(super) fn address(&mut self, object: ObjectId) -> Term {
        self.terms.constant(self.space.objects[object].base, 64)
    }
}
