//! User commands, stored at once: `chain --name` and the like, `snooze`, `put-away`.

use anyhow::bail;
use watchbill_engine::alone::user_commands::{CommandResult, carry_out};
use watchbill_engine::clock::{Clock, SystemClock};
use watchbill_engine::handle::real_sources;
use watchbill_engine::world::archive::with_archive;
use watchbill_engine::{SessionCommand, SessionId, Timestamp};

use super::{emit, settings, to_json};
use crate::args::{Chain, Global, Snooze};
use crate::render;
use crate::terminal_text::{Paint, one_line};

/// The user command that the options of `chain` mean; `None` if they only show the chain.
pub fn command_of(wanted: &Chain) -> Option<SessionCommand> {
    let session = SessionId::new(&wanted.session);
    if let Some(name) = &wanted.name {
        return Some(SessionCommand::Name { session, name: Some(name.clone()) });
    }
    if let Some(with) = &wanted.join {
        return Some(SessionCommand::Join { session, with: SessionId::new(with) });
    }
    let options = [
        (wanted.split, SessionCommand::Split { session: session.clone() }),
        (wanted.accept, SessionCommand::Accept { session: session.clone() }),
        (wanted.undo, SessionCommand::Undo { session }),
    ];
    options.into_iter().find(|(is, _)| *is).map(|(_, word)| word)
}

/// Carries the command out, and prints the chain that results.
///
/// # Errors
/// When the command makes no sense, or cannot be stored.
pub fn chain(global: &Global, wanted: &Chain, word: &SessionCommand, paint: Paint) -> anyhow::Result<()> {
    let chain = carry_out_command(global, word)?.chain;
    emit(&if wanted.json { to_json(&chain)? } else { render::chain::render(&chain, paint) })
}

/// Snoozes a session, or ends its snooze.
///
/// # Errors
/// When the time has passed, the session is not known, or it cannot be stored.
pub fn snooze(global: &Global, wanted: &Snooze) -> anyhow::Result<()> {
    let until = wanted.span.or(wanted.until);
    let words = |until: Timestamp| render::local_date_time(&until.to_string());
    // The engine refuses it too, but knows no time zone for the message.
    if let Some(until) = until.filter(|until| *until <= SystemClock.now()) {
        bail!("{} has passed; name a time to come", words(until));
    }
    let session = SessionId::new(&wanted.session);
    let session = carry_out_command(global, &SessionCommand::Snooze { session, until })?.session;
    let session = one_line(&session);
    emit(&match until.map(words) {
        Some(until) => format!("session {session} is snoozed until {until}; `--off` ends that\n"),
        None => format!("session {session} is not snoozed\n"),
    })
}

/// Puts a session away, or takes it back.
///
/// # Errors
/// When the session is not known, or it cannot be stored.
pub fn put_away(global: &Global, asked: &str, back: bool) -> anyhow::Result<()> {
    let session =
        carry_out_command(global, &SessionCommand::PutAway { session: SessionId::new(asked), away: !back })?
            .session;
    let session = one_line(&session);
    emit(&if back {
        format!("session {session} is in the roster again\n")
    } else {
        format!("session {session} is put away until something new happens in it; `roster --all` shows it\n")
    })
}

/// Carries a user command out, in the program that holds the store or here.
fn carry_out_command(global: &Global, word: &SessionCommand) -> anyhow::Result<CommandResult> {
    if global.demo {
        bail!("the demo stores no changes: leave --demo out");
    }
    let settings = settings(global)?;
    let world = with_archive(real_sources(), &settings);
    Ok(carry_out(&settings, &world, &SystemClock, word)?)
}
