//! From the start of the program to the frame that shows the roster, with everything in the store.

use anyhow::Result;
use watchbill_testkit::Desktop;

use crate::history::History;
use crate::{Figure, Wish, figure, page, processes};

/// Starts that are counted, after one that fills the store.
const STARTS: usize = 5;

pub async fn measure(wish: &Wish) -> Result<Vec<Figure>> {
    let desktop = Desktop::start().await?;
    History::write(desktop.home(), wish.sessions)?;
    let (mut spans, mut pages) = (Vec::new(), Vec::new());
    for start in 0..=STARTS {
        let window = page::open(&desktop, wish, &[]).await?;
        page::there(&window.page, "[data-session]").await?;
        let pid = processes::find(&wish.program, desktop.home())?;
        watchbill_testkit::until("the mark of the roster", 60, async || {
            (page::marks(&window.page, "roster drawn").await.ok()?.0 > 0).then_some(())
        })
        .await?;
        let (_, drawn) = page::marks(&window.page, "roster drawn").await?;
        if start == 0 {
            // The store is written a moment after it was read.
            tokio::time::sleep(std::time::Duration::from_secs(5)).await;
        } else {
            let started = processes::started(pid)? * 1000.0;
            spans.push(drawn - started);
            pages.push(page::begun(&window.page).await? - started);
        }
        window.page.close().await?;
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    }
    Ok(vec![
        figure("window, start to first painted roster", page::quantile(&spans, 0.5), "ms", Some(500.0)),
        figure("window, start to the page's first byte", page::quantile(&pages, 0.5), "ms", None),
    ])
}
