//! Starts the threads that read own sessions while the loop runs.

use tokio::sync::mpsc::UnboundedSender;
use watchbill_settings::Settings;

use crate::run::message::Message;
use crate::witnesses::own_hosts::OwnHosts;
use crate::world::source::HintSource;

/// Follows the own sessions, if there is a data folder.
pub(super) fn start(
    settings: &Settings,
    source: &mut dyn HintSource,
    inbox: &UnboundedSender<Message>,
) -> Option<OwnHosts> {
    // The threads live on for a moment after the loop, which must end with its last handle.
    let inbox = inbox.downgrade();
    let tell = move |news| inbox.upgrade().is_some_and(|inbox| inbox.send(Message::Own(news)).is_ok());
    let hosts = OwnHosts::start(settings.data_dir.as_deref()?, settings.history.exclude.clone(), tell);
    source.watch_beside(hosts.folder());
    Some(hosts)
}
