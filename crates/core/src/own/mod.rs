//! Sessions of our own: [`witness::OwnWitness`] is what their hosts say in [`crate::evidence`].

pub mod resume;
pub mod witness;

pub use witness::{OwnReading, OwnWay, OwnWitness};
