//! Simulated sessions in the window and the tray, and the ways between both.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use watchbill_testkit::fantoccini::elements::Element;
use watchbill_testkit::fantoccini::{Client, Locator};
use watchbill_testkit::{Desktop, Driver, TrayHost, TrayItem, until};

use crate::agent::Agent;
use crate::{PROGRAM, ended, picture, start};

const API: &str = "11111111-1111-4111-8111-111111111111";
const WEB: &str = "22222222-2222-4222-8222-222222222222";
const NEXT: &str = "33333333-3333-4333-8333-333333333333";

/// Starts the program with its page under control.
pub(crate) async fn open(desktop: &Desktop, args: &[&str]) -> Result<Driver> {
    let window = Driver::start(desktop, Path::new(PROGRAM), args).await?;
    let built = !body(&window.page).await.contains("has not been built");
    ensure!(built, "the window is a placeholder: run `npm ci && npm run build` in ui/, then try again");
    Ok(window)
}

/// Waits until the page shows this text.
pub(crate) async fn shows(page: &Client, text: &str) -> Result<()> {
    until(&format!("the page to show {text:?}"), 60, async || body(page).await.contains(text).then_some(()))
        .await
}

async fn body(page: &Client) -> String {
    match page.find(Locator::Css("body")).await {
        // WebDriver returns parts that are laid out side by side as separate lines.
        Ok(body) => text(&body).await.split_whitespace().collect::<Vec<_>>().join(" "),
        Err(_) => String::new(),
    }
}

/// The texts of all rows, from top to bottom.
pub(crate) async fn rows(page: &Client) -> Vec<String> {
    let mut texts = Vec::new();
    for row in page.find_all(Locator::Css("[data-session]")).await.unwrap_or_default() {
        texts.push(text(&row).await);
    }
    texts
}

/// The page's own text: the driver leaves out text that is cut with an ellipsis.
pub(crate) async fn text(element: &Element) -> String {
    element.prop("innerText").await.ok().flatten().unwrap_or_default()
}

pub(crate) async fn row_with(page: &Client, parts: &[&str]) -> Result<()> {
    until(&format!("a row with {parts:?}"), 60, async || {
        rows(page).await.iter().any(|row| parts.iter().all(|part| row.contains(part))).then_some(())
    })
    .await
}

/// Waits for the doctor's answer, which changes the dot in the header.
pub(crate) async fn health(page: &Client, begins: &str) -> Result<()> {
    let mut last = None;
    let found = until(&format!("the health {begins:?}"), 60, async || {
        let dot = page.find(Locator::Css("[title^='Health: ']")).await.ok()?;
        last = dot.attr("title").await.ok()?;
        last.as_ref()?.strip_prefix("Health: ")?.starts_with(begins).then_some(())
    })
    .await;
    found.with_context(|| format!("it was {last:?}"))
}

