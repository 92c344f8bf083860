//! How strong accesses are: with whom they are ordered by themselves.

use ptx::view::{AccessKind, MemAccess, Order, Scope};

use super::record::{STRONG_BLOCK, STRONG_DEVICE, VOLATILE};

/// How strong an operation of a scope is.
pub(super) fn strong(scope: Scope) -> u32 {
    if matches!(scope, Scope::Block | Scope::Cluster) { STRONG_BLOCK } else { STRONG_DEVICE }
}

/// Among whom an access is ordered with others: 0 for a weak one.
pub(super) fn kind(access: &MemAccess) -> u32 {
    let is_atomic = access.kind == AccessKind::ReadWrite;
    match (access.order, access.scope) {
        (Order::Weak, _) if !is_atomic => 0,
        (Order::Volatile, _) => VOLATILE,
        (_, scope) => strong(scope.unwrap_or(Scope::Device)),
    }
}
