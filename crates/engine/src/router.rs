//! The one door to the engine: it answers each request of a face, if the table in [`access`] gives the face the right.

pub mod access;
pub mod own;
mod person;

use std::sync::Arc;

use watchbill_core::ids::SessionId;
use watchbill_core::time::Timestamp;
use watchbill_core::user::SessionCommand;
use watchbill_history::removal::Removal;
use watchbill_protocol::api::{ApiReply, ApiRequest};
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::roster::TrackedSession;
use watchbill_protocol::store::ForgetReport;
use watchbill_settings::Configuration;

use crate::handle::Handle;
use crate::hook_setup::HookSetup;
use crate::socket::access::AccessError;
use access::{Face, may};

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

    /// Answers a request.
    ///
    /// # Errors
    /// When the face may not make it, or as the part of the engine says that answers it.
    pub fn answer(&self, face: &Face<'_>, request: ApiRequest) -> Result<ApiReply, AccessError> {
        may(face, request.right())?;
        let engine = &self.engine;
        Ok(match request {
            ApiRequest::Roster { all } => {
                let roster = engine.whole_roster(all)?;
                ApiReply::Roster(if face.is_gated() { engine.gated_roster(roster)? } else { roster })
            }
            ApiRequest::Why { session } => ApiReply::Why(engine.why(&self.shown(face, session)?)?),
            ApiRequest::Chain { session } => ApiReply::Chain(engine.chain(&self.shown(face, session)?)?),
            ApiRequest::Timeline { session, from, limit } => {
                ApiReply::Timeline(engine.timeline(&session, from, limit)?)
            }
            ApiRequest::Search { query } => ApiReply::Search(engine.search(&query)?),

            ApiRequest::Head { session } => {
                ApiReply::Head(Box::new(self.row(&engine.chain(&session)?.head)?))
            }
            ApiRequest::NewestItems { session, limit } => {
                ApiReply::NewestItems(engine.newest_items(&session, limit)?)
            }
            ApiRequest::AgentTimeline { session, agent, from, limit } => {
                ApiReply::AgentTimeline(engine.agent_timeline(&session, &agent, from, limit)?)
            }
            ApiRequest::TimelinePlace { session, agent, offset } => {
                ApiReply::TimelinePlace(engine.timeline_place(&session, agent.as_deref(), offset)?)
            }
            ApiRequest::ResumeCommand { session } => {
                ApiReply::ResumeCommand(engine.resume_command(&session)?)
            }
            ApiRequest::FocusTerminal { session } => {
                ApiReply::FocusTerminal(engine.focus_terminal(&session)?)
            }
            ApiRequest::Mute { until } => ApiReply::Mute(engine.mute(time(until)?)?),
            ApiRequest::MemoryPage { session } => ApiReply::MemoryPage(engine.memory_page(&session)?),
            ApiRequest::WorkSummary { session } => ApiReply::WorkSummary(engine.work_summary(&session)?),
            ApiRequest::MemoryDetail { id } => ApiReply::MemoryDetail(engine.memory_detail(&id)?),
            ApiRequest::MemoryPreview { cwd, session } => {
                ApiReply::MemoryPreview(engine.memory_preview(&cwd, session.as_deref())?)
            }
            ApiRequest::OwnChoices => ApiReply::OwnChoices(own::choices(engine)?),
            ApiRequest::OwnStart { spec } => ApiReply::OwnStart(own::start_new(engine, *spec)?),
            ApiRequest::OwnResume { call } => ApiReply::OwnResume(own::resume(engine, call)?),
            ApiRequest::OwnCommand { session, command } => {
                ApiReply::OwnCommand(own::command(engine, &session, &command)?)
            }

            ApiRequest::Doctor => ApiReply::Doctor(Box::new(engine.doctor()?)),
            ApiRequest::Settings => ApiReply::Settings((*self.configuration()?.view()).clone()),
            ApiRequest::ChangeSettings { changes } => {
                ApiReply::ChangeSettings(self.configuration()?.change(&changes)?)
            }
            ApiRequest::HooksStatus if engine.is_demo() => ApiReply::HooksStatus(Vec::new()),
            ApiRequest::HooksStatus => ApiReply::HooksStatus(engine.hooks()?),
            ApiRequest::HooksPreview { root, step } => {
                ApiReply::HooksPreview(self.hook_setup(&root)?.preview(step)?)
            }
            ApiRequest::HooksChange { root, step, token } => {
                ApiReply::HooksChange(self.hook_setup(&root)?.make(step, &token)?)
            }
            ApiRequest::ArchiveOffer => ApiReply::ArchiveOffer(engine.archive_offer()),

            ApiRequest::Command { command } => {
                let command = SessionCommand::try_from(command)?;
                ApiReply::Command(engine.command(&face.command_id(), &command)?)
            }
            ApiRequest::Memory { change } => ApiReply::Memory(engine.change_memory(&change)?),
            ApiRequest::Answer { call, surface, pressed } => {
                ApiReply::Answer(person::answer(engine, face, &call, surface.as_deref(), pressed)?)
            }
            ApiRequest::Prompt(call) => ApiReply::Prompt(person::prompt(engine, face, &call)?),

            ApiRequest::Forget { sessions } => {
                let sessions = sessions.iter().map(|session| SessionId::new(session)).collect();
                ApiReply::Forget(self.remove(&Removal::ForgetAll(sessions))?)
            }
            ApiRequest::ForgetBefore { before } => {
                ApiReply::ForgetBefore(self.remove(&Removal::ForgetBefore(parsed(&before)?))?)
            }
            ApiRequest::RememberAgain { session } => ApiReply::RememberAgain(
                self.remove(&Removal::RememberAgain(SessionId::new(&session))).map(drop)?,
            ),
            ApiRequest::Answers { since } => {
                ApiReply::Answers(crate::answers::list(&engine.settings(), time(since)?)?)
            }
            ApiRequest::Context(call) => ApiReply::Context(engine.context(&call)?),
            ApiRequest::ContextPrinted { answer } => {
                ApiReply::ContextPrinted(engine.context_printed(&answer)?)
            }
            ApiRequest::Open { session } => ApiReply::Open(engine.open_window(session)?),

            ApiRequest::Memories { cwd, all } => ApiReply::Memories(engine.memories(&cwd, all)?),
            ApiRequest::DocumentSession { session } => {
                ApiReply::DocumentSession(engine.document_session(&session)?)
            }
            ApiRequest::StartText { cwd, project } => {
                ApiReply::StartText(engine.context_text(cwd.as_deref(), project.as_deref())?)
            }

            // The shell and the connection take their own requests before they ask here.
            ApiRequest::OpenFolder { .. }
            | ApiRequest::OpenLink { .. }
            | ApiRequest::StartDemo
            | ApiRequest::SetCompact { .. }
            | ApiRequest::OpenSettings
            | ApiRequest::Autostart
            | ApiRequest::SetAutostart { .. }
            | ApiRequest::Shortcut
            | ApiRequest::ServiceState => {
                return Err(unsupported("only the window of Watchbill can do this").into());
            }
            ApiRequest::Subscribe { .. }
            | ApiRequest::FollowCommands
            | ApiRequest::Index
            | ApiRequest::Ask(_)
            | ApiRequest::Printed { .. }
            | ApiRequest::Refused { .. } => {
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

    /// The session as it was named, or its id if the face gets only what may leave Watchbill.
    fn shown(&self, face: &Face<'_>, session: String) -> Result<String, ApiError> {
        if face.is_gated() { self.engine.shown(&session) } else { Ok(session) }
    }

    fn remove(&self, removal: &Removal) -> Result<Option<ForgetReport>, AccessError> {
        self.engine.forget(removal)
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
