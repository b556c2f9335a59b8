//! The channel to the window: it carries the roster, and which session the window is to select.

use std::sync::{Arc, Mutex, MutexGuard};

use tauri::ipc::Channel;
use watchbill_engine::model::publish::RosterSink;
use watchbill_protocol::roster::RosterMessage;

/// Holds at most one live channel. A new era starts when a page subscribes again, a window closes or the engine is
/// exchanged. Messages for an earlier era are dropped, and the sink's `false` tells that engine so.
#[derive(Default)]
pub struct Bridge {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    era: u64,
    line: Option<Line>,
    /// The session to select as soon as the window has a roster.
    wanted: Option<String>,
}

/// Owned by the sink. An engine drops its sinks when it ends, also after a panic; this drop tells the window.
struct End {
    bridge: Arc<Bridge>,
    era: u64,
}

impl Drop for End {
    fn drop(&mut self) {
        // `deliver` drops the message of an earlier era: that sink has been exchanged, or its window is gone.
        self.bridge.deliver(self.era, RosterMessage::Stopped);
    }
}

struct Line {
    channel: Channel<RosterMessage>,
    all: bool,
    /// The snapshot was sent, so the window can select a session.
    greeted: bool,
}

impl Bridge {
    /// Makes `channel` the live one and returns the sink for the engine.
    pub fn connect(self: &Arc<Self>, channel: Channel<RosterMessage>, all: bool) -> RosterSink {
        let era = {
            let mut state = self.lock();
            state.era += 1;
            state.line = Some(Line { channel, all, greeted: false });
            state.era
        };
        self.sink(era)
    }

    /// Gives the live channel a new sink for another engine. That sink begins with a snapshot again.
    pub fn reconnect(self: &Arc<Self>) -> Option<(bool, RosterSink)> {
        // Under one lock, so that this does not cut off a page that connects meanwhile.
        let (all, era) = {
            let mut state = self.lock();
            let line = state.line.as_mut()?;
            line.greeted = false;
            let all = line.all;
            state.era += 1;
            (all, state.era)
        };
        Some((all, self.sink(era)))
    }

    /// The window is gone.
    pub fn disconnect(&self) {
        let mut state = self.lock();
        state.era += 1;
        state.line = None;
    }

    /// Makes the window select `session`, now or once it has a roster.
    pub fn select(&self, session: String) {
        let mut state = self.lock();
        state.wanted = Some(session);
        state.send_wanted();
    }

    fn sink(self: &Arc<Self>, era: u64) -> RosterSink {
        let end = End { bridge: Arc::clone(self), era };
        Box::new(move |message| end.bridge.deliver(era, message))
    }

