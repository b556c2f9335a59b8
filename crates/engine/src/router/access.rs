//! The table of who may ask what.

use watchbill_platform::socket::Stream;
use watchbill_protocol::api::Right;
use watchbill_protocol::error::{ApiError, ErrorCode};

use crate::socket::access::CommandId;

/// Who asks.
pub enum Face<'a> {
    /// The window, which is this program. `refusal`: why it may not answer, as its start showed.
    Window {
        /// A sentence.
        refusal: Option<String>,
    },
    /// The settings window of this program.
    SettingsWindow,
    /// A program at the local socket: the command line, a script, an agent.
    Socket {
        /// The connection. The system tells who is at its other end.
        stream: &'a Stream,
        /// The id that the program gave its request.
        call: &'a CommandId,
    },
    /// A program that knows the token of the service over HTTP.
    Token,
}

/// What the table says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum May {
    /// It may.
    Yes,
    /// It may not.
    No,
    /// A person may, a script only if the user allows that, and an agent never. `agents::caller` tells them apart, and `person`
    /// asks it.
    Person,
}

/// The columns: window, settings window, socket, token.
const fn table(right: Right) -> [May; 4] {
    use May::{No, Person, Yes};
    match right {
        Right::Read => [Yes, No, Yes, Yes],
        Right::Window => [Yes, No, No, No],
        Right::Setup => [Yes, Yes, No, No],
        Right::SettingsWindow => [No, Yes, No, No],
        Right::Change => [Yes, No, Yes, No],
        Right::Answer => [Person, No, Person, No],
        Right::Prompt => [No, No, Person, No],
        Right::Program => [No, No, Yes, No],
        Right::Service => [No, No, No, Yes],
    }
}

impl Face<'_> {
    const fn column(&self) -> usize {
        match self {
            Self::Window { .. } => 0,
            Self::SettingsWindow => 1,
            Self::Socket { .. } => 2,
            Self::Token => 3,
        }
    }

    /// Whether it is the window.
    pub(super) const fn is_window(&self) -> bool {
        matches!(self, Self::Window { .. })
    }

    /// Whether it gets only what may leave Watchbill: nothing that the user excludes or has forgotten.
    pub(super) const fn is_gated(&self) -> bool {
        matches!(self, Self::Token)
    }

    /// The id of a command: the caller's own, so that a command that is sent again is carried out once.
    pub(super) fn command_id(&self) -> CommandId {
        match self {
            Self::Socket { call, .. } => (*call).clone(),
            _ => CommandId::new(),
        }
    }
}

/// Checks that a face has a right. Whether a person asks, where only persons may, is checked when the request is answered.
///
/// # Errors
/// When it has not.
pub fn may(face: &Face<'_>, right: Right) -> Result<(), ApiError> {
    match table(right)[face.column()] {
        May::Yes | May::Person => Ok(()),
        May::No => Err(ApiError::new(ErrorCode::Refused, "this program may not ask Watchbill for this")),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test panics")]

    use watchbill_agents::caller::{Caller, CallerProcess, Terminal, check};
    use watchbill_protocol::api::ApiRequest;

    use super::*;

    /// Who asks, with the column of the table, and the facts about a program at the socket.
    fn faces() -> [(&'static str, usize, Caller, bool); 8] {
        let line = |program: &str| {
            vec![CallerProcess { pid: 7, programs: vec![program.into()], ..CallerProcess::default() }]
        };
        let terminal = Some(Terminal { path: "/dev/pts/1".into(), keepers: Vec::new() });
        let script = Caller { line: line("cron"), ..Caller::default() };
        let agent = Caller { line: line("claude"), terminal: terminal.clone(), ..Caller::default() };
        let person = Caller { line: line("bash"), terminal, ..Caller::default() };
        [
            ("window", 0, person.clone(), true),
            ("window that an agent started", 0, agent.clone(), true),
            ("settings", 1, person.clone(), true),
            ("terminal", 2, person, false),
            ("script", 2, script.clone(), false),
            ("allowed script", 2, script, true),
            ("agent", 2, agent, true),
            ("token", 3, Caller::default(), true),
        ]
    }

    #[test]
    fn each_request_of_each_face_is_allowed_as_the_table_says() {
        let mut seen = String::new();
        for (request, right) in ApiRequest::RIGHTS {
            let may =
                faces().into_iter().filter(|(_, column, caller, scripts)| match table(*right)[*column] {
                    May::Yes => true,
                    May::No => false,
                    May::Person => check(caller, &[], *scripts).is_ok(),
                });
            let may: Vec<_> = may.map(|(name, ..)| name).collect();
            seen.push_str(&format!("{request}: {}\n", may.join(", ")));
        }
        insta::assert_snapshot!(seen);
    }

    #[test]
    fn a_right_that_a_face_has_not_is_refused() {
        for (face, has) in [
            (Face::Window { refusal: None }, [Right::Read, Right::Window, Right::Setup, Right::Change]),
            (Face::Token, [Right::Read, Right::Service, Right::Read, Right::Read]),
            (Face::SettingsWindow, [Right::Setup, Right::SettingsWindow, Right::Setup, Right::Setup]),
        ] {
            for right in has {
                may(&face, right).unwrap();
            }
            assert_eq!(may(&face, Right::Prompt).unwrap_err().code, ErrorCode::Refused);
            assert_eq!(may(&face, Right::Program).unwrap_err().code, ErrorCode::Refused);
        }
    }
}
