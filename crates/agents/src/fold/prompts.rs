//! The prompts that an agent got: each is sent once, and its progress never goes back.

use std::collections::BTreeMap;

use watchbill_protocol::own::command::OwnImage;
use watchbill_protocol::own::event::{OwnWhat, PromptPlace};

use crate::driver::Refusal;

/// The prompts of one agent, by id.
#[derive(Debug, Default)]
pub(crate) struct Prompts {
    known: BTreeMap<String, Known>,
}

#[derive(Debug)]
struct Known {
    /// Empty after the prompt's end.
    text: String,
    images: u32,
    place: PromptPlace,
}

impl Prompts {
    /// A prompt was written to the agent. `None` if it is known.
    pub(crate) fn sent(&mut self, id: &str, text: String, images: u32) -> Option<OwnWhat> {
        if self.known.contains_key(id) {
            return None;
        }
        let place = PromptPlace::Sent;
        self.known.insert(id.to_owned(), Known { text: text.clone(), images, place });
        Some(OwnWhat::Prompt { id: id.to_owned(), text, images, place })
    }

    /// A prompt reached a place. `None` if it is not known, or was there or beyond.
    pub(crate) fn reached(&mut self, id: &str, place: PromptPlace) -> Option<OwnWhat> {
        let known = self.known.get_mut(id)?;
        if rank(place) <= rank(known.place) {
            return None;
        }
        known.place = place;
        let is_over = rank(place) == rank(PromptPlace::Done);
        let text = if is_over { std::mem::take(&mut known.text) } else { known.text.clone() };
        Some(OwnWhat::Prompt { id: id.to_owned(), text, images: known.images, place })
    }

    /// Whether the agent got a prompt of this id.
    pub(crate) fn knows(&self, id: &str) -> bool {
        self.known.contains_key(id)
    }

    /// Whether this may be the next prompt: each is sent once, and says something.
    pub(crate) fn check(&self, id: &str, text: &str, images: &[OwnImage]) -> Result<(), Refusal> {
        if self.knows(id) {
            return Err(Refusal::Gone("this prompt was sent before".to_owned()));
        }
        match text.trim().is_empty() && images.is_empty() {
            true => Err(Refusal::Unsupported("the prompt is empty".to_owned())),
            false => Ok(()),
        }
    }

    /// The ids of the prompts at a place.
    pub(crate) fn at(&self, place: PromptPlace) -> Vec<String> {
        let there = self.known.iter().filter(|(_, known)| known.place == place);
        there.map(|(id, _)| id.clone()).collect()
    }

    /// Whether a prompt is with the agent and was not begun.
    pub(crate) fn any_sent(&self) -> bool {
        self.known.values().any(|known| known.place == PromptPlace::Sent)
    }
}

fn rank(place: PromptPlace) -> u8 {
    match place {
        PromptPlace::Queued => 0,
        PromptPlace::Sent => 1,
        PromptPlace::Started => 2,
        PromptPlace::Done | PromptPlace::Dropped | PromptPlace::Unknown => 3,
    }
}
