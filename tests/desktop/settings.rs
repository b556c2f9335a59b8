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
