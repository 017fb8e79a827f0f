//! Numbers of writes and messages.

/// A write, by number; [`INIT`] is the initial write of the location in question.
pub(super) type Index = u32;

/// The initial write of the location in question.
pub(super) const INIT: Index = Index::MAX;

/// A message, by number.
pub(super) type Message = u32;

/// The empty message.
pub(super) const NO_MESSAGE: Message = 0;
