//! From the start of the program to the frame with the roster, with everything in the store.

use anyhow::Result;
use watchbill_testkit::Desktop;

use super::history::History;
use super::{Figure, Options, figure, page, processes};

/// The number of measured starts, after one that fills the store.
const STARTS: usize = 5;

/// The moments of a start, each measured in milliseconds since the program began.
const MOMENTS: [&str; 4] = ["the page's first byte", "roster asked", "roster come", "roster drawn"];

pub async fn measure(wish: &Options) -> Result<Vec<Figure>> {
    let desktop = Desktop::start().await?;
    History::write(desktop.home(), wish.sessions)?;
    let mut spans: [Vec<f64>; MOMENTS.len()] = Default::default();
    for start in 0..=STARTS {
        let window = page::open(&desktop, wish, &[]).await?;
        page::there(&window.page, "[data-session]").await?;
        let pid = processes::find(&wish.program, desktop.home())?;
        watchbill_testkit::until("the mark of the roster", 60, async || {
            (page::marks(&window.page, "roster drawn").await.ok()?.0 > 0).then_some(())
        })
        .await?;
        if start == 0 {
            // The store is written a moment after the files were read.
            tokio::time::sleep(std::time::Duration::from_secs(5)).await;
        } else {
            let began = processes::started(pid)? * 1000.0;
            spans[0].push(page::begun(&window.page).await? - began);
            for (moment, span) in MOMENTS.iter().zip(&mut spans).skip(1) {
                span.push(page::marks(&window.page, moment).await?.1 - began);
            }
        }
        window.end().await?;
    }
    let figures = MOMENTS.iter().zip(&spans).map(|(moment, span)| {
        let target = (*moment == "roster drawn").then_some(500.0);
        figure(format!("window, start to {moment}"), page::quantile(span, 0.5), "ms", target)
    });
    Ok(figures.collect())
}
