//! Messages of the attention policy to the program that shows alerts: episodes that begin and end, and the counts. Past alerts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;
use ts_rs::TS;
use watchbill_core::attention::{self, AttentionEvent, Counts, Need};

/// One message of the policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Alert {
    /// These sessions needed the user before the subscriber came, or while a mute or quiet hours silenced them,
    /// oldest first. They get one summary at most.
    AlreadySo {
        /// The episodes; none of them is silenced.
        episodes: Vec<Episode>,
    },
    /// An episode began that deserves one alert.
    Raised {
        /// The episode.
        episode: Episode,
        /// Why there is no alert all the same: `kind`, `muted`, `muted_for_now`, `quiet_hours`, `in_front`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        silence: Option<String>,
    },
    /// A reported episode is over: its alert must leave the screen.
    Cleared {
        /// The session.
        session_id: String,
        /// The need.
        need: String,
        /// Since when, as in the message that raised it.
        since: String,
    },
    /// New counts of sessions that need the user, by need. A need without an entry has no session.
    Counted {
        /// `approval`, `question`, `plan`, `dialog`, `error`.
        needs: BTreeMap<String, u32>,
    },
}

/// A span in which a session needs the user for one thing. `sessionId`, `need` and `since` identify it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Episode {
    /// The session.
    pub session_id: String,
    /// `approval`, `question`, `plan`, `dialog`, `error`; or `finished`, `refused`, `refused_in_a_row`, `plan_limit`, which
    /// ask nothing of the user.
    pub need: String,
    /// Since when the state holds.
    pub since: String,
    /// The session's name: the project, else the title.
    pub name: String,
    /// What the session wants, in words that go on from the name.
    pub wants: String,
    /// The session's own title, or the user's name for its work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

impl From<AttentionEvent> for Alert {
    fn from(outcome: AttentionEvent) -> Self {
        match outcome {
            AttentionEvent::AlreadySo(episodes) => {
                Self::AlreadySo { episodes: episodes.iter().map(Episode::from).collect() }
            }
            AttentionEvent::Raised { episode, silence } => Self::Raised {
                episode: Episode::from(&episode),
                silence: silence.map(|silence| silence.as_str().to_owned()),
            },
            AttentionEvent::Cleared { session, need, since, at: _ } => Self::Cleared {
                session_id: session.to_string(),
                need: need.as_str().to_owned(),
                since: since.to_string(),
            },
            AttentionEvent::Counted(counts) => Self::from(&counts),
        }
    }
}

impl From<&Counts> for Alert {
    fn from(counts: &Counts) -> Self {
        let counted = Need::ALL.into_iter().map(|need| (need.as_str().to_owned(), counts.of(need)));
        Self::Counted { needs: counted.filter(|(_, count)| *count > 0).collect() }
    }
}

impl From<&attention::Episode> for Episode {
    fn from(episode: &attention::Episode) -> Self {
        Self {
            session_id: episode.session.to_string(),
            need: episode.need.as_str().to_owned(),
            since: episode.since.to_string(),
            name: episode.name.to_string(),
            wants: episode.wants.to_string(),
            title: episode.title.as_deref().filter(|title| !title.is_empty()).map(str::to_owned),
        }
    }
}

/// A time when a session needed the user: `alerts --json`. Whether an alert was shown then is not stored.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct PastAlert {
    /// The session.
    pub session_id: String,
    /// The user's name for its work, its title or its first prompt.
    pub title: String,
    /// The name of its folder; empty if that is not known.
    pub project: String,
    /// `approval`, `question`, `plan`, `dialog`, `error`.
    pub need: String,
    /// What it asked, or why it failed. Absent if that is not known.
    pub about: Option<String>,
    /// Since when (RFC 3339).
    pub at: String,
    /// Until when; absent: it needs the user still, or its end was not seen.
    pub until: Option<String>,
    /// What became of it.
    pub became: PastAlertEnd,
    /// The answer that Watchbill gave, and where: `allowed once (window)`. Absent if the user answered in the agent.
    pub answer: Option<String>,
}

/// How a need of the user ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum PastAlertEnd {
    /// It has not, says the running Watchbill.
    Open,
    /// That is not known: no Watchbill ran then.
    Unseen,
    /// It was answered, or after an error the session went on.
    WentOn,
    /// The turn was over, or nothing more happened for long.
    Stopped,
    /// The session ended.
    Ended,
}
