//! Witnesses of a session's state, and the one function that weighs them.
//!
//! Every witness gives evidence with a time. Unknown words of other programs are no evidence, and never an error. The
//! resolver is pure: the same evidence at the same time gives the same state.

mod case;
mod hook_reading;
mod own;
pub mod registry;
mod registry_states;
pub mod resolve;
mod rules;
mod sentences;
mod testimony;
mod times;
pub mod witness;

pub use registry_states::{asked_without_prefix, cause_without_prefix};
pub use resolve::resolve;
pub use witness::{
    ChildWitness, Departure, Evidence, GoneInstance, InstanceWitness, TranscriptWitness, Verdict, Witness,
};
