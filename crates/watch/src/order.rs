//! Orders for the keeper of watches.

use std::path::PathBuf;
use std::sync::mpsc::Sender;

use crate::route::EventAction;

/// An order for the keeper.
#[derive(Debug)]
pub(crate) enum Order {
    Step(EventAction),
    WatchDir(PathBuf),
    UnwatchDir(PathBuf),
    Poll,
    Answer(Sender<()>),
    Stop,
}
