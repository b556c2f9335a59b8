//! The folders in which sessions worked.

use watchbill_core::ids::SessionId;
use watchbill_store::tables::folders::WorkedIn;
use watchbill_store::{OpenMode, Store};

#[test]
fn folders_of_work_are_known_from_transcripts_and_hooks_until_those_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path(), OpenMode::WriteOrRead).unwrap();
    let mut step = store.step().unwrap();
    let [own, heard, other] =
        ["own", "heard", "other"].map(|id| step.session_key(&SessionId::new(id)).unwrap());
    let file = step.file_key("own.jsonl", own, None).unwrap();
    let agent = step.file_key("agent.jsonl", other, Some("a")).unwrap();
    step.file_key("other.jsonl", other, None).unwrap();
    for cwd in ["/open", "/secret/1", "/secret/2", "/secret/1"] {
        step.note_folder(file, cwd).unwrap();
        step.note_folder(agent, cwd).unwrap();
        step.note_hook_folder(heard, cwd).unwrap();
    }
    step.commit().unwrap();
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let there = |path: &str| path.starts_with("/secret");
    let worked = WorkedIn {
        sessions: names(&["own", "heard"]),
        subagents: names(&["agent.jsonl"]),
        ..WorkedIn::default()
    };
    assert_eq!(store.worked_in(&there).unwrap(), worked);
    assert_eq!(store.worked_in(&|path: &str| path == "/secret").unwrap(), WorkedIn::default());
    let mut without = Vec::new();
    store.without_folders(&mut |session, subagent, path| without.push((session, subagent, path))).unwrap();
    assert_eq!(without, [("other".to_owned(), false, "other.jsonl".to_owned())]);

    // A transcript that is read again reports its folders again.
    let mut step = store.step().unwrap();
    step.reset_file(file).unwrap();
    step.remove_file(agent).unwrap();
    step.commit().unwrap();
    let worked = WorkedIn { sessions: names(&["heard"]), ..WorkedIn::default() };
    assert_eq!(store.worked_in(&there).unwrap(), worked);
}
