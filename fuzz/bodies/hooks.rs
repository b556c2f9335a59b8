//! Any bytes as an envelope, and any text as settings: nothing panics, a read envelope is written the same, and an
//! installation can be undone completely.
//!
//! The fuzzer runs it, and so does a test over the inputs in `fuzz/seeds`.

use watchbill_agents::hooks::parse_payload;
use watchbill_agents::status_line::as_event;
use watchbill_agents::{Agent, hook_traits, traits};
use watchbill_hooks::envelope::{Decoded, decode};
use watchbill_hooks::install::{HookCommand, Purpose, find_ours, install, status_line, uninstall};

/// Panics if a rule is broken.
pub fn check(data: &[u8]) {
    if let Decoded::Whole { envelope, payload, used } = decode(data) {
        let payload = &data[payload];
        let again = envelope.encode(payload);
        let Decoded::Whole { envelope: second, .. } = decode(&again) else {
            panic!("what was read cannot be read again");
        };
        assert_eq!(second, envelope);
        assert!(used <= data.len());
    }
    if let Some(event) = as_event(data) {
        let _ = parse_payload(&event);
    }
    let Ok(text) = std::str::from_utf8(data) else { return };
    for agent in Agent::ALL.into_iter().filter(|agent| traits(*agent).hooks.is_some()) {
        let command = HookCommand {
            agent,
            program: "/usr/bin/watchbill".into(),
            data_dir: None,
            markers: false,
            purpose: Purpose::Events,
        };
        let events: Vec<_> = hook_traits(agent).events.iter().take(3).collect();
        // If the text has handlers of ours already, perhaps of another version, an uninstallation removes them too. So it does with the mark
        // of what we write beside them.
        let is_marked = hook_traits(agent).other_form.is_some_and(|form| text.contains(form.head));
        if !is_marked
            && find_ours(text, Purpose::Events).is_ok_and(|ours| ours.is_empty())
            && let Ok(installed) = install(Some(text), &command, &events)
        {
            let undone = uninstall(&installed, Purpose::Events);
            assert_eq!(undone.as_ref().map(Option::as_deref), Ok(Some(text)), "{agent:?}");
        }
        let command = command.for_purpose(Purpose::StatusLine);
        if agent == Agent::Claude
            && status_line(text).is_ok_and(|ours| ours.is_none())
            && let Ok(installed) = install(Some(text), &command, &[])
        {
            assert!(status_line(&installed).is_ok_and(|ours| ours.is_some()));
            assert_eq!(
                uninstall(&installed, Purpose::StatusLine).as_ref().map(Option::as_deref),
                Ok(Some(text))
            );
        }
    }
}
