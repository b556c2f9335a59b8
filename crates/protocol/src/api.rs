//! The one door: each request that a face of Watchbill can make, with its reply and its right.
//!
//! The window, the local socket and HTTP make the same requests. `engine::router` answers them, and its table says which face has
//! which right. The window's TypeScript types of requests and replies are generated from the same rows.

use serde::{Deserialize, Serialize, Serializer};
use ts_rs::TS;

use crate::alert::PastAlert;
use crate::chain::WorkChain;
use crate::changes::Changes;
use crate::command::UserCommand;
use crate::day::Day;
use crate::doctor::{Doctor, HookSettings};
use crate::focus::FocusAnswer;
use crate::hooks::{HooksPreview, HooksStep};
use crate::limits::LimitUse;
use crate::memory::{
    ContextCall, ContextText, DocumentSession, MemoryChange, MemoryChanged, MemoryDetail, MemoryList,
    MemoryPage, MemoryPreview, SummaryPage,
};
use crate::own::command::OwnCommand;
use crate::own::spec::{OwnResumeCall, OwnSpec, OwnSwitch, OwnSwitchCall};
use crate::own::view::{OwnChoices, OwnNews};
use crate::prompt::{PromptCall, PromptSent};
use crate::request::{AnswerCall, AnswerGiven, AnswerRecord};
use crate::roster::{RosterMessage, RosterSnapshot, TrackedSession};
use crate::search::{SearchAnswer, SearchQuery};
use crate::settings::{ArchiveOffer, ServiceState, SettingChange, SettingsView};
use crate::shell::{ShellMessage, ShortcutState};
use crate::socket::AskCall;
use crate::store::ForgetReport;
use crate::timeline::{NewestItems, Timeline, TimelinePlace};
use crate::usage::UsagePage;
use crate::why::Why;

/// A group of requests that the same faces may make.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Right {
    /// Reads what every face shows.
    Read,
    /// What only the window shows and does.
    Window,
    /// Reads the health, and changes settings and hooks.
    Setup,
    /// What only the settings window shows.
    SettingsWindow,
    /// Changes names, chains, snoozes and memories.
    Change,
    /// Answers a request, which only a person may do.
    Answer,
    /// Sends a prompt, which only a person may do.
    Prompt,
    /// What only programs at the socket do: the command line and hook processes.
    Program,
    /// What only programs over HTTP read.
    Service,
}

