//! The bar that shows how far the reading of the history is, on terminals alone.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use watchbill_engine::index::Progress;

/// A bar on standard error; hidden where that is no terminal.
pub struct Bar {
    bar: ProgressBar,
    /// What takes less than this needs no bar: it would only flicker.
    shown: bool,
    begun: std::time::Instant,
}

/// What takes less than this needs no bar.
const PATIENCE: Duration = Duration::from_millis(300);

impl Bar {
    /// A bar that appears when there is something to wait for.
    pub fn new() -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden());
        let form = "reading the history  {wide_bar} {bytes}/{total_bytes}  {eta}";
        if let Ok(style) = ProgressStyle::with_template(form) {
            bar.set_style(style.progress_chars("━╸─"));
        }
        Self { bar, shown: false, begun: std::time::Instant::now() }
    }

    /// Shows how far it is.
    pub fn show(&mut self, progress: &Progress) {
        if !self.shown && self.begun.elapsed() >= PATIENCE {
            self.shown = true;
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.set_length(progress.total_bytes);
        self.bar.set_position(progress.bytes);
    }

    /// Takes the bar away.
    pub fn end(self) {
        self.bar.finish_and_clear();
    }
}
