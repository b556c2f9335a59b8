//! Makes rows of transcripts: one file at a time for the worker, all files in one go for `watchbill index`.

mod archive_after_run;
pub mod beside;
mod file;
pub mod files;
pub mod index_observer;
pub mod indexed;
pub mod over_http;
mod rows;
pub mod run;
mod saved_state;
pub(crate) mod supplement;

pub use beside::RecordObserver;
pub use files::HistoryIndex;
pub use index_observer::IndexObserver;
pub use indexed::{FileReadCounts, IndexError};
pub use run::{Indexed, Options, run};
