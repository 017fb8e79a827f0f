//! How atomic operations and memory orders are spelled.
//!
//! | | |
//! |---|---|
//! | C11, C++ | `atomic_load(x)`, `atomic_load_explicit(x, memory_order_acquire)`, also with `std::` |
//! | methods of C++ | `x->load(memory_order_acquire)`, `x.load(std::memory_order::acquire)` |
//! | GCC | `__atomic_load_n(x, __ATOMIC_ACQUIRE)` |
//!
//! `memory_order_consume` is taken for acquire, as compilers do.

use raddle_core::execution::MemoryOrder::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};
use raddle_core::program::UpdateKind;

/// What there is, for messages.
pub(super) const KNOWN: &str = "atomic_load, atomic_store, atomic_exchange, atomic_fetch_add, atomic_fetch_sub, \
                     atomic_fetch_and, atomic_fetch_or, atomic_fetch_xor, \
                     atomic_compare_exchange_strong or _weak, each also with _explicit, or \
                     atomic_thread_fence";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Load,
    Store,
    Update(UpdateKind),
    CompareExchange { weak: bool },
    Fence,
}

/// An operation as it is spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) operation: Operation,
    pub(super) orders: Orders,
}

/// Whether a call says its memory orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Orders {
    /// It does not.
    None,
    /// It does.
    Given,
    /// It may.
    Optional,
    /// It does, and before them whether the compare-exchange is weak.
    AfterWeak,
}

/// The operation with this name, if there is one.
pub(super) fn operation(name: &str) -> Option<Operation> {
    let update = |name| {
        Some(Operation::Update(match name {
            "add" => UpdateKind::Add,
            "sub" => UpdateKind::Sub,
            "and" => UpdateKind::And,
            "or" => UpdateKind::Or,
            "xor" => UpdateKind::Xor,
            _ => return None,
        }))
    };
    match name {
        "load" => Some(Operation::Load),
        "store" => Some(Operation::Store),
        "exchange" => Some(Operation::Update(UpdateKind::Swap)),
        "compare_exchange_strong" => Some(Operation::CompareExchange { weak: false }),
        "compare_exchange_weak" => Some(Operation::CompareExchange { weak: true }),
        "thread_fence" => Some(Operation::Fence),
        _ => update(name.strip_prefix("fetch_")?),
    }
}

/// The operation that is called like that, if there is one.
pub(super) fn call(name: &str) -> Option<Call> {
    if let Some(name) = name.strip_prefix("__atomic_") {
        return builtin(name);
    }
    let name = name.strip_prefix("atomic_")?;
    let (name, orders) = match name.strip_suffix("_explicit") {
        Some(name) => (name, Orders::Given),
        None if name == "thread_fence" => (name, Orders::Given),
        None => (name, Orders::None),
    };
    Some(Call { operation: operation(name)?, orders })
}

/// What comes after `__atomic_`. Those that take values by pointers are not known: they are named like
/// those with `_n` that take the values themselves.
fn builtin(name: &str) -> Option<Call> {
    let orders = Orders::Given;
    let operation = match name {
        "load_n" => Operation::Load,
        "store_n" => Operation::Store,
        "exchange_n" => Operation::Update(UpdateKind::Swap),
        "compare_exchange_n" => {
            let operation = Operation::CompareExchange { weak: false };
            return Some(Call { operation, orders: Orders::AfterWeak });
        }
        _ if name == "thread_fence" || name.starts_with("fetch_") => operation(name)?,
        _ => return None,
    };
    Some(Call { operation, orders })
}

/// The memory order with this name.
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

/// The order of a compare-exchange that fails, if it is not given.
pub(super) fn of_failure(success: MemoryOrder) -> MemoryOrder {
    match success {
        AcqRel => Acquire,
        Release => Relaxed,
        other => other,
    }
}

/// Whether an operation can have the order.
pub(super) fn fits(operation: Operation, order: MemoryOrder) -> bool {
    match operation {
        Operation::Load => matches!(order, Relaxed | Acquire | SeqCst),
        Operation::Store => matches!(order, Relaxed | Release | SeqCst),
        Operation::Update(_) | Operation::CompareExchange { .. } | Operation::Fence => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_have_several_spellings() {
        let fetch_add = Operation::Update(UpdateKind::Add);
        let is = |name, operation, orders| assert_eq!(call(name), Some(Call { operation, orders }));
        is("atomic_fetch_add", fetch_add, Orders::None);
        is("atomic_fetch_add_explicit", fetch_add, Orders::Given);
        is("__atomic_fetch_add", fetch_add, Orders::Given);
        is("__atomic_load_n", Operation::Load, Orders::Given);
        is("atomic_thread_fence", Operation::Fence, Orders::Given);
        let strong = Operation::CompareExchange { weak: false };
        is("__atomic_compare_exchange_n", strong, Orders::AfterWeak);
        is("atomic_compare_exchange_strong", strong, Orders::None);
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
