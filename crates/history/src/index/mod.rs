//! Makes rows of transcripts: one file at a time for the worker, all files in one go for `watchbill index`.

mod archived;
pub mod beside;
pub mod companion;
mod file;
pub mod files;
pub mod indexed;
mod kept;
mod rows;
pub mod run;

pub use beside::Beside;
pub use companion::Companion;
pub use files::HistoryIndex;
pub use indexed::{IndexError, IndexedFile};
pub use run::{Indexed, Options, Progress, run};
