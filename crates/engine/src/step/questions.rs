//! Answers questions about one session: its id by a name, its verdict, chain, timeline, process and terminal.

use std::cmp::Reverse;
use std::path::PathBuf;
use std::sync::Arc;

use watchbill_agents::Agent;
use watchbill_agents::layout::ClientPath;
use watchbill_core::chain::ManualLink;
use watchbill_core::evidence::registry::Liveness;
use watchbill_core::evidence::witness::InstanceWitness;
use watchbill_core::hook::HookMessage;
use watchbill_core::ids::SessionId;
use watchbill_core::own::resume::{Holder, may_resume};
use watchbill_core::session::state::{State, StateKind};
use watchbill_drive::folder::Folder;
use watchbill_protocol::chain::{Link, Segment, WorkChain};
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::why::Why;
use watchbill_terminal::{Presence, SessionLocation};

use super::changes::is_left_out;
use super::engine::Engine;
use super::rooms::Rooms;
use super::verdicts::{row_of, verdict_of};
use crate::handle::prompt::PromptTarget;
use crate::model::paths::FilePath;
use crate::witnesses::registry::locks::BACKGROUND;
use watchbill_history::index::over_http;
use watchbill_history::query::Gate;
use watchbill_history::query::named::{IdScope, find_stored, require_name, resolve_one};
use watchbill_history::query::timeline::{AgentFile, TimelinePlan};

impl Engine {
    /// The session of this name: its id, a unique prefix of it, its work chain's id, or a unique prefix of that. A prefix
    /// of a session's id goes before chains with the same prefix.
    ///
    /// # Errors
    /// When nothing matches, or more than one session, or chain, does.
    pub fn find(&self, asked: &str) -> Result<SessionId, ApiError> {
        let rooms = &self.rooms;
        require_name(asked)?;
        let known: Vec<SessionId> = known_sessions(rooms);
        if let Some(exact) = known.iter().find(|id| id.as_str() == asked) {
            return Ok(exact.clone());
        }
        let is_whole = |id: &&SessionId| {
            asked.starts_with(id.as_str()) && whole_id(rooms, id).is_some_and(|whole| *whole == *asked)
        };
        if let Some(short) = known.iter().find(is_whole) {
            return Ok(short.clone());
        }
        // An own session may go on under another id than its host's.
        if let Some(session) = rooms.own.row_of(asked) {
            return Ok(session);
        }
        let begin: Vec<&str> =
            known.iter().map(SessionId::as_str).filter(|id| id.starts_with(asked)).collect();
        if let Some(head) = head_of_chain(rooms, asked, &begin)? {
            return Ok(head);
        }
        if begin.is_empty()
            && let Some(session) = find_stored(rooms.env.settings(), asked)
        {
            let message = format!(
                "session {session} has no transcript: the agent has removed it, or another program sent the session. `watchbill \
                 summary {session}` tells what is stored; `watchbill search` finds its texts"
            );
            return Err(ApiError::new(ErrorCode::NotFound, message));
        }
        resolve_one(IdScope::Known, asked, &begin).map(|id| SessionId::new(id))
    }

    /// The state of a session and every witness of it.
    ///
    /// # Errors
    /// When the session is not known.
    pub fn why(&self, asked: &str) -> Result<Why, ApiError> {
        let rooms = &self.rooms;
        let id = self.find(asked)?;
        let verdict = verdict_of(rooms, &id).ok_or_else(|| ApiError {
            code: ErrorCode::NotFound,
            message: format!("session {id} is not known"),
        })?;
        Ok(Why::new(&id, &verdict))
    }

    /// The work chain of a session.
    ///
    /// # Errors
    /// When the session is not known.
    pub fn chain(&self, asked: &str) -> Result<WorkChain, ApiError> {
        let rooms = &self.rooms;
        Ok(chain_of(rooms, &self.find(asked)?))
    }

