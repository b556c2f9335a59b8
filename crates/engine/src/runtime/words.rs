//! What the person says while the loop runs: from the window, and from other programs by their wishes.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use watchbill_core::person::Word;
use watchbill_core::time::Timestamp;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_watch::hints::Hint;

use super::Loop;
use super::hints::take_out;
use crate::forget::Removal;
use crate::history::historian::Told;
use crate::input::Input;
use crate::persist::Persist;
use crate::wishes::{Wished, Wishes};

/// What came of a wish, and of which.
pub(super) type Answered = (PathBuf, Result<(), ApiError>);

impl Loop {
    /// Opens the folder of wishes and watches it.
    pub(super) fn hear_wishes(&mut self) {
        let Some(data_dir) = self.engine.settings.data_dir.as_deref() else { return };
        match Wishes::open(data_dir) {
            Ok(wishes) => {
                self.source.watch_beside(wishes.folder());
                self.wishes = Some(wishes);
            }
            Err(error) => tracing::warn!(%error, "what other programs are told will not be heard here"),
        }
    }

    /// Takes a word in, and has it stored: here, or by the program that writes.
    pub(super) fn say(&mut self, word: &Word) -> Result<(), ApiError> {
        let now = self.clock.now();
        let word = self.engine.meant(word)?;
        let out = self.engine.say(now, &word)?;
        self.carry_out(out);
        if self.persist.as_ref().is_some_and(|persist| persist.writes()) {
            self.untold = true;
            self.save(now);
            if !self.is_stored() {
                return Err(self.unstored());
            }
        } else if let (Some(_), Some(wishes)) = (&self.persist, &self.wishes) {
            let left = wishes.leave(&word, now);
            return left.map(drop).map_err(|error| unsaid(&error));
        }
        Ok(())
    }

    /// Whether any of these hints is about wishes; those that are about nothing else are taken out.
    pub(super) fn are_of_wishes(&self, hints: &mut BTreeSet<Hint>) -> bool {
        let Some(wishes) = &self.wishes else { return false };
        take_out(hints, wishes.folder())
    }

    /// Fulfils the wishes of other programs, or, where another one does that, reads what it has stored.
    pub(super) fn take_wishes(&mut self) {
        // Before everything is read, a session may only seem to be unknown.
        let Some(wishes) = self.wishes.clone().filter(|_| !self.engine.reading) else { return };
        let mut waiting = wishes.waiting();
        let writes = self.persist.as_ref().is_some_and(|persist| persist.writes());
        if writes {
            waiting.retain(|wish| match &wish.wished {
                Ok(Wished::Removed(removal)) => {
                    self.hand_on(&wishes, &wish.path, removal);
                    false
                }
                _ => true,
            });
        }
        if !writes {
            let Some(words) = self.persist.as_mut().and_then(|persist| persist.words()) else { return };
            self.engine.restore_words(words);
            self.step(Input::Deadline);
        } else if waiting.is_empty() {
            return;
        }
        if !waiting.is_empty() {
            // One of them may be about a session at rest.
            self.wake_all();
        }
        let now = self.clock.now();
        let names: BTreeSet<String> = waiting.iter().map(|wish| wish.name.clone()).collect();
        let mut fulfilled = Vec::new();
        for wish in waiting {
            if self.answers.iter().any(|(path, _)| *path == wish.path) {
                // It is in force, and waits for the store.
                continue;
            }
            let is_stored = self.persist.as_ref().is_some_and(|persist| persist.has_fulfilled(&wish.name));
            let answer = match wish.wished {
                _ if is_stored => Ok(()),
                Ok(Wished::Removed(_)) => continue,
                Ok(Wished::Said(word)) => self.engine.say(now, &word).map(|out| {
                    fulfilled.push(wish.name);
                    self.carry_out(out);
                }),
                Err(senseless) => {
                    if writes {
                        self.engine.note_wish(wishes.folder(), &senseless.message);
                    }
                    Err(senseless)
                }
            };
            if writes {
                self.answers.push((wish.path, answer));
            }
        }
        if let Some(persist) = self.persist.as_mut().filter(|_| writes) {
            persist.fulfil(fulfilled, &names);
            self.save(now);
            // Wishes that make no sense are a problem, to be published.
            self.step(Input::Deadline);
        }
    }

    /// Has the history's thread forget something, which may take seconds, and answer.
    fn hand_on(&self, wishes: &Wishes, wish: &Path, removal: &Removal) {
        let given_up = wishes.is_given_up(wish, self.clock.now());
        if !wishes.take_away(wish) || given_up {
            return;
        }
        let (wishes, wish) = (wishes.clone(), wish.to_path_buf());
        let (clock, woken) = (Arc::clone(&self.clock), Arc::clone(&self.woken));
        let told = Box::new(move |outcome| {
            wishes.answer(&wish, outcome);
            wishes.tell(clock.now());
            woken.notify_one();
        });
        let untold = match &self.historian {
            Some(historian) => historian.remove(removal.clone(), told).err(),
            None => Some(told as Told),
        };
        if let Some(told) = untold {
            let message = "whoever keeps the history has no thread for it; quit that, and try again";
            told(Err(ApiError::new(ErrorCode::Internal, message)));
        }
    }

    /// Tells other programs of what was said here, and what came of their wishes, once it is stored: to be told that it is
    /// done means that it stays.
    pub(super) fn answer_wishes(&mut self, now: Timestamp) {
        if self.answers.is_empty() && !self.untold || !self.is_stored() {
            return;
        }
        let Some(wishes) = &self.wishes else { return };
        self.untold = false;
        for (wish, answer) in self.answers.drain(..) {
            wishes.answer(&wish, answer.map(|()| None));
        }
        wishes.tell(now);
    }

    /// Whether everything that was said is in the store.
    fn is_stored(&self) -> bool {
        self.persist.as_ref().is_some_and(|persist| persist.writes() && !persist.owes())
            && self.engine.settings.doubt.is_none()
    }

    fn unstored(&self) -> ApiError {
        let persist = self.persist.as_ref();
        let why = match persist.and_then(Persist::trouble) {
            Some(trouble) => trouble.detail,
            None if persist.is_some_and(Persist::waits_for_another_thread) => {
                "what is to be left out is being removed from it; that takes some seconds".into()
            }
            None => "it is not known why".into(),
        };
        let message =
            format!("that counts now, but is not stored yet, and would be lost with this program: {why}");
        ApiError::new(ErrorCode::Unreadable, message)
    }
}

fn unsaid(error: &io::Error) -> ApiError {
    let message = format!(
        "another Watchbill keeps the store, and could not be told what you said: {error}; check the data folder"
    );
    ApiError::new(ErrorCode::Unreadable, message)
}
