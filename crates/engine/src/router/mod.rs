//! The one door to the engine: it answers each request of a face, if the table in [`access`] gives the face the right.
pub mod access;
pub mod own;
mod person;
pub mod switch;
pub mod worktree;

use std::sync::Arc;

use watchbill_core::ids::SessionId;
use watchbill_core::time::Timestamp;
use watchbill_core::user::SessionCommand;
use watchbill_drive::folder::Folder;
pub use watchbill_history::query::search::StillWanted;
use watchbill_history::removal::Removal;
use watchbill_protocol::api::{ApiReply as Reply, ApiRequest as Request};
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::roster::TrackedSession;
use watchbill_protocol::store::ForgetReport;
use watchbill_settings::Configuration;

use crate::alone::forget::{ForgetWhat, forget, of_whole_logs};
use crate::clock::{Clock, SystemClock};
use crate::handle::Handle;
use crate::handle::hook_setup::HookSetup;
use crate::socket::access::AccessError;
use access::{Face, may};

/// Most items of a timeline in one reply to another program.
const MAX_ITEMS: u64 = 500;

/// Answers requests with an engine. A call blocks its thread until the answer is there.
pub struct Router {
    engine: Handle,
    /// What settings are read from and written to; `None`: this program does not change them.
    configuration: Option<Arc<Configuration>>,
}

impl Router {
    /// Answers with this engine.
    pub fn new(engine: Handle, configuration: Option<Arc<Configuration>>) -> Self {
        Self { engine, configuration }
    }

    /// Answers a request. A search ends when it is `wanted` no more.
    ///
    /// # Errors
    /// When the face may not make it, or as the part of the engine says that answers it.
    pub fn answer(
        &self,
        face: &Face<'_>,
        request: Request,
        wanted: StillWanted,
    ) -> Result<Reply, AccessError> {
        may(face, request.right())?;
        let engine = &self.engine;
        Ok(match request {
            Request::Roster { all } => {
                let roster = engine.whole_roster(all)?;
                Reply::Roster(if face.is_gated() { engine.gated_roster(roster)? } else { roster })
            }
            Request::Why { session } => Reply::Why(engine.why(&self.shown(face, session)?)?),
            Request::Chain { session } if face.is_gated() => Reply::Chain(engine.gated_chain(&session)?),
            Request::Chain { session } => Reply::Chain(engine.chain(&session)?),
            Request::Timeline { session, from, limit } => {
                let limit = if face.is_window() { limit } else { limit.clamp(1, MAX_ITEMS) };
                Reply::Timeline(engine.timeline(&session, from, limit)?)
            }
            Request::Search { query } => Reply::Search(engine.search(&query, wanted)?),

            Request::Head { session } => Reply::Head(Box::new(self.row(&engine.chain(&session)?.head)?)),
            Request::NewestItems { session, limit } => {
                Reply::NewestItems(engine.newest_items(&session, limit)?)
            }
            Request::AgentTimeline { session, agent, from, limit } => {
                Reply::AgentTimeline(engine.agent_timeline(&session, &agent, from, limit)?)
            }
            Request::TimelinePlace { session, agent, offset } => {
                Reply::TimelinePlace(engine.timeline_place(&session, agent.as_deref(), offset)?)
            }
            Request::Changes { session } => {
                let row = self.row(&engine.chain(&session)?.head)?;
                Reply::Changes(Box::new(engine.changes(&row)?))
            }
            Request::Day { date } => Reply::Day(Box::new(engine.day(date.as_deref())?)),
            Request::Alerts => Reply::Alerts(engine.past_alerts()?),
            Request::Usage { days } => Reply::Usage(Box::new(engine.usage(days)?)),
            Request::LimitUse => Reply::LimitUse(engine.limit_use()?),
            Request::ByteAt { session, at } => Reply::ByteAt(engine.byte_at(&session, &at)?),
            Request::ResumeCommand { session } => Reply::ResumeCommand(engine.resume_command(&session)?),
            Request::FocusTerminal { session } => Reply::FocusTerminal(engine.focus_terminal(&session)?),
            Request::Mute { until } => Reply::Mute(engine.mute(time(until)?)?),
            Request::MemoryPage { session } => Reply::MemoryPage(engine.memory_page(&session)?),
            Request::WorkSummary { session } => Reply::WorkSummary(engine.work_summary(&session)?),
            Request::MemoryDetail { id } => Reply::MemoryDetail(engine.memory_detail(&id)?),
            Request::MemoryPreview { cwd, session } => {
                Reply::MemoryPreview(engine.memory_preview(&cwd, session.as_deref())?)
            }
            Request::OwnChoices => Reply::OwnChoices(own::choices(engine)?),
            Request::OwnStart { spec } => Reply::OwnStart(own::start_new(engine, *spec)?),
            Request::OwnResume { call } => Reply::OwnResume(own::resume(engine, call)?),
            Request::OwnSwitch { call } => Reply::OwnSwitch(Box::new(own::switch(engine, &call)?)),
            Request::OwnCommand { session, command } => {
                Reply::OwnCommand(own::command(engine, &session, &command)?)
            }

            Request::Doctor => Reply::Doctor(Box::new(engine.doctor()?)),
            Request::Settings => Reply::Settings((*self.configuration()?.view()).clone()),
            Request::ChangeSettings { changes } => {
                Reply::ChangeSettings(self.configuration()?.change(&changes)?)
            }
            Request::HooksStatus if engine.is_demo() => Reply::HooksStatus(Vec::new()),
            Request::HooksStatus => Reply::HooksStatus(engine.hooks()?),
            Request::HooksPreview { root, step } => {
                Reply::HooksPreview(self.hook_setup(&root)?.preview(step)?)
            }
            Request::HooksChange { root, step, token } => {
                Reply::HooksChange(self.hook_setup(&root)?.make(step, &token)?)
            }
            Request::ArchiveOffer => Reply::ArchiveOffer(engine.archive_offer()),

            Request::Command { command } => {
                let command = SessionCommand::try_from(command)?;
                Reply::Command(engine.command(&face.command_id(), &command)?)
            }
            Request::Memory { change } => Reply::Memory(engine.change_memory(&change)?),
            Request::Answer { call, surface, pressed } => {
                Reply::Answer(person::answer(engine, face, &call, surface.as_deref(), pressed)?)
            }
            Request::Prompt(call) => Reply::Prompt(person::prompt(engine, face, &call)?),

            Request::ForgetPreview { named } => {
                let (what, now) = (ForgetWhat::Sessions(vec![named]), SystemClock.now());
                Reply::ForgetPreview(forget(&engine.settings(), &what, true, now, &mut |_| ())?)
            }
            Request::Forget { sessions } => {
                let sessions = sessions.iter().map(|session| SessionId::new(session)).collect();
                Reply::Forget(self.remove(Removal::ForgetAll(sessions))?)
            }
            Request::ForgetBefore { before } => {
                Reply::ForgetBefore(self.remove(Removal::ForgetBefore(parsed(&before)?))?)
            }
            Request::RememberAgain { session } => {
                Reply::RememberAgain(self.remove(Removal::RememberAgain(SessionId::new(&session))).map(drop)?)
            }
            Request::Answers { since } => {
                Reply::Answers(crate::alone::answers::list(&engine.settings(), time(since)?)?)
            }
            Request::Context(call) => Reply::Context(engine.context(&call)?),
            Request::ContextPrinted { answer } => Reply::ContextPrinted(engine.context_printed(&answer)?),
            Request::Open { session } => Reply::Open(engine.open_window(session)?),

            Request::Memories { cwd, all } => Reply::Memories(engine.memories(&cwd, all)?),
            Request::DocumentSession { session } => {
                Reply::DocumentSession(engine.document_session(&session)?)
            }
            Request::StartText { cwd, project } => {
                Reply::StartText(engine.context_text(cwd.as_deref(), project.as_deref())?)
            }

            // The shell and the connection take their own requests before they ask here.
            Request::OpenFolder { .. }
            | Request::OpenLink { .. }
            | Request::StartDemo
            | Request::LeaveDemo
            | Request::SetCompact { .. }
            | Request::OpenSettings
            | Request::Autostart
            | Request::SetAutostart { .. }
            | Request::Shortcut
            | Request::ServiceState => {
                return Err(unsupported("only the window of Watchbill can do this").into());
            }
            Request::Subscribe { .. }
            | Request::FollowCommands
            | Request::Index
            | Request::Ask(_)
            | Request::Printed { .. }
            | Request::Refused { .. } => {
                return Err(unsupported("only a connection to the local socket can do this").into());
            }
        })
    }

