//! The local socket: programs of one user talk over it, one JSON object per line.
//!
//! `docs/protocol.md` describes the same for users. The holder of the store listens. It greets each connection with
//! a [`Hello`]. The socket client sends [`SocketCall`]s. For each call it gets [`Reply`]s with the call's id: any number
//! of events, then one reply or one error.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_with_macros::skip_serializing_none;
use watchbill_core::ids::Agent;

use crate::api::ApiRequest;
use crate::error::ApiError;

/// The version of this protocol. It rises when a reader of an older version would misunderstand a message. New
/// requests and new fields do not raise it.
pub const VERSION: u32 = 1;

/// The longest line that is read from a socket client, its line feed included, in bytes.
pub const MAX_CALL_BYTES: u64 = 1 << 20;

/// The first line of a connection, from the program that listens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hello {
    /// The version of the protocol: [`VERSION`].
    pub protocol: u32,
    /// The version of the program.
    pub watchbill: String,
    /// Its process id.
    pub pid: u32,
    /// Identifies the folders and settings that the roster depends on. A program with another `view` sees another
    /// roster, and reads the files itself.
    pub view: String,
    /// Whether it has a window that [`ApiRequest::Open`] raises.
    #[serde(default)]
    pub window: bool,
}

/// One request with its id. The id names the answers. The id of a command is also remembered: a command that is
/// sent again is carried out once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SocketCall {
    /// Chosen by the socket client: 1 to 64 bytes, different from all its other ids.
    pub id: String,
    /// The request.
    #[serde(flatten)]
    pub request: ApiRequest,
}

/// What a waiting hook process sends.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskCall {
    /// The agent whose hook it is.
    #[serde(default)]
    pub agent: Agent,
    /// A random id that the hook process gives to the request.
    pub ask: String,
    /// The hook payload as the client wrote it.
    pub payload: String,
    /// The client's process, where it is known.
    pub client: Option<ClientProcess>,
    /// The processes above the hook process, nearest first.
    #[serde(default)]
    pub ancestors: Vec<u32>,
    /// The clock since boot when the hook process started, in nanoseconds.
    #[serde(default)]
    pub order: u64,
    /// The folder of the client's project, which stays when the client changes its folder.
    pub project: Option<String>,
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

/// The progress of reading transcripts into the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IndexProgress {
    /// Bytes that were read since the request.
    pub bytes: u64,
    /// Bytes that were still to be read when the request came.
    pub total_bytes: u64,
}

/// One line of the listening program after its hello, as it writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplyBody<'a, T> {
    /// The request was fulfilled.
    Reply(&'a T),
    /// The request failed.
    Error(&'a ApiError),
    /// An event of the request.
    Event(&'a T),
}

/// The same with the id of its call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Reply<'a, T> {
    /// The id of the call; empty if it could not be read.
    pub id: &'a str,
    /// The content.
    #[serde(flatten)]
    pub body: ReplyBody<'a, T>,
}

/// One line as a socket client reads it. Its content stays JSON text until the client knows which type it expects.
#[derive(Debug, Deserialize)]
pub struct RawReply<'a> {
    /// The id of the call.
    pub id: String,
    /// The request was fulfilled.
    #[serde(borrow, default)]
    pub reply: Option<&'a RawValue>,
    /// The request failed.
    pub error: Option<ApiError>,
    /// An event of the request.
    #[serde(borrow, default)]
    pub event: Option<&'a RawValue>,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "JSON of ours that cannot be read is a failure")]

    use super::*;
    use crate::command::UserCommand;

    #[test]
    fn a_call_is_one_flat_object() {
        let command = UserCommand::Rename { session: "s".into(), name: Some("the leak".into()) };
        let call = SocketCall { id: "1".into(), request: ApiRequest::Command { command } };
        let text = serde_json::to_string(&call).unwrap();
        assert_eq!(
            text,
            r#"{"id":"1","request":"command","command":{"do":"rename","session":"s","name":"the leak"}}"#
        );
        assert_eq!(serde_json::from_str::<SocketCall>(&text).unwrap(), call);
        let short: SocketCall = serde_json::from_str(r#"{"id":"2","request":"roster","later":1}"#).unwrap();
        assert_eq!(short.request, ApiRequest::Roster { all: false });
        assert!(serde_json::from_str::<SocketCall>(r#"{"id":"3","request":"no such"}"#).is_err());
    }

    #[test]
    fn the_key_of_an_answer_names_its_kind() {
        let written = serde_json::to_string(&Reply { id: "1", body: ReplyBody::Reply(&vec![1, 2]) }).unwrap();
        assert_eq!(written, r#"{"id":"1","reply":[1,2]}"#);
        let read: RawReply<'_> = serde_json::from_str(&written).unwrap();
        assert_eq!((read.reply.unwrap().get(), read.error, read.event.is_none()), ("[1,2]", None, true));
        let nothing: RawReply<'_> = serde_json::from_str(r#"{"id":"1","reply":null}"#).unwrap();
        assert!(nothing.reply.is_none(), "a reply of nothing is read as such by its id");
    }
}
