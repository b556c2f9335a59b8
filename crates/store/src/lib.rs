//! The stored data: SQLite with migrations, history, full-text search, archive.
//!
//! [`Store::open`] is the way in. One process writes: it holds the lock file of the data folder. Every other
//! process reads. The writer works in [`Step`]s, one transaction each. The reading functions are methods of the
//! store, each beside the table that it reads ([`tables`]), or in [`search`] and [`stats`]. Only this crate
//! contains SQL.

#![forbid(unsafe_code)]

mod access;
pub mod archive;
mod at_hand;
mod connect;
mod damage;
pub mod error;
mod fault;
mod folder;
mod held;
mod index;
mod index_care;
mod journal;
mod lock;
mod log;
mod log_pages;
mod names;
mod open;
pub mod overview;
mod place;
mod reminder;
pub mod removal;
mod salvage;
pub mod schema;
pub mod search;
pub mod stats;
mod step;
mod store;
mod suspicion;
pub mod tables;
pub mod text;

pub use access::{Access, Mode, Origin};
pub use error::{StoreError, who};
pub use folder::in_the_way;
pub use held::obstacle;
pub use lock::last_writer;
pub use log::LogCopier;
pub use names::DATABASE;
pub use place::Place;
pub use reminder::forgotten_in;
pub use salvage::{DamagedFile, damaged_files};
pub use step::Step;
pub use store::Store;
pub use tables::{FileKey, SessionKey};