    /// The work chain of a session without the sessions that may not leave Watchbill.
    ///
    /// # Errors
    /// When no session matches, or it may not leave.
    pub fn gated_chain(&self, gate: &Gate, asked: &str) -> Result<WorkChain, ApiError> {
        let rooms = &self.rooms;
        let id = self.shown(gate, asked)?;
        let mut chain = chain_of(rooms, &id);
        let is_shown = |session: &str| !hides(rooms, gate, &SessionId::new(session));
        chain.segments.retain(|segment| is_shown(&segment.session_id));
        chain.segments.iter_mut().zip(0..).for_each(|(segment, index)| segment.index = index);
        chain.links.retain(|link| is_shown(&link.from) && is_shown(&link.to));
        if !is_shown(&chain.head) {
            let last = chain.segments.last().map(|segment| segment.session_id.clone());
            chain.head = last.unwrap_or_else(|| id.to_string());
        }
        Ok(chain)
    }

    /// The sources of the timeline of a session's chain.
    ///
    /// # Errors
    /// When the session is not known.
    pub fn timeline_plan(&self, gate: &Gate, asked: &str) -> Result<TimelinePlan, ApiError> {
        let rooms = &self.rooms;
        let id = self.shown(gate, asked)?;
        let chain = rooms.chains.chains().of(&id);
        let mut sessions = chain.map_or_else(|| vec![id.clone()], |chain| chain.sessions.clone());
        sessions.retain(|session| !hides(rooms, gate, session));
        let agents = sessions.iter().flat_map(|session| agent_files(rooms, session)).collect();
        let of_host = |session: &SessionId| Some((session.clone(), received(rooms, session)?));
        let has_transcript = |session: &&SessionId| rooms.sessions.main_file(session).is_some();
        let beside = sessions.iter().filter(has_transcript).filter_map(of_host).collect();
        let parts = sessions
            .into_iter()
            .filter_map(|session| {
                let path = rooms.sessions.main_path(&session).or_else(|| received(rooms, &session));
                let path = path.or_else(|| of_program(rooms, &session))?;
                let reason = chain.and_then(|chain| {
                    let link = chain.links.iter().find(|link| link.to == session && link.from != session)?;
                    Some(link.reason.as_str())
                });
                Some((session, path, reason))
            })
            .collect();
        let name = chain.and_then(|chain| chain.name.as_ref()).map(ToString::to_string);
        let chain = chain.map_or_else(
            || watchbill_core::ids::ChainId::derive(&id).to_string(),
            |chain| chain.id.to_string(),
        );
        Ok(TimelinePlan { session: id, chain, name, parts, beside, agents, exclude: gate.exclude().clone() })
    }

    /// The session that is named, if it may leave Watchbill. A session that a program sent over HTTP has no row, and a timeline.
    ///
    /// # Errors
    /// When no session matches, several do, or it may not leave.
    pub fn shown(&self, gate: &Gate, asked: &str) -> Result<SessionId, ApiError> {
        let rooms = &self.rooms;
        let sent = || find_stored(rooms.env.settings(), asked).filter(|id| of_program(rooms, id).is_some());
        let id = self.find(asked).or_else(|error| sent().ok_or(error))?;
        if hides(rooms, gate, &id) { Err(gate.refusal(id.as_str())) } else { Ok(id) }
    }

    /// The process and terminal of a session.
    ///
    /// # Errors
    /// When the session is not known.
    pub fn session_location(&self, asked: &str) -> Result<SessionLocation, ApiError> {
        let rooms = &self.rooms;
        let id = self.find(asked)?;
        let row = row_of(rooms, &id)
            .ok_or_else(|| ApiError::new(ErrorCode::NotFound, format!("session {id} is not known")))?;
        let mut instances = rooms.witnesses.processes_of(&id, rooms.env.is_live());
        // Of several processes on one session, the user most likely left the last started one open. The process that
        // parked the session has its terminal, and the one that runs it has none.
        instances.sort_by_key(|witness| {
            let entry = &witness.entry;
            Reverse((witness.liveness == Liveness::Alive, entry.parked.is_some(), entry.started_at))
        });
        let running = instances.iter().find(|witness| witness.liveness != Liveness::Dead);
        let presence = match running {
            _ if !rooms.env.processes().are_real() => Presence::DemoOnly,
            Some(witness) => presence(rooms, witness),
            None if row.live => Presence::Unconfirmed,
            None => Presence::Ended,
        };
        let main = rooms.sessions.main_file(&id);
        let found_in = main.and_then(|(path, file)| {
            let project = path.parent()?.file_name()?.to_str()?;
            file.main()?.lineage().cwd_in(project).cloned()
        });
        let cwd = found_in.or(row.cwd);
        Ok(SessionLocation {
            agent: row.agent,
            session: id.as_str().into(),
            resume: whole_id(rooms, &id).unwrap_or_else(|| id.as_str().into()),
            cwd,
            terminal: row.terminal,
            attach: row.attach,
            presence,
        })
    }

