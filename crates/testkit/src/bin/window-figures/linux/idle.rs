//! An idle window, in sight and hidden in the tray. Without a driver, which would wake it.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use watchbill_testkit::{Desktop, TrayHost, until};

use super::history::History;
use super::{Figure, Options, figure, processes};

/// The longest time of each measurement.
const SPAN: u64 = 60;
/// Ages below a minute change every second; the sessions are written just before the start.
const YOUNG: Duration = Duration::from_secs(65);

pub async fn measure(wish: &Options) -> Result<Vec<Figure>> {
    let desktop = Desktop::start().await?;
    let panel = TrayHost::start(&desktop).await?;
    History::write(desktop.home(), wish.sessions)?;
    let program = desktop.command(&wish.program).spawn().context("the program could not be started")?;
    let pid = program.id().context("the program has ended")?;
    let id = until("the window", 60, async || desktop.windows("Watchbill").await.ok()?.pop()).await?;
    panel.item().await?;
    tokio::time::sleep(YOUNG).await;
    let mut figures = rest("in sight", pid, wish.seconds.min(SPAN)).await?;
    desktop.close_window(&id).await?;
    until("the window to hide", 30, async || {
        desktop.windows("Watchbill").await.ok()?.is_empty().then_some(())
    })
    .await?;
    figures.extend(rest("hidden", pid, wish.seconds.min(SPAN)).await?);
    Ok(figures)
}

/// Waits until no more states fall due, then measures.
async fn rest(how: &str, pid: u32, seconds: u64) -> Result<Vec<Figure>> {
    settle(pid).await;
    let (before, begun) = (processes::used(pid), Instant::now());
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    let (after, span) = (processes::used(pid), begun.elapsed().as_secs_f64());
    let (running, wake_ups) = after.since(&before);
    let (cpu, wake_ups) = (running.as_secs_f64() / span * 100.0, wake_ups as f64 / span);
    Ok(vec![
        figure(format!("window at rest, {how}, CPU of all its processes"), cpu, "%", Some(0.2)),
        figure(format!("window at rest, {how}, wake-ups"), wake_ups, "a second", None),
        figure(format!("window at rest, {how}, memory"), after.memory, "MB", None),
    ])
}

/// Waits until five seconds cost less than a hundredth of a core; two minutes at most.
async fn settle(pid: u32) {
    for _ in 0..24 {
        let before = processes::used(pid);
        tokio::time::sleep(Duration::from_secs(5)).await;
        if processes::used(pid).since(&before).0 < Duration::from_millis(50) {
            return;
        }
    }
}
