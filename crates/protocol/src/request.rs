//! Requests of a session, answers to them, and the list of given answers.

mod convert;

use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;
use ts_rs::TS;
use watchbill_core::requests::request::Digest;

use crate::error::{ApiError, ErrorCode};

/// What a session asks now: the field `request` of its row.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct Request {
    /// Names the request. An answer repeats it.
    pub id: String,
    /// The hash of everything that is shown, 64 hexadecimal digits. An answer repeats it as `seen`.
    pub digest: String,
    /// `permission`, `question`, `plan`, or `unknown` for a shape that this version does not know.
    pub kind: String,
    /// The tool's name.
    pub tool: String,
    /// The type of the subagent that asks.
    pub subagent: Option<String>,
    /// The tool's input as the agent wrote it. Untrusted: draw invisible characters before you show it.
    #[ts(type = "unknown")]
    pub input: serde_json::Value,
    /// The input as text to show, whole, with invisible characters drawn.
    pub shown: String,
    /// The request in one line.
    pub summary: String,
    /// The questions of a `question`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<RequestQuestion>>", optional)]
    pub questions: Vec<RequestQuestion>,
    /// The options of the first question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<RequestOption>>", optional)]
    pub options: Vec<RequestOption>,
    /// The first question takes several options.
    pub several: Option<bool>,
    /// What "allow always" adds, and where.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<RequestRule>>", optional)]
    pub always: Vec<RequestRule>,
    /// The permission mode of the session.
    pub mode: Option<String>,
    /// When the session asked.
    pub opened_at: String,
    /// `hook`, `stream` (an own session): it can be answered from here. `no`: not from here.
    pub answerable: String,
    /// Why it cannot be answered from here.
    pub why: Option<String>,
    /// `open`; after an answer `sending`, `taken` (the hook process has it) or `failed` (no effect for five seconds).
    pub progress: String,
    /// How many more requests of the session wait behind this one.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[ts(as = "Option<u32>", optional)]
    pub more: u32,
    /// Files that the request names and that were changed after it was asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<String>>", optional)]
    pub changed_files: Vec<String>,
    /// Files and words of a command that may name files, which Watchbill does not compare before it is allowed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<String>>", optional)]
    pub not_compared: Vec<String>,
    /// How often the session has asked for the same, this time included; absent at the first time.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    #[ts(as = "Option<u32>", optional)]
    pub times: u32,
    /// A program that may not answer has tried to answer it; why it may not.
    pub refused: Option<String>,
}

fn once() -> u32 {
    1
}

fn is_once(times: &u32) -> bool {
    *times == 1
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// One question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct RequestQuestion {
    /// The whole question.
    pub question: String,
    /// A short heading.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// Its options.
    pub options: Vec<RequestOption>,
    /// Several options may be chosen.
    pub several: bool,
}

/// One option of a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct RequestOption {
    /// Its name.
    pub label: String,
    /// What it means.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// A rule that "allow always" adds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RequestRule {
    /// The rule in the agent's notation.
    pub rule: String,
    /// Where it is kept.
    #[serde(rename = "where")]
    pub place: String,
}

/// What the user decides, as requests carry it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum RequestDecision {
    /// Allows it once. A plan: go on, ask before each edit.
    Allow,
    /// Allows it and adds the rules in `always`. A plan: go on, accept edits.
    AllowAlways,
    /// Denies it. The model reads the reason.
    Deny {
        /// Why; may be empty.
        #[serde(default)]
        reason: String,
    },
    /// Denies it and ends the turn.
    DenyAndStop,
    /// Answers the questions, one answer each.
    Choose {
        /// In the order of the questions.
        answers: Vec<RequestAnswer>,
    },
}

/// The answer to one question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum RequestAnswer {
    /// Options by their place, from 0.
    Options(Vec<usize>),
    /// The user's own words.
    Text(String),
}

/// An answer to a request that was shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AnswerCall {
    /// The session.
    pub session: String,
    /// The request that was shown.
    pub request_id: String,
    /// Its digest.
    pub seen: String,
    /// What the user decides.
    pub decision: RequestDecision,
}

/// `answer --json`: the answer is stored and on its way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AnswerGiven {
    /// The request.
    pub request_id: String,
    /// The decision in words.
    pub decision: String,
    /// Always true: an answer that could not be sent is an error.
    pub delivered: bool,
    /// When.
    pub at: String,
}

/// One row of `answers --json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct AnswerRecord {
    /// The request. For a refused attempt, `refused-answer-` and the session.
    pub request_id: String,
    /// The session.
    pub session_id: String,
    /// The tool's name; `answer` or `prompt` for an attempt without an open request.
    pub tool: String,
    /// The text that was shown; empty for an attempt without an open request.
    pub shown: String,
    /// The decision in words.
    pub decision: String,
    /// `window`, `notification` or `command`; `none` for a request that expired.
    pub surface: String,
    /// When it was given.
    pub at: String,
    /// `sent`, `unsent`, `taken`, `effect`, `no_effect`, or `lost`: unknown whether it arrived. `expired` for a request that ended with
    /// its session, unanswered. `refused` for the attempt of a program that may not answer.
    pub outcome: String,
    /// When that was known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome_at: Option<String>,
}

/// The digest as it leaves the process.
pub fn hex(digest: Digest) -> String {
    digest.0.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The digest of an answer.
///
/// # Errors
/// When the text is not a digest.
pub fn seen(text: &str) -> Result<Digest, ApiError> {
    let wrong = || ApiError::new(ErrorCode::Invalid, "`seen` is not the digest of a request");
    let byte = |place: usize| u8::from_str_radix(text.get(2 * place..2 * place + 2)?, 16).ok();
    let mut digest = Digest::default();
    for (place, into) in digest.0.iter_mut().enumerate() {
        *into = byte(place).ok_or_else(wrong)?;
    }
    if hex(digest) == text { Ok(digest) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_read_as_it_was_written_and_no_other_text_is_one() {
        let digest = Digest::of(b"ls");
        let text = hex(digest);
        assert_eq!((text.len(), seen(&text)), (64, Ok(digest)));
        for other in
            [&text[..62], &format!("{text}00"), &text.to_uppercase(), &"é".repeat(32), &"+1".repeat(32), ""]
        {
            assert!(seen(other).is_err(), "{other}");
        }
    }
}
