//! What programs of one person say to each other over the local socket: one JSON object a line.
//!
//! `docs/protocol.md` describes the same for people. The program that holds the store listens. It greets each connection
//! with a [`Hello`]. The other end sends [`Call`]s and gets for each one an [`Answer`] with the call's id: any number of
//! events, then one reply or one error.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::command::UserCommand;
use crate::error::ApiError;
use crate::request::AnswerCall;
use crate::search::SearchQuery;

/// The version of this protocol. It rises when a reader of an older version would misunderstand what is said; new
/// requests and new fields do not raise it.
pub const VERSION: u32 = 1;

/// The longest line that is read from a client, its line feed included, in bytes.
pub const LONGEST_CALL: u64 = 1 << 20;

/// The first line of a connection, from the program that listens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hello {
    /// The version of the protocol: [`VERSION`].
    pub protocol: u32,
    /// The version of the program.
    pub watchbill: String,
    /// Its process.
    pub pid: u32,
    /// Stands for the folders and settings that the roster depends on. A program with another one sees another roster, and
    /// looks for itself.
    pub view: String,
    /// It has a window that [`Request::Open`] raises.
    #[serde(default)]
    pub window: bool,
}

/// One request with its id. The id names the answers; of a command it is also remembered, so that a command that is sent
/// again is carried out once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// Chosen by the client: 1 to 64 bytes, and unlike any other that it sends.
    pub id: String,
    /// What is asked.
    #[serde(flatten)]
    pub request: Request,
}

/// What can be asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "snake_case")]
pub enum Request {
    /// The roster now. Reply: [`crate::roster::RosterSnapshot`].
    Roster {
        /// Superseded, ended and long idle sessions too.
        #[serde(default)]
        all: bool,
    },
    /// Why a session is in its state. Reply: [`crate::why::Why`].
    Why {
        /// A session or a work chain.
        session: String,
    },
    /// A work chain. Reply: [`crate::chain::WorkChain`].
    Chain {
        /// A session or a work chain.
        session: String,
    },
    /// Looks for words. Reply: [`crate::search::SearchAnswer`].
    Search {
        /// What is looked for.
        query: SearchQuery,
    },
    /// The roster, and then each change. Events: [`crate::roster::RosterMessage`], first a snapshot. A client that does not
    /// read gets a new snapshot when it reads again. There is no reply; the connection's end is the subscription's.
    Subscribe {
        /// Superseded, ended and long idle sessions too.
        #[serde(default)]
        all: bool,
    },
    /// Tells when commands of the person were stored. Events: `null`. For a program that keeps a roster of its own.
    FollowCommands,
    /// Carries out a command of the person, and stores it. Reply: `null`, when it is stored. Sent again with the same id
    /// after a broken connection it is carried out once.
    Command {
        /// The command.
        command: UserCommand,
    },
    /// Removes sessions from the stored history for good. Reply: [`crate::store::ForgetReport`].
    Forget {
        /// Whole ids.
        sessions: Vec<String>,
    },
    /// Removes the sessions that were last active before a time. Reply: [`crate::store::ForgetReport`].
    ForgetBefore {
        /// RFC 3339.
        before: String,
    },
    /// Lets a forgotten session be stored again. Reply: `null`.
    RememberAgain {
        /// The whole id.
        session: String,
    },
    /// Answers when everything that the transcripts hold now is stored. Events: [`IndexProgress`]. Reply:
    /// [`crate::store::IndexReport`].
    Index,
    /// A hook process asks and waits. Reply: the text that it is to print, or `null` for nothing.
    Ask(AskCall),
    /// The hook process has printed the reply to its `ask`. Reply: `null`.
    Printed {
        /// The id of the request.
        #[serde(rename = "requestId")]
        request_id: String,
    },
    /// Answers a request. Reply: [`crate::request::AnswerGiven`]. Refused for a caller that an agent started.
    Answer(AnswerCall),
    /// The answers that were given. Reply: a list of [`crate::request::AnswerRecord`].
    Answers {
        /// RFC 3339; only answers from then on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        since: Option<String>,
    },
    /// Raises the window. Reply: `null`.
    Open {
        /// The session that it selects.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<String>,
    },
}

/// What a waiting hook process sends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskCall {
    /// A random id that the hook process gives to the request.
    pub ask: String,
    /// The hook payload as the client wrote it.
    pub payload: String,
    /// The client's process, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientProcess>,
    /// The processes above the hook process, nearest first.
    #[serde(default)]
    pub ancestors: Vec<u32>,
    /// The clock since boot when the hook process started, in nanoseconds.
    #[serde(default)]
    pub order: u64,
}

/// A process of the client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientProcess {
    /// Process id.
    pub pid: u32,
    /// Start time as the registry's `procStart` has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
}

/// How far the program is that stores what the transcripts hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IndexProgress {
    /// Bytes that were read since the request.
    pub bytes: u64,
    /// Bytes that were to be read when it came.
    pub total_bytes: u64,
}

/// One line of the program that listens, after its hello, as it writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Body<'a, T> {
    /// The request was fulfilled.
    Reply(&'a T),
    /// It was not.
    Error(&'a ApiError),
    /// Something that belongs to it has happened.
    Event(&'a T),
}

/// The same with the id of its call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Answer<'a, T> {
    /// The id of the call. Empty where that could not be read.
    pub id: &'a str,
    /// What came of it.
    #[serde(flatten)]
    pub body: Body<'a, T>,
}

/// One line as a client reads it: what is in it stays text until it is known what is expected.
#[derive(Debug, Deserialize)]
pub struct Received<'a> {
    /// The id of the call.
    pub id: String,
    /// The request was fulfilled.
    #[serde(borrow, default)]
    pub reply: Option<&'a RawValue>,
    /// It was not.
    #[serde(default)]
    pub error: Option<ApiError>,
    /// Something that belongs to it has happened.
    #[serde(borrow, default)]
    pub event: Option<&'a RawValue>,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "JSON of ours that cannot be read is a failure")]

    use super::*;

    #[test]
    fn a_call_is_one_flat_object() {
        let command = UserCommand::Rename { session: "s".into(), name: Some("the leak".into()) };
        let call = Call { id: "1".into(), request: Request::Command { command } };
        let text = serde_json::to_string(&call).unwrap();
        assert_eq!(
            text,
            r#"{"id":"1","request":"command","command":{"do":"rename","session":"s","name":"the leak"}}"#
        );
        assert_eq!(serde_json::from_str::<Call>(&text).unwrap(), call);
        let short: Call = serde_json::from_str(r#"{"id":"2","request":"roster","later":1}"#).unwrap();
        assert_eq!(short.request, Request::Roster { all: false });
        assert!(serde_json::from_str::<Call>(r#"{"id":"3","request":"no such"}"#).is_err());
    }

    #[test]
    fn an_answer_says_what_it_is_by_its_key() {
        let written = serde_json::to_string(&Answer { id: "1", body: Body::Reply(&vec![1, 2]) }).unwrap();
        assert_eq!(written, r#"{"id":"1","reply":[1,2]}"#);
        let read: Received<'_> = serde_json::from_str(&written).unwrap();
        assert_eq!((read.reply.unwrap().get(), read.error, read.event.is_none()), ("[1,2]", None, true));
        let nothing: Received<'_> = serde_json::from_str(r#"{"id":"1","reply":null}"#).unwrap();
        assert!(nothing.reply.is_none(), "a reply of nothing is read as such by its id");
    }
}
