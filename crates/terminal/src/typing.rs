//! Types a text into the pane of a session. The pane is bound by its exact id, and each write is preceded by a look at it.

use watchbill_core::ids::Instance;

use crate::call::{CallResult, ProgramCall};
use crate::place::NestLevel;
use crate::session_location::{Presence, SessionLocation};
use crate::terminals::{Form, Program, Typing, program_of, typing_of};
use crate::world::World;

/// A pane that takes keys for a session.
#[derive(Debug)]
pub struct Pane {
    place: NestLevel,
    instance: Instance,
    program: &'static Program,
    typing: &'static Typing,
}

impl Pane {
    /// The pane of a session.
    ///
    /// # Errors
    /// When no keys can be sent to it from here. The text is the reason.
    pub fn of(session_location: &SessionLocation, world: &dyn World) -> Result<Self, String> {
        let place = NestLevel::of(session_location, world)?;
        let Presence::Runs(instance) = &session_location.presence else {
            return Err("The session's process is not known, so its terminal cannot be told for sure.".into());
        };
        let program = program_of(&place).ok_or("The session runs without a terminal.")?;
        let name = if program.name.is_empty() { "This terminal" } else { program.name };
        let no_way =
            || format!("{name} takes no text from other programs; tmux does, and kitty with remote control.");
        let typing = typing_of(program).ok_or_else(no_way)?;
        Ok(Self { place, instance: instance.clone(), program, typing })
    }

    /// The program that has the pane.
    pub fn by(&self) -> &'static str {
        self.program.name
    }

    /// Looks whether keys for the pane reach the session's process now, and no other program.
    ///
    /// # Errors
    /// When they do not. The text is the reason.
    pub fn check(&self, world: &dyn World) -> Result<(), String> {
        let process = world.process(self.instance.pid);
        let is_it = |start: &str| self.instance.proc_start.as_deref() == Some(start);
        let process =
            process.filter(|process| is_it(&process.start)).ok_or("The session's process has ended.")?;
        match process.reads_keys {
            Some(true) => (self.typing.takes)(&self.place, world),
            Some(false) => {
                Err("Another program reads the keys of the session's terminal: the session is suspended, or \
                                runs in the background."
                    .into())
            }
            None => Err("This system does not tell which program reads the keys of a terminal.".into()),
        }
    }

    /// Prepares a text, so that one call writes it: gives that call for [`Pane::write`]. Nothing is written yet.
    ///
    /// # Errors
    /// When the terminal refuses.
    pub fn prepare(&self, text: &str, form: Form, world: &dyn World) -> Result<ProgramCall, String> {
        let mut calls = (self.typing.write)(&self.place, text, form);
        let last = calls.pop().ok_or("This terminal takes no text.")?;
        for call in calls {
            done(&world.run(&call), &call.program)?;
        }
        Ok(last)
    }

    /// Writes a prepared text. Presses no Enter.
    ///
    /// # Errors
    /// When the terminal refuses. Some of the text may have been written.
    pub fn write(&self, prepared: &ProgramCall, world: &dyn World) -> Result<(), String> {
        done(&world.run(prepared), &prepared.program)
    }

    /// Presses Enter.
    ///
    /// # Errors
    /// When the terminal refuses.
    pub fn enter(&self, world: &dyn World) -> Result<(), String> {
        let call = (self.typing.enter)(&self.place);
        done(&world.run(&call), &call.program)
    }
}

fn done(result: &CallResult, program: &str) -> Result<(), String> {
    match result {
        CallResult::Done(_) => Ok(()),
        other => Err(format!("{}.", other.failure_text(program))),
    }
}
