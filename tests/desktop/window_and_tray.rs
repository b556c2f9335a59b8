//! The program's window, tray icon, second start and end.

use std::time::Duration;

use anyhow::{Context, Result};
use tokio::process::Child;
use watchbill_testkit::{Desktop, LeavingProgram, TrayHost, TrayItem, until};

use crate::{PROGRAM, TITLE, ended, no_window, start, window};

/// The program's identifier on the bus.
const ID: &str = "org.watchbill.desktop";

async fn choose(item: &TrayItem, label: &str) -> Result<()> {
    let entry = until(label, 60, async || item.menu().await.ok()?.find(label).cloned()).await?;
    item.choose(&entry).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_window_keeps_the_tray_which_reopens_it_and_quits() -> Result<()> {
    let desktop = Desktop::start().await?;
    let panel = TrayHost::start(&desktop).await?;
    let mut program = start(&desktop, &[])?;
    let item = panel.item().await?;

    let first = window(&desktop).await?;
    desktop.close_window(&first).await?;
    no_window(&desktop).await?;
    assert!(program.try_wait()?.is_none(), "closing the window is not quitting");

    choose(&item, "Show window").await?;
    window(&desktop).await?;
    until("the focus", 60, async || desktop.focused().await.ok()?.filter(|name| name == TITLE)).await?;

    let log = desktop.home().join("data/watchbill/watchbill.db-wal");
    assert!(log.exists(), "the store is in use: {}", log.display());
    choose(&item, "Quit").await?;
    assert!(ended(program).await?.success());
    assert!(!log.exists(), "the engine has stored everything and closed the store");
    Ok(())
}

/// The names of a program's threads, as far as the kernel keeps them: of long names WebKit uses the last letters.
fn threads(program: &tokio::process::Child) -> Result<Vec<String>> {
    let pid = program.id().context("the program has ended")?;
    let names = std::fs::read_dir(format!("/proc/{pid}/task"))?.flatten();
    Ok(names.filter_map(|thread| std::fs::read_to_string(thread.path().join("comm")).ok()).collect())
}

#[tokio::test(flavor = "multi_thread")]
async fn webkits_memory_monitor_is_off_unless_the_user_sets_its_variable() -> Result<()> {
    for wanted in [false, true] {
        let mut desktop = Desktop::start().await?;
        if wanted {
            desktop.set("WEBKIT_DISABLE_MEMORY_PRESSURE_MONITOR", "0");
        }
        let panel = TrayHost::start(&desktop).await?;
        let program = start(&desktop, &[])?;
        panel.item().await?;
        let id = window(&desktop).await?;
        desktop.close_window(&id).await?;
        no_window(&desktop).await?;
        let threads = threads(&program)?;
        let looks = threads.iter().any(|name| name.contains("PressureMonitor"));
        assert_eq!(looks, wanted, "{threads:?}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_click_on_the_icon_toggles_the_window() -> Result<()> {
    let desktop = Desktop::start().await?;
    let panel = TrayHost::start(&desktop).await?;
    let _program = start(&desktop, &["--hidden"])?;
    let item = panel.item().await?;
    assert!(desktop.windows(TITLE).await?.is_empty(), "--hidden shows no window");

    item.activate().await?;
    window(&desktop).await?;
    until("the focus", 60, async || desktop.focused().await.ok()?.filter(|name| name == TITLE)).await?;
    // A click that comes before the program knows of its focus brings the window to the front.
    for _ in 0..5 {
        item.activate().await?;
        if tokio::time::timeout(Duration::from_secs(2), no_window(&desktop)).await.is_ok() {
            break;
        }
    }
    no_window(&desktop).await?;
    item.activate().await?;
    window(&desktop).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_start_raises_the_window_and_ends() -> Result<()> {
    let desktop = Desktop::start().await?;
    let panel = TrayHost::start(&desktop).await?;
    let mut first = start(&desktop, &["--hidden"])?;
    panel.item().await?;

    let again = start(&desktop, &["--hidden"])?;
    assert!(ended(again).await?.success());
    assert!(desktop.windows(TITLE).await?.is_empty(), "a hidden start shows nothing");

    let again = start(&desktop, &[])?;
    assert!(ended(again).await?.success());
    window(&desktop).await?;
    assert_eq!(desktop.windows(TITLE).await?.len(), 1);
    assert!(first.try_wait()?.is_none());
    Ok(())
}

/// Later parts of a start, such as the libraries of a window, have threads of their own; an end beside them may
/// crash.
#[tokio::test(flavor = "multi_thread")]
async fn a_second_start_ends_before_it_looks_for_a_display() -> Result<()> {
    let desktop = Desktop::start().await?;
    let _first = start(&desktop, &[])?;
    window(&desktop).await?;
    let again = desktop.command(PROGRAM).env_remove("DISPLAY").spawn()?;
    assert!(ended(again).await?.success());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_concurrent_starts_one_stays_and_none_fails() -> Result<()> {
    let desktop = Desktop::start().await?;
    let mut starts = (0..24).map(|_| start(&desktop, &[])).collect::<Result<Vec<_>>>()?;
    until("all starts but one to end", 120, async || {
        let running =
            starts.iter_mut().map(Child::try_wait).filter(|status| matches!(status, Ok(None))).count();
        (running <= 1).then_some(())
    })
    .await?;
    window(&desktop).await?;
    let mut running = 0;
    for program in &mut starts {
        match program.try_wait()? {
            Some(status) => assert!(status.success(), "{status}"),
            None => running += 1,
        }
    }
    assert_eq!((running, desktop.windows(TITLE).await?.len()), (1, 1));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_while_the_program_ends_takes_its_place() -> Result<()> {
    let desktop = Desktop::start().await?;
    let leaving = LeavingProgram::start(&desktop, ID).await?;
    let mut program = start(&desktop, &[])?;
    window(&desktop).await?;
    assert!(leaving.has_left(ID).await, "it was asked");
    assert!(program.try_wait()?.is_none());
    let again = start(&desktop, &[])?;
    assert!(ended(again).await?.success(), "the place is taken");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_for_different_folders_run_side_by_side() -> Result<()> {
    let desktop = Desktop::start().await?;
    let folder = desktop.home().join("other");
    let mut first = start(&desktop, &[])?;
    window(&desktop).await?;
    let mut second = start(&desktop, &["--claude-dir", &folder.display().to_string()])?;
    until("two windows", 60, async || (desktop.windows(TITLE).await.ok()?.len() == 2).then_some(())).await?;
    assert!(first.try_wait()?.is_none() && second.try_wait()?.is_none());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panel_that_comes_late_or_comes_back_gets_the_icon() -> Result<()> {
    let desktop = Desktop::start().await?;
    let mut program = start(&desktop, &[])?;
    // The window is open, so the program has searched for a panel, or is about to.
    window(&desktop).await?;

    let panel = TrayHost::start(&desktop).await?;
    let item = panel.item().await?;
    until("the menu", 60, async || item.menu().await.ok()?.find("Show window").cloned()).await?;
    drop((item, panel));

    let panel = TrayHost::start(&desktop).await?;
    choose(&panel.item().await?, "Quit").await?;
    assert!(tokio::time::timeout(Duration::from_secs(20), program.wait()).await??.success());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_bus_closing_the_window_ends_the_program() -> Result<()> {
    let desktop = Desktop::start_without_bus().await?;
    let program = start(&desktop, &[])?;
    let id = window(&desktop).await?;
    desktop.close_window(&id).await?;
    // No tray could bring it back, so it must not go on without a window.
    assert!(ended(program).await?.success());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_window_size_is_restored_even_after_a_kill() -> Result<()> {
    let desktop = Desktop::start().await?;
    let mut program = start(&desktop, &[])?;
    let id = window(&desktop).await?;
    desktop.resize_window(&id, 600, 500).await?;
    let size = async |id: &str| desktop.window_size(id).await.ok().filter(|size| *size == (600, 500));
    until("the new size", 60, async || size(&id).await).await?;
    // The window gets its new size before the request to close.
    desktop.close_window(&id).await?;
    no_window(&desktop).await?;
    program.kill().await?;

    let _program = start(&desktop, &[])?;
    let id = window(&desktop).await?;
    until("the size from before", 60, async || size(&id).await).await?;
    Ok(())
}

#[tokio::test]
async fn without_a_display_there_is_an_error_message_and_no_panic() -> Result<()> {
    let home = tempfile::tempdir()?;
    // No display at all, and one that does not answer.
    for display in [None, Some(("DISPLAY", ":64999"))] {
        let mut command = tokio::process::Command::new(crate::PROGRAM);
        command.env_clear().env("HOME", home.path()).envs(display).kill_on_drop(true);
        let output = command.output().await?;
        assert_eq!(output.status.code(), Some(1));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("no usable display") && said.contains("watchbill roster"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    Ok(())
}

#[tokio::test]
async fn wrong_usage_ends_with_2_and_help_with_0() -> Result<()> {
    let home = tempfile::tempdir()?;
    for (arg, code) in [("--no-such-option", 2), ("--help", 0), ("--version", 0)] {
        let mut command = tokio::process::Command::new(crate::PROGRAM);
        command.env_clear().env("HOME", home.path()).arg(arg).kill_on_drop(true);
        assert_eq!(command.output().await?.status.code(), Some(code), "{arg}");
    }
    Ok(())
}
