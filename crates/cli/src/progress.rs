//! Progress bars for reading the history and for removals, only on terminals.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use watchbill_engine::alone::forget::{RemovalProgress, Stage};
use watchbill_history::query::process_label;
use watchbill_protocol::socket::IndexProgress;

/// A bar on standard error, hidden if that is no terminal.
pub struct Bar {
    bar: ProgressBar,
    /// Whether the bar is visible yet.
    shown: bool,
    begun: std::time::Instant,
}

/// Shorter work gets no bar, which would only flicker.
const TIMEOUT: Duration = Duration::from_millis(300);

impl Bar {
    /// A bar with the text `what`. It appears when the work takes long enough.
    pub fn new(what: &str) -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden());
        if let Ok(style) =
            ProgressStyle::with_template("{msg}  {wide_bar} {decimal_bytes}/{decimal_total_bytes}  {eta}")
        {
            bar.set_style(style.progress_chars("━╸─"));
        }
        bar.set_message(what.to_owned());
        Self { bar, shown: false, begun: std::time::Instant::now() }
    }

    /// Shows the progress.
    pub fn show(&mut self, progress: &IndexProgress) {
        if !self.shown && self.begun.elapsed() >= TIMEOUT {
            self.shown = true;
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.set_length(progress.total_bytes);
        self.bar.set_position(progress.bytes);
    }

    /// Removes the bar.
    pub fn end(self) {
        self.bar.finish_and_clear();
    }
}

/// The template for work of unknown length.
const MOVING: &str = "{spinner} {msg}  {elapsed}";

/// A bar on standard error while sessions are forgotten, hidden if that is no terminal.
pub struct RemovalBar {
    bar: ProgressBar,
}

impl RemovalBar {
    /// A bar that appears when the work takes long enough. It moves by itself, because the longest part has no known
    /// length.
    pub fn new() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template(MOVING) {
            bar.set_style(style);
        }
        bar.set_message("forgetting");
        let shown = bar.clone();
        let show = move || {
            std::thread::sleep(TIMEOUT);
            if !shown.is_finished() {
                shown.set_draw_target(ProgressDrawTarget::stderr());
                shown.enable_steady_tick(Duration::from_millis(100));
            }
        };
        // Without the thread there is no bar.
        if let Err(error) = std::thread::Builder::new().name("watchbill-bar".into()).spawn(show) {
            tracing::debug!(%error, "nothing is shown meanwhile");
        }
        Self { bar }
    }

    /// Shows which program does what.
    pub fn show(&self, doing: RemovalProgress) {
        let (form, what) = match doing {
            RemovalProgress::Here(Stage::Removing { done, all }) => {
                self.bar.set_length(all as u64);
                self.bar.set_position(done as u64);
                ("{msg}  {wide_bar} {pos}/{len} sessions  {elapsed}", "forgetting".to_owned())
            }
            RemovalProgress::Here(Stage::Wiping) => (MOVING, "removing their bytes from the file".to_owned()),
            RemovalProgress::Elsewhere(pid) => (MOVING, format!("{} forgets it", process_label(pid))),
        };
        if let Ok(style) = ProgressStyle::with_template(form) {
            self.bar.set_style(style.progress_chars("━╸─"));
        }
        self.bar.set_message(what);
    }

    /// Removes the bar.
    pub fn end(self) {
        self.bar.finish_and_clear();
    }
}
