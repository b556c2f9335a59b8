//! User commands for chains and sessions in the real window: they apply at once, and after a restart.

use anyhow::{Context, Result};
use watchbill_testkit::fantoccini::{Client, Locator};
use watchbill_testkit::{Desktop, TrayHost, until};

use crate::agent::Agent;
use crate::picture;
use crate::roster::{menu_with, open, row_with, rows, selected, shows};

const API: &str = "11111111-1111-4111-8111-111111111111";
const LATER: &str = "33333333-3333-4333-8333-333333333333";

async fn click(page: &Client, css: &str) -> Result<()> {
    until(&format!("{css} to be clicked"), 60, async || {
        page.find(Locator::Css(css)).await.ok()?.click().await.ok()
    })
    .await
}

/// Chooses an item from the menu of the session's pane.
async fn more(page: &Client, words: &str) -> Result<()> {
    click(page, "button[aria-label=More]").await?;
    let item = format!("//*[@role='menuitem'][contains(., '{words}')]");
    until(&format!("{words:?} in the menu"), 60, async || {
        page.find(Locator::XPath(&item)).await.ok()?.click().await.ok()
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_is_given_in_the_window_and_kept() -> Result<()> {
    let desktop = Desktop::start().await?;
    let mut api = Agent::start(desktop.home(), "api-server", API)?;
    api.is_asked("Find the leak")?;
    let window = open(&desktop, &["--session", API]).await?;
    selected(&window.page, API).await?;
    more(&window.page, "Rename").await?;
    let field =
        window.page.wait().for_element(Locator::Css("input[aria-label^='Name of this work']")).await?;
    field.send_keys("The pool\u{e007}").await?;
    row_with(&window.page, &["The pool", "api-server"]).await?;
    shows(&window.page, "Renamed").await?;
    window.end().await?;

    let window = open(&desktop, &["--session", API]).await?;
    row_with(&window.page, &["The pool", "api-server"]).await.context("after a restart")?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn two_sessions_are_joined_and_the_selection_moves_to_the_head() -> Result<()> {
    let desktop = Desktop::start().await?;
    let mut api = Agent::start(desktop.home(), "api-server", API)?;
    api.is_asked("Find the leak")?;
    api.answers("It is in the pool.")?;
    // A session that still works would keep a row of its own.
    drop(api);
    let mut later = Agent::start(desktop.home(), "api-server", LATER)?;
    later.is_asked("Mend the pool")?;
    let window = open(&desktop, &["--session", API]).await?;
    selected(&window.page, API).await?;
    row_with(&window.page, &["Mend the pool"]).await?;

    more(&window.page, "Join with another").await?;
    let other = "//dialog//button[contains(., 'Mend the pool')]";
    window.page.wait().for_element(Locator::XPath(other)).await?.click().await?;
    selected(&window.page, LATER).await?;
    until("one row for the chain", 60, async || (rows(&window.page).await.len() == 1).then_some(())).await?;
    shows(&window.page, "It is in the pool.").await?;
    shows(&window.page, "as you said").await?;
    desktop.screenshot(&picture("joined.png")).await?;

    more(&window.page, "Undo the last").await?;
    until("two rows again", 60, async || (rows(&window.page).await.len() == 2).then_some(())).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tray_does_not_count_a_snoozed_session() -> Result<()> {
    let desktop = Desktop::start().await?;
    let panel = TrayHost::start(&desktop).await?;
    let mut api = Agent::start(desktop.home(), "api-server", API)?;
    api.is_asked("Publish the package")?;
    api.wants_to_run("npm publish")?;
    let window = open(&desktop, &["--session", API]).await?;
    let item = panel.item().await?;
    menu_with(&item, "1 needs you").await?;
    more(&window.page, "1 hour").await?;
    shows(&window.page, "Snoozed until").await?;
    menu_with(&item, "No agent is at work").await?;
    desktop.screenshot(&picture("snoozed.png")).await?;
    click(&window.page, ".aside button").await?;
    menu_with(&item, "1 needs you").await?;
    Ok(())
}