    fn deliver(&self, era: u64, message: RosterMessage) -> bool {
        let mut state = self.lock();
        if state.era != era {
            return false;
        }
        let Some(line) = &mut state.line else { return false };
        if let Err(error) = line.channel.send(message) {
            tracing::debug!(%error, "the window's channel is dead");
            state.line = None;
            return false;
        }
        line.greeted = true;
        state.send_wanted();
        true
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code in here panics half-way through a change, so a poisoned state is still whole.
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl State {
    fn send_wanted(&mut self) {
        let Some(line) = self.line.as_ref().filter(|line| line.greeted) else { return };
        let Some(session_id) = self.wanted.take() else { return };
        if let Err(error) = line.channel.send(RosterMessage::Select { session_id }) {
            tracing::debug!(%error, "the window's channel is dead");
            self.line = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tauri::ipc::InvokeResponseBody;
    use watchbill_protocol::roster::RosterSnapshot;

    /// The messages that a window got, and whether it still exists.
    type Seen = Arc<Mutex<(Vec<String>, bool)>>;

    /// A channel that notes the `type` of each message, and fails once the window is gone.
    fn channel() -> (Channel<RosterMessage>, Seen) {
        let seen = Seen::new(Mutex::new((Vec::new(), true)));
        let log = Arc::clone(&seen);
        let channel = Channel::new(move |body| {
            let InvokeResponseBody::Json(text) = body else { panic!("a roster message is JSON") };
            let value: serde_json::Value = serde_json::from_str(&text)?;
            let mut log = log.lock().expect("not poisoned");
            if !log.1 {
                return Err(tauri::Error::WebviewNotFound);
            }
            let mut note = value["type"].as_str().unwrap_or_default().to_owned();
            if let Some(id) = value["sessionId"].as_str() {
                note = format!("{note} {id}");
            }
            log.0.push(note);
            Ok(())
        });
        (channel, seen)
    }

    fn notes(seen: &Seen) -> Vec<String> {
        seen.lock().expect("not poisoned").0.clone()
    }

    fn snapshot() -> RosterMessage {
        RosterMessage::Snapshot(RosterSnapshot {
            revision: 1,
            generated_at: "2026-11-20T15:30:52.694Z".into(),
            sessions: Vec::new(),
            problems: Vec::new(),
            reading: false,
            muted_until: None,
            limits: Vec::new(),
            rest: None,
        })
    }

    #[test]
    fn a_selection_waits_for_the_snapshot() {
        let bridge = Arc::new(Bridge::default());
        bridge.select("a".into());
        bridge.select("b".into());
        let (channel, seen) = channel();
        let mut sink = bridge.connect(channel, false);
        assert!(notes(&seen).is_empty());
        assert!(sink(snapshot()));
        assert_eq!(notes(&seen), ["snapshot", "select b"], "the newest selection counts");
        bridge.select("c".into());
        assert_eq!(notes(&seen), ["snapshot", "select b", "select c"]);
    }

    #[test]
    fn the_sink_of_an_older_subscription_returns_false() {
        let bridge = Arc::new(Bridge::default());
        let (first, first_seen) = channel();
        let mut old = bridge.connect(first, false);
        assert!(old(snapshot()));
        let (second, second_seen) = channel();
        let mut new = bridge.connect(second, true);
        assert!(!old(snapshot()));
        assert!(new(snapshot()));
        assert_eq!((notes(&first_seen).len(), notes(&second_seen).len()), (1, 1));
    }

    #[test]
    fn a_closed_window_gets_nothing_and_a_selection_waits_for_the_next_one() {
        let bridge = Arc::new(Bridge::default());
        let (channel_, seen) = channel();
        let mut sink = bridge.connect(channel_, false);
        assert!(sink(snapshot()));
        bridge.disconnect();
        bridge.select("a".into());
        assert!(!sink(snapshot()));
        assert_eq!(notes(&seen), ["snapshot"]);
        let (again, seen) = channel();
        // Kept until the end of the test: a dropped sink tells the window that its engine has ended.
        let mut sink = bridge.connect(again, false);
        assert!(sink(snapshot()));
        assert_eq!(notes(&seen), ["snapshot", "select a"]);
    }

    #[test]
    fn a_dead_channel_ends_its_subscription() {
        let bridge = Arc::new(Bridge::default());
        let (channel, seen) = channel();
        let mut sink = bridge.connect(channel, false);
        seen.lock().expect("not poisoned").1 = false;
        assert!(!sink(snapshot()));
        assert!(bridge.reconnect().is_none(), "no window is left for another engine");
    }

    #[test]
    fn a_window_learns_that_its_engine_has_ended() {
        let bridge = Arc::new(Bridge::default());
        let (channel, seen) = channel();
        let mut sink = bridge.connect(channel, false);
        assert!(sink(snapshot()));
        drop(sink);
        assert_eq!(notes(&seen), ["snapshot", "stopped"]);
        let (_, mut new) = bridge.reconnect().expect("the window is still there");
        assert!(new(snapshot()));
        assert_eq!(notes(&seen), ["snapshot", "stopped", "snapshot"], "and another engine may serve it");
    }

    #[test]
    fn an_exchanged_engine_that_ends_later_sends_no_stop() {
        let bridge = Arc::new(Bridge::default());
        let (channel, seen) = channel();
        let old = bridge.connect(channel, false);
        let (_, mut new) = bridge.reconnect().expect("a window is there");
        drop(old);
        assert!(new(snapshot()));
        assert_eq!(notes(&seen), ["snapshot"]);
    }

    #[test]
    fn another_engine_serves_the_same_window() {
        let bridge = Arc::new(Bridge::default());
        let (channel, seen) = channel();
        let mut old = bridge.connect(channel, true);
        assert!(old(snapshot()));
        let (all, mut new) = bridge.reconnect().expect("a window is there");
        assert!(all);
        assert!(!old(snapshot()));
        assert!(new(snapshot()));
        assert_eq!(notes(&seen), ["snapshot", "snapshot"]);
    }
}
