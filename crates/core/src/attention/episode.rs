//! The policy's input for one row, and its output.

use std::path::Path;
use std::sync::Arc;

use crate::attention::need::{Counts, Need};
use crate::attention::rows::needs_person;
use crate::ids::SessionId;
use crate::roster::pending;
use crate::roster::row::Row;
use crate::session::refusals::{Refusal, RefusalKind, RefusedRow};
use crate::session::state::{Confidence, State, StateKind};
use crate::time::Timestamp;
use crate::tool::ToolKind;

/// One session as the policy sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sighting {
    /// The session.
    pub session: SessionId,
    /// What it needs the user for, or that its turn has ended by itself or goes on after refused calls.
    pub need: Option<Need>,
    /// Since when the state holds.
    pub since: Timestamp,
    /// The state is inferred from silence.
    pub inferred: bool,
    /// The name that an alert begins with: the project, else the title.
    pub name: Arc<str>,
    /// What the session wants, as a phrase that continues the name.
    pub wants: Arc<str>,
    /// The name of the work chain, else the session's title.
    pub title: Option<Arc<str>>,
    /// The names and folders of the project and of the worktree: the user may mute each.
    pub projects: [Option<Arc<str>>; 4],
    /// The work goes on in another session.
    pub superseded: bool,
    /// It is idle, and the user has not put it aside.
    pub rests: bool,
}

impl Sighting {
    /// Reads a row.
    pub fn of(row: &Row) -> Self {
        let folder = row.project_folder();
        let name_of = |folder: Option<&Arc<str>>| -> Option<Arc<str>> {
            Some(Path::new(&**folder?).file_name()?.to_string_lossy().into())
        };
        let name = name_of(folder)
            .or_else(|| row.title.clone())
            .unwrap_or_else(|| Arc::from(row.session_id.as_str()));
        let need = needs_person(row).or_else(|| finished(row)).or_else(|| refused(row));
        let refused_since = row.refused.as_deref().map(|row| row.refused.row_since);
        Self {
            session: row.session_id.clone(),
            need,
            since: match need {
                Some(Need::Refused | Need::RefusedInARow) => refused_since.unwrap_or(row.state_since),
                _ => row.needed_since(),
            },
            inferred: row.state_reason.confidence == Confidence::Inferred,
            wants: Arc::from(need.map(|need| wants(need, row)).unwrap_or_default()),
            title: row.work_chain_name.clone().or_else(|| row.title.clone()),
            projects: [
                Some(Arc::clone(&name)),
                folder.cloned(),
                name_of(row.repo_root.as_ref()),
                row.repo_root.clone(),
            ],
            rests: row.state == State::Idle && row.snoozed_until.is_none() && !row.put_away,
            name,
            superseded: row.superseded.is_some(),
        }
    }
}

/// A turn that ended by itself, with no work left in the background.
fn finished(row: &Row) -> Option<Need> {
    let ended =
        matches!(row.state_kind, Some(StateKind::TurnEnded | StateKind::Completed | StateKind::Blocked));
    let is_hidden = row.snoozed_until.is_some() || row.put_away || row.is_unattended();
    (row.state == State::WaitingForInput && ended && !is_hidden).then_some(Need::Finished)
}

/// A running turn in which the reviewer's last word was a refusal.
fn refused(row: &Row) -> Option<Need> {
    let refused = &row.refused.as_deref()?.refused;
    let goes_on = row.state == State::Working && refused.in_a_row > 0;
    let is_hidden = row.snoozed_until.is_some() || row.put_away || row.is_unattended();
    (goes_on && !is_hidden).then_some(if refused.is_stuck() { Need::RefusedInARow } else { Need::Refused })
}

/// "… wants to run `npm publish`".
fn wants(need: Need, row: &Row) -> String {
    let call = pending::principal(&row.pending_tools);
    let target = call.map_or("", |call| &*call.target);
    let cause = row.error().map(|cause| format!(": {cause}")).unwrap_or_default();
    match need {
        Need::Approval => match (call.map(|call| (ToolKind::of(&call.tool), &*call.tool)), target) {
            (None, _) => "wants permission".to_owned(),
            (Some((_, tool)), "") => format!("wants to use {tool}"),
            (Some((kind, _)), command) if kind.runs_command() => format!("wants to run `{command}`"),
            (Some((ToolKind::Edit | ToolKind::EditNotebook, _)), file) => format!("wants to edit {file}"),
            (Some((ToolKind::Write, _)), file) => format!("wants to write {file}"),
            (Some((_, tool)), target) => format!("wants to use {tool}: {target}"),
        },
        Need::Question if target.is_empty() => "asks a question".to_owned(),
        Need::Question => format!("asks: {target}"),
        Need::Plan => "has a plan for you to review".to_owned(),
        Need::Dialog => "shows a dialog".to_owned(),
        Need::Error if row.state_kind == Some(StateKind::Limit) => format!("has reached a limit{cause}"),
        Need::Error => format!("stopped at an error{cause}"),
        Need::Refused | Need::RefusedInARow => row.refused.as_deref().map(was_refused).unwrap_or_default(),
        Need::PlanLimit => String::new(),
        Need::Finished => match row.summary.as_deref() {
            Some(summary) => format!("has finished: {summary}"),
            None => "has finished".to_owned(),
        },
    }
}

/// "… was refused 3 calls in a row, last: `git push`".
fn was_refused(RefusedRow { refused, .. }: &RefusedRow) -> String {
    let Refusal { tool, target, kind, .. } = &refused.last;
    let call = if target.is_empty() { tool } else { target };
    match (kind, refused.in_a_row) {
        (RefusalKind::Unavailable, _) => format!("cannot go on: its reviewer is unavailable, for `{call}`"),
        (RefusalKind::Blocked, 0 | 1) => format!("was refused a call by its reviewer: `{call}`"),
        (RefusalKind::Blocked, many) => {
            format!("was refused {many} calls in a row by its reviewer, last: `{call}`")
        }
    }
}

/// A period during which a session needs the user for one thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Episode {
    /// The session.
    pub session: SessionId,
    /// What for.
    pub need: Need,
    /// Since when, by the row at the beginning of the episode. Together with the session it identifies the episode.
    pub since: Timestamp,
    /// When it was reported.
    pub at: Timestamp,
    /// The project, else the title.
    pub name: Arc<str>,
    /// What the session wants, as a phrase that continues the name.
    pub wants: Arc<str>,
    /// The name of the work chain, else the session's title.
    pub title: Option<Arc<str>>,
}

as_str!(Silence);

/// Why an episode is reported without an alert.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, strum_macros::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Silence {
    /// The user turned off alerts of this kind.
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
    /// Whether the reason ends by itself. An episode that still waits then is reported then.
    pub const fn is_temporary(self) -> bool {
        matches!(self, Self::MutedForNow | Self::QuietHours)
    }
}

/// The policy's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttentionEvent {
    /// An episode that is worth one alert. `silence` says why there should be none all the same.
    Raised {
        /// The episode.
        episode: Episode,
        /// Why there is to be no alert.
        silence: Option<Silence>,
    },
    /// A raised episode is over: its alert can be removed from the screen.
    Cleared {
        /// The session.
        session: SessionId,
        /// What for.
        need: Need,
        /// Since when, as it was raised.
        since: Timestamp,
        /// When.
        at: Timestamp,
    },
    /// Episodes from before watching began, and episodes that a mute or quiet hours kept silent until now. The oldest
    /// comes first. Each is reported once, and the list is never empty.
    AlreadySo(Vec<Episode>),
    /// The counts of sessions that need the user have changed.
    Counted(Counts),
}
