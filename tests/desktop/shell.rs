//! The shell around the page: links, the window's place, the strip, autostart, the global shortcut.

use anyhow::{Context, Result};
use serde_json::{Value, json};
use watchbill_testkit::fantoccini::Client;
use watchbill_testkit::{Desktop, TrayHost, until};

use crate::agent::Agent;
use crate::roster::{invoke, open, row_with, selected, shows};
use crate::{TITLE, ended, no_window, start, window};

const API: &str = "11111111-1111-4111-8111-111111111111";
const WEB: &str = "22222222-2222-4222-8222-222222222222";

/// Collects announcements from now on. They disappear too soon to be searched afterwards.
const SAID: &str = "window.said = []; new MutationObserver(() => { \
    for (const one of document.querySelectorAll('[role=status]')) \
      if (window.said.at(-1) !== one.textContent) window.said.push(one.textContent); \
    }).observe(document.body, { subtree: true, childList: true, characterData: true });";

/// Makes a request of the shell as the page does.
async fn ask(page: &Client, request: Value) -> Result<Value> {
    let mut answer = invoke(page, request.clone()).await?;
    anyhow::ensure!(answer.get("error").is_none(), "{request}: {answer}");
    Ok(answer["ok"].take())
}

/// Runs a program on the desktop to its end; returns its output.
async fn say(desktop: &Desktop, program: &str, args: &[&str]) -> Result<String> {
    let output = desktop.command(program).args(args).output().await?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Left and upper edge of the window's content, its width and its height, in pixels.
async fn place(desktop: &Desktop) -> Option<[i64; 4]> {
    let id = desktop.windows(TITLE).await.ok()?.pop()?;
    let text = say(desktop, "xwininfo", &["-id", &id]).await.ok()?;
    let number =
        |name: &str| text.lines().find_map(|line| line.trim().strip_prefix(name)?.trim().parse().ok());
    let edges = ["Absolute upper-left X:", "Absolute upper-left Y:", "Width:", "Height:"];
    let [x, y, width, height] = edges.map(number);
    Some([x?, y?, width?, height?])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_opens_its_session_and_a_wrong_one_is_reported() -> Result<()> {
    let desktop = Desktop::start().await?;
    let _panel = TrayHost::start(&desktop).await?;
    let mut api = Agent::start(desktop.home(), "api-server", API)?;
    api.is_asked("Publish the package")?;
    let mut web = Agent::start(desktop.home(), "web-app", WEB)?;
    web.is_asked("Paint the button")?;
    let window = open(&desktop, &[&format!("watchbill://session/{API}")]).await?;
    shows(&window.page, "Focus terminal").await?;
    row_with(&window.page, &["Paint the button"]).await?;
    assert!(ended(start(&desktop, &["watchbill://session/22222222"])?).await?.success());
    selected(&window.page, WEB).await?;

    window.page.execute(SAID, vec![]).await?;
    for (link, words) in [
        ("watchbill://elsewhere", "leads nowhere"),
        ("watchbill://session/..%2f..%2fetc", "cannot be a session id"),
        ("watchbill://session/ffffffff", "not known here"),
    ] {
        assert!(ended(start(&desktop, &[link])?).await?.success(), "{link}");
        until(&format!("{words:?} to be said after {link}"), 60, async || {
            let said = window.page.execute("return window.said", vec![]).await.ok()?;
            said.as_array()?
                .iter()
                .any(|said| said.as_str().is_some_and(|said| said.contains(words)))
                .then_some(())
        })
        .await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn autostart_is_off_until_it_is_switched_on() -> Result<()> {
    let desktop = Desktop::start().await?;
    let entry = desktop.home().join("config/autostart/watchbill-desktop.desktop");
    let window = open(&desktop, &[]).await?;
    assert_eq!(ask(&window.page, json!({ "request": "autostart" })).await?, json!(false));
    assert!(!entry.exists());
    assert_eq!(ask(&window.page, json!({ "request": "set_autostart", "on": true })).await?, json!(true));
    let text = std::fs::read_to_string(&entry)?;
    assert!(text.contains(&format!("{} --hidden\n", crate::PROGRAM)), "{text}");
    window.end().await?;

    // An update that moved the program leaves such an entry.
    std::fs::write(&entry, text.replace(crate::PROGRAM, "/opt/gone/watchbill-desktop"))?;
    let window = open(&desktop, &[]).await?;
    until("the entry to be corrected", 60, async || {
        (std::fs::read_to_string(&entry).ok()? == text).then_some(())
    })
    .await?;
    assert_eq!(ask(&window.page, json!({ "request": "set_autostart", "on": false })).await?, json!(false));
    assert!(!entry.exists());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_window_position_is_restored_exactly_and_stays_on_the_screen() -> Result<()> {
    let desktop = Desktop::start().await?;
    let mut program = start(&desktop, &[])?;
    let id = window(&desktop).await?;
    say(&desktop, "xdotool", &["windowmove", &id, "333", "111", "windowsize", &id, "500", "400"]).await?;
    let size = async || place(&desktop).await.filter(|place| place[2..] == [500, 400] && place[0] > 300);
    let was = until("the window to be moved", 60, size).await?;
    desktop.close_window(&id).await?;
    no_window(&desktop).await?;
    program.kill().await?;
    let mut program = start(&desktop, &[])?;
    until("the window where it was", 60, async || (place(&desktop).await? == was).then_some(())).await?;
    program.kill().await?;

    // Its earlier screen is gone, and was larger.
    let file = desktop.home().join("config/org.watchbill.desktop/window.json");
    let memory = json!({ "full": { "x": 9000, "y": -5000, "width": 4000, "height": 3000, "scale": 1.0 } });
    std::fs::write(&file, memory.to_string())?;
    let _program = start(&desktop, &[])?;
    until("the window on the screen", 60, async || {
        let [x, y, width, height] = place(&desktop).await?;
        (x >= 0 && y >= 0 && width > 1000 && x + width <= 1280 && y + height <= 900).then_some(())
    })
    .await
    .with_context(|| format!("{:?}", std::fs::read_to_string(&file)))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_strip_stays_above_and_the_window_returns_to_its_place() -> Result<()> {
    let desktop = Desktop::start().await?;
    let mut api = Agent::start(desktop.home(), "api-server", API)?;
    api.is_asked("Publish the package")?;
    api.wants_to_run("npm publish")?;
    let driven = open(&desktop, &[]).await?;
    let id = window(&desktop).await?;
    row_with(&driven.page, &["npm publish"]).await?;
    let before = until("the window's place", 60, async || place(&desktop).await).await?;

    ask(&driven.page, json!({ "request": "set_compact", "on": true })).await?;
    let small = async || place(&desktop).await.filter(|place| place[2] < before[2] && place[3] < before[3]);
    until("a small window", 20, small).await?;
    shows(&driven.page, "1 needs you").await?;
    shows(&driven.page, "npm publish").await?;
    let above = async || say(&desktop, "xprop", &["-id", &id, "_NET_WM_STATE"]).await.unwrap_or_default();
    until("the strip above all", 60, async || above().await.contains("_ABOVE").then_some(())).await?;

    ask(&driven.page, json!({ "request": "set_compact", "on": false })).await?;
    until("the window as it was", 60, async || (place(&desktop).await? == before).then_some(())).await?;
    until("the strip's layer to be left", 60, async || (!above().await.contains("_ABOVE")).then_some(()))
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_global_shortcut_opens_the_window_unless_another_program_has_it() -> Result<()> {
    let desktop = Desktop::start().await?;
    let panel = TrayHost::start(&desktop).await?;
    let _program = start(&desktop, &["--hidden", "--shortcut", "Ctrl+Alt+W"])?;
    panel.item().await?;
    // The program takes the key before or after the tray icon appears.
    until("the window to open by the key", 60, async || {
        say(&desktop, "xdotool", &["key", "ctrl+alt+w"]).await.ok()?;
        tokio::time::timeout(std::time::Duration::from_secs(2), window(&desktop)).await.ok()?.ok()
    })
    .await?;

    let other = desktop.home().join("other").display().to_string();
    let second = open(&desktop, &["--claude-dir", &other, "--shortcut", "Ctrl+Alt+W"]).await?;
    shows(&second.page, "belongs to another program").await?;
    let state = ask(&second.page, json!({ "request": "shortcut" })).await?;
    assert_eq!((&state["wanted"], &state["active"]), (&json!("Ctrl+Alt+W"), &json!(false)));
    Ok(())
}
