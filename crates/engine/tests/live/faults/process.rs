//! A test in a process of its own: with a private file system, or beside another process that wants its lock.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use crate::skipped::skipped;

/// Names the folder to a child process of a test. It is not set in other runs.
const FOLDER: &str = "WATCHBILL_FAULTS_FOLDER";

/// The folder of this child process, if it is one.
pub fn child_folder() -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(PathBuf::from)
}

/// This program, to run one test alone on a folder.
fn run(test: &str, folder: &Path, prefix: &[&str]) -> Command {
    let me = std::env::current_exe().unwrap();
    let mut command = match prefix {
        [program, words @ ..] => {
            let mut command = Command::new(program);
            command.args(words).arg(me);
            command
        }
        [] => Command::new(me),
    };
    command.args([test, "--exact", "--nocapture"]).env(FOLDER, folder);
    command
}

/// Starts another process for this test; it lives until the test ends it.
pub fn spawn_child(test: &str, folder: &Path) -> Child {
    run(test, folder, &[]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
}

/// Runs the same test again in a child process that `script` starts. The script gets the program as `$0` and the folder
/// as a variable, and ends with `exec "$0" "$@"`. Exit code 77 means that this machine does not allow it.
///
/// Returns the folder in the child. Returns nothing in the parent, which has then seen the child succeed.
fn rerun_in_child(test: &str, shell: &[&str], script: &str) -> Option<PathBuf> {
    if let Some(folder) = child_folder() {
        return Some(folder);
    }
    let folder = tempfile::tempdir().unwrap();
    let prefix = [shell, &["sh", "-c", script]].concat();
    let output = run(test, folder.path(), &prefix).output();
    let why = match output {
        Ok(output) => skip_reason(test, &output)?,
        // That program is not installed.
        Err(error) => error.to_string(),
    };
    skipped(&format!("NOT TESTED: {test}, since no private file system can be mounted here: {why}"));
    None
}

/// The reason why the test could not begin; nothing if it passed. A name that fits no test would also end with
/// success, so the output is checked.
fn skip_reason(test: &str, output: &Output) -> Option<String> {
    let [out, said] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    if output.status.success() {
        assert!(out.contains("1 passed"), "there is no test {test}:\n{out}");
        return None;
    }
    let refused = output.status.code() == Some(77) || said.starts_with("unshare: ");
    assert!(refused, "{out}\n{said}");
    Some(said.into_owned())
}

#[test]
#[should_panic(expected = "there is no test process::of_another_name")]
fn a_child_that_ran_no_test_is_no_success() {
    rerun_in_child("process::of_another_name", &[], r#"exec "$0" "$@""#);
}

/// With a file system of some megabytes at the folder, visible only to this process and its children.
pub fn on_a_small_disk(test: &str) -> Option<PathBuf> {
    let script = format!(r#"mount -t tmpfs -o size=12m none "${FOLDER}" || exit 77; exec "$0" "$@""#);
    rerun_in_child(test, &["unshare", "--user", "--map-root-user", "--mount"], &script)
}

/// In a mount namespace of its own, where [`mount`] works.
pub fn with_mounts(test: &str) -> Option<PathBuf> {
    let script = format!(r#"mount --bind "${FOLDER}" "${FOLDER}" || exit 77; exec "$0" "$@""#);
    rerun_in_child(test, &["unshare", "--user", "--map-root-user", "--mount"], &script)
}

/// Where the processes of other tests are not seen. The shell stays, and collects orphans.
#[allow(dead_code, reason = "not each test program uses it")]
pub fn alone(test: &str) -> Option<PathBuf> {
    let shell = ["unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "--mount-proc"];
    rerun_in_child(test, &shell, r#""$0" "$@"; exit $?"#)
}

/// Ignores the signal that ends a process whose files may not grow: the process gets the error instead. Needs no
/// rights.
pub fn without_the_signal_of_limits(test: &str) -> Option<PathBuf> {
    rerun_in_child(test, &[], r#"trap '' XFSZ; exec "$0" "$@""#)
}

/// Mounts a folder over itself with these options.
pub fn mount(options: &str, folder: &Path) {
    let done = Command::new("mount").args(["-o", options]).arg(folder).status().unwrap();
    assert!(done.success(), "mount -o {options}");
}
