//! Spellings of atomic operations and memory orders.
//!
//! | | |
//! |---|---|
//! | C11, C++ | `atomic_load(x)`, `atomic_load_explicit(x, memory_order_acquire)`, also with `std::` |
//! | methods of C++ | `x->load(memory_order_acquire)`, `x.load(std::memory_order::acquire)` |
//! | GCC | `__atomic_load_n(x, __ATOMIC_ACQUIRE)` |
//!
//! `memory_order_consume` means acquire, as in compilers.

use raddle_core::execution::MemoryOrder::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};
use raddle_core::program::UpdateKind;

/// Supported operations, for messages.
pub(super) const KNOWN: &str = "atomic_load, atomic_store, atomic_exchange, atomic_fetch_add, atomic_fetch_sub, \
                     atomic_fetch_and, atomic_fetch_or, atomic_fetch_xor, \
                     atomic_compare_exchange_strong or _weak, each also with _explicit, or \
                     atomic_thread_fence";

/// Atomic operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AtomicOperation {
    Load,
    Store,
    Update(UpdateKind),
    CompareExchange { weak: bool },
    Fence,
}

/// Operation with the syntax of its memory orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AtomicCall {
    pub(super) operation: AtomicOperation,
    pub(super) orders: CallOrders,
}

/// Whether a call has arguments for memory orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallOrders {
    /// It has none.
    None,
    /// It has all.
    Given,
    /// It may omit them.
    Optional,
    /// It has all, preceded by whether the compare-exchange is weak.
    AfterWeak,
}

/// Returns the operation with this method name.
pub(super) fn operation(name: &str) -> Option<AtomicOperation> {
    let update = |name| {
        Some(AtomicOperation::Update(match name {
            "add" => UpdateKind::Add,
            "sub" => UpdateKind::Sub,
            "and" => UpdateKind::And,
            "or" => UpdateKind::Or,
            "xor" => UpdateKind::Xor,
            _ => return None,
        }))
    };
    match name {
        "load" => Some(AtomicOperation::Load),
        "store" => Some(AtomicOperation::Store),
        "exchange" => Some(AtomicOperation::Update(UpdateKind::Swap)),
        "compare_exchange_strong" => Some(AtomicOperation::CompareExchange { weak: false }),
        "compare_exchange_weak" => Some(AtomicOperation::CompareExchange { weak: true }),
        "thread_fence" => Some(AtomicOperation::Fence),
        _ => update(name.strip_prefix("fetch_")?),
    }
}

/// Returns the operation with this function name.
pub(super) fn call(name: &str) -> Option<AtomicCall> {
    if let Some(name) = name.strip_prefix("__atomic_") {
        return builtin(name);
    }
    let name = name.strip_prefix("atomic_")?;
    let (name, orders) = match name.strip_suffix("_explicit") {
        Some(name) => (name, CallOrders::Given),
        None if name == "thread_fence" => (name, CallOrders::Given),
        None => (name, CallOrders::None),
    };
    Some(AtomicCall { operation: operation(name)?, orders })
}

/// Returns the GCC builtin with this name after `__atomic_`. The generic builtins without `_n`, which take values by
/// pointer, are not supported.
fn builtin(name: &str) -> Option<AtomicCall> {
    let orders = CallOrders::Given;
    let operation = match name {
        "load_n" => AtomicOperation::Load,
        "store_n" => AtomicOperation::Store,
        "exchange_n" => AtomicOperation::Update(UpdateKind::Swap),
        "compare_exchange_n" => {
            let operation = AtomicOperation::CompareExchange { weak: false };
            return Some(AtomicCall { operation, orders: CallOrders::AfterWeak });
        }
        _ if name == "thread_fence" || name.starts_with("fetch_") => operation(name)?,
        _ => return None,
    };
    Some(AtomicCall { operation, orders })
}

/// Returns the memory order with this name.
pub(super) fn order(name: &str) -> Option<MemoryOrder> {
    let name =
        name.strip_prefix("memory_order_").or(name.strip_prefix("__ATOMIC_")).unwrap_or(name);
    match name.to_ascii_lowercase().as_str() {
        "relaxed" => Some(Relaxed),
        "acquire" | "consume" => Some(Acquire),
        "release" => Some(Release),
        "acq_rel" => Some(AcqRel),
        "seq_cst" => Some(SeqCst),
        _ => None,
    }
}

/// Returns the failure order of a compare-exchange that has only a success order.
pub(super) fn failure_order(success: MemoryOrder) -> MemoryOrder {
    match success {
        AcqRel => Acquire,
        Release => Relaxed,
        other => other,
    }
}

/// Returns `true` if the operation may have the order.
pub(super) fn fits(operation: AtomicOperation, order: MemoryOrder) -> bool {
    match operation {
        AtomicOperation::Load => matches!(order, Relaxed | Acquire | SeqCst),
        AtomicOperation::Store => matches!(order, Relaxed | Release | SeqCst),
        AtomicOperation::Update(_)
        | AtomicOperation::CompareExchange { .. }
        | AtomicOperation::Fence => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_have_several_spellings() {
        let fetch_add = AtomicOperation::Update(UpdateKind::Add);
        let is = |name, operation, orders| {
            assert_eq!(call(name), Some(AtomicCall { operation, orders }));
        };
        is("atomic_fetch_add", fetch_add, CallOrders::None);
        is("atomic_fetch_add_explicit", fetch_add, CallOrders::Given);
        is("__atomic_fetch_add", fetch_add, CallOrders::Given);
        is("__atomic_load_n", AtomicOperation::Load, CallOrders::Given);
        is("atomic_thread_fence", AtomicOperation::Fence, CallOrders::Given);
        let strong = AtomicOperation::CompareExchange { weak: false };
        is("__atomic_compare_exchange_n", strong, CallOrders::AfterWeak);
        is("atomic_compare_exchange_strong", strong, CallOrders::None);
        for none in
            ["atomic_signal_fence", "fetch_add", "atomic_fetch_nand", "smp_mb", "__atomic_load"]
        {
            assert_eq!(call(none), None, "{none}");
        }
    }

    #[test]
    fn orders_have_several_spellings() {
        for name in ["memory_order_acquire", "acquire", "__ATOMIC_ACQUIRE", "memory_order_consume"]
        {
            assert_eq!(order(name), Some(Acquire), "{name}");
        }
        assert_eq!(order("mo_relaxed"), None);
    }
}
