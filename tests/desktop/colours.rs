//! The window follows the desktop's light or dark colours, unless the user chose a theme.

use std::path::Path;

use anyhow::{Result, ensure};
use watchbill_testkit::fantoccini::Client;
use watchbill_testkit::{Desktop, Driver, Scheme, SettingsPortal, until};

use crate::PROGRAM;

/// Waits until the page reports a dark desktop, or a light one.
async fn dark(page: &Client, wanted: bool) -> Result<()> {
    let script = "return matchMedia('(prefers-color-scheme: dark)').matches";
    until(if wanted { "a dark page" } else { "a light page" }, 60, async || {
        (page.execute(script, vec![]).await.ok()?.as_bool()? == wanted).then_some(())
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_window_follows_a_desktop_that_turns_dark_unless_a_theme_is_set() -> Result<()> {
    let desktop = Desktop::start().await?;
    let portal = SettingsPortal::start(&desktop, Scheme::Dark).await?;
    let file = desktop.home().join("watchbill.toml");
    std::fs::write(&file, "")?;
    let window = Driver::start(&desktop, Path::new(PROGRAM), &["--config", &file.to_string_lossy()]).await?;
    dark(&window.page, true).await?;
    portal.prefer(Scheme::Light).await?;
    dark(&window.page, false).await?;
    portal.prefer(Scheme::Dark).await?;
    dark(&window.page, true).await?;
    ensure!(portal.reads() == 1, "asked {} times for what is told", portal.reads());

    std::fs::write(&file, "[window]\ntheme = \"light\"\n")?;
    dark(&window.page, false).await?;
    // The desktop's changes meanwhile count again when the user chooses the desktop's colours.
    portal.prefer(Scheme::NoPreference).await?;
    portal.prefer(Scheme::Dark).await?;
    std::fs::write(&file, "[window]\ntheme = \"system\"\n")?;
    dark(&window.page, true).await?;
    portal.prefer(Scheme::NoPreference).await?;
    dark(&window.page, false).await
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_portal_the_window_is_light_and_follows_a_later_portal() -> Result<()> {
    let desktop = Desktop::start().await?;
    let window = Driver::start(&desktop, Path::new(PROGRAM), &[]).await?;
    dark(&window.page, false).await?;
    let log = window.log();
    ensure!(!log.contains("colours"), "a desktop without a portal is none that is broken: {log}");
    let portal = SettingsPortal::start(&desktop, Scheme::Dark).await?;
    dark(&window.page, true).await?;
    // The portal leaves, as during an update, and another one reports other colours.
    portal.leave().await?;
    let _portal = SettingsPortal::start(&desktop, Scheme::Light).await?;
    dark(&window.page, false).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_portal_that_does_not_answer_delays_no_window() -> Result<()> {
    let desktop = Desktop::start().await?;
    let portal = SettingsPortal::start_hanging(&desktop).await?;
    let window = Driver::start(&desktop, Path::new(PROGRAM), &[]).await?;
    dark(&window.page, false).await?;
    until("the question", 60, async || (portal.reads() > 0).then_some(())).await?;
    ensure!(portal.reads() == 1, "asked {} times", portal.reads());
    portal.prefer(Scheme::Dark).await?;
    dark(&window.page, true).await
}
