//! What is kept: SQLite with migrations, history, full-text search, archive.

#![forbid(unsafe_code)]
