//! A notification server for the rig, on the bus of the address that it gets.
//!
//! On the line `{}` it writes the standing notifications, as one line of JSON. On `{"id": 1, "action": "default"}` it presses that
//! button and writes `null`. It ends with its input.

#![forbid(unsafe_code)]

#[cfg(target_os = "linux")]
fn main() -> anyhow::Result<()> {
    linux::main()
}

/// A program needs a `main` on every system, also where there is no bus.
#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
mod linux {
    use std::io::{BufRead, Write, stdin, stdout};

    use anyhow::{Context, Result};
    use serde::Deserialize;
    use serde_json::{Value, json};
    use watchbill_testkit::{Notification, NotificationServer};

    /// A line of the rig.
    #[derive(Deserialize)]
    #[serde(untagged, deny_unknown_fields)]
    enum Line {
        Press { id: u32, action: String },
        Look {},
    }

    pub(super) fn main() -> Result<()> {
        let address = std::env::args().nth(1).context("the address of a bus is missing")?;
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let server = runtime.block_on(NotificationServer::on_bus(&address))?;
        for line in stdin().lock().lines() {
            let answer = match serde_json::from_str(&line?)? {
                Line::Press { id, action } => {
                    runtime.block_on(server.press(id, &action))?;
                    Value::Null
                }
                Line::Look {} => server.standing().iter().map(shown).collect(),
            };
            writeln!(stdout(), "{answer}")?;
        }
        Ok(())
    }

    fn shown(one: &Notification) -> Value {
        json!({ "id": one.id, "summary": one.summary, "body": one.body, "actions": one.actions })
    }
}