    /// The data for typing a prompt into a session.
    ///
    /// # Errors
    /// When the session is not known.
    pub(crate) fn prompt_target(&self, asked: &str) -> Result<PromptTarget, ApiError> {
        let rooms = &self.rooms;
        let session_location = self.session_location(asked)?;
        let transcript = rooms
            .sessions
            .main_file(&SessionId::new(&session_location.session))
            .map(|(path, _)| path.to_path_buf());
        Ok(PromptTarget {
            session_location,
            transcript,
            roots: rooms.env.settings().roots_of(Agent::default()),
        })
    }

    /// Why a session takes no prompt now. The registry file alone says whether it is idle, but a hook may know of a dialog
    /// before that file does.
    pub(crate) fn objection_to_prompt(&self, session: &SessionId) -> Option<String> {
        let rooms = &self.rooms;
        if rooms.witnesses.is_parked(session) {
            return Some(
                "the session is parked, so its terminal may show the list of agents, which would begin a new session \
                 with the text; write it in that terminal"
                    .to_owned(),
            );
        }
        let waits = "the session waits for you; answer that first";
        let row = row_of(rooms, session)?;
        let has_dialog = row.state == State::WaitingForApproval || row.state_kind == Some(StateKind::Dialog);
        (has_dialog || rooms.requests.asked(session).is_some()).then(|| waits.to_owned())
    }

    /// Whether a hook is of a session whose host answers its requests, by the session or by the process.
    pub(crate) fn is_hosted(&self, session: &SessionId, message: &HookMessage) -> bool {
        let own = &self.rooms.own;
        let by_process = || own.of_process(message.origin.agent.as_ref()?.pid);
        let own = own.of(session).or_else(by_process);
        own.is_some_and(|own| own.is_stream() && own.fold.is_live())
    }

    /// Whether a session may be resumed now.
    ///
    /// # Errors
    /// The process that has it.
    pub fn resume_guard(&self, session: &SessionId) -> Result<(), Holder> {
        let hosted = self.rooms.own.of(session).is_some_and(|own| own.fold.is_live());
        may_resume(&self.rooms.witnesses.processes_of(session, true), hosted)
    }

    /// Whether a session may not leave Watchbill.
    pub fn hides(&self, gate: &Gate, session: &str) -> bool {
        hides(&self.rooms, gate, &SessionId::new(session))
    }
}

/// The head of the chain of this name: its id, or a unique prefix of it that is no prefix of a session's id.
fn head_of_chain(rooms: &Rooms, asked: &str, sessions: &[&str]) -> Result<Option<SessionId>, ApiError> {
    let mut chains = rooms.chains.chains().iter().filter(|chain| chain.id.as_str().starts_with(asked));
    if !sessions.is_empty() {
        return Ok(chains.find(|chain| chain.id.as_str() == asked).map(|chain| chain.head.clone()));
    }
    let chains: Vec<_> = chains.collect();
    let ids: Vec<&str> = chains.iter().map(|chain| chain.id.as_str()).collect();
    if ids.is_empty() {
        return Ok(None);
    }
    let meant = resolve_one(IdScope::KnownChains, asked, &ids)?;
    Ok(chains.iter().find(|chain| chain.id.as_str() == *meant).map(|chain| chain.head.clone()))
}

/// The id that a session's transcript names, of which the names of its files may have a part.
fn whole_id(rooms: &Rooms, id: &SessionId) -> Option<Arc<str>> {
    let whole = rooms.sessions.fold(id)?.own_id()?;
    whole.starts_with(id.as_str()).then(|| Arc::clone(whole))
}

fn known_sessions(rooms: &Rooms) -> Vec<SessionId> {
    let mut known: Vec<SessionId> = rooms
        .sessions
        .iter()
        .filter(|(_, session)| !session.mains.is_empty())
        .map(|(id, _)| id.clone())
        .collect();
    known.extend(rooms.witnesses.registry().all().map(|witness| witness.entry.session.clone()));
    known.extend(rooms.witnesses.hooks().sessions().map(|(id, _)| id.clone()));
    known.extend(rooms.own.sessions().cloned());
    known.sort();
    known.dedup();
    known
}

