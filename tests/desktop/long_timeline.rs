//! A long transcript, opened in the real window at its end, while the engine reads and counts all of it.

use anyhow::{Result, ensure};
use serde_json::json;
use watchbill_testkit::fantoccini::Client;
use watchbill_testkit::{Desktop, until};

use crate::agent::Agent;
use crate::roster::open;

const LONG: &str = "66666666-6666-4666-8666-666666666666";
/// This many calls of some four kilobytes take the tested build seconds to read.
const CALLS: usize = 6000;

/// Opens a call in the middle of the view, focuses it, and keeps it. Returns whether there was one. New items stand
/// at the top until the next frame scrolls to the end, and the driver may look in between.
const OPEN: &str = "const box = document.querySelector('[aria-label=Timeline]').getBoundingClientRect(); \
    const inSight = (line) => line.getBoundingClientRect().top > box.top + 80 && line.getBoundingClientRect().bottom < box.bottom - 150; \
    window.line = [...document.querySelectorAll('.tool .line')].find(inSight); \
    window.line?.click(); window.line?.focus(); return window.line !== undefined;";
/// Whether it is still open and focused, the number of known items, and the place of the line.
const STATE: &str = "return { size: Number(document.querySelector('[data-index]')?.ariaSetSize ?? 0), \
    isOpen: window.line?.isConnected && window.line.ariaExpanded === 'true' && window.line.closest('.tool').querySelector('pre') !== null, \
    isFocused: window.line !== undefined && document.activeElement === window.line, \
    top: window.line?.getBoundingClientRect().top ?? 0, \
    fits: window.line?.textContent.includes('step ' + Math.floor(window.line.closest('[data-index]').dataset.index)) };";

async fn state(page: &Client) -> Option<serde_json::Value> {
    page.execute(STATE, Vec::new()).await.ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_opened_call_in_a_long_timeline_stays_open_when_all_items_are_counted() -> Result<()> {
    let desktop = Desktop::start().await?;
    let mut agent = Agent::start(desktop.home(), "api-server", LONG)?;
    for number in 0..CALLS {
        agent.has_run(&format!("step {number}"), &format!("said {number} ").repeat(300))?;
    }
    let window = open(&desktop, &["--session", LONG]).await?;
    until("the newest items in sight", 60, async || {
        let found = window.page.execute(OPEN, Vec::new());
        (found.await.ok()? == json!(true)).then_some(())
    })
    .await?;
    let opened = until("the call to be open", 60, async || {
        let state = state(&window.page).await?;
        (state["isOpen"] == json!(true)).then_some(state)
    })
    .await?;
    // On a machine that has counted everything by now, this test proves less; it does not fail.
    agent.has_run("one more", "said last")?;
    let counted = until("all items to be counted", 120, async || {
        let state = state(&window.page).await?;
        (state["size"] == json!(CALLS + 1)).then_some(state)
    })
    .await?;
    assert_eq!(
        (&counted["isOpen"], &counted["isFocused"]),
        (&json!(true), &json!(true)),
        "{opened} {counted}"
    );
    assert_eq!(counted["fits"], json!(true), "it is where the engine has it: {counted}");
    let moved = counted["top"].as_f64().unwrap_or(f64::NAN) - opened["top"].as_f64().unwrap_or(f64::NAN);
    ensure!(moved.abs() < 1.0, "what was opened has moved by {moved} px: {opened} {counted}");
    Ok(())
}
