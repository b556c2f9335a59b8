//! Shows what a start of the program, or a link, asks for.

use tauri::{AppHandle, Manager};
use watchbill_protocol::shell::ShellMessage;

use crate::link::{Link, WrongLink};
use crate::options::Options;
use crate::window;
use crate::window_messages::WindowMessages;

/// Carries out a second start of the program.
pub fn second_start(app: &AppHandle, options: Options) {
    let app_ = app.clone();
    // A second start may come before the app_state exists. The main thread runs this when its loop runs, and then
    // everything exists.
    let sent = app.run_on_main_thread(move || match options.wish() {
        Ok(None) if options.hidden => {}
        wish => fulfil(&app_, wish),
    });
    if let Err(error) = sent {
        tracing::debug!(%error, "the event loop has ended");
    }
}

/// Shows the requested place. The window reports a wrong link, because the user who clicked it looks there.
pub fn fulfil(app: &AppHandle, wish: Result<Option<Link>, WrongLink>) {
    match wish {
        Ok(None | Some(Link::Window)) => {}
        Ok(Some(Link::Session(session))) => return window::open_on(app, session),
        Ok(Some(Link::Settings)) => return window::open_settings(app),
        Err(wrong) => app.state::<WindowMessages>().tell(ShellMessage::Says { text: wrong.to_string() }),
    }
    window::open(app);
}
