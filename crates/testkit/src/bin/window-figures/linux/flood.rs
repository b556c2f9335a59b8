//! Two thousand sessions of which fifty a second write something: frames, keys, lost deltas, memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use watchbill_testkit::Desktop;

use super::history::History;
use super::{Figure, Wish, figure, page, processes, say};

const A_SECOND: f64 = 50.0;

pub async fn measure(wish: &Wish) -> Result<Vec<Figure>> {
    let desktop = Desktop::start().await?;
    let mut history = History::write(desktop.home(), wish.sessions)?;
    let window = page::open(&desktop, wish, &[]).await?;
    let id = window_of(&desktop).await?;
    desktop.resize_window(&id, 1200, 760).await?;
    page::there(&window.page, "[data-session]").await?;
    let pid = processes::find(&wish.program, desktop.home())?;

    let over = Arc::new(AtomicBool::new(false));
    let ended = Arc::clone(&over);
    let writer = std::thread::spawn(move || -> Result<f64> {
        let begun = Instant::now();
        let mut written = 0.0;
        while !ended.load(Ordering::Relaxed) {
            // What is owed is made up for: a late wake-up does not slow the flood down.
            while written < begun.elapsed().as_secs_f64() * A_SECOND {
                history.append()?;
                written += 1.0;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(written / begun.elapsed().as_secs_f64())
    });
    let found = watch(&window.page, pid, wish.seconds).await;
    over.store(true, Ordering::Relaxed);
    let a_second = writer.join().ok().context("the writer panicked")??;
    let mut figures = found?;
    figures.push(figure("window under a flood, lines written", a_second, "a second", None));
    Ok(figures)
}

async fn watch(page: &watchbill_testkit::fantoccini::Client, pid: u32, seconds: u64) -> Result<Vec<Figure>> {
    tokio::time::sleep(Duration::from_secs(5)).await;
    let gaps = page::probe(page, "scrolling({ selector: '.list', by: 40, frames: 600 })").await?;
    let mut figures = page::frames("window under a flood, roster scrolled", &gaps);
    let spans = page::probe(page, "keys({ key: 'j', times: 100 })").await?;
    figures.push(figure(
        "window under a flood, key to paint, 95 of 100",
        page::quantile(&spans, 0.95),
        "ms",
        Some(50.0),
    ));

    let first = processes::used(pid);
    let begun = Instant::now();
    let mut memory = vec![first.memory];
    while begun.elapsed().as_secs() < seconds {
        tokio::time::sleep(Duration::from_secs(60.min(seconds))).await;
        memory.push(processes::used(pid).memory);
        say(&format!("after {} s: {:.1} MB", begun.elapsed().as_secs(), memory[memory.len() - 1]));
    }
    let last = processes::used(pid);
    let cpu = last.since(&first).0.as_secs_f64() / begun.elapsed().as_secs_f64() * 100.0;
    let (lost, _) = page::marks(page, "roster gap").await?;
    figures.push(figure("window under a flood, CPU of all its processes", cpu, "% of a core", None));
    figures.push(figure("window under a flood, deltas lost", lost as f64, "", Some(0.0)));
    // The first minute fills caches; from then on it ought to stay.
    let settled = memory.get(1).copied().unwrap_or(f64::NAN);
    figures.push(figure("window under a flood, memory after a minute", settled, "MB", None));
    figures.push(figure(
        format!("window under a flood, memory after {seconds} s"),
        memory[memory.len() - 1],
        "MB",
        Some(settled * 1.05),
    ));
    Ok(figures)
}

async fn window_of(desktop: &Desktop) -> Result<String> {
    watchbill_testkit::until("the window", 30, async || desktop.windows("Watchbill").await.ok()?.pop()).await
}
