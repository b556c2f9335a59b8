//! Commands that the holder of the store answers, if it has the same settings as this program.

use std::time::{Duration, Instant};

use watchbill_engine::clock::{Clock, SystemClock};
use watchbill_engine::socket::access::AccessError;
use watchbill_engine::socket::client::Client;
use watchbill_protocol::error::ErrorCode;
use watchbill_protocol::roster::{RosterSnapshot, TrackedSession};
use watchbill_settings::Settings;

use super::{settings, to_json, width};
use crate::args::{Command, Global, OneSession};
use crate::render::{self, roster::NO_REFUSED, roster::RosterView};
use crate::terminal_text::Paint;

/// A connection to the holder of the store, if it shows the same roster as this program would.
pub fn client(settings: &Settings) -> Option<Client> {
    let client = Client::connect(settings.data_dir.as_deref()?)?;
    // Only the program that reads faulty settings reports them.
    let is_same = client.hello().view == settings.view() && settings.doubt.is_none();
    is_same.then_some(client)
}

/// How long a command waits for what it has done to be seen.
const SEEN_WITHIN: Duration = Duration::from_millis(500);

/// Waits until a running Watchbill shows what a command has just done: the next command would show the state before. `is_it` finds
/// the row, and `is_new` says that it has changed. Without such a program, and after half a second, it waits no longer.
pub fn await_row(
    global: &Global,
    is_it: impl Fn(&TrackedSession) -> bool,
    is_new: impl Fn(&TrackedSession) -> bool,
) {
    let Some(mut client) = settings(global).ok().and_then(|settings| client(&settings)) else { return };
    let until = Instant::now() + SEEN_WITHIN;
    while let Ok(roster) = client.roster(true)
        && !roster.sessions.iter().find(|row| is_it(row)).is_none_or(&is_new)
        && Instant::now() < until
    {
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The holder's answer as text; `None` if this program has to answer itself.
///
/// # Errors
/// When the holder refuses the request.
pub fn answer(settings: &Settings, command: &Command, paint: Paint) -> anyhow::Result<Option<String>> {
    let ask: &dyn Fn(&mut Client) -> Result<anyhow::Result<String>, AccessError> = match command {
        Command::Roster { json, all, at: None, no_live: false, programs, refused } => &|client| {
            let view = RosterView { programs: *programs, refused: *refused };
            let roster = view.of(client.roster(*all)?);
            Ok(if *json {
                to_json(&roster)
            } else if *refused {
                Ok(render::roster::render(&roster, NO_REFUSED, view, width(), paint))
            } else {
                // Only a look at everything shows how many sessions are hidden.
                not_empty(roster).map(|roster| render::roster::render(&roster, "", view, width(), paint))
            })
        },
        Command::Status { format } => {
            &|client| Ok(Ok(render::status::render(&client.roster(false)?, *format) + "\n"))
        }
        Command::Why(OneSession { session, json }) => &|client| {
            let why = client.why(session)?;
            let now = SystemClock.now().to_string();
            Ok(if *json { to_json(&why) } else { Ok(render::why::render(&why, &now, width(), paint)) })
        },
        Command::Chain(wanted) => &|client| {
            let chain = client.chain(&wanted.session)?;
            Ok(if wanted.json { to_json(&chain) } else { Ok(render::chain::render(&chain, paint)) })
        },
        _ => return Ok(None),
    };
    let Some(mut client) = client(settings) else { return Ok(None) };
    match ask(&mut client) {
        Ok(text) => Ok(text.ok()),
        Err(AccessError::Refused(error)) if error.code != ErrorCode::NotReady => Err(error.into()),
        Err(error) => {
            tracing::debug!(%error, "this program looks for itself");
            Ok(None)
        }
    }
}

fn not_empty(roster: RosterSnapshot) -> anyhow::Result<RosterSnapshot> {
    anyhow::ensure!(!roster.sessions.is_empty(), "nothing is shown");
    Ok(roster)
}
