//! What the user is shown of the model: what waits, what it took, what holds it up.

use std::path::Path;

use watchbill_agents::{Agent, traits};
use watchbill_core::memory::MemorySettings;
use watchbill_core::memory::model::{LONGEST_INPUT, MOST_OUTPUT, tokens};
use watchbill_core::time::Timestamp;
use watchbill_protocol::model::ModelQueue;
use watchbill_store::{Store, StoreError};

use super::{MOST_MICRO_USD, Spent, ledger};
use crate::memory::change::paused_until;

/// The model and its queue; `None` if the user chose none.
///
/// # Errors
/// When the store cannot be read.
pub fn state(
    store: &Store,
    data_dir: &Path,
    memory: &MemorySettings,
    now: Timestamp,
) -> Result<Option<ModelQueue>, StoreError> {
    let settings = &memory.model;
    if !memory.enabled || !settings.is_chosen() {
        return Ok(None);
    }
    let counts = store.model_job_counts(now)?;
    let today = ledger::day(data_dir, now);
    let is_agent = settings.base_url.is_empty();
    let longest = Spent {
        tokens_in: tokens(LONGEST_INPUT),
        tokens_out: MOST_OUTPUT,
        micro_usd: if is_agent { MOST_MICRO_USD } else { 0 },
    };
    // Without this file nothing is asked.
    let unread = today.as_ref().err().map(|error| (now, error.to_string()));
    let (last_error_at, last_error) = unread.or(counts.last_error).unzip();
    let today = today.unwrap_or_default();
    let spent =
        Spent { tokens_in: today.tokens_in, tokens_out: today.tokens_out, micro_usd: today.micro_usd };
    Ok(Some(ModelQueue {
        address: if is_agent {
            format!("{} -p", traits(Agent::default()).program)
        } else {
            settings.base_url.clone()
        },
        name: settings.name.clone(),
        running: counts.is_running,
        queued: counts.queued,
        older: counts.older,
        failed: counts.failed,
        limit_reached: spent.plus(longest).passes(settings).map(str::to_owned),
        today,
        paused_until: paused_until(store, now).map(|until| until.to_string()),
        last_error,
        last_error_at: last_error_at.map(|at| at.to_string()),
    }))
}
