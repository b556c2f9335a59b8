//! A model: the lines between Watchbill and its program `watchbill-model-client`, one job in and one result out; and trials of a model.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_with_macros::skip_serializing_none;
use ts_rs::TS;

/// One job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelJob {
    /// The model.
    pub to: ModelAddress,
    /// The question; without one, the list of models is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<ModelQuestion>,
    /// The whole time that it may take, in milliseconds.
    pub timeout_ms: u64,
}

/// Where a model is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum ModelAddress {
    /// An OpenAI-compatible endpoint.
    #[serde(rename_all = "camelCase")]
    Endpoint {
        /// Such as `http://127.0.0.1:11434/v1`.
        base_url: String,
        /// The model's name there.
        name: String,
        /// The file with the key. The program reads it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key_file: Option<String>,
        /// The form that this endpoint is known to accept.
        #[serde(default)]
        form: ReplyForm,
    },
    /// The user's own agent in print mode.
    #[serde(rename_all = "camelCase")]
    Agent {
        /// The program: a path, or a name in `PATH`.
        program: String,
        /// The model; empty: a small one.
        name: String,
        /// Its working folder.
        folder: String,
        /// The most that one reply may cost, in millionths of a dollar.
        most_micro_usd: u64,
    },
}

/// How an endpoint is told the form of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ReplyForm {
    /// By a schema.
    #[default]
    Schema,
    /// As any JSON object.
    Object,
    /// By the instruction alone.
    Text,
}

/// A question to a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelQuestion {
    /// The instruction.
    pub system: String,
    /// The text.
    pub user: String,
    /// The schema of the reply.
    pub schema: Value,
    /// The most tokens of the reply.
    pub max_tokens: u64,
}

/// One result.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelResult {
    /// The reply.
    pub reply: Option<String>,
    /// The names of the models there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<String>,
    /// Tokens of the question, as the model counted them.
    pub tokens_in: Option<u64>,
    /// Tokens of the reply.
    pub tokens_out: Option<u64>,
    /// What it cost, in millionths of a dollar, if the agent says so.
    pub micro_usd: Option<u64>,
    /// The time from the start of the program to this line.
    pub millis: u64,
    /// The form that the endpoint accepted.
    #[serde(default)]
    pub form: ReplyForm,
    /// Why there is no reply.
    pub error: Option<String>,
    /// The model could not be used at all: nothing was asked, or every question is refused. It says nothing about this question.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub away: bool,
}

/// The turns that a model is to be asked about after they ended.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct ModelQueue {
    /// The address; for the user's own agent, its command.
    pub address: String,
    /// The model's name there.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[ts(as = "Option<String>")]
    pub name: String,
    /// It is asked at this moment.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(as = "Option<bool>")]
    pub running: bool,
    /// Turns that wait.
    pub queued: u64,
    /// Older turns, which wait until the user wants them.
    pub older: u64,
    /// Turns that were given up after failures.
    pub failed: u64,
    /// What it took on this day of the person.
    pub today: ModelDay,
    /// The setting whose limit holds for the rest of this day.
    pub limit_reached: Option<String>,
    /// It is not asked until then, because the user wants it so.
    pub paused_until: Option<String>,
    /// The last failure, if no answer came since.
    pub last_error: Option<String>,
    /// Its time.
    pub last_error_at: Option<String>,
}

/// What the model took on one day.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ModelDay {
    /// Such as `2026-11-25`, in the person's time zone.
    pub day: String,
    /// Questions.
    pub questions: u64,
    /// Tokens of the questions.
    pub tokens_in: u64,
    /// Tokens of the answers.
    pub tokens_out: u64,
    /// Money, in millionths of a dollar.
    pub micro_usd: u64,
}

/// `memory try --model --json`: what a model found in earlier sessions. Nothing of it is stored.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelTrial {
    /// The turns that the model was asked about.
    pub turns: Vec<TriedTurn>,
    /// Turns of these sessions that it was not asked about.
    pub left_out: u64,
    /// Tokens of all questions.
    pub tokens_in: u64,
    /// Tokens of all answers.
    pub tokens_out: u64,
    /// What the agent says that it cost, in millionths of a dollar.
    pub micro_usd: u64,
    /// Tokens of this day of the person, with those of earlier trials.
    pub tokens_today: u64,
    /// Money of this day, in millionths of a dollar.
    pub micro_usd_today: u64,
    /// The setting whose limit ended the trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<String>,
}

/// One turn of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TriedTurn {
    /// The session.
    pub session_id: String,
    /// The turn.
    pub batch: String,
    /// What would be proposed.
    pub found: Vec<ModelFinding>,
    /// Why other findings were refused.
    pub refused: Vec<String>,
    /// Tokens of the question.
    pub tokens_in: u64,
    /// Tokens of the answer.
    pub tokens_out: u64,
    /// What the agent says that it cost, in millionths of a dollar.
    pub micro_usd: u64,
    /// How long it took, in milliseconds.
    pub millis: u64,
    /// Why there is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A finding of a model.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelFinding {
    /// `gotcha`, `decision`, `bug_fix`, `trade_off`, `discovery`.
    pub kind: String,
    /// One line.
    pub text: String,
    /// The file.
    pub path: Option<String>,
    /// `medium`, `high`.
    pub importance: String,
    /// It may hold text that the user did not write, or an order.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub suspect: bool,
    /// Where the record of its evidence begins in the transcript.
    pub byte: Option<u64>,
}