    /// The row of a session, even if the default roster does not show it.
    ///
    /// # Errors
    /// When no session has the id, or the engine has stopped.
    pub fn row(&self, session: &str) -> Result<TrackedSession, ApiError> {
        let gone = || ApiError::new(ErrorCode::NotFound, format!("the session {session} no longer exists"));
        let rows = self.engine.roster(true)?.sessions;
        rows.into_iter().find(|row| row.session_id == session).ok_or_else(gone)
    }

    /// The folder of an own session.
    ///
    /// # Errors
    /// In the demo, whose sessions are made up and have no hosts, and without a data folder.
    pub fn own_folder(&self, session: &str) -> Result<Folder, ApiError> {
        own::folder(&self.engine, session)
    }

    /// The session as it was named, or its id if the face gets only what may leave Watchbill.
    fn shown(&self, face: &Face<'_>, session: String) -> Result<String, ApiError> {
        if face.is_gated() { self.engine.shown(&session) } else { Ok(session) }
    }

    fn remove(&self, removal: Removal) -> Result<Option<ForgetReport>, AccessError> {
        self.engine.forget(&of_whole_logs(&self.engine.settings(), removal)?)
    }

    fn configuration(&self) -> Result<&Configuration, ApiError> {
        self.configuration.as_deref().ok_or_else(|| unsupported("this program does not change the settings"))
    }

    fn hook_setup(&self, root: &str) -> Result<HookSetup, ApiError> {
        HookSetup::of(&self.engine.settings(), root, &|name| std::env::var_os(name))
    }
}

fn time(text: Option<String>) -> Result<Option<Timestamp>, ApiError> {
    text.as_deref().map(parsed).transpose()
}

fn parsed(text: &str) -> Result<Timestamp, ApiError> {
    let wrong = || ApiError::new(ErrorCode::Invalid, format!("`{text}` is not an RFC 3339 time"));
    Timestamp::parse(text).ok_or_else(wrong)
}

fn unsupported(why: &str) -> ApiError {
    ApiError::new(ErrorCode::Unsupported, why)
}
