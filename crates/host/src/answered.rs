//! The answers to commands, so that a command which is sent again has no effect.

use std::collections::VecDeque;

use watchbill_protocol::error::ApiError;

use crate::limits;

/// How many commands are remembered by their ids. Prompts are remembered by their own ids for ever.
const MAX_REMEMBERED: usize = 1024;

/// A command that was carried out or refused: its id and its answer.
type Answer = (String, Result<(), ApiError>);

/// Commands that were carried out or refused, newest last.
#[derive(Default)]
pub struct Answered {
    answers: VecDeque<Answer>,
    bytes: usize,
}

fn size((id, answer): &Answer) -> usize {
    size_of::<Answer>() + id.len() + answer.as_ref().err().map_or(0, |error| error.message.len())
}

impl Answered {
    /// The answer to the command with this id.
    pub fn to(&self, id: &str) -> Option<Result<(), ApiError>> {
        self.answers.iter().find(|(of, _)| of == id).map(|(_, answer)| answer.clone())
    }

    /// Adds an answer. The oldest ones are forgotten.
    pub fn add(&mut self, id: &str, answer: &Result<(), ApiError>) {
        let answer = (id.to_owned(), answer.clone());
        self.bytes += size(&answer);
        self.answers.push_back(answer);
        while self.answers.len() > MAX_REMEMBERED || (self.bytes > limits::ANSWERS && self.answers.len() > 1)
        {
            self.bytes -= self.answers.pop_front().as_ref().map_or(0, size);
        }
    }
}
