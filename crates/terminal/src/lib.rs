//! Takes the person to the tab or pane in which a session runs.
//!
//! What is known of an agent's surroundings is a [`Seat`]. [`focus()`] goes from the innermost program outwards: a
//! multiplexer's pane, the client that shows it, that client's terminal, the terminal's window. What each program
//! is asked is a plan, made of facts alone ([`terminals`]); a [`World`] carries it out. So plans for programs
//! that are not here are tested by the command lines they come to.
//!
//! Every value from an environment is checked before it reaches a command line ([`place`]); no shell is involved.

#![forbid(unsafe_code)]

pub mod answer;
pub mod call;
pub mod focus;
pub mod front;
pub mod place;
mod process;
pub mod real;
pub mod resume;
mod run;
pub mod seat;
pub mod terminals;
pub mod windows;
pub mod world;

pub use answer::{Answer, Outcome};
pub use focus::focus;
pub use front::in_front;
pub use real::RealWorld;
pub use resume::resume_command;
pub use seat::{Presence, Seat};
pub use world::{Platform, World};
