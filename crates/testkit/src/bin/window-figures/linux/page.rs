//! Scripts that run in the page: `probes.js`, sent as text, and the marks that the window sets.

use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;
use watchbill_testkit::fantoccini::Client;
use watchbill_testkit::{Desktop, Driver, until};

use super::{Figure, Options, figure};

const PROBES: &str = include_str!("probes.js");

/// Opens the program over the home of this desktop.
pub async fn open(desktop: &Desktop, wish: &Options, args: &[&str]) -> Result<Driver> {
    let window = Driver::start(desktop, &wish.program, args).await?;
    let timeouts = watchbill_testkit::fantoccini::wd::TimeoutConfiguration::new(
        Some(Duration::from_secs(300)),
        Some(Duration::from_secs(60)),
        None,
    );
    window.page.update_timeouts(timeouts).await?;
    Ok(window)
}

/// Waits until an element matches the selector.
pub async fn there(page: &Client, selector: &str) -> Result<()> {
    let script = "return document.querySelector(arguments[0]) !== null";
    until(selector, 120, async || {
        let found = page.execute(script, vec![selector.into()]).await.ok()?;
        (found == Value::Bool(true)).then_some(())
    })
    .await
}

/// Runs one of the probes and returns its milliseconds.
pub async fn probe(page: &Client, call: &str) -> Result<Vec<f64>> {
    let script = format!(
        "const done = arguments[arguments.length - 1]; {PROBES}\n\
         Promise.resolve({call}).then((found) => done([found].flat()), (error) => done(String(error)));"
    );
    let found = page.execute_async(&script, Vec::new()).await?;
    let numbers = found.as_array().with_context(|| format!("{call} said {found}"))?;
    Ok(numbers.iter().filter_map(Value::as_f64).collect())
}

/// How often the window has set a mark, and the time of the first one in milliseconds since 1970.
pub async fn marks(page: &Client, name: &str) -> Result<(u64, f64)> {
    let script = "const all = performance.getEntriesByName(arguments[0]); \
        return [all.length, performance.timeOrigin + (all[0]?.startTime ?? 0)]";
    let found = page.execute(script, vec![name.into()]).await?;
    Ok((found[0].as_u64().unwrap_or(0), found[1].as_f64().context("a time")?))
}

/// The time at which the page began to load, in milliseconds since 1970.
pub async fn begun(page: &Client) -> Result<f64> {
    let begun = page.execute("return performance.timeOrigin", Vec::new()).await?;
    begun.as_f64().context("a time")
}

/// The mean time between frames, and the time that 95 of 100 frames kept within.
pub fn frames(what: &str, gaps: &[f64]) -> Vec<Figure> {
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    vec![
        figure(format!("{what}, time between frames on average"), mean, "ms", Some(1000.0 / 60.0 + 0.5)),
        figure(format!("{what}, 95 of 100 frames"), quantile(gaps, 0.95), "ms", None),
    ]
}

/// The number below which this share of the numbers lies.
pub fn quantile(numbers: &[f64], share: f64) -> f64 {
    let mut numbers = numbers.to_vec();
    numbers.sort_by(f64::total_cmp);
    let rank = (share * numbers.len() as f64).ceil().max(1.0) as usize;
    numbers.get(rank - 1).copied().unwrap_or(f64::NAN)
}
