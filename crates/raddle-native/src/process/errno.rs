//! Error numbers of Linux.

/// An error number; a system call returns its negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Errno(pub(crate) u16);

impl Errno {
    pub(crate) const ENOENT: Errno = Errno(2);
    pub(crate) const EBADF: Errno = Errno(9);
    pub(crate) const ENOMEM: Errno = Errno(12);
    pub(crate) const EFAULT: Errno = Errno(14);
    pub(crate) const EINVAL: Errno = Errno(22);
    pub(crate) const EMFILE: Errno = Errno(24);
    pub(crate) const ENOTTY: Errno = Errno(25);
    pub(crate) const ESPIPE: Errno = Errno(29);
    pub(crate) const ERANGE: Errno = Errno(34);
    pub(crate) const ENOSYS: Errno = Errno(38);

    /// The value in `rax`.
    pub(crate) fn value(self) -> u64 {
        (-i64::from(self.0)) as u64
    }
}
