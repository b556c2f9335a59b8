//! Carries out user commands. Their edits take effect at once, and the store holds them, because no file does.

use watchbill_core::time::Timestamp;
use watchbill_core::user::{CommandFacts, CommandRefusal, EditChange, SessionCommand, changes_of_command};
use watchbill_protocol::error::{ApiError, ErrorCode};

use super::chains::resolved;
use super::clock::tell_time;
use super::engine::Engine;
use super::rooms::Rooms;
use super::settle::settle;
use super::user_edits::take_change;
use super::verdicts::row_of;
use crate::step::input::Output;

impl Engine {
    /// Carries out a user command. Sessions may be named as for [`Engine::find`].
    ///
    /// # Errors
    /// When a session is not known, or the command does not fit the current state. Then nothing has changed.
    pub fn apply_command(
        &mut self,
        now: Timestamp,
        command: &SessionCommand,
    ) -> Result<Vec<Output>, ApiError> {
        tell_time(&mut self.rooms, now);
        let command = self.with_whole_ids(command)?;
        let rooms = &mut self.rooms;
        let row = row_of(rooms, command.session());
        let known = CommandFacts {
            now: rooms.env.now(),
            user_edits: &rooms.user_edits,
            chains: rooms.chains.chains(),
            began: &|session| rooms.sessions.began(session),
            row: row.as_ref(),
        };
        let changes = changes_of_command(&known, &command);
        let changes = changes.and_then(|changes| check_join(rooms, &command, changes)).map_err(refused)?;
        for change in changes {
            take_change(rooms, change);
        }
        let mut out = Vec::new();
        settle(rooms, false, &mut out);
        Ok(out)
    }

    /// The command with whole session ids.
    ///
    /// # Errors
    /// When nothing matches, or more than one session does.
    pub fn with_whole_ids(&self, command: &SessionCommand) -> Result<SessionCommand, ApiError> {
        command.clone().with_sessions(|asked| self.find(asked.as_str()))
    }
}

/// Checks that sessions joined by the user then form one chain.
fn check_join(
    rooms: &Rooms,
    command: &SessionCommand,
    changes: Vec<EditChange>,
) -> Result<Vec<EditChange>, CommandRefusal> {
    if let SessionCommand::Join { session, with } = command {
        let mut user_edits = rooms.user_edits.clone();
        changes.iter().cloned().for_each(|change| user_edits.apply(change));
        let (chains, _) = resolved(rooms, &user_edits, &|_| true);
        let of = |session| chains.of(session).map(|chain| &chain.id);
        if of(session) != of(with) {
            return Err(CommandRefusal::Circle(session.clone(), with.clone()));
        }
    }
    Ok(changes)
}

fn refused(refusal: CommandRefusal) -> ApiError {
    let code = match refusal {
        CommandRefusal::Unknown(_) => ErrorCode::NotFound,
        _ => ErrorCode::Invalid,
    };
    ApiError::new(code, refusal.to_string())
}
