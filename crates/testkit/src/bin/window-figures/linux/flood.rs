//! Two thousand sessions with fifty writes a second: frames, keys, lost deltas, memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use watchbill_testkit::Desktop;

use super::history::History;
use super::{Figure, Options, figure, page, processes, say};

const A_SECOND: f64 = 50.0;
/// Interval between two looks at the memory.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);

pub async fn measure(wish: &Options) -> Result<Vec<Figure>> {
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
            // A late wake-up makes up for missed lines, so the rate stays.
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
    let mut held = Vec::new();
    let mut told = 0;
    while begun.elapsed().as_secs() < seconds {
        tokio::time::sleep(CHECK_INTERVAL.min(Duration::from_secs(seconds))).await;
        let used = processes::used(pid);
        held.push((begun.elapsed(), used.memory, used.own));
        if begun.elapsed().as_secs() / 60 > told {
            told = begun.elapsed().as_secs() / 60;
            say(&format!(
                "after {told} min: {:.1} MB, of that the program itself {:.1}",
                used.memory, used.own
            ));
        }
    }
    let last = processes::used(pid);
    let cpu = last.since(&first).0.as_secs_f64() / begun.elapsed().as_secs_f64() * 100.0;
    let (lost, _) = page::marks(page, "roster gap").await?;
    figures.push(figure("window under a flood, CPU of all its processes", cpu, "% of a core", None));
    figures.push(figure("window under a flood, deltas lost", lost as f64, "", Some(0.0)));
    let settled = Duration::from_secs(60.min(seconds / 4));
    figures.extend(memory(&format!("window under a flood for {seconds} s"), &held, settled));
    Ok(figures)
}

/// Whether memory grows. The page's garbage collector runs now and then: between two runs memory grows by up to 50 of
/// 330 MB, so two single looks prove nothing. Right after a run only live memory is left. So the least value of the
/// first third is compared with the least of the last third; the peak is reported beside it. The beginning fills caches
/// and is skipped until `settled`.
pub fn memory(what: &str, held: &[(Duration, f64, f64)], settled: Duration) -> Vec<Figure> {
    let held: Vec<_> = held.iter().filter(|(at, ..)| *at >= settled).collect();
    let third = held.len().div_ceil(3);
    let least = |looks: &[&(Duration, f64, f64)], of: fn(&(Duration, f64, f64)) -> f64| {
        looks.iter().map(|look| of(look)).fold(f64::NAN, f64::min)
    };
    let (begin, end) = (&held[..third], &held[held.len() - third..]);
    let (all, own) = (|look: &(Duration, f64, f64)| look.1, |look: &(Duration, f64, f64)| look.2);
    let before = least(begin, all);
    let most = held.iter().map(|look| look.1).fold(f64::NAN, f64::max);
    let what = |words: &str| format!("{what}, {words}");
    vec![
        figure(what("memory, least of the first third"), before, "MB", None),
        figure(what("memory, least of the last third"), least(end, all), "MB", Some(before * 1.05)),
        figure(what("memory, most"), most, "MB", None),
        figure(what("the program itself, least of the first third"), least(begin, own), "MB", None),
        figure(what("the program itself, least of the last third"), least(end, own), "MB", None),
    ]
}

async fn window_of(desktop: &Desktop) -> Result<String> {
    watchbill_testkit::until("the window", 30, async || desktop.windows("Watchbill").await.ok()?.pop()).await
}
