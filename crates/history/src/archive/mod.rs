//! Archived transcripts, read as if their files still existed, and kept up to date. [`offer()`] estimates what
//! archiving would cost.

mod archived_fs;
pub(crate) mod due;
mod found;
pub(crate) mod offer;
pub(crate) mod stock;

pub use archived_fs::{ArchivedFs, over};
pub use due::{Due, Use, due};
pub use found::owner;
pub use offer::{Offer, offer, offer_at};
pub use stock::Stock;
