//! Sessions of our own: [`witness::OwnWitness`] is what their hosts say in [`crate::evidence`].

pub mod resume;
pub mod witness;

pub use witness::{OwnReading, OwnWay, OwnWitness};

/// The tags around what was said before, at the beginning of the first prompt after a change of the agent.
pub const CONTEXT: (&str, &str) = ("<watchbill-context>", "</watchbill-context>");

/// How many bytes of a prompt what was said before takes, and the user's words behind it.
pub fn split_context(prompt: &str) -> (usize, &str) {
    let rest = prompt.strip_prefix(CONTEXT.0).and_then(|rest| rest.split_once(CONTEXT.1));
    rest.map_or((0, prompt), |(_, rest)| {
        (prompt.len() - rest.len(), rest.strip_prefix("\n\n").unwrap_or(rest))
    })
}
