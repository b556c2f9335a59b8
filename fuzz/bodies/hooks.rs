//! Any bytes as an envelope, and any text as settings: nothing panics, what is read is written the same, and what is
//! installed goes without a trace.
//!
//! Run by the fuzzer, and by a test over the inputs in `fuzz/seeds`.

use watchbill_hooks::envelope::{Decoded, decode};
use watchbill_hooks::install::{EVENTS, HookCommand, find_ours, install, uninstall};

/// Panics when something is not as it must be.
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
    let Ok(text) = std::str::from_utf8(data) else { return };
    let command = HookCommand { program: "/usr/bin/watchbill".into(), data_dir: None, markers: false };
    let events: Vec<_> = EVENTS.iter().take(3).collect();
    // Our own handlers in the text, of another version perhaps, are not there any more afterwards.
    if find_ours(text).is_ok_and(|ours| ours.is_empty())
        && let Ok(installed) = install(Some(text), &command, &events)
    {
        assert_eq!(uninstall(&installed).as_ref().map(Option::as_deref), Ok(Some(text)));
    }
}
