//! Reading the JSON Lines form.
//!
//! The fields of an object may come in any order, so they are collected with their offsets first. Then `op` determines which
//! of them are needed; a field that is left over is an error.

use super::draft::{DraftedEvent, HistoryDraft};
use super::fields::Fields;
use super::json::Cursor;
use super::words::{self, ParseFault, quote};
use raddle_core::execution::{Action, Execution, LocationId, MemoryOrder, SourceClaim, ThreadId};

const OPS: &str = "read, write, rmw, cas, fence, store-fence, lock, unlock, spawn or join";

/// Reads a history in the JSON Lines form.
pub(super) fn read(text: &str) -> Result<Execution, ParseFault> {
    let mut reader = JsonLinesReader { draft: HistoryDraft::new(), recorded: None };
    let mut at = 0;
    for line in text.split('\n') {
        let mut cursor = Cursor::new(line, at);
        if !cursor.at_end() {
            reader.object(&mut cursor)?;
        }
        at += line.len() + 1;
    }
    let example = r#"a line such as {"thread":"P0","op":"write","location":"x","value":1}"#;
    reader.draft.finish(reader.recorded.unwrap_or(true), text.len(), example)
}

struct JsonLinesReader {
    draft: HistoryDraft,
    recorded: Option<bool>,
}

impl JsonLinesReader {
    fn object(&mut self, cursor: &mut Cursor<'_>) -> Result<(), ParseFault> {
        let at = cursor.place();
        cursor.sign(b'{', "an object: '{'")?;
        let mut fields = Fields::new(at);
        while cursor.member(fields.is_empty(), b'}')? {
            let (key_at, key) = cursor.key()?;
            if fields.is_empty() && self.declaration(&key, key_at, cursor)? {
                cursor.sign(b'}', "'}' after one declaration")?;
                return cursor.end();
            }
            fields.add(&key, key_at, cursor)?;
        }
        cursor.end()?;
        self.event(fields)
    }

    /// Reads the value of a declaration, if the key is that of one.
    fn declaration(
        &mut self,
        key: &str,
        key_at: usize,
        cursor: &mut Cursor<'_>,
    ) -> Result<bool, ParseFault> {
        match key {
            "init" => self.init(cursor)?,
            "threads" => {
                names(cursor, |name, at| self.draft.declare(name, at).map(drop))?;
            }
            "locations" => {
                names(cursor, |name, at| self.draft.location(name, at).map(drop))?;
            }
            "recorded" => {
                let recorded = cursor.boolean("true or false")?;
                if self.recorded.replace(recorded).is_some() {
                    let message = "'recorded' was said already: expected it once";
                    return Err(ParseFault::new(key_at, message));
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn init(&mut self, cursor: &mut Cursor<'_>) -> Result<(), ParseFault> {
        cursor.sign(b'{', "an object of locations and values: '{'")?;
        let mut first = true;
        while cursor.member(first, b'}')? {
            let (at, name) = cursor.key()?;
            let value = cursor.integer("an integer")?;
            self.draft.init(&name, value, at)?;
            first = false;
        }
        Ok(())
    }

    fn event(&mut self, mut fields: Fields<'_>) -> Result<(), ParseFault> {
        let (thread_at, thread) = fields.text("thread")?;
        let thread = self.draft.declare(&thread, thread_at)?;
        let (op_at, op) = fields.op()?;
        let (operand_at, action) = self.action(&op, op_at, &mut fields)?;
        let (order_at, order) = memory_order(&action, &mut fields)?;
        let (source_at, claim) = self.source(&action, &mut fields)?;
        fields.finish()?;
        self.draft.push(DraftedEvent {
            thread,
            action,
            order,
            claim,
            operand_at,
            order_at,
            source_at,
        })
    }

    /// The action and the offset of what it is about.
    fn action(
        &mut self,
        op: &str,
        at: usize,
        fields: &mut Fields<'_>,
    ) -> Result<(usize, Action), ParseFault> {
        match op {
            "read" | "write" | "rmw" | "cas" => self.access(op, fields),
            "fence" => Ok((at, Action::Fence)),
            "store-fence" => Ok((at, Action::StoreFence)),
            "lock" => {
                let (at, lock) = self.location("lock", fields)?;
                Ok((at, Action::Lock { lock }))
            }
            "unlock" => {
                let (at, lock) = self.location("lock", fields)?;
                Ok((at, Action::Unlock { lock }))
            }
            "spawn" => {
                let (at, thread) = self.target(fields)?;
                Ok((at, Action::Spawn { thread }))
            }
            "join" => {
                let (at, thread) = self.target(fields)?;
                Ok((at, Action::Join { thread }))
            }
            _ => Err(ParseFault::new(at, format!("{} is not an op: expected {OPS}", quote(op)))),
        }
    }

    fn access(&mut self, op: &str, fields: &mut Fields<'_>) -> Result<(usize, Action), ParseFault> {
        let (at, location) = self.location("location", fields)?;
        let action = match op {
            "read" => Action::Read { location, value: fields.integer("value")?.1 },
            "write" => Action::Write { location, value: fields.integer("value")?.1 },
            "rmw" => Action::Rmw {
                location,
                read: fields.integer("read")?.1,
                written: fields.integer("written")?.1,
            },
            _ => compare_exchange(location, fields)?,
        };
        Ok((at, action))
    }

    fn location(
        &mut self,
        key: &str,
        fields: &mut Fields<'_>,
    ) -> Result<(usize, LocationId), ParseFault> {
        let (at, name) = fields.text(key)?;
        Ok((at, self.draft.location(&name, at)?))
    }

    fn target(&mut self, fields: &mut Fields<'_>) -> Result<(usize, ThreadId), ParseFault> {
        let (at, name) = fields.text("target")?;
        Ok((at, self.draft.mention(&name, at)?))
    }

    fn source(
        &mut self,
        action: &Action,
        fields: &mut Fields<'_>,
    ) -> Result<(usize, SourceClaim), ParseFault> {
        if !action.has_source() || !fields.has("from") {
            return Ok((fields.at, SourceClaim::Unnamed));
        }
        let (at, source) = fields.text("from")?;
        Ok((at, self.draft.claim(&source, at)?))
    }
}

/// The memory order, where one can be chosen.
fn memory_order(
    action: &Action,
    fields: &mut Fields<'_>,
) -> Result<(usize, Option<MemoryOrder>), ParseFault> {
    if action.possible_orders().len() == 1 || !fields.has("order") {
        return Ok((fields.at, None));
    }
    let (at, name) = fields.text("order")?;
    Ok((at, Some(words::order(&name, at)?)))
}

fn compare_exchange(location: LocationId, fields: &mut Fields<'_>) -> Result<Action, ParseFault> {
    let (_, expected) = fields.integer("expected")?;
    let (_, desired) = fields.integer("desired")?;
    let (read_at, read) = fields.integer("read")?;
    let succeeded = fields.flag("succeeded")?;
    if succeeded && read != expected {
        let message = format!("the cas succeeded but read {read}: expected {expected}");
        return Err(ParseFault::new(read_at, message));
    }
    Ok(Action::Cas { location, expected, desired, read, succeeded })
}

/// Reads an array of names.
fn names(
    cursor: &mut Cursor<'_>,
    mut each: impl FnMut(&str, usize) -> Result<(), ParseFault>,
) -> Result<(), ParseFault> {
    cursor.sign(b'[', "an array of names: '['")?;
    let mut first = true;
    while cursor.member(first, b']')? {
        let (at, name) = cursor.string("a name in quotes")?;
        each(&name, at)?;
        first = false;
    }
    Ok(())
}
