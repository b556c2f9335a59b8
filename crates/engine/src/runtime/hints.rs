//! What wakes the loop from without: hints of files, events of hooks, and troubles of watching and hearing.

use watchbill_core::problem::Problem;

use super::Loop;
use crate::hears::Ear;
use crate::input::Input;

impl Loop {
    pub(super) fn take_hints(&mut self) {
        let mut hints = self.source.take();
        hints.append(&mut self.again);
        let problems = self.problems();
        if problems != self.watch_problems {
            self.watch_problems.clone_from(&problems);
            self.step(Input::Watching(problems));
        }
        if self.are_of_wishes(&mut hints) {
            self.take_wishes();
        }
        if !hints.is_empty() {
            self.step(Input::Hints(hints));
        }
        self.take_hooks();
    }

    fn take_hooks(&mut self) {
        let Ok(Some(ear)) = &self.ear else { return };
        let (events, more) = ear.take();
        if more {
            // The rest comes with the next turn of the loop, so that nobody waits for all of it.
            self.woken.notify_one();
        }
        if !events.is_empty() {
            if let Some(historian) = &self.historian {
                historian.heard(events.clone());
            }
            self.step(Input::Hooks(events));
        }
    }

    /// What is wrong with watching and hearing.
    pub(super) fn problems(&self) -> Vec<Problem> {
        let mut problems = self.source.problems();
        match &self.ear {
            Ok(ear) => problems.extend(ear.iter().flat_map(Ear::problems)),
            Err(deaf) => problems.push(deaf.clone()),
        }
        problems
    }
}
