//! `watchbill mcp`: serves the history to an agent on standard input and output.
//!
//! A running Watchbill answers where it can. Otherwise this process reads the agent's files and the store itself, for each
//! question anew: an agent asks a few times a day.

use std::sync::Arc;

use watchbill_engine::alone::memory::Reader;
use watchbill_engine::alone::single_look::{look, look_at_recent};
use watchbill_engine::clock::{Clock, SystemClock};
use watchbill_engine::engine::{Engine, Outlook};
use watchbill_engine::handle::real_sources;
use watchbill_engine::model::publish::snapshot;
use watchbill_engine::socket::access::AccessError;
use watchbill_engine::socket::client::Client;
use watchbill_engine::world::archive::with_archive;
use watchbill_history::query::Gate;
use watchbill_history::query::search::{Searcher, StillWanted};
use watchbill_history::query::timeline::{ItemRange, TimelineReader};
use watchbill_mcp::source::Records;
use watchbill_protocol::chain::WorkChain;
use watchbill_protocol::error::ErrorCode;
use watchbill_protocol::memory::MemoryList;
use watchbill_protocol::roster::{RosterSnapshot, TrackedSession};
use watchbill_protocol::search::{SearchAnswer, SearchQuery};
use watchbill_protocol::timeline::Timeline;
use watchbill_settings::{Configuration, Settings};

use super::context::configuration;
use super::running;
use crate::args::Global;

/// Serves until the agent closes standard input.
///
/// # Errors
/// When the settings cannot be read, or the agent does not speak the protocol.
pub fn serve(global: &Global) -> anyhow::Result<()> {
    let configuration = configuration(global)?;
    let searcher = Searcher::new(&configuration.settings());
    Ok(watchbill_mcp::server::serve(History { configuration, searcher })?)
}

/// What was stored, and what runs.
struct History {
    /// Follows the user's changes: a folder that is excluded later is excluded here at once.
    configuration: Configuration,
    searcher: Searcher,
}

impl History {
    fn settings(&self) -> Settings {
        (*self.configuration.settings()).clone()
    }

    /// The answer of a running Watchbill, if it gives one.
    fn running<T>(
        settings: &Settings,
        ask: impl FnOnce(&mut Client) -> Result<T, AccessError>,
    ) -> Result<Option<T>, String> {
        let Some(mut client) = running::client(settings) else { return Ok(None) };
        match ask(&mut client) {
            Ok(answer) => Ok(Some(answer)),
            Err(AccessError::Refused(error)) if error.code != ErrorCode::NotReady => Err(error.to_string()),
            Err(_) => Ok(None),
        }
    }

    fn everything(settings: &Settings) -> Engine {
        let world = with_archive(real_sources(), settings);
        look(settings.clone(), world, Outlook::LIVE, &SystemClock)
    }
}

/// The refusal of a session that the user excluded. It does not say that the session exists.
fn unknown(session: &str) -> String {
    format!("no session begins with `{session}`; `list_sessions_now` and `search_history` name sessions")
}

impl Records for History {
    fn roster(&mut self) -> Result<RosterSnapshot, String> {
        let settings = self.settings();
        let gate = gate(&settings)?;
        // Rows alone do not tell in which folders a session has worked.
        if gate.exclude().is_empty()
            && let Some(mut roster) = Self::running(&settings, |client| client.roster(false))?
        {
            roster.sessions.retain(|row| !gate.forgets(&row.session_id));
            return Ok(roster);
        }
        let world = with_archive(real_sources(), &settings);
        let engine = look_at_recent(settings, world, Outlook::LIVE, &SystemClock);
        let mut roster = snapshot(&engine.current(false));
        roster.sessions.retain(|row| !engine.hides(&gate, &row.session_id));
        Ok(roster)
    }

    fn search(&mut self, query: &SearchQuery) -> Result<SearchAnswer, String> {
        let settings = self.settings();
        if let Some(answer) = Self::running(&settings, |client| client.search(query))? {
            return Ok(answer);
        }
        let fs = with_archive(real_sources(), &settings).fs;
        let wanted: StillWanted = Arc::new(|| true);
        self.searcher.search(&*fs, &settings.history, query, &wanted).map_err(|error| error.to_string())
    }

    fn timeline(&mut self, session: &str, from: Option<u64>, limit: u64) -> Result<Timeline, String> {
        let settings = self.settings();
        let gate = gate(&settings)?;
        let engine = Self::everything(&settings);
        shown(&engine, &gate, session)?;
        let plan = engine.timeline_plan(&gate, session).map_err(|error| error.to_string())?;
        TimelineReader::default()
            .read(engine.fs(), &plan, ItemRange::new(from, limit))
            .map_err(|error| error.to_string())
    }

    fn session(&mut self, session: &str) -> Result<(Option<TrackedSession>, WorkChain), String> {
        let settings = self.settings();
        let gate = gate(&settings)?;
        let engine = Self::everything(&settings);
        let id = shown(&engine, &gate, session)?;
        let chain = engine.gated_chain(&gate, &id).map_err(|error| error.to_string())?;
        let row = snapshot(&engine.current(true)).sessions.into_iter().find(|row| row.session_id == id);
        Ok((row, chain))
    }

    fn memories(&mut self, folder: Option<&str>, file: Option<&str>) -> Result<MemoryList, String> {
        let settings = self.settings();
        let here = std::env::current_dir().map_err(|error| error.to_string())?;
        let folder = folder.map_or_else(|| here.clone(), |folder| here.join(folder));
        let folder = folder.to_string_lossy();
        if settings.history.exclude.excludes(&folder) {
            return Ok(MemoryList { project: String::new(), memories: Vec::new() });
        }
        let fs = with_archive(real_sources(), &settings).fs;
        let reader = Reader::open(&settings, &*fs, SystemClock.now()).map_err(|error| error.to_string())?;
        let mut list = match file {
            Some(file) => reader.at(&folder, file),
            None => reader.list(&folder, false),
        }
        .map_err(|error| error.to_string())?;
        let exclude = &settings.history.exclude;
        list.memories.retain(|memory| {
            !memory.path.as_deref().is_some_and(|path| exclude.excludes_in(Some(&folder), path))
        });
        Ok(list)
    }
}

fn gate(settings: &Settings) -> Result<Gate, String> {
    Gate::of(settings).map_err(|error| error.to_string())
}

/// The id of the session, if an agent may see it.
fn shown(engine: &Engine, gate: &Gate, session: &str) -> Result<String, String> {
    let hidden = || engine.find(session).is_ok_and(|id| engine.hides(gate, id.as_str()));
    let shown = engine.shown(gate, session);
    shown
        .map(|id| id.to_string())
        .map_err(|error| if hidden() { unknown(session) } else { error.to_string() })
}
