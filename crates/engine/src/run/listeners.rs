//! Who shows alerts: each gets everything that the attention policy tells, in order, once it is stored.

use watchbill_core::attention::Outcome;
use watchbill_protocol::alert::Alert;

use crate::engine::Engine;
use crate::publish::AlertSink;

/// Everybody who listens, and what they have not been told yet.
#[derive(Default)]
pub(crate) struct Listeners {
    sinks: Vec<AlertSink>,
    owed: Vec<Alert>,
}

impl Listeners {
    /// A listener that comes late begins with what is so already, as everybody does at the start.
    pub fn add(&mut self, mut sink: AlertSink, engine: &mut Engine) {
        // What is owed to the others is part of what is already so.
        self.tell();
        let so = engine.already_so().map(Alert::from);
        let counted = Alert::from(&engine.needs());
        if so.into_iter().chain([counted]).all(&mut sink) {
            self.sinks.push(sink);
        }
    }

    /// The policy has told something; it goes out with [`Listeners::tell`].
    pub fn owe(&mut self, outcome: Outcome) {
        // Whoever comes later is told what is so by then.
        if !self.sinks.is_empty() {
            self.owed.push(Alert::from(outcome));
        }
    }

    /// Tells what is owed; whoever is gone is forgotten.
    pub fn tell(&mut self) {
        for alert in self.owed.drain(..) {
            self.sinks.retain_mut(|sink| sink(alert.clone()));
        }
    }
}
