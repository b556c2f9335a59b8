//! Ids of sessions, chains, records and processes, each as a type of its own.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A coding agent. The set is closed: `watchbill_agents` has a folder for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Agent {
    /// Claude Code. A row that names no agent is of this one.
    #[default]
    Claude,
    /// Codex CLI.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// opencode.
    Opencode,
    /// Copilot CLI.
    Copilot,
    /// pi, and Oh My Pi.
    Pi,
    /// Cursor CLI.
    Cursor,
    /// Kimi Code.
    Kimi,
    /// Grok Build.
    Grok,
    /// Droid.
    Droid,
    /// Qwen Code.
    Qwen,
    /// goose.
    Goose,
    /// Antigravity CLI.
    Antigravity,
    /// Amp.
    Amp,
}

impl Agent {
    /// All agents, in the order in which they are offered.
    pub const ALL: [Self; 14] = [
        Self::Claude,
        Self::Codex,
        Self::Gemini,
        Self::Opencode,
        Self::Copilot,
        Self::Pi,
        Self::Cursor,
        Self::Kimi,
        Self::Grok,
        Self::Droid,
        Self::Qwen,
        Self::Goose,
        Self::Antigravity,
        Self::Amp,
    ];

    /// The agent of a word.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|agent| agent.as_str() == word)
    }

    /// The word in JSON, in the store and on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
            Self::Copilot => "copilot",
            Self::Pi => "pi",
            Self::Cursor => "cursor",
            Self::Kimi => "kimi",
            Self::Grok => "grok",
            Self::Droid => "droid",
            Self::Qwen => "qwen",
            Self::Goose => "goose",
            Self::Antigravity => "antigravity",
            Self::Amp => "amp",
        }
    }
}

/// The agent's own id of a session: the stem of the transcript's file name, usually a UUID.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SessionId(#[serde(deserialize_with = "crate::shared_text::arc_str")] Arc<str>);

impl SessionId {
    /// Takes the id as the agent wrote it.
    pub fn new(id: &str) -> Self {
        Self(Arc::from(id))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::borrow::Borrow<str> for SessionId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// The id of a work chain. It stays the same over compaction, `/clear` and restarts.
///
/// It is derived from the session that began the chain. So two programs that know the same transcripts name the chain
/// alike without sharing a store.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChainId(Arc<str>);

impl ChainId {
    /// The id of the chain that began with `first`: 128 bits in UUID form, version 8 (RFC 9562).
    pub fn derive(first: &SessionId) -> Self {
        // FNV-1a is enough: the input is itself a random id, and a collision gives an attacker nothing.
        let hash = fnv(OF_CHAINS, first.as_str().as_bytes());
        let h = (hash & !(0xf << 76) & !(0x3 << 62)) | (0x8 << 76) | (0x2 << 62);
        // Digit by digit: a start derives thousands of ids, and `format!` would take four times as long.
        let mut digits = (0..32).rev().map(|n| char::from_digit((h >> (4 * n)) as u32 & 0xf, 16));
        let text = (0..36).filter_map(|at| match at {
            8 | 13 | 18 | 23 => Some('-'),
            _ => digits.next().flatten(),
        });
        let mut id = String::with_capacity(36);
        id.extend(text);
        Self(Arc::from(id))
    }

    /// Takes an id that was derived earlier and stored as text.
    pub fn of_text(id: &str) -> Self {
        Self(Arc::from(id))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ChainId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The `uuid` of one record, as 128 bits.
///
/// A text that is no UUID is hashed, so that every client's ids can be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RecordId(pub u128);

impl RecordId {
    /// Takes the id as the agent wrote it.
    pub fn parse(text: &str) -> Self {
        Self(uuid_bits(text).unwrap_or_else(|| fnv(BEGIN, text.as_bytes())))
    }
}

/// The 128 bits of a UUID in its usual form with hyphens.
fn uuid_bits(text: &str) -> Option<u128> {
    let bytes = text.as_bytes();
    if bytes.len() != 36 {
        return None;
    }
    bytes.iter().enumerate().try_fold(0u128, |bits, (at, byte)| match at {
        8 | 13 | 18 | 23 => (*byte == b'-').then_some(bits),
        _ => Some(bits << 4 | u128::from((*byte as char).to_digit(16)?)),
    })
}

/// The offset basis of FNV-1a over 128 bits.
const BEGIN: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
/// The hash state after the prefix of every chain id, computed at compile time.
const OF_CHAINS: u128 = fnv(BEGIN, b"watchbill/chain/");

/// FNV-1a over 128 bits, continued from an earlier hash.
const fn fnv(mut hash: u128, mut bytes: &[u8]) -> u128 {
    while let [byte, rest @ ..] = bytes {
        hash = (hash ^ *byte as u128).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        bytes = rest;
    }
    hash
}

/// FNV-1a over 64 bits. The result is the same on every machine and in every build, so it can name things that are
/// looked up later. A collision gives an attacker nothing.
pub fn stable_hash(bytes: &[u8]) -> u64 {
    stable_hash_from(0xcbf2_9ce4_8422_2325, bytes)
}

/// Continues from an earlier hash, to hash several texts together.
pub fn stable_hash_from(start: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(start, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// One process of the agent. The system reuses a process id, but not together with the start time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Instance {
    /// The process id as the registry file names it.
    pub pid: u32,
    /// Its start, as the system tells it: on Linux field 22 of `/proc/<pid>/stat`, on macOS a date in UTC, on Windows seconds since
    /// the epoch.
    pub proc_start: Option<Arc<str>>,
}

impl Instance {
    /// Whether both can be the same process. If one of them lacks the start time, the process id alone decides.
    pub fn may_be(&self, other: &Self) -> bool {
        let starts = self.proc_start.as_ref().zip(other.proc_start.as_ref());
        self.pid == other.pid && starts.is_none_or(|(a, b)| a == b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stable_hash_is_the_published_one() {
        // From the FNV authors' own test vectors.
        assert_eq!(stable_hash(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(stable_hash(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(stable_hash_from(stable_hash(b"foo"), b"bar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn record_ids_compare_across_spellings_and_never_clash_by_form() {
        let id = RecordId::parse("645a2f0b-cd92-4470-9c99-7c9f5295006d");
        assert_eq!(id, RecordId(0x645a_2f0b_cd92_4470_9c99_7c9f_5295_006d));
        assert_eq!(id, RecordId::parse("645A2F0B-CD92-4470-9C99-7C9F5295006D"));
        assert_ne!(RecordId::parse("msg-1"), RecordId::parse("msg-2"));
        assert_ne!(RecordId::parse("645a2f0bxcd92-4470-9c99-7c9f5295006d"), id);
    }

    #[test]
    fn a_chain_id_is_stable_and_has_uuid_form() {
        let id = ChainId::derive(&SessionId::new("645a2f0b-cd92-4470-9c99-7c9f5295006d"));
        assert_eq!(id, ChainId::derive(&SessionId::new("645a2f0b-cd92-4470-9c99-7c9f5295006d")));
        let bytes = id.as_str().as_bytes();
        assert_eq!(bytes.len(), 36);
        assert_eq!(bytes[14], b'8', "version 8: the bits are ours");
        assert!(b"89ab".contains(&bytes[19]), "variant of RFC 9562");
    }
}
