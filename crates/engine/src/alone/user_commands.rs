//! User commands from a program that keeps no roster: the command line. The holder of the store carries them out, or
//! this process if there is no holder.

use std::path::Path;
use std::time::Duration;

use watchbill_core::user::SessionCommand;
use watchbill_history::errors::store_api_error;
use watchbill_protocol::chain::WorkChain;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_settings::Settings;
use watchbill_store::{OpenMode, Store};

use super::holder::here_or_at_holder;
use crate::alone::single_look::{WantedRows, look, look_with};
use crate::clock::Clock;
use crate::engine::Engine;
use crate::persist::Persist;
use crate::socket::access::CommandId;
use crate::socket::client::Client;
use crate::world::environment::{Outlook, Sources};

/// Longest wait for a holder that does not listen, or does not know the session yet.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The result of a command.
#[derive(Debug)]
pub struct CommandResult {
    /// The whole id of the session.
    pub session: String,
    /// Its work chain after the command.
    pub chain: WorkChain,
}

/// Carries a command out, once, and stores it.
///
/// # Errors
/// When a session is not known, the command does not fit the current state, it cannot be stored, or the holder does not
/// answer.
pub fn carry_out(
    settings: &Settings,
    world: &Sources,
    clock: &dyn Clock,
    command: &SessionCommand,
) -> Result<CommandResult, ApiError> {
    if let Some(doubt) = &settings.doubt {
        return Err(ApiError::new(ErrorCode::Invalid, &**doubt));
    }
    let folder = settings.data_dir.as_deref().ok_or_else(|| {
        ApiError::new(ErrorCode::Unsupported, "no data folder is known; name one with --data-dir")
    })?;
    if let Some(error) = watchbill_store::blocking_file(folder) {
        return Err(store_api_error(&error));
    }
    let id = CommandId::new();
    let at_holder = |client: &mut Client, _| {
        let session = client.command(&id, command)?;
        // If the holder ends right now, read the chain here.
        let look = || look(settings.clone(), world.clone(), Outlook::LIVE, clock).chain(&session);
        Ok(CommandResult { chain: client.chain(&session).or_else(|_| look())?, session })
    };
    let here = || carry_out_here(settings, world, clock, &id, command);
    let shows = "`watchbill roster --all` shows whether it was done";
    here_or_at_holder(folder, TIMEOUT, at_holder, here, shows)
}

/// Carries the command out here, unless another process holds the store; `None`: try again.
fn carry_out_here(
    settings: &Settings,
    world: &Sources,
    clock: &dyn Clock,
    id: &CommandId,
    command: &SessionCommand,
) -> Result<Option<CommandResult>, ApiError> {
    let Some(folder) = settings.data_dir.as_deref() else { return Ok(None) };
    let mut persist = Persist::open(folder, OpenMode::WriteOrRead);
    let writes = persist.writes();
    if !writes && let Some(refused) = write_obstacle(&persist, folder) {
        return Err(refused);
    }
    if !writes {
        return Ok(None);
    }
    let look =
        look_with(settings.clone(), world.clone(), Outlook::LIVE, clock, Some(&mut persist), WantedRows::All);
    // The process ends after its answer. Freeing the engine piece by piece would cost as much as the reading did.
    let mut engine = std::mem::ManuallyDrop::new(look);
    let command = engine.with_whole_ids(command)?;
    if !persist.has_carried_out(id, &command)? {
        engine.apply_command(clock.now(), &command)?;
        persist.note_carried_out(id, &command, clock.now());
        store(&mut engine, &mut persist, clock)?;
    }
    let session = command.session().to_string();
    Ok(Some(CommandResult { chain: engine.chain(&session)?, session }))
}

/// Stores the engine's changes.
fn store(engine: &mut Engine, persist: &mut Persist, clock: &dyn Clock) -> Result<(), ApiError> {
    // The caller reports a problem as its answer, so do not log it too. This program does not try again.
    let silent = tracing::subscriber::NoSubscriber::default();
    tracing::subscriber::with_default(silent, || persist.save(engine, clock.now()));
    match persist.trouble() {
        Some(trouble) => Err(ApiError::new(ErrorCode::Unreadable, not_stored(&trouble.detail))),
        None => Ok(()),
    }
}

/// Why the store cannot be written; `None` if another process holds it.
fn write_obstacle(persist: &Persist, folder: &Path) -> Option<ApiError> {
    let trouble =
        persist.trouble().map(|trouble| ApiError::new(ErrorCode::Unreadable, not_stored(&trouble.detail)));
    match Store::take_over(folder) {
        Ok(None) => None,
        // Another process held the store and has ended. Or no process held it, and the store's problem was something
        // else.
        Ok(Some(_)) => trouble,
        Err(error) => trouble.or_else(|| {
            let ApiError { code, message } = store_api_error(&error);
            Some(ApiError::new(code, not_stored(&message)))
        }),
    }
}

/// The text of a store problem for a user whose command was not stored. A program that runs on would store it later;
/// this one ends.
fn not_stored(why: &str) -> String {
    let now = why.strip_suffix("; the rest is stored later");
    let why = now.map_or_else(|| why.to_owned(), |now| format!("{now}, and repeat the command"));
    format!("your command is not stored: {why}")
}
