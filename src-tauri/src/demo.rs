//! The made-up sessions that the window can show in place of the real ones.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tauri::{AppHandle, Manager};
use watchbill_protocol::shell::ShellMessage;
use watchbill_settings::Configuration;

use crate::app_state::AppState;
use crate::engine;
use crate::window_messages::WindowMessages;

/// Whether made-up sessions are shown. No settings apply to them.
pub struct Demo {
    is_on: AtomicBool,
    /// The program was started for them.
    is_all: bool,
}

impl Demo {
    /// `is_all`: the program was started for them.
    pub fn new(is_all: bool) -> Self {
        Self { is_on: AtomicBool::new(is_all), is_all }
    }

    /// Whether they are shown.
    pub fn is_on(&self) -> bool {
        self.is_on.load(Ordering::Acquire)
    }

    /// Shows them from now on, or the real ones.
    pub fn set(&self, is_on: bool) {
        self.is_on.store(is_on, Ordering::Release);
    }

    /// Whether the real sessions can come back. A program that was started for the demo alone runs beside the one that shows them.
    pub fn may_be_left(&self) -> bool {
        self.is_on() && !self.is_all
    }
}

/// Shows the real sessions again. Blocks while their engine starts.
///
/// # Errors
/// When the system gives no thread. Then the demo goes on.
pub fn leave(app: &AppHandle) -> std::io::Result<()> {
    let (app_state, configuration) = (app.state::<AppState>(), app.state::<Arc<Configuration>>());
    let real = engine::open((*configuration.settings()).clone())?;
    app_state.exchange_demo(real, false);
    app.state::<WindowMessages>().tell(ShellMessage::Demo { on: false });
    // Settings that were changed meanwhile.
    app_state.apply(&configuration.settings())
}
