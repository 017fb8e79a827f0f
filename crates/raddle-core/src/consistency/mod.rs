//! consistency
