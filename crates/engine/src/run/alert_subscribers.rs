//! Sends the news of the attention policy to each alert subscriber, in order. The loop stores a change before it sends
//! the news.

use watchbill_core::attention::AttentionEvent;
use watchbill_protocol::alert::Alert;

use crate::engine::Engine;
use crate::model::publish::AlertSink;

/// All alert subscribers, and the alerts that the loop has not sent to them yet.
#[derive(Default)]
pub(crate) struct AlertSubscribers {
    sinks: Vec<AlertSink>,
    queued: Vec<Alert>,
}

impl AlertSubscribers {
    /// Adds a subscriber. The subscriber first gets the present needs and the counts.
    pub fn add(&mut self, mut sink: AlertSink, engine: &mut Engine) {
        // The present needs include alerts that are still queued for the other subscribers, so send these first.
        self.tell();
        let so = engine.present_needs().map(Alert::from);
        let counted = Alert::from(&engine.needs());
        if so.into_iter().chain([counted]).all(&mut sink) {
            self.sinks.push(sink);
        }
    }

    /// Queues news of the policy. [`AlertSubscribers::tell`] sends it.
    pub fn queue(&mut self, outcome: AttentionEvent) {
        // A later subscriber gets the present needs when it is added.
        if !self.sinks.is_empty() {
            self.queued.push(Alert::from(outcome));
        }
    }

    /// Sends the queued alerts. Removes subscribers that are gone.
    pub fn tell(&mut self) {
        for alert in self.queued.drain(..) {
            self.sinks.retain_mut(|sink| sink(alert.clone()));
        }
    }
}
