//! Tests of the store through its public face, on real files.

#![allow(missing_docs)]

mod first;
mod rig;
