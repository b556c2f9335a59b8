//! A model of one followed file: after any changes to the file and to its hints, one look at everything delivers
//! exactly the file's bytes since the last restart.

use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use watchbill_watch::{Fs, Hint, HintSet, MemFs, Tail, TailError};

const FILE: &str = "/c/projects/p/s.jsonl";
const ASIDE: &str = "/c/projects/p/s.aside";

#[derive(Debug, Clone)]
enum Action {
    Append(usize),
    Torn(usize, prop::sample::Index),
    WriteInPlace(usize),
    SameLength,
    Truncate(prop::sample::Index),
    TruncateAndRegrow(prop::sample::Index, usize),
    Replace(usize),
    ReplaceByItsOwnCopy,
    Remove,
    RenameAway,
    RenameBack,
    RenameProject,
    Deny(bool),
    Flush(usize),
    Lose,
    Merge,
    Overflow,
    /// The program starts again. It has kept nothing of an unfinished line.
    Restart,
    Look(u64),
}

fn actions() -> impl Strategy<Value = Vec<Action>> {
    let size = 1usize..900;
    let index = any::<prop::sample::Index>;
    let action = prop_oneof![
        6 => size.clone().prop_map(Action::Append),
        2 => (size.clone(), index()).prop_map(|(size, at)| Action::Torn(size, at)),
        1 => size.clone().prop_map(Action::WriteInPlace),
        1 => Just(Action::SameLength),
        1 => index().prop_map(Action::Truncate),
        2 => (index(), size.clone()).prop_map(|(at, size)| Action::TruncateAndRegrow(at, size)),
        1 => size.prop_map(Action::Replace),
        1 => Just(Action::ReplaceByItsOwnCopy),
        1 => Just(Action::Remove),
        1 => Just(Action::RenameAway),
        1 => Just(Action::RenameBack),
        1 => Just(Action::RenameProject),
        1 => any::<bool>().prop_map(Action::Deny),
        3 => (1usize..4).prop_map(Action::Flush),
        1 => Just(Action::Lose),
        1 => Just(Action::Merge),
        1 => Just(Action::Overflow),
        2 => Just(Action::Restart),
        4 => prop_oneof![Just(1u64), 1u64..2000, Just(u64::MAX)].prop_map(Action::Look),
    ];
    prop::collection::vec(action, 1..60)
}

/// Follows one file by hints, as the engine does.
struct Follower {
    fs: MemFs,
    hints: Arc<HintSet>,
    tail: Tail,
    scratch: Vec<u8>,
    delivered: Vec<u8>,
    restarts: usize,
}

impl Follower {
    fn new(fs: MemFs) -> Self {
        let hints = Arc::new(HintSet::new(|| ()));
        fs.connect(Arc::clone(&hints));
        let tail = Tail::default();
        Self { fs, hints, tail, scratch: Vec::new(), delivered: Vec::new(), restarts: 0 }
    }

    fn look(&mut self, budget: u64) {
        let concerned = self.hints.take().into_iter().any(|hint| match hint {
            Hint::Everything => true,
            Hint::File(path) => path == Path::new(FILE),
            Hint::Tree(path) => Path::new(FILE).starts_with(path),
        });
        if concerned && self.read(budget) {
            // Reads on after the budget, as the engine does with a file that has more.
            self.hints.insert(Hint::File(FILE.into()));
        }
    }

    fn read(&mut self, budget: u64) -> bool {
        let log = std::cell::RefCell::new((std::mem::take(&mut self.delivered), 0));
        let result = self.tail.read(
            &self.fs,
            Path::new(FILE),
            &mut self.scratch,
            budget,
            &mut || {
                let mut log = log.borrow_mut();
                log.0.clear();
                log.1 += 1;
            },
            &mut |offset, bytes| {
                let mut log = log.borrow_mut();
                assert_eq!(offset, log.0.len() as u64, "each byte comes once and in order");
                log.0.extend_from_slice(bytes);
            },
        );
        let (delivered, restarts) = log.into_inner();
        self.delivered = delivered;
        self.restarts += restarts;
        match result {
            Ok(outcome) => {
                assert!(outcome.bytes_read <= budget);
                assert_eq!(outcome.restarted.is_some(), restarts == 1);
                outcome.more
            }
            Err(TailError::Gone | TailError::Io(_)) => false,
            Err(TailError::NotAFile) => panic!("it is never anything but a file here"),
        }
    }
}

