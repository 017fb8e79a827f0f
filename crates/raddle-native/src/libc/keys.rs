//! Values that belong to a thread: keys of POSIX and of C11.
//!
//! A key is named by the thread that made it and by how many keys that thread had made before, so a thread's keys depend on
//! nothing but its history. Every thread must know the destructor of a key without an op: it is kept beside the executions, and the
//! program is refused if a key ever gets another one.

use super::destructors::{Destructor, add_destructor};
use super::errors::{EAGAIN, EINVAL};
use super::{Names, Purpose};
use crate::program::call::{Call, Step};

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

fn delete(_: &mut Call<'_>) -> Step<u64> {
    Ok(0)
}

/// `pthread_setspecific(key, value)`.
fn set(call: &mut Call<'_>) -> Step<u64> {
    let (key, value) = (call.argument(0)? & 0xffff_ffff, call.argument(1)?);
    let Some(&function) = call.program.table.key_destructors.get(&key) else {
        return Ok(EINVAL as u64);
    };
    if value != 0 && function != 0 && call.recall(Purpose::KeyValue, key) == 0 {
        add_destructor(call, Destructor::Key { key, function });
    }
    call.remember(Purpose::KeyValue, key, value);
    Ok(0)
}

fn get(call: &mut Call<'_>) -> Step<u64> {
    let key = call.argument(0)? & 0xffff_ffff;
    Ok(call.recall(Purpose::KeyValue, key))
}

/// Takes the value of a key away from the thread.
pub(super) fn take(call: &mut Call<'_>, key: u64) -> u64 {
    let value = call.recall(Purpose::KeyValue, key);
    call.remember(Purpose::KeyValue, key, 0);
    value
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
