//! Inputs that concern alerts, and the alerts themselves.

use watchbill_core::attention::AttentionEvent;
use watchbill_core::time::Timestamp;

use super::rooms::Rooms;
use crate::model::schedule::Due;
use crate::step::input::{AttentionInput, Output};

/// Takes in an event that concerns alerts and what the user has looked at.
pub(super) fn take_attention(rooms: &mut Rooms, input: AttentionInput) {
    match input {
        AttentionInput::Zone(zone) => {
            if rooms.env.set_zone(zone) {
                rooms.alerting.set_settings(rooms.env.settings().alerts.attention.clone());
            }
        }
        AttentionInput::Mute(until) => mute(rooms, until),
        AttentionInput::InFront(sessions) => {
            let seen = rooms.alerting.set_in_front(sessions);
            rooms.rows.mark_all(seen);
        }
        AttentionInput::Looked(session) => {
            if rooms.alerting.look_at(&session) {
                rooms.rows.mark(session);
            }
        }
    }
}

/// Mutes alerts until then; `None`, or a time that has passed, unmutes.
pub(super) fn mute(rooms: &mut Rooms, until: Option<Timestamp>) {
    let until = until.filter(|until| *until > rooms.env.now());
    rooms.alerting.mute(until);
    rooms.schedule.set(Due::Unmute, until);
}

/// The present needs, for a subscriber that begins to listen now; `None` during the first scan.
pub(super) fn already_so(rooms: &mut Rooms) -> Option<AttentionEvent> {
    let Rooms { env, alerting, startup, .. } = rooms;
    (!startup.is_reading()).then(|| alerting.already_so(env.now())).flatten()
}

/// Gives out the policy's news, and sets the deadline of the next.
pub(super) fn tell_attention(rooms: &mut Rooms, out: &mut Vec<Output>) {
    let Rooms { env, alerting, schedule, startup, .. } = rooms;
    let now = env.now();
    if !startup.is_reading() {
        alerting.begin(now);
    }
    out.extend(alerting.advance(now).into_iter().map(Output::Attention));
    schedule.set(Due::Attention, alerting.deadline(now));
}
