//! The history of Watchbill: transcripts into stored rows, on a thread of its own, and what people ask of them.

#![forbid(unsafe_code)]

pub mod reader;
