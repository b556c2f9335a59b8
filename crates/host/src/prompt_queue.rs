//! The prompts of a session, as a pure machine: each is written to the agent once, and a failure holds the waiting ones.

use std::collections::{HashMap, VecDeque};

use watchbill_core::time::Timestamp;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::own::command::{OwnCommand, OwnImage, PromptWhen};
use watchbill_protocol::own::event::{OwnWhat, PromptPlace};

use crate::limits;

/// A prompt that waits. Its pictures lie in files.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Waiting {
    id: String,
    text: String,
    images: Vec<OwnImage>,
    when: PromptWhen,
}

/// A task for the host.
#[derive(Debug, Clone, PartialEq)]
pub enum Act {
    /// Tells readers.
    Tell(OwnWhat),
    /// Interrupts the running turn.
    Interrupt,
    /// Hands a prompt to the driver now.
    Hand(OwnCommand),
}

/// The prompts of a session.
#[derive(Debug, Default)]
pub struct PromptQueue {
    waiting: VecDeque<Waiting>,
    /// Why the queue waits for the user.
    held: Option<String>,
    /// When it goes on by itself, as the user said.
    until: Option<Timestamp>,
    /// Each prompt that was ever taken, with its place.
    places: HashMap<String, PromptPlace>,
    /// The texts of prompts that the agent has and has not answered.
    texts: HashMap<String, String>,
    /// The host has interrupted the turn that runs, so the end of that turn does not hold the queue again.
    by_us: bool,
    /// A turn runs.
    turn_runs: bool,
}

/// The bytes of a prompt.
fn size(text: &str, images: &[OwnImage]) -> usize {
    text.len() + images.iter().map(|image| image.data.len()).sum::<usize>()
}

impl PromptQueue {
    /// Whether a prompt fits behind those that wait. One that is known is not added again.
    ///
    /// # Errors
    /// When it does not.
    pub fn has_room(&self, id: &str, text: &str, images: &[OwnImage]) -> Result<(), ApiError> {
        let waiting: usize = self.waiting.iter().map(|one| size(&one.text, &one.images)).sum();
        let waiting = waiting + self.texts.values().map(String::len).sum::<usize>();
        let fits = waiting == 0 || waiting + size(text, images) <= limits::WAITING_PROMPTS;
        if fits || self.places.contains_key(id) {
            return Ok(());
        }
        let words = "the prompts that wait are too large together: wait until one is sent, or take one back";
        Err(ApiError::new(ErrorCode::Conflict, words))
    }

    /// Takes a prompt. `turn_runs`: the agent works.
    pub fn take(
        &mut self,
        id: &str,
        text: &str,
        images: &[OwnImage],
        when: PromptWhen,
        turn_runs: bool,
    ) -> Vec<Act> {
        if self.places.contains_key(id) {
            return Vec::new();
        }
        let waiting = Waiting { id: id.to_owned(), text: text.to_owned(), images: images.to_vec(), when };
        self.places.insert(id.to_owned(), PromptPlace::Queued);
        let mut acts = vec![Act::Tell(told(&waiting, PromptPlace::Queued))];
        match when {
            PromptWhen::Queue => self.waiting.push_back(waiting),
            PromptWhen::Steer if turn_runs => {
                self.texts.insert(id.to_owned(), text.to_owned());
                acts.push(Act::Hand(prompt(waiting)));
            }
            PromptWhen::Steer | PromptWhen::Now => self.waiting.push_front(waiting),
        }
        if when == PromptWhen::Now && turn_runs && !self.by_us {
            acts.push(Act::Interrupt);
        }
        acts
    }

    /// The next prompt, when the agent can take one.
    pub fn next(&mut self) -> Option<OwnCommand> {
        let first = self.waiting.front()?;
        if self.held.is_some() && first.when != PromptWhen::Now {
            return None;
        }
        let first = self.waiting.pop_front()?;
        self.texts.insert(first.id.clone(), first.text.clone());
        Some(prompt(first))
    }

    /// Whether the agent is to be started: a prompt waits and may go.
    pub fn has_work(&self) -> bool {
        self.waiting.front().is_some_and(|first| self.held.is_none() || first.when == PromptWhen::Now)
    }

    /// Puts a prompt back that the agent cannot take into its turn: it is the next one.
    pub fn put_back(&mut self, command: OwnCommand) {
        if let OwnCommand::Prompt { id, text, images, when } = command {
            self.waiting.push_front(Waiting { id, text, images, when });
        }
    }

    /// Takes a waiting prompt back. `None`: it does not wait.
    pub fn unqueue(&mut self, id: &str) -> Option<Vec<Act>> {
        let at = self.waiting.iter().position(|waiting| waiting.id == id)?;
        let taken = self.waiting.remove(at)?;
        Some(self.dropped(vec![taken]))
    }

    /// Takes all waiting prompts back.
    pub fn clear(&mut self) -> Vec<Act> {
        let all = self.waiting.drain(..).collect();
        self.dropped(all)
    }

    fn dropped(&mut self, taken: Vec<Waiting>) -> Vec<Act> {
        let mut acts: Vec<Act> =
            taken.iter().map(|waiting| Act::Tell(told(waiting, PromptPlace::Dropped))).collect();
        for waiting in taken {
            self.places.insert(waiting.id, PromptPlace::Dropped);
        }
        if self.waiting.is_empty() {
            acts.extend(self.release());
        }
        acts
    }

