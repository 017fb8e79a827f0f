//! The hooks that the compiler puts into the program: their names and what they mean.

use std::sync::OnceLock;

use raddle_core::execution::MemoryOrder;
use raddle_core::program::UpdateKind;

use crate::assembly::WEAK;

/// A hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hook {
    pub(crate) name: String,
    pub(crate) kind: HookKind,
    /// Whether it preserves all registers: it is one that we inserted.
    pub(crate) is_inserted: bool,
}

/// What a hook means. The address is its first argument, if it has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HookKind {
    /// A plain load of so many bytes comes next.
    Read(usize),
    /// A plain store of so many bytes comes next.
    Write(usize),
    /// As [`HookKind::Read`], of a part of something larger.
    ReadPart(usize),
    /// As [`HookKind::Write`], of a part of something larger.
    WritePart(usize),
    /// As [`HookKind::Read`]; the second argument is the number of bytes.
    ReadRange,
    /// As [`HookKind::Write`]; the second argument is the number of bytes.
    WriteRange,
    /// An atomic access of so many bytes.
    Atomic(AtomicKind, usize),
    /// A load of so many bytes comes next, which is atomic although the compiler made it a plain one.
    AtomicRead(usize),
    /// A fence; the first argument is its order.
    Fence,
    /// A fence between stores.
    StoreFence,
    /// The address of a thread-local variable.
    ThreadLocal,
    /// Nothing that matters.
    Nothing,
}

/// An atomic access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtomicKind {
    Load,
    Store,
    Update(UpdateKind),
    /// A compare-exchange.
    Compare {
        is_weak: bool,
        /// Whether it gets the expected value and returns the old one, and whether it succeeded; otherwise the second argument is
        /// the address of the expected value, and it returns whether it succeeded.
        is_by_value: bool,
    },
}

/// All hooks. Their numbers are their positions.
pub(crate) fn table() -> &'static [Hook] {
    static TABLE: OnceLock<Vec<Hook>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table = vec![];
        accesses(&mut table);
        atomics(&mut table);
        others(&mut table);
        inserted(&mut table);
        table
    })
}

fn accesses(table: &mut Vec<Hook>) {
    for size in [1, 2, 4, 8, 16] {
        for prefix in ["", "unaligned_", "volatile_", "unaligned_volatile_"] {
            table.push(hook(format!("__tsan_{prefix}read{size}"), HookKind::Read(size)));
            table.push(hook(format!("__tsan_{prefix}write{size}"), HookKind::Write(size)));
        }
    }
    for size in [1, 2, 4, 8, 16] {
        table.push(hook(format!("__tsan_sc_read{size}"), HookKind::AtomicRead(size)));
    }
    table.push(hook("__tsan_read_range", HookKind::ReadRange));
    table.push(hook("__tsan_write_range", HookKind::WriteRange));
    table.push(hook("__tsan_vptr_update", HookKind::Write(8)));
    table.push(hook("__tsan_vptr_read", HookKind::Read(8)));
}

fn atomics(table: &mut Vec<Hook>) {
    let updates = [
        ("exchange", UpdateKind::Swap),
        ("fetch_add", UpdateKind::Add),
        ("fetch_sub", UpdateKind::Sub),
        ("fetch_and", UpdateKind::And),
        ("fetch_or", UpdateKind::Or),
        ("fetch_xor", UpdateKind::Xor),
        ("fetch_nand", UpdateKind::Nand),
    ];
    let compare = |is_weak, is_by_value| AtomicKind::Compare { is_weak, is_by_value };
    let others = [
        ("load", AtomicKind::Load),
        ("store", AtomicKind::Store),
        ("compare_exchange_strong", compare(false, false)),
        ("compare_exchange_weak", compare(true, false)),
        ("compare_exchange_val", compare(false, true)),
    ];
    for bits in [8, 16, 32, 64, 128] {
        let updates = updates.map(|(name, kind)| (name, AtomicKind::Update(kind)));
        for (name, kind) in updates.into_iter().chain(others) {
            if bits == 128 && name == "compare_exchange_val" {
                continue; // Its last argument is on the stack. Compilers do not call it.
            }
            let name = format!("__tsan_atomic{bits}_{name}");
            table.push(hook(name, HookKind::Atomic(kind, bits / 8)));
        }
    }
    for bits in [8, 16, 32, 64] {
        let kind = HookKind::Atomic(compare(true, true), bits / 8);
        table.push(hook(format!("{WEAK}{bits}"), kind));
    }
    table.push(hook("__tsan_atomic_thread_fence", HookKind::Fence));
}

fn others(table: &mut Vec<Hook>) {
    table.push(hook("__tls_get_addr", HookKind::ThreadLocal));
    for name in [
        "__tsan_init",
        "__tsan_func_entry",
        "__tsan_func_exit",
        "__tsan_ignore_thread_begin",
        "__tsan_ignore_thread_end",
        "__tsan_atomic_signal_fence",
    ] {
        table.push(hook(name, HookKind::Nothing));
    }
}

fn inserted(table: &mut Vec<Hook>) {
    let mut add = |name: &str, kind| {
        let name = format!("raddle_saved_{name}");
        table.push(Hook { name, kind, is_inserted: true });
    };
    for size in [1, 2, 4, 8, 16] {
        add(&format!("read{size}"), HookKind::ReadPart(size));
        add(&format!("write{size}"), HookKind::WritePart(size));
    }
    add("read_range", HookKind::ReadRange);
    add("write_range", HookKind::WriteRange);
    add("fence", HookKind::Fence);
    add("store_fence", HookKind::StoreFence);
}

fn hook(name: impl Into<String>, kind: HookKind) -> Hook {
    Hook { name: name.into(), kind, is_inserted: false }
}

/// The number of the first function of the C library that is guarded.
pub(crate) const FIRST_GUARDED: usize = 1 << 20;

/// The memory order that a number of the compiler's stands for.
pub(crate) fn order(number: usize) -> MemoryOrder {
    match number & 0xff {
        0 => MemoryOrder::Relaxed,
        1 | 2 => MemoryOrder::Acquire,
        3 => MemoryOrder::Release,
        4 => MemoryOrder::AcqRel,
        _ => MemoryOrder::SeqCst,
    }
}
