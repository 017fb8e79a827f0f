//! Values that belong to a thread: keys of POSIX and of C11.
//!
//! A key is named by the thread that made it and by how many keys that thread had made before, so a thread's keys depend on
//! nothing but its history. Every thread must know the destructor of a key without an op: it is kept beside the executions, and the
//! program is refused if a key ever gets another one.
//!
//! When a thread ends, the destructors of its values run, those of keys that were set last first. A destructor that sets its key
//! again is called again, up to four times. `exit` calls none, and neither does a thread that has deleted the key itself.
//!
//! *Not modelled.* A key that another thread has deleted still has its destructor.

use super::errors::{EAGAIN, EINVAL};
use super::{Names, Purpose};
use crate::program::call::{Call, Step};

/// How often the destructor of a key is called for a thread (`PTHREAD_DESTRUCTOR_ITERATIONS`).
const ITERATIONS: u64 = 4;
/// The number of keys that a thread can make.
const EACH: u64 = 1 << 10;

/// `pthread_key_create(key, destructor)`.
fn create(call: &mut Call<'_>) -> Step<u64> {
    let (key, destructor) = (call.argument(0)?, call.argument(1)?);
    let made = call.recall(Purpose::KeysMade, 0);
    if made + 1 == EACH {
        return Ok(EAGAIN as u64);
    }
    call.remember(Purpose::KeysMade, 0, made + 1);
    let number = call.current().index() as u64 * EACH + made;
    let known = *call.program.table.key_destructors.entry(number).or_insert(destructor);
    if known != destructor {
        let message = "a key gets one destructor in one execution and another one in another";
        return Err(call.refuse(message));
    }
    call.store(key, 4, number)?;
    Ok(0)
}

/// `pthread_key_delete(key)`.
fn delete(call: &mut Call<'_>) -> Step<u64> {
    let key = call.argument(0)? & 0xffff_ffff;
    call.remember(Purpose::KeyDeleted, key, 1);
    Ok(0)
}

/// `pthread_setspecific(key, value)`.
fn set(call: &mut Call<'_>) -> Step<u64> {
    let (key, value) = (call.argument(0)? & 0xffff_ffff, call.argument(1)?);
    let Some(&function) = call.program.table.key_destructors.get(&key) else {
        return Ok(EINVAL as u64);
    };
    if value != 0 && function != 0 && call.recall(Purpose::KeyValue, key) == 0 {
        let index = call.recall(Purpose::SetKeys, 0);
        call.remember(Purpose::SetKeys, 0, index + 1);
        call.remember(Purpose::SetKey, index, key);
    }
    call.remember(Purpose::KeyValue, key, value);
    Ok(0)
}

fn get(call: &mut Call<'_>) -> Step<u64> {
    let key = call.argument(0)? & 0xffff_ffff;
    Ok(call.recall(Purpose::KeyValue, key))
}

/// Takes a value that must be destroyed away from the thread: the destructor and the value.
pub(super) fn next_destructor(call: &mut Call<'_>) -> Option<(u64, u64)> {
    loop {
        let last = call.recall(Purpose::SetKeys, 0).checked_sub(1)?;
        call.remember(Purpose::SetKeys, 0, last);
        let key = call.recall(Purpose::SetKey, last);
        let value = call.recall(Purpose::KeyValue, key);
        call.remember(Purpose::KeyValue, key, 0);
        let calls = call.recall(Purpose::KeyDestroyed, key);
        let is_deleted = call.recall(Purpose::KeyDeleted, key) != 0;
        if value != 0 && calls < ITERATIONS && !is_deleted {
            call.remember(Purpose::KeyDestroyed, key, calls + 1);
            let function = call.program.table.key_destructors.get(&key).copied()?;
            return Some((function, value));
        }
    }
}

pub(super) const TABLE: Names = &[
    ("pthread_key_create", create),
    ("pthread_key_delete", delete),
    ("pthread_setspecific", set),
    ("pthread_getspecific", get),
    ("tss_create", create),
    ("tss_delete", delete),
    ("tss_set", set),
    ("tss_get", get),
];
