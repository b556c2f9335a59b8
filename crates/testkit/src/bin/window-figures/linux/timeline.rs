//! One session of very many items: opened, and scrolled.

use anyhow::Result;
use watchbill_testkit::Desktop;

use super::{Figure, Options, figure, history, page};

pub async fn measure(wish: &Options) -> Result<Vec<Figure>> {
    let desktop = Desktop::start().await?;
    let id = history::write_long(desktop.home(), wish.items)?;
    let window = page::open(&desktop, wish, &[]).await?;
    page::there(&window.page, &format!("[data-session='{id}']")).await?;
    let mut opened = Vec::new();
    for time in 0..6 {
        // The first opening reads the whole file. It gives two figures: the newest item is shown, and all items are
        // counted.
        let probe = if time == 0 { "openingFirst" } else { "opening" };
        opened.extend(page::probe(&window.page, &format!("{probe}({})", wish.items)).await?);
        page::probe(&window.page, "(document.querySelector('[aria-label=Close], .back').click(), 0)").await?;
        page::there(&window.page, "[data-session]").await?;
        if time == 0 {
            tokio::time::sleep(std::time::Duration::from_secs(3)).await;
        }
    }
    let items = wish.items;
    let mut figures = vec![
        figure(format!("window, {items} items opened for the first time"), opened[0], "ms", Some(100.0)),
        figure(format!("window, {items} items counted for the first time"), opened[1], "ms", None),
        figure(format!("window, {items} items opened"), page::quantile(&opened[2..], 0.5), "ms", Some(100.0)),
    ];
    page::probe(&window.page, &format!("opening({items})")).await?;
    for by in [40, 2000] {
        let call = format!(
            "scrolling({{ selector: '[role=region][aria-label=Timeline]', by: -{by}, frames: 300 }})"
        );
        let gaps = page::probe(&window.page, &call).await?;
        figures.extend(page::frames(&format!("window, {items} items scrolled by {by} px"), &gaps));
    }
    Ok(figures)
}
