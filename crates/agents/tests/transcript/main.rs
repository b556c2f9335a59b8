//! The reading of transcripts: those of real clients, and those that no client should write.

mod fixtures;
mod lines;
mod properties;
mod recordings;
mod shapes;
mod timeline;
