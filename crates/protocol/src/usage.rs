//! The usage of the last days, for the window.

use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;
use ts_rs::TS;

use crate::roster::Tokens;
use crate::store::{Cost, PriceList};

/// The usage of the last days of the person's time zone, each request once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct UsagePage {
    /// The sum.
    pub total: UsageSum,
    /// The sum of today.
    pub today: UsageSum,
    /// The models with the highest cost, at most five, and `others` if there are more. Days have their sums in this order.
    pub kinds: Vec<String>,
    /// Every day, the oldest first.
    pub days: Vec<UsageDay>,
    /// By project, the highest cost first; so are the others.
    pub projects: Vec<UsageRow>,
    /// By model.
    pub models: Vec<UsageRow>,
    /// The work chains with the highest cost, at most ten.
    pub chains: Vec<UsageRow>,
    /// By kind of token, and what subagents used of it all.
    pub parts: Vec<UsagePart>,
    /// The lists of prices.
    pub prices: Vec<PriceList>,
    /// The models without a price, which are in no cost.
    pub unpriced: Vec<String>,
}

/// The usage of one day.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct UsageDay {
    /// Such as `2026-11-20`.
    pub date: String,
    /// The sum.
    pub total: UsageSum,
    /// In the order of `kinds`.
    pub by_kind: Vec<UsageSum>,
}

/// How much was used.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct UsageSum {
    /// Requests.
    pub requests: u64,
    /// Their tokens.
    pub tokens: Tokens,
    /// What they would cost by list prices.
    pub cost: Cost,
}

/// The usage of one project, model or chain.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct UsageRow {
    /// Its name; empty if it is not known.
    pub name: String,
    /// Of a chain: one of its sessions.
    pub session_id: Option<String>,
    /// How much.
    pub sum: UsageSum,
}

/// A part of all usage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct UsagePart {
    /// Which.
    pub part: UsageKind,
    /// Its tokens.
    pub tokens: u64,
    /// Its cost in dollars.
    pub usd: f64,
}

/// The parts of all usage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum UsageKind {
    /// Read from the cache.
    CacheRead,
    /// Written into the cache.
    CacheWrite,
    /// Sent, beside the cache.
    Input,
    /// Answered.
    Output,
    /// What subagents used, of all the others.
    Subagents,
}