    /// Holds what waits until the user lets it go on. Where nothing waits, nothing is held.
    pub fn hold(&mut self, cause: &str) -> Vec<Act> {
        let acts = self.forget_time();
        if self.waiting.is_empty() || self.held.is_some() {
            return acts;
        }
        self.held = Some(cause.to_owned());
        vec![self.tell_held()]
    }

    /// What the user said of a time was said of another situation.
    fn forget_time(&mut self) -> Vec<Act> {
        self.until.take().map(|_| self.tell_held()).into_iter().collect()
    }

    /// Whether any prompt waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Holds what waits and what comes, and lets it go on at a time.
    pub fn hold_until(&mut self, until: Timestamp) -> Vec<Act> {
        self.held.get_or_insert_with(|| "time".to_owned());
        self.until = Some(until);
        vec![self.tell_held()]
    }

    /// When the queue goes on by itself.
    pub fn until(&self) -> Option<Timestamp> {
        self.until
    }

    fn tell_held(&self) -> Act {
        let until = self.until.map(|at| at.to_string());
        Act::Tell(OwnWhat::QueueHeld { held: self.held.is_some(), cause: self.held.clone(), until })
    }

    /// The turn that runs is being interrupted by the host.
    pub fn interrupting(&mut self) {
        self.by_us = true;
    }

    /// Lets held prompts go on.
    pub fn release(&mut self) -> Vec<Act> {
        self.until = None;
        let was_held = self.held.take().is_some();
        was_held.then(|| self.tell_held()).into_iter().collect()
    }

    /// Notes an event of the driver.
    pub fn note(&mut self, event: &OwnWhat) -> Vec<Act> {
        match event {
            OwnWhat::Prompt { id, place, .. } => {
                self.places.insert(id.clone(), *place);
                if *place != PromptPlace::Queued {
                    // In the log of an earlier host: it waits no longer.
                    self.waiting.retain(|waiting| waiting.id != *id);
                }
                if !matches!(place, PromptPlace::Queued | PromptPlace::Sent | PromptPlace::Started) {
                    self.texts.remove(id);
                }
                // The agent cancelled what it had not begun: no turn comes whose end is ours.
                if *place == PromptPlace::Dropped && !self.turn_runs && !self.any_sent() {
                    self.by_us = false;
                }
                Vec::new()
            }
            OwnWhat::TurnStart => {
                self.turn_runs = true;
                self.forget_time()
            }
            OwnWhat::Moved { .. } => self.forget_time(),
            OwnWhat::TurnEnd { reason, .. } => {
                self.turn_runs = false;
                let by_us = std::mem::take(&mut self.by_us);
                match reason.as_str() {
                    "completed" => Vec::new(),
                    "interrupted" if by_us => Vec::new(),
                    "interrupted" | "limit" | "login" => self.hold(reason),
                    _ => self.hold("error"),
                }
            }
            _ => Vec::new(),
        }
    }

    /// The place of a prompt.
    pub fn place(&self, id: &str) -> Option<PromptPlace> {
        self.places.get(id).copied()
    }

    /// Whether a prompt is with the agent, which has not confirmed it.
    pub fn any_sent(&self) -> bool {
        self.places.values().any(|place| *place == PromptPlace::Sent)
    }

    /// The agent is gone: what it did not confirm is at an unknown place, and what waits is held.
    pub fn agent_gone(&mut self) -> Vec<Act> {
        (self.by_us, self.turn_runs) = (false, false);
        let mut lost: Vec<String> = Vec::new();
        for (id, place) in &mut self.places {
            if *place == PromptPlace::Sent {
                *place = PromptPlace::Unknown;
                lost.push(id.clone());
            }
        }
        lost.sort_unstable();
        let mut texts = std::mem::take(&mut self.texts);
        let mut unknown = |id: String| {
            let text = texts.remove(&id).unwrap_or_default();
            OwnWhat::Prompt { id, text, images: 0, place: PromptPlace::Unknown }
        };
        let mut acts: Vec<Act> = lost.into_iter().map(|id| Act::Tell(unknown(id))).collect();
        acts.extend(self.hold("error"));
        acts
    }

    /// Takes up a prompt from the log of an earlier host, with what that log says of it.
    pub fn recall(&mut self, command: &OwnCommand) {
        let (id, text, images, when) = match command {
            OwnCommand::Prompt { id, text, images, when } => (id, text, &images[..], *when),
            OwnCommand::GoOnAt { id, text, .. } if !text.is_empty() => (id, text, &[][..], PromptWhen::Queue),
            _ => return,
        };
        if self.places.insert(id.clone(), PromptPlace::Queued).is_none() {
            let waiting = Waiting { id: id.clone(), text: text.clone(), images: images.to_vec(), when };
            self.waiting.push_back(waiting);
        }
    }

    /// The log of an earlier host has ended here: only prompts that are still queued wait.
    pub fn recalled(&mut self) {
        let places = &self.places;
        self.waiting.retain(|waiting| places.get(&waiting.id) == Some(&PromptPlace::Queued));
        for waiting in &mut self.waiting {
            waiting.when = PromptWhen::Queue;
        }
        (self.held, self.until) = (None, None);
        (self.by_us, self.turn_runs) = (false, false);
    }
}

fn prompt(waiting: Waiting) -> OwnCommand {
    let Waiting { id, text, images, when } = waiting;
    OwnCommand::Prompt { id, text, images, when }
}

fn told(waiting: &Waiting, place: PromptPlace) -> OwnWhat {
    OwnWhat::Prompt {
        id: waiting.id.clone(),
        text: waiting.text.clone(),
        images: u32::try_from(waiting.images.len()).unwrap_or(u32::MAX),
        place,
    }
}

#[cfg(test)]
mod tests;
