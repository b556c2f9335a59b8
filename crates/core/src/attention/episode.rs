//! What the policy is given of a row, and what it tells.

use std::path::Path;
use std::sync::Arc;

use crate::attention::need::{Counts, Need};
use crate::attention::rows::needs_person;
use crate::ids::SessionId;
use crate::roster::pending;
use crate::roster::row::Row;
use crate::session::state::{Confidence, State, StateKind};
use crate::time::Timestamp;

/// One session as the policy sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sighting {
    /// Whose.
    pub session: SessionId,
    /// What it needs the person for, or that its turn has ended by itself.
    pub need: Option<Need>,
    /// Since when the state holds.
    pub since: Timestamp,
    /// The state follows from silence.
    pub inferred: bool,
    /// The name that an alert begins with: the project, else the title.
    pub name: Arc<str>,
    /// What is wanted, in words that go on from the name.
    pub wants: Arc<str>,
    /// What the session calls itself, or what the person calls its work.
    pub title: Option<Arc<str>>,
    /// The project's name and folder, as they may be muted.
    pub projects: [Option<Arc<str>>; 2],
    /// The work goes on in another session.
    pub superseded: bool,
}

impl Sighting {
    /// What a row shows.
    pub fn of(row: &Row) -> Self {
        let folder = row.repo_root.as_ref().or(row.cwd.as_ref());
        let project =
            folder.and_then(|folder| Path::new(&**folder).file_name()).map(|name| name.to_string_lossy());
        let name = project
            .map(Arc::from)
            .or_else(|| row.title.clone())
            .unwrap_or_else(|| Arc::from(row.session_id.as_str()));
        let need = needs_person(row).or_else(|| finished(row));
        Self {
            session: row.session_id.clone(),
            need,
            since: row.needed_since(),
            inferred: row.state_reason.confidence == Confidence::Inferred,
            wants: Arc::from(need.map(|need| wants(need, row)).unwrap_or_default()),
            title: row.work_chain_name.clone().or_else(|| row.title.clone()),
            projects: [Some(Arc::clone(&name)), folder.cloned()],
            name,
            superseded: row.superseded.is_some(),
        }
    }
}

/// A turn that ended by itself, with nothing left that will go on by itself.
fn finished(row: &Row) -> Option<Need> {
    let ended =
        matches!(row.state_kind, Some(StateKind::TurnEnded | StateKind::Completed | StateKind::Blocked));
    (row.state == State::WaitingForInput && ended && row.snoozed_until.is_none() && !row.put_away)
        .then_some(Need::Finished)
}

/// "… wants to run `npm publish`".
fn wants(need: Need, row: &Row) -> String {
    let call = pending::principal(&row.pending_tools);
    let target = call.map_or("", |call| &*call.target);
    let cause = row.error().map(|cause| format!(": {cause}")).unwrap_or_default();
    match need {
        Need::Approval => match (call.map(|call| &*call.tool), target) {
            (None, _) => "wants a permission".to_owned(),
            (Some(tool), "") => format!("wants to use {tool}"),
            (Some("Bash" | "PowerShell"), command) => format!("wants to run `{command}`"),
            (Some("Edit" | "MultiEdit" | "NotebookEdit"), file) => format!("wants to edit {file}"),
            (Some("Write"), file) => format!("wants to write {file}"),
            (Some(tool), target) => format!("wants to use {tool}: {target}"),
        },
        Need::Question if target.is_empty() => "asks a question".to_owned(),
        Need::Question => format!("asks: {target}"),
        Need::Plan => "has a plan for you to judge".to_owned(),
        Need::Dialog => "shows a dialog".to_owned(),
        Need::Error if row.state_kind == Some(StateKind::Limit) => format!("has reached a limit{cause}"),
        Need::Error => format!("stopped at an error{cause}"),
        Need::Finished => match row.summary.as_deref() {
            Some(summary) => format!("has finished: {summary}"),
            None => "has finished".to_owned(),
        },
    }
}

/// A span in which a session needs the person for one thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Episode {
    /// Whose.
    pub session: SessionId,
    /// What for.
    pub need: Need,
    /// Since when, as the row said when the episode began: with the session it names the episode.
    pub since: Timestamp,
    /// When it was told.
    pub at: Timestamp,
    /// Who: the project, else the title.
    pub name: Arc<str>,
    /// What is wanted, in words that go on from the name.
    pub wants: Arc<str>,
    /// What the session calls itself, or what the person calls its work.
    pub title: Option<Arc<str>>,
}

impl Episode {
    /// In one line: who wants what.
    pub fn text(&self) -> String {
        format!("{} {}", self.name, self.wants)
    }
}

/// Why an episode is told without an alert.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Silence {
    /// The person does not want to be told of this kind.
    Kind,
    /// The project or the session is muted.
    Muted,
    /// Everything is muted for a while.
    MutedForNow,
    /// Quiet hours.
    QuietHours,
    /// Its window or terminal is in front.
    InFront,
}

impl Silence {
    /// It is about the time and not about the session: what still waits when that time is over is told then.
    pub const fn passes(self) -> bool {
        matches!(self, Self::MutedForNow | Self::QuietHours)
    }
}

/// What the policy tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// An episode that is worth an alert, once; with the reason where it should be silent all the same.
    Raised {
        /// The episode.
        episode: Episode,
        /// Why there is to be no alert.
        silence: Option<Silence>,
    },
    /// An episode that was raised is over: whatever stands on the screen for it can go.
    Cleared {
        /// Whose.
        session: SessionId,
        /// What for.
        need: Need,
        /// As it was raised.
        since: Timestamp,
        /// When.
        at: Timestamp,
    },
    /// What was already so when watching began, or was kept silent until now by a mute or by quiet hours, and may be told,
    /// the oldest first: told once, and only if there is any.
    AlreadySo(Vec<Episode>),
    /// Different sessions, or as many of other kinds, need the person now.
    Counted(Counts),
}
