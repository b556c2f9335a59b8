//! The bounds of what is read.

/// The most bytes of a job, and of what a model says.
pub const MOST: u64 = 1 << 20;
