//! `index` beside another process that writes the store: `index` waits until that process has stored everything.

use serde_json::{Value, json};

use crate::forget::{STAYS, Writer, adds, begins, holds, two_sessions, until};
use crate::home::Home;
use crate::program::Finished;

/// Runs `index` while the writer is stopped, lets `then` act on the writer, and waits for the end.
fn index_beside(home: &Home, writer: &mut Writer, then: impl FnOnce(&mut Writer)) -> Value {
    writer.stop();
    adds(home, STAYS, "unheardofword");
    let index = begins(home, &["index", "--json"]);
    then(writer);
    let output = Finished::from(index.wait_with_output().unwrap());
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    assert!(holds(home, "unheardofword"), "what was there when it was asked for is stored");
    serde_json::from_str(&output.out).unwrap()
}

#[test]
fn index_beside_a_writer_reports_that_all_is_stored() {
    let home = two_sessions();
    let writer = Writer::of(&home);
    let pid = writer.child.id();
    let output = home.out(&["index"]);
    assert_eq!(
        output,
        format!("everything in 2 files is stored; process {pid} keeps the history up to date\n")
    );
    let report = home.json(&["index", "--json"]);
    let kept = ["files", "skipped", "bytes", "problems", "keptBy"].map(|key| report[key].clone());
    assert_eq!(kept, [2, 2, 0, 0, pid].map(|n| json!(n)));
    for words in [&["index", "--full"][..], &["index", "--cut", "10"]] {
        let output = home.run_watchbill(words);
        assert_eq!((output.code, output.out.as_str(), output.err.lines().count()), (1, "", 1), "{words:?}");
        assert!(
            output.err.contains(&format!("process {pid} ")) && output.err.contains("quit it"),
            "{}",
            output.err
        );
    }
}

#[test]
fn index_waits_for_the_writer_to_store_new_records() {
    let home = two_sessions();
    let mut writer = Writer::of(&home);
    let report = index_beside(&home, &mut writer, |writer| writer.go_on());
    assert_eq!(report["keptBy"], json!(writer.child.id()));
}

#[test]
fn index_reads_the_records_that_a_killed_writer_left() {
    let home = two_sessions();
    let mut writer = Writer::of(&home);
    let report = index_beside(&home, &mut writer, Writer::kill);
    assert_eq!(report.get("keptBy"), None);
    assert_eq!(report["records"], json!(1));
}

#[test]
fn index_does_not_wait_for_a_holder_with_other_folders() {
    let home = two_sessions();
    drop(Writer::of(&home));
    let writer = Writer::elsewhere(&home);
    adds(&home, STAYS, "unheardofword");
    until("it to listen", || home.data().join("run/engine.sock").exists());
    let output = home.run_watchbill(&["index"]);
    assert_eq!((output.code, output.out.as_str()), (1, ""));
    let pid = writer.child.id();
    assert!(
        output.err.contains(&format!("process {pid} uses this history with other settings")),
        "{}",
        output.err
    );
    assert!(!holds(&home, "unheardofword"));
}
