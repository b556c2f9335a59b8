//! Reports about the store: `index`, `stats`, `forget`, and its part of `doctor`.

use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;
use ts_rs::TS;

/// `index --json`: the result of one run that brings the store up to date.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct IndexReport {
    /// Transcript files that were checked.
    pub files: u64,
    /// Bytes that were read.
    pub bytes: u64,
    /// Records that were read.
    pub records: u64,
    /// Files with nothing new.
    pub skipped: u64,
    /// Lines and files that could not be read; `doctor` names them.
    pub problems: u64,
    /// Records of types that this version does not know; `doctor` names the types.
    #[serde(default)]
    pub unknown_records: u64,
    /// Seconds from begin to end.
    pub seconds: f64,
    /// Texts that were made searchable.
    pub texts: u64,
    /// Bytes of text that were left out because a text was longer than the cut.
    pub cut_bytes: u64,
    /// Transcripts that were archived; absent if there were none.
    pub archived: Option<u64>,
    /// The run ended early. The store keeps what the run read, and the next run goes on from there.
    pub interrupted: bool,
    /// The id, if known, of another process that keeps the store up to date: this run waited for it. Then records
    /// and texts are not counted, and bytes are those that it read meanwhile.
    pub kept_by: Option<u32>,
}

/// `stats --json`: usage, by some key.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct Stats {
    /// The key of `rows`: `day`, `project`, `model`, `tool`.
    pub by: String,
    /// Only usage at or after this time counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// By day, the newest first; else the greatest usage first.
    pub rows: Vec<StatsRow>,
    /// The sum over everything, each session and request once.
    pub total: StatsRow,
    /// With `--cost`: the lists of prices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<PriceList>>")]
    pub prices: Vec<PriceList>,
    /// With `--cost`: the models without a price, which are in no cost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<String>>")]
    pub unpriced: Vec<String>,
    /// What the model of the memory took on each day of the last month, the newest first. It is in no other number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<crate::model::ModelDay>>")]
    pub memory_model: Vec<crate::model::ModelDay>,
}

/// A list of prices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct PriceList {
    /// The day of the list.
    pub date: String,
    /// Its address.
    pub source: String,
}

/// What requests would cost without a plan. On a plan none of it is billed.
#[skip_serializing_none]
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct Cost {
    /// Dollars.
    pub usd: f64,
    /// How it is known.
    pub by: CostSource,
    /// Tokens of models without a price, which are not in it. Absent if there are none.
    pub unpriced_tokens: Option<u64>,
}

/// How a cost is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum CostSource {
    /// By prices per token.
    List,
}

/// The usage of one day, project, model or tool.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct StatsRow {
    /// The day (`2026-11-20`, in the person's time zone), the project's folder, the model or the tool. Absent in the sum, and if it is
    /// not known.
    pub key: Option<String>,
    /// Sessions that took part. In the sum only.
    pub sessions: Option<u64>,
    /// Prompts. In the sum only.
    pub prompts: Option<u64>,
    /// Requests to the model, each counted once even if several records repeat it. By tool: absent.
    pub requests: Option<u64>,
    /// Tokens of those requests. By tool: absent.
    pub tokens: Option<crate::roster::Tokens>,
    /// With `--cost`: what the requests would cost. By tool: absent.
    pub cost: Option<Cost>,
    /// Calls of tools. By tool and in the sum only.
    pub tool_calls: Option<u64>,
    /// Of these, the ones that failed. By tool and in the sum only.
    pub tool_errors: Option<u64>,
    /// Milliseconds that the calls took together, as far as they are known. By tool and in the sum only.
    pub tool_ms: Option<u64>,
}

/// `forget --json`: what a removal took out, or would take out.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct ForgetReport {
    /// The ids of the sessions, which were removed with their subagents.
    pub sessions: Vec<String>,
    /// The work chain of the sessions, if its id was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_chain_id: Option<String>,
    /// Transcripts that had been read.
    pub files: u64,
    /// Prompts.
    pub prompts: u64,
    /// Tool calls.
    pub tool_calls: u64,
    /// Searchable texts.
    pub texts: u64,
    /// Archived transcripts.
    pub archived: u64,
    /// Bytes that the store's files became smaller by.
    pub freed_bytes: u64,
    /// The bytes are still in the file, because another process reads it. The next window or `index` takes them
    /// out.
    pub wiped_later: bool,
    /// Nothing was removed; the numbers are those of a real run.
    pub dry_run: bool,
}

/// A file of a database that was damaged and set aside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DamagedFile {
    /// Its path.
    pub path: String,
    /// Its length.
    pub bytes: u64,
    /// All readable rows of the database were taken over, so the file may be removed.
    pub taken_over: bool,
}

/// The store's part of `doctor --json`.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct StoreHealth {
    /// The database file.
    pub path: String,
    /// Whether it exists.
    pub exists: bool,
    /// Bytes of the database and its companions.
    pub bytes: u64,
    /// The version of its schema.
    pub schema_version: Option<u32>,
    /// The process that writes it now, if any.
    pub writer_pid: Option<u32>,
    /// Stored sessions.
    pub sessions: u64,
    /// Searchable texts.
    pub texts: u64,
    /// Bytes at the ends of long texts that are not stored, so that no search finds them. Absent where every text is stored whole.
    pub cut_bytes: Option<u64>,
    /// Transcript files that have not been read to their end.
    pub files_behind: u64,
    /// Bytes in them that are still to be read.
    pub bytes_behind: u64,
    /// Transcript files that the settings exclude, whole or in part.
    #[serde(default)]
    pub files_left_out: u64,
    /// The current exclusions were not applied to the stored data, because the settings or the program changed. The
    /// next process that writes the store applies them.
    #[serde(default)]
    pub exclude_changed: bool,
    /// Archived transcripts.
    pub archived: u64,
    /// Bytes that the archive takes.
    pub archive_bytes: u64,
    /// Files of the archive that are damaged or gone, so their transcripts cannot be read from there. Absent if
    /// there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<String>>", optional)]
    pub archive_unreadable: Vec<String>,
    /// While the archive is on: after how long without a change a transcript is archived, in milliseconds.
    pub archive_after: Option<i64>,
    /// While the archive is off: what it would do, with numbers.
    pub archive_offer: Option<String>,
    /// The last removal of stored data that the user excluded later.
    pub left_out: Option<String>,
    /// The model that is asked after turns, if the user chose one.
    pub model: Option<crate::model::ModelQueue>,
    /// Not all of the database was checked for damage, because that takes too long. Absent if all of it was.
    pub pages_unseen: Option<bool>,
    /// Why the store cannot be used, and what to do about it.
    pub trouble: Option<String>,
    /// Damaged files that were set aside in the data folder. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<DamagedFile>>", optional)]
    pub damaged: Vec<DamagedFile>,
}
