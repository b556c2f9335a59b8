//! What the files of agents are. Each agent's `layout.rs` knows them by their paths.

#[cfg(unix)]
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use watchbill_core::ids::{Agent, SessionId};

/// The meaning of a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ClientPath {
    /// A session's own transcript.
    Transcript {
        /// The agent that writes it.
        agent: Agent,
        /// The id in the file's name.
        session: SessionId,
    },
    /// `projects/<project>/<session>/subagents/agent-<agent>.jsonl`, or deeper under `workflows/`.
    Subagent {
        /// The parent session.
        session: SessionId,
        /// The subagent's id.
        agent: Arc<str>,
    },
    /// `…/subagents/agent-<agent>.meta.json`, beside the subagent's transcript.
    SubagentMeta {
        /// The parent session.
        session: SessionId,
        /// The subagent's id.
        agent: Arc<str>,
    },
    /// `projects/<project>/agent-<hex>.jsonl` of agents before 2.1.2: its records name the parent session.
    FlatSubagent {
        /// The subagent's id.
        agent: Arc<str>,
    },
    /// `sessions/<pid>.json`.
    Registry {
        /// The process id in the name.
        pid: u32,
    },
    /// A file that the process of a session keeps locked.
    Lock {
        /// The agent whose process does so.
        agent: Agent,
        /// The session.
        session: SessionId,
        /// The process, if the file's name has its id. Then the file is there as long as the session is open, and is not locked.
        pid: Option<u32>,
    },
    /// A database with the sessions of an agent, or the log of its newest changes.
    Database {
        /// The agent that writes it.
        agent: Agent,
    },
    /// A session as one document, `NAME.json`. Its transcript is shown at `NAME.jsonl`.
    Document {
        /// The agent that writes it.
        agent: Agent,
    },
    /// The file with the names that users gave to sessions.
    Names {
        /// The agent that writes it.
        agent: Agent,
    },
    /// `.claude/compacted.<session>.marker` of a working folder.
    Marker {
        /// The session that goes on after the compaction.
        session: SessionId,
    },
    /// `.claude/status.<session>.md` of a working folder, as the source document defines it.
    StatusFile {
        /// The session that the file describes.
        session: SessionId,
    },
}

impl ClientPath {
    /// The agent that writes the file.
    pub fn agent(&self) -> Agent {
        match self {
            Self::Transcript { agent, .. } | Self::Lock { agent, .. } => *agent,
            Self::Names { agent } | Self::Database { agent } | Self::Document { agent } => *agent,
            _ => Agent::Claude,
        }
    }

    /// The agent that writes the file, if it is not the default one, whose form our own files have too.
    pub fn written_by_other(&self) -> Option<Agent> {
        Some(self.agent()).filter(|agent| *agent != Agent::default())
    }

    /// The same without its names.
    pub fn kind(&self) -> ClientPathKind {
        match self {
            Self::Transcript { .. } => ClientPathKind::Transcript,
            Self::Subagent { .. } => ClientPathKind::Subagent,
            Self::SubagentMeta { .. } => ClientPathKind::SubagentMeta,
            Self::FlatSubagent { .. } => ClientPathKind::FlatSubagent,
            Self::Registry { .. } => ClientPathKind::Registry,
            Self::Lock { .. } => ClientPathKind::Lock,
            Self::Database { .. } => ClientPathKind::Database,
            Self::Document { .. } => ClientPathKind::Document,
            Self::Names { .. } => ClientPathKind::Names,
            Self::Marker { .. } => ClientPathKind::Marker,
            Self::StatusFile { .. } => ClientPathKind::StatusFile,
        }
    }

    /// Whether this is a transcript, a file of appended records.
    pub fn is_transcript(&self) -> bool {
        self.kind().is_transcript()
    }
}

/// The kind of a [`ClientPath`] without its names. Most starts do not need the names of thousands of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientPathKind {
    /// [`ClientPath::Transcript`].
    Transcript,
    /// [`ClientPath::Subagent`].
    Subagent,
    /// [`ClientPath::SubagentMeta`].
    SubagentMeta,
    /// [`ClientPath::FlatSubagent`].
    FlatSubagent,
    /// [`ClientPath::Registry`].
    Registry,
    /// [`ClientPath::Lock`].
    Lock,
    /// [`ClientPath::Database`].
    Database,
    /// [`ClientPath::Document`].
    Document,
    /// [`ClientPath::Names`].
    Names,
    /// [`ClientPath::Marker`].
    Marker,
    /// [`ClientPath::StatusFile`].
    StatusFile,
}

impl ClientPathKind {
    /// Whether this is a transcript, a file of appended records.
    pub fn is_transcript(self) -> bool {
        matches!(self, Self::Transcript | Self::Subagent | Self::FlatSubagent)
    }
}

/// Size limit for the meta file of a subagent's transcript (`agent-….meta.json`), which has a few hundred bytes.
pub const META_LIMIT: u64 = 64 << 10;

/// The name of the option that names the folders of agents.
pub const ROOT_NAME: &str = "claude-dir";
/// The same by the name that suits other agents' folders.
pub const ROOT_ALIAS: &str = "root";
/// The name with its hyphens.
pub const ROOT_OPTION: &str = "--claude-dir";
/// The variable that lists them, separated like `PATH`.
pub const ROOT_VARIABLE: &str = "WATCHBILL_CLAUDE_DIR";

/// The part of a path below a root; `None` if the path is elsewhere. Paths of one spelling are compared as bytes:
/// splitting them took a sixth of a start that finds everything unchanged.
pub fn below<'p>(root: &Path, path: &'p Path) -> Option<&'p Path> {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        let root = root.as_os_str().as_bytes();
        let rest = path.as_os_str().as_bytes().strip_prefix(root).filter(|_| !root.is_empty());
        if let Some([b'/', rest @ ..]) = rest
            && !matches!(rest, [b'/' | b'.', ..])
        {
            return Some(Path::new(OsStr::from_bytes(rest)));
        }
    }
    path.strip_prefix(root).ok()
}