/// Lines that differ as records do: each has its own number, and all end alike.
fn line(serial: &mut u32, size: usize) -> Vec<u8> {
    *serial += 1;
    format!("{{\"n\":{serial:08},\"pad\":\"{}\",\"version\":\"2.1.329\"}}\n", "x".repeat(size)).into_bytes()
}

fn act(follower: &mut Follower, action: &Action, serial: &mut u32) {
    let fs = follower.fs.clone();
    let len = || fs.bytes(FILE).map_or(0, |bytes| bytes.len());
    match action {
        Action::Append(size) => fs.append(FILE, &line(serial, *size)),
        Action::Torn(size, at) => {
            let line = line(serial, *size);
            fs.append(FILE, &line[..at.index(line.len())]);
        }
        Action::WriteInPlace(size) => fs.write(FILE, &line(serial, *size)),
        Action::SameLength => {
            let mut other = line(serial, len());
            other.truncate(len());
            fs.write(FILE, &other);
        }
        Action::Truncate(at) => fs.truncate(FILE, at.index(len() + 1)),
        Action::TruncateAndRegrow(at, size) => {
            let before = len();
            fs.truncate(FILE, at.index(before + 1));
            while len() <= before {
                fs.append(FILE, &line(serial, *size));
            }
        }
        Action::Replace(size) => fs.replace(FILE, &line(serial, *size)),
        Action::ReplaceByItsOwnCopy => {
            let copy = fs.bytes(FILE).unwrap_or_default();
            fs.replace(FILE, &copy);
        }
        Action::Remove => fs.remove(FILE),
        Action::RenameAway => fs.rename(FILE, ASIDE),
        Action::RenameBack => fs.rename(ASIDE, FILE),
        Action::RenameProject => {
            fs.rename("/c/projects/p", "/c/projects/q");
            fs.rename("/c/projects/q", "/c/projects/p");
        }
        Action::Deny(denied) => fs.deny(FILE, *denied),
        Action::Flush(count) => fs.flush(*count),
        Action::Lose => fs.drop_pending(),
        Action::Merge => fs.merge_pending(),
        Action::Overflow => fs.overflow(),
        Action::Restart => {
            let whole = follower.delivered.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            follower.delivered.truncate(whole);
            follower.tail.redeliver_from = follower.tail.cursor.map(|_| whole as u64);
        }
        Action::Look(budget) => follower.look(*budget),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn one_look_at_everything_delivers_exactly_the_file(actions in actions()) {
        let fs = MemFs::new();
        fs.pause();
        let mut follower = Follower::new(fs.clone());
        let mut serial = 0;
        for action in &actions {
            act(&mut follower, action, &mut serial);
        }
        fs.deny(FILE, false);
        fs.overflow();
        while !follower.hints.is_empty() {
            follower.look(700);
        }
        if let Some(bytes) = fs.bytes(FILE) {
            // If nothing was read since a restart, the beginning of the unfinished line is not needed.
            let known = follower.tail.redeliver_from.map_or(bytes.len(), |from| from as usize);
            prop_assert_eq!(&follower.delivered, &bytes[..known]);
            prop_assert_eq!(follower.tail.cursor.map(|cursor| cursor.offset), Some(bytes.len() as u64));
            // It equals a cold start over the final file.
            let mut cold = Follower::new(fs.clone());
            while cold.read(u64::MAX) {}
            prop_assert_eq!(&cold.delivered, &bytes);
            prop_assert_eq!(cold.restarts, 0);
        } else {
            prop_assert!(fs.stat(Path::new(FILE)).is_err());
        }
    }

    #[test]
    fn appends_alone_never_cause_a_restart(sizes in prop::collection::vec((1usize..2500, any::<bool>()), 1..40)) {
        let fs = MemFs::new();
        let mut follower = Follower::new(fs.clone());
        let mut serial = 0;
        for (size, look) in sizes {
            fs.append(FILE, &line(&mut serial, size));
            if look {
                follower.look(1 + size as u64);
            }
        }
        while !follower.hints.is_empty() {
            follower.look(u64::MAX);
        }
        prop_assert_eq!(follower.restarts, 0);
        prop_assert_eq!(Some(follower.delivered), fs.bytes(FILE));
    }
}
