//! A connection to the running Watchbill for commands that nothing else can carry out.

use anyhow::{Context, bail};
use watchbill_engine::socket::client::Client;

use super::settings;
use crate::args::Global;

/// Connects to the program that holds the store. `does` completes "no Watchbill runs that could …".
///
/// # Errors
/// When none runs, or the demo was asked for.
pub fn connect(global: &Global, does: &str) -> anyhow::Result<Client> {
    if global.demo {
        bail!("the demo has no sessions that run: leave --demo out");
    }
    let settings = settings(global)?;
    let folder = settings.data_dir.as_deref().context("no data folder is known; name one with --data-dir")?;
    Client::connect(folder).with_context(|| {
        format!(
            "no Watchbill runs that could {does}; start the window, `watchbill watch` or `watchbill serve`"
        )
    })
}
