//! Commands from many processes while the program that holds the store is killed and started again all the time: each is
//! carried out once, or refused with a reason.

use std::collections::BTreeMap;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crate::forget::{Home, STAYS, until};

/// Commands in all: `WATCHBILL_COMMANDS=1000` for the long run.
fn commands() -> usize {
    std::env::var("WATCHBILL_COMMANDS").ok().and_then(|count| count.parse().ok()).unwrap_or(120)
}

/// Programs that give commands at the same time.
const CLIENTS: usize = 20;

fn holder(home: &Home) -> Child {
    home.command(&["serve"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Each command joins or splits: said twice it would be refused, lost it would be missing. What came of them all is counted in
/// the store, where each link bears the moment at which it was made.
#[test]
fn no_command_is_lost_or_carried_out_twice() {
    let home = Home::new();
    home.out(&["index"]);
    let all = commands();
    for n in 0..all {
        home.adds(&session(n), &format!("work {n}"));
    }
    home.out(&["index"]);
    let (next, done) = (AtomicUsize::new(0), AtomicBool::new(false));
    let told = std::thread::scope(|scope| {
        let killer = scope.spawn(|| {
            let mut kills = 0;
            while !done.load(Ordering::Acquire) {
                let mut holder = holder(&home);
                // Nothing is waited for: it chooses the moment of the kill, and what is asserted holds at each.
                std::thread::sleep(Duration::from_millis(40 + 35 * (kills % 7)));
                holder.kill().unwrap();
                holder.wait().unwrap();
                kills += 1;
            }
            kills
        });
        let clients: Vec<_> = (0..CLIENTS)
            .map(|_| {
                scope.spawn(|| {
                    let mut told = BTreeMap::new();
                    loop {
                        let n = next.fetch_add(1, Ordering::Relaxed);
                        if n >= all {
                            return told;
                        }
                        let name = format!("name {n}");
                        told.insert(n, home.say(&["chain", &session(n), "--name", &name]));
                    }
                })
            })
            .collect();
        let told: BTreeMap<_, _> = clients.into_iter().flat_map(|client| client.join().unwrap()).collect();
        done.store(true, Ordering::Release);
        assert!(killer.join().unwrap() > 0);
        told
    });
    assert_eq!(told.len(), all);
    let mut refused = 0;
    for (n, said) in &told {
        let name = home.json(&["chain", &session(*n), "--json"]).get("name").cloned();
        if said.code == 0 {
            assert_eq!(name, Some(format!("name {n}").into()), "confirmed, and lost");
        } else {
            refused += 1;
            assert_eq!((said.code, said.err.lines().count()), (1, 1), "{}", said.err);
            let unknown = said.err.contains("has stopped answering");
            assert!(unknown || name.is_none(), "refused, and carried out: {}", said.err);
        }
    }
    assert!(refused * 10 <= all, "{refused} of {all} were refused");
}

/// To undo twice is to undo something else: what is taken back one step at a time shows each step that was taken twice.
#[test]
fn what_is_taken_back_is_taken_back_once_whoever_is_killed() {
    let home = Home::new();
    home.out(&["index"]);
    let steps = (commands() / 6).max(8);
    for n in 0..steps {
        home.adds(&session(n), &format!("work {n}"));
    }
    home.out(&["index"]);
    for n in 0..steps {
        home.out(&["chain", &session(n), "--join", STAYS]);
    }
    let links = || home.json(&["chain", STAYS, "--json"])["links"].as_array().unwrap().len();
    assert_eq!(links(), steps);
    for taken_back in 1..=steps {
        let mut holder = holder(&home);
        if taken_back % 2 == 0 {
            until("it to listen", || home.data().join("run/engine.sock").exists());
        }
        let undo = home.begins(&["chain", STAYS, "--undo"]);
        // As above.
        std::thread::sleep(Duration::from_millis(7 * (taken_back as u64 % 11)));
        holder.kill().unwrap();
        holder.wait().unwrap();
        let said = crate::program::Said::from(undo.wait_with_output().unwrap());
        assert_eq!((said.code, said.err.as_str()), (0, ""));
        assert_eq!(links(), steps - taken_back);
    }
}

fn session(n: usize) -> String {
    format!("cccccccc-0000-4000-8000-{n:012}")
}
