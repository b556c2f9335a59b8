//! The stored data: SQLite with migrations, history, full-text search, archive.
//!
//! [`Store::open`] is the way in. One process writes: it holds the lock file of the data folder. Every other
//! process reads. The writer works in [`WriteTransaction`]s, one transaction each. The reading functions are methods of the
//! store, each beside the table that it reads ([`tables`]), or in [`search`] and [`stats`]. Only this crate
//! contains SQL.

#![forbid(unsafe_code)]

mod access;
pub mod archive;
mod connect;
mod damage;
mod damage_note;
pub mod day;
pub mod error;
mod folder;
pub mod foreign;
mod foreign_lock;
mod forgotten_list;
mod index;
mod index_state;
mod journal_mode;
mod lock;
mod log;
mod log_pages;
mod names;
mod open;
mod open_files;
pub mod overview;
pub mod removal;
mod salvage;
pub mod schema;
pub mod search;
mod sqlite_errors;
pub mod stats;
mod store;
pub mod tables;
pub mod text;
mod unindexed_texts;
pub mod usage;
mod write_transaction;

pub use access::{Access, DatabaseState, OpenMode};
pub use error::{StoreError, process_label};
pub use folder::blocking_file;
pub use foreign_lock::write_obstacle;
pub use forgotten_list::{forgotten_list_path, forgotten_sessions};
pub use lock::last_writer;
pub use log::LogCopier;
pub use names::DATABASE;
pub use open_files::OpenFiles;
pub use salvage::{DamagedFile, damaged_files};
pub use store::Store;
pub use tables::{FileKey, SessionKey};
pub use write_transaction::WriteTransaction;
