//! Whoever turns to the window sees what is so, also on a disk that tells nothing.

use std::sync::Arc;

use tokio::sync::Notify;
use watchbill_core::time::Millis;
use watchbill_engine::clock::ManualClock;
use watchbill_engine::handle::{Handle, real_world, start_in};
use watchbill_watch::hints::HintSet;

use crate::ear::{Ear, Folder, now, row};
use crate::records::Author;

fn state(handle: &Handle, author: &Author) -> String {
    row(&handle.roster(true).unwrap(), author).unwrap().state.clone()
}

#[test]
fn a_turn_to_the_window_looks_at_everything_but_not_when_that_has_just_been_done() {
    let folder = Folder::new();
    let author = folder.author(1);
    let begin = now();
    folder.append(&author, &author.prompt(1, begin));
    let clock = ManualClock::new(begin);
    let silent = Box::new(Arc::new(HintSet::new(|| {})));
    let told = Arc::new(Notify::new());
    let handle =
        start_in(folder.settings(), real_world(), Arc::new(clock.clone()), Some(silent), told).unwrap();
    let ear = Ear::of(handle);
    folder.append(&author, &author.answer(2, begin));

    // The window gets the focus as it opens, and the first scan has only just looked at everything.
    ear.handle.look_again();
    assert_eq!(state(&ear.handle, &author), "working");

    clock.set(begin + Millis::from_secs(1));
    ear.handle.look_again();
    assert_eq!(state(&ear.handle, &author), "waiting_for_input");

    // A clock that went back by an hour must not keep everything fresh for that hour.
    clock.set(begin - Millis::from_secs(3600));
    folder.append(&author, &author.prompt(3, begin));
    ear.handle.look_again();
    assert_eq!(state(&ear.handle, &author), "working");
}
