//! Orders for the keeper of watches.

use std::path::PathBuf;
use std::sync::mpsc::Sender;

use crate::route::Step;

/// An order for the keeper.
#[derive(Debug)]
pub(crate) enum Order {
    Step(Step),
    WatchDir(PathBuf),
    UnwatchDir(PathBuf),
    Poll,
    Answer(Sender<()>),
    Stop,
}