fn chain_of(rooms: &Rooms, id: &SessionId) -> WorkChain {
    let path_of = |id: &SessionId| {
        rooms.sessions.main_file(id).map(|(path, _)| path.to_string_lossy().into_owned()).unwrap_or_default()
    };
    let Some(chain) = rooms.chains.chains().of(id) else {
        return WorkChain {
            work_chain_id: watchbill_core::ids::ChainId::derive(id).to_string(),
            name: None,
            head: id.to_string(),
            segments: Vec::new(),
            links: Vec::new(),
            undoable: None,
        };
    };
    // The resolver ran at the last change of lineage. The ends of segments move with each record, so take them from the
    // folds.
    let lineage = |id: &SessionId| match rooms.sessions.fold(id) {
        Some(fold) => Some(fold.lineage().clone()),
        None => rooms.own.lineage_of(id),
    };
    let lineages = chain.sessions.iter().filter_map(lineage);
    let segments = lineages.flat_map(|lineage| {
        let (id, path) = (lineage.session.clone(), path_of(&lineage.session));
        lineage.segments.into_iter().map(move |segment| (id.clone(), segment, path.clone()))
    });
    let segments = segments
        .zip(0..)
        .map(|((id, segment, path), n): (_, u32)| {
            let superseded = chain.superseded.contains_key(&id) || segment.boundary.is_some();
            Segment::new(&segment, &id, n, &path, superseded)
        })
        .collect();
    WorkChain {
        work_chain_id: chain.id.to_string(),
        name: chain.name.as_ref().map(ToString::to_string),
        head: chain.head.to_string(),
        segments,
        links: chain.links.iter().map(Link::from).collect(),
        undoable: rooms.user_edits.newest_link_of(&chain.sessions).map(|link| match link {
            ManualLink::Join { .. } => "join".to_owned(),
            ManualLink::Split { .. } => "split".to_owned(),
        }),
    }
}

/// Where the host of an own session writes records that the transcript lacks. Often there is no such file.
fn received(rooms: &Rooms, session: &SessionId) -> Option<PathBuf> {
    let own = rooms.own.of(session).filter(|own| own.is_stream())?;
    let folder = Folder::of(rooms.env.settings().data_dir.as_deref()?, &own.spec.session).ok()?;
    folder.supplement(session.as_str())
}

/// The transcript of a session that a program reported over HTTP.
fn of_program(rooms: &Rooms, session: &SessionId) -> Option<PathBuf> {
    over_http::transcript(rooms.env.settings().data_dir.as_deref()?, session)
}

/// Whether the session may not leave Watchbill.
fn hides(rooms: &Rooms, gate: &Gate, id: &SessionId) -> bool {
    let exclude = gate.exclude();
    // A session without a transcript has a working folder too, from a hook or the registry.
    let in_folder = || {
        let row = row_of(rooms, id);
        let folders = row.iter().flat_map(|row| [row.cwd.as_deref(), row.repo_root.as_deref()]);
        folders.flatten().any(|folder| exclude.excludes(folder))
    };
    gate.forgets(id.as_str())
        || (!exclude.is_empty() && (is_left_out(&rooms.sessions, id, exclude) || in_folder()))
}

fn agent_files(rooms: &Rooms, id: &SessionId) -> Vec<AgentFile> {
    let paths = rooms.sessions.get(id).into_iter().flat_map(|session| session.agents.keys());
    let file = |path: &FilePath| match &rooms.sessions.files().get(path)?.place {
        ClientPath::Subagent { agent, .. } | ClientPath::FlatSubagent { agent, .. } => {
            Some(AgentFile { session: id.clone(), agent: agent.clone(), path: path.to_path_buf() })
        }
        _ => None,
    };
    paths.filter_map(file).collect()
}

fn presence(rooms: &Rooms, witness: &InstanceWitness) -> Presence {
    let entry = &witness.entry;
    let elsewhere = |domain: &str| !rooms.env.processes().shares_ids(domain);
    match witness.liveness {
        _ if entry.pid_domain.as_deref().is_some_and(elsewhere) => Presence::Elsewhere,
        _ if entry.kind.as_deref() == Some(BACKGROUND) => Presence::Background,
        Liveness::Alive => Presence::Runs(entry.instance.clone()),
        _ => Presence::Unconfirmed,
    }
}
