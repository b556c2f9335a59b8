//! Lines as the agent writes them, short enough for a test.

use std::fmt::Write as _;

use watchbill_core::time::Timestamp;

/// The fields that all records of one session share.
#[derive(Debug, Clone)]
pub struct SessionWriter {
    /// `sessionId`.
    pub session: String,
    /// `cwd`.
    pub cwd: String,
}

impl SessionWriter {
    pub fn new(session: &str, cwd: &str) -> Self {
        Self { session: session.to_owned(), cwd: cwd.to_owned() }
    }

    fn envelope(&self, n: u64, at: Timestamp) -> String {
        format!(
            r#""uuid":"{}","timestamp":"{at}","sessionId":"{}","cwd":"{}","version":"2.1.329","entrypoint":"cli","isSidechain":false,"gitBranch":"main""#,
            uuid(n),
            self.session,
            self.cwd
        )
    }

    /// The user's prompt.
    pub fn prompt(&self, n: u64, at: Timestamp) -> String {
        let envelope = self.envelope(n, at);
        format!(
            r#"{{"type":"user","message":{{"role":"user","content":"prompt {n}"}},"origin":{{"kind":"human"}},{envelope}}}"#
        ) + "\n"
    }

    /// The end of a turn; request `n` costs ten tokens in and one out.
    pub fn answer(&self, n: u64, at: Timestamp) -> String {
        self.assistant(n, at, r#"{"type":"text","text":"done"}"#, "end_turn")
    }

    /// A tool call that waits for its result.
    pub fn call(&self, n: u64, at: Timestamp) -> String {
        let block = format!(
            r#"{{"type":"tool_use","id":"toolu_{n}","name":"Bash","input":{{"command":"make {n}"}}}}"#
        );
        self.assistant(n, at, &block, "tool_use")
    }

    /// The result of the call `of`.
    pub fn result(&self, n: u64, of: u64, at: Timestamp) -> String {
        let envelope = self.envelope(n, at);
        format!(
            r#"{{"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_{of}","content":"ok"}}]}},{envelope}}}"#
        ) + "\n"
    }

    /// A compaction in the file.
    pub fn boundary(&self, n: u64, at: Timestamp) -> String {
        let envelope = self.envelope(n, at);
        format!(
            r#"{{"type":"system","subtype":"compact_boundary","content":"Conversation compacted","compactMetadata":{{"trigger":"auto","preTokens":1000}},{envelope}}}"#
        ) + "\n"
    }

    /// The agent's record at the end of a turn.
    pub fn turn_over(&self, n: u64, at: Timestamp) -> String {
        let envelope = self.envelope(n, at);
        format!(r#"{{"type":"system","subtype":"turn_duration","durationMs":1000,{envelope}}}"#) + "\n"
    }

    /// A record type that this program does not know.
    pub fn unknown_type(&self, n: u64, at: Timestamp) -> String {
        format!(r#"{{"type":"brand-new-thing","n":{n},{}}}"#, self.envelope(n, at)) + "\n"
    }

    fn assistant(&self, n: u64, at: Timestamp, block: &str, stop: &str) -> String {
        let envelope = self.envelope(n, at);
        format!(
            r#"{{"type":"assistant","requestId":"req_{n}","message":{{"id":"msg_{n}","role":"assistant","model":"claude-opus-5-5","content":[{block}],"stop_reason":"{stop}","usage":{{"input_tokens":10,"output_tokens":1}}}},{envelope}}}"#
        ) + "\n"
    }

    /// The lines of a fork: the history of `origin` under this session's id. Each line names its origin.
    pub fn fork(&self, origin: &SessionWriter, history: &str) -> String {
        let mut out = String::new();
        let own = format!(r#""sessionId":"{}""#, self.session);
        let theirs = format!(r#""sessionId":"{}""#, origin.session);
        for line in history.lines().filter(|line| line.starts_with('{') && line.ends_with('}')) {
            let line = line.replace(&theirs, &own);
            // The history of a fork names its own origin already; the nearest one counts.
            let line = match line.find(r#","forkedFrom""#) {
                Some(end) => line[..end].to_owned(),
                None => line[..line.len() - 1].to_owned(),
            };
            let _ = writeln!(out, r#"{line},"forkedFrom":{{"sessionId":"{}"}}}}"#, origin.session);
        }
        out
    }
}

impl AsRef<str> for SessionWriter {
    /// The session.
    fn as_ref(&self) -> &str {
        &self.session
    }
}

/// A registry file.
pub fn registry(
    pid: u32,
    start: &str,
    author: &SessionWriter,
    status: &str,
    started: Timestamp,
    at: Timestamp,
) -> String {
    format!(
        r#"{{"pid":{pid},"sessionId":"{}","cwd":"{}","startedAt":{},"procStart":"{start}","version":"2.1.329","kind":"interactive","entrypoint":"cli","status":"{status}","statusUpdatedAt":{}}}"#,
        author.session,
        author.cwd,
        started.as_millis(),
        at.as_millis()
    )
}

/// A compaction marker.
pub fn marker(session: &str, cwd: &str, at: Timestamp) -> String {
    format!(r#"{{"newSessionId":"{session}","cwd":"{cwd}","compactedAt":"{at}"}}"#)
}

/// The id of the `n`th record.
pub fn uuid(n: u64) -> String {
    format!("00000000-0000-4000-8000-{n:012x}")
}

/// The id of the `n`th session.
pub fn session(n: usize) -> String {
    format!("5e550000-0000-4000-8000-{n:012x}")
}
