//! Bars that show how far the reading of the history is, or a removal from it, on terminals alone.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use watchbill_engine::forget::{Doing, Stage};
use watchbill_engine::index::Progress;
use watchbill_history::query::who;

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
    /// A bar that says `what` is done, and appears when there is something to wait for.
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

/// Where nobody knows how far it is.
const MOVING: &str = "{spinner} {msg}  {elapsed}";

/// What is shown on standard error while sessions are forgotten; nothing where that is no terminal.
pub struct RemovalBar {
    bar: ProgressBar,
}

impl RemovalBar {
    /// A bar that appears when there is something to wait for, and moves by itself: of what takes longest nobody knows
    /// how far it is.
    pub fn new() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template(MOVING) {
            bar.set_style(style);
        }
        bar.set_message("forgetting");
        let shown = bar.clone();
        let show = move || {
            std::thread::sleep(PATIENCE);
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

    /// Shows who is at what.
    pub fn show(&self, doing: Doing) {
        let (form, what) = match doing {
            Doing::Here(Stage::Removing { done, all }) => {
                self.bar.set_length(all as u64);
                self.bar.set_position(done as u64);
                ("{msg}  {wide_bar} {pos}/{len} sessions  {elapsed}", "forgetting".to_owned())
            }
            Doing::Here(Stage::Wiping) => (MOVING, "taking their bytes out of the file".to_owned()),
            Doing::Elsewhere(pid) => (MOVING, format!("{} forgets it", who(pid))),
        };
        if let Ok(style) = ProgressStyle::with_template(form) {
            self.bar.set_style(style.progress_chars("━╸─"));
        }
        self.bar.set_message(what);
    }

    /// Takes it away.
    pub fn end(self) {
        self.bar.finish_and_clear();
    }
}