/// Makes [`ApiRequest`], [`ApiReply`] and the rights from one row for each request: `[right] request => reply`. A connection of the
/// socket answers the last rows itself, because their replies take long or come as events.
macro_rules! requests {
    (
        $( $(#[$about:meta])* [$right:ident] $name:ident
            $({ $($fields:tt)* })? $(( $($call:tt)* ))? => $reply:ty; )*
        connections {
            $( $(#[$their_about:meta])* [$their_right:ident] $their_name:ident
                $({ $($their_fields:tt)* })? $(( $($their_call:tt)* ))?; )*
        }
    ) => {
        /// The requests. On the socket, a request is a part of the line that carries it.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
        #[serde(tag = "request", rename_all = "snake_case")]
        #[ts(optional_fields)]
        pub enum ApiRequest {
            $( $(#[$about])* $name $({ $($fields)* })? $(( $($call)* ))?, )*
            $( $(#[$their_about])* #[ts(skip)] $their_name $({ $($their_fields)* })? $(( $($their_call)* ))?, )*
        }

        /// The replies. JSON has the reply alone: the asker knows what it asked.
        #[derive(Debug, Clone, PartialEq, TS)]
        #[ts(tag = "request", content = "reply", rename_all = "snake_case")]
        pub enum ApiReply {
            $( $(#[$about])* $name($reply), )*
        }

        impl Serialize for ApiReply {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $( Self::$name(reply) => reply.serialize(serializer), )*
                }
            }
        }

        impl ApiRequest {
            /// Each request with its right.
            pub const RIGHTS: &[(&str, Right)] = &[
                $( (stringify!($name), Right::$right), )*
                $( (stringify!($their_name), Right::$their_right), )*
            ];

            /// Its right.
            pub const fn right(&self) -> Right {
                match self {
                    $( Self::$name { .. } => Right::$right, )*
                    $( Self::$their_name { .. } => Right::$their_right, )*
                }
            }
        }
    };
}

requests! {
    /// The roster now.
    [Read] Roster { #[serde(default)] #[doc = "Superseded, ended and long idle sessions too."] all: bool } => RosterSnapshot;
    /// Why a session is in its state.
    [Read] Why { #[doc = "A session or a work chain."] session: String } => Why;
    /// A work chain.
    [Read] Chain { #[doc = "A session or a work chain."] session: String } => WorkChain;
    /// A part of the timeline of a session's work chain.
    [Read] Timeline {
        #[doc = "A session or a work chain."] session: String,
        #[doc = "The first item; absent: the newest ones."] from: Option<u64>,
        #[doc = "Most items."] limit: u64,
    } => Timeline;
    /// Searches the stored history.
    [Read] Search { #[doc = "The query."] query: SearchQuery } => SearchAnswer;

    /// The row of the chain's head, where the work of this session goes on, even if the roster does not show it.
    [Window] Head { #[doc = "A session."] session: String } => Box<TrackedSession>;
    /// The newest items of a timeline. While a long one is not counted yet, they are indexed from 0.
    [Window] NewestItems { #[doc = "A session."] session: String, #[doc = "Most items."] limit: u64 } => NewestItems;
    /// A part of the timeline of one subagent of a session's chain.
    [Window] AgentTimeline {
        #[doc = "A session."] session: String,
        #[doc = "The subagent."] agent: String,
        #[doc = "The first item."] from: u64,
        #[doc = "Most items."] limit: u64,
    } => Timeline;
    /// The place in the timeline of the record that begins at this byte of a transcript.
    [Window] TimelinePlace {
        #[doc = "The session of the transcript."] session: String,
        #[doc = "The subagent, if the transcript is one's."] agent: Option<String>,
        #[doc = "In bytes."] offset: u64,
    } => TimelinePlace;
    /// What changed in the repository of a session since its work chain began.
    [Window] Changes { #[doc = "A session."] session: String } => Box<Changes>;
    /// What each work chain did on a day.
    [Window] Day { #[doc = "Such as `2026-11-20`; absent: today."] date: Option<String> } => Box<Day>;
    /// When sessions needed the user in the last seven days, newest first.
    [Window] Alerts => Vec<PastAlert>;
    /// The usage of the last days.
    [Window] Usage { #[doc = "So many days, with today."] days: u32 } => Box<UsagePage>;
    /// Which work chains use up the limits of plans.
    [Window] LimitUse => Vec<LimitUse>;
    /// The byte of a session's transcript at which the newest call or prompt before a time begins.
    [Window] ByteAt { #[doc = "A session."] session: String, #[doc = "RFC 3339."] at: String } => Option<u64>;
    /// The shell command that resumes a session, or shows one that runs in the background.
    [Window] ResumeCommand { #[doc = "A session."] session: String } => String;
    /// Brings the terminal of a session to the front, as far as possible.
    [Window] FocusTerminal { #[doc = "A session."] session: String } => FocusAnswer;
    /// Mutes alerts.
    [Window] Mute { #[doc = "Until then (RFC 3339); absent: unmutes them."] until: Option<String> } => ();
    /// What was learned in a session's project, and what was said to the sessions of its chain.
    [Window] MemoryPage { #[doc = "A session."] session: String } => MemoryPage;
    /// The summary of a session's chain, and a hand-over to a new session.
    [Window] WorkSummary { #[doc = "A session."] session: String } => SummaryPage;
    /// One memory with its evidence.
    [Window] MemoryDetail { #[doc = "The memory."] id: String } => MemoryDetail;
    /// What an agent in a folder would be told.
    [Window] MemoryPreview {
        #[doc = "The folder."] cwd: String,
        #[doc = "What the agent of this session remembers by itself is left out."] session: Option<String>,
    } => MemoryPreview;
    /// The agents that can be started, and recent folders.
    [Window] OwnChoices => OwnChoices;
    /// Starts an own session. Does nothing if one with its id was started. After a change of the agent, ends the session before first if it
    /// is an own one. `conflict`: another process has that session.
    [Window] OwnStart { #[doc = "What it starts from."] spec: Box<OwnSpec> } => ();
    /// Resumes or forks a session. The reply is the session where it goes on. `conflict`: another process has the session.
    /// `other_branch`: its folder has another branch, and the message names it.
    [Window] OwnResume { #[doc = "How it goes on."] call: OwnResumeCall } => String;
    /// What another agent would be told that goes on with a session, and what starts it. `other_branch`: its folder has another branch,
    /// and the message names it.
    [Window] OwnSwitch { #[doc = "How it goes on."] call: OwnSwitchCall } => Box<OwnSwitch>;
    /// Passes a command to an own session. The reply comes when its host has the command in its log.
    [Window] OwnCommand { #[doc = "The own session."] session: String, #[doc = "The command."] command: OwnCommand } => ();

    /// What is watched, and the health of each part.
    [Setup] Doctor => Box<Doctor>;
    /// All settings in force.
    [Setup] Settings => SettingsView;
    /// Changes settings in the configuration file, all of them or none.
    [Setup] ChangeSettings { #[doc = "The changes."] changes: Vec<SettingChange> } => SettingsView;
    /// The state of the hooks, scope by scope; empty in the demo.
    [Setup] HooksStatus => Vec<HookSettings>;
    /// The change that a step would make in the user's settings below one of the agent's folders.
    [Setup] HooksPreview { #[doc = "The agent's folder."] root: String, #[doc = "The step."] step: HooksStep } => HooksPreview;
    /// Makes the change that a preview showed.
    [Setup] HooksChange {
        #[doc = "The agent's folder."] root: String,
        #[doc = "The step."] step: HooksStep,
        #[doc = "Identifies that preview."] token: String,
    } => ();
    /// What the archive would hold and save.
    [SettingsWindow] ArchiveOffer => ArchiveOffer;

    /// Opens the working folder of a session. The window names a session, never a path.
    [Window] OpenFolder { #[doc = "A session."] session: String } => ();
    /// Opens a web address in the user's browser.
    [Window] OpenLink { #[doc = "The address."] address: String } => ();
    /// Shows made-up sessions instead of the real ones of this machine.
    [Window] StartDemo => ();
    /// Shows the real sessions again.
    [Window] LeaveDemo => ();
    /// Makes the window a strip above all others, or the full window again. The outcome comes as a [`ShellMessage`].
    [Window] SetCompact { #[doc = "A strip."] on: bool } => ();
    /// Shows the settings window, in front.
    [Window] OpenSettings => ();
    /// Whether the desktop starts the program.
    [Setup] Autostart => bool;
    /// Turns that on or off. The reply is the state afterwards.
    [Setup] SetAutostart { #[doc = "On."] on: bool } => bool;
    /// The global shortcut that opens the window, and whether it works.
    [Setup] Shortcut => ShortcutState;
    /// Where the service over HTTP listens, and its token.
    [SettingsWindow] ServiceState => ServiceState;

    /// Carries out a command of the user, and stores it. The reply is the id of its session, when the command is stored. A command
    /// that is sent again with the same id after a broken connection is carried out once.
    [Change] Command { #[doc = "The command."] command: UserCommand } => String;
    /// Changes what was learned. The reply comes when it is stored.
    [Change] Memory { #[doc = "The change."] change: MemoryChange } => MemoryChanged;
    /// Answers a request that the user has seen. The reply comes when the answer is stored and on its way.
    [Answer] Answer {
        #[serde(flatten)] #[doc = "The answer."] call: AnswerCall,
        /// `window` or `notification`; only Watchbill's own window may say so. Absent: `command`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        surface: Option<String>,
        /// The clock since boot when the user answered, in nanoseconds. An answer counts for five seconds. Absent: now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pressed: Option<u64>,
    } => AnswerGiven;
    /// Types a prompt into the terminal of a session. The reply comes some seconds later.
    #[ts(skip)]
    [Prompt] Prompt(PromptCall) => PromptSent;

    /// What would be removed with the sessions of a work chain, or with one session.
    [Window] ForgetPreview { #[doc = "The id of either."] named: String } => ForgetReport;
    /// Removes sessions from the stored history for good.
    [Change] Forget { #[doc = "Whole ids."] sessions: Vec<String> } => Option<ForgetReport>;
    /// Removes the sessions that were last active before a time.
    #[ts(skip)]
    [Program] ForgetBefore { #[doc = "RFC 3339."] before: String } => Option<ForgetReport>;
    /// Lets a forgotten session be stored again.
    #[ts(skip)]
    [Program] RememberAgain { #[doc = "The whole id."] session: String } => ();
    /// The answers that were given.
    #[ts(skip)]
    [Program] Answers {
        /// RFC 3339; only answers from then on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        since: Option<String>,
    } => Vec<AnswerRecord>;
    /// A hook process asks what to tell the agent; the reply is `null` for nothing.
    #[ts(skip)]
    [Program] Context(ContextCall) => Option<ContextText>;
    /// The hook process has printed the reply to its `context`.
    #[ts(skip)]
    [Program] ContextPrinted { #[doc = "The id of the text."] answer: String } => ();
    /// Raises the window.
    #[ts(skip)]
    [Program] Open {
        /// The session that it selects.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<String>,
    } => ();

    /// The memories of the project of a folder.
    #[ts(skip)]
    [Service] Memories {
        #[doc = "The folder."] cwd: String,
        #[serde(default)] #[doc = "Those that are not in force too."] all: bool,
    } => MemoryList;
    /// A session in the words of the claude-recall document.
    #[ts(skip)]
    [Service] DocumentSession { #[doc = "A session."] session: String } => DocumentSession;
    /// The text that an agent would be told at its start; empty: nothing.
    #[ts(skip)]
    [Service] StartText {
        #[doc = "The folder."] cwd: Option<String>,
        #[doc = "The name of a folder. It stands for a working folder only if one alone has that name."] project: Option<String>,
    } => String;

    connections {
        /// The roster, and then each change. Events: [`RosterMessage`], first a snapshot. A socket client that does not read gets a
        /// new snapshot when it reads again. There is no reply; the subscription ends with the connection.
        [Program] Subscribe { #[serde(default)] #[doc = "Superseded, ended and long idle sessions too."] all: bool };
        /// Reports when commands of the user were stored. Events: `null`. For a program that keeps a roster of its own.
        [Program] FollowCommands;
        /// Replies when the store has all that the transcripts hold now. Events: [`crate::socket::IndexProgress`]. Reply:
        /// [`crate::store::IndexReport`].
        [Program] Index;
        /// A hook process asks and waits. Reply: the text that it is to print, or `null` for nothing.
        [Program] Ask(AskCall);
        /// The hook process has printed the reply to its `ask`. Reply: `null`.
        [Program] Printed { #[serde(rename = "requestId")] #[doc = "The id of the request."] request_id: String };
        /// The host of an own session has refused a program. Reply: `null`. Only for that host.
        [Program] Refused {
            #[doc = "The own session."] session: String,
            #[doc = "`answer`, or `prompt` for any other command."] what: String,
            #[doc = "Why."] why: String,
        };
    }
}

/// What a window follows, until it ends the subscription.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "to", rename_all = "snake_case")]
pub enum ApiSubscription {
    /// The roster. The window has one such subscription; a new one ends the one before.
    Roster {
        /// Superseded, ended and long idle sessions too.
        all: bool,
    },
    /// The settings now, and after every change from any source.
    Settings,
    /// The shell's own messages.
    Shell,
    /// What an own session tells, from a record of its log on.
    Own {
        /// The own session.
        session: String,
        /// The number of the first record.
        from: u64,
    },
}

impl ApiSubscription {
    /// Its right.
    pub const fn right(&self) -> Right {
        match self {
            Self::Settings => Right::Setup,
            Self::Roster { .. } | Self::Shell | Self::Own { .. } => Right::Window,
        }
    }
}

/// What each subscription sends: the message alone.
#[derive(Debug, Clone, PartialEq, TS)]
#[ts(tag = "to", content = "message", rename_all = "snake_case")]
pub enum ApiMessage {
    /// First a snapshot, then each change.
    Roster(RosterMessage),
    /// All settings.
    Settings(SettingsView),
    /// First the form of the window.
    Shell(ShellMessage),
    /// First what runs there.
    Own(OwnNews),
}
