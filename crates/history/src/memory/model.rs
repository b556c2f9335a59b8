//! The model that the user chose: its program, its questions, and a trial on earlier sessions. The thread that asks by itself is `worker::model_asker`.

pub mod child;
pub mod ledger;
pub mod state;
pub mod tried;
pub mod turns;

use std::path::Path;

use serde::{Deserialize, Serialize};
use watchbill_agents::{Agent, traits};
use watchbill_core::memory::ModelSettings;
use watchbill_core::memory::model::{Job, MOST_OUTPUT, schema};
use watchbill_protocol::model::{ModelAddress, ModelJob, ModelQuestion, ModelResult, ReplyForm};

/// The most that one question to the agent may cost, in millionths of a dollar.
pub const MOST_MICRO_USD: u64 = 20_000;

/// The question in the words of the program.
pub fn question(settings: &ModelSettings, data_dir: &Path, job: &Job, form: ReplyForm) -> ModelJob {
    let question = ModelQuestion {
        system: job.system().to_owned(),
        user: job.user.clone(),
        schema: serde_json::from_str(&schema(job)).unwrap_or_default(),
        max_tokens: MOST_OUTPUT,
    };
    ModelJob {
        to: address(settings, data_dir, form),
        question: Some(question),
        timeout_ms: u64::try_from(settings.timeout.0).unwrap_or_default(),
    }
}

fn address(settings: &ModelSettings, data_dir: &Path, form: ReplyForm) -> ModelAddress {
    if settings.base_url.is_empty() {
        return ModelAddress::Agent {
            program: traits(Agent::default()).program.to_owned(),
            name: settings.name.clone(),
            folder: child::agent_folder(data_dir).to_string_lossy().into_owned(),
            most_micro_usd: MOST_MICRO_USD,
        };
    }
    ModelAddress::Endpoint {
        base_url: settings.base_url.clone(),
        name: settings.name.clone(),
        key_file: (!settings.key_file.is_empty()).then(|| settings.key_file.clone()),
        form,
    }
}

/// What one question took: tokens of question and answer, and money in millionths of a dollar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Spent {
    /// Tokens of the question.
    pub tokens_in: u64,
    /// Tokens of the answer.
    pub tokens_out: u64,
    /// Money.
    pub micro_usd: u64,
}

impl Spent {
    /// What a question may take at most, before it is asked.
    pub fn at_most(settings: &ModelSettings, job: &Job) -> Self {
        let micro_usd = if settings.base_url.is_empty() { MOST_MICRO_USD } else { 0 };
        Self { tokens_in: job.tokens(), tokens_out: MOST_OUTPUT, micro_usd }
    }

    /// What it took. What the model does not count stands at its estimate. One that was away took nothing.
    pub fn of(result: &ModelResult, booked: Self) -> Self {
        if result.away {
            return Self::default();
        }
        Self {
            tokens_in: result.tokens_in.unwrap_or(booked.tokens_in),
            tokens_out: result.tokens_out.unwrap_or(booked.tokens_out),
            micro_usd: result.micro_usd.unwrap_or(booked.micro_usd),
        }
    }

    /// Both together.
    pub fn plus(self, other: Self) -> Self {
        Self {
            tokens_in: self.tokens_in.saturating_add(other.tokens_in),
            tokens_out: self.tokens_out.saturating_add(other.tokens_out),
            micro_usd: self.micro_usd.saturating_add(other.micro_usd),
        }
    }

    /// Without the other.
    pub fn minus(self, other: Self) -> Self {
        Self {
            tokens_in: self.tokens_in.saturating_sub(other.tokens_in),
            tokens_out: self.tokens_out.saturating_sub(other.tokens_out),
            micro_usd: self.micro_usd.saturating_sub(other.micro_usd),
        }
    }

    /// Which limit of a day it passes, in words.
    pub fn passes(self, settings: &ModelSettings) -> Option<&'static str> {
        if self.tokens_in.saturating_add(self.tokens_out) > settings.daily_tokens {
            Some("model.daily_tokens")
        } else if self.micro_usd > settings.daily_micro_usd {
            Some("model.daily_cents")
        } else {
            None
        }
    }
}
