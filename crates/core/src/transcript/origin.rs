//! What a session says about itself at the beginning of its file: which one it is, and where it comes from.

use std::borrow::Cow;

/// The entrypoint of a subagent that has a transcript of its own. It is part of the work of the session that started it.
pub const SUBAGENT: &str = "subagent";

/// What a session says about itself at the beginning of its file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SessionRecord<'a> {
    /// Its id.
    pub id: Cow<'a, str>,
    /// The session that it is a fork of.
    pub forked_from: Option<Cow<'a, str>>,
    /// The session whose subagent it is.
    pub subagent_of: Option<Cow<'a, str>>,
    /// Records with a smaller number than this were copied from another session.
    pub own_from: Option<u64>,
    /// A program writes the prompts, not a person.
    pub by_program: bool,
    /// Our host runs it, and writes the transcript that is stored.
    pub by_host: bool,
}
