//! The settings' window and the file below it: a change in one shows in the other.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use watchbill_testkit::fantoccini::{Client, Locator};
use watchbill_testkit::{Desktop, Driver, until};

use crate::PROGRAM;

const FILE: &str = "# mine\n[timeouts]\nidle = 600 # seconds\n\n[window]\ntheme = \"light\"\n";

/// The program with a configuration file, its page under control.
async fn open(desktop: &Desktop) -> Result<(Driver, PathBuf)> {
    let file = desktop.home().join("watchbill.toml");
    std::fs::write(&file, FILE)?;
    let window = Driver::start(desktop, Path::new(PROGRAM), &["--config", &file.to_string_lossy()]).await?;
    Ok((window, file))
}

async fn theme(page: &Client) -> Option<String> {
    let theme = page.execute("return document.documentElement.dataset.theme ?? 'none'", vec![]).await.ok()?;
    theme.as_str().map(str::to_owned)
}

async fn becomes(page: &Client, wanted: &str) -> Result<()> {
    until(&format!("the theme {wanted}"), 60, async || (theme(page).await? == wanted).then_some(())).await
}

/// Opens the settings' window and switches the driver to it.
async fn settings(window: &Driver) -> Result<()> {
    let page = &window.page;
    let roster = page.window().await?;
    page.execute("document.querySelector('[aria-label=Menu]').click()", vec![]).await?;
    until("the menu", 60, async || page.find(Locator::Css("[role=menu]")).await.ok()).await?;
    let choose = "[...document.querySelectorAll('[role=menuitem]')].find((i) => i.textContent.includes('Settings')).click()";
    page.execute(choose, vec![]).await?;
    let other = until("another window", 60, async || {
        page.windows().await.ok()?.into_iter().find(|window| *window != roster)
    })
    .await?;
    page.switch_to_window(other).await?;
    Ok(())
}

/// The value of a field.
async fn field(page: &Client, id: &str) -> Option<String> {
    page.find(Locator::Id(id)).await.ok()?.prop("value").await.ok()?
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_in_the_window_or_the_file_shows_in_the_other() -> Result<()> {
    let desktop = Desktop::start().await?;
    let (window, file) = open(&desktop).await?;
    let page = &window.page;
    becomes(page, "light").await?;
    settings(&window).await?;
    let idle = "set-timeouts.idle";
    until("the settings", 60, async || (field(page, idle).await? == "10m").then_some(())).await?;

    // By hand, as an editor saves: another file replaces it.
    let beside = file.with_extension("new");
    std::fs::write(&beside, FILE.replace("600", "1200").replace("light", "dark"))?;
    std::fs::rename(&beside, &file)?;
    until("the edit in the window", 60, async || (field(page, idle).await? == "20m").then_some(())).await?;
    becomes(page, "dark").await?;

    // In the window: saved at once, the rest of the file unchanged.
    page.find(Locator::Id("set-alerts.sound")).await?.click().await?;
    let wanted = FILE.replace("600", "1200").replace("light", "dark") + "\n[alerts]\nsound = true\n";
    until("the change in the file", 60, async || {
        (std::fs::read_to_string(&file).ok()? == wanted).then_some(())
    })
    .await?;

    // A mistake is shown with its line, and the last right value stays in force.
    std::fs::write(&file, wanted.replace("1200", "'soon'"))?;
    until("the mistake", 60, async || {
        let body = page.find(Locator::Css("body")).await.ok()?.prop("innerText").await.ok()??;
        body.contains("Line 3: expected a time above zero").then_some(())
    })
    .await?;
    ensure!(field(page, idle).await.as_deref() == Some("20m"));
    Ok(())
}

/// The status line that a service answers with; `None`: no program listens.
fn status_of(port: u64, head: &str) -> Option<String> {
    use std::io::{BufRead, BufReader, Write};
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", u16::try_from(port).ok()?)).ok()?;
    write!(stream, "GET /api/sessions HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\n{head}connection: close\r\n\r\n")
        .ok()?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).ok()?;
    Some(line)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_service_begins_and_ends_with_its_setting() -> Result<()> {
    let desktop = Desktop::start().await?;
    let (window, file) = open(&desktop).await?;
    let note = desktop.home().join("data/watchbill/service.json");
    let change = |on: bool| {
        let beside = file.with_extension("new");
        std::fs::write(&beside, format!("{FILE}\n[service]\nhttp = {on}\n"))?;
        std::fs::rename(&beside, &file)
    };
    becomes(&window.page, "light").await?;
    ensure!(!note.exists(), "nothing listens before the user wants it");
    change(true)?;
    let told: serde_json::Value =
        until("the service", 60, async || serde_json::from_str(&std::fs::read_to_string(&note).ok()?).ok())
            .await?;
    let port = told["port"].as_u64().unwrap_or_default();
    let token = format!("authorization: Bearer {}\r\n", told["token"].as_str().unwrap_or_default());
    ensure!(status_of(port, &token).is_some_and(|line| line.contains(" 200 ")), "it answers with the token");
    ensure!(status_of(port, "").is_some_and(|line| line.contains(" 401 ")), "and not without");

    settings(&window).await?;
    let page = &window.page;
    let text = "return document.getElementById('section-programs').innerText";
    until("the address in the settings", 60, async || {
        let shown = page.execute(text, vec![]).await.ok()?;
        shown.as_str()?.contains(&format!("http://127.0.0.1:{port}")).then_some(())
    })
    .await?;

    change(false)?;
    until("the end of the service", 60, async || status_of(port, &token).is_none().then_some(())).await?;
    ensure!(!note.exists(), "the note goes with it");
    Ok(())
}