pub(crate) async fn menu_with(item: &TrayItem, text: &str) -> Result<()> {
    until(&format!("{text:?} in the tray's menu"), 60, async || {
        item.menu().await.ok()?.find(text).map(|_| ())
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_appear_and_change_as_agents_write() -> Result<()> {
    let desktop = Desktop::start().await?;
    let mut api = Agent::start(desktop.home(), "api-server", API)?;
    api.is_asked("Publish the package")?;
    let window = open(&desktop, &[]).await?;
    row_with(&window.page, &["Publish the package", "api-server"]).await?;

    // A session that begins while the window is open, in a project that did not exist.
    let mut web = Agent::start(desktop.home(), "web-app", WEB)?;
    web.is_asked("Paint the button")?;
    row_with(&window.page, &["Paint the button", "web-app"]).await?;

    api.wants_to_run("npm publish")?;
    row_with(&window.page, &["Publish the package", "npm publish"]).await?;
    // The transcript has the command before the registry reports the wait.
    until("what needs the user to come first", 60, async || {
        rows(&window.page).await.first()?.contains("Publish the package").then_some(())
    })
    .await?;
    desktop.screenshot(&picture("roster.png")).await?;

    web.answers("The button is green now.")?;
    shows(&window.page, "Your turn").await?;
    Ok(())
}

/// The picture in the README: copy it to `docs/screenshot.png` when the window has changed.
#[tokio::test(flavor = "multi_thread")]
async fn the_demo_makes_the_readmes_picture() -> Result<()> {
    let desktop = Desktop::start().await?;
    let window = open(&desktop, &["--demo"]).await?;
    row_with(&window.page, &["npm publish"]).await?;
    let id = crate::window(&desktop).await?;
    desktop.resize_window(&id, 1200, 760).await?;
    for row in window.page.find_all(Locator::Css("[data-session]")).await? {
        if text(&row).await.contains("npm publish") {
            row.click().await?;
            break;
        }
    }
    shows(&window.page, "Focus terminal").await?;
    for group in ["Needs you", "Working", "Your turn", "Idle"] {
        shows(&window.page, group).await?;
    }
    // The demo plays on, and the order of the rows stays until the user agrees.
    let chip = "//button[contains(., 'The order has changed')]";
    for _ in 0..9 {
        if let Ok(chip) = window.page.find(Locator::XPath(chip)).await {
            // It may go by itself.
            let _ = chip.click().await;
        }
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    }
    std::fs::write(picture("screenshot.png"), window.page.screenshot().await?)?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_superseded_session_gives_its_place_to_its_successor() -> Result<()> {
    let desktop = Desktop::start().await?;
    let mut api = Agent::start(desktop.home(), "api-server", API)?;
    api.is_asked("Find the leak")?;
    api.answers("It is in the pool.")?;
    let window = open(&desktop, &["--session", API]).await?;
    selected(&window.page, API).await?;
    shows(&window.page, "It is in the pool.").await?;

    api.clear_into(NEXT)?;
    api.is_asked("Mend the pool")?;
    selected(&window.page, NEXT).await?;
    shows(&window.page, "Mend the pool").await?;
    desktop.screenshot(&picture("superseded.png")).await?;
    until("one row for the chain", 60, async || (rows(&window.page).await.len() == 1).then_some(())).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tray_lists_sessions_that_need_the_user_and_selects_them() -> Result<()> {
    let desktop = Desktop::start().await?;
    let panel = TrayHost::start(&desktop).await?;
    let mut web = Agent::start(desktop.home(), "web-app", WEB)?;
    web.is_asked("Paint the button")?;
    let mut api = Agent::start(desktop.home(), "api-server", API)?;
    api.is_asked("Publish a_b & c")?;
    let window = open(&desktop, &[]).await?;
    let item = panel.item().await?;
    menu_with(&item, "● Publish a_b & c").await?;
    menu_with(&item, "2 working").await?;
    let working = item.pixels().await?;

    api.wants_to_run("npm publish")?;
    menu_with(&item, "▲ Publish a_b & c").await?;
    assert_eq!(item.tooltip().await?, "1 needs you · 1 working");
    assert_ne!(item.pixels().await?, working, "the icon says so too");
    let menu = item.menu().await?;
    let labels = menu.labels();
    let place = |text: &str| labels.iter().position(|label| label.contains(text));
    assert!(place("Publish") < place("Paint"), "{labels:?}");
    assert_eq!(labels.last(), Some(&"Quit"));

    item.choose(menu.find("Paint the button").expect("it was just there")).await?;
    selected(&window.page, WEB).await?;
    item.choose(menu.find("Publish").expect("it was just there")).await?;
    selected(&window.page, API).await?;

    web.answers("Green.")?;
    api.is_asked("never mind")?;
    until("the working look", 60, async || (item.pixels().await.ok()? == working).then_some(())).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_start_selects_its_session_in_the_first() -> Result<()> {
    let desktop = Desktop::start().await?;
    let mut web = Agent::start(desktop.home(), "web-app", WEB)?;
    web.is_asked("Paint the button")?;
    let mut api = Agent::start(desktop.home(), "api-server", API)?;
    api.is_asked("Publish the package")?;
    let window = open(&desktop, &[]).await?;
    row_with(&window.page, &["Publish the package"]).await?;

    for (asked, meant) in [(WEB, WEB), (&API[..8], API)] {
        let again = start(&desktop, &["--session", asked])?;
        assert!(ended(again).await?.success());
        selected(&window.page, meant).await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_may_call_only_its_own_commands() -> Result<()> {
    let desktop = Desktop::start().await?;
    let mut api = Agent::start(desktop.home(), "api-server", API)?;
    api.is_asked("Publish the package")?;
    let window = open(&desktop, &[]).await?;
    row_with(&window.page, &["Publish the package"]).await?;

    let why = invoke(&window.page, json!({ "request": "why", "session": API })).await?;
    assert_eq!(why["ok"]["state"], "working", "{why}");
    let unknown = invoke(&window.page, json!({ "request": "why", "session": "ffffffff" })).await?;
    assert_eq!(unknown["error"]["code"], "not_found", "{unknown}");
    let folder = invoke(&window.page, json!({ "request": "open_folder", "session": "/etc" })).await?;
    assert_eq!(folder["error"]["code"], "not_found", "a path is no session: {folder}");
    let forbidden = json!({ "request": "forget_before", "before": "2026-01-01T00:00:00Z" });
    let forbidden = invoke(&window.page, forbidden).await?;
    assert_eq!(forbidden["error"]["code"], "refused", "the window has no such right: {forbidden}");

    for (command, arguments) in [
        ("plugin:opener|open_url", json!({ "url": "https://example.com" })),
        ("plugin:opener|open_path", json!({ "path": "/etc/passwd" })),
        ("plugin:window|set_title", json!({ "label": "main", "value": "x" })),
        ("plugin:webview|create_webview_window", json!({ "options": { "label": "x" } })),
        ("plugin:window-state|save_window_state", json!({ "flags": 0 })),
        ("plugin:app|version", json!({})),
    ] {
        let answer = call(&window.page, command, arguments).await?;
        assert!(answer.get("error").is_some(), "{command} must be refused: {answer}");
    }
    let elsewhere = "const done = arguments[0]; \
        fetch('https://example.com').then(() => done('went through'), (e) => done(String(e)));";
    let answer = window.page.execute_async(elsewhere, Vec::new()).await?;
    assert_ne!(answer, json!("went through"), "the page reaches no network");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_demo_replaces_an_empty_roster() -> Result<()> {
    let desktop = Desktop::start().await?;
    let panel = TrayHost::start(&desktop).await?;
    let window = open(&desktop, &[]).await?;
    let item = panel.item().await?;
    menu_with(&item, "No agent is at work").await?;
    assert!(rows(&window.page).await.is_empty());

    let started = invoke(&window.page, json!({ "request": "start_demo" })).await?;
    assert!(started.get("ok").is_some(), "{started}");
    until("a row of the demo", 60, async || (!rows(&window.page).await.is_empty()).then_some(())).await?;
    menu_with(&item, "working").await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_loads_again_gets_the_roster_again() -> Result<()> {
    let desktop = Desktop::start().await?;
    let mut api = Agent::start(desktop.home(), "api-server", API)?;
    api.is_asked("Publish the package")?;
    let window = open(&desktop, &[]).await?;
    row_with(&window.page, &["Publish the package"]).await?;
    window.page.refresh().await?;
    row_with(&window.page, &["Publish the package"]).await?;
    api.wants_to_run("npm publish")?;
    row_with(&window.page, &["npm publish"]).await?;
    Ok(())
}

/// Makes a request as the page does: `{ok}` or `{error}`.
pub(crate) async fn invoke(page: &Client, request: Value) -> Result<Value> {
    call(page, "ask", json!({ "request": request })).await
}

async fn call(page: &Client, command: &str, arguments: Value) -> Result<Value> {
    let script = "const [command, args, done] = arguments; \
        window.__TAURI_INTERNALS__.invoke(command, args).then((ok) => done({ ok }), (error) => done({ error }));";
    Ok(page.execute_async(script, vec![command.into(), arguments]).await?)
}

/// Waits until the row of this session is the selected one.
pub(crate) async fn selected(page: &Client, session: &str) -> Result<()> {
    let row = format!("[data-session='{session}'][aria-current='true']");
    until(&format!("{session} to be selected"), 60, async || page.find(Locator::Css(&row)).await.ok())
        .await
        .map(|_| ())
}
