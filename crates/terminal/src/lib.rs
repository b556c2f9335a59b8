//! Brings the tab or pane of a session to the front, and types into it.
//!
//! A [`SessionLocation`] holds the known facts about a session's surroundings. [`focus()`] goes from the innermost program
//! outwards: a multiplexer's pane, the multiplexer's client that shows it, that client's terminal, the terminal's
//! window. For each program, [`terminals`] makes a plan from facts alone, and a [`World`] carries it out. So tests
//! check the plans for programs that are not installed by their command lines.
//!
//! Every value from an environment is checked before it reaches a command line ([`place`]). No shell is involved.

#![forbid(unsafe_code)]

pub mod answer;
pub mod call;
pub mod focus;
pub mod front_check;
pub mod place;
pub mod real;
pub mod resume;
pub mod session_location;
pub mod terminals;
pub mod typing;
pub mod windows;
pub mod world;

pub use answer::{FocusAnswer, FocusLevel};
pub use focus::focus;
pub use front_check::in_front;
pub use real::RealWorld;
pub use resume::resume_command;
pub use session_location::{Presence, SessionLocation};
pub use terminals::Form;
pub use typing::Pane;
pub use world::{Platform, World};
