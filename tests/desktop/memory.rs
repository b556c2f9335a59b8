//! What was learned, in the real window: found by the rules, shown with its evidence, decided by key.

use anyhow::Result;
use serde_json::{Value, json};
use watchbill_testkit::fantoccini::Client;
use watchbill_testkit::{Desktop, until};

use crate::agent::Agent;
use crate::roster::{open, row_with};

const SESSION: &str = "77777777-7777-4777-8777-777777777777";
const RULE: &str = "No, log lines are always in UTC, never in local time";

async fn page_says(page: &Client, script: &str, wanted: Value) -> Result<()> {
    until(script, 60, async || (page.execute(script, vec![]).await.ok()? == wanted).then_some(())).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_correction_is_learned_shown_with_its_record_and_rejected_by_key() -> Result<()> {
    let desktop = Desktop::start().await?;
    let mut agent = Agent::start(desktop.home(), "api-server", SESSION)?;
    agent.is_asked("Make the log nicer")?;
    agent.has_run("ls", "log.rs")?;
    agent.answers("It is nicer.")?;
    agent.is_asked(RULE)?;
    agent.answers("They are in UTC now.")?;
    let driver = open(&desktop, &[]).await?;
    let page = &driver.page;
    row_with(page, &["api-server"]).await?;
    page.execute("document.querySelector('[data-session]').click()", vec![]).await?;

    // The page is asked for when the tab opens, and the rules run after the turn: open it until they have.
    let known = "const row = document.querySelector('[data-memory] .words'); return row && row.textContent;";
    until("the memory", 120, async || {
        for tab in ["Timeline", "Memory"] {
            let choose = format!(
                "[...document.querySelectorAll('[role=tab]')].find((tab) => tab.textContent.includes('{tab}')).click()"
            );
            page.execute(&choose, vec![]).await.ok()?;
        }
        let found = until("the page of the tab", 2, async || {
            (page.execute(known, vec![]).await.ok()? == json!(RULE)).then_some(())
        });
        found.await.ok()
    })
    .await?;

    // Enter shows the evidence, and Enter on that its record.
    let evidence = "[aria-label=Evidence] button";
    page.execute("document.querySelector('[data-memory]').click()", vec![]).await?;
    page_says(page, &format!("return document.querySelectorAll('{evidence}').length"), json!(1)).await?;
    page.execute(&format!("document.querySelector('{evidence}').click()"), vec![]).await?;
    page_says(
        page,
        "return document.querySelector('[data-found] .prompt')?.textContent ?? null",
        json!(RULE),
    )
    .await?;
    page_says(page, "return document.querySelectorAll('[data-mark=learned]').length", json!(1)).await?;

    page.execute("document.querySelector('[data-mark=learned]').click()", vec![]).await?;
    page_says(page, "return document.querySelectorAll('[data-memory]').length", json!(1)).await?;
    let reject = "const row = document.querySelector('[data-memory]'); row.focus(); \
        row.dispatchEvent(new KeyboardEvent('keydown', { key: 'r', bubbles: true, cancelable: true }));";
    page.execute(reject, vec![]).await?;
    page_says(page, "return document.querySelectorAll('[data-memory]').length", json!(0)).await
}
