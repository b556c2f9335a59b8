//! The answers to commands, so that a command which is sent again has no effect.

use std::collections::VecDeque;

use watchbill_protocol::error::ApiError;

/// How many commands are remembered by their ids. Prompts are remembered by their own ids for ever.
const MAX_REMEMBERED: usize = 1024;

/// Commands that were carried out or refused, newest last, with their answers.
#[derive(Default)]
pub struct Answered(VecDeque<(String, Result<(), ApiError>)>);

impl Answered {
    /// The answer to the command with this id.
    pub fn to(&self, id: &str) -> Option<Result<(), ApiError>> {
        self.0.iter().find(|(of, _)| of == id).map(|(_, answer)| answer.clone())
    }

    /// Adds an answer. The oldest one is forgotten.
    pub fn add(&mut self, id: &str, answer: &Result<(), ApiError>) {
        if self.0.len() == MAX_REMEMBERED {
            self.0.pop_front();
        }
        self.0.push_back((id.to_owned(), answer.clone()));
    }
}
