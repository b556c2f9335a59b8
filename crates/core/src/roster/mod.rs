//! The roster: rows in order, and what changed between two revisions.

pub mod row;
