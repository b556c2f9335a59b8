//! Commands from many processes while the holder of the store is killed and restarted again and again. Each command
//! is carried out once, or refused with a reason.

use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::forget::{STAYS, adds, begins, two_sessions, until};
use crate::home::Home;

/// The number of commands: `WATCHBILL_COMMANDS=1000` for the long run.
fn commands() -> usize {
    std::env::var("WATCHBILL_COMMANDS").ok().and_then(|count| count.parse().ok()).unwrap_or(120)
}

/// The number of programs that give commands at the same time.
const CLIENTS: usize = 20;

fn holder(home: &Home) -> Child {
    home.command(&["serve"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Each program joins its two sessions, undoes that, and joins them again. A command that was lost, or carried out
/// twice, makes the next one fail or shows in the chain.
#[test]
fn no_command_is_lost_or_carried_out_twice() {
    let home = two_sessions();
    for n in 0..2 * CLIENTS {
        adds(&home, &session(n), &format!("work {n}"));
    }
    home.out(&["index"]);
    let done = AtomicBool::new(false);
    let (carried_out, refused) = std::thread::scope(|scope| {
        let killer = scope.spawn(|| {
            let mut kills = 0;
            while !done.load(Ordering::Acquire) {
                let mut holder = holder(&home);
                // Not a wait for something: the delay chooses the moment of the kill, and the assertions hold at
                // every moment.
                std::thread::sleep(Duration::from_millis(60 + 90 * (kills % 7)));
                holder.kill().unwrap();
                holder.wait().unwrap();
                kills += 1;
            }
            assert!(kills > 0);
        });
        let home = &home;
        let clients: Vec<_> =
            (0..CLIENTS).map(|client| scope.spawn(move || give_commands(home, client))).collect();
        let results = clients.into_iter().map(|client| client.join());
        let results: Vec<_> = results.collect();
        done.store(true, Ordering::Release);
        killer.join().unwrap();
        results
            .into_iter()
            .map(Result::unwrap)
            .fold((0, 0), |sum, results| (sum.0 + results.0, sum.1 + results.1))
    });
    println!("{carried_out} were carried out, {refused} refused");
    assert!(carried_out > 0);
}

/// Returns how many of its commands were carried out, and how many refused.
fn give_commands(home: &Home, client: usize) -> (usize, usize) {
    let (earlier, later) = (session(2 * client), session(2 * client + 1));
    let links = || home.json(&["chain", &later, "--json"])["links"].as_array().unwrap().len();
    let (mut joined, mut carried_out, mut refused) = (0, 0, 0);
    for _ in 0..commands() / CLIENTS {
        let output = match joined {
            0 => home.run_watchbill(&["chain", &later, "--join", &earlier]),
            _ => home.run_watchbill(&["chain", &later, "--undo"]),
        };
        if output.code == 0 {
            (joined, carried_out) = (1 - joined, carried_out + 1);
        } else {
            assert!(output.code == 1 && output.err.contains("holds the store and"), "{}", output.err);
            refused += 1;
            if output.err.contains("has stopped answering") {
                // Only this answer leaves the result open; its message tells the user how to find out.
                joined = links();
            }
        }
        assert_eq!(links(), joined, "{}", output.err);
    }
    (carried_out, refused)
}

/// Undoing twice would undo something else. So a step that was undone twice shows in the number of links.
#[test]
fn an_undo_is_carried_out_once_when_the_holder_is_killed() {
    let home = two_sessions();
    home.out(&["index"]);
    let steps = (commands() / 6).max(8);
    for n in 0..steps {
        adds(&home, &session(n), &format!("work {n}"));
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
        let undo = begins(&home, &["chain", STAYS, "--undo"]);
        // See above.
        std::thread::sleep(Duration::from_millis(7 * (taken_back as u64 % 11)));
        holder.kill().unwrap();
        holder.wait().unwrap();
        let output = crate::program::Finished::from(undo.wait_with_output().unwrap());
        assert_eq!((output.code, output.err.as_str()), (0, ""));
        assert_eq!(links(), steps - taken_back);
    }
}

fn session(n: usize) -> String {
    format!("cccccccc-0000-4000-8000-{n:012}")
}
